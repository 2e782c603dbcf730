//! Region versioning: a region with several accesses exists twice, under a merged bounds check, which also checks guessed strides.

use rustc_hash::{FxHashMap, FxHashSet};

use super::natural;
use super::simplify::Rebuild;
use super::strides::Strides;
use super::sums::{Row, Sum};
use crate::middle::function::{Block, End, Function, Instruction, Target, Value};
use crate::middle::op::{Access, Addressing, Binary, Convert, Inside, Op, Relation, Space, Window};
use crate::middle::types::Type;

/// The most instructions of a region, and between two of its accesses.
const MAX_REGION: usize = 160;
const MAX_GAP: usize = 32;
/// Bounds checks are merged if their addresses are nearer to each other, in bytes.
const MAX_DISTANCE: i64 = 1 << 24;
/// The least number of accesses for which a region pays.
const MIN_ACCESSES: usize = 2;

/// The same function with guarded regions.
pub fn version(function: &Function) -> Function {
    let strides = Strides::new(function);
    let looped = natural::loops(function).into_iter().flat_map(|own| own.blocks).collect();
    let (users, rebuild) = (users(function), Rebuild::new(function));
    let mut guards = Guards { function, strides, looped, users, rebuild };
    for block in guards.rebuild.order.clone() {
        guards.block(block);
    }
    guards.rebuild.finish()
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
        data.end.values().for_each(|value| users.entry(*value).or_default().push(None));
    }
    users
}

/// A bounds check: bytes that have to be inside.
struct Check {
    address: Value,
    inside: Inside,
    origin: u32,
}

impl Check {
    /// Joins other bytes, at a distance from the address.
    fn join(&mut self, other: &Check, distance: i64) {
        let [first, other_first] = [i64::from(self.inside.first), distance + i64::from(other.inside.first)];
        let end = (first + i64::from(self.inside.bytes)).max(other_first + i64::from(other.inside.bytes));
        if other_first < first {
            (self.address, self.inside.first) = (other.address, other.inside.first);
        }
        self.inside.bytes = (end - first.min(other_first)) as u32;
    }
}

/// Merges bounds checks of addresses that differ by a constant: where the first and the last byte are inside, those between them are.
fn merged(function: &Function, checks: Vec<Check>) -> Vec<Check> {
    let mut merged: Vec<(Check, Sum)> = Vec::new();
    for own in checks {
        let sum = Sum::of(function, own.address);
        let known = merged.iter_mut().find_map(|(other, known)| {
            let distance = sum.distance(known, function.ty(own.address).scalar.bits())?;
            let [a, b] =
                [own.inside, other.inside].map(|inside| (inside.space, inside.window, inside.alignment));
            let is_near = distance.abs() < MAX_DISTANCE && distance % i64::from(own.inside.alignment) == 0;
            (a == b && is_near).then_some((other, known, distance))
        });
        match known {
            Some((other, known, distance)) => {
                other.join(&own, distance);
                if other.address == own.address {
                    *known = sum;
                }
            }
            None => merged.push((own, sum)),
        }
    }
    merged.into_iter().map(|(own, _)| own).collect()
}

struct Guards<'a> {
    function: &'a Function,
    strides: Strides,
    /// The blocks of innermost loops: predication may hoist their checks.
    looped: FxHashSet<Block>,
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
            let region = self.region(&instructions[next..], self.looped.contains(&block));
            match region {
                Some(end) => {
                    self.guarded(&instructions[next..next + end]);
                    next += end;
                }
                None => {
                    self.rebuild.copy(instructions[next]);
                    next += 1;
                }
            }
        }
        self.rebuild.end(block);
    }

    fn access(&self, instruction: Instruction) -> Option<&Access> {
        match &self.function.instruction(instruction).op {
            Op::Load(access) | Op::Store(access) if access.space != Space::Image => Some(access),
            _ => None,
        }
    }

    /// How many instructions are a region that begins with an access, if it pays.
    fn region(&self, instructions: &[Instruction], is_in_loop: bool) -> Option<usize> {
        self.access(instructions[0])?;
        let mut end = 0;
        for (number, instruction) in instructions.iter().enumerate().take(MAX_REGION) {
            let is_access = self.access(*instruction).is_some();
            if !is_access && !self.function.instruction(*instruction).op.is_pure() || number > end + MAX_GAP {
                break;
            }
            if is_access {
                end = number + 1;
            }
        }
        let region = &instructions[..end];
        let candidates = self.candidates(region, &self.made(region));
        let pays = |n: &Instruction| self.guess(*n).is_some() || is_in_loop;
        (candidates.iter().any(pays) || candidates.len() >= MIN_ACCESSES).then_some(end)
    }

    /// The guessed stride of an access's addresses, and the value that is checked, if a row or one address pays.
    fn guess(&self, instruction: Instruction) -> Option<(i64, Value)> {
        let access = self.access(instruction)?;
        let operands = &self.function.instruction(instruction).operands;
        let value = operands[match access.addressing {
            Addressing::Affine(_) | Addressing::Interleaved(_) => return None,
            Addressing::Offsets => 3,
            Addressing::Varying => 1,
        }];
        let stride = self.strides.guess(value)?;
        let is_row = access.elements.is_packed() && stride == access.elements.span() as i64;
        let pays = is_row || stride == 0 && !self.is_write(instruction);
        (pays && stride % i64::from(access.elements.alignment) == 0).then_some((stride, value))
    }

    fn is_write(&self, instruction: Instruction) -> bool {
        matches!(self.function.instruction(instruction).op, Op::Store(_))
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
            (is_affine || self.guess(*instruction).is_some())
                && self.tellers(*instruction).iter().all(|n| !made.contains(&operands[*n]))
        };
        let mut fitting: Vec<Instruction> = region.iter().copied().filter(fits).collect();
        // The window of an access that is not guarded may become another one.
        loop {
            let others = region.iter().filter(|n| !fitting.contains(n));
            let windows: FxHashSet<Window> = others.filter_map(|n| self.access(*n)?.window).collect();
            let before = fitting.len();
            fitting.retain(|n| {
                let access = self.access(*n);
                access.is_some_and(|access| match access.window {
                    Some(window) => !windows.contains(&window),
                    None => access.space == Space::Local,
                })
            });
            if fitting.len() == before {
                return fitting;
            }
        }
    }

    /// The operands that tell where an access is.
    fn tellers(&self, instruction: Instruction) -> &'static [usize] {
        match self.access(instruction).map(|access| access.addressing) {
            Some(Addressing::Varying) => &[1],
            _ => &[2, 3],
        }
    }

    /// A region, guarded and as it was.
    fn guarded(&mut self, region: &[Instruction]) {
        let made = self.made(region);
        let candidates = self.candidates(region, &made);
        let (rest, before): (Vec<Instruction>, Vec<Instruction>) = region.iter().partition(|instruction| {
            let data = self.function.instruction(**instruction);
            !data.op.is_pure() || made.contains(&data.results[0])
        });
        before.iter().for_each(|instruction| self.rebuild.copy(*instruction));
        let mut rows = FxHashMap::default();
        let condition = self.condition(&candidates, &mut rows);
        let builder = &mut self.rebuild.builder;
        let [fast, slow, join] = [(); 3].map(|()| builder.function.add_block());
        builder.branch(condition, fast, slow);
        // Values that are live-out of the region.
        let own: FxHashSet<Instruction> = rest.iter().copied().collect();
        let is_asked = |value: &Value| {
            let users = self.users.get(value).into_iter().flatten();
            users.clone().any(|user| user.is_none_or(|user| !own.contains(&user)))
        };
        let results =
            rest.iter().flat_map(|instruction| self.function.instruction(*instruction).results.clone());
        let checks: Vec<Value> = results.filter(is_asked).collect();
        for (block, is_guarded) in [(fast, true), (slow, false)] {
            self.rebuild.builder.begin(block);
            for instruction in &rest {
                match rows.get(instruction).filter(|_| is_guarded) {
                    Some(row) => self.guarded_access(*instruction, row),
                    None => self.rebuild.copy(*instruction),
                }
            }
            let arguments = checks.iter().map(|value| self.rebuild.values[value]).collect();
            self.rebuild.builder.end(End::Jump(Target { block: join, arguments }));
        }
        self.rebuild.builder.begin(join);
        for value in checks {
            let new = self.rebuild.builder.function.add_parameter(join, self.function.ty(value));
            self.rebuild.values.insert(value, new);
        }
    }

    /// An access under a guard.
    fn guarded_access(&mut self, instruction: Instruction, row: &Row) {
        let all = self.rebuild.builder.mask(1, true);
        self.rebuild.copy_access(instruction, &[row.first, all], false, |access| {
            access.is_guarded = true;
            access.addressing = Addressing::Affine(row.stride as i32);
        });
    }

    /// Whether all accesses are inside; where they begin.
    fn condition(&mut self, candidates: &[Instruction], rows: &mut FxHashMap<Instruction, Row>) -> Value {
        let mut checks = Vec::new();
        let mut all = self.rebuild.builder.mask(1, true);
        for instruction in candidates {
            let data = self.function.instruction(*instruction);
            let Some(access) = self.access(*instruction).cloned() else { continue };
            self.rebuild.builder.origin = data.origin;
            let row = match self.guess(*instruction) {
                Some((stride, value)) => self.guessed(&data.operands, stride, value),
                None => {
                    let [first, holds] = [2, 3].map(|n| self.rebuild.value(data.operands[n]));
                    Row { first, stride: access.stride().unwrap_or(0).into(), holds }
                }
            };
            let lanes = self.function.ty(data.operands[1]).lanes;
            all = self.rebuild.builder.binary(Binary::And, all, row.holds);
            checks.push(Check {
                address: row.first,
                inside: access.extent(lanes.into(), row.stride as i32),
                origin: data.origin,
            });
            rows.insert(*instruction, row);
        }
        for Check { address, inside, origin } in merged(&self.rebuild.builder.function, checks) {
            self.rebuild.builder.origin = origin;
            let own = self.rebuild.builder.effect(Op::Inside(inside), &[address], &[Type::mask(1)])[0];
            all = self.rebuild.builder.binary(Binary::And, all, own);
        }
        all
    }

    /// The first lane's address, and whether the others have the guessed stride; `checked` are all addresses, or their offsets from a scalar.
    fn guessed(&mut self, operands: &[Value], stride: i64, checked: Value) -> Row {
        let new = self.rebuild.value(checked);
        let builder = &mut self.rebuild.builder;
        let ty = builder.ty(new);
        let first = builder.shuffle(new, None, [0]);
        let mut row = Row { first, stride, holds: builder.mask(1, true) };
        let lanes = row.lanes(builder, ty);
        let differs = builder.compare(Relation::Ne, new, lanes);
        let any = builder.any(differs);
        row.holds = builder.not(any);
        if checked != operands[1] {
            // No offset wraps around before it is extended.
            row.first = builder.resize(first, 64, true);
            let fits = row.fits(builder, Convert::SExt, ty);
            row.holds = builder.binary(Binary::And, row.holds, fits);
            let base = self.rebuild.value(operands[2]);
            row.first = self.rebuild.builder.binary(Binary::Add, base, row.first);
        }
        row
    }
}
