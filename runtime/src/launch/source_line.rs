//! The source line of an instruction, for messages: programs that are compiled with `-g` have line tables.

use std::borrow::Cow;

use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use gencl_program::DebugSection;

/// The name of sources that applications pass, which have no file.
const NO_FILE: &str = "<source>";

/// `line 3`, or `line 3 of FILE`, for the address of an instruction in debug information. `None` when the sections have no line
/// for it or cannot be read.
pub(super) fn source_line(sections: &[DebugSection], address: u64) -> Option<String> {
    let section = |id: SectionId| {
        let found = sections.iter().find(|section| section.name == id.name());
        Ok::<_, addr2line::gimli::Error>(Cow::Borrowed(found.map_or(&[][..], |section| &section.bytes)))
    };
    let sections = addr2line::gimli::DwarfSections::load(section).ok()?;
    let dwarf: Dwarf<EndianSlice<'_, LittleEndian>> =
        sections.borrow(|bytes| EndianSlice::new(bytes, LittleEndian));
    let context = addr2line::Context::from_dwarf(dwarf).ok()?;
    let location = context.find_location(address).ok()??;
    let line = location.line.filter(|&line| line > 0)?;
    match location.file {
        Some(file) if !file.ends_with(NO_FILE) => Some(format!("line {line} of {file}")),
        _ => Some(format!("line {line}")),
    }
}
