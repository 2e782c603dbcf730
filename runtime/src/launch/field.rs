//! Fields of commands and state structures, and how values get into them.

/// A field: first and last bit, counted from bit 0 of the first dword as Mesa's genxml counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// As in genxml.
    pub(crate) name: &'static str,
    pub(crate) start: u16,
    pub(crate) end: u16,
    /// Low bits of a value that are not stored, because they are always 0 (addresses).
    pub(crate) shift: u8,
    /// Holds the address of a buffer, which the kernel driver may have to write anew.
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

    /// An address or offset, whose bit n stands at bit n of its dword: what is below the field's first bit is
    /// 0.
    pub(crate) const fn address(name: &'static str, start: u16, end: u16) -> Self {
        Self { name, start, end, shift: (start % 32) as u8, relocates: false }
    }

    /// An address of 32 bits, where the kernel driver places buffers.
    pub(crate) const fn pointer(name: &'static str, start: u16, end: u16) -> Self {
        Self { relocates: true, ..Self::address(name, start, end) }
    }

    /// A field that the generation does not have: nothing is stored, whatever its value.
    pub(crate) const ABSENT: Field = Field::number("", 0, 0);

    /// Does the generation have it?
    pub(crate) const fn is_there(self) -> bool {
        !self.name.is_empty()
    }

    const fn bits(self) -> u32 {
        (self.end - self.start + 1) as u32
    }

    /// Puts a value in. The caller has checked it; one that does not fit is a bug of the runtime.
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

    /// Takes the value out.
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

/// What all commands and structures of one kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// As in genxml.
    pub(crate) name: &'static str,
    /// First dword without the fields; 0 for structures.
    pub(crate) header: u32,
    /// Dwords.
    pub(crate) length: usize,
}

impl Layout {
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

    /// The dwords with `values` in their fields.
    pub(crate) fn pack(&self, values: &[(Field, u64)]) -> Packed {
        let mut dwords = [0; MAX_LENGTH];
        self.fill(&mut dwords[..self.length], values);
        dwords
    }

    /// As [`Layout::pack`], behind what is in `dwords`.
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

/// A command or structure in the front of an array that takes any.
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
    fn absent_fields_take_nothing() {
        let mut dwords = [0];
        Field::ABSENT.set(&mut dwords, u64::MAX);
        assert_eq!(dwords, [0]);
    }

    #[test]
    fn headers() {
        assert_eq!(Layout::command("GPGPU_WALKER", 0x7105, 15).header, 0x7105_000d);
        assert_eq!(Layout::command("PIPELINE_SELECT", 0x6904, 1).header, 0x6904_0000);
    }
}
