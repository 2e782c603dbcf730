//! The validator: the rules for functions in each form. It runs after every pass.

use super::analysis::liveness::{Crossing, RegisterSet};
use super::analysis::uniformity::decisive_sources;
use super::signature::{Operands, check_attributes};
use super::{BlockId, Family, Form, Function, Instruction, Op, Reg};
use fixedbitset::FixedBitSet;
use gencl_ir_support::dataflow::{solve, union};
use std::fmt;

/// A rule that a function breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// In which block, when it is one block's fault.
    pub block: Option<BlockId>,
    /// Which instruction of the block.
    pub instruction: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(block) = self.block {
            write!(f, "@{}", block.0)?;
            if let Some(instruction) = self.instruction {
                write!(f, " instruction {instruction}")?;
            }
            write!(f, ": ")?;
        }
        f.write_str(&self.message)
    }
}

/// Checks a function against all rules.
///
/// # Errors
/// All faults of structure and typing; when there are none of these, all faults of data flow.
pub fn validate(function: &Function) -> Result<(), Vec<Fault>> {
    let mut checker = Checker { function, faults: Vec::new(), present: FixedBitSet::new() };
    checker.check_layout();
    if checker.faults.is_empty() {
        checker.check_blocks();
    }
    if checker.faults.is_empty() {
        checker.check_definitions();
    }
    if checker.faults.is_empty() { Ok(()) } else { Err(checker.faults) }
}

struct Checker<'f> {
    function: &'f Function,
    faults: Vec<Fault>,
    /// Blocks of the layout.
    present: FixedBitSet,
}

impl Checker<'_> {
    fn fault(&mut self, block: BlockId, instruction: Option<usize>, message: impl Into<String>) {
        self.faults.push(Fault { block: Some(block), instruction, message: message.into() });
    }

    fn check_layout(&mut self) {
        let whole = |message: &str| Fault { block: None, instruction: None, message: message.to_owned() };
        if self.function.layout.is_empty() {
            self.faults.push(whole("the layout has no block"));
        }
        let mut seen = FixedBitSet::with_capacity(self.function.blocks.len());
        for &block in &self.function.layout {
            if block.0 as usize >= self.function.blocks.len() {
                self.fault(block, None, "the layout names a block that does not exist");
            } else if seen.put(block.0 as usize) {
                self.fault(block, None, "the block is in the layout twice");
            }
        }
        for (index, block) in self.function.blocks.iter().enumerate() {
            if !seen.contains(index) && !block.instructions.is_empty() {
                self.fault(
                    BlockId(index as u32),
                    None,
                    "the block has instructions but no place in the layout",
                );
            }
        }
        self.present = seen;
    }

    fn check_blocks(&mut self) {
        for (place, &block) in self.function.layout.iter().enumerate() {
            let instructions = &self.function.block(block).instructions;
            if instructions.is_empty() {
                self.fault(block, None, "the block is empty");
            }
            for (index, instruction) in instructions.iter().enumerate() {
                let last = index + 1 == instructions.len();
                if last != instruction.op.is_terminator() {
                    self.fault(
                        block,
                        Some(index),
                        if last {
                            "the block does not end with a terminator"
                        } else {
                            "a terminator before the end"
                        },
                    );
                }
                let problems = self.problems(instruction, place);
                for message in problems {
                    self.fault(block, Some(index), message);
                }
            }
        }
    }

    /// Violations by a single instruction.
    fn problems(&self, instruction: &Instruction, place: usize) -> Vec<String> {
        let mut problems = Vec::new();
        let registers = instruction.dsts.iter().copied().chain(instruction.reads());
        for reg in registers {
            if reg.0 as usize >= self.function.registers.len() {
                problems.push(format!("%{} does not exist", reg.0));
            }
        }
        for target in instruction.op.targets() {
            if !self.present.contains(target.0 as usize) {
                problems.push(format!("@{} is not in the layout", target.0));
            }
        }
        if !problems.is_empty() {
            return problems;
        }
        if let Err(reason) = check_attributes(&instruction.op) {
            problems.push(reason.to_owned());
        }
        let signature = instruction.op.signature();
        self.check_operands("destination", &signature.dsts, &instruction.dsts, &mut problems);
        self.check_operands("source", &signature.srcs, &instruction.srcs, &mut problems);
        for (index, dst) in instruction.dsts.iter().enumerate() {
            if instruction.dsts[..index].contains(dst) {
                problems.push(format!("%{} is written twice", dst.0));
            }
        }
        self.check_form(instruction, place, &mut problems);
        self.check_uniform(instruction, &mut problems);
        problems
    }

    fn check_operands(&self, what: &str, expected: &Operands, found: &[Reg], problems: &mut Vec<String>) {
        if !(expected.min..=expected.max).contains(&found.len()) {
            problems.push(match (expected.min, expected.max) {
                (min, max) if min == max => format!("{} {what}s instead of {min}", found.len()),
                (min, usize::MAX) => format!("{} {what}s instead of at least {min}", found.len()),
                (min, max) => format!("{} {what}s instead of {min} to {max}", found.len()),
            });
            return;
        }
        for (index, &reg) in found.iter().enumerate() {
            let family = self.function.register(reg).family;
            if !expected.families(index).contains(family) {
                problems.push(format!("{what} %{} is a {family:?}", reg.0));
            }
        }
    }

    fn check_form(&self, instruction: &Instruction, place: usize, problems: &mut Vec<String>) {
        let function = self.function;
        if let Some(predicate) = instruction.predicate {
            if function.form == Form::PerLane {
                problems.push("a predicate in the per-lane form".to_owned());
            }
            if function.register(predicate.reg).family != Family::Bool {
                problems.push(format!("predicate %{} is not a Bool", predicate.reg.0));
            }
            if !instruction.op.signature().predicable {
                problems.push("this operation takes no predicate".to_owned());
            }
        }
        let last = place + 1 == function.layout.len();
        let form = function.form;
        if !instruction.op.signature().forms.contains(&form) {
            problems.push(format!("the operation does not exist in the {} form", form.name()));
        }
        if matches!(instruction.op, Op::Vote { .. })
            && form == Form::Masked
            && !function.register(instruction.condition()).uniform
        {
            problems.push("a vote of lanes that may differ in the masked form".to_owned());
        }
        if form == Form::PerLane {
            return;
        }
        if let Op::Vote { next, .. } | Op::Leave { next, .. } | Op::Join { next, .. } = instruction.op
            && function.layout.get(place + 1) != Some(&next)
        {
            problems.push(format!("@{} is not the next block in layout order", next.0));
        }
        if let Op::Leave { by, target, .. } = instruction.op {
            let back = function.layout[..=place].contains(&target);
            if by.is_backward() != back {
                problems.push(format!("`leave.{}` to @{}, which lies the other way", by.name(), target.0));
            }
        }
        if let Op::Join { .. } = instruction.op
            && function.block(function.layout[place]).body().iter().any(|i| i.op != Op::Undefined)
        {
            problems.push("a join in a block that does something".to_owned());
        }
        if instruction.op == Op::Return && !last {
            problems.push(format!("a return before the last block of the {} form", form.name()));
        }
        if last && instruction.op.is_terminator() && instruction.op != Op::Return {
            problems.push(format!("the last block of the {} form does not return", form.name()));
        }
    }

    fn check_uniform(&self, instruction: &Instruction, problems: &mut Vec<String>) {
        let uniform = |reg: &Reg| self.function.register(*reg).uniform;
        let Some(dst) = instruction.dsts.iter().find(|dst| uniform(dst)) else { return };
        if matches!(instruction.op, Op::Undefined) {
            return;
        }
        // The predicate of a cross-lane operation selects the lanes that take part; the result is uniform.
        let across = matches!(instruction.op, Op::CrossLane(_));
        if instruction.predicate.is_some() && !across {
            problems.push(format!("uniform %{} is written under a predicate", dst.0));
        }
        if !instruction.op.signature().uniform {
            problems.push(format!("uniform %{} gets a different value in each lane", dst.0));
        }
        if let Some(src) = decisive_sources(instruction).find(|src| !uniform(src)) {
            problems.push(format!("uniform %{} is computed from %{}, which is not", dst.0, src.0));
        }
        if !instruction.dsts.iter().all(uniform) {
            problems.push("some destinations are uniform and some are not".to_owned());
        }
    }

    /// Checks that definitions reach uses: in the per-lane form on all paths. In the other forms a thread may
    /// execute a block whose reads only matter for lanes from another path, so one path suffices, except for
    /// Bools, which must be written in the block that reads them.
    fn check_definitions(&mut self) {
        let function = self.function;
        let cfg = function.cfg();
        let all_paths = function.form == Form::PerLane;
        let crossing = Crossing::new(function);
        let order = cfg.reverse_post_order();
        // `None` for blocks that have not been reached.
        let mut defined_in: Vec<Option<RegisterSet>> = vec![None; function.blocks.len()];
        defined_in[function.entry().0 as usize] = Some(crossing.empty_set());
        let index = |block: &BlockId| block.0 as usize;
        solve(
            order.iter().map(index),
            |block| cfg.successors(BlockId(block as u32)).iter().map(index),
            &mut defined_in,
            |block, defined| {
                let written = function.blocks[block].instructions.iter().flat_map(|i| &i.dsts);
                defined.iter_mut().for_each(|defined| {
                    defined.extend(written.clone().filter_map(|&reg| crossing.slot(reg)));
                });
            },
            |known, new| match (known, new) {
                (_, None) => false,
                (known @ None, new) => {
                    known.clone_from(new);
                    true
                }
                (Some(known), Some(new)) if all_paths => {
                    let changed = !known.is_subset(new);
                    known.intersect_with(new);
                    changed
                }
                (Some(known), Some(new)) => union(known, new),
            },
        );
        for &block in &order {
            let Some(mut defined) = defined_in[index(&block)].take() else { continue };
            if function.form != Form::PerLane {
                for reg in crossing.registers(&defined.clone()) {
                    if let Some(slot) = crossing.slot(reg)
                        && function.register(reg).family == Family::Bool
                    {
                        defined.set(slot, false);
                    }
                }
            }
            for (number, instruction) in function.block(block).instructions.iter().enumerate() {
                for reg in instruction.reads() {
                    // A register that does not cross edges is written earlier in the same block.
                    if crossing.slot(reg).is_some_and(|slot| !defined.contains(slot)) {
                        self.fault(block, Some(number), format!("%{} is read before it is written", reg.0));
                    }
                }
                defined.extend(instruction.dsts.iter().filter_map(|&r| crossing.slot(r)));
            }
        }
    }
}
