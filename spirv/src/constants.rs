//! Constants: SPIR-V 1.6, 3.49.7 "Constant-Creation Instructions".

use rspirv::spirv::{Decoration, Op};

use crate::error::Result;
use crate::types::Type;
use crate::walk::{Id, Instruction};
use crate::writer::{Constant, Value, Writer};

/// The instructions that make constants.
pub(crate) const CONSTANTS: &[Op] = &[
    Op::ConstantTrue,
    Op::ConstantFalse,
    Op::Constant,
    Op::ConstantComposite,
    Op::ConstantNull,
    Op::ConstantSampler,
    Op::SpecConstantTrue,
    Op::SpecConstantFalse,
    Op::SpecConstant,
    Op::SpecConstantComposite,
    Op::SpecConstantOp,
    Op::Undef,
];

/// Most bytes of all constants in LLVM IR: a short module can make large ones of constants that it repeats.
const MOST_BYTES: usize = 1 << 26;

impl Writer<'_> {
    /// A constant as LLVM writes it, without its type.
    pub(crate) fn constant(&mut self, own: &Instruction<'_>) -> Result<String> {
        let Some(ty) = self.types.get(own.ty).cloned() else {
            return Err(own.error(format!("{} is no type", own.ty)));
        };
        match own.op {
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let initial = matches!(own.op, Op::ConstantTrue | Op::SpecConstantTrue);
                let value = self.specialized(own.result).map_or(initial, |bits| bits != 0);
                self.constants.insert(own.result, Constant::Integer(value.into()));
                Ok(value.to_string())
            }
            Op::Constant | Op::SpecConstant => {
                let low = u64::from(own.operand(0)?);
                let high = own.operands.get(1).copied().unwrap_or(0);
                let bits = self.specialized(own.result).unwrap_or(low | u64::from(high) << 32);
                self.scalar(own, &ty, bits)
            }
            Op::ConstantComposite | Op::SpecConstantComposite => self.composite(own, &ty),
            Op::ConstantNull => {
                if matches!(ty, Type::Int(_) | Type::Bool) {
                    self.constants.insert(own.result, Constant::Integer(0));
                }
                Ok(null(&ty).into())
            }
            Op::Undef => Ok("undef".into()),
            Op::ConstantSampler => {
                let parts = [own.operand(0)?, own.operand(1)?, own.operand(2)?];
                self.constants.insert(own.result, Constant::Sampler(parts));
                Ok("poison".into())
            }
            _ => self.operation(own, &ty),
        }
    }

    /// The bits that the application gave a specialisation constant.
    fn specialized(&self, id: Id) -> Option<u64> {
        let [number, ..] = self.module.decoration(id, Decoration::SpecId)? else { return None };
        let (_, bytes) = self.environment.specialization.iter().find(|(id, _)| id == number)?;
        Some(bytes.iter().take(8).rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }

    fn scalar(&mut self, own: &Instruction<'_>, ty: &Type, bits: u64) -> Result<String> {
        match ty {
            Type::Int(width) => {
                let value = bits & u64::MAX >> (64 - width);
                self.constants.insert(own.result, Constant::Integer(value));
                Ok(value.to_string())
            }
            Type::Float(16) => Ok(format!("0xH{:04X}", bits as u16)),
            // LLVM writes floats as doubles.
            Type::Float(32) => Ok(float(bits as u32)),
            Type::Float(_) => Ok(format!("0x{bits:016X}")),
            _ => Err(own.error("the type is no number")),
        }
    }

    fn composite(&mut self, own: &Instruction<'_>, ty: &Type) -> Result<String> {
        let mut parts = Vec::new();
        for id in own.operands {
            let part = self.typed(&self.value(own, *id)?);
            self.constant_bytes += part.len();
            if self.constant_bytes > MOST_BYTES {
                return Err(own.error("the constants are too large"));
            }
            parts.push(part);
        }
        let (open, close) = match ty {
            Type::Vector(..) => ("<", ">"),
            Type::Array(..) => ("[", "]"),
            Type::Struct(_) if self.module.decoration(own.ty, Decoration::CPacked).is_some() => ("<{", "}>"),
            Type::Struct(_) => ("{", "}"),
            _ => return Err(own.error("the type has no parts")),
        };
        Ok(format!("{open} {} {close}", parts.join(", ")))
    }

    /// OpSpecConstantOp: as instructions on constants.
    fn operation(&mut self, own: &Instruction<'_>, ty: &Type) -> Result<String> {
        let code = own.operand(0)?;
        let op = Op::from_u32(code).ok_or_else(|| own.error(format!("there is no opcode {code}")))?;
        let operands = own.operands_from(1)?;
        if let Type::Int(_) | Type::Bool = ty
            && let Some(values) = operands
                .iter()
                .map(|id| Some((self.constants.get(id)?.integer()?, self.width(*id)?)))
                .collect::<Option<Vec<_>>>()
        {
            let width = if let Type::Int(width) = ty { *width } else { 1 };
            let value = evaluate(op, &values, width);
            let value = value.ok_or_else(|| own.error(format!("Op{op:?} of constants is not supported")))?;
            self.constants.insert(own.result, Constant::Integer(value));
            return Ok(if *ty == Type::Bool { (value != 0).to_string() } else { value.to_string() });
        }
        let values = operands.iter().map(|id| self.value(own, *id));
        match op {
            Op::Bitcast
            | Op::ConvertPtrToU
            | Op::ConvertUToPtr
            | Op::PtrCastToGeneric
            | Op::GenericCastToPtr => {
                let value = self.value(own, operands.first().copied().unwrap_or(0))?;
                self.cast(own, op, &value)
            }
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                let values: Vec<Value> = values.collect::<Result<_>>()?;
                let element = matches!(op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
                let inbounds = matches!(op, Op::InBoundsAccessChain | Op::InBoundsPtrAccessChain);
                let (pointee, indices) = self.chain(own, &values, operands, element)?;
                let inbounds = if inbounds { "inbounds " } else { "" };
                Ok(format!("getelementptr {inbounds}({pointee}, {indices})"))
            }
            _ => Err(own.error(format!("Op{op:?} of constants is not supported"))),
        }
    }

    /// The width of a constant integer.
    fn width(&self, id: Id) -> Option<u32> {
        match self.types.get(self.values.get(&id)?.ty)? {
            Type::Int(width) => Some(*width),
            Type::Bool => Some(1),
            _ => None,
        }
    }

    fn cast(&self, own: &Instruction<'_>, op: Op, value: &Value) -> Result<String> {
        let name = match op {
            Op::ConvertPtrToU => "ptrtoint",
            Op::ConvertUToPtr => "inttoptr",
            Op::PtrCastToGeneric | Op::GenericCastToPtr => "addrspacecast",
            _ if self.types.text(own.ty) == self.types.text(value.ty) => return Ok(value.text.clone()),
            _ => "bitcast",
        };
        Ok(format!("{name} ({} to {})", self.typed(value), self.types.text(own.ty)))
    }
}

/// A `float` as LLVM writes it. Conversion would make signalling NaNs quiet.
pub(crate) fn float(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        let (sign, payload) = (u64::from(bits >> 31), u64::from(bits & 0x7f_ffff));
        return format!("0x{:016X}", sign << 63 | 0x7ff << 52 | payload << 29);
    }
    format!("0x{:016X}", f64::from(value).to_bits())
}

/// Zero of a type.
fn null(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "false",
        Type::Int(_) => "0",
        Type::Pointer(..) => "null",
        _ => "zeroinitializer",
    }
}

/// The value of an operation on integers, each with its width, in a result of `width` bits.
fn evaluate(op: Op, values: &[(u64, u32)], width: u32) -> Option<u64> {
    let unsigned = |number: usize| values.get(number).map(|value| value.0);
    let signed = |number: usize| {
        values.get(number).map(|(value, width)| (value << (64 - width)) as i64 >> (64 - width))
    };
    let [a, b] = [unsigned(0)?, unsigned(1).unwrap_or(0)];
    let [s, t] = [signed(0)?, signed(1).unwrap_or(0)];
    let value = match op {
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
        Op::Select => {
            if a != 0 {
                b
            } else {
                unsigned(2)?
            }
        }
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
    fn operations_on_constants_have_their_widths() {
        let of = |op, values: &[(u64, u32)]| evaluate(op, values, 32);
        assert_eq!(of(Op::IAdd, &[(u32::MAX.into(), 32), (2, 32)]), Some(1));
        assert_eq!(of(Op::SDiv, &[(u32::MAX.into(), 32), (2, 32)]), Some(0));
        assert_eq!(of(Op::SConvert, &[(0x80, 8)]), Some(0xffff_ff80));
        assert_eq!(of(Op::UDiv, &[(1, 32), (0, 32)]), None);
        assert_eq!(of(Op::SMod, &[(u64::from(-7i32 as u32), 32), (3, 32)]), Some(2));
        assert_eq!(of(Op::Select, &[(0, 1), (3, 32), (4, 32)]), Some(4));
    }

    #[test]
    fn signalling_nans_stay() {
        assert_eq!(float(0x7fa0_0001), "0x7FF4000020000000");
        assert_eq!(float(0x3f80_0000), "0x3FF0000000000000");
    }
}
