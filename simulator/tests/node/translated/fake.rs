//! A translator for the tests: its code is a function of the test, which calls the interpreter for each
//! instruction.

use std::slice;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gencl_eu::abi::{self, Answer, FAULT, Frame, Interpreted, Request, Tier, Translation};
use gencl_eu::abi::{Done, TranslationSource};
use gencl_simulator::translated::loader::EntryPoint;
use gencl_simulator::translated::source::{EngineChoice, Source};
use gencl_simulator::{Settings, Simulator};
use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SymbolFlags, SymbolKind, SymbolScope};

/// Why the fake translator leaves an instruction to the interpreter.
pub const REASON: &str = "mov: it is a fake";

pub type Group = unsafe extern "C" fn(*mut Frame) -> u32;

/// A translation whose code is a function that executes a work-group, whatever its further arguments are.
pub fn group(function: Group) -> Translation {
    translation(jump(abi::ENTRY, function as usize), false)
}

/// As [`group`], with a function that executes threads until they yield.
pub fn threads(function: EntryPoint) -> Translation {
    translation(jump(abi::ENTRY, function as usize), true)
}

/// Executes threads from `first` to `end`, each with a function that gives where it is to be resumed.
///
/// # Safety
/// The frame has to be the engine's, in nobody else's use meanwhile.
pub unsafe fn each(frame: *mut Frame, first: u32, end: u32, one: impl Fn(u32) -> Option<u32>) -> u32 {
    for thread in first..end {
        let Some(place) = one(thread) else { return FAULT };
        // SAFETY: there is one for each thread.
        unsafe { *(*frame).resume.add(thread as usize) = place };
    }
    0
}

/// Lists the first instruction as interpreted, on behalf of all.
fn translation(object: Vec<u8>, yields: bool) -> Translation {
    let interpreted = vec![Interpreted { instruction: 0, reason: REASON.to_owned() }];
    Translation { object, interpreted, windows: 2, yields, ..Translation::default() }
}

/// An object with a function that jumps to an address: `movabs $address, %rax; jmp *%rax`.
fn jump(name: &str, address: usize) -> Vec<u8> {
    let code = [&[0x48, 0xb8][..], &address.to_le_bytes(), &[0xff, 0xe0]].concat();
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let text = object.section_id(StandardSection::Text);
    let symbol = object.add_symbol(Symbol {
        name: name.into(),
        value: 0,
        size: 0,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    });
    object.add_symbol_data(symbol, text, &code, 16);
    object.write().unwrap()
}

/// Gives the same answer to every request for a tier, on another thread.
pub struct Translator {
    baseline: Answer,
    optimised: Answer,
    delay: Duration,
    requests: Mutex<Vec<Request>>,
}

impl Translator {
    pub fn new(answer: Answer, delay: Duration) -> Arc<Translator> {
        Translator::of_tiers(answer.clone(), answer, delay)
    }

    pub fn of_tiers(baseline: Answer, optimised: Answer, delay: Duration) -> Arc<Translator> {
        Arc::new(Translator { baseline, optimised, delay, requests: Mutex::default() })
    }

    /// Number of requests so far.
    pub fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// A simulator that uses it.
    pub fn simulator(self: &Arc<Translator>, engine: EngineChoice) -> Simulator {
        self.simulator_within(engine, Duration::from_millis(400))
    }

    /// A simulator that uses it, where a launch may take so long.
    pub fn simulator_within(self: &Arc<Translator>, engine: EngineChoice, hang_limit: Duration) -> Simulator {
        let translations = Some(Source(Arc::clone(self) as Arc<dyn TranslationSource>));
        let settings = Settings { workers: 2, engine, translations, hang_limit, ..Settings::default() };
        Simulator::with_settings("skl", settings).unwrap()
    }
}

impl TranslationSource for Translator {
    fn request(&self, request: Request, done: Done) {
        assert_eq!((request.version, request.device.as_str()), (abi::VERSION, "skl"));
        let answer = match request.tier {
            Tier::Baseline => self.baseline.clone(),
            Tier::Optimised => self.optimised.clone(),
        };
        self.requests.lock().unwrap().push(request);
        let delay = self.delay;
        std::thread::spawn(move || {
            std::thread::sleep(delay);
            done(answer);
        });
    }
}

/// Writes a thread's payload: header, cross-thread constants, one register of per-thread constants.
///
/// # Safety
/// `frame` is complete.
pub unsafe fn payload(frame: *mut Frame, thread: u32, file: usize) {
    // SAFETY: guaranteed by the caller; the file is larger than the payload.
    unsafe {
        let Frame { headers, header_step, cross_thread, per_thread, files, .. } = *frame;
        let file = slice::from_raw_parts_mut(*files.add(file), 96);
        let copy = |from: *const u8| slice::from_raw_parts(from, 32);
        file[..32].copy_from_slice(copy(headers.add(thread as usize * header_step as usize)));
        file[32..64].copy_from_slice(copy(cross_thread));
        file[64..].copy_from_slice(copy(per_thread.add(32 * thread as usize)));
    }
}

/// Interprets instructions; `false` when one has failed.
///
/// # Safety
/// `frame` is complete, and its threads have their payload.
pub unsafe fn execute(frame: *mut Frame, thread: u32, instructions: std::ops::Range<u32>) -> bool {
    for instruction in instructions {
        // SAFETY: the caller gives a complete frame, which has the function and a mask for each thread.
        let failed = unsafe {
            let (interpret, active) = ((*frame).interpret, *(*frame).masks.add(thread as usize));
            interpret(frame, thread, instruction, active)
        };
        if failed != 0 {
            return false;
        }
    }
    true
}
