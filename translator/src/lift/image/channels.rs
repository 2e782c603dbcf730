//! From the bits of texels to channels in registers, and back.

use std::mem::offset_of;

use gencl_eu::message::{ChannelType, ImageNumbers, SurfaceFormat, channel_bits, registers};

use super::{DWORD, Texel, Texels};
use crate::host::Host;
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, FloatRelation, Op, Relation};
use crate::middle::types::{Scalar, Type};

/// A value from which on an `f32` has no fraction: added to a number, it leaves the nearest integer in the low bits.
const SINGLE_INTEGER: f64 = 1.5 * (1 << 23) as f64;
/// The same of an `f64`.
const DOUBLE_INTEGER: f64 = 1.5 * (1u64 << 52) as f64;

/// Widest channels of which the quotient is a product: [`quotient`] is tested for all of them.
const MOST_BITS: u32 = 16;

/// Whether a host converts a format.
pub(super) fn fits(format: &SurfaceFormat, host: &Host) -> bool {
    let has_halves =
        format.channel_type == ChannelType::Float && format.channels.iter().any(|(_, bits)| *bits < 32);
    !has_halves || host.converts_halves
}

/// Bits of a texel.
#[derive(Clone, Copy)]
struct Channel {
    dword: usize,
    first: u32,
    width: u32,
}

/// A factor as the sum of two `f32`: `n * high + n * low`, rounded once, is `n / divisor`, correctly rounded.
pub fn factors(divisor: u32) -> [f32; 2] {
    let factor = 1.0 / f64::from(divisor);
    let high = factor as f32;
    [high, (factor - f64::from(high)) as f32]
}

impl Texels<'_> {
    /// The bits of the channel that a register has; `None`: the format does not have it.
    fn channel(&self, register: usize) -> Option<Channel> {
        channel_bits(self.format.channels)
            .filter(|(component, ..)| registers(*component).contains(&register))
            .map(|(_, first, width)| Channel { dword: first as usize / 32, first: first % 32, width })
            .last()
    }

    /// The channels of texels that the first channels of a result are.
    fn needed(&self, count: usize) -> Texel<bool> {
        let mut needed = [false; 4];
        for select in &self.facts.select[..count] {
            if let Some(channel) = usize::from(*select).checked_sub(4) {
                needed[channel] = true;
            }
        }
        needed
    }

    /// The dwords of texels that the first channels of a result are made of.
    pub(super) fn needed_dwords(&self, count: usize) -> Texel<bool> {
        let mut dwords = [false; 4];
        for (register, _) in self.needed(count).iter().enumerate().filter(|(_, needed)| **needed) {
            if let Some(channel) = self.channel(register) {
                dwords[channel.dword] = true;
            }
        }
        dwords
    }

    /// The channels of texels that the first channels of a result are: integers, or floats.
    pub(super) fn decoded(&mut self, dwords: &Texel<Option<Value>>, count: usize) -> Texel<Option<Value>> {
        let needed = self.needed(count);
        std::array::from_fn(|register| {
            let channel = self.channel(register).filter(|_| needed[register])?;
            let dword = dwords[channel.dword]?;
            Some(self.expanded(channel, dword))
        })
    }

    /// The first channels of a result, as integers.
    pub(super) fn selected(&mut self, values: Texel<Option<Value>>, count: usize) -> Vec<Value> {
        let defaults = self.format.defaults();
        let constants = [0, self.format.one()];
        let facts = self.facts;
        let channel = |select: &u8| {
            let select = usize::from(*select);
            let value = match select.checked_sub(4) {
                Some(channel) => values[channel].ok_or(defaults[channel]),
                None => Err(constants[select.min(1)]),
            };
            match value {
                Ok(value) => self.builder.cast(value, Scalar::Int(32)),
                Err(constant) => self.builder.int(self.integers(), constant.into()),
            }
        };
        facts.select[..count].iter().map(channel).collect()
    }

    /// The bits of a channel as integers.
    fn bits(&mut self, channel: Channel, dword: Value, signed: bool) -> Value {
        let Channel { first, width, .. } = channel;
        let ty = self.integers();
        if signed {
            let up = self.builder.int(ty, (32 - width - first).into());
            let down = self.builder.int(ty, (32 - width).into());
            let moved = self.builder.binary(Binary::Shl, dword, up);
            return self.builder.binary(Binary::AShr, moved, down);
        }
        let down = self.builder.int(ty, first.into());
        let moved = self.builder.binary(Binary::LShr, dword, down);
        let mask = self.builder.int(ty, (u32::MAX >> (32 - width)).into());
        if first + width == 32 { moved } else { self.builder.binary(Binary::And, moved, mask) }
    }

    fn expanded(&mut self, channel: Channel, dword: Value) -> Value {
        let signed = matches!(self.format.channel_type, ChannelType::Sint | ChannelType::Snorm);
        let bits = self.bits(channel, dword, signed);
        let width = channel.width;
        match self.format.channel_type {
            ChannelType::Uint | ChannelType::Sint => bits,
            ChannelType::Float if width == 32 => self.builder.cast(bits, Scalar::Float),
            ChannelType::Float => {
                let half = self.builder.resize(bits, 16, false);
                let half = self.builder.cast(half, Scalar::Half);
                self.builder.convert(Convert::FPExt, half, Scalar::Float)
            }
            ChannelType::Unorm | ChannelType::Srgb => self.quotient(bits, u32::MAX >> (32 - width), width),
            ChannelType::Snorm => {
                let value = self.quotient(bits, u32::MAX >> (33 - width), width);
                let low = self.builder.float(self.builder.ty(value), -1.0);
                let is_above = self.builder.compare_floats(FloatRelation::Ogt, value, low);
                self.builder.select(is_above, value, low)
            }
        }
    }

    /// Integers of a number of bits, divided by the largest.
    fn quotient(&mut self, bits: Value, largest: u32, width: u32) -> Value {
        let value = self.builder.convert(Convert::SIToFP, bits, Scalar::Float);
        let ty = self.builder.ty(value);
        if self.builder.emulates_fma || width > MOST_BITS {
            let divisor = self.builder.float(ty, largest.into());
            return self.builder.binary(Binary::FDiv, value, divisor);
        }
        let [high, low] = factors(largest).map(|factor| self.builder.float(ty, factor.into()));
        let rest = self.builder.binary(Binary::FMul, value, low);
        self.builder.fma(value, high, rest)
    }

    /// The border colour of a channel.
    pub(super) fn border(&mut self, channel: usize, ty: Type) -> Value {
        let bits = self.number_in_lanes(offset_of!(ImageNumbers, border) + channel * DWORD);
        self.builder.cast(bits, ty.scalar)
    }

    /// The dwords of texels with these channels.
    pub(super) fn encoded(&mut self, values: &Texel<Value>) -> Texel<Option<Value>> {
        let mut dwords = [None; 4];
        for (component, first, width) in channel_bits(self.format.channels) {
            let Some(register) = registers(component).first() else { continue };
            let bits = self.reduced(width, values[*register]);
            let shift = self.builder.int(self.integers(), (first % 32).into());
            let moved = self.builder.binary(Binary::Shl, bits, shift);
            let dword = &mut dwords[first as usize / 32];
            *dword = Some(match *dword {
                Some(others) => self.builder.binary(Binary::Or, others, moved),
                None => moved,
            });
        }
        dwords
    }

    /// The bits of a channel for values in registers; other bits are 0.
    fn reduced(&mut self, width: u32, value: Value) -> Value {
        let ty = self.integers();
        let largest = u32::MAX >> (32 - width);
        match self.format.channel_type {
            ChannelType::Uint | ChannelType::Sint if width == 32 => value,
            ChannelType::Uint => {
                let limit = self.builder.int(ty, largest.into());
                self.builder.binary(Binary::UMin, value, limit)
            }
            ChannelType::Sint => {
                let limit = i128::from(largest >> 1);
                let [low, high] = [-limit - 1, limit].map(|limit| self.builder.signed(ty, limit));
                let above = self.builder.binary(Binary::SMax, value, low);
                let limited = self.builder.binary(Binary::SMin, above, high);
                self.masked(limited, largest)
            }
            ChannelType::Float if width == 32 => value,
            ChannelType::Float => {
                let value = self.builder.cast(value, Scalar::Float);
                // LLVM 19 takes half floats made of few bits for exact (`Lift::of_integers`).
                let value = self.builder.pure(Op::Fence, &[value], self.builder.ty(value));
                let half = self.builder.convert(Convert::FPTrunc, value, Scalar::Half);
                let bits = self.builder.cast(half, Scalar::Int(16));
                self.builder.resize(bits, 32, false)
            }
            ChannelType::Unorm | ChannelType::Srgb => self.scaled(value, 0.0, largest, largest),
            ChannelType::Snorm => self.scaled(value, -1.0, largest >> 1, largest),
        }
    }

    fn masked(&mut self, bits: Value, mask: u32) -> Value {
        let mask = self.builder.int(self.integers(), mask.into());
        self.builder.binary(Binary::And, bits, mask)
    }

    /// Values limited to `low` to 1, times `scale`, as the nearest or even integers. NaN is 0.
    fn scaled(&mut self, value: Value, low: f64, scale: u32, mask: u32) -> Value {
        let value = self.builder.cast(value, Scalar::Float);
        let ty = self.builder.ty(value);
        let [zero, lowest, one] = [0.0, low, 1.0].map(|value| self.builder.float(ty, value));
        let is_nan = self.builder.compare_floats(FloatRelation::Uno, value, value);
        let number = self.builder.select(is_nan, zero, value);
        let is_above = self.builder.compare_floats(FloatRelation::Ogt, number, lowest);
        let above = self.builder.select(is_above, number, lowest);
        let is_below = self.builder.compare_floats(FloatRelation::Olt, above, one);
        let limited = self.builder.select(is_below, above, one);
        if !self.builder.emulates_fma && scale < 1 << MOST_BITS {
            let [scale, integer] =
                [f64::from(scale), SINGLE_INTEGER].map(|value| self.builder.float(ty, value));
            let sum = self.builder.fma(limited, scale, integer);
            let bits = self.builder.cast(sum, Scalar::Int(32));
            return self.masked(bits, mask);
        }
        let wide = self.builder.convert(Convert::FPExt, limited, Scalar::Double);
        let ty = self.builder.ty(wide);
        let [scale, integer] = [f64::from(scale), DOUBLE_INTEGER].map(|value| self.builder.float(ty, value));
        let product = self.builder.binary(Binary::FMul, wide, scale);
        let sum = self.builder.binary(Binary::FAdd, product, integer);
        let bits = self.builder.cast(sum, Scalar::Int(64));
        let bits = self.builder.resize(bits, 32, false);
        self.masked(bits, mask)
    }

    /// Where integers are not 0.
    pub(super) fn is_some(&mut self, value: Value) -> Value {
        let none = self.none();
        self.builder.compare(Relation::Ne, value, none)
    }
}

#[cfg(test)]
mod tests {
    use super::factors;

    #[test]
    fn quotients_are_correctly_rounded() {
        for bits in [1, 2, 4, 5, 6, 8, 10, 16] {
            for divisor in [(1 << bits) - 1, (1 << (bits - 1)) - 1].into_iter().filter(|own| *own > 0) {
                let [high, low] = factors(divisor);
                for n in -(1i32 << (bits - 1))..1 << bits {
                    let n = n as f32;
                    assert_eq!(n.mul_add(high, n * low), n / divisor as f32, "{n} / {divisor}");
                }
            }
        }
    }
}
