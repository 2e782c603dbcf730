//! Predicated writes that may be executed for all channels: compilers predicate all of a short side of a branch, so that what is
//! computed there for a channel whose predicate is false is only read under the same predicate. Such a write need not merge.

use gencl_eu::op::Op;
use gencl_isa::PredicateControl;

use crate::analysis::access::Access;
use crate::analysis::flow::{Block, Flow};
use crate::analysis::liveness::{self, Bytes, Liveness};
use crate::analysis::plan::{Plan, Step};

/// A predicate: the flag of the thread's first channel, and whether it is inverted.
type Key = (u8, bool);

/// Finds such writes, and marks them as not partial.
pub fn complete(plan: &mut Plan<'_>, flow: &Flow) {
    let liveness = Liveness::new(plan, flow);
    let mut whole = Vec::new();
    for block in &flow.blocks {
        let mut live_out = liveness::live_out(block, true, &liveness.own);
        live_out.union_with(&liveness::live_out(block, false, &liveness.foreign));
        for index in block.start..block.end {
            let Some(key) = key(&plan.ops[index]) else { continue };
            for (number, definition) in plan.effects[index].definitions.iter().enumerate() {
                let access = &definition.access;
                if definition.partial && is_read_under(plan, block, index, key, access, &live_out) {
                    whole.push((index, number));
                }
            }
        }
    }
    for (index, number) in whole {
        plan.effects[index].definitions[number].partial = false;
    }
}

/// The predicate of an instruction that all channels execute for which it is true.
fn key(op: &Op) -> Option<Key> {
    let predicate = op.predicate.filter(|_| !op.predicate_is_operand && op.write_lanes == u32::MAX)?;
    (predicate.control == PredicateControl::Normal).then_some((op.flag_base, predicate.inverse))
}

/// Whether what an instruction writes is only read in its block, under the same predicate and by the same channels. `live_out`: of the block.
fn is_read_under(
    plan: &Plan<'_>,
    block: &Block,
    index: usize,
    own: Key,
    written: &Access,
    live_out: &Bytes,
) -> bool {
    // The channel of each byte, as long as it is there.
    let Some(mut held) = channels(written) else { return false };
    let mut same = !plan.changes_flags(index);
    for later in index + 1..block.end {
        let (op, effects) = (&plan.ops[later], &plan.effects[later]);
        let under = same && key(op) == Some(own) && !matches!(plan.steps[later], Step::Interpret(_));
        for access in effects.uses.iter().flatten() {
            let fits = |(byte, owner): (usize, Option<usize>)| {
                held.iter().all(|(at, channel)| *at != byte || under && owner == Some(*channel))
            };
            if !access.owned_bytes().all(fits) {
                return false;
            }
        }
        for definition in effects.definitions.iter().filter(|definition| !definition.partial) {
            let over: Vec<(usize, Option<usize>)> = definition.access.owned_bytes().collect();
            held.retain(|(at, channel)| {
                !over.iter().any(|(byte, owner)| byte == at && owner.is_none_or(|owner| owner == *channel))
            });
        }
        same &= !plan.changes_flags(later);
    }
    held.iter().all(|(at, _)| !live_out.contains(*at))
}

/// The bytes of an access with their channels, if they have some.
fn channels(access: &Access) -> Option<Vec<(usize, usize)>> {
    access.owned_bytes().map(|(byte, owner)| Some((byte, owner?))).collect()
}
