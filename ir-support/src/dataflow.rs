//! Dataflow analysis: the least fixed point of equations between the states of a control-flow graph's blocks.
//!
//! An analysis has a state at the beginning (forward) or end (backward) of each block, a transfer function,
//! and a join of the state with that of an edge. If the join is monotone on a lattice of finite height,
//! visiting blocks until no state changes computes the fixed point. Blocks whose state has changed are
//! visited in the order of the analysis, which visits each block of an acyclic graph once.
//!
//! Compiler: liveness of both IRs, parked channels, the validator, the checker of register allocation. Translator:
//! liveness, definite assignment, rounding modes, parked channels, spin loops. Uniformity, strides and webs have fixed
//! points of their own.

use fixedbitset::FixedBitSet;

/// Solves an analysis. `states` are by block, initially the states without any edge.
///
/// Forward: most blocks are after their predecessors in `order`, and `edges` are the successors. Backward:
/// the order is reversed, and the edges are the predecessors. Only blocks of `order` are visited.
///
/// `join` returns whether the first state has changed.
pub fn solve<S: Clone, E: IntoIterator<Item = usize>>(
    order: impl IntoIterator<Item = usize>,
    edges: impl Fn(usize) -> E,
    states: &mut [S],
    mut transfer: impl FnMut(usize, &mut S),
    join: impl FnMut(&mut S, &S) -> bool,
) {
    propagate(order, states, join, |block, state, arrivals| {
        transfer(block, state);
        edges(block).into_iter().for_each(|other| arrivals.send(other, state));
    });
}

/// The same if the edges depend on the state: `step` gets a copy of the state, and sends a state along each
/// edge.
pub fn propagate<S: Clone, J: FnMut(&mut S, &S) -> bool>(
    order: impl IntoIterator<Item = usize>,
    states: &mut [S],
    join: J,
    mut step: impl FnMut(usize, &mut S, &mut Arrivals<S, J>),
) {
    let order: Vec<usize> = order.into_iter().collect();
    let mut positions = vec![None; states.len()];
    for (position, &block) in order.iter().enumerate() {
        positions[block] = Some(position);
    }
    let mut queued = FixedBitSet::with_capacity(order.len());
    queued.insert_range(..);
    let mut arrivals = Arrivals { states, join, positions, queued };
    let mut copy: Option<S> = None;
    while let Some(position) = arrivals.queued.minimum() {
        arrivals.queued.remove(position);
        let block = order[position];
        // One copy is reused for all blocks, to reuse its memory.
        let state = match &mut copy {
            Some(state) => {
                state.clone_from(&arrivals.states[block]);
                state
            }
            None => copy.insert(arrivals.states[block].clone()),
        };
        step(block, state, &mut arrivals);
    }
}

/// The states so far, and the blocks to visit.
pub struct Arrivals<'s, S, J> {
    states: &'s mut [S],
    join: J,
    /// By block; None where it is not visited.
    positions: Vec<Option<usize>>,
    /// By position in the order.
    queued: FixedBitSet,
}

impl<S, J: FnMut(&mut S, &S) -> bool> Arrivals<'_, S, J> {
    /// Joins a state with that of a block.
    pub fn send(&mut self, block: usize, state: &S) {
        if let Some(position) = self.positions[block]
            && (self.join)(&mut self.states[block], state)
        {
            self.queued.insert(position);
        }
    }
}

/// The join of a "may" analysis: set union.
pub fn union(known: &mut FixedBitSet, arriving: &FixedBitSet) -> bool {
    let changed = !arriving.is_subset(known);
    if changed {
        known.union_with(arriving);
    }
    changed
}

/// Live-in and live-out sets of blocks, from the registers that each block reads before it writes them, and
/// those that it overwrites.
pub fn live_sets<E: IntoIterator<Item = usize>>(
    layout: impl DoubleEndedIterator<Item = usize>,
    predecessors: impl Fn(usize) -> E,
    mut read: Vec<FixedBitSet>,
    overwritten: &[FixedBitSet],
) -> (Vec<FixedBitSet>, Vec<FixedBitSet>) {
    let mut live_out: Vec<FixedBitSet> =
        read.iter().map(|set| FixedBitSet::with_capacity(set.len())).collect();
    let transfer = |block: usize, live: &mut FixedBitSet| {
        live.difference_with(&overwritten[block]);
        live.union_with(&read[block]);
    };
    solve(layout.rev(), predecessors, &mut live_out, transfer, union);
    for ((live_in, live_out), overwritten) in read.iter_mut().zip(&live_out).zip(overwritten) {
        let mut through = live_out.clone();
        through.difference_with(overwritten);
        live_in.union_with(&through);
    }
    (read, live_out)
}

#[cfg(test)]
mod tests {
    use super::{live_sets, propagate, solve, union};
    use fixedbitset::FixedBitSet;

    /// 0 -> 1 <-> 2, 1 -> 3; nothing leads to 4.
    const SUCCESSORS: [&[usize]; 5] = [&[1], &[2, 3], &[1], &[], &[3]];

    fn set(elements: &[usize]) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(5);
        set.extend(elements.iter().copied());
        set
    }

    #[test]
    fn forward_through_a_loop() {
        let mut states = vec![set(&[]); 5];
        solve(
            0..4,
            |block| SUCCESSORS[block].iter().copied(),
            &mut states,
            |block, state| state.insert(block),
            union,
        );
        assert_eq!(states, [set(&[]), set(&[0, 1, 2]), set(&[0, 1, 2]), set(&[0, 1, 2]), set(&[])]);
    }

    #[test]
    fn an_order_without_loops_is_visited_once() {
        let (mut states, mut visits) = (vec![set(&[]); 3], 0);
        let count = |block: usize, state: &mut FixedBitSet| {
            visits += 1;
            state.insert(block);
        };
        solve(0..3, |block| [block + 1].into_iter().filter(|&next| next < 3), &mut states, count, union);
        assert_eq!((visits, &states[2]), (3, &set(&[0, 1])));
    }

    #[test]
    fn what_is_sent_to_blocks_out_of_the_order_is_lost() {
        let mut states = vec![0u32; 3];
        let join = |known: &mut u32, new: &u32| std::mem::replace(known, (*known).max(*new)) < *new;
        propagate([0], &mut states, join, |_, _, arrivals| arrivals.send(2, &7));
        assert_eq!(states, [0, 0, 0]);
    }

    #[test]
    fn live_around_a_loop() {
        let predecessors: [&[usize]; 5] = [&[], &[0, 2], &[1], &[1, 4], &[]];
        // 0 writes register 0, 1 reads it, 2 overwrites register 1, which 3 reads.
        let read = vec![set(&[]), set(&[0]), set(&[]), set(&[1]), set(&[])];
        let overwritten = [set(&[0]), set(&[]), set(&[1]), set(&[]), set(&[])];
        let (live_in, live_out) =
            live_sets(0..4, |block| predecessors[block].iter().copied(), read, &overwritten);
        assert_eq!(live_in[..4], [set(&[1]), set(&[0, 1]), set(&[0]), set(&[1])]);
        assert_eq!(live_out[..4], [set(&[0, 1]), set(&[0, 1]), set(&[0, 1]), set(&[])]);
    }
}
