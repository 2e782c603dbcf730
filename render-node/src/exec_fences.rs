//! Fences that a batch waits for and signals (`add_fence_array`, `add_timeline_fence_array`
//! and `i915_gem_do_execbuffer` of `i915_gem_execbuffer.c`).

use std::sync::Arc;

use gencl_i915::uapi::{ExecBuffer2, ExecFence, ExecTimelineFences, exec};
use gencl_i915::{Errno, Result};
use gencl_simulator::Fence;

use crate::open_file::{OpenFile, SyncObject};
use crate::{caller, sync_file};

const EINVAL: Errno = Errno(libc::EINVAL);
const ENOENT: Errno = Errno(libc::ENOENT);
const EFAULT: Errno = Errno(libc::EFAULT);

/// Largest number of sync objects of a batch, far above what programs use.
const MAX_FENCES: u64 = 1 << 22;

/// The fences of a batch.
#[derive(Default)]
pub struct ExecFences {
    /// The batch begins when these are signaled.
    pub after: Vec<Fence>,
    /// The batch begins when these batches have begun.
    pub beside: Vec<Fence>,
    /// Sync objects that get the batch's fence, as their fence or as a timeline point.
    signals: Vec<(Arc<SyncObject>, u64)>,
}

impl ExecFences {
    /// The fences of a request.
    pub fn read(file: &OpenFile, args: &ExecBuffer2) -> Result<ExecFences> {
        let mut fences = ExecFences::default();
        if args.flags & exec::USE_EXTENSIONS != 0 {
            if args.flags & exec::FENCE_ARRAY != 0 || args.num_cliprects != 0 {
                return Err(EINVAL);
            }
            caller::extensions(args.cliprects_ptr, |name, address| match name {
                exec::EXT_TIMELINE_FENCES => fences.add_timeline(file, &caller::read(address)?),
                _ => Err(EINVAL),
            })?;
        }
        if args.flags & exec::FENCE_ARRAY != 0 {
            for index in 0..u64::from(args.num_cliprects) {
                fences.add(file, element(args.cliprects_ptr, index)?)?;
            }
        }
        let descriptor = args.rsvd2 as u32 as i32;
        match (args.flags & exec::FENCE_IN != 0, args.flags & exec::FENCE_SUBMIT != 0) {
            (false, false) => {}
            (true, true) => return Err(EINVAL),
            (true, false) => fences.after.extend(sync_file::fences(descriptor)?),
            (false, true) => fences.beside.extend(sync_file::fences(descriptor)?),
        }
        Ok(fences)
    }

    fn add(&mut self, file: &OpenFile, user: ExecFence) -> Result<()> {
        let object = find(file, &user)?;
        if user.flags & exec::FENCE_WAIT != 0 {
            self.after.extend(object.fences_of(0).ok_or(EINVAL)?);
        }
        if user.flags & exec::FENCE_SIGNAL != 0 {
            self.signals.push((object, 0));
        }
        Ok(())
    }

    fn add_timeline(&mut self, file: &OpenFile, list: &ExecTimelineFences) -> Result<()> {
        if list.fence_count > MAX_FENCES {
            return Err(Errno(libc::ENOMEM));
        }
        for index in 0..list.fence_count {
            let user: ExecFence = element(list.handles_ptr, index)?;
            check(&user)?;
            let point: u64 = element(list.values_ptr, index)?;
            let object = find(file, &user)?;
            let signals = user.flags & exec::FENCE_SIGNAL != 0;
            let found = object.fences_of(point);
            // A point to be waited for has to exist; one to be signaled does not.
            if found.is_none() && !signals && (user.flags != 0 || object.has_fence()) {
                return Err(EINVAL);
            }
            if point != 0 && signals && user.flags & exec::FENCE_WAIT != 0 {
                return Err(EINVAL);
            }
            self.after.extend(found.filter(|_| user.flags & exec::FENCE_WAIT != 0).unwrap_or_default());
            if signals {
                self.signals.push((object, point));
            }
        }
        Ok(())
    }

    /// Stores the fence of the submitted batch in sync objects.
    pub fn signal(&self, fence: &Fence) {
        for (object, point) in &self.signals {
            match point {
                0 => object.replace(Some(vec![fence.clone()])),
                point => object.add_point(*point, vec![fence.clone()]),
            }
        }
    }
}

/// An element of an array of the caller.
fn element<T: bytemuck::Pod>(first: u64, index: u64) -> Result<T> {
    caller::read(first.checked_add(index * size_of::<T>() as u64).ok_or(EFAULT)?)
}

fn check(user: &ExecFence) -> Result<()> {
    if user.flags & !(exec::FENCE_WAIT | exec::FENCE_SIGNAL) != 0 { Err(EINVAL) } else { Ok(()) }
}

fn find(file: &OpenFile, user: &ExecFence) -> Result<Arc<SyncObject>> {
    check(user)?;
    file.sync_objects.lock().get(user.handle).ok_or(ENOENT)
}
