//! Runs machine code on both engines and compares the registers.

use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gencl_eu::abi::{Done, TranslationSource};
use gencl_eu::abi::{Interpreted, Request, Tier};
use gencl_eu::device::Device;
use gencl_eu::dispatch::{Bases, Launch, Rounding, Scratch, Used};
use gencl_eu::fault::Fault;
use gencl_eu::memory::{AddressSpace, Cursor, Object};
use gencl_isa::{
    Descriptor, Destination, Extra, Generation, Instruction, Opcode, Operand, Predicate, PredicateControl,
    Region, Register, Send, SharedFunction, Source, Type, encode,
};
use gencl_simulator::engine::Engine;
use gencl_simulator::running::Running;
use gencl_simulator::statistics::Collector;
use gencl_simulator::statistics::report::Instruction as Counted;
use gencl_simulator::translated::source::{EngineChoice, Source as Translations};
use gencl_simulator::{Executor, Settings};
use gencl_testing::processor_time;
use gencl_translator::host::Host;
use gencl_translator::{Choices, Context, to_ir};

use crate::branches::SUMS;
use crate::parse::parse;
use crate::verify::verify;

/// What kernels are for.
pub const DEVICE: &str = "skl";
/// Its instruction set.
pub const GENERATION: Generation = Generation::Gen9;

/// Where code, results and data are.
pub const CODE: u64 = 0x10_0000;
pub const RESULTS: u64 = 0x20_0000;
pub const DATA: u64 = 0x40_0000;
pub const SCRATCH: u64 = 0x60_0000;
/// Bytes of scratch memory of a thread, and how many threads have some.
const SCRATCH_SIZE: u64 = 1024;
const SLOTS: u64 = 64;
/// Bytes of data that kernels may access.
pub const DATA_SIZE: u64 = 0x1_0000;
/// Where in the data states of surfaces and samplers are: binding table and samplers, these behind [`SAMPLERS`] more bytes.
pub const STATES: u64 = 0xf000;
pub const SAMPLERS: u32 = 0x100;

/// Registers with constants, from g1 on; then come the thread's own.
pub const CONSTANTS: u8 = 124;
/// Numbers of 16 lanes, words that count on from thread to thread.
pub const IDS: u8 = CONSTANTS + 2;
/// The header of messages.
const HEADER: u8 = 127;
/// Bytes of all registers.
pub const REGISTERS: usize = 4096;

/// Translates where it is asked.
pub struct Translator {
    /// For what.
    pub host: &'static Host,
    /// How much is done for it.
    pub tier: Tier,
    /// In all loops others have their turn after so many rounds.
    pub rounds: Option<u32>,
    /// What the interpreter was left with.
    pub interpreted: Mutex<Vec<Interpreted>>,
    /// The text of the kernel's middle IR.
    pub middle: Mutex<String>,
}

impl Default for Translator {
    fn default() -> Translator {
        Translator {
            host: hosts()[0],
            tier: tier().unwrap_or_default(),
            rounds: None,
            interpreted: Mutex::default(),
            middle: Mutex::default(),
        }
    }
}

/// The levels of x86-64 for which this machine can execute code, and its own processor; or the level `GENCL_AGREE_HOST` alone.
pub fn hosts() -> Vec<&'static Host> {
    match std::env::var("GENCL_AGREE_HOST") {
        Ok(name) => vec![Host::named(&name).unwrap_or_else(|| panic!("there is no level {name}"))],
        Err(_) => {
            let levels = ["v2", "v3", "v4"].into_iter().filter_map(Host::named).filter(|host| host.is_here());
            [Host::own()].into_iter().chain(levels).collect()
        }
    }
}

/// The tier `GENCL_AGREE_TIER`, `baseline` or `optimised`, if there is to be one only.
pub fn tier() -> Option<Tier> {
    std::env::var("GENCL_AGREE_TIER").ok().map(|name| match name.as_str() {
        "baseline" => Tier::Baseline,
        "optimised" => Tier::Optimised,
        _ => panic!("there is no tier {name}"),
    })
}

impl TranslationSource for Translator {
    fn request(&self, request: Request, done: Done) {
        let mut choices = Choices { host: self.host, ..Choices::default() };
        let mut request = Request { tier: self.tier, ..request };
        if let Some(rounds) = self.rounds {
            choices.rounds = rounds;
            request.variant.spins = true;
        }
        let answer = gencl_translator::translate(&request, &choices);
        if let Err(why) = &answer {
            // Nothing would be compared. Past the test's own output, which an abort loses.
            let _ = writeln!(std::io::stderr(), "not translated: {why}");
            std::process::abort();
        }
        *self.middle.lock().unwrap() = check_middle(&request, &choices);
        if let Ok(translation) = &answer {
            self.interpreted.lock().unwrap().clone_from(&translation.interpreted);
        }
        done(answer);
    }
}

/// The middle IR of a kernel is well-formed, and its text, which is returned, is read as the same.
fn check_middle(request: &Request, choices: &Choices) -> String {
    let context = Context::create();
    let written = to_ir(&context, request, choices).unwrap_or_else(|why| panic!("not translated: {why}"));
    written.module.verify().unwrap_or_else(|why| panic!("{}", why.to_string()));
    let function = written.middle;
    verify(&function).unwrap_or_else(|why| panic!("{why}\n{function}"));
    let text = function.to_string();
    let again = parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    verify(&again).unwrap_or_else(|why| panic!("{why}\n{again}"));
    assert_eq!(numbered(&again.to_string()), numbered(&text));
    text
}

/// The text with values numbered in the order in which they appear.
fn numbered(text: &str) -> String {
    let mut names = std::collections::HashMap::new();
    let parts = text.split('%').enumerate().map(|(n, part)| {
        if n == 0 {
            return part.to_owned();
        }
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let count = names.len();
        let number = names.entry(&part[..end]).or_insert(count);
        format!("%{number}{}", &part[end..])
    });
    parts.collect()
}

/// A launch of one work-group.
pub struct Case {
    /// What the kernel does before its registers are stored.
    pub body: Vec<Instruction>,
    /// Lanes.
    pub width: u32,
    /// Threads.
    pub threads: u32,
    /// Lanes of the last thread.
    pub mask: u32,
    /// Constants: [`CONSTANTS`] registers, fewer in strict mode.
    pub constants: Vec<u8>,
    /// What is in memory.
    pub data: Vec<u8>,
    /// `cr0` is set to these bits more.
    pub control: u32,
    /// What it is translated for.
    pub host: &'static Host,
    /// [`Translator::rounds`]
    pub rounds: Option<u32>,
    /// Strict mode: registers behind [`Case::ids`] are not written before the body, and only [`STORED`] are looked at.
    pub strict: bool,
}

impl Case {
    /// The thread's own register: its place among the results.
    fn place(&self) -> u8 {
        1 + (self.constants.len() / 32) as u8
    }

    /// [`IDS`], where there are fewer constants.
    fn ids(&self) -> u8 {
        self.place() + 1
    }

    /// The first of each four registers that are stored.
    fn stored(&self) -> Vec<u8> {
        if self.strict { STORED.to_vec() } else { (0..128).step_by(4).collect() }
    }
}

/// The first of each four registers that are looked at in strict mode.
const STORED: [u8; 3] = [0, 4, SUMS];

/// What a launch leaves behind.
#[derive(PartialEq, Eq)]
pub struct Outcome {
    /// The registers of all threads, one after the other.
    pub registers: Vec<u8>,
    /// The memory.
    pub data: Vec<u8>,
}

fn register(number: u8, subregister: u8, region: Region, ty: Type) -> Operand {
    Operand::Register(Source::new(Register::Grf(number), subregister, region, ty))
}

fn alone(opcode: Opcode, lanes: u8, destination: Destination, sources: [Operand; 2]) -> Instruction {
    let mut i = Instruction::new(opcode, lanes);
    i.no_mask = true;
    i.destination = destination;
    i.sources[0] = sources[0];
    i.sources[1] = sources[1];
    i
}

/// Instructions before the body.
pub const BEFORE: usize = 2;

/// The instructions around the body: `cr0` before, and all registers and flags to memory after.
fn kernel(case: &Case) -> Vec<Instruction> {
    let grf = |n, sub, ty| Destination::new(Register::Grf(n), sub, ty);
    let cr0 = Register::Arf(gencl_isa::Arf::Control(0));
    let bits = |bits, ty| Operand::Immediate { bits, ty };
    let control = Operand::Register(Source::new(cr0, 0, Region::SCALAR, Type::UD));
    let mut all = vec![alone(
        Opcode::Or,
        1,
        Destination::new(cr0, 0, Type::UD),
        [control, bits(u64::from(case.control), Type::UD)],
    )];
    let clear = |register| {
        let to = grf(register, 0, Type::UD);
        alone(Opcode::Mov, 8, to, [bits(0, Type::UD), Operand::None])
    };
    all.push(clear(HEADER));
    all.extend(&case.body);
    all.push(clear(case.ids()));
    for flag in 0..2 {
        let source = Source::new(Register::Arf(gencl_isa::Arf::Flag(flag)), 0, Region::SCALAR, Type::UD);
        let to = grf(case.ids(), flag * 4, Type::UD);
        all.push(alone(Opcode::Mov, 1, to, [Operand::Register(source), Operand::None]));
    }
    let f1 = Register::Arf(gencl_isa::Arf::Flag(1));
    all.push(alone(
        Opcode::Mov,
        1,
        Destination::new(f1, 0, Type::UD),
        [bits(0xffff_ffff, Type::UD), Operand::None],
    ));
    let place = register(case.place(), 0, Region::SCALAR, Type::UQ);
    all.push(alone(Opcode::Mov, 1, grf(HEADER, 0, Type::UQ), [place, Operand::None]));
    for first in case.stored() {
        let mut send = alone(
            Opcode::Sends,
            8,
            Destination::null(Type::UD),
            [
                register(HEADER, 0, Region::new(8, 8, 1), Type::UD),
                register(first, 0, Region::new(8, 8, 1), Type::UD),
            ],
        );
        // A64 block write of 8 OWords.
        let descriptor = 1 << 25 | 1 << 19 | 0x15 << 14 | 4 << 8 | 0xff;
        send.extra = Extra::Send(Send {
            target: SharedFunction::DataCache1,
            descriptor: Descriptor::Immediate(descriptor),
            extended: Descriptor::Immediate(4 << 6),
            end_of_thread: false,
        });
        // With a predicate, which is true, the interpreter sends it: to translate as many messages would take longer than what is to be compared.
        send.predicate = Some(Predicate { control: PredicateControl::Normal, inverse: false });
        send.flag.register = 1;
        all.push(send);
        let header = register(HEADER, 0, Region::SCALAR, Type::UQ);
        all.push(alone(Opcode::Add, 1, grf(HEADER, 0, Type::UQ), [header, bits(128, Type::UD)]));
    }
    let mut end = alone(
        Opcode::Send,
        8,
        Destination::null(Type::UW),
        [register(HEADER, 0, Region::SCALAR, Type::UD), Operand::None],
    );
    end.extra = Extra::Send(Send {
        target: SharedFunction::ThreadSpawner,
        descriptor: Descriptor::Immediate(1 << 25 | 1 << 4),
        extended: Descriptor::Immediate(0),
        end_of_thread: true,
    });
    all.push(end);
    all
}

/// The code of a case; `None` when an instruction cannot be encoded.
pub fn code(case: &Case) -> Option<Vec<u8>> {
    let encoded = kernel(case).iter().map(|i| encode(GENERATION, i)).collect::<Result<Vec<_>, _>>();
    Some(encoded.ok()?.concat())
}

/// What a kernel without end is stopped after: so much time in which the process had a processor. One that was stopped meanwhile, or runs beside others of higher
/// priority, has not run for long.
const LIMIT: Duration = Duration::from_secs(10);
/// How often that is looked at.
const TICK: Duration = Duration::from_millis(100);

/// Does what is stopped when it takes too long.
fn limited<T>(execute: impl FnOnce(&Arc<Running>) -> T) -> T {
    let running = Arc::new(Running::default());
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        let watched = &running;
        scope.spawn(move || {
            let (mut ran, mut before) = (Duration::ZERO, processor_time());
            while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let now = processor_time();
                ran += (now - before).min(TICK);
                before = now;
                if ran >= LIMIT {
                    return watched.cancel.set();
                }
            }
        });
        let result = execute(&running);
        drop(ended);
        result
    })
}

/// Executes a case: by translated code, or interpreted without a translator.
///
/// # Errors
/// The fault.
pub fn run(case: &Case, code: &[u8], translator: Option<&Arc<Translator>>) -> Result<Outcome, Fault> {
    run_with(case, code, settings(case, translator))
}

/// What a case is counted to execute: executions and lanes of each instruction.
///
/// # Errors
/// The fault.
pub fn counts(
    case: &Case,
    code: &[u8],
    translator: Option<&Arc<Translator>>,
) -> Result<Vec<(String, u64, u64)>, Fault> {
    let collector = Arc::new(Collector::default());
    let fast_statistics = translator.is_some();
    let statistics = Some(Arc::clone(&collector));
    run_with(case, code, Settings { statistics, fast_statistics, ..settings(case, translator) })?;
    let report = collector.report();
    let of = |own: &Counted| (own.text.clone(), own.counter.executions, own.counter.lanes);
    Ok(report.kernels[0].instructions.iter().map(of).collect())
}

fn settings(case: &Case, translator: Option<&Arc<Translator>>) -> Settings {
    let translations = translator.map(|t| Translations(Arc::clone(t) as Arc<dyn TranslationSource>));
    let engine = EngineChoice::Translate;
    Settings { strict: case.strict, workers: 1, engine, translations, ..Settings::default() }
}

fn run_with(case: &Case, code: &[u8], settings: Settings) -> Result<Outcome, Fault> {
    let device = Device::named(DEVICE).unwrap();
    let object = |size: u64| Object::create(size.next_multiple_of(4096)).unwrap();
    let results = u64::from(case.threads) * REGISTERS as u64;
    let buffers = [
        (CODE, object(code.len() as u64)),
        (RESULTS, object(results)),
        (DATA, object(DATA_SIZE)),
        (SCRATCH, object(SCRATCH_SIZE * SLOTS)),
    ];
    let memory = Arc::new(AddressSpace::new(buffers).unwrap());
    let mut cursor = Cursor::default();
    memory.write(&mut cursor, CODE, code).unwrap();
    memory.write(&mut cursor, DATA, &case.data).unwrap();
    let mut per_thread = Vec::new();
    for thread in 0..u64::from(case.threads) {
        per_thread.extend((RESULTS + thread * REGISTERS as u64).to_le_bytes());
        per_thread.extend([0; 24]);
        per_thread.extend((0..16).flat_map(|lane| (16 * thread as u16 + lane).to_le_bytes()));
    }
    let launch = Launch {
        kernel: CODE,
        simd_width: case.width,
        threads: [case.threads, 1, 1],
        first_group: [0; 3],
        end_group: [1; 3],
        right_mask: case.mask,
        bottom_mask: u32::MAX,
        cross_thread: case.constants.clone(),
        per_thread,
        per_thread_size: 64,
        indirect_data: false,
        slm_size: 4096,
        barrier: true,
        scratch: Some(Scratch { base: 0, per_thread: SCRATCH_SIZE as u32, code: 0, slots: SLOTS as u32 }),
        bases: Bases { general: SCRATCH, surface: DATA + STATES, dynamic: DATA + STATES, ..Bases::default() },
        binding_table: 0,
        samplers: SAMPLERS,
        used: Used::default(),
        alternate_float: false,
        rounding: Rounding::NearestEven,
        single_program_flow: false,
        mark: Default::default(),
    };
    let engine = Engine::new(device, &settings);
    limited(|running| engine.prepare(launch, &memory, running)?.execute())?;
    let mut outcome = Outcome { registers: vec![0; results as usize], data: vec![0; DATA_SIZE as usize] };
    memory.read(&mut cursor, RESULTS, &mut outcome.registers).unwrap();
    memory.read(&mut cursor, DATA, &mut outcome.data).unwrap();
    // The thread's slot in `g0.5`: those that stop have one each, the others one after the other the same.
    outcome.registers.chunks_exact_mut(REGISTERS).for_each(|thread| thread[20..24].fill(0));
    Ok(outcome)
}

/// Whether two dwords are the same, but for the payload of NaNs, which is undefined.
fn same(a: u32, b: u32) -> bool {
    let nan = |v: u32| f32::from_bits(v).is_nan();
    let half = |v: u32| v & 0x7fff > 0x7c00;
    let word = |a, b| a == b || half(a) && half(b);
    a == b || nan(a) && nan(b) || word(a & 0xffff, b & 0xffff) && word(a >> 16, b >> 16)
}

/// The first difference between two outcomes.
pub fn difference(a: &Outcome, b: &Outcome) -> Option<String> {
    let dwords = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    };
    let double =
        |list: &[u32], n: usize| f64::from_bits(u64::from(list[n & !1]) | u64::from(list[n | 1]) << 32);
    for (what, a, b) in [("registers", &a.registers, &b.registers), ("memory", &a.data, &b.data)] {
        let (a, b) = (dwords(a), dwords(b));
        let differs = |n: &usize| !(same(a[*n], b[*n]) || double(&a, *n).is_nan() && double(&b, *n).is_nan());
        if let Some(n) = (0..a.len()).find(differs) {
            let place = format!("thread {}, g{}.{}", n / 1024, n / 8 % 128, n % 8);
            return Some(format!("{what} at {place}: interpreted {:#x}, translated {:#x}", a[n], b[n]));
        }
    }
    None
}
