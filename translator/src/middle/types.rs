//! Types: a scalar, or lanes of it.

use std::fmt;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// Whether a lane is enabled, or a condition holds. How masks are represented is the lowering's choice.
    Mask,
    /// An integer of so many bits, at most 128.
    Int(u8),
    /// IEEE binary16.
    Half,
    /// IEEE binary32.
    Float,
    /// IEEE binary64.
    Double,
}

impl Scalar {
    /// Bits of a value; 1 for a mask.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Mask => 1,
            Scalar::Int(bits) => u32::from(bits),
            Scalar::Half => 16,
            Scalar::Float => 32,
            Scalar::Double => 64,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Half | Scalar::Float | Scalar::Double)
    }
}

/// A type: a scalar (one lane), or a vector of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    /// Element.
    pub scalar: Scalar,
    /// Lanes, at least 1.
    pub lanes: u16,
}

impl Type {
    /// Integers.
    pub const fn int(bits: u32, lanes: usize) -> Type {
        Type { scalar: Scalar::Int(bits as u8), lanes: lanes as u16 }
    }

    /// Masks.
    pub const fn mask(lanes: usize) -> Type {
        Type { scalar: Scalar::Mask, lanes: lanes as u16 }
    }

    /// As many lanes of another element.
    pub fn of(self, scalar: Scalar) -> Type {
        Type { scalar, ..self }
    }

    /// Other lanes of the same element.
    pub fn with_lanes(self, lanes: usize) -> Type {
        Type { lanes: lanes as u16, ..self }
    }

    /// Integers of the same size.
    pub fn as_int(self) -> Type {
        self.of(Scalar::Int(self.scalar.bits() as u8))
    }

    /// A mask with a bit for each lane.
    pub fn as_mask(self) -> Type {
        self.of(Scalar::Mask)
    }

    /// Bits of all lanes.
    pub fn bits(self) -> u32 {
        self.scalar.bits() * u32::from(self.lanes)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scalar {
            Scalar::Mask => return write!(f, "m{}", self.lanes),
            Scalar::Int(bits) => write!(f, "i{bits}")?,
            float => write!(f, "f{}", float.bits())?,
        }
        if self.lanes == 1 { Ok(()) } else { write!(f, "x{}", self.lanes) }
    }
}
