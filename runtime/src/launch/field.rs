//! Fields of commands and state structures, and packing values into them.

/// A field: first and last bit, counted from bit 0 of the first dword as Mesa's genxml counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// As in genxml.
    pub(crate) name: &'static str,
    pub(crate) start: u16,
    pub(crate) end: u16,
    /// Number of low bits of a value that are always 0 and not stored (addresses).
    pub(crate) shift: u8,
    /// The address of a buffer, which the kernel driver may have to relocate.
    pub(crate) relocates: bool,
}

impl Field {
    /// A number.
    pub(crate) const fn number(name: &'static str, start: u16, end: u16) -> Self {
        Self { name, start, end, shift: 0, relocates: false }
    }

    /// A flag.
    pub(crate) const fn flag(name: &'static str, bit: u16) -> Self {
        Self::number(name, bit, bit)
    }

    /// An address or offset, whose bit n is bit n of its dword; bits below the field's first one are 0.
    pub(crate) const fn address(name: &'static str, start: u16, end: u16) -> Self {
        Self { name, start, end, shift: (start % 32) as u8, relocates: false }
    }

    /// An address of 32 bits that the kernel driver relocates.
    pub(crate) const fn pointer(name: &'static str, start: u16, end: u16) -> Self {
        Self { relocates: true, ..Self::address(name, start, end) }
    }

    /// A field that the generation does not have. Its value is dropped.
    pub(crate) const ABSENT: Field = Field::number("", 0, 0);

    /// Whether the generation has it.
    pub(crate) const fn is_there(self) -> bool {
        !self.name.is_empty()
    }

    const fn bits(self) -> u32 {
        (self.end - self.start + 1) as u32
    }

    /// Packs a value. Panics if it does not fit, which is a bug of the caller.
    #[inline]
    pub(crate) fn set(&self, dwords: &mut [u32], value: u64) {
        if value == 0 || !self.is_there() {
            return;
        }
        let stored = value >> self.shift;
        let fits = stored << self.shift == value && (self.bits() == 64 || stored >> self.bits() == 0);
        assert!(fits, "{value:#x} does not fit into {}", self.name);
        let (dword, bit) = (usize::from(self.start / 32), self.start % 32);
        if self.start / 32 == self.end / 32 {
            dwords[dword] |= (stored as u32) << bit;
            return;
        }
        let wide = u128::from(stored) << bit;
        for (index, target) in dwords[dword..=usize::from(self.end / 32)].iter_mut().enumerate() {
            *target |= (wide >> (32 * index)) as u32;
        }
    }

    /// Extracts the value.
    pub(crate) fn get(self, dwords: &[u32]) -> u64 {
        let (dword, bit) = (usize::from(self.start / 32), self.start % 32);
        let wide = dwords[dword..=usize::from(self.end / 32)]
            .iter()
            .rev()
            .fold(0u128, |wide, &dword| (wide << 32) | u128::from(dword));
        let stored = (wide >> bit) & ((1u128 << self.bits()) - 1);
        (stored as u64) << self.shift
    }
}

/// Header and length of a command or structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandLayout {
    /// As in genxml.
    pub(crate) name: &'static str,
    /// The first dword with all fields 0; 0 for structures.
    pub(crate) header: u32,
    /// Dwords.
    pub(crate) length: usize,
}

impl CommandLayout {
    /// A command: bits 31:16 of its header, length in dwords. Commands of one dword have no length field,
    /// others hold their length less 2 in the low bits.
    pub(crate) const fn command(name: &'static str, opcode: u32, length: usize) -> Self {
        let length_field = if length > 1 { length as u32 - 2 } else { 0 };
        Self { name, header: opcode << 16 | length_field, length }
    }

    /// A structure in memory.
    pub(crate) const fn structure(name: &'static str, length: usize) -> Self {
        Self { name, header: 0, length }
    }

    /// The dwords of a command or structure with `values` in its fields.
    pub(crate) fn pack(&self, values: &[(Field, u64)]) -> Packed {
        let mut dwords = [0; MAX_LENGTH];
        self.fill(&mut dwords[..self.length], values);
        dwords
    }

    /// As [`CommandLayout::pack`], appended to `dwords`.
    pub(crate) fn append(&self, dwords: &mut Vec<u32>, values: &[(Field, u64)]) {
        let begin = dwords.len();
        dwords.resize(begin + self.length, 0);
        self.fill(&mut dwords[begin..], values);
    }

    fn fill(&self, dwords: &mut [u32], values: &[(Field, u64)]) {
        dwords[0] = self.header;
        for (field, value) in values {
            field.set(dwords, *value);
        }
    }
}

/// A packed command or structure, and unused dwords behind it.
pub(crate) type Packed = [u32; MAX_LENGTH];

/// Dwords of the longest command (STATE_BASE_ADDRESS).
pub(crate) const MAX_LENGTH: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_within_a_dword() {
        let field = Field::number("x", 36, 42);
        let mut dwords = [0; 2];
        field.set(&mut dwords, 0x55);
        assert_eq!(dwords, [0, 0x550]);
        assert_eq!(field.get(&dwords), 0x55);
    }

    #[test]
    fn addresses_across_dwords() {
        let field = Field::address("x", 44, 95);
        let mut dwords = [0; 3];
        field.set(&mut dwords, 0x1234_5678_9000);
        assert_eq!(dwords, [0, 0x5678_9000, 0x1234]);
        assert_eq!(field.get(&dwords), 0x1234_5678_9000);
    }

    #[test]
    #[should_panic(expected = "does not fit into x")]
    fn low_bits_of_addresses_are_not_lost() {
        Field::address("x", 44, 95).set(&mut [0; 3], 0x800);
    }

    #[test]
    #[should_panic(expected = "does not fit into x")]
    fn large_numbers_do_not_fit() {
        Field::number("x", 0, 3).set(&mut [0], 16);
    }

    #[test]
    fn values_of_absent_fields_are_dropped() {
        let mut dwords = [0];
        Field::ABSENT.set(&mut dwords, u64::MAX);
        assert_eq!(dwords, [0]);
    }

    #[test]
    fn headers() {
        assert_eq!(CommandLayout::command("GPGPU_WALKER", 0x7105, 15).header, 0x7105_000d);
        assert_eq!(CommandLayout::command("PIPELINE_SELECT", 0x6904, 1).header, 0x6904_0000);
    }
}
