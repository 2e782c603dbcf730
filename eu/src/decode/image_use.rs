//! Finds the facts of images that translated code is specialised for.

use crate::device::Device;
use crate::dispatch::Launch;
use crate::memory::{AddressSpace, Cursor};
use crate::message::image::facts::{FilterFacts, ImageBinding, ImageFacts, ImageNumbers};
use crate::message::image::filter::{AddressMode, Filter};
use crate::message::image::format::ChannelType;
use crate::message::image::prepared::{ImageOperation, Key, Prepared};
use crate::message::image::rules::{self, IntegerBorder};
use crate::message::image::sample_kind::SampleKind;
use crate::message::image::surface::{Surface, SurfaceType};
use crate::message::image::tiling::Tiling;
use crate::message::image::values::Texel;
use crate::message::surface_state::read_surface_state;
use crate::message::{Message, MessageOperation};
use crate::op::{Action, Op};

/// Offsets in an image are less.
const MAX_EXTENT: u32 = 1 << 31;

/// What a message accesses, by the numbers of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageUse {
    operation: ImageOperation,
    surface: u8,
    sampler: Option<u8>,
    header: bool,
}

impl ImageUse {
    /// That of a message: filtered reads, loads and typed writes have one.
    pub fn of(message: &Message) -> Option<ImageUse> {
        let header = message.lengths.header;
        match message.kind.as_ref()? {
            MessageOperation::Sample(m) if m.kind != SampleKind::ResourceInfo && !header => Some(ImageUse {
                operation: ImageOperation::Sample(m.kind),
                surface: m.surface,
                sampler: m.kind.is_filtered().then_some(m.sampler),
                header,
            }),
            MessageOperation::Typed(m) if m.write => {
                Some(ImageUse { operation: ImageOperation::Typed, surface: m.surface, sampler: None, header })
            }
            MessageOperation::Sample(_)
            | MessageOperation::Typed(_)
            | MessageOperation::TypedAtomic(_)
            | MessageOperation::MediaBlock(_)
            | MessageOperation::Scattered(_)
            | MessageOperation::Atomic(_)
            | MessageOperation::Block(_)
            | MessageOperation::Scratch(_)
            | MessageOperation::Fence
            | MessageOperation::Barrier
            | MessageOperation::Race(_)
            | MessageOperation::End => None,
        }
    }

    /// Those of a kernel's instructions, each once, in the order of the instructions.
    pub fn all(ops: &[Op]) -> Vec<ImageUse> {
        let mut all = Vec::new();
        for op in ops {
            if let Action::Message(message) = &op.action
                && let Some(found) = ImageUse::of(message)
                && !all.contains(&found)
            {
                all.push(found);
            }
        }
        all
    }

    /// The image of a launch that it accesses, if code can be specialised for it: one level of detail in linear
    /// memory. What would fault has none.
    pub fn binding(
        &self,
        device: &Device,
        launch: &Launch,
        memory: &AddressSpace,
        strict: bool,
    ) -> Option<ImageBinding> {
        let rules = rules::of(device.generation);
        let is_used =
            |index: u8, used: Option<u32>| !strict || used.is_none_or(|count| u32::from(index) < count);
        let is_there = is_used(self.surface, launch.used.surfaces)
            && self.surface < 253
            && self.sampler.is_none_or(|index| is_used(index, launch.used.samplers));
        if !is_there {
            return None;
        }
        let cursor = &mut Cursor::default();
        let surface = read_surface_state(launch, device.generation, memory, cursor, self.surface).ok()?;
        let sampler = match self.sampler {
            Some(index) => {
                let table = u64::from(launch.samplers & !0x1f);
                Some(dynamic_state(launch, memory, table + u64::from(index) * 16)?)
            }
            None => None,
        };
        let prepared =
            Prepared::new(Key { operation: self.operation, surface, sampler, strict }, rules).ok()?;
        let image = &prepared.image;
        let format = image.format;
        let (level, smaller) = prepared.level.as_ref()?;
        let is_simple = image.tiling == Tiling::Linear
            && level.number == 0
            && level.extent < MAX_EXTENT
            && format.channel_type != ChannelType::Srgb
            && (image.ty != SurfaceType::Buffer || image.pitch == format.bytes() as u64);
        if !is_simple || !self.is_defined(&prepared, rules.typed_header, strict) {
            return None;
        }
        memory.range(cursor, image.base, level.extent.into())?;
        let (base, slice) = slices(image);
        // Code reads whole dwords, and says how texels are aligned.
        let alignment = format.bytes().min(4) as u64;
        let is_aligned = base.is_multiple_of(4)
            && image.pitch.is_multiple_of(alignment)
            && u64::from(slice).is_multiple_of(alignment);
        if !is_aligned {
            return None;
        }
        let filter = prepared.sampler.as_ref().map(|state| FilterFacts {
            linear: prepared.filter(state, *smaller) == Filter::Linear,
            axes: *state.axes(*smaller),
        });
        let border = match (&prepared.sampler, &filter) {
            (Some(state), Some(filter)) if has_border(filter, image) => {
                let is_same = !format.is_integer() || rules.integer_border == IntegerBorder::Same;
                is_same.then(|| dynamic_state(launch, memory, state.border.into()))??
            }
            _ => [0; 4],
        };
        let facts = ImageFacts {
            format: format.number,
            dimensions: image.dimensions() as u8,
            array: image.array && image.dimensions() < 3,
            select: image.select.map(|select| select as u8),
            filter,
        };
        let numbers = ImageNumbers { size: level.size, pitch: image.pitch as u32, slice, border };
        Some(ImageBinding { facts, base, numbers })
    }

    /// Whether the message can be performed.
    fn is_defined(&self, prepared: &Prepared, needs_header: bool, strict: bool) -> bool {
        self.operation != ImageOperation::Typed
            || prepared.image.format.typed_write
                && !(strict && (needs_header && !self.header || prepared.image.check_typed().is_err()))
    }
}

/// The address of the first texel, and the bytes from slice to slice.
fn slices(image: &Surface) -> (u64, u32) {
    let [first, second] = [0, 1].map(|slice| image.address(0, [0, 0, slice]));
    (first, if image.size[2] > 1 { second.wrapping_sub(first) as u32 } else { 0 })
}

fn has_border(filter: &FilterFacts, image: &Surface) -> bool {
    filter.axes[..image.dimensions()]
        .iter()
        .any(|axis| matches!(axis.mode, AddressMode::Border | AddressMode::HalfBorder))
}

/// Four dwords at an offset from the Dynamic State Base Address.
fn dynamic_state(launch: &Launch, memory: &AddressSpace, offset: u64) -> Option<Texel> {
    let mut bytes = [0; 16];
    let address = launch.bases.dynamic.wrapping_add(offset);
    memory.read(&mut Cursor::default(), address, &mut bytes).ok()?;
    Some(bytemuck::cast(bytes))
}
