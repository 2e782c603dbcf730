//! Fields of commands and state structures.

use gencl_isa::Generation;

/// Generations, each of which has a column in the tables.
pub const COLUMNS: usize = Generation::ALL.len();

/// Where a field is in each generation: lowest and highest bit, counted from bit 0 of the structure's first
/// dword. `None` where the generation does not have the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places([Option<(u32, u32)>; COLUMNS]);

/// The same place in all generations.
pub const fn all(first: u32, last: u32) -> Places {
    Places([Some((first, last)); COLUMNS])
}

/// Declares, for a generation, a function for fields that exist from it on.
macro_rules! beginnings {
    ($($name:ident: $generation:ident),*) => {$(
        /// A field that exists from this generation on.
        pub const fn $name(first: u32, last: u32) -> Places {
            Places([None; COLUMNS]).with(Generation::$generation, Some((first, last)))
        }
    )*};
}
beginnings!(from7: Gen7, from75: Gen75, from8: Gen8, from9: Gen9);

/// Declares, for a generation, a method for fields that are elsewhere from it on, or gone.
macro_rules! changes {
    ($($name:ident ($($bit:ident),*) $place:expr, $generation:ident;)*) => {
        impl Places {$(
            /// What holds from this generation on.
            pub const fn $name(self, $($bit: u32),*) -> Places {
                self.with(Generation::$generation, $place)
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

impl Places {
    const fn with(mut self, generation: Generation, place: Option<(u32, u32)>) -> Places {
        let mut column = generation.column();
        while column < COLUMNS {
            self.0[column] = place;
            column += 1;
        }
        self
    }

    /// The place in a generation.
    #[inline(always)]
    pub const fn of(self, generation: Generation) -> Option<(u32, u32)> {
        self.0[generation.column()]
    }
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The manual's name.
    pub name: &'static str,
    /// Where it is.
    pub places: Places,
}

impl Field {
    /// The bits of dword `index` that belong to the field.
    pub const fn mask(&self, generation: Generation, index: u32) -> u32 {
        let Some((start, end)) = self.places.of(generation) else { return 0 };
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

/// A command or structure: its dwords, and the generation that says where fields are.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The dwords.
    pub dwords: &'a [u32],
    /// Whose layout they have.
    pub generation: Generation,
}

impl Packet<'_> {
    /// Does the generation have the field?
    #[inline(always)]
    pub fn has(&self, field: Field) -> bool {
        field.places.of(self.generation).is_some()
    }

    /// The field's value, 0 where the generation does not have it. At most 64 bits wide and 3 dwords long;
    /// dwords that are missing at the end count as 0.
    #[inline(always)]
    pub fn get(&self, field: Field) -> u64 {
        let Some((first, last)) = field.places.of(self.generation) else { return 0 };
        let dword = (first / 32) as usize;
        if first / 32 == last / 32 {
            let raw = self.dwords.get(dword).copied().unwrap_or(0) >> (first % 32);
            return u64::from(raw & (u32::MAX >> (31 - (last - first))));
        }
        let [low, middle, high] =
            [0, 1, 2].map(|i| u64::from(self.dwords.get(dword + i).copied().unwrap_or(0)));
        let shift = first % 32;
        // Not by 64 bits at once, which is what a shift of 0 asks for.
        let raw = (low | middle << 32) >> shift | high << 1 << (63 - shift);
        raw & (u64::MAX >> (63 - (last - first)))
    }

    /// As [`Packet::get`] for fields of up to 32 bits.
    #[inline(always)]
    pub fn get32(&self, field: Field) -> u32 {
        self.get(field) as u32
    }

    /// Is a field of one bit set?
    #[inline(always)]
    pub fn is_set(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    /// The value of an address or offset, whose low bits are those below the field in its dword and 0.
    #[inline(always)]
    pub fn address(&self, field: Field) -> u64 {
        let Some((first, _)) = field.places.of(self.generation) else { return 0 };
        self.get(field) << (first % 32)
    }
}

/// Declares the fields of structures: for each structure a module with a constant for each field and all
/// of them in `FIELDS`.
macro_rules! layouts {
    ($($(#[$meta:meta])* $structure:ident { $($field:ident $name:literal $places:expr,)* })*) => {$(
        $(#[$meta])*
        pub mod $structure {
            use $crate::streamer::field::*;
            $(
                #[doc = $name]
                pub const $field: Field = Field { name: $name, places: $places };
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

    use super::{Field, Packet, Places, all, from75};

    #[test]
    fn values_cross_dwords() {
        let packet =
            Packet { dwords: &[0x8765_4321, 0x0fed_cba9, 0x1234_5678], generation: Generation::Gen9 };
        let field = |first, last| Field { name: "", places: all(first, last) };
        assert_eq!(packet.get(field(4, 11)), 0x32);
        assert_eq!(packet.get(field(28, 35)), 0x98);
        assert_eq!(packet.get(field(31, 31)), 1);
        assert_eq!(packet.get(field(0, 63)), 0x0fed_cba9_8765_4321);
        assert_eq!(packet.get(field(4, 67)), 0x80fe_dcba_9876_5432);
        assert_eq!(packet.address(field(38, 63)), 0x0fed_cb80);
        assert_eq!(packet.get(field(64, 127)), 0x1234_5678, "missing dwords are 0");
    }

    #[test]
    fn masks_are_cut_at_the_dword() {
        let masks = |first, last| {
            let field = Field { name: "", places: all(first, last) };
            [0, 1, 2, 3].map(|index| field.mask(Generation::Gen8, index))
        };
        assert_eq!(masks(34, 95), [0, !3, !0, 0]);
        assert_eq!(masks(8, 8), [0x100, 0, 0, 0]);
    }

    #[test]
    fn generations_have_places_of_their_own() {
        const PLACES: Places = from75(2, 3).from8(4, 7).until9();
        assert_eq!(Generation::ALL.map(|g| PLACES.of(g)), [None, Some((2, 3)), Some((4, 7)), None]);
        let field = Field { name: "", places: PLACES };
        let values = Generation::ALL.map(|generation| {
            let packet = Packet { dwords: &[0xab], generation };
            (packet.has(field), packet.get(field), field.mask(generation, 0))
        });
        assert_eq!(values, [(false, 0, 0), (true, 2, 0xc), (true, 10, 0xf0), (false, 0, 0)]);
    }
}
