//! Kernels that were launched.

use std::sync::Arc;

use crate::translated::Translations;
use gencl_eu::device::Device;
use gencl_eu::fault::Fault;
use gencl_eu::memory::{Access, AddressSpace, Cursor};
use gencl_eu::{self as eu, Kernel};
use gencl_sync::Mutex;

/// Decoded kernels that are kept.
const CACHED_KERNELS: usize = 256;

/// Code is read in pieces of so many bytes.
const READ_AT_ONCE: usize = 32 << 10;

/// Most bytes of code of one kernel.
const MAX_CODE: u64 = 16 << 20;

/// Bytes of an instruction that is not compacted.
const FULL_INSTRUCTION: usize = 16;

/// A kernel, wherever it is in memory.
pub struct Known {
    /// The code that it was decoded from.
    pub code: Vec<u8>,
    /// Decoded.
    pub kernel: Arc<Kernel>,
    /// Translated, if it is.
    pub translations: Translations,
}

/// The kernels that were launched last, by their addresses.
pub struct Kernels {
    device: &'static Device,
    strict: bool,
    cached: Mutex<Vec<(u64, Arc<Known>)>>,
}

impl Known {
    /// Is it the kernel at an address?
    pub fn is_at(&self, address: u64, memory: &AddressSpace) -> bool {
        let range = memory.range(&mut Cursor::default(), address, self.code.len() as u64);
        range.is_some_and(|range| range.starts_with(&self.code))
    }
}

impl Kernels {
    /// None yet.
    pub fn new(device: &'static Device, strict: bool) -> Kernels {
        Kernels { device, strict, cached: Mutex::default() }
    }

    /// The decoded kernel at an address. Its code is compared with memory, so that code that was replaced
    /// is decoded anew.
    pub fn get(&self, address: u64, memory: &AddressSpace) -> Result<Arc<Known>, Fault> {
        let known = {
            let cached = self.cached.lock();
            let same = |(at, known): &&(u64, Arc<Known>)| *at == address && known.is_at(address, memory);
            cached.iter().rev().find(same).map(|(_, known)| Arc::clone(known))
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let rest = memory.rest_of_buffer(address).min(MAX_CODE);
        let (code, kernel) = self.decode(address, rest, memory)?;
        let mut cached = self.cached.lock();
        // The same code at another address has perhaps been translated.
        let known = match cached.iter().find(|(_, known)| known.code == code) {
            Some((_, known)) => Arc::clone(known),
            None => Arc::new(Known { code, kernel: Arc::new(kernel), translations: Translations::default() }),
        };
        // What was at this address before is gone.
        cached.retain(|(at, _)| *at != address);
        if cached.len() == CACHED_KERNELS {
            cached.remove(0);
        }
        cached.push((address, Arc::clone(&known)));
        Ok(known)
    }

    /// Decodes the kernel at an address, whose code ends somewhere within `rest` bytes, and gives its code
    /// too.
    fn decode(&self, address: u64, rest: u64, memory: &AddressSpace) -> Result<(Vec<u8>, Kernel), Fault> {
        // Buffers with kernels are often much larger than the kernel: more is read when it did not suffice.
        let mut code = Vec::new();
        let mut end = 0;
        let kernel = Kernel::explore(self.device, self.strict, |offset| {
            let offset = offset as usize;
            let (known, wanted) = (code.len(), (offset + FULL_INSTRUCTION).next_multiple_of(READ_AT_ONCE));
            if known < wanted {
                code.resize(wanted.min(rest as usize), 0);
                memory.read_for(
                    &mut Cursor::default(),
                    address + known as u64,
                    &mut code[known..],
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
