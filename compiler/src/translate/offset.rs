//! Address arithmetic in 32 bits.
//!
//! A pointer argument points into a buffer, and no buffer has more than 2 GB
//! ([`gencl_program::LARGEST_OBJECT`]). So if an address is an argument plus indices, the sum of the offsets
//! is between -2^31 and 2^31, and can be computed modulo 2^32: the address is `argument + sign-extended
//! offset`. The hardware adds 64-bit integers at a quarter of the rate of 32-bit ones, and can extend a dword
//! operand.

use super::Failure;
use super::element_pointer::{Index, ObjectOffset, indices};
use super::translator::Translator;
use super::types::{Scalar, scalar};
use crate::ir::{BinaryOp, Reg, Type};
use crate::llvm::view::{Module, Opcode, Value, ValueKind};

/// Maximum depth of an index's expression that is narrowed.
const DEPTH: u32 = 4;

impl<'m> Translator<'_, 'm> {
    /// The base object and offset of a pointer, if the object is known to be an argument or a variable.
    pub fn place(&mut self, pointer: Value<'m>) -> Result<Option<ObjectOffset>, Failure> {
        match pointer.kind() {
            ValueKind::Argument | ValueKind::GlobalVariable => {
                let base = self.one(pointer)?;
                Ok(Some(ObjectOffset { base, offset: None, constant: 0 }))
            }
            // Computed again: the registers of a constant are defined in the block that uses it.
            ValueKind::ConstantExpression if pointer.opcode() == Opcode::LLVMGetElementPtr => {
                self.element_place(pointer)
            }
            _ => Ok(self.places.get(&pointer).copied()),
        }
    }

    /// The base object and offset of a `getelementptr`, if the object is known to be an argument or a variable.
    pub fn element_place(&mut self, element: Value<'m>) -> Result<Option<ObjectOffset>, Failure> {
        let Some(mut place) = self.place(element.operand(0))? else { return Ok(None) };
        for (index, scale) in indices(self.module, element)? {
            place = self.advance(place, index, scale)?;
        }
        Ok(Some(place))
    }

    /// The address of an object plus offset.
    pub fn place_address(&mut self, place: ObjectOffset) -> Reg {
        let Some(offset) = place.offset else {
            return self.binary_unless_zero(Type::U64, place.base, place.constant as u64);
        };
        let offset = self.binary_unless_zero(Type::U32, offset, u64::from(place.constant as u32));
        let offset = self.convert(Type::S64, Type::S32, offset);
        self.binary(BinaryOp::Add, Type::U64, place.base, offset)
    }

    fn binary_unless_zero(&mut self, ty: Type, register: Reg, constant: u64) -> Reg {
        if constant == 0 { register } else { self.binary_constant(BinaryOp::Add, ty, register, constant) }
    }

    /// Adds a scaled index to an offset.
    pub fn advance(
        &mut self,
        place: ObjectOffset,
        index: Index<'m>,
        scale: u64,
    ) -> Result<ObjectOffset, Failure> {
        Ok(match index {
            Index::Constant(number) => {
                let constant = place.constant.wrapping_add(number.wrapping_mul(scale as i64));
                ObjectOffset { constant, ..place }
            }
            Index::Value(value) => {
                let (value, number) = without_constant(self.module, value);
                let place = self.advance(place, Index::Constant(number), scale)?;
                let index = self.narrowed(value, DEPTH)?;
                let scaled = self.scaled(Type::U32, index, scale);
                let offset = match place.offset {
                    Some(offset) => self.binary(BinaryOp::Add, Type::U32, offset, scaled),
                    None => scaled,
                };
                ObjectOffset { offset: Some(offset), ..place }
            }
        })
    }

    /// The low 32 bits of an integer; a narrower one is sign-extended.
    fn narrowed(&mut self, value: Value<'m>, depth: u32) -> Result<Reg, Failure> {
        if let Some(number) = value.signed_integer() {
            return Ok(self.immediate(Type::U32, u64::from(number as u32)));
        }
        let own = scalar(self.module, value.ty())?;
        if own != Scalar::Integer(64) {
            return self.sign_extended(value, own, true);
        }
        if !is_wide_for_nothing(self.module, value, depth) {
            let register = self.one(value)?;
            return Ok(self.convert(Type::U32, Type::U64, register));
        }
        let first = value.operand(0);
        let op = match value.opcode() {
            Opcode::LLVMSExt | Opcode::LLVMZExt => {
                return self.sign_extended(
                    first,
                    scalar(self.module, first.ty())?,
                    value.opcode() == Opcode::LLVMSExt,
                );
            }
            Opcode::LLVMAdd => BinaryOp::Add,
            Opcode::LLVMSub => BinaryOp::Sub,
            Opcode::LLVMMul => BinaryOp::Mul,
            Opcode::LLVMAnd => BinaryOp::And,
            Opcode::LLVMOr => BinaryOp::Or,
            Opcode::LLVMXor => BinaryOp::Xor,
            Opcode::LLVMAShr => {
                let (low, count) = scaled_low_half(value).expect("nothing else is wide for nothing");
                let low = self.narrowed(low, depth - 1)?;
                return Ok(self.scaled(Type::U32, low, 1 << count));
            }
            _ => BinaryOp::Shl,
        };
        let (a, b) = (self.narrowed(first, depth - 1)?, self.narrowed(value.operand(1), depth - 1)?);
        Ok(self.binary(op, Type::U32, a, b))
    }

    /// An integer of at most 32 bits, extended to 32.
    fn sign_extended(&mut self, value: Value<'m>, own: Scalar, signed: bool) -> Result<Reg, Failure> {
        let register = self.one(value)?;
        let register = self.extended(own, register, signed);
        Ok(match own.unsigned() {
            Type::U32 => register,
            _ if signed => self.convert(Type::S32, own.signed(), register),
            _ => self.convert(Type::U32, own.unsigned(), register),
        })
    }
}

/// Splits a value into a variable and a constant part, whose sum is the value modulo 2^32.
///
/// The addresses of neighbouring elements then differ by a constant, as
/// [`crate::ir::passes::opt_merge_accesses`] requires.
pub fn without_constant<'m>(module: Module<'m>, mut value: Value<'m>) -> (Value<'m>, i64) {
    let mut sum = 0i64;
    while value.kind() == ValueKind::Instruction {
        match value.opcode() {
            Opcode::LLVMSExt | Opcode::LLVMZExt => match scalar(module, value.operand(0).ty()) {
                Ok(Scalar::Integer(32)) => value = value.operand(0),
                _ => break,
            },
            opcode if opcode == Opcode::LLVMAdd || value.is_disjoint() => {
                let Some(number) = value.operand(1).signed_integer() else { break };
                sum = sum.wrapping_add(number);
                value = value.operand(0);
            }
            _ => break,
        }
    }
    (value, sum)
}

/// Whether a 64-bit value is computed from extended narrower values only.
fn is_wide_for_nothing(module: Module, value: Value, depth: u32) -> bool {
    if value.integer().is_some() {
        return true;
    }
    if depth == 0 || value.kind() != ValueKind::Instruction {
        return false;
    }
    let narrow = |operand: u32| is_wide_for_nothing(module, value.operand(operand), depth - 1);
    match value.opcode() {
        Opcode::LLVMSExt | Opcode::LLVMZExt => {
            matches!(scalar(module, value.operand(0).ty()), Ok(Scalar::Integer(bits)) if bits <= 32)
        }
        Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul => narrow(0) && narrow(1),
        Opcode::LLVMAnd | Opcode::LLVMOr | Opcode::LLVMXor => narrow(0) && narrow(1),
        // The low bits are zero if it is shifted by more.
        Opcode::LLVMShl => value.operand(1).integer().is_some_and(|count| count < 32) && narrow(0),
        Opcode::LLVMAShr => {
            scaled_low_half(value).is_some_and(|(low, _)| is_wide_for_nothing(module, low, depth - 1))
        }
        _ => false,
    }
}

/// What is sign-extended from its low 32 bits and shifted to the left by less than 32 bits: the value and the
/// distance. LLVM writes it as shifts by 32 to the left and by less to the right.
fn scaled_low_half(value: Value<'_>) -> Option<(Value<'_>, u32)> {
    let shifted = value.operand(0);
    let by = |value: Value<'_>| value.operand(1).integer();
    let is_shift = shifted.kind() == ValueKind::Instruction
        && shifted.opcode() == Opcode::LLVMShl
        && by(shifted) == Some(32);
    let back = by(value).filter(|back| (1..=32).contains(back) && is_shift)?;
    Some((shifted.operand(0), 32 - back as u32))
}
