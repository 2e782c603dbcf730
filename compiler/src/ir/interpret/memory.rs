//! Memory of the interpreter: buffers at made-up addresses.

use std::collections::BTreeMap;

use super::Image;

/// Distance between the addresses of buffers, so that running off the end of one does not reach the next.
const SPACING: u64 = 1 << 32;
/// The same where addresses have 32 bits.
const NARROW_SPACING: u64 = 1 << 24;

/// A global address space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    buffers: BTreeMap<u64, Vec<u8>>,
    images: Vec<Image>,
    spacing: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { buffers: BTreeMap::new(), images: Vec::new(), spacing: SPACING }
    }
}

impl Memory {
    /// One of addresses of 32 bits.
    pub fn narrow() -> Memory {
        Memory { spacing: NARROW_SPACING, ..Memory::default() }
    }

    /// Adds a buffer and returns its address, a multiple of 4 GiB (16 MiB in a narrow space) and never 0.
    pub fn add(&mut self, bytes: Vec<u8>) -> u64 {
        let spacing = self.spacing;
        let address = self.buffers.last_key_value().map_or(spacing, |(last, _)| last + spacing);
        self.buffers.insert(address, bytes);
        address
    }

    /// Removes the buffer at an address.
    pub fn remove(&mut self, address: u64) -> Option<Vec<u8>> {
        self.buffers.remove(&address)
    }

    /// Puts a buffer at an address where none is.
    pub fn put(&mut self, address: u64, bytes: Vec<u8>) {
        self.buffers.insert(address, bytes);
    }

    /// The buffer at an address, as [`Memory::add`] gave it.
    pub fn buffer(&self, address: u64) -> Option<&[u8]> {
        self.buffers.get(&address).map(Vec::as_slice)
    }

    /// Adds an image and gives its number.
    pub fn add_image(&mut self, image: Image) -> usize {
        self.images.push(image);
        self.images.len() - 1
    }

    /// The image of a number that [`Memory::add_image`] gave.
    pub fn image(&mut self, number: usize) -> Option<&mut Image> {
        self.images.get_mut(number)
    }

    /// `size` bytes at any address, when all of them lie in one buffer.
    pub(super) fn slice(&mut self, address: u64, size: usize) -> Option<&mut [u8]> {
        let (base, bytes) = self.buffers.range_mut(..=address).next_back()?;
        area(bytes, address - base, size)
    }
}

/// `size` bytes of an area from `offset` on, if they are in it.
pub(super) fn area(bytes: &mut [u8], offset: u64, size: usize) -> Option<&mut [u8]> {
    let begin = usize::try_from(offset).ok()?;
    bytes.get_mut(begin..begin.checked_add(size)?)
}

/// Bytes as a little-endian number; at most 8.
pub(super) fn from_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// The low bytes of a number.
pub(super) fn to_bytes(value: u64, bytes: &mut [u8]) {
    bytes.copy_from_slice(&value.to_le_bytes()[..bytes.len()]);
}
