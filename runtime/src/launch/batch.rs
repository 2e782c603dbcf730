//! Commands of a batch.

use std::ops::Range;

use gencl_eu::dispatch::LaunchMark;
use smallvec::SmallVec;

use super::commands::{CommandSet, PipeControl};
use super::field::{CommandLayout, Field, Packed};
use super::walk::Walk;

/// PIPE_CONTROL, "Post Sync Operation": Write Timestamp.
const WRITE_TIMESTAMP: u64 = 3;

/// PIPELINE_SELECT, "Pipeline Selection": GPGPU.
const GPGPU: u64 = 2;

/// The largest buffer size of STATE_BASE_ADDRESS, in pages: no limit.
const NO_LIMIT: u64 = 0xf_ffff;

/// One walker, as commands refer to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkState {
    pub(crate) walk: Walk,
    /// Threads of a work-group.
    pub(crate) threads: u32,
    /// Dispatch mask of the last thread of a work-group.
    pub(crate) right_mask: u32,
    /// Offset of the interface descriptor in the state heap, a multiple of 64, different for each walker of the
    /// batch.
    pub(crate) descriptor: u32,
    /// Offset of the constants in the state heap, a multiple of 64.
    pub(crate) constants: u32,
    /// Bytes of constants, a multiple of 64; may be 0.
    pub(crate) constants_size: u32,
}

/// One launch, as commands refer to it.
#[derive(Clone, Debug)]
pub(crate) struct BatchState {
    pub(crate) simd_width: u32,
    /// Hardware threads of the device.
    pub(crate) device_threads: u32,
    /// Address of scratch memory, and the encoded size per thread.
    pub(crate) scratch: Option<(u64, u64)>,
    pub(crate) walks: SmallVec<[WalkState; 1]>,
    /// Addresses of the timestamps at begin and end.
    pub(crate) stamps: [u64; 2],
    /// How a profile finds the launch; `None` when there is none.
    pub(crate) mark: Option<LaunchMark>,
}

/// Values of MEDIA_VFE_STATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrontEnd {
    scratch: Option<(u64, u64)>,
    /// Bytes of the largest walker's constants.
    constants: u32,
}

/// State that the commands of a batch have set so far: what the next launch need not set again.
#[derive(Debug)]
pub(crate) struct EmittedState {
    /// The PIPE_CONTROLs before and after each launch, without the addresses of their timestamps.
    begin: Packed,
    end: Packed,
    /// The last MEDIA_VFE_STATE.
    front_end: Option<FrontEnd>,
    /// The last walker, by the offset of its descriptor, and the dwords of its commands without those that
    /// load its state. The state survives a walker, the flush behind it and any PIPE_CONTROL: Mesa's `crocus`
    /// (Gen7, Gen8: `crocus_upload_compute_state`) and `iris` (Gen8, Gen9: `iris_upload_gpgpu_walker`) do not
    /// load it again for a dispatch with the same state.
    walker: Option<(u32, Range<usize>)>,
}

impl EmittedState {
    /// For a batch without launches.
    pub(crate) fn new(set: &CommandSet) -> Self {
        let set = &set.pipe_control;
        let pack = |fields: &[_]| set.layout.pack(fields);
        let (begin, end) = (pack(&invalidate(set, WRITE_TIMESTAMP)), pack(&stall(set, WRITE_TIMESTAMP)));
        Self { begin, end, front_end: None, walker: None }
    }
}

/// Waits for running threads, flushes their writes to memory, then does the post-sync operation. A stall
/// alone is not allowed: PIPE_CONTROL needs a flush or a write with it (Volume 7, "Programming restrictions
/// for PIPE_CONTROL"). With a write it is what the manual calls end-of-pipe synchronisation: the write
/// happens after the flush (as in Mesa's `iris_emit_end_of_pipe_sync`).
fn stall(set: &PipeControl, post_sync: u64) -> [(Field, u64); 4] {
    [(set.dc_flush, 1), (set.render_flush, 1), (set.cs_stall, 1), (set.post_sync, post_sync)]
}

/// Invalidates all read caches, then does the post-sync operation. Without a write the data cache is flushed,
/// as a stall needs a flush or a write with it.
fn invalidate(set: &PipeControl, post_sync: u64) -> [(Field, u64); 7] {
    [
        (set.dc_flush, (post_sync == 0).into()),
        (set.state_invalidate, 1),
        (set.constant_invalidate, 1),
        (set.texture_invalidate, 1),
        (set.instruction_invalidate, 1),
        (set.cs_stall, 1),
        (set.post_sync, post_sync),
    ]
}

/// Appends commands to a batch.
pub(crate) struct BatchWriter<'a> {
    set: &'static CommandSet,
    dwords: &'a mut Vec<u32>,
    /// Offsets in the batch, in bytes, of addresses that the kernel driver may relocate.
    relocations: &'a mut Vec<u32>,
}

impl<'a> BatchWriter<'a> {
    pub(crate) fn new(
        set: &'static CommandSet,
        dwords: &'a mut Vec<u32>,
        relocations: &'a mut Vec<u32>,
    ) -> Self {
        Self { set, dwords, relocations }
    }

    fn emit(&mut self, layout: &CommandLayout, values: &[(Field, u64)]) {
        let begin = self.dwords.len();
        for (field, _) in values.iter().filter(|(_, value)| *value != 0) {
            self.relocate(field, begin);
        }
        layout.append(self.dwords, values);
    }

    /// Records a relocation for a field of the command that begins at a dword, if the field is one for it.
    fn relocate(&mut self, field: &Field, begin: usize) {
        if field.relocates {
            self.relocations.push(4 * (begin as u32 + u32::from(field.start / 32)));
        }
    }

    /// Largest number of dwords of [`BatchWriter::end`].
    pub(crate) const END: usize = 2;

    /// Largest number of dwords of [`BatchWriter::launch`].
    pub(crate) fn launch_length(set: &CommandSet, walks: usize) -> usize {
        let each = [
            set.media_curbe_load.layout.length,
            set.media_interface_descriptor_load.layout.length,
            set.gpgpu_walker.layout.length,
            set.media_state_flush.layout.length,
        ];
        let marks = 2 * set.noop.layout.length;
        let once = 2 * set.pipe_control.layout.length + set.media_vfe_state.layout.length + marks;
        once + walks * each.iter().sum::<usize>()
    }

    /// The beginning of a batch, for a pipeline in any state. `heap` is the address of the state heap.
    pub(crate) fn begin(&mut self, heap: u64) {
        let set = &self.set.pipe_control;
        self.emit(&set.layout, &stall(set, 0));
        self.select_pipeline();
        self.registers();
        self.base_addresses(heap);
    }

    /// One launch. Earlier ones have ended and flushed their results, but read caches may be stale.
    pub(crate) fn launch(&mut self, state: &BatchState, emitted: &mut EmittedState) {
        for number in state.mark.into_iter().flat_map(LaunchMark::numbers) {
            let set = &self.set.noop;
            self.emit(&set.layout, &[(set.number, number.into()), (set.write_enable, 1)]);
        }
        self.stamp(&emitted.begin, state.stamps[0]);
        let constants = state.walks.iter().map(|walk| walk.constants_size).max().unwrap_or(0);
        let wanted = FrontEnd { scratch: state.scratch, constants };
        if emitted.front_end != Some(wanted) {
            self.front_end(state.device_threads, wanted);
            // MEDIA_VFE_STATE discards the CURBE.
            (emitted.front_end, emitted.walker) = (Some(wanted), None);
        }
        for walk in &state.walks {
            match &emitted.walker {
                Some((descriptor, commands)) if *descriptor == walk.descriptor => {
                    self.dwords.extend_from_within(commands.clone())
                }
                _ => emitted.walker = Some((walk.descriptor, self.walk(state.simd_width, walk))),
            }
        }
        self.stamp(&emitted.end, state.stamps[1]);
    }

    /// A PIPE_CONTROL that writes the timestamp to an address.
    fn stamp(&mut self, command: &Packed, address: u64) {
        let (set, begin) = (&self.set.pipe_control, self.dwords.len());
        self.dwords.extend_from_slice(&command[..set.layout.length]);
        set.address.set(&mut self.dwords[begin..], address);
        self.relocate(&set.address, begin);
    }

    /// Selects the GPGPU pipeline, after read caches are invalidated and the colour calculation state is
    /// cleared (Volume 2a, PIPELINE_SELECT).
    fn select_pipeline(&mut self) {
        let set = &self.set.pipe_control;
        self.emit(&set.layout, &invalidate(set, 0));
        self.emit(&self.set.cc_state_pointers.layout, &[]);
        let set = &self.set.pipeline_select;
        self.emit(&set.layout, &[(set.selection, GPGPU), (set.mask, 3)]);
    }

    fn registers(&mut self) {
        let set = &self.set.load_register_imm;
        for &(register, data) in self.set.registers {
            self.emit(&set.layout, &[(set.register, register), (set.data, data)]);
        }
    }

    /// Dynamic and surface state are in the state heap: pointers to border colours have 24 bits, those to binding
    /// tables 16. The other base addresses are 0, so that the offsets in commands are addresses below 4 GiB.
    fn base_addresses(&mut self, heap: u64) {
        let set = &self.set.state_base_address;
        let mocs = self.set.mocs;
        self.emit(
            &set.layout,
            &[
                (set.general_modify, 1),
                (set.general_mocs, mocs),
                (set.general, 0),
                (set.stateless_mocs, mocs),
                (set.surface_modify, 1),
                (set.surface_mocs, mocs),
                (set.surface, heap),
                (set.dynamic_modify, 1),
                (set.dynamic_mocs, mocs),
                (set.dynamic, heap),
                (set.indirect_modify, 1),
                (set.indirect_mocs, mocs),
                (set.indirect, 0),
                (set.instruction_modify, 1),
                (set.instruction_mocs, mocs),
                (set.instruction, 0),
                (set.general_size_modify, 1),
                (set.general_size, NO_LIMIT),
                (set.dynamic_size_modify, 1),
                (set.dynamic_size, NO_LIMIT),
                (set.indirect_size_modify, 1),
                (set.indirect_size, NO_LIMIT),
                (set.instruction_size_modify, 1),
                (set.instruction_size, NO_LIMIT),
                (set.bindless_modify, 1),
                (set.bindless_mocs, mocs),
                (set.bindless, 0),
                (set.bindless_size, 0),
            ],
        );
    }

    /// Threads, scratch and URB. GPGPU threads use no URB entries, of which two of two registers are the
    /// least that works; the rest of the URB is for constants (as in Mesa's `anv`, compute pipeline).
    fn front_end(&mut self, device_threads: u32, FrontEnd { scratch, constants }: FrontEnd) {
        let set = &self.set.media_vfe_state;
        let (base, size) = scratch.unwrap_or_default();
        self.emit(
            &set.layout,
            &[
                (set.scratch_per_thread, size),
                (set.scratch_base, base),
                (set.gpgpu_mode, 1),
                (set.bypass_gateway, 1),
                (set.reset_gateway_timer, 1),
                (set.urb_entries, 2),
                (set.max_threads, u64::from(device_threads) - 1),
                (set.curbe_size, u64::from(constants / 32)),
                (set.urb_entry_size, 2),
            ],
        );
    }

    /// Loads a walker's state and starts it. Returns the range of the commands that do not load state, none
    /// of which has an address to relocate.
    fn walk(&mut self, simd_width: u32, state: &WalkState) -> Range<usize> {
        if state.constants_size > 0 {
            let set = &self.set.media_curbe_load;
            let length = u64::from(state.constants_size);
            self.emit(&set.layout, &[(set.length, length), (set.address, state.constants.into())]);
        }
        let set = &self.set.media_interface_descriptor_load;
        let length = 4 * self.set.interface_descriptor.layout.length as u64;
        self.emit(&set.layout, &[(set.length, length), (set.address, state.descriptor.into())]);
        let (set, begin) = (&self.set.gpgpu_walker, self.dwords.len());
        let Walk { first, end, .. } = state.walk;
        self.emit(
            &set.layout,
            &[
                (set.descriptor, 0),
                (set.width, u64::from(state.threads) - 1),
                (set.height, 0),
                (set.depth, 0),
                (set.simd_size, u64::from(simd_width / 16)),
                (set.first_x, first[0].into()),
                (set.end_x, end[0].into()),
                (set.first_y, first[1].into()),
                (set.end_y, end[1].into()),
                (set.first_z, first[2].into()),
                (set.end_z, end[2].into()),
                (set.right_mask, state.right_mask.into()),
                (set.bottom_mask, 0xffff_ffff),
            ],
        );
        self.emit(&self.set.media_state_flush.layout, &[]);
        begin..self.dwords.len()
    }

    /// Ends the batch, padded to a whole qword, as the kernel driver requires.
    pub(crate) fn end(&mut self) {
        self.emit(&self.set.batch_buffer_end.layout, &[]);
        if !self.dwords.len().is_multiple_of(2) {
            self.dwords.push(0);
        }
    }
}
