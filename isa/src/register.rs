//! Register numbers.
//!
//! Source: "Architecture Register File" of "EU Overview" (Skylake, Volume 7): bits 7:4 of the
//! number select the register, bits 3:0 one of several.

use crate::codes::File;
use crate::{Arf, Register};

/// A row: bits 7:4, the name, the register with its index, the number of registers of the name.
struct ArfRow {
    high: u8,
    name: &'static str,
    make: fn(u8) -> Arf,
    /// Number of registers with the name; the index of a single one is written as 0 or omitted.
    count: u8,
    /// Whether the text has an index.
    indexed: bool,
}

const fn row(high: u8, name: &'static str, make: fn(u8) -> Arf, count: u8, indexed: bool) -> ArfRow {
    ArfRow { high, name, make, count, indexed }
}

const ARFS: &[ArfRow] = &[
    row(0x0, "null", |_| Arf::Null, 1, false),
    row(0x1, "a", |_| Arf::Address, 1, true),
    row(0x2, "acc", Arf::Accumulator, 16, true),
    row(0x3, "f", Arf::Flag, 2, true),
    row(0x4, "mask", |_| Arf::ChannelEnable, 1, true),
    row(0x6, "sp", |_| Arf::StackPointer, 1, false),
    row(0x7, "sr", Arf::State, 2, true),
    row(0x8, "cr", Arf::Control, 1, true),
    row(0x9, "n", Arf::Notification, 3, true),
    row(0xa, "ip", |_| Arf::Ip, 1, false),
    row(0xb, "tdr", |_| Arf::ThreadDependency, 1, true),
    row(0xc, "tm", |_| Arf::Timestamp, 1, true),
    row(0xd, "fc", Arf::FlowControl, 5, true),
];

impl Arf {
    /// The number in an instruction word.
    pub(crate) fn number(self) -> u8 {
        let (high, low) = match self {
            Arf::Null => (0x0, 0),
            Arf::Address => (0x1, 0),
            Arf::Accumulator(n) => (0x2, n),
            Arf::Flag(n) => (0x3, n),
            Arf::ChannelEnable => (0x4, 0),
            Arf::StackPointer => (0x6, 0),
            Arf::State(n) => (0x7, n),
            Arf::Control(n) => (0x8, n),
            Arf::Notification(n) => (0x9, n),
            Arf::Ip => (0xa, 0),
            Arf::ThreadDependency => (0xb, 0),
            Arf::Timestamp => (0xc, 0),
            Arf::FlowControl(n) => (0xd, n),
        };
        high << 4 | low & 0xf
    }

    /// The register of a number.
    pub(crate) fn from_number(number: u8) -> Option<Arf> {
        let row = ARFS.iter().find(|row| row.high == number >> 4)?;
        (number & 0xf < row.count).then(|| (row.make)(number & 0xf))
    }

    /// How it is written.
    pub(crate) fn text(self) -> String {
        let number = self.number();
        match ARFS.iter().find(|row| row.high == number >> 4) {
            Some(row) if row.indexed => format!("{}{}", row.name, number & 0xf),
            Some(row) => row.name.to_owned(),
            None => format!("arf{number:#x}"),
        }
    }

    /// The register with a name. `ce0` is another name of `mask0`.
    pub(crate) fn from_text(text: &str) -> Option<Arf> {
        if text == "ce0" {
            return Some(Arf::ChannelEnable);
        }
        let split = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let (name, index) = text.split_at(split);
        let row = ARFS.iter().find(|row| row.name == name && row.indexed != index.is_empty())?;
        let index = if row.indexed { index.parse().ok()? } else { 0 };
        (index < row.count).then(|| (row.make)(index))
    }
}

impl Register {
    pub(crate) fn file(self) -> File {
        match self {
            Register::Grf(_) => File::Grf,
            Register::Arf(_) => File::Arf,
        }
    }

    /// The number in an instruction word; `None` for one that does not exist.
    pub(crate) fn number(self) -> Option<u8> {
        match self {
            Register::Grf(number) => (number < 128).then_some(number),
            Register::Arf(arf) => (Arf::from_number(arf.number()) == Some(arf)).then(|| arf.number()),
        }
    }

    /// The register of a number; `None` where there is none.
    pub(crate) fn from_number(file: File, number: u8) -> Option<Register> {
        match file {
            File::Grf => (number < 128).then_some(Register::Grf(number)),
            File::Arf => Arf::from_number(number).map(Register::Arf),
            File::Immediate => None,
        }
    }

    /// Its text, without subregister.
    pub(crate) fn text(self) -> String {
        match self {
            Register::Grf(number) => format!("g{number}"),
            Register::Arf(arf) => arf.text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_register_survives_a_round_trip() {
        let mut seen = 0;
        for number in 0..=255 {
            if let Some(arf) = Arf::from_number(number) {
                assert_eq!(arf.number(), number);
                assert_eq!(Arf::from_text(&arf.text()), Some(arf));
                seen += 1;
            }
        }
        assert_eq!(seen, 1 + 1 + 16 + 2 + 1 + 1 + 2 + 1 + 3 + 1 + 1 + 1 + 5);
    }
}
