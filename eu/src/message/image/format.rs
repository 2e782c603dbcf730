//! Surface formats.
//!
//! Numbers and channels: Skylake manual, Volume 2d "Command Reference: Structures", SURFACE_FORMAT, and
//! Volume 7 "3D-Media-GPGPU", the tables of formats for the sampler and for typed data port messages;
//! cross-checked with Mesa's `isl.h`, `isl_format.c` and `isl_format_layout.csv`. The table has the formats
//! of OpenCL images, and those that drivers use to copy them.

use gencl_isa::Generations;

/// The data type of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelType {
    /// Unsigned normalised: 0 to 1.
    Unorm,
    /// Signed normalised: -1 to 1; the two lowest values both mean -1.
    Snorm,
    /// [`ChannelType::Unorm`], with colours (not alpha) in sRGB encoding.
    Srgb,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Floating point of 16 or 32 bits.
    Float,
}

/// The component that a channel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the manual's letters")]
pub enum Component {
    Red,
    Green,
    Blue,
    Alpha,
    /// Red, green and blue.
    Luminance,
    /// All four.
    Intensity,
    /// None.
    Unused,
}

/// The channels of a format, each with its width in bits, from bit 0 on.
pub type Channels = &'static [(Component, u32)];

/// A surface format.
#[derive(Debug, PartialEq, Eq)]
pub struct SurfaceFormat {
    /// Its number in RENDER_SURFACE_STATE.
    pub number: u32,
    /// The manual's name.
    pub name: &'static str,
    /// Data type of the channels.
    pub channel_type: ChannelType,
    /// Channels.
    pub channels: Channels,
    /// The generations that have typed reads of it.
    pub typed_read: Generations,
    /// Whether typed writes support it.
    pub typed_write: bool,
}

impl SurfaceFormat {
    /// The format with a number.
    pub fn numbered(number: u32) -> Option<&'static SurfaceFormat> {
        FORMATS.binary_search_by_key(&number, |format| format.number).ok().map(|index| &FORMATS[index])
    }

    /// Bytes of a texel.
    pub fn bytes(&self) -> usize {
        self.channels.iter().map(|(_, bits)| *bits as usize).sum::<usize>() / 8
    }

    /// Whether its values are integers.
    pub fn is_integer(&self) -> bool {
        matches!(self.channel_type, ChannelType::Uint | ChannelType::Sint)
    }
}

use Component::{Alpha as A, Blue as B, Green as G, Intensity as I, Luminance as L, Red as R, Unused as X};

const R8: Channels = &[(R, 8)];
const R16: Channels = &[(R, 16)];
const R32: Channels = &[(R, 32)];
const RG8: Channels = &[(R, 8), (G, 8)];
const RG16: Channels = &[(R, 16), (G, 16)];
const RG32: Channels = &[(R, 32), (G, 32)];
const RGB32: Channels = &[(R, 32), (G, 32), (B, 32)];
const RGBA8: Channels = &[(R, 8), (G, 8), (B, 8), (A, 8)];
const RGBX8: Channels = &[(R, 8), (G, 8), (B, 8), (X, 8)];
const BGRA8: Channels = &[(B, 8), (G, 8), (R, 8), (A, 8)];
const BGRX8: Channels = &[(B, 8), (G, 8), (R, 8), (X, 8)];
const RGBA16: Channels = &[(R, 16), (G, 16), (B, 16), (A, 16)];
const RGBX16: Channels = &[(R, 16), (G, 16), (B, 16), (X, 16)];
const RGBA32: Channels = &[(R, 32), (G, 32), (B, 32), (A, 32)];
const RGBX32: Channels = &[(R, 32), (G, 32), (B, 32), (X, 32)];
const RGB10A2: Channels = &[(R, 10), (G, 10), (B, 10), (A, 2)];
const BGR10A2: Channels = &[(B, 10), (G, 10), (R, 10), (A, 2)];
const BGR10X2: Channels = &[(B, 10), (G, 10), (R, 10), (X, 2)];
const B5G6R5: Channels = &[(B, 5), (G, 6), (R, 5)];
const B5G5R5A1: Channels = &[(B, 5), (G, 5), (R, 5), (A, 1)];
const B5G5R5X1: Channels = &[(B, 5), (G, 5), (R, 5), (X, 1)];
const B4G4R4A4: Channels = &[(B, 4), (G, 4), (R, 4), (A, 4)];
const R24X8: Channels = &[(R, 24), (X, 8)];
const R32X32: Channels = &[(R, 32), (X, 32)];
const LA8: Channels = &[(L, 8), (A, 8)];
const LA16: Channels = &[(L, 16), (A, 16)];
const LA32: Channels = &[(L, 32), (A, 32)];
const A8: Channels = &[(A, 8)];
const A16: Channels = &[(A, 16)];
const A32: Channels = &[(A, 32)];
const I8: Channels = &[(I, 8)];
const I16: Channels = &[(I, 16)];
const I32: Channels = &[(I, 32)];
const L8: Channels = &[(L, 8)];
const L16: Channels = &[(L, 16)];
const L32: Channels = &[(L, 32)];

const NONE: Generations = Generations::NONE;
const GEN7_TO_9: Generations = Generations::GEN7_TO_9;
const GEN75_TO_9: Generations = Generations::GEN75_TO_9;
const GEN9: Generations = Generations::GEN9;
const WRITE: bool = true;
const NO_WRITE: bool = false;

const fn row(
    number: u32,
    name: &'static str,
    channel_type: ChannelType,
    channels: Channels,
    typed_read: Generations,
    typed_write: bool,
) -> SurfaceFormat {
    SurfaceFormat { number, name, channel_type, channels, typed_read, typed_write }
}

/// All formats, by number.
#[rustfmt::skip]
pub const FORMATS: &[SurfaceFormat] = &[
    row(0x000, "R32G32B32A32_FLOAT", ChannelType::Float, RGBA32, GEN9, WRITE),
    row(0x001, "R32G32B32A32_SINT", ChannelType::Sint, RGBA32, GEN9, WRITE),
    row(0x002, "R32G32B32A32_UINT", ChannelType::Uint, RGBA32, GEN9, WRITE),
    row(0x006, "R32G32B32X32_FLOAT", ChannelType::Float, RGBX32, NONE, NO_WRITE),
    row(0x040, "R32G32B32_FLOAT", ChannelType::Float, RGB32, NONE, NO_WRITE),
    row(0x041, "R32G32B32_SINT", ChannelType::Sint, RGB32, NONE, NO_WRITE),
    row(0x042, "R32G32B32_UINT", ChannelType::Uint, RGB32, NONE, NO_WRITE),
    row(0x080, "R16G16B16A16_UNORM", ChannelType::Unorm, RGBA16, NONE, WRITE),
    row(0x081, "R16G16B16A16_SNORM", ChannelType::Snorm, RGBA16, NONE, WRITE),
    row(0x082, "R16G16B16A16_SINT", ChannelType::Sint, RGBA16, GEN9, WRITE),
    row(0x083, "R16G16B16A16_UINT", ChannelType::Uint, RGBA16, GEN75_TO_9, WRITE),
    row(0x084, "R16G16B16A16_FLOAT", ChannelType::Float, RGBA16, GEN9, WRITE),
    row(0x085, "R32G32_FLOAT", ChannelType::Float, RG32, GEN9, WRITE),
    row(0x086, "R32G32_SINT", ChannelType::Sint, RG32, GEN9, WRITE),
    row(0x087, "R32G32_UINT", ChannelType::Uint, RG32, GEN9, WRITE),
    row(0x088, "R32_FLOAT_X8X24_TYPELESS", ChannelType::Float, R32X32, NONE, NO_WRITE),
    row(0x08a, "L32A32_FLOAT", ChannelType::Float, LA32, NONE, NO_WRITE),
    row(0x08e, "R16G16B16X16_UNORM", ChannelType::Unorm, RGBX16, NONE, NO_WRITE),
    row(0x08f, "R16G16B16X16_FLOAT", ChannelType::Float, RGBX16, NONE, NO_WRITE),
    row(0x0c0, "B8G8R8A8_UNORM", ChannelType::Unorm, BGRA8, NONE, WRITE),
    row(0x0c1, "B8G8R8A8_UNORM_SRGB", ChannelType::Srgb, BGRA8, NONE, NO_WRITE),
    row(0x0c2, "R10G10B10A2_UNORM", ChannelType::Unorm, RGB10A2, NONE, WRITE),
    row(0x0c4, "R10G10B10A2_UINT", ChannelType::Uint, RGB10A2, NONE, WRITE),
    row(0x0c7, "R8G8B8A8_UNORM", ChannelType::Unorm, RGBA8, NONE, WRITE),
    row(0x0c8, "R8G8B8A8_UNORM_SRGB", ChannelType::Srgb, RGBA8, NONE, NO_WRITE),
    row(0x0c9, "R8G8B8A8_SNORM", ChannelType::Snorm, RGBA8, NONE, WRITE),
    row(0x0ca, "R8G8B8A8_SINT", ChannelType::Sint, RGBA8, GEN9, WRITE),
    row(0x0cb, "R8G8B8A8_UINT", ChannelType::Uint, RGBA8, GEN75_TO_9, WRITE),
    row(0x0cc, "R16G16_UNORM", ChannelType::Unorm, RG16, NONE, WRITE),
    row(0x0cd, "R16G16_SNORM", ChannelType::Snorm, RG16, NONE, WRITE),
    row(0x0ce, "R16G16_SINT", ChannelType::Sint, RG16, GEN9, WRITE),
    row(0x0cf, "R16G16_UINT", ChannelType::Uint, RG16, GEN75_TO_9, WRITE),
    row(0x0d0, "R16G16_FLOAT", ChannelType::Float, RG16, GEN9, WRITE),
    row(0x0d1, "B10G10R10A2_UNORM", ChannelType::Unorm, BGR10A2, NONE, WRITE),
    row(0x0d6, "R32_SINT", ChannelType::Sint, R32, GEN7_TO_9, WRITE),
    row(0x0d7, "R32_UINT", ChannelType::Uint, R32, GEN7_TO_9, WRITE),
    row(0x0d8, "R32_FLOAT", ChannelType::Float, R32, GEN7_TO_9, WRITE),
    row(0x0d9, "R24_UNORM_X8_TYPELESS", ChannelType::Unorm, R24X8, NONE, NO_WRITE),
    row(0x0df, "L16A16_UNORM", ChannelType::Unorm, LA16, NONE, NO_WRITE),
    row(0x0e3, "I32_FLOAT", ChannelType::Float, I32, NONE, NO_WRITE),
    row(0x0e4, "L32_FLOAT", ChannelType::Float, L32, NONE, NO_WRITE),
    row(0x0e5, "A32_FLOAT", ChannelType::Float, A32, NONE, NO_WRITE),
    row(0x0e9, "B8G8R8X8_UNORM", ChannelType::Unorm, BGRX8, NONE, NO_WRITE),
    row(0x0ea, "B8G8R8X8_UNORM_SRGB", ChannelType::Srgb, BGRX8, NONE, NO_WRITE),
    row(0x0eb, "R8G8B8X8_UNORM", ChannelType::Unorm, RGBX8, NONE, NO_WRITE),
    row(0x0ec, "R8G8B8X8_UNORM_SRGB", ChannelType::Srgb, RGBX8, NONE, NO_WRITE),
    row(0x0ee, "B10G10R10X2_UNORM", ChannelType::Unorm, BGR10X2, NONE, NO_WRITE),
    row(0x0f0, "L16A16_FLOAT", ChannelType::Float, LA16, NONE, NO_WRITE),
    row(0x100, "B5G6R5_UNORM", ChannelType::Unorm, B5G6R5, NONE, WRITE),
    row(0x101, "B5G6R5_UNORM_SRGB", ChannelType::Srgb, B5G6R5, NONE, NO_WRITE),
    row(0x102, "B5G5R5A1_UNORM", ChannelType::Unorm, B5G5R5A1, NONE, WRITE),
    row(0x103, "B5G5R5A1_UNORM_SRGB", ChannelType::Srgb, B5G5R5A1, NONE, NO_WRITE),
    row(0x104, "B4G4R4A4_UNORM", ChannelType::Unorm, B4G4R4A4, NONE, WRITE),
    row(0x105, "B4G4R4A4_UNORM_SRGB", ChannelType::Srgb, B4G4R4A4, NONE, NO_WRITE),
    row(0x106, "R8G8_UNORM", ChannelType::Unorm, RG8, NONE, WRITE),
    row(0x107, "R8G8_SNORM", ChannelType::Snorm, RG8, NONE, WRITE),
    row(0x108, "R8G8_SINT", ChannelType::Sint, RG8, GEN9, WRITE),
    row(0x109, "R8G8_UINT", ChannelType::Uint, RG8, GEN75_TO_9, WRITE),
    row(0x10a, "R16_UNORM", ChannelType::Unorm, R16, NONE, WRITE),
    row(0x10b, "R16_SNORM", ChannelType::Snorm, R16, NONE, WRITE),
    row(0x10c, "R16_SINT", ChannelType::Sint, R16, GEN9, WRITE),
    row(0x10d, "R16_UINT", ChannelType::Uint, R16, GEN75_TO_9, WRITE),
    row(0x10e, "R16_FLOAT", ChannelType::Float, R16, GEN9, WRITE),
    row(0x111, "I16_UNORM", ChannelType::Unorm, I16, NONE, NO_WRITE),
    row(0x112, "L16_UNORM", ChannelType::Unorm, L16, NONE, NO_WRITE),
    row(0x113, "A16_UNORM", ChannelType::Unorm, A16, NONE, NO_WRITE),
    row(0x114, "L8A8_UNORM", ChannelType::Unorm, LA8, NONE, NO_WRITE),
    row(0x115, "I16_FLOAT", ChannelType::Float, I16, NONE, NO_WRITE),
    row(0x116, "L16_FLOAT", ChannelType::Float, L16, NONE, NO_WRITE),
    row(0x117, "A16_FLOAT", ChannelType::Float, A16, NONE, NO_WRITE),
    row(0x11a, "B5G5R5X1_UNORM", ChannelType::Unorm, B5G5R5X1, NONE, WRITE),
    row(0x11b, "B5G5R5X1_UNORM_SRGB", ChannelType::Srgb, B5G5R5X1, NONE, NO_WRITE),
    row(0x140, "R8_UNORM", ChannelType::Unorm, R8, NONE, WRITE),
    row(0x141, "R8_SNORM", ChannelType::Snorm, R8, NONE, WRITE),
    row(0x142, "R8_SINT", ChannelType::Sint, R8, GEN9, WRITE),
    row(0x143, "R8_UINT", ChannelType::Uint, R8, GEN75_TO_9, WRITE),
    row(0x144, "A8_UNORM", ChannelType::Unorm, A8, NONE, WRITE),
    row(0x145, "I8_UNORM", ChannelType::Unorm, I8, NONE, NO_WRITE),
    row(0x146, "L8_UNORM", ChannelType::Unorm, L8, NONE, NO_WRITE),
];
