//! Conversions.

use super::Failure;
use super::translator::{Regs, Translator};
use super::types::{Scalar, signed, unsigned_of};
use crate::ir::{BinaryOp, Condition, Reg, Space, Type, UnaryOp};
use crate::llvm::view::{Opcode, Value, ValueKind};

impl<'m> Translator<'_, 'm> {
    pub fn cast(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let (from, to) = (self.scalars(value.operand(0))?, self.scalars(value)?);
        let source = self.value(value.operand(0))?;
        let opcode = value.opcode();
        let mut result = Regs::new();
        if opcode == Opcode::LLVMAddrSpaceCast {
            let operand = value.operand(0);
            for (i, &register) in source.iter().enumerate() {
                // Null is null in all spaces.
                result.push(match operand.kind() {
                    ValueKind::Zero => self.immediate(to[i].unsigned(), 0),
                    _ => self.space_cast(from[i], to[i], register, is_object(operand)),
                });
            }
            return Ok(result);
        }
        for (i, &register) in source.iter().enumerate() {
            result.push(self.cast_element(opcode, from[i], to[i], register)?);
        }
        Ok(result)
    }

    fn cast_element(
        &mut self,
        opcode: Opcode,
        from: Scalar,
        to: Scalar,
        register: Reg,
    ) -> Result<Reg, Failure> {
        Ok(match opcode {
            Opcode::LLVMTrunc if to == Scalar::Bool => {
                let ty = from.unsigned();
                let bit = self.binary_constant(BinaryOp::And, ty, register, 1);
                let zero = self.immediate(ty, 0);
                self.compare(Condition::NotEqual, ty, bit, zero)
            }
            Opcode::LLVMZExt | Opcode::LLVMUIToFP if from == Scalar::Bool => {
                self.convert(to.arithmetic(), Type::Bool, register)
            }
            Opcode::LLVMSExt | Opcode::LLVMSIToFP if from == Scalar::Bool => {
                let one = self.convert(to.arithmetic(), Type::Bool, register);
                let ty = if opcode == Opcode::LLVMSExt { to.signed() } else { to.arithmetic() };
                self.unary(UnaryOp::Neg, ty, one)
            }
            Opcode::LLVMTrunc | Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr => {
                let register = self.extended(from, register, false);
                self.width_changed(from.unsigned(), to.unsigned(), register)
            }
            Opcode::LLVMZExt => {
                let register = self.extended(from, register, false);
                self.width_changed(from.unsigned(), to.unsigned(), register)
            }
            Opcode::LLVMSExt => {
                let register = self.extended(from, register, true);
                self.width_changed(from.signed(), to.signed(), register)
            }
            Opcode::LLVMFPTrunc | Opcode::LLVMFPExt => {
                self.convert(to.arithmetic(), from.arithmetic(), register)
            }
            Opcode::LLVMFPToUI | Opcode::LLVMFPToSI if to == Scalar::Bool => {
                return Err(Failure::new("a float converted to a truth value"));
            }
            Opcode::LLVMFPToUI => self.convert(to.unsigned(), from.arithmetic(), register),
            Opcode::LLVMFPToSI => self.convert(to.signed(), from.arithmetic(), register),
            Opcode::LLVMUIToFP => {
                let register = self.extended(from, register, false);
                self.convert(to.arithmetic(), from.unsigned(), register)
            }
            Opcode::LLVMSIToFP => {
                let register = self.extended(from, register, true);
                self.convert(to.arithmetic(), from.signed(), register)
            }
            _ => return Err(Failure::new(format!("conversion {opcode:?} is not supported"))),
        })
    }

    /// Casts a pointer to another address space. A generic pointer has a tag in its upper three bits, as in
    /// `library/generic20.cl`. `object`: the pointer is known not to be null.
    fn space_cast(&mut self, from: Scalar, to: Scalar, register: Reg, object: bool) -> Reg {
        let generic = match from {
            Scalar::Pointer(space @ (Space::Private | Space::Local), _) if from != to => {
                let tag = if space == Space::Private { 1 } else { 2 };
                let wide = self.convert(Type::U64, Type::U32, register);
                let tagged = self.binary_constant(BinaryOp::Or, Type::U64, wide, tag << 61);
                if object {
                    tagged
                } else {
                    let zero = self.immediate(Type::U32, 0);
                    let null = self.compare(Condition::Equal, Type::U32, register, zero);
                    self.select(Type::U64, null, wide, tagged)
                }
            }
            _ => register,
        };
        match to {
            Scalar::Pointer(Space::Private | Space::Local, _) if from != to => {
                self.convert(Type::U32, Type::U64, generic)
            }
            _ => generic,
        }
    }

    /// The same bits as another type: elements are split or concatenated, the first in the low bits.
    pub fn bit_cast(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let (from, to) = (self.scalars(value.operand(0))?, self.scalars(value)?);
        let source = self.value(value.operand(0))?;
        let (Some(&from), Some(&to)) = (from.first(), to.first()) else { return Ok(source) };
        self.regroup(&source, from, to)
    }

    /// Registers that each hold a `from`, as registers that each hold a `to`.
    pub fn regroup(&mut self, source: &[Reg], from: Scalar, to: Scalar) -> Result<Regs, Failure> {
        let (from_bits, to_bits) = (from.bits(), to.bits());
        if from_bits == to_bits {
            return Ok(Regs::from_slice(source));
        }
        let mut result = Regs::new();
        if to_bits < from_bits {
            if !from_bits.is_multiple_of(to_bits) {
                return Err(Failure::new("a bit cast between widths that do not divide each other"));
            }
            for &register in source {
                for part in 0..from_bits / to_bits {
                    result.push(self.part(register, from, to, part * to_bits));
                }
            }
        } else {
            if !to_bits.is_multiple_of(from_bits) {
                return Err(Failure::new("a bit cast between widths that do not divide each other"));
            }
            for group in source.chunks((to_bits / from_bits) as usize) {
                result.push(self.joined(group, from, to));
            }
        }
        Ok(result)
    }

    /// Bits of a register from `low` on.
    fn part(&mut self, register: Reg, from: Scalar, to: Scalar, low: u32) -> Reg {
        let ty = from.unsigned();
        let shifted = match low {
            0 => register,
            low => self.binary_constant(BinaryOp::Shr, ty, register, low.into()),
        };
        if to == Scalar::Bool {
            let bit = self.binary_constant(BinaryOp::And, ty, shifted, 1);
            let zero = self.immediate(ty, 0);
            self.compare(Condition::NotEqual, ty, bit, zero)
        } else {
            self.width_changed(ty, to.unsigned(), shifted)
        }
    }

    /// Concatenates registers.
    fn joined(&mut self, group: &[Reg], from: Scalar, to: Scalar) -> Reg {
        let ty = to.unsigned();
        let mut result = None;
        for (i, &register) in group.iter().enumerate() {
            let register = self.extended(from, register, false);
            let wide = self.width_changed(from.unsigned(), ty, register);
            let placed = match i as u32 * from.bits() {
                0 => wide,
                shift => self.binary_constant(BinaryOp::Shl, ty, wide, shift.into()),
            };
            result = Some(match result {
                None => placed,
                Some(low) => self.binary(BinaryOp::Or, ty, low, placed),
            });
        }
        result.unwrap_or_else(|| self.immediate(ty, 0))
    }

    /// Concatenates pieces of `piece` bits, low ones first, and zero-extends the result.
    pub fn assemble(&mut self, pieces: &[Reg], piece: u32, to: Type) -> Reg {
        self.joined(pieces, Scalar::Integer(piece), Scalar::Integer(to.bits()))
    }

    /// The low `count` pieces of `piece` bits of an integer of type `from`.
    pub fn disassemble(&mut self, register: Reg, from: Type, piece: u32, count: u32) -> Regs {
        let (from, to) = (Scalar::Integer(from.bits()), Scalar::Integer(unsigned_of(piece).bits()));
        (0..count).map(|i| self.part(register, from, to, i * piece)).collect()
    }

    /// -1 if the integer is negative, else 0.
    pub fn sign_mask(&mut self, ty: Type, register: Reg) -> Reg {
        self.binary_constant(BinaryOp::Shr, signed(ty), register, (ty.bits() - 1).into())
    }
}

/// Whether a pointer points into a variable.
fn is_object(pointer: Value) -> bool {
    match pointer.kind() {
        ValueKind::GlobalVariable => true,
        ValueKind::Instruction | ValueKind::ConstantExpression => match pointer.opcode() {
            Opcode::LLVMAlloca => true,
            Opcode::LLVMGetElementPtr => is_object(pointer.operand(0)),
            _ => false,
        },
        _ => false,
    }
}
