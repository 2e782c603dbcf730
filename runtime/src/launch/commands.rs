//! Commands and state structures of a launch, and their fields. The positions of the fields are in the tables
//! of the generations, such as [`super::gen9`].

use super::field::{CommandLayout, Field};

macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident { $($field:ident),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub(crate) struct $name {
                pub(crate) layout: CommandLayout,
                $(pub(crate) $field: Field,)*
            }

            impl $name {
                /// Layout and all fields that the generation has, for decoding.
                pub(crate) fn table(&self) -> (CommandLayout, Vec<Field>) {
                    let fields: &[Field] = &[$(self.$field),*];
                    (self.layout, fields.iter().copied().filter(|field| field.is_there()).collect())
                }
            }
        )*
    };
}

layouts! {
    /// Selects the 3D or the GPGPU pipeline.
    PipelineSelect { selection, mask }

    /// Base addresses of state and instructions.
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

    /// The video front end: threads, scratch, URB.
    MediaVfeState {
        scratch_per_thread, scratch_base, gpgpu_mode, bypass_gateway, reset_gateway_timer, urb_entries, max_threads, curbe_size, urb_entry_size,
    }

    /// Loads the CURBE.
    MediaCurbeLoad { length, address }

    /// Loads interface descriptors.
    MediaInterfaceDescriptorLoad { length, address }

    /// Dispatches work-groups.
    GpgpuWalker {
        descriptor, width, height, depth, simd_size,
        first_x, end_x, first_y, end_y, first_z, end_z,
        right_mask, bottom_mask,
    }

    /// Waits until the state of a walker may be changed.
    MediaStateFlush {}

    /// Flushes, invalidates, stalls, writes.
    PipeControl {
        state_invalidate, constant_invalidate, dc_flush, render_flush, texture_invalidate, instruction_invalidate,
        post_sync, cs_stall, address,
    }

    /// Writes a register.
    LoadRegisterImm { register, data }

    /// Clears the 3D pipeline's colour calculation state.
    CcStatePointers {}

    /// Ends a batch.
    BatchBufferEnd {}

    /// No effect but on a register of the command streamer that nobody reads: a number for simulated devices.
    Noop { number, write_enable }

    /// How threads of a kernel start: code, constants, local memory, barrier.
    InterfaceDescriptor {
        kernel, float_mode, denorm_mode, sampler_count, samplers, binding_count, binding_table,
        constant_offset, constant_length, threads, slm_size, barrier, rounding, cross_thread_length,
    }

    /// A surface that messages access through a binding table.
    SurfaceState {
        kind, array, format, vertical_alignment, horizontal_alignment, array_spacing, mocs, qpitch,
        width, height, depth, pitch, view_extent, base, red, green, blue, alpha,
    }

    /// How the sampler filters, and what it does outside of an image.
    SamplerState {
        min_filter, mag_filter, border, address_x, address_y, address_z, unnormalized,
        round_min_x, round_mag_x, round_min_y, round_mag_y, round_min_z, round_mag_z,
    }
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
    pub(crate) noop: Noop,
    pub(crate) interface_descriptor: InterfaceDescriptor,
    pub(crate) surface_state: SurfaceState,
    pub(crate) sampler_state: SamplerState,
    /// Whether the layers of one-dimensional arrays are at a distance of QPitch texels, not rows.
    pub(crate) qpitch_in_texels: bool,
    /// Registers that every batch sets: offset, value.
    pub(crate) registers: &'static [(u64, u64)],
    /// Memory object control state (MOCS) of cached accesses, as encoded in MOCS fields.
    pub(crate) mocs: u64,
    /// Encodes a size of shared local memory in bytes, rounded up to what the hardware has.
    pub(crate) slm_code: fn(u32) -> u64,
    /// Encodes a size of scratch memory per thread in bytes, rounded up to what the hardware has; returns the
    /// code and the rounded size, `None` above the largest.
    pub(crate) scratch_code: fn(u32) -> Option<(u64, u32)>,
}

impl CommandSet {
    /// Whether the hardware has cross-thread constants. Otherwise each thread gets a copy, in front of its
    /// local ids.
    pub(crate) fn shares_constants(&self) -> bool {
        self.interface_descriptor.cross_thread_length.is_there()
    }

    /// All commands, for decoding.
    pub(crate) fn commands(&self) -> Vec<(CommandLayout, Vec<Field>)> {
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
            self.noop.table(),
        ]
    }
}
