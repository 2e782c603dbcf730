//! Tests: buffers that the kernel driver moves between two batches.

use std::sync::Arc;

use gencl_i915::{Engine, ExecBuffer, ExecFlags, ExecObject, GemBuffer, GemHandle, ObjectFlags};
use gencl_program::{Data, DataSection, Program as Compiled, Relocation, elf};

use super::{Batch, EnqueuedLaunch, Hardware, InFlight, Submitted};
use crate::context::DeviceContext;
use crate::{Context, Device, Kernel, NdRange, Program, SimulatorSettings};

/// A kernel that does nothing, in a program with a variable that points to itself.
pub(super) fn program(
    context: &Arc<Context>,
    device: &Arc<Device>,
    kernel: gencl_program::Kernel,
) -> Arc<Program> {
    let end = "
        mov(8) g127<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
        send(8) null<1>UW g127<8,8,1>UW 0x82000010 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q EOT };";
    let generation = gencl_eu::device::Device::named("ivb").unwrap().generation;
    let instructions = gencl_isa::parse_program(generation, end).unwrap();
    let code = instructions.iter().flat_map(|i| gencl_isa::encode(generation, i).unwrap()).collect();
    let kernel = gencl_program::Kernel { name: "nothing".into(), code, simd_width: 8, ..kernel };
    let (section, target) = (DataSection::Variables, DataSection::Variables);
    let pointer = Relocation { section, offset: 4, size: 4, target, addend: 8 };
    let data = Data { variables: vec![0; 16], relocations: vec![pointer], ..Data::default() };
    let compiled = Compiled { target: "ivb".into(), data, kernels: vec![kernel], ..Compiled::default() };
    let program = Program::from_binary(context, device, &elf::write(&compiled).unwrap()).unwrap();
    program.build(&[], "", None).unwrap();
    program
}

/// Makes the kernel driver place a buffer at an address, and evict the one that is there.
fn pin(context: &DeviceContext, hardware: &Hardware, buffer: GemHandle, address: u64) {
    let node = context.device().node();
    let batch = GemBuffer::create(node, 4096).unwrap();
    // MI_BATCH_BUFFER_END
    batch.memory().write(0, &0x0500_0000_u32.to_le_bytes());
    let object = |handle, offset, flags| ExecObject {
        handle,
        offset,
        alignment: 0,
        flags,
        pad_to_size: 0,
        relocations: Vec::new(),
    };
    let mut objects =
        [object(buffer, address, ObjectFlags::PINNED), object(batch.handle(), 0, ObjectFlags::empty())];
    let mut exec = ExecBuffer {
        context: hardware.current().id(),
        engine: Engine::Render,
        flags: ExecFlags::empty(),
        objects: &mut objects,
        batch_start: 0,
        batch_length: 8,
        awaited: true,
    };
    node.exec_buffer(&mut exec).unwrap();
    node.gem_wait(batch.handle(), -1).unwrap();
}

fn submit(batch: Batch<'_>, hardware: &Hardware) -> InFlight {
    match batch.finish().submit(hardware, false, false, true) {
        Ok(Submitted::Yes(flight)) => flight,
        Ok(Submitted::Later) => panic!("nothing is before it"),
        Err(error) => panic!("{error}"),
    }
}

/// A batch is built, another queue's batch moves the program's variables, they move back, and the first batch
/// runs.
#[test]
fn pointers_follow_what_moves_between_batches_of_two_queues() {
    let device = Device::simulated("ivb", SimulatorSettings::default()).unwrap();
    let context = Context::new(std::slice::from_ref(&device), None).unwrap();
    let kernel = Kernel::new(&program(&context, &device, Default::default()), "nothing").unwrap();
    let context = context.on(&device).unwrap();
    let queues = [(); 2].map(|()| Hardware::new(context.device().node()).unwrap());
    let range = NdRange { dimensions: 1, offset: [0; 3], global: [8, 1, 1], local: Some([8, 1, 1]) };
    let launch = EnqueuedLaunch::of(&kernel, &range, context);
    let variables = launch.executable().variables().unwrap();
    let batch = |hardware: &Hardware| {
        let mut batch = Batch::new(context, &launch).unwrap();
        assert!(batch.add(&launch, None, hardware).unwrap());
        assert!(batch.add(&launch, Some(&launch), hardware).unwrap());
        batch
    };
    let run = |batch, hardware: &Hardware| {
        let flight = submit(batch, hardware);
        flight.wait();
        let ended = [0, 1].map(|index| matches!(flight.progress(index), super::Progress::Ended(..)));
        assert_eq!(ended, [true; 2]);
        flight.give_back(context);
        let mut pointer = [0; 4];
        variables.memory().read(4, &mut pointer);
        (variables.placed(), u64::from(u32::from_le_bytes(pointer)))
    };

    let first = batch(&queues[0]);
    let others = [(); 2].map(|()| GemBuffer::create(context.device().node(), variables.size()).unwrap());
    let home = variables.address();
    pin(context, &queues[1], others[0].handle(), home);
    let (moved, pointer) = run(batch(&queues[1]), &queues[1]);
    assert_ne!(moved, home);
    assert_eq!(pointer, moved + 8);
    pin(context, &queues[1], others[1].handle(), moved);
    pin(context, &queues[1], variables.handle(), home);
    assert_eq!(run(first, &queues[0]), (home, home + 8));
}
