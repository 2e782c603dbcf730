//! Images and samplers of a launch: binding table, surface states, sampler states and border colour in the state
//! heap.
//!
//! Sources: Skylake manual, Volume 2d, RENDER_SURFACE_STATE and SAMPLER_STATE; Mesa's `isl_surface_state.c`; of
//! samplers compute-runtime's `sampler_hw.inl`.

use gencl_device_info::AddressModel;
use gencl_program::{Kernel, SamplerSource, SurfaceView, report};

use super::commands::CommandSet;
use super::field::{CommandLayout, Field, Packed};
use super::slot::{ALIGNMENT, put_dwords};
use super::{dump, surfaces};
use crate::context::DeviceContext;
use crate::kernel::ArgumentBlock;
use crate::{ImageKind, ImageLayout, Sampler};

/// Bytes of an entry of the binding table.
const ENTRY: usize = 4;

/// Bytes of a SAMPLER_STATE.
const SAMPLER: usize = 16;

/// Texels that rows of an image are aligned to in memory, and the code of such an alignment.
const ALIGNMENT_OF_4: u64 = 1;

/// Where the state of a launch's images is, as offsets in the state heap; all 0 for a launch without images.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ImageState {
    pub(crate) binding_table: usize,
    /// Entries of the binding table.
    pub(crate) bindings: usize,
    pub(crate) samplers: usize,
    /// Number of sampler states.
    pub(crate) sampler_count: usize,
}

/// Offsets from the beginning of a launch's state of images. The binding table is first, as pointers to it have 16
/// bits.
struct Offsets {
    surfaces: usize,
    border: usize,
    samplers: usize,
    end: usize,
}

fn offsets(kernel: &Kernel) -> Offsets {
    let surfaces = (bindings(kernel) * ENTRY).next_multiple_of(ALIGNMENT);
    let border = surfaces + kernel.surfaces.len() * ALIGNMENT;
    let samplers = border + ALIGNMENT;
    Offsets { surfaces, border, samplers, end: samplers + kernel.samplers.len() * SAMPLER }
}

/// Entries of the binding table.
fn bindings(kernel: &Kernel) -> usize {
    kernel.surfaces.iter().map(|surface| usize::from(surface.index) + 1).max().unwrap_or(0)
}

/// Bytes of state for a kernel's images; 0 if it accesses none.
pub(crate) fn size(kernel: &Kernel) -> usize {
    if kernel.surfaces.is_empty() { 0 } else { offsets(kernel).end.next_multiple_of(ALIGNMENT) }
}

/// Writes the state to `bytes`, which are [`size`] zeros at an offset in the state heap; `relocate` is called with the
/// offset of each address that the kernel driver may relocate.
pub(crate) fn write(
    set: &CommandSet,
    kernel: &Kernel,
    arguments: &ArgumentBlock,
    device: &DeviceContext,
    (begin, bytes): (usize, &mut [u8]),
    mut relocate: impl FnMut(usize),
) -> ImageState {
    if kernel.surfaces.is_empty() {
        return ImageState::default();
    }
    let offsets = offsets(kernel);
    let mut bind = |index: usize, state: usize| {
        put_dwords(&mut bytes[index * ENTRY..][..ENTRY], &[state as u32]);
    };
    if let AddressModel::Surface(index) = device.device().info().messages.global {
        bind(index.into(), surfaces::STATE);
    }
    let states = || (begin + offsets.surfaces..).step_by(ALIGNMENT);
    for (binding, state) in kernel.surfaces.iter().zip(states()) {
        bind(binding.index.into(), state);
    }
    for (binding, state) in kernel.surfaces.iter().zip(states()) {
        let layout = &set.surface_state;
        let image = arguments.image(binding.argument).expect("launches have all their arguments");
        let dwords = surface(set, image.memory(), binding.view, image.data().address_on(device));
        put_dwords(&mut bytes[state - begin..], &dwords[..layout.layout.length]);
        if layout.base.relocates {
            relocate(state + usize::from(layout.base.start / 8));
        }
    }
    let samplers = bytes[offsets.samplers..].chunks_exact_mut(SAMPLER);
    for (source, bytes) in kernel.samplers.iter().zip(samplers) {
        let number = match *source {
            SamplerSource::Constant(number) => number,
            SamplerSource::Argument(index) => arguments.sampler(&kernel.arguments[index as usize]),
        };
        put_dwords(bytes, &sampler(set, number, begin + offsets.border));
    }
    ImageState {
        binding_table: begin,
        bindings: bindings(kernel),
        samplers: begin + offsets.samplers,
        sampler_count: kernel.samplers.len(),
    }
}

/// What [`write`] has written, as text.
pub(crate) fn describe(set: &CommandSet, kernel: &Kernel, bytes: &[u8]) -> String {
    let offsets = offsets(kernel);
    let structures = |table: (CommandLayout, Vec<Field>), begin: usize, step: usize, count: usize| {
        let states = bytes[begin..].chunks_exact(step).take(count);
        let dwords = |state: &[u8]| -> Vec<u32> {
            state.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
        };
        states.map(|state| dump::structure(&table, &dwords(state))).collect::<String>()
    };
    let surfaces = structures(set.surface_state.table(), offsets.surfaces, ALIGNMENT, kernel.surfaces.len());
    surfaces + &structures(set.sampler_state.table(), offsets.samplers, SAMPLER, kernel.samplers.len())
}

/// "Surface Type"
mod surface_type {
    pub const ONE: u64 = 0;
    pub const TWO: u64 = 1;
    pub const THREE: u64 = 2;
    pub const BUFFER: u64 = 4;
}

/// The surface state of an image at an address, by its layout in memory.
fn surface(set: &CommandSet, memory: &ImageLayout, view: SurfaceView, base: u64) -> Packed {
    let fields = &set.surface_state;
    let texel = memory.format.texel();
    let format = memory.format.surface_format(view).expect("checked when the argument was set");
    let [red, green, blue, alpha] = format.selects.map(|select| select as u64);
    let kind = match memory.kind {
        ImageKind::Image1D | ImageKind::Image1DArray => surface_type::ONE,
        ImageKind::Image2D | ImageKind::Image2DArray => surface_type::TWO,
        ImageKind::Image3D => surface_type::THREE,
        ImageKind::Image1DBuffer => surface_type::BUFFER,
    };
    let [width, height, depth] = if memory.kind == ImageKind::Image1DBuffer {
        // The number of texels less one: 7, 14 and 6 bits.
        let last = memory.width - 1;
        [last & 0x7f, last >> 7 & 0x3fff, last >> 21]
    } else {
        [memory.width - 1, memory.height.max(1) - 1, memory.depth.max(memory.layers).max(1) - 1]
    };
    let is_array = memory.layers > 0;
    let pitch = if memory.kind == ImageKind::Image1DBuffer { texel } else { memory.row_pitch };
    let step = match memory.kind {
        ImageKind::Image1DArray if set.qpitch_in_texels => texel,
        _ => memory.row_pitch,
    };
    fields.layout.pack(&[
        (fields.kind, kind),
        (fields.array, is_array.into()),
        (fields.format, format.number.into()),
        (fields.vertical_alignment, ALIGNMENT_OF_4),
        (fields.horizontal_alignment, ALIGNMENT_OF_4),
        // Without space for further levels of detail.
        (fields.array_spacing, is_array.into()),
        (fields.mocs, set.mocs),
        (fields.qpitch, (memory.slice_pitch / step / 4) as u64),
        (fields.width, width as u64),
        (fields.height, height as u64),
        (fields.depth, depth as u64),
        (fields.view_extent, if kind == surface_type::BUFFER { 0 } else { depth as u64 }),
        (fields.pitch, pitch as u64 - 1),
        (fields.base, base),
        (fields.red, red),
        (fields.green, green),
        (fields.blue, blue),
        (fields.alpha, alpha),
    ])
}

/// "TCX Address Control Mode"
mod address_mode {
    pub const WRAP: u64 = 0;
    pub const MIRROR: u64 = 1;
    pub const CLAMP: u64 = 2;
    pub const BORDER: u64 = 4;
}

/// The addressing of a sampler by its OpenCL C number. Repeated images need normalized coordinates, otherwise their
/// results are undefined (table "Sampler Descriptor" of the specification), and so is the hardware's behaviour
/// (SAMPLER_STATE, "Non-normalized Coordinate Enable"): such samplers clamp to the edge.
fn addressing(number: u32) -> u32 {
    let addressing = number & Sampler::ADDRESSING;
    let repeats = [Sampler::REPEAT, Sampler::MIRRORED_REPEAT].contains(&addressing);
    if !repeats || number & Sampler::NORMALIZED != 0 {
        return addressing;
    }
    report::once(
        "sampler",
        "a sampler with CL_ADDRESS_REPEAT or CL_ADDRESS_MIRRORED_REPEAT has unnormalized coordinates, for which OpenCL \
         leaves results undefined: CL_ADDRESS_CLAMP_TO_EDGE is used",
    );
    Sampler::CLAMP_TO_EDGE
}

/// The state of a sampler by its OpenCL C number. The border is transparent black; a channel that the format lacks
/// comes from the format.
fn sampler(set: &CommandSet, number: u32, border: usize) -> [u32; SAMPLER / 4] {
    let fields = &set.sampler_state;
    let linear = u64::from(number & Sampler::LINEAR != 0);
    let address = match addressing(number) {
        Sampler::CLAMP => address_mode::BORDER,
        Sampler::REPEAT => address_mode::WRAP,
        Sampler::MIRRORED_REPEAT => address_mode::MIRROR,
        _ => address_mode::CLAMP,
    };
    let packed = fields.layout.pack(&[
        (fields.min_filter, linear),
        (fields.mag_filter, linear),
        (fields.border, border as u64),
        (fields.address_x, address),
        (fields.address_y, address),
        (fields.address_z, address),
        (fields.unnormalized, (number & Sampler::NORMALIZED == 0).into()),
        // Positions of the linear filter are rounded to 1/256 texel, those of the nearest are cut off.
        (fields.round_min_x, linear),
        (fields.round_mag_x, linear),
        (fields.round_min_y, linear),
        (fields.round_mag_y, linear),
        (fields.round_min_z, linear),
        (fields.round_mag_z, linear),
    ]);
    std::array::from_fn(|index| packed[index])
}

#[cfg(test)]
mod tests {
    use super::super::gen7::GEN75;
    use super::super::gen8::GEN8;
    use super::super::gen9::GEN9;
    use super::super::moving::program;
    use super::super::{Batch, EnqueuedLaunch, Hardware, MAX_LAUNCHES};
    use super::*;
    use crate::{
        ArgumentValue, ChannelOrder, ChannelType, Context, Device, Image, ImageFormat, MemoryFlags, NdRange,
        SimulatorSettings,
    };
    use gencl_program::{Access, Argument, ArgumentKind, SurfaceBinding};
    use std::sync::Arc;

    const RGBA: ImageFormat = ImageFormat { order: ChannelOrder::Rgba, ty: ChannelType::UnormInt8 };

    fn layout(kind: ImageKind, [width, height, depth, layers]: [usize; 4]) -> ImageLayout {
        let (row_pitch, slice_pitch) = (0, 0);
        ImageLayout { kind, format: RGBA, width, height, depth, layers, row_pitch, slice_pitch }.in_memory()
    }

    /// Type, array, sizes, pitch and QPitch of a surface state.
    fn fields(set: &CommandSet, memory: &ImageLayout) -> [u64; 7] {
        let (dwords, of) = (surface(set, memory, SurfaceView::Sampled, 0x10_0000), &set.surface_state);
        assert_eq!(of.base.get(&dwords), 0x10_0000);
        assert_eq!(of.format.get(&dwords), 0xc7);
        let fields = [of.kind, of.array, of.width, of.height, of.depth, of.pitch];
        let [kind, array, width, height, depth, pitch] = fields.map(|field| field.get(&dwords));
        let qpitch = if of.qpitch.is_there() { of.qpitch.get(&dwords) * 4 } else { 0 };
        [kind, array, width, height, depth, pitch, qpitch]
    }

    #[test]
    fn surfaces_of_all_kinds() {
        let plane = layout(ImageKind::Image2D, [20, 10, 0, 0]);
        assert_eq!(fields(&GEN9, &plane), [1, 0, 19, 9, 0, 127, 0]);
        let planes = layout(ImageKind::Image2DArray, [20, 10, 0, 7]);
        assert_eq!(fields(&GEN9, &planes), [1, 1, 19, 9, 6, 127, 12]);
        assert_eq!(fields(&GEN75, &planes), [1, 1, 19, 9, 6, 127, 0]);
        let volume = layout(ImageKind::Image3D, [20, 10, 7, 0]);
        assert_eq!(fields(&GEN9, &volume), [2, 0, 19, 9, 6, 127, 12]);
        // Layers at QPitch texels, and at QPitch rows.
        let lines = layout(ImageKind::Image1DArray, [20, 0, 0, 7]);
        assert_eq!(fields(&GEN9, &lines), [0, 1, 19, 0, 6, 127, 128]);
        assert_eq!(fields(&GEN8, &lines), [0, 1, 19, 0, 6, 127, 4]);
        let buffer = layout(ImageKind::Image1DBuffer, [1 << 27, 0, 0, 0]);
        assert_eq!(fields(&GEN8, &buffer), [4, 0, 0x7f, 0x3fff, 0x3f, 3, 0]);
    }

    #[test]
    fn samplers() {
        let of = &GEN9.sampler_state;
        let field = |number, field: Field| field.get(&sampler(&GEN9, number, 0x1240));
        let linear = Sampler::LINEAR | Sampler::NORMALIZED | Sampler::REPEAT;
        let fields = [of.min_filter, of.mag_filter, of.address_x, of.unnormalized, of.round_min_x, of.border];
        assert_eq!(fields.map(|f| field(linear, f)), [1, 1, address_mode::WRAP, 0, 1, 0x1240]);
        let nearest = Sampler::NEAREST | Sampler::CLAMP;
        assert_eq!(fields.map(|f| field(nearest, f)), [0, 0, address_mode::BORDER, 1, 0, 0x1240]);
        for repeated in [Sampler::REPEAT, Sampler::MIRRORED_REPEAT] {
            let in_texels = Sampler::NEAREST | repeated;
            assert_eq!(fields.map(|f| field(in_texels, f)), [0, 0, address_mode::CLAMP, 1, 0, 0x1240]);
        }
    }

    /// Launches that differ from the ones before them fill a batch until a binding table would be too far away.
    #[test]
    fn binding_tables_stay_within_reach_of_their_pointers() {
        let device = Device::simulated("ivb", SimulatorSettings::default()).unwrap();
        let context = Context::new(std::slice::from_ref(&device), None).unwrap();
        let argument = Argument {
            name: "image".into(),
            type_name: "image2d_t".into(),
            kind: ArgumentKind::Image,
            size: 8,
            alignment: 8,
            block_offset: 0,
            type_qualifier: 0,
            access: Access::ReadOnly,
        };
        let surfaces = vec![SurfaceBinding { index: 1, argument: 0, view: SurfaceView::Sampled }];
        let kernel = Kernel { arguments: vec![argument], surfaces, ..Kernel::default() };
        let kernel = crate::Kernel::new(&program(&context, &device, kernel), "nothing").unwrap();
        let plane = layout(ImageKind::Image2D, [20, 10, 0, 0]);
        let images = [(); 2].map(|()| Image::new(&context, MemoryFlags::READ_WRITE, plane, None).unwrap());
        let device = context.on(&device).unwrap();
        let hardware = Hardware::new(device.device().node()).unwrap();
        let range = NdRange { dimensions: 1, offset: [0; 3], global: [8, 1, 1], local: Some([8, 1, 1]) };
        let launches = images.each_ref().map(|image| {
            kernel.set_argument(0, ArgumentValue::Image(Arc::downgrade(image))).unwrap();
            EnqueuedLaunch::of(&kernel, &range, device)
        });
        let mut batch = Batch::new(device, &launches[0]).unwrap();
        let mut before = None;
        let fits = |index: &usize| {
            let launch = &launches[index % 2];
            batch.add(launch, before.replace(launch), &hardware).unwrap()
        };
        let added = (0..MAX_LAUNCHES).take_while(fits).count();
        // Each has 320 bytes of state.
        assert!((200..210).contains(&added), "{added} launches");
    }
}
