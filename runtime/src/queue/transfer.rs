//! Commands that move bytes: done by the processor, through the buffers' coherent mappings.

use std::sync::Arc;

use gencl_i915::HostMemory;

use super::Queue;
use super::state::Work;
use crate::event::CommandKind;
use crate::memory::{PlacedRect, copy_rect};
use crate::{Buffer, BufferRect, Code, Error, Event, HostAccess, MAX_ALIGNMENT, MapFlags, Result};

impl Queue {
    /// Copies `host.len()` bytes between `offset` of the buffer and the host. `INVALID_VALUE` out of bounds,
    /// `INVALID_OPERATION` when the host may not. A range may be empty, as those of copies and
    /// fills (from OpenCL 2.1 on, which has no error for a size of 0): the command has an event and waits.
    pub fn transfer_buffer(
        &self,
        access: HostAccess,
        buffer: &Arc<Buffer>,
        offset: usize,
        host: &HostMemory,
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.same_context(buffer.context())?;
        buffer.check_range(offset, host.len())?;
        buffer.check_host(access)?;
        let (buffer, host) = (buffer.clone(), host.clone());
        let kind = match access {
            HostAccess::Read => CommandKind::ReadBuffer,
            HostAccess::Write => CommandKind::WriteBuffer,
        };
        self.push_copy(kind, waits, move || match access {
            HostAccess::Read => host.copy_from(0, &buffer.memory(), offset, host.len()),
            HostAccess::Write => buffer.memory().copy_from(offset, &host, 0, host.len()),
        })
    }

    /// Copies `size` bytes from buffer to buffer. `INVALID_VALUE` out of bounds, `MEM_COPY_OVERLAP` when both
    /// ranges share bytes.
    pub fn copy_buffer(
        &self,
        from: &Arc<Buffer>,
        from_offset: usize,
        to: &Arc<Buffer>,
        to_offset: usize,
        size: usize,
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.same_context(from.context())?;
        self.same_context(to.context())?;
        from.check_range(from_offset, size)?;
        to.check_range(to_offset, size)?;
        let begins = (from.begin() + from_offset, to.begin() + to_offset);
        if Arc::ptr_eq(from.storage(), to.storage()) && begins.0.abs_diff(begins.1) < size {
            return Err(Code::MemCopyOverlap.into());
        }
        let (from, to) = (from.clone(), to.clone());
        self.push_copy(CommandKind::CopyBuffer, waits, move || {
            to.memory().copy_from(to_offset, &from.memory(), from_offset, size);
        })
    }

    /// Fills `size` bytes from `offset` on with a pattern of 1, 2, 4, ... or 128 bytes; offset and size are
    /// multiples of it. `INVALID_VALUE`.
    pub fn fill_buffer(
        &self,
        buffer: &Arc<Buffer>,
        pattern: &[u8],
        offset: usize,
        size: usize,
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.same_context(buffer.context())?;
        buffer.check_range(offset, size)?;
        check_pattern(pattern, offset, size)?;
        let (buffer, pattern) = (buffer.clone(), Box::<[u8]>::from(pattern));
        self.push_copy(CommandKind::FillBuffer, waits, move || fill(&buffer.memory(), &pattern, offset, size))
    }

    /// Copies a rectangle between the buffer and the host: `region` is bytes, rows, slices. Errors as
    /// [`Queue::transfer_buffer`].
    pub fn transfer_buffer_rect(
        &self,
        access: HostAccess,
        (buffer, rect): (&Arc<Buffer>, BufferRect),
        (host, host_rect): (&HostMemory, BufferRect),
        region: [usize; 3],
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.same_context(buffer.context())?;
        let (rect, host_rect) = (rect.resolve(region)?, host_rect.resolve(region)?);
        rect.check_within(region, buffer.size() as usize)?;
        let kind = match access {
            HostAccess::Read => CommandKind::ReadBufferRect,
            HostAccess::Write => CommandKind::WriteBufferRect,
        };
        self.transfer_rect((access, kind), (buffer, rect), (host, host_rect), region, waits)
    }

    /// Copies a rectangle, which is within the buffer, between it and the host. `INVALID_VALUE` when it is not
    /// within the host's memory, `INVALID_OPERATION` when the host may not.
    pub(super) fn transfer_rect(
        &self,
        (access, kind): (HostAccess, CommandKind),
        (buffer, rect): (&Arc<Buffer>, BufferRect),
        (host, host_rect): (&HostMemory, BufferRect),
        region: [usize; 3],
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        host_rect.check_within(region, host.len())?;
        buffer.check_host(access)?;
        let (buffer, host) = (buffer.clone(), host.clone());
        self.push_copy(kind, waits, move || match access {
            HostAccess::Read => copy_rect(&buffer.memory(), rect, &host, host_rect, region),
            HostAccess::Write => copy_rect(&host, host_rect, &buffer.memory(), rect, region),
        })
    }

    /// Copies a rectangle from buffer to buffer. `INVALID_VALUE` out of bounds or when pitches differ within
    /// one buffer, `MEM_COPY_OVERLAP`.
    pub fn copy_buffer_rect(
        &self,
        from: (&Arc<Buffer>, BufferRect),
        to: (&Arc<Buffer>, BufferRect),
        region: [usize; 3],
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let (from_rect, to_rect) = (from.1.resolve(region)?, to.1.resolve(region)?);
        for (buffer, rect) in [(from.0, from_rect), (to.0, to_rect)] {
            self.same_context(buffer.context())?;
            rect.check_within(region, buffer.size() as usize)?;
        }
        if Arc::ptr_eq(from.0, to.0) {
            let pitches = |rect: BufferRect| (rect.row_pitch, rect.slice_pitch);
            if pitches(from_rect) != pitches(to_rect) {
                return Err(Error::new(Code::InvalidValue, "pitches differ within one buffer"));
            }
        }
        if Arc::ptr_eq(from.0.storage(), to.0.storage()) {
            let placed = |buffer: &Buffer, rect| PlacedRect { begin: buffer.begin(), rect, region };
            if placed(from.0, from_rect).overlaps(placed(to.0, to_rect)) {
                return Err(Code::MemCopyOverlap.into());
            }
        }
        let (from, to) = (from.0.clone(), to.0.clone());
        self.push_copy(CommandKind::CopyBufferRect, waits, move || {
            copy_rect(&from.memory(), from_rect, &to.memory(), to_rect, region);
        })
    }

    /// Maps a region: the memory is the application's once the event is complete, until
    /// [`Queue::unmap_buffer`]. `INVALID_VALUE` out of bounds, for no bytes or for flags that exclude each other,
    /// `INVALID_OPERATION` when the host may not, or the region is mapped and both are for writing.
    pub fn map_buffer(
        &self,
        buffer: &Arc<Buffer>,
        flags: MapFlags,
        offset: usize,
        size: usize,
        waits: &[Arc<Event>],
    ) -> Result<(HostMemory, Arc<Event>)> {
        self.same_context(buffer.context())?;
        buffer.check_range(offset, size)?;
        // Refuses a size of 0.
        let (rect, region) = (BufferRect { origin: [offset, 0, 0], ..BufferRect::default() }, [size, 1, 1]);
        let rect = rect.resolve(region)?;
        self.map_rect(CommandKind::MapBuffer, buffer, flags, (rect, rect), region, waits)
    }

    /// Maps a rectangle that is within the buffer, and where it is in the memory that is mapped. Errors as [`Queue::map_buffer`].
    pub(super) fn map_rect(
        &self,
        kind: CommandKind,
        buffer: &Arc<Buffer>,
        flags: MapFlags,
        (rect, mapped_rect): (BufferRect, BufferRect),
        region: [usize; 3],
        waits: &[Arc<Event>],
    ) -> Result<(HostMemory, Arc<Event>)> {
        flags.check()?;
        if flags.contains(MapFlags::READ) {
            buffer.check_host(HostAccess::Read)?;
        }
        if flags.writes() {
            buffer.check_host(HostAccess::Write)?;
        }
        let memory = buffer.map(flags, (rect, mapped_rect), region)?;
        let (target, invalidate) = (buffer.clone(), flags.contains(MapFlags::WRITE_INVALIDATE_REGION));
        let event = self.push_copy(kind, waits, move || {
            if let (Some(shadow), false) = (target.shadow(), invalidate) {
                copy_rect(&target.memory(), rect, shadow, mapped_rect, region);
            }
        });
        match event {
            Ok(event) => Ok((memory, event)),
            Err(error) => {
                buffer.forget_mapping(memory.address())?;
                Err(error)
            }
        }
    }

    /// Gives a mapped region back; `address` is where [`Queue::map_buffer`]'s memory begins. `INVALID_VALUE`
    /// when nothing is mapped there.
    ///
    /// What the application has written to memory of its own (`USE_HOST_PTR`) is copied at once, if nothing is before
    /// it: programs that have waited for the mapping free their memory without waiting for its end.
    pub fn unmap_buffer(
        &self,
        buffer: &Arc<Buffer>,
        address: *const u8,
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.same_context(buffer.context())?;
        let mapped = buffer.unmap(address as usize)?;
        let copies = buffer.shadow().is_some() && mapped.flags.writes();
        let buffer = buffer.clone();
        let event = self.push_copy(CommandKind::UnmapMemObject, waits, move || {
            if let (Some(shadow), true) = (buffer.shadow(), copies) {
                copy_rect(shadow, mapped.mapped_rect, &buffer.memory(), mapped.rect, mapped.region);
            }
        })?;
        if copies {
            self.core.run_now(&event);
            if !event.ended() {
                tracing::info!(
                    "unmapping reads the application's memory after the call, when commands before it end"
                );
            }
        }
        Ok(event)
    }

    /// Copies between shared virtual memory, or it and memory of the application. `MEM_COPY_OVERLAP`.
    pub fn copy_shared(
        &self,
        kind: CommandKind,
        to: &HostMemory,
        from: &HostMemory,
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let begins = (to.address() as usize, from.address() as usize);
        if begins.0.abs_diff(begins.1) < to.len() {
            return Err(Code::MemCopyOverlap.into());
        }
        let kept = (self.context().shared_at(begins.0), self.context().shared_at(begins.1));
        let (to, from) = (to.clone(), from.clone());
        self.push_copy(kind, waits, move || {
            to.copy_from(0, &from, 0, to.len());
            drop(kept);
        })
    }

    /// Fills shared virtual memory with a pattern as [`Queue::fill_buffer`] does; the address is a multiple
    /// of its size. `INVALID_VALUE`.
    pub fn fill_shared(
        &self,
        kind: CommandKind,
        to: &HostMemory,
        pattern: &[u8],
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let address = to.address() as usize;
        check_pattern(pattern, address, to.len())?;
        let (to, pattern, kept) = (to.clone(), Box::<[u8]>::from(pattern), self.context().shared_at(address));
        self.push_copy(kind, waits, move || {
            fill(&to, &pattern, 0, to.len());
            drop(kept);
        })
    }

    /// Frees shared virtual memory, which `free` does, in its turn.
    pub fn free_shared(&self, free: Box<dyn FnOnce() + Send>, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.push(CommandKind::SvmFree, waits, Work::Application(free))
    }

    pub(super) fn push_copy(
        &self,
        kind: CommandKind,
        waits: &[Arc<Event>],
        copy: impl FnOnce() + Send + 'static,
    ) -> Result<Arc<Event>> {
        let work = Box::new(move || {
            copy();
            Ok(())
        });
        self.push(kind, waits, Work::Host(work))
    }
}

/// `INVALID_VALUE` unless a pattern has 1, 2, 4, ... or 128 bytes and fits the beginning and size of what it
/// is to fill.
fn check_pattern(pattern: &[u8], begin: usize, size: usize) -> Result<()> {
    if !pattern.len().is_power_of_two() || pattern.len() > MAX_ALIGNMENT {
        return Err(Error::new(Code::InvalidValue, format!("a pattern of {} bytes", pattern.len())));
    }
    if !begin.is_multiple_of(pattern.len()) || !size.is_multiple_of(pattern.len()) {
        return Err(Error::new(Code::InvalidValue, "beginning or size is no multiple of the pattern's size"));
    }
    Ok(())
}

/// Writes a pattern again and again, doubling what is copied.
pub(super) fn fill(memory: &HostMemory, pattern: &[u8], offset: usize, size: usize) {
    if let [byte] = pattern {
        return memory.fill(offset, size, *byte);
    }
    if size == 0 {
        return;
    }
    memory.write(offset, pattern);
    let mut done = pattern.len();
    while done < size {
        let step = done.min(size - done);
        memory.copy_from(offset + done, memory, offset, step);
        done += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_repeat() {
        let memory = HostMemory::zeros(4096).unwrap();
        fill(&memory, &[1, 2], 4, 10);
        let mut out = [0; 16];
        memory.read(0, &mut out);
        assert_eq!(out, [0, 0, 0, 0, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 0, 0]);
    }
}
