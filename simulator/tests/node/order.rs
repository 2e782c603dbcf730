//! Placement, relocation, and the order of batches.

use gencl_i915::{
    Engine, Errno, ExecBuffer, ExecFlags, ExecObject, ObjectFlags, Relocation, RenderNode, uapi,
};

use crate::setup::{Buffer, CONTEXT, END, Launch, Machine, exec, simulator, unplaced};

#[test]
fn relocated_batches_find_their_data() {
    let node = simulator();
    let (data, batch) = (Buffer::new(&node, 0, 4096), Buffer::new(&node, 0, 4096));
    batch.write(0, &[0x1000_0002, 0, 0, 42, END]);
    for lut in [false, true] {
        let target = if lut { 1 } else { data.handle.0 };
        let mut objects = [unplaced(batch.handle), unplaced(data.handle)];
        objects[0].relocations.push(Relocation {
            target,
            delta: if lut { 8 } else { 4 },
            offset: 4,
            presumed_offset: u64::MAX,
            read_domains: 2,
            write_domain: 2,
        });
        let flags = if lut { ExecFlags::HANDLE_LUT } else { ExecFlags::empty() } | ExecFlags::BATCH_FIRST;
        let engine = Engine::Render;
        let mut exec = ExecBuffer {
            context: CONTEXT,
            engine,
            flags,
            objects: &mut objects,
            batch_start: 0,
            batch_length: 0,
            awaited: false,
        };
        node.exec_buffer(&mut exec).unwrap();
        node.gem_wait(data.handle, -1).unwrap();
        assert_eq!(node.error_state(CONTEXT), None);
        assert_eq!(objects[0].relocations[0].presumed_offset, objects[1].offset);
        assert_ne!(objects[0].offset, objects[1].offset);
    }
    assert_eq!(data.read(0, 3), [0, 42, 42]);
}

#[test]
fn buffers_stay_where_they_were_placed() {
    let node = simulator();
    let (first, second, batch) =
        (Buffer::new(&node, 0, 4096), Buffer::new(&node, 0, 65536), Buffer::new(&node, 0, 4096));
    batch.write(0, &[END]);
    let mut objects = [unplaced(first.handle), unplaced(second.handle), unplaced(batch.handle)];
    objects[1].alignment = 65536;
    exec(&node, CONTEXT, &mut objects).unwrap();
    let placed: Vec<u64> = objects.iter().map(|o| o.offset).collect();
    assert!(placed.iter().all(|offset| *offset != 0 && offset % 4096 == 0), "{placed:x?}");
    assert_eq!(placed[1] % 65536, 0);
    // In another order, with nothing presumed.
    let mut objects = [unplaced(second.handle), unplaced(first.handle), unplaced(batch.handle)];
    exec(&node, CONTEXT, &mut objects).unwrap();
    assert_eq!(objects.map(|o| o.offset), [placed[1], placed[0], placed[2]]);
}

#[test]
fn buffers_that_are_not_listed_cannot_be_accessed() {
    let node = simulator();
    let (data, batch) = (Buffer::new(&node, 0x10_0000, 4096), Buffer::new(&node, 0x1000, 4096));
    batch.write(0, &[0x1000_0002, 0x10_0000, 0, 42, END]);
    exec(&node, CONTEXT, &mut [data.object(), batch.object()]).unwrap();
    node.gem_wait(batch.handle, -1).unwrap();
    assert_eq!(node.error_state(CONTEXT), None);
    exec(&node, CONTEXT, &mut [batch.object()]).unwrap();
    node.gem_wait(batch.handle, -1).unwrap();
    let error = node.error_state(CONTEXT).unwrap().text;
    assert!(error.contains("page fault: write at 0x100000\ncommand MI_STORE_DATA_IMM"), "{error}");
}

/// `EXEC_OBJECT_PAD_TO_SIZE`: loads behind the buffer find zeros, and nothing else is placed there.
#[test]
fn padding_reads_as_zeros() {
    let node = simulator();
    let (data, batch) = (Buffer::new(&node, 0x10_0000, 4096), Buffer::new(&node, 0x1000, 4096));
    let run = |to: u32, from: u32, flags: ObjectFlags, pad_to_size: u64| {
        // MI_COPY_MEM_MEM
        batch.write(0, &[0x1700_0003, to, 0, from, 0, END]);
        data.write(0, &[7, 7]);
        let padded = data.object();
        let padded = ExecObject { flags: padded.flags | flags, pad_to_size, ..padded };
        exec(&node, CONTEXT, &mut [padded, batch.object()]).unwrap();
        node.gem_wait(batch.handle, -1).unwrap();
        data.read(0, 2)
    };
    let flag = ObjectFlags::PAD_TO_SIZE;
    assert_eq!(run(0x10_0000, 0x10_1000, flag, 8192), [0, 7]);
    assert_eq!(run(0x10_0000, 0x10_1ffc, flag, 8192), [0, 7]);
    assert_eq!(node.error_state(CONTEXT), None);
    assert_eq!(run(0x10_0000, 0x10_2000, flag, 8192), [7, 7]);
    let error = node.error_state(CONTEXT).unwrap();
    assert_eq!(error.place.address, Some(0x10_2000));
    run(0x10_1000, 0x10_0000, flag, 8192);
    assert!(node.error_state(CONTEXT).unwrap().text.contains("page fault: write at 0x101000"));
}

#[test]
fn the_address_of_a_freed_buffer_is_reused() {
    let node = simulator();
    let batch = Buffer::new(&node, 0, 4096);
    batch.write(0, &[END]);
    let place = || {
        let handle = node.gem_create(4096).unwrap();
        let mut objects = [handle, batch.handle].map(unplaced);
        objects[0].offset = 0x20_0000;
        exec(&node, CONTEXT, &mut objects).unwrap();
        node.gem_wait(batch.handle, -1).unwrap();
        (handle, objects[0].offset)
    };
    let (first, second) = (place(), place());
    assert_eq!(first.1, 0x20_0000);
    assert_ne!(second.1, 0x20_0000);
    node.gem_close(first.0).unwrap();
    assert_eq!(place().1, 0x20_0000);
}

#[test]
fn padding_reserves_addresses() {
    let node = simulator();
    let (first, second, batch) =
        (Buffer::new(&node, 0, 4096), Buffer::new(&node, 0, 4096), Buffer::new(&node, 0, 4096));
    batch.write(0, &[END]);
    let mut objects = [first.handle, second.handle, batch.handle].map(unplaced);
    (objects[0].flags, objects[0].pad_to_size) = (ObjectFlags::PAD_TO_SIZE, 4 * 4096);
    // Without the flag a size has no meaning.
    objects[1].pad_to_size = 5;
    exec(&node, CONTEXT, &mut objects).unwrap();
    let places = [0, 1, 2].map(|index| objects[index].offset);
    assert!(places[1] >= places[0] + 4 * 4096 || places[1] + 4096 <= places[0], "{places:x?}");
    assert!(places[2] >= places[0] + 4 * 4096 || places[2] + 4096 <= places[0], "{places:x?}");
    // Fixed places within it are refused.
    for (offset, result) in [(0x10_4000, Ok(())), (0x10_3000, Err(Errno(28)))] {
        let mut objects = [first.handle, second.handle, batch.handle].map(unplaced);
        objects[0].flags = ObjectFlags::PAD_TO_SIZE | ObjectFlags::PINNED;
        (objects[0].offset, objects[0].pad_to_size) = (0x10_0000, 4 * 4096);
        (objects[1].flags, objects[1].offset) = (ObjectFlags::PINNED, offset);
        let context = node.context_create().unwrap();
        assert_eq!(exec(&node, context, &mut objects), result, "{offset:#x}");
    }
}

#[test]
fn a_buffer_closed_while_in_use_exists_until_the_batch_ends() {
    let machine = Machine::new(simulator());
    let handle = machine.node.gem_create(4096).unwrap();
    let map = machine.node.gem_map(handle).unwrap();
    // Waits until the last dword of the data buffer is 1, then stores.
    let flag = machine.data.address + 0x3f_fffc;
    let commands = [
        &[0x0e00_8002 | 4 << 12, 1, flag as u32, (flag >> 32) as u32][..],
        &[0x1000_0002, 0x5000, 0, 9, END],
    ]
    .concat();
    machine.batch.write(0, &commands);
    let mut object = unplaced(handle);
    object.offset = 0x5000;
    object.flags = ObjectFlags::PINNED;
    let mut objects = machine.objects();
    objects.insert(0, object);
    exec(&machine.node, CONTEXT, &mut objects).unwrap();
    machine.node.gem_close(handle).unwrap();
    assert!(machine.node.gem_busy(machine.data.handle).unwrap());
    machine.data.write(0x3f_fffc, &[1]);
    machine.node.gem_wait(machine.data.handle, -1).unwrap();
    assert_eq!(machine.error(), None);
    // SAFETY: within the mapping; the batch is done.
    assert_eq!(unsafe { map.address().read() }, 9);
}

#[test]
fn contexts_wait_for_each_others_writes() {
    let machine = Machine::new(simulator());
    let other = machine.node.context_create().unwrap();
    let shared = Buffer::new(&machine.node, 0x40_0000, 4096);
    let go = Buffer::new(&machine.node, 0x50_0000, 4096);
    // The first waits for a signal and writes 1; the second, in another context, copies what it finds.
    let first = Buffer::new(&machine.node, 0x1000, 4096);
    first.write(0, &[0x0e00_8002 | 4 << 12, 1, 0x50_0000, 0, 0x1000_0002, 0x40_0000, 0, 1, END]);
    let second = Buffer::new(&machine.node, 0x2000, 4096);
    second.write(0, &[0x1700_0003, 0x40_0004, 0, 0x40_0000, 0, END]);
    let mut written = shared.object();
    written.flags |= ObjectFlags::WRITE;
    exec(&machine.node, CONTEXT, &mut [written.clone(), go.object(), first.object()]).unwrap();
    exec(&machine.node, other, &mut [written, second.object()]).unwrap();
    assert!(machine.node.gem_busy(second.handle).unwrap());
    go.write(0, &[1]);
    machine.node.gem_wait(second.handle, -1).unwrap();
    assert_eq!(shared.read(0, 2), [1, 1]);
}

#[test]
fn batches_of_a_context_run_in_order() {
    let node = simulator();
    let data = Buffer::new(&node, 0x10_0000, 4096);
    let batches: Vec<Buffer> = (0..200).map(|i| Buffer::new(&node, 0x100_0000 + 0x1000 * i, 4096)).collect();
    for (index, batch) in batches.iter().enumerate() {
        // Copies the counter's last place to the next, and adds nothing: the chain breaks if one is early.
        let at = 0x10_0000 + 4 * index as u32;
        batch.write(0, &[0x1700_0003, at + 4, 0, at, 0, END]);
    }
    data.write(0, &[0xabcd]);
    for batch in &batches {
        exec(&node, CONTEXT, &mut [data.object(), batch.object()]).unwrap();
    }
    node.gem_wait(data.handle, -1).unwrap();
    assert_eq!(data.read(800, 1), [0xabcd]);
}

#[test]
fn state_persists_between_batches_of_one_context_only() {
    let machine = Machine::new(simulator());
    // Register 0x2600 keeps its value in the context.
    machine.run(&[&[0x1100_0001, 0x2600, 5]]).unwrap();
    let store = [0x1200_0002, 0x2600, machine.data.address as u32, (machine.data.address >> 32) as u32];
    machine.run(&[&store]).unwrap();
    assert_eq!(machine.data.read(0, 1), [5]);
    let other = machine.node.context_create().unwrap();
    machine.start(other, &[&store]).unwrap();
    machine.node.gem_wait(machine.batch.handle, -1).unwrap();
    assert_eq!(machine.data.read(0, 1), [0]);
}

#[test]
fn registers_and_batches_have_the_same_clock() {
    let machine = Machine::new(simulator());
    let read = || machine.node.reg_read(uapi::TIMESTAMP_REGISTER | uapi::REG_READ_8B_WA).unwrap();
    let (low, high) = (machine.data.address as u32, (machine.data.address >> 32) as u32);
    let before = read();
    let stamp = [0x7a00_0004, 1 << 20 | 3 << 14, low, high, 0, 0];
    machine.run(&[&[0x1200_0002, 0x2358, low + 8, high], &stamp]).unwrap();
    let after = read();
    let data = machine.data.read(0, 3);
    let stored = u64::from(data[0]) | u64::from(data[1]) << 32;
    assert!(before <= stored && stored <= after, "{before} {stored} {after}");
    assert!(u64::from(data[2]) <= stored);
    assert_eq!(machine.node.reg_read(0x2354).unwrap_err().0, libc::EINVAL);
}

#[test]
fn nothing_is_launched_without_a_kernel_in_a_buffer() {
    let machine = Machine::new(simulator());
    let commands = machine.launch(&Launch::default());
    // The heap is not listed: neither state nor kernel can be read.
    machine.batch.write(0, &[&commands[..], &[END]].concat());
    exec(&machine.node, CONTEXT, &mut [machine.data.object(), machine.batch.object()]).unwrap();
    machine.node.gem_wait(machine.batch.handle, -1).unwrap();
    let error = machine.error().unwrap();
    assert!(error.contains("page fault: read at 0x1001000\ncommand MEDIA_CURBE_LOAD"), "{error}");
}
