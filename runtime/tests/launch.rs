//! Launches of kernels in assembly on the simulator: the whole way but for the compiler.

use std::sync::Arc;
use std::time::Duration;

use gencl_isa::Generation;
use gencl_program::{
    Access, Argument, ArgumentKind, Kernel as Info, Program as Compiled, Push, PushSource, elf,
};
use gencl_runtime::{
    ArgumentValue, Buffer, Code, CommandKind, Context, Device, Event, EventStatus, HostMemory, Kernel,
    MapFlags, MemoryFlags, NdRange, Profile, Program, Queue, QueueFlags, SimulatorSettings,
};

/// The end of a thread.
const END: &str = "
    mov(8) g127<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
    send(8) null<1>UW g127<8,8,1>UW 0x82000010 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q EOT };";

/// `out[get_global_id(0)] = get_global_id(0) + value`, where g1.0 is out, g1.2 value, g1.3 the local size
/// that was enqueued, g1.4 the global offset, and g2 are the local ids.
const IDS: &str = "
    mul(1) g5<1>UD g0.1<0,1,0>UD g1.3<0,1,0>UD { align1 WE_all 1N };
    mov(16) g6<1>UD g2<16,16,1>UW { align1 1H };
    add(16) g8<1>UD g6<8,8,1>UD g5<0,1,0>UD { align1 1H };
    add(16) g8<1>UD g8<8,8,1>UD g1.4<0,1,0>UD { align1 1H };
    shl(16) g10<1>UD g8<8,8,1>UD 0x00000002UD { align1 1H };
    mov(8) g12<1>UQ g10<8,8,1>UD { align1 1Q };
    mov(8) g14<1>UQ g11<8,8,1>UD { align1 2Q };
    add(8) g16<1>UQ g12<4,4,1>UQ g1<0,1,0>UQ { align1 1Q };
    add(8) g18<1>UQ g14<4,4,1>UQ g1<0,1,0>UQ { align1 2Q };
    add(16) g20<1>UD g8<8,8,1>UD g1.2<0,1,0>UD { align1 1H };
    send(16) null<1>UW g16<8,8,1>UD 0x0c065eff dp data 1 MsgDesc: mlen 6 rlen 0 { align1 1H };";

const ENDLESS: &str = "
again:
    jmpi(1) JIP: again { align1 WE_all 1N };";

fn argument(name: &str, kind: ArgumentKind, size: u32, block_offset: u32) -> Argument {
    Argument {
        name: name.into(),
        type_name: "test".into(),
        kind,
        size,
        alignment: size,
        block_offset,
        type_qualifier: 0,
        access: Access::None,
    }
}

fn kernel(name: &str, assembly: &str) -> Info {
    let instructions = gencl_isa::parse_program(Generation::Gen9, &format!("{assembly}{END}")).unwrap();
    let encode = |instruction| gencl_isa::encode(Generation::Gen9, instruction).unwrap();
    let push = |offset, size, source| Push { offset, size, source };
    Info {
        name: name.into(),
        code: instructions.iter().flat_map(encode).collect(),
        simd_width: 16,
        arguments: vec![
            argument("out", ArgumentKind::GlobalPointer, 8, 0),
            argument("value", ArgumentKind::Value, 4, 8),
        ],
        cross_thread_size: 32,
        pushes: vec![
            push(0, 8, PushSource::Pointer { argument: 0 }),
            push(8, 4, PushSource::Value { argument: 1, offset: 0 }),
            push(12, 4, PushSource::EnqueuedLocalSize(0)),
            push(16, 4, PushSource::GlobalOffset(0)),
        ],
        local_ids: true,
        ..Info::default()
    }
}

struct Setup {
    context: Arc<Context>,
    queue: Arc<Queue>,
    program: Arc<Program>,
}

impl Setup {
    fn new() -> Self {
        let hang_limit = Duration::from_millis(500);
        let device =
            Device::simulated("skl", SimulatorSettings { hang_limit, ..Default::default() }).unwrap();
        let context = Context::new(&device, None).unwrap();
        let compiled = Compiled {
            target: "skl".into(),
            options: "-cl-std=CL3.0".into(),
            uneven_groups: true,
            kernels: vec![kernel("ids", IDS), kernel("endless", ENDLESS)],
            ..Compiled::default()
        };
        let program = Program::from_binary(&context, &elf::write(&compiled).unwrap()).unwrap();
        program.build("", None).unwrap();
        let queue = Queue::new(&context, QueueFlags::PROFILING).unwrap();
        Self { context, queue, program }
    }

    fn buffer(&self, words: usize) -> Arc<Buffer> {
        Buffer::new(&self.context, MemoryFlags::READ_WRITE, 4 * words as u64, None).unwrap()
    }

    fn kernel(&self, name: &str, out: Option<&Arc<Buffer>>, value: u32) -> Arc<Kernel> {
        let kernel = Kernel::new(&self.program, name).unwrap();
        kernel.set_argument(0, ArgumentValue::Buffer(out.cloned())).unwrap();
        kernel.set_argument(1, ArgumentValue::Bytes(&value.to_le_bytes())).unwrap();
        kernel
    }

    fn launch(&self, kernel: &Arc<Kernel>, range: NdRange) -> Arc<Event> {
        self.queue.launch(CommandKind::NdRangeKernel, kernel, &range, &[]).unwrap()
    }

    /// The buffer's words, through a mapping.
    fn words(&self, buffer: &Arc<Buffer>) -> Vec<u32> {
        let size = buffer.size() as usize;
        let (memory, event) = self.queue.map_buffer(buffer, MapFlags::READ, 0, size, &[]).unwrap();
        event.wait().unwrap();
        let mut bytes = vec![0; size];
        memory.read(0, &mut bytes);
        self.queue.unmap_buffer(buffer, memory.address(), &[]).unwrap();
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }
}

fn line(global: u64, local: Option<u32>) -> NdRange {
    NdRange { dimensions: 1, offset: [0; 3], global: [global, 1, 1], local: local.map(|x| [x, 1, 1]) }
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
        assert_eq!(setup.words(&buffer), expected, "{global} in {local:?}");
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
    assert_eq!(setup.words(&buffer), expected);
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
    kernel.set_argument(1, ArgumentValue::Bytes(&5u32.to_le_bytes())).unwrap();
    assert_eq!(event.status(), EventStatus::Queued);
    gate.set_user_status(0).unwrap();
    event.wait().unwrap();
    assert_eq!(setup.words(&buffer)[..2], [100, 101]);
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
    let times = [Profile::Queued, Profile::Submit, Profile::Start, Profile::End, Profile::Complete]
        .map(|what| event.profile(what).unwrap());
    assert!(times.is_sorted(), "{times:?}");
    assert!(times[3] - times[0] < 60_000_000_000, "{times:?}");
}

#[test]
fn a_wild_pointer_fails_the_command_and_nothing_else() {
    let setup = Setup::new();
    let buffer = setup.buffer(16);
    let bad = setup.launch(&setup.kernel("ids", None, 0), line(16, Some(16)));
    let after = setup.launch(&setup.kernel("ids", Some(&buffer), 3), line(16, Some(16)));
    let error = bad.wait().unwrap_err();
    assert_eq!(error.code, Code::ExecStatusErrorForEventsInWaitList);
    assert_eq!(bad.status(), EventStatus::Failed(Code::OutOfResources as i32));
    assert!(error.reason.contains("kernel ids"), "{error}");
    // What was with the kernel driver at the same time may fail too, what comes later may not.
    let _ = after.wait();
    setup.launch(&setup.kernel("ids", Some(&buffer), 3), line(16, Some(16))).wait().unwrap();
    assert_eq!(setup.words(&buffer)[15], 18);
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
    setup.launch(&setup.kernel("ids", Some(&buffer), 3), line(16, Some(16))).wait().unwrap();
    assert_eq!(setup.words(&buffer)[0], 3);
}

#[test]
fn launches_that_are_wrong_are_refused() {
    let setup = Setup::new();
    let kernel = Kernel::new(&setup.program, "ids").unwrap();
    let code = |range| setup.queue.launch(CommandKind::NdRangeKernel, &kernel, &range, &[]).unwrap_err().code;
    assert_eq!(code(line(16, None)), Code::InvalidKernelArgs);
    kernel.set_argument(0, ArgumentValue::Buffer(None)).unwrap();
    let refused = |index, value| kernel.set_argument(index, value).unwrap_err().code;
    assert_eq!(refused(1, ArgumentValue::Bytes(&[0; 3])), Code::InvalidArgSize);
    assert_eq!(refused(1, ArgumentValue::Local(4)), Code::InvalidArgValue);
    assert_eq!(refused(2, ArgumentValue::Local(4)), Code::InvalidArgIndex);
    kernel.set_argument(1, ArgumentValue::Bytes(&[0; 4])).unwrap();
    assert_eq!(code(line(16, Some(512))), Code::InvalidWorkItemSize);
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
    setup.queue.write_buffer(&a, 0, &from, &[]).unwrap();
    setup.queue.copy_buffer(&a, 16, &b, 0, 128, &[]).unwrap();
    setup.queue.fill_buffer(&b, &[0xaa, 0xbb], 4, 4, &[]).unwrap();
    setup.queue.read_buffer(&b, 0, &to, &[]).unwrap().wait().unwrap();
    let mut bytes = [0; 10];
    to.read(0, &mut bytes);
    assert_eq!(bytes, [16, 17, 18, 19, 0xaa, 0xbb, 0xaa, 0xbb, 24, 25]);
    let code = |result: gencl_runtime::Result<Arc<Event>>| result.unwrap_err().code;
    assert_eq!(code(setup.queue.copy_buffer(&a, 0, &a, 16, 32, &[])), Code::MemCopyOverlap);
    assert_eq!(code(setup.queue.copy_buffer(&a, 250, &b, 0, 32, &[])), Code::InvalidValue);
    assert_eq!(code(setup.queue.fill_buffer(&a, &[1, 2, 3], 0, 3, &[])), Code::InvalidValue);
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
        let words = setup.words(&buffer);
        assert_eq!(words[..2], [9, 10]);
        let mut bytes = [0; 4];
        memory.read(4, &mut bytes);
        assert_eq!(u32::from_le_bytes(bytes), 10);
    }
}

#[test]
fn failures_pass_between_queues() {
    let setup = Setup::new();
    let other = Queue::new(&setup.context, QueueFlags::empty()).unwrap();
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
    assert_eq!(second.profile(Profile::End).unwrap_err().code, Code::ProfilingInfoNotAvailable);
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
    let queue = Queue::new(&setup.context, QueueFlags::OUT_OF_ORDER).unwrap();
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
