//! A cache of decoded kernels.

use std::sync::Arc;

use crate::translated::Translations;
use gencl_eu::device::Device;
use gencl_eu::fault::Fault;
use gencl_eu::memory::{Access, AddressSpace, Cursor};
use gencl_eu::message::ImageUse;
use gencl_eu::{self as eu, Kernel};
use gencl_sync::Mutex;

/// Maximum number of decoded kernels in the cache.
const CACHED_KERNELS: usize = 256;

/// Bytes of code that are read at once.
const READ_AT_ONCE: usize = 32 << 10;

/// Maximum size of the code of one kernel, in bytes.
const MAX_CODE: u64 = 16 << 20;

/// Size of an instruction that is not compacted, in bytes.
const FULL_INSTRUCTION: usize = 16;

/// A decoded kernel with its translations, independent of its address.
pub struct CachedKernel {
    /// The code that it was decoded from.
    pub code: Vec<u8>,
    /// The decoded kernel.
    pub kernel: Arc<Kernel>,
    /// What its messages access of images.
    pub image_uses: Vec<ImageUse>,
    /// Its translations to host code.
    pub translations: Translations,
}

/// The most recently decoded kernels, by address.
pub struct KernelCache {
    device: &'static Device,
    strict: bool,
    entries: Mutex<Vec<(u64, Arc<CachedKernel>)>>,
}

impl CachedKernel {
    /// Whether the code at an address is still that of this kernel.
    pub fn is_at(&self, address: u64, memory: &AddressSpace) -> bool {
        let range = memory.range(&mut Cursor::default(), address, self.code.len() as u64);
        range.is_some_and(|range| range.starts_with(&self.code))
    }
}

impl KernelCache {
    /// An empty cache.
    pub fn new(device: &'static Device, strict: bool) -> KernelCache {
        KernelCache { device, strict, entries: Mutex::default() }
    }

    /// The decoded kernel at an address. A cached kernel's code is compared with memory, and decoded again if
    /// it has been overwritten.
    ///
    /// # Errors
    /// As [`Kernel::explore`]; a page fault where the code is outside of all buffers.
    pub fn get(&self, address: u64, memory: &AddressSpace) -> Result<Arc<CachedKernel>, Fault> {
        let cached = {
            let entries = self.entries.lock();
            let same =
                |(at, cached): &&(u64, Arc<CachedKernel>)| *at == address && cached.is_at(address, memory);
            entries.iter().rev().find(same).map(|(_, cached)| Arc::clone(cached))
        };
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let rest = memory.rest_of_buffer(address).min(MAX_CODE);
        let (code, kernel) = self.decode(address, rest, memory)?;
        let mut entries = self.entries.lock();
        // The same code at another address may have been translated already.
        let cached = match entries.iter().find(|(_, cached)| cached.code == code) {
            Some((_, cached)) => Arc::clone(cached),
            None => Arc::new(CachedKernel {
                code,
                image_uses: ImageUse::all(kernel.ops()),
                kernel: Arc::new(kernel),
                translations: Translations::default(),
            }),
        };
        // The kernel that was at this address before has been overwritten.
        entries.retain(|(at, _)| *at != address);
        if entries.len() == CACHED_KERNELS {
            entries.remove(0);
        }
        entries.push((address, Arc::clone(&cached)));
        Ok(cached)
    }

    /// Decodes the kernel at an address, whose code ends within `rest` bytes. Returns its code as well.
    fn decode(&self, address: u64, rest: u64, memory: &AddressSpace) -> Result<(Vec<u8>, Kernel), Fault> {
        // Buffers with kernels are often much larger than the kernel: code is read in chunks, on demand.
        let mut code = Vec::new();
        let mut end = 0;
        let kernel = Kernel::explore(self.device, self.strict, |offset| {
            let offset = offset as usize;
            let (read, wanted) = (code.len(), (offset + FULL_INSTRUCTION).next_multiple_of(READ_AT_ONCE));
            if read < wanted {
                code.resize(wanted.min(rest as usize), 0);
                memory.read_for(
                    &mut Cursor::default(),
                    address + read as u64,
                    &mut code[read..],
                    Access::Fetch,
                )?;
            }
            let found = eu::first_instruction(self.device, code.get(offset..).unwrap_or_default());
            end = end.max(offset + FULL_INSTRUCTION);
            Ok(found)
        })?;
        code.truncate(end);
        code.shrink_to_fit();
        Ok((code, kernel))
    }
}
