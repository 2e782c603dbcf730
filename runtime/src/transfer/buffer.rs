//! Commands on buffers.

use std::sync::Arc;

use gencl_i915::HostMemory;

use super::{Transfer, accesses};
use crate::conflicts::AccessKind;
use crate::event::CommandKind;
use crate::memory::{PlacedRect, copy_rect};
use crate::{Buffer, BufferRect, Code, Context, Error, MAX_ALIGNMENT, Result};

impl Transfer {
    /// Copies `size` bytes from buffer to buffer. `INVALID_VALUE` out of bounds, `MEM_COPY_OVERLAP` when both
    /// ranges share bytes.
    pub fn copy_buffer(
        context: &Arc<Context>,
        from: &Arc<Buffer>,
        from_offset: usize,
        to: &Arc<Buffer>,
        to_offset: usize,
        size: usize,
    ) -> Result<Self> {
        context.check_same(from.context())?;
        context.check_same(to.context())?;
        from.check_range(from_offset, size)?;
        to.check_range(to_offset, size)?;
        let begins = (from.begin() + from_offset, to.begin() + to_offset);
        if Arc::ptr_eq(from.storage(), to.storage()) && begins.0.abs_diff(begins.1) < size {
            return Err(Code::MemCopyOverlap.into());
        }
        let accesses = accesses(context, || {
            [
                from.access_bytes(AccessKind::Read, from_offset, size),
                to.access_bytes(AccessKind::Write, to_offset, size),
            ]
        });
        let (from, to) = (from.clone(), to.clone());
        Ok(Self::new(CommandKind::CopyBuffer, accesses, move || {
            to.memory().copy_from(to_offset, &from.memory(), from_offset, size);
            let at = |offset| BufferRect { origin: [offset, 0, 0], ..BufferRect::default() };
            from.copy_shadow(at(from_offset), &to, at(to_offset), [size, 1, 1]);
        }))
    }

    /// Fills `size` bytes from `offset` on with a pattern of 1, 2, 4, ... or 128 bytes; offset and size are
    /// multiples of it. `INVALID_VALUE`.
    pub fn fill_buffer(
        context: &Arc<Context>,
        buffer: &Arc<Buffer>,
        pattern: &[u8],
        offset: usize,
        size: usize,
    ) -> Result<Self> {
        context.check_same(buffer.context())?;
        buffer.check_range(offset, size)?;
        check_pattern(pattern, offset, size)?;
        let accesses = accesses(context, || [buffer.access_bytes(AccessKind::Write, offset, size)]);
        let (buffer, pattern) = (buffer.clone(), Box::<[u8]>::from(pattern));
        Ok(Self::new(CommandKind::FillBuffer, accesses, move || {
            fill(&buffer.memory(), &pattern, offset, size);
            buffer.define_range(offset, size);
        }))
    }

    /// Copies a rectangle from buffer to buffer. `INVALID_VALUE` out of bounds or when pitches differ within
    /// one buffer, `MEM_COPY_OVERLAP`.
    pub fn copy_buffer_rect(
        context: &Arc<Context>,
        from: (&Arc<Buffer>, BufferRect),
        to: (&Arc<Buffer>, BufferRect),
        region: [usize; 3],
    ) -> Result<Self> {
        let (from_rect, to_rect) = (from.1.resolve(region)?, to.1.resolve(region)?);
        for (buffer, rect) in [(from.0, from_rect), (to.0, to_rect)] {
            context.check_same(buffer.context())?;
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
        let accesses = accesses(context, || {
            [
                from.0.access(AccessKind::Read, from_rect, region),
                to.0.access(AccessKind::Write, to_rect, region),
            ]
        });
        let (from, to) = (from.0.clone(), to.0.clone());
        Ok(Self::new(CommandKind::CopyBufferRect, accesses, move || {
            copy_rect(&from.memory(), from_rect, &to.memory(), to_rect, region);
            from.copy_shadow(from_rect, &to, to_rect, region);
        }))
    }
}

/// `INVALID_VALUE` unless a pattern has 1, 2, 4, ... or 128 bytes and fits the beginning and size of what it
/// is to fill.
pub(super) fn check_pattern(pattern: &[u8], begin: usize, size: usize) -> Result<()> {
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
