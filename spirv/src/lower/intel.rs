//! Shuffles and blocks of sub-groups: SPV_INTEL_subgroups, SPV_INTEL_media_block_io.

use rspirv::spirv::Op;

use super::{FunctionWriter, Sign};
use crate::error::Result;
use crate::mangle::{Parameter, mangle};
use crate::types::{Type, address_space};
use crate::walk::Instruction;
use crate::writer::Value;

/// Shuffles: the opcode and the function. The last operand is a number of lanes.
const SHUFFLES: &[(Op, &str)] = &[
    (Op::SubgroupShuffleINTEL, "intel_sub_group_shuffle"),
    (Op::SubgroupShuffleDownINTEL, "intel_sub_group_shuffle_down"),
    (Op::SubgroupShuffleUpINTEL, "intel_sub_group_shuffle_up"),
    (Op::SubgroupShuffleXorINTEL, "intel_sub_group_shuffle_xor"),
];

/// Blocks of images: the opcode, the function, its operands in the order of its parameters, and the one with
/// the texels that are written.
const IMAGE_BLOCKS: &[(Op, &str, &[usize], Option<usize>)] = &[
    (Op::SubgroupImageBlockReadINTEL, "block_read", &[0, 1], None),
    (Op::SubgroupImageBlockWriteINTEL, "block_write", &[0, 1, 2], Some(2)),
    (Op::SubgroupImageMediaBlockReadINTEL, "media_block_read", &[1, 2, 3, 0], None),
    (Op::SubgroupImageMediaBlockWriteINTEL, "media_block_write", &[1, 2, 3, 4, 0], Some(4)),
];

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn intel(&mut self, own: &Instruction<'m>) -> Result<bool> {
        if let Some((_, name)) = SHUFFLES.iter().find(|row| row.0 == own.op) {
            let last = own.operands.len().saturating_sub(1);
            let sign = |number| if number == last { Sign::Unsigned } else { Sign::Signed };
            let list: Vec<(Value, Sign)> = (0..own.operands.len())
                .map(|number| Ok((self.operand(own, number)?, sign(number))))
                .collect::<Result<_>>()?;
            self.called(own, name, &list)?;
            return Ok(true);
        }
        if let Some((_, name, operands, data)) = IMAGE_BLOCKS.iter().find(|row| row.0 == own.op) {
            let sign = |number| if *data == Some(number) { Sign::Unsigned } else { Sign::Signed };
            let list: Vec<(Value, Sign)> = operands
                .iter()
                .map(|number| Ok((self.operand(own, *number)?, sign(*number))))
                .collect::<Result<_>>()?;
            let ty = data.map_or(Ok(own.ty), |number| Ok(self.operand(own, number)?.ty))?;
            let name = format!("intel_sub_group_{name}{}", self.block_suffix(own, ty)?);
            if data.is_some() {
                self.call_built_in(&name, "void", &list)?;
            } else {
                self.called(own, &name, &list)?;
            }
            return Ok(true);
        }
        match own.op {
            Op::SubgroupBlockReadINTEL => {
                let pointer = self.operand(own, 0)?;
                let name = format!("intel_sub_group_block_read{}", self.block_suffix(own, own.ty)?);
                let name = mangle(&name, &[self.block_pointer(own, &pointer, own.ty, "K")?]);
                let (ty, list) = (self.w.types.text(own.ty).to_owned(), [self.argument(&pointer)]);
                let found = self.call(&name, &ty, &list);
                self.is(own, found);
            }
            Op::SubgroupBlockWriteINTEL => {
                let (pointer, data) = (self.operand(own, 0)?, self.operand(own, 1)?);
                let name = format!("intel_sub_group_block_write{}", self.block_suffix(own, data.ty)?);
                let parameters = [
                    self.block_pointer(own, &pointer, data.ty, "")?,
                    self.parameter(data.ty, Sign::Unsigned),
                ];
                let list = [self.argument(&pointer), self.argument(&data)];
                self.call(&mangle(&name, &parameters), "void", &list);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What a function's name says of the elements: `_us8`.
    fn block_suffix(&self, own: &Instruction<'_>, ty: u32) -> Result<String> {
        let (scalar, count) = match self.w.types.scalar(ty) {
            Some(Type::Int(8)) => ("_uc", self.w.types.element(ty).1),
            Some(Type::Int(16)) => ("_us", self.w.types.element(ty).1),
            Some(Type::Int(32)) => ("_ui", self.w.types.element(ty).1),
            Some(Type::Int(64)) => ("_ul", self.w.types.element(ty).1),
            _ => return Err(own.error("blocks are of integers")),
        };
        Ok(if count == 1 { scalar.into() } else { format!("{scalar}{count}") })
    }

    /// A pointer to the elements of a block.
    fn block_pointer(
        &self,
        own: &Instruction<'_>,
        pointer: &Value,
        data: u32,
        qualifiers: &'static str,
    ) -> Result<Parameter> {
        let Some(Type::Pointer(class, _)) = self.w.types.get(pointer.ty) else {
            return Err(own.error("it is no pointer"));
        };
        let element = self.parameter(self.w.types.element(data).0, Sign::Unsigned);
        Ok(Parameter::Pointer(address_space(*class).unwrap_or(0), qualifiers, Box::new(element)))
    }
}
