//! Dot products of integers: SPIR-V 1.6, 3.49.13, of SPV_KHR_integer_dot_product.

use rspirv::spirv::Op;

use super::FunctionWriter;
use crate::error::Result;
use crate::types::Type;
use crate::walk::Instruction;

/// The opcode, how both vectors' elements are extended, and the addition to an accumulator.
const DOTS: &[(Op, [&str; 2], Option<&str>)] = &[
    (Op::SDot, ["sext", "sext"], None),
    (Op::UDot, ["zext", "zext"], None),
    (Op::SUDot, ["sext", "zext"], None),
    (Op::SDotAccSat, ["sext", "sext"], Some("sadd")),
    (Op::UDotAccSat, ["zext", "zext"], Some("uadd")),
    (Op::SUDotAccSat, ["sext", "zext"], Some("sadd")),
];

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn dot(&mut self, own: &Instruction<'m>) -> Result<bool> {
        let Some((_, extend, add)) = DOTS.iter().find(|row| row.0 == own.op) else { return Ok(false) };
        let Some(Type::Int(bits)) = self.w.types.get(own.ty).cloned() else {
            return Err(own.error("the result is no integer"));
        };
        let ty = format!("i{bits}");
        let format = own.operands.get(if add.is_some() { 3 } else { 2 });
        let (mut vectors, mut count) = (Vec::new(), 0);
        for (number, extend) in extend.iter().enumerate() {
            let (vector, from);
            (vector, from, count) = self.dot_operand(own, number, format)?;
            if from > bits {
                return Err(own.error("the result is narrower than the elements"));
            }
            let types = [from, bits].map(|width| format!("<{count} x i{width}>"));
            vectors.push(self.resized(extend, vector, (from, &types[0]), (bits, &types[1])));
        }
        let all = self.temporary(&format!("mul <{count} x {ty}> {}", vectors.join(", ")));
        let element = |this: &mut Self, number| {
            this.temporary(&format!("extractelement <{count} x {ty}> {all}, i32 {number}"))
        };
        let mut sum = element(self, 0);
        for number in 1..count {
            let next = element(self, number);
            sum = self.temporary(&format!("add {ty} {sum}, {next}"));
        }
        if let Some(add) = add {
            let accumulator = self.operand(own, 2)?.text;
            let list = [(ty.clone(), sum), (ty.clone(), accumulator)];
            sum = self.intrinsic(&format!("llvm.{add}.sat.{ty}"), &ty, &list);
        }
        self.is(own, sum);
        Ok(true)
    }

    /// A vector, the bits of its elements, and their number; packed ones become vectors.
    fn dot_operand(
        &mut self,
        own: &Instruction<'m>,
        number: usize,
        format: Option<&u32>,
    ) -> Result<(String, u32, u32)> {
        let value = self.operand(own, number)?;
        match (self.w.types.scalar(value.ty), self.w.types.element(value.ty).1, format) {
            (Some(Type::Int(bits)), count @ 2.., None) => Ok((value.text, *bits, count)),
            // PackedVectorFormat4x8Bit.
            (Some(Type::Int(32)), 1, Some(0)) => {
                Ok((self.temporary(&format!("bitcast i32 {} to <4 x i8>", value.text)), 8, 4))
            }
            _ => Err(own.error("it multiplies vectors of integers, or such packed as 4x8 bits")),
        }
    }
}
