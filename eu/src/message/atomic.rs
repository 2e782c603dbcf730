//! Atomic operations on dwords and qwords.

use super::Space;

/// An untyped atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// The memory that it accesses.
    pub space: Space,
    /// Operation.
    pub operation: AtomicOperation,
    /// Bytes of the operand: 4 or 8.
    pub size: usize,
    /// Channels of the message: 8 or 16.
    pub simd: usize,
    /// Whether it returns the old value.
    pub returns: bool,
}

/// An atomic operation (Volume 2d, `MDC_AOP`, `MDC_FOP`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the manual's names")]
pub enum AtomicOperation {
    And,
    Or,
    Xor,
    /// Store source 0.
    Move,
    Increment,
    Decrement,
    Add,
    Subtract,
    /// Source 0 minus the operand.
    ReverseSubtract,
    SignedMaximum,
    SignedMinimum,
    UnsignedMaximum,
    UnsignedMinimum,
    /// Store source 1 if the operand equals source 0.
    CompareWrite,
    /// Decrement, and return the new value.
    PreDecrement,
    FloatMaximum,
    FloatMinimum,
    /// [`AtomicOperation::CompareWrite`], comparing floats.
    FloatCompareWrite,
}

impl AtomicOperation {
    /// The integer operation of a code.
    pub fn integer(code: u32) -> Option<AtomicOperation> {
        use AtomicOperation as A;
        Some(match code {
            1 => A::And,
            2 => A::Or,
            3 => A::Xor,
            4 => A::Move,
            5 => A::Increment,
            6 => A::Decrement,
            7 => A::Add,
            8 => A::Subtract,
            9 => A::ReverseSubtract,
            10 => A::SignedMaximum,
            11 => A::SignedMinimum,
            12 => A::UnsignedMaximum,
            13 => A::UnsignedMinimum,
            14 => A::CompareWrite,
            15 => A::PreDecrement,
            _ => return None,
        })
    }

    /// The float operation of a code.
    pub fn float(code: u32) -> Option<AtomicOperation> {
        use AtomicOperation as A;
        Some(match code {
            1 => A::FloatMaximum,
            2 => A::FloatMinimum,
            3 => A::FloatCompareWrite,
            _ => return None,
        })
    }

    /// Number of sources in the payload.
    pub fn sources(self) -> usize {
        use AtomicOperation as A;
        match self {
            A::Increment | A::Decrement | A::PreDecrement => 0,
            A::CompareWrite | A::FloatCompareWrite => 2,
            A::And
            | A::Or
            | A::Xor
            | A::Move
            | A::Add
            | A::Subtract
            | A::ReverseSubtract
            | A::SignedMaximum
            | A::SignedMinimum
            | A::UnsignedMaximum
            | A::UnsignedMinimum
            | A::FloatMaximum
            | A::FloatMinimum => 1,
        }
    }

    /// The returned value, when the operand of `size` bytes was `old`.
    pub fn returned(self, old: u64, size: usize) -> u64 {
        match self {
            AtomicOperation::PreDecrement if size == 8 => old.wrapping_sub(1),
            AtomicOperation::PreDecrement => u64::from((old as u32).wrapping_sub(1)),
            _ => old,
        }
    }

    /// The new value of an operand of `size` bytes; `None` if it is not written.
    pub fn apply(self, old: u64, a: u64, b: u64, size: usize) -> Option<u64> {
        use AtomicOperation as A;
        let signed = |v: u64| if size == 8 { v as i64 } else { i64::from(v as i32) };
        let float = |v: u64| f32::from_bits(v as u32);
        let pick = |first: bool| if first { old } else { a };
        Some(match self {
            A::And => old & a,
            A::Or => old | a,
            A::Xor => old ^ a,
            A::Move => a,
            A::Increment => old.wrapping_add(1),
            A::Decrement | A::PreDecrement => old.wrapping_sub(1),
            A::Add => old.wrapping_add(a),
            A::Subtract => old.wrapping_sub(a),
            A::ReverseSubtract => a.wrapping_sub(old),
            A::SignedMaximum => pick(signed(old) >= signed(a)),
            A::SignedMinimum => pick(signed(old) <= signed(a)),
            A::UnsignedMaximum => old.max(a),
            A::UnsignedMinimum => old.min(a),
            A::CompareWrite if old == a => b,
            A::CompareWrite => return None,
            A::FloatMaximum => pick(float(old) >= float(a) || float(a).is_nan()),
            A::FloatMinimum => pick(float(old) <= float(a) || float(a).is_nan()),
            A::FloatCompareWrite if float(old) == float(a) => b,
            A::FloatCompareWrite => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations() {
        use AtomicOperation as A;
        let minus_one = 0xffff_ffff;
        assert_eq!(A::SignedMaximum.apply(minus_one, 1, 0, 4), Some(1));
        assert_eq!(A::UnsignedMaximum.apply(minus_one, 1, 0, 4), Some(minus_one));
        assert_eq!(A::SignedMinimum.apply(minus_one, 1, 0, 8), Some(1));
        assert_eq!(A::CompareWrite.apply(5, 5, 9, 4), Some(9));
        assert_eq!(A::CompareWrite.apply(5, 6, 9, 4), None);
        assert_eq!(A::ReverseSubtract.apply(3, 10, 0, 4), Some(7));
        let (one, two) = (u64::from(1f32.to_bits()), u64::from(2f32.to_bits()));
        assert_eq!(A::FloatMaximum.apply(one, two, 0, 4), Some(two));
        assert_eq!(A::FloatMinimum.apply(one, two, 0, 4), Some(one));
        assert_eq!(A::integer(0), None);
    }
}
