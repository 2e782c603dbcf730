//! A cache of decoded kernels.

use std::sync::{Arc, Weak};

use crate::translated::Translations;
use gencl_eu::device::Device;
use gencl_eu::fault::Fault;
use gencl_eu::memory::{Access, AddressSpace, Cursor};
use gencl_eu::{self as eu, ImageUse, Kernel};
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
    /// Those that have not been launched yet, as long as their launch is expected.
    expected: Mutex<Vec<Weak<CachedKernel>>>,
}

impl CachedKernel {
    fn new(code: Vec<u8>, kernel: Kernel) -> Arc<CachedKernel> {
        Arc::new(CachedKernel {
            code,
            image_uses: ImageUse::all(kernel.ops()),
            kernel: Arc::new(kernel),
            translations: Translations::default(),
        })
    }

    /// Whether the code at an address is still that of this kernel.
    pub fn is_at(&self, address: u64, memory: &AddressSpace) -> bool {
        let range = memory.range(&mut Cursor::default(), address, self.code.len() as u64);
        range.is_some_and(|range| range.starts_with(&self.code))
    }
}

impl KernelCache {
    /// An empty cache.
    pub fn new(device: &'static Device, strict: bool) -> KernelCache {
        KernelCache { device, strict, entries: Mutex::default(), expected: Mutex::default() }
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
        let cached = match self.expected(|cached| cached.is_at(address, memory)) {
            Some(cached) => cached,
            None => {
                let rest = memory.rest_of_buffer(address).min(MAX_CODE);
                let (code, kernel) = self.decode(rest as usize, |offset, bytes| {
                    Ok(memory.read_for(
                        &mut Cursor::default(),
                        address + offset as u64,
                        bytes,
                        Access::Fetch,
                    )?)
                })?;
                self.with_code(&code).unwrap_or_else(|| CachedKernel::new(code, kernel))
            }
        };
        let mut entries = self.entries.lock();
        // The kernel that was at this address before has been overwritten.
        entries.retain(|(at, _)| *at != address);
        if entries.len() == CACHED_KERNELS {
            entries.remove(0);
        }
        entries.push((address, Arc::clone(&cached)));
        Ok(cached)
    }

    /// A kernel whose launch is expected, which [`KernelCache::get`] will find in memory as long as the result is
    /// kept. `bytes` begin with its first instruction.
    ///
    /// # Errors
    /// As [`Kernel::explore`].
    pub fn expect(&self, bytes: &[u8]) -> Result<Arc<CachedKernel>, Fault> {
        let (code, kernel) = self.decode(bytes.len(), |offset, part| {
            part.copy_from_slice(&bytes[offset..][..part.len()]);
            Ok(())
        })?;
        Ok(self.with_code(&code).unwrap_or_else(|| {
            let cached = CachedKernel::new(code, kernel);
            self.expected.lock().push(Arc::downgrade(&cached));
            cached
        }))
    }

    /// The kernel with this code: the same code at another address may have been translated already.
    fn with_code(&self, code: &[u8]) -> Option<Arc<CachedKernel>> {
        let launched = self.entries.lock().iter().find(|(_, cached)| cached.code == code).cloned();
        launched.map(|(_, cached)| cached).or_else(|| self.expected(|cached| cached.code == code))
    }

    /// The kernel whose launch is expected and for which this holds. Forgets those whose launch is not any more.
    fn expected(&self, is_same: impl Fn(&CachedKernel) -> bool) -> Option<Arc<CachedKernel>> {
        let mut expected = self.expected.lock();
        expected.retain(|cached| cached.strong_count() > 0);
        expected.iter().filter_map(Weak::upgrade).find(|cached| is_same(cached))
    }

    /// Decodes a kernel whose code ends within `rest` bytes, of which `read` reads those from an offset on. Returns its
    /// code as well.
    fn decode(
        &self,
        rest: usize,
        read: impl Fn(usize, &mut [u8]) -> Result<(), Fault>,
    ) -> Result<(Vec<u8>, Kernel), Fault> {
        // Buffers with kernels are often much larger than the kernel: code is read in chunks, on demand.
        let mut code = Vec::new();
        let mut end = 0;
        let kernel = Kernel::explore(self.device, self.strict, |offset| {
            let offset = offset as usize;
            let (have, wanted) = (code.len(), (offset + FULL_INSTRUCTION).next_multiple_of(READ_AT_ONCE));
            if have < wanted {
                code.resize(wanted.min(rest), 0);
                read(have, &mut code[have..])?;
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
