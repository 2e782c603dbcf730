//! Requests about sync objects (`drivers/gpu/drm/drm_syncobj.c`).

use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gencl_i915::uapi::{
    SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjHandle, SyncobjTimelineArray, SyncobjTimelineWait,
    SyncobjTransfer, SyncobjWait, syncobj,
};
use gencl_i915::{Errno, Result};
use gencl_simulator::{Fence, clock};

use crate::descriptors::{self, Descriptor, Lookup};
use crate::open_file::{OpenFile, Payload, SyncObject, Waker, query_point};
use crate::{caller, sync_file};

const EINVAL: Errno = Errno(libc::EINVAL);
const ENOENT: Errno = Errno(libc::ENOENT);
const EFAULT: Errno = Errno(libc::EFAULT);

/// Limit of a transfer's wait for a fence that is not submitted (`DRM_SYNCOBJ_WAIT_FOR_SUBMIT_TIMEOUT`).
const SUBMIT_TIMEOUT: Duration = Duration::from_secs(5);

fn find(file: &OpenFile, handle: u32) -> Option<Arc<SyncObject>> {
    file.sync_objects.lock().get(handle)
}

/// `drm_syncobj_array_find`
fn find_all(file: &OpenFile, handles: u64, count: u32) -> Result<Vec<Arc<SyncObject>>> {
    if count == 0 {
        return Err(EINVAL);
    }
    let handles = caller::read_array::<u32>(handles, count as usize)?;
    handles.into_iter().map(|handle| find(file, handle).ok_or(ENOENT)).collect()
}

/// Points of an array; zeros when there is none.
fn points(address: u64, count: usize) -> Result<Vec<u64>> {
    if address == 0 { Ok(vec![0; count]) } else { caller::read_array(address, count) }
}

/// `DRM_IOCTL_SYNCOBJ_CREATE`
pub fn create(file: &OpenFile, args: &mut SyncobjCreate) -> Result<()> {
    if args.flags & !syncobj::CREATE_SIGNALED != 0 {
        return Err(EINVAL);
    }
    let object = SyncObject::default();
    if args.flags & syncobj::CREATE_SIGNALED != 0 {
        object.replace(Some(vec![Fence::stub()]));
    }
    args.handle = file.sync_objects.lock().insert(Arc::new(object));
    Ok(())
}

/// `DRM_IOCTL_SYNCOBJ_DESTROY`
pub fn destroy(file: &OpenFile, args: &mut SyncobjDestroy) -> Result<()> {
    if args.pad != 0 {
        return Err(EINVAL);
    }
    let removed = file.sync_objects.lock().remove(args.handle);
    removed.map(|_| ()).ok_or(EINVAL)
}

fn check(args: &SyncobjHandle) -> Result<()> {
    if args.pad != 0 || args.flags & !syncobj::SYNC_FILE != 0 { Err(EINVAL) } else { Ok(()) }
}

/// `DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD`
pub fn handle_to_fd(file: &OpenFile, args: &mut SyncobjHandle) -> Result<()> {
    check(args)?;
    if args.flags & syncobj::SYNC_FILE != 0 {
        let object = find(file, args.handle).ok_or(ENOENT)?;
        args.fd = sync_file::create(object.fences_of(0).ok_or(EINVAL)?)?;
        return Ok(());
    }
    let object = find(file, args.handle).ok_or(EINVAL)?;
    // The descriptor is neither read nor written.
    // SAFETY: no pointers; the result is checked.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if fd < 0 {
        return Err(Errno(libc::EMFILE));
    }
    descriptors::insert(fd, Descriptor::SyncObject(object));
    args.fd = fd;
    Ok(())
}

fn from_fd(fd: RawFd) -> Result<Arc<SyncObject>> {
    match descriptors::get(fd) {
        Lookup::Is(Descriptor::SyncObject(object)) => Ok(object),
        _ => Err(EINVAL),
    }
}

/// `DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE`. `EINVAL` for sync objects of other processes.
pub fn fd_to_handle(file: &OpenFile, args: &mut SyncobjHandle) -> Result<()> {
    check(args)?;
    if args.flags & syncobj::SYNC_FILE != 0 {
        let fences = sync_file::fences(args.fd)?;
        find(file, args.handle).ok_or(ENOENT)?.replace(Some(fences));
        return Ok(());
    }
    let object = from_fd(args.fd)?;
    args.handle = file.sync_objects.lock().insert(object);
    Ok(())
}

/// The deadline for a time of the monotonic clock; 0 and past times are now (`drm_timeout_abs_to_jiffies`).
/// `None` for times that the clock cannot represent.
fn deadline(time: i64) -> Option<Instant> {
    let left = if time == 0 { 0 } else { time.saturating_sub(clock::monotonic_ns()).max(0) };
    Instant::now().checked_add(Duration::from_nanos(left as u64))
}

/// Waits for points (`drm_syncobj_array_wait_timeout`). Returns the index of the first signaled one, or all
/// ones where the kernel returns none.
fn wait_for(objects: &[Arc<SyncObject>], points: &[u64], flags: u32, timeout: i64) -> Result<u32> {
    let until = deadline(timeout);
    let (all, available) = (flags & syncobj::WAIT_ALL != 0, flags & syncobj::WAIT_AVAILABLE != 0);
    let may_come = flags & (syncobj::WAIT_FOR_SUBMIT | syncobj::WAIT_AVAILABLE) != 0;
    let waker = Arc::new(Waker::default());
    let mut found: Vec<Option<Payload>> = vec![None; objects.len()];
    let mut first = u32::MAX;
    let mut is_first_look = true;
    loop {
        let mut done = 0;
        for (index, (object, point)) in objects.iter().zip(points).enumerate() {
            if found[index].is_none() {
                if may_come {
                    object.wake_on_change(&waker);
                }
                found[index] = object.payload().and_then(|payload| payload.find(*point));
                if let Some(payload) = found[index].as_ref().filter(|_| !available) {
                    for fence in payload.unsignaled() {
                        let waker = Arc::downgrade(&waker);
                        fence.on_signal(move || {
                            if let Some(waker) = waker.upgrade() {
                                waker.wake();
                            }
                        });
                    }
                }
            }
            let Some(payload) = &found[index] else {
                if may_come {
                    continue;
                }
                return Err(EINVAL);
            };
            if available || payload.unsignaled().is_empty() {
                if done == 0 && (is_first_look || !all) {
                    first = index as u32;
                }
                done += 1;
            }
        }
        if done == objects.len() || (done > 0 && !all) {
            return Ok(first);
        }
        is_first_look = false;
        if !waker.wait(until) {
            return Err(Errno(libc::ETIME));
        }
    }
}

/// `DRM_IOCTL_SYNCOBJ_WAIT`
pub fn wait(file: &OpenFile, args: &mut SyncobjWait) -> Result<()> {
    if args.flags & !(syncobj::WAIT_ALL | syncobj::WAIT_FOR_SUBMIT) != 0 {
        return Err(EINVAL);
    }
    let objects = find_all(file, args.handles, args.count_handles)?;
    args.first_signaled = wait_for(&objects, &vec![0; objects.len()], args.flags, args.timeout_nsec)?;
    Ok(())
}

/// `DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT`
pub fn timeline_wait(file: &OpenFile, args: &mut SyncobjTimelineWait) -> Result<()> {
    let known = syncobj::WAIT_ALL | syncobj::WAIT_FOR_SUBMIT | syncobj::WAIT_AVAILABLE;
    if args.flags & !known != 0 {
        return Err(EINVAL);
    }
    let objects = find_all(file, args.handles, args.count_handles)?;
    let points = points(args.points, objects.len())?;
    args.first_signaled = wait_for(&objects, &points, args.flags, args.timeout_nsec)?;
    Ok(())
}

/// `DRM_IOCTL_SYNCOBJ_RESET`
pub fn reset(file: &OpenFile, args: &mut SyncobjArray) -> Result<()> {
    if args.pad != 0 {
        return Err(EINVAL);
    }
    let objects = find_all(file, args.handles, args.count_handles)?;
    objects.iter().for_each(|object| object.replace(None));
    Ok(())
}

/// `DRM_IOCTL_SYNCOBJ_SIGNAL`
pub fn signal(file: &OpenFile, args: &mut SyncobjArray) -> Result<()> {
    if args.pad != 0 {
        return Err(EINVAL);
    }
    let objects = find_all(file, args.handles, args.count_handles)?;
    objects.iter().for_each(|object| object.replace(Some(vec![Fence::stub()])));
    Ok(())
}

/// `DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL`
pub fn timeline_signal(file: &OpenFile, args: &mut SyncobjTimelineArray) -> Result<()> {
    if args.flags != 0 {
        return Err(EINVAL);
    }
    let objects = find_all(file, args.handles, args.count_handles)?;
    let points = points(args.points, objects.len())?;
    for (object, point) in objects.iter().zip(points) {
        object.add_point(point, vec![Fence::stub()]);
    }
    Ok(())
}

/// `DRM_IOCTL_SYNCOBJ_QUERY`
pub fn query(file: &OpenFile, args: &mut SyncobjTimelineArray) -> Result<()> {
    if args.flags & !syncobj::QUERY_LAST_SUBMITTED != 0 {
        return Err(EINVAL);
    }
    let submitted = args.flags != 0;
    let objects = find_all(file, args.handles, args.count_handles)?;
    for (index, object) in (0..).zip(&objects) {
        let point = query_point(object.payload().as_ref(), submitted);
        let address = args.points.checked_add(8 * index).ok_or(EFAULT)?;
        caller::write(address, &point)?;
    }
    Ok(())
}

/// The fences of a point, for which it may wait (`drm_syncobj_find_fence`).
fn find_fences(file: &OpenFile, handle: u32, point: u64, flags: u32) -> Result<Vec<Fence>> {
    let object = find(file, handle).ok_or(ENOENT)?;
    let until = Instant::now() + SUBMIT_TIMEOUT;
    let waker = Arc::new(Waker::default());
    loop {
        object.wake_on_change(&waker);
        if let Some(fences) = object.fences_of(point) {
            return Ok(fences);
        }
        if flags & syncobj::WAIT_FOR_SUBMIT == 0 {
            return Err(EINVAL);
        }
        if !waker.wait(Some(until)) {
            return Err(Errno(libc::ETIME));
        }
    }
}

/// `DRM_IOCTL_SYNCOBJ_TRANSFER`
pub fn transfer(file: &OpenFile, args: &mut SyncobjTransfer) -> Result<()> {
    if args.pad != 0 {
        return Err(EINVAL);
    }
    let to = find(file, args.dst_handle).ok_or(ENOENT)?;
    let fences = find_fences(file, args.src_handle, args.src_point, args.flags)?;
    match args.dst_point {
        0 => to.replace(Some(fences)),
        point => to.add_point(point, fences),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_end_with_the_first_or_with_all() {
        let objects = [(); 2].map(|()| Arc::new(SyncObject::default()));
        let wait = |flags, timeout| wait_for(&objects, &[0, 0], flags, timeout);
        assert_eq!(wait(0, 0), Err(EINVAL));
        assert_eq!(wait(syncobj::WAIT_FOR_SUBMIT, 0), Err(Errno(libc::ETIME)));
        objects[1].replace(Some(vec![Fence::stub()]));
        assert_eq!(wait(syncobj::WAIT_FOR_SUBMIT, 0), Ok(1));
        let late = Arc::clone(&objects[0]);
        let thread = std::thread::spawn(move || late.replace(Some(vec![Fence::stub()])));
        assert!(wait(syncobj::WAIT_ALL | syncobj::WAIT_FOR_SUBMIT, i64::MAX).is_ok());
        thread.join().unwrap();
    }
}
