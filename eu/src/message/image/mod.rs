//! Images: surfaces with a format and a tiling, and the messages that access them.
//!
//! | file | |
//! | --- | --- |
//! | `surface.rs` | RENDER_SURFACE_STATE, and addresses of texels |
//! | `tiling.rs` | the order of bytes in a tiled surface |
//! | `format.rs`, `convert.rs` | surface formats, and their values in registers |
//! | `typed.rs` | typed reads, writes and atomics of the data port |
//! | `media_block.rs` | media block reads and writes |
//! | `sampler.rs`, `sample_kind.rs` | messages to the sampler |
//! | `sampler_state.rs` | SAMPLER_STATE and border colours |
//! | `filter.rs` | coordinates, address modes, filters |
//! | `facts.rs`, `describe.rs` | what translated code is specialised for |
//! | `prepared.rs` | the states that a message uses, decoded once |
//! | `reference.rs` | the sampler for one channel |
//! | `lanes.rs` | texels of all channels of a message at once: `positions.rs`, `texels.rs`, `channels.rs` |
//!
//! Sampler and typed messages are performed for all channels at once where all use the same level of detail and
//! the whole surface is in one buffer, else channel by channel. The results are the same, bit by bit.

mod channels;
mod convert;
mod describe;
mod facts;
mod filter;
mod format;
mod lanes;
mod media_block;
mod positions;
mod prepared;
mod reference;
mod rules;
mod sample_kind;
mod sampler;
mod sampler_state;
mod surface;
mod texels;
mod tiling;
mod typed;
mod values;

pub use convert::{channel_bits, registers};
pub use describe::ImageUse;
pub use facts::{FilterFacts, ImageBinding, ImageFacts, ImageNumbers};
pub use filter::{AddressMode, Axis};
pub use format::{ChannelType, Component, FORMATS, SurfaceFormat};
pub use media_block::{MediaBlock, RowOverride, transfer as media_block};
pub use prepared::PreparedSlot;
pub use sample_kind::{Parameter, SampleKind};
pub use sampler::{Sample, sample, texels as sampled_texels};
pub use typed::{
    SlotGroup, Typed, TypedAtomic, access as typed, atomic as typed_atomic, texels as typed_texels,
};

use super::Call;
use super::surface_state::{SurfaceState, read_surface_state};
use crate::fault::Fault;
use surface::Surface;

/// The four channels of a texel in registers: red, green, blue, alpha, each the bits of a float or an
/// integer.
pub type Texel = [u32; 4];

/// Where the texels of a channel come from.
trait TexelSource {
    /// The texel of a surface at a GPU address.
    fn texel(&mut self, address: u64, image: &Surface) -> Result<Texel, Fault>;

    /// The border colour at an offset, for a surface.
    fn border(&mut self, offset: u32, image: &Surface) -> Result<Texel, Fault>;
}

/// An access to a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelAccess {
    /// GPU address.
    pub address: u64,
    /// Bytes.
    pub bytes: usize,
}

/// Notes what is read, all of which is 0.
impl TexelSource for Vec<TexelAccess> {
    fn texel(&mut self, address: u64, image: &Surface) -> Result<Texel, Fault> {
        self.push(TexelAccess { address, bytes: image.format.bytes() });
        Ok([0; 4])
    }

    fn border(&mut self, _: u32, _: &Surface) -> Result<Texel, Fault> {
        Ok([0; 4])
    }
}

impl TexelSource for Call<'_, '_> {
    fn texel(&mut self, address: u64, image: &Surface) -> Result<Texel, Fault> {
        Ok(image.format.decode(self.read_texel(address, image.format.bytes())?))
    }

    fn border(&mut self, offset: u32, image: &Surface) -> Result<Texel, Fault> {
        self.border_colour(offset, image)
    }
}

impl Call<'_, '_> {
    /// Reads the surface state of a binding table index; dwords that the generation does not have are 0.
    pub(super) fn surface_state(&mut self, index: u8) -> Result<SurfaceState, Fault> {
        let (launch, generation) = (self.context.launch, self.context.device.generation);
        self.check_used("surface", index, launch.used.surfaces)?;
        read_surface_state(launch, generation, self.context.memory, &mut self.context.state_cursor, index)
    }

    /// Strict mode: a kernel uses no more states than its interface descriptor says. The others may be
    /// whatever is behind them.
    fn check_used(&self, what: &str, index: u8, used: Option<u32>) -> Result<(), Fault> {
        match used {
            Some(count) if self.context.strict && u32::from(index) >= count => {
                Err(Fault::illegal(format!("{what} {index}, of {count} that the interface descriptor has")))
            }
            _ => Ok(()),
        }
    }

    /// Reads the bytes of a texel at a GPU address.
    fn read_texel(&mut self, address: u64, size: usize) -> Result<u128, Fault> {
        let mut bytes = [0; 16];
        let cursor = &mut self.context.caches[self.thread.ip].cursor;
        self.context.memory.read(cursor, address, &mut bytes[..size])?;
        Ok(u128::from_le_bytes(bytes))
    }

    /// Writes the bytes of a texel at a GPU address.
    fn write_texel(&mut self, address: u64, size: usize, bits: u128) -> Result<(), Fault> {
        let cursor = &mut self.context.caches[self.thread.ip].cursor;
        Ok(self.context.memory.write(cursor, address, &bits.to_le_bytes()[..size])?)
    }
}

/// The bits `first` to `last` of a state structure, within one dword.
fn bits(dwords: &[u32], first: u32, last: u32) -> u32 {
    let width = last - first + 1;
    dwords[(first / 32) as usize] >> (first % 32) & (u32::MAX >> (32 - width))
}
