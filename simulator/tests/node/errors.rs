//! Error numbers are those of the kernel.

use gencl_i915::{
    ContextId, Engine, Errno, ExecBuffer, ExecFlags, ExecObject, GemHandle, ObjectFlags, Relocation,
    RenderNode, Result,
};
use gencl_simulator::{Settings, Simulator};

use crate::setup::{Buffer, CONTEXT, END, exec, simulator, unplaced};

const NONE: GemHandle = GemHandle(99);

fn errno<T>(result: Result<T>) -> i32 {
    result.err().map_or(0, |Errno(number)| number)
}

#[test]
fn private_buffers_are_mapped_and_cannot_be_exported() {
    let settings = Settings { workers: 1, shared: false, ..Settings::default() };
    let node = Simulator::with_settings("skl", settings).unwrap();
    for size in [4096, 1 << 20, (5 << 20) + 4096] {
        let handle = node.gem_create(size).unwrap();
        assert_eq!(errno(node.gem_export(handle)), libc::ENODEV);
        let [a, b] = [(); 2].map(|()| node.gem_map(handle).unwrap());
        assert_eq!((a.len() as u64, b.len() as u64), (size, size));
        node.gem_close(handle).unwrap();
        // Mappings outlive the handle, and are of one memory.
        let last = a.len() - 1;
        let mut found = [1; 2];
        b.read(last - 1, &mut found);
        assert_eq!(found, [0, 0]);
        a.write(last, &[7]);
        b.read(last - 1, &mut found);
        assert_eq!(found, [0, 7]);
        assert!(size < 1 << 20 || a.address().addr().is_multiple_of(2 << 20), "no room for huge pages");
    }
}

#[test]
fn buffers() {
    let node = simulator();
    assert_eq!(errno(node.gem_create(0)), libc::EINVAL);
    assert_eq!(errno(node.gem_create(u64::MAX)), libc::EINVAL, "0 when it is rounded up");
    assert_eq!(errno(node.gem_create(1 << 46)), libc::E2BIG);
    assert_eq!(errno(node.gem_create(1 << 42)), libc::ENOMEM);
    assert_eq!(errno(node.gem_close(NONE)), libc::EINVAL);
    assert_eq!(errno(node.gem_close(GemHandle(0))), libc::EINVAL);
    assert_eq!(errno(node.gem_map(NONE)), libc::ENOENT);
    assert_eq!(errno(node.gem_busy(NONE)), libc::ENOENT);
    assert_eq!(errno(node.gem_wait(NONE, 0)), libc::ENOENT);
    let handle = node.gem_create(1).unwrap();
    assert_eq!(node.gem_map(handle).unwrap().len(), 4096);
    let map = node.gem_map(handle).unwrap();
    node.gem_close(handle).unwrap();
    assert_eq!(errno(node.gem_close(handle)), libc::EINVAL);
    // The mapping outlives the handle, which is given out again.
    // SAFETY: within the mapping.
    unsafe { map.address().write(1) };
    assert_eq!(node.gem_create(4096).unwrap(), handle);
}

#[test]
fn userptr_buffers() {
    let node = simulator();
    let mut memory = memmap2::MmapMut::map_anon(8192).unwrap();
    let address = memory.as_mut_ptr();
    // SAFETY: refused, or closed before the memory is unmapped.
    unsafe {
        assert_eq!(errno(node.gem_userptr(address, 0)), libc::EINVAL);
        assert_eq!(errno(node.gem_userptr(address, 4097)), libc::EINVAL);
        assert_eq!(errno(node.gem_userptr(address.add(16), 4096)), libc::EINVAL);
        let handle = node.gem_userptr(address, 8192).unwrap();
        assert_eq!(errno(node.gem_map(handle)), libc::ENODEV);
        let batch = Buffer::new(&node, 0x1000, 4096);
        batch.write(0, &[0x1000_0002, 0x1_1004, 0, 5, END]);
        let pinned = ObjectFlags::PINNED | ObjectFlags::SUPPORTS_48B_ADDRESS;
        let user = ExecObject { offset: 0x1_0000, flags: pinned, ..unplaced(handle) };
        exec(&node, CONTEXT, &mut [user, batch.object()]).unwrap();
        node.gem_wait(handle, -1).unwrap();
        node.gem_close(handle).unwrap();
    }
    assert_eq!(memory[4096..4104], [0, 0, 0, 0, 5, 0, 0, 0]);
}

#[test]
fn contexts() {
    let node = simulator();
    let none = ContextId(7);
    assert_eq!(errno(node.context_destroy(none)), libc::ENOENT);
    assert_eq!(errno(node.context_destroy(ContextId(0))), libc::ENOENT);
    assert_eq!(errno(node.reset_stats(none)), libc::ENOENT);
    assert_eq!(errno(node.context_get_param(none, 3)), libc::ENOENT);
    assert_eq!(errno(node.context_get_param(CONTEXT, 77)), libc::EINVAL);
    assert_eq!(errno(node.context_set_param(CONTEXT, 3, 1)), libc::EINVAL);
    assert_eq!(errno(node.context_set_param(CONTEXT, 5, 0)), libc::EPERM);
    assert_eq!(errno(node.context_set_param(CONTEXT, 6, 1)), libc::EPERM);
    assert_eq!(errno(node.context_set_param(CONTEXT, 6, 1024)), libc::EINVAL);
    assert_eq!(errno(node.context_set_param(CONTEXT, 6, -1024i64 as u64)), libc::EINVAL);
    node.context_set_param(CONTEXT, 6, -7i64 as u64).unwrap();
    assert_eq!(node.context_get_param(CONTEXT, 6), Ok(-7i64 as u64));
    assert_eq!(node.context_get_param(CONTEXT, 3), Ok(1 << 48));
    let context = node.context_create().unwrap();
    assert_ne!(context, CONTEXT);
    node.context_destroy(context).unwrap();
    assert_eq!(errno(node.context_destroy(context)), libc::ENOENT);
    let batch = Buffer::new(&node, 0x1000, 4096);
    assert_eq!(errno(exec(&node, context, &mut [batch.object()])), libc::ENOENT);
}

/// Queues an empty batch after changing the request or its only object.
fn exec_with(node: &Simulator, change: impl FnOnce(&mut ExecBuffer<'_>)) -> Result<()> {
    let handle = node.gem_create(8192).unwrap();
    node.gem_map(handle).map(|map| assert_eq!(map.len(), 8192)).unwrap();
    let batch = Buffer::new(node, 0x10_0000, 8192);
    batch.write(0, &[END, 0, END, 0]);
    let mut objects = [unplaced(handle), batch.object()];
    let mut exec = ExecBuffer {
        context: CONTEXT,
        engine: Engine::Render,
        flags: ExecFlags::empty(),
        objects: &mut objects,
        batch_start: 0,
        batch_length: 0,
        awaited: false,
    };
    change(&mut exec);
    let result = node.exec_buffer(&mut exec);
    node.gem_wait(batch.handle, -1).unwrap();
    assert_eq!(node.error_state(CONTEXT), None);
    result
}

/// A valid relocation of the first object: at 8, to the batch.
fn relocation() -> Relocation {
    let (target, delta, offset) = (1, 0, 8);
    Relocation { target, delta, offset, presumed_offset: 0, read_domains: 2, write_domain: 2 }
}

#[test]
fn arguments_of_execbuffer() {
    let node = &simulator();
    let refused = |change: fn(&mut ExecBuffer<'_>)| errno(exec_with(node, change));
    assert_eq!(refused(|_| {}), 0);
    assert_eq!(refused(|exec| exec.batch_start = 8), 0);
    assert_eq!(refused(|exec| exec.batch_length = 8), 0);
    assert_eq!(refused(|exec| exec.batch_start = 4), libc::EINVAL);
    assert_eq!(refused(|exec| exec.batch_length = 12), libc::EINVAL);
    assert_eq!(refused(|exec| exec.batch_start = 8192), libc::EINVAL);
    assert_eq!(refused(|exec| (exec.batch_start, exec.batch_length) = (8, 8192)), libc::EINVAL);
    assert_eq!(refused(|exec| exec.objects = &mut []), libc::EINVAL);
    assert_eq!(refused(|exec| exec.flags = ExecFlags::from_bits_retain(1 << 60)), libc::EINVAL);
    assert_eq!(refused(|exec| exec.context = ContextId(5)), libc::ENOENT);
}

#[test]
fn objects_of_execbuffer() {
    let node = &simulator();
    let refused = |change: fn(&mut [ExecObject])| errno(exec_with(node, |exec| change(exec.objects)));
    assert_eq!(refused(|objects| objects[0].handle = NONE), libc::ENOENT);
    assert_eq!(refused(|objects| objects[0] = objects[1].clone()), 0, "named twice");
    assert_eq!(refused(|objects| objects[0].alignment = 3 * 4096), libc::EINVAL);
    assert_eq!(refused(|objects| objects[0].alignment = 1 << 20), 0);
    assert_eq!(refused(|objects| objects[0].flags = ObjectFlags::from_bits_retain(1 << 40)), libc::EINVAL);
    assert_eq!(refused(|objects| objects[0].flags = ObjectFlags::from_bits_retain(2)), libc::EINVAL);
    assert_eq!(refused(|objects| objects[1].flags |= ObjectFlags::WRITE), libc::EINVAL);
    assert_eq!(refused(|objects| objects[0].flags |= ObjectFlags::WRITE | ObjectFlags::CAPTURE), 0);
}

#[test]
fn fixed_addresses() {
    let node = &simulator();
    let at = |offset: u64, flags: ObjectFlags| {
        errno(exec_with(node, |exec| {
            exec.objects[0].offset = offset;
            exec.objects[0].flags = flags | ObjectFlags::PINNED;
        }))
    };
    let (low, high) = (ObjectFlags::empty(), ObjectFlags::SUPPORTS_48B_ADDRESS);
    assert_eq!(at(0x20_0000, low), 0);
    assert_eq!(at(0x20_0010, low), libc::EINVAL);
    assert_eq!(at(0x1_0000_0000, low), libc::EINVAL);
    assert_eq!(at(0xffff_e000, low), libc::EINVAL, "the last page below 4 GiB is not used");
    assert_eq!(at(0x1_0000_0000, high), 0);
    // 48 bits, sign-extended.
    assert_eq!(at(0x8000_0000_0000, high), libc::EINVAL);
    assert_eq!(at(0xffff_8000_0000_0000, high), 0);
    assert_eq!(at(0xffff_ffff_ffff_e000, high), 0);
    assert_eq!(at(0xffff_ffff_ffff_f000, high), libc::EINVAL, "two pages do not fit");
    assert_eq!(at(0x10_0000, high), libc::ENOSPC, "where the batch is");
    assert_eq!(at(0x0f_f000, high), libc::ENOSPC, "overlaps the batch");
    assert_eq!(at(0x0f_e000, high), 0, "just before it");
}

#[test]
fn all_contexts_of_gen7_share_two_gigabytes() {
    let node = &Simulator::new("hsw").unwrap();
    assert_eq!(node.context_get_param(CONTEXT, 3), Ok(1 << 31));
    assert_eq!(errno(node.context_set_param(CONTEXT, 6, -1i64 as u64)), libc::ENODEV);
    let at = |offset: u64| {
        errno(exec_with(node, |exec| {
            exec.objects[0].offset = offset;
            exec.objects[0].flags = ObjectFlags::PINNED | ObjectFlags::SUPPORTS_48B_ADDRESS;
        }))
    };
    assert_eq!(at(0x7fff_e000), 0);
    assert_eq!(at(0x7fff_f000), libc::EINVAL, "two pages do not fit");
    assert_eq!(at(0x8000_0000), libc::EINVAL);
    // A buffer has the same address in all contexts of an address space.
    let (buffer, batch) = (node.gem_create(4096).unwrap(), Buffer::new(node, 0, 4096));
    batch.write(0, &[END]);
    let placed = |context| {
        let mut objects = [unplaced(buffer), unplaced(batch.handle)];
        exec(node, context, &mut objects).unwrap();
        [objects[0].offset, objects[1].offset]
    };
    let other = node.context_create().unwrap();
    let first = placed(CONTEXT);
    assert_ne!(first[0], first[1]);
    assert_eq!(placed(other), first);
}

#[test]
fn relocations_have_the_size_of_addresses() {
    let node = &Simulator::new("ivb").unwrap();
    let refused = |offset: u64| {
        errno(exec_with(node, |exec| {
            exec.flags = ExecFlags::HANDLE_LUT;
            exec.objects[1].flags = ObjectFlags::empty();
            exec.objects[0].relocations.push(Relocation { offset, ..relocation() });
        }))
    };
    assert_eq!(refused(8188), 0);
    assert_eq!(refused(8190), libc::EINVAL);
    assert_eq!(refused(8192), libc::EINVAL);
}

#[test]
fn relocations_of_execbuffer() {
    let node = &simulator();
    let refused = |change: fn(&mut Relocation)| {
        errno(exec_with(node, |exec| {
            exec.flags = ExecFlags::HANDLE_LUT;
            let mut entry = relocation();
            change(&mut entry);
            exec.objects[0].relocations.push(entry);
        }))
    };
    assert_eq!(refused(|_| {}), 0);
    assert_eq!(refused(|entry| entry.target = 2), libc::ENOENT);
    assert_eq!(refused(|entry| entry.offset = 8184), 0);
    assert_eq!(refused(|entry| entry.offset = 8188), libc::EINVAL);
    assert_eq!(refused(|entry| entry.offset = u64::MAX), libc::EINVAL);
    assert_eq!(refused(|entry| entry.offset = 9), libc::EINVAL);
    assert_eq!(refused(|entry| entry.write_domain = 6), libc::EINVAL);
    assert_eq!(refused(|entry| entry.read_domains = 1), libc::EINVAL);
}
