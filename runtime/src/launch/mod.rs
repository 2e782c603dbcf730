//! Launches: from a kernel with arguments and an index space to a batch that the kernel driver has.
//!
//! One buffer, a slot, holds everything that is made for a launch: the batch, timestamps, interface descriptors, constants
//! for each walker, the argument block. What it refers to (code, scratch, the arguments' buffers) is listed with it.

mod batch;
mod clock;
mod commands;
mod constants;
mod dump;
mod field;
pub(crate) mod gen9;
#[cfg(test)]
mod genxml;
mod hardware;
mod local_size;
mod slot;
mod walk;

use std::sync::Arc;

use gencl_i915::{Engine, Errno, ExecBuffer, ExecFlags, ExecObject, ObjectFlags};
use gencl_program::PushSource;

use batch::{BatchState, WalkState, Writer};
use clock::Correlation;
pub(crate) use commands::CommandSet;
pub(crate) use constants::check;
pub(crate) use hardware::Hardware;
use hardware::HardwareContext;
use slot::Slot;
pub(crate) use slot::SlotPool;
use walk::Space;

use crate::kernel::{Bound, LocalLayout};
use crate::memory::{SharedMemory, Storage};
use crate::printf::PrintfBuffer;
use crate::program::Executable;
use crate::{Code, Context, Error, Kernel, NdRange, Result};

/// Parts of a slot: offsets in bytes. The batch of eight walkers has some 1,300 bytes.
const STAMPS: usize = 2048;
const DESCRIPTORS: usize = STAMPS + ALIGNMENT;
const CONSTANTS: usize = DESCRIPTORS + 8 * ALIGNMENT;

/// Alignment of state.
const ALIGNMENT: usize = 64;

/// What a timestamp is before the GPU writes it: no 36-bit number.
const UNWRITTEN: u64 = u64::MAX;

/// A launch with everything that it needs, taken when it was enqueued.
pub(crate) struct Launch {
    kernel: Arc<gencl_program::Kernel>,
    executable: Arc<Executable>,
    bound: Vec<Bound>,
    reaches: Vec<Arc<SharedMemory>>,
    space: Space,
    local_memory: u32,
}

impl Launch {
    /// Checks a launch; errors as [`crate::Queue::launch`].
    pub(crate) fn new(kernel: &Arc<Kernel>, range: &NdRange) -> Result<Self> {
        let info = kernel.shared_info();
        let executable = kernel.executable();
        let facts = kernel.program().context().device().facts();
        let bound = kernel.snapshot()?;
        check_range(range)?;
        let uneven = executable.uneven_groups();
        let local = local_size(info, range, facts.max_work_group_size, uneven)?;
        let space = Space::new(range, local, uneven)?;
        let mut layout = LocalLayout::new(info);
        for (argument, bound) in info.arguments.iter().zip(&bound) {
            if let Bound::Local(size) = bound {
                layout.place(argument.alignment, *size);
            }
        }
        if layout.size > u64::from(facts.local_memory) {
            let reason = format!(
                "{} needs {} bytes of local memory, the device has {}",
                info.name, layout.size, facts.local_memory
            );
            return Err(Error::new(Code::OutOfResources, reason));
        }
        let local_memory = layout.size as u32;
        let (reaches, executable) = (kernel.reaches(), executable.clone());
        Ok(Self { kernel: info.clone(), executable, bound, reaches, space, local_memory })
    }

    /// Builds the batch and hands it to the kernel driver.
    pub(crate) fn submit(self: Box<Self>, context: &Arc<Context>, profiled: bool) -> Result<InFlight> {
        let walks = self.space.walks();
        let per_walk: Vec<_> = walks.iter().map(|walk| self.constants_size(walk.group_size())).collect();
        let constants_end = CONSTANTS + per_walk.iter().sum::<usize>();
        let size = constants_end + self.kernel.argument_block_size as usize;
        let mut slot = context.slots().take(context.space(), size as u64)?;

        slot.bytes.clear();
        slot.bytes.resize(size, 0);
        slot.bytes[STAMPS..STAMPS + 16].fill(0xff);
        let prints = self.kernel.pushes.iter().any(|push| push.source == PushSource::PrintfBuffer);
        let printf = if prints { Some(context.printf().take(context.space())?) } else { None };
        let addresses = constants::Addresses {
            argument_block: slot.storage.address() + constants_end as u64,
            constants: self.executable.constants().map_or(0, |constants| constants.address()),
            variables: self.executable.variables().map_or(0, |variables| variables.address()),
            printf: printf.as_ref().map_or(0, |buffer| buffer.storage().address()),
        };
        constants::argument_block(&self.kernel, &self.bound, &mut slot.bytes[constants_end..]);
        let mut states = Vec::with_capacity(walks.len());
        let mut at = CONSTANTS;
        for (index, (walk, &size)) in walks.iter().zip(&per_walk).enumerate() {
            let descriptor = DESCRIPTORS + index * ALIGNMENT;
            states.push(self.walk(context, &mut slot, walk, descriptor, (at, size), &addresses));
            at += size;
        }
        let scratch = match self.kernel.scratch_size {
            0 => None,
            size => Some(context.hardware().scratch(
                context.space(),
                size,
                context.device().model().scratch_threads(),
            )?),
        };
        let batch_length = self.batch(context, &mut slot, &states, scratch.as_ref());
        slot.storage.memory().write(0, &slot.bytes);

        let scratch = scratch.map(|(_, storage)| storage);
        let mut objects = self.objects(scratch.as_ref(), printf.as_ref(), &slot);
        let correlation = profiled.then(|| Correlation::now(&**context.device().node(), context.device()));
        let hardware = execute(context, &mut objects, batch_length)?;
        Ok(InFlight { launch: self, slot, scratch, printf, hardware, correlation: correlation.flatten() })
    }

    fn threads(&self, group_size: u32) -> u32 {
        group_size.div_ceil(self.kernel.simd_width)
    }

    /// Bytes of constants of one walker, padded.
    fn constants_size(&self, group_size: u32) -> usize {
        let threads = self.threads(group_size) as usize;
        let size = self.kernel.cross_thread_size as usize + threads * constants::local_ids_size(&self.kernel);
        size.next_multiple_of(ALIGNMENT)
    }

    /// Fills constants and interface descriptor of one walker.
    fn walk(
        &self,
        context: &Context,
        slot: &mut Slot,
        walk: &walk::Walk,
        descriptor: usize,
        (at, size): (usize, usize),
        addresses: &constants::Addresses,
    ) -> WalkState {
        let kernel = &*self.kernel;
        let threads = self.threads(walk.group_size());
        let local_ids = constants::local_ids_size(kernel);
        let (cross, rest) = slot.bytes[at..at + size].split_at_mut(kernel.cross_thread_size as usize);
        constants::cross_thread(kernel, &self.bound, &self.space, walk, addresses, cross);
        constants::local_ids(kernel, walk.local, &mut rest[..threads as usize * local_ids]);

        let set = context.device().model().commands;
        let fields = &set.interface_descriptor;
        let registers = |bytes: usize| (bytes / constants::REGISTER) as u64;
        let dwords = fields.layout.pack(&[
            (fields.kernel, self.executable.kernel_start(&self.kernel).into()),
            (fields.float_mode, 0),
            (fields.denorm_mode, 1),
            (fields.constant_offset, 0),
            (fields.constant_length, registers(local_ids)),
            (fields.threads, threads.into()),
            (fields.slm_size, (set.slm_code)(self.local_memory)),
            (fields.barrier, kernel.barrier.into()),
            (fields.rounding, 0),
            (fields.cross_thread_length, registers(kernel.cross_thread_size as usize)),
        ]);
        let dwords = &dwords[..fields.layout.length];
        put_dwords(&mut slot.bytes[descriptor..], dwords);
        if context.dumps_batches() {
            eprint!("{}: {}", kernel.name, dump::descriptor(set, dwords));
        }

        let last = walk.group_size() - (threads - 1) * kernel.simd_width;
        let base = slot.storage.zone_offset();
        WalkState {
            walk: *walk,
            threads,
            right_mask: u32::MAX >> (32 - last),
            descriptor: base + descriptor as u32,
            constants: base + at as u32,
            constants_size: size as u32,
        }
    }

    /// Puts the batch into the slot; gives its length in bytes.
    fn batch(
        &self,
        context: &Context,
        slot: &mut Slot,
        walks: &[WalkState],
        scratch: Option<&(u32, Arc<Storage>)>,
    ) -> u32 {
        let model = context.device().model();
        let stamps = slot.storage.address() + STAMPS as u64;
        let state = BatchState {
            simd_width: self.kernel.simd_width,
            device_threads: model.threads(),
            scratch: scratch.map(|(each, storage)| (storage.address(), *each)),
            walks,
            stamps: [stamps, stamps + 8],
        };
        slot.dwords.clear();
        Writer::new(model.commands, &mut slot.dwords).launch(&state);
        assert!(4 * slot.dwords.len() <= STAMPS, "the batch outgrows its part of the slot");
        put_dwords(&mut slot.bytes, &slot.dwords);
        if context.dumps_batches() {
            eprint!("{}: {}", self.kernel.name, dump::batch(model.commands, &slot.dwords));
        }
        4 * slot.dwords.len() as u32
    }

    /// Everything that the batch uses, each once, the batch last.
    fn objects(
        &self,
        scratch: Option<&Arc<Storage>>,
        printf: Option<&PrintfBuffer>,
        slot: &Slot,
    ) -> Vec<ExecObject> {
        let mut objects: Vec<ExecObject> = Vec::with_capacity(self.bound.len() + 4);
        let mut add = |storage: &Storage, flags: ObjectFlags| match objects
            .iter_mut()
            .find(|object| object.handle == storage.handle())
        {
            Some(object) => object.flags |= flags,
            None => objects.push(storage.exec_object(flags)),
        };
        add(self.executable.code(), ObjectFlags::CAPTURE);
        if let Some(constants) = self.executable.constants() {
            add(constants, ObjectFlags::empty());
        }
        if let Some(variables) = self.executable.variables() {
            add(variables, ObjectFlags::WRITE);
        }
        if let Some(scratch) = scratch {
            add(scratch, ObjectFlags::WRITE);
        }
        if let Some(printf) = printf {
            add(printf.storage(), ObjectFlags::WRITE);
        }
        for bound in &self.bound {
            match bound {
                Bound::Buffer(Some(buffer)) => add(buffer.storage(), ObjectFlags::WRITE),
                Bound::Shared(_, memory) => add(memory.storage(), ObjectFlags::WRITE),
                Bound::Buffer(None) | Bound::Bytes(_) | Bound::Local(_) => {}
            }
        }
        for memory in &self.reaches {
            add(memory.storage(), ObjectFlags::WRITE);
        }
        // The kernel driver takes no batch that it would have to let others wait for as written; who waits for the timestamps
        // waits for the batch.
        add(&slot.storage, ObjectFlags::CAPTURE);
        objects
    }
}

fn put_dwords(bytes: &mut [u8], dwords: &[u32]) {
    for (bytes, dword) in bytes.chunks_exact_mut(4).zip(dwords) {
        bytes.copy_from_slice(&dword.to_le_bytes());
    }
}

/// Queues a batch, the last of `objects`. A context that the kernel driver has given up (`EIO`) is replaced once.
fn execute(context: &Context, objects: &mut [ExecObject], batch_length: u32) -> Result<Arc<HardwareContext>> {
    const EIO: Errno = Errno(5);
    for last in [false, true] {
        let hardware = context.hardware().current();
        let mut exec = ExecBuffer {
            context: hardware.id(),
            engine: Engine::Render,
            flags: ExecFlags::NO_RELOC,
            objects,
            batch_start: 0,
            batch_length,
        };
        match context.device().node().exec_buffer(&mut exec) {
            Ok(()) => return Ok(hardware),
            Err(EIO) if !last => context.hardware().replace(&hardware)?,
            Err(errno) => {
                return Err(Error::new(Code::OutOfResources, format!("the batch was refused: {errno}")));
            }
        }
    }
    unreachable!("the second attempt returns")
}

/// `INVALID_WORK_DIMENSION`, `INVALID_GLOBAL_OFFSET` when the last global id overflows.
fn check_range(range: &NdRange) -> Result<()> {
    if !(1..=3).contains(&range.dimensions) {
        return Err(Error::new(Code::InvalidWorkDimension, format!("{} dimensions", range.dimensions)));
    }
    for (offset, global) in range.offset.into_iter().zip(range.global) {
        if offset.checked_add(global).is_none() {
            return Err(Error::new(Code::InvalidGlobalOffset, format!("{offset} + {global} overflows")));
        }
    }
    Ok(())
}

/// The work-group size that a launch of `kernel` has; errors as [`crate::Queue::launch`].
pub(crate) fn work_group_size(kernel: &Kernel, range: &NdRange) -> Result<[u32; 3]> {
    check_range(range)?;
    let limit = kernel.program().context().device().facts().max_work_group_size;
    local_size(kernel.shared_info(), range, limit, kernel.executable().uneven_groups())
}

/// The work-group size: the application's, checked, or one that we choose.
fn local_size(kernel: &gencl_program::Kernel, range: &NdRange, limit: u32, uneven: bool) -> Result<[u32; 3]> {
    let local = match (range.local, kernel.required_work_group_size) {
        (None, None) => return Ok(local_size::choose(range.global, kernel.simd_width, limit, uneven)),
        (Some(local), Some(required)) if local != required => {
            let reason = format!("{} requires work-groups of {required:?}, not {local:?}", kernel.name);
            return Err(Error::new(Code::InvalidWorkGroupSize, reason));
        }
        (Some(local), _) => local,
        (None, Some(required)) => required,
    };
    if local.contains(&0) {
        return Err(Error::new(Code::InvalidWorkGroupSize, format!("{local:?}")));
    }
    if local.iter().any(|&size| size > limit) {
        let reason = format!("{local:?}: at most {limit} work-items in each dimension");
        return Err(Error::new(Code::InvalidWorkItemSize, reason));
    }
    if local.iter().product::<u32>() > limit {
        let reason = format!("{local:?}: at most {limit} work-items in a work-group");
        return Err(Error::new(Code::InvalidWorkGroupSize, reason));
    }
    Ok(local)
}

/// A batch that the kernel driver has.
pub(crate) struct InFlight {
    launch: Box<Launch>,
    slot: Slot,
    scratch: Option<Arc<Storage>>,
    printf: Option<PrintfBuffer>,
    hardware: Arc<HardwareContext>,
    correlation: Option<Correlation>,
}

impl InFlight {
    /// Waits for the end. Gives begin and end on the host's clock, 0 when the launch is not profiled. When the batch did not run to its
    /// end, `OUT_OF_RESOURCES` with what is known about it, and the context gets a new hardware context.
    pub(crate) fn wait(self, context: &Arc<Context>) -> Result<(u64, u64)> {
        let Self { launch, slot, scratch, printf, hardware, correlation } = self;
        let waited = slot.storage.wait();
        if let Some(printf) = printf {
            // Also what a batch has printed that did not come to its end.
            let executable = &launch.executable;
            let string = |address| executable.string(address);
            context.printf().finish(printf, &launch.kernel.name, executable.formats(), &string);
        }
        let stamps = [0, 8].map(|offset| slot.storage.memory().read_u64(STAMPS + offset));
        if waited.is_err() || stamps[1] == UNWRITTEN {
            let reason = format!("kernel {}: {}", launch.kernel.name, hardware.failure());
            context.hardware().replace(&hardware)?;
            return Err(Error::new(Code::OutOfResources, reason));
        }
        context.slots().give(slot);
        drop(scratch);
        Ok(correlation.map_or((0, 0), |correlation| correlation.convert(stamps[0], stamps[1])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_sizes_are_checked() {
        let kernel = gencl_program::Kernel { simd_width: 16, ..Default::default() };
        let range = |local| NdRange { dimensions: 1, offset: [0; 3], global: [256, 1, 1], local };
        let code = |kernel, local| local_size(kernel, &range(Some(local)), 256, false).unwrap_err().code;
        assert_eq!(local_size(&kernel, &range(None), 256, false).unwrap(), [64, 1, 1]);
        assert_eq!(code(&kernel, [0, 1, 1]), Code::InvalidWorkGroupSize);
        assert_eq!(code(&kernel, [257, 1, 1]), Code::InvalidWorkItemSize);
        assert_eq!(code(&kernel, [32, 16, 1]), Code::InvalidWorkGroupSize);
        let required = gencl_program::Kernel { required_work_group_size: Some([8, 1, 1]), ..kernel.clone() };
        assert_eq!(code(&required, [16, 1, 1]), Code::InvalidWorkGroupSize);
        assert_eq!(local_size(&required, &range(None), 256, false).unwrap(), [8, 1, 1]);
        let large = gencl_program::Kernel { required_work_group_size: Some([16, 32, 1]), ..kernel };
        let refused = local_size(&large, &range(None), 256, false).unwrap_err();
        assert_eq!(refused.code, Code::InvalidWorkGroupSize, "more than the device has");
    }

    #[test]
    fn ranges_are_checked() {
        let range = NdRange { dimensions: 1, offset: [0; 3], global: [256, 1, 1], local: None };
        assert!(check_range(&range).is_ok());
        let code = |range| check_range(&range).unwrap_err().code;
        assert_eq!(code(NdRange { dimensions: 4, ..range }), Code::InvalidWorkDimension);
        assert_eq!(code(NdRange { offset: [u64::MAX, 0, 0], ..range }), Code::InvalidGlobalOffset);
    }
}
