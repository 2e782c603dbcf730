//! Random requests, mostly valid.

use gencl_i915::uapi::{
    ContextCreateExt, ContextCreateExtSetparam, ContextDestroy, ContextParam, ContextParamSseu,
    EngineClassInstance, EnginesLoadBalance, ExecBuffer2, ExecFence, ExecObject2, ExecTimelineFences,
    GemBusy, GemCaching, GemClose, GemCopy, GemCreate, GemCreateExt, GemCreateExtMemoryRegions,
    GemGetAperture, GemGetTiling, GemMadvise, GemMmap, GemMmapOffset, GemSetDomain, GemSetTiling, GemUserptr,
    GemVmControl, GemWait, GetCap, GetParam, PerfOpenParam, Query, QueryItem, RegRead, RelocationEntry,
    ResetStats, UserExtension, Version, exec, ioctl,
};

use crate::batch;
use crate::canaries::CANARIES;
use crate::layout::{BYTES, ENGINES, OBJECTS, QUERIES, REGIONS, RELOCATIONS, RESULT, SET_PARAM, TIMELINES};
use crate::odd::odd;
use crate::play::NO_FENCE;
use crate::pools::Buffer;
use crate::sender::{Mode, Sender};
use crate::sequences;
use crate::sharing;

/// Largest size of a buffer in bytes.
const LARGEST: u64 = 64 << 12;
/// Initial value of a returned handle, of which only a part may be written.
const NO_HANDLE: u32 = 1 << 31;
/// Largest number of buffers of a thread.
const BUFFERS: usize = 40;

/// Actions of a thread, the more important ones repeated.
const DO: &[fn(&mut Sender<'_>)] = &[
    create,
    create,
    create,
    create_ext,
    userptr,
    lend_others,
    close,
    close,
    map,
    map_by_offset,
    copy,
    copy,
    set_domain,
    busy,
    wait,
    state,
    state,
    context_create,
    context_create,
    context_destroy,
    context_param,
    context_param,
    context_param,
    space,
    reset_stats,
    parameter,
    query,
    version,
    other,
    unknown,
    execute,
    execute,
    execute,
    execute,
    execute,
    sharing::sync_object,
    sharing::sync_object,
    sharing::sync_object,
    sharing::sync_wait,
    sharing::sync_timeline,
    sharing::sync_descriptor,
    sharing::prime,
    sharing::fences,
    sharing::duplicate,
    sharing::fork,
    sequences::right,
    sequences::right,
    sequences::mutated,
    sequences::mutated,
    sequences::mutated,
    sequences::reopen,
];

/// Performs a random action.
pub fn one(sender: &mut Sender<'_>) {
    let act = sender.random.pick(DO);
    (sender.mode, sender.is_odd) = (Mode::Random, false);
    act(sender);
}

impl Sender<'_> {
    /// Keeps a buffer, if its handle was returned.
    fn add_buffer(&mut self, handle: u32, size: u64) {
        if !(CANARIES + 1..NO_HANDLE).contains(&handle) {
            return;
        }
        let address = self.next_address;
        self.next_address += LARGEST + 4096 * self.random.below(2);
        self.buffers.push(Buffer { handle, size, memory: std::ptr::null_mut(), address });
    }

    /// The handle of a buffer, or of another thread's, or of none.
    pub fn handle(&mut self) -> u32 {
        if self.buffers.is_empty() || self.random.one_in(10) {
            return self.stray();
        }
        self.random.pick(&self.buffers).handle
    }

    /// Any handle but those of the canaries.
    fn stray(&mut self) -> u32 {
        CANARIES + 1 + self.random.below(80) as u32
    }

    /// A number that is usually `right`.
    pub fn mostly(&mut self, right: u64) -> u64 {
        if self.random.one_in(16) {
            self.is_odd = true;
            odd(&mut self.random)
        } else {
            right
        }
    }

    fn context(&mut self) -> u32 {
        if self.random.one_in(4) { 0 } else { self.contexts.pick(&mut self.random) }
    }
}

fn size(s: &mut Sender<'_>) -> u64 {
    let right = 1 + s.random.below(LARGEST - 1);
    s.mostly(right)
}

fn create(s: &mut Sender<'_>) {
    if s.buffers.len() >= BUFFERS {
        return close(s);
    }
    let mut args = GemCreate { size: size(s), handle: NO_HANDLE, pad: odd(&mut s.random) as u32 };
    let asked = args.size;
    if s.send("create", ioctl::GEM_CREATE, &mut args) == 0 && asked <= LARGEST && args.size <= LARGEST {
        s.add_buffer(args.handle, args.size);
    }
}

fn extension(s: &mut Sender<'_>, next: u64, name: u64) -> UserExtension {
    UserExtension {
        next_extension: next,
        name: s.mostly(name) as u32,
        flags: s.mostly(0) as u32,
        rsvd: [0, 0, 0, s.mostly(0) as u32],
    }
}

fn create_ext(s: &mut Sender<'_>) {
    if s.buffers.len() >= BUFFERS {
        return close(s);
    }
    let count = 1 + s.random.below(2);
    let regions: Vec<u32> = (0..count).map(|_| s.mostly(0) as u32).collect();
    let regions = s.list(0, &BYTES, &regions);
    let base = extension(s, 0, 0);
    let list =
        GemCreateExtMemoryRegions { base, pad: s.mostly(0) as u32, num_regions: s.mostly(1) as u32, regions };
    let extensions = s.list(1, &REGIONS, &[list]);
    let mut args = GemCreateExt {
        size: size(s),
        handle: NO_HANDLE,
        flags: s.mostly(0) as u32,
        extensions: s.mostly(extensions),
    };
    if s.send("create_ext", ioctl::GEM_CREATE_EXT, &mut args) == 0 && args.size <= LARGEST {
        s.add_buffer(args.handle, args.size);
    }
}

fn userptr(s: &mut Sender<'_>) {
    if s.buffers.len() >= BUFFERS {
        return close(s);
    }
    let index = s.random.below(s.lent.len() as u64) as usize;
    let (address, length) = s.lent[index].range();
    // Never more pages than there are, as the next one is a guard page.
    let user_size = s.random.pick(&[length, 4096, 0, length - 1, u64::MAX, 1 << 46, u64::MAX << 12]);
    let user_ptr = s.random.pick(&[address, address, address, address + 8, 0, 1 << 47, u64::MAX << 12]);
    let flags = s.random.pick(&[0, 0, 0, 2, 1, 1 << 31, 4]);
    let mut args = GemUserptr { user_ptr, user_size, flags, handle: NO_HANDLE };
    if s.send("userptr", ioctl::GEM_USERPTR, &mut args) == 0 {
        s.add_buffer(args.handle, user_size.min(LARGEST));
    }
}

fn lend_others(s: &mut Sender<'_>) {
    if s.random.one_in(8) {
        s.note("munmap of memory that is handed over");
        let index = s.random.below(s.lent.len() as u64) as usize;
        s.lent[index].replace();
    }
}

fn forget(s: &mut Sender<'_>, index: usize) -> Buffer {
    let buffer = s.buffers.swap_remove(index);
    if !buffer.memory.is_null() {
        // SAFETY: the mapping was made for the buffer, and nothing else uses it.
        unsafe { libc::munmap(buffer.memory.cast(), buffer.size as usize) };
    }
    buffer
}

fn close(s: &mut Sender<'_>) {
    let handle = if s.buffers.is_empty() {
        s.stray()
    } else {
        let index = s.random.below(s.buffers.len() as u64) as usize;
        forget(s, index).handle
    };
    // Not mutated: a shorter argument would result in another handle, perhaps a canary's.
    s.send_exactly(s.node, "close", ioctl::GEM_CLOSE, &mut GemClose { handle, pad: 0 }, None);
}

/// A buffer that is not mapped yet, by its index.
fn unmapped(s: &mut Sender<'_>) -> Option<usize> {
    s.buffers.iter().position(|buffer| buffer.memory.is_null())
}

fn map(s: &mut Sender<'_>) {
    let Some(index) = unmapped(s) else { return };
    let Buffer { handle, size, .. } = s.buffers[index];
    let mut args = GemMmap {
        handle,
        pad: odd(&mut s.random) as u32,
        offset: s.mostly(0),
        size: s.mostly(size),
        addr_ptr: u64::MAX,
        flags: s.mostly(0),
    };
    if s.send("mmap", ioctl::GEM_MMAP, &mut args) == 0 && args.addr_ptr < 1 << 47 {
        let memory = args.addr_ptr as *mut u8;
        if args.offset == 0 && args.size == size {
            s.buffers[index].memory = memory;
        } else {
            // SAFETY: a mapping that nobody uses.
            unsafe { libc::munmap(memory.cast(), args.size as usize) };
        }
    }
}

fn map_by_offset(s: &mut Sender<'_>) {
    let Some(index) = unmapped(s) else { return };
    let Buffer { handle, size, .. } = s.buffers[index];
    let mut args =
        GemMmapOffset { handle, flags: s.random.below(6), extensions: s.mostly(0), ..Default::default() };
    if s.send("mmap_offset", ioctl::GEM_MMAP_OFFSET, &mut args) != 0 {
        return;
    }
    let offset = s.mostly(args.offset);
    let length = if s.random.one_in(10) { odd(&mut s.random) as usize } else { size as usize };
    let all = libc::PROT_READ | libc::PROT_WRITE;
    s.note(&format!("mmap of {length} bytes at 0x{offset:x}"));
    // SAFETY: a new mapping at an address of the kernel's choice.
    let memory =
        unsafe { libc::mmap(std::ptr::null_mut(), length, all, libc::MAP_SHARED, s.node, offset as i64) };
    if memory != libc::MAP_FAILED {
        if length == size as usize && offset == args.offset {
            s.buffers[index].memory = memory.cast();
        } else {
            // SAFETY: a mapping that nobody uses.
            unsafe { libc::munmap(memory, length) };
        }
    }
}

fn copy(s: &mut Sender<'_>) {
    let length = s.random.below(4096);
    let data = vec![s.random.next_u64() as u8; length as usize];
    let (name, request, layout) =
        s.random.pick(&[("pread", ioctl::GEM_PREAD, &RESULT), ("pwrite", ioctl::GEM_PWRITE, &BYTES)]);
    let data_ptr = s.list(0, layout, &data);
    let mut args = GemCopy {
        handle: s.handle(),
        pad: 0,
        offset: s.random.below(LARGEST),
        size: s.mostly(length),
        data_ptr,
    };
    s.send_exactly(s.node, name, request, &mut args, None);
}

fn set_domain(s: &mut Sender<'_>) {
    let domain = 1 << s.random.below(9);
    let mut args = GemSetDomain {
        handle: s.handle(),
        read_domains: s.mostly(domain) as u32,
        write_domain: s.random.pick(&[0, domain as u32, 0x40]),
    };
    s.send("set_domain", ioctl::GEM_SET_DOMAIN, &mut args);
    let mut handle = s.handle();
    s.send("sw_finish", ioctl::GEM_SW_FINISH, &mut handle);
}

fn busy(s: &mut Sender<'_>) {
    let mut args = GemBusy { handle: s.handle(), busy: 0 };
    s.send("busy", ioctl::GEM_BUSY, &mut args);
}

fn wait(s: &mut Sender<'_>) {
    let timeout_ns = s.random.pick(&[0, 1, 1_000_000, -1, i64::MAX, i64::MIN]);
    let mut args = GemWait { handle: s.handle(), flags: s.mostly(0) as u32, timeout_ns };
    s.send("wait", ioctl::GEM_WAIT, &mut args);
}

fn state(s: &mut Sender<'_>) {
    let (handle, mode) = (s.handle(), s.random.below(4) as u32);
    let stride = s.random.pick(&[0, 128, 512, 4096, 100, 1 << 20]);
    match s.random.below(6) {
        0 => s.send("madvise", ioctl::GEM_MADVISE, &mut GemMadvise { handle, madv: mode, retained: 9 }),
        1 => s.send("set_caching", ioctl::GEM_SET_CACHING, &mut GemCaching { handle, caching: mode }),
        2 => s.send("get_caching", ioctl::GEM_GET_CACHING, &mut GemCaching { handle, caching: mode }),
        3 => {
            let mut args = GemSetTiling { handle, tiling_mode: mode, stride, swizzle_mode: 0 };
            s.send("set_tiling", ioctl::GEM_SET_TILING, &mut args)
        }
        4 => s.send("get_tiling", ioctl::GEM_GET_TILING, &mut GemGetTiling { handle, ..Default::default() }),
        _ => s.send("get_aperture", ioctl::GEM_GET_APERTURE, &mut GemGetAperture::default()),
    };
}

fn param(s: &mut Sender<'_>) -> ContextParam {
    let param = s.random.below(15);
    let small = [0, 0, 1, -5i64 as u64, 2000, u64::MAX];
    let (size, value) = match param {
        7 => {
            let sseu = ContextParamSseu { flags: s.mostly(0) as u32, ..Default::default() };
            (32, s.list(2, &RESULT, &[sseu]))
        }
        9 => (0, u64::from(s.spaces.pick(&mut s.random))),
        10 => engines(s),
        _ => (0, s.random.pick(&small)),
    };
    let value = if param == 10 || param == 7 { value } else { s.mostly(value) };
    ContextParam { ctx_id: 0, size: s.mostly(size) as u32, param: s.mostly(param), value }
}

fn engines(s: &mut Sender<'_>) -> (u64, u64) {
    let count = s.random.below(5) as usize;
    let base = extension(s, 0, 0);
    let balance = EnginesLoadBalance {
        base,
        engine_index: s.random.below(6) as u16,
        num_siblings: s.random.below(2) as u16,
        flags: s.mostly(0) as u32,
        mbz64: s.mostly(0),
    };
    let mut bytes = bytemuck::bytes_of(&balance).to_vec();
    bytes.extend([0; 8]);
    let balance = s.list(3, &BYTES, &bytes);
    let mut map = s.random.pick(&[0, 0, balance]).to_le_bytes().to_vec();
    for _ in 0..count {
        let engine = s.random.pick(&[(0, 0), (1, 0), (u16::MAX, u16::MAX), (2, 0), (0, 1)]);
        let engine = EngineClassInstance { engine_class: engine.0, engine_instance: engine.1 };
        map.extend(bytemuck::bytes_of(&engine));
    }
    (map.len() as u64, s.list(2, &ENGINES, &map))
}

fn context_create(s: &mut Sender<'_>) {
    if s.contexts.len() >= 6 {
        return context_destroy(s);
    }
    let base = extension(s, 0, 0);
    let set = ContextCreateExtSetparam { base, param: param(s) };
    let extensions = s.list(0, &SET_PARAM, &[set]);
    let flags = s.random.pick(&[0, 0, 1, 1, 2, 3]);
    let mut args = ContextCreateExt { ctx_id: 0, flags: s.mostly(flags) as u32, extensions };
    if s.send("context_create", ioctl::GEM_CONTEXT_CREATE_EXT, &mut args) == 0 && args.ctx_id != 0 {
        s.contexts.add(args.ctx_id);
    }
}

fn context_destroy(s: &mut Sender<'_>) {
    let ctx_id = s.contexts.take(&mut s.random).unwrap_or(odd(&mut s.random) as u32);
    let mut args = ContextDestroy { ctx_id, pad: s.mostly(0) as u32 };
    s.send("context_destroy", ioctl::GEM_CONTEXT_DESTROY, &mut args);
}

fn context_param(s: &mut Sender<'_>) {
    let mut args = param(s);
    args.ctx_id = s.context();
    let (name, request) = s.random.pick(&[
        ("context_getparam", ioctl::GEM_CONTEXT_GETPARAM),
        ("context_setparam", ioctl::GEM_CONTEXT_SETPARAM),
    ]);
    let asks = args.param == 9 && args.size == 0;
    if s.send(name, request, &mut args) == 0 && name == "context_getparam" && asks && s.spaces.has_room() {
        s.spaces.add(args.value as u32);
    }
}

fn space(s: &mut Sender<'_>) {
    let mut args = GemVmControl { extensions: s.mostly(0), flags: s.mostly(0) as u32, vm_id: 0 };
    if s.random.one_in(2) && s.spaces.has_room() {
        if s.send("vm_create", ioctl::GEM_VM_CREATE, &mut args) == 0 {
            s.spaces.add(args.vm_id);
        }
    } else {
        args.vm_id = s.spaces.take(&mut s.random).unwrap_or(odd(&mut s.random) as u32);
        s.send("vm_destroy", ioctl::GEM_VM_DESTROY, &mut args);
    }
}

fn reset_stats(s: &mut Sender<'_>) {
    let mut args = ResetStats { ctx_id: s.context(), flags: s.mostly(0) as u32, ..Default::default() };
    s.send("reset_stats", ioctl::GET_RESET_STATS, &mut args);
}

fn parameter(s: &mut Sender<'_>) {
    let value = s.list(0, &RESULT, &[0u32]);
    let param = s.random.below(60);
    let mut args = GetParam { param: s.mostly(param) as i32, pad: 0, value };
    s.send("getparam", ioctl::GETPARAM, &mut args);
}

fn query(s: &mut Sender<'_>) {
    let data = s.list(0, &RESULT, &[0u8; 256]);
    let items: Vec<QueryItem> = (0..s.random.below(4))
        .map(|_| {
            let id = s.random.below(8);
            let length = s.random.pick(&[0, 256, 16, 1, -1, i32::MIN]);
            QueryItem { query_id: s.mostly(id), length, flags: s.mostly(0) as u32, data_ptr: data }
        })
        .collect();
    let items_ptr = s.list(1, &QUERIES, &items);
    let mut args = Query { num_items: items.len() as u32, flags: s.mostly(0) as u32, items_ptr };
    s.send("query", ioctl::QUERY, &mut args);
}

fn version(s: &mut Sender<'_>) {
    let room = s.random.below(20);
    let name = s.list(0, &RESULT, &vec![0u8; room as usize]);
    let mut args = Version { name_len: room, name, ..Default::default() };
    s.send("version", ioctl::VERSION, &mut args);
    let capability = s.random.below(24);
    let mut args = GetCap { capability: s.mostly(capability), value: 0 };
    s.send("get_cap", ioctl::GET_CAP, &mut args);
}

fn other(s: &mut Sender<'_>) {
    let offset = s.random.pick(&[0x2358, 0x2359, 0x235a, 0x2350]);
    let mut args = RegRead { offset: s.mostly(offset), val: 0 };
    s.send("reg_read", ioctl::REG_READ, &mut args);
    s.send("throttle", ioctl::GEM_THROTTLE, &mut [0u8; 0]);
    let properties_ptr = odd(&mut s.random);
    s.send("perf_open", ioctl::PERF_OPEN, &mut PerfOpenParam { flags: 0, num_properties: 1, properties_ptr });
}

fn unknown(s: &mut Sender<'_>) {
    // Random contents could map, copy or unmap any memory; these requests do not.
    let number = s.random.pick(&[
        0x01, 0x02, 0x05, 0x0a, 0x0d, 0x11, 0x1e, 0x2c, 0x3a, 0x41, 0x54, 0x65, 0x7d, 0x9f, 0xa0, 0xb2, 0xcf,
        0xff,
    ]);
    let request = 3 << 30 | (s.random.below(128) as u32) << 16 | 0x6400 | number;
    let mut bytes = [0u64; 16];
    bytes.iter_mut().for_each(|word| *word = odd(&mut s.random));
    s.send("unknown", request, &mut bytes);
    let kind = s.random.next_u32() & 0xff;
    if !matches!(kind, 0x54 | 0x64 | 0x3e | 0x62) {
        s.send_exactly(s.node, "another kind", request & !0xff00 | kind << 8, &mut bytes, None);
    }
}

/// Relocations of a buffer, to another of the request.
fn relocations(s: &mut Sender<'_>, count: usize, handles: &[u32], flags: u64) -> Vec<RelocationEntry> {
    let lut = flags & 1 << 12 != 0;
    let mut entry = |_| {
        let index = s.random.below(handles.len() as u64);
        let target = if lut { index } else { u64::from(handles[index as usize]) };
        let offset = 4 * s.random.below(1000);
        let domain = s.random.pick(&[0, 2, 4, 0x10]);
        RelocationEntry {
            target_handle: s.mostly(target) as u32,
            delta: s.mostly(0) as u32,
            offset: s.mostly(offset),
            presumed_offset: s.random.pick(&[0, u64::MAX, 1 << 24]),
            read_domains: s.mostly(domain) as u32,
            write_domain: s.random.pick(&[0, domain as u32, 6]),
        }
    };
    (0..count).map(&mut entry).collect()
}

/// The buffers of a request.
fn objects(s: &mut Sender<'_>, flags: u64) -> (Vec<Buffer>, Vec<ExecObject2>) {
    let count = 1 + s.random.below(6.min(s.buffers.len() as u64));
    let first = s.random.below(s.buffers.len() as u64) as usize;
    let chosen: Vec<Buffer> = s.buffers.iter().cycle().skip(first).take(count as usize).copied().collect();
    let handles: Vec<u32> = chosen.iter().map(|buffer| buffer.handle).collect();
    let with_relocations = s.random.below(6) as usize;
    let mut objects = Vec::new();
    for (index, buffer) in chosen.iter().enumerate() {
        let pinned = s.random.pick(&[0x18, 0x18, 0x18, 0, 8]);
        let more = s.random.pick(&[0, 0, 4, 0x40, 0x80]);
        let alignment = s.random.pick(&[0, 0, 0, 4096, 65536, 3]);
        let mut object = ExecObject2 {
            handle: buffer.handle,
            alignment: s.mostly(alignment),
            offset: s.mostly(buffer.address),
            flags: s.mostly(pinned | more),
            pad_to_size: s.mostly(0),
            rsvd2: s.mostly(0),
            ..Default::default()
        };
        if index == with_relocations {
            let many = s.random.below(8) as usize;
            let entries = relocations(s, many, &handles, flags);
            object.relocs_ptr = s.list(1, &RELOCATIONS, &entries);
            object.relocation_count = entries.len() as u32;
        }
        objects.push(object);
    }
    (chosen, objects)
}

fn execute(s: &mut Sender<'_>) {
    if s.buffers.is_empty() {
        return create(s);
    }
    let option = s.random.pick(&[0, 0, 1 << 11, 1 << 12, 1 << 18, 1 << 12 | 1 << 18]);
    let engine = s.random.pick(&[0, 1, 1, 1, 3, 2, 5]);
    let mut args = ExecBuffer2 { flags: option | engine, rsvd2: NO_FENCE, ..Default::default() };
    let (buffers, objects) = objects(s, option);
    let addresses: Vec<u64> = buffers.iter().map(|buffer| buffer.address).collect();
    let batch = if option & 1 << 18 != 0 { buffers.first() } else { buffers.last() };
    if let Some(batch) = batch {
        let dwords = if s.random.one_in(2) {
            batch::store(s.random.pick(&addresses) + 256, 7).to_vec()
        } else {
            batch::any(&mut s.random, &addresses)
        };
        batch.write(&dwords);
    }
    fences(s, &mut args);
    args.buffers_ptr = s.list(0, &OBJECTS, &objects);
    args.buffer_count = objects.len() as u32;
    args.batch_start_offset = s.random.pick(&[0, 0, 0, 0, 8, 4]);
    args.batch_len = s.random.pick(&[0, 0, 0, 64, 7, 1 << 20]);
    args.rsvd1 = u64::from(s.context());
    if s.random.one_in(20) {
        args.flags ^= 1 << s.random.below(64);
        args.buffer_count = s.mostly(u64::from(args.buffer_count)) as u32;
        args.dr1 = s.mostly(0) as u32;
        args.dr4 = s.mostly(0) as u32;
    }
    if s.send("execbuffer", ioctl::GEM_EXECBUFFER2_WR, &mut args) == 0 && args.flags & exec::FENCE_OUT != 0 {
        let fd = (args.rsvd2 >> 32) as u32;
        // Without `_IOC_READ` a descriptor is created but not returned.
        if fd > 2 && fd < 1 << 20 {
            s.descriptors.add(fd);
        }
    }
}

fn fences(s: &mut Sender<'_>, args: &mut ExecBuffer2) {
    if s.descriptors.has_room() && s.random.one_in(4) {
        args.flags |= exec::FENCE_OUT;
    }
    if s.random.one_in(4) {
        args.flags |= s.random.pick(&[exec::FENCE_IN, exec::FENCE_SUBMIT]);
        args.rsvd2 |= u64::from(s.descriptors.pick(&mut s.random));
    }
    let count = s.random.below(3) as usize;
    let list: Vec<ExecFence> = (0..count)
        .map(|_| {
            let flags = 1 + s.random.below(2);
            ExecFence { handle: s.sync_objects.pick(&mut s.random), flags: s.mostly(flags) as u32 }
        })
        .collect();
    match s.random.below(6) {
        0 => {
            args.flags |= exec::FENCE_ARRAY;
            args.cliprects_ptr = s.list(2, &BYTES, &list);
            args.num_cliprects = count as u32;
        }
        1 => {
            let points: Vec<u64> = list.iter().map(|_| s.random.below(20)).collect();
            let mut lists = bytemuck::cast_slice::<u64, u8>(&points).to_vec();
            lists.extend(bytemuck::cast_slice::<ExecFence, u8>(&list));
            let values_ptr = s.list(2, &BYTES, &lists);
            let timeline = ExecTimelineFences {
                base: extension(s, 0, 0),
                fence_count: count as u64,
                handles_ptr: values_ptr.wrapping_add(8 * count as u64),
                values_ptr,
            };
            args.flags |= exec::USE_EXTENSIONS;
            args.cliprects_ptr = s.list(3, &TIMELINES, &[timeline]);
        }
        _ => {}
    }
}
