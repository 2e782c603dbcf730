//! Commands and state structures of a launch: which fields there are. Where they stand is in the
//! tables of the generations, such as [`super::gen9`].

use super::field::{Field, Layout};

macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident { $($field:ident),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub(crate) struct $name {
                pub(crate) layout: Layout,
                $(pub(crate) $field: Field,)*
            }

            impl $name {
                /// Layout and all fields that are there, for decoding.
                pub(crate) fn table(&self) -> (Layout, Vec<Field>) {
                    let fields: &[Field] = &[$(self.$field),*];
                    (self.layout, fields.iter().copied().filter(|field| field.is_there()).collect())
                }
            }
        )*
    };
}

layouts! {
    /// Which pipeline commands are for.
    PipelineSelect { selection, mask }

    /// Where the heaps are.
    StateBaseAddress {
        general_modify, general_mocs, general,
        stateless_mocs,
        surface_modify, surface_mocs, surface,
        dynamic_modify, dynamic_mocs, dynamic,
        indirect_modify, indirect_mocs, indirect,
        instruction_modify, instruction_mocs, instruction,
        general_size_modify, general_size,
        dynamic_size_modify, dynamic_size,
        indirect_size_modify, indirect_size,
        instruction_size_modify, instruction_size,
        bindless_modify, bindless_mocs, bindless, bindless_size,
    }

    /// The front end: threads, scratch, URB.
    MediaVfeState {
        scratch_per_thread, scratch_base, gpgpu_mode, bypass_gateway, reset_gateway_timer, urb_entries, max_threads, curbe_size, urb_entry_size,
    }

    /// Loads constants.
    MediaCurbeLoad { length, address }

    /// Loads interface descriptors.
    MediaInterfaceDescriptorLoad { length, address }

    /// Dispatches work-groups.
    GpgpuWalker {
        descriptor, width, height, depth, simd_size,
        first_x, end_x, first_y, end_y, first_z, end_z,
        right_mask, bottom_mask,
    }

    /// Waits until the state that a walker uses may be changed.
    MediaStateFlush {}

    /// Flushes, invalidates, stalls, writes.
    PipeControl {
        state_invalidate, constant_invalidate, dc_flush, texture_invalidate, instruction_invalidate,
        post_sync, cs_stall, address,
    }

    /// Writes a register.
    LoadRegisterImm { register, data }

    /// Clears the 3D pipeline's colour calculation state.
    CcStatePointers {}

    /// Ends a batch.
    BatchBufferEnd {}

    /// How a kernel's threads start.
    InterfaceDescriptor {
        kernel, float_mode, denorm_mode, constant_offset, constant_length, threads, slm_size, barrier,
        rounding, cross_thread_length,
    }

    /// What messages reach by a binding table.
    SurfaceState { kind, format, base, width, height, depth, mocs, red, green, blue, alpha }
}

/// The tables of one generation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandSet {
    pub(crate) pipeline_select: PipelineSelect,
    pub(crate) state_base_address: StateBaseAddress,
    pub(crate) media_vfe_state: MediaVfeState,
    pub(crate) media_curbe_load: MediaCurbeLoad,
    pub(crate) media_interface_descriptor_load: MediaInterfaceDescriptorLoad,
    pub(crate) gpgpu_walker: GpgpuWalker,
    pub(crate) media_state_flush: MediaStateFlush,
    pub(crate) pipe_control: PipeControl,
    pub(crate) load_register_imm: LoadRegisterImm,
    pub(crate) cc_state_pointers: CcStatePointers,
    pub(crate) batch_buffer_end: BatchBufferEnd,
    pub(crate) interface_descriptor: InterfaceDescriptor,
    /// There where kernels reach memory through one surface.
    pub(crate) surface_state: Option<SurfaceState>,
    /// Registers that are set before every launch: offset, value.
    pub(crate) registers: &'static [(u64, u64)],
    /// Memory object control state for cached accesses, as it stands in MOCS fields.
    pub(crate) mocs: u64,
    /// Code of the smallest size of shared local memory that has the given bytes.
    pub(crate) slm_code: fn(u32) -> u64,
    /// Code of scratch memory for each thread that has at least the given bytes, and how many it has; `None`
    /// where there is none so large.
    pub(crate) scratch_code: fn(u32) -> Option<(u64, u32)>,
}

impl CommandSet {
    /// Do all threads get one copy of the constants that they share? Else each gets its own, in front of its
    /// local ids.
    pub(crate) fn shares_constants(&self) -> bool {
        self.interface_descriptor.cross_thread_length.is_there()
    }

    /// All commands, for decoding.
    pub(crate) fn commands(&self) -> Vec<(Layout, Vec<Field>)> {
        vec![
            self.pipeline_select.table(),
            self.state_base_address.table(),
            self.media_vfe_state.table(),
            self.media_curbe_load.table(),
            self.media_interface_descriptor_load.table(),
            self.gpgpu_walker.table(),
            self.media_state_flush.table(),
            self.pipe_control.table(),
            self.load_register_imm.table(),
            self.cc_state_pointers.table(),
            self.batch_buffer_end.table(),
        ]
    }
}
