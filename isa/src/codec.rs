//! The two directions of converting between an [`Instruction`](crate::Instruction) and an instruction word.
//!
//! A layout is described once, as a walk over fields, which is generic over [`Encoder`] and [`Decoder`].

use crate::codes::{self, Code, File};
use crate::field::Field;
use crate::{Generation, Register};

/// Why an instruction has no encoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The generation does not have the opcode.
    #[error("{generation} has no opcode {opcode}")]
    Opcode {
        /// The generation.
        generation: &'static str,
        /// Its mnemonic.
        opcode: &'static str,
    },
    /// A value that the field cannot hold in this generation.
    #[error("{field}: {value} cannot be encoded")]
    Value {
        /// The field.
        field: &'static str,
        /// The value.
        value: String,
    },
    /// An operand, modifier or combination that the instruction's format cannot express.
    #[error("{0}")]
    InvalidForm(&'static str),
}

/// Why bits cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Bits 6:0 are no opcode of the generation.
    #[error("unknown opcode {0:#04x}")]
    Opcode(u8),
    /// A value of a field that the generation reserves.
    #[error("{field}: reserved value {value:#x}")]
    Value {
        /// The field.
        field: &'static str,
        /// Its bits.
        value: u64,
    },
    /// A combination of fields that is invalid in the format.
    #[error("{0}")]
    InvalidForm(&'static str),
    /// The code ends within an instruction, this many bytes from the start.
    #[error("the code ends within the instruction at byte {0:#x}")]
    Truncated(usize),
    /// An index of a compacted instruction that its table does not have.
    #[error("compacted instruction: index {index} of the {table} table is reserved")]
    Compact {
        /// Which table.
        table: &'static str,
        /// The index.
        index: u32,
    },
}

/// One direction of the conversion.
pub(crate) trait Codec {
    type Error;
    /// Whether it converts from instructions to bits.
    const ENCODES: bool;

    fn generation(&self) -> Generation;
    /// A value that is stored in the field directly.
    fn number(&mut self, field: Field, value: &mut u64) -> Result<(), Self::Error>;
    /// A value that is encoded by a table.
    fn coded<T: Copy + PartialEq + std::fmt::Debug>(
        &mut self,
        field: Field,
        rows: &'static [Code<T>],
        value: &mut T,
    ) -> Result<(), Self::Error>;
    /// The number of a register in a given register file.
    fn register(&mut self, field: Field, file: File, value: &mut Register) -> Result<(), Self::Error>;
    /// A fixed value, which is ignored by the decoder.
    fn constant(&mut self, field: Field, value: u64) -> Result<(), Self::Error>;
    /// An error of the instruction as a whole unless `holds`.
    fn require(&self, holds: bool, message: &'static str) -> Result<(), Self::Error>;

    /// A single bit. When encoding, a set bit needs the field to exist.
    fn flag(&mut self, field: Field, value: &mut bool) -> Result<(), Self::Error> {
        let mut bit = u64::from(*value);
        self.number(field, &mut bit)?;
        *value = bit != 0;
        Ok(())
    }

    /// A small number that is stored in the field directly.
    fn small(&mut self, field: Field, value: &mut u8) -> Result<(), Self::Error> {
        let mut bits = u64::from(*value);
        self.number(field, &mut bits)?;
        *value = bits as u8;
        Ok(())
    }

    /// A small number in units of `unit`.
    fn scaled(&mut self, field: Field, unit: u8, value: &mut u8) -> Result<(), Self::Error> {
        if Self::ENCODES {
            self.require(
                (*value).is_multiple_of(unit),
                "the subregister is not aligned to the field's unit",
            )?;
        }
        let mut count = *value / unit;
        self.small(field, &mut count)?;
        *value = count.wrapping_mul(unit);
        Ok(())
    }
}

/// Converts an instruction to bits.
pub(crate) struct Encoder {
    pub(crate) generation: Generation,
    pub(crate) word: u128,
}

impl Encoder {
    fn error(field: Field, value: &dyn std::fmt::Debug) -> EncodeError {
        EncodeError::Value { field: field.info().name, value: format!("{value:?}") }
    }
}

impl Codec for Encoder {
    type Error = EncodeError;
    const ENCODES: bool = true;

    fn generation(&self) -> Generation {
        self.generation
    }

    fn number(&mut self, field: Field, value: &mut u64) -> Result<(), EncodeError> {
        let row = field.info();
        let width = row.width(self.generation);
        if width < 64 && *value >> width != 0 {
            return Err(Encoder::error(field, value));
        }
        self.word = row.set(self.generation, self.word, *value);
        Ok(())
    }

    fn coded<T: Copy + PartialEq + std::fmt::Debug>(
        &mut self,
        field: Field,
        rows: &'static [Code<T>],
        value: &mut T,
    ) -> Result<(), EncodeError> {
        match codes::by_value(rows, *value).and_then(|row| row.number(self.generation)) {
            Some(number) => self.number(field, &mut u64::from(number)),
            None => Err(Encoder::error(field, value)),
        }
    }

    fn register(&mut self, field: Field, _: File, value: &mut Register) -> Result<(), EncodeError> {
        match value.number() {
            Some(number) => self.number(field, &mut u64::from(number)),
            None => Err(Encoder::error(field, value)),
        }
    }

    fn constant(&mut self, field: Field, value: u64) -> Result<(), EncodeError> {
        let mut value = value;
        self.number(field, &mut value)
    }

    fn require(&self, holds: bool, message: &'static str) -> Result<(), EncodeError> {
        if holds { Ok(()) } else { Err(EncodeError::InvalidForm(message)) }
    }
}

/// Converts bits to an instruction.
pub(crate) struct Decoder {
    pub(crate) generation: Generation,
    pub(crate) word: u128,
}

impl Decoder {
    pub(crate) fn get(&self, field: Field) -> u64 {
        field.info().get(self.generation, self.word)
    }
}

impl Codec for Decoder {
    type Error = DecodeError;
    const ENCODES: bool = false;

    fn generation(&self) -> Generation {
        self.generation
    }

    fn number(&mut self, field: Field, value: &mut u64) -> Result<(), DecodeError> {
        *value = self.get(field);
        Ok(())
    }

    fn coded<T: Copy + PartialEq + std::fmt::Debug>(
        &mut self,
        field: Field,
        rows: &'static [Code<T>],
        value: &mut T,
    ) -> Result<(), DecodeError> {
        let number = self.get(field);
        *value = codes::by_number(rows, self.generation, number)
            .ok_or(DecodeError::Value { field: field.info().name, value: number })?;
        Ok(())
    }

    fn register(&mut self, field: Field, file: File, value: &mut Register) -> Result<(), DecodeError> {
        let number = self.get(field);
        *value = u8::try_from(number)
            .ok()
            .and_then(|number| Register::from_number(file, number))
            .ok_or(DecodeError::Value { field: field.info().name, value: number })?;
        Ok(())
    }

    fn constant(&mut self, _: Field, _: u64) -> Result<(), DecodeError> {
        Ok(())
    }

    fn require(&self, holds: bool, message: &'static str) -> Result<(), DecodeError> {
        if holds { Ok(()) } else { Err(DecodeError::InvalidForm(message)) }
    }
}
