//! Checks that accesses to images are within them, where OpenCL C does not define what is outside (6.15.15): writes, reads
//! without a sampler, and reads with one that has no addressing mode.

use gencl_program::finding::{Check, Side};
use inkwell::context::Context;
use inkwell::module::Module;

use super::{Checker, site};
use crate::llvm::build::Builder;
use crate::llvm::prepare::made_of;
use crate::llvm::view::{self, IntPredicate, Opcode, RealPredicate, TypeKind, Value};

/// The prefix of marks in front of reads and writes, as long as there are checks to be added. The rest is the function's
/// name, and the arguments are its.
const MARK: &str = "__gencl_check_mark_image.";

/// The number of a sampler that is an argument, and its bits (`opencl-c-base.h`) for the addressing mode, which is none if
/// all are 0, and for coordinates from 0 to 1.
const SAMPLER_NUMBER: &str = "__gencl_sampler_number";
const ADDRESSING: u64 = 0xe;
const NORMALIZED: u64 = 1;

/// The least integer of 32 bits.
const FIRST: f64 = -2_147_483_648.0;

/// Marks calls of the functions that access images, before they are inlined.
pub fn mark_images(context: &Context, module: &Module) {
    let builder = Builder::new(context, module);
    let functions = view::Module::of(module).functions();
    let calls = functions.flat_map(|function| function.blocks()).flat_map(view::Block::instructions);
    let accesses = calls.filter(|i| i.opcode() == Opcode::LLVMCall).filter_map(|call| {
        let name = call.callee()?.name();
        Access::of(&name).is_some().then_some((call, name))
    });
    for (call, name) in accesses.collect::<Vec<_>>() {
        builder.before(call);
        keep_apart(context, builder.call(&format!("{MARK}{name}"), builder.void(), &call.call_arguments()));
    }
}

/// Calls of a function for two images, or samplers, must not become one of either.
fn keep_apart<'m>(context: &Context, call: Value<'m>) -> Value<'m> {
    if let Some(function) = call.callee() {
        ["nomerge", "nounwind", "willreturn"].iter().for_each(|name| function.add_attribute(context, name));
    }
    call
}

/// Whether an instruction is a mark of an access.
pub(super) fn is_mark(i: Value) -> bool {
    i.opcode() == Opcode::LLVMCall && i.callee().is_some_and(|callee| callee.name().starts_with(MARK))
}

/// What a function does, by its name in LLVM IR: `_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f`.
#[derive(Debug, PartialEq)]
struct Access<'n> {
    writes: bool,
    is_sampled: bool,
    /// The image's type: `14ocl_image2d_ro`.
    image: &'n str,
}

impl<'n> Access<'n> {
    fn of(name: &'n str) -> Option<Self> {
        let at = name.find("ocl_image")?;
        let function = name[..at].trim_end_matches(|c: char| c.is_ascii_digit());
        let length: usize = name[function.len()..at].parse().ok()?;
        let writes = function.contains("write_image");
        let image = name.get(function.len()..at + length)?;
        // Blocks of images have names with an underscore, and are defined outside.
        let is_access = writes || function.contains("read_image");
        is_access.then(|| Self { writes, is_sampled: name.contains("ocl_sampler"), image })
    }

    /// The functions for the image's sizes that are limits of coordinates, in their order.
    fn sizes(&self) -> impl Iterator<Item = (Side, &'static str)> {
        let has = |part| self.image.contains(part);
        // The layer by a sampler is limited to those that are there.
        let has_layer = has("_array") && !self.is_sampled;
        let sizes = [
            (true, Side::Width, "_Z15get_image_width"),
            (has("image2d") || has("image3d"), Side::Height, "_Z16get_image_height"),
            (has("image3d"), Side::Depth, "_Z15get_image_depth"),
            (has_layer, Side::Layers, "_Z20get_image_array_size"),
        ];
        sizes.into_iter().filter_map(|(is_there, side, function)| is_there.then_some((side, function)))
    }
}

impl<'m> Checker<'_, 'm> {
    /// Checks an access at its mark.
    pub(super) fn image(&mut self, context: &Context, kernel: Value<'m>, mark: Value<'m>) {
        let name = mark.callee().map(Value::name).unwrap_or_default();
        let Some(access) = name.strip_prefix(MARK).and_then(Access::of) else { return };
        let b = self.builder;
        b.before(mark);
        let arguments = mark.call_arguments();
        let (image, coordinates) = (arguments[0], arguments[if access.is_sampled { 2 } else { 1 }]);
        let sampler = access.is_sampled.then(|| Sampler::of(context, b, arguments[1]));
        // Choices by constants are none.
        if sampler.as_ref().is_some_and(|sampler| sampler.has_no_mode.integer() == Some(0)) {
            return;
        }
        let object = site::object(kernel, image);
        for (index, (side, function)) in access.sizes().enumerate() {
            let coordinate = match coordinates.ty().kind() {
                TypeKind::Vector(..) => b.extract(coordinates, index as u32),
                _ => coordinates,
            };
            // The number of layers is a size_t.
            let result = if side == Side::Layers { b.size_type() } else { b.int(32) };
            let size = b.call(&format!("{function}{}", access.image), result, &[image]);
            let size = b.resize(size, b.int(32), false);
            let at = match &sampler {
                Some(sampler) if coordinate.ty() != b.int(32) => sampler.texel(b, coordinate, size),
                _ => coordinate,
            };
            let mut failed = b.compare(IntPredicate::LLVMIntUGE, at, size);
            if let Some(sampler) = &sampler {
                failed = b.binary(Opcode::LLVMAnd, failed, sampler.has_no_mode);
            }
            let check = if access.writes { Check::WriteTexel(side) } else { Check::ReadTexel(side) };
            self.check(mark, (check, object.clone()), failed, [b.number(64, 0), at, size]);
        }
    }
}

/// What the numbers of samplers say, one bit each.
struct Sampler<'m> {
    has_no_mode: Value<'m>,
    is_normalized: Value<'m>,
}

impl<'m> Sampler<'m> {
    fn of(context: &Context, b: &Builder<'m>, sampler: Value<'m>) -> Self {
        let number = match made_of(sampler) {
            Some(number) => b.number(32, number),
            None => keep_apart(context, b.call(SAMPLER_NUMBER, b.int(32), &[sampler])),
        };
        let has_none = |mask| b.equal(b.binary(Opcode::LLVMAnd, number, b.number(32, mask)), b.number(32, 0));
        let is_normalized = b.equal(has_none(NORMALIZED), b.number(1, 0));
        Self { has_no_mode: has_none(ADDRESSING), is_normalized }
    }

    /// The texel that a float is at, on a side of so many; far in front of them if it is no integer's.
    fn texel(&self, b: &Builder<'m>, coordinate: Value<'m>, size: Value<'m>) -> Value<'m> {
        let length = b.cast(Opcode::LLVMUIToFP, size, coordinate.ty());
        let scaled = b.binary(Opcode::LLVMFMul, coordinate, length);
        let at = b.select(self.is_normalized, scaled, coordinate);
        let at = b.call("llvm.floor.f32", at.ty(), &[at]);
        let limit = |number| b.float(at.ty(), number);
        let is_above = b.compare_floats(RealPredicate::LLVMRealOGE, at, limit(FIRST));
        let is_below = b.compare_floats(RealPredicate::LLVMRealOLT, at, limit(-FIRST));
        let is_integer = b.binary(Opcode::LLVMAnd, is_above, is_below);
        b.select(is_integer, b.cast(Opcode::LLVMFPToSI, at, size.ty()), b.number(32, 1 << 31))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_known_by_name() {
        let read = Access { writes: false, is_sampled: true, image: "14ocl_image2d_ro" };
        assert_eq!(Access::of("_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f"), Some(read));
        let write = Access { writes: true, is_sampled: false, image: "20ocl_image2d_array_wo" };
        let sides: Vec<_> = write.sizes().map(|(side, _)| side).collect();
        assert_eq!(sides, [Side::Width, Side::Height, Side::Layers]);
        assert_eq!(Access::of("_Z12write_imagei20ocl_image2d_array_woDv4_iS_"), Some(write));
        assert_eq!(Access::of("_Z26intel_sub_group_block_read14ocl_image2d_roDv2_i"), None);
        assert_eq!(Access::of("_Z15get_image_width14ocl_image2d_ro"), None);
    }
}
