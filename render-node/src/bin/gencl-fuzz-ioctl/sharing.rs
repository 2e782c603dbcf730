//! Requests on shared objects: sync objects, fences and buffers as descriptors, processes.

use std::time::{Duration, Instant};

use gencl_i915::uapi::{
    DmaBufSyncFile, GemCreate, PrimeHandle, SyncFenceInfo, SyncFileInfo, SyncMergeData, SyncobjArray,
    SyncobjCreate, SyncobjDestroy, SyncobjHandle, SyncobjTimelineArray, SyncobjTimelineWait, SyncobjTransfer,
    SyncobjWait, ioctl,
};

use crate::layout::{BYTES, RESULT};
use crate::odd::odd;
use crate::sender::{Sender, errno};

/// Handles of sync objects.
fn handles(s: &mut Sender<'_>) -> (u64, u32) {
    let handles: Vec<u32> = (0..1 + s.random.below(4)).map(|_| s.sync_objects.pick(&mut s.random)).collect();
    let count = handles.len() as u64;
    let address = s.list(0, &BYTES, &handles);
    let few = s.random.below(count + 1);
    let count = if s.random.one_in(10) { few } else { count };
    (address, count as u32)
}

/// Nanoseconds of the monotonic clock.
pub fn now() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the result goes to a variable of our own.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// A short deadline, as the event may never happen.
fn soon(s: &mut Sender<'_>) -> i64 {
    let (now, later) = (now(), now() + s.random.below(3_000_000) as i64);
    s.random.pick(&[0, -1, i64::MIN, 1, now, later, later])
}

/// Makes, destroys, resets and signals sync objects.
pub fn sync_object(s: &mut Sender<'_>) {
    let (address, count_handles) = handles(s);
    let mut array = SyncobjArray { handles: address, count_handles, pad: s.mostly(0) as u32 };
    match s.random.below(5) {
        0 | 1 if s.sync_objects.has_room() => {
            let mut args = SyncobjCreate { handle: 0, flags: s.random.below(3) as u32 };
            if s.send("syncobj_create", ioctl::SYNCOBJ_CREATE, &mut args) == 0 && args.handle != 0 {
                s.sync_objects.add(args.handle);
            }
        }
        2 => {
            let handle = s.sync_objects.take(&mut s.random).unwrap_or(odd(&mut s.random) as u32);
            let mut args = SyncobjDestroy { handle, pad: s.mostly(0) as u32 };
            s.send("syncobj_destroy", ioctl::SYNCOBJ_DESTROY, &mut args);
        }
        3 => {
            s.send("syncobj_reset", ioctl::SYNCOBJ_RESET, &mut array);
        }
        _ => {
            s.send("syncobj_signal", ioctl::SYNCOBJ_SIGNAL, &mut array);
        }
    }
}

/// Waits for sync objects.
pub fn sync_wait(s: &mut Sender<'_>) {
    let (address, count_handles) = handles(s);
    let flags = s.random.below(8) as u32;
    let timeout_nsec = soon(s);
    if s.random.one_in(2) {
        let mut args = SyncobjWait {
            handles: address,
            timeout_nsec,
            count_handles,
            flags: s.mostly(u64::from(flags & 3)) as u32,
            ..Default::default()
        };
        s.send("syncobj_wait", ioctl::SYNCOBJ_WAIT, &mut args);
    } else {
        let points: Vec<u64> = (0..count_handles).map(|_| s.random.below(20)).collect();
        let points = s.list(1, &BYTES, &points);
        let mut args = SyncobjTimelineWait {
            handles: address,
            points: s.random.pick(&[points, points, 0]),
            timeout_nsec,
            count_handles,
            flags: s.mostly(u64::from(flags)) as u32,
            ..Default::default()
        };
        s.send("syncobj_timeline_wait", ioctl::SYNCOBJ_TIMELINE_WAIT, &mut args);
    }
}

/// Points of timelines.
pub fn sync_timeline(s: &mut Sender<'_>) {
    let (address, count_handles) = handles(s);
    let points: Vec<u64> = (0..count_handles).map(|_| s.random.below(20)).collect();
    let act = s.random.below(3);
    let points = s.list(1, if act == 1 { &RESULT } else { &BYTES }, &points);
    let mut args =
        SyncobjTimelineArray { handles: address, points, count_handles, flags: s.mostly(0) as u32 };
    match act {
        0 => s.send("syncobj_timeline_signal", ioctl::SYNCOBJ_TIMELINE_SIGNAL, &mut args),
        1 => {
            args.flags = s.random.below(3) as u32;
            s.send("syncobj_query", ioctl::SYNCOBJ_QUERY, &mut args)
        }
        _ => {
            let mut args = SyncobjTransfer {
                src_handle: s.sync_objects.pick(&mut s.random),
                dst_handle: s.sync_objects.pick(&mut s.random),
                src_point: s.random.below(20),
                dst_point: s.random.below(20),
                // Waiting for a submission takes seconds if there is none.
                flags: if s.random.one_in(200) { 2 } else { 0 },
                pad: s.mostly(0) as u32,
            };
            s.send_exactly(s.node, "syncobj_transfer", ioctl::SYNCOBJ_TRANSFER, &mut args, None)
        }
    };
}

/// Sync objects as descriptors.
pub fn sync_descriptor(s: &mut Sender<'_>) {
    let mut args = SyncobjHandle {
        handle: s.sync_objects.pick(&mut s.random),
        flags: s.random.pick(&[0, 1, 1, 2]),
        fd: s.descriptors.pick(&mut s.random) as i32,
        pad: s.mostly(0) as u32,
    };
    let flags = args.flags;
    if s.random.one_in(2) {
        if !s.descriptors.has_room() {
            return duplicate(s);
        }
        args.fd = -1;
        if s.send("syncobj_handle_to_fd", ioctl::SYNCOBJ_HANDLE_TO_FD, &mut args) == 0 && args.fd > 2 {
            s.descriptors.add(args.fd as u32);
        }
    } else if s.send("syncobj_fd_to_handle", ioctl::SYNCOBJ_FD_TO_HANDLE, &mut args) == 0
        && flags == 0
        && s.sync_objects.has_room()
    {
        s.sync_objects.add(args.handle);
    }
}

/// Buffers as descriptors.
pub fn prime(s: &mut Sender<'_>) {
    if s.random.one_in(2) {
        if !s.descriptors.has_room() {
            return duplicate(s);
        }
        let flags = s.random.pick(&[0, libc::O_CLOEXEC, libc::O_RDWR, libc::O_CLOEXEC | libc::O_RDWR]);
        let mut args = PrimeHandle { handle: s.handle(), flags: s.mostly(flags as u64) as u32, fd: -1 };
        // Not mutated, see `requests::close`.
        let request = ioctl::PRIME_HANDLE_TO_FD;
        if s.send_exactly(s.node, "prime_handle_to_fd", request, &mut args, None) == 0 {
            s.descriptors.add(args.fd as u32);
        }
    } else {
        let fd = s.descriptors.pick(&mut s.random) as i32;
        // Another thread may have the same handle, so it is not kept.
        s.send("prime_fd_to_handle", ioctl::PRIME_FD_TO_HANDLE, &mut PrimeHandle { handle: 0, flags: 0, fd });
    }
}

/// Requests on descriptors of fences and buffers, and `poll`.
pub fn fences(s: &mut Sender<'_>) {
    let fd = s.descriptors.pick(&mut s.random) as i32;
    match s.random.below(5) {
        0 => {
            let mut args =
                SyncMergeData { fd2: s.descriptors.pick(&mut s.random) as i32, ..Default::default() };
            args.flags = s.mostly(0) as u32;
            if s.descriptors.has_room()
                && s.send_exactly(fd, "sync_merge", ioctl::SYNC_MERGE, &mut args, None) == 0
            {
                s.descriptors.add(args.fence as u32);
            }
        }
        1 => {
            let room = s.random.below(4);
            let list = vec![SyncFenceInfo::default(); room as usize];
            let sync_fence_info = s.list(0, &RESULT, &list);
            let mut args = SyncFileInfo { num_fences: room as u32, sync_fence_info, ..Default::default() };
            args.pad = s.mostly(0) as u32;
            s.send_exactly(fd, "sync_file_info", ioctl::SYNC_FILE_INFO, &mut args, None);
        }
        2 => {
            let mut flags = s.random.below(9);
            s.send_exactly(fd, "dma_buf_sync", ioctl::DMA_BUF_SYNC, &mut flags, None);
        }
        3 => {
            let mut args = DmaBufSyncFile { flags: s.random.below(4) as u32, fd: -1 };
            if s.descriptors.has_room() {
                let request = ioctl::DMA_BUF_EXPORT_SYNC_FILE;
                if s.send_exactly(fd, "dma_buf_export_sync_file", request, &mut args, None) == 0 {
                    s.descriptors.add(args.fd as u32);
                }
                args.fd = s.descriptors.pick(&mut s.random) as i32;
                let request = ioctl::DMA_BUF_IMPORT_SYNC_FILE;
                s.send_exactly(fd, "dma_buf_import_sync_file", request, &mut args, None);
            }
        }
        _ => {
            s.note(&format!("poll of {fd}"));
            let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one structure of our own.
            unsafe { libc::poll(&mut poll, 1, s.random.below(3)) };
        }
    }
}

/// Duplicates and closes descriptors.
pub fn duplicate(s: &mut Sender<'_>) {
    let Some(fd) = s.descriptors.take(&mut s.random) else { return };
    s.note(&format!("dup and close of {fd}"));
    if s.random.one_in(3) {
        // SAFETY: no pointers; the result is ours.
        let copy = unsafe { libc::fcntl(fd as i32, libc::F_DUPFD_CLOEXEC, 3) };
        if copy > 2 {
            s.descriptors.add(copy as u32);
        }
    }
    // SAFETY: it was given to this thread, which has just forgotten it.
    unsafe { libc::close(fd as i32) };
}

/// A forked child: its inherited node is dead, one that it opens is not.
pub fn fork(s: &mut Sender<'_>) {
    if !s.random.one_in(40) {
        return;
    }
    s.note("fork");
    let (node, own) = (s.node, s.own);
    // SAFETY: the child makes system calls and calls of the node only, and leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let mut create = GemCreate { size: 4096, ..Default::default() };
        let mut request = |fd: i32| {
            // SAFETY: a structure of our own.
            let result = unsafe { libc::ioctl(fd, u64::from(ioctl::GEM_CREATE), &mut create) };
            if result == 0 { 0 } else { errno() }
        };
        let dead = request(node) == libc::EIO && request(own) == libc::EIO;
        // SAFETY: a C string, and descriptors of the child.
        unsafe {
            libc::close(own);
            let fd = libc::open(c"/dev/dri/renderD128".as_ptr(), libc::O_RDWR);
            let alive = fd >= 0 && request(fd) == 0;
            libc::_exit(if dead && alive { 0 } else { 1 });
        }
    }
    assert!(child > 0, "fork: errno {}", errno());
    let end = Instant::now() + Duration::from_secs(50);
    loop {
        let mut status = 0;
        // SAFETY: the result goes to a variable of our own.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
            0 => panic!("a forked child hangs"),
            _ => {
                assert!(
                    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
                    "a forked child: {status}"
                );
                return;
            }
        }
    }
}
