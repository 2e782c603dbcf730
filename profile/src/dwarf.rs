//! Reads source locations from the DWARF sections of a program's ELF file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gimli::{AttributeValue, EndianSlice, LittleEndian};
use object::{Object, ObjectSection};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// A location of an instruction in a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The function, `?` where it has no name.
    pub function: String,
    /// The source file as DWARF names it.
    pub file: String,
    /// Line from 1; 0 for code that belongs to no line.
    pub line: u32,
    /// Column from 1, or 0.
    pub column: u32,
}

/// The line table of a program.
pub struct LineTable<'a> {
    context: addr2line::Context<Slice<'a>>,
    /// The texts of source files that are embedded, by their names without a folder.
    texts: BTreeMap<String, String>,
    /// The address of each kernel's code.
    addresses: BTreeMap<String, u64>,
}

/// Name of the section with a kernel's code, before the kernel's name.
const TEXT_PREFIX: &str = ".text.";

impl<'a> LineTable<'a> {
    /// The line table in an ELF file; `None` when it has none.
    ///
    /// # Errors
    /// Sections that cannot be read.
    pub fn read(elf: &'a [u8]) -> Result<Option<LineTable<'a>>, String> {
        let file = object::File::parse(elf).map_err(|error| error.to_string())?;
        if file.section_by_name(gimli::SectionId::DebugLine.name()).is_none() {
            return Ok(None);
        }
        let section = |id: gimli::SectionId| {
            let data = match file.section_by_name(id.name()) {
                Some(section) => section.data().map_err(|error| error.to_string())?,
                None => &[],
            };
            Ok::<_, String>(EndianSlice::new(data, LittleEndian))
        };
        let dwarf = gimli::Dwarf::load(section)?;
        let texts = texts(&dwarf).map_err(|error| error.to_string())?;
        let context = addr2line::Context::from_dwarf(dwarf).map_err(|error| error.to_string())?;
        let kernels = file.sections().filter_map(|section| {
            Some((section.name().ok()?.strip_prefix(TEXT_PREFIX)?.to_owned(), section.address()))
        });
        Ok(Some(LineTable { context, texts, addresses: kernels.collect() }))
    }

    /// The text of a source file, if the line table has it.
    pub fn text(&self, file: &str) -> Option<&str> {
        let name = file.rsplit('/').next().unwrap_or(file);
        self.texts.get(file).or_else(|| self.texts.get(name)).map(String::as_str)
    }

    /// The locations of the instruction at an offset in a kernel's code: that of the innermost inlined function first,
    /// then those of the calls. Empty when there is none.
    pub fn locations(&self, kernel: &str, offset: u32) -> Vec<Location> {
        let Some(address) = self.addresses.get(kernel) else { return Vec::new() };
        let frames = self.context.find_frames(address + u64::from(offset)).skip_all_loads();
        let Ok(mut frames) = frames else { return Vec::new() };
        let mut locations = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.as_ref().and_then(|name| name.raw_name().map(Cow::into_owned).ok());
            let Some((file, at)) = frame.location.as_ref().and_then(|at| Some((at.file?, at))) else {
                continue;
            };
            locations.push(Location {
                function: function.unwrap_or_else(|| "?".to_owned()),
                file: file.to_owned(),
                line: at.line.unwrap_or(0),
                column: at.column.unwrap_or(0),
            });
        }
        locations
    }
}

/// The embedded texts of all units.
fn texts(dwarf: &gimli::Dwarf<Slice<'_>>) -> gimli::Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let Some(lines) = &unit.line_program else { continue };
        let string = |value: AttributeValue<Slice<'_>>| {
            Ok::<_, gimli::Error>(dwarf.attr_string(&unit, value)?.to_string_lossy().into_owned())
        };
        for file in lines.header().file_names() {
            if let Some(source) = file.source() {
                let text = string(source)?;
                if !text.is_empty() {
                    texts.insert(string(file.path_name())?, text);
                }
            }
        }
    }
    Ok(texts)
}
