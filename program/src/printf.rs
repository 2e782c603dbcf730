//! The buffer in which a kernel's `printf` leaves records for the host.
//!
//! The buffer that [`PushSource::PrintfBuffer`](crate::PushSource::PrintfBuffer) points to holds
//! little-endian dwords:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 0 | offset of the next record; beyond the end once a record did not fit |
//! | 4 | end of the space for records |
//! | 8 | number of records that did not fit |
//! | [`RECORDS`] to the end | records, and a dword 0 behind the last |
//! | from the end | [`LARGEST_RECORD`] bytes for the writes of work-items whose records did not fit |
//!
//! A record is a dword, the format's index in [`Program::formats`](crate::Program::formats) plus 1, and the
//! arguments, each aligned to four bytes.

use serde::{Deserialize, Serialize};

/// Offset of the first record in the buffer, in bytes.
pub const RECORDS: u32 = 16;

/// Largest size of a record in bytes.
pub const LARGEST_RECORD: u32 = 4096;

/// A call of `printf`: its format and the types of its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrintfFormat {
    /// The format string without the terminating zero, each byte as the character with that code.
    pub text: String,
    /// The other arguments.
    pub arguments: Vec<PrintfArgument>,
}

/// The type of an argument in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrintfArgument {
    /// Bytes of an element: 1, 2, 4 or 8. Pointers have 8.
    pub size: u32,
    /// Number of elements: 1, or those of a vector.
    pub count: u32,
}

/// The offset of each argument in a record, and the size of a record, in bytes.
#[must_use]
pub fn places(arguments: &[PrintfArgument]) -> (Vec<u32>, u32) {
    let mut end = 4;
    let mut offset = |argument: &PrintfArgument| {
        let begin = end;
        end = (begin + argument.size * argument.count).next_multiple_of(4);
        begin
    };
    let offsets = arguments.iter().map(&mut offset).collect();
    (offsets, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_aligned_to_four_bytes() {
        let argument = |size, count| PrintfArgument { size, count };
        let arguments = [argument(4, 1), argument(1, 3), argument(8, 2), argument(2, 1)];
        assert_eq!(places(&arguments), (vec![4, 8, 12, 28], 32));
        assert_eq!(places(&[]), (vec![], 4));
    }
}
