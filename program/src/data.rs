//! Program-scope variables.

use serde::{Deserialize, Serialize};

/// Initial contents of program-scope variables: two sections of bytes, and relocations for the pointers in
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// Variables of the constant address space, the bytes that
    /// [`PushSource::ConstantBase`](crate::PushSource::ConstantBase) points to.
    pub constants: Vec<u8>,
    /// Variables of the global address space, the bytes that
    /// [`PushSource::VariableBase`](crate::PushSource::VariableBase) points to. They keep their values
    /// between launches.
    pub variables: Vec<u8>,
    /// Pointers in both sections.
    pub relocations: Vec<Relocation>,
}

/// A section of [`Data`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DataSection {
    /// [`Data::constants`]
    Constants,
    /// [`Data::variables`]
    Variables,
}

/// A pointer in a section, whose value is known when the sections have addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Relocation {
    /// The section that holds the pointer.
    pub section: DataSection,
    /// Offset of the pointer in bytes.
    pub offset: u64,
    /// Bytes of the pointer: 4 or 8.
    pub size: u32,
    /// The section that the pointer points into.
    pub target: DataSection,
    /// Offset in the target in bytes; may be outside of it.
    pub addend: i64,
}

impl Data {
    /// The bytes of a section.
    #[must_use]
    pub fn section(&self, section: DataSection) -> &[u8] {
        match section {
            DataSection::Constants => &self.constants,
            DataSection::Variables => &self.variables,
        }
    }

    /// The sections relocated for the given addresses: constants, variables.
    #[must_use]
    pub fn placed(&self, constants: u64, variables: u64) -> (Vec<u8>, Vec<u8>) {
        let mut sections = (self.constants.clone(), self.variables.clone());
        for relocation in &self.relocations {
            let target = match relocation.target {
                DataSection::Constants => constants,
                DataSection::Variables => variables,
            };
            let section = match relocation.section {
                DataSection::Constants => &mut sections.0,
                DataSection::Variables => &mut sections.1,
            };
            let begin = relocation.offset as usize;
            let address = target.wrapping_add_signed(relocation.addend).to_le_bytes();
            let bytes = &address[..relocation.size as usize];
            section[begin..begin + bytes.len()].copy_from_slice(bytes);
        }
        sections
    }

    /// Whether each relocation is a pointer of 4 or 8 bytes within its section.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.relocations.iter().all(|relocation| {
            let end = relocation.offset.checked_add(relocation.size.into());
            (relocation.size == 8 || relocation.size == 4 && relocation.offset.is_multiple_of(4))
                && end.is_some_and(|end| end <= self.section(relocation.section).len() as u64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_relocated() {
        let relocation =
            |section, offset, target, addend| Relocation { section, offset, size: 8, target, addend };
        let data = Data {
            constants: vec![1; 8],
            variables: vec![2; 24],
            relocations: vec![
                relocation(DataSection::Constants, 0, DataSection::Variables, 4),
                relocation(DataSection::Variables, 8, DataSection::Constants, -1),
            ],
        };
        assert!(data.is_sound());
        let (constants, variables) = data.placed(0x1000, 0x2000);
        assert_eq!(constants, 0x2004u64.to_le_bytes());
        assert_eq!(variables[..8], [2; 8]);
        assert_eq!(variables[8..16], 0xfffu64.to_le_bytes());
        let outside = Data { constants: vec![0; 11], ..data };
        assert!(outside.is_sound());
        let outside = Data {
            relocations: vec![relocation(DataSection::Constants, 4, DataSection::Constants, 0)],
            ..outside
        };
        assert!(!outside.is_sound());
    }
}
