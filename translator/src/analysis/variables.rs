//! Webs: registers become variables. A variable is a set of definitions and of the uses that they reach, as wide as what is accessed
//! of it; a register that holds unrelated values one after the other becomes several variables.
//!
//! Webs are found by union-find over reaching definitions, byte by byte.

use std::collections::{BTreeMap, BTreeSet};

use gencl_eu::file::GRF_BYTES;
use gencl_ir_support::UnionFind;

use crate::analysis::access::Access;
use crate::analysis::flow::{Block, Flow};
use crate::analysis::liveness::{Bytes, Liveness, Merging, is_masked};
use crate::analysis::plan::Plan;

/// A variable: bytes of the general registers in one web.
#[derive(Clone, Debug)]
pub struct Variable {
    /// First byte.
    pub start: usize,
    /// Behind the last.
    pub end: usize,
    /// Bytes of it that are live where the thread begins: they may be read before they are written.
    pub initial: Vec<usize>,
}

/// The variables of a kernel.
pub struct Variables {
    /// All of them.
    pub all: Vec<Variable>,
    /// Of each read of each instruction.
    pub uses: Vec<Vec<Option<usize>>>,
    /// Of each write of each instruction.
    pub definitions: Vec<Vec<usize>>,
    /// Which writes merge with what disabled channels hold.
    pub merging: Merging,
}

impl Variables {
    /// Finds the variables.
    pub fn new(plan: &Plan<'_>, flow: &Flow) -> Variables {
        let liveness = Liveness::new(plan, flow);
        let mut naming = Naming::new(plan, flow, &liveness);
        naming.name_all();
        naming.unite_where_threads_stop();
        naming.unite_overwritten();
        naming.finish(liveness.merging.clone())
    }
}

/// Along which edges definitions reach uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Per-channel uses, along the channel's edges.
    Channel,
    /// Cross-channel uses, along the thread's edges.
    Thread,
    /// Per-channel uses of parked channels, by writes without mask, along the thread's edges.
    Parked,
}

/// The channels that access a byte per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Channel(usize),
    Several,
}

/// No definition.
const NOTHING: u32 = u32::MAX;

/// Union-find over reaching definitions, per byte. Definitions, and the bytes of the payload, are numbered.
struct Naming<'a> {
    plan: &'a Plan<'a>,
    flow: &'a Flow,
    liveness: &'a Liveness,
    /// Definitions of one web are united.
    numbers: UnionFind,
    /// The definitions that reach each block, for the bytes that are live-in, by way.
    entries: [Vec<Option<Vec<u32>>>; 3],
    uses: Vec<Vec<Option<u32>>>,
    definitions: Vec<Vec<u32>>,
}

impl<'a> Naming<'a> {
    fn new(plan: &'a Plan<'a>, flow: &'a Flow, liveness: &'a Liveness) -> Naming<'a> {
        // Each byte of the payload is a definition.
        let mut naming = Naming {
            plan,
            flow,
            liveness,
            numbers: UnionFind::new(GRF_BYTES),
            entries: std::array::from_fn(|_| vec![None; flow.blocks.len()]),
            uses: plan.effects.iter().map(|e| vec![None; e.uses.len()]).collect(),
            definitions: plan.effects.iter().map(|e| vec![NOTHING; e.definitions.len()]).collect(),
        };
        for index in naming.reached() {
            for k in 0..naming.definitions[index].len() {
                naming.definitions[index][k] = naming.numbers.add();
            }
        }
        naming
    }

    /// The instructions that a thread can reach.
    fn reached(&self) -> Vec<usize> {
        self.flow.blocks.iter().flat_map(|block| block.start..block.end).collect()
    }

    /// Live-in bytes of blocks, by way.
    fn live_in(&self, way: Way) -> &'a [Bytes] {
        match way {
            Way::Channel => &self.liveness.own,
            Way::Thread => &self.liveness.foreign,
            Way::Parked => &self.liveness.held,
        }
    }

    fn name_all(&mut self) {
        for way in [Way::Channel, Way::Thread, Way::Parked] {
            self.name(way);
        }
        for index in self.reached() {
            for k in 0..self.uses[index].len() {
                if self.plan.effects[index].uses[k].is_some() && self.uses[index][k].is_none() {
                    self.uses[index][k] = Some(self.numbers.add());
                }
            }
        }
    }

    /// Unites the definitions that reach uses in one way: a forward analysis.
    fn name(&mut self, way: Way) {
        let live = self.live_in(way);
        let first = |byte: usize| if way == Way::Parked { NOTHING } else { byte as u32 };
        let mut entries = vec![None; self.flow.blocks.len()];
        entries[0] = Some(live[0].ones().map(first).collect::<Vec<u32>>());
        // Blocks are visited in their order, most of them once.
        let mut open = BTreeSet::from([0]);
        while let Some(block) = open.pop_first() {
            let entry = entries[block].clone().unwrap_or_default();
            let state = self.name_block(way, block, &entry);
            for &next in self.flow.blocks[block].successors(way == Way::Channel) {
                let arriving: Vec<u32> = live[next].ones().map(|byte| state[byte]).collect();
                let Some(known) = &mut entries[next] else {
                    entries[next] = Some(arriving);
                    open.insert(next);
                    continue;
                };
                let mut is_new = false;
                for (known, new) in known.iter_mut().zip(arriving) {
                    match (*known, new) {
                        (_, NOTHING) => {}
                        (NOTHING, _) => (*known, is_new) = (new, true),
                        (a, b) => _ = self.numbers.unite(a, b),
                    }
                }
                if is_new {
                    open.insert(next);
                }
            }
        }
        self.entries[way as usize] = entries;
    }

    /// Unites what reaches the uses of a block. Returns the definitions that reach its end, by byte.
    fn name_block(&mut self, way: Way, block: usize, entry: &[u32]) -> Vec<u32> {
        let mut state = vec![NOTHING; GRF_BYTES];
        for (byte, number) in self.live_in(way)[block].ones().zip(entry) {
            state[byte] = *number;
        }
        let (plan, liveness) = (self.plan, self.liveness);
        let has_parked = !self.flow.blocks[block].parked.is_clear();
        for index in self.flow.blocks[block].start..self.flow.blocks[block].end {
            for (k, access) in plan.effects[index].uses.iter().enumerate() {
                let Some(access) = access else { continue };
                if access.owner.is_none() == (way == Way::Thread) {
                    self.uses[index][k] = self.unite_bytes(&state, access, self.uses[index][k]);
                }
            }
            for (k, definition) in plan.effects[index].definitions.iter().enumerate() {
                let keeps = match way {
                    Way::Channel => definition.partial || liveness.shared[index][k],
                    Way::Thread => liveness.keeping[index][k],
                    Way::Parked => plan.ops[index].no_mask && definition.partial,
                };
                if keeps {
                    self.unite_bytes(&state, &definition.access, Some(self.definitions[index][k]));
                }
            }
            for (k, definition) in plan.effects[index].definitions.iter().enumerate() {
                let number = match way {
                    Way::Parked if has_parked && plan.ops[index].no_mask => self.definitions[index][k],
                    Way::Parked if liveness.merging[index][k] => continue,
                    Way::Parked => NOTHING,
                    Way::Channel | Way::Thread => self.definitions[index][k],
                };
                definition.access.bytes().for_each(|byte| state[byte] = number);
            }
        }
        state
    }

    fn unite_bytes(&mut self, state: &[u32], access: &Access, with: Option<u32>) -> Option<u32> {
        let (mut all, mut last) = (with, NOTHING);
        for byte in access.bytes() {
            // Most often all bytes have the same definition.
            if state[byte] != last && state[byte] != NOTHING {
                last = state[byte];
                all = Some(all.map_or(state[byte], |number| self.numbers.unite(number, state[byte])));
            }
        }
        all
    }

    /// Reaching definitions of the live-in bytes of an enabled channel, with these bytes.
    fn own_at(&self, block: usize) -> impl Iterator<Item = (u32, usize)> {
        self.numbers_at(Way::Channel, block)
    }

    fn numbers_at(&self, way: Way, block: usize) -> impl Iterator<Item = (u32, usize)> {
        let numbers = self.entries[way as usize][block].iter().flatten().copied();
        numbers.zip(self.live_in(way)[block].ones()).filter(|(number, _)| *number != NOTHING)
    }

    /// Reaching definitions of all live-in bytes of a block, those of parked channels among them, with these bytes.
    fn live_at(&self, block: usize) -> Vec<(u32, usize)> {
        let parked = self.flow.blocks[block].parked.ones().map(|target| self.flow.targets[target]);
        let ways = [Way::Channel, Way::Thread, Way::Parked].into_iter();
        let own = ways.flat_map(|way| self.numbers_at(way, block));
        own.chain(parked.flat_map(|target| self.own_at(target))).collect()
    }

    /// A suspended thread has one place for each byte.
    fn unite_where_threads_stop(&mut self) {
        for block in self.flow.resumed() {
            let mut numbers = vec![NOTHING; GRF_BYTES];
            for (number, byte) in self.live_at(block) {
                numbers[byte] = match numbers[byte] {
                    NOTHING => number,
                    other => self.numbers.unite(other, number),
                };
            }
        }
    }

    /// Unites definitions that are live for parked channels with masked writes of other channels to the same bytes, which overwrite them.
    fn unite_overwritten(&mut self) {
        let mut pairs = Vec::new();
        let has_parked = |(_, block): &(usize, &Block)| !block.parked.is_clear();
        for (number, block) in self.flow.blocks.iter().enumerate().filter(has_parked) {
            let writes: Vec<(u32, (usize, Option<usize>))> = (block.start..block.end)
                .filter(|index| is_masked(self.plan, self.flow, number, *index))
                .flat_map(|index| self.definitions[index].iter().zip(&self.plan.effects[index].definitions))
                .flat_map(|(write, definition)| definition.access.owned_bytes().map(|byte| (*write, byte)))
                .collect();
            let written: Bytes = writes.iter().map(|(_, (byte, _))| *byte).collect();
            let own = block.parked.ones().flat_map(|target| self.own_at(self.flow.targets[target]));
            let mut needed: Vec<(usize, u32)> = own
                .filter(|(_, byte)| written.contains(*byte))
                .map(|(number, byte)| (byte, number))
                .collect();
            needed.sort_unstable();
            needed.dedup();
            for (write, (byte, owner)) in writes {
                let first = needed.partition_point(|(other, _)| *other < byte);
                let others = needed[first..].iter().take_while(|(other, _)| *other == byte);
                pairs.extend(others.map(|(_, own)| (write, *own, byte, owner)));
            }
        }
        for (write, own, ..) in &mut pairs {
            (*write, *own) = (self.numbers.find(*write), self.numbers.find(*own));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.retain(|(write, own, ..)| write != own);
        if pairs.is_empty() {
            return;
        }
        loop {
            let mut owners: BTreeMap<(u32, usize), Option<Owner>> =
                pairs.iter().map(|(_, own, byte, _)| ((self.numbers.find(*own), *byte), None)).collect();
            self.find_owners(&mut owners);
            let mut changed = false;
            for (write, own, byte, owner) in &pairs {
                let roots = [self.numbers.find(*write), self.numbers.find(*own)];
                let known = owners.get(&(roots[1], *byte)).copied().flatten();
                if roots[0] != roots[1] && known != owner.map(Owner::Channel) {
                    self.numbers.unite(roots[0], roots[1]);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// The channels that own the bytes of webs.
    fn find_owners(&mut self, owners: &mut BTreeMap<(u32, usize), Option<Owner>>) {
        let plan = self.plan;
        for index in self.reached() {
            let effects = &plan.effects[index];
            let uses = effects.uses.iter().zip(self.uses[index].clone());
            let uses = uses.filter_map(|(access, number)| access.as_ref().zip(number));
            let definitions = effects.definitions.iter().map(|definition| &definition.access);
            let accesses: Vec<(&Access, u32)> =
                uses.chain(definitions.zip(self.definitions[index].clone())).collect();
            for (access, number) in accesses {
                let root = self.numbers.find(number);
                for (byte, owner) in access.owned_bytes() {
                    if let (Some(owner), Some(known)) = (owner, owners.get_mut(&(root, byte))) {
                        let own = Owner::Channel(owner);
                        *known =
                            Some(if known.is_none_or(|known| known == own) { own } else { Owner::Several });
                    }
                }
            }
        }
    }

    fn finish(mut self, merging: Merging) -> Variables {
        let uses_numbers = std::mem::take(&mut self.uses);
        let definition_numbers = std::mem::take(&mut self.definitions);
        let mut table = Table { numbers: vec![usize::MAX; self.numbers.count()], all: Vec::new() };
        let mut uses = Vec::with_capacity(uses_numbers.len());
        let mut definitions = Vec::with_capacity(definition_numbers.len());
        for (index, effects) in self.plan.effects.iter().enumerate() {
            let mut row = Vec::new();
            for (access, number) in effects.uses.iter().zip(&uses_numbers[index]) {
                row.push(match (access, number) {
                    (Some(access), Some(number)) => Some(table.touch(&mut self, *number, access.extent())),
                    _ => None,
                });
            }
            uses.push(row);
            let row =
                effects.definitions.iter().zip(&definition_numbers[index]).map(|(definition, number)| {
                    if *number == NOTHING {
                        return usize::MAX;
                    }
                    table.touch(&mut self, *number, definition.access.extent())
                });
            definitions.push(row.collect());
        }
        for byte in self.liveness.own[0].union(&self.liveness.foreign[0]) {
            let index = table.touch(&mut self, byte as u32, (byte, byte + 1));
            table.all[index].initial.push(byte);
        }
        Variables { all: table.all, uses, definitions, merging }
    }
}

/// Variables by their numbers.
struct Table {
    numbers: Vec<usize>,
    all: Vec<Variable>,
}

impl Table {
    /// The variable of a number, which contains these bytes.
    fn touch(&mut self, naming: &mut Naming<'_>, number: u32, (start, end): (usize, usize)) -> usize {
        let root = naming.numbers.find(number) as usize;
        if self.numbers[root] == usize::MAX {
            self.numbers[root] = self.all.len();
            self.all.push(Variable { start, end, initial: Vec::new() });
        }
        let index = self.numbers[root];
        let variable = &mut self.all[index];
        variable.start = variable.start.min(start);
        variable.end = variable.end.max(end);
        index
    }
}
