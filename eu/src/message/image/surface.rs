//! `RENDER_SURFACE_STATE`, and addresses of texels.
//!
//! Fields: Skylake manual, Volume 2d "Command Reference: Structures"; the same bits in Mesa's `gen7.xml` to
//! `gen9.xml`; those that have moved are in [`Rules`]. Layout of levels and slices: Volume 5 "Memory Views",
//! "Surface Layout and Tiling", and Mesa's `isl.c`.

use super::format::SurfaceFormat;
use super::rules::{Rules, SliceDistance};
use super::tiling::Tiling;
use super::values::{Dwords, LANES, Texel, bits};
use crate::fault::Fault;
use crate::message::surface_state::{SURFACE_STATE_DWORDS, SurfaceLayout};

/// Surface type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceType {
    /// One dimension.
    OneDimensional,
    /// Two dimensions.
    TwoDimensional,
    /// Three dimensions.
    ThreeDimensional,
    /// A linear array of texels.
    Buffer,
    /// Null surface: reads are 0, writes are dropped.
    Null,
}

/// The layout of levels and slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrangement {
    /// All levels in a row, slices at a distance of QPitch texels.
    Row,
    /// Level 1 below level 0, the others to the right of level 1; slices at a distance of QPitch rows.
    Plane,
    /// Each level has its own slices, twice as many per row as the level before.
    Stack,
}

/// A decoded surface state.
#[derive(Debug)]
pub struct Surface {
    /// Surface type.
    pub ty: SurfaceType,
    /// Whether it is an array.
    pub array: bool,
    /// Format.
    pub format: &'static SurfaceFormat,
    /// Texels of level 0: width, height, depth or slices of an array.
    pub size: [u32; 3],
    /// Number of levels of detail after `first_level` that the sampler may access.
    pub last_level: u32,
    /// The level that is the sampler's level 0.
    pub first_level: u32,
    /// Smallest level of detail, in units of 1/256.
    pub minimum_level: u32,
    /// Shader Channel Select of each channel: 0 and 1 for constants, 4 to 7 for red to alpha.
    pub select: [u32; 4],
    /// Whether the border colour is that of integers, where that is chosen here.
    pub integer_border: bool,
    /// Order of bytes in memory.
    pub tiling: Tiling,
    arrangement: Arrangement,
    /// Bytes from row to row.
    pub pitch: u64,
    qpitch: u64,
    /// GPU address.
    pub base: u64,
    /// X Offset and Y Offset, in texels.
    pub offset: [u64; 2],
    /// The first slice of an array that is accessed.
    pub first_slice: u32,
    /// Alignment of levels, in texels.
    alignment: [u64; 2],
}

/// The size of a level of detail in one dimension.
fn minify(size: u32, level: u32) -> u32 {
    size.checked_shr(level).unwrap_or(0).max(1)
}

impl Surface {
    /// Decodes a surface state.
    ///
    /// # Errors
    /// Types, formats and tilings that are not simulated; in strict mode what the manual forbids.
    pub fn decode(
        state: &[u32; SURFACE_STATE_DWORDS],
        rules: &Rules,
        strict: bool,
    ) -> Result<Surface, Fault> {
        if strict && *state == [0; SURFACE_STATE_DWORDS] {
            return Err(Fault::illegal("a surface state that was never set: all bits are 0"));
        }
        let number = bits(state, 18, 27);
        let (width, height, depth) = (bits(state, 64, 77), bits(state, 80, 93), bits(state, 117, 127));
        let array = bits(state, 28, 28) != 0;
        let ty = match bits(state, 29, 31) {
            0 => SurfaceType::OneDimensional,
            1 => SurfaceType::TwoDimensional,
            2 => SurfaceType::ThreeDimensional,
            4 => SurfaceType::Buffer,
            7 => SurfaceType::Null,
            other => return Err(Fault::unsupported(format!("typed access to a surface of type {other}"))),
        };
        let fields = rules.surface;
        let Some(tiling) = fields.tilings[fields.tiling.get(state) as usize] else {
            return Err(Fault::unsupported("a surface with W tiling"));
        };
        if fields.resource_mode.is_some_and(|mode| mode.get(state) != 0) {
            return Err(Fault::unsupported("a surface with Yf or Ys tiling"));
        }
        if ty != SurfaceType::Null && bits(state, 131, 133) != 0 {
            return Err(Fault::unsupported("a multisampled surface"));
        }
        if ty != SurfaceType::Null && fields.auxiliary.get(state) != 0 {
            return Err(Fault::unsupported("a surface with an auxiliary surface"));
        }
        let Some(format) = SurfaceFormat::numbered(number) else {
            return Err(Fault::unsupported(format!("surface format {number:#x}")));
        };
        let size = match ty {
            // Width has 7 bits of the number of entries, Height 14, Depth 6.
            SurfaceType::Buffer => [(width & 0x7f | height << 7 | depth << 21) + 1, 1, 1],
            SurfaceType::Null => [0; 3],
            SurfaceType::OneDimensional | SurfaceType::TwoDimensional | SurfaceType::ThreeDimensional => {
                [width + 1, height + 1, depth + 1]
            }
        };
        let arrangement = match ty {
            SurfaceType::Buffer => Arrangement::Row,
            SurfaceType::OneDimensional if rules.one_dimensional_rows => Arrangement::Row,
            SurfaceType::ThreeDimensional if !rules.slices_at_qpitch => Arrangement::Stack,
            SurfaceType::OneDimensional
            | SurfaceType::TwoDimensional
            | SurfaceType::ThreeDimensional
            | SurfaceType::Null => Arrangement::Plane,
        };
        let alignment = fields.alignments.map(|(field, texels)| texels[field.get(state) as usize]);
        let rows = |level| u64::from(minify(size[1], level)).next_multiple_of(alignment[1]);
        let qpitch = match &fields.slices {
            SliceDistance::QPitch(field) => u64::from(field.get(state)) * 4,
            SliceDistance::Spacing(field) if field.get(state) != 0 => rows(0),
            SliceDistance::Spacing(_) => rows(0) + rows(1) + 12 * alignment[1],
        };
        let (y_offset, rows_of_unit) = fields.y_offset;
        let surface = Surface {
            ty,
            array,
            format,
            size,
            last_level: bits(state, 160, 163),
            first_level: bits(state, 164, 167),
            minimum_level: bits(state, 224, 235),
            select: fields.select.map_or([4, 5, 6, 7], |select| select.map(|field| field.get(state))),
            integer_border: fields.integer.is_none_or(|field| field.get(state) != 0),
            tiling,
            arrangement,
            pitch: u64::from(bits(state, 96, 113)) + 1,
            qpitch,
            base: SurfaceLayout::of(rules.generation).address(state),
            offset: [u64::from(bits(state, 185, 191)) * 4, u64::from(y_offset.get(state)) * rows_of_unit],
            first_slice: bits(state, 146, 156),
            alignment,
        };
        if strict {
            surface.check()?;
        }
        Ok(surface)
    }

    /// Restrictions of the manual. Entries of buffers may overlap: Mesa loads four dwords at any byte
    /// (`iris_upload_ubo_ssbo_surf_state`).
    fn check(&self) -> Result<(), Fault> {
        let bytes = self.format.bytes() as u64;
        if self.ty == SurfaceType::Buffer {
            if self.tiling != Tiling::Linear {
                return Err(Fault::illegal("a buffer surface that is tiled"));
            }
            return Ok(());
        }
        if self.ty == SurfaceType::Null {
            return Ok(());
        }
        if !self.pitch.is_multiple_of(self.tiling.width()) {
            return Err(Fault::illegal(format!("pitch {} is not whole tiles", self.pitch)));
        }
        if self.arrangement != Arrangement::Row && self.pitch < u64::from(self.size[0]) * bytes {
            return Err(Fault::illegal(format!("pitch {} is less than a row", self.pitch)));
        }
        if self.tiling != Tiling::Linear && (bytes == 12 || !self.base.is_multiple_of(4096)) {
            return Err(Fault::illegal(
                "a tiled surface with texels of 12 bytes, or whose base is not page aligned",
            ));
        }
        if self.arrangement == Arrangement::Row && self.tiling != Tiling::Linear {
            return Err(Fault::illegal("a tiled one-dimensional surface"));
        }
        let slice = match self.arrangement {
            Arrangement::Row => u64::from(self.size[0]),
            Arrangement::Plane => u64::from(self.size[1]),
            Arrangement::Stack => 0,
        };
        if self.size[2] > 1 && self.qpitch < slice {
            return Err(Fault::illegal(format!("QPitch {} is less than a slice of {slice}", self.qpitch)));
        }
        if self.last_level > 14 || self.size.iter().any(|s| *s > 16384) {
            return Err(Fault::illegal("a surface that exceeds the maximum size"));
        }
        Ok(())
    }

    /// What typed messages need besides: rows of whole texels (Broadwell, Volume 2d, RENDER_SURFACE_STATE,
    /// "Surface Pitch"). One-dimensional surfaces without rows have no pitch; Mesa leaves it at 1.
    pub fn check_typed(&self) -> Result<(), Fault> {
        let bytes = self.format.bytes() as u64;
        let pitched = self.arrangement != Arrangement::Row || self.ty == SurfaceType::Buffer;
        if pitched && self.ty != SurfaceType::Null && !self.pitch.is_multiple_of(bytes) {
            return Err(Fault::illegal(format!(
                "a typed message, and pitch {} is not whole texels of {bytes} bytes",
                self.pitch
            )));
        }
        Ok(())
    }

    /// Number of coordinates of a texel within a slice.
    pub fn dimensions(&self) -> usize {
        match self.ty {
            SurfaceType::OneDimensional | SurfaceType::Buffer | SurfaceType::Null => 1,
            SurfaceType::TwoDimensional => 2,
            SurfaceType::ThreeDimensional => 3,
        }
    }

    /// Size of a level in texels: width, height, depth or slices of an array.
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        let [width, height, depth] = self.size;
        match self.ty {
            SurfaceType::Buffer | SurfaceType::Null => self.size,
            SurfaceType::OneDimensional => [minify(width, level), 1, depth],
            SurfaceType::TwoDimensional => [minify(width, level), minify(height, level), depth],
            SurfaceType::ThreeDimensional => self.size.map(|size| minify(size, level)),
        }
    }

    /// The GPU address of texel (x, y) of slice z of a level, which must be within bounds.
    pub fn address(&self, level: u32, [x, y, z]: [u32; 3]) -> u64 {
        let bytes = self.format.bytes() as u64;
        if self.ty == SurfaceType::Buffer {
            return self.base.wrapping_add(u64::from(x) * self.pitch);
        }
        let [first_x, first_y] = self.slice_origin(level, z + self.first_slice);
        let x = first_x + u64::from(x) + self.offset[0];
        let y = first_y + u64::from(y) + self.offset[1];
        self.base.wrapping_add(self.tiling.offset(self.pitch, x * bytes, y))
    }

    /// The GPU address of byte `x` of row `y` of level 0.
    pub fn byte_address(&self, x: u32, y: u32) -> u64 {
        let bytes = self.format.bytes() as u64;
        let [first_x, first_y] = self.slice_origin(0, self.first_slice);
        let x = (first_x + self.offset[0]) * bytes + u64::from(x);
        let y = first_y + self.offset[1] + u64::from(y);
        self.base.wrapping_add(self.tiling.offset(self.pitch, x, y))
    }

    /// The position of the first texel of a slice of a level, in texels.
    pub fn slice_origin(&self, level: u32, slice: u32) -> [u64; 2] {
        let slice = u64::from(slice);
        let aligned = |level: u32, axis: usize| {
            u64::from(minify(self.size[axis], level)).next_multiple_of(self.alignment[axis])
        };
        match self.arrangement {
            Arrangement::Row => [slice * self.qpitch + (0..level).map(|l| aligned(l, 0)).sum::<u64>(), 0],
            Arrangement::Plane => {
                let x = if level >= 2 { aligned(1, 0) } else { 0 };
                // Level 1 lies below level 0, level 2 right of level 1, the next below it.
                let y = (0..level).filter(|l| *l != 1).map(|l| aligned(l, 1)).sum::<u64>();
                [x, slice * self.qpitch + y]
            }
            Arrangement::Stack => {
                let rows = |level: u32| {
                    u64::from(minify(self.size[2], level)).div_ceil(1 << level) * aligned(level, 1)
                };
                let above = (0..level).map(rows).sum::<u64>();
                let (column, row) = (slice % (1 << level), slice >> level);
                [column * aligned(level, 0), above + row * aligned(level, 1)]
            }
        }
    }

    /// Applies "Shader Channel Select" to a texel.
    pub fn select(&self, texel: Texel) -> Texel {
        self.select.map(|select| match select {
            0 => 0,
            1 => self.format.one(),
            4.. => texel[select as usize - 4],
            _ => 0,
        })
    }

    /// The channels of texels that "Shader Channel Select" uses for some channels of the result.
    pub fn selected(&self, channels: &[usize]) -> [bool; 4] {
        let mut selected = [false; 4];
        for select in channels.iter().map(|channel| self.select[*channel]) {
            if let Some(channel) = select.checked_sub(4) {
                selected[channel as usize] = true;
            }
        }
        selected
    }

    /// As [`Surface::select`] for all channels of a message.
    pub fn select_lanes(&self, values: &Dwords) -> Dwords {
        if self.select == [4, 5, 6, 7] {
            return *values;
        }
        let constants = self.select([0; 4]);
        std::array::from_fn(|channel| match self.select[channel].checked_sub(4) {
            Some(from) => values[from as usize],
            None => [constants[channel]; LANES],
        })
    }

    /// The address of the texel at integer coordinates (U, V, R) in a level. In an array, the coordinate
    /// after the dimensions is the slice; further ones are ignored. `None` out of bounds.
    pub fn texel(&self, level: u32, coordinates: [u32; 3]) -> Option<u64> {
        if self.ty == SurfaceType::Null {
            return None;
        }
        let dimensions = self.dimensions();
        let size = self.level_size(level);
        let mut place = [0; 3];
        place[..dimensions].copy_from_slice(&coordinates[..dimensions]);
        if self.array && dimensions < 3 {
            place[2] = coordinates[dimensions];
        }
        let inside = place.iter().zip(size).all(|(place, size)| *place < size);
        inside.then(|| self.address(level, place))
    }
}

#[cfg(test)]
mod tests {
    use gencl_isa::Generation;

    use super::super::rules;
    use super::Surface;

    #[test]
    fn a_state_that_was_never_set_is_refused() {
        for generation in Generation::ALL {
            let rules = rules::of(generation);
            let fault = Surface::decode(&[0; 16], rules, true).unwrap_err();
            assert!(fault.to_string().contains("never set"), "{fault}");
            Surface::decode(&[0; 16], rules, false).unwrap();
        }
    }
}
