//! Differences of images between generations.

use gencl_isa::Generation;

/// The rules of surfaces and messages in a generation.
#[derive(Debug)]
pub struct Rules {
    generation: Generation,
    /// One-dimensional surfaces have all levels in one row, and QPitch is a distance in texels (Skylake,
    /// Volume 5, "1D Surfaces"); otherwise they are laid out as two-dimensional surfaces of height 1.
    pub one_dimensional_rows: bool,
    /// The slices of a three-dimensional surface are at a distance of QPitch, as those of an array (Skylake);
    /// otherwise each level has its own arrangement (Broadwell, Volume 5, "3D Surfaces").
    pub slices_at_qpitch: bool,
    /// `ld` takes its level of detail after the second coordinate, not after the first.
    pub load_level_third: bool,
    /// `sample_lz` and `ld_lz` exist.
    pub level_zero_messages: bool,
}

/// Sources: Mesa's `isl.c` (`isl_surf_choose_dim_layout`), `isl_genX_helpers.h` (`isl_get_qpitch`) and
/// `brw_lower_logical_sends.cpp` (`lower_sampler_logical_send_gfx7`).
const RULES: &[Rules] = &[
    Rules {
        generation: Generation::Gen8,
        one_dimensional_rows: false,
        slices_at_qpitch: false,
        load_level_third: false,
        level_zero_messages: false,
    },
    Rules {
        generation: Generation::Gen9,
        one_dimensional_rows: true,
        slices_at_qpitch: true,
        load_level_third: true,
        level_zero_messages: true,
    },
];

/// The row of a generation; `None` where images are not simulated.
pub fn of(generation: Generation) -> Option<&'static Rules> {
    RULES.iter().find(|row| row.generation == generation)
}
