//! Programs: instructions with labels.

use std::collections::{BTreeMap, BTreeSet};

use super::parse::{ParseError, Parsed, statement_of};
use super::print::print_with;
use super::statement::{statements, without_comments};
use crate::opcode::Format;
use crate::{Extra, Generation, Instruction};

/// Size of an uncompacted instruction in bytes; the distance of instructions in programs with labels.
const SIZE: i64 = 16;

/// Parses a program with labels (`NAME:`).
///
/// # Errors
/// The first statement that is no instruction, an undefined label, or one that is defined twice.
pub fn parse_program(generation: Generation, text: &str) -> Result<Vec<Instruction>, ParseError> {
    let text = &without_comments(text);
    let statements = statements(text);
    let mut places = BTreeMap::new();
    for (index, statement) in statements.iter().enumerate() {
        for label in &statement.labels {
            if places.insert(*label, index).is_some() {
                return Err(ParseError::at(text, statement.start, format!("label {label} is defined twice")));
            }
        }
    }
    let mut program = Vec::with_capacity(statements.len());
    for (index, statement) in statements.iter().enumerate().filter(|(_, s)| !s.text.is_empty()) {
        let parsed = statement_of(generation, statement.text)
            .map_err(|(position, message)| ParseError::at(text, statement.start + position, message))?;
        let instruction = resolve(parsed, index, &places)
            .map_err(|message| ParseError::at(text, statement.start, message))?;
        program.push(instruction);
    }
    Ok(program)
}

/// Offset in bytes, relative to the branch, from which its target counts: `jmpi` counts from the next
/// instruction.
fn origin(instruction: &Instruction) -> i64 {
    if instruction.opcode.info().format == Format::Jump { SIZE } else { 0 }
}

/// Replaces labels by offsets.
fn resolve(parsed: Parsed<'_>, index: usize, places: &BTreeMap<&str, usize>) -> Result<Instruction, String> {
    let mut instruction = parsed.instruction;
    let origin = origin(&instruction);
    let offset = |label: &str| {
        let place = places.get(label).ok_or(format!("label {label} is not defined"))?;
        let bytes = (*place as i64 - index as i64) * SIZE - origin;
        i32::try_from(bytes).map_err(|_| format!("label {label} is too far away"))
    };
    if let Extra::Branch(branch) = &mut instruction.extra {
        if let Some(label) = parsed.jip {
            branch.jip = offset(label)?;
        }
        if let Some(label) = parsed.uip {
            branch.uip = offset(label)?;
        }
    }
    Ok(instruction)
}

/// Prints a program, one instruction per line, with labels at branch targets (`L0:` and so on). Instructions
/// are 16 bytes apart. Targets that are neither an instruction nor the end are printed as numbers.
pub fn print_program(generation: Generation, program: &[Instruction]) -> String {
    let place = |index: usize, instruction: &Instruction, bytes: i32| {
        let target = index as i64 * SIZE + origin(instruction) + i64::from(bytes);
        let inside = target % SIZE == 0 && (0..=program.len() as i64 * SIZE).contains(&target);
        inside.then_some((target / SIZE) as usize)
    };
    let mut targets = BTreeSet::new();
    for (index, instruction) in program.iter().enumerate() {
        if let Extra::Branch(branch) = instruction.extra {
            targets.extend(place(index, instruction, branch.jip));
            if instruction.opcode.has_uip(generation) {
                targets.extend(place(index, instruction, branch.uip));
            }
        }
    }
    let names: BTreeMap<usize, String> =
        targets.into_iter().enumerate().map(|(n, place)| (place, format!("L{n}"))).collect();
    let mut text = String::new();
    for index in 0..=program.len() {
        if let Some(name) = names.get(&index) {
            text.push_str(&format!("{name}:\n"));
        }
        if let Some(instruction) = program.get(index) {
            let name = |bytes: i32| {
                place(index, instruction, bytes)
                    .and_then(|place| names.get(&place).cloned())
                    .unwrap_or_else(|| bytes.to_string())
            };
            text.push_str(&print_with(generation, instruction, &name));
            text.push('\n');
        }
    }
    text
}
