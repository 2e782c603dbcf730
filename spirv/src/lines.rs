//! Source lines of instructions, as LLVM's debug information: SPIR-V 1.6, 3.49.2 "Debug Instructions".

use crate::module::{Function, Place};
use crate::text::escaped;
use crate::walk::Id;
use crate::writer::Writer;

impl Writer<'_> {
    /// The node of a function with this name, if lines are wanted and the module has some of it.
    pub(crate) fn subprogram(&mut self, function: &Function<'_>, name: &str) -> Option<usize> {
        if !self.environment.lines {
            return None;
        }
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        let Place { file, line, .. } =
            function.place.or_else(|| instructions.copied().find_map(Place::of))?;
        let file = self.file(file);
        let unit = match self.metadata.lines.unit {
            Some(unit) => unit,
            None => {
                let unit = self.metadata.add_distinct(&format!(
                    "!DICompileUnit(language: DW_LANG_OpenCL, file: !{file}, isOptimized: true, runtimeVersion: 0, \
                     emissionKind: LineTablesOnly, nameTableKind: None)"
                ));
                self.metadata.add("i32 2, !\"Debug Info Version\", i32 3");
                self.metadata.add("i32 7, !\"Dwarf Version\", i32 5");
                *self.metadata.lines.unit.insert(unit)
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
        if let Some(node) = self.metadata.lines.locations.get(&key) {
            return *node;
        }
        let text = format!("!DILocation(line: {line}, column: {column}, scope: !{subprogram})");
        let node = self.metadata.add_node(&text);
        *self.metadata.lines.locations.entry(key).or_insert(node)
    }

    fn file(&mut self, id: Id) -> usize {
        if let Some(node) = self.metadata.lines.files.get(&id) {
            return *node;
        }
        let name = self.module.strings.get(&id).map_or("", String::as_str);
        let source = self.module.sources.get(&id).map(|text| format!(", source: \"{}\"", escaped(text)));
        let (name, source) = (escaped(name), source.unwrap_or_default());
        let text = format!("!DIFile(filename: \"{name}\", directory: \"\"{source})");
        let node = self.metadata.add_node(&text);
        *self.metadata.lines.files.entry(id).or_insert(node)
    }
}
