//! Source locations of instructions.

use rustc_hash::FxHashMap;

use crate::ir::Location;
use crate::ir::location::{Locations, Position, Scope, SourceBlock, SourceFile, SourceFunction};
use crate::llvm::debug::{DebugLocation, File, Node, Subprogram};
use crate::llvm::variables::{declared, describe};
use crate::llvm::view::Value;

/// The name of a file that has none, as after `#line 7 ""`.
const UNNAMED: &str = "<source>";

/// The call that a copy of a structure is for, which is passed by value: where calls are inlined, LLVM places the copy at
/// the first line of the function, which has its parameters there.
fn call_of_copy(instruction: Value) -> Option<DebugLocation> {
    instruction.callee().filter(|callee| callee.name().starts_with("llvm.memcpy."))?;
    let mut variables = declared(instruction.operand(0)).into_iter();
    variables.find(|(variable, _)| describe(*variable).argument != 0)?.1.inlined_at()
}

/// The locations of a module under construction, each once.
#[derive(Default)]
pub struct Sources<'m> {
    locations: Locations,
    positions: FxHashMap<DebugLocation<'m>, Location>,
    functions: FxHashMap<Subprogram<'m>, usize>,
    blocks: FxHashMap<Node<'m>, Scope>,
    files: FxHashMap<File<'m>, usize>,
}

impl<'m> Sources<'m> {
    /// The location of an instruction. Code that belongs to no line has none.
    pub fn of(&mut self, instruction: Value<'m>) -> Location {
        let own = || DebugLocation::of(instruction).filter(|location| location.line() != 0);
        let location = call_of_copy(instruction).or_else(own);
        location.map(|location| self.location(location)).unwrap_or_default()
    }

    /// The location of a kernel's definition, for code that the launch needs.
    pub fn of_kernel(&mut self, kernel: Value<'m>) -> Location {
        let Some(subprogram) = Subprogram::of(kernel) else { return Location::NONE };
        let function = self.function(subprogram);
        let SourceFunction { file, line, .. } = self.locations.functions[function];
        let scope = Scope::Function(function);
        self.locations.add(Position { scope, file, line, column: 0, inlined_at: Location::NONE })
    }

    /// All locations.
    pub fn finish(self) -> Locations {
        self.locations
    }

    /// The location of a `DILocation`.
    pub fn location(&mut self, location: DebugLocation<'m>) -> Location {
        if let Some(&known) = self.positions.get(&location) {
            return known;
        }
        let Some(scope) = location.scope().and_then(|scope| self.scope(scope)) else { return Location::NONE };
        // Calls of calls: as deep as functions are inlined into each other.
        let inlined_at = location.inlined_at().map(|call| self.location(call)).unwrap_or_default();
        let file = self.file(location.file());
        let (line, column) = (location.line(), location.column());
        let added = self.locations.add(Position { scope, file, line, column, inlined_at });
        self.positions.insert(location, added);
        added
    }

    /// A scope in a function; none for those outside.
    pub fn scope(&mut self, node: Node<'m>) -> Option<Scope> {
        if let Some(&known) = self.blocks.get(&node) {
            return Some(known);
        }
        let scope = match Subprogram::from_scope(node)? {
            subprogram if subprogram.is(node) => Scope::Function(self.function(subprogram)),
            _ => {
                let described = describe(node);
                // As deep as blocks are in each other.
                let parent = self.scope(described.scope?)?;
                // What `#line` and `#include` begin is no block.
                if described.line == 0 {
                    parent
                } else {
                    self.locations.blocks.push(SourceBlock { parent });
                    Scope::Block(self.locations.blocks.len() - 1)
                }
            }
        };
        self.blocks.insert(node, scope);
        Some(scope)
    }

    fn function(&mut self, subprogram: Subprogram<'m>) -> usize {
        if let Some(&known) = self.functions.get(&subprogram) {
            return known;
        }
        let file = self.file(subprogram.file());
        let function = SourceFunction { name: subprogram.name(), file, line: subprogram.line() };
        self.locations.functions.push(function);
        let added = self.locations.functions.len() - 1;
        self.functions.insert(subprogram, added);
        added
    }

    /// The index of a file.
    pub fn file(&mut self, file: Option<File<'m>>) -> usize {
        if let Some(&known) = file.and_then(|file| self.files.get(&file)) {
            return known;
        }
        // DWARF's strings have no zeros, and its files have names.
        let printable = |text: String| text.replace('\0', " ");
        let name = file.map(|file| printable(file.name())).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| UNNAMED.into());
        let text = file.and_then(File::source).map(printable);
        let files = &mut self.locations.files;
        // After `#line 7 "name"` clang gives the text of the file that has the directive.
        let text = text.filter(|text| files.iter().all(|other| other.text.as_ref() != Some(text)));
        files.push(SourceFile { name, text });
        let added = files.len() - 1;
        if let Some(file) = file {
            self.files.insert(file, added);
        }
        added
    }
}
