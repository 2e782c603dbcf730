//! Batches: launches that are submitted together.
//!
//! A slot begins with the commands. Behind them is the state, the heap that base addresses point to: for each launch
//! two timestamps, the argument block, and interface descriptor and constants of each walker; only the timestamps for
//! a launch that is the same as the one before. The launches of a batch run one after the other, with caches flushed
//! and invalidated between them.

use std::sync::Arc;

use gencl_device_info::AddressModel;
use gencl_i915::ObjectFlags;
use gencl_program::{DataSection, PushSource};

use super::batch::{BatchState, BatchWriter, EmittedState, WalkState};
use super::check_buffer::CheckBuffer;
use super::constant_sizes::{REGISTER, local_ids_size};
use super::hardware::Hardware;
use super::images::{self, ImageState};
use super::race_buffer::RaceBuffer;
use super::relocate::add_variables;
use super::shadows::Shadows;
use super::slot::{ALIGNMENT, BatchedLaunch, COMMANDS, Slot, put_dwords};
use super::submit::Assembled;
use super::surfaces::{self, SURFACES};
use super::walk::Walk;
use super::{CommandSet, EnqueuedLaunch, Launch, checked, constants, dump, races};
use crate::context::DeviceContext;
use crate::memory::SharedList;
use crate::printf::PrintfBuffer;
use crate::{Code, Error, Result};

/// Largest number of launches of a batch.
pub(crate) const MAX_LAUNCHES: usize = 256;

/// Binding tables begin within so many bytes of the state heap (INTERFACE_DESCRIPTOR_DATA, "Binding Table Pointer").
const BINDING_TABLES: usize = 64 * 1024;

/// The largest value of INTERFACE_DESCRIPTOR_DATA, "Binding Table Entry Count".
const MAX_PREFETCHED: usize = 31;

/// Number of buffers at which a batch is full, but for shared virtual memory: adding one searches the list.
const MAX_OBJECTS: usize = 256;

/// Why a batch has a slot.
const HAS_SLOT: &str = "the slot is there until the batch is finished";

/// A batch under construction. Dropping it unfinished returns its slot.
pub(crate) struct Batch<'a> {
    context: &'a DeviceContext,
    /// `None` once finished.
    slot: Option<Slot>,
    /// State that the commands so far have set.
    emitted: EmittedState,
    /// The last launch.
    last: Option<BatchState>,
    reachable: Reachable,
}

/// The shared virtual memory that the launches of a batch may access.
#[derive(Default)]
struct Reachable {
    /// That of all launches which may access any, if it is in the validation list.
    list: Option<SharedList>,
    /// How many objects it has added to that.
    objects: usize,
}

impl<'a> Batch<'a> {
    /// An empty batch with room for the launch `first`. Errors: see [`Storage::new`].
    pub(crate) fn new(context: &'a DeviceContext, first: &Launch) -> Result<Self> {
        let size = COMMANDS + SURFACES + state_size(context, first, &first.space.walks());
        let slot = context.slots().take(context.space(), size as u64)?;
        let mut batch = Self {
            context,
            slot: Some(slot),
            emitted: EmittedState::new(context.device().commands()),
            last: None,
            reachable: Reachable::default(),
        };
        let (set, slot, _) = batch.parts();
        if let AddressModel::Surface(_) = context.device().info().messages.global {
            let layout = &set.surface_state;
            // Interface descriptors without a binding table of their own have this one, at offset 0.
            let at = slot.grow(SURFACES);
            let state = surfaces::write(layout, set.mocs, &mut slot.state[at..at + SURFACES]);
            if context.dumps_batches() {
                eprint!("{}", dump::structure(&layout.table(), &state));
            }
        }
        let heap = heap(slot);
        BatchWriter::new(set, &mut slot.dwords, &mut slot.relocations).begin(heap);
        Ok(batch)
    }

    fn parts(&mut self) -> (&'static CommandSet, &mut Slot, &mut EmittedState) {
        let slot = self.slot.as_mut().expect(HAS_SLOT);
        (self.context.device().commands(), slot, &mut self.emitted)
    }

    /// Adds a launch behind the others, the last of which is `before`. `false` when it does not fit. Errors
    /// when memory cannot be allocated; the batch is then unchanged.
    pub(crate) fn add(
        &mut self,
        launch: &EnqueuedLaunch,
        before: Option<&EnqueuedLaunch>,
        hardware: &Hardware,
    ) -> Result<bool> {
        if before.is_some_and(|before| before.is_repeated_by(launch)) && self.repeat(launch) {
            return Ok(true);
        }
        let Self { context, slot, reachable, .. } = self;
        let context = *context;
        let (set, slot) = (context.device().commands(), slot.as_mut().expect(HAS_SLOT));
        let walks = launch.space.walks();
        let fits = has_room(set, slot, walks.len(), state_size(context, launch, &walks))
            && has_room_for_bindings(slot, launch);
        let is_full = slot.objects.len() - reachable.objects >= MAX_OBJECTS || !reachable.is_same(launch);
        if !slot.launches.is_empty() && (is_full || !fits) {
            return Ok(false);
        }

        let kernel = launch.kernel();
        let prints = kernel.pushes.iter().any(|push| push.source == PushSource::PrintfBuffer);
        let threads = context.device().hardware().scratch_threads();
        let scratch = match kernel.scratch_size {
            0 => None,
            size => {
                let (_, size) = (set.scratch_code)(size).ok_or_else(|| {
                    let reason = format!("kernel {}: {size} bytes of scratch for a thread", kernel.name);
                    Error::new(Code::OutOfResources, reason)
                })?;
                Some(hardware.scratch(context.space(), size, threads)?)
            }
        };
        let stack = match kernel.stack_size {
            0 => None,
            size => Some(hardware.stack(context.space(), size, threads)?),
        };
        let printf = if prints { Some(context.printf().take(context.space())?) } else { None };
        let shadows = Shadows::new(context, launch)?;
        let check = checked::buffer(context, launch, &shadows)?;
        let races = races::buffer(context, launch)?;

        let stamps = stamps(slot);
        let images = image_state(context, slot, launch);
        let block = slot.grow(kernel.argument_block_size as usize);
        if kernel.argument_block_size > 0 {
            let arguments = launch.arguments.bytes();
            slot.state[block..block + arguments.len()].copy_from_slice(arguments);
        }
        let addresses = constants::Addresses {
            argument_block: heap(slot) + block as u64,
            constants: launch.executable().constants().map_or(0, |constants| constants.address()),
            variables: launch.executable().variables().map_or(0, |variables| variables.address()),
            printf: printf.as_ref().map_or(0, |buffer| buffer.storage().address()),
            check: check.as_ref().map_or(0, |buffer| buffer.storage().address()),
            races: races.as_ref().map_or(0, |races| races.storage().address()),
            shadows: shadows.arguments.clone(),
            local_shadow: shadows.local,
            stack: stack.as_ref().map_or(0, |stack| stack.address()),
        };
        let walks = walks.iter().map(|walk| walk_state(context, slot, launch, walk, &addresses, images));
        let state = BatchState {
            simd_width: kernel.simd_width,
            device_threads: context.device().hardware().threads(),
            scratch: scratch.as_ref().and_then(|(each, storage)| {
                (set.scratch_code)(*each).map(|(code, _)| (storage.address(), code))
            }),
            walks: walks.collect(),
            stamps: addresses_of(slot, stamps),
            mark: launch.mark,
        };
        add_objects(context, slot, launch);
        let written = printf.iter().map(PrintfBuffer::storage).chain(check.iter().map(CheckBuffer::storage));
        written
            .chain(races.iter().map(RaceBuffer::storage))
            .for_each(|storage| slot.add(storage, ObjectFlags::WRITE));
        reachable.add(context, slot, launch);
        add_shadows(context, slot, launch, &shadows);
        let memory = scratch.into_iter().map(|(_, storage)| storage).chain(stack).chain(shadows.own);
        for storage in memory {
            slot.add(&storage, ObjectFlags::WRITE);
            slot.kept.push(storage);
        }
        slot.launches.push(BatchedLaunch { stamps: COMMANDS + stamps, printf, check, races });
        self.write(state);
        Ok(true)
    }

    /// Adds the last launch once more, with the same state. `false` when it does not fit, or the launch has a
    /// buffer of its own.
    fn repeat(&mut self, launch: &EnqueuedLaunch) -> bool {
        let Some(mut state) = self.last.take() else { return false };
        let (set, slot, _) = self.parts();
        let has_buffer = slot.launches.last().is_none_or(BatchedLaunch::has_buffer);
        if has_buffer || !has_room(set, slot, state.walks.len(), ALIGNMENT) {
            return false;
        }
        let stamps = stamps(slot);
        (state.stamps, state.mark) = (addresses_of(slot, stamps), launch.mark);
        let stamped = BatchedLaunch { stamps: COMMANDS + stamps, printf: None, check: None, races: None };
        slot.launches.push(stamped);
        self.write(state);
        true
    }

    /// Writes the commands of a launch.
    fn write(&mut self, state: BatchState) {
        let (set, slot, emitted) = self.parts();
        BatchWriter::new(set, &mut slot.dwords, &mut slot.relocations).launch(&state, emitted);
        self.last = Some(state);
    }

    /// Writes the batch to its slot.
    pub(crate) fn finish(mut self) -> Assembled<'a> {
        let (set, slot, _) = self.parts();
        BatchWriter::new(set, &mut slot.dwords, &mut slot.relocations).end();
        assert!(4 * slot.dwords.len() <= COMMANDS, "the commands exceed their part of the slot");
        Assembled::write(self.context, self.slot.take().expect(HAS_SLOT))
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.context.slots().give(slot);
        }
    }
}

/// Address of the state heap: the slot's state, to which offsets in commands and state refer.
fn heap(slot: &Slot) -> u64 {
    slot.storage.address() + COMMANDS as u64
}

/// Whether there is room for a launch of `walks` walkers with `state` bytes of state.
fn has_room(set: &CommandSet, slot: &Slot, walks: usize, state: usize) -> bool {
    let commands = 4 * (slot.dwords.len() + BatchWriter::launch_length(set, walks) + BatchWriter::END);
    let fits = commands <= COMMANDS && COMMANDS + slot.state.len() + state <= slot.storage.size() as usize;
    fits && slot.launches.len() < MAX_LAUNCHES
}

/// Allocates the timestamps of a launch. Returns the offset in the state.
fn stamps(slot: &mut Slot) -> usize {
    let at = slot.grow(16);
    slot.state[at..at + 16].fill(0xff);
    at
}

/// GPU addresses of the timestamps at an offset in the state.
fn addresses_of(slot: &Slot, stamps: usize) -> [u64; 2] {
    let at = heap(slot) + stamps as u64;
    [at, at + 8]
}

/// Bytes of state of a launch.
fn state_size(context: &DeviceContext, launch: &Launch, walks: &[Walk]) -> usize {
    let constants: usize = walks.iter().map(|walk| constants_size(context, launch, walk)).sum();
    let block = (launch.kernel().argument_block_size as usize).next_multiple_of(ALIGNMENT);
    ALIGNMENT + images::size(launch.kernel()) + block + walks.len() * ALIGNMENT + constants
}

/// Whether the launch's binding table, if it has one, is within reach of the pointers to it. It is the first state
/// behind the timestamps.
fn has_room_for_bindings(slot: &Slot, launch: &Launch) -> bool {
    images::size(launch.kernel()) == 0 || slot.state.len() + ALIGNMENT < BINDING_TABLES
}

/// Writes the state of a launch's images and samplers to the slot.
fn image_state(context: &DeviceContext, slot: &mut Slot, launch: &Launch) -> ImageState {
    let (kernel, size) = (launch.kernel(), images::size(launch.kernel()));
    let at = slot.grow(size);
    let set = context.device().commands();
    let Slot { state, relocations, .. } = slot;
    let bytes = &mut state[at..at + size];
    let written = images::write(set, kernel, &launch.arguments, context, (at, &mut *bytes), |offset| {
        relocations.push((COMMANDS + offset) as u32);
    });
    if size > 0 && context.dumps_batches() {
        eprint!("{}", images::describe(set, kernel, bytes));
    }
    written
}

/// Hardware threads of a work-group.
fn threads(launch: &Launch, walk: &Walk) -> u32 {
    walk.group_size().div_ceil(launch.kernel().simd_width)
}

/// Bytes of constants of one walker, padded.
fn constants_size(context: &DeviceContext, launch: &Launch, walk: &Walk) -> usize {
    let kernel = launch.kernel();
    let threads = threads(launch, walk) as usize;
    let copies = if context.device().commands().shares_constants() { 1 } else { threads };
    let local_ids = threads * local_ids_size(kernel);
    (copies * kernel.cross_thread_size as usize + local_ids).next_multiple_of(ALIGNMENT)
}

/// Writes constants and interface descriptor of one walker to the slot.
fn walk_state(
    context: &DeviceContext,
    slot: &mut Slot,
    launch: &Launch,
    walk: &Walk,
    addresses: &constants::Addresses,
    images: ImageState,
) -> WalkState {
    let kernel = launch.kernel();
    let threads = threads(launch, walk);
    let local_ids = local_ids_size(kernel);
    let (descriptor, size) = (slot.grow(ALIGNMENT), constants_size(context, launch, walk));
    let at = slot.grow(size);
    let cross_size = kernel.cross_thread_size as usize;
    let (cross, rest) = slot.state[at..at + size].split_at_mut(cross_size);
    constants::cross_thread(kernel, &launch.arguments, &launch.space, walk, addresses, cross);
    constants::local_ids(kernel, walk.local, &mut rest[..threads as usize * local_ids]);
    let shared = context.device().commands().shares_constants();
    let (copies, each) = if shared { (1, 0) } else { (threads as usize, cross_size + local_ids) };
    if !shared {
        constants::interleave(cross_size, local_ids, copies, &mut slot.state[at..at + size]);
    }
    for copy in (0..copies).filter(|_| slot.storage.relocates()) {
        let begin = (COMMANDS + at + copy * each) as u32;
        slot.relocations.extend(constants::addresses(kernel).map(|offset| begin + offset));
    }

    let set = context.device().commands();
    // Its shadow begins where it ends.
    let local_memory = (launch.arguments.local_memory() as u32).max(2 * addresses.local_shadow);
    let fields = &set.interface_descriptor;
    let registers = |bytes: usize| (bytes / REGISTER) as u64;
    let dwords = fields.layout.pack(&[
        (fields.kernel, launch.executable().kernel_start(launch.number).into()),
        (fields.float_mode, 0),
        (fields.denorm_mode, 1),
        // How many are prefetched: samplers in fours, and at most as many entries as the field has.
        (fields.sampler_count, images.sampler_count.div_ceil(4) as u64),
        (fields.samplers, images.samplers as u64),
        (fields.binding_count, images.bindings.min(MAX_PREFETCHED) as u64),
        (fields.binding_table, images.binding_table as u64),
        (fields.constant_offset, 0),
        (fields.constant_length, registers(if shared { local_ids } else { each })),
        (fields.threads, threads.into()),
        (fields.slm_size, (set.slm_code)(local_memory)),
        (fields.barrier, kernel.barrier.into()),
        (fields.rounding, 0),
        (fields.cross_thread_length, registers(kernel.cross_thread_size as usize)),
    ]);
    let dwords = &dwords[..fields.layout.length];
    put_dwords(&mut slot.state[descriptor..], dwords);
    if fields.kernel.relocates {
        slot.relocations.push((COMMANDS + descriptor) as u32);
    }
    if context.dumps_batches() {
        eprint!("{}: {}", kernel.name, dump::structure(&fields.table(), dwords));
    }

    let last = walk.group_size() - (threads - 1) * kernel.simd_width;
    WalkState {
        walk: *walk,
        threads,
        right_mask: u32::MAX >> (32 - last),
        descriptor: descriptor as u32,
        constants: at as u32,
        constants_size: size as u32,
    }
}

/// Adds the shadow memory of a launch's arguments that is not its own.
fn add_shadows(context: &DeviceContext, slot: &mut Slot, launch: &Launch, shadows: &Shadows) {
    for (index, memory) in launch.arguments.memory() {
        let shadow = memory.range().0.shadow_on(context);
        if let Some(shadow) = shadow.filter(|_| shadows.arguments.get(*index).is_some_and(|at| *at != 0)) {
            slot.add(shadow, ObjectFlags::WRITE);
        }
    }
}

/// Adds the buffers that a launch uses to the validation list.
fn add_objects(context: &DeviceContext, slot: &mut Slot, launch: &Launch) {
    slot.add(launch.executable().code(), ObjectFlags::CAPTURE);
    add_variables(slot, launch.executable(), DataSection::Constants, ObjectFlags::empty());
    add_variables(slot, launch.executable(), DataSection::Variables, ObjectFlags::WRITE);
    for (_, memory) in launch.arguments.memory() {
        let (allocation, ..) = memory.range();
        slot.add(allocation.on(context), ObjectFlags::WRITE);
    }
}

impl Reachable {
    /// Whether it is the shared virtual memory that a launch may access, or there is none yet.
    fn is_same(&self, launch: &EnqueuedLaunch) -> bool {
        match (&self.list, &launch.reachable) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (_, None) | (None, Some(_)) => true,
        }
    }

    /// Adds the shared virtual memory that a launch may access, if an earlier one of the batch has not. Allocations
    /// differ from each other, so only the validation list as it was before is searched. Batches of other queues are not
    /// waited for (`ASYNC`): most launches use none of it, and those that do are ordered by events.
    fn add(&mut self, context: &DeviceContext, slot: &mut Slot, launch: &EnqueuedLaunch) {
        let Some(list) = launch.reachable.as_ref().filter(|_| self.list.is_none()) else { return };
        let before = slot.objects.len();
        for memory in list.iter() {
            let storage = memory.storage().on(context);
            let mut known = slot.objects[..before].iter_mut();
            match known.find(|object| object.handle == storage.handle()) {
                Some(object) => object.flags |= ObjectFlags::WRITE,
                None => slot.objects.push(storage.exec_object(ObjectFlags::WRITE | ObjectFlags::ASYNC)),
            }
        }
        self.objects = slot.objects.len() - before;
        self.list = Some(list.clone());
    }
}
