//! Bit fields: SPIR-V 1.6, 3.49.14 "Bit Instructions", of SPV_KHR_bit_instructions. They are calls of the functions of
//! `cl_khr_extended_bit_ops`.

use rspirv::spirv::Op;

use super::{Argument, FunctionWriter, Sign};
use crate::error::Result;
use crate::mangle::{Parameter, mangle};
use crate::types::Type;
use crate::walk::Instruction;

/// The opcode, OpenCL C's function, and how many operands come before offset and count.
const FIELDS: &[(Op, &str, usize)] = &[
    (Op::BitFieldInsert, "bitfield_insert", 2),
    (Op::BitFieldSExtract, "bitfield_extract_signed", 1),
    (Op::BitFieldUExtract, "bitfield_extract_unsigned", 1),
];

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn bits(&mut self, own: &Instruction<'m>) -> Result<bool> {
        let Some(&(_, name, values)) = FIELDS.iter().find(|row| row.0 == own.op) else { return Ok(false) };
        let (mut parameters, mut list) = (Vec::new(), Vec::new());
        for number in 0..values {
            let value = self.operand(own, number)?;
            if !matches!(self.w.types.scalar(value.ty), Some(Type::Int(8 | 16 | 32 | 64))) {
                return Err(own.error("the base is no integer"));
            }
            parameters.push(self.parameter(value.ty, Sign::Signed));
            list.push(self.argument(&value));
        }
        for number in values..values + 2 {
            parameters.push(Parameter::Named("j".into()));
            list.push(self.distance(own, number)?);
        }
        let ty = self.w.types.text(own.ty).to_owned();
        let field = self.call(&mangle(name, &parameters), &ty, &list);
        self.is(own, field);
        Ok(true)
    }

    /// An offset or count as a `uint`: both are unsigned, and at most the bits of the base.
    fn distance(&mut self, own: &Instruction<'m>, number: usize) -> Result<Argument> {
        let by = self.operand(own, number)?;
        let Some(Type::Int(from)) = self.w.types.get(by.ty).cloned() else {
            return Err(own.error("the operand is no integer"));
        };
        Ok(("i32".into(), self.resized("zext", by.text, (from, &format!("i{from}")), (32, "i32"))))
    }
}
