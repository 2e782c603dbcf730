//! Source lines of instructions, as LLVM's debug information: SPIR-V 1.6, 3.49.2 "Debug Instructions".

use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

use crate::module::{Function, Place};
use crate::text::escaped;
use crate::walk::{Id, Instruction};
use crate::writer::Writer;

/// The debug information that is written.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The compilation unit, which the first function with lines makes.
    unit: Option<usize>,
    /// By the id of the file's name.
    files: FxHashMap<Id, usize>,
    /// By function, line and column.
    locations: FxHashMap<(usize, u32, u32), usize>,
}

impl Lines {
    /// Metadata that LLVM looks for by its names.
    pub(crate) fn named(&self) -> String {
        let Some(unit) = self.unit else { return String::new() };
        format!("!llvm.dbg.cu = !{{!{unit}}}\n!llvm.module.flags = !{{!{}, !{}}}\n", unit + 1, unit + 2)
    }
}

impl Writer<'_> {
    /// The node of a function with this name, if lines are wanted and the module has some of it.
    pub(crate) fn subprogram(&mut self, function: &Function<'_>, name: &str) -> Option<usize> {
        if !self.environment.lines {
            return None;
        }
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        let Place { file, line, .. } = function.place.or_else(|| instructions.copied().find_map(place))?;
        let file = self.file(file);
        let unit = match self.lines.unit {
            Some(unit) => unit,
            None => {
                let unit = self.metadata.add_distinct(&format!(
                    "!DICompileUnit(language: DW_LANG_OpenCL, file: !{file}, isOptimized: true, runtimeVersion: 0, \
                     emissionKind: LineTablesOnly, nameTableKind: None)"
                ));
                self.metadata.add("i32 2, !\"Debug Info Version\", i32 3");
                self.metadata.add("i32 7, !\"Dwarf Version\", i32 5");
                *self.lines.unit.insert(unit)
            }
        };
        let ty = self.metadata.add_node("!DISubroutineType(types: !{})");
        Some(self.metadata.add_distinct(&format!(
            "!DISubprogram(name: \"{}\", scope: !{file}, file: !{file}, line: {line}, type: !{ty}, scopeLine: {line}, \
             spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{unit})",
            escaped(name)
        )))
    }

    /// The node of a location in a function.
    pub(crate) fn location(&mut self, subprogram: usize, line: u32, column: u32) -> usize {
        // LLVM has 16 bits for columns.
        let column = u16::try_from(column).unwrap_or(0);
        let key = (subprogram, line, column.into());
        if let Some(node) = self.lines.locations.get(&key) {
            return *node;
        }
        let text = format!("!DILocation(line: {line}, column: {column}, scope: !{subprogram})");
        let node = self.metadata.add_node(&text);
        *self.lines.locations.entry(key).or_insert(node)
    }

    fn file(&mut self, id: Id) -> usize {
        if let Some(node) = self.lines.files.get(&id) {
            return *node;
        }
        let name = self.module.strings.get(&id).map_or("", String::as_str);
        let source = self.module.sources.get(&id).map(|text| format!(", source: \"{}\"", escaped(text)));
        let (name, source) = (escaped(name), source.unwrap_or_default());
        let text = format!("!DIFile(filename: \"{name}\", directory: \"\"{source})");
        let node = self.metadata.add_node(&text);
        *self.lines.files.entry(id).or_insert(node)
    }
}

/// The place that an OpLine tells.
pub(crate) fn place(own: Instruction<'_>) -> Option<Place> {
    match (own.op, own.operands) {
        (Op::Line, [file, line, column, ..]) => Some(Place { file: *file, line: *line, column: *column }),
        _ => None,
    }
}
