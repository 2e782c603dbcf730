//! What a translation is asked for.

/// What a module is translated for.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// Bits of a pointer in kernels.
    pub pointer_bits: u32,
    /// LLVM's name of the target.
    pub triple: &'a str,
    /// LLVM's description of its types.
    pub data_layout: &'a str,
    /// Divisions of single floats are correctly rounded; otherwise they may have the error that OpenCL allows.
    pub correctly_rounded: bool,
    /// Values of specialisation constants, little endian, by their ids.
    pub specialization: &'a [(u32, Vec<u8>)],
}
