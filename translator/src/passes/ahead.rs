//! Where loads of a lane have unit stride across iterations, a counted loop is unrolled, and the loads of its iterations are one vector for each lane. That takes fewer
//! instructions of the host than gathers. The generic version is the epilogue.

use rustc_hash::FxHashSet;

use super::counted::{Counted, Exit, I64};
use super::natural::{Copy, Loop, loops};
use super::sums::Evolution;
use crate::middle::function::{Block, Constant, End, Function, Instruction, Target, Value};
use crate::middle::op::{Access, Addressing, Binary, Inside, Op, Relation, Space};
use crate::middle::types::Type;

/// The unroll factor.
const UNROLL: usize = 4;

/// The least trip count for which that pays, as the preheader checks the bounds of the first and the last addresses.
const MIN_TRIP_COUNT: u64 = 8;

/// The most instructions of such a loop.
const MAX_INSTRUCTIONS: usize = 100;

/// The same function with such loops.
pub fn read_ahead(function: &Function) -> Function {
    let mut result = function.clone();
    for own in loops(function) {
        if let Some(exit) = Exit::of(&result, &own)
            && let candidates = candidates(&result, &own)
            && !candidates.is_empty()
        {
            write(&mut result, &own, &exit, &candidates);
        }
    }
    result
}

/// The loads of a loop without effects that are executed by all lanes in each iteration, at addresses of their own.
fn candidates(function: &Function, own: &Loop) -> Vec<Instruction> {
    let dominators = function.dominators();
    let all: Vec<(Block, Instruction)> = own
        .blocks
        .iter()
        .flat_map(|block| {
            function.block(*block).instructions.iter().map(move |instruction| (*block, *instruction))
        })
        .collect();
    let has_effect = |op: &Op| !op.is_pure() && !matches!(op, Op::Load(_) | Op::Cancelled | Op::Inside(_));
    let ends = own
        .blocks
        .iter()
        .all(|block| matches!(function.block(*block).end, End::Jump(_) | End::Branch { .. }));
    if all.len() > MAX_INSTRUCTIONS
        || !ends
        || all.iter().any(|(_, n)| has_effect(&function.instruction(*n).op))
    {
        return Vec::new();
    }
    // A window may be another one after an access that is not guarded.
    let windows_of = |chosen: bool, n: Instruction| match &function.instruction(n).op {
        Op::Load(access) if is_alone(function, n, access) == chosen && !access.is_guarded => access.window,
        _ => None,
    };
    let changed: FxHashSet<_> = all.iter().filter_map(|(_, n)| windows_of(false, *n)).collect();
    let mut found: Vec<Instruction> = all
        .iter()
        .filter(|(block, n)| {
            dominators.dominates(*block, own.exiting)
                && windows_of(true, *n).is_some_and(|window| !changed.contains(&window))
        })
        .map(|(_, n)| *n)
        .collect();
    found.sort_by_key(|n| n.0);
    found
}

/// Whether it is a load of scattered dwords of a window by all lanes.
fn is_alone(function: &Function, load: Instruction, access: &Access) -> bool {
    let mask = function.as_constant(function.instruction(load).operands[0]);
    access.addressing == Addressing::Offsets
        && access.space == Space::Global
        && (access.elements.size, access.elements.present) == (4, 1)
        && mask == Some(&Constant::All(1))
}

fn write(function: &mut Function, own: &Loop, exit: &Exit, candidates: &[Instruction]) {
    let (entry, given) = own.insert_preheader(function);
    let mut counted = Counted::new(std::mem::take(function), own, (entry, given.clone()));
    let found = condition(&mut counted, exit, candidates);
    let last = counted.last;
    *function = counted.evolutions.builder.function;
    function.block_mut(entry).end = End::Jump(Target { block: own.header, arguments: given.clone() });
    let Some((condition, chosen)) = found else { return };
    // So many times the unrolled loop is executed: at least one iteration is left.
    let [two, one] = [UNROLL.ilog2().into(), 1].map(|number| function.constant(I64, Constant::All(number)));
    let append = |function: &mut Function, block, op, operands: &[Value], ty| {
        function.add_instruction(block, op, operands, &[ty], 0)[0]
    };
    let count = append(function, entry, Op::Binary(Binary::LShr), &[last, two], I64);
    let copies: Vec<Copy> = (0..UNROLL).map(|_| own.copied(function, own.exit, &[])).collect();
    let head = function.add_block();
    let latch = function.add_block();
    let types: Vec<Type> = given.iter().map(|value| function.ty(*value)).collect();
    let [of_head, of_latch] = [head, latch]
        .map(|block| -> Vec<Value> { types.iter().map(|ty| function.add_parameter(block, *ty)).collect() });
    let left = function.add_parameter(head, I64);
    function.block_mut(entry).end = End::Branch {
        condition,
        yes: Target { block: head, arguments: given.iter().copied().chain([count]).collect() },
        no: Target { block: own.header, arguments: given.clone() },
    };
    let first = copies[0].blocks[&own.header];
    function.block_mut(head).end = End::Jump(Target { block: first, arguments: of_head });
    for (number, copy) in copies.iter().enumerate() {
        let next = copies.get(number + 1).map_or(latch, |next| next.blocks[&own.header]);
        continue_with(function, own, copy, next);
    }
    let left = append(function, latch, Op::Binary(Binary::Sub), &[left, one], I64);
    let zero = function.constant(I64, Constant::All(0));
    let more = append(function, latch, Op::ICmp(Relation::Ne), &[left, zero], Type::mask(1));
    function.block_mut(latch).end = End::Branch {
        condition: more,
        yes: Target { block: head, arguments: of_latch.iter().copied().chain([left]).collect() },
        no: Target { block: own.header, arguments: of_latch },
    };
    for load in chosen {
        read_at_once(function, &copies, load);
    }
}

/// The condition under which the loop can be unrolled, and the loads of which an iteration reads what follows in memory.
fn condition(
    counted: &mut Counted<'_>,
    exit: &Exit,
    candidates: &[Instruction],
) -> Option<(Value, Vec<Instruction>)> {
    counted.ends_by(exit)?;
    let (mut chosen, mut conditions) = (Vec::new(), Vec::new());
    for load in candidates {
        let function = &counted.evolutions.builder.function;
        let data = function.instruction(*load);
        let Op::Load(access) = &data.op else { continue };
        let inside = Inside {
            space: access.space,
            window: access.window,
            first: 0,
            bytes: access.elements.size.into(),
            alignment: access.elements.alignment,
        };
        let Some(addresses) = counted.evolutions.of(data.operands[1]) else { continue };
        let step = addresses.step.and_then(|step| counted.evolutions.builder.function.as_constant(step));
        if step != Some(&Constant::All(inside.bytes.into())) {
            continue;
        }
        let first = addresses.first;
        let builder = &mut counted.evolutions.builder;
        let [lowest, highest] = [Binary::UMin, Binary::UMax].map(|binary| builder.reduced(binary, first));
        // All lanes have one step, so that the order of their addresses stays.
        let step = builder.int(I64, inside.bytes.into());
        let ends = counted.ends(Evolution { first: highest, step: Some(step) });
        let builder = &mut counted.evolutions.builder;
        for address in std::iter::once(lowest).chain(ends) {
            conditions.extend(builder.effect(Op::Inside(inside), &[address], &[Type::mask(1)]));
        }
        let ty = builder.ty(first);
        let [rest, zero] = [u64::from(inside.alignment) - 1, 0].map(|bits| builder.int(ty, bits));
        let rest = builder.binary(Binary::And, first, rest);
        conditions.push(builder.compare(Relation::Eq, rest, zero));
        chosen.push(*load);
    }
    if chosen.is_empty() {
        return None;
    }
    let builder = &mut counted.evolutions.builder;
    let least = builder.int(I64, MIN_TRIP_COUNT);
    conditions.push(builder.compare(Relation::Uge, counted.last, least));
    Some((counted.condition(conditions), chosen))
}

/// Redirects the back edges of an unrolled iteration to the next, and removes its exit edge.
fn continue_with(function: &mut Function, own: &Loop, copy: &Copy, next: Block) {
    let header = copy.blocks[&own.header];
    for block in copy.blocks.values() {
        let end = function.block(*block).end.clone();
        let is_inside = |target: &Target| {
            copy.blocks.values().any(|block| *block == target.block) || function.is_fault(target.block)
        };
        let mut end = match end {
            End::Branch { yes, no, .. } if !is_inside(&yes) => End::Jump(no),
            End::Branch { yes, no, .. } if !is_inside(&no) => End::Jump(yes),
            end => end,
        };
        end.targets_mut().filter(|target| target.block == header).for_each(|target| target.block = next);
        function.block_mut(*block).end = end;
    }
}

/// Has the first copy of a load read for all of them.
fn read_at_once(function: &mut Function, copies: &[Copy], load: Instruction) {
    let result = function.instruction(load).results[0];
    let ty = function.ty(result);
    let all: Vec<Instruction> =
        copies.iter().filter_map(|copy| function.instruction_of(copy.value(result))).collect();
    let own = &mut function.instructions[all[0]];
    if let Op::Load(access) = &mut own.op {
        access.elements.present = (1 << UNROLL) - 1;
        access.is_guarded = true;
    }
    let zero = function.constant(ty, Constant::All(0));
    for other in &all[1..] {
        let read = function.add_result(all[0], ty);
        let other = &mut function.instructions[*other];
        (other.op, other.operands) = (Op::Binary(Binary::Or), vec![read, zero]);
    }
}
