//! Variables of the source and their types, for debug information.

use rustc_hash::{FxHashMap, FxHashSet};

use super::location::Sources;
use crate::ir::Location;
use crate::ir::variable::{Place, TypeEntry, Variable, Variables};
use crate::llvm::debug::Node;
use crate::llvm::variables::{declared, declared_global, describe};
use crate::llvm::view::Value;

/// The variables of a module under construction.
#[derive(Default)]
pub struct Declarations<'m> {
    variables: Variables,
    /// Indices of types.
    types: FxHashMap<Node<'m>, usize>,
    /// Variables outside of private memory that are known.
    known: FxHashSet<(Node<'m>, Option<usize>)>,
    /// The index of the kernel that is translated.
    pub kernel: usize,
}

impl<'m> Declarations<'m> {
    /// Adds the variables of the source that are in an alloca, at this offset in private memory.
    pub fn private(&mut self, sources: &mut Sources<'m>, alloca: Value<'m>, offset: u32) {
        for (node, location) in declared(alloca) {
            let inlined_at = location.inlined_at().map(|call| sources.location(call)).unwrap_or_default();
            let place = Place::Private { kernel: self.kernel, offset };
            self.add(sources, node, inlined_at, place);
        }
    }

    /// Adds the variable of the source that is a global one of LLVM's: in local memory or a data section.
    pub fn global(&mut self, sources: &mut Sources<'m>, variable: Value<'m>, place: Place) {
        if let Some(node) = declared_global(variable)
            && self.known.insert((node, place.kernel()))
        {
            self.add(sources, node, Location::NONE, place);
        }
    }

    /// All variables.
    pub fn finish(self) -> Variables {
        self.variables
    }

    fn add(&mut self, sources: &mut Sources<'m>, node: Node<'m>, inlined_at: Location, place: Place) {
        let described = describe(node);
        let variable = Variable {
            name: described.name,
            ty: described.base.map(|base| self.type_of(base)),
            file: sources.file(described.file),
            line: described.line,
            is_parameter: described.argument > 0,
            scope: described.scope.and_then(|scope| sources.scope(scope)),
            inlined_at,
            place,
        };
        self.variables.all.push(variable);
    }

    fn type_of(&mut self, node: Node<'m>) -> usize {
        if let Some(&known) = self.types.get(&node) {
            return known;
        }
        let index = self.variables.types.len();
        // It is there before what it is made of, which may refer to it.
        self.types.insert(node, index);
        self.variables.types.push(TypeEntry::default());
        self.variables.types[index] = self.entry(node);
        index
    }

    fn entry(&mut self, node: Node<'m>) -> TypeEntry {
        let described = describe(node);
        TypeEntry {
            tag: described.tag,
            name: described.name,
            bits: described.bits,
            encoding: described.encoding,
            of: described.base.map(|base| self.type_of(base)),
            address_space: described.address_space,
            offset: described.offset,
            count: described.count,
            value: described.value,
            is_vector: described.is_vector,
            is_bit_field: described.is_bit_field,
            // Methods are no parts of a value.
            parts: described.elements.into_iter().map(|part| self.entry(part)).collect(),
        }
    }
}
