//! Shadow memory of memory objects, for checks (`gencl_program::finding`): which bits have no defined value.
//!
//! Objects without shadow memory are defined. It is there from the beginning if the application gave no contents and
//! kernels are checked for undefined values, else from the first launch of a checked kernel on. Commands of the host and
//! of kernels change it when they are executed.

use super::{Allocation, BufferRect, copy_rect};
use crate::{Buffer, findings};

impl Buffer {
    /// Says that bytes are defined: those of a rectangle.
    pub(crate) fn define(&self, rect: BufferRect, region: [usize; 3]) {
        let Some(shadow) = self.storage().shadow() else { return };
        for (z, y) in (0..region[2]).flat_map(|z| (0..region[1]).map(move |y| (z, y))) {
            shadow.memory().fill(self.begin() + rect.row(y, z), region[0], 0);
        }
    }

    /// The same of a range.
    pub(crate) fn define_range(&self, offset: usize, size: usize) {
        if let Some(shadow) = self.storage().shadow() {
            shadow.memory().fill(self.begin() + offset, size, 0);
        }
    }

    /// Reports copies of undefined values among the bytes from one to another, which the host reads.
    pub(crate) fn read_by_host(&self, begin: usize, end: usize) {
        let at = |offset: usize| (self.begin() + offset) as u64;
        findings::report(self.storage().take_copies(at(begin), at(end)));
    }

    /// Copies what is said of a rectangle's bytes with these.
    pub(crate) fn copy_shadow(&self, rect: BufferRect, to: &Self, to_rect: BufferRect, region: [usize; 3]) {
        let Some(from) = self.storage().shadow() else { return to.define(to_rect, region) };
        // Without memory for it, all is defined.
        let Ok(shadow) = to.storage().shadow_for(to.context().members()) else { return };
        let part = |shadow: &Allocation, buffer: &Self| {
            shadow.memory().slice(buffer.begin(), buffer.size() as usize)
        };
        copy_rect(&part(from, self), rect, &part(shadow, to), to_rect, region);
    }
}
