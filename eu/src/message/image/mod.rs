//! Images: surfaces with a format and a tiling, samplers, and their texels.
//!
//! | file | |
//! | --- | --- |
//! | `surface.rs` | RENDER_SURFACE_STATE, and addresses of texels |
//! | `tiling.rs` | the order of bytes in a tiled surface |
//! | `format.rs`, `convert.rs` | surface formats, and their values in registers |
//! | `operations.rs`, `sample_kind.rs` | messages of the data port and to the sampler |
//! | `sampler_state.rs` | SAMPLER_STATE and border colours |
//! | `filter.rs` | coordinates, address modes, filters |
//! | `facts.rs` | what translated code is specialised for |
//! | `prepared.rs` | the states that a message uses, decoded once |
//! | `reference.rs`, `source.rs` | the sampler for one channel |
//! | `lanes.rs` | texels of all channels of a message at once: `positions.rs`, `texels.rs`, `channels.rs`, `values.rs` |
//!
//! Sampler and typed messages are performed for all channels at once where all use the same level of detail and
//! the whole surface is in one buffer, else channel by channel. The results are the same, bit by bit.

mod channels;
mod convert;
pub mod facts;
pub mod filter;
pub mod format;
pub mod lanes;
pub mod operations;
mod positions;
pub mod prepared;
pub mod reference;
pub mod rules;
pub mod sample_kind;
pub mod sampler_state;
pub mod source;
pub mod surface;
mod texels;
pub mod tiling;
pub mod values;

pub use convert::{channel_bits, registers};
pub use facts::{FilterFacts, ImageBinding, ImageFacts, ImageNumbers};
pub use filter::{AddressMode, Axis};
pub use format::{ChannelType, Component, FORMATS, SurfaceFormat};
pub use operations::{MediaBlock, Sample, Typed, TypedAtomic};
pub use prepared::PreparedSlot;
pub use sample_kind::Parameter;
