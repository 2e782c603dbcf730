//! Commands and structures of Gen9. Source: Skylake manual, Volume 2a "Command Reference: Instructions" and
//! Volume 2d "Command Reference: Structures", in the form of Mesa's `gen9.xml`, whose names and bit numbers
//! these are.

use super::commands::{
    BatchBufferEnd, CcStatePointers, CommandSet, GpgpuWalker, InterfaceDescriptor, LoadRegisterImm,
    MediaCurbeLoad, MediaInterfaceDescriptorLoad, MediaStateFlush, MediaVfeState, Noop, PipeControl,
    PipelineSelect, SamplerState, StateBaseAddress, SurfaceState,
};
use super::field::{CommandLayout, Field};

// Short names for the tables of all generations.

pub(super) const fn flag(name: &'static str, bit: u16) -> Field {
    Field::flag(name, bit)
}

pub(super) const fn number(name: &'static str, start: u16, end: u16) -> Field {
    Field::number(name, start, end)
}

pub(super) const fn address(name: &'static str, start: u16, end: u16) -> Field {
    Field::address(name, start, end)
}

/// L3CNTLREG (Volume 2c): partition of the L3 cache.
const L3CNTLREG: u64 = 0x7034;

/// The first configuration with shared local memory in Mesa's `intel_l3_config.c` for Skylake: "SLM Enable"
/// (bit 0), 16 ways "URB Allocation" (bits 7:1), 48 ways "All Allocation" (bits 31:25).
const L3_WITH_SLM: u64 = 1 | 16 << 1 | 48 << 25;

/// Shared local memory comes in 0, 1, 2, 4, ... 64 KiB (INTERFACE_DESCRIPTOR_DATA, "Shared Local Memory
/// Size").
fn slm_code(bytes: u32) -> u64 {
    match bytes {
        0 => 0,
        _ => u64::from(bytes.max(1024).next_power_of_two().trailing_zeros() - 9),
    }
}

/// Powers of two from 1 KiB on (MEDIA_VFE_STATE, "Per Thread Scratch Space").
fn scratch_code(bytes: u32) -> Option<(u64, u32)> {
    let size = bytes.checked_next_power_of_two()?.max(1024);
    (size <= 2 << 20).then(|| (u64::from(size.trailing_zeros() - 10), size))
}

/// The tables, for devices.
pub(crate) static GEN9: CommandSet = TABLES;

/// The tables, for those of generations that differ little.
#[rustfmt::skip]
pub(super) const TABLES: CommandSet = CommandSet {
    pipeline_select: PipelineSelect {
        layout: CommandLayout::command("PIPELINE_SELECT", 0x6904, 1),
        selection: number("Pipeline Selection", 0, 1),
        mask: number("Mask Bits", 8, 15),
    },
    state_base_address: StateBaseAddress {
        layout: CommandLayout::command("STATE_BASE_ADDRESS", 0x6101, 19),
        general_modify: flag("General State Base Address Modify Enable", 32),
        general_mocs: number("General State MOCS", 36, 42),
        general: address("General State Base Address", 44, 95),
        stateless_mocs: number("Stateless Data Port Access MOCS", 112, 118),
        surface_modify: flag("Surface State Base Address Modify Enable", 128),
        surface_mocs: number("Surface State MOCS", 132, 138),
        surface: address("Surface State Base Address", 140, 191),
        dynamic_modify: flag("Dynamic State Base Address Modify Enable", 192),
        dynamic_mocs: number("Dynamic State MOCS", 196, 202),
        dynamic: address("Dynamic State Base Address", 204, 255),
        indirect_modify: flag("Indirect Object Base Address Modify Enable", 256),
        indirect_mocs: number("Indirect Object MOCS", 260, 266),
        indirect: address("Indirect Object Base Address", 268, 319),
        instruction_modify: flag("Instruction Base Address Modify Enable", 320),
        instruction_mocs: number("Instruction MOCS", 324, 330),
        instruction: address("Instruction Base Address", 332, 383),
        general_size_modify: flag("General State Buffer Size Modify Enable", 384),
        general_size: number("General State Buffer Size", 396, 415),
        dynamic_size_modify: flag("Dynamic State Buffer Size Modify Enable", 416),
        dynamic_size: number("Dynamic State Buffer Size", 428, 447),
        indirect_size_modify: flag("Indirect Object Buffer Size Modify Enable", 448),
        indirect_size: number("Indirect Object Buffer Size", 460, 479),
        instruction_size_modify: flag("Instruction Buffer size Modify Enable", 480),
        instruction_size: number("Instruction Buffer Size", 492, 511),
        bindless_modify: flag("Bindless Surface State Base Address Modify Enable", 512),
        bindless_mocs: number("Bindless Surface State MOCS", 516, 522),
        bindless: address("Bindless Surface State Base Address", 524, 575),
        bindless_size: number("Bindless Surface State Size", 588, 607),
    },
    media_vfe_state: MediaVfeState {
        layout: CommandLayout::command("MEDIA_VFE_STATE", 0x7000, 9),
        scratch_per_thread: number("Per Thread Scratch Space", 32, 35),
        scratch_base: address("Scratch Space Base Pointer", 42, 79),
        gpgpu_mode: Field::ABSENT,
        bypass_gateway: Field::ABSENT,
        reset_gateway_timer: number("Reset Gateway Timer", 103, 103),
        urb_entries: number("Number of URB Entries", 104, 111),
        max_threads: number("Maximum Number of Threads", 112, 127),
        curbe_size: number("CURBE Allocation Size", 160, 175),
        urb_entry_size: number("URB Entry Allocation Size", 176, 191),
    },
    media_curbe_load: MediaCurbeLoad {
        layout: CommandLayout::command("MEDIA_CURBE_LOAD", 0x7001, 4),
        length: number("CURBE Total Data Length", 64, 80),
        address: number("CURBE Data Start Address", 96, 127),
    },
    media_interface_descriptor_load: MediaInterfaceDescriptorLoad {
        layout: CommandLayout::command("MEDIA_INTERFACE_DESCRIPTOR_LOAD", 0x7002, 4),
        length: number("Interface Descriptor Total Length", 64, 80),
        address: address("Interface Descriptor Data Start Address", 96, 127),
    },
    gpgpu_walker: GpgpuWalker {
        layout: CommandLayout::command("GPGPU_WALKER", 0x7105, 15),
        descriptor: number("Interface Descriptor Offset", 32, 37),
        width: number("Thread Width Counter Maximum", 128, 133),
        height: number("Thread Height Counter Maximum", 136, 141),
        depth: number("Thread Depth Counter Maximum", 144, 149),
        simd_size: number("SIMD Size", 158, 159),
        first_x: number("Thread Group ID Starting X", 160, 191),
        end_x: number("Thread Group ID X Dimension", 224, 255),
        first_y: number("Thread Group ID Starting Y", 256, 287),
        end_y: number("Thread Group ID Y Dimension", 320, 351),
        first_z: number("Thread Group ID Starting/Resume Z", 352, 383),
        end_z: number("Thread Group ID Z Dimension", 384, 415),
        right_mask: number("Right Execution Mask", 416, 447),
        bottom_mask: number("Bottom Execution Mask", 448, 479),
    },
    media_state_flush: MediaStateFlush { layout: CommandLayout::command("MEDIA_STATE_FLUSH", 0x7004, 2) },
    pipe_control: PipeControl {
        layout: CommandLayout::command("PIPE_CONTROL", 0x7a00, 6),
        state_invalidate: flag("State Cache Invalidation Enable", 34),
        constant_invalidate: flag("Constant Cache Invalidation Enable", 35),
        dc_flush: flag("DC Flush Enable", 37),
        // No messages go through the render cache.
        render_flush: Field::ABSENT,
        texture_invalidate: flag("Texture Cache Invalidation Enable", 42),
        instruction_invalidate: flag("Instruction Cache Invalidate Enable", 43),
        post_sync: number("Post Sync Operation", 46, 47),
        cs_stall: flag("Command Streamer Stall Enable", 52),
        address: address("Address", 66, 111),
    },
    load_register_imm: LoadRegisterImm {
        layout: CommandLayout::command("MI_LOAD_REGISTER_IMM", 0x1100, 3),
        register: address("Register Offset", 34, 54),
        data: number("Data DWord", 64, 95),
    },
    cc_state_pointers: CcStatePointers { layout: CommandLayout::command("3DSTATE_CC_STATE_POINTERS", 0x780e, 2) },
    batch_buffer_end: BatchBufferEnd { layout: CommandLayout::command("MI_BATCH_BUFFER_END", 0x0500, 1) },
    noop: Noop {
        layout: CommandLayout::command("MI_NOOP", 0, 1),
        number: number("Identification Number", 0, 21),
        write_enable: flag("Identification Number Register Write Enable", 22),
    },
    interface_descriptor: InterfaceDescriptor {
        layout: CommandLayout::structure("INTERFACE_DESCRIPTOR_DATA", 8),
        kernel: address("Kernel Start Pointer", 6, 47),
        float_mode: number("Floating Point Mode", 80, 80),
        denorm_mode: number("Denorm Mode", 83, 83),
        sampler_count: number("Sampler Count", 98, 100),
        samplers: address("Sampler State Pointer", 101, 127),
        binding_count: number("Binding Table Entry Count", 128, 132),
        binding_table: address("Binding Table Pointer", 133, 143),
        constant_offset: number("Constant URB Entry Read Offset", 160, 175),
        constant_length: number("Constant URB Entry Read Length", 176, 191),
        threads: number("Number of Threads in GPGPU Thread Group", 192, 201),
        slm_size: number("Shared Local Memory Size", 208, 212),
        barrier: flag("Barrier Enable", 213),
        rounding: number("Rounding Mode", 214, 215),
        cross_thread_length: number("Cross-Thread Constant Data Read Length", 224, 231),
    },
    surface_state: SurfaceState {
        layout: CommandLayout::structure("RENDER_SURFACE_STATE", 16),
        kind: number("Surface Type", 29, 31),
        array: flag("Surface Array", 28),
        format: number("Surface Format", 18, 27),
        vertical_alignment: number("Surface Vertical Alignment", 16, 17),
        horizontal_alignment: number("Surface Horizontal Alignment", 14, 15),
        array_spacing: Field::ABSENT,
        mocs: number("MOCS", 56, 62),
        qpitch: number("Surface QPitch", 32, 46),
        width: number("Width", 64, 77),
        height: number("Height", 80, 93),
        depth: number("Depth", 117, 127),
        pitch: number("Surface Pitch", 96, 113),
        view_extent: number("Render Target View Extent", 135, 145),
        base: address("Surface Base Address", 256, 319),
        red: number("Shader Channel Select Red", 249, 251),
        green: number("Shader Channel Select Green", 246, 248),
        blue: number("Shader Channel Select Blue", 243, 245),
        alpha: number("Shader Channel Select Alpha", 240, 242),
    },
    sampler_state: SamplerState {
        layout: CommandLayout::structure("SAMPLER_STATE", 4),
        min_filter: number("Min Mode Filter", 14, 16),
        mag_filter: number("Mag Mode Filter", 17, 19),
        border: address("Border Color Pointer", 70, 87),
        address_x: number("TCX Address Control Mode", 102, 104),
        address_y: number("TCY Address Control Mode", 99, 101),
        address_z: number("TCZ Address Control Mode", 96, 98),
        unnormalized: flag("Non-normalized Coordinate Enable", 106),
        round_min_x: flag("U Address Min Filter Rounding Enable", 113),
        round_mag_x: flag("U Address Mag Filter Rounding Enable", 114),
        round_min_y: flag("V Address Min Filter Rounding Enable", 111),
        round_mag_y: flag("V Address Mag Filter Rounding Enable", 112),
        round_min_z: flag("R Address Min Filter Rounding Enable", 109),
        round_mag_z: flag("R Address Mag Filter Rounding Enable", 110),
    },
    // Mesa's `isl_genX_helpers.h`, `isl_get_qpitch`.
    qpitch_in_texels: true,
    registers: &[(L3CNTLREG, L3_WITH_SLM)],
    // The kernel driver's table of Gen9 has write-back caching in LLC and L3 at index 2; bit 0 of the field
    // is not part of the index.
    mocs: 2 << 1,
    slm_code,
    scratch_code,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slm_codes() {
        let codes =
            [(0, 0), (1, 1), (1024, 1), (1025, 2), (4096, 3), (32 << 10, 6), (40_000, 7), (64 << 10, 7)];
        for (bytes, code) in codes {
            assert_eq!(slm_code(bytes), code, "{bytes} bytes");
        }
    }
}
