//! What is known of a program's kernels: code, lines, scopes, variables and types.

mod read;

use std::ops::Range;

use gencl_program::Kernel;
use gencl_program::debug_address::Space;
use gencl_program::finding::Site;

pub use read::read;

/// A program.
#[derive(Debug, Default)]
pub struct Info {
    /// Kernels, in the order of their numbers.
    pub kernels: Vec<KernelInfo>,
    /// Types, which refer to each other by index.
    pub types: Vec<Type>,
    /// Program-scope variables.
    pub variables: Vec<Variable>,
    /// Source files.
    pub files: Vec<SourceFile>,
    /// Places that are checked.
    pub sites: Vec<Site>,
}

/// A source file.
#[derive(Clone, Debug, Default)]
pub struct SourceFile {
    /// Its name as the compiler knows it.
    pub name: String,
    /// Its text, if the program has it.
    pub text: Option<String>,
}

impl SourceFile {
    /// Whether it is a file on disk: one of the same name, or, as sources of OpenCL have none, with the same text.
    #[must_use]
    pub fn is(&self, path: &str) -> bool {
        let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        last(&self.name) == last(path)
            || self.text.is_some() && std::fs::read_to_string(path).ok() == self.text
    }
}

/// A kernel.
#[derive(Debug)]
pub struct KernelInfo {
    /// Its interface for launches.
    pub kernel: Kernel,
    /// The address of its code in debug information.
    pub base: u64,
    /// The rows of its line table, by offset.
    pub rows: Vec<Row>,
    /// Its body; none if the program has no debug information.
    pub body: Option<Scope>,
}

/// A row of the line table: from an offset on, the code is of this line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Bytes from the kernel's first instruction.
    pub offset: u32,
    /// The place in the source.
    pub place: Place,
}

/// A place in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Index in [`Info::files`].
    pub file: usize,
    /// From 1.
    pub line: u32,
    /// From 1, or 0.
    pub column: u32,
}

/// A function, or a block in one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The name of a function; none for a block.
    pub function: Option<String>,
    /// Where an inlined function was called.
    pub call: Option<Place>,
    /// Its code, in offsets.
    pub code: Vec<Range<u32>>,
    /// Its variables.
    pub variables: Vec<Variable>,
    /// Blocks in it, and functions that are inlined into it.
    pub inner: Vec<Scope>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Index in [`Info::types`].
    pub ty: Option<usize>,
    /// Its [address](gencl_program::debug_address), if it has one.
    pub address: Option<u64>,
    /// Whether it is a parameter.
    pub is_parameter: bool,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A scalar.
    Base {
        /// Its name.
        name: String,
        /// Its size.
        bytes: u64,
        /// What its bits mean.
        kind: Kind,
    },
    /// A pointer.
    Pointer {
        /// Its size.
        bytes: u64,
        /// What it points to; none for `void`.
        to: Option<usize>,
        /// The memory that it points into; none for a generic pointer, which tells it itself.
        space: Option<Space>,
    },
    /// A structure or union.
    Structure {
        /// Its name; empty if it has none.
        name: String,
        /// Its size.
        bytes: u64,
        /// Its members.
        members: Vec<Member>,
    },
    /// An array, of arrays if it has several dimensions; or a vector.
    Array {
        /// The type of elements.
        of: usize,
        /// Their number.
        count: u64,
        /// Whether it is a vector.
        is_vector: bool,
    },
    /// An enumeration.
    Enumeration {
        /// Its name; empty if it has none.
        name: String,
        /// Its size.
        bytes: u64,
        /// Its constants.
        values: Vec<(String, i64)>,
    },
    /// Another name of a type, or a qualified one.
    Named {
        /// The name; none for a qualified type.
        name: Option<String>,
        /// The type.
        of: Option<usize>,
    },
}

/// How the bits of a scalar are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 0 or 1.
    Boolean,
    /// An integer of a byte, with a sign.
    Character,
    /// An integer with a sign.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// IEEE-754.
    Float,
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: usize,
    /// Bytes from the beginning of the structure.
    pub offset: u64,
    /// First bit from the beginning of the structure, and number of bits, of a bit field.
    pub bits: Option<(u64, u64)>,
}

/// A function call that is being executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'i> {
    /// The function's name.
    pub function: &'i str,
    /// Where it is; none for code that belongs to no line.
    pub place: Option<Place>,
    /// Its scopes that contain the place, the innermost first.
    pub scopes: Vec<&'i Scope>,
}

impl Scope {
    fn contains(&self, offset: u32) -> bool {
        self.code.iter().any(|code| code.contains(&offset))
    }
}

impl KernelInfo {
    /// The place of the instruction at an offset.
    #[must_use]
    pub fn place(&self, offset: u32) -> Option<Place> {
        let after = self.rows.partition_point(|row| row.offset <= offset);
        self.rows[..after].last().map(|row| row.place)
    }

    /// The scopes of an offset, the outermost first.
    #[must_use]
    pub fn scopes(&self, offset: u32) -> Vec<&Scope> {
        let mut found: Vec<&Scope> = self.body.iter().collect();
        while let Some(scope) = found.last().and_then(|last| last.inner.iter().find(|s| s.contains(offset))) {
            found.push(scope);
        }
        found
    }

    /// The calls at an offset, the innermost first. Without debug information it is the kernel alone.
    #[must_use]
    pub fn frames(&self, offset: u32) -> Vec<Frame<'_>> {
        let mut frames = Vec::new();
        let (mut scopes, mut place) = (Vec::new(), self.place(offset));
        for scope in self.scopes(offset).into_iter().rev() {
            scopes.push(scope);
            if let Some(function) = &scope.function {
                frames.push(Frame { function, place, scopes: std::mem::take(&mut scopes) });
                place = scope.call;
            }
        }
        if frames.is_empty() {
            frames.push(Frame { function: &self.kernel.name, place, scopes });
        }
        frames
    }

    /// Where each instruction range of a line begins, once for each inlined call and block: the offsets at which
    /// a breakpoint of the line stops. Empty if there is no code of it.
    #[must_use]
    pub fn offsets_of(&self, file: usize, line: u32) -> Vec<u32> {
        let mut found: Vec<(Vec<*const Scope>, u32)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.place.file == file && row.place.line == line) {
            let functions = self.scopes(row.offset).into_iter().filter(|scope| scope.function.is_some());
            let path: Vec<_> = functions.map(std::ptr::from_ref).collect();
            if found.iter().all(|(other, _)| *other != path) {
                found.push((path, row.offset));
            }
        }
        found.into_iter().map(|(_, offset)| offset).collect()
    }

    /// The ranges of code for which something holds of their first offset; lines and scopes are the same in all of each.
    pub fn ranges(&self, holds: impl Fn(u32) -> bool) -> Vec<Range<u32>> {
        let end = self.kernel.code.len() as u32;
        let mut borders = vec![0];
        borders.extend(self.rows.iter().map(|row| row.offset));
        let mut open: Vec<&Scope> = self.body.iter().collect();
        while let Some(scope) = open.pop() {
            borders.extend(scope.code.iter().flat_map(|code| [code.start, code.end]));
            open.extend(&scope.inner);
        }
        borders.push(end);
        borders.sort_unstable();
        borders.dedup();
        let ranges = borders.windows(2).filter(|window| holds(window[0])).map(|window| window[0]..window[1]);
        ranges.collect()
    }
}

impl Info {
    /// A type without names and qualifiers.
    #[must_use]
    pub fn plain(&self, ty: usize) -> Option<usize> {
        let mut ty = ty;
        // Names are no circles, in a file that the compiler has written.
        for _ in 0..=self.types.len() {
            match self.types.get(ty)? {
                Type::Named { of, .. } => ty = (*of)?,
                _ => return Some(ty),
            }
        }
        None
    }

    /// The size of a type in bytes; 0 where it has none.
    #[must_use]
    pub fn size(&self, ty: usize) -> u64 {
        match self.plain(ty).map(|ty| &self.types[ty]) {
            Some(
                Type::Base { bytes, .. }
                | Type::Pointer { bytes, .. }
                | Type::Structure { bytes, .. }
                | Type::Enumeration { bytes, .. },
            ) => *bytes,
            // Vectors of three have the size of four.
            Some(Type::Array { of, count, is_vector: true }) => self.size(*of) * count.next_power_of_two(),
            Some(Type::Array { of, count, .. }) => self.size(*of) * count,
            Some(Type::Named { .. }) | None => 0,
        }
    }

    /// The name of a type as the source has it.
    #[must_use]
    pub fn type_name(&self, ty: Option<usize>) -> String {
        let Some(ty) = ty.and_then(|ty| self.types.get(ty)) else { return "void".into() };
        match ty {
            Type::Base { name, .. } => name.clone(),
            Type::Structure { name, .. } => format!("struct {name}").trim_end().to_owned(),
            Type::Enumeration { name, .. } => format!("enum {name}").trim_end().to_owned(),
            Type::Named { name: Some(name), .. } => name.clone(),
            Type::Named { name: None, of } => self.type_name(*of),
            Type::Pointer { to, .. } => format!("{} *", self.type_name(*to)).replace("* *", "**"),
            Type::Array { of, count, is_vector: true } => format!("{}{count}", self.type_name(Some(*of))),
            Type::Array { of, count, .. } => {
                // The outer dimension is the first one.
                let element = self.type_name(Some(*of));
                let at = element.find('[').unwrap_or(element.len());
                format!("{}[{count}]{}", &element[..at], &element[at..])
            }
        }
    }

    /// The kernel with a name.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<(usize, &KernelInfo)> {
        self.kernels.iter().enumerate().find(|(_, kernel)| kernel.kernel.name == name)
    }
}
