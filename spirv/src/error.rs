//! What is wrong with a module, and where.

/// An error of a module, at one of its instructions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("SPIR-V, {place}: {what}")]
pub struct SpirvError {
    /// The instruction.
    pub place: Place,
    /// What is wrong with it.
    pub what: String,
}

/// An instruction of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number, from 0; `None` for the header.
    pub number: Option<usize>,
    /// Its opcode.
    pub opcode: u16,
    /// Bytes in front of it.
    pub offset: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(number) = self.number else { return f.write_str("header") };
        match rspirv::spirv::Op::from_u32(self.opcode.into()) {
            Some(op) => write!(f, "instruction {number} (Op{op:?}, byte {})", self.offset),
            None => write!(f, "instruction {number} (opcode {}, byte {})", self.opcode, self.offset),
        }
    }
}

/// The result of reading a part of a module.
pub type Result<T> = std::result::Result<T, SpirvError>;
