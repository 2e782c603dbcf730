//! Messages to images whose facts are known: addresses, accesses and arithmetic, as `eu/src/message/image` has them for all channels of a message.

mod channels;
mod positions;
mod texels;

use std::mem::offset_of;

use gencl_eu::ImageUse;
use gencl_eu::message::{ImageFacts, ImageNumbers, MessageOperation, Parameter, SurfaceFormat, Typed};
use gencl_eu::op::Action;

use super::Lift;
use crate::analysis::message::Image;
use crate::middle::builder::Builder;
use crate::middle::function::Value;
use crate::middle::op::{Binary, Input, Op, Relation};
use crate::middle::types::Type;

/// Bytes of a dword.
const DWORD: usize = 4;
/// The dword of a header that has the sample mask.
const SAMPLE_MASK: usize = 7;
/// Samples of a half of it.
const SAMPLES: u64 = 8;

/// A texel's channels in registers: red to alpha.
type Texel<T> = [T; 4];

/// Accesses to one image.
struct Texels<'a> {
    builder: &'a mut Builder,
    facts: &'a ImageFacts,
    format: &'static SurfaceFormat,
    /// Its place among the launch's images.
    number: u8,
    /// Lanes of the message.
    lanes: usize,
}

impl Lift<'_> {
    /// A message to an image: expanded, if there are facts.
    pub fn image(&mut self, index: usize, message: &Image) {
        if !self.expanded(index, message) {
            self.image_elsewhere(index, message);
        }
    }

    /// Expands a message, if that is possible.
    fn expanded(&mut self, index: usize, message: &Image) -> bool {
        let plan = self.plan;
        let lanes = usize::from(plan.ops[index].lanes);
        let Action::Message(sent) = &plan.ops[index].action else { return false };
        let Some(kind) = &sent.kind else { return false };
        let Some(number) =
            ImageUse::of(sent).and_then(|own| self.image_uses.iter().position(|one| *one == own))
        else {
            return false;
        };
        let Some(Some(facts)) = plan.variant.images.get(number) else { return false };
        let Some(format) = SurfaceFormat::numbered(facts.format) else { return false };
        let is_possible = self.variables.is_some() && lanes > 1 && channels::fits(format, plan.host);
        let Some(number) = u8::try_from(number).ok().filter(|_| is_possible) else { return false };
        match kind {
            MessageOperation::Sample(m) if !m.half => {
                let parameters = m.kind.parameters_in(plan.generation);
                if message.parameters.len() > parameters.len() {
                    return false;
                }
                let mask = self.mask(index);
                let zero = self.builder.int(Type::int(32, lanes), 0);
                let (mut coordinates, mut level) = ([zero; 3], zero);
                for (n, parameter) in parameters.iter().take(message.parameters.len()).enumerate() {
                    let value = self.operand(index, n);
                    match parameter {
                        Parameter::U => coordinates[0] = value,
                        Parameter::V => coordinates[1] = value,
                        Parameter::R => coordinates[2] = value,
                        Parameter::Level => level = value,
                    }
                }
                let count = message.results.len();
                let mut texels = self.texels(facts, format, number, lanes);
                let found = if m.kind.is_filtered() {
                    texels.filtered(coordinates, count)
                } else {
                    texels.loaded(coordinates, level, count)
                };
                for (k, value) in found.into_iter().enumerate() {
                    self.write_elements(index, k, value, Some(mask));
                }
                true
            }
            MessageOperation::Typed(m) => self.written(index, message, m, (facts, format, number)),
            _ => false,
        }
    }

    /// A typed write, of all channels that the format has.
    fn written(
        &mut self,
        index: usize,
        message: &Image,
        typed: &Typed,
        (facts, format, number): (&ImageFacts, &'static SurfaceFormat, u8),
    ) -> bool {
        let lanes = usize::from(self.plan.ops[index].lanes);
        let moved = typed.components.count_ones() as usize;
        let Some(count) = message.parameters.len().checked_sub(moved) else { return false };
        // A fourth coordinate is a level of detail.
        if !(1..=3).contains(&count) || format.components() & !typed.components != 0 {
            return false;
        }
        let mut mask = self.mask(index);
        if message.header.is_some() {
            let header = self.operand(index, message.parameters.len());
            let header = self.as_elements(header, DWORD);
            let samples = self.builder.shuffle(header, None, [SAMPLE_MASK]);
            let first = self.builder.int(Type::int(32, 1), u64::from(typed.slots.first_sample()));
            let samples = self.builder.binary(Binary::LShr, samples, first);
            let samples = self.builder.resize(samples, SAMPLES as u32, false);
            let samples = self.builder.as_mask(samples);
            let samples = self.builder.shuffle(samples, None, 0..lanes);
            mask = self.builder.binary(Binary::And, mask, samples);
        }
        let zero = self.builder.int(Type::int(32, lanes), 0);
        let mut operands = (0..message.parameters.len()).map(|n| self.operand(index, n)).collect::<Vec<_>>();
        let mut data = operands.split_off(count).into_iter();
        operands.resize(3, zero);
        let values: Texel<Value> = std::array::from_fn(|channel| match typed.components >> channel & 1 {
            0 => zero,
            _ => data.next().unwrap_or(zero),
        });
        let coordinates = [operands[0], operands[1], operands[2]];
        self.texels(facts, format, number, lanes).write(mask, coordinates, values);
        true
    }

    fn texels<'a>(
        &'a mut self,
        facts: &'a ImageFacts,
        format: &'static SurfaceFormat,
        number: u8,
        lanes: usize,
    ) -> Texels<'a> {
        Texels { builder: &mut self.builder, facts, format, number, lanes }
    }
}

impl Texels<'_> {
    /// A number of the image.
    fn number(&mut self, at: usize) -> Value {
        let input = Input::Image(self.number, at as u16);
        self.builder.pure(Op::Input(input), &[], Type::int(32, 1))
    }

    /// A number of the image, for all lanes.
    fn number_in_lanes(&mut self, at: usize) -> Value {
        let number = self.number(at);
        self.builder.splat(number, self.lanes)
    }

    fn size(&mut self, axis: usize) -> Value {
        self.number(offset_of!(ImageNumbers, size) + axis * DWORD)
    }

    fn integers(&self) -> Type {
        Type::int(32, self.lanes)
    }

    fn dimensions(&self) -> usize {
        self.facts.dimensions.into()
    }

    fn none(&mut self) -> Value {
        self.builder.int(self.integers(), 0)
    }

    /// Filtered values at coordinates.
    fn filtered(&mut self, coordinates: [Value; 3], count: usize) -> Vec<Value> {
        match self.facts.filter.as_ref().map(|filter| filter.linear) {
            Some(true) => self.interpolated(coordinates, count),
            _ => self.nearest(coordinates, count),
        }
    }

    /// Texels at integer coordinates; 0 outside in the channels that the format has.
    fn loaded(&mut self, coordinates: [Value; 3], level: Value, count: usize) -> Vec<Value> {
        let none = self.none();
        let there = self.builder.compare(Relation::Eq, level, none);
        let (places, inside) = self.places(coordinates, Some(there), true);
        let offsets = self.offsets(places);
        let dwords = self.read(offsets, self.needed_dwords(count));
        let dwords = dwords.map(|dword| dword.map(|dword| self.builder.select(inside, dword, none)));
        let values = self.decoded(&dwords, count);
        self.selected(values, count)
    }

    /// Writes texels at integer coordinates for the lanes of a mask that are inside.
    fn write(&mut self, mask: Value, coordinates: [Value; 3], values: Texel<Value>) {
        let (places, inside) = self.places(coordinates, Some(mask), false);
        let offsets = self.offsets(places);
        let texels = self.encoded(&values);
        self.store(inside, offsets, &texels);
    }

    /// Where texels at integer coordinates are along each axis, limited if they are to be read, and which are inside.
    fn places(
        &mut self,
        coordinates: [Value; 3],
        mut inside: Option<Value>,
        is_limited: bool,
    ) -> ([Option<Value>; 3], Value) {
        let dimensions = self.dimensions();
        let slice = self.facts.array.then_some((dimensions, 2));
        let mut places = [None; 3];
        for (from, axis) in (0..dimensions).map(|n| (n, n)).chain(slice) {
            let (place, size) = (coordinates[from], self.size(axis));
            let one = self.builder.int(Type::int(32, 1), 1);
            let last = self.builder.binary(Binary::Sub, size, one);
            let [size, last] = [size, last].map(|own| self.builder.splat(own, self.lanes));
            let below = self.builder.compare(Relation::Ult, place, size);
            inside = Some(match inside {
                Some(inside) => self.builder.binary(Binary::And, inside, below),
                None => below,
            });
            places[axis] =
                Some(if is_limited { self.builder.binary(Binary::UMin, place, last) } else { place });
        }
        let inside = inside.unwrap_or_else(|| self.builder.mask(self.lanes, true));
        (places, inside)
    }
}
