//! Kernels' arguments, and how results are compared.

use half::f16;

use self::Data::{Bytes, Doubles, Float, Floats, Halves, Image, Word, Words};
use crate::images::{Picture, Texels};

/// A kernel's argument.
#[derive(Clone, Debug)]
pub enum Data {
    /// A buffer of bytes.
    Bytes(Vec<u8>),
    /// A buffer of 32-bit integers.
    Words(Vec<u32>),
    /// A buffer of half floats.
    Halves(Vec<f16>),
    /// A buffer of floats.
    Floats(Vec<f32>),
    /// A buffer of doubles.
    Doubles(Vec<f64>),
    /// An image.
    Image(Picture),
    /// A 32-bit integer.
    Word(u32),
    /// A float.
    Float(f32),
}

/// How close values must be to the expected ones.
pub struct Check {
    /// The largest error, relative to the expected value where that is above 1; 0 for the same value.
    pub tolerance: f64,
    /// The share of values that may differ more: where rounding decides on a branch.
    pub outliers: f64,
}

impl Data {
    /// The bytes, as devices have them.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Bytes(values) => values.clone(),
            Words(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
            Halves(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
            Floats(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
            Doubles(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
            Image(picture) => match &picture.texels {
                Texels::Bytes(values) => values.clone(),
                Texels::Floats(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
            },
            Word(value) => value.to_ne_bytes().to_vec(),
            Float(value) => value.to_ne_bytes().to_vec(),
        }
    }

    /// Whether it is passed by value.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Word(_) | Float(_))
    }

    /// The values of a buffer that has these bytes and values of the type that `self` has.
    fn values(&self, bytes: &[u8]) -> Vec<f64> {
        fn read<const SIZE: usize>(bytes: &[u8], value: fn([u8; SIZE]) -> f64) -> Vec<f64> {
            bytes.as_chunks().0.iter().map(|bytes| value(*bytes)).collect()
        }
        match self {
            Bytes(_) => read(bytes, |[byte]| f64::from(byte)),
            Image(Picture { texels: Texels::Bytes(_), .. }) => read(bytes, |[byte]| f64::from(byte) / 255.0),
            Words(_) | Word(_) => read(bytes, |bytes| f64::from(u32::from_ne_bytes(bytes))),
            Halves(_) => read(bytes, |bytes| f16::from_ne_bytes(bytes).to_f64()),
            Floats(_) | Float(_) | Image(_) => read(bytes, |bytes| f64::from(f32::from_ne_bytes(bytes))),
            Doubles(_) => read(bytes, f64::from_ne_bytes),
        }
    }
}

impl Check {
    /// An error that names the first wrong value if the bytes of a buffer are not close enough to `expected`.
    pub fn compare(&self, bytes: &[u8], expected: &Data) -> Result<(), String> {
        let (found, values) = (expected.values(bytes), expected.values(&expected.to_bytes()));
        // Not `>`: NaN is wrong.
        let is_close =
            |found: f64, value: f64| (found - value).abs() <= self.tolerance * value.abs().max(1.0);
        let wrong: Vec<usize> = (0..values.len()).filter(|&i| !is_close(found[i], values[i])).collect();
        match wrong.first() {
            Some(&i) if wrong.len() as f64 > self.outliers * values.len() as f64 => Err(format!(
                "{} of {} values are wrong: value {i} is {}, not {}",
                wrong.len(),
                values.len(),
                found[i],
                values[i]
            )),
            _ => Ok(()),
        }
    }
}
