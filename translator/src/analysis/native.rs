//! Arithmetic in host code, and what matters of its instructions. [`crate::analysis::selection`] says which become it.

use gencl_eu::op::Op;
use gencl_eu::operand::{Src, Target};
use gencl_isa::{MathFunction, Opcode, Type};

/// Arithmetic in host code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// `mov` of the bits as they are.
    Copy,
    /// `sel` by predicate, of the bits as they are.
    Choose,
    /// `mov` between floats, or between floats and integers.
    Convert,
    /// A function of integers, [`crate::analysis::width`].
    Integer {
        /// Bits with which it is computed.
        bits: u32,
        /// Whether these are numbers with a sign.
        signed: bool,
    },
    /// A function of floats that rounds as the host does.
    Float {
        /// In doubles.
        double: bool,
    },
    /// The same as the interpreter's general path has it: in doubles, rounded to odd, and then once to the destination. For all
    /// rounding modes, and for results that are narrower than a source.
    Exact,
    /// `sel` and `csel` of floats.
    SelectFloats {
        /// In doubles.
        double: bool,
    },
    /// `cmp` and `cmpn` of floats of any types, and of floats with integers.
    CompareFloats {
        /// In doubles.
        double: bool,
    },
    /// `f32to16`
    ToHalf,
    /// `f16to32`
    FromHalf,
}

/// Dwords of both accumulators of integers.
pub const ACCUMULATOR_DWORDS: usize = 16;

/// Registers that the second result of a division is behind the first's, as a set; 0 for all else.
pub fn second_destination(op: &Op) -> u128 {
    match (op.function, op.dst.target) {
        (Some(MathFunction::IntDivQuotientRemainder), Target::Direct { stride, .. }) => {
            op.writes << (usize::from(op.lanes) * stride).div_ceil(32)
        }
        _ => 0,
    }
}

/// Whether its result is the bits of a source, reinterpreted as the destination's type.
pub fn copies(op: &Op) -> bool {
    let same = |src: &Src| src.ty.size() == op.dst.ty.size() && src.ty.is_float() == op.dst.ty.is_float();
    let mut sources = op.src.iter().filter(|src| src.is_some());
    (op.opcode == Opcode::Mov || op.opcode == Opcode::Sel && op.condition.is_none())
        && sources.all(|src| same(src) && src.ty == op.src[0].ty && !src.modified())
        && !op.saturate
}

/// Whether its condition modifier is its operation.
pub fn chooses(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Sel | Opcode::Csel)
}

/// Whether it is an instruction of the IEEE macros for division and square root.
pub fn is_macro(op: &Op) -> bool {
    let function = matches!(op.function, Some(MathFunction::Invm | MathFunction::Rsqrtm));
    op.opcode == Opcode::Madm || function
}

/// Whether it uses the accumulator of its channels as an implicit operand.
pub fn uses_implicit_accumulator(op: &Op) -> bool {
    op.accumulator_write || matches!(op.opcode, Opcode::Mac | Opcode::Mach | Opcode::Addc | Opcode::Subb)
}

/// Whether it writes an accumulator, explicitly or implicitly.
pub fn writes_accumulator(op: &Op) -> bool {
    uses_implicit_accumulator(op) || op.dst.is_accumulator()
}

/// Whether it reads or writes an accumulator, explicitly or implicitly.
pub fn uses_accumulator(op: &Op) -> bool {
    writes_accumulator(op) || op.src.iter().any(Src::is_accumulator)
}

/// Whether its result is an integer of the destination's type, bit for bit.
pub fn is_logic(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not)
}

/// Whether an opcode is a dot product over four channels.
pub fn is_dot(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph)
}

/// Whether it has half floats among its operands.
pub fn has_halves(op: &Op) -> bool {
    let mut types = op.src.iter().filter(|s| s.is_some()).map(|s| s.ty).chain([op.dst.ty]);
    types.any(|ty| ty == Type::HF) || matches!(op.opcode, Opcode::F32To16 | Opcode::F16To32)
}
