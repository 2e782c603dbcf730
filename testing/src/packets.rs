//! Commands, state structures and registers as Mesa's genxml describes them, from `facts/packets.txt`.
//!
//! The driver's tables and the simulator's are written independently; both are compared with this third one,
//! which `scripts/confirm-packets` verifies.

use std::collections::BTreeMap;

const TABLE: &str = include_str!("../facts/packets.txt");

/// Names of the columns, as `Generation::capabilities().name` of the instruction set has them.
const GENERATIONS: [&str; 4] = ["gen7", "gen7.5", "gen8", "gen9"];

/// A command, structure or register in one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Its length in dwords; `None` where that varies.
    pub dwords: Option<u32>,
    /// A register's offset in bytes.
    pub offset: Option<u32>,
    /// Its fields by name.
    pub fields: BTreeMap<&'static str, Field>,
}

/// The bits of a field, counted from bit 0 of the first dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its lowest bit.
    pub first: u32,
    /// Its highest bit.
    pub last: u32,
    /// The value that identifies the command, if the field does.
    pub default: Option<u32>,
}

impl Field {
    /// The bits of dword `index` that belong to the field.
    pub fn mask(&self, index: u32) -> u32 {
        let bits = self.first.max(32 * index)..(self.last + 1).min(32 * index + 32);
        bits.map(|bit| 1 << (bit % 32)).sum()
    }
}

impl Packet {
    /// What the fields that identify a command put into dword `index`.
    pub fn header(&self, index: u32) -> u32 {
        let value = |field: &Field| {
            field.default.filter(|_| field.first / 32 == index).map_or(0, |v| v << (field.first % 32))
        };
        self.fields.values().map(value).sum()
    }

    /// The bits of dword `index` that belong to any field.
    pub fn bits(&self, index: u32) -> u32 {
        self.fields.values().fold(0, |bits, field| bits | field.mask(index))
    }
}

/// The packets that a generation (`gen7`, `gen7.5`, `gen8`, `gen9`) has.
///
/// # Panics
/// For another generation, or when the table cannot be read.
pub fn packets(generation: &str) -> BTreeMap<&'static str, Packet> {
    let column = GENERATIONS.iter().position(|&name| name == generation);
    let column = column.unwrap_or_else(|| panic!("the table has no {generation}"));
    let mut result = BTreeMap::new();
    let mut name = "";
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some(row) = line.strip_prefix("    ") else {
            name = line;
            continue;
        };
        // Cells are two spaces apart or more; names have single ones.
        let mut cells = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        let field = cells.next().unwrap_or_default();
        let cell = cells.nth(column).unwrap_or_else(|| panic!("{name}: {row}"));
        if cell != "-" {
            let packet: &mut Packet = result.entry(name).or_default();
            packet.add(field, cell).unwrap_or_else(|| panic!("{name}: {row}"));
        }
    }
    result
}

impl Packet {
    fn add(&mut self, name: &'static str, cell: &str) -> Option<()> {
        match name {
            "@dwords" => self.dwords = Some(cell.parse().ok()?),
            "@offset" => self.offset = Some(u32::from_str_radix(cell.strip_prefix("0x")?, 16).ok()?),
            field => {
                let (place, default) = match cell.split_once('=') {
                    Some((place, default)) => (place, Some(default.parse().ok()?)),
                    None => (cell, None),
                };
                let (first, last) = place.split_once('-')?;
                let place = Field { first: first.parse().ok()?, last: last.parse().ok()?, default };
                self.fields.insert(field, place);
            }
        }
        Some(())
    }
}
