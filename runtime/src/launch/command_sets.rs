//! Which tables a device has.

use gencl_device_info::Family;

use super::commands::CommandSet;
use super::gen7::{BAY_TRAIL, GEN7, GEN75};
use super::gen8::GEN8;
use super::gen9::GEN9;

/// The tables of a family.
pub(crate) fn command_set(family: Family) -> &'static CommandSet {
    match family {
        Family::Ivb => &GEN7,
        Family::Byt => &BAY_TRAIL,
        Family::Hsw => &GEN75,
        Family::Bdw | Family::Chv => &GEN8,
        Family::Skl | Family::Bxt | Family::Kbl | Family::Glk | Family::Cfl => &GEN9,
    }
}
