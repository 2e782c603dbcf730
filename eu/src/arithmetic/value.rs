//! Exact values of elements, for the general path, and their conversion from and to all types.

use gencl_isa::Type;

use crate::float::{flush_16, flush_32, flush_64, from_f16, integer_to_f64, integer_to_odd, to_f16, to_f32};
use crate::operand::low_bits;
use crate::thread::FloatMode;

/// The value of an element. Results of operations on `HF` or `F` are rounded to odd (see [`super::float`])
/// until they are converted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Of an integer type.
    Integer(i128),
    /// Of a floating-point type.
    Float(f64),
}

impl Value {
    /// The value of an element's bits.
    pub fn from_bits(bits: u64, ty: Type, mode: FloatMode) -> Value {
        match ty {
            Type::UB => Value::Integer(i128::from(bits as u8)),
            Type::B => Value::Integer(i128::from(bits as i8)),
            Type::UW | Type::UV => Value::Integer(i128::from(bits as u16)),
            Type::W | Type::V => Value::Integer(i128::from(bits as i16)),
            Type::UD => Value::Integer(i128::from(bits as u32)),
            Type::D => Value::Integer(i128::from(bits as i32)),
            Type::UQ => Value::Integer(i128::from(bits)),
            Type::Q => Value::Integer(i128::from(bits as i64)),
            Type::HF => {
                let bits = bits as u16;
                Value::Float(from_f16(if mode.flush_16 { flush_16(bits) } else { bits }))
            }
            Type::F | Type::VF => {
                let value = f32::from_bits(bits as u32);
                Value::Float(f64::from(if mode.flush_32 { flush_32(value) } else { value }))
            }
            Type::DF => {
                let value = f64::from_bits(bits);
                Value::Float(if mode.flush_64 { flush_64(value) } else { value })
            }
        }
    }

    /// The value as a float; integers convert exactly or are rounded to odd.
    pub fn float(self) -> f64 {
        match self {
            Value::Integer(value) => integer_to_odd(value),
            Value::Float(value) => value,
        }
    }

    /// The value as an integer; floats are truncated and saturated, NaN is 0.
    pub fn integer(self) -> i128 {
        match self {
            Value::Integer(value) => value,
            Value::Float(value) => value as i128,
        }
    }

    /// Whether it is NaN.
    pub fn is_nan(self) -> bool {
        matches!(self, Value::Float(value) if value.is_nan())
    }

    /// Whether it is less than zero.
    pub fn is_negative(self) -> bool {
        match self {
            Value::Integer(value) => value < 0,
            Value::Float(value) => value < 0.0,
        }
    }

    /// Negated.
    pub fn negated(self) -> Value {
        match self {
            Value::Integer(value) => Value::Integer(-value),
            Value::Float(value) => Value::Float(-value),
        }
    }

    /// Its absolute value.
    pub fn absolute(self) -> Value {
        match self {
            Value::Integer(value) => Value::Integer(value.abs()),
            Value::Float(value) => Value::Float(value.abs()),
        }
    }

    /// Compares exactly; `None` when one is NaN.
    pub fn compare(self, other: Value) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(&b)),
            (a, b) => a.float().partial_cmp(&b.float()),
        }
    }

    /// Converts to a type. Floats are rounded by `mode`; to integer types they are truncated and limited to
    /// the type's range (Volume 7, "Float to Integer"). Integers wrap unless `saturate`. With `saturate`,
    /// floats are limited to 0..1, and NaN becomes 0.
    pub fn to_bits(self, ty: Type, saturate: bool, mode: FloatMode) -> u64 {
        if ty.is_float() {
            return self.to_float_bits(ty, saturate, mode);
        }
        let (low, high) = integer_range(ty);
        let value = match self {
            Value::Integer(value) if !saturate => value,
            other => other.integer().clamp(low, high),
        };
        value as u64 & low_bits(ty.size() * 8)
    }

    fn to_float_bits(self, ty: Type, saturate: bool, mode: FloatMode) -> u64 {
        let mut value = match (self, ty) {
            (Value::Integer(value), Type::DF) => integer_to_f64(value, mode.rounding),
            (value, _) => value.float(),
        };
        if saturate {
            value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
        match ty {
            Type::DF => if mode.flush_64 { flush_64(value) } else { value }.to_bits(),
            Type::HF => {
                let bits = to_f16(value, mode.rounding);
                u64::from(if mode.flush_16 { flush_16(bits) } else { bits })
            }
            _ => {
                let value = to_f32(value, mode.rounding);
                u64::from(if mode.flush_32 { flush_32(value) } else { value }.to_bits())
            }
        }
    }

    /// Whether the value is out of the range of a type.
    pub fn overflows(self, ty: Type) -> bool {
        match self {
            Value::Integer(value) if !ty.is_float() => {
                let (low, high) = integer_range(ty);
                !(low..=high).contains(&value)
            }
            Value::Float(value) => value.is_finite() && ty == Type::F && (value as f32).is_infinite(),
            Value::Integer(_) => false,
        }
    }
}

/// The smallest and the largest value of an integer type.
pub fn integer_range(ty: Type) -> (i128, i128) {
    let bits = ty.size() * 8;
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODE: FloatMode = FloatMode {
        rounding: crate::dispatch::Rounding::NearestEven,
        flush_16: false,
        flush_32: false,
        flush_64: false,
    };

    #[test]
    fn floats_to_integers_truncate_and_saturate() {
        let convert = |value: f64, ty| Value::Float(value).to_bits(ty, false, MODE);
        assert_eq!(convert(-1.9, Type::D), 0xffff_ffff);
        assert_eq!(convert(1e10, Type::D), 0x7fff_ffff);
        assert_eq!(convert(-1e10, Type::D), 0x8000_0000);
        assert_eq!(convert(-1.0, Type::UD), 0);
        assert_eq!(convert(f64::NAN, Type::D), 0);
        assert_eq!(convert(300.0, Type::UB), 255);
        assert_eq!(convert(f64::INFINITY, Type::UQ), u64::MAX);
    }

    #[test]
    fn integers_wrap_or_saturate() {
        let value = Value::Integer(0x1_2345);
        assert_eq!(value.to_bits(Type::UW, false, MODE), 0x2345);
        assert_eq!(value.to_bits(Type::UW, true, MODE), 0xffff);
        assert_eq!(Value::Integer(-1).to_bits(Type::UD, true, MODE), 0);
        assert_eq!(Value::Integer(-200).to_bits(Type::B, true, MODE), 0x80);
        assert!(value.overflows(Type::W));
        assert!(!value.overflows(Type::D));
    }

    #[test]
    fn floats_saturate_to_the_unit_interval() {
        let convert = |value: f64| f32::from_bits(Value::Float(value).to_bits(Type::F, true, MODE) as u32);
        assert_eq!(convert(2.0), 1.0);
        assert_eq!(convert(-2.0), 0.0);
        assert_eq!(convert(f64::NAN), 0.0);
        assert_eq!(convert(0.25), 0.25);
    }

    #[test]
    fn denormals_are_flushed_when_the_mode_says_so() {
        let flush = FloatMode { flush_32: true, ..MODE };
        assert_eq!(Value::from_bits(0x8000_0001, Type::F, flush), Value::Float(-0.0));
        assert_eq!(Value::from_bits(1, Type::F, MODE).to_bits(Type::F, false, MODE), 1);
        assert_eq!(Value::from_bits(1, Type::F, MODE).to_bits(Type::F, false, flush), 0);
    }
}
