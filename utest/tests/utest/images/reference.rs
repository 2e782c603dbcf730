//! Texels and filters as the specification has them: OpenCL C 3.0, "Image Addressing and Filtering".

#![allow(non_upper_case_globals, reason = "the API's names in patterns")]

use half::f16;
use opencl_sys::{
    CL_A, CL_ABGR, CL_ADDRESS_CLAMP, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_REPEAT, CL_ARGB, CL_BGRA,
    CL_DEPTH, CL_FLOAT, CL_HALF_FLOAT, CL_INTENSITY, CL_LUMINANCE, CL_R, CL_RA, CL_RG, CL_RGB, CL_RGBA,
    CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32, CL_SNORM_INT8, CL_SNORM_INT16, CL_UNORM_INT_101010,
    CL_UNORM_INT8, CL_UNORM_INT16, CL_UNORM_SHORT_555, CL_UNORM_SHORT_565, CL_UNSIGNED_INT8,
    CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_sBGRA, CL_sRGBA, cl_image_format,
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
        let encoded = matches!(order, CL_sRGBA | CL_sBGRA) && *channel < 3;
        texel[*channel] = if encoded { linear(value) } else { value };
    }
    let red = texel[0];
    match order {
        CL_INTENSITY => [red; 4],
        CL_LUMINANCE => [red, red, red, 1.0],
        _ => texel,
    }
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
    fn texel(&self, at: [i64; 3]) -> Texel {
        if at.iter().zip(self.sides).any(|(at, side)| !(0..side as i64).contains(at)) {
            return border(&self.format);
        }
        let [x, y, z] = at.map(|at| at as usize);
        let index = (z * self.sides[1] + y) * self.sides[0] + x;
        let size = texel_bytes(&self.format);
        decode(&self.format, &self.bytes[index * size..][..size])
    }

    /// What a read gives; `None` when the coordinate is too near to a texel's edge for the nearest filter.
    pub fn sample(&self, sampler: Sampler, at: [f32; 4]) -> Option<Texel> {
        // Two texels and the weight of the second one, for each axis.
        let mut axes = [([0i64; 2], 0.0); 3];
        for axis in 0..self.dimensions {
            axes[axis] = along(sampler, at[axis].into(), self.sides[axis] as f64)?;
        }
        if self.array {
            let layer = at[self.dimensions].round_ties_even();
            axes[self.dimensions].0 = [layer.clamp(0.0, self.sides[self.dimensions] as f32 - 1.0) as i64; 2];
        }
        let mut sum = [0.0; 4];
        for corner in 0..8 {
            let side = |axis: usize| corner >> axis & 1;
            let weight = |axis: usize| if side(axis) == 1 { axes[axis].1 } else { 1.0 - axes[axis].1 };
            let weight: f64 = [0, 1, 2].map(weight).iter().product();
            if weight > 0.0 {
                let texel = self.texel([0, 1, 2].map(|axis| axes[axis].0[side(axis)]));
                for (sum, value) in sum.iter_mut().zip(texel) {
                    *sum += weight * value;
                }
            }
        }
        Some(sum)
    }
}

/// The texels of one axis that a coordinate means.
fn along(sampler: Sampler, coordinate: f64, side: f64) -> Option<([i64; 2], f64)> {
    let Sampler { normalized, addressing, linear } = sampler;
    let texels = match addressing {
        CL_ADDRESS_REPEAT => (coordinate - coordinate.floor()) * side,
        CL_ADDRESS_MIRRORED_REPEAT => (coordinate - 2.0 * (0.5 * coordinate).round_ties_even()).abs() * side,
        _ if normalized => coordinate * side,
        _ => coordinate,
    };
    let place = |texel: f64| match addressing {
        CL_ADDRESS_REPEAT => texel.rem_euclid(side),
        CL_ADDRESS_CLAMP => texel.clamp(-1.0, side),
        _ => texel.clamp(0.0, side - 1.0),
    } as i64;
    if linear {
        let first = (texels - 0.5).floor();
        return Some(([place(first), place(first + 1.0)], texels - 0.5 - first));
    }
    let is_near_edge = normalized && (texels - texels.round()).abs() < 1e-3;
    (!is_near_edge).then(|| ([place(texels.floor()); 2], 0.0))
}
