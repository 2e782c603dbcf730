//! Translation of arithmetic, element by element.

use super::Failure;
use super::translator::{Regs, Translator};
use super::types::Scalar;
use crate::ir::{BinaryOp, Reg, Type, UnaryOp};
use crate::llvm::view::{Opcode, Value};

/// The kind of IR operation of an opcode.
enum Kind {
    /// The result does not depend on signedness or on bits above the value's width.
    Bits(BinaryOp),
    /// The operands must be extended above the value's width, as unsigned or signed.
    Extended { op: BinaryOp, signed: bool },
    /// A division, in at least 32 bits.
    Division { op: BinaryOp, signed: bool },
    /// Shift left.
    Shift,
    /// Float.
    Float(BinaryOp),
}

impl<'m> Translator<'_, 'm> {
    pub fn arithmetic(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let scalars = self.scalars(value)?;
        let a = self.value(value.operand(0))?;
        if value.opcode() == Opcode::LLVMFNeg {
            let negate = |(scalar, &a): (Scalar, &Reg)| self.unary(UnaryOp::Neg, scalar.arithmetic(), a);
            return Ok(scalars.into_iter().zip(&a).map(negate).collect());
        }
        let b = self.value(value.operand(1))?;
        let kind = kind(value)?;
        let mut result = Regs::new();
        for (i, scalar) in scalars.into_iter().enumerate() {
            result.push(self.binary_element(&kind, scalar, a[i], b[i])?);
        }
        Ok(result)
    }

    fn binary_element(&mut self, kind: &Kind, scalar: Scalar, a: Reg, b: Reg) -> Result<Reg, Failure> {
        let ty = |signed| if signed { scalar.signed() } else { scalar.unsigned() };
        Ok(match *kind {
            Kind::Float(op) => self.binary(op, scalar.arithmetic(), a, b),
            Kind::Bits(op) if scalar == Scalar::Bool => {
                // Addition and subtraction of one bit are xor, multiplication is and.
                let op = match op {
                    BinaryOp::Add | BinaryOp::Sub => BinaryOp::Xor,
                    BinaryOp::Mul => BinaryOp::And,
                    op => op,
                };
                self.binary(op, Type::Bool, a, b)
            }
            _ if scalar == Scalar::Bool => return Err(Failure::new("shift or division of truth values")),
            Kind::Bits(op) => self.binary(op, scalar.unsigned(), a, b),
            Kind::Shift => {
                let b = self.extended(scalar, b, false);
                self.binary(BinaryOp::Shl, scalar.unsigned(), a, b)
            }
            Kind::Extended { op, signed } => {
                let a = self.extended(scalar, a, signed);
                let b = self.extended(scalar, b, false);
                self.binary(op, ty(signed), a, b)
            }
            Kind::Division { op, signed } => {
                let a = self.extended(scalar, a, signed);
                let b = self.extended(scalar, b, signed);
                let own = ty(signed);
                if own.bits() > 32 {
                    return Err(Failure::new("a 64-bit division that was not lowered"));
                }
                let wide = if signed { Type::S32 } else { Type::U32 };
                let (a, b) = (self.width_changed(own, wide, a), self.width_changed(own, wide, b));
                let quotient = self.binary(op, wide, a, b);
                self.width_changed(wide, own, quotient)
            }
        })
    }
}

fn kind(value: Value) -> Result<Kind, Failure> {
    Ok(match value.opcode() {
        Opcode::LLVMAdd => Kind::Bits(BinaryOp::Add),
        Opcode::LLVMSub => Kind::Bits(BinaryOp::Sub),
        Opcode::LLVMMul => Kind::Bits(BinaryOp::Mul),
        Opcode::LLVMAnd => Kind::Bits(BinaryOp::And),
        Opcode::LLVMOr => Kind::Bits(BinaryOp::Or),
        Opcode::LLVMXor => Kind::Bits(BinaryOp::Xor),
        Opcode::LLVMShl => Kind::Shift,
        Opcode::LLVMLShr => Kind::Extended { op: BinaryOp::Shr, signed: false },
        Opcode::LLVMAShr => Kind::Extended { op: BinaryOp::Shr, signed: true },
        Opcode::LLVMUDiv => Kind::Division { op: BinaryOp::Div, signed: false },
        Opcode::LLVMSDiv => Kind::Division { op: BinaryOp::Div, signed: true },
        Opcode::LLVMURem => Kind::Division { op: BinaryOp::Rem, signed: false },
        Opcode::LLVMSRem => Kind::Division { op: BinaryOp::Rem, signed: true },
        Opcode::LLVMFAdd => Kind::Float(BinaryOp::Add),
        Opcode::LLVMFSub => Kind::Float(BinaryOp::Sub),
        Opcode::LLVMFMul => Kind::Float(BinaryOp::Mul),
        Opcode::LLVMFDiv if value.is_approximate() => Kind::Float(BinaryOp::FastDiv),
        _ => return Err(Failure::new(format!("{} is not supported", value.text()))),
    })
}
