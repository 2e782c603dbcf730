//! `SAMPLER_STATE` and border colours.
//!
//! Fields: Skylake manual, Volume 2d "Command Reference: Structures"; the same bits in Mesa's `gen8.xml` and
//! `gen9.xml`.

use super::super::Call;
use super::filter::{AddressMode, Axis, Filter};
use super::{Texel, bits};
use crate::fault::Fault;

/// The filter between levels of detail ("Mip Mode Filter").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelFilter {
    /// Only the first level is used.
    None,
    /// The nearest level.
    Nearest,
    /// Interpolates between two levels.
    Linear,
}

/// A sampler.
#[derive(Clone, Debug)]
pub struct SamplerState {
    /// Minification filter.
    pub smaller: Filter,
    /// Magnification filter.
    pub larger: Filter,
    /// Filter between levels.
    pub levels: LevelFilter,
    /// The axes U, V, R, with the rounding of each filter.
    smaller_axes: [Axis; 3],
    larger_axes: [Axis; 3],
    /// Limits of the level of detail, in units of 1/256.
    pub level_limits: [u32; 2],
    /// Added to the level of detail, in units of 1/256.
    pub level_bias: i32,
    /// Offset of the border colour from the Dynamic State Base Address.
    pub border: u32,
}

impl SamplerState {
    /// The axes for a filter: U, V, R.
    pub fn axes(&self, smaller: bool) -> &[Axis; 3] {
        if smaller { &self.smaller_axes } else { &self.larger_axes }
    }

    /// Decodes a sampler state.
    ///
    /// # Errors
    /// Filters and address modes that are not simulated.
    pub fn decode(state: [u32; 4]) -> Result<SamplerState, Fault> {
        let field = |first, last| bits(&state, first, last);
        let filter = |code| match code {
            0 => Ok(Filter::Nearest),
            1 => Ok(Filter::Linear),
            other => Err(Fault::unsupported(format!("sampler filter {other}"))),
        };
        if field(31, 31) != 0 {
            return Err(Fault::unsupported("a sampler that is disabled"));
        }
        let normalized = field(106, 106) == 0;
        let mut modes = [AddressMode::Clamp; 3];
        for (mode, first) in modes.iter_mut().zip([102, 99, 96]) {
            let code = field(first, first + 2);
            *mode = AddressMode::of_code(code)
                .ok_or_else(|| Fault::unsupported(format!("texture coordinate mode {code}")))?;
        }
        let axes = |rounding: [u32; 3]| {
            std::array::from_fn(|n| Axis {
                mode: modes[n],
                normalized,
                rounded: field(rounding[n], rounding[n]) != 0,
            })
        };
        Ok(SamplerState {
            smaller: filter(field(14, 16))?,
            larger: filter(field(17, 19))?,
            levels: match field(20, 21) {
                0 => LevelFilter::None,
                1 => LevelFilter::Nearest,
                3 => LevelFilter::Linear,
                other => return Err(Fault::illegal(format!("mip mode filter {other}"))),
            },
            smaller_axes: axes([113, 111, 109]),
            larger_axes: axes([114, 112, 110]),
            level_limits: [field(52, 63), field(40, 51)],
            level_bias: (field(1, 13) << 19) as i32 >> 19,
            border: field(70, 87) << 6,
        })
    }
}

impl Call<'_, '_> {
    /// Reads the state of a sampler, from the table that the header points to, else from the launch's.
    pub(super) fn sampler_dwords(&mut self, index: u8) -> Result<[u32; 4], Fault> {
        let launch = self.context.launch;
        let table = if self.lengths.header { self.header(3)? } else { launch.samplers } & !0x1f;
        // A header may name another table.
        if table == launch.samplers {
            self.check_used("sampler", index, launch.used.samplers)?;
        }
        let offset = u64::from(table) + u64::from(index) * 16;
        self.dynamic_state(offset)
    }

    /// Reads a border colour: four floats, or integers for integer formats.
    pub(super) fn border_colour(&mut self, offset: u32) -> Result<Texel, Fault> {
        self.dynamic_state(u64::from(offset))
    }

    /// Reads four dwords at an offset from the Dynamic State Base Address.
    fn dynamic_state(&mut self, offset: u64) -> Result<[u32; 4], Fault> {
        let address = self.context.launch.bases.dynamic.wrapping_add(offset);
        let mut bytes = [0; 16];
        self.context.memory.read(&mut self.context.state_cursor, address, &mut bytes)?;
        Ok(bytemuck::cast(bytes))
    }
}
