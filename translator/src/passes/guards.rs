//! Guards: of accesses that are close together, one condition asks whether all are inside, and their region is there twice, for when they are and for when they
//! are not.

use rustc_hash::{FxHashMap, FxHashSet};

use super::simplify::Rebuild;
use crate::middle::function::{Block, End, Function, Instruction, Target, Value};
use crate::middle::op::{Access, Binary, Op, Space};

/// The most instructions of a region, and between two of its accesses.
const MOST: usize = 160;
const MOST_BETWEEN: usize = 32;
/// The fewest accesses for which a region pays.
const FEWEST: usize = 2;

/// The same function with guarded regions.
pub fn version(function: &Function) -> Function {
    let mut guards = Guards { function, users: users(function), rebuild: Rebuild::new(function) };
    for block in guards.rebuild.order.clone() {
        guards.block(block);
    }
    guards.rebuild.finish(&FxHashMap::default())
}

/// The instructions that use each value; `None`: the end of a block.
fn users(function: &Function) -> FxHashMap<Value, Vec<Option<Instruction>>> {
    let mut users: FxHashMap<Value, Vec<Option<Instruction>>> = FxHashMap::default();
    for block in function.block_numbers() {
        let data = function.block(block);
        for instruction in &data.instructions {
            for operand in &function.instruction(*instruction).operands {
                users.entry(*operand).or_default().push(Some(*instruction));
            }
        }
        let condition = match data.end {
            End::Branch { condition, .. } => Some(condition),
            _ => None,
        };
        let values = data.end.targets().flat_map(|target| &target.arguments).copied().chain(condition);
        values.for_each(|value| users.entry(value).or_default().push(None));
    }
    users
}

struct Guards<'a> {
    function: &'a Function,
    users: FxHashMap<Value, Vec<Option<Instruction>>>,
    rebuild: Rebuild<'a>,
}

impl Guards<'_> {
    fn block(&mut self, block: Block) {
        self.rebuild.begin(block);
        for parameter in &self.function.block(block).parameters {
            self.rebuild.add_parameter(block, *parameter);
        }
        let instructions = &self.function.block(block).instructions;
        let mut next = 0;
        while next < instructions.len() {
            let region = self.region(&instructions[next..]);
            match region {
                Some(end) => {
                    self.guarded(&instructions[next..next + end]);
                    next += end;
                }
                None => {
                    self.rebuild.copy(instructions[next], &FxHashMap::default());
                    next += 1;
                }
            }
        }
        self.rebuild.end(block, &FxHashMap::default());
    }

    fn access(&self, instruction: Instruction) -> Option<&Access> {
        match &self.function.instruction(instruction).op {
            Op::Load(access) | Op::Store(access) if access.space != Space::Image => Some(access),
            _ => None,
        }
    }

    /// How many instructions are a region that begins with an access, if it pays.
    fn region(&self, instructions: &[Instruction]) -> Option<usize> {
        self.access(instructions[0])?;
        let mut end = 0;
        for (number, instruction) in instructions.iter().enumerate().take(MOST) {
            let is_access = self.access(*instruction).is_some();
            if !is_access && !self.function.instruction(*instruction).op.is_pure()
                || number > end + MOST_BETWEEN
            {
                break;
            }
            if is_access {
                end = number + 1;
            }
        }
        let region = &instructions[..end];
        (self.candidates(region, &self.made(region)).len() >= FEWEST).then_some(end)
    }

    /// The values of a region that are made of what it reads.
    fn made(&self, region: &[Instruction]) -> FxHashSet<Value> {
        let mut made = FxHashSet::default();
        for instruction in region {
            let data = self.function.instruction(*instruction);
            if !data.op.is_pure() || data.operands.iter().any(|operand| made.contains(operand)) {
                made.extend(data.results.iter().copied());
            }
        }
        made
    }

    /// The accesses whose guards are known where a region begins.
    fn candidates(&self, region: &[Instruction], made: &FxHashSet<Value>) -> Vec<Instruction> {
        let fits = |instruction: &Instruction| {
            let operands = &self.function.instruction(*instruction).operands;
            let is_affine = self.access(*instruction).is_some_and(|access| access.stride().is_some());
            is_affine && !made.contains(&operands[2]) && !made.contains(&operands[3])
        };
        region.iter().copied().filter(fits).collect()
    }

    /// A region, guarded and as it was.
    fn guarded(&mut self, region: &[Instruction]) {
        let made = self.made(region);
        let candidates = self.candidates(region, &made);
        let none = FxHashMap::default();
        let (rest, before): (Vec<Instruction>, Vec<Instruction>) = region.iter().partition(|instruction| {
            let data = self.function.instruction(**instruction);
            !data.op.is_pure() || made.contains(&data.results[0])
        });
        before.iter().for_each(|instruction| self.rebuild.copy(*instruction, &none));
        let condition = self.condition(&candidates);
        let builder = &mut self.rebuild.builder;
        let [fast, slow, join] = [(); 3].map(|()| builder.function.add_block());
        builder.branch(condition, fast, slow);
        // What is asked for behind the region.
        let own: FxHashSet<Instruction> = rest.iter().copied().collect();
        let is_asked = |value: &Value| {
            let users = self.users.get(value).into_iter().flatten();
            users.clone().any(|user| user.is_none_or(|user| !own.contains(&user)))
        };
        let results =
            rest.iter().flat_map(|instruction| self.function.instruction(*instruction).results.clone());
        let asked: Vec<Value> = results.filter(is_asked).collect();
        for (block, is_guarded) in [(fast, true), (slow, false)] {
            self.rebuild.builder.begin(block);
            for instruction in &rest {
                match is_guarded && candidates.contains(instruction) {
                    true => self.rebuild.copy_access(*instruction, &[], |access| access.is_guarded = true),
                    false => self.rebuild.copy(*instruction, &none),
                }
            }
            let arguments = asked.iter().map(|value| self.rebuild.values[value]).collect();
            self.rebuild.builder.end(End::Jump(Target { block: join, arguments }));
        }
        self.rebuild.builder.begin(join);
        for value in asked {
            let new = self.rebuild.builder.function.add_parameter(join, self.function.ty(value));
            self.rebuild.values.insert(value, new);
        }
    }

    /// Whether all accesses are inside.
    fn condition(&mut self, candidates: &[Instruction]) -> Value {
        let mut known = FxHashSet::default();
        let mut all = self.rebuild.builder.mask(1, true);
        for instruction in candidates {
            let data = self.function.instruction(*instruction);
            let Some(access) = self.access(*instruction).cloned() else { continue };
            let [first, holds] = [2, 3].map(|n| self.rebuild.value(data.operands[n]));
            let lanes = self.function.ty(data.operands[1]).lanes;
            let inside = access.extent(lanes.into(), access.stride().unwrap_or(0));
            self.rebuild.builder.origin = data.origin;
            all = self.rebuild.builder.binary(Binary::And, all, holds);
            if known.insert((first, inside)) {
                let own = self.rebuild.builder.effect(
                    Op::Inside(inside),
                    &[first],
                    &[self.function.ty(data.operands[3])],
                )[0];
                all = self.rebuild.builder.binary(Binary::And, all, own);
            }
        }
        all
    }
}
