//! The states that a message uses, decoded once: a message instruction keeps them until it finds other states in
//! memory.

use super::channels::Decoder;
use super::filter::Filter;
use super::rules::Rules;
use super::sample_kind::SampleKind;
use super::sampler_state::{LevelFilter, SamplerState};
use super::surface::{Surface, SurfaceType};
use super::texels::Level;
use crate::fault::Fault;
use crate::message::surface_state::SurfaceState;

/// Subdivisions of a level of detail.
const LEVEL_PARTS: i64 = 256;

/// The operation for which states are prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageOperation {
    /// A message to the sampler.
    Sample(SampleKind),
    /// A typed message of the data port.
    Typed,
}

/// What prepared states depend on.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// The operation.
    pub operation: ImageOperation,
    /// The surface state.
    pub surface: SurfaceState,
    /// The sampler state, if the operation has one.
    pub sampler: Option<[u32; 4]>,
    /// Strict mode.
    pub strict: bool,
}

/// The decoded states of a message.
#[derive(Debug)]
pub struct Prepared {
    /// What they were decoded from.
    pub key: Key,
    /// Surface.
    pub image: Surface,
    /// Sampler, for messages that filter.
    pub sampler: Option<SamplerState>,
    /// The level of detail, and whether the minification filter applies; `None` if these differ between channels,
    /// or the result is a mixture of two levels, or not of texels.
    pub level: Option<(Level, bool)>,
    /// How texels become registers.
    pub decoder: Decoder,
}

/// The prepared states that an instruction has kept.
pub type PreparedSlot = Option<Box<Prepared>>;

/// The levels of detail that a channel uses.
pub struct Levels {
    /// The minification filter applies.
    pub smaller: bool,
    /// The first and the second level, counted from the surface's first.
    pub levels: [u32; 2],
    /// The weight of the second level; 0 if there is none.
    pub weight: f64,
}

impl Prepared {
    /// Decodes states.
    ///
    /// # Errors
    /// States that are not simulated, or that the message cannot use.
    pub fn new(key: Key, rules: &Rules) -> Result<Prepared, Fault> {
        let image = Surface::decode(&key.surface, rules, key.strict)?;
        let sampler = key.sampler.map(|state| SamplerState::decode(state, rules)).transpose()?;
        if let (Some(state), ImageOperation::Sample(kind)) = (&sampler, key.operation) {
            check(&image, state, kind, key.strict)?;
        }
        let decoder = Decoder::of(image.format);
        let mut prepared = Prepared { key, image, sampler, level: None, decoder };
        prepared.level = prepared.common_level();
        Ok(prepared)
    }

    /// The level that all channels use.
    fn common_level(&self) -> Option<(Level, bool)> {
        let image = &self.image;
        let one = image.last_level == 0;
        let (level, smaller) = match (self.key.operation, &self.sampler) {
            _ if image.ty == SurfaceType::Null => return None,
            (ImageOperation::Sample(SampleKind::ResourceInfo), _) => return None,
            (ImageOperation::Sample(SampleKind::Level), Some(state)) if !(one && state.has_one_filter()) => {
                return None;
            }
            (ImageOperation::Sample(_), Some(state)) => {
                let Levels { smaller, levels: [first, _], weight } = self.levels(state, 0.0);
                if weight != 0.0 {
                    return None;
                }
                (first, smaller)
            }
            // Accesses to other levels are out of bounds.
            (ImageOperation::Sample(SampleKind::LoadLevelZero), _) => (0, false),
            (ImageOperation::Sample(_), None) if one => (0, false),
            (ImageOperation::Typed, _)
                if image.ty == SurfaceType::Buffer || one && image.first_level == 0 =>
            {
                (0, false)
            }
            (ImageOperation::Sample(_) | ImageOperation::Typed, _) => return None,
        };
        Level::new(image, image.first_level + level).map(|level| (level, smaller))
    }

    /// The levels for a requested level of detail.
    pub fn levels(&self, state: &SamplerState, requested: f32) -> Levels {
        let [lowest, highest] = state.level_limits.map(i64::from);
        let parts = (f64::from(requested) * LEVEL_PARTS as f64).floor() as i64 + i64::from(state.level_bias);
        let lowest = lowest.max(i64::from(self.image.minimum_level));
        let level = parts.max(lowest).min(highest.max(lowest));
        let last = i64::from(self.image.last_level);
        let at = |level: i64| level.clamp(0, last) as u32;
        let (first, second, weight) = match state.levels {
            LevelFilter::None => (0, 0, 0),
            LevelFilter::Nearest => (at((level + LEVEL_PARTS / 2).div_euclid(LEVEL_PARTS)), 0, 0),
            LevelFilter::Linear => {
                let first = level.div_euclid(LEVEL_PARTS);
                (at(first), at(first + 1), level.rem_euclid(LEVEL_PARTS))
            }
        };
        let weight = if first == second { 0.0 } else { weight as f64 / LEVEL_PARTS as f64 };
        Levels { smaller: level > 0, levels: [first, second], weight }
    }

    /// The filter within a level: integers are not interpolated.
    pub fn filter(&self, state: &SamplerState, smaller: bool) -> Filter {
        match if smaller { state.smaller } else { state.larger } {
            _ if self.image.format.is_integer() => Filter::Nearest,
            filter => filter,
        }
    }
}

impl SamplerState {
    /// Whether minification and magnification filter alike.
    fn has_one_filter(&self) -> bool {
        self.smaller == self.larger && self.axes(false) == self.axes(true)
    }
}

/// Checks that a sampler can be used with a surface.
fn check(image: &Surface, state: &SamplerState, kind: SampleKind, strict: bool) -> Result<(), Fault> {
    if image.ty == SurfaceType::Buffer {
        return Err(Fault::illegal("a buffer surface is sampled"));
    }
    let linear = state.smaller == Filter::Linear || state.larger == Filter::Linear;
    if strict && linear && image.format.is_integer() {
        return Err(Fault::illegal(format!("a linear filter on format {}", image.format.name)));
    }
    // The level of detail only matters where there are several, or two filters to choose from.
    let one = image.last_level == 0 && state.has_one_filter();
    if matches!(kind, SampleKind::Sample | SampleKind::Bias) && !one {
        return Err(Fault::unsupported("a level of detail from the coordinates of neighbouring channels"));
    }
    Ok(())
}
