//! Executes programs: by the interpreter of the middle IR, and as host code.

use std::ptr;

use gencl_eu::abi::{ENDED, Frame, Pattern, Tier, Translation, Variant, Window, YIELD};
use gencl_eu::message::AtomicOperation;
use gencl_isa::Generation;
use gencl_simulator::translated::loader::HostCode;
use gencl_testing::Random;
use gencl_translator::Context;
use gencl_translator::analysis::message::Message;
use gencl_translator::analysis::plan::Doubts;
use gencl_translator::analysis::plan::{Plan, Step};
use gencl_translator::host::Host;
use gencl_translator::lift::Lifted;
use gencl_translator::lower::lower;
use gencl_translator::middle::function::{Block, Function};
use gencl_translator::middle::op::{Input, LOCAL_OFFSET, Op, Registers, Space};

use crate::generate::{FILE, INPUTS, PAYLOAD, Program, SCATTERED};
use crate::interpret::{Environment, Lanes, Outcome, run};

/// Where buffers begin. Accesses of both spaces with addresses come to them.
pub const BUFFERS: [u64; 2] = [0x1_0000, 0x8_0000];
/// Bytes of each.
pub const BUFFER_SIZE: usize = 8192;
/// Bytes of shared local memory.
pub const LOCAL_SIZE: usize = 8192;

/// What a program works on, and leaves behind.
#[derive(Clone)]
pub struct State {
    buffers: [Vec<u8>; 2],
    local: Vec<u8>,
    cross_thread: Vec<u8>,
    per_thread: Vec<Vec<u8>>,
    masks: Vec<u32>,
    files: Vec<Vec<u8>>,
}

impl State {
    /// Random bytes, of which more are those of usual floats than chance would have.
    pub fn new(random: &mut Random, threads: usize) -> State {
        let mut bytes =
            |count: usize| -> Vec<u8> { (0..count / 4).flat_map(|_| random.dword().to_le_bytes()).collect() };
        let buffers = [bytes(BUFFER_SIZE), bytes(BUFFER_SIZE)];
        let (local, cross_thread) = (bytes(LOCAL_SIZE), bytes(INPUTS));
        let per_thread = (0..threads).map(|_| bytes(INPUTS)).collect();
        let files = vec![bytes(FILE); threads];
        let masks =
            (0..threads).map(|_| random.next_u32() | u32::from(random.one_in(2)).wrapping_neg()).collect();
        State { buffers, local, cross_thread, per_thread, masks, files }
    }

    fn bytes(&mut self, space: Space, address: u64, count: usize) -> Option<&mut [u8]> {
        let (all, offset) = match space {
            Space::Local => (&mut self.local, address),
            _ => {
                let number = BUFFERS.iter().position(|begin| {
                    address.checked_sub(*begin).is_some_and(|offset| offset < BUFFER_SIZE as u64)
                })?;
                (&mut self.buffers[number], address - BUFFERS[number])
            }
        };
        let first = usize::try_from(offset).ok()?;
        all.get_mut(first..first.checked_add(count)?)
    }

    /// Performs an atomic operation on a value; what it answers.
    fn atomic(
        &mut self,
        operation: AtomicOperation,
        space: Space,
        address: u64,
        size: usize,
        sources: &[u64],
    ) -> Option<u64> {
        let own = self.bytes(space, address, size).filter(|_| address.is_multiple_of(size as u64))?;
        let old = number(own);
        let source = |n: usize| sources.get(n).copied().unwrap_or(0);
        if let Some(new) = operation.apply(old, source(0), source(1), size) {
            own.copy_from_slice(&new.to_le_bytes()[..size]);
        }
        Some(operation.returned(old, size))
    }

    /// The first difference of what two executions have left. Of NaNs bits may differ.
    pub fn difference(&self, other: &State, program: &Program) -> Option<String> {
        let memories = [
            ("buffer 0", &self.buffers[0], &other.buffers[0]),
            ("buffer 1", &self.buffers[1], &other.buffers[1]),
            ("local memory", &self.local, &other.local),
        ];
        for (what, a, b) in memories {
            if let Some(at) = (0..a.len()).find(|at| a[*at] != b[*at]) {
                return Some(format!("{what} at {at:#x}: {:#x}, not {:#x}", b[at], a[at]));
            }
        }
        let pairs = self.files.iter().zip(&other.files).enumerate();
        for (thread, (a, b)) in pairs {
            if let Some(at) = (PAYLOAD..PAYLOAD + SCATTERED).find(|at| a[*at] != b[*at]) {
                return Some(format!(
                    "thread {thread}, register file at {at}: {:#x}, not {:#x}",
                    b[at], a[at]
                ));
            }
            for (place, ty) in &program.results {
                let size = ty.scalar.bits() as usize / 8;
                for lane in 0..usize::from(ty.lanes) {
                    let first = usize::from(*place) + lane * size;
                    let [a, b] = [a, b].map(|file| number(&file[first..first + size]));
                    let nan = |bits: u64| match (ty.scalar.is_float(), size) {
                        (false, _) => false,
                        (_, 2) => bits & 0x7fff > 0x7c00,
                        (_, 4) => f32::from_bits(bits as u32).is_nan(),
                        _ => f64::from_bits(bits).is_nan(),
                    };
                    if a != b && !(nan(a) && nan(b)) {
                        return Some(format!(
                            "thread {thread}, put {place} ({ty}), lane {lane}: {b:#x}, not {a:#x}"
                        ));
                    }
                }
            }
        }
        None
    }
}

/// How threads have ended: whether with a fault, and what they have left.
pub struct Ended {
    pub fault: bool,
    pub state: State,
}

impl Ended {
    /// What differs. Of what is left after a fault nothing is defined.
    pub fn difference(&self, other: &Ended, program: &Program) -> Option<String> {
        match (self.fault, other.fault) {
            (true, true) => None,
            (false, false) => self.state.difference(&other.state, program),
            _ => Some(format!("a fault: {}, not {}", other.fault, self.fault)),
        }
    }
}

/// A thread that the interpreter executes.
struct Thread<'a> {
    state: &'a mut State,
    number: usize,
    file: usize,
    /// What nothing defines; without, zeros.
    any: Option<Random>,
}

impl Environment for Thread<'_> {
    fn input(&mut self, input: Input, bytes: usize) -> Vec<u8> {
        let (all, first) = match input {
            Input::CrossThread(first) => (&self.state.cross_thread, first),
            Input::PerThread(first) => (&self.state.per_thread[self.number], first),
            _ => return self.state.masks[self.number].to_le_bytes().to_vec(),
        };
        all[usize::from(first)..usize::from(first) + bytes].to_vec()
    }

    fn read(&mut self, space: Space, address: u64, bytes: usize) -> Option<Vec<u8>> {
        self.state.bytes(space, address, bytes).map(|found| found.to_vec())
    }

    fn write(&mut self, space: Space, address: u64, bytes: &[u8]) -> Option<()> {
        self.state.bytes(space, address, bytes.len())?.copy_from_slice(bytes);
        Some(())
    }

    fn atomic(
        &mut self,
        operation: AtomicOperation,
        space: Space,
        address: u64,
        bytes: usize,
        sources: &[u128],
    ) -> Option<u128> {
        let sources: Vec<u64> = sources.iter().map(|source| *source as u64).collect();
        self.state.atomic(operation, space, address, bytes, &sources).map(u128::from)
    }

    fn perform(&mut self, op: &Op, _: &[Lanes], _: &Registers, _: u32) -> Option<Vec<Vec<u8>>> {
        panic!("{op} is in no program")
    }

    fn file(&mut self) -> &mut [u8] {
        &mut self.state.files[self.file]
    }

    fn is_cancelled(&mut self) -> bool {
        false
    }

    fn arrive(&mut self) {}

    fn any(&mut self) -> u128 {
        self.any
            .as_mut()
            .map_or(0, |random| u128::from(random.next_u64()) << 64 | u128::from(random.next_u64()))
    }
}

/// Executes a function by the interpreter. What nothing defines is made of a seed, or 0.
pub fn interpreted(function: &Function, state: &State, seed: Option<u64>) -> Ended {
    let mut state = state.clone();
    for number in 0..state.masks.len() {
        let file = if function.resumed.is_empty() { 0 } else { number };
        let mut thread = Thread { state: &mut state, number, file, any: seed.map(Random::new) };
        let mut outcome = run(function, &mut thread, Block(0), &[]);
        while let Outcome::Stopped { block, parameters, .. } = outcome {
            outcome = run(function, &mut thread, block, &parameters);
        }
        if outcome == Outcome::Fault {
            return Ended { fault: true, state };
        }
    }
    Ended { fault: false, state }
}

/// A frame, and what its callbacks need.
#[repr(C)]
struct Owner {
    frame: Frame,
    windows: Vec<Window>,
    state: State,
    messages: Vec<Message>,
    /// Each thread has a register file of its own.
    stops: bool,
}

/// Executes a function as code for a host.
///
/// # Errors
/// What LLVM or the loader says.
pub fn executed(
    program: &Program,
    function: &Function,
    host: &'static Host,
    tier: Tier,
    state: &State,
) -> Result<Ended, String> {
    let variant = variant();
    let steps = program.messages.iter().cloned().map(Step::Message).collect();
    let plan = Plan {
        ops: &[],
        steps,
        effects: Vec::new(),
        modes: Vec::new(),
        variant: &variant,
        generation: Generation::Gen9,
        host,
        in_memory: false,
        accumulators: false,
        halves: false,
        doubts: Doubts::default(),
    };
    let context = Context::create();
    let written = lower(
        &context,
        &plan,
        Lifted { function: function.clone(), interpreted: Vec::new(), counters: 0, counted: Vec::new() },
        tier,
    );
    let object = host.compile(&written.module, tier)?;
    let translation = Translation { object, ..written.translation };
    let code = HostCode::load(&translation).map_err(|error| error.to_string())?;
    Ok(launched(program, &code, state))
}

fn variant() -> Variant {
    Variant {
        simd_width: 16,
        full: false,
        cross_thread: INPUTS as u32,
        per_thread: vec![Pattern::Any; INPUTS / 16],
        indirect_data: false,
        control: 0,
        local: true,
        scratch: 0,
        flat: true,
        barrier: false,
        single_thread: false,
        spins: false,
        strict: false,
        counted: false,
        images: Vec::new(),
    }
}

fn launched(program: &Program, code: &HostCode, state: &State) -> Ended {
    let state = state.clone();
    let threads = state.masks.len();
    let empty = Window { start: 0, size: 0, host: ptr::null_mut() };
    let windows = vec![empty; code.windows as usize];
    let per_thread: Vec<u8> = state.per_thread.concat();
    let (headers, cancel) = ([0_u8; 32], 0_u8);
    let mut resume = vec![0_u32; threads];
    let mut saved = vec![0_u64; threads * code.saved as usize / 8];
    let mut owner = Box::new(Owner {
        frame: Frame {
            group: [0; 3],
            threads: threads as u32,
            headers: headers.as_ptr(),
            header_step: 0,
            cross_thread: state.cross_thread.as_ptr(),
            per_thread: per_thread.as_ptr(),
            masks: state.masks.as_ptr(),
            local: ptr::null_mut(),
            local_size: LOCAL_SIZE as u64,
            general: 0,
            windows: ptr::null_mut(),
            files: ptr::null(),
            saved: saved.as_mut_ptr().cast(),
            resume: resume.as_mut_ptr(),
            images: ptr::null(),
            cancel: &raw const cancel,
            arrived: 0,
            counters: ptr::null_mut(),
            unwritten: [0; 2],
            find_window,
            look,
            interpret,
            send,
        },
        windows,
        state,
        messages: program.messages.clone(),
        stops: code.yields,
    });
    owner.frame.windows = owner.windows.as_mut_ptr();
    owner.frame.local = owner.state.local.as_mut_ptr();
    let mut files: Vec<*mut u8> = owner.state.files.iter_mut().map(|file| file.as_mut_ptr()).collect();
    owner.frame.files = files.as_mut_ptr().cast_const();
    let frame = (&raw mut *owner).cast::<Frame>();
    // SAFETY: the frame has all that the code reads, and stays where it is.
    let execute = |first: u32, end: u32, place: u32| unsafe { (code.entry)(frame, first, end, place) != 0 };
    let fault = if !code.yields {
        execute(0, threads as u32, 0)
    } else {
        (0..threads as u32).any(|number| {
            let mut place = 0;
            while place != ENDED {
                if execute(number, number + 1, place) {
                    return true;
                }
                place = resume[number as usize];
                assert!(place & !YIELD != 0, "a thread goes on at its beginning");
            }
            false
        })
    };
    let state = State { files: owner.state.files.clone(), ..owner.state };
    Ended { fault, state }
}

unsafe extern "C" fn look(_: *mut Frame, _: u32, _: u32) -> u32 {
    unreachable!("nothing is cancelled")
}

unsafe extern "C" fn find_window(frame: *mut Frame, window: u32, address: u64) -> u32 {
    // SAFETY: an owner begins with its frame, and nobody else refers to it during the call.
    let owner = unsafe { &mut *frame.cast::<Owner>() };
    let begin = BUFFERS.iter().position(|begin| (*begin..*begin + BUFFER_SIZE as u64).contains(&address));
    let Some(number) = begin else { return 0 };
    let host = owner.state.buffers[number].as_mut_ptr();
    let found = Window { start: BUFFERS[number], size: BUFFER_SIZE as u64, host };
    owner.windows.iter_mut().filter(|window| window.size == 0).for_each(|window| *window = found);
    owner.windows[window as usize] = found;
    1
}

unsafe extern "C" fn interpret(_: *mut Frame, _: u32, _: u32, _: u32) -> u32 {
    1
}

unsafe extern "C" fn send(frame: *mut Frame, thread: u32, instruction: u32, mask: u32) -> u32 {
    // SAFETY: an owner begins with its frame, and nobody else refers to it during the call.
    let owner = unsafe { &mut *frame.cast::<Owner>() };
    let file = if owner.stops { thread as usize } else { 0 };
    u32::from(performed(owner, file, instruction, mask).is_none())
}

/// Performs a message for the lanes of a mask; `None`: a fault.
fn performed(owner: &mut Owner, file: usize, instruction: u32, mask: u32) -> Option<()> {
    let Owner { state, messages, .. } = owner;
    let (lanes, atomic) = match &messages[instruction as usize] {
        Message::Lanes(lanes) => (lanes, None),
        Message::Atomic(atomic) => (&atomic.lanes, Some(atomic)),
        Message::Block(block) => {
            let address = number(&state.files[file][..8]);
            let place = block.data..block.data + block.bytes;
            if block.write {
                let bytes = state.files[file][place].to_vec();
                state.bytes(Space::Global, address, block.bytes)?.copy_from_slice(&bytes);
            } else {
                let bytes = state.bytes(Space::Global, address, block.bytes)?.to_vec();
                state.files[file][place].copy_from_slice(&bytes);
            }
            return Some(());
        }
        other => unreachable!("{other:?} is in no program"),
    };
    let (space, slot) = (lanes.space, lanes.elements.register_size());
    let size = usize::from(lanes.elements.size);
    for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
        let in_file = |state: &State, first: usize, size: usize| {
            number(&state.files[file][first + lane * size..first + (lane + 1) * size])
        };
        let address = in_file(state, lanes.addresses, space.address_size());
        let address = if space == Space::Local { address & LOCAL_OFFSET } else { address };
        if !address.is_multiple_of(lanes.elements.alignment.into()) {
            return None;
        }
        if let Some(atomic) = atomic {
            let sources: Vec<u64> = atomic.sources.iter().map(|at| in_file(state, *at, slot)).collect();
            let answer = state.atomic(atomic.operation, space, address, size, &sources)?;
            for at in lanes.places() {
                let at = at + lane * slot;
                state.files[file][at..at + size].copy_from_slice(&answer.to_le_bytes()[..size]);
            }
            continue;
        }
        for (offset, at) in lanes.elements.offsets().zip(lanes.places()) {
            let (at, address) = (at + lane * slot, address + offset as u64);
            if lanes.write {
                let bytes = state.files[file][at..at + size].to_vec();
                state.bytes(space, address, size)?.copy_from_slice(&bytes);
            } else {
                let bytes = state.bytes(space, address, size)?.to_vec();
                state.files[file][at..at + size].copy_from_slice(&bytes);
            }
        }
    }
    Some(())
}

/// Bytes as a number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}
