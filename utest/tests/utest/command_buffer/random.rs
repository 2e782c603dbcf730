//! Random programs of commands: recorded, and enqueued one by one, they leave the same buffers.

use gencl_utest::{Buffer, Gpu, Outcome, Random, setting};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;

use super::list::{List, program, queue_with, set, well};
use crate::memory::same;

/// Numbers of a buffer.
const LENGTH: usize = 96;
const BUFFERS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Command {
    Add { to: usize, number: i32, count: usize },
    Scale { to: usize, from: usize, by: i32, count: usize },
    Copy { from: (usize, usize), to: (usize, usize), count: usize },
    Fill { to: usize, number: i32, range: [usize; 2] },
    Barrier,
}

impl Command {
    fn random(random: &mut Random) -> Self {
        let mut below = |limit: usize| random.next_u32() as usize % limit;
        let (to, from) = (below(BUFFERS), below(BUFFERS));
        let other = if from == to { (from + 1) % BUFFERS } else { from };
        let (number, count) = (below(100) as i32 - 50, 1 + below(LENGTH));
        let [begin, begin_from] = [(); 2].map(|()| below(LENGTH - count + 1));
        match below(9) {
            0..4 => Self::Add { to, number, count },
            4 | 5 => Self::Scale { to, from: other, by: number, count },
            6 => Self::Copy { from: (other, begin_from), to: (to, begin), count },
            7 => Self::Fill { to, number, range: [begin, count] },
            _ => Self::Barrier,
        }
    }
}

/// Buffers and kernels of one of the two executions.
struct Memory {
    buffers: Vec<Buffer<i32>>,
    add: Kernel,
    scale: Kernel,
}

impl Memory {
    fn new(random: &mut Random) -> Result<Self, String> {
        let (gpu, program) = (Gpu::get()?, program()?);
        let fill = |_| {
            let numbers: Vec<i32> = (0..LENGTH).map(|_| random.next_u32() as i32 % 1000).collect();
            gpu.buffer(&numbers)
        };
        let buffers = (0..BUFFERS).map(fill).collect::<Result<_, _>>()?;
        Ok(Self { buffers, add: program.kernel("add")?, scale: program.kernel("scale")? })
    }

    fn handle(&self, index: usize) -> opencl_sys::cl_mem {
        self.buffers[index].memory().get()
    }

    /// Sets the arguments of a launch. Returns kernel and size; `None` for other commands.
    fn prepare(&self, command: Command) -> Result<Option<(&Kernel, usize)>, String> {
        match command {
            Command::Add { to, number, count } => {
                set(&self.add, 0, &self.handle(to))?;
                set(&self.add, 1, &number)?;
                Ok(Some((&self.add, count)))
            }
            Command::Scale { to, from, by, count } => {
                set(&self.scale, 0, &self.handle(to))?;
                set(&self.scale, 1, &self.handle(from))?;
                set(&self.scale, 2, &by)?;
                Ok(Some((&self.scale, count)))
            }
            Command::Copy { .. } | Command::Fill { .. } | Command::Barrier => Ok(None),
        }
    }

    fn record(&self, list: &List, command: Command, waits: &[u32]) -> Result<u32, String> {
        if let Some((kernel, count)) = self.prepare(command)? {
            return list.launch(kernel, count, waits);
        }
        match command {
            Command::Copy { from, to, count } => {
                let (from, to) = ((self.handle(from.0), from.1 * 4), (self.handle(to.0), to.1 * 4));
                list.copy(from, to, count * 4, waits)
            }
            Command::Fill { to, number, range } => {
                list.fill(self.handle(to), number, range.map(|count| count * 4), waits)
            }
            _ => list.barrier(waits),
        }
    }

    fn enqueue(&self, queue: &CommandQueue, list: &List, command: Command) -> Outcome {
        let (none, event) = (std::ptr::null(), std::ptr::null_mut());
        let prepared = self.prepare(command)?;
        let (api, queue) = (list.api, queue.get());
        // SAFETY: arguments are set; ranges are inside of the buffers, the pattern has four bytes.
        let code = unsafe {
            match (prepared, command) {
                (Some((kernel, count)), _) => {
                    let launch = api.clEnqueueNDRangeKernel;
                    launch(queue, kernel.get(), 1, std::ptr::null(), &count, std::ptr::null(), 0, none, event)
                }
                (None, Command::Copy { from, to, count }) => (api.clEnqueueCopyBuffer)(
                    queue,
                    self.handle(from.0),
                    self.handle(to.0),
                    from.1 * 4,
                    to.1 * 4,
                    count * 4,
                    0,
                    none,
                    event,
                ),
                (None, Command::Fill { to, number, range: [begin, count] }) => (api.clEnqueueFillBuffer)(
                    queue,
                    self.handle(to),
                    (&raw const number).cast(),
                    4,
                    begin * 4,
                    count * 4,
                    0,
                    none,
                    event,
                ),
                (None, _) => (api.clEnqueueBarrierWithWaitList)(queue, 0, none, event),
            }
        };
        well(code, "a command")
    }
}

pub fn programs() -> Outcome {
    for seed in 1..=setting("GENCL_UTEST_COMMAND_BUFFERS", 12)? {
        program_of(seed).map_err(|error| format!("seed {seed}: {error}"))?;
    }
    Ok(())
}

fn program_of(seed: u64) -> Outcome {
    let mut random = Random::new(seed);
    let commands: Vec<Command> =
        (0..10 + random.next_u32() % 50).map(|_| Command::random(&mut random)).collect();
    let times = 1 + random.next_u32() % 3;
    let (direct, recorded) = (Memory::new(&mut Random::new(seed))?, Memory::new(&mut Random::new(seed))?);
    let properties = if seed.is_multiple_of(2) { CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE } else { 0 };
    let (plain, queue) = (queue_with(0)?, queue_with(properties)?);
    let list = List::new(&queue, 0)?;
    let mut last: Option<u32> = None;
    for command in &commands {
        // Each depends on the one before, if not by the order of the queue.
        let waits: Vec<u32> = last.into_iter().filter(|_| properties != 0).collect();
        last = Some(recorded.record(&list, *command, &waits)?);
    }
    list.finalize()?;
    let mut before: Vec<opencl3::event::Event> = Vec::new();
    for _ in 0..times {
        commands.iter().try_for_each(|command| direct.enqueue(&plain, &list, *command))?;
        let waits: Vec<_> = before.iter().map(|event| event.get()).collect();
        before = vec![list.enqueue(None, &waits)?];
    }
    for queue in [&plain, &queue] {
        queue.finish().map_err(|error| error.to_string())?;
    }
    for (direct, recorded) in direct.buffers.iter().zip(&recorded.buffers) {
        same(&recorded.read()?, &direct.read()?).map_err(|error| format!("{error}\n{commands:?}"))?;
    }
    Ok(())
}
