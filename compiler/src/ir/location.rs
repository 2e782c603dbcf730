//! Debug locations: the source positions of instructions, for line tables.
//!
//! They come from LLVM's `DILocation`s, and exist when the source is compiled with line tables. Passes keep
//! the location of an instruction that they replace. One that they add may have none: code generation then
//! uses that of the instruction it was added for, the next one of the block that has one.

use std::num::NonZeroU32;

/// The location of an instruction in [`Locations::positions`], or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location(Option<NonZeroU32>);

/// The positions of a program's instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locations {
    /// Source files.
    pub files: Vec<SourceFile>,
    /// Functions, also those that were inlined.
    pub functions: Vec<SourceFunction>,
    /// Blocks in functions, if the source was compiled with variables.
    pub blocks: Vec<SourceBlock>,
    /// By [`Location`].
    positions: Vec<Position>,
}

/// A source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name in diagnostics.
    pub name: String,
    /// Its text, if it is known.
    pub text: Option<String>,
}

/// A function in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFunction {
    /// Its name.
    pub name: String,
    /// Index in [`Locations::files`].
    pub file: usize,
    /// Where it is defined, from 1.
    pub line: u32,
}

/// A block of a function in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceBlock {
    /// What it is in.
    pub parent: Scope,
}

/// What a variable is declared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Index in [`Locations::functions`].
    Function(usize),
    /// Index in [`Locations::blocks`].
    Block(usize),
}

/// A position in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The innermost function or block.
    pub scope: Scope,
    /// Index in [`Locations::files`].
    pub file: usize,
    /// From 1; 0 for code that belongs to no line.
    pub line: u32,
    /// From 1; 0 if it is not known.
    pub column: u32,
    /// The call, if the function was inlined. Each inlined call has a position of its own, even if two are at
    /// the same place.
    pub inlined_at: Location,
}

impl Location {
    /// No location.
    pub const NONE: Location = Location(None);

    /// This location, or another one if it is none.
    #[must_use]
    pub fn or(self, other: Location) -> Location {
        Location(self.0.or(other.0))
    }
}

impl Locations {
    /// Adds a position.
    pub fn add(&mut self, position: Position) -> Location {
        self.positions.push(position);
        // A module has fewer than 2^32 instructions.
        Location(NonZeroU32::new(self.positions.len() as u32))
    }

    /// The position of a location.
    #[must_use]
    pub fn position(&self, location: Location) -> Option<&Position> {
        self.positions.get(location.0?.get() as usize - 1)
    }

    /// The function that a scope is, or is in.
    #[must_use]
    pub fn function(&self, scope: Scope) -> usize {
        match scope {
            Scope::Function(function) => function,
            // As deep as blocks are in each other.
            Scope::Block(block) => self.function(self.blocks[block].parent),
        }
    }

    /// Whether there is none, as when the source was compiled without line tables.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}
