//! Rectangular regions of linear memory.

use crate::{Code, Error, Result};

/// Where a rectangular region begins in a buffer or in host memory, and its pitches, in bytes. Pitches of 0 are
/// computed from the region as OpenCL says.
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
    /// Puts in the default pitches for `region` (bytes, rows, slices) and checks them. `INVALID_VALUE` when a pitch is
    /// smaller than what it spans, or a slice is no whole number of rows.
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

    /// First byte of row `y` of slice `z`.
    pub(crate) fn row(&self, y: usize, z: usize) -> usize {
        self.origin[0] + (self.origin[1] + y) * self.row_pitch + (self.origin[2] + z) * self.slice_pitch
    }

    /// One past the last byte that `region` touches, `None` on overflow. Only for resolved rectangles.
    pub fn end(&self, region: [usize; 3]) -> Option<usize> {
        let rows = (self.origin[1].checked_add(region[1])? - 1).checked_mul(self.row_pitch)?;
        let slices = (self.origin[2].checked_add(region[2])? - 1).checked_mul(self.slice_pitch)?;
        self.origin[0].checked_add(region[0])?.checked_add(rows)?.checked_add(slices)
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
}
