//! Arguments of the kernels.

use gencl_utest::{Arg, Buffer, Gpu};
use opencl3::memory::{CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY};

/// An argument.
#[derive(Clone, Copy)]
pub enum Argument {
    /// A buffer with the numbers from 0 on.
    Ints(usize),
    /// One that kernels may only read, and one that they may only write.
    ReadOnly(usize),
    WriteOnly(usize),
    /// A buffer without contents.
    Undefined(usize),
    /// Local memory of so many bytes.
    Local(usize),
    /// Numbers.
    Int(i32),
    Long(i64),
    /// A null pointer.
    Null,
}

/// What an argument is made of.
pub enum Made {
    Buffer(Buffer<i32>),
    Bytes(Vec<u8>),
    Local(usize),
    Null,
}

impl Argument {
    pub fn make(self, gpu: &'static Gpu) -> Result<Made, String> {
        let buffer = |count: usize, flags| {
            let mut buffer = gpu.empty_with(flags, count)?;
            buffer.write(&(0..count as i32).collect::<Vec<_>>())?;
            Ok::<_, String>(Made::Buffer(buffer))
        };
        match self {
            Argument::Undefined(count) => gpu.empty(count).map(Made::Buffer),
            Argument::Ints(count) => buffer(count, CL_MEM_READ_WRITE),
            Argument::ReadOnly(count) => buffer(count, CL_MEM_READ_ONLY),
            Argument::WriteOnly(count) => buffer(count, CL_MEM_WRITE_ONLY),
            Argument::Local(bytes) => Ok(Made::Local(bytes)),
            Argument::Int(number) => Ok(Made::Bytes(number.to_le_bytes().into())),
            Argument::Long(number) => Ok(Made::Bytes(number.to_le_bytes().into())),
            Argument::Null => Ok(Made::Null),
        }
    }
}

impl Made {
    pub fn arg(&self) -> Arg<'_> {
        match self {
            Made::Buffer(buffer) => buffer.arg(),
            Made::Bytes(bytes) => Arg::Bytes(bytes),
            Made::Local(bytes) => Arg::Local(*bytes),
            Made::Null => Arg::Null,
        }
    }
}
