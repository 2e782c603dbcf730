//! Launches of kernels in assembly on the simulator: the whole way but for the compiler.

mod setup;

use std::sync::Arc;

use gencl_runtime::{
    ArgumentValue, Buffer, Code, CommandKind, Event, EventStatus, HostAccess, HostMemory, Kernel, MapFlags,
    MemoryFlags, NdRange, ProfilingInfo, Queue, QueueFlags, Transfer,
};
use setup::{Setup, line};

/// The buffer's words, through a mapping.
fn words(setup: &Setup, buffer: &Arc<Buffer>) -> Vec<u32> {
    let size = buffer.size() as usize;
    let (memory, event) = setup.queue.map_buffer(buffer, MapFlags::READ, 0, size, &[]).unwrap();
    event.wait().unwrap();
    let mut bytes = vec![0; size];
    memory.read(0, &mut bytes);
    setup.queue.unmap_buffer(buffer, memory.address(), &[]).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn every_work_item_runs_once() {
    let setup = Setup::new();
    for (global, local) in
        [(64, Some(64)), (1024, None), (1000, Some(48)), (5, Some(16)), (20, Some(20)), (7, None)]
    {
        let buffer = setup.buffer(global as usize + 16);
        setup.launch(&setup.kernel("ids", Some(&buffer), 7), line(global, local)).wait().unwrap();
        let expected: Vec<u32> = (0..global as u32).map(|id| id + 7).chain([0; 16]).collect();
        assert_eq!(words(&setup, &buffer), expected, "{global} in {local:?}");
    }
}

#[test]
fn offsets_and_sub_buffers() {
    let setup = Setup::new();
    let buffer = setup.buffer(96);
    let part = buffer.sub_buffer(MemoryFlags::empty(), 128, 256).unwrap();
    let range = NdRange { offset: [8, 0, 0], ..line(16, Some(16)) };
    setup.launch(&setup.kernel("ids", Some(&part), 0), range).wait().unwrap();
    let expected: Vec<u32> =
        (0..96).map(|word| if (40..56).contains(&word) { word - 32 } else { 0 }).collect();
    assert_eq!(words(&setup, &buffer), expected);
}

#[test]
fn arguments_are_those_of_the_enqueue() {
    let setup = Setup::new();
    let gate = Event::user(&setup.context);
    let buffer = setup.buffer(16);
    let kernel = setup.kernel("ids", Some(&buffer), 100);
    let range = line(16, Some(16));
    let event =
        setup.queue.launch(CommandKind::NdRangeKernel, &kernel, &range, std::slice::from_ref(&gate)).unwrap();
    kernel.set_argument(1, ArgumentValue::Bytes(5u32.to_le_bytes().as_slice().into())).unwrap();
    assert_eq!(event.status(), EventStatus::Queued);
    gate.set_user_status(0).unwrap();
    event.wait().unwrap();
    assert_eq!(words(&setup, &buffer)[..2], [100, 101]);
}

#[test]
fn an_empty_space_completes() {
    let setup = Setup::new();
    setup.launch(&setup.kernel("ids", None, 0), line(0, None)).wait().unwrap();
}

#[test]
fn times_are_in_order() {
    let setup = Setup::new();
    let buffer = setup.buffer(4096);
    let event = setup.launch(&setup.kernel("ids", Some(&buffer), 0), line(4096, None));
    event.wait().unwrap();
    let times = [
        ProfilingInfo::Queued,
        ProfilingInfo::Submit,
        ProfilingInfo::Start,
        ProfilingInfo::End,
        ProfilingInfo::Complete,
    ]
    .map(|what| event.profile(what).unwrap());
    assert!(times.is_sorted(), "{times:?}");
    assert!(times[3] - times[0] < 60_000_000_000, "{times:?}");
}

#[test]
fn a_wild_pointer_fails_the_command_and_what_is_behind_it() {
    let setup = Setup::new();
    let buffer = setup.buffer(16);
    let bad = setup.launch(&setup.kernel("ids", None, 0), line(16, Some(16)));
    let after = setup.launch(&setup.kernel("ids", Some(&buffer), 3), line(16, Some(16)));
    let error = bad.wait().unwrap_err();
    assert_eq!(error.code, Code::ExecStatusErrorForEventsInWaitList);
    assert_eq!(bad.status(), EventStatus::Failed(Code::OutOfResources as i32));
    assert!(error.reason.contains("kernel ids, work-item (0, 0, 0)"), "{error}");
    let first = error.reason.lines().next().unwrap_or_default();
    assert!(first.ends_with("; build the program with -g for the source line"), "{error}");
    // What was behind it has been handed over with it, or comes later.
    after.wait().unwrap_err();
    assert_eq!(after.status(), EventStatus::Failed(Code::OutOfResources as i32));
    assert!(after.failure().unwrap().reason.contains("behind a command that failed: kernel ids"));
    setup.launch(&setup.kernel("ids", Some(&buffer), 3), line(16, Some(16))).wait().unwrap_err();
    assert_eq!(setup.queue.finish().unwrap_err(), bad.failure().unwrap());
    setup.queue.finish().unwrap();
    assert_eq!(words(&setup, &buffer)[15], 0);
    setup.launch(&setup.kernel("ids", Some(&buffer), 3), line(16, Some(16))).wait().unwrap();
    assert_eq!(words(&setup, &buffer)[15], 18);
}

#[test]
fn an_endless_kernel_is_stopped() {
    let setup = Setup::new();
    let buffer = setup.buffer(16);
    let endless = setup.launch(&setup.kernel("endless", None, 0), line(16, Some(16)));
    let dependent = setup
        .queue
        .launch(
            CommandKind::NdRangeKernel,
            &setup.kernel("ids", None, 0),
            &line(16, None),
            std::slice::from_ref(&endless),
        )
        .unwrap();
    assert!(endless.wait().unwrap_err().reason.contains("endless"));
    dependent.wait().unwrap_err();
    assert_eq!(dependent.status(), EventStatus::Failed(Code::ExecStatusErrorForEventsInWaitList as i32));
    setup.queue.finish().unwrap_err();
    setup.launch(&setup.kernel("ids", Some(&buffer), 3), line(16, Some(16))).wait().unwrap();
    assert_eq!(words(&setup, &buffer)[0], 3);
}

#[test]
fn launches_that_are_wrong_are_refused() {
    let setup = Setup::new();
    let kernel = Kernel::new(&setup.program, "ids").unwrap();
    let code = |range| setup.queue.launch(CommandKind::NdRangeKernel, &kernel, &range, &[]).unwrap_err().code;
    assert_eq!(code(line(16, None)), Code::InvalidKernelArgs);
    kernel.set_argument(0, ArgumentValue::Null).unwrap();
    let refused = |index, value| kernel.set_argument(index, value).unwrap_err().code;
    assert_eq!(refused(1, ArgumentValue::Bytes([0; 3].as_slice().into())), Code::InvalidArgSize);
    assert_eq!(refused(1, ArgumentValue::Local(4)), Code::InvalidArgValue);
    assert_eq!(refused(2, ArgumentValue::Local(4)), Code::InvalidArgIndex);
    kernel.set_argument(1, ArgumentValue::Bytes([0; 4].as_slice().into())).unwrap();
    assert_eq!(code(line(16, Some(2048))), Code::InvalidWorkItemSize);
    assert_eq!(code(NdRange { dimensions: 0, ..line(16, None) }), Code::InvalidWorkDimension);
    assert_eq!(Kernel::new(&setup.program, "none").unwrap_err().code, Code::InvalidKernelName);
}

#[test]
fn transfers_between_host_and_buffers() {
    let setup = Setup::new();
    let host = |size| HostMemory::zeros(size).unwrap();
    let (a, b) = (setup.buffer(64), setup.buffer(64));
    let (from, to) = (host(256), host(256));
    from.write(0, &(0..=255).collect::<Vec<u8>>());
    setup.queue.transfer_buffer(HostAccess::Write, &a, 0, &from, &[]).unwrap();
    let context = setup.queue.context();
    setup.queue.transfer(Transfer::copy_buffer(context, &a, 16, &b, 0, 128).unwrap(), &[]).unwrap();
    setup.queue.transfer(Transfer::fill_buffer(context, &b, &[0xaa, 0xbb], 4, 4).unwrap(), &[]).unwrap();
    setup.queue.transfer_buffer(HostAccess::Read, &b, 0, &to, &[]).unwrap().wait().unwrap();
    let mut bytes = [0; 10];
    to.read(0, &mut bytes);
    assert_eq!(bytes, [16, 17, 18, 19, 0xaa, 0xbb, 0xaa, 0xbb, 24, 25]);
    let code = |result: gencl_runtime::Result<Transfer>| result.unwrap_err().code;
    assert_eq!(code(Transfer::copy_buffer(context, &a, 0, &a, 16, 32)), Code::MemCopyOverlap);
    assert_eq!(code(Transfer::copy_buffer(context, &a, 250, &b, 0, 32)), Code::InvalidValue);
    assert_eq!(code(Transfer::fill_buffer(context, &a, &[1, 2, 3], 0, 3)), Code::InvalidValue);
}

#[test]
fn host_memory_is_used_or_copied() {
    let setup = Setup::new();
    let host = HostMemory::zeros(8192).unwrap();
    // Whole pages are the buffer's memory themselves; what is not, is copied when it is mapped.
    for memory in [host.clone(), host.slice(4, 1024)] {
        let flags = MemoryFlags::USE_HOST_PTR;
        let buffer = Buffer::new(&setup.context, flags, memory.len() as u64, Some(memory.clone())).unwrap();
        setup.launch(&setup.kernel("ids", Some(&buffer), 9), line(16, Some(16))).wait().unwrap();
        let words = words(&setup, &buffer);
        assert_eq!(words[..2], [9, 10]);
        let mut bytes = [0; 4];
        memory.read(4, &mut bytes);
        assert_eq!(u32::from_le_bytes(bytes), 10);
    }
}

#[test]
fn failures_pass_between_queues() {
    let setup = Setup::new();
    let other = Queue::new(&setup.context, setup.queue.device(), QueueFlags::empty()).unwrap();
    let gate = Event::user(&setup.context);
    let first = setup.queue.marker(std::slice::from_ref(&gate)).unwrap();
    let second = other.marker(std::slice::from_ref(&first)).unwrap();
    gate.set_user_status(-7).unwrap();
    assert_eq!(second.wait().unwrap_err().code, Code::ExecStatusErrorForEventsInWaitList);
    other.finish().unwrap();
    let forgotten = Event::user(&setup.context);
    let waiting = other.marker(std::slice::from_ref(&forgotten)).unwrap();
    forgotten.abandon();
    waiting.wait().unwrap_err();
    assert_eq!(second.profile(ProfilingInfo::End).unwrap_err().code, Code::ProfilingInfoNotAvailable);
}

#[test]
fn callbacks_come_in_order() {
    let setup = Setup::new();
    let gate = Event::user(&setup.context);
    let event = setup.queue.marker(std::slice::from_ref(&gate)).unwrap();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    for at in [0, 1, 2] {
        let seen = seen.clone();
        event.on_status(at, Box::new(move |status| seen.lock().unwrap().push(status.value())));
    }
    assert!(seen.lock().unwrap().is_empty());
    gate.set_user_status(0).unwrap();
    setup.queue.finish().unwrap();
    assert_eq!(*seen.lock().unwrap(), [2, 1, 0]);
}

#[test]
fn out_of_order_queues_do_not_wait_for_one_command() {
    let setup = Setup::new();
    let queue = Queue::new(&setup.context, setup.queue.device(), QueueFlags::OUT_OF_ORDER).unwrap();
    let gate = Event::user(&setup.context);
    let behind = queue.marker(std::slice::from_ref(&gate)).unwrap();
    let free = queue.nothing(CommandKind::MigrateMemObjects, &[]).unwrap();
    let all = queue.marker(&[]).unwrap();
    free.wait().unwrap();
    assert_eq!((behind.status(), all.status()), (EventStatus::Queued, EventStatus::Queued));
    let barrier = queue.barrier(std::slice::from_ref(&gate)).unwrap();
    let last = queue.nothing(CommandKind::MigrateMemObjects, &[]).unwrap();
    assert_eq!(last.status(), EventStatus::Queued);
    gate.set_user_status(0).unwrap();
    for event in [behind, all, barrier, last] {
        event.wait().unwrap();
    }
    queue.finish().unwrap();
}

/// Launches of several batches behind one that fails, in a queue with order and in one without: what depends
/// on it fails, the others run.
#[test]
fn launches_behind_a_fault_fail_or_run_in_order() {
    let setup = Setup::new();
    for flags in [QueueFlags::empty(), QueueFlags::OUT_OF_ORDER] {
        let queue = Queue::new(&setup.context, setup.queue.device(), flags).unwrap();
        let gate = Event::user(&setup.context);
        queue.barrier(std::slice::from_ref(&gate)).unwrap();
        let buffer = setup.buffer(16);
        let launch = |buffer: Option<&Arc<Buffer>>, value, size, waits: &[Arc<Event>]| {
            let (kernel, range) = (setup.kernel("ids", buffer, value), line(size, Some(size as u32)));
            queue.launch(CommandKind::NdRangeKernel, &kernel, &range, waits).unwrap()
        };
        let before = launch(Some(&buffer), 1, 16, &[]);
        let bad = launch(None, 0, 16, &[]);
        let dependent = launch(Some(&buffer), 1000, 16, std::slice::from_ref(&bad));
        let behind: Vec<_> = (0..200).map(|value| launch(Some(&buffer), value, 16, &[])).collect();
        let worse = launch(None, 0, 16, &[]);
        let last = launch(Some(&buffer), 300, 8, &[]);
        gate.set_user_status(0).unwrap();
        assert_eq!(queue.finish().unwrap_err(), bad.failure().unwrap());
        queue.finish().unwrap();
        before.wait().unwrap();
        let failed = |code: Code| EventStatus::Failed(code as i32);
        assert_eq!(
            (bad.status(), worse.status()),
            (failed(Code::OutOfResources), failed(Code::OutOfResources))
        );
        assert_eq!(dependent.status(), failed(Code::ExecStatusErrorForEventsInWaitList));
        let run = if flags.is_empty() { failed(Code::OutOfResources) } else { EventStatus::Complete };
        behind.iter().chain([&last]).for_each(|event| assert_eq!(event.status(), run));
        let value = |id: u32| match (flags.is_empty(), id < 8) {
            (true, _) => 1 + id,
            (false, true) => 300 + id,
            (false, false) => 199 + id,
        };
        assert_eq!(words(&setup, &buffer), (0..16).map(value).collect::<Vec<u32>>());
    }
}

/// Without order, a barrier depends on what is before it, and what is behind it on the barrier.
#[test]
fn barriers_pass_faults_on() {
    let setup = Setup::new();
    let queue = Queue::new(&setup.context, setup.queue.device(), QueueFlags::OUT_OF_ORDER).unwrap();
    let launch = |buffer: Option<&Arc<Buffer>>| {
        let kernel = setup.kernel("ids", buffer, 7);
        queue.launch(CommandKind::NdRangeKernel, &kernel, &line(16, Some(16)), &[]).unwrap()
    };
    let nothing = || queue.nothing(CommandKind::MigrateMemObjects, &[]).unwrap();
    launch(None).wait().unwrap_err();
    // It has to do with nothing.
    nothing().wait().unwrap();
    assert!(queue.marker(&[]).unwrap().wait().unwrap_err().fault);
    let barrier = queue.barrier(&[]).unwrap();
    let (behind, copy) = (launch(Some(&setup.buffer(16))), nothing());
    for event in [&barrier, &behind, &copy] {
        assert!(event.wait().unwrap_err().fault);
    }
    queue.finish().unwrap_err();
    nothing().wait().unwrap();
    queue.marker(&[]).unwrap().wait().unwrap();
    queue.finish().unwrap();
    // Only what the barrier waits for counts.
    let bad = launch(None);
    bad.wait().unwrap_err();
    queue.barrier(&[nothing()]).unwrap().wait().unwrap();
    nothing().wait().unwrap();
    queue.barrier(std::slice::from_ref(&bad)).unwrap().wait().unwrap_err();
    nothing().wait().unwrap_err();
    queue.finish().unwrap_err();
    queue.finish().unwrap();
}

/// The last of many that depend on each other says why the first has failed, and not how each has.
#[test]
fn a_failing_chain_says_why_once() {
    let setup = Setup::new();
    let queue = Queue::new(&setup.context, setup.queue.device(), QueueFlags::OUT_OF_ORDER).unwrap();
    let first = Event::user(&setup.context);
    let mut last = first.clone();
    for _ in 0..1000 {
        last = queue.marker(std::slice::from_ref(&last)).unwrap();
    }
    first.set_user_status(-77).unwrap();
    let error = last.wait().unwrap_err();
    assert!(error.reason.contains("-77") && error.reason.len() < 200, "{}", error.reason);
}

/// A queue whose command waits for a fault of another has a fault, too.
#[test]
fn faults_pass_between_queues() {
    let setup = Setup::new();
    let other = Queue::new(&setup.context, setup.queue.device(), QueueFlags::empty()).unwrap();
    let bad = setup.launch(&setup.kernel("ids", None, 0), line(16, Some(16)));
    let dependent = other.marker(std::slice::from_ref(&bad)).unwrap();
    let behind = other.marker(&[]).unwrap();
    assert!(behind.wait().unwrap_err().fault && dependent.wait().unwrap_err().fault);
    let failed = |code: Code| EventStatus::Failed(code as i32);
    assert_eq!(dependent.status(), failed(Code::ExecStatusErrorForEventsInWaitList));
    assert_eq!(behind.status(), failed(Code::OutOfResources));
    assert_eq!(other.finish().unwrap_err().code, Code::OutOfResources);
    other.finish().unwrap();
    other.marker(&[]).unwrap().wait().unwrap();
    assert_eq!(setup.queue.finish().unwrap_err().code, Code::OutOfResources);
}

/// A queue whose kernel hangs does not keep another queue of the context from working.
#[test]
fn queues_do_not_wait_for_each_other() {
    let setup = Setup::new();
    let endless = setup.launch(&setup.kernel("endless", None, 0), line(16, Some(16)));
    setup.queue.flush();
    let other = Queue::new(&setup.context, setup.queue.device(), QueueFlags::empty()).unwrap();
    let buffer = setup.buffer(16);
    let kernel = setup.kernel("ids", Some(&buffer), 3);
    other.launch(CommandKind::NdRangeKernel, &kernel, &line(16, Some(16)), &[]).unwrap();
    other.finish().unwrap();
    assert!(!endless.status().ended());
    endless.wait().unwrap_err();
    setup.queue.finish().unwrap_err();
    assert_eq!(words(&setup, &buffer)[0], 3);
}

/// Enqueued and forgotten, a command runs all the same; a callback need not be waited for.
#[test]
fn commands_come_on_by_themselves() {
    let setup = Setup::new();
    let buffer = setup.buffer(16);
    for callback in [false, true] {
        let event = setup.launch(&setup.kernel("ids", Some(&buffer), 7), line(16, Some(16)));
        let (sender, receiver) = std::sync::mpsc::channel();
        if callback {
            event.on_status(0, Box::new(move |status| sender.send(status).unwrap()));
            assert_eq!(receiver.recv().unwrap(), EventStatus::Complete);
        }
        while !event.status().ended() {
            std::thread::yield_now();
        }
    }
}

/// Callbacks may enqueue and wait, also for their own queue.
#[test]
fn callbacks_may_wait() {
    let setup = Setup::new();
    let buffer = setup.buffer(16);
    let event = setup.launch(&setup.kernel("ids", Some(&buffer), 7), line(16, Some(16)));
    let queue = setup.queue.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    event.on_status(
        0,
        Box::new(move |_| {
            queue.nothing(CommandKind::MigrateMemObjects, &[]).unwrap().wait().unwrap();
            sender.send(queue.finish()).unwrap();
        }),
    );
    setup.queue.finish().unwrap();
    assert_eq!(receiver.recv().unwrap(), Ok(()));
}

/// A function of a command that waits for its own queue would wait for ever.
#[test]
fn a_command_that_waits_for_itself_is_told() {
    let setup = Setup::new();
    let queue = setup.queue.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    let wait = Box::new(move || sender.send(queue.finish().unwrap_err().code).unwrap());
    setup.queue.free_shared(wait, &[]).unwrap().wait().unwrap();
    assert_eq!(receiver.recv().unwrap(), Code::OutOfResources);
}

/// More commands than a queue holds before who enqueues has to help.
#[test]
fn many_commands_from_many_threads() {
    let setup = Setup::new();
    let buffer = setup.buffer(16);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (setup, buffer) = (&setup, &buffer);
            scope.spawn(move || {
                let kernel = setup.kernel("ids", Some(buffer), thread);
                for _ in 0..5000 {
                    setup.launch(&kernel, line(16, Some(16)));
                }
                setup.queue.finish().unwrap();
            });
        }
    });
    assert!(words(&setup, &buffer)[0] < 4);
}
