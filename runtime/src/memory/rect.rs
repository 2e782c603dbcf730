//! Rectangular regions of linear memory.

use gencl_i915::HostMemory;

use crate::{Code, Error, Result};

/// Origin of a rectangular region in a buffer or in host memory, and its pitches. Pitches of 0 are computed
/// from the region, as OpenCL specifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BufferRect {
    /// x in bytes, y in rows, z in slices.
    pub origin: [usize; 3],
    /// Bytes from row to row.
    pub row_pitch: usize,
    /// Bytes from slice to slice.
    pub slice_pitch: usize,
}

impl BufferRect {
    /// Replaces pitches of 0 by those of `region` (bytes, rows, slices) and checks all. `INVALID_VALUE` when
    /// a pitch is too small, or the slice pitch is no multiple of the row pitch.
    pub fn resolve(mut self, region: [usize; 3]) -> Result<Self> {
        let bad = |reason: String| Err(Error::new(Code::InvalidValue, reason));
        if region.contains(&0) {
            return bad(format!("region {region:?} is empty"));
        }
        if self.row_pitch == 0 {
            self.row_pitch = region[0];
        } else if self.row_pitch < region[0] {
            return bad(format!("row pitch {} is below {} bytes of a row", self.row_pitch, region[0]));
        }
        let slice = self.row_pitch.checked_mul(region[1]).ok_or(Code::InvalidValue)?;
        if self.slice_pitch == 0 {
            self.slice_pitch = slice;
        } else if self.slice_pitch < slice || !self.slice_pitch.is_multiple_of(self.row_pitch) {
            return bad(format!(
                "slice pitch {} is below {slice} or no multiple of row pitch {}",
                self.slice_pitch, self.row_pitch
            ));
        }
        Ok(self)
    }

    /// Offset of the first byte of row `y` of slice `z`.
    pub(crate) fn row(&self, y: usize, z: usize) -> usize {
        self.origin[0] + (self.origin[1] + y) * self.row_pitch + (self.origin[2] + z) * self.slice_pitch
    }

    /// `INVALID_VALUE` unless all of `region` is within `size` bytes. Only for resolved rectangles.
    pub(crate) fn check_within(&self, region: [usize; 3], size: usize) -> Result<()> {
        if self.end(region).is_none_or(|end| end > size) {
            return Err(Error::new(Code::InvalidValue, format!("the region exceeds {size} bytes")));
        }
        Ok(())
    }

    /// Offset behind the last byte of `region`, `None` on overflow. Only for resolved rectangles.
    pub fn end(&self, region: [usize; 3]) -> Option<usize> {
        let rows = (self.origin[1].checked_add(region[1])? - 1).checked_mul(self.row_pitch)?;
        let slices = (self.origin[2].checked_add(region[2])? - 1).checked_mul(self.slice_pitch)?;
        self.origin[0].checked_add(region[0])?.checked_add(rows)?.checked_add(slices)
    }
}

/// A rectangle with the size of its region, and the position of the memory that it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedRect {
    /// Position that the rectangle's origin is relative to.
    pub(crate) begin: usize,
    /// Resolved, so that rows are in the order of their addresses.
    pub(crate) rect: BufferRect,
    /// Bytes, rows, slices.
    pub(crate) region: [usize; 3],
}

impl PlacedRect {
    /// Where its rows begin, in the order of their addresses.
    pub(crate) fn rows(self) -> impl Iterator<Item = usize> {
        let [_, rows, slices] = self.region;
        (0..slices).flat_map(move |z| (0..rows).map(move |y| self.begin + self.rect.row(y, z)))
    }

    /// Whether two rectangles share a byte.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let (Some(end), Some(other_end)) = (self.rect.end(self.region), other.rect.end(other.region)) else {
            return true;
        };
        if self.begin + end <= other.begin + other.rect.row(0, 0)
            || other.begin + other_end <= self.begin + self.rect.row(0, 0)
        {
            return false;
        }
        let mut others = other.rows().peekable();
        self.rows().any(|row| {
            while others.next_if(|begin| begin + other.region[0] <= row).is_some() {}
            others.peek().is_some_and(|&begin| begin < row + self.region[0])
        })
    }
}

/// Copies a region (bytes, rows, slices) from one rectangle to another.
pub(crate) fn copy_rect(
    from: &HostMemory,
    from_rect: BufferRect,
    to: &HostMemory,
    to_rect: BufferRect,
    region: [usize; 3],
) {
    for z in 0..region[2] {
        for y in 0..region[1] {
            to.copy_from(to_rect.row(y, z), from, from_rect.row(y, z), region[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_pitches() {
        let rect = BufferRect::default().resolve([4, 3, 2]).unwrap();
        assert_eq!((rect.row_pitch, rect.slice_pitch), (4, 12));
        assert_eq!(rect.end([4, 3, 2]), Some(24));
        assert_eq!(rect.row(2, 1), 20);
    }

    #[test]
    fn refuses_small_pitches() {
        let rect = BufferRect { row_pitch: 3, ..BufferRect::default() };
        assert_eq!(rect.resolve([4, 1, 1]).unwrap_err().code, Code::InvalidValue);
        let rect = BufferRect { row_pitch: 4, slice_pitch: 9, ..BufferRect::default() };
        assert_eq!(rect.resolve([4, 2, 1]).unwrap_err().code, Code::InvalidValue);
    }

    #[test]
    fn end_does_not_overflow() {
        let rect = BufferRect { origin: [0, usize::MAX, 0], ..BufferRect::default() };
        assert_eq!(rect.resolve([4, 3, 2]).unwrap().end([4, 3, 2]), None);
    }

    fn placed(begin: usize, origin: [usize; 3], region: [usize; 3]) -> PlacedRect {
        PlacedRect { begin, rect: BufferRect { origin, row_pitch: 16, slice_pitch: 64 }, region }
    }

    #[test]
    fn rectangles_side_by_side_do_not_overlap() {
        let region = [4, 4, 2];
        let first = placed(0, [0; 3], region);
        assert!(!first.overlaps(placed(0, [4, 0, 0], region)));
        assert!(first.overlaps(placed(0, [3, 3, 1], region)));
        assert!(!first.overlaps(placed(128, [0; 3], region)));
        assert!(first.overlaps(placed(16, [0; 3], region)));
        // Of different sizes: a column, and a row that does not reach it.
        assert!(!placed(0, [8, 0, 0], [1, 4, 1]).overlaps(placed(0, [0, 2, 0], [8, 1, 1])));
        assert!(placed(0, [8, 0, 0], [1, 4, 1]).overlaps(placed(0, [0, 2, 0], [9, 1, 1])));
        // Rows of different lengths, through two sub-buffers of one buffer: only the last ones meet.
        let other = |region| PlacedRect {
            begin: 8,
            rect: BufferRect { origin: [0; 3], row_pitch: 24, slice_pitch: 96 },
            region,
        };
        assert!(!placed(0, [0; 3], [4, 2, 1]).overlaps(other([4, 2, 1])));
        assert!(placed(0, [0; 3], [4, 3, 1]).overlaps(other([4, 3, 1])));
    }

    #[test]
    fn rectangles_are_copied_by_rows() {
        let memory = || HostMemory::zeros(4096).unwrap();
        let (from, to) = (memory(), memory());
        from.write(0, &(0..64).collect::<Vec<u8>>());
        let source = BufferRect { origin: [1, 1, 0], row_pitch: 8, slice_pitch: 32 };
        let target = BufferRect { origin: [0; 3], row_pitch: 2, slice_pitch: 4 };
        copy_rect(&from, source, &to, target, [2, 2, 2]);
        let mut out = [0; 8];
        to.read(0, &mut out);
        assert_eq!(out, [9, 10, 17, 18, 41, 42, 49, 50]);
    }
}
