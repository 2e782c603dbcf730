//! `printf` of kernels.
//!
//! A launch of a kernel with `printf` has a buffer of its own ([`gencl_program::printf`] describes its
//! contents). When the launch has ended, its records are formatted and written to the standard output of the
//! process by C's library, so that they are in order with the application's output. The launch's event ends
//! after that.

use std::sync::Arc;

use gencl_program::printf::{LARGEST_RECORD, PrintfFormat, RECORDS};
use gencl_program::report;
use parking_lot::Mutex;

use crate::Result;
use crate::memory::{AddressSpace, Storage, Zone};

/// `CL_DEVICE_PRINTF_BUFFER_SIZE`: bytes of records of a launch.
pub const PRINTF_BUFFER_SIZE: u32 = 4 << 20;

/// Number of buffers kept for reuse.
const MAX_IDLE: usize = 4;

/// A launch's buffer, with the header that kernels expect.
pub(crate) struct PrintfBuffer {
    storage: Arc<Storage>,
}

/// Buffers that no launch uses.
#[derive(Default)]
pub(crate) struct PrintfPool {
    idle: Mutex<Vec<PrintfBuffer>>,
}

impl PrintfPool {
    /// An empty buffer. Errors as [`Storage::new`].
    pub(crate) fn take(&self, space: &Arc<AddressSpace>) -> Result<PrintfBuffer> {
        if let Some(buffer) = self.idle.lock().pop() {
            return Ok(buffer);
        }
        let end = RECORDS + PRINTF_BUFFER_SIZE;
        let storage = Storage::new(space, Zone::Buffers, u64::from(end + LARGEST_RECORD))?;
        let buffer = PrintfBuffer { storage: Arc::new(storage) };
        buffer.clear(RECORDS);
        Ok(buffer)
    }

    /// Prints the records of a launch and keeps the buffer for reuse. `string` reads a string at a GPU
    /// address.
    pub(crate) fn finish(
        &self,
        buffer: PrintfBuffer,
        kernel: &str,
        formats: &[PrintfFormat],
        string: &dyn Fn(u64) -> Option<Vec<u8>>,
    ) {
        let memory = buffer.storage.memory();
        let mut header = [0; RECORDS as usize];
        memory.read(0, &mut header);
        let dword = |index: usize| {
            u32::from_le_bytes([
                header[4 * index],
                header[4 * index + 1],
                header[4 * index + 2],
                header[4 * index + 3],
            ])
        };
        let (used, lost) = (dword(0).clamp(RECORDS, RECORDS + PRINTF_BUFFER_SIZE), dword(2));
        if used > RECORDS {
            let mut records = vec![0; (used - RECORDS) as usize];
            memory.read(RECORDS as usize, &mut records);
            gencl_printf::print(formats, &records, string);
        }
        if lost > 0 {
            let text = format!("kernel {kernel}: {lost} calls of printf did not fit into the buffer");
            report::once(&format!("printf of {kernel}"), &text);
        }
        buffer.clear(used);
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE {
            idle.push(buffer);
        }
    }
}

impl PrintfBuffer {
    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Empties the buffer, of which the first `used` bytes may have been written.
    fn clear(&self, used: u32) {
        let memory = self.storage.memory();
        memory.fill(0, used as usize, 0);
        memory.write(0, &RECORDS.to_le_bytes());
        memory.write(4, &(RECORDS + PRINTF_BUFFER_SIZE).to_le_bytes());
    }
}
