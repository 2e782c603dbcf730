//! What the checks of a kernel find (`GENCL_DEBUG=check`): the places that are checked, and the buffer in which kernels
//! leave records of what failed.
//!
//! The buffer that [`PushSource::CheckBuffer`](crate::PushSource::CheckBuffer) points to holds little-endian integers:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 0 | offset of the next record; beyond the end once a record did not fit |
//! | 4 | end of the space for records |
//! | 8 | offset of the counters |
//! | 12 | number of allocations, or [`UNKNOWN`] |
//! | 16 | offset of the allocations |
//! | [`MARKS`] | offset of the table of marks; 0 for none |
//! | 64 | [`SPARE_SIZE`] bytes for accesses to global memory that are out of bounds, and as many for their shadows |
//! | [`ARGUMENTS`] on | for each argument of the kernel, 16 bytes: how many bytes of its object are in front of the pointer, and the object's size in bytes; [`SHARED`], [`UNREADABLE`] and [`UNWRITABLE`] are added to the former |
//! | the counters | a dword for each site of the program: how often its check failed |
//! | the allocations | 16 bytes for each, sorted: address, and address of the end; then for each the address of its shadow memory, or 0 (8 bytes) |
//! | records | [`RECORD_SIZE`] bytes each |
//! | the table of marks | for each argument, three offsets of marks (4 bytes each; 0 for none): a byte for each of its object, which is not 0 if that was read, written or changed atomically |
//!
//! Offsets are from the beginning of the buffer, in bytes. A site leaves at most [`RECORDS_OF_SITE`] records.
//!
//! Shadow memory is as large as what it belongs to; a bit says whether that of the memory is undefined
//! ([`PushSource::Shadow`](crate::PushSource::Shadow), [`PushSource::LocalShadow`](crate::PushSource::LocalShadow)).
//!
//! Data races are found by the simulator, which has a table of its own (`gencl_eu::message::RaceTable`).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Offset of the sizes of arguments in the buffer, in bytes.
pub const ARGUMENTS: u32 = 64 + 2 * SPARE_SIZE as u32;

/// Offset of the offset of the table of marks in the buffer, in bytes.
pub const MARKS: u32 = 60;

/// Bytes of memory for accesses that are out of bounds: the largest vector.
pub const SPARE_SIZE: u64 = 128;

/// Bytes of a record: site, global id x, y, z (4 bytes each), address, offset in the object, size of the object (8 bytes
/// each).
pub const RECORD_SIZE: u32 = 40;

/// How many records each site leaves in a launch.
pub const RECORDS_OF_SITE: u32 = 4;

/// Another argument points into the same object.
pub const SHARED: u64 = 1 << 63;

/// Kernels may not read the object (`CL_MEM_WRITE_ONLY`).
pub const UNREADABLE: u64 = 1 << 62;

/// Kernels may not write the object (`CL_MEM_READ_ONLY`).
pub const UNWRITABLE: u64 = 1 << 61;

/// Instead of the number of allocations: pointers from memory cannot be checked.
pub const UNKNOWN: u32 = u32::MAX;

/// A place in a program that is checked. Records refer to it by its index in [`Program::sites`](crate::Program::sites).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Site {
    /// What is checked.
    pub check: Check,
    /// What is accessed, if the compiler knows it.
    pub object: Option<Object>,
    /// Where: the function, and the calls that it was inlined by, the kernel last.
    pub places: Vec<Place>,
}

/// A check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Check {
    /// A read of so many bytes is within its object.
    Read(u64),
    /// A write is.
    Write(u64),
    /// An atomic operation is.
    Atomic(u64),
    /// A read of so many bytes is of a buffer that kernels may read.
    Readable(u64),
    /// A write, or an atomic operation, is of one that they may write.
    Writable(u64),
    /// An index is within an array of so many elements, which is a member of a structure.
    Index(u64),
    /// A coordinate of a read is within an image's side.
    ReadTexel(Side),
    /// One of a write is.
    WriteTexel(Side),
    /// The address of an access is a multiple of so many bytes.
    Aligned(u64),
    /// A read of so many bytes races with no other access.
    RaceRead(u64),
    /// A write does not.
    RaceWrite(u64),
    /// An atomic operation does not.
    RaceAtomic(u64),
    /// All work-items come to a barrier.
    Barrier,
    /// All work-items come to a function of the work-group or sub-group.
    Collective,
    /// All work-items of a group have the same arguments of a copy, or of waiting for some.
    Uniform,
    /// What is waited for are events of copies.
    Event,
    /// A divisor is not zero.
    Division,
    /// A float is within the range of the integer that it is converted to.
    Conversion,
    /// An integer of so many bits is shifted by less than that.
    Shift(u64),
    /// The result of signed integers is one of their type.
    Overflow,
    /// What a branch depends on is defined.
    UndefinedBranch,
    /// The address of an access, or the place in an image, is.
    UndefinedAddress,
    /// What is written to global memory, or changed atomically, is, unless it is only copied from there.
    UndefinedResult,
    /// What is copied in global memory is, when the host reads it.
    UndefinedCopy,
}

impl Check {
    /// What has failed where the check of an access has left a record: an access within its object is one that the buffer's
    /// flags forbid.
    #[must_use]
    pub const fn failed_with(self, record: &Record) -> Self {
        match self {
            Check::Read(length) if Self::is_within(length, record) => Check::Readable(length),
            Check::Write(length) | Check::Atomic(length) if Self::is_within(length, record) => {
                Check::Writable(length)
            }
            other => other,
        }
    }

    const fn is_within(length: u64, record: &Record) -> bool {
        record.offset >= 0 && length <= record.size && record.offset.cast_unsigned() <= record.size - length
    }

    /// Whether it is one for a race.
    #[must_use]
    pub const fn is_race(self) -> bool {
        matches!(self, Check::RaceRead(_) | Check::RaceWrite(_) | Check::RaceAtomic(_))
    }

    /// The kind in reports: a name that stays the same from version to version.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Check::Read(_) | Check::ReadTexel(_) => "out-of-bounds-read",
            Check::Write(_) | Check::WriteTexel(_) => "out-of-bounds-write",
            Check::Atomic(_) => "out-of-bounds-atomic",
            Check::Readable(_) => "read-of-write-only",
            Check::Writable(_) => "write-of-read-only",
            Check::Index(_) => "index-out-of-bounds",
            Check::Aligned(_) => "misaligned-access",
            Check::RaceRead(_) | Check::RaceWrite(_) | Check::RaceAtomic(_) => "data-race",
            Check::Barrier => "divergent-barrier",
            Check::Collective | Check::Uniform => "divergent-call",
            Check::Event => "invalid-event",
            Check::Division => "division-by-zero",
            Check::Conversion => "float-to-integer-range",
            Check::Shift(_) => "shift-amount",
            Check::Overflow => "signed-overflow",
            Check::UndefinedBranch
            | Check::UndefinedAddress
            | Check::UndefinedResult
            | Check::UndefinedCopy => "undefined-value",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Check::Read(bytes) => write!(f, "out-of-bounds read of {}", self::bytes(*bytes)),
            Check::Write(bytes) => write!(f, "out-of-bounds write of {}", self::bytes(*bytes)),
            Check::Atomic(bytes) => write!(f, "out-of-bounds atomic operation on {}", self::bytes(*bytes)),
            Check::Readable(bytes) => write!(f, "read of {} in a write-only buffer", self::bytes(*bytes)),
            Check::Writable(bytes) => write!(f, "write of {} in a read-only buffer", self::bytes(*bytes)),
            Check::ReadTexel(_) => write!(f, "out-of-bounds read of an image"),
            Check::WriteTexel(_) => write!(f, "out-of-bounds write of an image"),
            Check::Aligned(bytes) => {
                write!(f, "access at an address that is no multiple of {}", self::bytes(*bytes))
            }
            Check::Index(elements) => write!(f, "index beyond a member of {elements} elements"),
            Check::RaceRead(bytes) => write!(f, "data race: read of {}", self::bytes(*bytes)),
            Check::RaceWrite(bytes) => write!(f, "data race: write of {}", self::bytes(*bytes)),
            Check::RaceAtomic(bytes) => write!(f, "data race: atomic operation on {}", self::bytes(*bytes)),
            Check::Uniform => write!(f, "arguments of a group function that differ among work-items"),
            Check::Collective => write!(f, "group function that not all work-items come to"),
            Check::Barrier => write!(f, "barrier that not all work-items come to"),
            Check::Event => write!(f, "wait for an event that no copy has given"),
            Check::Division => write!(f, "division by zero"),
            Check::Conversion => write!(f, "conversion of a float that the integer's type cannot represent"),
            Check::Shift(bits) => write!(f, "shift of {bits} bits by {bits} or more"),
            Check::Overflow => write!(f, "result that its signed type cannot represent"),
            Check::UndefinedBranch => write!(f, "branch by an undefined value"),
            Check::UndefinedAddress => write!(f, "access by an undefined address"),
            Check::UndefinedResult => write!(f, "result made of an undefined value"),
            Check::UndefinedCopy => write!(f, "copy of an undefined value, which the host reads"),
        }
    }
}

fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

/// A side of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Side {
    /// Texels in a row.
    Width,
    /// Rows.
    Height,
    /// Slices.
    Depth,
    /// Images in an array.
    Layers,
}

impl Side {
    /// The names of its coordinate and its size.
    const fn names(self) -> [&'static str; 2] {
        match self {
            Side::Width => ["x", "width"],
            Side::Height => ["y", "height"],
            Side::Depth => ["z", "depth"],
            Side::Layers => ["the layer", "array size"],
        }
    }
}

/// What a pointer points into.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Object {
    /// The memory object of an argument with this index and name.
    Argument(u32, String),
    /// A private variable.
    Private(String),
    /// A local variable of the kernel.
    Local(String),
    /// A variable of the program.
    Variable(String),
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Object::Argument(index, name) => write!(f, "argument {index} ({name})"),
            Object::Private(name) => write!(f, "private variable {name}"),
            Object::Local(name) => write!(f, "local variable {name}"),
            Object::Variable(name) => write!(f, "program variable {name}"),
        }
    }
}

/// A place in a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// The function.
    pub function: String,
    /// The file's name, as diagnostics of the compiler have it.
    pub file: String,
    /// Line, from 1; 0 if it is not known.
    pub line: u32,
    /// Column, from 1; 0 if it is not known.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.function, self.file)?;
        for number in [self.line, self.column].into_iter().take_while(|number| *number > 0) {
            write!(f, ":{number}")?;
        }
        write!(f, ")")
    }
}

/// A record in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Index of the site.
    pub site: u32,
    /// Global id of the work-item.
    pub work_item: [u32; 3],
    /// The address in global memory, or 0.
    pub address: u64,
    /// Offset in the object in bytes, negative in front of it; of other checks a number that describes the failure.
    pub offset: i64,
    /// Size of the object in bytes.
    pub size: u64,
}

impl Record {
    /// Reads one.
    #[must_use]
    pub fn read(bytes: &[u8; RECORD_SIZE as usize]) -> Self {
        let dword = |index: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[4 * index + i]));
        let qword = |index| u64::from(dword(index)) | u64::from(dword(index + 1)) << 32;
        Self {
            site: dword(0),
            work_item: [dword(1), dword(2), dword(3)],
            address: qword(4),
            offset: qword(6).cast_signed(),
            size: qword(8),
        }
    }

    /// Whether an argument points into the object: its address, the bytes of its own object in front of that, and the
    /// object's size.
    #[must_use]
    pub const fn is_of(&self, address: u64, before: u64, size: u64) -> bool {
        let begin = self.address.wrapping_sub(self.offset.cast_unsigned());
        size == self.size && address == begin.wrapping_add(before)
    }
}

/// The other access of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Other {
    /// What it was.
    pub site: Site,
    /// Global id of its work-item, if that is known and there was only one.
    pub work_item: Option<[u64; 3]>,
}

/// What a check found, once for all launches of a program: the first work-item, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The kernel.
    pub kernel: String,
    /// Where.
    pub site: Site,
    /// Global id of the first work-item that was recorded.
    pub work_item: [u32; 3],
    /// Its address in global memory, or 0.
    pub address: u64,
    /// See [`Record::offset`].
    pub offset: i64,
    /// See [`Record::size`].
    pub size: u64,
    /// Of a race: with what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Other>,
    /// How often the check failed, in all launches.
    pub count: u64,
    /// In how many launches.
    pub launches: u64,
}

impl Finding {
    /// What the check of a site in a kernel has found, by the record of the first work-item, with the object that was
    /// accessed.
    #[must_use]
    pub fn new(kernel: &str, site: &Site, record: &Record, object: Option<Object>) -> Self {
        let Record { work_item, address, offset, size, .. } = *record;
        let site = Site { check: site.check.failed_with(record), object, ..site.clone() };
        let kernel = kernel.into();
        Self { kernel, site, work_item, address, offset, size, other: None, count: 1, launches: 1 }
    }

    /// The kind: [`Check::name`].
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.site.check.name()
    }

    /// Where the access was, relative to its object; empty for checks of other things than accesses.
    fn position(&self) -> String {
        let (Check::Read(length) | Check::Write(length) | Check::Atomic(length)) = self.site.check else {
            return match (self.site.check, &self.site.object) {
                (Check::Index(_), _) => format!("the index is {}", self.offset),
                (Check::ReadTexel(side) | Check::WriteTexel(side), Some(object)) => {
                    let [coordinate, size] = side.names();
                    format!("{coordinate} is {}, the {size} of {object} {}", self.offset, self.size)
                }
                (Check::Shift(_), _) => format!("the amount is {}", self.offset),
                (Check::Aligned(_), Some(object)) => format!("it begins at byte {} of {object}", self.offset),
                (
                    Check::RaceRead(_)
                    | Check::RaceWrite(_)
                    | Check::RaceAtomic(_)
                    | Check::Readable(_)
                    | Check::Writable(_)
                    | Check::UndefinedResult
                    | Check::UndefinedCopy,
                    Some(object),
                ) => format!("in {object}"),
                _ => String::new(),
            };
        };
        let object =
            self.site.object.as_ref().map_or_else(|| "an allocation".to_owned(), ToString::to_string);
        if self.size == 0 {
            let what = if self.address == 0 || self.address == self.offset.cast_unsigned() {
                "a null pointer".to_owned()
            } else {
                "no memory object that is alive".to_owned()
            };
            return match &self.site.object {
                Some(object) => format!("{object} is {what}"),
                None => format!("the pointer is to {what}; the address is {:#x}", self.address),
            };
        }
        let of = format!("{object} of {}", bytes(self.size));
        let size = self.size.cast_signed();
        if self.offset < 0 {
            format!("it begins {} before {of}", bytes(self.offset.unsigned_abs()))
        } else if self.offset >= size {
            format!("it begins {} behind {of}", bytes((self.offset - size).cast_unsigned()))
        } else {
            let inside = (size - self.offset).cast_unsigned();
            format!("its last {} are behind {of}", bytes(length - inside.min(length)))
        }
    }
}

impl fmt::Display for Finding {
    /// Several lines, without one at the end: what, where, who, and how often.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in kernel {}", self.site.check, self.kernel)?;
        for (index, place) in self.site.places.iter().enumerate() {
            write!(f, "\n    {} {place}", if index == 0 { "at" } else { "called from" })?;
        }
        let [x, y, z] = self.work_item;
        write!(f, "\n    work-item ({x}, {y}, {z})")?;
        let position = self.position();
        if !position.is_empty() {
            write!(f, ": {position}")?;
        }
        if let Some(Other { site, work_item }) = &self.other {
            let what = match site.check {
                Check::RaceRead(_) => "read",
                Check::RaceWrite(_) => "write",
                _ => "atomic operation",
            };
            let by = match work_item {
                Some([x, y, z]) => format!("work-item ({x}, {y}, {z})"),
                None => "several work-items".to_owned(),
            };
            write!(f, "\n    with the {what} by {by}")?;
            for (index, place) in site.places.iter().enumerate() {
                write!(f, "\n    {} {place}", if index == 0 { "at" } else { "called from" })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(check: Check, offset: i64, size: u64) -> Finding {
        let place =
            |function: &str, line| Place { function: function.into(), file: "a.cl".into(), line, column: 5 };
        Finding {
            kernel: "k".into(),
            site: Site {
                check,
                object: Some(Object::Argument(1, "out".into())),
                places: vec![place("store", 3), place("k", 9)],
            },
            work_item: [64, 0, 0],
            address: 0x1000,
            offset,
            size,
            other: None,
            count: 1,
            launches: 1,
        }
    }

    #[test]
    fn records_are_read() {
        let mut bytes = [0; RECORD_SIZE as usize];
        for (index, byte) in [(0, 7), (4, 1), (8, 2), (12, 3), (16, 4), (20, 5), (32, 9)] {
            bytes[index] = byte;
        }
        bytes[24..32].copy_from_slice(&(-4_i64).to_le_bytes());
        let record = Record::read(&bytes);
        let expected = Record { site: 7, work_item: [1, 2, 3], address: 0x5_0000_0004, offset: -4, size: 9 };
        assert_eq!(record, expected);
    }

    #[test]
    fn findings_are_told() {
        let text = finding(Check::Write(4), 256, 256).to_string();
        assert_eq!(
            text,
            "out-of-bounds write of 4 bytes in kernel k\n    at store (a.cl:3:5)\n    called from k (a.cl:9:5)\n    \
             work-item (64, 0, 0): it begins 0 bytes behind argument 1 (out) of 256 bytes"
        );
        let position = |check, offset, size| finding(check, offset, size).position();
        assert_eq!(
            position(Check::Read(8), 252, 256),
            "its last 4 bytes are behind argument 1 (out) of 256 bytes"
        );
        assert_eq!(
            position(Check::Read(8), -1, 256),
            "it begins 1 byte before argument 1 (out) of 256 bytes"
        );
        assert_eq!(position(Check::Index(4), 5, 0), "the index is 5");
        assert_eq!(position(Check::Shift(32), 33, 0), "the amount is 33");
        assert_eq!(position(Check::Division, 0, 0), "");
    }
}
