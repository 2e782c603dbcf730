//! Images and samplers: SPIR-V 1.6, 3.49.10 "Image Instructions".

use std::collections::BTreeSet;

use rspirv::spirv::{ImageOperands, Op};

use super::{FunctionWriter, Sign};
use crate::error::Result;
use crate::types::{Image, Type};
use crate::walk::{Id, Instruction};
use crate::writer::{Constant, Value};

/// The first numbers that OpenCL's headers have for types and orders of channels (`CL_SNORM_INT8`, `CL_R`), which have
/// the order of SPIR-V's "Image Channel Data Type" and "Image Channel Order".
const CHANNEL_TYPES: u32 = 0x10d0;
const CHANNEL_ORDERS: u32 = 0x10b0;

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn image(&mut self, own: &Instruction<'m>) -> Result<bool> {
        match own.op {
            Op::SampledImage => {
                self.sampled.insert(own.result, (own.operand(0)?, own.operand(1)?));
            }
            Op::ImageSampleExplicitLod => {
                let pair = own.operand(0)?;
                let (image, sampler) = *self
                    .sampled
                    .get(&pair)
                    .ok_or_else(|| own.error(format!("{pair} is no sampled image")))?;
                let (image, sampler) = (self.value(own, image)?, self.value(own, sampler)?);
                let coordinate = self.operand(own, 1)?;
                self.read(own, vec![image, sampler, coordinate], 2)?;
            }
            Op::ImageRead => {
                let list = vec![self.operand(own, 0)?, self.operand(own, 1)?];
                self.read(own, list, 2)?;
            }
            Op::ImageWrite => {
                let (image, coordinate, texel) =
                    (self.operand(own, 0)?, self.operand(own, 1)?, self.operand(own, 2)?);
                self.check_operands(own, 3)?;
                let (kind, sign) = self.texel(own, texel.ty, 3)?;
                let list = [(image, Sign::Signed), (coordinate, Sign::Signed), (texel, sign)];
                self.call_built_in(&format!("write_image{kind}"), "void", &list)?;
            }
            Op::ImageQueryFormat => self.query(own, "get_image_channel_data_type", CHANNEL_TYPES)?,
            Op::ImageQueryOrder => self.query(own, "get_image_channel_order", CHANNEL_ORDERS)?,
            Op::ImageQuerySizeLod | Op::ImageQuerySize => self.size(own)?,
            Op::ImageQueryLevels => self.query(own, "get_image_num_mip_levels", 0)?,
            Op::ImageQuerySamples => self.query(own, "get_image_num_samples", 0)?,
            Op::Image => {
                let pair = own.operand(0)?;
                let (image, _) = *self
                    .sampled
                    .get(&pair)
                    .ok_or_else(|| own.error(format!("{pair} is no sampled image")))?;
                let text = self.value(own, image)?.text;
                self.is(own, text);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Constant samplers, which clang makes by calls with OpenCL C's bits: those that the function uses become values of
    /// its first block.
    pub(super) fn samplers(&mut self) {
        let instructions = self.own.blocks.iter().flat_map(|block| &block.instructions);
        let used: BTreeSet<Id> = instructions.flat_map(|own| own.operands.iter().copied()).collect();
        for id in used {
            let Some(Constant::Sampler([addressing, normalized, filter])) = self.w.constants.get(&id) else {
                continue;
            };
            // CLK_ADDRESS_* from bit 1 on, CLK_NORMALIZED_COORDS_TRUE, CLK_FILTER_NEAREST and _LINEAR.
            let bits = addressing << 1 | normalized & 1 | 0x10 << (filter & 1);
            let Some(value) = self.w.values.get(&id).cloned() else { continue };
            let ty = self.type_of(&value).to_owned();
            let text = self.call("__translate_sampler_initializer", &ty, &[("i32".into(), bits.to_string())]);
            self.values.insert(id, Value { text, ..value });
        }
    }

    /// The suffix of functions on texels of a type, and how they see integers.
    fn texel(&self, own: &Instruction<'_>, ty: Id, operands: usize) -> Result<(&'static str, Sign)> {
        let bits = ImageOperands::from_bits_truncate(own.operands.get(operands).copied().unwrap_or(0));
        Ok(match self.w.types.scalar(ty) {
            Some(Type::Float(16)) => ("h", Sign::Signed),
            Some(Type::Float(32)) => ("f", Sign::Signed),
            Some(Type::Int(32)) if bits.contains(ImageOperands::ZERO_EXTEND) => ("ui", Sign::Unsigned),
            Some(Type::Int(32)) => ("i", Sign::Signed),
            _ => return Err(own.error("texels have elements of 32 bits, or half floats")),
        })
    }

    /// Refuses image operands that OpenCL C's functions do not have.
    fn check_operands(&self, own: &Instruction<'m>, first: usize) -> Result<()> {
        let bits = ImageOperands::from_bits_retain(own.operands.get(first).copied().unwrap_or(0));
        let extends = ImageOperands::SIGN_EXTEND | ImageOperands::ZERO_EXTEND;
        let known = ImageOperands::LOD | extends | ImageOperands::NONTEMPORAL;
        if !known.contains(bits) {
            return Err(own.error(format!("image operands {:?} are not supported", bits - known)));
        }
        // There are no mipmaps: OpenCL C's functions without a level have level 0.
        if bits.contains(ImageOperands::LOD) {
            let level = own.operand(first + 1)?;
            if !matches!(self.w.constants.get(&level), Some(Constant::Integer(0) | Constant::Float(0))) {
                return Err(own.error("levels of detail other than 0 are not supported"));
            }
        }
        Ok(())
    }

    fn read(&mut self, own: &Instruction<'m>, list: Vec<Value>, operands: usize) -> Result<()> {
        self.check_operands(own, operands)?;
        let (kind, _) = self.texel(own, own.ty, operands)?;
        // OpenCL C's functions give the depth alone, SPIR-V a texel whose first channel it is.
        let is_depth = matches!(self.w.types.get(list[0].ty), Some(Type::Image(Image { depth: 1, .. })));
        let (element, count) = self.w.types.element(own.ty);
        let ty = self.w.types.text(if is_depth { element } else { own.ty }).to_owned();
        let list: Vec<_> = list.into_iter().map(|value| (value, Sign::Signed)).collect();
        let name = self.call_built_in(&format!("read_image{kind}"), &ty, &list)?;
        if is_depth && count > 1 {
            let texel = self.w.types.text(own.ty).to_owned();
            self.result(own, &format!("insertelement {texel} zeroinitializer, {ty} {name}, i32 0"));
        } else {
            self.is(own, name);
        }
        Ok(())
    }

    /// A number of OpenCL's headers, of which SPIR-V's is the distance to `first`.
    fn query(&mut self, own: &Instruction<'m>, name: &str, first: u32) -> Result<()> {
        let value = self.operand(own, 0)?;
        let ty = self.w.types.text(own.ty).to_owned();
        let name = self.call_built_in(name, &ty, &[(value, Sign::Signed)])?;
        self.result(own, &format!("sub {ty} {name}, {first}"));
        Ok(())
    }

    /// The size in texels and layers.
    fn size(&mut self, own: &Instruction<'m>) -> Result<()> {
        let image = self.operand(own, 0)?;
        let Some(Type::Image(Image { dim, arrayed, .. })) = self.w.types.get(image.ty).cloned() else {
            return Err(own.error("it is no image"));
        };
        let mut names = vec![("get_image_width", "i32")];
        if !matches!(dim, 0 | 5) {
            names.push(("get_image_height", "i32"));
        }
        if dim == 2 {
            names.push(("get_image_depth", "i32"));
        }
        if arrayed == 1 {
            names.push(("get_image_array_size", self.size_type().1));
        }
        let (scalar, count) = self.w.types.element(own.ty);
        let (scalar, ty) = (self.w.types.text(scalar).to_owned(), self.w.types.text(own.ty).to_owned());
        if count as usize != names.len() {
            return Err(own.error("the result has not as many elements as the image has dimensions"));
        }
        let mut all = "poison".to_owned();
        for (number, (name, given)) in names.into_iter().enumerate() {
            let mut value = self.call_built_in(name, given, &[(image.clone(), Sign::Signed)])?;
            if given != scalar {
                let how = if given == "i32" { "zext" } else { "trunc" };
                value = self.temporary(&format!("{how} {given} {value} to {scalar}"));
            }
            all = match count {
                1 => value,
                _ => self.temporary(&format!("insertelement {ty} {all}, {scalar} {value}, i32 {number}")),
            };
        }
        self.is(own, all);
        Ok(())
    }
}
