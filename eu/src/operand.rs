//! Operands, resolved as far as possible before execution, and their loads and stores.

use gencl_isa::{AccessMode, Destination, Operand, Region, Register, Source, Type};

use crate::file::{self, ADDRESS, File, GRF_BYTES, grf_mask};

/// Maximum number of channels of an instruction.
pub const MAX_LANES: usize = 32;

/// Where a source's elements are.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceLocation {
    /// Packed, from a byte offset on.
    Packed(usize),
    /// One element for all channels.
    Scalar(usize),
    /// A constant for all channels, in the low bits.
    Constant(u64),
    /// Constants, one per channel (V, UV, VF).
    Constants(Box<[u64; MAX_LANES]>),
    /// At a byte offset per channel.
    Scattered(Box<[u16; MAX_LANES]>),
    /// Register-indirect: the element of channel `n` is at the address in word `word + rows[n]` of `a0`, plus
    /// `offset`, plus `steps[n]` bytes.
    Indirect {
        /// First word of `a0`.
        word: u8,
        /// Byte offset from the address.
        offset: i16,
        /// Words of `a0` beyond the first, for each channel (`VxH`).
        rows: Box<[u8; MAX_LANES]>,
        /// Bytes from the address, for each channel.
        steps: Box<[u16; MAX_LANES]>,
    },
    /// There is no operand.
    None,
}

/// A source operand.
#[derive(Clone, Debug)]
pub struct Src {
    /// Where its elements are.
    pub location: SourceLocation,
    /// Type of the elements; for vector immediates the type of the expanded elements.
    pub ty: Type,
    /// Negation (or complement, see [`Src::complement`]).
    pub negate: bool,
    /// Absolute value, before negation.
    pub abs: bool,
    /// The negation is a bitwise complement: logic instructions of Gen8+.
    pub complement: bool,
    /// Bit set of general registers that are read; 0 for indirect operands.
    pub reads: u128,
}

/// Where the elements of a destination are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Nowhere.
    Null,
    /// From a byte offset on, `stride` bytes apart.
    Direct {
        /// First byte.
        offset: usize,
        /// Bytes from one element to the next.
        stride: usize,
    },
    /// Register-indirect.
    Indirect {
        /// Word of `a0`.
        word: u8,
        /// Byte offset.
        offset: i16,
        /// Bytes from one element to the next.
        stride: usize,
    },
}

/// A destination operand.
#[derive(Clone, Debug)]
pub struct Dst {
    /// Where its elements are.
    pub target: Target,
    /// Type of the elements.
    pub ty: Type,
    /// Bit set of general registers that are written; 0 for indirect operands.
    pub writes: u128,
}

/// Why an operand is invalid.
pub type OperandError = String;

impl Src {
    /// No operand.
    pub const NONE: Src = Src {
        location: SourceLocation::None,
        ty: Type::UD,
        negate: false,
        abs: false,
        complement: false,
        reads: 0,
    };

    /// Resolves a source of an instruction with `lanes` channels. `ternary`: three-source instructions, whose
    /// operands are always packed or replicated.
    pub fn resolve(
        operand: &Operand,
        lanes: usize,
        mode: AccessMode,
        ternary: bool,
    ) -> Result<Src, OperandError> {
        match operand {
            Operand::None => Ok(Src::NONE),
            Operand::Immediate { bits, ty } => Ok(Src::constant(*bits, *ty)),
            Operand::Register(source) => Src::register(source, lanes, mode, ternary),
        }
    }

    /// Spreads a vector immediate for a destination whose elements are `step` bytes apart: the elements of
    /// the immediate are packed in 16 bytes, and a channel reads the one at its byte offset in the
    /// destination.
    pub fn spread(&mut self, step: usize) {
        if let SourceLocation::Constants(elements) = &mut self.location {
            let apart = (step / self.ty.size() as usize).max(1);
            let packed = elements.clone();
            **elements = std::array::from_fn(|n| packed[n * apart % packed.len()]);
        }
    }

    fn constant(bits: u64, ty: Type) -> Src {
        let (location, ty) = match ty {
            Type::V => (
                SourceLocation::Constants(Box::new(std::array::from_fn(|n| packed_signed(bits, n)))),
                Type::W,
            ),
            Type::UV => (
                SourceLocation::Constants(Box::new(std::array::from_fn(|n| bits >> (n % 8 * 4) & 0xf))),
                Type::UW,
            ),
            Type::VF => {
                (SourceLocation::Constants(Box::new(std::array::from_fn(|n| packed_float(bits, n)))), Type::F)
            }
            Type::UB
            | Type::B
            | Type::UW
            | Type::W
            | Type::UD
            | Type::D
            | Type::UQ
            | Type::Q
            | Type::HF
            | Type::F
            | Type::DF => (SourceLocation::Constant(bits & low_bits(ty.size() * 8)), ty),
        };
        Src { location, ty, ..Src::NONE }
    }

    fn register(source: &Source, lanes: usize, mode: AccessMode, ternary: bool) -> Result<Src, OperandError> {
        let size = source.ty.size() as usize;
        let plain = Src {
            location: SourceLocation::None,
            ty: source.ty,
            negate: source.negate,
            abs: source.abs,
            complement: false,
            reads: 0,
        };
        let steps = steps(source, mode, ternary);
        if let Some(indirect) = source.indirect {
            let rows = std::array::from_fn(|n| match source.region {
                Region { vstride: Region::VXH, width, .. } => (n / usize::from(width.max(1))) as u8,
                _ => 0,
            });
            let location = SourceLocation::Indirect {
                word: indirect.subregister,
                offset: indirect.offset,
                rows: Box::new(rows),
                steps: Box::new(steps),
            };
            return Ok(Src { location, ..plain });
        }
        let base = file::offset_of(source.register)
            .ok_or_else(|| format!("no register {:?}", source.register))?
            + usize::from(source.subregister);
        let used = &steps[..lanes];
        let last = base + used.iter().copied().max().map_or(0, usize::from) + size;
        let is_grf = matches!(source.register, Register::Grf(_));
        if is_grf && last > GRF_BYTES || last > file::FILE_BYTES {
            return Err("a source region goes beyond the last register".into());
        }
        let location = if used.iter().all(|s| *s == 0) {
            SourceLocation::Scalar(base)
        } else if used.iter().enumerate().all(|(n, s)| usize::from(*s) == n * size) {
            SourceLocation::Packed(base)
        } else {
            SourceLocation::Scattered(Box::new(steps.map(|s| base as u16 + s)))
        };
        let reads = used.iter().fold(0, |set, s| {
            let at = base + usize::from(*s);
            set | grf_mask(at, at + size)
        });
        Ok(Src { location, reads, ..plain })
    }

    /// Whether it has a source modifier.
    pub fn modified(&self) -> bool {
        self.negate || self.abs
    }

    /// Whether there is an operand.
    pub fn is_some(&self) -> bool {
        self.location != SourceLocation::None
    }

    /// Whether it is an explicit accumulator operand.
    pub fn is_accumulator(&self) -> bool {
        self.offset().is_some_and(is_accumulator)
    }

    /// Byte offset of the first element of a direct operand.
    pub fn offset(&self) -> Option<usize> {
        match &self.location {
            SourceLocation::Packed(at) | SourceLocation::Scalar(at) => Some(*at),
            SourceLocation::Scattered(offsets) => Some(usize::from(offsets[0])),
            SourceLocation::Constant(_)
            | SourceLocation::Constants(_)
            | SourceLocation::Indirect { .. }
            | SourceLocation::None => None,
        }
    }
}

/// Whether an offset in the register file is in an accumulator.
pub fn is_accumulator(offset: usize) -> bool {
    (file::ACCUMULATOR..file::FLAG).contains(&offset)
}

/// Bytes from the first element to each channel's (Volume 7, "Region Parameters" and "Swizzle").
fn steps(source: &Source, mode: AccessMode, ternary: bool) -> [u16; MAX_LANES] {
    let size = source.ty.size() as usize;
    let Region { vstride, width, hstride } = source.region;
    let width = usize::from(width.max(1));
    std::array::from_fn(|n| {
        let swizzled = |n: usize| usize::from(source.swizzle >> (n % 4 * 2) & 3);
        let element = if ternary && source.replicate {
            0
        } else if ternary && size == 8 {
            // Components have 32 bits: a double is two of them.
            n / 2 * 2 + swizzled(n % 2 * 2) / 2
        } else if ternary {
            n / 4 * 4 + swizzled(n)
        } else if mode == AccessMode::Align16 {
            n / 4 * usize::from(vstride) + swizzled(n)
        } else if vstride == Region::VXH {
            n % width * usize::from(hstride)
        } else {
            n / width * usize::from(vstride) + n % width * usize::from(hstride)
        };
        (element * size) as u16
    })
}

impl Dst {
    /// Resolves a destination of an instruction with `lanes` channels.
    pub fn resolve(destination: &Destination, lanes: usize) -> Result<Dst, OperandError> {
        let ty = destination.ty;
        let size = ty.size() as usize;
        let stride = size * usize::from(destination.hstride.max(1));
        if let Some(indirect) = destination.indirect {
            let target = Target::Indirect { word: indirect.subregister, offset: indirect.offset, stride };
            return Ok(Dst { target, ty, writes: 0 });
        }
        if destination.register == Register::NULL {
            return Ok(Dst { target: Target::Null, ty, writes: 0 });
        }
        let offset = file::offset_of(destination.register)
            .ok_or_else(|| format!("no register {:?}", destination.register))?
            + usize::from(destination.subregister);
        let end = offset + stride * (lanes - 1) + size;
        if matches!(destination.register, Register::Grf(_)) && end > GRF_BYTES || end > file::FILE_BYTES {
            return Err("a destination region goes beyond the last register".into());
        }
        let writes =
            (0..lanes).fold(0, |set, n| set | grf_mask(offset + n * stride, offset + n * stride + size));
        Ok(Dst { target: Target::Direct { offset, stride }, ty, writes })
    }

    /// Whether it is an accumulator.
    pub fn is_accumulator(&self) -> bool {
        matches!(self.target, Target::Direct { offset, .. } if is_accumulator(offset))
    }
}

/// A value with the low `bits` bits set.
pub fn low_bits(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Element `n` of a `V` immediate as the bits of a word.
fn packed_signed(bits: u64, n: usize) -> u64 {
    let nibble = (bits >> (n % 8 * 4) & 0xf) as i64;
    ((nibble << 60 >> 60) & 0xffff) as u64
}

/// Element `n` of a `VF` immediate as the bits of an `F`: sign, three bits of exponent with bias 3, four bits
/// of mantissa; 0 and 0x80 are the zeros (Volume 7, "Packed Restricted Float Vector").
fn packed_float(bits: u64, n: usize) -> u64 {
    let byte = bits >> (n % 4 * 8) & 0xff;
    let sign = byte >> 7 << 31;
    if byte & 0x7f == 0 {
        return sign;
    }
    sign | ((byte >> 4 & 7) + 127 - 3) << 23 | (byte & 0xf) << 19
}

/// A host type of elements.
pub trait Lane: bytemuck::Pod + PartialEq + Default {
    /// The low bits of a constant.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! lanes {
    ($($ty:ty = |$bits:ident| $value:expr;)*) => {
        $(impl Lane for $ty {
            #[inline(always)]
            fn from_bits($bits: u64) -> $ty {
                $value
            }
        })*
    };
}

lanes! {
    u8 = |bits| bits as u8;
    i8 = |bits| bits as i8;
    u16 = |bits| bits as u16;
    i16 = |bits| bits as i16;
    u32 = |bits| bits as u32;
    i32 = |bits| bits as i32;
    u64 = |bits| bits;
    i64 = |bits| bits as i64;
    f32 = |bits| f32::from_bits(bits as u32);
    f64 = |bits| f64::from_bits(bits);
}

/// Loads the elements of a direct operand, without applying modifiers.
#[inline(always)]
pub fn load<T: Lane, const N: usize>(file: &File, src: &Src) -> [T; N] {
    let size = size_of::<T>();
    match &src.location {
        SourceLocation::Packed(at) => bytemuck::pod_read_unaligned(&file[*at..*at + N * size]),
        SourceLocation::Scalar(at) => [bytemuck::pod_read_unaligned(&file[*at..*at + size]); N],
        SourceLocation::Constant(bits) => [T::from_bits(*bits); N],
        SourceLocation::Constants(constants) => std::array::from_fn(|n| T::from_bits(constants[n])),
        SourceLocation::Scattered(offsets) => std::array::from_fn(|n| {
            let at = usize::from(offsets[n]);
            bytemuck::pod_read_unaligned(&file[at..at + size])
        }),
        SourceLocation::Indirect { .. } | SourceLocation::None => [T::default(); N],
    }
}

/// Stores the elements of the channels in `mask` to a direct destination.
#[inline(always)]
pub fn store<T: Lane, const N: usize>(file: &mut File, target: Target, mask: u32, values: &[T; N]) {
    let Target::Direct { offset, stride } = target else { return };
    let size = size_of::<T>();
    if stride == size {
        let bytes = &mut file[offset..offset + N * size];
        if mask == full_mask(N) {
            bytes.copy_from_slice(bytemuck::bytes_of(values));
        } else {
            let mut old: [T; N] = bytemuck::pod_read_unaligned(bytes);
            for n in 0..N {
                old[n] = if mask >> n & 1 != 0 { values[n] } else { old[n] };
            }
            bytes.copy_from_slice(bytemuck::bytes_of(&old));
        }
    } else {
        for (n, value) in values.iter().enumerate() {
            if mask >> n & 1 != 0 {
                let at = offset + n * stride;
                file[at..at + size].copy_from_slice(bytemuck::bytes_of(value));
            }
        }
    }
}

/// The mask of all of `lanes` channels.
#[inline(always)]
pub const fn full_mask(lanes: usize) -> u32 {
    u32::MAX >> (32 - lanes)
}

/// Word `index` of `a0`.
#[inline]
pub fn address_word(file: &File, index: usize) -> u16 {
    let at = ADDRESS + index % 16 * 2;
    u16::from_le_bytes([file[at], file[at + 1]])
}

/// Iterates over the channels of a mask.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}
