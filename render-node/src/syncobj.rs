//! Sync objects: containers for a fence or a timeline of fences (`drivers/gpu/drm/drm_syncobj.c`).

use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gencl_i915::uapi::{
    SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjHandle, SyncobjTimelineArray, SyncobjTimelineWait,
    SyncobjTransfer, SyncobjWait, syncobj,
};
use gencl_i915::{Errno, Result};
use gencl_simulator::{Fence, clock};
use gencl_sync::{Condvar, Mutex};

use crate::descriptors::{self, Descriptor, Lookup};
use crate::files::OpenFile;
use crate::{caller, sync_file};

const EINVAL: Errno = Errno(libc::EINVAL);
const ENOENT: Errno = Errno(libc::ENOENT);
const EFAULT: Errno = Errno(libc::EFAULT);

/// Limit of a transfer's wait for a fence that is not submitted (`DRM_SYNCOBJ_WAIT_FOR_SUBMIT_TIMEOUT`).
const SUBMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// A sync object. Several open files may have handles of it.
#[derive(Default)]
pub struct SyncObject(Mutex<State>);

#[derive(Default)]
struct State {
    fence: Option<Payload>,
    waiters: Vec<Weak<Waker>>,
}

/// The fence of a sync object (a `dma_fence` or `dma_fence_chain`).
#[derive(Clone)]
enum Payload {
    /// Fences, all of which have to be signaled.
    Fences(Vec<Fence>),
    /// The last point of a timeline.
    Point(Arc<Point>),
}

/// A point of a timeline. It is signaled when its fences and those of all earlier points are.
struct Point {
    number: u64,
    /// The number of the point before, 0 if this is the first of its timeline.
    before: u64,
    /// Identity of the timeline. Points added out of order begin a new one.
    line: u64,
    fences: Vec<Fence>,
    earlier: Mutex<Option<Payload>>,
}

impl Point {
    fn earlier(&self) -> Option<Payload> {
        self.earlier.lock().clone()
    }

    /// The previous point that is not signaled; signaled ones are dropped (`dma_fence_chain_walk`).
    fn walk(&self) -> Option<Payload> {
        let mut earlier = self.earlier.lock();
        loop {
            let next = match &*earlier {
                Some(Payload::Point(point)) if signaled(&point.fences) => point.earlier(),
                Some(Payload::Fences(fences)) if signaled(fences) => None,
                _ => return earlier.clone(),
            };
            *earlier = next;
        }
    }
}

impl Drop for Point {
    /// Iterative, as dropping a long timeline recursively would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.earlier.get_mut().take();
        while let Some(Payload::Point(point)) = next {
            next = Arc::into_inner(point).and_then(|mut point| point.earlier.get_mut().take());
        }
    }
}

fn signaled(fences: &[Fence]) -> bool {
    fences.iter().all(Fence::signaled)
}

impl Payload {
    fn number(&self) -> u64 {
        match self {
            Payload::Fences(_) => 0,
            Payload::Point(point) => point.number,
        }
    }

    /// The points from this one to the oldest that is not signaled.
    fn chain(&self) -> Vec<Arc<Point>> {
        let (mut links, mut next) = (Vec::new(), Some(self.clone()));
        while let Some(Payload::Point(point)) = next {
            next = point.walk();
            links.push(point);
        }
        links
    }

    /// All unsignaled fences.
    fn unsignaled(&self) -> Vec<Fence> {
        let (mut out, mut next) = (Vec::new(), Some(self.clone()));
        while let Some(payload) = next {
            let (fences, earlier) = match &payload {
                Payload::Fences(fences) => (fences, None),
                Payload::Point(point) => (&point.fences, point.walk()),
            };
            out.extend(fences.iter().filter(|fence| !fence.signaled()).cloned());
            next = earlier;
        }
        out
    }

    /// All fences, including signaled ones, or those of all points of a timeline.
    fn fences(&self) -> Vec<Fence> {
        match self {
            Payload::Fences(fences) => fences.clone(),
            Payload::Point(point) => {
                let pending = self.unsignaled();
                if pending.is_empty() { point.fences.clone() } else { pending }
            }
        }
    }

    /// The smallest point not below a number (`dma_fence_chain_find_seqno`). `None` if the timeline has no
    /// such point.
    fn find(&self, number: u64) -> Option<Payload> {
        if number == 0 {
            return Some(self.clone());
        }
        if self.number() < number {
            return None;
        }
        let Payload::Point(newest) = self else { return None };
        let (line, mut found) = (newest.line, Arc::clone(newest));
        while found.line == line && found.before >= number {
            match found.walk() {
                Some(Payload::Point(earlier)) => found = earlier,
                Some(other) => return Some(other),
                None => return Some(Payload::Fences(vec![Fence::stub()])),
            }
        }
        Some(Payload::Point(found))
    }
}

/// Wakes a thread that waits for one of several events.
#[derive(Default)]
struct Waker {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Waker {
    fn wake(&self) {
        *self.woken.lock() = true;
        self.changed.notify_all();
    }

    /// Waits until it has been woken since the last call. `false` after the deadline.
    fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut woken = self.woken.lock();
        while !*woken {
            match deadline {
                None => self.changed.wait(&mut woken),
                Some(deadline) => {
                    if self.changed.wait_until(&mut woken, deadline).timed_out() {
                        return std::mem::take(&mut woken);
                    }
                }
            }
        }
        *woken = false;
        true
    }
}

impl SyncObject {
    fn payload(&self) -> Option<Payload> {
        self.0.lock().fence.clone()
    }

    /// `drm_syncobj_replace_fence`; `None` is "no fence yet".
    pub fn replace(&self, fences: Option<Vec<Fence>>) {
        self.set(fences.map(Payload::Fences));
    }

    fn set(&self, payload: Option<Payload>) {
        let mut state = self.0.lock();
        let old = std::mem::replace(&mut state.fence, payload);
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        drop(old);
        waiters.iter().filter_map(Weak::upgrade).for_each(|waker| waker.wake());
    }

    /// `drm_syncobj_add_point`
    pub fn add_point(&self, number: u64, fences: Vec<Fence>) {
        let mut state = self.0.lock();
        let earlier = state.fence.take();
        let previous = earlier.as_ref().map_or(0, Payload::number);
        let line = match &earlier {
            Some(Payload::Point(point)) if number > previous => point.line,
            _ => Fence::pending().context(),
        };
        let continues = matches!(&earlier, Some(Payload::Point(_))) && number > previous;
        let point = Point {
            number: number.max(previous),
            before: if continues { previous } else { 0 },
            line,
            fences,
            earlier: Mutex::new(earlier),
        };
        let payload = Payload::Point(Arc::new(point));
        // Bounds the length of the timeline.
        payload.chain();
        state.fence = Some(payload);
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.iter().filter_map(Weak::upgrade).for_each(|waker| waker.wake());
    }

    /// The fences to wait for until a point is reached. `None` if the point is not submitted or there is no
    /// fence.
    pub fn fences_of(&self, point: u64) -> Option<Vec<Fence>> {
        Some(self.payload()?.find(point)?.fences())
    }

    /// Whether there is any fence.
    pub fn has_fence(&self) -> bool {
        self.0.lock().fence.is_some()
    }

    fn wake_on_change(&self, waker: &Arc<Waker>) {
        let mut state = self.0.lock();
        state.waiters.retain(|other| other.strong_count() > 0);
        state.waiters.push(Arc::downgrade(waker));
    }
}

/// The handles of one open file.
#[derive(Default)]
pub struct SyncObjects(BTreeMap<u32, Arc<SyncObject>>);

impl SyncObjects {
    fn insert(&mut self, object: Arc<SyncObject>) -> u32 {
        // The smallest free handle, as in the kernel.
        let taken = (1..).zip(self.0.keys()).take_while(|(free, handle)| free == *handle).count();
        let handle = taken as u32 + 1;
        self.0.insert(handle, object);
        handle
    }

    /// The object of a handle.
    pub fn get(&self, handle: u32) -> Option<Arc<SyncObject>> {
        self.0.get(&handle).cloned()
    }
}

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
    let removed = file.sync_objects.lock().0.remove(&args.handle);
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

/// The last signaled or last submitted point of a timeline; 0 without a timeline.
fn query_point(payload: Option<&Payload>, submitted: bool) -> u64 {
    let Some(payload) = payload else { return 0 };
    let chain = payload.chain();
    let Some(newest) = chain.first() else { return 0 };
    if submitted {
        return newest.number;
    }
    // From the oldest on: a point is signaled when all before it are.
    let line: Vec<&Arc<Point>> = chain.iter().take_while(|point| point.line == newest.line).collect();
    let mut reached = line.last().map_or(0, |oldest| oldest.before);
    let older_done = chain.get(line.len()).is_none_or(|point| signaled(&point.fences));
    for point in line.iter().rev() {
        if !older_done || !signaled(&point.fences) {
            break;
        }
        reached = point.number;
    }
    reached
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
    fn points_are_reached_in_order() {
        let object = SyncObject::default();
        assert!(object.fences_of(0).is_none());
        let [a, b] = [Fence::pending(), Fence::pending()];
        object.add_point(2, vec![a.clone()]);
        object.add_point(5, vec![b.clone()]);
        assert!(object.fences_of(6).is_none());
        assert!(object.fences_of(1).unwrap().iter().all(|fence| fence.same(&a)));
        assert_eq!(object.fences_of(3).unwrap().len(), 2);
        let query = |submitted| query_point(object.payload().as_ref(), submitted);
        assert_eq!((query(false), query(true)), (0, 5));
        b.complete(0);
        assert_eq!(query(false), 0);
        a.complete(0);
        assert_eq!(query(false), 5);
    }

    #[test]
    fn a_point_out_of_order_begins_anew() {
        let object = SyncObject::default();
        object.add_point(7, vec![Fence::stub()]);
        object.add_point(3, vec![Fence::stub()]);
        assert_eq!(query_point(object.payload().as_ref(), true), 7);
        for point in 8..3000 {
            object.add_point(point, vec![Fence::pending()]);
        }
        // Dropping the chain does not overflow the stack.
        object.replace(None);
    }

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
