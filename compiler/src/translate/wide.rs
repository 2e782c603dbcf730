//! Integers of more than 64 bits.
//!
//! No OpenCL type has them, but LLVM's passes GVN and SROA create them to access parts of loaded or stored
//! vectors: shifts by constants, truncations, and concatenations. They are represented as 32-bit pieces, the
//! lowest first.

use super::Failure;
use super::translator::{Regs, Translator};
use super::types::{PIECE, Scalar, pieces, scalar};
use crate::ir::{BinaryOp, Condition, Reg, Type};
use crate::llvm::view::{IntPredicate, Opcode, Value};

impl<'m> Translator<'_, 'm> {
    /// Translates an operation that has such an integer as result or first operand, except those that treat
    /// each piece alike, such as selections and loads.
    pub fn wide(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let refused = || Failure::new(format!("{} is not supported", value.text()));
        let operand = value.operand(0);
        let amount = || value.operand(1).constant_bits(0, 64).ok_or_else(refused);
        match value.opcode() {
            Opcode::LLVMAnd => self.each_piece(BinaryOp::And, value),
            Opcode::LLVMOr => self.each_piece(BinaryOp::Or, value),
            Opcode::LLVMLShr => {
                let source = self.value(operand)?;
                Ok(self.shifted(&source, amount()?))
            }
            Opcode::LLVMShl => {
                // The same as a right shift with zeros below.
                let (source, zero) = (self.value(operand)?, self.immediate(Type::U32, 0));
                let bits = u64::from(PIECE) * source.len() as u64;
                let mut padded = Regs::from_elem(zero, source.len());
                padded.extend(source.iter().copied());
                let mut result = self.shifted(&padded, bits.saturating_sub(amount()?));
                result.truncate(source.len());
                Ok(result)
            }
            Opcode::LLVMTrunc => {
                let source = self.value(operand)?;
                match pieces(value.ty()) {
                    Some(count) => Ok(Regs::from_slice(&source[..count as usize])),
                    None => Ok(Regs::from_elem(self.low_bits(&source, scalar(self.module, value.ty())?), 1)),
                }
            }
            Opcode::LLVMZExt => {
                let mut result = match pieces(operand.ty()) {
                    Some(_) => self.value(operand)?,
                    None => self.pieces_of(scalar(self.module, operand.ty())?, operand)?,
                };
                let zero = self.immediate(Type::U32, 0);
                result.resize(pieces(value.ty()).ok_or_else(refused)? as usize, zero);
                Ok(result)
            }
            Opcode::LLVMICmp => match value.int_predicate() {
                IntPredicate::LLVMIntEQ => self.same_pieces(value, Condition::Equal),
                IntPredicate::LLVMIntNE => self.same_pieces(value, Condition::NotEqual),
                _ => Err(refused()),
            },
            _ => Err(refused()),
        }
    }

    /// Compares two integers for equality.
    fn same_pieces(&mut self, value: Value<'m>, condition: Condition) -> Result<Regs, Failure> {
        let mut pieces = self.each_piece(BinaryOp::Xor, value)?.into_iter();
        let zero = self.immediate(Type::U32, 0);
        let first = pieces.next().unwrap_or(zero);
        let different = pieces.fold(first, |all, piece| self.binary(BinaryOp::Or, Type::U32, all, piece));
        Ok(Regs::from_elem(self.compare(condition, Type::U32, different, zero), 1))
    }

    fn each_piece(&mut self, op: BinaryOp, value: Value<'m>) -> Result<Regs, Failure> {
        let (a, b) = (self.value(value.operand(0))?, self.value(value.operand(1))?);
        Ok(a.iter().zip(&b).map(|(&a, &b)| self.binary(op, Type::U32, a, b)).collect())
    }

    /// A right shift by `amount` bits.
    fn shifted(&mut self, source: &[Reg], amount: u64) -> Regs {
        let zero = self.immediate(Type::U32, 0);
        let (whole, bits) = ((amount / u64::from(PIECE)) as usize, amount % u64::from(PIECE));
        let piece = |index: usize| source.get(index + whole).copied().unwrap_or(zero);
        (0..source.len())
            .map(|index| match bits {
                0 => piece(index),
                _ => {
                    let low = self.binary_constant(BinaryOp::Shr, Type::U32, piece(index), bits);
                    let up = u64::from(PIECE) - bits;
                    let high = self.binary_constant(BinaryOp::Shl, Type::U32, piece(index + 1), up);
                    self.binary(BinaryOp::Or, Type::U32, low, high)
                }
            })
            .collect()
    }

    /// A truncation to at most 64 bits.
    fn low_bits(&mut self, source: &[Reg], to: Scalar) -> Reg {
        if to == Scalar::Bool {
            let bit = self.binary_constant(BinaryOp::And, Type::U32, source[0], 1);
            let zero = self.immediate(Type::U32, 0);
            return self.compare(Condition::NotEqual, Type::U32, bit, zero);
        }
        let count = to.bits().div_ceil(PIECE) as usize;
        if count == 1 {
            self.width_changed(Type::U32, to.unsigned(), source[0])
        } else {
            self.assemble(&source[..count], PIECE, to.unsigned())
        }
    }

    /// An integer of at most 64 bits as one or two pieces.
    fn pieces_of(&mut self, from: Scalar, value: Value<'m>) -> Result<Regs, Failure> {
        let register = self.one(value)?;
        if from == Scalar::Bool {
            return Ok(Regs::from_elem(self.convert(Type::U32, Type::Bool, register), 1));
        }
        let register = self.extended(from, register, false);
        if from.bits() > PIECE {
            return Ok(self.disassemble(register, from.unsigned(), PIECE, 2));
        }
        Ok(Regs::from_elem(self.width_changed(from.unsigned(), Type::U32, register), 1))
    }
}
