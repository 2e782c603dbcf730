//! Differences of images between generations: positions of fields, layouts, messages.

use gencl_isa::Generation;

use super::tiling::Tiling;
use super::values::bits;

/// A field of a state structure, within one dword: first and last bit.
#[derive(Clone, Copy, Debug)]
pub struct Field(pub u32, pub u32);

impl Field {
    /// Its value.
    pub fn get(self, state: &[u32]) -> u32 {
        bits(state, self.0, self.1)
    }

    /// The address or offset that it has the upper bits of: bit n of the value is bit n of the dword.
    pub fn offset(self, state: &[u32]) -> u32 {
        self.get(state) << (self.0 % 32)
    }
}

/// The rules of surfaces and messages in a generation.
#[derive(Debug)]
pub struct Rules {
    /// The generation.
    pub generation: Generation,
    /// One-dimensional surfaces have all levels in one row, and QPitch is a distance in texels (Skylake,
    /// Volume 5, "1D Surfaces"); otherwise they are laid out as two-dimensional surfaces of height 1.
    pub one_dimensional_rows: bool,
    /// The slices of a three-dimensional surface are at a distance of QPitch, as those of an array (Skylake);
    /// otherwise each level has its own arrangement (Broadwell, Volume 5, "3D Surfaces"; Ivy Bridge, Volume 1
    /// Part 1, "3D Surfaces").
    pub slices_at_qpitch: bool,
    /// `ld` takes its level of detail after the second coordinate, not after the first.
    pub load_level_third: bool,
    /// `sample_lz` and `ld_lz` exist.
    pub level_zero_messages: bool,
    /// Typed messages must have a header (Broadwell, Volume 7, "Data Port", message headers; Mesa's
    /// `lower_surface_logical_send`, and Beignet's `TypedWriteInstructionPattern` for Gen7).
    pub typed_header: bool,
    /// Fields of RENDER_SURFACE_STATE.
    pub surface: &'static SurfaceFields,
    /// "Border Color Pointer" of SAMPLER_STATE, from the Dynamic State Base Address.
    pub border_pointer: Field,
    /// Where the border colour of integer formats is.
    pub integer_border: IntegerBorder,
}

/// The fields of RENDER_SURFACE_STATE that have moved, and their codes.
#[derive(Debug)]
pub struct SurfaceFields {
    /// "Tile Mode"; "Tiled Surface" and "Tile Walk".
    pub tiling: Field,
    /// Tilings by code; the missing one is W.
    pub tilings: [Option<Tiling>; 4],
    /// "Tiled Resource Mode": Yf and Ys tiling.
    pub resource_mode: Option<Field>,
    /// "Surface Horizontal Alignment", "Surface Vertical Alignment", and the texels of each code.
    pub alignments: [(Field, [u64; 4]); 2],
    /// The distance of slices.
    pub slices: SliceDistance,
    /// "Vertical Line Stride".
    pub line_stride: Field,
    /// "Y Offset", and its unit in rows.
    pub y_offset: (Field, u64),
    /// "Auxiliary Surface Mode"; "MCS Enable" and "Append Counter Enable".
    pub auxiliary: Field,
    /// "Shader Channel Select" of red, green, blue and alpha.
    pub select: Option<[Field; 4]>,
    /// "Integer Surface Format": the border colour is that of integers.
    pub integer: Option<Field>,
}

/// What determines the distance of slices.
#[derive(Debug)]
pub enum SliceDistance {
    /// "Surface QPitch", in four rows or texels.
    QPitch(Field),
    /// "Surface Array Spacing": with 0 there is space for further levels of detail (Ivy Bridge, Volume 1 Part
    /// 1, "Surface Arrays": h0 + h1 + 12 j, with j the vertical alignment), with 1 only for the first. The
    /// same in Mesa's `isl_calc_array_pitch_el_rows`.
    Spacing(Field),
}

/// The border colour of integer formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerBorder {
    /// There is none: SAMPLER_BORDER_COLOR_STATE of Ivy Bridge has floats only, and Beignet's `ocl_image.cl`
    /// does without it.
    Missing,
    /// In dwords 16 to 19, packed by the format's channels, and aligned to 512 bytes.
    Packed,
    /// The dwords that are floats for other formats.
    Same,
}

use Tiling::{Linear, X, Y};

/// Ivy Bridge, Volume 4 Part 1, "SURFACE_STATE", in the form of Mesa's `gen7.xml`; alignments also in
/// `isl_gfx7.c`.
const SURFACE_7: SurfaceFields = SurfaceFields {
    tiling: Field(13, 14),
    // Tile Walk has no meaning without Tiled Surface.
    tilings: [Some(Linear), Some(Linear), Some(X), Some(Y)],
    resource_mode: None,
    alignments: [(Field(15, 15), [4, 8, 4, 8]), (Field(16, 17), [2, 4, 2, 4])],
    slices: SliceDistance::Spacing(Field(10, 10)),
    line_stride: Field(12, 12),
    y_offset: (Field(180, 183), 2),
    auxiliary: Field(192, 193),
    select: None,
    integer: None,
};

/// Haswell, Volume 2d, RENDER_SURFACE_STATE, in the form of `gen75.xml`.
const SURFACE_75: SurfaceFields =
    SurfaceFields { select: SURFACE_8.select, integer: Some(Field(114, 116)), ..SURFACE_7 };

/// Broadwell, Volume 2d, RENDER_SURFACE_STATE; `gen8.xml`.
const SURFACE_8: SurfaceFields = SurfaceFields {
    tiling: Field(12, 13),
    tilings: [Some(Linear), None, Some(X), Some(Y)],
    resource_mode: None,
    alignments: [(Field(14, 15), [4, 4, 8, 16]), (Field(16, 17), [4, 4, 8, 16])],
    slices: SliceDistance::QPitch(Field(32, 46)),
    line_stride: Field(11, 11),
    y_offset: (Field(181, 183), 4),
    auxiliary: Field(192, 194),
    select: Some([Field(249, 251), Field(246, 248), Field(243, 245), Field(240, 242)]),
    integer: None,
};

/// Skylake, Volume 2d, RENDER_SURFACE_STATE; `gen9.xml`.
const SURFACE_9: SurfaceFields = SurfaceFields { resource_mode: Some(Field(178, 179)), ..SURFACE_8 };

const GEN7: Rules = Rules {
    generation: Generation::Gen7,
    one_dimensional_rows: false,
    slices_at_qpitch: false,
    load_level_third: false,
    level_zero_messages: false,
    typed_header: true,
    surface: &SURFACE_7,
    border_pointer: Field(69, 95),
    integer_border: IntegerBorder::Missing,
};

const GEN8: Rules = Rules {
    generation: Generation::Gen8,
    surface: &SURFACE_8,
    border_pointer: Field(70, 87),
    integer_border: IntegerBorder::Same,
    ..GEN7
};

/// Sources: Mesa's `isl.c` (`isl_surf_choose_dim_layout`), `isl_genX_helpers.h` (`isl_get_qpitch`) and
/// `brw_lower_logical_sends.cpp` (`lower_sampler_logical_send_gfx7`); for border colours `crocus_state.c`
/// (`crocus_upload_border_color`).
const RULES: &[Rules] = &[
    GEN7,
    Rules {
        generation: Generation::Gen75,
        surface: &SURFACE_75,
        integer_border: IntegerBorder::Packed,
        ..GEN7
    },
    GEN8,
    Rules {
        generation: Generation::Gen9,
        one_dimensional_rows: true,
        slices_at_qpitch: true,
        load_level_third: true,
        level_zero_messages: true,
        typed_header: false,
        surface: &SURFACE_9,
        ..GEN8
    },
];

/// The row of a generation.
pub fn of(generation: Generation) -> &'static Rules {
    &RULES[generation.column()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order() {
        for generation in Generation::ALL {
            assert_eq!(of(generation).generation, generation);
        }
    }
}
