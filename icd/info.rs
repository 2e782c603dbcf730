//! Results of queries: `clGet…Info`.

use std::ffi::{c_char, c_void};

use gencl_runtime::{Code, Error};
use opencl_sys::cl_name_version;

use crate::CLResult;
use crate::abi::{Bytes, Out};

/// Proof that a query has a result: only methods of [`InfoWriter`] return one.
pub struct Written(());

/// The last three parameters of `clGet…Info`.
#[must_use]
pub struct InfoWriter {
    room: usize,
    value: Bytes,
    size_ret: Out<usize>,
}

/// Types of results.
///
/// # Safety
/// The type has no padding bytes.
pub unsafe trait Plain: Copy {}

/// Integers and pointers.
macro_rules! plain {
    ($($name:ty),*) => {
        $(
            // SAFETY: a primitive type has no padding.
            unsafe impl Plain for $name {}
        )*
    };
}

plain!(u8, u32, i32, u64, usize, isize, *mut c_void, *const c_void, *const c_char);

// SAFETY: elements of an array stand without gaps.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

// SAFETY: 64 characters after a 32-bit number leave no gap.
unsafe impl Plain for cl_name_version {}

impl InfoWriter {
    /// From the parameters.
    pub fn new(room: usize, value: Bytes, size_ret: Out<usize>) -> Self {
        Self { room, value, size_ret }
    }

    /// Returns one value.
    pub fn value<T: Plain>(self, value: T) -> CLResult<Written> {
        self.values(&[value])
    }

    /// Returns a `cl_bool`.
    pub fn boolean(self, value: bool) -> CLResult<Written> {
        self.value(u32::from(value))
    }

    /// Returns a string.
    pub fn string(self, text: &str) -> CLResult<Written> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.values(&bytes)
    }

    /// Returns a list, which may be empty.
    pub fn values<T: Plain>(self, values: &[T]) -> CLResult<Written> {
        let size = size_of_val(values);
        if !self.value.is_null() {
            // CL_INVALID_VALUE if size in bytes specified by param_value_size is < size of return type and
            // param_value is not NULL.
            if self.room < size {
                let reason = format!("the result has {size} bytes, param_value_size is {}", self.room);
                return Err(Error::new(Code::InvalidValue, reason));
            }
            // SAFETY: not null, there is room, and the type has no padding.
            unsafe { self.value.write(values) }
        }
        self.size_ret.write(size);
        Ok(Written(()))
    }

    /// Returns data through pointers in the value, for `CL_PROGRAM_BINARIES`. `size` is the size of the value
    /// itself; `fill` is not called when only the size is queried.
    pub fn filled(self, size: usize, fill: impl FnOnce()) -> CLResult<Written> {
        if !self.value.is_null() {
            if self.room < size {
                return Err(Error::new(
                    Code::InvalidValue,
                    format!("the result has {size} bytes, param_value_size is {}", self.room),
                ));
            }
            fill();
        }
        self.size_ret.write(size);
        Ok(Written(()))
    }

    /// The error for an unknown query.
    pub fn unknown(self, name: u32) -> CLResult<Written> {
        Err(Error::new(Code::InvalidValue, format!("unknown query {name:#x}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Argument;

    fn ask(
        room: usize,
        value: *mut u8,
        answer: impl FnOnce(InfoWriter) -> CLResult<Written>,
    ) -> (Option<Code>, usize) {
        let mut size = usize::MAX;
        // SAFETY: a live variable, and memory of the test with the size that it says.
        let writer =
            unsafe { InfoWriter::new(room, Bytes::from_raw(value.cast()), Out::from_raw(&raw mut size)) };
        (answer(writer).err().map(|error| error.code), size)
    }

    #[test]
    fn size_alone() {
        assert_eq!(ask(0, std::ptr::null_mut(), |info| info.string("abc")), (None, 4));
        assert_eq!(ask(0, std::ptr::null_mut(), |info| info.values::<u64>(&[])), (None, 0));
    }

    #[test]
    fn value_and_size() {
        let mut memory = [0xff; 8];
        assert_eq!(ask(8, memory.as_mut_ptr(), |info| info.boolean(true)), (None, 4));
        assert_eq!(memory, [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(ask(8, memory.as_mut_ptr(), |info| info.string("ab")), (None, 3));
        assert_eq!(&memory[..4], b"ab\0\0");
    }

    #[test]
    fn too_little_room() {
        let mut memory = [0xff; 8];
        let (code, size) = ask(7, memory.as_mut_ptr(), |info| info.value(1u64));
        assert_eq!((code, size), (Some(Code::InvalidValue), usize::MAX));
        assert_eq!(memory, [0xff; 8]);
    }

    #[test]
    fn names_and_versions_have_no_padding() {
        assert_eq!(size_of::<cl_name_version>(), 68);
    }
}
