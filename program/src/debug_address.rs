//! Addresses of variables for debuggers.
//!
//! Debug information and debuggers have one address space for all memory of a program. As in generic pointers of the
//! language, the upper three bits of an address tell what it is in. Private memory is that of a work-item, from 0 on,
//! however the compiler has laid it out; local memory that of a work-group. Program-scope variables are found from the
//! beginning of their data section, whose address is known when a launch begins.

use crate::DataSection;

/// The lowest of the bits that tell the space.
const SHIFT: u32 = 61;

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Buffers, by their GPU addresses, which are in canonical form.
    Global = 0,
    /// A work-item's private memory.
    Private = 1,
    /// A work-group's local memory.
    Local = 2,
    /// The program's variables in constant memory.
    Constants = 3,
    /// The program's variables in global memory.
    Variables = 4,
}

impl Space {
    /// What a pointer to an address space of OpenCL, by LLVM's number, points to; none for a generic pointer.
    #[must_use]
    pub fn of_opencl(number: u32) -> Option<Space> {
        match number {
            0 => Some(Space::Private),
            1 | 2 => Some(Space::Global),
            3 => Some(Space::Local),
            _ => None,
        }
    }

    /// The space with this number, which DWARF's address classes have.
    #[must_use]
    pub fn of_number(number: u64) -> Option<Space> {
        [Space::Global, Space::Private, Space::Local, Space::Constants, Space::Variables]
            .into_iter()
            .find(|space| *space as u64 == number)
    }

    /// The space of a data section.
    #[must_use]
    pub fn of_section(section: DataSection) -> Space {
        match section {
            DataSection::Constants => Space::Constants,
            DataSection::Variables => Space::Variables,
        }
    }

    /// The address for debuggers of an address or offset in this space.
    #[must_use]
    pub fn address(self, offset: u64) -> u64 {
        match self {
            Space::Global => offset,
            other => (other as u64) << SHIFT | offset,
        }
    }
}

/// The space that an address for debuggers is in, and the address or offset there.
#[must_use]
pub fn split(address: u64) -> (Space, u64) {
    let offset = address & ((1 << SHIFT) - 1);
    match Space::of_number(address >> SHIFT) {
        Some(Space::Global) | None => (Space::Global, address),
        Some(space) => (space, offset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_their_space() {
        for space in [Space::Private, Space::Local, Space::Constants, Space::Variables] {
            assert_eq!(split(space.address(0x1234)), (space, 0x1234));
        }
        assert_eq!(split(0x7fff_0000_1000), (Space::Global, 0x7fff_0000_1000));
        let upper_half = 0xffff_8000_0000_0000;
        assert_eq!(split(Space::Global.address(upper_half)), (Space::Global, upper_half));
    }
}
