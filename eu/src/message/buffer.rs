//! Messages that read and write memory as buffers: an address per channel, or blocks.

use super::Space;

/// An untyped surface read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untyped {
    /// The memory that it accesses.
    pub space: Space,
    /// Whether it is a write.
    pub write: bool,
    /// Mask of the four dwords at each address.
    pub components: u8,
    /// Channels of the message: 8 or 16.
    pub simd: usize,
}

/// The element type of a scattered message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// One byte, in the low bits of a dword in registers.
    Byte,
    /// Two bytes, in the low bits of a dword in registers.
    Word,
    /// Four bytes.
    Dword,
    /// Eight bytes.
    Qword,
}

impl Element {
    /// Bytes in memory.
    pub fn size(self) -> usize {
        match self {
            Element::Byte => 1,
            Element::Word => 2,
            Element::Dword => 4,
            Element::Qword => 8,
        }
    }

    /// Bytes in the registers.
    pub fn register_size(self) -> usize {
        self.size().max(4)
    }
}

/// A scattered read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scattered {
    /// The memory that it accesses.
    pub space: Space,
    /// Whether it is a write.
    pub write: bool,
    /// Element type.
    pub element: Element,
    /// Number of elements at each address.
    pub count: usize,
    /// Channels of the message: 8 or 16.
    pub simd: usize,
    /// Unit of addresses in bytes.
    pub address_unit: u64,
    /// Required alignment of addresses: 1 for byte scattered messages, whatever the size of the element.
    pub alignment: u64,
}

/// The address of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockAddress {
    /// Header dword 2 in units of 16 bytes.
    OWords(Space),
    /// Header dword 2 in bytes, a multiple of 4.
    Bytes(Space),
    /// Header dwords 0 and 1: a 64-bit byte address.
    Wide {
        /// Whether it must be a multiple of 16.
        aligned: bool,
    },
}

/// An OWord or HWord block read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Address.
    pub address: BlockAddress,
    /// Whether it is a write.
    pub write: bool,
    /// Bytes.
    pub bytes: usize,
    /// Whether a single OWord is in the upper half of its register.
    pub high: bool,
}

/// A scratch block read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScratchBlock {
    /// Whether it is a write.
    pub write: bool,
    /// Whether the execution mask applies per dword instead of per OWord.
    pub per_dword: bool,
    /// Number of registers.
    pub registers: usize,
    /// Byte offset in the thread's scratch space.
    pub offset: u32,
}
