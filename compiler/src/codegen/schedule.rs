//! List scheduling: what takes long begins early.
//!
//! Each block is ordered anew by the lengths of the ways from its instructions to its end (Gibbons and
//! Muchnick, "Efficient instruction scheduling for a pipelined architecture", 1986), as a thread issues in
//! order and waits where a result is not there yet. [`before`] allocation, while more registers are alive
//! than a budget allows, what ends lives goes first instead (Goodman and Hsu, "Code scheduling and register
//! allocation in large basic blocks", 1988). [`after`] allocation the places of registers say what may pass
//! what, and loads from scratch are there too.

mod graph;

use super::allocate::Locations;
use super::lir::{Block, GRF, Inst, Kind, Program};
use super::liveness::{Interval, intervals};
use gencl_isa::Generation;
use graph::{Graph, Places};
use smallvec::SmallVec;

/// The program with its blocks in an order that waits less, with at most about `registers` registers alive
/// where the order matters.
pub fn before(program: &Program, generation: Generation, registers: u32) -> Program {
    let mut lives = Lives::new(program);
    let mut result = program.clone();
    let places = Places { vregs: &program.vregs, locations: None };
    let mut first = 0;
    for block in &mut result.blocks {
        let count = block.insts.len() as u32;
        reorder(
            block,
            &places,
            generation,
            |insts| Names::new(insts, &mut lives, first, count),
            registers * GRF,
        );
        first += count;
    }
    result
}

/// Orders the blocks of a program whose registers have places.
pub fn after(program: &mut Program, locations: &Locations, generation: Generation) {
    let places = Places { vregs: &program.vregs, locations: Some(locations) };
    for block in &mut program.blocks {
        reorder(block, &places, generation, Names::none, u32::MAX);
    }
}

/// Longest block that is ordered anew: the time is quadratic in its length in the worst case.
const LONGEST: usize = 20_000;

/// Where the registers of a program live.
struct Lives<'a> {
    program: &'a Program,
    intervals: Vec<Option<Interval>>,
    /// Beginnings and ends of lives in order, each with the bytes of all registers up to it.
    starts: Vec<(u32, u32)>,
    ends: Vec<(u32, u32)>,
    /// By register: its number in the block at hand; valid where [`Names::registers`] says the same.
    numbers: Vec<u32>,
}

impl<'a> Lives<'a> {
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
        Lives { program, starts, ends, numbers: vec![0; intervals.len()], intervals }
    }

    /// Bytes of all registers that are alive somewhere from one position up to another.
    fn bytes(&self, begin: u32, end: u32) -> u32 {
        let before = |list: &[(u32, u32)], position: u32| match list.partition_point(|l| l.0 < position) {
            0 => 0,
            count => list[count - 1].1,
        };
        before(&self.starts, end) - before(&self.ends, begin)
    }
}

/// The registers that a block names, in numbers of its own.
struct Names {
    /// By instruction: those it names, as often as it does.
    named: Vec<SmallVec<[u32; 4]>>,
    /// Bytes of those that live in this block only; 0 of others.
    sizes: Vec<u32>,
    /// Bytes of registers that live around or into the block.
    others: u32,
}

impl Names {
    /// Of the body of the block of `count` instructions the first of which is number `first`.
    fn new(insts: &[Inst], lives: &mut Lives, first: u32, count: u32) -> Names {
        let (begin, end) = (2 * first, 2 * (first + count));
        let mut registers: Vec<u32> = Vec::new();
        let mut number = |register: u32| {
            let known = &mut lives.numbers[register as usize];
            if registers.get(*known as usize) != Some(&register) {
                *known = registers.len() as u32;
                registers.push(register);
            }
            *known
        };
        let mut named = Vec::with_capacity(insts.len());
        for inst in insts {
            let all = inst.srcs.iter().chain([&inst.dst]).flatten();
            named.push(all.filter(|_| inst.kind != Kind::Undefined).map(|v| number(v.vreg.0)).collect());
        }
        let own = |r: &u32| {
            let info = &lives.program.vregs[*r as usize];
            let life = lives.intervals[*r as usize].filter(|l| begin < l.start && l.end + 1 < end);
            life.filter(|_| info.fixed.is_none()).map_or(0, |_| info.size)
        };
        let sizes: Vec<u32> = registers.iter().map(own).collect();
        let others = lives.bytes(begin, end) - sizes.iter().sum::<u32>();
        Names { named, sizes, others }
    }

    /// None that matter.
    fn none(insts: &[Inst]) -> Names {
        Names { named: vec![SmallVec::new(); insts.len()], sizes: Vec::new(), others: 0 }
    }
}

fn reorder(
    block: &mut Block,
    places: &Places,
    generation: Generation,
    names: impl FnOnce(&[Inst]) -> Names,
    budget: u32,
) {
    // The end stays the end.
    let is_end = |inst: &Inst| inst.target.is_some() || graph::ends_thread(inst);
    let body = block.insts.iter().rposition(|inst| !is_end(inst)).map_or(0, |last| last + 1);
    if !(3..=LONGEST).contains(&body) {
        return;
    }
    let insts = &block.insts[..body];
    let graph = Graph::new(insts, places, generation);
    let order = List::new(&graph, &names(insts), budget).run();
    let mut old: Vec<Option<Inst>> = block.insts.drain(..body).map(Some).collect();
    let new: Vec<Inst> = order.into_iter().filter_map(|index| old[index].take()).collect();
    block.insts.splice(0..0, new);
}

/// The state of the scheduling of one block.
struct List<'a> {
    graph: &'a Graph,
    names: &'a Names,
    budget: u32,
    /// By instruction: what it still waits for.
    missing: Vec<u32>,
    /// By instruction: the clock at which all that it needs is there.
    ready_at: Vec<u32>,
    /// Instructions that wait for nothing but time.
    ready: Vec<usize>,
    /// By register: accesses that are still to come.
    accesses: Vec<u32>,
    /// By register: has it been written?
    is_alive: Vec<bool>,
    /// Bytes of the block's own registers that are alive.
    alive: u32,
    clock: u32,
}

impl<'a> List<'a> {
    fn new(graph: &'a Graph, names: &'a Names, budget: u32) -> Self {
        let mut accesses = vec![0; names.sizes.len()];
        names.named.iter().flatten().for_each(|r| accesses[*r as usize] += 1);
        let missing: Vec<u32> = graph.nodes.iter().map(|n| n.before).collect();
        let ready = (0..missing.len()).filter(|&i| missing[i] == 0).collect();
        List {
            graph,
            names,
            budget: budget.saturating_sub(names.others),
            ready_at: vec![0; missing.len()],
            missing,
            ready,
            accesses,
            is_alive: vec![false; names.sizes.len()],
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

    /// The place in the list of the instruction to be next.
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

    /// Bytes of registers that are alive after an instruction, less those before.
    fn growth(&self, index: usize) -> i64 {
        let named = &self.names.named[index];
        let mut growth = 0;
        for (at, &r) in named.iter().enumerate().filter(|(at, r)| !named[..*at].contains(r)) {
            let register = r as usize;
            let size = i64::from(self.names.sizes[register]);
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
        for r in self.names.named[index].iter().map(|r| *r as usize) {
            self.accesses[r] -= 1;
            if !self.is_alive[r] {
                self.is_alive[r] = true;
                self.alive += self.names.sizes[r];
            }
            if self.accesses[r] == 0 {
                self.alive -= self.names.sizes[r];
            }
        }
        for &(next, latency) in &node.after {
            self.ready_at[next] = self.ready_at[next].max(self.clock + latency);
            self.missing[next] -= 1;
            if self.missing[next] == 0 {
                self.ready.push(next);
            }
        }
    }
}
