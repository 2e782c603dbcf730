//! Texels and filters as the specification has them: OpenCL C 3.0, "Image Addressing and Filtering".

#![allow(non_upper_case_globals, reason = "the API's names in patterns")]

use half::f16;
use opencl_sys::{
    CL_A, CL_ABGR, CL_ADDRESS_CLAMP, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE, CL_ADDRESS_REPEAT, CL_ARGB,
    CL_BGRA, CL_DEPTH, CL_FLOAT, CL_HALF_FLOAT, CL_INTENSITY, CL_LUMINANCE, CL_R, CL_RA, CL_RG, CL_RGB,
    CL_RGBA, CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32, CL_SNORM_INT8, CL_SNORM_INT16,
    CL_UNORM_INT_101010, CL_UNORM_INT8, CL_UNORM_INT16, CL_UNORM_SHORT_555, CL_UNORM_SHORT_565,
    CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_sBGRA, CL_sRGBA, cl_image_format,
};

/// The channels of a texel: floats, or integers that are exact in them.
pub type Texel = [f64; 4];

/// Which function of OpenCL C reads the format: the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Float,
    Signed,
    Unsigned,
}

impl Access {
    pub fn of(format: &cl_image_format) -> Self {
        match format.image_channel_data_type {
            CL_SIGNED_INT8 | CL_SIGNED_INT16 | CL_SIGNED_INT32 => Self::Signed,
            CL_UNSIGNED_INT8 | CL_UNSIGNED_INT16 | CL_UNSIGNED_INT32 => Self::Unsigned,
            _ => Self::Float,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Float => "f",
            Self::Signed => "i",
            Self::Unsigned => "ui",
        }
    }

    /// A channel in a register.
    pub fn bits(self, value: f64) -> u32 {
        match self {
            Self::Float => (value as f32).to_bits(),
            Self::Signed => (value as i32).cast_unsigned(),
            Self::Unsigned => value as u32,
        }
    }

    pub fn value(self, bits: u32) -> f64 {
        match self {
            Self::Float => f32::from_bits(bits).into(),
            Self::Signed => bits.cast_signed().into(),
            Self::Unsigned => bits.into(),
        }
    }
}

/// Orders, and where the channels of a texel in memory come from: 0 red to 3 alpha.
const ORDERS: &[(u32, &[usize])] = &[
    (CL_R, &[0]),
    (CL_INTENSITY, &[0]),
    (CL_LUMINANCE, &[0]),
    (CL_DEPTH, &[0]),
    (CL_A, &[3]),
    (CL_RG, &[0, 1]),
    (CL_RA, &[0, 3]),
    (CL_RGB, &[0, 1, 2]),
    (CL_RGBA, &[0, 1, 2, 3]),
    (CL_sRGBA, &[0, 1, 2, 3]),
    (CL_BGRA, &[2, 1, 0, 3]),
    (CL_sBGRA, &[2, 1, 0, 3]),
    (CL_ARGB, &[3, 0, 1, 2]),
    (CL_ABGR, &[3, 2, 1, 0]),
];

/// Whether the reference has the order. Other drivers list some for kernels that know them: planes, depths with
/// stencils.
pub fn has_order(format: &cl_image_format) -> bool {
    ORDERS.iter().any(|(order, _)| *order == format.image_channel_order)
}

fn channels(order: u32) -> &'static [usize] {
    let found = ORDERS.iter().find(|(other, _)| *other == order);
    found.unwrap_or_else(|| panic!("channel order {order:#x}")).1
}

/// Bytes of a channel.
fn channel_bytes(ty: u32) -> usize {
    match ty {
        CL_SNORM_INT8 | CL_UNORM_INT8 | CL_SIGNED_INT8 | CL_UNSIGNED_INT8 => 1,
        CL_SIGNED_INT32 | CL_UNSIGNED_INT32 | CL_FLOAT => 4,
        _ => 2,
    }
}

/// The bytes of a packed texel, and the lowest bit and the width of red, green and blue.
fn packed(ty: u32) -> Option<(usize, [(u32, u32); 3])> {
    match ty {
        CL_UNORM_SHORT_565 => Some((2, [(11, 5), (5, 6), (0, 5)])),
        CL_UNORM_SHORT_555 => Some((2, [(10, 5), (5, 5), (0, 5)])),
        CL_UNORM_INT_101010 => Some((4, [(20, 10), (10, 10), (0, 10)])),
        _ => None,
    }
}

/// Bytes of a texel.
pub fn texel_bytes(format: &cl_image_format) -> usize {
    let (order, ty) = (format.image_channel_order, format.image_channel_data_type);
    packed(ty).map_or_else(|| channels(order).len() * channel_bytes(ty), |(bytes, _)| bytes)
}

/// Whether channels are integers that stand for numbers from 0 or -1 to 1.
pub fn is_normalized(format: &cl_image_format) -> bool {
    let ty = format.image_channel_data_type;
    packed(ty).is_some() || matches!(ty, CL_UNORM_INT8 | CL_UNORM_INT16 | CL_SNORM_INT8 | CL_SNORM_INT16)
}

/// Whether red, green and blue are in the encoding of sRGB.
pub fn is_srgb(format: &cl_image_format) -> bool {
    matches!(format.image_channel_order, CL_sRGBA | CL_sBGRA)
}

/// What reads return outside of the image.
pub fn border(format: &cl_image_format) -> Texel {
    let opaque = matches!(format.image_channel_order, CL_R | CL_RG | CL_RGB | CL_LUMINANCE | CL_DEPTH);
    [0.0, 0.0, 0.0, if opaque { 1.0 } else { 0.0 }]
}

/// A texel's channels in the registers of a kernel.
pub fn decode(format: &cl_image_format, bytes: &[u8]) -> Texel {
    let (order, ty) = (format.image_channel_order, format.image_channel_data_type);
    if let Some((_, fields)) = packed(ty) {
        let bits = bytes.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let [red, green, blue] = fields.map(|(first, width)| {
            let largest = (1u32 << width) - 1;
            f64::from(bits >> first & largest) / f64::from(largest)
        });
        return [red, green, blue, 1.0];
    }
    let size = channel_bytes(ty);
    let mut texel = [0.0, 0.0, 0.0, 1.0];
    for (channel, bytes) in channels(order).iter().zip(bytes.chunks_exact(size)) {
        let mut wide = [0; 4];
        wide[..size].copy_from_slice(bytes);
        let bits = u32::from_le_bytes(wide);
        let value = match ty {
            CL_UNORM_INT8 => f64::from(bits) / 255.0,
            CL_UNORM_INT16 => f64::from(bits) / 65535.0,
            CL_SNORM_INT8 => (f64::from(bits as u8 as i8) / 127.0).max(-1.0),
            CL_SNORM_INT16 => (f64::from(bits as u16 as i16) / 32767.0).max(-1.0),
            CL_SIGNED_INT8 => f64::from(bits as u8 as i8),
            CL_SIGNED_INT16 => f64::from(bits as u16 as i16),
            CL_SIGNED_INT32 => f64::from(bits.cast_signed()),
            CL_UNSIGNED_INT8 | CL_UNSIGNED_INT16 | CL_UNSIGNED_INT32 => f64::from(bits),
            CL_HALF_FLOAT => f64::from(f16::from_bits(bits as u16)),
            CL_FLOAT => f64::from(f32::from_bits(bits)),
            other => panic!("channel type {other:#x}"),
        };
        let encoded = is_srgb(format) && *channel < 3;
        texel[*channel] = if encoded { linear(value) } else { value };
    }
    let red = texel[0];
    match order {
        CL_INTENSITY => [red; 4],
        CL_LUMINANCE => [red, red, red, 1.0],
        _ => texel,
    }
}

/// Whether a written texel may have these bytes: integers are limited to what the channels hold, normalized ones within
/// 0.6 of the exact number, half floats rounded to the nearest or to zero.
pub fn is_encoded(format: &cl_image_format, bytes: &[u8], texel: Texel) -> bool {
    let (order, ty) = (format.image_channel_order, format.image_channel_data_type);
    let near = |number: f64, value: f64, low: f64, largest: f64| {
        value.is_nan() || (number - value.clamp(low, 1.0) * largest).abs() <= 0.6
    };
    if let Some((_, fields)) = packed(ty) {
        let bits = bytes.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        return fields.iter().zip(texel).all(|((first, width), value)| {
            let largest = (1u32 << width) - 1;
            near((bits >> first & largest).into(), value, 0.0, largest.into())
        });
    }
    let size = channel_bytes(ty);
    channels(order).iter().zip(bytes.chunks_exact(size)).all(|(channel, bytes)| {
        let value = texel[*channel];
        let bits = bytes.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let signed = (bits << (32 - 8 * size)).cast_signed() >> (32 - 8 * size);
        match ty {
            CL_UNORM_INT8 => near(bits.into(), value, 0.0, 255.0),
            CL_UNORM_INT16 => near(bits.into(), value, 0.0, 65535.0),
            CL_SNORM_INT8 => near(signed.into(), value, -1.0, 127.0),
            CL_SNORM_INT16 => near(signed.into(), value, -1.0, 32767.0),
            CL_SIGNED_INT8 => f64::from(signed) == value.clamp(i8::MIN.into(), i8::MAX.into()),
            CL_SIGNED_INT16 => f64::from(signed) == value.clamp(i16::MIN.into(), i16::MAX.into()),
            CL_SIGNED_INT32 => f64::from(signed) == value,
            CL_UNSIGNED_INT8 => f64::from(bits) == value.min(u8::MAX.into()),
            CL_UNSIGNED_INT16 => f64::from(bits) == value.min(u16::MAX.into()),
            CL_UNSIGNED_INT32 => f64::from(bits) == value,
            CL_HALF_FLOAT => {
                let found = f16::from_bits(bits as u16);
                let nearest = f16::from_f64(value);
                let away = f64::from(nearest).abs() > value.abs();
                let cut = f16::from_bits(nearest.to_bits() - u16::from(away));
                found == nearest || found == cut || found.is_nan() && value.is_nan()
            }
            CL_FLOAT => is_same(f32::from_bits(bits).into(), value),
            other => panic!("channel type {other:#x}"),
        }
    })
}

/// Whether a float may be what another has become: NaNs are all the same, and denormal numbers may become 0.
fn is_same(found: f64, value: f64) -> bool {
    let is_denormal = value.abs() < f32::MIN_POSITIVE.into();
    found == value || found.is_nan() && value.is_nan() || found == 0.0 && is_denormal
}

/// From the encoding of sRGB.
fn linear(value: f64) -> f64 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// An image and its texels, x first.
pub struct Reference<'a> {
    pub format: cl_image_format,
    /// Width, height, depth; layers of an array are the dimension behind the last one.
    pub sides: [usize; 3],
    pub dimensions: usize,
    pub array: bool,
    pub bytes: &'a [u8],
}

/// A sampler by the values of `clCreateSampler`.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    pub normalized: bool,
    pub addressing: u32,
    pub linear: bool,
}

impl Reference<'_> {
    /// The index of a texel; `None` outside of the image.
    fn index(&self, at: [i64; 3]) -> Option<usize> {
        if at.iter().zip(self.sides).any(|(at, side)| !(0..side as i64).contains(at)) {
            return None;
        }
        let [x, y, z] = at.map(|at| at as usize);
        Some((z * self.sides[1] + y) * self.sides[0] + x)
    }

    fn texel(&self, at: [i64; 3]) -> Texel {
        let size = texel_bytes(&self.format);
        let texel = |index: usize| decode(&self.format, &self.bytes[index * size..][..size]);
        self.index(at).map_or_else(|| border(&self.format), texel)
    }

    /// What a read with a sampler may give.
    pub fn sample(&self, sampler: Sampler, at: [f32; 4]) -> Allowed {
        let mut axes = [(); 3].map(|()| vec![Position { texels: [0; 2], weight: 0.0 }]);
        for axis in 0..self.dimensions {
            match along(sampler, at[axis].into(), self.sides[axis] as f64) {
                Some(positions) => axes[axis] = positions,
                None => return self.anything(sampler.linear),
            }
        }
        if self.array {
            let layer = at[self.dimensions];
            if !layer.is_finite() {
                return self.anything(sampler.linear);
            }
            let last = self.sides[self.dimensions] as f32 - 1.0;
            let layer = layer.round_ties_even().clamp(0.0, last) as i64;
            axes[self.dimensions] = vec![Position { texels: [layer; 2], weight: 0.0 }];
        }
        let [x, y, z] = &axes;
        let all = z.iter().flat_map(|z| y.iter().flat_map(move |y| x.iter().map(move |x| [x, y, z])));
        let texels = all.map(|positions| self.filtered(positions)).collect();
        if sampler.linear { Allowed::Between(texels) } else { Allowed::OneOf(texels) }
    }

    /// What a read without a sampler may give.
    pub fn load(&self, at: [i32; 4]) -> Allowed {
        match self.index_of(at) {
            Some(_) => Allowed::OneOf(vec![self.texel(self.place(at))]),
            None => self.anything(false),
        }
    }

    /// The index of the texel at integer coordinates as kernels have them; `None` outside of the image.
    pub fn index_of(&self, at: [i32; 4]) -> Option<usize> {
        self.index(self.place(at))
    }

    fn place(&self, at: [i32; 4]) -> [i64; 3] {
        let axes = self.dimensions + usize::from(self.array);
        std::array::from_fn(|axis| if axis < axes { at[axis].into() } else { 0 })
    }

    /// Reads whose results are undefined still only read the image.
    fn anything(&self, linear: bool) -> Allowed {
        let texels = self.bytes.chunks_exact(texel_bytes(&self.format));
        let texels = texels.map(|bytes| decode(&self.format, bytes)).chain([border(&self.format)]).collect();
        if linear { Allowed::Between(texels) } else { Allowed::OneOf(texels) }
    }

    /// The mean of the texels of a position on each axis.
    fn filtered(&self, positions: [&Position; 3]) -> Texel {
        let mut sum = [0.0; 4];
        for corner in 0..8 {
            let side = |axis: usize| corner >> axis & 1;
            let weight = |axis: usize| {
                let second = positions[axis].weight;
                if side(axis) == 1 { second } else { 1.0 - second }
            };
            let weight: f64 = [0, 1, 2].map(weight).iter().product();
            if weight > 0.0 {
                let texel = self.texel([0, 1, 2].map(|axis| positions[axis].texels[side(axis)]));
                for (sum, value) in sum.iter_mut().zip(texel) {
                    *sum += weight * value;
                }
            }
        }
        sum
    }
}

/// What a read may give.
#[derive(Clone, Debug)]
pub enum Allowed {
    OneOf(Vec<Texel>),
    /// Each channel is within the range of that of these.
    Between(Vec<Texel>),
}

impl Allowed {
    /// Whether a texel is allowed, with a tolerance for each channel.
    pub fn has(&self, found: Texel, tolerance: f64) -> bool {
        match self {
            Self::OneOf(texels) => texels.iter().any(|texel| {
                // NaN is not near anything.
                let is_near = |(found, value): (&f64, &f64)| {
                    is_same(*found, *value) || (found - value).abs() <= tolerance
                };
                found.iter().zip(texel).all(is_near)
            }),
            Self::Between(texels) => (0..4).all(|channel| {
                let values = || texels.iter().map(|texel| texel[channel]);
                let (low, high) =
                    (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
                // Sums of floats are rounded.
                let off = tolerance + low.abs().max(high.abs()) * f64::from(f32::EPSILON) * 2.0;
                (low - off..=high + off).contains(&found[channel])
            }),
        }
    }
}

/// The two texels of one axis that a read is between, and the weight of the second one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Position {
    texels: [i64; 2],
    weight: f64,
}

/// The positions on one axis that a coordinate may mean; `None` where the specification leaves it undefined.
///
/// Texel coordinates are exact, but that products of normalized ones may be rounded as floats. The weights of linear
/// filters have eight bits. So a read is at the first or the last of these positions or, with a linear filter, between
/// them, where each channel is linear but at the texels' centres.
fn along(sampler: Sampler, coordinate: f64, side: f64) -> Option<Vec<Position>> {
    let Sampler { normalized, addressing, linear } = sampler;
    if !coordinate.is_finite() {
        return None;
    }
    let texels = match addressing {
        CL_ADDRESS_REPEAT => (coordinate - coordinate.floor()) * side,
        CL_ADDRESS_MIRRORED_REPEAT => (coordinate - 2.0 * (0.5 * coordinate).round_ties_even()).abs() * side,
        _ if normalized => coordinate * side,
        _ => coordinate,
    };
    let rounding = if normalized { (texels.abs() + side) * f64::from(f32::EPSILON) } else { 0.0 };
    let off = rounding + if linear { 1.0 / 256.0 } else { 0.0 };
    let ends = [texels - off, texels + off];
    let mut points = Vec::from(ends);
    if linear {
        let centre = (ends[1] - 0.5).floor() + 0.5;
        points.extend((centre > ends[0]).then_some(centre));
    }
    let is_inside = |texel: f64| (0.0..side).contains(&texel);
    let place = |texel: f64| match addressing {
        CL_ADDRESS_REPEAT => texel.rem_euclid(side),
        CL_ADDRESS_CLAMP => texel.clamp(-1.0, side),
        _ => texel.clamp(0.0, side - 1.0),
    } as i64;
    let position = |point: f64| {
        let first = if linear { (point - 0.5).floor() } else { point.floor() };
        let second = if linear { first + 1.0 } else { first };
        if addressing == CL_ADDRESS_NONE && !(is_inside(first) && is_inside(second)) {
            return None;
        }
        let weight = if linear { point - 0.5 - first } else { 0.0 };
        Some(Position { texels: [place(first), place(second)], weight })
    };
    let mut positions: Vec<_> = points.into_iter().map(position).collect::<Option<_>>()?;
    positions.dedup();
    Some(positions)
}
