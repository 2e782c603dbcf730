//! Texels in memory: their offsets, reads and writes, and the filters over them.

use std::mem::offset_of;

use gencl_eu::message::{ChannelType, Elements, ImageNumbers};

use super::positions::{Tap, Taps};
use super::{DWORD, Texel, Texels};
use crate::middle::function::Value;
use crate::middle::op::{Access, Addressing, Binary, Convert, Op, Relation, Space, Window};
use crate::middle::types::{Scalar, Type};

/// The product of the weights of a corner is of this many units, by the number of axes: bits.
const WEIGHT_BITS: [i32; 4] = [0, 8, 16, 24];

impl Texels<'_> {
    /// The nearest texels, or the border.
    pub(super) fn nearest(&mut self, coordinates: [Value; 3], count: usize) -> Vec<Value> {
        let dimensions = self.dimensions();
        let (mut places, mut inside) = ([None; 3], None);
        for axis in 0..dimensions {
            let tap = self.nearest_tap(axis, coordinates[axis]);
            places[axis] = Some(tap.index);
            inside = self.both(inside, tap.inside);
        }
        if self.facts.array {
            places[2] = Some(self.slice(coordinates[dimensions]));
        }
        let offsets = self.offsets(places);
        let values = self.texel_values(offsets, inside, count);
        self.selected(values, count)
    }

    /// The weighted sums of the nearest texels along each axis.
    pub(super) fn interpolated(&mut self, coordinates: [Value; 3], count: usize) -> Vec<Value> {
        let dimensions = self.dimensions();
        let taps: Vec<Taps> = (0..dimensions).map(|axis| self.linear_taps(axis, coordinates[axis])).collect();
        let slice = self.facts.array.then(|| self.slice(coordinates[dimensions]));
        // Parts of the offset along each axis.
        let parts: Vec<[Value; 2]> = taps
            .iter()
            .enumerate()
            .map(|(axis, own)| own.taps.map(|tap| self.part(axis, tap.index)))
            .collect();
        let slice = slice.map(|slice| self.part(2, slice));
        let mut sums: Texel<Option<Value>> = [None; 4];
        for corner in 0..1usize << dimensions {
            let chosen = |axis: usize| corner >> axis & 1;
            let own: Vec<Tap> = (0..dimensions).map(|axis| taps[axis].taps[chosen(axis)]).collect();
            let inside = own.iter().fold(None, |inside, tap| self.both(inside, tap.inside));
            let mut offsets = slice;
            let mut weight: Option<Value> = None;
            for axis in (0..dimensions).rev() {
                let (part, factor) = (parts[axis][chosen(axis)], taps[axis].weights[chosen(axis)]);
                offsets = Some(self.sum(offsets, part));
                weight = Some(match weight {
                    Some(weight) => self.builder.binary(Binary::Mul, weight, factor),
                    None => factor,
                });
            }
            let (Some(offsets), Some(weight)) = (offsets, weight) else { continue };
            let values = self.texel_values(offsets, inside, count);
            self.weigh(&mut sums, values, weight);
        }
        let values =
            sums.map(|sum| sum.map(|sum| self.builder.convert(Convert::FPTrunc, sum, Scalar::Float)));
        self.selected(values, count)
    }

    /// Adds weighted values. The products are exact; so are the weights as doubles.
    fn weigh(&mut self, sums: &mut Texel<Option<Value>>, values: Texel<Option<Value>>, weight: Value) {
        let wide = self.builder.convert(Convert::SIToFP, weight, Scalar::Double);
        let ty = self.builder.ty(wide);
        let unit = self.builder.float(ty, 2f64.powi(-WEIGHT_BITS[self.dimensions()]));
        let factor = self.builder.binary(Binary::FMul, wide, unit);
        for (sum, value) in sums.iter_mut().zip(values) {
            let Some(mut value) = value else { continue };
            if self.format.channel_type == ChannelType::Float {
                // What has no weight may be infinite.
                let counts = self.is_some(weight);
                let zero = self.builder.float(self.builder.ty(value), 0.0);
                value = self.builder.select(counts, value, zero);
            }
            let value = self.builder.convert(Convert::FPExt, value, Scalar::Double);
            let before = sum.unwrap_or_else(|| self.builder.float(ty, 0.0));
            *sum = Some(if self.builder.emulates_fma {
                let product = self.builder.binary(Binary::FMul, value, factor);
                self.builder.binary(Binary::FAdd, before, product)
            } else {
                self.builder.fma(value, factor, before)
            });
        }
    }

    /// The channels of texels, or of the border.
    fn texel_values(&mut self, offsets: Value, inside: Option<Value>, count: usize) -> Texel<Option<Value>> {
        let dwords = self.read(offsets, self.needed_dwords(count));
        let values = self.decoded(&dwords, count);
        let Some(inside) = inside else { return values };
        let mut channel = 0;
        values.map(|value| {
            let value = value.map(|value| {
                let border = self.border(channel, self.builder.ty(value));
                self.builder.select(inside, value, border)
            });
            channel += 1;
            value
        })
    }

    fn both(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.builder.binary(Binary::And, a, b)),
            (one, None) | (None, one) => one,
        }
    }

    fn sum(&mut self, a: Option<Value>, b: Value) -> Value {
        match a {
            Some(a) => self.builder.binary(Binary::Add, a, b),
            None => b,
        }
    }

    /// The part of an offset that depends on the place along an axis.
    fn part(&mut self, axis: usize, place: Value) -> Value {
        let step = match axis {
            0 => self.builder.int(self.integers(), self.format.bytes() as u64),
            1 => self.number_in_lanes(offset_of!(ImageNumbers, pitch)),
            _ => self.number_in_lanes(offset_of!(ImageNumbers, slice)),
        };
        self.builder.binary(Binary::Mul, place, step)
    }

    /// Offsets of texels.
    pub(super) fn offsets(&mut self, places: [Option<Value>; 3]) -> Value {
        let mut sum = None;
        for (axis, place) in places.into_iter().enumerate().rev() {
            if let Some(place) = place {
                let part = self.part(axis, place);
                sum = Some(self.sum(sum, part));
            }
        }
        sum.unwrap_or_else(|| self.none())
    }

    /// The access to these dwords of texels, and its operands: the offsets, that of the first lane, and whether those of the lanes of a mask are one texel after the
    /// other.
    fn access(
        &mut self,
        mask: Option<Value>,
        offsets: Value,
        dwords: Texel<bool>,
    ) -> (Box<Access>, [Value; 3]) {
        let bytes = self.format.bytes();
        let first = self.builder.shuffle(offsets, None, [0]);
        let all = self.builder.splat(first, self.lanes);
        let steps = self.builder.ints(self.integers(), |lane| (lane * bytes) as u64);
        let row = self.builder.binary(Binary::Add, all, steps);
        let mut differs = self.builder.compare(Relation::Ne, offsets, row);
        if let Some(mask) = mask {
            differs = self.builder.binary(Binary::And, differs, mask);
        }
        let some = self.builder.any(differs);
        let holds = self.builder.not(some);
        let size = bytes.min(DWORD) as u8;
        let present = (0..4).filter(|n| dwords[*n]).fold(0, |set, n| set | 1 << n);
        let access = Access {
            addressing: Addressing::Affine(bytes as i32),
            window: Some(Window::Image(self.number)),
            ..Access::new(Space::Image, Elements { size, present, alignment: size })
        };
        (Box::new(access), [offsets, first, holds])
    }

    /// Reads dwords of texels. All offsets are inside, also those of lanes that are not enabled.
    pub(super) fn read(&mut self, offsets: Value, dwords: Texel<bool>) -> Texel<Option<Value>> {
        if dwords == [false; 4] {
            return [None; 4];
        }
        let (access, operands) = self.access(None, offsets, dwords);
        let ty = Type::int(u32::from(access.elements.size) * 8, self.lanes);
        let types = vec![ty; access.elements.count()];
        let all = self.builder.mask(self.lanes, true);
        let operands: Vec<Value> = [all].into_iter().chain(operands).collect();
        let mut found = self.builder.effect(Op::Load(access), &operands, &types).into_iter();
        dwords.map(|is_needed| {
            let dword = if is_needed { found.next() } else { None };
            dword.map(|dword| self.builder.resize(dword, 32, false))
        })
    }

    /// Writes texels for the lanes of a mask.
    pub(super) fn store(&mut self, mask: Value, offsets: Value, texels: &Texel<Option<Value>>) {
        let (access, operands) = self.access(Some(mask), offsets, texels.map(|dword| dword.is_some()));
        let bits = u32::from(access.elements.size) * 8;
        let data: Vec<Value> =
            texels.iter().flatten().map(|dword| self.builder.resize(*dword, bits, false)).collect();
        let operands: Vec<Value> = [mask].into_iter().chain(operands).chain(data).collect();
        self.builder.effect(Op::Store(access), &operands, &[]);
    }
}
