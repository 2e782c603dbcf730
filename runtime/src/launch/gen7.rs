//! Commands and structures of Gen7 and Gen7.5. Source: Ivy Bridge manual, Volume 2 Part 2 "Media and GPGPU
//! Pipelines", Volume 1 Part 1 "STATE_BASE_ADDRESS" and Volume 4 Part 1 "SURFACE_STATE"; Haswell manual,
//! Volume 2a and 2d, in the form of Mesa's `gen7.xml` and `gen75.xml`; what drivers put into them: Mesa's
//! `crocus_state.c`, Beignet's `intel_gpgpu.c`.

use super::commands::{
    CommandSet, GpgpuWalker, InterfaceDescriptor, MediaVfeState, PipeControl, PipelineSelect, SamplerState,
    StateBaseAddress, SurfaceState,
};
use super::field::{CommandLayout, Field};
use super::gen9::{address, flag, number};
use super::{gen8, gen9};

const fn pointer(name: &'static str, start: u16, end: u16) -> Field {
    Field::pointer(name, start, end)
}

/// Partition of the L3 cache (Ivy Bridge manual, Volume 1 Part 7 "L3 Cache and URB"; `L3SQCREG1`,
/// `L3CNTLREG2`, `L3CNTLREG3`).
mod l3 {
    pub const SQCREG1: u64 = 0xb010;
    pub const CNTLREG2: u64 = 0xb020;
    pub const CNTLREG3: u64 = 0xb024;

    const SLM_ENABLE: u64 = 1;
    const URB_LOW_BANDWIDTH: u64 = 1 << 7;

    /// Ways of URB, read-only data and data cache beside shared local memory: configuration 9 of Mesa's
    /// `ivb_l3_configs`, in which all three have a part. Local memory is in half of the banks, the URB in the
    /// others.
    pub const WITH_SLM: u64 = SLM_ENABLE | 16 << 1 | URB_LOW_BANDWIDTH | 16 << 14 | 16 << 21;
    /// The same from `vlv_l3_configs`, whose URB always has 32 ways.
    pub const BAY_TRAIL_WITH_SLM: u64 = SLM_ENABLE | 16 << 14 | 16 << 21;

    /// Credits of queues: "General Priority" at bits 23:20, "High Priority" at bits 19:16.
    pub const CREDITS: u64 = 7 << 20 | 3 << 16;
    pub const BAY_TRAIL_CREDITS: u64 = 13 << 20 | 3 << 16;
    /// At bits 23:19 and 18:14.
    pub const HASWELL_CREDITS: u64 = 12 << 19 | 4 << 14;
}

/// `SCRATCH1` and `CHICKEN3` of Haswell, which enable atomic operations in the L3 cache. The kernel driver
/// disables them and allows batches to enable them (version 4 of its command parser). The upper half of
/// `CHICKEN3` is the write mask.
const HASWELL_ATOMICS: [(u64, u64); 2] = [(0xb038, 0), (0xe49c, 1 << 22)];

/// Kilobytes less one, up to 12 (MEDIA_VFE_STATE, "Per Thread Scratch Space").
fn ivy_bridge_scratch(bytes: u32) -> Option<(u64, u32)> {
    let kilobytes = bytes.div_ceil(1024).max(1);
    (kilobytes <= 12).then(|| ((kilobytes - 1).into(), kilobytes * 1024))
}

/// Powers of two from 2 KiB on.
fn haswell_scratch(bytes: u32) -> Option<(u64, u32)> {
    let size = bytes.checked_next_power_of_two()?.max(2048);
    (size <= 2 << 20).then(|| (u64::from(size.trailing_zeros() - 11), size))
}

/// Ivy Bridge.
pub(crate) static GEN7: CommandSet = TABLES;

/// Bay Trail.
pub(crate) static BAY_TRAIL: CommandSet = CommandSet {
    registers: &[
        (l3::SQCREG1, l3::BAY_TRAIL_CREDITS),
        (l3::CNTLREG2, l3::BAY_TRAIL_WITH_SLM),
        (l3::CNTLREG3, 0),
    ],
    ..TABLES
};

/// Haswell.
#[rustfmt::skip]
pub(crate) static GEN75: CommandSet = CommandSet {
    interface_descriptor: InterfaceDescriptor {
        constant_offset: Field::ABSENT,
        cross_thread_length: number("Cross-Thread Constant Data Read Length", 192, 199),
        ..TABLES.interface_descriptor
    },
    gpgpu_walker: GpgpuWalker {
        descriptor: number("Interface Descriptor Offset", 32, 37),
        ..TABLES.gpgpu_walker
    },
    pipe_control: PipeControl { render_flush: Field::ABSENT, ..TABLES.pipe_control },
    surface_state: SurfaceState {
        red: number("Shader Channel Select Red", 249, 251),
        green: number("Shader Channel Select Green", 246, 248),
        blue: number("Shader Channel Select Blue", 243, 245),
        alpha: number("Shader Channel Select Alpha", 240, 242),
        ..TABLES.surface_state
    },
    registers: &[
        HASWELL_ATOMICS[0], HASWELL_ATOMICS[1],
        (l3::SQCREG1, l3::HASWELL_CREDITS), (l3::CNTLREG2, l3::WITH_SLM), (l3::CNTLREG3, 0),
    ],
    scratch_code: haswell_scratch,
    ..TABLES
};

#[rustfmt::skip]
const TABLES: CommandSet = CommandSet {
    // Without mask bits.
    pipeline_select: PipelineSelect { mask: Field::ABSENT, ..gen9::TABLES.pipeline_select },
    state_base_address: StateBaseAddress {
        layout: CommandLayout::command("STATE_BASE_ADDRESS", 0x6101, 10),
        general_modify: flag("General State Base Address Modify Enable", 32),
        stateless_mocs: number("Stateless Data Port Access MOCS", 36, 39),
        general_mocs: number("General State MOCS", 40, 43),
        general: address("General State Base Address", 44, 63),
        surface_modify: flag("Surface State Base Address Modify Enable", 64),
        surface_mocs: number("Surface State MOCS", 72, 75),
        surface: pointer("Surface State Base Address", 76, 95),
        dynamic_modify: flag("Dynamic State Base Address Modify Enable", 96),
        dynamic_mocs: number("Dynamic State MOCS", 104, 107),
        dynamic: pointer("Dynamic State Base Address", 108, 127),
        indirect_modify: flag("Indirect Object Base Address Modify Enable", 128),
        indirect_mocs: number("Indirect Object MOCS", 136, 139),
        indirect: address("Indirect Object Base Address", 140, 159),
        instruction_modify: flag("Instruction Base Address Modify Enable", 160),
        instruction_mocs: number("Instruction MOCS", 168, 171),
        instruction: address("Instruction Base Address", 172, 191),
        general_size_modify: flag("General State Access Upper Bound Modify Enable", 192),
        general_size: number("General State Access Upper Bound", 204, 223),
        dynamic_size_modify: flag("Dynamic State Access Upper Bound Modify Enable", 224),
        dynamic_size: number("Dynamic State Access Upper Bound", 236, 255),
        indirect_size_modify: flag("Indirect Object Access Upper Bound Modify Enable", 256),
        indirect_size: number("Indirect Object Access Upper Bound", 268, 287),
        instruction_size_modify: flag("Instruction Access Upper Bound Modify Enable", 288),
        instruction_size: number("Instruction Access Upper Bound", 300, 319),
        bindless_modify: Field::ABSENT,
        bindless_mocs: Field::ABSENT,
        bindless: Field::ABSENT,
        bindless_size: Field::ABSENT,
    },
    media_vfe_state: MediaVfeState {
        layout: CommandLayout::command("MEDIA_VFE_STATE", 0x7000, 8),
        scratch_per_thread: number("Per Thread Scratch Space", 32, 35),
        scratch_base: pointer("Scratch Space Base Pointer", 42, 63),
        gpgpu_mode: flag("GPGPU Mode", 66),
        bypass_gateway: flag("Bypass Gateway Control", 70),
        reset_gateway_timer: flag("Reset Gateway Timer", 71),
        // GPGPU threads need none (crocus).
        urb_entries: Field::ABSENT,
        max_threads: number("Maximum Number of Threads", 80, 95),
        curbe_size: number("CURBE Allocation Size", 128, 143),
        urb_entry_size: Field::ABSENT,
    },
    gpgpu_walker: GpgpuWalker {
        layout: CommandLayout::command("GPGPU_WALKER", 0x7105, 11),
        descriptor: number("Interface Descriptor Offset", 32, 36),
        width: number("Thread Width Counter Maximum", 64, 69),
        height: number("Thread Height Counter Maximum", 72, 77),
        depth: number("Thread Depth Counter Maximum", 80, 85),
        simd_size: number("SIMD Size", 94, 95),
        first_x: number("Thread Group ID Starting X", 96, 127),
        end_x: number("Thread Group ID X Dimension", 128, 159),
        first_y: number("Thread Group ID Starting Y", 160, 191),
        end_y: number("Thread Group ID Y Dimension", 192, 223),
        first_z: number("Thread Group ID Starting Z", 224, 255),
        end_z: number("Thread Group ID Z Dimension", 256, 287),
        right_mask: number("Right Execution Mask", 288, 319),
        bottom_mask: number("Bottom Execution Mask", 320, 351),
    },
    pipe_control: PipeControl {
        layout: CommandLayout::command("PIPE_CONTROL", 0x7a00, 5),
        // Typed messages go through the render cache (Mesa's `crocus_memory_barrier`; Beignet's
        // `intel_gpgpu_pipe_control_gen7`).
        render_flush: flag("Render Target Cache Flush Enable", 44),
        address: pointer("Address", 66, 95),
        ..gen9::TABLES.pipe_control
    },
    interface_descriptor: InterfaceDescriptor {
        layout: CommandLayout::structure("INTERFACE_DESCRIPTOR_DATA", 8),
        kernel: pointer("Kernel Start Pointer", 6, 31),
        float_mode: flag("Floating Point Mode", 48),
        denorm_mode: Field::ABSENT,
        sampler_count: number("Sampler Count", 66, 68),
        samplers: address("Sampler State Pointer", 69, 95),
        binding_count: number("Binding Table Entry Count", 96, 100),
        binding_table: address("Binding Table Pointer", 101, 111),
        constant_offset: number("Constant URB Entry Read Offset", 128, 143),
        constant_length: number("Constant URB Entry Read Length", 144, 159),
        threads: number("Number of Threads in GPGPU Thread Group", 160, 167),
        slm_size: number("Shared Local Memory Size", 176, 180),
        barrier: flag("Barrier Enable", 181),
        rounding: number("Rounding Mode", 182, 183),
        cross_thread_length: Field::ABSENT,
    },
    surface_state: SurfaceState {
        layout: CommandLayout::structure("RENDER_SURFACE_STATE", 8),
        format: number("Surface Format", 18, 26),
        // One bit, whose 0 is an alignment of 4 texels.
        horizontal_alignment: Field::ABSENT,
        array_spacing: flag("Surface Array Spacing", 10),
        mocs: number("MOCS", 176, 179),
        qpitch: Field::ABSENT,
        base: pointer("Surface Base Address", 32, 63),
        red: Field::ABSENT,
        green: Field::ABSENT,
        blue: Field::ABSENT,
        alpha: Field::ABSENT,
        ..gen9::TABLES.surface_state
    },
    sampler_state: SamplerState {
        border: address("Border Color Pointer", 69, 95),
        ..gen9::TABLES.sampler_state
    },
    qpitch_in_texels: false,
    registers: &[(l3::SQCREG1, l3::CREDITS), (l3::CNTLREG2, l3::WITH_SLM), (l3::CNTLREG3, 0)],
    // MEMORY_OBJECT_CONTROL_STATE: L3 cacheable; whether in LLC, the page table says.
    mocs: 1,
    slm_code: gen8::slm_code,
    scratch_code: ivy_bridge_scratch,
    ..gen9::TABLES
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_codes() {
        let codes = [1024, 4096, 12 << 10, 13 << 10].map(ivy_bridge_scratch);
        assert_eq!(codes, [Some((0, 1024)), Some((3, 4096)), Some((11, 12 << 10)), None]);
        let codes = [1024, 4096, 2 << 20, 3 << 20].map(haswell_scratch);
        assert_eq!(codes, [Some((0, 2048)), Some((1, 4096)), Some((10, 2 << 20)), None]);
    }
}
