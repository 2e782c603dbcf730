//! Validation: rules about instructions that can be encoded but are undefined on hardware.
//!
//! Each rule is a row: name, section of the manual, generations, requirement, and check. [`validate`] runs
//! all of them and reports every violation.

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

/// The part of an instruction that violates a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViolationSite {
    /// The instruction as a whole.
    Instruction,
    /// Its destination.
    Destination,
    /// One of its sources, from 0.
    Source(u8),
}

/// A rule.
pub struct Rule {
    /// Its identifier.
    pub id: &'static str,
    /// Section of the manual (Skylake's Volume 7, Ivy Bridge's Volume 4 Part 3, unless another one is named).
    pub reference: &'static str,
    /// The requirement.
    pub message: &'static str,
    applies: Generations,
    /// Returns the parts of an instruction that violate it.
    check: fn(&Subject<'_>) -> Vec<ViolationSite>,
}

impl Rule {
    /// Whether it applies to the generation.
    pub const fn applies(&self, generation: Generation) -> bool {
        self.applies.has(generation)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// A violation of a rule by an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Violation {
    /// The rule.
    pub rule: &'static Rule,
    /// The part of the instruction that violates it.
    pub site: ViolationSite,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.site {
            ViolationSite::Instruction => {}
            ViolationSite::Destination => f.write_str("destination: ")?,
            ViolationSite::Source(n) => write!(f, "source {n}: ")?,
        }
        write!(f, "{} [{}; {}]", self.rule.message, self.rule.id, self.rule.reference)
    }
}

/// All rules, by subject.
const RULES: [&[Rule]; 5] = [control::RULES, operand::RULES, region::RULES, mixed::RULES, send::RULES];

/// All rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.into_iter().flatten()
}

/// All violations of an instruction.
pub fn validate(generation: Generation, instruction: &Instruction) -> Vec<Violation> {
    violations(rules(), generation, instruction)
}

/// The additional rules of the Atom line.
pub fn atom_rules() -> impl Iterator<Item = &'static Rule> {
    atom::RULES.iter()
}

/// All violations of the additional rules of the Atom line (Cherryview, Apollo Lake, Gemini Lake).
pub fn validate_atom(generation: Generation, instruction: &Instruction) -> Vec<Violation> {
    violations(atom_rules(), generation, instruction)
}

/// All violations of some rules.
fn violations(
    rules: impl Iterator<Item = &'static Rule>,
    generation: Generation,
    instruction: &Instruction,
) -> Vec<Violation> {
    let subject = Subject::new(generation, instruction);
    let mut found = Vec::new();
    for rule in rules.filter(|rule| rule.applies(generation)) {
        for site in (rule.check)(&subject) {
            found.push(Violation { rule, site });
        }
    }
    found
}

/// A rule for all generations up to Gen9.
const fn gen7_to_9(
    id: &'static str,
    reference: &'static str,
    message: &'static str,
    check: fn(&Subject<'_>) -> Vec<ViolationSite>,
) -> Rule {
    Rule { id, reference, message, applies: Generations::GEN7_TO_9, check }
}

/// A rule for some generations.
const fn some(
    applies: Generations,
    id: &'static str,
    reference: &'static str,
    message: &'static str,
    check: fn(&Subject<'_>) -> Vec<ViolationSite>,
) -> Rule {
    Rule { id, reference, message, applies, check }
}

/// A violation by the instruction as a whole, if `broken`.
fn whole(broken: bool) -> Vec<ViolationSite> {
    if broken { vec![ViolationSite::Instruction] } else { Vec::new() }
}

/// A violation by the destination, if `broken`.
fn at_destination(broken: bool) -> Vec<ViolationSite> {
    if broken { vec![ViolationSite::Destination] } else { Vec::new() }
}
