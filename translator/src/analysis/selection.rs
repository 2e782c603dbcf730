//! Which arithmetic becomes host code. What does not the interpreter computes. Integers are in [`crate::analysis::width`].
//!
//! The conditions are those under which host numbers give what `eu::compute` defines, bit for bit.

use gencl_eu::dispatch::Rounding;
use gencl_eu::file::{ACCUMULATOR, FLAG, NULL};
use gencl_eu::functions;
use gencl_eu::op::{Action, Op};
use gencl_eu::operand::{SourceLocation, Src, Target, is_accumulator};
use gencl_isa::{Condition, MathFunction, Opcode, Type};

use crate::analysis::access::{is_address, is_plain};
use crate::analysis::modes::{Mode, flushes};
use crate::analysis::native::{
    ACCUMULATOR_DWORDS, Native, chooses, copies, has_halves, is_dot, is_macro, uses_accumulator,
    uses_implicit_accumulator, writes_accumulator,
};
use crate::analysis::width;
use crate::host::Host;

/// The host code for an arithmetic instruction; `accumulators`: see [`accumulators_fit`].
///
/// # Errors
/// Why the interpreter is to execute it.
pub fn select(op: &Op, mode: Option<Mode>, accumulators: bool, host: &Host) -> Result<Native, &'static str> {
    let direct = op.src.iter().filter(|s| s.is_some()).all(|s| match &s.location {
        SourceLocation::Indirect { .. } => true,
        _ if s.is_accumulator() => true,
        SourceLocation::Packed(at) | SourceLocation::Scalar(at) if is_address(*at) => true,
        _ => s.offset().is_none_or(is_plain),
    });
    let target = match op.dst.target {
        Target::Null => true,
        Target::Direct { offset, stride } if is_address(offset) => {
            stride == op.dst.ty.size() as usize && op.condition.is_none()
        }
        Target::Direct { offset, .. } => is_plain(offset) || op.dst.is_accumulator(),
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
    let floats = op.src.iter().any(|src| src.is_some() && src.ty.is_float());
    let only_copies = copies(op) && op.condition.is_none() && !writes_accumulator(op);
    let native = match op.opcode {
        Opcode::Mov if only_copies => Some(Native::Copy),
        Opcode::Sel if only_copies => Some(Native::Choose),
        Opcode::F16To32 => {
            let plain = matches!(op.src[0].ty, Type::W | Type::UW) && !op.src[0].modified();
            let fits =
                mode.is_some() && plain && op.dst.ty == Type::F && op.condition != Some(Condition::Overflow);
            fits.then_some(Native::FromHalf)
        }
        Opcode::Mov if !floats && mode.is_some_and(|mode| converts(op, mode)) => Some(Native::Convert),
        _ if floats => mode.and_then(|mode| select_float(op, mode)),
        _ => width::select(op, mode.is_some()),
    };
    native.ok_or(if mode.is_none() {
        "a mode that only run time knows, or such types"
    } else {
        "these types and modifiers"
    })
}

/// Whether the host's conversion of an integer to a float is exact, or rounds in the right mode.
fn converts(op: &Op, mode: Mode) -> bool {
    let (from, to) = (op.src[0].ty.size(), op.dst.ty);
    // Half floats are rounded from floats that hold all integers up to where half floats end.
    let exact = to == Type::HF || from <= 2 || from <= 4 && to == Type::DF;
    to.is_float()
        && op.condition.is_none()
        && !op.src[0].modified()
        && (exact || mode.rounding == Rounding::NearestEven)
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

/// Flags as operands: one word or dword of them.
fn flag_operands_fit(op: &Op) -> bool {
    let fits = |at: usize, size: u32| {
        at < NULL
            || is_accumulator(at)
            || is_address(at)
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

/// Whether it is a float type that can be computed in single precision.
fn is_single(ty: Type) -> bool {
    matches!(ty, Type::F | Type::HF)
}

fn select_float(op: &Op, mode: Mode) -> Option<Native> {
    use Opcode as O;
    let to = op.dst.ty;
    let sources = || op.src.iter().filter(|s| s.is_some()).map(|s| s.ty);
    let [single, double] = [is_single, |ty| ty == Type::DF].map(|accepts| sources().all(accepts));
    let condition = op.condition.is_some();
    if matches!(op.opcode, O::Cmp | O::Cmpn) {
        // Doubles hold all of these.
        let held = sources().all(|ty| ty.is_float() || ty.size() <= 4);
        return (held && condition).then_some(Native::CompareFloats { double: !single });
    }
    if op.condition == Some(Condition::Overflow) && !chooses(op.opcode) {
        return None;
    }
    match op.opcode {
        // A raw move keeps denormals, and its condition does not.
        O::Mov if copies(op) && flushes(mode, to) => None,
        O::Mov => (to.is_float() || !condition).then_some(Native::Convert),
        O::Sel | O::Csel => {
            // The source that is copied as it is keeps denormals.
            let raw = op.opcode == O::Sel && !condition;
            let flushed = raw && sources().chain([to]).any(|ty| flushes(mode, ty));
            ((single || double) && to.is_float() && !flushed).then_some(Native::SelectFloats { double })
        }
        O::F32To16 => {
            let fits = single && op.src[0].ty == Type::F && to.size() == 2 && !to.is_float();
            (fits && !condition && !op.saturate).then_some(Native::ToHalf)
        }
        opcode if is_dot(opcode) => (single && op.lanes >= 4).then_some(Native::Exact),
        O::Add | O::Mul | O::Mad if double && to == Type::DF => Some(Native::Float { double }),
        _ => select_function(op, mode),
    }
}

/// A function of floats of 32 bits and fewer, and of integers that doubles hold.
fn select_function(op: &Op, mode: Mode) -> Option<Native> {
    use MathFunction as M;
    use Opcode as O;
    let to = op.dst.ty;
    let sources = || op.src.iter().filter(|s| s.is_some()).map(|s| s.ty);
    if !is_single(op.execution_type) || to == Type::DF || sources().any(|ty| ty.size() == 8) {
        return None;
    }
    // Of half floats, sums, products, quotients and roots in 32 bits may be rounded again: those have more than twice their bits and
    // one. What has been rounded to an integral value is exact.
    let halves = sources().all(|ty| ty == Type::HF);
    let again = match (op.opcode, op.function) {
        (O::Lrp, _) => return Some(Native::Exact),
        (O::Add | O::Mul | O::Mad | O::Frc, _) => halves,
        (O::Math, Some(M::Inv | M::Sqrt | M::Fdiv)) => halves,
        (O::Math, Some(function)) if functions::is_defined(function) => false,
        (O::Rndu | O::Rndd | O::Rnde | O::Rndz, _) => true,
        _ => return None,
    };
    let direct = mode.rounding == Rounding::NearestEven
        && sources().all(is_single)
        && (to == Type::F || to == Type::HF && again);
    Some(if direct { Native::Float { double: false } } else { Native::Exact })
}
