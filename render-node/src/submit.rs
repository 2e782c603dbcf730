//! `DRM_IOCTL_I915_GEM_EXECBUFFER2`: conversion of the caller's arrays to a typed request, and of results
//! back (`i915_gem_execbuffer2_ioctl`).

use std::os::fd::RawFd;

use gencl_i915::uapi::{EXEC_RING_MASK, ExecBuffer2, ExecObject2, RelocationEntry, exec};
use gencl_i915::{
    ContextId, Engine, Errno, ExecBuffer, ExecFlags, ExecObject, GemHandle, ObjectFlags, Relocation,
    RenderNode, Result,
};
use gencl_simulator::{Fence, Relocations, Submission};

use crate::exec_fences::ExecFences;
use crate::open_file::OpenFile;
use crate::{caller, memory, submissions, sync_file};

const EINVAL: Errno = Errno(libc::EINVAL);

/// Largest number of objects of a request: more exceed what the kernel allocates at once.
const MAX_OBJECTS: u32 = 1 << 24;

/// Offset of the field `offset` in an [`ExecObject2`], and of `presumed_offset` in a [`RelocationEntry`].
const OBJECT_OFFSET: u64 = std::mem::offset_of!(ExecObject2, offset) as u64;
const PRESUMED_OFFSET: u64 = std::mem::offset_of!(RelocationEntry, presumed_offset) as u64;

/// Executes the request. Writes addresses to the caller's objects and relocations, as the kernel does.
pub fn exec_buffer(file: &OpenFile, args: &mut ExecBuffer2) -> Result<()> {
    check(args)?;
    let raw = caller::read_array::<ExecObject2>(args.buffers_ptr, args.buffer_count as usize)?;
    if args.flags & exec::SECURE != 0 {
        return Err(Errno(libc::EPERM));
    }
    let fences = ExecFences::read(file, args)?;
    // Before the submission, after which nothing may fail.
    let out = (args.flags & exec::FENCE_OUT != 0).then(sync_file::Reserved::new).transpose()?;
    let fence = run(file, args, &raw, &fences)?;
    fences.signal(&fence);
    if let Some(out) = out {
        let fd: RawFd = out.fill([fence]);
        // The in-fence descriptor is kept.
        args.rsvd2 = args.rsvd2 & u64::from(u32::MAX) | (fd as u64) << 32;
    }
    Ok(())
}

/// `check_buffer_count` and `i915_gem_check_execbuffer`
fn check(args: &ExecBuffer2) -> Result<()> {
    let illegal = exec::UNKNOWN | exec::CONSTANTS_MASK | exec::RESOURCE_STREAMER;
    let has_list = args.flags & (exec::FENCE_ARRAY | exec::USE_EXTENSIONS) != 0;
    let count = i32::try_from(args.buffer_count).unwrap_or(0);
    if count == 0
        || args.flags & illegal != 0
        || (!has_list && (args.num_cliprects != 0 || args.cliprects_ptr != 0))
        || args.dr1 != 0
        // An old driver passed all ones.
        || (args.dr4 != 0 && args.dr4 != u32::MAX)
        || (args.batch_start_offset | args.batch_len) & 7 != 0
    {
        return Err(EINVAL);
    }
    if args.buffer_count > MAX_OBJECTS { Err(Errno(libc::ENOMEM)) } else { Ok(()) }
}

/// The caller's relocations.
struct CallersRelocations<'a>(&'a [ExecObject2]);

impl Relocations for CallersRelocations<'_> {
    fn any(&self, object: usize) -> bool {
        self.0[object].relocation_count != 0
    }

    fn load(&mut self, object: usize) -> Result<Vec<Relocation>> {
        let raw = &self.0[object];
        // `check_relocations`: before memory for them is allocated.
        let bytes = u64::from(raw.relocation_count) * size_of::<RelocationEntry>() as u64;
        if !memory::is_users(raw.relocs_ptr, bytes) {
            return Err(Errno(libc::EFAULT));
        }
        let entries = caller::read_array::<RelocationEntry>(raw.relocs_ptr, raw.relocation_count as usize)?;
        let relocation = |entry: RelocationEntry| Relocation {
            target: entry.target_handle,
            delta: entry.delta,
            offset: entry.offset,
            presumed_offset: entry.presumed_offset,
            read_domains: entry.read_domains,
            write_domain: entry.write_domain,
        };
        Ok(entries.into_iter().map(relocation).collect())
    }

    fn store(&mut self, object: usize, relocations: Vec<Relocation>) {
        let first = self.0[object].relocs_ptr;
        for (index, relocation) in (0..).zip(relocations) {
            let entry = first + index * size_of::<RelocationEntry>() as u64;
            // The kernel ignores a failed write, too.
            let _ = caller::write(entry + PRESUMED_OFFSET, &relocation.presumed_offset);
        }
    }
}

fn run(file: &OpenFile, args: &ExecBuffer2, raw: &[ExecObject2], fences: &ExecFences) -> Result<Fence> {
    let context = ContextId(args.rsvd1 as u32);
    // ENOENT for an unknown context takes precedence over errors of the engine.
    file.simulator.context_get_param(context, gencl_i915::uapi::context_param::GTT_SIZE)?;
    let engine = {
        let mut contexts = file.contexts.lock();
        contexts.use_context(context.0);
        contexts.engine(context.0, args.flags)?
    };
    let mut objects: Vec<ExecObject> = raw.iter().map(object).collect();
    let known = ExecFlags::all().bits() & !EXEC_RING_MASK;
    let mut request = ExecBuffer {
        context,
        engine,
        flags: ExecFlags::from_bits_retain(args.flags & known),
        objects: &mut objects,
        batch_start: args.batch_start_offset,
        batch_length: args.batch_len,
        awaited: false,
    };
    let mut relocations = CallersRelocations(raw);
    let submission = Submission {
        relocations: &mut relocations,
        in_fences: fences.after.clone(),
        submit_fences: fences.beside.clone(),
    };
    // Stream output is not simulated, so there is nothing to reset.
    let resets = file.simulator.device().driver.stream_output_reset && engine == Engine::Render;
    if args.flags & exec::GEN7_SOL_RESET != 0 && !resets {
        // `i915_reset_gen7_sol_offsets`
        return Err(EINVAL);
    }
    let fence = submissions::while_mapped(|| file.simulator.submit(&mut request, submission))?;
    for ((index, raw), object) in (0..).zip(raw).zip(&objects) {
        if raw.offset != object.offset {
            let address = args.buffers_ptr + index * size_of::<ExecObject2>() as u64;
            // The batch is submitted, so a failed write is no error.
            let _ = caller::write(address + OBJECT_OFFSET, &object.offset);
        }
    }
    Ok(fence)
}

fn object(raw: &ExecObject2) -> ExecObject {
    ExecObject {
        handle: GemHandle(raw.handle),
        offset: raw.offset,
        alignment: raw.alignment,
        flags: ObjectFlags::from_bits_retain(raw.flags),
        pad_to_size: raw.pad_to_size,
        relocations: Vec::new(),
    }
}
