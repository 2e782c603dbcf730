//! `DRM_IOCTL_I915_GEM_EXECBUFFER2`: from the caller's arrays to a typed request and back.

use gencl_i915::uapi::{EXEC_RING_MASK, ExecBuffer2, ExecObject2, RelocationEntry};
use gencl_i915::{
    ContextId, Errno, ExecBuffer, ExecFlags, ExecObject, GemHandle, ObjectFlags, Relocation, RenderNode,
    Result,
};

use crate::caller;
use crate::files::OpenFile;

const EINVAL: Errno = Errno(libc::EINVAL);

/// The request. Offsets go back to the caller's objects and relocations, as the kernel writes them.
pub fn exec_buffer(file: &OpenFile, args: &mut ExecBuffer2) -> Result<()> {
    if args.cliprects_ptr != 0 || args.num_cliprects != 0 || args.dr1 != 0 || args.dr4 != 0 {
        return Err(EINVAL);
    }
    let count = args.buffer_count as usize;
    if count == 0 {
        return Err(EINVAL);
    }
    let context = args.rsvd1 as u32;
    let engine = file.contexts.lock().engine(context, (args.flags & EXEC_RING_MASK) as u32)?;
    let mut raw = caller::read_array::<ExecObject2>(args.buffers_ptr, count)?;
    let mut objects = raw.iter().map(object).collect::<Result<Vec<_>>>()?;
    let mut exec = ExecBuffer {
        context: ContextId(context),
        engine,
        // Unknown ones stay in, and are refused.
        flags: ExecFlags::from_bits_retain(args.flags & !EXEC_RING_MASK),
        objects: &mut objects,
        batch_start: args.batch_start_offset,
        batch_length: args.batch_len,
    };
    file.simulator.exec_buffer(&mut exec)?;
    for (raw, object) in raw.iter_mut().zip(&objects) {
        raw.offset = object.offset;
        for (index, relocation) in (0..).zip(&object.relocations) {
            let entry = raw.relocs_ptr + index * size_of::<RelocationEntry>() as u64;
            // Target and delta of 4 bytes and the offset of 8 come before `presumed_offset`.
            caller::write(entry + 16, &relocation.presumed_offset)?;
        }
    }
    caller::write_bytes(args.buffers_ptr, bytemuck::cast_slice(&raw))
}

fn object(raw: &ExecObject2) -> Result<ExecObject> {
    let entries = caller::read_array::<RelocationEntry>(raw.relocs_ptr, raw.relocation_count as usize)?;
    let relocation = |entry: RelocationEntry| Relocation {
        target: entry.target_handle,
        delta: entry.delta,
        offset: entry.offset,
        presumed_offset: entry.presumed_offset,
        read_domains: entry.read_domains,
        write_domain: entry.write_domain,
    };
    Ok(ExecObject {
        handle: GemHandle(raw.handle),
        offset: raw.offset,
        alignment: raw.alignment,
        flags: ObjectFlags::from_bits_retain(raw.flags),
        relocations: entries.into_iter().map(relocation).collect(),
    })
}
