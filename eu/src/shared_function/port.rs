//! Reads and writes of the data port: shared local memory, surfaces, and the global address space.

use super::call::Call;
use crate::fault::Fault;
use crate::file::{element, set_element};
use crate::message::port::{MemoryRegion, Space, buffer, is_inside};

/// The bits of an address in shared local memory that the hardware uses. IGC sets one of the others in
/// pointers that are not null (`VALID_LOCAL_HIGH_BITS`).
pub const LOCAL_OFFSET_BITS: u64 = 0x0fff_ffff;

impl Call<'_, '_> {
    /// The memory of a space. Stateless messages with a header add its scratch space pointer.
    pub fn region(&mut self, space: Space) -> Result<MemoryRegion, Fault> {
        match space {
            Space::Local => Ok(MemoryRegion::Local),
            Space::Global => Ok(MemoryRegion::Memory { base: 0, size: u64::MAX }),
            Space::Stateless => {
                let base = if self.lengths.header { self.header(5)? & !0x3ff } else { 0 };
                let general = self.context.launch.bases.general;
                Ok(MemoryRegion::Memory { base: general.wrapping_add(u64::from(base)), size: 1 << 32 })
            }
            Space::Surface(index) => self.surface(index),
        }
    }

    fn surface(&mut self, index: u8) -> Result<MemoryRegion, Fault> {
        let state = self.surface_state(index)?;
        buffer(&state, self.context.device.generation, index)
    }

    /// The bytes of shared local memory at an offset; `None` out of bounds, where the hardware reads 0.
    #[inline]
    fn local(&mut self, offset: u64, size: usize) -> Result<Option<&mut [u8]>, Fault> {
        let strict = self.context.strict;
        let available = self.context.local.len();
        let at = (offset & LOCAL_OFFSET_BITS) as usize;
        match self.context.local.get_mut(at..at.saturating_add(size)) {
            Some(bytes) => Ok(Some(bytes)),
            None if strict => Err(Fault::illegal(format!(
                "offset {offset:#x} is outside of the {available} bytes of shared local memory"
            ))),
            None => Ok(None),
        }
    }

    /// Reads bytes at an offset of a region; 0 out of bounds.
    pub fn read(&mut self, region: MemoryRegion, offset: u64, out: &mut [u8]) -> Result<(), Fault> {
        match region {
            MemoryRegion::Local => {
                match self.local(offset, out.len())? {
                    Some(bytes) => out.copy_from_slice(bytes),
                    None => out.fill(0),
                }
                Ok(())
            }
            MemoryRegion::Memory { base, size } => {
                if !is_inside(offset, out.len(), size) {
                    out.fill(0);
                    return Ok(());
                }
                let address = base.wrapping_add(offset);
                Ok(self.context.memory.read(&mut self.context.caches[self.thread.ip].cursor, address, out)?)
            }
        }
    }

    /// Writes bytes at an offset of a region; dropped out of bounds.
    pub fn write(&mut self, region: MemoryRegion, offset: u64, data: &[u8]) -> Result<(), Fault> {
        match region {
            MemoryRegion::Local => {
                if let Some(bytes) = self.local(offset, data.len())? {
                    bytes.copy_from_slice(data);
                }
                Ok(())
            }
            MemoryRegion::Memory { base, size } => {
                if !is_inside(offset, data.len(), size) {
                    return Ok(());
                }
                let address = base.wrapping_add(offset);
                Ok(self.context.memory.write(
                    &mut self.context.caches[self.thread.ip].cursor,
                    address,
                    data,
                )?)
            }
        }
    }

    /// Reads an element of 1, 2, 4 or 8 bytes; 0 out of bounds.
    #[inline(always)]
    pub fn read_element(&mut self, region: MemoryRegion, offset: u64, size: usize) -> Result<u64, Fault> {
        match region {
            MemoryRegion::Memory { base, size: end } if is_inside(offset, size, end) => {
                let address = base.wrapping_add(offset);
                let cursor = &mut self.context.caches[self.thread.ip].cursor;
                let memory = self.context.memory;
                Ok(match size {
                    1 => u64::from(memory.read_u8(cursor, address)?),
                    2 => u64::from(memory.read_u16(cursor, address)?),
                    4 => u64::from(memory.read_u32(cursor, address)?),
                    _ => memory.read_u64(cursor, address)?,
                })
            }
            MemoryRegion::Memory { .. } => Ok(0),
            MemoryRegion::Local => Ok(self.local(offset, size)?.map_or(0, |bytes| element(bytes))),
        }
    }

    /// Writes an element of 1, 2, 4 or 8 bytes; dropped out of bounds.
    #[inline(always)]
    pub fn write_element(
        &mut self,
        region: MemoryRegion,
        offset: u64,
        size: usize,
        value: u64,
    ) -> Result<(), Fault> {
        match region {
            MemoryRegion::Memory { base, size: end } if is_inside(offset, size, end) => {
                let address = base.wrapping_add(offset);
                let cursor = &mut self.context.caches[self.thread.ip].cursor;
                let memory = self.context.memory;
                match size {
                    1 => memory.write_u8(cursor, address, value as u8)?,
                    2 => memory.write_u16(cursor, address, value as u16)?,
                    4 => memory.write_u32(cursor, address, value as u32)?,
                    _ => memory.write_u64(cursor, address, value)?,
                }
            }
            MemoryRegion::Memory { .. } => {}
            MemoryRegion::Local => {
                if let Some(bytes) = self.local(offset, size)? {
                    set_element(bytes, value);
                }
            }
        }
        Ok(())
    }

    /// Aligns an offset down to a multiple of `size`, as the hardware does; in strict mode an unaligned one
    /// is a fault.
    #[inline(always)]
    pub fn aligned(&self, offset: u64, size: u64) -> Result<u64, Fault> {
        if self.context.strict && !offset.is_multiple_of(size) {
            return Err(Fault::illegal(format!(
                "address {offset:#x} is not a multiple of {size}, which the message needs"
            )));
        }
        Ok(offset & !(size - 1))
    }

    /// Atomically replaces an element of 4 or 8 bytes by the result of `update`, unless that is `None`;
    /// returns the old value. Out of bounds it returns 0.
    pub fn update(
        &mut self,
        region: MemoryRegion,
        offset: u64,
        size: usize,
        update: impl Fn(u64) -> Option<u64>,
    ) -> Result<u64, Fault> {
        use std::sync::atomic::Ordering::SeqCst;
        match region {
            MemoryRegion::Memory { base, size: end } if is_inside(offset, size, end) => {
                let address = base.wrapping_add(offset);
                let cursor = &mut self.context.caches[self.thread.ip].cursor;
                let result = if size == 8 {
                    let cell = self.context.memory.atomic_u64(cursor, address)?;
                    cell.fetch_update(SeqCst, SeqCst, &update)
                } else {
                    let cell = self.context.memory.atomic_u32(cursor, address)?;
                    cell.fetch_update(SeqCst, SeqCst, |old| update(u64::from(old)).map(|v| v as u32))
                        .map(u64::from)
                        .map_err(u64::from)
                };
                Ok(result.unwrap_or_else(|old| old))
            }
            MemoryRegion::Memory { .. } => Ok(0),
            MemoryRegion::Local => {
                let Some(bytes) = self.local(offset, size)? else { return Ok(0) };
                let old = element(bytes);
                if let Some(new) = update(old) {
                    set_element(bytes, new);
                }
                Ok(old)
            }
        }
    }
}
