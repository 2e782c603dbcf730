//! Hangs and faults of batches: what is reported, and which batches continue.

use std::time::{Duration, Instant};

use gencl_i915::{ContextId, Errno, RenderNode, uapi::context_param};

use crate::kernels::WRITE_IDS;
use crate::setup::{Buffer, CONTEXT, Launch, Machine, exec, simulator, with_short_hang_limit};

const LOOP: &str = "
    mov(8) g3<1>UD 0UD { align1 1Q };
    L0:
    add(8) g3<1>UD g3<8,8,1>UD 1UD { align1 1Q };
    jmpi(1) JIP: L0 { align1 WE_all 1N };";

/// A store outside of all buffers, by lane 5 only.
const WILD: &str = "
    mov(8) g3<1>UD g2<8,8,1>UW                        { align1 1Q };
    mov(8) g5<1>UQ g1<0,1,0>UQ                        { align1 1Q };
    cmp.e.f0.0(8) null<1>UD g3<8,8,1>UD 5UD           { align1 1Q };
    (+f0.0) mov(8) g5<1>UQ g1.1<0,1,0>UQ              { align1 1Q };
    mov(8) g7<1>UD g3<8,8,1>UD                        { align1 1Q };
    send(8) null<1>UW g5<8,8,1>UD 0x06066eff
        dp data 1 MsgDesc: mlen 3 rlen 0              { align1 1Q };";

#[test]
fn an_endless_loop_is_stopped_and_other_contexts_continue() {
    let machine = Machine::new(with_short_hang_limit());
    let other = machine.node.context_create().unwrap();
    let begin = Instant::now();
    let commands = machine.launch(&Launch { kernel: LOOP, ..Launch::default() });
    machine.start(CONTEXT, &[&commands]).unwrap();
    // Another context works while the first hangs.
    let (batch, data) = (Buffer::new(&machine.node, 0x1000, 4096), Buffer::new(&machine.node, 0x2000, 4096));
    batch.write(0, &[0x1000_0002, 0x2000, 0, 77, crate::setup::END]);
    exec(&machine.node, other, &mut [data.object(), batch.object()]).unwrap();
    machine.node.gem_wait(batch.handle, -1).unwrap();
    assert_eq!(data.read(0, 1), [77]);
    assert!(machine.node.gem_busy(machine.batch.handle).unwrap(), "still hanging");
    assert_eq!(machine.node.gem_wait(machine.batch.handle, 1_000_000), Err(Errno(libc::ETIME)));
    machine.node.gem_wait(machine.batch.handle, -1).unwrap();
    let time = begin.elapsed();
    assert!(time >= Duration::from_millis(100) && time < Duration::from_secs(5), "{time:?}");
    let stats = |context| machine.node.reset_stats(context).unwrap();
    assert_eq!((stats(CONTEXT).batch_active, stats(CONTEXT).reset_count), (1, 1));
    assert_eq!((stats(other).batch_active, stats(other).batch_pending), (0, 0));
    let error = machine.error().unwrap();
    for text in ["never ends", "kernel offset", "work-group (0, 0, 0)", "command GPGPU_WALKER"] {
        assert!(error.contains(text), "{error:?} does not say {text:?}");
    }
    assert_eq!(machine.node.error_state(other), None);
}

#[test]
fn a_context_that_hangs_once_can_continue() {
    let machine = Machine::new(with_short_hang_limit());
    machine.run_kernel(&Launch { kernel: LOOP, ..Launch::default() }).unwrap();
    assert!(machine.error().is_some());
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, ..Launch::default() }).unwrap();
    assert_eq!(machine.data.read(0, 4), [0, 1, 2, 3]);
    assert_eq!(machine.node.reset_stats(CONTEXT).unwrap().batch_active, 1);
}

#[test]
fn three_hangs_ban_a_context() {
    let machine = Machine::new(simulator());
    let launch = Launch { kernel: WILD, ..Launch::default() };
    for _ in 0..3 {
        machine.run_kernel(&launch).unwrap();
    }
    assert_eq!(machine.run_kernel(&launch), Err(Errno(libc::EIO)));
    assert_eq!(machine.node.reset_stats(CONTEXT).unwrap().batch_active, 3);
    let other = machine.node.context_create().unwrap();
    machine.start(other, &[]).unwrap();
}

#[test]
fn a_context_that_is_not_recoverable_is_banned_at_once() {
    let machine = Machine::new(simulator());
    let context = machine.node.context_create().unwrap();
    machine.node.context_set_param(context, context_param::RECOVERABLE, 0).unwrap();
    let commands = machine.launch(&Launch { kernel: WILD, ..Launch::default() });
    machine.start(context, &[&commands]).unwrap();
    machine.node.gem_wait(machine.batch.handle, -1).unwrap();
    assert_eq!(machine.start(context, &[]), Err(Errno(libc::EIO)));
}

#[test]
fn batches_behind_a_hang_are_dropped_when_it_bans() {
    let machine = Machine::new(with_short_hang_limit());
    let context = machine.node.context_create().unwrap();
    machine.node.context_set_param(context, context_param::RECOVERABLE, 0).unwrap();
    let commands = machine.launch(&Launch { kernel: LOOP, ..Launch::default() });
    machine.start(context, &[&commands]).unwrap();
    let batch = Buffer::new(&machine.node, 0x1000, 4096);
    let data = Buffer::new(&machine.node, 0x2000, 4096);
    batch.write(0, &[0x1000_0002, 0x2000, 0, 77, crate::setup::END]);
    exec(&machine.node, context, &mut [data.object(), batch.object()]).unwrap();
    machine.node.gem_wait(batch.handle, -1).unwrap();
    assert_eq!(data.read(0, 1), [0], "the second batch has not been executed");
    assert_eq!(machine.node.reset_stats(context).unwrap().batch_active, 1, "only the first was active");
}

#[test]
fn a_wild_store_is_reported_with_its_address() {
    let machine = Machine::new(simulator());
    let mut cross_thread = Launch::default().cross_thread;
    (cross_thread[2], cross_thread[3]) = (0xdead_0000, 0x12);
    machine.run_kernel(&Launch { kernel: WILD, cross_thread, ..Launch::default() }).unwrap();
    let error = machine.error().unwrap();
    for text in
        ["page fault: write at 0x12dead0000", "kernel offset 0x50", "send", "lane 5", "work-group (0, 0, 0)"]
    {
        assert!(error.contains(text), "{error:?} does not say {text:?}");
    }
    assert_eq!(machine.node.reset_stats(ContextId(0)).unwrap().batch_active, 1);
}

#[test]
fn the_fault_of_the_first_work_group_is_reported() {
    let machine = Machine::new(simulator());
    // Writes 16 KiB from 4 KiB before the end of the buffer on: group 64 is the first beyond it.
    let mut cross_thread = Launch::default().cross_thread;
    cross_thread[0] += 0x40_0000 - 0x1000;
    let launch = Launch { kernel: WRITE_IDS, threads: 2, groups: 100_000, cross_thread, ..Launch::default() };
    machine.run_kernel(&launch).unwrap();
    let error = machine.error().unwrap();
    assert!(error.contains("work-group (64, 0, 0)") && error.contains("0x700020400000"), "{error}");
}

#[test]
fn dropping_the_node_stops_its_batches() {
    let machine = Machine::new(simulator());
    let commands = machine.launch(&Launch { kernel: LOOP, ..Launch::default() });
    machine.start(CONTEXT, &[&commands]).unwrap();
    machine.start(CONTEXT, &[&commands]).unwrap();
    let begin = Instant::now();
    drop(machine);
    assert!(begin.elapsed() < Duration::from_secs(5));
}
