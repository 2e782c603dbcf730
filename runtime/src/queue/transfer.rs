//! Commands that move bytes: [`Transfer`]s, and those between buffers and the host.

use std::sync::Arc;

use gencl_i915::HostMemory;

use super::Queue;
use super::state::Work;
use crate::conflicts::AccessKind;
use crate::event::CommandKind;
use crate::memory::copy_rect;
use crate::transfer::accesses;
use crate::{Buffer, BufferRect, Event, HostAccess, MapFlags, Result, Transfer};

impl Queue {
    /// Copies `host.len()` bytes between `offset` of the buffer and the host. `INVALID_VALUE` out of bounds,
    /// `INVALID_OPERATION` when the host may not. A range may be empty: the command has an event and waits.
    pub fn transfer_buffer(
        &self,
        access: HostAccess,
        buffer: &Arc<Buffer>,
        offset: usize,
        host: &HostMemory,
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.context().check_same(buffer.context())?;
        buffer.check_range(offset, host.len())?;
        buffer.check_host(access)?;
        let accesses =
            accesses(self.context(), || [buffer.access_bytes(access_kind(access), offset, host.len())]);
        let (buffer, host) = (buffer.clone(), host.clone());
        let kind = match access {
            HostAccess::Read => CommandKind::ReadBuffer,
            HostAccess::Write => CommandKind::WriteBuffer,
        };
        let work = Transfer::new(kind, accesses, move || match access {
            HostAccess::Read => {
                host.copy_from(0, &buffer.memory(), offset, host.len());
                buffer.read_by_host(offset, offset + host.len());
            }
            HostAccess::Write => {
                buffer.memory().copy_from(offset, &host, 0, host.len());
                buffer.define_range(offset, host.len());
            }
        });
        self.transfer(work, waits)
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
        self.context().check_same(buffer.context())?;
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
        let accesses = accesses(self.context(), || [buffer.access(access_kind(access), rect, region)]);
        let (buffer, host) = (buffer.clone(), host.clone());
        let work = Transfer::new(kind, accesses, move || match access {
            HostAccess::Read => {
                copy_rect(&buffer.memory(), rect, &host, host_rect, region);
                buffer.read_by_host(rect.row(0, 0), rect.end(region).unwrap_or(usize::MAX));
            }
            HostAccess::Write => {
                copy_rect(&host, host_rect, &buffer.memory(), rect, region);
                buffer.define(rect, region);
            }
        });
        self.transfer(work, waits)
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
        self.context().check_same(buffer.context())?;
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
        let accesses = accesses(self.context(), || {
            [buffer.access(AccessKind::Read, rect, region).filter(|_| flags.contains(MapFlags::READ))]
        });
        let copy = Transfer::new(kind, accesses, move || {
            if flags.contains(MapFlags::READ) {
                target.read_by_host(rect.row(0, 0), rect.end(region).unwrap_or(usize::MAX));
            }
            if flags.writes() {
                target.define(rect, region);
            }
            if let (Some(shadow), false) = (target.shadow(), invalidate) {
                copy_rect(&target.memory(), rect, shadow, mapped_rect, region);
            }
        });
        match self.transfer(copy, waits) {
            Ok(event) => {
                if let Some(conflicts) = self.context().conflicts() {
                    let kind = if flags.writes() { AccessKind::Write } else { AccessKind::Read };
                    let access = buffer.access(kind, rect, region);
                    conflicts.map(event.command_number(), memory.address() as usize, access);
                }
                Ok((memory, event))
            }
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
        self.context().check_same(buffer.context())?;
        let mapped = buffer.unmap(address as usize)?;
        if let Some(conflicts) = self.context().conflicts() {
            conflicts.unmap(address as usize);
        }
        let copies = buffer.shadow().is_some() && mapped.flags.writes();
        let accesses = accesses(self.context(), || {
            [buffer.access(AccessKind::Write, mapped.rect, mapped.region).filter(|_| mapped.flags.writes())]
        });
        let buffer = buffer.clone();
        let copy = Transfer::new(CommandKind::UnmapMemObject, accesses, move || {
            if let (Some(shadow), true) = (buffer.shadow(), copies) {
                copy_rect(shadow, mapped.mapped_rect, &buffer.memory(), mapped.rect, mapped.region);
            }
        });
        let event = self.transfer(copy, waits)?;
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

    /// Frees shared virtual memory, which `free` does, in its turn.
    pub fn free_shared(&self, free: Box<dyn FnOnce() + Send>, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.push(CommandKind::SvmFree, waits, Work::Application(free))
    }

    /// Moves bytes between memory objects of the queue's context.
    pub fn transfer(&self, transfer: Transfer, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.push(transfer.kind(), waits, Work::of(transfer))
    }
}

/// What a transfer between a buffer and the host does to the buffer.
fn access_kind(access: HostAccess) -> AccessKind {
    match access {
        HostAccess::Read => AccessKind::Read,
        HostAccess::Write => AccessKind::Write,
    }
}
