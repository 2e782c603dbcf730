//! The accumulators of integers: 64 bits for each dword of them.

use gencl_eu::file::ACCUMULATOR;
use gencl_eu::operand::SourceLocation;

use super::Lift;
use super::entry::ACCUMULATORS;
use super::ssa::Variable;
use crate::analysis::native::ACCUMULATOR_DWORDS;
use crate::middle::function::Value;
use crate::middle::types::Type;

/// Bytes of a dword in the accumulator.
pub const SHOWN: usize = 4;

impl Lift<'_> {
    /// Elements of the accumulator from one on, all of their bits.
    pub fn accumulator(&mut self, first: usize, lanes: usize) -> Value {
        let all = self.read_variable(Variable::Accumulator, ACCUMULATORS);
        self.builder.slice(all, first, lanes)
    }

    /// Writes elements of the accumulator from one on.
    pub fn set_accumulator(&mut self, first: usize, value: Value, mask: Value) {
        let lanes = usize::from(self.builder.ty(value).lanes);
        let old = self.accumulator(first, lanes);
        let new = self.builder.select(mask, value, old);
        let all = self.read_variable(Variable::Accumulator, ACCUMULATORS);
        let inside = first..first + lanes;
        let order = (0..ACCUMULATOR_DWORDS)
            .map(|n| if inside.contains(&n) { ACCUMULATOR_DWORDS + n - first } else { n })
            .collect::<Vec<_>>();
        let all = self.builder.shuffle(all, Some(new), order);
        self.write_variable(Variable::Accumulator, all);
    }

    /// What a source in the accumulator shows.
    pub fn accumulator_bits(&mut self, place: &SourceLocation, ty: Type) -> Value {
        let (SourceLocation::Packed(at) | SourceLocation::Scalar(at)) = place else {
            return self.builder.int(ty, 0);
        };
        let element = (at - ACCUMULATOR) / SHOWN;
        let is_scalar = matches!(place, SourceLocation::Scalar(_));
        let all = self.accumulator(element, if is_scalar { 1 } else { ty.lanes.into() });
        let shown = self.builder.resize(all, ty.scalar.bits(), false);
        if is_scalar { self.builder.splat(shown, ty.lanes.into()) } else { shown }
    }
}
