//! What a translation is asked for.

/// The optional features of OpenCL in which devices differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Arithmetic on `half`.
    pub half: bool,
    /// `double`.
    pub double: bool,
    /// Atomic operations on 64-bit integers.
    pub long_atomics: bool,
    /// Pointers to any address space.
    pub generic_pointers: bool,
}

impl Features {
    /// All of them.
    pub const ALL: Features =
        Features { half: true, double: true, long_atomics: true, generic_pointers: true };
}

/// What a module is translated for.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// Bits of a pointer in kernels.
    pub pointer_bits: u32,
    /// LLVM's name of the target.
    pub triple: &'a str,
    /// LLVM's description of its types.
    pub data_layout: &'a str,
    /// What the device can do.
    pub features: Features,
    /// Divisions of single floats are correctly rounded; otherwise they may have the error that OpenCL allows.
    pub correctly_rounded: bool,
    /// Instructions get locations in the source, as far as the module tells them.
    pub lines: bool,
    /// Values of specialisation constants, little endian, by their ids.
    pub specialization: &'a [(u32, Vec<u8>)],
}
