//! Test scripts: assembly with lines that initialise registers and memory, and lines with their expected
//! contents.
//!
//! Blocks are separated by lines of `---`. In a block, lines that begin with `;` are:
//!
//! | line | |
//! | --- | --- |
//! | `; set PLACE TYPE: VALUES` | registers or memory before |
//! | `; is PLACE TYPE: VALUES` | registers or memory after |
//! | `; fault: TEXT` | the run fails and the reason contains the text |
//! | `; simd N`, `; mask BITS`, `; threads N`, `; local BYTES`, `; scratch BYTES`, `; cr0 BITS` | the launch |
//! | `; lenient` | strict mode off |
//! | `; device NAME` | the device, `skl` without it |
//! | `; used SURFACES SAMPLERS` | how many of them the interface descriptor says |
//! | `; surface INDEX: ...`, `; sampler INDEX: ...` | states, see `state.rs` |
//!
//! A PLACE is `gN`, `gN.ELEMENT`, `fN`, `accN`, `aN`, or a memory address in hexadecimal. VALUES are numbers,
//! or bits as `#HEX`; the last number may be `NUMBER*COUNT`. An end of thread is added to the code.

use gencl_isa::{Type, parse_program};

use super::state::States;
use crate::Kernel;
use crate::device::Device;
use crate::dispatch::{CancelFlag, Launch, Rounding, Scratch, Used};
use crate::execute::probe::{NoProbe, Probe};
use crate::execute::run::{self, Worker};
use crate::fault::Fault;
use crate::file::{ACCUMULATOR, ADDRESS, FLAG, File, GRF_BYTES, grf_mask};
use crate::memory::{AddressSpace, Cursor, Object, PAGE_SIZE};
use crate::profile::{Profile, Recorder};

/// GPU address of test memory.
const MEMORY: u64 = 0x10000;
const MEMORY_SIZE: u64 = 0x10000;

/// One block of a script.
#[derive(Debug, Default)]
pub struct Script {
    pub code: String,
    set: Vec<Line>,
    is: Vec<Line>,
    fault: Option<String>,
    simd: u32,
    mask: u32,
    threads: u32,
    local: u32,
    scratch: u32,
    cr0: u32,
    lenient: bool,
    device: Option<String>,
    states: States,
    used: Used,
}

#[derive(Debug)]
enum Place {
    Register(usize),
    Memory(u64),
}

#[derive(Debug)]
struct Line {
    place: Place,
    ty: Type,
    values: Vec<u64>,
    text: String,
}

fn number(text: &str) -> u32 {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

fn value(text: &str, ty: Type) -> u64 {
    if let Some(hex) = text.strip_prefix('#') {
        return u64::from_str_radix(hex, 16).unwrap();
    }
    let mask = crate::operand::low_bits(ty.size() * 8);
    match ty {
        Type::F => u64::from(text.parse::<f32>().unwrap().to_bits()),
        Type::DF => text.parse::<f64>().unwrap().to_bits(),
        Type::HF => u64::from(crate::float::to_f16(text.parse::<f64>().unwrap(), Rounding::NearestEven)),
        _ => match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).unwrap() & mask,
            None => text.parse::<i128>().unwrap() as u64 & mask,
        },
    }
}

fn type_named(name: &str) -> Type {
    [Type::UB, Type::B, Type::UW, Type::W, Type::UD, Type::D, Type::UQ, Type::Q, Type::HF, Type::F, Type::DF]
        .into_iter()
        .find(|ty| format!("{ty:?}") == name)
        .unwrap_or_else(|| panic!("type {name}"))
}

fn line(text: &str) -> Line {
    let (head, values) = text.split_once(':').unwrap_or_else(|| panic!("no values: {text}"));
    let mut words = head.split_whitespace();
    let place = words.next().unwrap();
    let ty = type_named(words.next().unwrap_or_else(|| panic!("no type: {text}")));
    let (name, element) = place.split_once('.').unwrap_or((place, "0"));
    let element = element.parse::<usize>().unwrap() * ty.size() as usize;
    let indexed = |prefix: &str, base: usize, step: usize| {
        let index = name.strip_prefix(prefix)?.parse::<usize>().ok()?;
        Some(Place::Register(base + index * step + element))
    };
    let place = indexed("g", 0, 32)
        .or_else(|| indexed("f", FLAG, 4))
        .or_else(|| indexed("acc", ACCUMULATOR, 32))
        .or_else(|| indexed("a", ADDRESS, 32))
        .unwrap_or_else(|| Place::Memory(u64::from_str_radix(name, 16).unwrap() + element as u64));
    let mut list = Vec::new();
    for word in values.split_whitespace() {
        match word.split_once('*') {
            Some((word, count)) => list.extend(vec![value(word, ty); count.parse().unwrap()]),
            None => list.push(value(word, ty)),
        }
    }
    Line { place, ty, values: list, text: text.to_owned() }
}

impl Script {
    /// All blocks of a file.
    pub fn parse(text: &str) -> Vec<Script> {
        text.split("\n---\n").map(Script::block).collect()
    }

    /// One block.
    pub fn block(text: &str) -> Script {
        let mut script = Script { simd: 16, mask: u32::MAX, threads: 1, cr0: 0x4c0, ..Script::default() };
        for source in text.lines() {
            let Some(directive) = source.strip_prefix(';') else {
                script.code.push_str(source);
                script.code.push('\n');
                continue;
            };
            let (word, rest) = directive.trim().split_once(' ').unwrap_or((directive.trim(), ""));
            match word {
                "set" => script.set.push(line(rest)),
                "is" => script.is.push(line(rest)),
                "fault:" => script.fault = Some(rest.to_owned()),
                "simd" => script.simd = number(rest),
                "mask" => script.mask = number(rest),
                "threads" => script.threads = number(rest),
                "local" => script.local = number(rest),
                "scratch" => script.scratch = number(rest),
                "cr0" => script.cr0 = number(rest),
                "lenient" => script.lenient = true,
                "used" => {
                    let (surfaces, samplers) = rest.split_once(' ').unwrap();
                    script.used = Used { surfaces: Some(number(surfaces)), samplers: Some(number(samplers)) };
                }
                "device" => script.device = Some(rest.to_owned()),
                "surface" => script.states.surface(rest),
                "sampler" => script.states.sampler(rest),
                "#" => {}
                other => panic!("directive {other}"),
            }
        }
        script
    }

    /// The launch of one group of `threads` threads with local ids.
    pub fn launch(&self) -> Launch {
        let mut per_thread = Vec::new();
        for thread in 0..self.threads {
            for id in 0..16u32 {
                per_thread.extend(((thread * self.simd + id) as u16).to_le_bytes());
            }
            per_thread.resize((thread as usize + 1) * 32, 0);
        }
        Launch {
            simd_width: self.simd,
            threads: [self.threads, 1, 1],
            end_group: [1, 1, 1],
            right_mask: self.mask,
            bottom_mask: u32::MAX,
            per_thread,
            per_thread_size: 32,
            slm_size: self.local,
            barrier: true,
            scratch: (self.scratch > 0).then_some(Scratch {
                base: MEMORY,
                per_thread: self.scratch,
                code: self.scratch.trailing_zeros() - 10,
                slots: 16,
            }),
            used: self.used,
            ..Launch::default()
        }
    }

    /// Runs the script and checks its expectations. `Err` is the failed one.
    pub fn run(&self) -> Result<(), String> {
        let (result, file, memory) = self.execute(|_| NoProbe);
        match (&self.fault, result.map(|_| ())) {
            (Some(text), Err(fault)) if fault.to_string().contains(text.as_str()) => return Ok(()),
            (Some(text), result) => return Err(format!("expected fault {text:?}, got {result:?}")),
            (None, Err(fault)) => return Err(fault.to_string()),
            (None, Ok(())) => {}
        }
        for line in &self.is {
            let size = line.ty.size() as usize;
            let mut bytes = vec![0; size * line.values.len()];
            match line.place {
                Place::Register(at) => bytes.copy_from_slice(&file[at..at + size * line.values.len()]),
                Place::Memory(at) => {
                    memory.read(&mut Cursor::default(), at, &mut bytes).map_err(|e| e.to_string())?
                }
            }
            let got: Vec<u64> = bytes
                .chunks_exact(size)
                .map(|c| c.iter().rev().fold(0, |all, b| all << 8 | u64::from(*b)))
                .collect();
            let nan = |bits: u64| line.ty == Type::F && f32::from_bits(bits as u32).is_nan();
            let same = got.iter().zip(&line.values).all(|(g, e)| g == e || nan(*g) && nan(*e));
            if !same {
                return Err(format!("is {}\n got {}", line.text, show(&got, line.ty)));
            }
        }
        Ok(())
    }

    /// Runs the script and returns its profile. Panics when the run fails.
    pub fn profile(&self) -> Profile {
        self.execute(Recorder::new).0.unwrap_or_else(|fault| panic!("{fault}\n{}", self.code)).take()
    }

    fn execute<P: Probe>(
        &self,
        probe: impl FnOnce(&Kernel) -> P,
    ) -> (Result<P, Fault>, Box<File>, AddressSpace) {
        let device = Device::named(self.device.as_deref().unwrap_or("skl")).expect("a device");
        assert_eq!(MEMORY_SIZE % PAGE_SIZE, 0);
        let memory = AddressSpace::new([(MEMORY, Object::create(MEMORY_SIZE).unwrap())]).unwrap();
        let end = "mov(8) g127<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
            send(8) null<1>UW g127<8,8,1>UW 0x82000010 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q EOT };";
        let code = parse_program(device.generation, &format!("{}\n{end}", self.code))
            .unwrap_or_else(|e| panic!("{e}\n{}", self.code));
        let mut worker = Worker::new(device, 0);
        let mut file = Box::new([0; crate::file::FILE_BYTES]);
        let result = Kernel::assemble(device, &code, !self.lenient).and_then(|kernel| {
            let mut launch = self.launch();
            self.states.write(device.generation, &memory, &mut launch);
            let setup = |thread: &mut crate::thread::Thread| {
                thread.float = crate::thread::FloatMode::of_control(self.cr0);
                crate::file::set_dword(&mut thread.file, crate::file::CONTROL, self.cr0);
                for line in &self.set {
                    if let Place::Register(at) = line.place {
                        let size = line.ty.size() as usize;
                        for (n, value) in line.values.iter().enumerate() {
                            let at = at + n * size;
                            crate::file::set_element(&mut thread.file[at..at + size], *value);
                        }
                        let end = at + size * line.values.len();
                        if at < GRF_BYTES {
                            thread.written |= grf_mask(at, end);
                        } else if (ACCUMULATOR..FLAG).contains(&at) {
                            for (n, value) in line.values.iter().enumerate() {
                                let wide =
                                    if line.ty == Type::D { i64::from(*value as i32) } else { *value as i64 };
                                thread.wide_accumulator[(at + n * size - ACCUMULATOR) / 2] = wide;
                            }
                        }
                    }
                }
            };
            for line in &self.set {
                if let Place::Memory(at) = line.place {
                    let size = line.ty.size() as usize;
                    for (n, value) in line.values.iter().enumerate() {
                        let bytes = &value.to_le_bytes()[..size];
                        memory.write(&mut Cursor::default(), at + (n * size) as u64, bytes).unwrap();
                    }
                }
            }
            let (cancel, mut probe) = (CancelFlag::default(), probe(&kernel));
            run::run_group_from(&kernel, &launch, [0; 3], &memory, &mut worker, &cancel, &mut probe, setup)?;
            Ok(probe)
        });
        if let Some(thread) = worker.threads.first() {
            file.copy_from_slice(&thread.file[..]);
        }
        (result, file, memory)
    }
}

fn show(values: &[u64], ty: Type) -> String {
    let one = |v: &u64| match ty {
        Type::F => format!("{} (#{v:x})", f32::from_bits(*v as u32)),
        Type::DF => format!("{} (#{v:x})", f64::from_bits(*v)),
        Type::D => format!("{}", *v as i32),
        Type::W => format!("{}", *v as i16),
        Type::Q => format!("{}", *v as i64),
        _ => format!("#{v:x}"),
    };
    values.iter().map(one).collect::<Vec<_>>().join(" ")
}
