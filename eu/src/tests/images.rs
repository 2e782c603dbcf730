//! Image messages for all channels at once against the definition, which is for one.
//!
//! Messages are performed channel by channel when the surface is not in one buffer. So random messages are executed
//! with the same memory as one buffer, and as buffers of one page each.

use gencl_isa::message::{Message, Operation, SlotGroup};
use gencl_isa::{SharedFunction, parse_program};
use gencl_testing::Random;

use super::state::States;
use crate::Kernel;
use crate::device::Device;
use crate::dispatch::{CancelFlag, Launch};
use crate::execute::run::{self, Worker};
use crate::file::{File, GRF_BYTES};
use crate::memory::{AddressSpace, Cursor, Object, PAGE_SIZE};
use crate::message::FORMATS;
use crate::profile::{InstructionCounter, Recorder};

/// Test memory; the states of `state.rs` are in its last pages.
const MEMORY: u64 = 0x10000;
const PAGES: u64 = 16;
const TEXELS: usize = 0xe000;

/// Number of random states, and of messages that use each.
const STATES: usize = 2000;
const MESSAGES: usize = 4;

/// First register of payload and response.
const HEADER: usize = 19 * 32;
const PAYLOAD: usize = 20 * 32;
const RESPONSE: usize = 40 * 32;

/// What messages are like on a device.
struct Target {
    name: &'static str,
    /// Messages to the sampler that not all devices have.
    own: &'static [Kind],
    /// Typed messages have a header.
    typed_header: bool,
    /// The sampler returns values of 16 bits, too.
    halves: bool,
    /// The sampler selects channels.
    selects: bool,
    /// The border colour of integers is in memory of its own.
    integer_border: bool,
}

const LD_LEVEL_SECOND: &[Kind] = &[sampler(7, "ulvr", false)];
const LEVEL_ZERO: &[Kind] = &[sampler(24, "uvr", true), sampler(26, "uvr", false), sampler(7, "uvlr", false)];

const IVY_BRIDGE: Target = Target {
    name: "ivb",
    own: LD_LEVEL_SECOND,
    typed_header: true,
    halves: false,
    selects: false,
    integer_border: false,
};
const TARGETS: &[Target] = &[
    IVY_BRIDGE,
    Target { name: "hsw", selects: true, integer_border: true, ..IVY_BRIDGE },
    Target { name: "bdw", selects: true, halves: true, ..IVY_BRIDGE },
    Target { name: "skl", own: LEVEL_ZERO, typed_header: false, halves: true, selects: true, ..IVY_BRIDGE },
];

/// A message: its type, and which of its parameters are floats.
#[derive(Clone, Copy)]
struct Kind {
    /// Type of messages to the sampler; those to the data port have none.
    number: Option<u8>,
    write: bool,
    /// Letters of the parameters: U, V, R, level.
    parameters: &'static str,
    filtered: bool,
}

const fn sampler(number: u8, parameters: &'static str, filtered: bool) -> Kind {
    Kind { number: Some(number), write: false, parameters, filtered }
}

const READ: Kind = Kind { number: None, write: false, parameters: "uvrl", filtered: false };
const WRITE: Kind = Kind { number: None, write: true, parameters: "uvrl", filtered: false };
/// The messages of all devices.
const COMMON: [Kind; 5] =
    [sampler(0, "uvr", true), sampler(1, "luvr", true), sampler(2, "luvr", true), READ, WRITE];

/// A surface of a script, and its size.
fn surface(random: &mut Random, target: &Target, device: &Device, kind: &Kind) -> (String, [u32; 3]) {
    let format = loop {
        let format = &FORMATS[random.below(FORMATS.len())];
        let integer = format.is_integer();
        let fits = match kind.number {
            None if kind.write => format.typed_write,
            None => format.typed_read.has(device.generation),
            Some(_) => true,
        };
        if fits && !(integer && kind.filtered && random.one_in(2)) {
            break format;
        }
    };
    let bytes = format.bytes() as u32;
    let shape = random.pick(&["1D", "2D", "2D", "3D", "BUFFER"]);
    let slices = if shape == "BUFFER" { 1 } else { random.pick(&[1, 1, 2, 3]) };
    let width = 1 + random.below(40u32);
    let height = if shape == "1D" { 1 } else { 1 + random.below(if slices > 1 { 9u32 } else { 20 }) };
    let tiling =
        if shape == "1D" || bytes == 12 { "" } else { random.pick(&["", "", " tiled X", " tiled Y"]) };
    let base = if tiling.is_empty() { 0x11000 - 16 * random.below(8u32) } else { 0x10000 };
    if shape == "BUFFER" {
        return (format!("1: BUFFER {} {} at {base:x}", format.name, 20 * width), [20 * width, 1, 1]);
    }
    let unit = match tiling {
        "" => bytes,
        " tiled X" => 512,
        _ => 128,
    };
    let pitch = (width * bytes).next_multiple_of(unit) + unit * random.below(2u32);
    let array = if slices > 1 && shape != "3D" { " array" } else { "" };
    let levels = if random.one_in(8) { " levels 3" } else { "" };
    let qpitch = if shape == "1D" { width } else { height }.next_multiple_of(4)
        * if levels.is_empty() { 1 } else { 2 };
    let select = if target.selects { random.pick(&["rgba", "rgba", "rgba", "bgr1", "0rg1"]) } else { "rgba" };
    let integers = if target.integer_border && format.is_integer() { " integers" } else { "" };
    let text = format!(
        "1: {shape} {} {width}x{height}x{slices} at {base:x} pitch {pitch} qpitch {qpitch} select {select}{tiling}{array}{levels}{integers}",
        format.name
    );
    (text, [width, height, slices])
}

fn sampler_state(random: &mut Random) -> String {
    let colour: Vec<String> = (0..4).map(|_| format!("{:x}", random.float(-2.0, 2.0).to_bits())).collect();
    let integers: Vec<String> = (0..4).map(|_| format!("{:x}", random.next_u32())).collect();
    format!(
        "2: {} {}{}{}{} border_colour {} integer_border {}",
        random.pick(&["nearest", "linear", "linear"]),
        random.pick(&["wrap", "mirror", "clamp", "border", "once", "half"]),
        random.pick(&["", " texels"]),
        random.pick(&["", " rounded"]),
        random.pick(&["", "", " mip nearest", " mip linear"]),
        if random.one_in(8) { "7f800000 ff800000 7fc00000 0".into() } else { colour.join(" ") },
        integers.join(" "),
    )
}

/// The bits of a coordinate on an axis of `size` texels.
fn coordinate(random: &mut Random, filtered: bool, size: u32) -> u32 {
    if !filtered {
        return match random.below(8u32) {
            0 => random.dword(),
            1 => size.wrapping_sub(random.below(3u32)),
            2 => u32::MAX,
            _ => random.below(size),
        };
    }
    let unit = random.pick(&[1.0, size as f32]);
    let texels = match random.below(10u32) {
        0 => random.pick(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-40, -1e-40, 1e30, -1e30]),
        1 => random.pick(&[1073741824.0, -1073741824.0, 2147483648.0, 16777217.0, 8388608.5]),
        2 => random.below(size + 1) as f32,
        3 => random.below(size + 1) as f32 + 0.5,
        4 => random.below(512 * size) as f32 / 512.0,
        5 => f32::from_bits(random.dword()),
        _ => random.float(-1.5 * size as f32, 2.5 * size as f32),
    };
    (texels / size as f32 * unit).to_bits()
}

fn code(random: &mut Random, target: &Target, device: &Device, kind: &Kind, simd: u32) -> Kernel {
    let per = simd * 4 / 32;
    let count = kind.parameters.len() as u32;
    let header = kind.number.is_none() && target.typed_header || random.one_in(4);
    let first = if header { HEADER } else { PAYLOAD } / 32;
    let half = target.halves && kind.number.is_some() && random.one_in(6);
    let operation = match kind.number {
        Some(number) => {
            Operation::Sampler { surface: 1, sampler: 2, kind: number, mode: (simd / 8) as u8, half }
        }
        None => Operation::Typed { write: kind.write, surface: 1, slots: SlotGroup::Low, channels: 0xf },
    };
    let payload = ((count + if kind.write { 4 } else { 0 }) * per + u32::from(header)) as u8;
    let response = match kind {
        _ if kind.write => 0,
        _ if half => 4,
        _ => 4 * per as u8,
    };
    let message = Message { payload, response, header, operation };
    let (function, descriptor) = message.encode(device.generation).unwrap();
    let function = match function {
        SharedFunction::Sampler => "sampler",
        SharedFunction::RenderCache => "render",
        _ => "dp data 1",
    };
    let destination = if kind.write { "null".into() } else { format!("g{}", RESPONSE / 32) };
    let quarter = if simd == 8 { "1Q" } else { "1H" };
    let text = format!(
        "send({simd}) {destination}<1>UD g{first}<8,8,1>UD {descriptor:#010x} {function} MsgDesc: mlen {payload} rlen {response} {{ align1 {quarter} }};
        mov(8) g127<1>UD g0<8,8,1>UD {{ align1 WE_all 1Q }};
        send(8) null<1>UW g127<8,8,1>UW 0x82000010 thread_spawner MsgDesc: mlen 1 rlen 0 {{ align1 WE_all 1Q EOT }};"
    );
    let code = parse_program(device.generation, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Kernel::assemble(device, &code, true).unwrap()
}

/// What a message leaves behind: registers, memory and counts, or the fault.
fn execute(
    kernel: &Kernel,
    device: &'static Device,
    launch: &Launch,
    memory: &AddressSpace,
    registers: &[u8],
) -> Result<(Box<File>, Vec<u8>, InstructionCounter), String> {
    let mut worker = Worker::new(device, 0);
    let cancel = CancelFlag::default();
    let setup = |thread: &mut crate::thread::Thread| {
        thread.file[..GRF_BYTES].copy_from_slice(registers);
        thread.written = u128::MAX;
    };
    let mut recorder = Recorder::new(kernel);
    run::run_group_from(kernel, launch, [0; 3], memory, &mut worker, &cancel, &mut recorder, setup)
        .map_err(|fault| fault.to_string())?;
    let mut texels = vec![0; TEXELS];
    memory.read(&mut Cursor::default(), MEMORY, &mut texels).unwrap();
    Ok((worker.threads.remove(0).file, texels, recorder.take().total()))
}

/// Whether dwords are the same, but for the bits of NaNs.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let half = |bits: u32| bits & 0x7fff > 0x7c00;
    let both_nan = |a: u32, b: u32| f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan();
    let same_half = |a: u32, b: u32| a == b || half(a) && half(b);
    a.chunks_exact(4).zip(b.chunks_exact(4)).all(|(a, b)| {
        let (a, b) = (word(a), word(b));
        a == b || both_nan(a, b) || same_half(a & 0xffff, b & 0xffff) && same_half(a >> 16, b >> 16)
    })
}

#[test]
fn messages_for_all_channels_do_what_they_do_for_one() {
    let mut random = Random::new(29);
    let (mut faults, mut others) = ([0; TARGETS.len()], 0);
    for state in 0..STATES {
        let index = state % TARGETS.len();
        let target = &TARGETS[index];
        let (name, device) = (target.name, Device::named(target.name).unwrap());
        let kind = &random.pick(&[&COMMON, target.own].concat());
        let simd = if kind.number.is_none() { 8 } else { random.pick(&[8, 16]) };
        let kernel = code(&mut random, target, device, kind, simd);
        let (text, size) = surface(&mut random, target, device, kind);
        let sampler = sampler_state(&mut random);
        let mut states = States::default();
        states.surface(&text);
        states.sampler(&sampler);
        let mut launch = Launch {
            simd_width: simd,
            threads: [1; 3],
            end_group: [1; 3],
            bottom_mask: u32::MAX,
            ..Launch::default()
        };
        let texels: Vec<u8> = (0..TEXELS).map(|_| random.next_u32() as u8).collect();
        for _ in 0..MESSAGES {
            launch.right_mask = if random.one_in(2) { u32::MAX } else { random.dword() };
            let mut registers = vec![0; GRF_BYTES];
            if random.one_in(2) {
                // Offsets and disabled channels.
                let control = random.next_u32() & random.pick(&[0xfff, 0x5fff, 0]);
                registers[HEADER + 8..HEADER + 12].copy_from_slice(&control.to_le_bytes());
            }
            registers[HEADER + 28..HEADER + 32].copy_from_slice(&random.next_u32().to_le_bytes());
            let per = simd as usize * 4;
            for (n, letter) in kind.parameters.chars().enumerate() {
                for lane in 0..simd as usize {
                    let value = match letter {
                        'l' if kind.filtered => random.float(-1.0, 4.0).to_bits(),
                        'l' => u32::from(kind.number.is_some() && random.one_in(8)),
                        letter => {
                            let axis = "uvr".find(letter).unwrap();
                            coordinate(&mut random, kind.filtered, size[axis])
                        }
                    };
                    let at = PAYLOAD + n * per + lane * 4;
                    registers[at..at + 4].copy_from_slice(&value.to_le_bytes());
                }
            }
            let data = PAYLOAD + kind.parameters.len() * per;
            for at in (data..data + 4 * per).step_by(4) {
                let value = if random.one_in(3) { random.dword() } else { random.float(-1.5, 1.5).to_bits() };
                registers[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
            let outcomes = [PAGES, 1].map(|pages| {
                let buffers = (0..PAGES / pages).map(|n| {
                    let object = Object::create(pages * PAGE_SIZE).unwrap();
                    (MEMORY + n * pages * PAGE_SIZE, object)
                });
                let memory = AddressSpace::new(buffers).unwrap();
                memory.write(&mut Cursor::default(), MEMORY, &texels).unwrap();
                states.write(device.generation, &memory, &mut launch);
                execute(&kernel, device, &launch, &memory, &registers)
            });
            match &outcomes {
                [Ok(a), Ok(b)] => {
                    // Far outside of the surface, the weights of the one texel there differ: none or two are counted.
                    others += usize::from(a.2.texels != b.2.texels);
                    let counts = [a.2, b.2].map(|counter| InstructionCounter { texels: 0, ..counter });
                    let same = is_same(&a.0[..], &b.0[..]) && a.1 == b.1 && counts[0] == counts[1];
                    assert!(
                        same,
                        "state {state} on {name}: {}\nsurface {text}\nsampler {sampler}\n{:?}",
                        kernel.text(0),
                        counts
                    );
                }
                [Err(a), Err(b)] => {
                    assert_eq!(a, b, "{text}");
                    faults[index] += 1;
                }
                _ => panic!("only one faults: {text} {:?} {:?}", outcomes[0].is_ok(), outcomes[1].is_ok()),
            }
        }
    }
    assert!(others < STATES * MESSAGES / 50, "{others} numbers of texels differ");
    let each = STATES * MESSAGES / TARGETS.len();
    assert!(faults.iter().all(|faults| *faults < each / 3), "{faults:?} faults");
}
