//! Batches: launches that go to the kernel driver together, and what became of each.
//!
//! A slot has the commands in front and the state behind: for each launch two timestamps, interface
//! descriptors, the constants of each walker, the argument block; for one that is like the one before only
//! the timestamps. Launches of a batch run one after the other, with everything flushed and read anew between
//! them.

use std::sync::Arc;

use gencl_i915::{Engine, Errno, ExecBuffer, ExecFlags, ExecObject, GemHandle, ObjectFlags, Relocation};
use gencl_program::{Image, PushSource};

use super::batch::{BatchState, Common, WalkState, Writer};
use super::clock::Correlation;
use super::hardware::{Hardware, HardwareContext};
use super::slot::Slot;
use super::surfaces::{self, SURFACES};
use super::walk::Walk;
use super::{ALIGNMENT, CommandSet, Launch, clock, constants, dump, failure};
use crate::context::DeviceContext;
use crate::kernel::Bound;
use crate::memory::Storage;
use crate::printf::PrintfBuffer;
use crate::program::Executable;
use crate::{Code, Error, Result};

/// Bytes of commands at the beginning of a slot. A launch has some 200, one of eight walkers 900.
const COMMANDS: usize = 64 * 1024;

/// Most launches of a batch.
pub(crate) const MAX_LAUNCHES: usize = 256;

/// With so many buffers a batch is full: each that is added is looked for among the others.
const MANY_OBJECTS: usize = 256;

/// What a timestamp is before the GPU writes it: no 36-bit number.
const UNWRITTEN: u64 = u64::MAX;

/// `EIO`: the kernel driver has given the hardware context up.
const EIO: Errno = Errno(5);

/// A launch in a batch.
pub(crate) struct Placed {
    /// Where in the slot its timestamps are, at begin and end.
    stamps: usize,
    printf: Option<PrintfBuffer>,
}

/// A batch that is being made. Dropped unsubmitted, it gives its memory back.
pub(crate) struct Batch<'a> {
    context: &'a DeviceContext,
    /// There until it is submitted.
    slot: Option<Slot>,
    /// What its launches have in common.
    common: Common,
    /// The last of them.
    last: Option<BatchState>,
}

/// What became of a batch that was handed to the kernel driver.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation for each batch")]
pub(crate) enum Submitted {
    /// It will run.
    Yes(InFlight),
    /// Batches before it have lost the hardware context; when they have been waited for, it may be tried
    /// again.
    Later,
}

impl<'a> Batch<'a> {
    /// An empty batch with room for `first`. Errors as [`Storage::new`].
    pub(crate) fn new(context: &'a DeviceContext, first: &Launch) -> Result<Self> {
        let size = COMMANDS + SURFACES + state_size(context, first, &first.space.walks());
        let slot = context.slots().take(context.space(), size as u64)?;
        let mut batch =
            Self { context, slot: Some(slot), common: Common::new(context.device().commands()), last: None };
        let (set, slot, _) = batch.parts();
        let surfaces = match &set.surface_state {
            Some(layout) => {
                let at = grow(slot, SURFACES);
                let state = surfaces::write(layout, set.mocs, &mut slot.state[at..at + SURFACES]);
                if context.dumps_batches() {
                    eprint!("{}", dump::structure(&layout.table(), &state));
                }
                slot.storage.address() + (COMMANDS + at) as u64
            }
            None => 0,
        };
        Writer::new(set, &mut slot.dwords, &mut slot.relocations).begin(surfaces);
        Ok(batch)
    }

    fn parts(&mut self) -> (&'static CommandSet, &mut Slot, &mut Common) {
        let slot = self.slot.as_mut().expect("the slot is there until the batch is submitted");
        (self.context.device().commands(), slot, &mut self.common)
    }

    /// Adds a launch that is to run behind the others, the last of which is `before`. `false` when there is
    /// no room for it. Errors when memory for it is missing; the batch is then as it was.
    pub(crate) fn add(
        &mut self,
        launch: &Launch,
        before: Option<&Launch>,
        hardware: &Hardware,
    ) -> Result<bool> {
        if before.is_some_and(|before| launch.is_like(before)) && self.repeat() {
            return Ok(true);
        }
        let context = self.context;
        let (set, slot, _) = self.parts();
        let walks = launch.space.walks();
        let fits = has_room(set, slot, walks.len(), state_size(context, launch, &walks));
        if !slot.launches.is_empty() && (slot.objects.len() >= MANY_OBJECTS || !fits) {
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

        let pointers = constants::pointers(kernel, &launch.arguments, |buffer| buffer.address_on(context));
        let stamps = stamps(slot);
        let block = grow(slot, kernel.argument_block_size as usize);
        let end = block + kernel.argument_block_size as usize;
        constants::argument_block(kernel, &launch.arguments, &pointers, &mut slot.state[block..end]);
        let addresses = constants::Addresses {
            argument_block: slot.storage.address() + (COMMANDS + block) as u64,
            constants: launch.executable().constants().map_or(0, |constants| constants.address()),
            variables: launch.executable().variables().map_or(0, |variables| variables.address()),
            printf: printf.as_ref().map_or(0, |buffer| buffer.storage().address()),
            stack: stack.as_ref().map_or(0, |stack| stack.address()),
        };
        let walks = walks.iter().map(|walk| walk_state(context, slot, launch, walk, &pointers, &addresses));
        let state = BatchState {
            simd_width: kernel.simd_width,
            device_threads: context.device().hardware().threads(),
            scratch: scratch.as_ref().and_then(|(each, storage)| {
                (set.scratch_code)(*each).map(|(code, _)| (storage.address(), code))
            }),
            walks: walks.collect(),
            stamps: addresses_of(slot, stamps),
        };
        add_objects(context, slot, launch, printf.as_ref());
        for storage in scratch.into_iter().map(|(_, storage)| storage).chain(stack) {
            add(slot, &storage, ObjectFlags::WRITE);
            slot.kept.push(storage);
        }
        slot.launches.push(Placed { stamps: COMMANDS + stamps, printf });
        self.write(state);
        Ok(true)
    }

    /// Adds the last launch once more: what was made for it is there. `false` when there is no room, or the
    /// launch has memory of its own.
    fn repeat(&mut self) -> bool {
        let Some(mut state) = self.last.take() else { return false };
        let (set, slot, _) = self.parts();
        let prints = slot.launches.last().is_none_or(|last| last.printf.is_some());
        if prints || !has_room(set, slot, state.walks.len(), ALIGNMENT) {
            return false;
        }
        let stamps = stamps(slot);
        state.stamps = addresses_of(slot, stamps);
        slot.launches.push(Placed { stamps: COMMANDS + stamps, printf: None });
        self.write(state);
        true
    }

    /// Writes the commands of a launch.
    fn write(&mut self, state: BatchState) {
        let (set, slot, common) = self.parts();
        Writer::new(set, &mut slot.dwords, &mut slot.relocations).launch(&state, common);
        self.last = Some(state);
    }

    /// Hands the batch to the kernel driver. `behind_others` says that there are batches of the same hardware
    /// that nobody has waited for, `awaited` that the caller waits for those and this one next.
    /// `OUT_OF_RESOURCES` when it is refused.
    pub(crate) fn submit(
        mut self,
        hardware: &Hardware,
        profiled: bool,
        behind_others: bool,
        awaited: bool,
    ) -> Result<Submitted> {
        let context = self.context;
        let (set, slot, _) = self.parts();
        Writer::new(set, &mut slot.dwords, &mut slot.relocations).end();
        assert!(4 * slot.dwords.len() <= COMMANDS, "the batch outgrows its part of the slot");
        if context.dumps_batches() {
            eprint!("{}", dump::batch(set, &slot.dwords));
        }
        // The kernel driver takes no batch that it would have to let others wait for as written; who waits
        // for the timestamps waits for the batch.
        let storage = slot.storage.clone();
        add(slot, &storage, ObjectFlags::CAPTURE);
        let relocates = storage.relocates();
        let length = 4 * slot.dwords.len();
        slot.commands.clear();
        slot.commands.extend(slot.dwords.iter().flat_map(|dword| dword.to_le_bytes()));
        storage.memory().write(0, &slot.commands);
        storage.memory().write(COMMANDS, &slot.state);
        if relocates {
            relocate(slot);
        }
        // Only programs' variables have pointers that outlast a batch.
        let placing = (!slot.relocated.is_empty()).then(|| context.space().placing());
        presume(slot);
        let flags = if relocates { ExecFlags::empty() } else { ExecFlags::NO_RELOC };
        let correlation =
            if profiled { Correlation::now(&**context.device().node(), context.device()) } else { None };
        for last in [false, true] {
            let current = hardware.current();
            let mut exec = ExecBuffer {
                context: current.id(),
                engine: Engine::Render,
                flags,
                objects: &mut slot.objects,
                batch_start: 0,
                batch_length: length as u32,
                awaited,
            };
            match context.device().node().exec_buffer(&mut exec) {
                Ok(()) => {
                    note_places(slot);
                    drop(placing);
                    let slot = self.slot.take();
                    return Ok(Submitted::Yes(InFlight { slot, hardware: current, correlation }));
                }
                Err(EIO) if behind_others => return Ok(Submitted::Later),
                Err(EIO) if !last => hardware.replace(&current)?,
                Err(errno) => {
                    let reason = format!("the batch was refused: {errno}");
                    return Err(Error::new(Code::OutOfResources, reason));
                }
            }
        }
        unreachable!("the second attempt returns")
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.context.slots().give(slot);
        }
    }
}

/// Makes room for `size` bytes of state, aligned; gives where.
fn grow(slot: &mut Slot, size: usize) -> usize {
    let begin = slot.state.len();
    slot.state.resize(begin + size.next_multiple_of(ALIGNMENT), 0);
    begin
}

/// Is there room for one more launch, with so many walkers and bytes of state?
fn has_room(set: &CommandSet, slot: &Slot, walks: usize, state: usize) -> bool {
    let commands = 4 * (slot.dwords.len() + Writer::launch_length(set, walks) + Writer::END);
    let fits = commands <= COMMANDS && COMMANDS + slot.state.len() + state <= slot.storage.size() as usize;
    fits && slot.launches.len() < MAX_LAUNCHES
}

/// Makes room for the timestamps of a launch; gives where.
fn stamps(slot: &mut Slot) -> usize {
    let at = grow(slot, 16);
    slot.state[at..at + 16].fill(0xff);
    at
}

/// The addresses of the timestamps that are at a place of the state.
fn addresses_of(slot: &Slot, stamps: usize) -> [u64; 2] {
    let at = slot.storage.address() + (COMMANDS + stamps) as u64;
    [at, at + 8]
}

/// Bytes of state that a launch takes.
fn state_size(context: &DeviceContext, launch: &Launch, walks: &[Walk]) -> usize {
    let constants: usize = walks.iter().map(|walk| constants_size(context, launch, walk)).sum();
    let block = (launch.kernel().argument_block_size as usize).next_multiple_of(ALIGNMENT);
    ALIGNMENT + block + walks.len() * ALIGNMENT + constants
}

fn threads(launch: &Launch, walk: &Walk) -> u32 {
    walk.group_size().div_ceil(launch.kernel().simd_width)
}

/// Bytes of constants of one walker, padded.
fn constants_size(context: &DeviceContext, launch: &Launch, walk: &Walk) -> usize {
    let kernel = launch.kernel();
    let threads = threads(launch, walk) as usize;
    let copies = if context.device().commands().shares_constants() { 1 } else { threads };
    let local_ids = threads * constants::local_ids_size(kernel);
    (copies * kernel.cross_thread_size as usize + local_ids).next_multiple_of(ALIGNMENT)
}

/// Makes constants and interface descriptor of one walker.
fn walk_state(
    context: &DeviceContext,
    slot: &mut Slot,
    launch: &Launch,
    walk: &Walk,
    pointers: &constants::Pointers,
    addresses: &constants::Addresses,
) -> WalkState {
    let kernel = launch.kernel();
    let threads = threads(launch, walk);
    let local_ids = constants::local_ids_size(kernel);
    let (descriptor, size) = (grow(slot, ALIGNMENT), constants_size(context, launch, walk));
    let at = grow(slot, size);
    let cross_size = kernel.cross_thread_size as usize;
    let (cross, rest) = slot.state[at..at + size].split_at_mut(cross_size);
    constants::cross_thread(kernel, &launch.arguments, pointers, &launch.space, walk, addresses, cross);
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
    let fields = &set.interface_descriptor;
    let registers = |bytes: usize| (bytes / constants::REGISTER) as u64;
    let dwords = fields.layout.pack(&[
        (fields.kernel, launch.executable().kernel_start(launch.number).into()),
        (fields.float_mode, 0),
        (fields.denorm_mode, 1),
        (fields.constant_offset, 0),
        (fields.constant_length, registers(if shared { local_ids } else { each })),
        (fields.threads, threads.into()),
        (fields.slm_size, (set.slm_code)(launch.local_memory)),
        (fields.barrier, kernel.barrier.into()),
        (fields.rounding, 0),
        (fields.cross_thread_length, registers(kernel.cross_thread_size as usize)),
    ]);
    let dwords = &dwords[..fields.layout.length];
    super::put_dwords(&mut slot.state[descriptor..], dwords);
    if fields.kernel.relocates {
        slot.relocations.push((COMMANDS + descriptor) as u32);
    }
    if context.dumps_batches() {
        eprint!("{}: {}", kernel.name, dump::structure(&fields.table(), dwords));
    }

    let last = walk.group_size() - (threads - 1) * kernel.simd_width;
    let base = slot.storage.low_address() + COMMANDS as u32;
    WalkState {
        walk: *walk,
        threads,
        right_mask: u32::MAX >> (32 - last),
        descriptor: base + descriptor as u32,
        constants: base + at as u32,
        constants_size: size as u32,
    }
}

/// Lists a buffer, once.
fn add(slot: &mut Slot, storage: &Storage, flags: ObjectFlags) {
    match slot.objects.iter_mut().find(|object| object.handle == storage.handle()) {
        Some(object) => object.flags |= flags,
        None => slot.objects.push(storage.exec_object(flags)),
    }
}

/// Tells the kernel driver where addresses are: in the slot, and in the variables of programs.
fn relocate(slot: &mut Slot) {
    let mut targets: Vec<(u64, GemHandle)> =
        slot.objects.iter().map(|object| (object.offset, object.handle)).collect();
    targets.sort_unstable_by_key(|(address, _)| *address);
    let entry = |offset: u32| {
        let at = offset as usize;
        let bytes = match at.checked_sub(COMMANDS) {
            Some(at) => &slot.state[at..at + 4],
            None => &slot.commands[at..at + 4],
        };
        let address = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        // Buffers do not touch each other: the last that begins below an address has it. Null is nobody's.
        let below = targets.partition_point(|(begin, _)| *begin <= address.into()).checked_sub(1)?;
        let (begin, handle) = targets[below];
        Some(relocation(handle, address - begin as u32, offset.into(), begin))
    };
    let relocations: Vec<Relocation> = slot.relocations.iter().filter_map(|offset| entry(*offset)).collect();
    let own = slot.storage.handle();
    if let Some(object) = slot.objects.iter_mut().find(|object| object.handle == own) {
        object.relocations = relocations;
    }
}

/// At `offset`, the address of `target` plus `delta` is to be; `presumed` is what was taken for the address
/// of `target`.
fn relocation(target: GemHandle, delta: u32, offset: u64, presumed: u64) -> Relocation {
    Relocation {
        target: target.0,
        delta,
        offset,
        presumed_offset: presumed,
        read_domains: 0,
        write_domain: 0,
    }
}

/// Says where buffers were that programs' variables point to.
fn presume(slot: &mut Slot) {
    let placed = |target: u32| slot.relocated.iter().find(|storage| storage.handle().0 == target);
    for storage in &slot.relocated {
        let Some(object) = slot.objects.iter_mut().find(|object| object.handle == storage.handle()) else {
            continue;
        };
        for entry in &mut object.relocations {
            entry.presumed_offset =
                placed(entry.target).map_or(entry.presumed_offset, |target| target.placed());
        }
    }
}

/// Notes where the kernel driver has placed what variables point to.
fn note_places(slot: &Slot) {
    for storage in &slot.relocated {
        if let Some(object) = slot.objects.iter().find(|object| object.handle == storage.handle()) {
            storage.place_at(object.offset);
        }
    }
}

/// Lists a program's variables, with the pointers in them.
fn add_variables(slot: &mut Slot, executable: &Executable, image: Image, flags: ObjectFlags) {
    let Some(storage) = executable.image(image) else { return };
    add(slot, storage, flags);
    if !storage.relocates() || slot.relocated.iter().any(|other| other.handle() == storage.handle()) {
        return;
    }
    let pointers = executable.relocations().iter().filter(|pointer| pointer.image == image);
    // The kernel driver writes a pointer when what it points to has moved; a kernel may have changed it
    // before. Where it was is known when the batch is submitted: other queues' batches come between.
    let entries = pointers.filter_map(|pointer| {
        let target = executable.image(pointer.target)?;
        Some(relocation(target.handle(), pointer.addend as u32, pointer.offset, 0))
    });
    if let Some(object) = slot.objects.iter_mut().find(|object| object.handle == storage.handle()) {
        object.relocations = entries.collect();
        slot.relocated.push(storage.clone());
    }
}

/// Lists what a launch uses.
fn add_objects(context: &DeviceContext, slot: &mut Slot, launch: &Launch, printf: Option<&PrintfBuffer>) {
    add(slot, launch.executable().code(), ObjectFlags::CAPTURE);
    add_variables(slot, launch.executable(), Image::Constants, ObjectFlags::empty());
    add_variables(slot, launch.executable(), Image::Variables, ObjectFlags::WRITE);
    if let Some(printf) = printf {
        add(slot, printf.storage(), ObjectFlags::WRITE);
    }
    for bound in launch.arguments.bound() {
        match bound {
            Bound::Buffer(Some(buffer)) => add(slot, buffer.storage().on(context), ObjectFlags::WRITE),
            Bound::Shared(_, memory) => add(slot, memory.storage().on(context), ObjectFlags::WRITE),
            Bound::Image(image) => add(slot, image.data().storage().on(context), ObjectFlags::WRITE),
            Bound::Buffer(None) | Bound::Bytes(_) | Bound::Local(_) | Bound::Sampler => {}
        }
    }
    for memory in launch.arguments.reaches() {
        add(slot, memory.storage().on(context), ObjectFlags::WRITE);
    }
}

/// Where the kernel driver has placed a buffer.
fn placed(objects: &[ExecObject], storage: &Storage) -> u64 {
    let object = objects.iter().find(|object| object.handle == storage.handle());
    object.map_or(storage.address(), |object| object.offset)
}

/// How far a launch of a batch has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It has not begun: something before it ended the batch.
    None,
    /// It has begun and did not end.
    Begun,
    /// It has ended; begin and end on the host's clock, 0 when the batch is not profiled.
    Ended(u64, u64),
}

/// A batch that the kernel driver has.
pub(crate) struct InFlight {
    /// There until the batch is given back.
    slot: Option<Slot>,
    hardware: Arc<HardwareContext>,
    correlation: Option<Correlation>,
}

impl InFlight {
    fn slot(&self) -> &Slot {
        self.slot.as_ref().expect("the slot is there until the batch is given back")
    }

    /// Waits until the GPU is done with it, whether it ran or not.
    pub(crate) fn wait(&self) {
        // An error says that the GPU is lost; then the timestamps tell how far it came.
        let _ = self.slot().storage.wait();
    }

    /// How far the launch that was added as number `index` has come.
    pub(crate) fn progress(&self, index: usize) -> Progress {
        let slot = self.slot();
        let stamps = slot.launches[index].stamps;
        let [begin, end] = [0, 8].map(|offset| slot.storage.memory().read_u64(stamps + offset));
        match (begin, end) {
            (UNWRITTEN, _) => Progress::None,
            (_, UNWRITTEN) => Progress::Begun,
            _ => {
                let (begin, end) =
                    self.correlation.map_or((0, 0), |correlation| correlation.convert(begin, end));
                Progress::Ended(begin, end)
            }
        }
    }

    /// Nanoseconds from the beginning of the first launch to the end of the last; `None` when not all have
    /// ended.
    pub(crate) fn duration(&self, context: &DeviceContext) -> Option<u64> {
        let slot = self.slot();
        let (first, last) = (slot.launches.first()?.stamps, slot.launches.last()?.stamps + 8);
        let [begin, end] = [first, last].map(|offset| slot.storage.memory().read_u64(offset));
        (end != UNWRITTEN).then(|| clock::duration(begin, end, context.device().facts().timestamp_hz))
    }

    /// Prints what the launch has printed, also when it did not come to its end.
    pub(crate) fn print(&mut self, index: usize, launch: &Launch, context: &DeviceContext) {
        let slot = self.slot.as_mut().expect("the slot is there until the batch is given back");
        if let Some(printf) = slot.launches[index].printf.take() {
            let executable = launch.executable();
            let objects = &slot.objects;
            let string = |address| executable.string(address, |storage| placed(objects, storage));
            context.printf().finish(printf, &launch.kernel().name, executable.formats(), &string);
        }
    }

    /// `OUT_OF_RESOURCES` with what is known about why `launch` did not end.
    pub(crate) fn failure(&self, launch: &Launch, context: &DeviceContext) -> Error {
        let place = |storage: &Storage| placed(&self.slot().objects, storage);
        Error::new(Code::OutOfResources, failure::describe(launch, &self.hardware.failure(), context, &place))
    }

    /// Takes care that further batches get another hardware context, where that is possible.
    pub(crate) fn replace(&self, hardware: &Hardware) {
        if let Err(error) = hardware.replace(&self.hardware) {
            // The next batch finds the old one, and fails.
            tracing::warn!("no new hardware context: {error}");
        }
    }

    /// Gives the memory back for the next batch.
    pub(crate) fn give_back(mut self, context: &DeviceContext) {
        if let Some(slot) = self.slot.take() {
            context.slots().give(slot);
        }
    }
}

impl Drop for InFlight {
    /// One that is not given back has failed, or its thread has: the GPU may still have it.
    fn drop(&mut self) {
        if self.slot.is_some() {
            self.wait();
        }
    }
}
