//! Messages to images: to the sampler, and typed writes, with random states of theirs.

use gencl_eu::message::{FORMATS, SurfaceFormat};
use gencl_isa::message::{Message, Operation, SlotGroup};
use gencl_isa::{Instruction, SharedFunction, parse_program};
use gencl_testing::Random;

use crate::harness::{DATA, GENERATION, SAMPLERS, STATES};

/// Messages of a kernel.
const MESSAGES: usize = 7;
/// Registers of each, from the first on: its payload, then the response.
const FIRST: usize = 4;
const SLOT: usize = 17;
const RESPONSE: usize = 8;
/// Bytes of a register.
const REGISTER: usize = 32;
/// Where states are, behind [`STATES`]: border colours, surfaces.
const BORDERS: usize = 0x200;
const SURFACES: usize = 0x400;
/// Bytes of a surface state.
const SURFACE: usize = 64;

/// A message's number for the sampler, and its parameters: U, V, R, level. None is a typed write.
type Kind = (Option<u8>, &'static str);
const KINDS: [Kind; 8] = [
    (Some(24), "uvr"),
    (Some(24), "uvr"),
    (Some(24), "uv"),
    (Some(2), "luvr"),
    (Some(26), "uvr"),
    (Some(7), "uvlr"),
    (None, "uvr"),
    (None, "uv"),
];

fn is_filtered(kind: Kind) -> bool {
    matches!(kind.0, Some(24 | 2))
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Puts a surface state into memory; the size of the surface.
fn surface(random: &mut Random, kind: Kind, data: &mut [u8], number: usize) -> [u32; 3] {
    let fits = |format: &SurfaceFormat| match kind.0 {
        None => format.typed_write,
        Some(_) => !(format.is_integer() && is_filtered(kind)) || number.is_multiple_of(2),
    };
    let format = loop {
        let format = &FORMATS[random.below(FORMATS.len())];
        if fits(format) {
            break format;
        }
    };
    let bytes = format.bytes() as u32;
    // One dimension, two, three.
    let shape = random.pick(&[0, 1, 1, 1, 2]);
    let slices = random.pick(&[1, 1, 2, 3]);
    let (width, height) = (1 + random.below(40u32), if shape == 0 { 1 } else { 1 + random.below(9u32) });
    let array = u32::from(slices > 1 && shape < 2);
    let pitch = (width + random.below(3u32)) * bytes;
    let rows = height.next_multiple_of(4);
    let qpitch = if shape == 0 { width.next_multiple_of(4) } else { rows };
    let base = DATA + 16 * u64::from(random.below(64u32));
    let selects = random.pick(&[[4, 5, 6, 7], [4, 5, 6, 7], [6, 5, 4, 1], [0, 7, 4, 1]]);
    let select = selects.iter().zip([25, 22, 19, 16]).fold(0, |all, (select, at)| all | select << at);
    let dwords = [
        shape << 29 | array << 28 | format.number << 18 | 1 << 16 | 1 << 14,
        qpitch / 4,
        (height - 1) << 16 | (width - 1),
        (slices - 1) << 21 | (pitch - 1),
        0,
        0,
        0,
        select,
        base as u32,
        (base >> 32) as u32,
    ];
    let place = SURFACES + number * SURFACE;
    put(data, STATES as usize + number * 4, place as u32);
    (0..).zip(dwords).for_each(|(n, dword)| put(data, STATES as usize + place + n * 4, dword));
    [width, height, slices]
}

/// Puts a sampler state into memory; whether coordinates are normalised.
fn sampler(random: &mut Random, data: &mut [u8], number: usize, is_linear: bool) -> bool {
    let linear = u32::from(is_linear);
    let modes: [u32; 3] = std::array::from_fn(|_| random.pick(&[0, 1, 2, 2, 4, 4, 5, 6]));
    let unnormalized = random.below(2u32);
    let rounded = if random.one_in(2) { 0x3f << 13 } else { 0 };
    let border = BORDERS + number * 64;
    let dwords = [
        linear << 17 | linear << 14,
        14 << 16,
        border as u32,
        modes[0] << 6 | modes[1] << 3 | modes[2] | unnormalized << 10 | rounded,
    ];
    let at = STATES as usize + SAMPLERS as usize + number * 16;
    (0..).zip(dwords).for_each(|(n, dword)| put(data, at + n * 4, dword));
    let is_black = random.one_in(2);
    for channel in 0..4 {
        let colour = if is_black { 0.0 } else { random.float(-2.0, 2.0) };
        put(data, STATES as usize + border + channel * 4, colour.to_bits());
    }
    unnormalized == 0
}

/// The bits of a coordinate.
fn coordinate(random: &mut Random, filtered: bool, size: u32, unit: f32) -> u32 {
    if !filtered {
        return match random.below(8u32) {
            0 => random.dword(),
            1 => size.wrapping_sub(random.below(3u32)),
            2 => u32::MAX,
            _ => random.below(size),
        };
    }
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

/// Messages, with their parameters among the constants and their states in the data.
pub fn images(random: &mut Random, width: u8, constants: &mut [u8], data: &mut [u8]) -> Vec<Instruction> {
    (0..MESSAGES).map(|number| image(random, width, number, constants, data)).collect()
}

fn image(
    random: &mut Random,
    width: u8,
    number: usize,
    constants: &mut [u8],
    data: &mut [u8],
) -> Instruction {
    let kind = random.pick(&KINDS);
    let size = surface(random, kind, data, number);
    // Linear filters are not for integers: these are at the even numbers.
    let is_normalized = sampler(random, data, number, !number.is_multiple_of(2));
    let lanes = if kind.0.is_none() || width == 8 { 8 } else { 16 };
    let payload = FIRST + number * SLOT;
    let per = lanes * 4;
    let begin = (payload - 1) * REGISTER;
    let (is_row, step) = (random.one_in(2), random.pick(&[0.0, 1.0, 1.0, 0.5, 0.37]));
    for (n, letter) in kind.1.chars().enumerate() {
        let axis = "uvr".find(letter);
        let unit = |size: u32| if is_normalized { 1.0 } else { size as f32 };
        let start = random.float(-3.0, 3.0).round() + random.pick(&[0.0, 0.5]);
        for lane in 0..lanes {
            let value = match axis {
                None => u32::from(random.one_in(16)),
                Some(0) if is_row && is_filtered(kind) => {
                    let texel = start + lane as f32 * step;
                    (texel / size[0] as f32 * unit(size[0])).to_bits()
                }
                Some(0) if is_row => (start as u32).wrapping_add(lane as u32),
                Some(axis) if is_row && is_filtered(kind) => (unit(size[axis]) * 0.25).to_bits(),
                Some(_) if is_row => 0,
                Some(axis) => coordinate(random, is_filtered(kind), size[axis], unit(size[axis])),
            };
            put(constants, begin + n * per + lane * 4, value);
        }
    }
    let first = begin + kind.1.len() * per;
    for at in (first..first + 4 * per).step_by(4).filter(|_| kind.0.is_none()) {
        let value = if random.one_in(3) { random.dword() } else { random.float(-1.5, 1.5).to_bits() };
        put(constants, at, value);
    }
    let count = kind.1.len() + if kind.0.is_none() { 4 } else { 0 };
    let registers = |parameters: usize| (parameters * per / REGISTER) as u8;
    let surface = number as u8;
    let (operation, response) = match kind.0 {
        Some(kind) => {
            let mode = (lanes / 8) as u8;
            let operation = Operation::Sampler { surface, sampler: surface, kind, mode, half: false };
            (operation, registers(1 + random.below(4usize)))
        }
        None => (Operation::Typed { write: true, surface, slots: SlotGroup::Low, channels: 0xf }, 0),
    };
    let message = Message { payload: registers(count), response, header: false, operation };
    let (function, descriptor) = message.encode(GENERATION).unwrap();
    let function = if function == SharedFunction::Sampler { "sampler" } else { "dp data 1" };
    let to = if response == 0 { "null".to_owned() } else { format!("g{}", payload + RESPONSE) };
    let quarter = if lanes == 8 { "1Q" } else { "1H" };
    let text = format!(
        "send({lanes}) {to}<1>UD g{payload}<8,8,1>UD {descriptor:#010x} {function} MsgDesc: mlen {} rlen {response} {{ align1 {quarter} }};",
        message.payload
    );
    parse_program(GENERATION, &text).unwrap_or_else(|error| panic!("{error}\n{text}"))[0]
}
