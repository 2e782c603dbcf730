//! Source lines of instructions, as LLVM's debug information: SPIR-V 1.6, 3.49.2 "Debug Instructions".

use crate::module::{Function, Place};
use crate::scopes::{Node, Scope};
use crate::text::escaped;
use crate::walk::Id;
use crate::writer::Writer;

/// Most levels of scopes: modules can have circles.
const MOST_LEVELS: u32 = 64;

/// The debug information of a function that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subprogram {
    pub(crate) node: usize,
    /// The function in the module's debug information.
    own: Option<Id>,
}

impl Writer<'_> {
    /// What is known of a function with this name, if lines are wanted and the module has some of it.
    pub(crate) fn subprogram(&mut self, function: &Function<'_>, name: &str) -> Option<Subprogram> {
        if !self.environment.lines {
            return None;
        }
        let mut instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        let place =
            function.place.or_else(|| instructions.clone().find_map(|own| self.module.place(own).flatten()));
        let scope = instructions.find_map(|own| self.module.scope(own).flatten());
        let own = scope.and_then(|scope| self.outermost(scope));
        let (file, line) = match own.and_then(|own| self.definition(own)) {
            Some((_, file, line)) => (file, line),
            None => place.map(|place| (place.file, place.line))?,
        };
        Some(Subprogram { node: self.subprogram_node(name, file, line), own })
    }

    fn subprogram_node(&mut self, name: &str, file: Id, line: u32) -> usize {
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
        self.metadata.add_distinct(&format!(
            "!DISubprogram(name: \"{}\", scope: !{file}, file: !{file}, line: {line}, type: !{ty}, scopeLine: {line}, \
             spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{unit})",
            escaped(name)
        ))
    }

    /// The node of a location in a function.
    pub(crate) fn location(
        &mut self,
        subprogram: Subprogram,
        scope: Option<Scope>,
        place: Option<Place>,
    ) -> usize {
        // Line 0 is one that is not known.
        let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
        // LLVM has 16 bits for columns.
        let column = u16::try_from(column).unwrap_or(0);
        let (scope, at) =
            scope.and_then(|scope| self.inlined(subprogram, scope)).unwrap_or((subprogram.node, None));
        let key = (scope, at, line, column);
        if let Some(node) = self.metadata.lines.locations.get(&key) {
            return *node;
        }
        let at = at.map(|at| format!(", inlinedAt: !{at}")).unwrap_or_default();
        let text = format!("!DILocation(line: {line}, column: {column}, scope: !{scope}{at})");
        let node = self.metadata.add_node(&text);
        *self.metadata.lines.locations.entry(key).or_insert(node)
    }

    /// The nodes of a scope that the producer inlined and of the call. LLVM demands that the calls end in the
    /// function.
    fn inlined(&mut self, subprogram: Subprogram, scope: Scope) -> Option<(usize, Option<usize>)> {
        let at = self.call(subprogram, scope.inlined_at?, 0)?;
        Some((self.inlined_function(scope.scope)?, Some(at)))
    }

    /// The node of a call that the producer inlined.
    fn call(&mut self, subprogram: Subprogram, at: Id, level: u32) -> Option<usize> {
        if let Some(node) = self.metadata.lines.calls.get(&(subprogram.node, at)) {
            return Some(*node);
        }
        let Some(Node::InlinedAt { line, scope, outer }) = self.module.scopes.get(&at).copied() else {
            return None;
        };
        let text = match outer {
            None if subprogram.own.is_some() && self.function_of(scope) == subprogram.own => {
                format!("!DILocation(line: {line}, scope: !{})", subprogram.node)
            }
            Some(outer) if level < MOST_LEVELS => {
                let outer = self.call(subprogram, outer, level + 1)?;
                let scope = self.inlined_function(scope)?;
                format!("!DILocation(line: {line}, scope: !{scope}, inlinedAt: !{outer})")
            }
            _ => return None,
        };
        let node = self.metadata.add_distinct(&text);
        self.metadata.lines.calls.insert((subprogram.node, at), node);
        Some(node)
    }

    /// The node of the function that an inlined scope is in.
    fn inlined_function(&mut self, scope: Id) -> Option<usize> {
        let function = self.function_of(scope)?;
        if let Some(node) = self.metadata.lines.inlined.get(&function) {
            return Some(*node);
        }
        let (name, file, line) = self.definition(function)?;
        let name = self.module.strings.get(&name).cloned().unwrap_or_default();
        let node = self.subprogram_node(&name, file, line);
        self.metadata.lines.inlined.insert(function, node);
        Some(node)
    }

    /// The function that a scope is in.
    fn function_of(&self, mut scope: Id) -> Option<Id> {
        for _ in 0..MOST_LEVELS {
            match self.module.scopes.get(&scope)? {
                Node::Function { .. } => return Some(scope),
                Node::Block { parent } => scope = *parent,
                _ => return None,
            }
        }
        None
    }

    /// The function in which calls that were inlined end.
    fn outermost(&self, scope: Scope) -> Option<Id> {
        let Scope { mut scope, mut inlined_at } = scope;
        for _ in 0..MOST_LEVELS {
            let Some(at) = inlined_at else { return self.function_of(scope) };
            match self.module.scopes.get(&at)? {
                Node::InlinedAt { scope: caller, outer, .. } => (scope, inlined_at) = (*caller, *outer),
                _ => return None,
            }
        }
        None
    }

    /// The ids of a function's name and file, and its line.
    fn definition(&self, function: Id) -> Option<(Id, Id, u32)> {
        let Node::Function { name, source, line } = *self.module.scopes.get(&function)? else { return None };
        let Node::Source { file, .. } = *self.module.scopes.get(&source)? else { return None };
        Some((name, file, line))
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
