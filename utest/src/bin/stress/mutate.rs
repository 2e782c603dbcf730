//! Program binaries that were changed with care: with the checksum of what they have become.

use gencl_program::{Data, Program, elf};
use gencl_utest::Random;
use serde_json::Value;

/// The binary of a program of which the description, variables or code were changed. `None` where the result
/// is no program at all, as a file of it would not even be read.
pub fn anything(program: &Program, random: &mut Random) -> Option<Vec<u8>> {
    let mut program = program.clone();
    for _ in 0..1 + random.below(3) {
        program = match random.below(8) {
            0 => code(program, random),
            1 => data(program, random)?,
            _ => description(program, random)?,
        };
    }
    elf::write_unchecked(&program).ok()
}

/// The binary of a program of which only machine code was changed.
pub fn machine_code(program: &Program, random: &mut Random) -> Option<Vec<u8>> {
    let mut program = program.clone();
    for _ in 0..1 + random.below(4) {
        program = code(program, random);
    }
    elf::write_unchecked(&program).ok()
}

fn description(mut program: Program, random: &mut Random) -> Option<Program> {
    let (data, bitcode) = (std::mem::take(&mut program.data), std::mem::take(&mut program.bitcode));
    let codes: Vec<_> = program.kernels.iter_mut().map(|kernel| std::mem::take(&mut kernel.code)).collect();
    let mut value = serde_json::to_value(&program).ok()?;
    change(&mut value, random);
    let mut program: Program = serde_json::from_value(value).ok()?;
    (program.data, program.bitcode) = (data, bitcode);
    for (kernel, code) in program.kernels.iter_mut().zip(codes) {
        kernel.code = code;
    }
    Some(program)
}

fn data(mut program: Program, random: &mut Random) -> Option<Program> {
    let Data { constants, variables, relocations } = &mut program.data;
    match random.below(3) {
        0 => bytes(constants, random),
        1 => bytes(variables, random),
        _ => {
            let mut value = serde_json::to_value(&*relocations).ok()?;
            change(&mut value, random);
            *relocations = serde_json::from_value(value).ok()?;
        }
    }
    Some(program)
}

fn code(mut program: Program, random: &mut Random) -> Program {
    let many = program.kernels.len();
    if many > 0 {
        instructions(&mut program.kernels[random.below(many)].code, random);
    }
    program
}

/// Changes a value somewhere in a description.
fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let at = random.below(map.len());
            if let Some((_, value)) = map.iter_mut().nth(at) {
                change(value, random);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let (at, other) = (random.below(list.len()), random.below(list.len()));
            match random.below(12) {
                0 => drop(list.remove(at)),
                1 => list.insert(other, list[at].clone()),
                2 => list.swap(at, other),
                _ => change(&mut list[at], random),
            }
        }
        Value::Number(number) => *value = changed(number.as_i64().unwrap_or(0), random).into(),
        Value::Bool(flag) => *flag = !*flag,
        Value::String(text) => string(text, random),
        Value::Null => *value = if random.below(2) == 0 { 0.into() } else { vec![16; 3].into() },
        Value::Object(_) | Value::Array(_) => {}
    }
}

/// A number near what it was, near a power of two, or any.
fn changed(number: i64, random: &mut Random) -> i64 {
    let step = random.below(5) as i64 - 2;
    match random.below(8) {
        0 => 0,
        1 => number.wrapping_add(step),
        2 => number.wrapping_mul(2),
        3 => number / 2,
        4 => (1 << random.below(34)) + step,
        5 => i64::from(u32::MAX) + step,
        6 => random.next_u32().into(),
        _ => random.below(64) as i64,
    }
}

fn string(text: &mut String, random: &mut Random) {
    const ODD: [&str; 10] = [
        "",
        "\0",
        "/../../x",
        "%n%s%d",
        "%2000000000d",
        "%.2000000000f",
        "%v16hld",
        "%*.*d",
        "%",
        "\u{fffd}",
    ];
    let odd = ODD[random.below(ODD.len())];
    match random.below(4) {
        0 => *text = odd.into(),
        1 => text.push_str(odd),
        2 => *text = text.repeat(random.below(100)),
        _ => drop(text.pop()),
    }
}

fn bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = bytes.len().max(1);
    match random.below(4) {
        0 => bytes.truncate(random.below(length)),
        1 => bytes.resize(length + random.below(5000), random.next_u32() as u8),
        _ => {
            if let Some(byte) = bytes.get_mut(random.below(length)) {
                *byte = random.next_u32() as u8;
            }
        }
    }
}

/// Bytes of an instruction, and of one that is compacted.
const FULL: usize = 16;
const COMPACTED: usize = 8;

fn instructions(code: &mut Vec<u8>, random: &mut Random) {
    let places = code.len() / COMPACTED;
    if places < 4 {
        return;
    }
    let place = |random: &mut Random| random.below(places - 1) * COMPACTED;
    let (at, other) = (place(random), place(random));
    let dword = at + 4 * random.below(FULL / 4);
    match random.below(12) {
        0..5 => code[at + random.below(FULL)] ^= 1 << random.below(8),
        5 => code[at + random.below(FULL)] = random.next_u32() as u8,
        6 => code[dword..dword + 4].copy_from_slice(&random.next_u32().to_le_bytes()),
        // Where branches go to.
        7 => {
            let bytes = (random.below(2 * places) as i32 - places as i32) * COMPACTED as i32;
            code[at + 8..at + 12].copy_from_slice(&bytes.to_le_bytes());
        }
        8 => code.copy_within(other..other + FULL, at),
        9 => (0..FULL).for_each(|byte| code.swap(at + byte, other + byte)),
        10 => drop(code.drain(at..at + COMPACTED * (1 + random.below(2)))),
        _ => code.truncate(other),
    }
}
