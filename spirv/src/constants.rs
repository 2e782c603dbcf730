//! Constants: SPIR-V 1.6, 3.49.7 "Constant-Creation Instructions".

use rspirv::spirv::{Decoration, Op};

use crate::error::Result;
use crate::types::Type;
use crate::walk::{Id, Instruction};
use crate::writer::{Constant, Part, Value, Writer};

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

/// Operations on pointers, which LLVM has constant expressions for.
const EXPRESSIONS: &[Op] = &[
    Op::ConvertPtrToU,
    Op::ConvertUToPtr,
    Op::PtrCastToGeneric,
    Op::GenericCastToPtr,
    Op::AccessChain,
    Op::InBoundsAccessChain,
    Op::PtrAccessChain,
    Op::InBoundsPtrAccessChain,
];

/// The number of LLVM's SPIR-V back end in Khronos' registry of tools (`spir-v.xml`).
const LLVM_BACK_END: u32 = 43;

/// Most bytes of all constants in LLVM IR: a short module can make large ones of constants that it repeats.
const MOST_BYTES: usize = 1 << 26;

impl Writer<'_> {
    /// Enters a constant.
    pub(crate) fn constant(&mut self, own: &Instruction<'_>) -> Result<()> {
        if self.types.get(own.ty).is_none() {
            return Err(own.error(format!("{} is no type", own.ty)));
        }
        let part = self.made(own)?;
        if let Some(constant) = part.constant {
            self.constants.insert(own.result, constant);
        }
        self.values.insert(own.result, Value { ty: own.ty, ..part.value });
        Ok(())
    }

    /// A constant as LLVM writes it, and what is known of it.
    fn made(&mut self, own: &Instruction<'_>) -> Result<Part> {
        let ty = own.ty;
        match own.op {
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let initial = matches!(own.op, Op::ConstantTrue | Op::SpecConstantTrue);
                let value = self.specialized(own.result).map_or(initial, |bits| bits != 0);
                self.scalar(own, ty, value.into())
            }
            Op::Constant | Op::SpecConstant => {
                let low = u64::from(own.operand(0)?);
                let high = own.operands.get(1).copied().unwrap_or(0);
                let bits = self.specialized(own.result).unwrap_or(low | u64::from(high) << 32);
                self.scalar(own, ty, bits)
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let mut parts: Vec<Part> =
                    own.operands.iter().map(|id| self.part_of(own, *id)).collect::<Result<_>>()?;
                // LLVM's back end writes null pointers in structures as integers.
                for (part, index) in parts.iter_mut().zip(0..) {
                    let member = self.types.part(ty, index).filter(|member| *member != part.value.ty);
                    if let Some(member) = member
                        && matches!(self.types.get(member), Some(Type::Pointer(..)))
                        && matches!(part.constant, Some(Constant::Integer(0)))
                    {
                        *part = self.null(member);
                    }
                }
                self.whole(own, ty, parts)
            }
            Op::ConstantNull => Ok(self.null(ty)),
            Op::Undef => Ok(Part::undefined(ty)),
            Op::ConstantSampler => {
                let parts = [own.operand(0)?, own.operand(1)?, own.operand(2)?];
                Ok(Part::new(ty, "poison".into(), Some(Constant::Sampler(parts))))
            }
            _ => self.operation(own),
        }
    }

    /// The bits that the application gave a specialisation constant.
    fn specialized(&self, id: Id) -> Option<u64> {
        let [number, ..] = self.module.decoration(id, Decoration::SpecId)? else { return None };
        let (_, bytes) = self.environment.specialization.iter().find(|(id, _)| id == number)?;
        Some(bytes.iter().take(8).rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }

    /// A number or truth value by its bits.
    pub(crate) fn scalar(&self, own: &Instruction<'_>, ty: Id, bits: u64) -> Result<Part> {
        let (text, constant) = match self.types.get(ty) {
            Some(Type::Bool) => ((bits != 0).to_string(), Constant::Integer((bits != 0).into())),
            Some(Type::Int(width)) => {
                let bits = bits & u64::MAX >> (64 - width);
                (bits.to_string(), Constant::Integer(bits))
            }
            Some(Type::Float(16)) => (format!("0xH{:04X}", bits as u16), Constant::Float(bits)),
            // LLVM writes floats as doubles.
            Some(Type::Float(32)) => (float(bits as u32), Constant::Float(bits)),
            Some(Type::Float(_)) => (format!("0x{bits:016X}"), Constant::Float(bits)),
            _ => return Err(own.error("the type is no number")),
        };
        Ok(Part::new(ty, text, Some(constant)))
    }

    /// Zero of a type.
    pub(crate) fn null(&self, ty: Id) -> Part {
        let (text, constant) = match self.types.get(ty) {
            Some(Type::Bool) => ("false", Some(Constant::Integer(0))),
            Some(Type::Int(_)) => ("0", Some(Constant::Integer(0))),
            Some(Type::Float(_)) => ("0.0", Some(Constant::Float(0))),
            Some(Type::Pointer(..)) => ("null", None),
            _ => ("zeroinitializer", Some(Constant::Null)),
        };
        Part::new(ty, text.into(), constant)
    }

    /// A vector, array or structure of these parts.
    pub(crate) fn whole(&mut self, own: &Instruction<'_>, ty: Id, parts: Vec<Part>) -> Result<Part> {
        let texts: Vec<String> = parts.iter().map(|part| self.typed(&part.value)).collect();
        self.charge(own, texts.iter().map(String::len).sum())?;
        let (open, close) = match self.types.get(ty) {
            Some(Type::Vector(..)) => ("<", ">"),
            Some(Type::Array(..)) => ("[", "]"),
            Some(Type::Struct(_)) if self.module.decoration(ty, Decoration::CPacked).is_some() => {
                ("<{", "}>")
            }
            Some(Type::Struct(_)) => ("{", "}"),
            _ => return Err(own.error("the type has no parts")),
        };
        let text = format!("{open} {} {close}", texts.join(", "));
        Ok(Part::new(ty, text, Some(Constant::Composite(parts.into()))))
    }

    /// Counts bytes of constants.
    pub(crate) fn charge(&mut self, own: &Instruction<'_>, bytes: usize) -> Result<()> {
        self.constant_bytes = self.constant_bytes.saturating_add(bytes);
        if self.constant_bytes > MOST_BYTES {
            return Err(own.error("the constants are too large"));
        }
        Ok(())
    }

    /// OpSpecConstantOp: folded, or one of the expressions that LLVM has.
    fn operation(&mut self, own: &Instruction<'_>) -> Result<Part> {
        let code = own.operand(0)?;
        let op = Op::from_u32(code).ok_or_else(|| own.error(format!("there is no opcode {code}")))?;
        let operands = own.operands_from(1)?;
        if !EXPRESSIONS.contains(&op)
            && let Some(found) = self.fold(own, op, operands)?
        {
            return Ok(found);
        }
        let text = match op {
            Op::Bitcast
            | Op::ConvertPtrToU
            | Op::ConvertUToPtr
            | Op::PtrCastToGeneric
            | Op::GenericCastToPtr => {
                let value = self.value(own, own.operand(1)?)?;
                self.cast(own, op, &value)
            }
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                let values: Vec<Value> =
                    operands.iter().map(|id| self.value(own, *id)).collect::<Result<_>>()?;
                let element = matches!(op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
                let inbounds = matches!(op, Op::InBoundsAccessChain | Op::InBoundsPtrAccessChain);
                let (pointee, indices) = match self.offset_in_bytes(own, &values, element) {
                    Some(offset) => ("i8".to_owned(), offset),
                    None => self.chain(own, &values, operands, element)?,
                };
                let inbounds = if inbounds { "inbounds " } else { "" };
                format!("getelementptr {inbounds}({pointee}, {indices})")
            }
            _ => return Err(own.error(format!("Op{op:?} of constants is not supported"))),
        };
        Ok(Part::new(own.ty, text, None))
    }

    /// Producers whose pointers have no types give a pointer to bytes by an offset in bytes, whatever the base points to:
    /// LLVM's translator as the only index, its back end behind one of zero, which for others is that of an element.
    fn offset_in_bytes(&self, own: &Instruction<'_>, values: &[Value], element: bool) -> Option<String> {
        let to_byte = |pointer| match self.types.get(pointer) {
            Some(Type::Pointer(_, pointee)) => matches!(self.types.get(*pointee), Some(Type::Int(8))),
            _ => false,
        };
        let [base, offset] = match values {
            [base, offset] if element => [base, offset],
            [base, _, offset] if element && self.module.tool == LLVM_BACK_END => [base, offset],
            _ => return None,
        };
        (to_byte(own.ty) && !to_byte(base.ty))
            .then(|| format!("{}, {}", self.typed(base), self.typed(offset)))
    }

    fn cast(&self, own: &Instruction<'_>, op: Op, value: &Value) -> String {
        let is_pointer = |ty| matches!(self.types.get(ty), Some(Type::Pointer(..)));
        let name = match (op, is_pointer(value.ty), is_pointer(own.ty)) {
            _ if self.types.text(own.ty) == self.types.text(value.ty) => return value.text.clone(),
            (Op::PtrCastToGeneric | Op::GenericCastToPtr, ..) | (_, true, true) => "addrspacecast",
            (_, true, false) => "ptrtoint",
            (_, false, true) => "inttoptr",
            _ => "bitcast",
        };
        format!("{name} ({} to {})", self.typed(value), self.types.text(own.ty))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signalling_nans_stay() {
        assert_eq!(float(0x7fa0_0001), "0x7FF4000020000000");
        assert_eq!(float(0x3f80_0000), "0x3FF0000000000000");
    }
}
