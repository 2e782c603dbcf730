//! Valid sequences of requests with checks of their results, and mutated ones, which may have any harmless
//! result.

use bytemuck::bytes_of;
use gencl_i915::uapi::{
    CAP_SYNCOBJ, ContextCreateExtSetparam, ContextParam, EngineClassInstance, EngineInfo, ExecBuffer2,
    ExecFence, ExecObject2, ExecTimelineFences, GemBusy, GemCaching, GemCopy, GemGetTiling, GemMadvise,
    GemMmapOffset, GemSetDomain, GemSetTiling, GemUserptr, GemVmControl, GetCap, GetParam, PrimeHandle,
    Query, QueryItem, RelocationEntry, SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjHandle,
    SyncobjTimelineArray, SyncobjTimelineWait, SyncobjTransfer, SyncobjWait, UserExtension, Version,
    context_param, exec, ioctl, param, query, syncobj,
};

use crate::arena::Lent;
use crate::batch;
use crate::layout::{BYTES, ENGINES, QUERIES, RELOCATIONS, RESULT, SET_PARAM, TIMELINES};
use crate::play::{Outcome, Play, SIZE, expect, object, request, written};
use crate::sender::{Mode, Sender, open_node};

/// A sequence.
type Sequence = fn(&mut Play<'_, '_>) -> Outcome;

const SEQUENCES: &[(&str, Sequence)] = &[
    ("store", store),
    ("relocations", relocations),
    ("copies", copies),
    ("mapping by offset", offset_mapping),
    ("memory handed over", handed_over),
    ("context", context),
    ("fence array", fence_array),
    ("timeline", timeline),
    ("fence of a sync object", sync_file),
    ("shared buffer", shared),
    ("state", state),
    ("questions", questions),
];

/// Number of successive valid sequences with a stopped batch that a busy host does not explain.
const MOST_STOPPED: u32 = 30;
/// Longest sequence, in requests.
const LENGTH: u64 = 20;

/// Runs a valid sequence and checks its result.
pub fn right(s: &mut Sender<'_>) {
    let (name, sequence) = s.random.pick(SEQUENCES);
    s.mode = Mode::Right;
    let own = s.own;
    let mut play = Play::new(s, own);
    let outcome = sequence(&mut play);
    let was_stopped = play.was_stopped();
    let finished = play.finish();
    drop(play);
    assert!(!was_stopped || s.stopped < MOST_STOPPED, "{name}: every right batch is stopped");
    if was_stopped {
        s.stopped += 1;
        reopen_own(s);
        return;
    }
    s.stopped = 0;
    if let Err(what) = outcome.and(finished) {
        panic!("{name}: {what}");
    }
}

/// Opens the node again, as the context of the old open file may be banned.
fn reopen_own(s: &mut Sender<'_>) {
    // SAFETY: the descriptor is this thread's.
    unsafe { libc::close(s.own) };
    s.own = open_node();
}

/// Runs a mutated sequence, in an open file of its own.
pub fn mutated(s: &mut Sender<'_>) {
    let (_, sequence) = s.random.pick(SEQUENCES);
    (s.mode, s.is_odd) = (Mode::Mutated(s.random.below(LENGTH)), true);
    let fd = open_node();
    let mut play = Play::new(s, fd);
    let outcome = sequence(&mut play).and_then(|()| play.finish());
    drop(play);
    s.note(&format!("close of the node after a mutated sequence: {}", outcome.err().unwrap_or_default()));
    // SAFETY: the descriptor is this function's.
    unsafe { libc::close(fd) };
}

/// Opens the node, submits a batch, and closes the node while it runs.
pub fn reopen(s: &mut Sender<'_>) {
    if !s.random.one_in(10) {
        return;
    }
    s.mode = Mode::Right;
    let fd = open_node();
    let mut play = Play::new(s, fd);
    let outcome = play.batch(&batch::store(0x30_0100, 1)).and_then(|batch| {
        let args = &mut request();
        play.submit(&[object(&batch)], args)
    });
    outcome.expect("a batch of another open file");
    drop(play);
    s.note("close of the node");
    // SAFETY: the descriptor is this function's.
    unsafe { libc::close(fd) };
}

/// A batch writes, its fence is polled, the value is checked.
fn store(play: &mut Play<'_, '_>) -> Outcome {
    let value = play.s.random.next_u32();
    let target = play.buffer(0x20_0000)?;
    let batch = play.batch(&batch::store(target.address + 16, value))?;
    let mut objects = [written(&target), object(&batch)];
    let mut args = request();
    if play.s.random.one_in(2) {
        objects.swap(0, 1);
        args.flags |= batch::FIRST;
    }
    play.run(&objects, &mut args)?;
    play.wait(target.handle)?;
    expect(target.read(4) == value, "what a batch wrote")
}

/// The node chooses addresses.
fn relocations(play: &mut Play<'_, '_>) -> Outcome {
    let value = play.s.random.next_u32();
    let (target, batch) = (play.buffer(0)?, play.batch(&batch::store(0, value))?);
    let mut args = request();
    let by_index = play.s.random.one_in(2);
    if by_index {
        args.flags |= batch::BY_INDEX;
    }
    let entry = RelocationEntry {
        target_handle: if by_index { 0 } else { target.handle },
        delta: 16,
        offset: 4,
        presumed_offset: u64::MAX,
        read_domains: 2,
        write_domain: 2,
    };
    let relocs_ptr = play.s.list(1, &RELOCATIONS, &[entry]);
    let first = ExecObject2 { handle: target.handle, ..Default::default() };
    let second = ExecObject2 { handle: batch.handle, relocation_count: 1, relocs_ptr, ..Default::default() };
    play.run(&[first, second], &mut args)?;
    play.wait(target.handle)?;
    expect(target.read(4) == value, "what a batch wrote to an address that was relocated")
}

/// `pwrite` and `pread` up to the end of a buffer, and not beyond.
fn copies(play: &mut Play<'_, '_>) -> Outcome {
    let buffer = play.buffer(0x20_0000)?;
    let length = 1 + play.s.random.below(4096);
    let data: Vec<u8> = (0..length).map(|_| play.s.random.next_u64() as u8).collect();
    let data_ptr = play.s.list(0, &BYTES, &data);
    let mut args = GemCopy { handle: buffer.handle, pad: 0, offset: SIZE - length, size: length, data_ptr };
    play.ask("pwrite", ioctl::GEM_PWRITE, &mut args)?;
    let back = play.s.list(1, &RESULT, &vec![0u8; length as usize]);
    let mut args = GemCopy { data_ptr: back, ..args };
    play.ask("pread", ioctl::GEM_PREAD, &mut args)?;
    expect(play.is_mutated() || play.s.lists[1].take() == data, "what is read is what was written")?;
    let mut args = GemCopy { offset: SIZE - length + 1, ..args };
    play.refuse("pread", ioctl::GEM_PREAD, &mut args, libc::EINVAL)?;
    play.refuse("pwrite", ioctl::GEM_PWRITE, &mut args, libc::EINVAL)
}

/// Two mappings of one buffer.
fn offset_mapping(play: &mut Play<'_, '_>) -> Outcome {
    let buffer = play.buffer(0x20_0000)?;
    let mut args = GemMmapOffset { handle: buffer.handle, flags: 2, ..Default::default() };
    play.ask("mmap_offset", ioctl::GEM_MMAP_OFFSET, &mut args)?;
    let all = libc::PROT_READ | libc::PROT_WRITE;
    let (length, offset) = (SIZE as usize, args.offset as i64);
    play.s.note("mmap of the node");
    // SAFETY: a new mapping at an address of the kernel's choice.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), length, all, libc::MAP_SHARED, play.fd, offset) };
    let memory = play.keep_mapping(memory.cast(), SIZE)?;
    buffer.write(&[7, 8, 9]);
    // SAFETY: within the mapping.
    let seen = unsafe { memory.cast::<u32>().add(2).read_volatile() };
    expect(play.is_mutated() || seen == 9, "what one mapping writes the other sees")
}

/// A batch writes to a userptr buffer.
fn handed_over(play: &mut Play<'_, '_>) -> Outcome {
    let value = play.s.random.next_u32();
    let lent = Lent::new(2);
    let (user_ptr, user_size) = lent.range();
    let mut args = GemUserptr { user_ptr, user_size, ..Default::default() };
    play.ask("userptr", ioctl::GEM_USERPTR, &mut args)?;
    let handle = args.handle;
    play.keep_handle(handle);
    let target = ExecObject2 {
        handle,
        offset: 0x20_0000,
        flags: batch::PINNED | batch::WRITTEN,
        ..Default::default()
    };
    let batch = play.batch(&batch::store(0x20_0000 + SIZE - 4, value))?;
    // The memory is unmapped after any result.
    play.run(&[target, object(&batch)], &mut request())?;
    expect(play.is_mutated() || lent.is_whole(), "memory beside what was handed over")?;
    expect(play.is_mutated() || lent.last() == value, "what a batch wrote to memory of the program")
}

/// A context with an address space and engines of its own.
fn context(play: &mut Play<'_, '_>) -> Outcome {
    let mut space = GemVmControl::default();
    play.ask("vm_create", ioctl::GEM_VM_CREATE, &mut space)?;
    let mut engines = 0u64.to_le_bytes().to_vec();
    for engine_class in [1, 0] {
        engines.extend(bytes_of(&EngineClassInstance { engine_class, engine_instance: 0 }));
    }
    let (size, value) = (engines.len() as u32, play.s.list(1, &ENGINES, &engines));
    let second = ContextCreateExtSetparam {
        base: UserExtension::default(),
        param: ContextParam { ctx_id: 0, size, param: context_param::ENGINES, value },
    };
    let next_extension = play.s.list(2, &SET_PARAM, &[second]);
    let value = u64::from(space.vm_id);
    let first = ContextCreateExtSetparam {
        base: UserExtension { next_extension, ..Default::default() },
        param: ContextParam { ctx_id: 0, size: 0, param: context_param::VM, value },
    };
    let extensions = play.s.list(3, &SET_PARAM, &[first]);
    let ctx_id = play.context(extensions)?;
    let mut param = ContextParam { ctx_id, param: context_param::GTT_SIZE, ..Default::default() };
    play.ask("context_getparam", ioctl::GEM_CONTEXT_GETPARAM, &mut param)?;
    expect(play.is_mutated() || param.value == 1 << 48, "bits of the address space")?;
    let target = play.buffer(0x20_0000)?;
    let batch = play.batch(&batch::store(target.address, 5))?;
    // The render engine is the second of the map.
    let mut args = ExecBuffer2 { rsvd1: ctx_id.into(), ..request() };
    play.run(&[written(&target), object(&batch)], &mut args)?;
    let mut args = ExecBuffer2 { rsvd1: ctx_id.into(), flags: 2, ..Default::default() };
    let objects = [written(&target), object(&batch)];
    expect(play.submit(&objects, &mut args).is_err() || play.is_mutated(), "a third engine")?;
    expect(target.read(0) == 5, "what a batch wrote in a context of its own")?;
    play.ask("vm_destroy", ioctl::GEM_VM_DESTROY, &mut space)
}

/// A new sync object.
fn new_sync_object(play: &mut Play<'_, '_>) -> Outcome<u32> {
    let mut args = SyncobjCreate::default();
    play.ask("syncobj_create", ioctl::SYNCOBJ_CREATE, &mut args)?;
    Ok(args.handle)
}

fn destroy(play: &mut Play<'_, '_>, handle: u32) -> Outcome {
    let mut args = SyncobjDestroy { handle, pad: 0 };
    play.ask("syncobj_destroy", ioctl::SYNCOBJ_DESTROY, &mut args)
}

/// A deadline, as a mutated sequence may never signal.
fn deadline(play: &mut Play<'_, '_>) -> i64 {
    let patience = if play.is_mutated() { 20_000_000 } else { 50_000_000_000 };
    crate::sharing::now() + patience
}

/// A batch signals, a second one waits, and the program waits for that.
fn fence_array(play: &mut Play<'_, '_>) -> Outcome {
    let [first, second] = [new_sync_object(play)?, new_sync_object(play)?];
    let target = play.buffer(0x20_0000)?;
    let mut batches = Vec::new();
    for value in [11, 12] {
        batches.push(play.batch(&batch::store(target.address, value))?);
    }
    let fences = [
        [ExecFence { handle: first, flags: exec::FENCE_SIGNAL }].to_vec(),
        vec![
            ExecFence { handle: first, flags: exec::FENCE_WAIT },
            ExecFence { handle: second, flags: exec::FENCE_SIGNAL },
        ],
    ];
    for (batch, fences) in batches.iter().zip(fences) {
        let mut args = request();
        args.flags |= exec::FENCE_ARRAY;
        args.num_cliprects = fences.len() as u32;
        args.cliprects_ptr = play.s.list(1, &BYTES, &fences);
        // Both have the same address, so one has to be evicted.
        play.submit(&[written(&target), object(batch)], &mut args)?;
    }
    let timeout_nsec = deadline(play);
    let handles = play.handles(2, &[first, second]);
    let flags = syncobj::WAIT_ALL;
    let mut args = SyncobjWait { handles, timeout_nsec, count_handles: 2, flags, ..Default::default() };
    play.ask("syncobj_wait", ioctl::SYNCOBJ_WAIT, &mut args)?;
    expect(target.read(0) == 12, "batches in the order of their fences")?;
    let mut args = SyncobjArray { handles, count_handles: 2, pad: 0 };
    play.ask("syncobj_reset", ioctl::SYNCOBJ_RESET, &mut args)?;
    destroy(play, first)?;
    destroy(play, second)
}

/// Points of a timeline, of a batch and of the program.
fn timeline(play: &mut Play<'_, '_>) -> Outcome {
    let handle = new_sync_object(play)?;
    let target = play.buffer(0x20_0000)?;
    let batch = play.batch(&batch::store(target.address, 21))?;
    let fence = ExecFence { handle, flags: exec::FENCE_SIGNAL };
    let list = ExecTimelineFences {
        base: UserExtension::default(),
        fence_count: 1,
        handles_ptr: play.s.list(1, &BYTES, &[fence]),
        values_ptr: play.s.list(2, &BYTES, &[5u64]),
    };
    let mut args = request();
    args.flags |= exec::USE_EXTENSIONS;
    args.cliprects_ptr = play.s.list(3, &TIMELINES, &[list]);
    play.submit(&[written(&target), object(&batch)], &mut args)?;
    let timeout_nsec = deadline(play);
    let handles = play.handles(1, &[handle]);
    let points = play.s.list(2, &BYTES, &[5u64]);
    let mut args =
        SyncobjTimelineWait { handles, points, timeout_nsec, count_handles: 1, ..Default::default() };
    play.ask("syncobj_timeline_wait", ioctl::SYNCOBJ_TIMELINE_WAIT, &mut args)?;
    expect(target.read(0) == 21, "a point is reached when the batch is done")?;
    let points = play.s.list(2, &BYTES, &[9u64]);
    let mut args = SyncobjTimelineArray { handles, points, count_handles: 1, flags: 0 };
    play.ask("syncobj_timeline_signal", ioctl::SYNCOBJ_TIMELINE_SIGNAL, &mut args)?;
    let points = play.s.list(2, &RESULT, &[0u64]);
    let mut args = SyncobjTimelineArray { handles, points, count_handles: 1, flags: 0 };
    play.ask("syncobj_query", ioctl::SYNCOBJ_QUERY, &mut args)?;
    let is_nine = play.s.lists[2].take() == 9u64.to_le_bytes();
    expect(play.is_mutated() || is_nine, "the point that a timeline has reached")?;
    let dst_handle = new_sync_object(play)?;
    let mut args =
        SyncobjTransfer { src_handle: handle, dst_handle, src_point: 5, dst_point: 3, ..Default::default() };
    play.ask("syncobj_transfer", ioctl::SYNCOBJ_TRANSFER, &mut args)?;
    destroy(play, dst_handle)?;
    destroy(play, handle)
}

/// The fence of a batch goes through a descriptor into a sync object and out again.
fn sync_file(play: &mut Play<'_, '_>) -> Outcome {
    let handle = new_sync_object(play)?;
    let batch = play.batch(&batch::store(0x30_0100, 1))?;
    let fd = play.submit_for_fence(&[object(&batch)], &mut request())?;
    let mut args = SyncobjHandle { handle, flags: syncobj::SYNC_FILE, fd, pad: 0 };
    play.ask("syncobj_fd_to_handle", ioctl::SYNCOBJ_FD_TO_HANDLE, &mut args)?;
    let mut args = SyncobjHandle { handle, flags: syncobj::SYNC_FILE, fd: -1, pad: 0 };
    play.ask("syncobj_handle_to_fd", ioctl::SYNCOBJ_HANDLE_TO_FD, &mut args)?;
    let fd = play.keep(args.fd)?;
    play.await_fence(fd)?;
    // A second batch waits for it, too.
    let mut args = ExecBuffer2 { rsvd2: fd as u64, ..request() };
    args.flags |= exec::FENCE_IN;
    play.run(&[object(&batch)], &mut args)?;
    destroy(play, handle)
}

/// A batch of another open file writes to a buffer of this one.
fn shared(play: &mut Play<'_, '_>) -> Outcome {
    let buffer = play.buffer(0x20_0000)?;
    let flags = (libc::O_CLOEXEC | libc::O_RDWR) as u32;
    let mut args = PrimeHandle { handle: buffer.handle, flags, fd: -1 };
    play.ask("prime_handle_to_fd", ioctl::PRIME_HANDLE_TO_FD, &mut args)?;
    let descriptor = play.keep(args.fd)?;
    let mut again = PrimeHandle { handle: 0, flags: 0, fd: descriptor };
    play.ask("prime_fd_to_handle", ioctl::PRIME_FD_TO_HANDLE, &mut again)?;
    expect(play.is_mutated() || again.handle == buffer.handle, "a buffer has one handle")?;
    let other = open_node();
    let fd = std::mem::replace(&mut play.fd, other);
    let outcome = write_by_other(play, descriptor);
    play.fd = fd;
    // SAFETY: the descriptor is this function's; batches are done, or not waited for.
    unsafe { libc::close(other) };
    outcome?;
    expect(buffer.read(1) == 31, "what another open file wrote")
}

fn write_by_other(play: &mut Play<'_, '_>, descriptor: i32) -> Outcome {
    let mut args = PrimeHandle { handle: 0, flags: 0, fd: descriptor };
    play.ask("prime_fd_to_handle", ioctl::PRIME_FD_TO_HANDLE, &mut args)?;
    let target = ExecObject2 {
        handle: args.handle,
        offset: 0x20_0000,
        flags: batch::PINNED | batch::WRITTEN,
        ..Default::default()
    };
    let outcome = play.without_closing(|play| {
        let batch = play.batch(&batch::store(0x20_0004, 31))?;
        play.run(&[target, object(&batch)], &mut request())
    });
    if outcome.is_err() {
        play.note_stopped();
    }
    outcome
}

/// Parameters that are set can be queried.
fn state(play: &mut Play<'_, '_>) -> Outcome {
    let handle = play.buffer(0x20_0000)?.handle;
    let mut args = GemSetDomain { handle, read_domains: 0x40, write_domain: 0x40 };
    play.ask("set_domain", ioctl::GEM_SET_DOMAIN, &mut args)?;
    let mut args = GemBusy { handle, busy: 1 };
    play.ask("busy", ioctl::GEM_BUSY, &mut args)?;
    expect(play.is_mutated() || args.busy == 0, "a buffer without batches")?;
    let mut args = GemMadvise { handle, madv: 1, retained: 0 };
    play.ask("madvise", ioctl::GEM_MADVISE, &mut args)?;
    expect(play.is_mutated() || args.retained == 1, "pages are kept")?;
    let mut args = GemSetTiling { handle, tiling_mode: 1, stride: 512, swizzle_mode: 0 };
    play.ask("set_tiling", ioctl::GEM_SET_TILING, &mut args)?;
    let mut args = GemGetTiling { handle, ..Default::default() };
    play.ask("get_tiling", ioctl::GEM_GET_TILING, &mut args)?;
    expect(play.is_mutated() || args.tiling_mode == 1, "tiling")?;
    let mut args = GemCaching { handle, caching: 0 };
    play.ask("set_caching", ioctl::GEM_SET_CACHING, &mut args)?;
    args.caching = 9;
    play.ask("get_caching", ioctl::GEM_GET_CACHING, &mut args)?;
    expect(play.is_mutated() || args.caching == 0, "caching")
}

/// Queries of the driver, with buffers of the exact size.
fn questions(play: &mut Play<'_, '_>) -> Outcome {
    let mut args = Version::default();
    play.ask("version", ioctl::VERSION, &mut args)?;
    let name = play.s.list(0, &RESULT, &vec![0u8; args.name_len.min(64) as usize]);
    let mut args = Version { name_len: args.name_len, name, ..Default::default() };
    play.ask("version", ioctl::VERSION, &mut args)?;
    expect(play.is_mutated() || play.s.lists[0].take() == b"i915", "the driver's name")?;
    let mut args = GetCap { capability: CAP_SYNCOBJ, value: 0 };
    play.ask("get_cap", ioctl::GET_CAP, &mut args)?;
    let value = play.s.list(0, &RESULT, &[0u32]);
    let mut args = GetParam { param: param::HAS_EXEC_SOFTPIN, pad: 0, value };
    play.ask("getparam", ioctl::GETPARAM, &mut args)?;
    expect(play.is_mutated() || play.s.lists[0].take() == 1u32.to_le_bytes(), "fixed addresses")?;
    let mut item = QueryItem { query_id: query::ENGINE_INFO, ..Default::default() };
    for _ in 0..2 {
        item.data_ptr = play.s.list(0, &RESULT, &vec![0u8; item.length.clamp(0, 4096) as usize]);
        let items_ptr = play.s.list(1, &QUERIES, &[item]);
        let mut args = Query { num_items: 1, flags: 0, items_ptr };
        play.ask("query", ioctl::QUERY, &mut args)?;
        item = bytemuck::pod_read_unaligned(&play.s.lists[1].take());
    }
    let expected = 16 + 2 * size_of::<EngineInfo>() as i32;
    expect(play.is_mutated() || item.length == expected, "bytes about two engines")
}
