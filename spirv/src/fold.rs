//! OpSpecConstantOp: operations on constants, which LLVM has no constant expressions for.

use half::f16;
use rspirv::spirv::Op;

use crate::error::Result;
use crate::types::Type;
use crate::walk::{Id, Instruction};
use crate::writer::{Constant, Part, Writer};

/// A number with its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Int(u64, u32),
    Float(u64, u32),
}

impl Writer<'_> {
    /// The value of an operation whose operands are known; `None` if it is one on pointers.
    pub(crate) fn fold(&mut self, own: &Instruction<'_>, op: Op, operands: &[u32]) -> Result<Option<Part>> {
        let part = |number: usize| {
            let id = operands.get(number).copied().ok_or_else(|| own.error("it has too few operands"))?;
            self.part_of(own, id)
        };
        let rest = |from: usize| operands.get(from..).unwrap_or_default();
        let found = match op {
            Op::CompositeExtract => {
                let mut found = part(0)?;
                for index in rest(1) {
                    found = self.part(own, &found, *index)?;
                }
                found
            }
            Op::CompositeInsert => {
                let (object, whole) = (part(0)?, part(1)?);
                self.inserted(own, &object, &whole, rest(2))?
            }
            Op::VectorShuffle => {
                let (first, second) = (part(0)?, part(1)?);
                let mut all = self.parts(own, &first)?;
                all.extend(self.parts(own, &second)?);
                let scalar = self.types.element(own.ty).0;
                let mut parts = Vec::new();
                for index in rest(2) {
                    parts.push(match *index {
                        u32::MAX => Part::undefined(scalar),
                        index => all
                            .get(index as usize)
                            .cloned()
                            .ok_or_else(|| own.error(format!("there is no element {index}")))?,
                    });
                }
                self.whole(own, own.ty, parts)?
            }
            _ => {
                let list: Vec<Part> = (0..operands.len()).map(part).collect::<Result<_>>()?;
                return self.element_wise(own, op, own.ty, &list);
            }
        };
        Ok(Some(found))
    }

    /// An operation on numbers or on the elements of vectors.
    fn element_wise(&mut self, own: &Instruction<'_>, op: Op, ty: Id, list: &[Part]) -> Result<Option<Part>> {
        if let (Op::Select, [condition, yes, no]) = (op, list)
            && let Some(Constant::Integer(condition)) = condition.constant
        {
            return Ok(Some(if condition != 0 { yes } else { no }.clone()));
        }
        if let Some(Type::Vector(scalar, count)) = self.types.get(ty).cloned() {
            // What has other elements is left to LLVM, as pointers are.
            if list.iter().any(|part| self.types.element(part.value.ty).1 != count) {
                return Ok(None);
            }
            let mut all = Vec::new();
            for number in 0..count {
                let elements: Vec<Part> =
                    list.iter().map(|part| self.part(own, part, number)).collect::<Result<_>>()?;
                let Some(found) = self.element_wise(own, op, scalar, &elements)? else { return Ok(None) };
                all.push(found);
            }
            return self.whole(own, ty, all).map(Some);
        }
        let Some(numbers) = list.iter().map(|part| self.number(part)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let value = match self.types.get(ty) {
            Some(Type::Int(width)) => to_integer(op, &numbers, *width),
            Some(Type::Bool) => to_integer(op, &numbers, 1),
            Some(Type::Float(width)) => to_float(op, &numbers, *width),
            _ => return Ok(None),
        };
        let bits = value.ok_or_else(|| own.error(format!("Op{op:?} of these constants is not supported")))?;
        self.scalar(own, ty, bits).map(Some)
    }

    /// The number that a scalar is.
    fn number(&self, part: &Part) -> Option<Number> {
        match (part.constant.as_ref()?, self.types.get(part.value.ty)?) {
            (Constant::Integer(bits), Type::Int(width)) => Some(Number::Int(*bits, *width)),
            (Constant::Integer(bits), Type::Bool) => Some(Number::Int(*bits, 1)),
            (Constant::Float(bits), Type::Float(width)) => Some(Number::Float(*bits, *width)),
            _ => None,
        }
    }

    /// What an id stands for outside of functions.
    pub(crate) fn part_of(&self, own: &Instruction<'_>, id: Id) -> Result<Part> {
        let value = self.value(own, id)?;
        Ok(Part { value, constant: self.constants.get(&id).cloned() })
    }

    /// A part of a vector, array or structure.
    fn part(&self, own: &Instruction<'_>, whole: &Part, index: u32) -> Result<Part> {
        let ty = self.types.part(whole.value.ty, index);
        let ty = ty.ok_or_else(|| own.error(format!("there is no part {index}")))?;
        match &whole.constant {
            Some(Constant::Composite(parts)) => {
                let found = parts.get(index as usize).cloned();
                found.ok_or_else(|| own.error(format!("there is no part {index}")))
            }
            Some(Constant::Null) => Ok(self.null(ty)),
            Some(Constant::Undef) => Ok(Part::undefined(ty)),
            _ => Err(own.error("the parts of the constant are not known")),
        }
    }

    /// All parts of a vector, array or structure.
    fn parts(&mut self, own: &Instruction<'_>, whole: &Part) -> Result<Vec<Part>> {
        let count = match self.types.get(whole.value.ty) {
            Some(Type::Vector(_, count)) => u64::from(*count),
            Some(Type::Array(_, count)) => *count,
            Some(Type::Struct(members)) => members.len() as u64,
            _ => return Err(own.error("the type has no parts")),
        };
        let count = u32::try_from(count).map_err(|_| own.error("the constants are too large"))?;
        // What a part takes here.
        self.charge(own, count as usize * size_of::<Part>())?;
        (0..count).map(|index| self.part(own, whole, index)).collect()
    }

    /// A whole with an object in place of one of its parts.
    fn inserted(
        &mut self,
        own: &Instruction<'_>,
        object: &Part,
        whole: &Part,
        indices: &[u32],
    ) -> Result<Part> {
        let Some((index, inner)) = indices.split_first() else { return Ok(object.clone()) };
        let mut parts = self.parts(own, whole)?;
        let part = self.part(own, whole, *index)?;
        parts[*index as usize] = self.inserted(own, object, &part, inner)?;
        self.whole(own, whole.value.ty, parts)
    }
}

/// A number in the way that an operation sees it.
impl Number {
    fn unsigned(self) -> u64 {
        let (Number::Int(bits, _) | Number::Float(bits, _)) = self;
        bits
    }

    fn signed(self) -> i64 {
        let (Number::Int(bits, width) | Number::Float(bits, width)) = self;
        (bits << (64 - width)) as i64 >> (64 - width)
    }

    /// The value of a float.
    fn value(self) -> Option<f64> {
        match self {
            Number::Float(bits, 16) => Some(f16::from_bits(bits as u16).into()),
            Number::Float(bits, 32) => Some(f32::from_bits(bits as u32).into()),
            Number::Float(bits, _) => Some(f64::from_bits(bits)),
            Number::Int(..) => None,
        }
    }
}

/// The bits of the float of a width that is nearest to a value.
fn rounded(value: f64, width: u32) -> u64 {
    match width {
        16 => f16::from_f64(value).to_bits().into(),
        32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// The float of `width` bits that an operation gives. Sums, products and quotients are rounded twice, which
/// is the same as once: a double has more than twice the bits of a single float.
fn to_float(op: Op, values: &[Number], width: u32) -> Option<u64> {
    let [first, ..] = *values else { return None };
    match op {
        Op::Bitcast => {
            return (matches!(first, Number::Int(_, own) if own == width)).then(|| first.unsigned());
        }
        // Not by way of a double, which has not all bits of large integers.
        Op::ConvertSToF if width == 32 => return Some((first.signed() as f32).to_bits().into()),
        Op::ConvertUToF if width == 32 => return Some((first.unsigned() as f32).to_bits().into()),
        Op::ConvertSToF => return Some(rounded(first.signed() as f64, width)),
        Op::ConvertUToF => return Some(rounded(first.unsigned() as f64, width)),
        Op::FNegate => return Some(first.unsigned() ^ 1 << (width - 1)),
        _ => {}
    }
    let a = first.value()?;
    let b = values.get(1).and_then(|number| number.value());
    let value = match (op, b) {
        (Op::FConvert, _) => a,
        (Op::FAdd, Some(b)) => a + b,
        (Op::FSub, Some(b)) => a - b,
        (Op::FMul, Some(b)) => a * b,
        (Op::FDiv, Some(b)) => a / b,
        (Op::FRem, Some(b)) => a % b,
        (Op::FMod, Some(b)) => {
            let rest = a % b;
            if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
        }
        _ => return None,
    };
    Some(rounded(value, width))
}

/// The integer of `width` bits that an operation gives.
fn to_integer(op: Op, values: &[Number], width: u32) -> Option<u64> {
    let [first, ..] = *values else { return None };
    let second = values.get(1).copied();
    let [a, b] = [first.unsigned(), second.map_or(0, Number::unsigned)];
    let [s, t] = [first.signed(), second.map_or(0, Number::signed)];
    let value = match op {
        Op::ConvertFToU => first.value()? as u64,
        Op::ConvertFToS => first.value()? as i64 as u64,
        Op::Bitcast => {
            return (matches!(first, Number::Float(_, own) | Number::Int(_, own) if own == width))
                .then_some(a);
        }
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b)?,
        Op::UMod => a.checked_rem(b)?,
        Op::SDiv => s.checked_div(t)? as u64,
        Op::SRem => s.checked_rem(t)? as u64,
        Op::SMod => {
            s.checked_rem(t).map(|rest| if rest != 0 && (rest < 0) != (t < 0) { rest + t } else { rest })?
                as u64
        }
        Op::ShiftLeftLogical => a.checked_shl(b.try_into().ok()?)?,
        Op::ShiftRightLogical => a.checked_shr(b.try_into().ok()?)?,
        Op::ShiftRightArithmetic => s.checked_shr(b.try_into().ok()?)? as u64,
        Op::BitwiseAnd | Op::LogicalAnd => a & b,
        Op::BitwiseOr | Op::LogicalOr => a | b,
        Op::BitwiseXor | Op::LogicalNotEqual => a ^ b,
        Op::Not => !a,
        Op::LogicalNot => (a == 0).into(),
        Op::SNegate => s.wrapping_neg() as u64,
        Op::IEqual | Op::LogicalEqual => (a == b).into(),
        Op::INotEqual => (a != b).into(),
        Op::ULessThan => (a < b).into(),
        Op::ULessThanEqual => (a <= b).into(),
        Op::UGreaterThan => (a > b).into(),
        Op::UGreaterThanEqual => (a >= b).into(),
        Op::SLessThan => (s < t).into(),
        Op::SLessThanEqual => (s <= t).into(),
        Op::SGreaterThan => (s > t).into(),
        Op::SGreaterThanEqual => (s >= t).into(),
        Op::UConvert => a,
        Op::SConvert => s as u64,
        _ => return None,
    };
    Some(value & u64::MAX >> (64 - width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_on_integers_have_their_widths() {
        let of = |op, values: &[(u64, u32)]| {
            let values: Vec<Number> = values.iter().map(|(bits, width)| Number::Int(*bits, *width)).collect();
            to_integer(op, &values, 32)
        };
        assert_eq!(of(Op::IAdd, &[(u32::MAX.into(), 32), (2, 32)]), Some(1));
        assert_eq!(of(Op::SDiv, &[(u32::MAX.into(), 32), (2, 32)]), Some(0));
        assert_eq!(of(Op::SConvert, &[(0x80, 8)]), Some(0xffff_ff80));
        assert_eq!(of(Op::UDiv, &[(1, 32), (0, 32)]), None);
        assert_eq!(of(Op::SMod, &[(u64::from(-7i32 as u32), 32), (3, 32)]), Some(2));
    }

    #[test]
    fn operations_on_floats_are_rounded_to_their_widths() {
        let single = |value: f32| Number::Float(value.to_bits().into(), 32);
        let of = |op, values: &[Number], width| to_float(op, values, width);
        assert_eq!(of(Op::FDiv, &[single(1.0), single(3.0)], 32), Some((1.0f32 / 3.0).to_bits().into()));
        assert_eq!(of(Op::FMod, &[single(-7.0), single(3.0)], 32), Some(2f32.to_bits().into()));
        assert_eq!(of(Op::FConvert, &[single(1.0 / 3.0)], 16), Some(0x3555));
        assert_eq!(of(Op::ConvertUToF, &[Number::Int(u64::MAX, 64)], 32), Some(0x5f80_0000));
        assert_eq!(of(Op::FNegate, &[Number::Float(0x7c01, 16)], 16), Some(0xfc01));
        assert_eq!(to_integer(Op::ConvertFToS, &[single(-2.5)], 8), Some(0xfe));
    }
}
