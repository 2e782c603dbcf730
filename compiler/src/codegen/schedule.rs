//! List scheduling by critical path.
//!
//! Within each block, instructions with the longest latency-weighted path to the end of the block are issued
//! first (Gibbons and Muchnick, "Efficient instruction scheduling for a pipelined architecture", 1986), as a
//! thread issues in order and stalls on a result that is not available. [`before_allocation`], while register
//! pressure exceeds a budget, instructions that end live ranges are preferred (Goodman and Hsu, "Code
//! scheduling and register allocation in large basic blocks", 1988). [`after_allocation`], dependences are
//! those of physical registers, and fills are scheduled too.

mod graph;

use super::allocate::Locations;
use super::lir::{Block, GRF, Inst, InstKind, Program};
use super::liveness::{Interval, intervals};
use gencl_isa::Generation;
use graph::{Graph, RegisterPlacement};
use smallvec::SmallVec;

/// Schedules a copy of the program, with a register pressure of about `registers` registers where possible.
pub fn before_allocation(program: &Program, generation: Generation, registers: u32) -> Program {
    let mut live_ranges = LiveRanges::new(program);
    let mut result = program.clone();
    let placement = RegisterPlacement { vregs: &program.vregs, locations: None };
    let mut first = 0;
    for block in &mut result.blocks {
        let count = block.insts.len() as u32;
        reorder(
            block,
            &placement,
            generation,
            |insts| BlockRegisters::new(insts, &mut live_ranges, first, count),
            registers * GRF,
        );
        first += count;
    }
    result
}

/// Schedules a program after register allocation.
pub fn after_allocation(program: &mut Program, locations: &Locations, generation: Generation) {
    let placement = RegisterPlacement { vregs: &program.vregs, locations: Some(locations) };
    for block in &mut program.blocks {
        reorder(block, &placement, generation, BlockRegisters::none, u32::MAX);
    }
}

/// Maximum number of instructions of a block that is scheduled: the time is quadratic in the worst case.
const MAX_BLOCK_LENGTH: usize = 20_000;

/// The live ranges of a program's registers.
struct LiveRanges<'a> {
    program: &'a Program,
    intervals: Vec<Option<Interval>>,
    /// Starts and ends of live ranges in order, each with the sum of bytes of all registers up to it.
    starts: Vec<(u32, u32)>,
    ends: Vec<(u32, u32)>,
    /// By register: its index in the current block, valid if the block's list of registers has it there.
    numbers: Vec<u32>,
}

impl<'a> LiveRanges<'a> {
    fn new(program: &'a Program) -> Self {
        let intervals = intervals(program);
        let sums = |position: fn(&Interval) -> u32| {
            let all = intervals.iter().zip(&program.vregs);
            let mut list: Vec<(u32, u32)> =
                all.filter_map(|(life, info)| Some((position(life.as_ref()?), info.size))).collect();
            list.sort_unstable();
            let mut sum = 0;
            for (_, bytes) in &mut list {
                sum += *bytes;
                *bytes = sum;
            }
            list
        };
        let (starts, ends) = (sums(|life| life.start), sums(|life| life.end));
        LiveRanges { program, starts, ends, numbers: vec![0; intervals.len()], intervals }
    }

    /// Bytes of all registers that are live somewhere in a range of positions.
    fn bytes(&self, begin: u32, end: u32) -> u32 {
        let before = |list: &[(u32, u32)], position: u32| match list.partition_point(|l| l.0 < position) {
            0 => 0,
            count => list[count - 1].1,
        };
        before(&self.starts, end) - before(&self.ends, begin)
    }
}

/// The registers that a block accesses, numbered within it.
struct BlockRegisters {
    /// By instruction: the registers it accesses, one entry for each operand.
    named: Vec<SmallVec<[u32; 4]>>,
    /// Bytes of those that are live in this block only; 0 for others.
    sizes: Vec<u32>,
    /// Bytes of registers that are live-in, live-out or live through.
    others: u32,
}

impl BlockRegisters {
    /// The registers of `insts`, the body of a block of `count` instructions whose first has position
    /// `first`.
    fn new(insts: &[Inst], live_ranges: &mut LiveRanges, first: u32, count: u32) -> BlockRegisters {
        let (begin, end) = (2 * first, 2 * (first + count));
        let mut registers: Vec<u32> = Vec::new();
        let mut number = |register: u32| {
            let known = &mut live_ranges.numbers[register as usize];
            if registers.get(*known as usize) != Some(&register) {
                *known = registers.len() as u32;
                registers.push(register);
            }
            *known
        };
        let mut named = Vec::with_capacity(insts.len());
        for inst in insts {
            let all = inst.srcs.iter().chain([&inst.dst]).flatten();
            named.push(all.filter(|_| inst.kind != InstKind::Undef).map(|v| number(v.vreg.0)).collect());
        }
        let own = |r: &u32| {
            let info = &live_ranges.program.vregs[*r as usize];
            let life = live_ranges.intervals[*r as usize].filter(|l| begin < l.start && l.end + 1 < end);
            life.filter(|_| info.fixed.is_none()).map_or(0, |_| info.size)
        };
        let sizes: Vec<u32> = registers.iter().map(own).collect();
        let others = live_ranges.bytes(begin, end) - sizes.iter().sum::<u32>();
        BlockRegisters { named, sizes, others }
    }

    /// No registers: after allocation there is no pressure to track.
    fn none(insts: &[Inst]) -> BlockRegisters {
        BlockRegisters { named: vec![SmallVec::new(); insts.len()], sizes: Vec::new(), others: 0 }
    }
}

fn reorder(
    block: &mut Block,
    placement: &RegisterPlacement,
    generation: Generation,
    block_registers: impl FnOnce(&[Inst]) -> BlockRegisters,
    budget: u32,
) {
    // Terminators stay at the end.
    let is_end = |inst: &Inst| inst.target.is_some() || graph::ends_thread(inst);
    let body = block.insts.iter().rposition(|inst| !is_end(inst)).map_or(0, |last| last + 1);
    if !(3..=MAX_BLOCK_LENGTH).contains(&body) {
        return;
    }
    let insts = &block.insts[..body];
    let graph = Graph::new(insts, placement, generation);
    let order = ListScheduler::new(&graph, &block_registers(insts), budget).run();
    let mut old: Vec<Option<Inst>> = block.insts.drain(..body).map(Some).collect();
    let new: Vec<Inst> = order.into_iter().filter_map(|index| old[index].take()).collect();
    block.insts.splice(0..0, new);
}

/// The state of the scheduling of one block.
struct ListScheduler<'a> {
    graph: &'a Graph,
    block_registers: &'a BlockRegisters,
    budget: u32,
    /// By instruction: number of predecessors that have not been issued.
    missing: Vec<u32>,
    /// By instruction: the clock at which its operands are available.
    ready_at: Vec<u32>,
    /// Instructions all of whose predecessors have been issued.
    ready: Vec<usize>,
    /// By register: number of accesses by instructions that have not been issued.
    accesses: Vec<u32>,
    /// By register: whether it has been accessed.
    is_alive: Vec<bool>,
    /// Bytes of the block's own registers that are live.
    alive: u32,
    clock: u32,
}

impl<'a> ListScheduler<'a> {
    fn new(graph: &'a Graph, block_registers: &'a BlockRegisters, budget: u32) -> Self {
        let mut accesses = vec![0; block_registers.sizes.len()];
        block_registers.named.iter().flatten().for_each(|r| accesses[*r as usize] += 1);
        let missing: Vec<u32> = graph.nodes.iter().map(|n| n.predecessors).collect();
        let ready = (0..missing.len()).filter(|&i| missing[i] == 0).collect();
        ListScheduler {
            graph,
            block_registers,
            budget: budget.saturating_sub(block_registers.others),
            ready_at: vec![0; missing.len()],
            missing,
            ready,
            accesses,
            is_alive: vec![false; block_registers.sizes.len()],
            alive: 0,
            clock: 0,
        }
    }

    fn run(mut self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.missing.len());
        while let Some(at) = self.choose() {
            let index = self.ready.swap_remove(at);
            order.push(index);
            self.issue(index);
        }
        order
    }

    /// The index in `ready` of the next instruction.
    fn choose(&self) -> Option<usize> {
        let full = self.alive > self.budget;
        let candidates = self.ready.iter().enumerate();
        let best = candidates.min_by_key(|&(_, &index)| {
            let waits = self.ready_at[index].saturating_sub(self.clock);
            let height = u32::MAX - self.graph.nodes[index].height;
            let growth = if full { self.growth(index) } else { 0 };
            (growth, waits, height, index)
        });
        best.map(|(at, _)| at)
    }

    /// The change in live bytes when an instruction is issued.
    fn growth(&self, index: usize) -> i64 {
        let named = &self.block_registers.named[index];
        let mut growth = 0;
        for (at, &r) in named.iter().enumerate().filter(|(at, r)| !named[..*at].contains(r)) {
            let register = r as usize;
            let size = i64::from(self.block_registers.sizes[register]);
            let ends =
                self.accesses[register] as usize == named[at..].iter().filter(|other| **other == r).count();
            growth += match (self.is_alive[register], ends) {
                (true, true) => -size,
                (false, false) => size,
                _ => 0,
            };
        }
        growth
    }

    fn issue(&mut self, index: usize) {
        let node = &self.graph.nodes[index];
        self.clock = self.clock.max(self.ready_at[index]) + node.issue;
        for r in self.block_registers.named[index].iter().map(|r| *r as usize) {
            self.accesses[r] -= 1;
            if !self.is_alive[r] {
                self.is_alive[r] = true;
                self.alive += self.block_registers.sizes[r];
            }
            if self.accesses[r] == 0 {
                self.alive -= self.block_registers.sizes[r];
            }
        }
        for &(next, latency) in &node.successors {
            self.ready_at[next] = self.ready_at[next].max(self.clock + latency);
            self.missing[next] -= 1;
            if self.missing[next] == 0 {
                self.ready.push(next);
            }
        }
    }
}
