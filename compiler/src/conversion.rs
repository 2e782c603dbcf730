//! Parsing of the mangled names of `convert_*` functions (OpenCL C 1.2, 6.2.3), which are translated without
//! library.

use crate::ir::{Rounding, Type};

/// The conversion of an element by a `convert_*` function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Type of the result.
    pub to: Type,
    /// Type of the argument.
    pub from: Type,
    /// Rounding.
    pub rounding: Rounding,
    /// `_sat`
    pub saturate: bool,
}

/// Types with their names, and their letters in mangled names.
const TYPES: &[(&str, &str, Type)] = &[
    ("char", "c", Type::S8),
    ("uchar", "h", Type::U8),
    ("short", "s", Type::S16),
    ("ushort", "t", Type::U16),
    ("int", "i", Type::S32),
    ("uint", "j", Type::U32),
    ("long", "l", Type::S64),
    ("ulong", "m", Type::U64),
    ("half", "Dh", Type::F16),
    ("float", "f", Type::F32),
    ("double", "d", Type::F64),
];

const ROUNDINGS: &[(&str, Rounding)] = &[
    ("_rte", Rounding::NearestEven),
    ("_rtz", Rounding::TowardZero),
    ("_rtp", Rounding::Up),
    ("_rtn", Rounding::Down),
];

impl Conversion {
    /// Parses a mangled name; `None` if it is not that of a conversion.
    #[must_use]
    pub fn parse(mangled: &str) -> Option<Conversion> {
        let rest = mangled.strip_prefix("_Z")?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (length, rest) = rest.split_at(digits);
        let (name, argument) = rest.split_at_checked(length.parse().ok()?)?;
        let name = name.strip_prefix("convert_")?;
        let (name, rounding) = ROUNDINGS
            .iter()
            .find_map(|(suffix, rounding)| Some((name.strip_suffix(suffix)?, *rounding)))
            .unwrap_or((name, Rounding::Default));
        let (name, saturate) = name.strip_suffix("_sat").map_or((name, false), |name| (name, true));
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let argument = match argument.strip_prefix("Dv") {
            Some(vector) => vector.split_once('_')?.1,
            None => argument,
        };
        let to = TYPES.iter().find(|row| row.0 == name)?.2;
        let from = TYPES.iter().find(|row| row.1 == argument)?.2;
        Some(Conversion { to, from, rounding, saturate })
    }

    /// Whether it is the same as a cast.
    #[must_use]
    pub fn is_cast(&self) -> bool {
        let nearest = matches!(self.rounding, Rounding::Default | Rounding::NearestEven);
        let toward_zero = matches!(self.rounding, Rounding::Default | Rounding::TowardZero);
        if self.to == self.from {
            return true;
        }
        match (self.to.is_float(), self.from.is_float()) {
            (false, false) => !self.saturate,
            (true, true) => nearest || self.to.bits() > self.from.bits(),
            (true, false) => nearest,
            (false, true) => toward_zero && !self.saturate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        let conversion = |to, from, rounding, saturate| Some(Conversion { to, from, rounding, saturate });
        let (default, up) = (Rounding::Default, Rounding::Up);
        assert_eq!(Conversion::parse("_Z11convert_inth"), conversion(Type::S32, Type::U8, default, false));
        assert_eq!(Conversion::parse("_Z22convert_uchar16_sat_rtpDv16_Dh"), None, "the length is wrong");
        assert_eq!(
            Conversion::parse("_Z23convert_uchar16_sat_rtpDv16_Dh"),
            conversion(Type::U8, Type::F16, up, true)
        );
        assert_eq!(Conversion::parse("_Z18convert_half2_rtp_Dv2_d"), None, "text after the rounding mode");
        assert_eq!(
            Conversion::parse("_Z17convert_half2_rtpDv2_d"),
            conversion(Type::F16, Type::F64, up, false)
        );
        for other in ["_Z3sinf", "_Z12convert_boolf", "_Z12convert_", "convert_int", "_Z12convert_intP"] {
            assert_eq!(Conversion::parse(other), None, "{other}");
        }
    }

    #[test]
    fn casts_are_what_c_does() {
        let is_cast = |name| Conversion::parse(name).is_some_and(|conversion| conversion.is_cast());
        for cast in [
            "_Z11convert_inth",
            "_Z16convert_char_rtpl",
            "_Z13convert_floati",
            "_Z17convert_float_rteDh",
            "_Z18convert_double_rtpf",
            "_Z15convert_int_rtzf",
            "_Z16convert_char_satc",
        ] {
            assert!(is_cast(cast), "{cast}");
        }
        for other in [
            "_Z16convert_char_sati",
            "_Z15convert_int_rtef",
            "_Z17convert_float_rtzi",
            "_Z17convert_float_rtnd",
        ] {
            assert!(!is_cast(other), "{other}");
        }
    }
}
