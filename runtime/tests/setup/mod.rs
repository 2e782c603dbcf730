//! A simulated device with kernels in assembly.

use std::sync::Arc;
use std::time::Duration;

use gencl_isa::Generation;
use gencl_program::{
    Access, Argument, ArgumentKind, Kernel as Info, Program as Compiled, Push, PushSource, elf,
};
use gencl_runtime::{
    ArgumentValue, Buffer, CommandKind, Context, Device, Event, Kernel, MemoryFlags, NdRange, Program, Queue,
    QueueFlags, SimulatorSettings,
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

pub struct Setup {
    pub context: Arc<Context>,
    pub queue: Arc<Queue>,
    pub program: Arc<Program>,
}

impl Setup {
    pub fn new() -> Self {
        // The kernel that never ends is stopped after half of it.
        let hang_limit = Duration::from_millis(1000);
        let device =
            Device::simulated("skl", SimulatorSettings { hang_limit, ..Default::default() }).unwrap();
        let context = Context::new(std::slice::from_ref(&device), None).unwrap();
        let compiled = Compiled {
            target: "skl".into(),
            options: "-cl-std=CL3.0".into(),
            uneven_groups: true,
            kernels: vec![kernel("ids", IDS), kernel("endless", ENDLESS)],
            ..Compiled::default()
        };
        let program = Program::from_binary(&context, &device, &elf::write(&compiled).unwrap()).unwrap();
        program.build(&[], "", None).unwrap();
        let queue = Queue::new(&context, &device, QueueFlags::PROFILING).unwrap();
        Self { context, queue, program }
    }

    pub fn buffer(&self, words: usize) -> Arc<Buffer> {
        Buffer::new(&self.context, MemoryFlags::READ_WRITE, 4 * words as u64, None).unwrap()
    }

    pub fn kernel(&self, name: &str, out: Option<&Arc<Buffer>>, value: u32) -> Arc<Kernel> {
        let kernel = Kernel::new(&self.program, name).unwrap();
        let out = out.map_or(ArgumentValue::Null, |buffer| ArgumentValue::Buffer(Arc::downgrade(buffer)));
        kernel.set_argument(0, out).unwrap();
        kernel.set_argument(1, ArgumentValue::Bytes(value.to_le_bytes().as_slice().into())).unwrap();
        kernel
    }

    pub fn launch(&self, kernel: &Arc<Kernel>, range: NdRange) -> Arc<Event> {
        self.queue.launch(CommandKind::NdRangeKernel, kernel, &range, &[]).unwrap()
    }
}

pub fn line(global: u64, local: Option<u32>) -> NdRange {
    NdRange { dimensions: 1, offset: [0; 3], global: [global, 1, 1], local: local.map(|x| [x, 1, 1]) }
}
