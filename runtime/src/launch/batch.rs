//! The batch of a launch.

use std::ops::Range;

use smallvec::SmallVec;

use super::commands::{CommandSet, PipeControl};
use super::field::{Field, Layout, Packed};
use super::walk::Walk;

/// PIPE_CONTROL, "Post Sync Operation": Write Timestamp.
const WRITE_TIMESTAMP: u64 = 3;

/// PIPELINE_SELECT, "Pipeline Selection": GPGPU.
const GPGPU: u64 = 2;

/// A buffer size that stands for no limit, in pages.
const NO_LIMIT: u64 = 0xf_ffff;

/// What a batch needs to know of one walker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkState {
    pub(crate) walk: Walk,
    /// Threads of a work-group.
    pub(crate) threads: u32,
    /// Lanes of the last thread that have work.
    pub(crate) right_mask: u32,
    /// Address of the interface descriptor, a multiple of 64; no other walker of the batch has it.
    pub(crate) descriptor: u32,
    /// Address of the constants, a multiple of 64.
    pub(crate) constants: u32,
    /// Bytes of constants, a multiple of 64; may be 0.
    pub(crate) constants_size: u32,
}

/// What a batch needs to know of one launch.
#[derive(Clone, Debug)]
pub(crate) struct BatchState {
    pub(crate) simd_width: u32,
    /// Hardware threads of the device.
    pub(crate) device_threads: u32,
    /// Address, and the code of how much each thread has.
    pub(crate) scratch: Option<(u64, u64)>,
    pub(crate) walks: SmallVec<[WalkState; 1]>,
    /// Where the timestamps at begin and end go.
    pub(crate) stamps: [u64; 2],
}

/// What MEDIA_VFE_STATE sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrontEnd {
    scratch: Option<(u64, u64)>,
    /// Bytes of the largest walker's constants.
    constants: u32,
}

/// What the launches of a batch have in common.
#[derive(Debug)]
pub(crate) struct Common {
    /// The PIPE_CONTROLs in front of each launch and behind it, without the addresses of their timestamps.
    begin: Packed,
    end: Packed,
    /// What was set last.
    front_end: Option<FrontEnd>,
    /// The last walker, by the address of its descriptor, and where its commands are but for those that load
    /// its state. That stays over a walker, what must come behind one and any PIPE_CONTROL: Mesa's `crocus`
    /// (Gen7, Gen8: `crocus_upload_compute_state`) and `iris` (Gen8, Gen9: `iris_upload_gpgpu_walker`) do not
    /// load it anew for a dispatch that needs the same.
    walker: Option<(u32, Range<usize>)>,
}

impl Common {
    /// For launches of which none is there yet.
    pub(crate) fn new(set: &CommandSet) -> Self {
        let set = &set.pipe_control;
        let pack = |fields: &[_]| set.layout.pack(fields);
        let (begin, end) = (pack(&invalidate(set, WRITE_TIMESTAMP)), pack(&stall(set, WRITE_TIMESTAMP)));
        Self { begin, end, front_end: None, walker: None }
    }
}

/// Waits for what runs and writes its results to memory, then does what `post_sync` says. The stall alone
/// would not be allowed: PIPE_CONTROL wants a flush or a write beside it (Volume 7, "Programming restrictions
/// for PIPE_CONTROL"). With a write, it is what the manual calls end-of-pipe synchronisation: the write comes
/// when the flush is done (so does Mesa's `iris_emit_end_of_pipe_sync`).
fn stall(set: &PipeControl, post_sync: u64) -> [(Field, u64); 3] {
    [(set.dc_flush, 1), (set.cs_stall, 1), (set.post_sync, post_sync)]
}

/// Makes all caches read anew, then does what `post_sync` says. Without a write data are flushed once more,
/// as the stall wants company.
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

/// Writes commands.
pub(crate) struct Writer<'a> {
    set: &'static CommandSet,
    dwords: &'a mut Vec<u32>,
    /// Where in the batch, in bytes, addresses of buffers are.
    relocations: &'a mut Vec<u32>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        set: &'static CommandSet,
        dwords: &'a mut Vec<u32>,
        relocations: &'a mut Vec<u32>,
    ) -> Self {
        Self { set, dwords, relocations }
    }

    fn emit(&mut self, layout: &Layout, values: &[(Field, u64)]) {
        let begin = self.dwords.len();
        for (field, _) in values.iter().filter(|(_, value)| *value != 0) {
            self.relocate(field, begin);
        }
        layout.append(self.dwords, values);
    }

    /// Notes the address that is in a field of the command at a dword, if the kernel driver places buffers.
    fn relocate(&mut self, field: &Field, begin: usize) {
        if field.relocates {
            self.relocations.push(4 * (begin as u32 + u32::from(field.start / 32)));
        }
    }

    /// Dwords that [`Writer::end`] takes at most.
    pub(crate) const END: usize = 2;

    /// Dwords that [`Writer::launch`] takes at most.
    pub(crate) fn launch_length(set: &CommandSet, walks: usize) -> usize {
        let each = [
            set.media_curbe_load.layout.length,
            set.media_interface_descriptor_load.layout.length,
            set.gpgpu_walker.layout.length,
            set.media_state_flush.layout.length,
        ];
        let once = 2 * set.pipe_control.layout.length + set.media_vfe_state.layout.length;
        once + walks * each.iter().sum::<usize>()
    }

    /// What comes first, for a pipeline in any state. `surfaces` is the address of the binding table, if
    /// there is one.
    pub(crate) fn begin(&mut self, surfaces: u64) {
        let set = &self.set.pipe_control;
        self.emit(&set.layout, &stall(set, 0));
        self.select_pipeline();
        self.registers();
        self.base_addresses(surfaces);
    }

    /// One launch, behind others that have ended and written their results. Caches may hold what was there
    /// before.
    pub(crate) fn launch(&mut self, state: &BatchState, common: &mut Common) {
        self.stamp(&common.begin, state.stamps[0]);
        let constants = state.walks.iter().map(|walk| walk.constants_size).max().unwrap_or(0);
        let wanted = FrontEnd { scratch: state.scratch, constants };
        if common.front_end != Some(wanted) {
            self.front_end(state.device_threads, wanted);
            // Constants are gone.
            (common.front_end, common.walker) = (Some(wanted), None);
        }
        for walk in &state.walks {
            match &common.walker {
                Some((descriptor, commands)) if *descriptor == walk.descriptor => {
                    self.dwords.extend_from_within(commands.clone())
                }
                _ => common.walker = Some((walk.descriptor, self.walk(state.simd_width, walk))),
            }
        }
        self.stamp(&common.end, state.stamps[1]);
    }

    /// A PIPE_CONTROL that writes the time to an address.
    fn stamp(&mut self, command: &Packed, address: u64) {
        let (set, begin) = (&self.set.pipe_control, self.dwords.len());
        self.dwords.extend_from_slice(&command[..set.layout.length]);
        set.address.set(&mut self.dwords[begin..], address);
        self.relocate(&set.address, begin);
    }

    /// Selects the GPGPU pipeline. Before that: read caches are invalidated and the colour calculation state
    /// is cleared (Volume 2a, PIPELINE_SELECT).
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

    /// All base addresses are 0 but for that of surfaces: what the commands call offsets are addresses below
    /// 4 GiB.
    fn base_addresses(&mut self, surfaces: u64) {
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
                (set.surface, surfaces),
                (set.dynamic_modify, 1),
                (set.dynamic_mocs, mocs),
                (set.dynamic, 0),
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

    /// Threads, scratch and URB. Two URB entries of two registers are the least that works and not used by
    /// GPGPU threads; the rest of the URB is for constants (Mesa, `anv`'s compute pipeline, has the same).
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

    /// Loads a walker's state and walks. Gives where the commands are that do not load, none of which has an
    /// address.
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

    /// Ends the batch and fills it up to whole qwords, as the kernel driver asks.
    pub(crate) fn end(&mut self) {
        self.emit(&self.set.batch_buffer_end.layout, &[]);
        if !self.dwords.len().is_multiple_of(2) {
            self.dwords.push(0);
        }
    }
}
