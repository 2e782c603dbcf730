//! Reads the ELF file of a program.

use std::collections::HashMap;
use std::ops::Range;

use gencl_program::debug_address::Space;
use gencl_program::{code_addresses, elf};
use gimli::{AttributeValue, EndianSlice, LittleEndian, Operation, UnitOffset, constants};

use super::{Info, KernelInfo, Kind, Member, Place, Row, Scope, SourceFile, Type, Variable};

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a, 'u, 't> = gimli::EntriesTreeNode<'u, 't, Slice<'a>>;
type Die<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// Reads a program.
///
/// # Errors
/// A file that is no program, or whose debug information cannot be read.
pub fn read(file: &[u8]) -> Result<Info, String> {
    let program = elf::read(file).map_err(|error| error.to_string())?;
    let section = |id: gimli::SectionId| {
        let section = program.debug.iter().find(|section| section.name == id.name());
        let bytes = section.map_or(&[][..], |section| &section.bytes);
        Ok::<_, gimli::Error>(EndianSlice::new(bytes, LittleEndian))
    };
    let failed = |error: gimli::Error| format!("debug information: {error}");
    let dwarf = gimli::Dwarf::load(section).map_err(failed)?;
    let bases: Vec<u64> = code_addresses(&program.kernels).collect();
    let kernels = program.kernels.into_iter().zip(&bases);
    let kernels =
        kernels.map(|(kernel, base)| KernelInfo { kernel, base: *base, rows: Vec::new(), body: None });
    let mut reader = Reader {
        info: Info { kernels: kernels.collect(), sites: program.sites, ..Info::default() },
        bases,
        types: HashMap::new(),
        functions: HashMap::new(),
        first_file: 0,
    };
    let mut units = dwarf.units();
    while let Some(header) = units.next().map_err(failed)? {
        let unit = dwarf.unit(header).map_err(failed)?;
        reader.unit(&dwarf, &unit).map_err(failed)?;
    }
    Ok(reader.info)
}

struct Reader {
    info: Info,
    /// The address of each kernel.
    bases: Vec<u64>,
    /// Indices of types.
    types: HashMap<UnitOffset, usize>,
    /// Names of functions that are inlined.
    functions: HashMap<UnitOffset, String>,
    /// Index of the unit's first file.
    first_file: usize,
}

impl Reader {
    fn unit<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Slice<'a>>,
        unit: &gimli::Unit<Slice<'a>>,
    ) -> gimli::Result<()> {
        self.types.clear();
        self.functions.clear();
        self.lines(dwarf, unit)?;
        let at = At { dwarf, unit };
        // Types and functions first: what is in kernels refers to them.
        let mut tree = unit.entries_tree(None)?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let offset = entry.offset();
            match entry.tag() {
                constants::DW_TAG_subprogram => {
                    self.functions.insert(offset, at.name(entry)?);
                }
                constants::DW_TAG_variable => {}
                _ => {
                    self.types.insert(offset, self.info.types.len());
                    self.info.types.push(Type::Named { name: None, of: None });
                }
            }
        }
        let mut tree = unit.entries_tree(None)?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let (offset, tag) = (child.entry().offset(), child.entry().tag());
            if let Some(&index) = self.types.get(&offset) {
                self.info.types[index] = self.ty(&at, child)?;
            } else if tag == constants::DW_TAG_variable {
                let variable = self.variable(&at, child.entry())?;
                self.info.variables.push(variable);
            } else if let Some(AttributeValue::Addr(low)) = child.entry().attr_value(constants::DW_AT_low_pc)
                && let Some(kernel) = self.bases.iter().position(|base| *base == low)
            {
                let code = 0..self.info.kernels[kernel].kernel.code.len() as u32;
                let function = Some(at.name(child.entry())?);
                let scope = Scope { function, code: vec![code], ..Scope::default() };
                self.info.kernels[kernel].body = Some(self.contents(&at, scope, low, child)?);
            }
        }
        Ok(())
    }

    /// Reads the line table.
    fn lines<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Slice<'a>>,
        unit: &gimli::Unit<Slice<'a>>,
    ) -> gimli::Result<()> {
        let Some(program) = unit.line_program.clone() else { return Ok(()) };
        self.first_file = self.info.files.len();
        let text =
            |value| Ok::<_, gimli::Error>(dwarf.attr_string(unit, value)?.to_string_lossy().into_owned());
        for file in program.header().file_names() {
            let source = file.source().map(text).transpose()?.filter(|text| !text.is_empty());
            self.info.files.push(SourceFile { name: text(file.path_name())?, text: source });
        }
        let mut rows = program.rows();
        while let Some((_, row)) = rows.next_row()? {
            let kernel = self.bases.partition_point(|base| *base <= row.address());
            let Some(kernel) = kernel.checked_sub(1).filter(|_| !row.end_sequence()) else { continue };
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => column.get() as u32,
            };
            let line = row.line().map_or(0, |line| line.get() as u32);
            let place = Place { file: self.first_file + row.file_index() as usize, line, column };
            let offset = (row.address() - self.bases[kernel]) as u32;
            self.info.kernels[kernel].rows.push(Row { offset, place });
        }
        Ok(())
    }

    /// Adds variables, blocks and inlined functions to a scope.
    fn contents<'a>(
        &self,
        at: &At<'a, '_>,
        mut scope: Scope,
        base: u64,
        node: Entry<'a, '_, '_>,
    ) -> gimli::Result<Scope> {
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            match entry.tag() {
                constants::DW_TAG_variable | constants::DW_TAG_formal_parameter => {
                    scope.variables.push(self.variable(at, entry)?);
                }
                constants::DW_TAG_lexical_block | constants::DW_TAG_inlined_subroutine => {
                    let function = match entry.attr_value(constants::DW_AT_abstract_origin) {
                        Some(AttributeValue::UnitRef(origin)) => self.functions.get(&origin).cloned(),
                        _ => None,
                    };
                    let number = |name| entry.attr(name).and_then(|a| a.udata_value());
                    let file = match entry.attr_value(constants::DW_AT_call_file) {
                        Some(AttributeValue::FileIndex(file)) => file as usize,
                        _ => 0,
                    };
                    let call = number(constants::DW_AT_call_line).map(|line| Place {
                        file: self.first_file + file,
                        line: line as u32,
                        column: number(constants::DW_AT_call_column).unwrap_or(0) as u32,
                    });
                    let mut ranges = at.dwarf.die_ranges(at.unit, entry)?;
                    let mut code: Vec<Range<u32>> = Vec::new();
                    while let Some(range) = ranges.next()? {
                        code.push((range.begin - base) as u32..(range.end - base) as u32);
                    }
                    let inner = Scope { function, call, code, ..Scope::default() };
                    scope.inner.push(self.contents(at, inner, base, child)?);
                }
                _ => {}
            }
        }
        Ok(scope)
    }

    fn variable<'a>(&self, at: &At<'a, '_>, entry: &Die<'a>) -> gimli::Result<Variable> {
        let address = match entry.attr_value(constants::DW_AT_location) {
            Some(AttributeValue::Exprloc(expression)) => {
                match expression.operations(at.unit.encoding()).next()? {
                    Some(Operation::Address { address }) => Some(address),
                    _ => None,
                }
            }
            _ => None,
        };
        let is_parameter = entry.tag() == constants::DW_TAG_formal_parameter;
        Ok(Variable { name: at.name(entry)?, ty: self.type_of(entry), address, is_parameter })
    }

    /// The type that an entry has or is made of.
    fn type_of(&self, entry: &Die<'_>) -> Option<usize> {
        match entry.attr_value(constants::DW_AT_type) {
            Some(AttributeValue::UnitRef(offset)) => self.types.get(&offset).copied(),
            _ => None,
        }
    }

    fn ty<'a>(&mut self, at: &At<'a, '_>, node: Entry<'a, '_, '_>) -> gimli::Result<Type> {
        let entry = node.entry();
        let number = |entry: &Die<'_>, name| entry.attr(name).and_then(|a| a.udata_value());
        let (name, of) = (at.name(entry)?, self.type_of(entry));
        let bytes = number(entry, constants::DW_AT_byte_size).unwrap_or(0);
        Ok(match entry.tag() {
            constants::DW_TAG_base_type => {
                let kind = match entry.attr_value(constants::DW_AT_encoding) {
                    Some(AttributeValue::Encoding(constants::DW_ATE_boolean)) => Kind::Boolean,
                    Some(AttributeValue::Encoding(constants::DW_ATE_float)) => Kind::Float,
                    Some(AttributeValue::Encoding(constants::DW_ATE_signed)) => Kind::Signed,
                    Some(AttributeValue::Encoding(constants::DW_ATE_signed_char)) => Kind::Character,
                    _ => Kind::Unsigned,
                };
                Type::Base { name, bytes, kind }
            }
            constants::DW_TAG_pointer_type => {
                let class = match entry.attr_value(constants::DW_AT_address_class) {
                    Some(AttributeValue::AddressClass(class)) => Some(class.0),
                    _ => number(entry, constants::DW_AT_address_class),
                };
                Type::Pointer { bytes, to: of, space: class.and_then(Space::of_number) }
            }
            constants::DW_TAG_structure_type
            | constants::DW_TAG_union_type
            | constants::DW_TAG_class_type => {
                let mut members = Vec::new();
                let mut children = node.children();
                while let Some(child) = children.next()? {
                    let entry = child.entry();
                    let Some(ty) = self.type_of(entry).filter(|_| entry.tag() == constants::DW_TAG_member)
                    else {
                        continue;
                    };
                    let size = number(entry, constants::DW_AT_bit_size);
                    let first = number(entry, constants::DW_AT_data_bit_offset);
                    let offset = number(entry, constants::DW_AT_data_member_location);
                    let offset = offset.unwrap_or(first.unwrap_or(0) / 8);
                    members.push(Member { name: at.name(entry)?, ty, offset, bits: first.zip(size) });
                }
                Type::Structure { name, bytes, members }
            }
            constants::DW_TAG_array_type => {
                let is_vector = entry.attr(constants::DW_AT_GNU_vector).is_some();
                let mut counts = Vec::new();
                let mut children = node.children();
                while let Some(child) = children.next()? {
                    counts.push(number(child.entry(), constants::DW_AT_count).unwrap_or(0));
                }
                let (Some(mut of), Some((&count, inner))) = (of, counts.split_first()) else {
                    return Ok(Type::Named { name: Some(name), of: None });
                };
                for &count in inner.iter().rev() {
                    self.info.types.push(Type::Array { of, count, is_vector: false });
                    of = self.info.types.len() - 1;
                }
                Type::Array { of, count, is_vector }
            }
            constants::DW_TAG_enumeration_type => {
                let mut values = Vec::new();
                let mut children = node.children();
                while let Some(child) = children.next()? {
                    let value = child.entry().attr(constants::DW_AT_const_value);
                    let value = value.and_then(|value| value.sdata_value()).unwrap_or(0);
                    values.push((at.name(child.entry())?, value));
                }
                Type::Enumeration { name, bytes, values }
            }
            _ => Type::Named { name: Some(name).filter(|name| !name.is_empty()), of },
        })
    }
}

/// A unit of debug information.
struct At<'a, 'u> {
    dwarf: &'u gimli::Dwarf<Slice<'a>>,
    unit: &'u gimli::Unit<Slice<'a>>,
}

impl<'a> At<'a, '_> {
    /// The name of an entry; empty if it has none.
    fn name(&self, entry: &Die<'a>) -> gimli::Result<String> {
        Ok(match entry.attr_value(constants::DW_AT_name) {
            Some(value) => self.dwarf.attr_string(self.unit, value)?.to_string_lossy().into_owned(),
            None => String::new(),
        })
    }
}
