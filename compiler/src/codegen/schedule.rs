//! List scheduling before allocation: what takes long begins early.
//!
//! Each block is ordered anew by the lengths of the ways from its instructions to its end (Gibbons and Muchnick, "Efficient instruction
//! scheduling for a pipelined architecture", 1986), as a thread issues in order and waits where a result is not there yet. While more
//! registers are alive than a budget allows, what ends lives goes first instead (Goodman and Hsu, "Code scheduling and register allocation
//! in large basic blocks", 1988).

mod graph;

use super::lir::{Block, GRF, Inst, Kind, Program};
use super::liveness::{Interval, intervals};
use gencl_isa::Generation;
use graph::Graph;

/// The program with its blocks in an order that waits less, with at most about `registers` registers alive where the order matters.
pub fn schedule(program: &Program, generation: Generation, registers: u32) -> Program {
    let lives = intervals(program);
    let mut result = program.clone();
    let mut first = 0u32;
    for block in &mut result.blocks {
        let count = block.insts.len() as u32;
        let home = Home::new(program, &lives, first, count);
        reorder(block, generation, &home, registers * GRF);
        first += count;
    }
    result
}

/// Longest block that is ordered anew: the time is quadratic in its length in the worst case.
const LONGEST: usize = 20_000;

/// Which registers live in one block only.
struct Home {
    /// By register: bytes, of those that live here only; 0 of others.
    sizes: Vec<u32>,
    /// Bytes of those that live around or into the block.
    others: u32,
}

impl Home {
    /// Of the block of `count` instructions, the first of which is number `first`.
    fn new(program: &Program, lives: &[Option<Interval>], first: u32, count: u32) -> Home {
        let (begin, end) = (2 * first, 2 * (first + count));
        let mut home = Home { sizes: vec![0; program.vregs.len()], others: 0 };
        for (number, (info, life)) in program.vregs.iter().zip(lives).enumerate() {
            let Some(life) = life else { continue };
            if info.fixed.is_none() && begin < life.start && life.end + 1 < end {
                home.sizes[number] = info.size;
            } else if life.start < end && begin <= life.end {
                home.others += info.size;
            }
        }
        home
    }
}

fn reorder(block: &mut Block, generation: Generation, home: &Home, budget: u32) {
    // The end stays the end.
    let is_end = |inst: &Inst| inst.target.is_some() || graph::ends_thread(inst);
    let body = block.insts.iter().rposition(|inst| !is_end(inst)).map_or(0, |last| last + 1);
    if !(3..=LONGEST).contains(&body) {
        return;
    }
    let graph = Graph::new(&block.insts[..body], generation);
    let order = List::new(&block.insts[..body], &graph, home, budget).run();
    let mut old: Vec<Option<Inst>> = block.insts.drain(..body).map(Some).collect();
    let new: Vec<Inst> = order.into_iter().filter_map(|index| old[index].take()).collect();
    block.insts.splice(0..0, new);
}

/// The state of the scheduling of one block.
struct List<'a> {
    insts: &'a [Inst],
    graph: &'a Graph,
    home: &'a Home,
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
    fn new(insts: &'a [Inst], graph: &'a Graph, home: &'a Home, budget: u32) -> Self {
        let mut accesses = vec![0; home.sizes.len()];
        for inst in insts {
            registers(inst).for_each(|r| accesses[r] += 1);
        }
        let missing: Vec<u32> = graph.nodes.iter().map(|n| n.before).collect();
        let ready = (0..insts.len()).filter(|&i| missing[i] == 0).collect();
        List {
            insts,
            graph,
            home,
            budget: budget.saturating_sub(home.others),
            missing,
            ready_at: vec![0; insts.len()],
            ready,
            accesses,
            is_alive: vec![false; home.sizes.len()],
            alive: 0,
            clock: 0,
        }
    }

    fn run(mut self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.insts.len());
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
        let inst = &self.insts[index];
        let mut growth = 0;
        let mut seen: smallvec::SmallVec<[usize; 4]> = smallvec::SmallVec::new();
        for r in registers(inst) {
            if seen.contains(&r) {
                continue;
            }
            seen.push(r);
            let size = i64::from(self.home.sizes[r]);
            let here = registers(inst).filter(|&other| other == r).count() as u32;
            let ends = self.accesses[r] == here;
            growth += match (self.is_alive[r], ends) {
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
        for r in registers(&self.insts[index]) {
            self.accesses[r] -= 1;
            if !self.is_alive[r] {
                self.is_alive[r] = true;
                self.alive += self.home.sizes[r];
            }
            if self.accesses[r] == 0 {
                self.alive -= self.home.sizes[r];
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

/// The numbers of the registers that an instruction names, as often as it does.
fn registers(inst: &Inst) -> impl Iterator<Item = usize> + '_ {
    let counts = inst.kind != Kind::Undefined;
    let all = inst.srcs.iter().flatten().chain(inst.dst.iter());
    all.filter(move |_| counts).map(|v| v.vreg.0 as usize)
}
