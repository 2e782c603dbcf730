//! Arithmetic that becomes host code. What is not here the interpreter computes.
//!
//! The conditions are those under which host numbers give what `eu::compute` defines, bit for bit.

use gencl_eu::compute::shifts_qwords;
use gencl_eu::dispatch::Rounding;
use gencl_eu::file::ACCUMULATOR;
use gencl_eu::functions;
use gencl_eu::op::{Action, Op};
use gencl_eu::operand::{SourceLocation, Src, Target, is_accumulator};
use gencl_isa::{Condition, MathFunction, Opcode, Type};

use crate::host::Host;
use crate::modes::{Mode, flushes};
use crate::plan;

/// How numbers are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Unsigned integers of 32 bits.
    Unsigned,
    /// Signed integers of 32 bits.
    Signed,
    /// Integers of 64 bits.
    Unsigned64,
    /// Integers of 64 bits.
    Signed64,
    /// `F`, or `HF` that is extended to it.
    Float,
    /// `DF`
    Double,
}

impl Number {
    /// Bits.
    pub fn bits(self) -> u32 {
        match self {
            Number::Unsigned | Number::Signed | Number::Float => 32,
            Number::Unsigned64 | Number::Signed64 | Number::Double => 64,
        }
    }

    /// Is it a floating-point number?
    pub fn is_float(self) -> bool {
        matches!(self, Number::Float | Number::Double)
    }

    /// Has it a sign?
    pub fn is_signed(self) -> bool {
        !matches!(self, Number::Unsigned | Number::Unsigned64)
    }

    /// As elements of a type are seen. Smaller integers than dwords fit in signed ones.
    fn of(ty: Type) -> Number {
        match ty {
            Type::DF => Number::Double,
            ty if ty.is_float() => Number::Float,
            Type::UQ => Number::Unsigned64,
            Type::Q => Number::Signed64,
            Type::UD => Number::Unsigned,
            _ => Number::Signed,
        }
    }
}

/// Arithmetic in host code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// The bits as they are.
    Copy,
    /// Between types of numbers, or modifiers and saturation.
    Convert {
        /// How the source is seen.
        from: Number,
        /// How the result is seen.
        to: Number,
    },
    /// Between integers, limited to what the destination has.
    Limit,
    /// `sel` by predicate, of the bits as they are.
    Choose,
    /// `sel` by predicate, of numbers.
    Select {
        /// How the sources are seen.
        number: Number,
    },
    /// `sel` by comparison.
    Extreme {
        /// How the sources are seen.
        number: Number,
        /// The greater.
        maximum: bool,
    },
    /// `cmp`
    Compare {
        /// How the sources are seen.
        number: Number,
        /// What is asked.
        condition: Condition,
    },
    /// A function of integers.
    Integer {
        /// Which.
        function: Integer,
        /// Bits with which it is computed.
        bits: u32,
    },
    /// A function of integers whose result is exact in so many bits, and then limited or cut to the destination.
    Whole {
        /// Which.
        function: Integer,
        /// Bits with which it is computed.
        bits: u32,
    },
    /// `cmp` of integers in so many bits.
    WholeCompare {
        /// Bits that hold both sources.
        bits: u32,
    },
    /// `dp2`, `dp3`, `dp4`, `dph`
    Dot,
    /// `csel` of floats.
    ChooseFloat {
        /// In doubles.
        double: bool,
    },
    /// `cmp` and `cmpn` of floats of any types, and of floats with integers, in doubles.
    CompareFloats {
        /// What is asked.
        condition: Condition,
    },
    /// A function of floats.
    Float {
        /// Which.
        function: Float,
        /// In doubles.
        double: bool,
    },
    /// The same as the interpreter's general path has it: in doubles, rounded to odd, and then once to the destination. For all
    /// rounding modes, and for results that are narrower than a source.
    Exact(Float),
    /// `lrp`, as exact.
    Interpolate,
    /// `f32to16`
    ToHalf,
    /// `f16to32`
    FromHalf,
}

/// Functions of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the opcodes' names")]
pub enum Integer {
    Add,
    Multiply,
    /// By the low word of source 1.
    MultiplyLow,
    And,
    Or,
    Xor,
    Not,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    Bfe,
    Bfi1,
    Bfi2,
    Lzd,
    Cbit,
    Bfrev,
    Fbl,
    MultiplyAdd,
    Copy,
    MultiplyAccumulate,
    HighMultiply,
    AddCarry,
    SubtractBorrow,
    Average,
    Fbh,
    Choose,
    Extreme,
    Divide {
        signed: bool,
        remainder: bool,
    },
}

/// Dwords of both accumulators of integers.
pub const ACCUMULATOR_DWORDS: usize = 16;

/// Functions of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the opcodes' names")]
pub enum Float {
    Copy,
    Add,
    Multiply,
    MultiplyAdd,
    Fraction,
    RoundUp,
    RoundDown,
    RoundEven,
    RoundZero,
    Inverse,
    SquareRoot,
    Divide,
    /// One that [`functions`] defines.
    Math(MathFunction),
}

/// Registers that the second result of a division is behind the first's, as a set; 0 for all else.
pub fn second_destination(op: &Op) -> u128 {
    match (op.function, op.dst.target) {
        (Some(MathFunction::IntDivQuotientRemainder), Target::Direct { stride, .. }) => {
            op.writes << (usize::from(op.lanes) * stride).div_ceil(32)
        }
        _ => 0,
    }
}

fn is_small(ty: Type) -> bool {
    !ty.is_float() && ty.size() <= 4
}

/// The host code for an arithmetic instruction; `accumulators`: see [`accumulators_fit`].
///
/// # Errors
/// Why the interpreter is to execute it.
pub fn select(op: &Op, mode: Option<Mode>, accumulators: bool, host: &Host) -> Result<Native, &'static str> {
    let direct = op.src.iter().filter(|s| s.is_some()).all(|s| match &s.location {
        SourceLocation::Indirect { .. } => true,
        _ if s.is_accumulator() => true,
        SourceLocation::Packed(at) | SourceLocation::Scalar(at) if plan::is_address(*at) => true,
        _ => s.offset().is_none_or(plan::is_plain),
    });
    let target = match op.dst.target {
        Target::Null => true,
        Target::Direct { offset, stride } if plan::is_address(offset) => {
            stride == op.dst.ty.size() as usize && op.condition.is_none()
        }
        Target::Direct { offset, .. } => plan::is_plain(offset) || op.dst.is_accumulator(),
        Target::Indirect { .. } => true,
    };
    let flags = flag_operands_fit(op);
    let flag_bits = op.flag_bit < 64 && u32::from(op.flag_bit % 32) + u32::from(op.lanes) <= 32;
    let obstacles = [
        (is_macro(op), "a step of a macro"),
        (uses_accumulator(op) && !accumulators, "the accumulator"),
        (!direct || !target || !flags, "an architecture register"),
        (!flag_bits, "flags of two registers"),
        (has_halves(op) && !host.converts_halves, "half floats, which the host does not have"),
    ];
    if let Some((_, reason)) = obstacles.iter().find(|(is_there, _)| *is_there) {
        return Err(reason);
    }
    if writes_accumulator(op) {
        return select_whole(op, mode).ok_or("these types and modifiers");
    }
    select_move(op, mode)
        .or_else(|| select_comparison(op, mode))
        .or_else(|| select_integer(op))
        .or_else(|| select_float(op, mode))
        .or_else(|| select_whole(op, mode))
        .or_else(|| select_others(op, mode))
        .ok_or(if mode.is_none() {
            "a mode that only run time knows, or such types"
        } else {
            "these types and modifiers"
        })
}

/// Is it an instruction of the macros for division and roots?
fn is_macro(op: &Op) -> bool {
    let function = matches!(op.function, Some(MathFunction::Invm | MathFunction::Rsqrtm));
    op.opcode == Opcode::Madm || function
}

/// Does it use the accumulator of its channels without naming it?
fn uses_implicit_accumulator(op: &Op) -> bool {
    op.accumulator_write || matches!(op.opcode, Opcode::Mac | Opcode::Mach | Opcode::Addc | Opcode::Subb)
}

fn writes_accumulator(op: &Op) -> bool {
    uses_implicit_accumulator(op) || op.dst.is_accumulator()
}

/// Does it read or write an accumulator, named or not?
pub fn uses_accumulator(op: &Op) -> bool {
    writes_accumulator(op) || op.src.iter().any(Src::is_accumulator)
}

/// Does an opcode add products of four channels?
pub fn is_dot(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph)
}

/// Can all uses of the accumulators in a kernel be host code? They are, or none is: the interpreter has whole values of its own. Those of
/// host code are integers of dwords, of up to 16 channels; what is shown is always the low part of the whole value.
pub fn accumulators_fit<'a>(ops: impl IntoIterator<Item = (&'a Op, Option<Mode>)>, host: &Host) -> bool {
    ops.into_iter()
        .filter(|(op, _)| matches!(op.action, Action::Execute(_)))
        .all(|(op, mode)| !is_macro(op) && (!uses_accumulator(op) || accumulator_fits(op, mode, host)))
}

fn accumulator_fits(op: &Op, mode: Option<Mode>, host: &Host) -> bool {
    use Opcode as O;
    let lanes = usize::from(op.lanes);
    // An operand of dwords, one after the other, in acc0 and acc1.
    let dwords = |at: usize, ty: Type, count: usize| {
        let first = at - ACCUMULATOR;
        is_dword(ty) && first.is_multiple_of(4) && first / 4 + count <= ACCUMULATOR_DWORDS
    };
    let source = |src: &Src| match src.location {
        SourceLocation::Packed(at) => dwords(at, src.ty, lanes),
        SourceLocation::Scalar(at) => dwords(at, src.ty, 1),
        _ => false,
    };
    let named = match op.dst.target {
        Target::Direct { offset, stride } if op.dst.is_accumulator() => {
            let shown = !op.saturate && !matches!(op.opcode, O::Cmp | O::Cmpn | O::Sel | O::Csel | O::Math);
            stride == 4 && dwords(offset, op.dst.ty, lanes) && shown && !uses_implicit_accumulator(op)
        }
        _ => true,
    };
    let own = matches!(op.opcode, O::Mac | O::Mach | O::Addc | O::Subb);
    // What it shows of results is what the destination gets.
    let shown = !op.accumulator_write
        || matches!(op.opcode, O::Mach | O::Addc | O::Subb)
        || is_dword(op.dst.ty)
            && !op.saturate
            && !matches!(op.opcode, O::Cmp | O::Cmpn | O::Sel | O::Csel | O::Math);
    let implicit = !uses_implicit_accumulator(op)
        || lanes <= ACCUMULATOR_DWORDS
            && is_dword(op.execution_type)
            && shown
            && (own || !op.dst.ty.is_float());
    let float = op.src.iter().any(|src| src.is_some() && src.ty.is_float());
    let sources = op.src.iter().filter(|src| src.is_accumulator()).all(source);
    named && implicit && sources && !(float && writes_accumulator(op)) && select(op, mode, true, host).is_ok()
}

fn is_dword(ty: Type) -> bool {
    matches!(ty, Type::D | Type::UD)
}

/// Integers in as many bits as exact results take.
fn select_whole(op: &Op, mode: Option<Mode>) -> Option<Native> {
    use Opcode as O;
    let sources = || op.src.iter().filter(|s| s.is_some());
    if sources().any(|s| s.ty.is_float()) {
        return None;
    }
    let qwords = sources().any(|s| s.ty.size() == 8);
    let signed = op.src[0].ty.is_signed();
    let function = match op.opcode {
        O::Mov => Integer::Copy,
        O::Add => Integer::Add,
        O::Mul if op.low_multiplier => Integer::MultiplyLow,
        O::Mul => Integer::Multiply,
        O::Mad => Integer::MultiplyAdd,
        O::Mac => Integer::MultiplyAccumulate,
        O::Mach => Integer::HighMultiply,
        O::Addc => Integer::AddCarry,
        O::Subb => Integer::SubtractBorrow,
        O::Avg => Integer::Average,
        O::And => Integer::And,
        O::Or => Integer::Or,
        O::Xor => Integer::Xor,
        O::Not => Integer::Not,
        O::Shl => Integer::ShiftLeft,
        O::Shr => Integer::ShiftRight,
        O::Asr => Integer::ShiftRightSigned,
        O::Lzd => Integer::Lzd,
        O::Cbit => Integer::Cbit,
        O::Bfrev => Integer::Bfrev,
        O::Fbl => Integer::Fbl,
        O::Fbh => Integer::Fbh,
        O::Bfe => Integer::Bfe,
        O::Bfi1 => Integer::Bfi1,
        O::Bfi2 => Integer::Bfi2,
        O::Sel if op.condition.is_none() => Integer::Choose,
        O::Sel | O::Csel => Integer::Extreme,
        O::Cmp | O::Cmpn => return Some(Native::WholeCompare { bits: if qwords { 128 } else { 64 } }),
        O::Math => match op.function? {
            MathFunction::IntDivQuotient => Integer::Divide { signed, remainder: false },
            MathFunction::IntDivRemainder => Integer::Divide { signed, remainder: true },
            _ => return None,
        },
        _ => return None,
    };
    // All but these conditions look at the final bits, and those are the low ones whatever is above them.
    let cut = matches!(op.condition, None | Some(Condition::Equal | Condition::NotEqual)) && !op.saturate;
    let product = matches!(function, Integer::Multiply | Integer::MultiplyAdd | Integer::MultiplyAccumulate);
    // These are numbers of the destination's type.
    let logic = matches!(function, Integer::And | Integer::Or | Integer::Xor | Integer::Not);
    let unsigned_qword = op.dst.ty == Type::UQ && (logic || function == Integer::Copy);
    let modular = product
        || logic
        || matches!(
            function,
            Integer::Copy | Integer::Add | Integer::ShiftLeft | Integer::MultiplyLow | Integer::Choose
        );
    // Sums of which one is signed have no more bits than a qword.
    let sum = function == Integer::Add && op.execution_type == Type::Q;
    let unsigned = sources().filter(|s| s.ty == Type::UD).count() > 1;
    let large = qwords
        || unsigned_qword
        || product && (unsigned || function != Integer::Multiply)
        || function == Integer::ShiftLeft && shifts_qwords(op);
    let exact = if large && !(cut && modular) && !sum { 128 } else { 64 };
    let bits = if matches!(function, Integer::HighMultiply | Integer::AddCarry | Integer::SubtractBorrow) {
        64
    } else {
        exact
    };
    // Doubles hold what is made of dwords but products and shifted ones. Bits are no numbers (with null destinations of floats).
    let held =
        !qwords && !product && !logic && !matches!(function, Integer::ShiftLeft | Integer::MultiplyLow);
    if op.dst.ty.is_float() && (!held || mode.is_none()) {
        return None;
    }
    Some(Native::Whole { function, bits: bits_of_small(op, function).unwrap_or(bits) })
}

/// In how many bits the results of bytes and words are exact, where those are few.
fn bits_of_small(op: &Op, function: Integer) -> Option<u32> {
    let sources = || op.src.iter().filter(|s| s.is_some());
    let largest = sources().map(|s| s.ty.size()).max()?;
    let near = matches!(
        function,
        Integer::Copy | Integer::Add | Integer::Average | Integer::Choose | Integer::Extreme
    );
    // A product of two unsigned words has no room for a sign.
    let product = function == Integer::Multiply && sources().filter(|s| s.ty == Type::UW).count() < 2;
    let bits = match largest {
        1 if near => 16,
        1 | 2 if near || product => 32,
        _ => return None,
    };
    // Wider destinations are extended from numbers of their own size.
    let bits = bits.max(op.dst.ty.size() * 8);
    (bits <= 32 && !op.dst.ty.is_float()).then_some(bits)
}

/// What is in no other family.
fn select_others(op: &Op, mode: Option<Mode>) -> Option<Native> {
    mode?;
    let sources = || op.src.iter().filter(|s| s.is_some());
    // Doubles hold all of these.
    let held = || sources().all(|s| s.ty.is_float() || s.ty.size() <= 4);
    match (op.opcode, op.condition) {
        (opcode, condition) if is_dot(opcode) => {
            let floats = sources().all(|s| is_single(s.ty)) && condition != Some(Condition::Overflow);
            (floats && op.lanes >= 4).then_some(Native::Dot)
        }
        (Opcode::Csel, Some(_)) => {
            let all = |accepts: fn(Type) -> bool| sources().all(|s| accepts(s.ty)) && accepts(op.dst.ty);
            let double = all(|ty| ty == Type::DF);
            (double || all(is_single)).then_some(Native::ChooseFloat { double })
        }
        (Opcode::Cmp | Opcode::Cmpn, Some(condition)) => {
            held().then_some(Native::CompareFloats { condition })
        }
        _ => None,
    }
}

/// Are there half floats among its operands?
pub fn has_halves(op: &Op) -> bool {
    let mut types = op.src.iter().filter(|s| s.is_some()).map(|s| s.ty).chain([op.dst.ty]);
    types.any(|ty| ty == Type::HF) || matches!(op.opcode, Opcode::F32To16 | Opcode::F16To32)
}

/// Is it the host's way of rounding?
fn rounds_as_host(mode: Option<Mode>) -> bool {
    mode.is_some_and(|mode| mode.rounding == Rounding::NearestEven)
}

/// Flags as operands: one word or dword of them.
fn flag_operands_fit(op: &Op) -> bool {
    use gencl_eu::file::{FLAG, NULL};
    let fits = |at: usize, size: u32| {
        at < NULL
            || is_accumulator(at)
            || plan::is_address(at)
            || op.lanes == 1 && !(size == 8 || at < FLAG && at != NULL)
    };
    op.src.iter().all(|s| s.offset().is_none_or(|at| fits(at, s.ty.size()) || at == NULL))
        && match op.dst.target {
            Target::Direct { offset, .. } => {
                let plain = offset < NULL || op.dst.is_accumulator() || op.condition.is_none();
                fits(offset, op.dst.ty.size()) && plain
            }
            _ => true,
        }
}

fn select_move(op: &Op, mode: Option<Mode>) -> Option<Native> {
    if op.opcode != Opcode::Mov {
        return None;
    }
    let src = &op.src[0];
    let (from, to) = (src.ty, op.dst.ty);
    let same = from.size() == to.size() && from.is_float() == to.is_float();
    if same && !src.modified() && !op.saturate && op.condition.is_none() {
        return Some(Native::Copy);
    }
    let zero_test = matches!(op.condition, None | Some(Condition::Equal | Condition::NotEqual));
    if !from.is_float() && !to.is_float() {
        if op.saturate && zero_test && !(src.modified() && from.size() == 8) {
            return Some(Native::Limit);
        }
        if op.saturate || !zero_test || src.modified() && from.size() < 8 && to.size() == 8 {
            return None;
        }
        let number = if from.size().max(to.size()) == 8 { Number::Unsigned64 } else { Number::Unsigned };
        return Some(Native::Convert { from: number, to: number });
    }
    let nearest = rounds_as_host(mode);
    let convert = Some(Native::Convert { from: Number::of(from), to: Number::of(to) });
    match (from.is_float(), to.is_float()) {
        _ if mode.is_none() => None,
        // A raw move keeps denormals, and its condition does not.
        (true, true) if same && !src.modified() && !op.saturate && flushes(mode?, to) => None,
        (true, true) if op.condition != Some(Condition::Overflow) => convert,
        (true, false) if op.condition.is_none() => convert,
        (false, true) if op.condition.is_none() && !src.modified() => {
            // Half floats are rounded from floats that hold all integers up to where half floats end.
            let is_exact = to == Type::HF || from.size() <= 2 || from.size() <= 4 && to == Type::DF;
            if nearest || is_exact {
                convert
            } else {
                (from.size() <= 4).then_some(Native::Exact(Float::Copy))
            }
        }
        _ => None,
    }
}

/// Is it a type of floats for which those of 32 bits are enough?
fn is_single(ty: Type) -> bool {
    matches!(ty, Type::F | Type::HF)
}

fn select_comparison(op: &Op, mode: Option<Mode>) -> Option<Native> {
    let (a, b) = (op.src[0].ty, op.src[1].ty);
    let plain = !op.src.iter().any(Src::modified);
    let both = |accepts: &dyn Fn(Type) -> bool| accepts(a) && accepts(b);
    let number = if both(&|ty| is_small(ty) && !ty.is_signed()) && plain {
        Number::Unsigned
    } else if both(&|ty| is_small(ty) && ty != Type::UD) && plain {
        Number::Signed
    } else if op.src[..2].iter().all(is_not_negative) && plain {
        Number::Unsigned64
    } else if both(&|ty| !ty.is_float() && ty != Type::UQ) && plain {
        Number::Signed64
    } else if both(&is_single) && mode.is_some() {
        Number::Float
    } else if both(&|ty| ty == Type::DF) && mode.is_some() {
        Number::Double
    } else {
        return match op.opcode {
            Opcode::Sel if op.condition.is_none() => choice(op, plain, mode),
            _ => None,
        };
    };
    match (op.opcode, op.condition) {
        (Opcode::Cmp, Some(Condition::Overflow | Condition::Unordered) | None) => None,
        (Opcode::Cmp, Some(condition)) => Some(Native::Compare { number, condition }),
        (Opcode::Sel, None) => choice(op, plain, mode),
        (Opcode::Sel, Some(condition)) if !op.saturate || number.is_float() => {
            let maximum = match condition {
                Condition::GreaterEqual => true,
                Condition::Less => false,
                _ => return None,
            };
            (number.is_float() == op.dst.ty.is_float()).then_some(Native::Extreme { number, maximum })
        }
        _ => None,
    }
}

/// Is a source certain to have no sign?
fn is_not_negative(src: &Src) -> bool {
    let is_positive = |bits: u64| bits >> (src.ty.size() * 8 - 1) & 1 == 0;
    let constant = matches!(src.location, SourceLocation::Constant(bits) if is_positive(bits));
    !src.ty.is_float() && (!src.ty.is_signed() || constant)
}

/// `sel` by predicate.
fn choice(op: &Op, plain: bool, mode: Option<Mode>) -> Option<Native> {
    let (a, b, to) = (op.src[0].ty, op.src[1].ty, op.dst.ty);
    if a == b && a == to && plain && !op.saturate {
        return Some(Native::Choose);
    }
    let all = |accepts: fn(Type) -> bool| accepts(a) && accepts(b);
    let number = if !to.is_float() && all(|ty| !ty.is_float()) && !op.saturate {
        if [a, b, to].iter().all(|ty| ty.size() <= 4) { Number::Unsigned } else { Number::Unsigned64 }
    } else if [a, b, to].iter().any(|ty| mode.is_none_or(|mode| flushes(mode, *ty))) {
        // The source that is copied as it is keeps denormals.
        return None;
    } else if to.is_float() && all(is_single) {
        Number::Float
    } else if to.is_float() && all(|ty| ty == Type::DF) {
        Number::Double
    } else {
        return None;
    };
    Some(Native::Select { number })
}

fn select_integer(op: &Op) -> Option<Native> {
    use Opcode as O;
    let conditions = matches!(op.condition, None | Some(Condition::Equal | Condition::NotEqual));
    let sources = || op.src.iter().filter(|s| s.is_some());
    if sources().any(|s| s.ty.is_float()) || op.dst.ty.is_float() || op.saturate || !conditions {
        return None;
    }
    let unsigned = !op.src[0].ty.is_signed() && !op.src[0].modified();
    let signed = op.src[0].ty.is_signed();
    let plain = !op.src.iter().any(Src::modified);
    let dwords = sources().all(|s| s.ty.size() == 4) && op.dst.ty.size() == 4 && plain;
    let integer = |function, bits| Some(Native::Integer { function, bits });
    if op.execution_type.size() <= 4 && op.dst.ty.size() <= 4 {
        let function = match op.opcode {
            O::Add => Integer::Add,
            O::Mul if op.low_multiplier => Integer::MultiplyLow,
            O::Mul => Integer::Multiply,
            O::And => Integer::And,
            O::Or => Integer::Or,
            O::Xor => Integer::Xor,
            O::Not => Integer::Not,
            O::Shl => Integer::ShiftLeft,
            O::Shr if unsigned || op.src[0].ty == Type::D && !op.src[0].modified() => Integer::ShiftRight,
            O::Asr if unsigned => Integer::ShiftRight,
            O::Asr if signed && !op.src[0].modified() => Integer::ShiftRightSigned,
            O::Bfe if dwords => Integer::Bfe,
            O::Bfi1 if dwords => Integer::Bfi1,
            O::Bfi2 if dwords => Integer::Bfi2,
            O::Lzd if dwords => Integer::Lzd,
            O::Cbit if dwords => Integer::Cbit,
            O::Bfrev if dwords => Integer::Bfrev,
            O::Fbl if dwords => Integer::Fbl,
            O::Mad => Integer::MultiplyAdd,
            O::Math if dwords && op.src[0].ty == op.src[1].ty => return division(op),
            _ => return None,
        };
        return integer(function, 32);
    }
    if op.src.iter().any(|s| s.modified() && s.ty.size() < 8) {
        return None;
    }
    let wide = op.src[0].ty.size() == 8;
    let function = match op.opcode {
        O::Add => Integer::Add,
        O::Mul => Integer::Multiply,
        O::And => Integer::And,
        O::Or => Integer::Or,
        O::Xor => Integer::Xor,
        O::Not => Integer::Not,
        O::Shl if shifts_qwords(op) => Integer::ShiftLeft,
        O::Shr if wide && !op.src[0].modified() => Integer::ShiftRight,
        O::Asr if wide && unsigned => Integer::ShiftRight,
        O::Asr if wide && !op.src[0].modified() => Integer::ShiftRightSigned,
        _ => return None,
    };
    integer(function, 64)
}

fn division(op: &Op) -> Option<Native> {
    let remainder = match op.function {
        Some(MathFunction::IntDivQuotient) => false,
        Some(MathFunction::IntDivRemainder) => true,
        _ => return None,
    };
    let function = Integer::Divide { signed: op.src[0].ty.is_signed(), remainder };
    Some(Native::Integer { function, bits: 32 })
}

fn select_float(op: &Op, mode: Option<Mode>) -> Option<Native> {
    let sources = || op.src.iter().filter(|s| s.is_some()).map(|s| s.ty);
    let plain = matches!(sources().next(), Some(Type::W | Type::UW)) && !op.src[0].modified();
    match op.opcode {
        _ if mode.is_none() || op.condition == Some(Condition::Overflow) => return None,
        Opcode::F32To16 => {
            let fits = op.src[0].ty == Type::F && op.dst.ty.size() == 2 && !op.dst.ty.is_float();
            return (fits && op.condition.is_none() && !op.saturate).then_some(Native::ToHalf);
        }
        Opcode::F16To32 => return (plain && op.dst.ty == Type::F).then_some(Native::FromHalf),
        _ => {}
    }
    // What doubles hold exactly.
    let fits = is_single(op.execution_type) && op.dst.ty != Type::DF && sources().all(|ty| ty.size() < 8);
    let function = match (op.opcode, op.function) {
        (Opcode::Add, _) => Float::Add,
        (Opcode::Mul, _) => Float::Multiply,
        (Opcode::Mad, _) => Float::MultiplyAdd,
        (Opcode::Lrp, _) if fits => return Some(Native::Interpolate),
        (Opcode::Frc, _) => Float::Fraction,
        (Opcode::Rndu, _) => Float::RoundUp,
        (Opcode::Rndd, _) => Float::RoundDown,
        (Opcode::Rnde, _) => Float::RoundEven,
        (Opcode::Rndz, _) => Float::RoundZero,
        (Opcode::Math, Some(MathFunction::Inv)) => Float::Inverse,
        (Opcode::Math, Some(MathFunction::Sqrt)) => Float::SquareRoot,
        (Opcode::Math, Some(MathFunction::Fdiv)) => Float::Divide,
        (Opcode::Math, Some(function)) if functions::is_defined(function) => Float::Math(function),
        _ => return None,
    };
    let nearest = rounds_as_host(mode);
    if sources().all(|ty| ty == Type::DF) && op.dst.ty == Type::DF {
        let known = matches!(function, Float::Add | Float::Multiply | Float::MultiplyAdd);
        return known.then_some(Native::Float { function, double: true });
    }
    if !fits {
        return None;
    }
    // Of half floats, sums, products, quotients and roots in 32 bits may be rounded again: those have more than twice their bits and
    // one. What has been rounded to an integral value is exact.
    let again = match function {
        Float::Math(_) => false,
        Float::RoundUp | Float::RoundDown | Float::RoundEven | Float::RoundZero => true,
        _ => sources().all(|ty| ty == Type::HF),
    };
    let direct =
        nearest && sources().all(is_single) && (op.dst.ty == Type::F || op.dst.ty == Type::HF && again);
    Some(if direct { Native::Float { function, double: false } } else { Native::Exact(function) })
}
