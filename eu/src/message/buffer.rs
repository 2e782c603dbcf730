//! Messages that read and write memory as buffers: an address per channel, or blocks.

use super::Space;
use crate::operand::lanes;

/// What a message with an address per channel accesses at each address: some of up to eight elements that follow each
/// other. The translator carries it to the accesses of its IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Elements {
    /// Bytes of an element in memory: 1, 2, 4 or 8.
    pub size: u8,
    /// Bit set of the elements that are accessed.
    pub present: u8,
    /// What addresses must be multiples of, in bytes: 1 for byte scattered messages, whatever the size.
    pub alignment: u8,
}

impl Elements {
    /// The first `count` elements, at most eight.
    pub const fn first(count: usize, size: u8, alignment: u8) -> Elements {
        Elements { size, present: ((1 << count) - 1) as u8, alignment }
    }

    /// How many are accessed.
    pub fn count(self) -> usize {
        self.present.count_ones() as usize
    }

    /// Bytes of an element in the registers, where bytes and words are the low bits of dwords.
    pub fn register_size(self) -> usize {
        usize::from(self.size).max(4)
    }

    /// Byte offset from the address of each that is accessed, ascending.
    pub fn offsets(self) -> impl Iterator<Item = usize> {
        lanes(self.present.into()).map(move |n| n * usize::from(self.size))
    }

    /// Bytes from the address to the end of the last.
    pub fn span(self) -> usize {
        usize::from(self.size) * (8 - self.present.leading_zeros() as usize)
    }

    /// Whether those that are accessed follow each other from the address on.
    pub fn is_packed(self) -> bool {
        self.span() == self.count() * usize::from(self.size)
    }
}

/// A read or write with an address per channel: untyped surface, byte, dword and qword scattered messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scattered {
    /// The memory that it accesses.
    pub space: Space,
    /// Whether it is a write.
    pub write: bool,
    /// What it accesses at each address.
    pub elements: Elements,
    /// Channels of the message: 8 or 16.
    pub simd: usize,
    /// Unit of addresses in bytes.
    pub address_unit: u64,
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
