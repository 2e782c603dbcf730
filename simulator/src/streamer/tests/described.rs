//! Compares the tables with an independent description of the commands.

use std::collections::BTreeMap;

use gencl_isa::Generation;
use gencl_testing::packets::{Packet, packets};

use crate::streamer::command::Length;
use crate::streamer::commands::COMMANDS;
use crate::streamer::field::Field;
use crate::streamer::layouts;

/// The description of each generation.
fn descriptions() -> impl Iterator<Item = (Generation, BTreeMap<&'static str, Packet>)> {
    Generation::ALL.into_iter().map(|generation| (generation, packets(generation.capabilities().name)))
}

/// Fields that the descriptions do not have; their sources are in `layouts.rs`.
const NOT_DESCRIBED: &[(&str, Field)] = &[("PIPE_CONTROL", layouts::pipe_control::FLUSH_L3)];

/// The position of one of our fields in a description.
fn place(described: &Packet, field: &Field) -> Option<(u32, u32)> {
    let place = described.fields.get(field.name)?;
    // An address in two parts.
    let high = described.fields.get(format!("{} High", field.name).as_str());
    Some((place.first, high.unwrap_or(place).last))
}

#[test]
fn fields_are_those_of_the_description() {
    let descriptor = ("INTERFACE_DESCRIPTOR_DATA", layouts::interface_descriptor_data::FIELDS);
    for (generation, description) in descriptions() {
        for (name, fields) in COMMANDS.iter().map(|c| (c.name, c.fields)).chain([descriptor]) {
            let described = description.get(name);
            let named = fields.iter().filter(|field| !field.name.is_empty());
            for field in named.filter(|field| !NOT_DESCRIBED.contains(&(name, **field))) {
                let theirs = described.and_then(|described| place(described, field));
                assert_eq!(field.positions.of(generation), theirs, "{generation:?} {name}: {}", field.name);
            }
        }
    }
}

#[test]
fn commands_are_those_of_the_description() {
    for (generation, description) in descriptions() {
        for command in COMMANDS {
            let Some(described) = description.get(command.name) else {
                assert_eq!(command.length(generation), Length::None, "{generation:?} {}", command.name);
                continue;
            };
            assert_eq!(command.opcode, described.header(0) & command.mask, "{generation:?} {}", command.name);
            let length = match command.length(generation) {
                Length::None => None,
                Length::One => Some(1),
                Length::Exactly(n) => Some(n),
                // The description has the shorter.
                Length::Either(a, _) => Some(a),
                Length::Repeated { .. } => described.dwords,
            };
            assert_eq!(length, described.dwords, "{generation:?} {}", command.name);
            if let Some(length) = described.fields.get("DWord Length") {
                let bits = command.length_bits(generation);
                assert_eq!(bits, length.mask(0), "{generation:?} {}", command.name);
            }
        }
    }
}

/// Where fields have no names, bits are compared: those that may be set, in each dword.
#[test]
fn bits_are_those_of_the_description() {
    for (generation, description) in descriptions() {
        for command in COMMANDS.iter().filter(|c| c.fields.iter().any(|field| field.name.is_empty())) {
            let Some(described) = description.get(command.name) else { continue };
            for (index, bits) in (0..).zip(command.defined_bits(generation)) {
                let theirs = described.bits(index);
                assert_eq!(bits, theirs, "{generation:?} {}: dword {index}", command.name);
            }
        }
    }
}

/// What the descriptions of Gen8 and Gen9 have and the tables do not is refused as a reserved bit, so it must
/// be nothing that drivers could need. (Gen7's columns have the places of what is here, and not yet all.)
#[test]
fn no_field_is_missing() {
    /// They position scoreboard dependencies, which are not simulated.
    fn is_scoreboard_delta(name: &str) -> bool {
        name.starts_with("Scoreboard ") && name.contains(" Delta ")
    }
    let descriptor = ("INTERFACE_DESCRIPTOR_DATA", layouts::interface_descriptor_data::FIELDS);
    for (generation, description) in descriptions().filter(|(g, _)| g.capabilities().wide_immediates) {
        for (structure, fields) in COMMANDS.iter().map(|c| (c.name, c.fields)).chain([descriptor]) {
            let Some(described) = description.get(structure) else { continue };
            if fields.iter().any(|field| field.name.is_empty()) {
                continue;
            }
            for (name, field) in &described.fields {
                let ours = fields
                    .iter()
                    .any(|ours| *name == ours.name || name.strip_suffix(" High") == Some(ours.name));
                let known = ours || field.default.is_some() || is_scoreboard_delta(name);
                assert!(known, "{generation:?} {structure}: {name}");
            }
        }
    }
}
