//! The modules of SPIR-V that the cases are about, for pointers of 32 and 64 bits.

use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use rspirv::spirv::{
    AccessQualifier, AddressingModel, BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel,
    FunctionControl, FunctionParameterAttribute, ImageFormat, ImageOperands, LinkageType, MemoryModel,
    SamplerAddressingMode, SamplerFilterMode, StorageClass, Word,
};

/// Numbers of the specialization constants of [`scale`], with their defaults.
pub const FACTOR: (u32, i32) = (7, 3);
pub const SHIFTED: (u32, bool) = (9, false);
pub const OFFSET: (u32, i64) = (11, 1 << 40);

/// What `scale` does to an element.
pub fn scaled(value: i64, factor: i32, shifted: bool, offset: i64) -> i64 {
    value.wrapping_mul(i64::from(factor)).wrapping_add(if shifted { offset } else { 0 })
}

/// What all modules begin with: 64-bit integers, and pointers of `bits`.
fn begin(bits: u32, capabilities: &[Capability]) -> Builder {
    let mut b = Builder::new();
    b.set_version(1, 0);
    for capability in
        [Capability::Kernel, Capability::Addresses, Capability::Int64].iter().chain(capabilities)
    {
        b.capability(*capability);
    }
    let addressing = if bits == 64 { AddressingModel::Physical64 } else { AddressingModel::Physical32 };
    b.memory_model(addressing, MemoryModel::OpenCL);
    b
}

fn bytes(builder: Builder) -> Vec<u8> {
    builder.module().assemble().iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A kernel `scale(global long *p)` with three specialization constants, that needs some capabilities beside. Its
/// work-groups have 16 work-items.
pub fn scale(bits: u32, capabilities: &[Capability]) -> Vec<u8> {
    scale_of(bits, capabilities).expect("the module is whole")
}

fn scale_of(bits: u32, capabilities: &[Capability]) -> Result<Vec<u8>, rspirv::dr::Error> {
    let mut b = begin(bits, capabilities);
    let (void, truth, int, long) = (b.type_void(), b.type_bool(), b.type_int(32, 0), b.type_int(64, 0));
    let size = b.type_int(bits, 0);
    let sizes = b.type_vector(size, 3);
    let input = b.type_pointer(None, StorageClass::Input, sizes);
    let longs = b.type_pointer(None, StorageClass::CrossWorkgroup, long);
    let kernel = b.type_function(void, [longs]);
    let id = b.variable(input, None, StorageClass::Input, None);
    b.decorate(id, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
    let factor = b.spec_constant_bit32(int, FACTOR.1 as u32);
    let shifted = if SHIFTED.1 { b.spec_constant_true(truth) } else { b.spec_constant_false(truth) };
    let offset = b.spec_constant_bit64(long, OFFSET.1 as u64);
    for (constant, number) in [(factor, FACTOR.0), (shifted, SHIFTED.0), (offset, OFFSET.0)] {
        b.decorate(constant, Decoration::SpecId, [Operand::LiteralBit32(number)]);
    }
    let zero = b.constant_bit64(long, 0);
    let function = b.begin_function(void, None, FunctionControl::NONE, kernel)?;
    let pointer = b.function_parameter(longs)?;
    b.begin_block(None)?;
    let ids = b.load(sizes, None, id, None, [])?;
    let first = b.composite_extract(size, None, ids, [0])?;
    let element = b.in_bounds_ptr_access_chain(longs, None, pointer, first, [])?;
    let value = b.load(long, None, element, None, [])?;
    let factor = b.s_convert(long, None, factor)?;
    let product = b.i_mul(long, None, value, factor)?;
    let added = b.select(long, None, shifted, offset, zero)?;
    let sum = b.i_add(long, None, product, added)?;
    b.store(element, sum, None, [])?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::Kernel, function, "scale", [id]);
    b.execution_mode(function, ExecutionMode::LocalSize, [16, 1, 1]);
    Ok(bytes(b))
}

/// A kernel `sampled(image2d_t, image2d_depth_t, global float4 *out)` that stores texel (1, 0) of both images. The
/// sampler of the first is loaded from memory of the work-item.
pub fn sampled(bits: u32) -> Vec<u8> {
    sampled_of(bits).expect("the module is whole")
}

fn sampled_of(bits: u32) -> Result<Vec<u8>, rspirv::dr::Error> {
    let mut b = begin(bits, &[Capability::ImageBasic, Capability::LiteralSampler]);
    let (void, int, float) = (b.type_void(), b.type_int(32, 0), b.type_float(32, None));
    let (ints, floats) = (b.type_vector(int, 2), b.type_vector(float, 4));
    let access = Some(AccessQualifier::ReadOnly);
    let images =
        [0, 1].map(|depth| b.type_image(void, Dim::Dim2D, depth, 0, 0, 0, ImageFormat::Unknown, access));
    let pairs = images.map(|image| b.type_sampled_image(image));
    let sampler = b.type_sampler();
    let place = b.type_pointer(None, StorageClass::Function, sampler);
    let out = b.type_pointer(None, StorageClass::CrossWorkgroup, floats);
    let kernel = b.type_function(void, [images[0], images[1], out]);
    let nearest =
        b.constant_sampler(sampler, SamplerAddressingMode::ClampToEdge, 0, SamplerFilterMode::Nearest);
    let [zero, one] = [0, 1].map(|value| b.constant_bit32(int, value));
    let (coordinates, level) = (b.constant_composite(ints, [one, zero]), b.constant_bit32(float, 0));
    let function = b.begin_function(void, None, FunctionControl::NONE, kernel)?;
    let parameters = [b.function_parameter(images[0])?, b.function_parameter(images[1])?];
    let pointer = b.function_parameter(out)?;
    b.begin_block(None)?;
    let variable = b.variable(place, None, StorageClass::Function, None);
    b.store(variable, nearest, None, [])?;
    let samplers = [b.load(sampler, None, variable, None, [])?, nearest];
    let mut texels = [0; 2];
    for number in 0..2 {
        let pair = b.sampled_image(pairs[number], None, parameters[number], samplers[number])?;
        let level = [Operand::IdRef(level)];
        texels[number] =
            b.image_sample_explicit_lod(floats, None, pair, coordinates, ImageOperands::LOD, level)?;
    }
    b.store(pointer, texels[0], None, [])?;
    let second = b.in_bounds_ptr_access_chain(out, None, pointer, one, [])?;
    let depth = b.composite_extract(float, None, texels[1], [0])?;
    let depths = b.composite_construct(floats, None, [depth; 4])?;
    b.store(second, depths, None, [])?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::Kernel, function, "sampled", []);
    Ok(bytes(b))
}

/// A kernel `channels(image2d_t, global uint *out)` that stores type and order of an image's channels.
pub fn channels(bits: u32) -> Vec<u8> {
    channels_of(bits).expect("the module is whole")
}

fn channels_of(bits: u32) -> Result<Vec<u8>, rspirv::dr::Error> {
    let mut b = begin(bits, &[Capability::ImageBasic]);
    let (void, int) = (b.type_void(), b.type_int(32, 0));
    let access = Some(AccessQualifier::ReadOnly);
    let image = b.type_image(void, Dim::Dim2D, 0, 0, 0, 0, ImageFormat::Unknown, access);
    let out = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
    let kernel = b.type_function(void, [image, out]);
    let one = b.constant_bit32(int, 1);
    let function = b.begin_function(void, None, FunctionControl::NONE, kernel)?;
    let (image, pointer) = (b.function_parameter(image)?, b.function_parameter(out)?);
    b.begin_block(None)?;
    let ty = b.image_query_format(int, None, image)?;
    b.store(pointer, ty, None, [])?;
    let second = b.in_bounds_ptr_access_chain(out, None, pointer, one, [])?;
    let order = b.image_query_order(int, None, image)?;
    b.store(second, order, None, [])?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::Kernel, function, "channels", []);
    Ok(bytes(b))
}

/// A kernel `add` of two structures by value, as front ends with array types of their own pass them: a `uint`, and a
/// pointer to global `uint`s with their count, an `ulong`. It adds the number to each. Its sub-groups have `lanes`
/// work-items.
pub fn add_to_array(lanes: u32) -> Vec<u8> {
    add_to_array_of(lanes).expect("the module is whole")
}

fn add_to_array_of(lanes: u32) -> Result<Vec<u8>, rspirv::dr::Error> {
    let mut b = begin(64, &[Capability::SubgroupDispatch]);
    b.set_version(1, 4);
    let (void, truth, int, long) = (b.type_void(), b.type_bool(), b.type_int(32, 0), b.type_int(64, 0));
    let sizes = b.type_vector(long, 3);
    let input = b.type_pointer(None, StorageClass::Input, sizes);
    let ints = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
    let structures = [b.type_struct([int]), b.type_struct([ints, long])];
    let [number, array] = structures.map(|ty| b.type_pointer(None, StorageClass::Function, ty));
    let [to_int, to_ints, to_long] =
        [int, ints, long].map(|ty| b.type_pointer(None, StorageClass::Function, ty));
    let kernel = b.type_function(void, [number, array]);
    let id = b.variable(input, None, StorageClass::Input, None);
    b.decorate(id, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
    let [zero, one] = [0, 1].map(|bits| b.constant_bit32(int, bits));
    let function = b.begin_function(void, None, FunctionControl::NONE, kernel)?;
    let (number, array) = (b.function_parameter(number)?, b.function_parameter(array)?);
    for (parameter, align) in [(number, 4), (array, 8)] {
        let by_value = Operand::FunctionParameterAttribute(FunctionParameterAttribute::ByVal);
        b.decorate(parameter, Decoration::FuncParamAttr, [by_value]);
        b.decorate(parameter, Decoration::Alignment, [Operand::LiteralBit32(align)]);
    }
    let [add, done] = [b.id(), b.id()];
    b.begin_block(None)?;
    let ids = b.load(sizes, None, id, None, [])?;
    let first = b.composite_extract(long, None, ids, [0])?;
    let count = b.in_bounds_access_chain(to_long, None, array, [one])?;
    let count = b.load(long, None, count, None, [])?;
    let inside = b.u_less_than(truth, None, first, count)?;
    b.branch_conditional(inside, add, done, [])?;
    b.begin_block(Some(add))?;
    let addend = b.in_bounds_access_chain(to_int, None, number, [zero])?;
    let addend = b.load(int, None, addend, None, [])?;
    let pointer = b.in_bounds_access_chain(to_ints, None, array, [zero])?;
    let pointer = b.load(ints, None, pointer, None, [])?;
    let element = b.in_bounds_ptr_access_chain(ints, None, pointer, first, [])?;
    let value = b.load(int, None, element, None, [])?;
    let sum = b.i_add(int, None, value, addend)?;
    b.store(element, sum, None, [])?;
    b.branch(done)?;
    b.begin_block(Some(done))?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::Kernel, function, "add", [id]);
    b.execution_mode(function, ExecutionMode::SubgroupSize, [lanes]);
    Ok(bytes(b))
}

/// Which side of a link a module is.
pub enum Side {
    /// A kernel `k(global int *p)` calls `twice(int)`, which is another's, and stores the value of 21.
    Imports,
    /// The function `twice` for others.
    Exports,
    /// The same, of which others may have one, too.
    Once,
}

/// A module that calls or has the function `twice`.
pub fn twice(bits: u32, side: &Side) -> Vec<u8> {
    twice_of(bits, side).expect("the module is whole")
}

fn twice_of(bits: u32, side: &Side) -> Result<Vec<u8>, rspirv::dr::Error> {
    let mut b = begin(bits, &[Capability::Linkage]);
    let linkage = match side {
        Side::Imports => LinkageType::Import,
        Side::Exports => LinkageType::Export,
        Side::Once => {
            b.extension("SPV_KHR_linkonce_odr");
            LinkageType::LinkOnceODR
        }
    };
    let (void, int) = (b.type_void(), b.type_int(32, 0));
    let function = b.type_function(int, [int]);
    let twice = b.begin_function(int, None, FunctionControl::NONE, function)?;
    let value = b.function_parameter(int)?;
    if linkage != LinkageType::Import {
        b.begin_block(None)?;
        let sum = b.i_add(int, None, value, value)?;
        b.ret_value(sum)?;
    }
    b.end_function()?;
    decorate_with_linkage(&mut b, twice, "twice", linkage);
    if linkage == LinkageType::Import {
        let ints = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
        let kernel = b.type_function(void, [ints]);
        let argument = b.constant_bit32(int, 21);
        let function = b.begin_function(void, None, FunctionControl::NONE, kernel)?;
        let pointer = b.function_parameter(ints)?;
        b.begin_block(None)?;
        let sum = b.function_call(int, None, twice, [argument])?;
        b.store(pointer, sum, None, [])?;
        b.ret()?;
        b.end_function()?;
        b.entry_point(ExecutionModel::Kernel, function, "k", []);
    }
    Ok(bytes(b))
}

fn decorate_with_linkage(b: &mut Builder, id: Word, name: &str, linkage: LinkageType) {
    let operands = [Operand::LiteralString(name.into()), Operand::LinkageType(linkage)];
    b.decorate(id, Decoration::LinkageAttributes, operands);
}

/// The kernel of `kernels/images_blocks.cl`, for lanes that have `count` elements of `bytes` each; `media` is width and
/// height of a media block, in elements and rows.
pub fn image_blocks(bits: u32, bytes: usize, count: usize, media: Option<[usize; 2]>) -> Vec<u8> {
    image_blocks_of(bits, bytes as u32, count as u32, media).expect("the module is whole")
}

fn image_blocks_of(
    bits: u32,
    element_bytes: u32,
    count: u32,
    media: Option<[usize; 2]>,
) -> Result<Vec<u8>, rspirv::dr::Error> {
    let (capability, extension) = match media {
        None => (Capability::SubgroupImageBlockIOINTEL, "SPV_INTEL_subgroups"),
        Some(_) => (Capability::SubgroupImageMediaBlockIOINTEL, "SPV_INTEL_media_block_io"),
    };
    let mut b = begin(
        bits,
        &[
            Capability::Int8,
            Capability::Int16,
            Capability::Vector16,
            Capability::ImageBasic,
            Capability::SubgroupDispatch,
            capability,
        ],
    );
    b.set_version(1, 1);
    b.extension(extension);
    let (void, int) = (b.type_void(), b.type_int(32, 0));
    let element = b.type_int(8 * element_bytes, 0);
    let block = if count == 1 { element } else { b.type_vector(element, count) };
    let blocks = b.type_pointer(None, StorageClass::CrossWorkgroup, block);
    let place = b.type_vector(int, 2);
    let lanes = b.type_pointer(None, StorageClass::Input, int);
    let [from_type, to_type] = [AccessQualifier::ReadOnly, AccessQualifier::WriteOnly]
        .map(|access| b.type_image(void, Dim::Dim2D, 0, 0, 0, 0, ImageFormat::Unknown, Some(access)));
    let kernel = b.type_function(void, [from_type, to_type, place, place, blocks]);
    let lane = b.variable(lanes, None, StorageClass::Input, None);
    b.decorate(lane, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::SubgroupLocalInvocationId)]);
    let media = media.map(|sides| sides.map(|side| b.constant_bit32(int, side as u32)));
    let function = b.begin_function(void, None, FunctionControl::NONE, kernel)?;
    let (from, to) = (b.function_parameter(from_type)?, b.function_parameter(to_type)?);
    let (source, destination) = (b.function_parameter(place)?, b.function_parameter(place)?);
    let copy = b.function_parameter(blocks)?;
    b.begin_block(None)?;
    let value = match media {
        None => b.subgroup_image_block_read_intel(block, None, from, source)?,
        Some([width, rows]) => {
            b.subgroup_image_media_block_read_intel(block, None, from, source, width, rows)?
        }
    };
    let number = b.load(int, None, lane, None, [])?;
    let own = b.in_bounds_ptr_access_chain(blocks, None, copy, number, [])?;
    b.store(own, value, None, [])?;
    match media {
        None => b.subgroup_image_block_write_intel(to, destination, value)?,
        Some([width, rows]) => {
            b.subgroup_image_media_block_write_intel(to, destination, width, rows, value)?;
        }
    }
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::Kernel, function, "blocks", [lane]);
    b.execution_mode(function, ExecutionMode::SubgroupSize, [16]);
    Ok(bytes(b))
}

/// A kernel `k(global uint *out, global const uint *in)`: `out` begins with the number of sub-groups and their size, and
/// goes on with an element of a private array, which keeps the kernel from 32 lanes.
pub fn count_sub_groups(bits: u32) -> Vec<u8> {
    count_sub_groups_of(bits).expect("the module is whole")
}

fn count_sub_groups_of(bits: u32) -> Result<Vec<u8>, rspirv::dr::Error> {
    let mut b = begin(bits, &[Capability::SubgroupDispatch]);
    b.set_version(1, 1);
    let (void, int) = (b.type_void(), b.type_int(32, 0));
    let inputs = b.type_pointer(None, StorageClass::Input, int);
    let ints = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
    let constants: [Word; 3] = [0, 1, 2].map(|bits| b.constant_bit32(int, bits));
    let length = b.constant_bit32(int, 128);
    let array = b.type_array(int, length);
    let [array, element] = [array, int].map(|ty| b.type_pointer(None, StorageClass::Function, ty));
    let kernel = b.type_function(void, [ints, ints]);
    let counts = [BuiltIn::NumSubgroups, BuiltIn::SubgroupMaxSize].map(|built_in| {
        let input = b.variable(inputs, None, StorageClass::Input, None);
        b.decorate(input, Decoration::BuiltIn, [Operand::BuiltIn(built_in)]);
        input
    });
    let function = b.begin_function(void, None, FunctionControl::NONE, kernel)?;
    let (out, input) = (b.function_parameter(ints)?, b.function_parameter(ints)?);
    b.begin_block(None)?;
    let private = b.variable(array, None, StorageClass::Function, None);
    let count = b.load(int, None, counts[0], None, [])?;
    let size = b.load(int, None, counts[1], None, [])?;
    let stored = b.in_bounds_access_chain(element, None, private, [size])?;
    b.store(stored, size, None, [])?;
    let index = b.load(int, None, input, None, [])?;
    let loaded = b.in_bounds_access_chain(element, None, private, [index])?;
    let loaded = b.load(int, None, loaded, None, [])?;
    for (index, value) in constants.into_iter().zip([count, size, loaded]) {
        let element = b.in_bounds_ptr_access_chain(ints, None, out, index, [])?;
        b.store(element, value, None, [])?;
    }
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::Kernel, function, "k", counts);
    Ok(bytes(b))
}

/// A kernel `float_atomics(global float *out, global const float *in)`: `out` becomes sum, minimum and maximum of itself
/// and all elements of `in`.
pub fn float_atomics(bits: u32) -> Vec<u8> {
    float_atomics_of(bits).expect("the module is whole")
}

fn float_atomics_of(bits: u32) -> Result<Vec<u8>, rspirv::dr::Error> {
    let mut b = begin(bits, &[Capability::AtomicFloat32AddEXT, Capability::AtomicFloat32MinMaxEXT]);
    b.extension("SPV_EXT_shader_atomic_float_add");
    b.extension("SPV_EXT_shader_atomic_float_min_max");
    let (void, int, float) = (b.type_void(), b.type_int(32, 0), b.type_float(32, None));
    let size = b.type_int(bits, 0);
    let sizes = b.type_vector(size, 3);
    let input = b.type_pointer(None, StorageClass::Input, sizes);
    let floats = b.type_pointer(None, StorageClass::CrossWorkgroup, float);
    let kernel = b.type_function(void, [floats, floats]);
    let id = b.variable(input, None, StorageClass::Input, None);
    b.decorate(id, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
    // The scope of the device, relaxed.
    let [scope, order, two] = [1, 0, 2].map(|value| b.constant_bit32(int, value));
    let function = b.begin_function(void, None, FunctionControl::NONE, kernel)?;
    let (out, values) = (b.function_parameter(floats)?, b.function_parameter(floats)?);
    b.begin_block(None)?;
    let ids = b.load(sizes, None, id, None, [])?;
    let first = b.composite_extract(size, None, ids, [0])?;
    let element = b.in_bounds_ptr_access_chain(floats, None, values, first, [])?;
    let value = b.load(float, None, element, None, [])?;
    b.atomic_f_add_ext(float, None, out, scope, order, value)?;
    let least = b.in_bounds_ptr_access_chain(floats, None, out, scope, [])?;
    b.atomic_f_min_ext(float, None, least, scope, order, value)?;
    let greatest = b.in_bounds_ptr_access_chain(floats, None, out, two, [])?;
    b.atomic_f_max_ext(float, None, greatest, scope, order, value)?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::Kernel, function, "float_atomics", [id]);
    Ok(bytes(b))
}

/// A kernel `turns(global uint *p)`: the work-item 0 loads `p[0]` until it is 7, which the work-item 63 stores.
pub fn turns(bits: u32) -> Vec<u8> {
    turns_of(bits).expect("the module is whole")
}

fn turns_of(bits: u32) -> Result<Vec<u8>, rspirv::dr::Error> {
    let mut b = begin(bits, &[]);
    let (void, int, truth) = (b.type_void(), b.type_int(32, 0), b.type_bool());
    let size = b.type_int(bits, 0);
    let sizes = b.type_vector(size, 3);
    let input = b.type_pointer(None, StorageClass::Input, sizes);
    let ints = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
    let kernel = b.type_function(void, [ints]);
    let id = b.variable(input, None, StorageClass::Input, None);
    b.decorate(id, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
    // The scope of the device, an acquisition, a release.
    let [scope, acquire, release, seven] = [1, 2, 4, 7].map(|value| b.constant_bit32(int, value));
    let function = b.begin_function(void, None, FunctionControl::NONE, kernel)?;
    let p = b.function_parameter(ints)?;
    let [wait, other, store, end] = [(); 4].map(|()| b.id());
    b.begin_block(None)?;
    let ids = b.load(sizes, None, id, None, [])?;
    let number = b.composite_extract(size, None, ids, [0])?;
    let number = if bits == 32 { number } else { b.u_convert(int, None, number)? };
    let [first, last] = [0, 63].map(|value| b.constant_bit32(int, value));
    let is_first = b.i_equal(truth, None, number, first)?;
    b.branch_conditional(is_first, wait, other, [])?;
    b.begin_block(Some(wait))?;
    let value = b.atomic_load(int, None, p, scope, acquire)?;
    let is_there = b.i_equal(truth, None, value, seven)?;
    b.branch_conditional(is_there, end, wait, [])?;
    b.begin_block(Some(other))?;
    let is_last = b.i_equal(truth, None, number, last)?;
    b.branch_conditional(is_last, store, end, [])?;
    b.begin_block(Some(store))?;
    b.atomic_store(p, scope, release, seven)?;
    b.branch(end)?;
    b.begin_block(Some(end))?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::Kernel, function, "turns", [id]);
    Ok(bytes(b))
}
