//! Handles, contexts and descriptors that a thread has got from the node, for later requests.

use gencl_testing::Random;

use crate::odd::odd;

/// Largest number of names of a kind.
const MOST: usize = 48;

/// Names of one kind: handles, contexts, descriptors.
#[derive(Default)]
pub struct Pool(Vec<u32>);

impl Pool {
    /// Whether there is room for one more.
    pub fn has_room(&self) -> bool {
        self.0.len() < MOST
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a name.
    pub fn add(&mut self, name: u32) {
        self.0.push(name);
    }

    /// One of them, most of the time.
    pub fn pick(&self, random: &mut Random) -> u32 {
        if self.0.is_empty() || random.one_in(12) { odd(random) as u32 } else { random.pick(&self.0) }
    }

    /// Removes a name.
    pub fn take(&mut self, random: &mut Random) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        let index = random.below(self.0.len() as u64) as usize;
        Some(self.0.swap_remove(index))
    }
}

/// A buffer.
#[derive(Clone, Copy)]
pub struct Buffer {
    /// Its handle.
    pub handle: u32,
    /// Bytes.
    pub size: u64,
    /// Address of its mapping, or null.
    pub memory: *mut u8,
    /// Its address on the GPU.
    pub address: u64,
}

impl Buffer {
    /// Writes dwords to its beginning, if it is mapped, as far as they fit.
    pub fn write(&self, dwords: &[u32]) {
        let room = (self.size / 4) as usize;
        if !self.memory.is_null() {
            let memory = self.memory.cast::<u32>();
            for (index, dword) in dwords.iter().take(room).enumerate() {
                // SAFETY: within the mapping, which has `size` bytes; the GPU may use it at the same time.
                unsafe { memory.add(index).write_volatile(*dword) };
            }
        }
    }

    /// A dword of its memory, 0 without a mapping.
    pub fn read(&self, index: usize) -> u32 {
        if self.memory.is_null() || index as u64 >= self.size / 4 {
            return 0;
        }
        // SAFETY: within the mapping.
        unsafe { self.memory.cast::<u32>().add(index).read_volatile() }
    }
}
