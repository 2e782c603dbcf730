//! Arguments of the kernels.

use std::ptr::null_mut;

use gencl_utest::raw::api;
use gencl_utest::{Arg, Buffer, Gpu};
use opencl_sys::{
    CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_NONE, CL_FALSE, CL_FILTER_NEAREST, CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_TRUE, cl_mem_object_type, cl_sampler,
};
use opencl3::memory::{self, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, ClMem};
use opencl3::svm::SvmVec;

use crate::images::{Image, RGBA, create_sampler, descriptor};

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
    /// A sub-buffer of so many numbers, in the middle of a buffer of zeros.
    Part(usize),
    /// Shared virtual memory of so many numbers, and a buffer with its address.
    Shared(usize),
    AddressOf(usize),
    /// An image, by kind and sides, whose texels are all 0.
    Image(cl_mem_object_type, [usize; 3]),
    /// One of a buffer.
    ImageOfBuffer(usize),
    /// A sampler without an addressing mode, by whether coordinates are normalized, and one with the nearest texel.
    Unaddressed(bool),
    ToEdge(bool),
    /// Local memory of so many bytes.
    Local(usize),
    /// Numbers.
    Int(i32),
    Long(i64),
    Float(f32),
    /// A null pointer.
    Null,
}

/// What an argument is made of.
pub enum Made {
    Buffer(Buffer<i32>),
    Part(memory::Buffer<u8>),
    Shared(SvmVec<'static, i32>),
    AddressOf { buffer: Buffer<u64>, _memory: SvmVec<'static, i32> },
    Image(Image),
    Sampler(Sampler),
    Bytes(Vec<u8>),
    Local(usize),
    Null,
}

/// A sampler that is released when it is dropped.
pub struct Sampler(cl_sampler);

impl Drop for Sampler {
    fn drop(&mut self) {
        if let Ok(api) = api() {
            // SAFETY: the handle is the test's.
            unsafe { (api.clReleaseSampler)(self.0) };
        }
    }
}

/// Numbers in front of a sub-buffer: addresses of sub-buffers are multiples of a page.
const BEFORE: usize = 1024;

impl Argument {
    pub fn make(self, gpu: &'static Gpu) -> Result<Made, String> {
        let buffer = |count: usize, flags| {
            let mut buffer = gpu.empty_with(flags, count)?;
            buffer.write(&(0..count as i32).collect::<Vec<_>>())?;
            Ok::<_, String>(Made::Buffer(buffer))
        };
        let shared = |count| SvmVec::allocate(&gpu.context, count).map_err(|error| error.to_string());
        let sampler = |is_normalized, mode| {
            let normalized = if is_normalized { CL_TRUE } else { CL_FALSE };
            create_sampler(gpu.context.get(), [normalized, mode, CL_FILTER_NEAREST])
                .map(|(sampler, _)| Made::Sampler(Sampler(sampler)))
        };
        match self {
            Argument::Undefined(count) => gpu.empty(count).map(Made::Buffer),
            Argument::Ints(count) => buffer(count, CL_MEM_READ_WRITE),
            Argument::ReadOnly(count) => buffer(count, CL_MEM_READ_ONLY),
            Argument::WriteOnly(count) => buffer(count, CL_MEM_WRITE_ONLY),
            Argument::Part(count) => {
                let whole = gpu.buffer(&vec![0; BEFORE + count + BEFORE])?;
                // SAFETY: within the buffer, which it keeps.
                let part =
                    unsafe { whole.memory().create_sub_buffer(CL_MEM_READ_WRITE, 4 * BEFORE, 4 * count) };
                part.map(Made::Part).map_err(|error| error.to_string())
            }
            Argument::Shared(count) => shared(count).map(Made::Shared),
            Argument::AddressOf(count) => {
                let memory = shared(count)?;
                let buffer = gpu.buffer(&[memory.as_ptr() as u64])?;
                Ok(Made::AddressOf { buffer, _memory: memory })
            }
            Argument::Image(kind, sides) => {
                let image = Image::new(kind, sides)?;
                image.write_all(&vec![0; image.bytes()])?;
                Ok(Made::Image(image))
            }
            Argument::ImageOfBuffer(count) => {
                // The image keeps it.
                let buffer = gpu.buffer(&vec![0u32; count])?;
                let sides = [count, 1, 1];
                let mut form = descriptor(CL_MEM_OBJECT_IMAGE1D_BUFFER, sides);
                form.buffer = buffer.memory().get();
                let handle = Image::create(0, &RGBA, &form, null_mut())?;
                Ok(Made::Image(Image { handle, sides, texel: 4 }))
            }
            Argument::Unaddressed(normalized) => sampler(normalized, CL_ADDRESS_NONE),
            Argument::ToEdge(normalized) => sampler(normalized, CL_ADDRESS_CLAMP_TO_EDGE),
            Argument::Local(bytes) => Ok(Made::Local(bytes)),
            Argument::Int(number) => Ok(Made::Bytes(number.to_le_bytes().into())),
            Argument::Long(number) => Ok(Made::Bytes(number.to_le_bytes().into())),
            Argument::Float(number) => Ok(Made::Bytes(number.to_le_bytes().into())),
            Argument::Null => Ok(Made::Null),
        }
    }
}

impl Made {
    pub fn arg(&self) -> Arg<'_> {
        match self {
            Made::Buffer(buffer) => buffer.arg(),
            Made::Part(part) => Arg::Memory(part.get()),
            Made::Shared(memory) => Arg::Shared(memory.as_ptr().cast()),
            Made::AddressOf { buffer, .. } => buffer.arg(),
            Made::Image(image) => Arg::Memory(image.handle),
            Made::Sampler(sampler) => Arg::Memory(sampler.0),
            Made::Bytes(bytes) => Arg::Bytes(bytes),
            Made::Local(bytes) => Arg::Local(*bytes),
            Made::Null => Arg::Null,
        }
    }
}
