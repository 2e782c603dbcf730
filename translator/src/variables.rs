//! From registers to variables: what is written here and read there becomes one variable, as wide as what is accessed of it. Registers
//! that are used for one thing after the other become several.

use gencl_simulator::eu::file::GRF_BYTES;

use crate::access::Access;
use crate::flow::Flow;
use crate::liveness::{self, Bytes, Merging};
use crate::plan::Plan;

/// A variable: bytes of the general registers for as long as they are one thing.
#[derive(Clone, Debug)]
pub struct Variable {
    /// First byte.
    pub start: usize,
    /// Behind the last.
    pub end: usize,
    /// Bytes of it that are read before they are written: those that the thread begins with.
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
    /// Which writes keep what disabled channels hold.
    pub merging: Merging,
    /// Of each block, the variables and their bytes that are live at its beginning.
    pub live: Vec<Vec<(usize, usize)>>,
}

/// How often writes are found to be shared before all are taken to be.
const ROUNDS: usize = 4;

impl Variables {
    /// Finds the variables.
    pub fn new(plan: &Plan<'_>, flow: &Flow) -> Variables {
        let mut shared: Vec<Vec<bool>> =
            plan.effects.iter().map(|e| vec![false; e.definitions.len()]).collect();
        for _ in 0..ROUNDS {
            let merging = liveness::merging(plan, flow, &|index, number| shared[index][number]);
            let variables = Variables::with_merging(plan, flow, merging);
            if !variables.find_shared(plan, &mut shared) {
                return variables;
            }
        }
        shared.iter_mut().flatten().for_each(|flag| *flag = true);
        let merging = liveness::merging(plan, flow, &|_, _| true);
        Variables::with_merging(plan, flow, merging)
    }

    fn with_merging(plan: &Plan<'_>, flow: &Flow, merging: Merging) -> Variables {
        let live = liveness::of_threads(plan, flow, &merging);
        let mut naming = Naming::new(plan, flow, merging, &live);
        naming.name_all();
        naming.finish()
    }

    /// Marks writes of variables of which some byte belongs to different channels at different places. Were there new ones?
    fn find_shared(&self, plan: &Plan<'_>, shared: &mut [Vec<bool>]) -> bool {
        const NONE: u8 = u8::MAX;
        let mut owners: Vec<Vec<u8>> = self.all.iter().map(|v| vec![NONE; v.end - v.start]).collect();
        let mut mixed = vec![false; self.all.len()];
        let mut look = |variable: usize, access: &Access| {
            // What belongs to no channel is looked at by `merging` itself.
            for (byte, owner) in access.owned_bytes() {
                let Some(owner) = owner else { continue };
                let known = &mut owners[variable][byte - self.all[variable].start];
                mixed[variable] |= *known != NONE && *known != owner as u8;
                *known = owner as u8;
            }
        };
        for (index, effects) in plan.effects.iter().enumerate() {
            for (access, variable) in effects.uses.iter().zip(&self.uses[index]) {
                if let (Some(access), Some(variable)) = (access, variable) {
                    look(*variable, access);
                }
            }
            for (definition, variable) in effects.definitions.iter().zip(&self.definitions[index]) {
                if *variable != usize::MAX {
                    look(*variable, &definition.access);
                }
            }
        }
        let mut found = false;
        for (flags, variables) in shared.iter_mut().zip(&self.definitions) {
            for (flag, variable) in flags.iter_mut().zip(variables) {
                if *variable != usize::MAX && mixed[*variable] && !*flag {
                    (*flag, found) = (true, true);
                }
            }
        }
        found
    }
}

/// Gives bytes numbers that say which write they are from; numbers that meet are united.
struct Naming<'a> {
    plan: &'a Plan<'a>,
    flow: &'a Flow,
    merging: Merging,
    live: &'a [Bytes],
    /// Of each number, one that it is united with, or itself.
    parents: Vec<u32>,
    /// The numbers at the beginning of each block, for the bytes that are live there.
    entries: Vec<Option<Vec<u32>>>,
    uses: Vec<Vec<Option<u32>>>,
    definitions: Vec<Vec<u32>>,
}

/// No write yet.
const NOTHING: u32 = u32::MAX;

impl<'a> Naming<'a> {
    fn new(plan: &'a Plan<'a>, flow: &'a Flow, merging: Merging, live: &'a [Bytes]) -> Naming<'a> {
        Naming {
            plan,
            flow,
            merging,
            live,
            // The bytes that a thread begins with have their own number each.
            parents: (0..GRF_BYTES as u32).collect(),
            entries: vec![None; flow.blocks.len()],
            uses: plan.effects.iter().map(|e| vec![None; e.uses.len()]).collect(),
            definitions: plan.effects.iter().map(|e| vec![NOTHING; e.definitions.len()]).collect(),
        }
    }

    fn find(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            let parent = self.parents[number as usize];
            self.parents[number as usize] = self.parents[parent as usize];
            number = parent;
        }
        number
    }

    fn unite(&mut self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[b as usize] = a;
        a
    }

    fn fresh(&mut self) -> u32 {
        let number = self.parents.len() as u32;
        self.parents.push(number);
        number
    }

    fn name_all(&mut self) {
        let first: Vec<u32> = self.live[0].ones().map(|byte| byte as u32).collect();
        self.entries[0] = Some(first);
        let mut open = vec![0];
        while let Some(block) = open.pop() {
            let state = self.name_block(block);
            for next in self.flow.blocks[block].thread.clone() {
                let arriving: Vec<u32> = self.live[next].ones().map(|byte| state[byte]).collect();
                match self.entries[next].take() {
                    None => {
                        self.entries[next] = Some(arriving);
                        open.push(next);
                    }
                    Some(known) => {
                        for (a, b) in known.iter().zip(&arriving) {
                            self.unite(*a, *b);
                        }
                        self.entries[next] = Some(known);
                    }
                }
            }
        }
    }

    /// Names what a block accesses; the numbers at its end, by byte.
    fn name_block(&mut self, block: usize) -> Vec<u32> {
        let mut state = vec![NOTHING; GRF_BYTES];
        for (byte, number) in self.live[block].ones().zip(self.entries[block].iter().flatten()) {
            state[byte] = *number;
        }
        let plan = self.plan;
        for index in self.flow.blocks[block].start..self.flow.blocks[block].end {
            for (k, access) in plan.effects[index].uses.iter().enumerate() {
                let Some(access) = access else { continue };
                let number = self.unite_bytes(&state, access, None);
                self.uses[index][k] = Some(number);
            }
            for (k, definition) in plan.effects[index].definitions.iter().enumerate() {
                let mut number = self.fresh();
                if self.merging[index][k] {
                    number = self.unite_bytes(&state, &definition.access, Some(number));
                }
                self.definitions[index][k] = number;
            }
            for (k, definition) in plan.effects[index].definitions.iter().enumerate() {
                definition.access.bytes().for_each(|byte| state[byte] = self.definitions[index][k]);
            }
        }
        state
    }

    fn unite_bytes(&mut self, state: &[u32], access: &Access, with: Option<u32>) -> u32 {
        let mut all = with;
        for byte in access.bytes() {
            if state[byte] != NOTHING {
                all = Some(all.map_or(state[byte], |number| self.unite(number, state[byte])));
            }
        }
        all.unwrap_or_else(|| self.fresh())
    }

    fn finish(mut self) -> Variables {
        let uses_numbers = std::mem::take(&mut self.uses);
        let definition_numbers = std::mem::take(&mut self.definitions);
        let mut table = Table { numbers: vec![usize::MAX; self.parents.len()], all: Vec::new() };
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
        for byte in self.live[0].ones() {
            let index = table.touch(&mut self, byte as u32, (byte, byte + 1));
            table.all[index].initial.push(byte);
        }
        let mut live = Vec::with_capacity(self.flow.blocks.len());
        for block in 0..self.flow.blocks.len() {
            let entry = self.entries[block].take().unwrap_or_default();
            let bytes: Vec<usize> = self.live[block].ones().collect();
            let pairs = bytes
                .iter()
                .zip(&entry)
                .map(|(byte, number)| (table.touch(&mut self, *number, (*byte, byte + 1)), *byte));
            live.push(pairs.collect());
        }
        Variables { all: table.all, uses, definitions, merging: self.merging, live }
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
        let root = naming.find(number) as usize;
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
