//! Fast paths of `F` arithmetic.

use gencl_isa::{Condition, MathFunction, Opcode, Type};

use super::elements::{by_width, finish_f32, load_f32};
use crate::arithmetic::{functions, general};
use crate::odd::multiply_add_32;
use crate::op::{Execute, Op, Trap};
use crate::thread::Thread;

/// A function of up to three `F` operands; the others are zero.
trait Function {
    /// Number of operands.
    const OPERANDS: usize;
    /// Computes it.
    fn apply(a: f32, b: f32, c: f32) -> f32;
}

macro_rules! functions {
    ($($name:ident/$count:literal($a:ident, $b:ident, $c:ident) = $value:expr;)*) => {
        $(
            struct $name;
            impl Function for $name {
                const OPERANDS: usize = $count;
                #[inline(always)]
                fn apply($a: f32, $b: f32, $c: f32) -> f32 {
                    $value
                }
            }
        )*
    };
}

functions! {
    Add/2(a, b, _c) = a + b;
    Multiply/2(a, b, _c) = a * b;
    MultiplyAdd/3(a, b, c) = multiply_add_32(b, c, a);
    Fraction/1(a, _b, _c) = (f64::from(a) - f64::from(a).floor()) as f32;
    RoundUp/1(a, _b, _c) = a.ceil();
    RoundDown/1(a, _b, _c) = a.floor();
    RoundEven/1(a, _b, _c) = a.round_ties_even();
    RoundZero/1(a, _b, _c) = a.trunc();
    Inverse/1(a, _b, _c) = 1.0 / a;
    SquareRoot/1(a, _b, _c) = a.sqrt();
    Divide/2(a, b, _c) = a / b;
    InverseRoot/1(a, b, _c) = functions::evaluate(MathFunction::Rsq, a, b);
    Logarithm/1(a, b, _c) = functions::evaluate(MathFunction::Log, a, b);
    Exponential/1(a, b, _c) = functions::evaluate(MathFunction::Exp, a, b);
    Sine/1(a, b, _c) = functions::evaluate(MathFunction::Sin, a, b);
    Cosine/1(a, b, _c) = functions::evaluate(MathFunction::Cos, a, b);
    Power/2(a, b, _c) = functions::evaluate(MathFunction::Pow, a, b);
}

/// The fast path of an instruction with `F` operands and an `F` destination.
pub fn select(op: &Op) -> Option<Execute> {
    let floats = op.src.iter().filter(|s| s.is_some()).all(|s| s.ty == Type::F) && op.dst.ty == Type::F;
    if !floats || op.condition == Some(Condition::Overflow) {
        return None;
    }
    let lanes = op.lanes;
    Some(match (op.opcode, op.function) {
        (Opcode::Add, _) => by_width!(lanes, apply<Add>),
        (Opcode::Mul, _) => by_width!(lanes, apply<Multiply>),
        (Opcode::Mad, _) => by_width!(lanes, apply<MultiplyAdd>),
        (Opcode::Frc, _) => by_width!(lanes, apply<Fraction>),
        (Opcode::Rndu, _) => by_width!(lanes, apply<RoundUp>),
        (Opcode::Rndd, _) => by_width!(lanes, apply<RoundDown>),
        (Opcode::Rnde, _) => by_width!(lanes, apply<RoundEven>),
        (Opcode::Rndz, _) => by_width!(lanes, apply<RoundZero>),
        (Opcode::Math, Some(MathFunction::Inv)) => by_width!(lanes, apply<Inverse>),
        (Opcode::Math, Some(MathFunction::Sqrt)) => by_width!(lanes, apply<SquareRoot>),
        (Opcode::Math, Some(MathFunction::Rsq)) => by_width!(lanes, apply<InverseRoot>),
        (Opcode::Math, Some(MathFunction::Fdiv)) => by_width!(lanes, apply<Divide>),
        (Opcode::Math, Some(MathFunction::Log)) => by_width!(lanes, apply<Logarithm>),
        (Opcode::Math, Some(MathFunction::Exp)) => by_width!(lanes, apply<Exponential>),
        (Opcode::Math, Some(MathFunction::Sin)) => by_width!(lanes, apply<Sine>),
        (Opcode::Math, Some(MathFunction::Cos)) => by_width!(lanes, apply<Cosine>),
        (Opcode::Math, Some(MathFunction::Pow)) => by_width!(lanes, apply<Power>),
        _ => return None,
    })
}

fn apply<F: Function, const N: usize>(thread: &mut Thread, op: &Op, mask: u32) -> Result<(), Trap> {
    if !thread.float.rounds_as_host() {
        return general::execute(thread, op, mask);
    }
    let a = load_f32::<N>(thread, &op.src[0]);
    let b = if F::OPERANDS > 1 { load_f32::<N>(thread, &op.src[1]) } else { [0.0; N] };
    let c = if F::OPERANDS > 2 { load_f32::<N>(thread, &op.src[2]) } else { [0.0; N] };
    let mut result = [0.0; N];
    for n in 0..N {
        result[n] = F::apply(a[n], b[n], c[n]);
    }
    finish_f32(thread, op, mask, &result);
    Ok(())
}
