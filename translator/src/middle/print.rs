//! The text form.

use std::fmt::{self, Write};

use gencl_eu::message::Elements;

use super::function::{Block, Constant, End, Function, Instruction, Target, Value};
use super::op::{Access, Addressing, Input, Inside, Registers, Window, list};
use super::types::Type;

impl Function {
    /// A value as an operand: constants as such.
    fn operand(&self, value: Value) -> String {
        match self.as_constant(value) {
            Some(constant) => constant_text(self.ty(value), constant),
            None => format!("%{}", value.0),
        }
    }

    fn operands(&self, values: &[Value]) -> String {
        values.iter().map(|value| self.operand(*value)).collect::<Vec<_>>().join(", ")
    }

    fn target(&self, target: &Target) -> String {
        format!("b{}({})", target.block.0, self.operands(&target.arguments))
    }

    fn typed(&self, values: &[Value]) -> String {
        let one = |value: &Value| format!("%{}: {}", value.0, self.ty(*value));
        values.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// An instruction as a line.
    pub fn line(&self, instruction: Instruction) -> String {
        let data = self.instruction(instruction);
        let results =
            if data.results.is_empty() { String::new() } else { format!("{} = ", self.typed(&data.results)) };
        let operands = self.operands(&data.operands);
        let space = if operands.is_empty() { "" } else { " " };
        let origin = if data.op.is_pure() { String::new() } else { format!(" @{}", data.origin) };
        format!("{results}{}{space}{operands}{origin}", data.op)
    }

    fn end_line(&self, end: &End) -> String {
        match end {
            End::Jump(target) => format!("jump {}", self.target(target)),
            End::Branch { condition, yes, no } => {
                format!("branch {}, {}, {}", self.operand(*condition), self.target(yes), self.target(no))
            }
            End::Return => "return".into(),
            End::Fault => "fault".into(),
            End::Suspend { resume, yields } => {
                format!("{} {}", if *yields { "yield" } else { "wait" }, self.target(resume))
            }
        }
    }

    fn block_text(&self, block: Block, out: &mut impl Write) -> fmt::Result {
        let data = self.block(block);
        let resumed = if self.resumed.contains(&block) { " resumed" } else { "" };
        writeln!(out, "b{}({}){resumed}:", block.0, self.typed(&data.parameters))?;
        for instruction in &data.instructions {
            writeln!(out, "  {}", self.line(*instruction))?;
        }
        writeln!(out, "  {}", self.end_line(&data.end))
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.block_numbers().try_for_each(|block| self.block_text(block, f))
    }
}

/// `i32 7`, `i32x4 [1, 2, 3, 4]`; of floats the bits.
fn constant_text(ty: Type, constant: &Constant) -> String {
    match constant {
        Constant::All(bits) if *bits < 1 << 16 => format!("{ty} {bits}"),
        Constant::All(bits) => format!("{ty} {bits:#x}"),
        Constant::Each(lanes) => {
            let lanes: Vec<String> = lanes.iter().map(u128::to_string).collect();
            format!("{ty} [{}]", lanes.join(", "))
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Window::Pointer(at) => write!(f, "window {}", Input::CrossThread(*at)),
            Window::Shared(number) => write!(f, "window {number}"),
            Window::Image(number) => write!(f, "window image {number}"),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Elements { size, alignment, .. } = self.elements;
        let offsets: Vec<usize> = self.elements.offsets().collect();
        write!(f, "{} {size} align {alignment} at [{}]", self.space, list(&offsets))?;
        match self.addressing {
            Addressing::Varying => {}
            Addressing::Affine(stride) => write!(f, " stride {stride}")?,
            Addressing::Offsets => f.write_str(" offsets")?,
            Addressing::Interleaved(step) => write!(f, " interleaved {step}")?,
        }
        self.window.map_or(Ok(()), |window| write!(f, " {window}"))?;
        if self.is_guarded { f.write_str(" guarded") } else { Ok(()) }
    }
}

impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} align {} at {} bytes {}", self.space, self.alignment, self.first, self.bytes)?;
        self.window.map_or(Ok(()), |window| write!(f, " {window}"))
    }
}

impl fmt::Display for Registers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] to [{}]", list(&self.operands), list(&self.results))
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Header(at) => write!(f, "header {at}"),
            Input::CrossThread(at) => write!(f, "cross-thread {at}"),
            Input::PerThread(at) => write!(f, "per-thread {at}"),
            Input::Mask => write!(f, "mask"),
            Input::Image(number, at) => write!(f, "image {number} {at}"),
        }
    }
}
