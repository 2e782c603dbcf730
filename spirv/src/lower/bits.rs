//! Bit fields: SPIR-V 1.6, 3.49.14 "Bit Instructions", of SPV_KHR_bit_instructions.

use rspirv::spirv::Op;

use super::FunctionWriter;
use crate::error::Result;
use crate::types::Type;
use crate::walk::Instruction;

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn bits(&mut self, own: &Instruction<'m>) -> Result<bool> {
        match own.op {
            Op::BitFieldInsert => self.insert_field(own)?,
            Op::BitFieldSExtract => self.extract_field(own, "ashr")?,
            Op::BitFieldUExtract => self.extract_field(own, "lshr")?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A shift distance in all elements, as wide as they are.
    fn distance(&mut self, own: &Instruction<'m>, number: usize) -> Result<String> {
        let (base, by) = (self.operand(own, 0)?, self.operand(own, number)?);
        let (Some(Type::Int(to)), Some(Type::Int(from))) =
            (self.w.types.scalar(base.ty).cloned(), self.w.types.get(by.ty).cloned())
        else {
            return Err(own.error("the operand is no integer"));
        };
        let by = self.resized("zext", by.text, (from, &format!("i{from}")), (to, &format!("i{to}")));
        if self.w.types.element(base.ty).1 == 1 {
            return Ok(by);
        }
        let scalar = self.w.types.element(base.ty).0;
        Ok(self.repeated(&base, &crate::writer::Value { ty: scalar, text: by }))
    }

    /// Shifts the field to the highest bits, and from there to the lowest.
    fn extract_field(&mut self, own: &Instruction<'m>, shift: &str) -> Result<()> {
        let base = self.operand(own, 0)?;
        let (ty, width) = (self.type_of(&base).to_owned(), self.field_width(own)?);
        let (offset, count) = (self.distance(own, 1)?, self.distance(own, 2)?);
        let above = self.temporary(&format!("sub {ty} {width}, {count}"));
        let up = self.temporary(&format!("sub {ty} {above}, {offset}"));
        let high = self.temporary(&format!("shl {ty} {}, {up}", base.text));
        let low = self.temporary(&format!("{shift} {ty} {high}, {above}"));
        // Shifts by the width have no value: a field without bits is 0.
        let (bits, zero) = (self.bits_type(own), self.splat(&base, "0"));
        let is_empty = self.temporary(&format!("icmp eq {ty} {count}, {zero}"));
        self.result(own, &format!("select {bits} {is_empty}, {ty} {zero}, {ty} {low}"));
        Ok(())
    }

    /// Operands are the base, what is inserted, offset and count.
    fn insert_field(&mut self, own: &Instruction<'m>) -> Result<()> {
        let (base, insert) = (self.operand(own, 0)?, self.operand(own, 1)?.text);
        let (ty, width) = (self.type_of(&base).to_owned(), self.field_width(own)?);
        let (offset, count) = (self.distance(own, 2)?, self.distance(own, 3)?);
        let ones = self.splat(&base, "-1");
        let above = self.temporary(&format!("sub {ty} {width}, {count}"));
        let mask = self.temporary(&format!("lshr {ty} {ones}, {above}"));
        let mask = self.temporary(&format!("shl {ty} {mask}, {offset}"));
        let rest = self.temporary(&format!("xor {ty} {mask}, {ones}"));
        let moved = self.temporary(&format!("shl {ty} {insert}, {offset}"));
        let field = self.temporary(&format!("and {ty} {moved}, {mask}"));
        let others = self.temporary(&format!("and {ty} {}, {rest}", base.text));
        let both = self.temporary(&format!("or {ty} {others}, {field}"));
        let (bits, zero) = (self.bits_type(own), self.splat(&base, "0"));
        let is_empty = self.temporary(&format!("icmp eq {ty} {count}, {zero}"));
        self.result(own, &format!("select {bits} {is_empty}, {ty} {}, {ty} {both}", base.text));
        Ok(())
    }

    /// The bits of an element, in all elements.
    fn field_width(&self, own: &Instruction<'m>) -> Result<String> {
        let base = self.operand(own, 0)?;
        match self.w.types.scalar(base.ty) {
            Some(Type::Int(bits)) => Ok(self.splat(&base, &bits.to_string())),
            _ => Err(own.error("the base is no integer")),
        }
    }
}
