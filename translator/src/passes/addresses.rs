//! Says what the addresses of accesses are sums of.
//!
//! Accesses whose addresses have the same scalar in them have one window: most likely they are in the same buffer. A scalar that all threads have is its pointer. Varying
//! addresses that are a scalar and an offset of 32 bits say so, as pointers that are indexed are, and those in memory that lanes have for themselves: hosts compare and
//! gather with offsets of 32 bits in half of the instructions.

use rustc_hash::FxHashMap;

use super::simplify::Rebuild;
use super::sums::{Sum, Term, conjuncts, fitting};
use crate::middle::function::{Function, Instruction, Value};
use crate::middle::op::{Addressing, Binary, Convert, Input, Op, Space, Window};
use crate::middle::types::{Scalar, Type};

/// The same function with such accesses.
pub fn find(function: &Function) -> Function {
    let mut windows = FxHashMap::default();
    Rebuild::new(function).map(
        |_| true,
        |rebuild, instruction| match &function.instruction(instruction).op {
            Op::Load(access) | Op::Store(access) if access.space == Space::Global => {
                Addresses { function, rebuild, windows: &mut windows }.access(instruction, access.addressing);
            }
            _ => rebuild.copy(instruction),
        },
    )
}

struct Addresses<'a, 'f> {
    function: &'a Function,
    rebuild: &'a mut Rebuild<'f>,
    /// The window of each scalar.
    windows: &'a mut FxHashMap<Value, Window>,
}

impl Addresses<'_, '_> {
    fn access(&mut self, instruction: Instruction, mut addressing: Addressing) {
        let operands = &self.function.instruction(instruction).operands;
        let is_varying = addressing == Addressing::Varying;
        let sum = Sum::of(self.function, operands[if is_varying { 1 } else { 2 }]);
        let leaves = sum.leaves(self.function);
        let base = only_scalar(&leaves);
        let window = base.map(|base| self.window(base));
        self.rebuild.builder.origin = self.function.instruction(instruction).origin;
        let mut told = Vec::new();
        if let Some((offsets, own)) = is_varying.then(|| self.offsets(&sum)).flatten() {
            addressing = own;
            told = vec![self.base(&sum), self.rebuild.value(offsets)];
        } else if !is_varying {
            told = [2, 3].map(|n| self.rebuild.value(operands[n])).to_vec();
        }
        if let (Some(Window::Pointer(_)), Some(pointer), Addressing::Affine(_)) = (window, base, addressing) {
            told[1] = self.needed(&sum, &leaves, pointer, operands[3]);
        }
        self.rebuild.copy_access(instruction, &told, false, |access| {
            access.addressing = addressing;
            access.window = window.or(access.window);
        });
    }

    fn window(&mut self, base: Value) -> Window {
        let next = self.windows.len() as u16;
        *self.windows.entry(base).or_insert_with(|| match self.function.source(base) {
            Some((Op::Input(Input::CrossThread(at)), _)) => Window::Pointer(*at),
            _ => Window::Shared(next),
        })
    }

    /// The sum but for the stride and the offsets.
    fn base(&mut self, sum: &Sum) -> Value {
        let constant = self.rebuild.builder.int(Type::int(64, 1), sum.constant);
        sum.scalars.iter().fold(constant, |base, term| {
            let own = self.rebuild.value(term.value);
            let own = self.rebuild.builder.resize(own, 64, term.extend == Some(Convert::SExt));
            self.rebuild.builder.binary(Binary::Add, base, own)
        })
    }

    /// The offsets of addresses that are a scalar and those, and how they are to be added.
    fn offsets(&self, sum: &Sum) -> Option<(Value, Addressing)> {
        let [Term { value, extend: Some(extend) }] = sum.offsets[..] else { return None };
        let addressing = match (extend, u16::try_from(sum.stride).ok()?) {
            (Convert::ZExt, stride) => Addressing::Interleaved(stride),
            (_, 0) => Addressing::Offsets,
            _ => return None,
        };
        (self.function.ty(value).scalar == Scalar::Int(32)).then_some((value, addressing))
    }

    /// The condition under which a stride holds, without what the bounds check implies: if the row is inside, so is the pointer at an offset of 32 bits. Then
    /// that has not wrapped around in any lane.
    fn needed(&mut self, sum: &Sum, leaves: &[Term], pointer: Value, holds: Value) -> Value {
        let is_implied = |condition: &Value| {
            let Some((last, extend, Scalar::Int(32))) = fitting(self.function, *condition) else {
                return false;
            };
            let last = Sum::of(self.function, last);
            let [Term { value, extend: Some(own) }] = last.scalars[..] else { return false };
            let is_row =
                [Term { value: pointer, extend: None }, Term { value, extend: Some(own) }] == *leaves;
            // An unsigned offset may wrap around below 0.
            let is_positive = own == Convert::ZExt && (last.constant as i64) >= 0;
            is_row && sum.constant == 0 && (extend == Convert::SExt || is_positive)
        };
        let mut leaves = conjuncts(self.function, holds);
        let count = leaves.len();
        leaves.retain(|condition| !is_implied(condition));
        if leaves.len() == count {
            return self.rebuild.value(holds);
        }
        let all = self.rebuild.builder.mask(1, true);
        leaves.iter().fold(all, |all, condition| {
            let own = self.rebuild.value(*condition);
            self.rebuild.builder.binary(Binary::And, all, own)
        })
    }
}

/// The only scalar of 64 bits in a sum, or of fewer bits that is extended.
fn only_scalar(terms: &[Term]) -> Option<Value> {
    let is_extended = terms.iter().all(|term| term.extend.is_some());
    let mut scalars = terms.iter().filter(|term| term.extend.is_some() == is_extended).map(|term| term.value);
    let first = scalars.next()?;
    scalars.all(|other| other == first).then_some(first)
}
