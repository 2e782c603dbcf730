//! What a kernel's `printf` leaves for the host.
//!
//! The buffer that [`PushSource::PrintfBuffer`](crate::PushSource::PrintfBuffer) points to holds, all numbers
//! being little-endian dwords:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 0 | where the next record begins; more than the end once a record did not fit |
//! | 4 | the end: where the room for records ends |
//! | 8 | how many records did not fit |
//! | [`RECORDS`] to the end | records; 0 in place of the next one's first dword after the last |
//! | from the end | [`LARGEST_RECORD`] bytes into which work-items write whose records did not fit |
//!
//! A record is a dword, the format's number in [`Program::formats`](crate::Program::formats) plus 1, and the
//! arguments, each at the next multiple of four bytes.

use serde::{Deserialize, Serialize};

/// Where the first record stands in the buffer, in bytes.
pub const RECORDS: u32 = 16;

/// Bytes that a record may have at most.
pub const LARGEST_RECORD: u32 = 4096;

/// A call of `printf`: its format and what types its arguments have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrintfFormat {
    /// The format string without its end, each byte as the character of that number.
    pub text: String,
    /// The other arguments.
    pub arguments: Vec<PrintfArgument>,
}

/// An argument as it stands in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrintfArgument {
    /// Bytes of an element: 1, 2, 4 or 8. Pointers have 8.
    pub size: u32,
    /// Elements: 1, or those of a vector.
    pub count: u32,
}

impl PrintfFormat {
    /// Where each argument stands in a record, in bytes, and the bytes of a record.
    #[must_use]
    pub fn places(&self) -> (Vec<u32>, u32) {
        let mut end = 4;
        let mut place = |argument: &PrintfArgument| {
            let begin = end;
            end = (begin + argument.size * argument.count).next_multiple_of(4);
            begin
        };
        let places = self.arguments.iter().map(&mut place).collect();
        (places, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_at_multiples_of_four() {
        let argument = |size, count| PrintfArgument { size, count };
        let arguments = vec![argument(4, 1), argument(1, 3), argument(8, 2), argument(2, 1)];
        let format = PrintfFormat { text: String::new(), arguments };
        assert_eq!(format.places(), (vec![4, 8, 12, 28], 32));
        assert_eq!(PrintfFormat::default().places(), (vec![], 4));
    }
}
