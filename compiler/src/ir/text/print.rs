//! The printer.

use super::{default_metadata, section_name};
use crate::ir::{CrossLane, Function, Input, Instruction, Op, Reg, Rounding, Type, Unit};
use gencl_program::{Kernel, PushSource};
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
        text.push_str(&print_function(function));
    }
    text
}

/// One function as text.
pub fn print_function(function: &Function) -> String {
    let mut text = String::new();
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
    print_registers(&mut text, function);
    for (id, block) in function.blocks_in_layout() {
        let masked = if block.masked { " masked" } else { "" };
        let _ = writeln!(text, "@{}:{masked}", id.0);
        for instruction in &block.instructions {
            let _ = writeln!(text, "    {}", print_instruction(instruction));
        }
    }
    text.push_str("end\n");
    text
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
    text.push_str(&mnemonic(&instruction.op));
    let mut operands: Vec<String> = attributes(&instruction.op);
    operands.extend(instruction.srcs.iter().map(|r| format!("%{}", r.0)));
    operands.extend(instruction.op.targets().iter().map(|b| format!("@{}", b.0)));
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

/// The word with everything that is a name.
fn mnemonic(op: &Op) -> String {
    let fences = |word: &str, local: bool, global: bool| {
        format!("{word}{}{}", if local { ".local" } else { "" }, if global { ".global" } else { "" })
    };
    match *op {
        Op::Immediate { ty, .. } => format!("immediate.{}", ty.name()),
        Op::Input(input) => format!("input.{}", input_name(input)),
        Op::Undefined => "undefined".to_owned(),
        Op::Unary(op, ty) => format!("{}.{}", op.name(), ty.name()),
        Op::Binary(op, ty) => format!("{}.{}", op.name(), ty.name()),
        Op::Ternary(op, ty) => format!("{}.{}", op.name(), ty.name()),
        Op::Compare(condition, ty) => format!("compare.{}.{}", condition.name(), ty.name()),
        Op::Select(ty) => format!("select.{}", ty.name()),
        Op::Pair => "pair".to_owned(),
        Op::Half { upper } => if upper { "half.upper" } else { "half.lower" }.to_owned(),
        Op::Convert { to, from, rounding, saturate } => format!(
            "convert.{}.{}{}{}",
            to.name(),
            from.name(),
            if rounding == Rounding::Default { String::new() } else { format!(".{}", rounding.name()) },
            if saturate { ".sat" } else { "" }
        ),
        Op::Load { space, ty, align } => format!("load.{}.{}.align{align}", space.name(), ty.name()),
        Op::Store { space, ty, align } => format!("store.{}.{}.align{align}", space.name(), ty.name()),
        Op::Atomic { op, space, ty } => format!("atomic.{}.{}.{}", op.name(), space.name(), ty.name()),
        Op::CrossLane(op) => match op {
            CrossLane::Shuffle(ty) => format!("shuffle.{}", ty.name()),
            CrossLane::Ballot => "ballot".to_owned(),
            CrossLane::Reduce(op, ty) => format!("reduce.{}.{}", op.name(), ty.name()),
            CrossLane::Scan { op, ty, exclusive } => {
                let word = if exclusive { "exclusive_scan" } else { "scan" };
                format!("{word}.{}.{}", op.name(), ty.name())
            }
        },
        Op::SubgroupBarrier { local, global } => fences("subgroup_barrier", local, global),
        Op::Barrier { local, global } => fences("barrier", local, global),
        Op::Fence { local, global } => fences("fence", local, global),
        Op::Jump(_) => "jump".to_owned(),
        Op::Branch { .. } => "branch".to_owned(),
        Op::Vote { vote, .. } => format!("vote.{}", vote.name()),
        Op::Leave { by, .. } => format!("leave.{}", by.name()),
        Op::Join { by, .. } => format!("join.{}", by.name()),
        Op::Return => "return".to_owned(),
    }
}

fn input_name(input: Input) -> &'static str {
    match input {
        Input::LocalId(_) => "local_id",
        Input::GroupId(_) => "group_id",
        Input::LaneId => "lane_id",
        Input::SubgroupId => "subgroup_id",
        Input::SimdWidth => "simd_width",
        Input::Push(source) => match source {
            PushSource::Value { .. } => "push.value",
            PushSource::Pointer { .. } => "push.pointer",
            PushSource::LocalOffset { .. } => "push.local_offset",
            PushSource::GlobalOffset(_) => "push.global_offset",
            PushSource::GlobalSize(_) => "push.global_size",
            PushSource::LocalSize(_) => "push.local_size",
            PushSource::EnqueuedLocalSize(_) => "push.enqueued_local_size",
            PushSource::NumGroups(_) => "push.num_groups",
            PushSource::WorkDim => "push.work_dim",
            PushSource::ArgumentBlock => "push.argument_block",
            PushSource::ConstantBase => "push.constant_base",
            PushSource::VariableBase => "push.variable_base",
            PushSource::PrintfBuffer => "push.printf_buffer",
            PushSource::StackBase => "push.stack_base",
        },
    }
}

/// The numbers of an operation.
fn attributes(op: &Op) -> Vec<String> {
    match *op {
        Op::Immediate { ty, bits } => vec![number(ty, bits)],
        Op::Input(input) => match input {
            Input::LocalId(d) | Input::GroupId(d) => vec![d.to_string()],
            Input::LaneId | Input::SubgroupId | Input::SimdWidth => Vec::new(),
            Input::Push(source) => match source {
                PushSource::Value { argument, offset } => vec![argument.to_string(), offset.to_string()],
                PushSource::Pointer { argument } | PushSource::LocalOffset { argument } => {
                    vec![argument.to_string()]
                }
                PushSource::GlobalOffset(d)
                | PushSource::GlobalSize(d)
                | PushSource::LocalSize(d)
                | PushSource::EnqueuedLocalSize(d)
                | PushSource::NumGroups(d) => vec![d.to_string()],
                PushSource::WorkDim
                | PushSource::ArgumentBlock
                | PushSource::ConstantBase
                | PushSource::VariableBase
                | PushSource::PrintfBuffer
                | PushSource::StackBase => Vec::new(),
            },
        },
        _ => Vec::new(),
    }
}

/// Integers as numbers of their type, all else as bits.
fn number(ty: Type, bits: u64) -> String {
    if ty.is_float() || bits & !ty.mask() != 0 {
        format!("{bits:#x}")
    } else if ty.is_signed() {
        let shift = 64 - ty.bits();
        ((bits << shift) as i64 >> shift).to_string()
    } else {
        bits.to_string()
    }
}
