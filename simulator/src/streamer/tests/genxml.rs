//! The tables compared with Mesa's description of Gen9, where that is at hand.

use std::collections::HashMap;
use std::path::Path;

use crate::streamer::GEN9_COMMANDS;
use crate::streamer::command::Length;
use crate::streamer::field::Field;
use crate::streamer::layouts;

/// A command or structure of the description: dwords, if fixed, and fields by name.
#[derive(Default)]
struct Described {
    length: Option<u32>,
    fields: HashMap<String, (u32, u32, Option<u32>)>,
}

fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

fn describe() -> Option<HashMap<String, Described>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/oracle/genxml/gen9.xml");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    let number = |line: &str, name: &str| attribute(line, name).and_then(|text| text.parse().ok());
    let mut all = HashMap::new();
    let (mut name, mut current) = (String::new(), Described::default());
    for line in text.lines().map(str::trim) {
        if line.starts_with("<instruction ") || line.starts_with("<struct ") {
            name = attribute(line, "name")?.to_owned();
            current = Described { length: number(line, "length"), fields: HashMap::new() };
        } else if line.starts_with("<field ") {
            let field = (number(line, "start")?, number(line, "end")?, number(line, "default"));
            // The first of a name: later ones are those of repeated groups.
            current.fields.entry(attribute(line, "name")?.to_owned()).or_insert(field);
        } else if line.starts_with("</instruction>") || line.starts_with("</struct>") {
            all.insert(name.clone(), std::mem::take(&mut current));
        }
    }
    Some(all)
}

#[test]
fn fields_are_those_of_the_description() {
    let Some(described) = describe() else { return };
    let descriptor = ("INTERFACE_DESCRIPTOR_DATA", layouts::interface_descriptor_data::FIELDS);
    let all = GEN9_COMMANDS.iter().map(|c| (c.name, c.fields)).chain([descriptor]);
    for (name, fields) in all {
        let described = &described.get(name).unwrap_or_else(|| panic!("{name} is described")).fields;
        for Field { name: field, first, last } in fields {
            // Fields of repeated groups count from the beginning of the group.
            let group = ["MI_MATH"].contains(&name);
            let (start, end, _) =
                described.get(*field).unwrap_or_else(|| panic!("{name} has no field {field}"));
            let shift = if group { 32 } else { 0 };
            assert_eq!((*first, *last), (start + shift, end + shift), "{name}: {field}");
        }
    }
}

#[test]
fn commands_are_those_of_the_description() {
    let Some(described) = describe() else { return };
    for command in GEN9_COMMANDS {
        let described = &described[command.name];
        let opcode = described.fields.iter().fold(0, |bits, (name, (start, _, default))| {
            let identifies = *start >= 16 && *start < 32 && name != "DWord Length";
            bits | if identifies { default.unwrap_or(0) << start } else { 0 }
        });
        assert_eq!(command.opcode, opcode & command.mask, "{}", command.name);
        let length = match command.length {
            Length::One => Some(1),
            Length::Exactly(n) => Some(n),
            // The description has the shorter.
            Length::Either(a, _) => Some(a),
            Length::Repeated { .. } => described.length,
        };
        assert_eq!(length, described.length, "{}", command.name);
        if let Some((0, end, _)) = described.fields.get("DWord Length") {
            assert_eq!(command.length_bits, u32::MAX >> (31 - end), "{}", command.name);
        }
    }
}
