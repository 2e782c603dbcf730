//! The values of a kernel's arguments, from `clSetKernelArg` to a launch.
//!
//! The layout is the compiler's and comes with the binary: [`Argument`] has kind, size, alignment and the
//! offset in the argument block, [`gencl_program::Push`] the bytes that a register gets. The values:
//!
//! 1. `clSetKernelArg`: the ICD makes an [`ArgumentValue`] of what the application gives,
//!    [`Kernel::set_argument`](super::Kernel::set_argument) checks it against the layout and keeps it.
//! 2. `clEnqueueNDRangeKernel`, `clCommandNDRangeKernelKHR`:
//!    [`Kernel::bind_arguments`](super::Kernel::bind_arguments) writes the values to an [`ArgumentBlock`], in
//!    which objects are GPU addresses.
//! 3. When the batch is built: `launch/constants.rs` copies what the kernel's pushes name from the block to
//!    the CURBE, and the block itself to memory, if the kernel loads from it.

use std::sync::{Arc, Weak};

use gencl_program::Argument;
use smallvec::SmallVec;

use crate::memory::Allocation;
use crate::{Buffer, Image, MemoryFlags, Sampler, SharedMemory};

/// The value of an argument. It does not keep a memory object alive: a kernel may hold no references to its
/// arguments, as the application could not release them (specification of `clSetKernelArg`). Only a sampler is kept,
/// which is no more than its value: applications release it before the launch, as other drivers let them.
#[derive(Clone, Debug)]
pub enum ArgumentValue {
    /// The bytes of a by-value argument. Most are scalars and short vectors, which need no allocation.
    Bytes(SmallVec<[u8; 16]>),
    /// A null pointer to global or constant memory.
    Null,
    /// A buffer, for a pointer to global or constant memory.
    Buffer(Weak<Buffer>),
    /// An address in shared virtual memory and the allocation that it is in, for a pointer to global or
    /// constant memory. Made by [`Kernel::shared_pointer`](super::Kernel::shared_pointer).
    Shared(usize, Weak<SharedMemory>),
    /// Bytes of local memory, for a pointer to it.
    Local(u64),
    /// An image.
    Image(Weak<Image>),
    /// A sampler.
    Sampler(Arc<Sampler>),
}

impl ArgumentValue {
    /// The value for messages: "a buffer".
    pub(super) fn description(&self) -> &'static str {
        match self {
            Self::Bytes(_) => "a value",
            Self::Null => "a null pointer",
            Self::Buffer(_) => "a buffer",
            Self::Shared(..) => "a pointer to shared virtual memory",
            Self::Local(_) => "a size of local memory",
            Self::Image(_) => "an image",
            Self::Sampler(_) => "a sampler",
        }
    }
}

/// Memory that an argument of a launch points to, which the launch keeps alive.
#[derive(Clone, Debug)]
pub(crate) enum ArgumentMemory {
    Buffer(Arc<Buffer>),
    /// Shared virtual memory, and its size in bytes. Its pages only: an allocation that a recorded launch held would
    /// never end (`clMemBlockingFreeINTEL`). An enqueued launch holds all that there are.
    Shared(Arc<Allocation>, u64),
    Image(Arc<Image>),
}

impl ArgumentMemory {
    /// Where the memory is: an allocation, the offset there and the size in bytes.
    pub(crate) fn range(&self) -> (&Arc<Allocation>, u64, u64) {
        let buffer = match self {
            Self::Shared(pages, size) => return (pages, 0, *size),
            Self::Buffer(buffer) => buffer,
            Self::Image(image) => image.data(),
        };
        (buffer.storage(), buffer.begin() as u64, buffer.size())
    }

    /// What kernels may do with it.
    pub(crate) fn flags(&self) -> MemoryFlags {
        match self {
            Self::Buffer(buffer) => buffer.flags(),
            Self::Shared(..) | Self::Image(_) => MemoryFlags::empty(),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Buffer(own), Self::Buffer(other)) => Arc::ptr_eq(own, other),
            (Self::Shared(own, _), Self::Shared(other, _)) => Arc::ptr_eq(own, other),
            (Self::Image(own), Self::Image(other)) => Arc::ptr_eq(own, other),
            _ => false,
        }
    }
}

/// The arguments of a launch on one device.
#[derive(Debug, Default)]
pub(crate) struct ArgumentBlock {
    /// Each argument at its [`Argument::block_offset`]: the bytes of a value, else 8 bytes: a GPU address, an
    /// offset in local memory, the number of a sampler ([`Sampler::number`]), or 0.
    bytes: Vec<u8>,
    /// Memory that arguments point to, with the argument's index.
    memory: Vec<(usize, ArgumentMemory)>,
    /// Sizes in bytes of the local memory of arguments, with the argument's index.
    local_sizes: Vec<(usize, u64)>,
    /// Local memory in bytes, that of the kernel's own variables included.
    local_memory: u64,
}

impl ArgumentBlock {
    /// Makes an empty block one of zeros, for the arguments of a kernel.
    pub(crate) fn resize(&mut self, arguments: &[Argument]) {
        let end = |argument: &Argument| argument.block_offset + argument.block_size();
        self.bytes.resize(arguments.iter().map(end).max().unwrap_or(0) as usize, 0);
    }

    /// Writes a by-value argument.
    pub(crate) fn put(&mut self, argument: &Argument, value: &[u8]) {
        let begin = argument.block_offset as usize;
        self.bytes[begin..begin + value.len()].copy_from_slice(value);
    }

    /// Writes a GPU address or an offset in local memory.
    pub(crate) fn put_pointer(&mut self, argument: &Argument, pointer: u64) {
        self.put(argument, &pointer.to_le_bytes());
    }

    /// Writes a GPU address and keeps what is there alive.
    pub(super) fn put_memory(
        &mut self,
        (index, argument): (usize, &Argument),
        address: u64,
        memory: ArgumentMemory,
    ) {
        self.put_pointer(argument, address);
        self.memory.push((index, memory));
    }

    /// Writes the offset of local memory for an argument, and keeps its size.
    pub(super) fn put_local(&mut self, (index, argument): (usize, &Argument), offset: u64, size: u64) {
        self.put_pointer(argument, offset);
        self.local_sizes.push((index, size));
    }

    pub(super) fn set_local_memory(&mut self, size: u64) {
        self.local_memory = size;
    }

    /// The bytes, [`gencl_program::Kernel::argument_block_size`] at most if that is not 0.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// `size` bytes of an argument from `offset` on.
    pub(crate) fn part(&self, argument: &Argument, offset: u32, size: u32) -> &[u8] {
        let begin = (argument.block_offset + offset) as usize;
        &self.bytes[begin..begin + size as usize]
    }

    /// Memory that arguments point to, with the argument's index.
    pub(crate) fn memory(&self) -> &[(usize, ArgumentMemory)] {
        &self.memory
    }

    /// The image that an argument is.
    pub(crate) fn image(&self, index: u32) -> Option<&Arc<Image>> {
        self.memory.iter().find_map(|(argument, memory)| match memory {
            ArgumentMemory::Image(image) if *argument == index as usize => Some(image),
            _ => None,
        })
    }

    /// The OpenCL C number of the sampler that an argument is.
    pub(crate) fn sampler(&self, argument: &Argument) -> u32 {
        let bytes = self.part(argument, 0, 4);
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    }

    /// Bytes of local memory of an argument.
    pub(crate) fn local_size(&self, index: usize) -> u64 {
        self.local_sizes.iter().find(|(argument, _)| *argument == index).map_or(0, |(_, size)| *size)
    }

    /// The address that an argument is.
    pub(crate) fn address(&self, argument: &Argument) -> u64 {
        u64::from_le_bytes(self.part(argument, 0, 8).try_into().expect("eight bytes"))
    }

    /// Local memory of a work-group in bytes.
    pub(crate) fn local_memory(&self) -> u64 {
        self.local_memory
    }

    /// Whether an argument is a pointer to shared virtual memory.
    pub(crate) fn has_shared_pointers(&self) -> bool {
        self.memory.iter().any(|(_, memory)| matches!(memory, ArgumentMemory::Shared(..)))
    }

    /// Whether both are the arguments of the same launch of one kernel.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        // With nothing to compare, `memcmp` reads from nowhere under an empty mask, which processors take
        // long for.
        let same_bytes = || self.bytes.is_empty() || self.bytes == other.bytes;
        let same_memory = || {
            let mut pairs = self.memory.iter().zip(&other.memory);
            pairs.all(|(own, other)| own.0 == other.0 && own.1.is_same(&other.1))
        };
        let lengths = |of: &Self| [of.bytes.len(), of.memory.len()];
        lengths(self) == lengths(other)
            && self.local_memory == other.local_memory
            && self.local_sizes == other.local_sizes
            && same_bytes()
            && same_memory()
    }

    /// Makes the block empty. Its memory stays for another launch.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.memory.clear();
        self.local_sizes.clear();
        self.local_memory = 0;
    }
}

/// Allocates local memory for arguments, behind the kernel's own variables.
pub(super) struct LocalLayout {
    /// Bytes so far.
    pub(super) size: u64,
}

impl LocalLayout {
    pub(super) fn new(kernel: &gencl_program::Kernel) -> Self {
        Self { size: u64::from(kernel.local_size) }
    }

    /// Allocates `size` bytes. Returns their offset.
    pub(super) fn allocate(&mut self, argument: &Argument, size: u64) -> u64 {
        let offset = self.size.next_multiple_of(u64::from(argument.alignment.max(1)));
        self.size = offset + size;
        offset
    }
}

/// Whether `clSetKernelArg` takes the same values for both lists of arguments.
pub(super) fn take_same_values(own: &[Argument], other: &[Argument]) -> bool {
    let taken = |argument: &Argument| (argument.kind, argument.size, argument.access);
    let alike =
        |(own, other): (&Argument, &Argument)| taken(own) == taken(other) && own.type_name == other.type_name;
    own.len() == other.len() && own.iter().zip(other).all(alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_arguments_are_aligned() {
        let kernel = gencl_program::Kernel { local_size: 5, ..Default::default() };
        let argument = |alignment| Argument {
            name: String::new(),
            type_name: String::new(),
            kind: gencl_program::ArgumentKind::LocalPointer,
            size: 8,
            alignment,
            block_offset: 0,
            type_qualifier: 0,
            access: gencl_program::Access::None,
        };
        let mut layout = LocalLayout::new(&kernel);
        assert_eq!(layout.allocate(&argument(16), 4), 16);
        assert_eq!(layout.allocate(&argument(1), 3), 20);
        assert_eq!(layout.allocate(&argument(4), 4), 24);
        assert_eq!(layout.size, 28);
    }
}
