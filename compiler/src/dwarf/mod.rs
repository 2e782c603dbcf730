//! DWARF 5 line tables and variables of a program's kernels, as sections of its ELF file.
//!
//! Addresses are those of [`gencl_program::code_addresses`]. A kernel is a `DW_TAG_subprogram`, inlined calls
//! are `DW_TAG_inlined_subroutine`s in it. The texts of sources are embedded (`DW_LNCT_LLVM_source`), since
//! OpenCL C has no files. Variables are there if the program was compiled for debugging, with
//! [addresses for debuggers](gencl_program::debug_address).

mod types;

use std::collections::BTreeMap;

use gencl_program::debug_address::Space;
use gencl_program::{DebugSection, Kernel, code_addresses};
use gimli::write::{
    Address, AttributeValue, Dwarf, EndianVec, Expression, FileId, FileInfo, LineProgram, LineString, Range,
    RangeList, Sections, Unit, UnitEntryId,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian, constants};

use crate::ir::Location;
use crate::ir::location::{Locations, Scope};
use crate::ir::variable::{Place, Variable, Variables};

/// An instruction's offset in its kernel in bytes, and its location.
pub type Line = (u64, Location);

/// The sections for kernels with these lines, and the program's variables. None when there are no locations.
/// `pointer_bytes` is the size of pointers in memory.
///
/// # Errors
/// What DWARF cannot represent.
pub fn sections(
    kernels: &[Kernel],
    lines: &[Vec<Line>],
    locations: &Locations,
    variables: &Variables,
    pointer_bytes: u8,
) -> Result<Vec<DebugSection>, gimli::write::Error> {
    if locations.is_empty() {
        return Ok(Vec::new());
    }
    let mut tables = Tables::new(locations);
    tables.types = types::add(&mut tables.unit, &variables.types, pointer_bytes);
    for (number, ((kernel, lines), base)) in
        kernels.iter().zip(lines).zip(code_addresses(kernels)).enumerate()
    {
        let code = Code { base, size: kernel.code.len() as u64, lines };
        tables.rows(&code);
        let own = variables.all.iter().filter(|variable| variable.place.kernel() == Some(number));
        tables.subprogram(&kernel.name, &code, own);
    }
    let root = tables.unit.root();
    for variable in variables.all.iter().filter(|variable| variable.place.kernel().is_none()) {
        tables.variable(root, variable);
    }
    tables.finish()
}

/// The code of a kernel.
struct Code<'a> {
    base: u64,
    /// Bytes.
    size: u64,
    lines: &'a [Line],
}

impl Code<'_> {
    /// The end of an instruction, by index.
    fn end(&self, index: usize) -> u64 {
        self.lines.get(index + 1).map_or(self.size, |(offset, _)| *offset)
    }
}

/// The tables under construction.
struct Tables<'a> {
    locations: &'a Locations,
    unit: Unit,
    program: LineProgram,
    /// By index in the locations.
    files: Vec<FileId>,
    /// By index in the locations: the abstract instances of functions that are inlined.
    abstracts: Vec<Option<UnitEntryId>>,
    /// Entries of types, by their index in the variables.
    types: Vec<UnitEntryId>,
}

/// What is in a function, or in what it has inlined: an inlined call, by its position and the index of the function,
/// or a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Call(Location, usize),
    Block(usize),
}

/// Machine code of a scope, of those in it, and of functions that are inlined into it.
#[derive(Default)]
struct Body<'a> {
    ranges: Vec<(u64, u64)>,
    variables: Vec<&'a Variable>,
    inner: BTreeMap<Step, Body<'a>>,
}

impl<'a> Body<'a> {
    /// Adds an instruction of the scopes `path`, the outermost first.
    fn add(&mut self, path: &[Step], begin: u64, end: u64) {
        match self.ranges.last_mut() {
            Some(last) if last.1 == begin => last.1 = end,
            _ => self.ranges.push((begin, end)),
        }
        if let Some((first, rest)) = path.split_first() {
            self.inner.entry(*first).or_default().add(rest, begin, end);
        }
    }

    /// Adds a variable of the scopes `path`, unless there is no code of them.
    fn declare(&mut self, path: &[Step], variable: &'a Variable) {
        match path.split_first() {
            None => self.variables.push(variable),
            Some((first, rest)) => {
                if let Some(body) = self.inner.get_mut(first) {
                    body.declare(rest, variable);
                }
            }
        }
    }
}

impl<'a> Tables<'a> {
    fn new(locations: &'a Locations) -> Tables<'a> {
        let encoding = Encoding { format: Format::Dwarf32, version: 5, address_size: 8 };
        let line_encoding = LineEncoding { minimum_instruction_length: 8, ..LineEncoding::default() };
        let text = |text: &str| LineString::String(text.into());
        let info = |index: usize| {
            let source = locations.files[index].text.as_deref().map(text);
            Some(FileInfo { source, ..FileInfo::default() })
        };
        let name = |index: usize| text(&locations.files[index].name);
        let mut program = LineProgram::new(encoding, line_encoding, text("."), None, name(0), info(0));
        program.file_has_source = true;
        let directory = program.default_directory();
        let files =
            (0..locations.files.len()).map(|n| program.add_file(name(n), directory, info(n))).collect();
        let mut unit = Unit::new(encoding, LineProgram::none());
        let root = unit.root();
        let root = unit.get_mut(root);
        root.set(constants::DW_AT_producer, AttributeValue::String(b"gencl".into()));
        root.set(constants::DW_AT_language, AttributeValue::Language(constants::DW_LANG_OpenCL));
        root.set(constants::DW_AT_name, AttributeValue::String(locations.files[0].name.clone().into_bytes()));
        let abstracts = vec![None; locations.functions.len()];
        Tables { locations, unit, program, files, abstracts, types: Vec::new() }
    }

    /// The line table's rows of a kernel.
    fn rows(&mut self, code: &Code<'_>) {
        self.program.begin_sequence(Some(Address::Constant(code.base)));
        let mut last = None;
        for (offset, location) in code.lines {
            let Some(position) = self.locations.position(*location) else { continue };
            let place = (position.file, position.line, position.column);
            if last.replace(place) == Some(place) {
                continue;
            }
            let row = self.program.row();
            row.address_offset = *offset;
            row.file = self.files[position.file];
            row.line = position.line.into();
            row.column = position.column.into();
            self.program.generate_row();
        }
        self.program.end_sequence(code.size);
    }

    /// The entries of a kernel, of its variables, and of the calls in it.
    fn subprogram<'v>(&mut self, name: &str, code: &Code<'_>, variables: impl Iterator<Item = &'v Variable>) {
        let mut body = Body::default();
        let mut function = None;
        for (index, (offset, location)) in code.lines.iter().enumerate() {
            let Some(position) = self.locations.position(*location) else { continue };
            let (outermost, path) = self.path(position.scope, position.inlined_at);
            function.get_or_insert(outermost);
            body.add(&path, code.base + offset, code.base + code.end(index));
        }
        for variable in variables {
            if let Some(scope) = variable.scope {
                body.declare(&self.path(scope, variable.inlined_at).1, variable);
            }
        }
        let root = self.unit.root();
        let entry = self.unit.add(root, constants::DW_TAG_subprogram);
        if let Some(function) = function {
            self.declare(entry, function);
        }
        let kernel = self.unit.get_mut(entry);
        kernel.set(constants::DW_AT_name, AttributeValue::String(name.into()));
        kernel.set(constants::DW_AT_external, AttributeValue::Flag(true));
        kernel.set(constants::DW_AT_low_pc, AttributeValue::Address(Address::Constant(code.base)));
        kernel.set(constants::DW_AT_high_pc, AttributeValue::Udata(code.size));
        self.contents(entry, &body);
    }

    /// The outermost function of a scope, and the blocks and calls from it on.
    fn path(&self, scope: Scope, inlined_at: Location) -> (usize, Vec<Step>) {
        let (mut path, mut scope, mut inlined_at) = (Vec::new(), scope, inlined_at);
        let outermost = loop {
            while let Scope::Block(block) = scope {
                path.push(Step::Block(block));
                scope = self.locations.blocks[block].parent;
            }
            let function = self.locations.function(scope);
            let Some(call) = self.locations.position(inlined_at) else { break function };
            path.push(Step::Call(inlined_at, function));
            (scope, inlined_at) = (call.scope, call.inlined_at);
        };
        path.reverse();
        (outermost, path)
    }

    /// Adds variables, blocks and calls below the entry of what they are in.
    fn contents(&mut self, parent: UnitEntryId, body: &Body<'_>) {
        for variable in &body.variables {
            self.variable(parent, variable);
        }
        for (step, inner) in &body.inner {
            let id = match *step {
                Step::Block(_) => self.unit.add(parent, constants::DW_TAG_lexical_block),
                Step::Call(location, function) => {
                    let Some(position) = self.locations.position(location).copied() else { continue };
                    let origin = self.abstract_instance(function);
                    let id = self.unit.add(parent, constants::DW_TAG_inlined_subroutine);
                    let file = self.files[position.file];
                    let entry = self.unit.get_mut(id);
                    entry.set(constants::DW_AT_abstract_origin, AttributeValue::UnitRef(origin));
                    entry.set(constants::DW_AT_call_file, AttributeValue::FileIndex(Some(file)));
                    entry.set(constants::DW_AT_call_line, AttributeValue::Udata(position.line.into()));
                    entry.set(constants::DW_AT_call_column, AttributeValue::Udata(position.column.into()));
                    id
                }
            };
            let ranges = inner.ranges.iter().map(|(begin, end)| Range::StartEnd {
                begin: Address::Constant(*begin),
                end: Address::Constant(*end),
            });
            let ranges = self.unit.ranges.add(RangeList(ranges.collect()));
            self.unit.get_mut(id).set(constants::DW_AT_ranges, AttributeValue::RangeListRef(ranges));
            self.contents(id, inner);
        }
    }

    /// Adds a variable below the entry of its scope.
    fn variable(&mut self, parent: UnitEntryId, variable: &Variable) {
        let tag = if variable.is_parameter {
            constants::DW_TAG_formal_parameter
        } else {
            constants::DW_TAG_variable
        };
        let address = match variable.place {
            Place::Private { offset, .. } => Space::Private.address(offset.into()),
            Place::Local { offset, .. } => Space::Local.address(offset.into()),
            Place::Data(section, offset) => Space::of_section(section).address(offset.into()),
        };
        let mut location = Expression::new();
        location.op_addr(Address::Constant(address));
        let id = self.unit.add(parent, tag);
        let file = self.files[variable.file];
        let ty = variable.ty.map(|ty| self.types[ty]);
        let entry = self.unit.get_mut(id);
        entry.set(constants::DW_AT_name, AttributeValue::String(variable.name.clone().into_bytes()));
        if let Some(ty) = ty {
            entry.set(constants::DW_AT_type, AttributeValue::UnitRef(ty));
        }
        entry.set(constants::DW_AT_decl_file, AttributeValue::FileIndex(Some(file)));
        entry.set(constants::DW_AT_decl_line, AttributeValue::Udata(variable.line.into()));
        entry.set(constants::DW_AT_location, AttributeValue::Exprloc(location));
    }

    /// The entry of a function that is inlined.
    fn abstract_instance(&mut self, function: usize) -> UnitEntryId {
        if let Some(known) = self.abstracts[function] {
            return known;
        }
        let root = self.unit.root();
        let id = self.unit.add(root, constants::DW_TAG_subprogram);
        self.declare(id, function);
        let name = self.locations.functions[function].name.clone().into_bytes();
        let entry = self.unit.get_mut(id);
        entry.set(constants::DW_AT_name, AttributeValue::String(name));
        entry.set(constants::DW_AT_inline, AttributeValue::Inline(constants::DW_INL_inlined));
        self.abstracts[function] = Some(id);
        id
    }

    /// Where a function is defined.
    fn declare(&mut self, entry: UnitEntryId, function: usize) {
        let function = &self.locations.functions[function];
        let file = self.files[function.file];
        let entry = self.unit.get_mut(entry);
        entry.set(constants::DW_AT_decl_file, AttributeValue::FileIndex(Some(file)));
        entry.set(constants::DW_AT_decl_line, AttributeValue::Udata(function.line.into()));
    }

    fn finish(mut self) -> Result<Vec<DebugSection>, gimli::write::Error> {
        self.unit.line_program = self.program;
        let mut dwarf = Dwarf::default();
        dwarf.units.add(self.unit);
        let mut sections = Sections::new(EndianVec::new(LittleEndian));
        dwarf.write(&mut sections)?;
        let mut written = Vec::new();
        sections.for_each(|id, section| {
            if !section.slice().is_empty() {
                written.push(DebugSection { name: id.name().into(), bytes: section.slice().to_vec() });
            }
            Ok::<_, gimli::write::Error>(())
        })?;
        Ok(written)
    }
}
