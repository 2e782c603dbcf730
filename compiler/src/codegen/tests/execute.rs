//! Runs compiled kernels on the simulator's execution units, with the memory and launch of the IR's
//! interpreter.

use crate::codegen::Compiled;
use crate::ir::interpret::{Launch, Memory, Value};
use gencl_eu::device::Device;
use gencl_eu::dispatch::{Bases, CancelFlag, Launch as Dispatch, Rounding, Scratch, Used};
use gencl_eu::memory::{AddressSpace, Cursor, Object, PAGE_SIZE};
use gencl_eu::{self as eu, Worker};
use gencl_program::{Kernel, PushSource};

/// Address of scratch memory, below all buffers of [`Memory`].
const SCRATCH: u64 = 1 << 20;

/// Address of the buffer for private memory that is not in scratch memory.
const STACK: u64 = 3 << 20;

/// Address of the binding table and its one surface state.
const SURFACES: u64 = 2 << 20;
/// Offset of the surface state from the binding table.
const SURFACE_STATE: u32 = 0x40;

/// The binding table, and the state of a raw buffer of 2 GiB from address 0 on (`SURFACE_STATE` for buffers,
/// Ivy Bridge manual, Volume 4 Part 1).
fn surfaces() -> Vec<u8> {
    let last = (1u32 << 31) - 1;
    let state = [4 << 29 | 0x1ff << 18, 0, last & 0x7f | (last >> 7 & 0x3fff) << 16, last >> 21 << 21];
    let mut bytes = vec![0; 0x100];
    bytes[..4].copy_from_slice(&SURFACE_STATE.to_le_bytes());
    for (place, dword) in bytes[SURFACE_STATE as usize..].chunks_mut(4).zip(state) {
        place.copy_from_slice(&dword.to_le_bytes());
    }
    bytes
}

/// A device that executes the code.
fn device(compiled: &Compiled) -> Option<&'static Device> {
    Device::all().iter().find(|device| device.generation == compiled.generation)
}

/// Runs a kernel in strict mode. Work-groups must all have the same size.
pub fn execute(compiled: &Compiled, launch: &Launch, memory: &mut Memory) -> Result<(), String> {
    let kernel = &compiled.kernel;
    let device = device(compiled).ok_or("no such device")?;
    let decoded = eu::Kernel::decode(device, &kernel.code, 0, true).map_err(|f| f.to_string())?;
    let dispatch = dispatch(kernel, launch);
    let mut objects = Vec::new();
    let addresses: Vec<u64> = launch
        .arguments
        .iter()
        .filter_map(|a| match a {
            Value::Address(address) => Some(*address),
            _ => None,
        })
        .collect();
    for address in &addresses {
        let bytes = memory.buffer(*address).ok_or("no buffer")?;
        objects.push((
            *address,
            Object::create((bytes.len() as u64).next_multiple_of(PAGE_SIZE)).map_err(|e| e.to_string())?,
        ));
    }
    objects.push((SURFACES, Object::create(PAGE_SIZE).map_err(|e| e.to_string())?));
    let slots = dispatch.threads_per_group();
    if kernel.scratch_size > 0 {
        let size = u64::from(kernel.scratch_size * slots).next_multiple_of(PAGE_SIZE);
        objects.push((SCRATCH, Object::create(size).map_err(|e| e.to_string())?));
    }
    if kernel.stack_size > 0 {
        let size = u64::from(kernel.stack_size * slots).next_multiple_of(PAGE_SIZE);
        objects.push((STACK, Object::create(size).map_err(|e| e.to_string())?));
    }
    let space = AddressSpace::new(objects).ok_or("buffers overlap")?;
    let mut cursor = Cursor::default();
    space.write(&mut cursor, SURFACES, &surfaces()).map_err(|e| e.to_string())?;
    for address in &addresses {
        let bytes = memory.buffer(*address).ok_or("no buffer")?;
        space.write(&mut cursor, *address, bytes).map_err(|e| e.to_string())?;
    }
    let mut worker = Worker::new(device, 0);
    let [x, y, z] = dispatch.end_group;
    for group in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))) {
        eu::run_group(&decoded, &dispatch, group, &space, &mut worker, &CancelFlag::default())
            .map_err(|f| f.to_string())?;
    }
    for address in &addresses {
        let mut bytes = memory.remove(*address).ok_or("no buffer")?;
        space.read(&mut cursor, *address, &mut bytes).map_err(|e| e.to_string())?;
        memory.put(*address, bytes);
    }
    Ok(())
}

fn dispatch(kernel: &Kernel, launch: &Launch) -> Dispatch {
    let simd = kernel.simd_width;
    let size = launch.local_size;
    let items: u32 = size.iter().product();
    let threads = items.div_ceil(simd);
    let last = items - (threads - 1) * simd;
    let mut cross_thread = vec![0; kernel.cross_thread_size as usize];
    for push in &kernel.pushes {
        let value = pushed(push.source, launch, push.size);
        let at = push.offset as usize;
        cross_thread[at..at + push.size as usize].copy_from_slice(&value[..push.size as usize]);
    }
    let id_size = (2 * simd as usize).next_multiple_of(32);
    let per_thread_size = if kernel.local_ids { 3 * id_size } else { 0 };
    let mut per_thread = vec![0; per_thread_size * threads as usize];
    for item in (0..items).filter(|_| kernel.local_ids) {
        let ids = [item % size[0], item / size[0] % size[1], item / size[0] / size[1]];
        for (dimension, id) in ids.iter().enumerate() {
            let at =
                (item / simd) as usize * per_thread_size + dimension * id_size + (item % simd) as usize * 2;
            per_thread[at..at + 2].copy_from_slice(&(*id as u16).to_le_bytes());
        }
    }
    Dispatch {
        kernel: 0,
        simd_width: simd,
        threads: [threads, 1, 1],
        first_group: [0; 3],
        end_group: [0, 1, 2].map(|d| launch.global_size[d] / size[d]),
        right_mask: u32::MAX >> (32 - last),
        bottom_mask: u32::MAX,
        cross_thread,
        indirect_data: false,
        per_thread,
        per_thread_size,
        slm_size: 4096.max(kernel.local_size.next_power_of_two()),
        barrier: kernel.barrier,
        scratch: (kernel.scratch_size > 0).then_some(Scratch {
            base: SCRATCH,
            per_thread: kernel.scratch_size,
            code: kernel.scratch_size.trailing_zeros() - 10,
            slots: threads,
        }),
        bases: Bases { surface: SURFACES, ..Bases::default() },
        binding_table: 0,
        samplers: 0,
        used: Used::default(),
        alternate_float: false,
        rounding: Rounding::NearestEven,
        single_program_flow: false,
        mark: Default::default(),
    }
}

fn pushed(source: PushSource, launch: &Launch, size: u32) -> Vec<u8> {
    let number = |n: u64| n.to_le_bytes().to_vec();
    match source {
        PushSource::Value { argument, offset } => match &launch.arguments[argument as usize] {
            Value::Bytes(bytes) => bytes[offset as usize..(offset + size) as usize].to_vec(),
            other => panic!("{other:?} is not a value"),
        },
        PushSource::Pointer { argument } => match launch.arguments[argument as usize] {
            Value::Address(address) => number(address),
            ref other => panic!("{other:?} is not an address"),
        },
        PushSource::GlobalOffset(d) => number(launch.global_offset[usize::from(d)]),
        PushSource::GlobalSize(d) => number(launch.global_size[usize::from(d)].into()),
        PushSource::LocalSize(d) | PushSource::EnqueuedLocalSize(d) => {
            number(launch.local_size[usize::from(d)].into())
        }
        PushSource::StackBase => number(STACK),
        other => panic!("the tests do not push {other:?}"),
    }
}
