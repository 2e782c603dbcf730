//! Out-of-order queues: commands run after those that they depend on.

use gencl_utest::{Case, Gpu, Outcome, Random};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::error_codes::ClError;
use opencl3::event::{Event, create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;
use opencl3::types::cl_event;

use crate::memory::same;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("out_of_order_dependences", dependences),
        Case::of_gencl("others fail more", "out_of_order_failures", failures),
    ]
}

/// Adds up what others have left. Element 0 stays 0.
const SOURCE: &str = "
    kernel void add(global uint *values, uint to, uint a, uint b, uint c) {
        values[to] = values[a] + values[b] * 3 + values[c] * 5 + to;
    }";

const COMMANDS: usize = 400;

/// What a command of a random graph is.
enum Command {
    /// A launch, with the numbers of those it depends on; 0 for none.
    Add([usize; 3]),
    Marker,
    Barrier,
}

/// A random graph, whose commands have the numbers from 1 on. Events of other queues, or of the application,
/// hold some of them.
struct Graph {
    commands: Vec<Command>,
    /// For each command the user event that it waits for.
    held: Vec<Option<usize>>,
}

/// User events.
const HOLDS: usize = 5;

impl Graph {
    fn new(random: &mut Random) -> Graph {
        let mut commands = vec![Command::Marker];
        for number in 1..=COMMANDS {
            let before = |random: &mut Random| match random.next_u32() % 4 {
                // Chains are likely.
                0 => number - 1,
                1 => 0,
                _ => random.next_u32() as usize % number,
            };
            commands.push(match random.next_u32() % 20 {
                0 => Command::Marker,
                1 if number % 3 == 0 => Command::Barrier,
                _ => Command::Add([(); 3].map(|()| before(random))),
            });
        }
        let held = |_| random.next_u32().is_multiple_of(12).then(|| random.next_u32() as usize % HOLDS);
        Graph { held: (0..=COMMANDS).map(held).collect(), commands }
    }

    /// The result of all launches; each runs after those whose results it reads.
    fn values(&self) -> Vec<u32> {
        let mut values = vec![0u32; COMMANDS + 1];
        for (number, command) in self.commands.iter().enumerate() {
            if let Command::Add([a, b, c]) = *command {
                let terms = [values[a], values[b].wrapping_mul(3), values[c].wrapping_mul(5), number as u32];
                values[number] = terms.into_iter().fold(0, u32::wrapping_add);
            }
        }
        values
    }

    /// Which commands fail when some user events do.
    fn failing(&self, bad: [bool; HOLDS]) -> Vec<bool> {
        let mut failing = vec![false; COMMANDS + 1];
        for (number, command) in self.commands.iter().enumerate() {
            if let Command::Add(before) = command {
                let held = self.held[number].is_some_and(|hold| bad[hold]);
                failing[number] = held || before.iter().any(|before| failing[*before]);
            }
        }
        failing
    }

    /// Enqueues everything, sets the user events in the order of `set`, each to its status, and waits. Gives
    /// each command's status and the values.
    fn run(&self, set: &[(usize, i32)]) -> Result<(Vec<i32>, Vec<u32>), String> {
        let text = |error: ClError| error.to_string();
        let gpu = Gpu::get()?;
        // SAFETY: context and device belong together.
        let queue = unsafe {
            CommandQueue::create(&gpu.context, gpu.device.id(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        };
        let queue = queue.map_err(text)?;
        let holds = (0..HOLDS)
            .map(|_| create_user_event(gpu.context.get()).map(Event::new))
            .collect::<Result<Vec<_>, _>>()
            .map_err(ClError)
            .map_err(text)?;
        let values = gpu.buffer(&[0u32; COMMANDS + 1])?;
        let program = gpu.build_source(SOURCE, "")?;
        let kernel = Kernel::create(program.program(), "add").map_err(text)?;
        // SAFETY: the kernel's arguments are a buffer and four integers of 32 bits, and each work-item writes
        // inside of the buffer.
        unsafe { kernel.set_arg(0, &values.memory().get()) }.map_err(text)?;
        let mut events: Vec<Event> = Vec::new();
        for (number, command) in self.commands.iter().enumerate().skip(1) {
            // SAFETY: the arguments are set with the kernel's types, and the lists have events that live.
            let event = unsafe {
                match command {
                    Command::Marker => queue.enqueue_marker_with_wait_list(&[]),
                    Command::Barrier => queue.enqueue_barrier_with_wait_list(&[]),
                    Command::Add(before) => {
                        let mut waits: Vec<cl_event> = before
                            .iter()
                            .filter(|before| **before > 0)
                            .map(|before| events[before - 1].get())
                            .collect();
                        waits.extend(self.held[number].map(|hold| holds[hold].get()));
                        for (index, value) in
                            [number, before[0], before[1], before[2]].into_iter().enumerate()
                        {
                            kernel.set_arg(1 + index as u32, &(value as u32)).map_err(text)?;
                        }
                        let one = [1usize];
                        let (none, size) = (std::ptr::null(), one.as_ptr());
                        queue.enqueue_nd_range_kernel(kernel.get(), 1, none, size, none, &waits)
                    }
                }
            };
            events.push(event.map_err(text)?);
        }
        for (hold, status) in set {
            set_user_event_status(holds[*hold].get(), *status).map_err(ClError).map_err(text)?;
        }
        queue.finish().map_err(text)?;
        let status = |event: &Event| event.command_execution_status().map(|status| status.0).map_err(text);
        let statuses = events.iter().map(status).collect::<Result<Vec<_>, _>>()?;
        Ok((statuses, values.read()?))
    }
}

fn dependences() -> Outcome {
    let mut random = Random::new(41);
    for set in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]] {
        let graph = Graph::new(&mut random);
        let (statuses, values) = graph.run(&set.map(|hold| (hold, 0)))?;
        same(&statuses, &vec![0; COMMANDS])?;
        same(&values, &graph.values())?;
    }
    Ok(())
}

/// What depends on a user event that fails does not run, markers and barriers do.
fn failures() -> Outcome {
    let mut random = Random::new(42);
    for set in [[0, 1, 2, 3, 4], [3, 1, 4, 0, 2]] {
        let graph = Graph::new(&mut random);
        let bad = [0, 1, 2, 3, 4].map(|hold| hold == 1 || hold == 2);
        let (statuses, values) = graph.run(&set.map(|hold| (hold, if bad[hold] { -5 } else { 0 })))?;
        let failing = graph.failing(bad);
        let failed: Vec<bool> = statuses.iter().map(|status| *status < 0).collect();
        same(&failed, &failing[1..])?;
        let expected: Vec<u32> = graph
            .values()
            .into_iter()
            .zip(failing)
            .map(|(value, failed)| if failed { 0 } else { value })
            .collect();
        same(&values, &expected)?;
    }
    Ok(())
}
