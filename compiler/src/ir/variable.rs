//! Variables of the source, for debug information: where they are while a program runs, and their types.
//!
//! They are there when a program is compiled for debugging, and then have their places as long as their kernel runs.

use gencl_program::DataSection;

use super::location::{Location, Scope};

/// The variables of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// Types, which refer to each other by index.
    pub types: Vec<TypeEntry>,
    /// Variables.
    pub all: Vec<Variable>,
}

/// A variable of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Index in [`Variables::types`].
    pub ty: Option<usize>,
    /// Index of the file of its declaration.
    pub file: usize,
    /// Line of its declaration, from 1.
    pub line: u32,
    /// Whether it is a parameter of its function.
    pub is_parameter: bool,
    /// The scope of its declaration; none for the program's.
    pub scope: Option<Scope>,
    /// The call, if its function was inlined.
    pub inlined_at: Location,
    /// Where it is.
    pub place: Place,
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the private memory of each work-item of a kernel, by index.
    Private {
        /// The kernel.
        kernel: usize,
        /// Bytes from the beginning.
        offset: u32,
    },
    /// In the local memory of each work-group of a kernel.
    Local {
        /// The kernel.
        kernel: usize,
        /// Bytes from the beginning.
        offset: u32,
    },
    /// In a data section of the program.
    Data(DataSection, u32),
}

impl Place {
    /// The kernel whose variable it is.
    #[must_use]
    pub fn kernel(self) -> Option<usize> {
        match self {
            Place::Private { kernel, .. } | Place::Local { kernel, .. } => Some(kernel),
            Place::Data(..) => None,
        }
    }
}

/// A type, or a part of one: an entry of DWARF. What its kind does not have is 0, empty or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeEntry {
    /// `DW_TAG_*`.
    pub tag: u16,
    /// Its name.
    pub name: String,
    /// Size in bits.
    pub bits: u64,
    /// `DW_ATE_*` of a scalar.
    pub encoding: u8,
    /// The type of a member or element, the pointee, what it is another name of: index in [`Variables::types`].
    pub of: Option<usize>,
    /// OpenCL's address space of what a pointer points to.
    pub address_space: Option<u32>,
    /// Where a member is, in bits.
    pub offset: u64,
    /// Elements of a dimension of an array.
    pub count: u64,
    /// That of an enumerator.
    pub value: i64,
    /// Whether an array is a vector.
    pub is_vector: bool,
    /// Whether a member is a bit field.
    pub is_bit_field: bool,
    /// Members, dimensions, enumerators.
    pub parts: Vec<TypeEntry>,
}
