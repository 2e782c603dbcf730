//! The printer.

use super::operation::{Printed, Word as _};
use super::{default_metadata, section_name};
use crate::ir::location::Locations;
use crate::ir::{Function, Instruction, Op, Reg, Type, Unit};
use gencl_program::Kernel;
use serde_json::Value;
use std::fmt::Write as _;

/// Bytes of constants on one line, registers on one line.
const PER_LINE: usize = 16;

/// A unit as text.
pub fn print(unit: &Unit) -> String {
    let mut text = String::new();
    for (name, bytes) in [("constants", &unit.data.constants), ("variables", &unit.data.variables)] {
        for line in bytes.chunks(PER_LINE * 2) {
            let _ = write!(text, "{name} ");
            for byte in line {
                let _ = write!(text, "{byte:02x}");
            }
            text.push('\n');
        }
    }
    for r in &unit.data.relocations {
        let (section, target) = (section_name(r.section), section_name(r.target));
        let _ = writeln!(text, "relocation {section} {} {} {target} {}", r.offset, r.size, r.addend);
    }
    for function in &unit.functions {
        print_located(&mut text, function, &unit.locations);
    }
    text
}

/// One function as text.
pub fn print_function(function: &Function) -> String {
    let mut text = String::new();
    print_located(&mut text, function, &Locations::default());
    text
}

/// Appends a function, with source positions as comments.
fn print_located(text: &mut String, function: &Function, locations: &Locations) {
    let name = Value::from(function.name.as_str());
    let _ = writeln!(text, "kernel {name} {}", function.form.name());
    for (what, size) in [("private_size", function.private_size), ("local_size", function.local_size)] {
        if size != 0 {
            let _ = writeln!(text, "    {what} {size}");
        }
    }
    for (key, value) in metadata(&function.kernel, &function.name) {
        let _ = writeln!(text, "    meta {key} {value}");
    }
    print_registers(text, function);
    for (id, block) in function.blocks_in_layout() {
        let masked = if block.masked { " masked" } else { "" };
        let _ = writeln!(text, "@{}:{masked}", id.0);
        for instruction in &block.instructions {
            let _ = write!(text, "    {}", print_instruction(instruction));
            if let Some(position) = locations.position(instruction.location) {
                let _ = write!(text, " ; {}:{}", position.line, position.column);
            }
            text.push('\n');
        }
    }
    text.push_str("end\n");
}

/// The metadata's fields that differ from the default's.
fn metadata(kernel: &Kernel, name: &str) -> Vec<(String, Value)> {
    let default = default_metadata(name);
    match serde_json::to_value(kernel) {
        Ok(Value::Object(fields)) => {
            fields.into_iter().filter(|(key, value)| default.get(key) != Some(value)).collect()
        }
        // The metadata is a structure of plain values, which always has a JSON form.
        _ => Vec::new(),
    }
}

fn print_registers(text: &mut String, function: &Function) {
    let mut lines: Vec<(crate::ir::RegisterInfo, Vec<Reg>)> = Vec::new();
    for (index, &info) in function.registers.iter().enumerate() {
        let reg = Reg(index as u32);
        match lines.iter_mut().find(|(i, _)| *i == info) {
            Some((_, regs)) => regs.push(reg),
            None => lines.push((info, vec![reg])),
        }
    }
    for (info, regs) in &lines {
        for regs in regs.chunks(PER_LINE) {
            let uniform = if info.uniform { "uniform " } else { "" };
            let _ = write!(text, "    register {uniform}{}", info.family.name());
            for reg in regs {
                let _ = write!(text, " %{}", reg.0);
            }
            text.push('\n');
        }
    }
}

/// One instruction as text, without indentation or line end.
pub fn print_instruction(instruction: &Instruction) -> String {
    let mut text = String::new();
    if let Some(predicate) = instruction.predicate {
        let inverse = if predicate.inverse { "!" } else { "" };
        let _ = write!(text, "({inverse}%{}) ", predicate.reg.0);
    }
    if !instruction.dsts.is_empty() {
        text.push_str(&list(&instruction.dsts));
        text.push_str(" = ");
    }
    let mut words = Printed::default();
    instruction.op.print(&mut words);
    text.push_str(&words.mnemonic);
    let mut operands = words.numbers;
    operands.extend(instruction.srcs.iter().map(|r| format!("%{}", r.0)));
    operands.extend(words.blocks.iter().map(|b| format!("@{}", b.0)));
    if !operands.is_empty() {
        text.push(' ');
        text.push_str(&operands.join(", "));
    }
    if let Op::Immediate { ty, bits } = instruction.op {
        // What the bits mean, as a comment.
        match ty {
            Type::F16 => drop(write!(text, " ; {:?}", half::f16::from_bits(bits as u16))),
            Type::F32 => drop(write!(text, " ; {:?}", f32::from_bits(bits as u32))),
            Type::F64 => drop(write!(text, " ; {:?}", f64::from_bits(bits))),
            _ => {}
        }
    }
    text
}

fn list(regs: &[Reg]) -> String {
    regs.iter().map(|r| format!("%{}", r.0)).collect::<Vec<_>>().join(", ")
}
