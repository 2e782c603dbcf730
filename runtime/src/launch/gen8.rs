//! Commands and structures of Gen8, as far as they differ from Gen9's. Source: Broadwell manual, Volume 2a
//! "Command Reference: Instructions" and Volume 2d "Command Reference: Structures", in the form of Mesa's
//! `gen8.xml`; what drivers put into them: Mesa's `genX_cmd_compute.c` (`anv`), Beignet's `intel_gpgpu.c`.

use super::commands::{CommandSet, MediaVfeState, PipelineSelect, StateBaseAddress, SurfaceState};
use super::field::{CommandLayout, Field};
use super::gen9;

/// Sizes of shared local memory are powers of two of 4 KiB and more, counted in 4 KiB
/// (INTERFACE_DESCRIPTOR_DATA, "Shared Local Memory Size"; Mesa, `encode_slm_size`).
pub(super) fn slm_code(bytes: u32) -> u64 {
    match bytes {
        0 => 0,
        _ => u64::from(bytes.max(4096).next_power_of_two() / 4096),
    }
}

/// The tables.
pub(crate) static GEN8: CommandSet = CommandSet {
    // Without mask bits.
    pipeline_select: PipelineSelect { mask: Field::ABSENT, ..gen9::TABLES.pipeline_select },
    // Without bindless surfaces.
    state_base_address: StateBaseAddress {
        layout: CommandLayout::command("STATE_BASE_ADDRESS", 0x6101, 16),
        bindless_modify: Field::ABSENT,
        bindless_mocs: Field::ABSENT,
        bindless: Field::ABSENT,
        bindless_size: Field::ABSENT,
        ..gen9::TABLES.state_base_address
    },
    // Barriers use the message gateway, which a thread would otherwise have to open.
    media_vfe_state: MediaVfeState {
        bypass_gateway: Field::flag("Bypass Gateway Control", 102),
        ..gen9::TABLES.media_vfe_state
    },
    surface_state: SurfaceState {
        format: Field::number("Surface Format", 18, 26),
        ..gen9::TABLES.surface_state
    },
    // MEMORY_OBJECT_CONTROL_STATE: "Memory Type" write-back (3 at bits 6:5), "Target Cache" L3 and LLC (3 at
    // bits 4:3); Mesa's `isl.c`, 0x78.
    mocs: 3 << 5 | 3 << 3,
    slm_code,
    qpitch_in_texels: false,
    ..gen9::TABLES
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slm_codes() {
        let codes = [(0, 0), (1, 1), (4096, 1), (4097, 2), (16 << 10, 4), (40_000, 16), (64 << 10, 16)];
        for (bytes, code) in codes {
            assert_eq!(slm_code(bytes), code, "{bytes} bytes");
        }
    }
}
