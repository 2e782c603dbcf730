//! Images and samplers: functions of `library/images20.cl` and `library/images_read_write20.cl`.
//!
//! Images and samplers have no registers. Once everything is inlined, an image is a kernel's argument, and a sampler
//! is one or is made of a constant; the operation names which.

use gencl_program::{ArgumentKind, ImageProperty, PushSource, SamplerSource};

use super::Failure;
use super::translator::{Regs, Translator};
use crate::ir::image::CHANNELS;
use crate::ir::names::property_from_name;
use crate::ir::{Family, ImageAccess, ImageOp, Input, Op, Space, Type};
use crate::llvm::prepare::made_of;
use crate::llvm::view::Value;

impl<'m> Translator<'_, 'm> {
    /// A function by its name without `__gencl_image_`: `sample_f32__image2d_t`. What is behind the two underscores tells
    /// overloads apart for LLVM only.
    pub fn image_function(&mut self, name: &str, arguments: &[Value<'m>]) -> Result<Regs, Failure> {
        let name = name.split_once("__").map_or(name, |(name, _)| name);
        let image = self.opaque_argument(arguments[0], ArgumentKind::Image)?;
        if let Some(property) = property_from_name(name) {
            return Ok(Regs::from_elem(self.image_property(image, property), 1));
        }
        if name == "address" {
            let family = self.pointers.address(Space::Global).family();
            let address = Input::Push(PushSource::Pointer { argument: image });
            return Ok(Regs::from_elem(self.input(address, family), 1));
        }
        let unknown = || Failure::new(format!("__gencl_image_{name} is not known"));
        let (word, ty) = name.split_once('_').ok_or_else(unknown)?;
        let ty = Type::from_name(ty).ok_or_else(unknown)?;
        let (op, operands) = match word {
            "sample" => (ImageOp::Sample(self.sampler(arguments[1])?), &arguments[2..]),
            "load" => (ImageOp::Load, &arguments[1..]),
            "write" => (ImageOp::Write, &arguments[1..]),
            _ => return Err(unknown()),
        };
        let mut sources = self.value(operands[0])?;
        let coordinates = sources.len() as u8;
        for operand in &operands[1..] {
            sources.extend(self.value(*operand)?);
        }
        let access = ImageAccess { op, image, ty, coordinates };
        let channels = if access.writes() { 0 } else { CHANNELS };
        let channels: Regs = (0..channels).map(|_| self.function.new_register(ty.family())).collect();
        self.emit(Op::Image(access), &channels, &sources);
        Ok(channels)
    }

    fn image_property(&mut self, argument: u32, property: ImageProperty) -> crate::ir::Reg {
        self.input(Input::Push(PushSource::Image { argument, property }), Family::Dword)
    }

    /// Number of the kernel's argument that an image or a sampler is.
    fn opaque_argument(&self, value: Value<'m>, kind: ArgumentKind) -> Result<u32, Failure> {
        let index = self.kernel.parameters().iter().position(|&parameter| parameter == value);
        index.map(|index| index as u32).ok_or_else(|| {
            Failure::new(match kind {
                ArgumentKind::Sampler => "samplers that are chosen at run time are not supported",
                _ => "images that are chosen at run time are not supported",
            })
        })
    }

    /// Where a sampler comes from.
    fn sampler(&self, value: Value<'m>) -> Result<SamplerSource, Failure> {
        if let Some(number) = made_of(value) {
            return Ok(SamplerSource::Constant(number as u32));
        }
        self.opaque_argument(value, ArgumentKind::Sampler).map(SamplerSource::Argument)
    }

    /// The number of a sampler that is an argument.
    pub fn sampler_number(&mut self, sampler: Value<'m>) -> Result<Regs, Failure> {
        let argument = self.opaque_argument(sampler, ArgumentKind::Sampler)?;
        let number = Input::Push(PushSource::Value { argument, offset: 0 });
        Ok(Regs::from_elem(self.input(number, Family::Dword), 1))
    }
}
