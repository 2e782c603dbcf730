//! What the hardware leaves undefined although it can be encoded.
//!
//! Each rule is a row: name, manual's section, the generations it holds for, what it demands, and the
//! check. [`validate`] runs all of them and reports every fault.

mod atom;
mod control;
mod mixed;
mod operand;
mod region;
mod send;
mod subject;

use std::fmt;

use crate::{Generation, Generations, Instruction};
use subject::Subject;

/// What a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The instruction as a whole.
    Instruction,
    /// Its destination.
    Destination,
    /// One of its sources, from 0.
    Source(u8),
}

/// A rule.
pub struct Rule {
    /// Its name.
    pub id: &'static str,
    /// Where the manuals say so (Volume 7 of Skylake's, Volume 4 Part 3 of Ivy Bridge's, if no other
    /// is named).
    pub reference: &'static str,
    /// What it demands.
    pub message: &'static str,
    applies: Generations,
    /// Where an instruction breaks it.
    check: fn(&Subject<'_>) -> Vec<Place>,
}

impl Rule {
    /// Does it hold for the generation?
    pub const fn applies(&self, generation: Generation) -> bool {
        self.applies.has(generation)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// A rule that an instruction breaks.
#[derive(Clone, Copy, Debug)]
pub struct Violation {
    /// The rule.
    pub rule: &'static Rule,
    /// Where.
    pub place: Place,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Instruction => {}
            Place::Destination => f.write_str("destination: ")?,
            Place::Source(n) => write!(f, "source {n}: ")?,
        }
        write!(f, "{} [{}; {}]", self.rule.message, self.rule.id, self.rule.reference)
    }
}

/// All rules, by what they are about.
const RULES: [&[Rule]; 5] = [control::RULES, operand::RULES, region::RULES, mixed::RULES, send::RULES];

/// All rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.into_iter().flatten()
}

/// Every rule that the instruction breaks.
pub fn validate(generation: Generation, instruction: &Instruction) -> Vec<Violation> {
    violations(rules(), generation, instruction)
}

/// The rules of the Atom line, which [`rules`] does not have.
pub fn atom_rules() -> impl Iterator<Item = &'static Rule> {
    atom::RULES.iter()
}

/// Every rule of the Atom line (Cherryview, Apollo Lake, Gemini Lake) that the instruction breaks, besides
/// those of its generation.
pub fn validate_atom(generation: Generation, instruction: &Instruction) -> Vec<Violation> {
    violations(atom_rules(), generation, instruction)
}

/// Every one of some rules that the instruction breaks.
fn violations(
    rules: impl Iterator<Item = &'static Rule>,
    generation: Generation,
    instruction: &Instruction,
) -> Vec<Violation> {
    let subject = Subject::new(generation, instruction);
    let mut found = Vec::new();
    for rule in rules.filter(|rule| rule.applies(generation)) {
        for place in (rule.check)(&subject) {
            found.push(Violation { rule, place });
        }
    }
    found
}

/// A rule for all generations.
const fn all(
    id: &'static str,
    reference: &'static str,
    message: &'static str,
    check: fn(&Subject<'_>) -> Vec<Place>,
) -> Rule {
    Rule { id, reference, message, applies: Generations::ALL, check }
}

/// A rule for some generations.
const fn some(
    applies: Generations,
    id: &'static str,
    reference: &'static str,
    message: &'static str,
    check: fn(&Subject<'_>) -> Vec<Place>,
) -> Rule {
    Rule { id, reference, message, applies, check }
}

/// A fault of the instruction where it breaks something.
fn whole(broken: bool) -> Vec<Place> {
    if broken { vec![Place::Instruction] } else { Vec::new() }
}

/// A fault of the destination where it breaks something.
fn at_destination(broken: bool) -> Vec<Place> {
    if broken { vec![Place::Destination] } else { Vec::new() }
}
