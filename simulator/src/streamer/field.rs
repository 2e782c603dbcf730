//! Fields of commands and state structures.

use gencl_isa::Generation;

/// Number of generations, each of which has a column in the tables.
pub const COLUMNS: usize = Generation::ALL.len();

/// The position of a field in each generation: lowest and highest bit, counted from bit 0 of the structure's
/// first dword. `None` where the generation does not have the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions([Option<(u32, u32)>; COLUMNS]);

/// The same position in all generations.
pub const fn all(first: u32, last: u32) -> Positions {
    Positions([Some((first, last)); COLUMNS])
}

/// Declares a function for fields that exist from a generation on.
macro_rules! beginnings {
    ($($name:ident: $generation:ident),*) => {$(
        /// A field that exists from this generation on.
        pub const fn $name(first: u32, last: u32) -> Positions {
            Positions([None; COLUMNS]).with(Generation::$generation, Some((first, last)))
        }
    )*};
}
beginnings!(from7: Gen7, from75: Gen75, from8: Gen8, from9: Gen9);

/// Declares a method for fields that move or are removed in a generation.
macro_rules! changes {
    ($($name:ident ($($bit:ident),*) $position:expr, $generation:ident;)*) => {
        impl Positions {$(
            /// Changes the position from this generation on.
            pub const fn $name(self, $($bit: u32),*) -> Positions {
                self.with(Generation::$generation, $position)
            }
        )*}
    };
}
changes! {
    from75(first, last) Some((first, last)), Gen75;
    from8(first, last) Some((first, last)), Gen8;
    from9(first, last) Some((first, last)), Gen9;
    until75() None, Gen75;
    until8() None, Gen8;
    until9() None, Gen9;
}

impl Positions {
    const fn with(mut self, generation: Generation, position: Option<(u32, u32)>) -> Positions {
        let mut column = generation.column();
        while column < COLUMNS {
            self.0[column] = position;
            column += 1;
        }
        self
    }

    /// The position in a generation.
    #[inline(always)]
    pub const fn of(self, generation: Generation) -> Option<(u32, u32)> {
        self.0[generation.column()]
    }
}

/// A field of a command or structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The manual's name.
    pub name: &'static str,
    /// Its position.
    pub positions: Positions,
}

impl Field {
    /// The bits of dword `index` that belong to the field.
    pub const fn mask(&self, generation: Generation, index: u32) -> u32 {
        let Some((start, end)) = self.positions.of(generation) else { return 0 };
        let (low, high) = (index * 32, index * 32 + 31);
        if end < low || start > high {
            return 0;
        }
        let first = start.saturating_sub(low);
        let last = if end < high { end - low } else { 31 };
        (u32::MAX >> (31 - last)) & (u32::MAX << first)
    }
}

/// The bits of dword `index` that belong to any of the fields.
pub fn bits_of(fields: &[Field], generation: Generation, index: u32) -> u32 {
    fields.iter().fold(0, |bits, field| bits | field.mask(generation, index))
}

/// A command or structure: its dwords, and the generation whose layout they have.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The dwords.
    pub dwords: &'a [u32],
    /// The generation.
    pub generation: Generation,
}

impl Packet<'_> {
    /// Whether the generation has the field.
    #[inline(always)]
    pub fn has(&self, field: Field) -> bool {
        field.positions.of(self.generation).is_some()
    }

    /// The field's value, 0 where the generation does not have it. At most 64 bits wide and 3 dwords long;
    /// dwords that are missing at the end count as 0.
    #[inline(always)]
    pub fn get(&self, field: Field) -> u64 {
        let Some((first, last)) = field.positions.of(self.generation) else { return 0 };
        let dword = (first / 32) as usize;
        if first / 32 == last / 32 {
            let raw = self.dwords.get(dword).copied().unwrap_or(0) >> (first % 32);
            return u64::from(raw & (u32::MAX >> (31 - (last - first))));
        }
        let [low, middle, high] =
            [0, 1, 2].map(|i| u64::from(self.dwords.get(dword + i).copied().unwrap_or(0)));
        let shift = first % 32;
        // In two steps, as a shift by 64 bits would be undefined for `shift` 0.
        let raw = (low | middle << 32) >> shift | high << 1 << (63 - shift);
        raw & (u64::MAX >> (63 - (last - first)))
    }

    /// As [`Packet::get`] for fields of up to 32 bits.
    #[inline(always)]
    pub fn get32(&self, field: Field) -> u32 {
        self.get(field) as u32
    }

    /// Whether the field is not 0.
    #[inline(always)]
    pub fn is_set(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    /// The value of an address or offset: the field at its position within the dword, with zeros below it.
    #[inline(always)]
    pub fn address(&self, field: Field) -> u64 {
        let Some((first, _)) = field.positions.of(self.generation) else { return 0 };
        self.get(field) << (first % 32)
    }
}

/// Declares the fields of structures: for each structure a module with a constant for each field, and
/// `FIELDS` with all of them.
macro_rules! layouts {
    ($($(#[$meta:meta])* $structure:ident { $($field:ident $name:literal $positions:expr,)* })*) => {$(
        $(#[$meta])*
        pub mod $structure {
            use $crate::streamer::field::*;
            $(
                #[doc = $name]
                pub const $field: Field = Field { name: $name, positions: $positions };
            )*
            /// All fields.
            pub const FIELDS: &[Field] = &[$($field),*];
        }
    )*};
}
pub(crate) use layouts;

#[cfg(test)]
mod tests {
    use gencl_isa::Generation;

    use super::{Field, Packet, Positions, all, from75};

    #[test]
    fn values_cross_dwords() {
        let packet =
            Packet { dwords: &[0x8765_4321, 0x0fed_cba9, 0x1234_5678], generation: Generation::Gen9 };
        let field = |first, last| Field { name: "", positions: all(first, last) };
        assert_eq!(packet.get(field(4, 11)), 0x32);
        assert_eq!(packet.get(field(28, 35)), 0x98);
        assert_eq!(packet.get(field(31, 31)), 1);
        assert_eq!(packet.get(field(0, 63)), 0x0fed_cba9_8765_4321);
        assert_eq!(packet.get(field(4, 67)), 0x80fe_dcba_9876_5432);
        assert_eq!(packet.address(field(38, 63)), 0x0fed_cb80);
        assert_eq!(packet.get(field(64, 127)), 0x1234_5678, "missing dwords are 0");
    }

    #[test]
    fn masks_are_those_within_the_dword() {
        let masks = |first, last| {
            let field = Field { name: "", positions: all(first, last) };
            [0, 1, 2, 3].map(|index| field.mask(Generation::Gen8, index))
        };
        assert_eq!(masks(34, 95), [0, !3, !0, 0]);
        assert_eq!(masks(8, 8), [0x100, 0, 0, 0]);
    }

    #[test]
    fn positions_depend_on_the_generation() {
        const POSITIONS: Positions = from75(2, 3).from8(4, 7).until9();
        let field = Field { name: "", positions: POSITIONS };
        let in_generation = |generation| {
            let packet = Packet { dwords: &[0xab], generation };
            (POSITIONS.of(generation), packet.has(field), packet.get(field), field.mask(generation, 0))
        };
        assert_eq!(in_generation(Generation::Gen7), (None, false, 0, 0));
        assert_eq!(in_generation(Generation::Gen75), (Some((2, 3)), true, 2, 0xc));
        assert_eq!(in_generation(Generation::Gen8), (Some((4, 7)), true, 10, 0xf0));
        assert_eq!(in_generation(Generation::Gen9), (None, false, 0, 0));
    }
}
