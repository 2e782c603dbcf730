//! Numbers of all types of OpenCL C, as bits and exact.

use gencl_utest::{DOUBLE, HALF, Need};
use half::f16;

/// How numbers are rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Nearest,
    Zero,
    Up,
    Down,
}

/// The names that conversions have for them.
pub const MODES: [(&str, Mode); 4] =
    [("_rte", Mode::Nearest), ("_rtz", Mode::Zero), ("_rtp", Mode::Up), ("_rtn", Mode::Down)];

/// A number without rounding.
#[derive(Clone, Copy, Debug)]
pub enum Exact {
    Integer(i128),
    Float(f64),
}

/// A type of numbers.
pub struct Type {
    pub name: &'static str,
    pub bytes: usize,
    /// Of integers.
    pub range: Option<(i128, i128)>,
}

const fn integer(name: &'static str, bytes: usize, signed: bool) -> Type {
    let bits = 8 * bytes as u32;
    let range = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    Type { name, bytes, range: Some(range) }
}

/// All types.
pub static TYPES: [Type; 11] = [
    integer("char", 1, true),
    integer("uchar", 1, false),
    integer("short", 2, true),
    integer("ushort", 2, false),
    integer("int", 4, true),
    integer("uint", 4, false),
    integer("long", 8, true),
    integer("ulong", 8, false),
    Type { name: "half", bytes: 2, range: None },
    Type { name: "float", bytes: 4, range: None },
    Type { name: "double", bytes: 8, range: None },
];

impl Type {
    /// What the device has to have.
    pub fn need(&self) -> Option<Need> {
        match self.name {
            "half" => Some(HALF),
            "double" => Some(DOUBLE),
            _ => None,
        }
    }

    /// The type of a name.
    pub fn named(name: &str) -> &'static Type {
        TYPES.iter().find(|ty| ty.name == name).expect("a type of OpenCL C")
    }

    /// The types of floats.
    pub fn floats() -> impl Iterator<Item = &'static Type> {
        TYPES.iter().filter(|ty| ty.range.is_none())
    }

    /// As many of the lower bits of an integer as the type has.
    pub fn cut(&self, integer: i128) -> u64 {
        integer as u64 & (u64::MAX >> (64 - 8 * self.bytes))
    }

    /// The integers of the same size.
    pub fn integers(&self, signed: bool) -> &'static Type {
        let low = |ty: &&Type| ty.range.map(|(low, _)| (low < 0, ty.bytes));
        TYPES.iter().find(|ty| low(ty) == Some((signed, self.bytes))).expect("all sizes are there")
    }

    /// Digits of a float's significand, and the exponent of its largest number.
    pub fn float(&self) -> (i32, i32) {
        match self.bytes {
            2 => (11, 15),
            4 => (24, 127),
            _ => (53, 1023),
        }
    }

    /// How far a result is from the exact one, in units of the last place. Infinity stands for the first
    /// power of two that is too large.
    pub fn error(&self, got: f64, exact: f64) -> f64 {
        if got == exact || got.is_nan() && exact.is_nan() {
            return 0.0;
        }
        let (digits, most) = self.float();
        // That of doubles is no double.
        let beyond = if most < 1023 { libm::scalbn(1.0, most + 1) } else { f64::MAX };
        let (got, exact) = (got.clamp(-beyond, beyond), exact.clamp(-beyond, beyond));
        let exponent = if exact == 0.0 { 1 - most } else { libm::ilogb(exact).clamp(1 - most, most) };
        libm::scalbn((got - exact).abs(), digits - 1 - exponent)
    }

    /// A float's bits as a number.
    pub fn value(&self, bits: u64) -> f64 {
        match self.read(bits) {
            Exact::Integer(number) => number as f64,
            Exact::Float(number) => number,
        }
    }

    /// Bits of the number of the type that is nearest.
    pub fn bits(&self, value: f64) -> u64 {
        match self.range {
            Some(_) => self.convert(Exact::Integer(value as i128), Mode::Nearest),
            None => self.convert(Exact::Float(value), Mode::Nearest),
        }
    }

    /// Whether some bits are a NaN without the first bit of the fraction.
    pub fn is_signalling(&self, bits: u64) -> bool {
        self.value(bits).is_nan() && bits >> (self.float().0 - 2) & 1 == 0
    }

    /// The number that some bits are.
    pub fn read(&self, bits: u64) -> Exact {
        match (self.range, self.bytes) {
            (Some((low, _)), bytes) => {
                let unused = 64 - 8 * bytes as u32;
                let bits = bits << unused;
                Exact::Integer(if low < 0 {
                    i128::from((bits as i64) >> unused)
                } else {
                    i128::from(bits >> unused)
                })
            }
            (None, 2) => Exact::Float(f16::from_bits(bits as u16).to_f64()),
            (None, 4) => Exact::Float(f32::from_bits(bits as u32).into()),
            (None, _) => Exact::Float(f64::from_bits(bits)),
        }
    }

    /// Bits of the number that another is converted to.
    pub fn convert(&self, value: Exact, mode: Mode) -> u64 {
        if let Some((low, high)) = self.range {
            let whole = match value {
                Exact::Integer(value) => value,
                Exact::Float(value) => whole(value, mode) as i128,
            };
            return self.cut(whole.clamp(low, high));
        }
        let nearest = match (value, self.bytes) {
            (Exact::Integer(v), 2) => {
                return to_half(v.clamp(-(1 << 20), 1 << 20) as f64, mode).to_bits().into();
            }
            (Exact::Integer(v), 4) => (v as f32).to_bits().into(),
            (Exact::Integer(v), _) => (v as f64).to_bits(),
            (Exact::Float(v), 2) => return to_half(v, mode).to_bits().into(),
            (Exact::Float(v), 4) => (v as f32).to_bits().into(),
            (Exact::Float(v), _) => v.to_bits(),
        };
        let Exact::Float(back) = self.read(nearest) else { return nearest };
        let order = match value {
            _ if back.is_infinite() && matches!(value, Exact::Integer(_)) => back.partial_cmp(&0.0),
            Exact::Integer(v) => Some((back as i128).cmp(&v)),
            Exact::Float(v) => back.partial_cmp(&v),
        };
        step(nearest, 8 * self.bytes as u32, back, order, mode)
    }
}

/// The neighbour of a float, given as bits, that is on the right side of the exact value.
fn step(nearest: u64, bits: u32, value: f64, order: Option<std::cmp::Ordering>, mode: Mode) -> u64 {
    use std::cmp::Ordering::{Greater, Less};
    let sign = 1u64 << (bits - 1);
    let negative = value.is_sign_negative();
    let up = match (mode, order) {
        (Mode::Up, Some(Less)) => true,
        (Mode::Zero, Some(Less)) if negative => true,
        (Mode::Down, Some(Greater)) => false,
        (Mode::Zero, Some(Greater)) if !negative => false,
        _ => return nearest,
    };
    if nearest & !sign == 0 {
        return if up { 1 } else { sign | 1 };
    }
    if up == negative { nearest - 1 } else { nearest + 1 }
}

/// Rounded to an integer.
pub fn whole(value: f64, mode: Mode) -> f64 {
    match mode {
        Mode::Nearest => value.round_ties_even(),
        Mode::Zero => value.trunc(),
        Mode::Up => value.ceil(),
        Mode::Down => value.floor(),
    }
}

/// Rounded once.
pub fn to_half(value: f64, mode: Mode) -> f16 {
    // By way of a float whose last digit is odd when something was lost, so that the second rounding does no
    // harm.
    let single = value as f32;
    let back = f64::from(single);
    let odd = back == value || value.is_nan() || single.to_bits() & 1 == 1;
    let nearest = f16::from_f32(match odd {
        true => single,
        false if back < value => single.next_up(),
        false => single.next_down(),
    });
    let back = nearest.to_f64();
    f16::from_bits(step(nearest.to_bits().into(), 16, back, back.partial_cmp(&value), mode) as u16)
}
