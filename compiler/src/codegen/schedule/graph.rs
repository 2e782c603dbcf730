//! What must come before what in a block, and how long after it.

use crate::codegen::allocate::{Locations, is_nothing};
use crate::codegen::lir::{GRF, Inst, Kind, VRef, Vreg, VregInfo};
use gencl_isa::message::{Message, Operation, surface};
use gencl_isa::{Arf, Descriptor, Extra, Generation, Opcode, Operand, Register};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Clocks from the end of an instruction's issue until its result can be read: Skylake, from Mesa's
/// `brw_ir_performance.cpp`. The order hardly depends on them.
mod latency {
    /// Arithmetic.
    pub const RESULT: u32 = 8;
    /// A flag.
    pub const FLAG: u32 = 12;
    /// Extended math.
    pub const MATH: u32 = 16;
    /// Shared local memory.
    pub const SHARED: u32 = 100;
    /// Memory: between a hit in the L3 cache and a miss.
    pub const MEMORY: u32 = 250;
}

/// An instruction.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Instructions that must come after it, and clocks from the end of its issue on.
    pub after: Vec<(usize, u32)>,
    /// How many must come before it.
    pub before: u32,
    /// Clocks for which it holds the thread.
    pub issue: u32,
    /// Clocks from its beginning to the end of the block, at least.
    pub height: u32,
}

/// The instructions of a block.
pub struct Graph {
    /// In the block's order, in which all edges lead forward.
    pub nodes: Vec<Node>,
}

/// Does it end the thread?
pub fn ends_thread(inst: &Inst) -> bool {
    matches!(inst.isa.extra, Extra::Send(send) if send.end_of_thread)
}

/// What a message does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    shared: bool,
    write: bool,
}

impl Graph {
    /// Of the instructions of a block without its end, with their registers in places or not yet.
    pub fn new(insts: &[Inst], places: &Places, generation: Generation) -> Graph {
        let mut graph = Graph { nodes: vec![Node::default(); insts.len()] };
        let mut known = Known::default();
        for (index, inst) in insts.iter().enumerate() {
            graph.nodes[index].issue = if places.is_nothing(inst) { 0 } else { issue(inst) };
            known.add(&mut graph, index, insts, places, generation);
        }
        for index in (0..insts.len()).rev() {
            let node = &graph.nodes[index];
            let rest = node.after.iter().map(|&(next, latency)| latency + graph.nodes[next].height).max();
            graph.nodes[index].height = node.issue + rest.unwrap_or(0);
        }
        graph
    }

    fn edge(&mut self, from: usize, to: usize, latency: u32) {
        // Edges come in the order of where they lead.
        match self.nodes[from].after.last_mut() {
            Some((next, known)) if *next == to => *known = latency.max(*known),
            _ => {
                self.nodes[from].after.push((to, latency));
                self.nodes[to].before += 1;
            }
        }
    }
}

/// Where the registers of a block are.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    /// Virtual registers.
    pub vregs: &'a [VregInfo],
    /// Their places in the register file, once they have some.
    pub locations: Option<&'a Locations>,
}

/// What instructions read and write beside flags and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Room {
    /// A virtual register.
    Register(Vreg),
    /// The register file.
    File,
    /// The thread's scratch for registers.
    Scratch,
}

/// Bytes `first` to `end` of a room.
#[derive(Clone, Copy)]
struct Bytes {
    room: Room,
    first: u32,
    end: u32,
}

impl Places<'_> {
    fn bytes(&self, v: VRef, size: u32) -> Bytes {
        let number = v.vreg.0 as usize;
        let (room, start) = match self.locations.map(|all| all[number]) {
            None => (Room::Register(v.vreg), 0),
            Some(at) => (Room::File, at.unwrap_or(0)),
        };
        let first = start + v.offset;
        Bytes { room, first, end: first + size.max(1) }
    }

    fn reads<'a>(&'a self, inst: &'a Inst) -> impl Iterator<Item = Bytes> + 'a {
        let sources = inst.srcs.iter().enumerate().filter_map(|(n, v)| v.map(|v| (n, v)));
        let scratch = match inst.kind {
            Kind::Fill(first) => Some(Bytes { room: Room::Scratch, first, end: first + inst.dst_span() }),
            _ => None,
        };
        sources.map(|(n, v)| self.bytes(v, inst.src_span(n))).chain(scratch)
    }

    fn writes<'a>(&'a self, inst: &'a Inst) -> impl Iterator<Item = Bytes> + 'a {
        let destination = inst.dst.map(|v| match inst.kind {
            Kind::Undefined => self.bytes(v, self.vregs[v.vreg.0 as usize].size - v.offset),
            _ => self.bytes(v, inst.dst_span()),
        });
        let scratch = match inst.kind {
            Kind::Spill(first) => {
                inst.spilled().map(|(_, bytes)| Bytes { room: Room::Scratch, first, end: first + bytes })
            }
            _ => None,
        };
        destination.into_iter().chain(scratch)
    }

    /// Does no machine instruction come of it?
    fn is_nothing(&self, inst: &Inst) -> bool {
        inst.kind == Kind::Undefined || self.locations.is_some_and(|all| is_nothing(inst, all))
    }
}

/// Clocks for which an instruction holds the thread: two for each register of its widest operand.
fn issue(inst: &Inst) -> u32 {
    if inst.lengths().is_some() {
        return 2;
    }
    let span = (0..3).map(|i| inst.src_span(i)).chain([inst.dst_span()]).max().unwrap_or(0);
    2 * span.div_ceil(GRF).max(1)
}

/// The accesses so far to 32 bytes of a room that later ones may have to wait for: instruction, first byte
/// and end.
#[derive(Default)]
struct Cell {
    writes: SmallVec<[(usize, u32, u32); 4]>,
    reads: SmallVec<[(usize, u32, u32); 4]>,
}

/// The instructions so far that later ones may have to wait for.
#[derive(Default)]
struct Known {
    cells: FxHashMap<(Room, u32), Cell>,
    /// The last write of each virtual register.
    last: FxHashMap<Vreg, usize>,
    /// By flag of 16 bits.
    flag_writes: [Option<usize>; 4],
    flag_reads: [Vec<usize>; 4],
    /// By memory: shared or not.
    stores: [Option<usize>; 2],
    loads: [Vec<usize>; 2],
    /// The last one that nothing goes over.
    wall: Option<usize>,
}

impl Known {
    fn add(
        &mut self,
        graph: &mut Graph,
        index: usize,
        insts: &[Inst],
        places: &Places,
        generation: Generation,
    ) {
        let inst = &insts[index];
        if let Some(wall) = self.wall {
            graph.edge(wall, index, 0);
        }
        let latency = |from: usize| match places.is_nothing(&insts[from]) {
            true => 0,
            false => result_latency(&insts[from], generation),
        };
        for bytes in places.reads(inst) {
            self.read(graph, index, bytes, &latency);
        }
        for bytes in places.writes(inst) {
            self.write(graph, index, bytes, &latency);
        }
        for flag in flags_read(inst) {
            if let Some(from) = self.flag_writes[flag] {
                graph.edge(from, index, latency::FLAG);
            }
            self.flag_reads[flag].push(index);
        }
        for flag in flags_written(inst) {
            for from in
                self.flag_reads[flag].drain(..).chain(self.flag_writes[flag].take()).filter(|&f| f != index)
            {
                graph.edge(from, index, 0);
            }
            self.flag_writes[flag] = Some(index);
        }
        match access(inst, generation) {
            Order::Free => {}
            Order::Memory(Access { shared, write }) => {
                let memory = usize::from(shared);
                if let Some(from) = self.stores[memory] {
                    graph.edge(from, index, 0);
                }
                if write {
                    for from in self.loads[memory].drain(..) {
                        graph.edge(from, index, 0);
                    }
                    self.stores[memory] = Some(index);
                } else {
                    self.loads[memory].push(index);
                }
            }
            Order::Wall => {
                for from in self.wall.unwrap_or(0)..index {
                    graph.edge(from, index, 0);
                }
                self.wall = Some(index);
            }
        }
    }

    fn read(&mut self, graph: &mut Graph, index: usize, bytes: Bytes, latency: &dyn Fn(usize) -> u32) {
        for (number, first, end) in cells(bytes) {
            let cell = self.cells.entry((bytes.room, number)).or_default();
            for &(from, f, e) in &cell.writes {
                if f < end && first < e {
                    graph.edge(from, index, latency(from));
                }
            }
            cell.reads.push((index, first, end));
        }
    }

    fn write(&mut self, graph: &mut Graph, index: usize, bytes: Bytes, latency: &dyn Fn(usize) -> u32) {
        if let Room::Register(vreg) = bytes.room
            && let Some(from) = self.last.insert(vreg, index)
        {
            // Parts of one value stay in order: the first of them ends what the register held before.
            graph.edge(from, index, 0);
        }
        for (number, first, end) in cells(bytes) {
            let cell = self.cells.entry((bytes.room, number)).or_default();
            for &(from, f, e) in cell.reads.iter().filter(|known| known.0 != index) {
                if f < end && first < e {
                    graph.edge(from, index, 0);
                }
            }
            for &(from, f, e) in &cell.writes {
                if f < end && first < e {
                    graph.edge(from, index, latency(from));
                }
            }
            // What comes later waits for this one, which waits for what it covers.
            let covers = |&(_, f, e): &(usize, u32, u32)| first <= f && e <= end;
            cell.reads.retain(|known| !covers(known));
            cell.writes.retain(|known| !covers(known));
            cell.writes.push((index, first, end));
        }
    }
}

/// The registers of 32 bytes that some bytes are in, with the first byte and the end in each.
fn cells(bytes: Bytes) -> impl Iterator<Item = (u32, u32, u32)> {
    let Bytes { first, end, .. } = bytes;
    (first / GRF..end.div_ceil(GRF)).map(move |n| (n, first.max(n * GRF), end.min((n + 1) * GRF)))
}

/// How an instruction is ordered among others, beside its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Free,
    Memory(Access),
    /// Nothing goes over it.
    Wall,
}

fn access(inst: &Inst, generation: Generation) -> Order {
    let is_state = |register: Register| match register {
        Register::Arf(arf) => !matches!(arf, Arf::Null | Arf::Flag(_)),
        Register::Grf(_) => false,
    };
    let source_is_state = |operand: &Operand| match operand {
        Operand::Register(source) => is_state(source.register) || source.indirect.is_some(),
        _ => false,
    };
    let isa = &inst.isa;
    // A register by its number, as the end of the thread has it: allocation knows only that nothing is alive
    // behind its write.
    let numbered = inst.dst.is_none() && matches!(isa.destination.register, Register::Grf(_));
    if isa.opcode == Opcode::Wait
        || numbered
        || isa.accumulator_write
        || is_state(isa.destination.register)
        || isa.destination.indirect.is_some()
        || isa.sources.iter().any(source_is_state)
    {
        return Order::Wall;
    }
    let Extra::Send(send) = isa.extra else { return Order::Free };
    let Descriptor::Immediate(descriptor) = send.descriptor else { return Order::Wall };
    // Registers in scratch are ordered as registers are.
    if matches!(inst.kind, Kind::Spill(_) | Kind::Fill(_)) {
        return Order::Free;
    }
    let message = Message::decode(generation, send.target, descriptor);
    let at = |surface: u8, write: bool| Order::Memory(Access { shared: surface == surface::SLM, write });
    match message.map(|m| m.operation) {
        Ok(Operation::Untyped { surface, write, .. } | Operation::ByteScattered { surface, write, .. }) => {
            at(surface, write)
        }
        Ok(Operation::A64Scattered { surface, write, .. } | Operation::OwordBlock { surface, write, .. }) => {
            at(surface, write)
        }
        Ok(Operation::UntypedAtomic { surface, .. }) => at(surface, true),
        _ => Order::Wall,
    }
}

/// Clocks until what an instruction writes can be read.
fn result_latency(inst: &Inst, generation: Generation) -> u32 {
    match access(inst, generation) {
        Order::Memory(Access { shared: true, .. }) => latency::SHARED,
        Order::Memory(_) => latency::MEMORY,
        _ if matches!(inst.isa.extra, Extra::Math(_)) => latency::MATH,
        _ if matches!(inst.kind, Kind::Fill(_)) => latency::SHARED,
        _ => latency::RESULT,
    }
}

/// The flags of 16 bits that bits `first` to `end` of a flag register are in.
fn flags_of(register: u8, first: u32, end: u32) -> impl Iterator<Item = usize> {
    (0..2)
        .filter(move |half| first < 16 * (half + 1) && 16 * half < end)
        .map(move |half| usize::from(register) * 2 + half as usize)
}

/// The flags for the channels of an instruction.
fn channel_flags(inst: &Inst) -> impl Iterator<Item = usize> + use<> {
    let isa = &inst.isa;
    let base = 16 * u32::from(isa.flag.subregister);
    let first = base + if isa.exec_size == 1 { 0 } else { u32::from(isa.channel_offset) };
    flags_of(isa.flag.register, first, first + u32::from(isa.exec_size))
}

fn flags_read(inst: &Inst) -> Vec<usize> {
    let mut flags = Vec::new();
    if inst.isa.predicate.is_some() {
        flags.extend(channel_flags(inst));
    }
    for source in &inst.isa.sources {
        if let Operand::Register(source) = source
            && let Register::Arf(Arf::Flag(register)) = source.register
        {
            let first = 8 * u32::from(source.subregister);
            flags.extend(flags_of(register, first, first + 8 * source.ty.size()));
        }
    }
    flags
}

fn flags_written(inst: &Inst) -> Vec<usize> {
    let mut flags = Vec::new();
    if inst.isa.condition.is_some() && inst.isa.opcode != Opcode::Sel {
        flags.extend(channel_flags(inst));
    }
    if let Register::Arf(Arf::Flag(register)) = inst.isa.destination.register {
        let first = 8 * u32::from(inst.isa.destination.subregister);
        flags.extend(flags_of(register, first, first + 8 * inst.isa.destination.ty.size()));
    }
    flags
}
