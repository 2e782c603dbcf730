//! Fields of commands and state structures.

/// A field: bits `first` to `last` of a structure, counted from bit 0 of its first dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The manual's name.
    pub name: &'static str,
    /// Lowest bit.
    pub first: u32,
    /// Highest bit.
    pub last: u32,
}

impl Field {
    /// The field's value. At most 64 bits wide and 3 dwords long; dwords that are missing at the end count as 0.
    pub fn get(&self, dwords: &[u32]) -> u64 {
        let first = (self.first / 32) as usize;
        let raw = (0..3)
            .fold(0u128, |raw, i| raw | u128::from(dwords.get(first + i).copied().unwrap_or(0)) << (32 * i));
        let width = self.last - self.first + 1;
        (raw >> (self.first % 32)) as u64 & (u64::MAX >> (64 - width))
    }

    /// As [`Field::get`] for fields of up to 32 bits.
    pub fn get32(&self, dwords: &[u32]) -> u32 {
        self.get(dwords) as u32
    }

    /// Is a field of one bit set?
    pub fn is_set(&self, dwords: &[u32]) -> bool {
        self.get(dwords) != 0
    }

    /// The value of an address or offset, whose low bits are those below the field in its dword and 0.
    pub fn address(&self, dwords: &[u32]) -> u64 {
        self.get(dwords) << (self.first % 32)
    }

    /// The bits of dword `index` that belong to the field.
    pub const fn mask(&self, index: u32) -> u32 {
        let (low, high) = (index * 32, index * 32 + 31);
        if self.last < low || self.first > high {
            return 0;
        }
        let first = self.first.saturating_sub(low);
        let last = if self.last < high { self.last - low } else { 31 };
        (u32::MAX >> (31 - last)) & (u32::MAX << first)
    }
}

/// Declares the fields of structures: for each structure a module with a constant for each field and all
/// of them in `FIELDS`.
macro_rules! layouts {
    ($($(#[$meta:meta])* $structure:ident { $($field:ident $name:literal $first:literal..=$last:literal,)* })*) => {$(
        $(#[$meta])*
        pub mod $structure {
            use $crate::streamer::field::Field;
            $(
                #[doc = $name]
                pub const $field: Field = Field { name: $name, first: $first, last: $last };
            )*
            /// All fields.
            pub const FIELDS: &[Field] = &[$($field),*];
        }
    )*};
}
pub(crate) use layouts;

#[cfg(test)]
mod tests {
    use super::Field;

    #[test]
    fn values_cross_dwords() {
        let dwords = [0x8765_4321, 0x0fed_cba9, 0x1234_5678];
        let field = |first, last| Field { name: "", first, last };
        assert_eq!(field(4, 11).get(&dwords), 0x32);
        assert_eq!(field(28, 35).get(&dwords), 0x98);
        assert_eq!(field(31, 31).get(&dwords), 1);
        assert_eq!(field(0, 63).get(&dwords), 0x0fed_cba9_8765_4321);
        assert_eq!(field(4, 67).get(&dwords), 0x80fe_dcba_9876_5432);
        assert_eq!(field(38, 63).address(&dwords), 0x0fed_cb80);
        assert_eq!(field(64, 127).get(&dwords), 0x1234_5678, "missing dwords are 0");
    }

    #[test]
    fn masks_are_cut_at_the_dword() {
        let field = Field { name: "", first: 34, last: 95 };
        assert_eq!([field.mask(0), field.mask(1), field.mask(2), field.mask(3)], [0, !3, !0, 0]);
        let bit = Field { name: "", first: 8, last: 8 };
        assert_eq!([bit.mask(0), bit.mask(1)], [0x100, 0]);
    }
}
