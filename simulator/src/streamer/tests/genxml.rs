//! The tables compared with Mesa's descriptions of the generations, where those are at hand.

use std::collections::HashMap;
use std::path::Path;

use gencl_isa::Generation;

use crate::streamer::command::Length;
use crate::streamer::commands::COMMANDS;
use crate::streamer::field::Field;
use crate::streamer::layouts;

/// A command or structure of the description: dwords, if fixed, and fields by name.
#[derive(Default)]
struct Described {
    length: Option<u32>,
    fields: HashMap<String, (u32, u32, Option<u32>)>,
}

type Description = HashMap<String, Described>;

fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

/// The description of a generation.
fn describe(generation: Generation) -> Option<Description> {
    // The files are called gen7, gen75, ...
    let name = generation.capabilities().name.replace('.', "");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/oracle/genxml");
    let path = folder.join(format!("{name}.xml"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    let number = |line: &str, name: &str| attribute(line, name).and_then(|text| text.parse().ok());
    let mut all = HashMap::new();
    let (mut name, mut current, mut group) = (String::new(), Described::default(), 0);
    for line in text.lines().map(str::trim) {
        if line.starts_with("<instruction ") || line.starts_with("<struct ") {
            name = attribute(line, "name")?.to_owned();
            current = Described { length: number(line, "length"), fields: HashMap::new() };
        } else if line.starts_with("<field ") {
            let Some(field) = attribute(line, "name") else { continue };
            let place =
                (group + number(line, "start")?, group + number(line, "end")?, number(line, "default"));
            // The first of a name: later ones are those of repeated groups.
            current.fields.entry(field.to_owned()).or_insert(place);
        } else if line.starts_with("<group ") {
            group = number(line, "start")?;
        } else if line.starts_with("</group>") {
            group = 0;
        } else if line.starts_with("</instruction>") || line.starts_with("</struct>") {
            all.insert(name.clone(), std::mem::take(&mut current));
        }
    }
    Some(all)
}

/// The descriptions that are at hand.
fn descriptions() -> impl Iterator<Item = (Generation, Description)> {
    Generation::ALL.into_iter().filter_map(|generation| Some((generation, describe(generation)?)))
}

/// Fields of ours that the descriptions do not have. Where they are known from stands in `layouts.rs`.
const NOT_DESCRIBED: &[(&str, Field)] = &[("PIPE_CONTROL", layouts::pipe_control::FLUSH_L3)];

/// Where a description has a field of ours.
fn place(described: &Described, field: &Field) -> Option<(u32, u32)> {
    let (start, end, _) = *described.fields.get(field.name)?;
    // An address in two parts.
    let high = described.fields.get(&format!("{} High", field.name)).map(|(_, end, _)| *end);
    Some((start, high.unwrap_or(end)))
}

#[test]
fn fields_are_those_of_the_description() {
    let descriptor = ("INTERFACE_DESCRIPTOR_DATA", layouts::interface_descriptor_data::FIELDS);
    for (generation, description) in descriptions() {
        for (name, fields) in COMMANDS.iter().map(|c| (c.name, c.fields)).chain([descriptor]) {
            let described = description.get(name);
            for field in fields.iter().filter(|field| !NOT_DESCRIBED.contains(&(name, **field))) {
                let theirs = described.and_then(|described| place(described, field));
                assert_eq!(field.places.of(generation), theirs, "{generation:?} {name}: {}", field.name);
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
            let opcode = described.fields.iter().fold(0, |bits, (name, (start, _, default))| {
                let identifies = *start >= 16 && *start < 32 && name != "DWord Length";
                bits | if identifies { default.unwrap_or(0) << start } else { 0 }
            });
            assert_eq!(command.opcode, opcode & command.mask, "{generation:?} {}", command.name);
            let length = match command.length(generation) {
                Length::None => None,
                Length::One => Some(1),
                Length::Exactly(n) => Some(n),
                // The description has the shorter.
                Length::Either(a, _) => Some(a),
                Length::Repeated { .. } => described.length,
            };
            assert_eq!(length, described.length, "{generation:?} {}", command.name);
            if let Some((0, end, _)) = described.fields.get("DWord Length") {
                let bits = command.length_bits(generation);
                assert_eq!(bits, u32::MAX >> (31 - end), "{generation:?} {}", command.name);
            }
        }
    }
}

/// What the descriptions of Gen8 and Gen9 have and the tables do not is refused as a reserved bit, so it must be
/// nothing that drivers could need. (Gen7's columns have the places of what is here, and not yet all.)
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
            for (name, (_, _, default)) in &described.fields {
                let ours = fields
                    .iter()
                    .any(|field| name == field.name || name.strip_suffix(" High") == Some(field.name));
                let known = ours || default.is_some() || is_scoreboard_delta(name);
                assert!(known, "{generation:?} {structure}: {name}");
            }
        }
    }
}
