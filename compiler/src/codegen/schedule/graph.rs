//! The dependence graph of a block, with latencies.

use crate::codegen::allocate::{Locations, is_redundant_copy};
use crate::codegen::lir::{GRF, Inst, InstKind, VRef, Vreg, VregInfo};
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

/// An instruction in the dependence graph.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Dependent instructions, each with the minimum number of clocks after the end of its issue.
    pub successors: Vec<(usize, u32)>,
    /// Number of instructions it depends on.
    pub predecessors: u32,
    /// Clocks for which it holds the thread.
    pub issue: u32,
    /// Minimum number of clocks from its issue to the end of the block.
    pub height: u32,
}

/// The instructions of a block.
pub struct Graph {
    /// In the block's order, in which all edges lead forward.
    pub nodes: Vec<Node>,
}

/// Whether it ends the thread.
pub fn ends_thread(inst: &Inst) -> bool {
    matches!(inst.isa.extra, Extra::Send(send) if send.end_of_thread)
}

/// A memory access by a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    shared: bool,
    write: bool,
}

impl Graph {
    /// The graph of a block's instructions without terminators, before or after register allocation.
    pub fn new(insts: &[Inst], placement: &RegisterPlacement, generation: Generation) -> Graph {
        let mut graph = Graph { nodes: vec![Node::default(); insts.len()] };
        let mut pending = PendingAccesses::default();
        for (index, inst) in insts.iter().enumerate() {
            graph.nodes[index].issue = if placement.emits_nothing(inst) { 0 } else { issue(inst) };
            pending.add(&mut graph, index, insts, placement, generation);
        }
        for index in (0..insts.len()).rev() {
            let node = &graph.nodes[index];
            let rest =
                node.successors.iter().map(|&(next, latency)| latency + graph.nodes[next].height).max();
            graph.nodes[index].height = node.issue + rest.unwrap_or(0);
        }
        graph
    }

    fn edge(&mut self, from: usize, to: usize, latency: u32) {
        // Edges are added in the order of their targets.
        match self.nodes[from].successors.last_mut() {
            Some((next, known)) if *next == to => *known = latency.max(*known),
            _ => {
                self.nodes[from].successors.push((to, latency));
                self.nodes[to].predecessors += 1;
            }
        }
    }
}

/// The virtual registers, and their locations after allocation.
#[derive(Clone, Copy)]
pub struct RegisterPlacement<'a> {
    /// Virtual registers.
    pub vregs: &'a [VregInfo],
    /// Their locations, after allocation.
    pub locations: Option<&'a Locations>,
}

/// Storage that instructions access, apart from flags and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Storage {
    /// A virtual register.
    Register(Vreg),
    /// The register file.
    File,
    /// The thread's scratch for registers.
    Scratch,
}

/// Bytes `first..end` of a storage.
#[derive(Clone, Copy)]
struct ByteRange {
    storage: Storage,
    first: u32,
    end: u32,
}

impl RegisterPlacement<'_> {
    fn bytes(&self, v: VRef, size: u32) -> ByteRange {
        let number = v.vreg.0 as usize;
        let (storage, start) = match self.locations.map(|all| all[number]) {
            None => (Storage::Register(v.vreg), 0),
            Some(at) => (Storage::File, at.unwrap_or(0)),
        };
        let first = start + v.offset;
        ByteRange { storage, first, end: first + size.max(1) }
    }

    fn reads<'a>(&'a self, inst: &'a Inst) -> impl Iterator<Item = ByteRange> + 'a {
        let sources = inst.srcs.iter().enumerate().filter_map(|(n, v)| v.map(|v| (n, v)));
        let scratch = match inst.kind {
            InstKind::Fill(first) => {
                Some(ByteRange { storage: Storage::Scratch, first, end: first + inst.dst_span() })
            }
            InstKind::Normal | InstKind::Undef | InstKind::Copy | InstKind::Spill(_) => None,
        };
        sources.map(|(n, v)| self.bytes(v, inst.src_span(n))).chain(scratch)
    }

    fn writes<'a>(&'a self, inst: &'a Inst) -> impl Iterator<Item = ByteRange> + 'a {
        let destination = inst.dst.map(|v| match inst.kind {
            InstKind::Undef => self.bytes(v, self.vregs[v.vreg.0 as usize].size - v.offset),
            InstKind::Normal | InstKind::Copy | InstKind::Spill(_) | InstKind::Fill(_) => {
                self.bytes(v, inst.dst_span())
            }
        });
        let scratch = match inst.kind {
            InstKind::Spill(first) => inst.spilled().map(|(_, bytes)| ByteRange {
                storage: Storage::Scratch,
                first,
                end: first + bytes,
            }),
            InstKind::Normal | InstKind::Undef | InstKind::Copy | InstKind::Fill(_) => None,
        };
        destination.into_iter().chain(scratch)
    }

    /// Whether emission drops it.
    fn emits_nothing(&self, inst: &Inst) -> bool {
        inst.kind == InstKind::Undef || self.locations.is_some_and(|all| is_redundant_copy(inst, all))
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

/// Earlier accesses to 32 bytes of a storage that later ones may depend on: instruction, first byte and end.
#[derive(Default)]
struct CellAccesses {
    writes: SmallVec<[(usize, u32, u32); 4]>,
    reads: SmallVec<[(usize, u32, u32); 4]>,
}

/// Earlier instructions that later ones may depend on.
#[derive(Default)]
struct PendingAccesses {
    cells: FxHashMap<(Storage, u32), CellAccesses>,
    /// The last write of each virtual register.
    last: FxHashMap<Vreg, usize>,
    /// By flag of 16 bits.
    flag_writes: [Option<usize>; 4],
    flag_reads: [Vec<usize>; 4],
    /// By memory: 0 global, 1 shared local.
    stores: [Option<usize>; 2],
    loads: [Vec<usize>; 2],
    /// The last scheduling barrier.
    barrier: Option<usize>,
}

impl PendingAccesses {
    fn add(
        &mut self,
        graph: &mut Graph,
        index: usize,
        insts: &[Inst],
        placement: &RegisterPlacement,
        generation: Generation,
    ) {
        let inst = &insts[index];
        if let Some(barrier) = self.barrier {
            graph.edge(barrier, index, 0);
        }
        let latency = |from: usize| match placement.emits_nothing(&insts[from]) {
            true => 0,
            false => result_latency(&insts[from], generation),
        };
        for bytes in placement.reads(inst) {
            self.read(graph, index, bytes, &latency);
        }
        for bytes in placement.writes(inst) {
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
            Order::Barrier => {
                for from in self.barrier.unwrap_or(0)..index {
                    graph.edge(from, index, 0);
                }
                self.barrier = Some(index);
            }
        }
    }

    fn read(&mut self, graph: &mut Graph, index: usize, bytes: ByteRange, latency: &dyn Fn(usize) -> u32) {
        for (number, first, end) in cells(bytes) {
            let cell = self.cells.entry((bytes.storage, number)).or_default();
            for &(from, f, e) in &cell.writes {
                if f < end && first < e {
                    graph.edge(from, index, latency(from));
                }
            }
            cell.reads.push((index, first, end));
        }
    }

    fn write(&mut self, graph: &mut Graph, index: usize, bytes: ByteRange, latency: &dyn Fn(usize) -> u32) {
        if let Storage::Register(vreg) = bytes.storage
            && let Some(from) = self.last.insert(vreg, index)
        {
            // Writes of parts of one value stay in order: the first of them kills the previous value.
            graph.edge(from, index, 0);
        }
        for (number, first, end) in cells(bytes) {
            let cell = self.cells.entry((bytes.storage, number)).or_default();
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
            // Later accesses depend on this one, and through it on those it covers.
            let covers = |&(_, f, e): &(usize, u32, u32)| first <= f && e <= end;
            cell.reads.retain(|known| !covers(known));
            cell.writes.retain(|known| !covers(known));
            cell.writes.push((index, first, end));
        }
    }
}

/// The 32-byte cells that a range overlaps, each with the first byte and the end of the overlap.
fn cells(bytes: ByteRange) -> impl Iterator<Item = (u32, u32, u32)> {
    let ByteRange { first, end, .. } = bytes;
    (first / GRF..end.div_ceil(GRF)).map(move |n| (n, first.max(n * GRF), end.min((n + 1) * GRF)))
}

/// How an instruction is ordered among others, apart from its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Free,
    Memory(Access),
    /// A scheduling barrier: no instruction moves across it.
    Barrier,
}

fn access(inst: &Inst, generation: Generation) -> Order {
    let is_state = |register: Register| match register {
        Register::Arf(arf) => !matches!(arf, Arf::Null | Arf::Flag(_)),
        Register::Grf(_) => false,
    };
    let source_is_state = |operand: &Operand| match operand {
        Operand::Register(source) => is_state(source.register) || source.indirect.is_some(),
        Operand::Immediate { .. } | Operand::None => false,
    };
    let isa = &inst.isa;
    // A physical register, at the end of the thread: allocation relies on no virtual register being live
    // there.
    let numbered = inst.dst.is_none() && matches!(isa.destination.register, Register::Grf(_));
    if isa.opcode == Opcode::Wait
        || numbered
        || isa.accumulator_write
        || is_state(isa.destination.register)
        || isa.destination.indirect.is_some()
        || isa.sources.iter().any(source_is_state)
    {
        return Order::Barrier;
    }
    let Extra::Send(send) = isa.extra else { return Order::Free };
    let Descriptor::Immediate(descriptor) = send.descriptor else { return Order::Barrier };
    // Spills and fills are ordered by their bytes of scratch.
    if matches!(inst.kind, InstKind::Spill(_) | InstKind::Fill(_)) {
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
        Ok(
            Operation::UntypedAtomicFloat { .. }
            | Operation::DwordScattered { .. }
            | Operation::OwordDualBlock { .. }
            | Operation::ScratchBlock { .. }
            | Operation::Fence { .. }
            | Operation::Typed { .. }
            | Operation::TypedAtomic { .. }
            | Operation::MediaBlock { .. }
            | Operation::RenderTarget { .. }
            | Operation::Sampler { .. }
            | Operation::Urb { .. }
            | Operation::Gateway { .. }
            | Operation::ThreadSpawner { .. }
            | Operation::PixelInterpolator { .. }
            | Operation::RaceCheck { .. },
        )
        | Err(_) => Order::Barrier,
    }
}

/// Latency of an instruction's result in clocks.
fn result_latency(inst: &Inst, generation: Generation) -> u32 {
    match access(inst, generation) {
        Order::Memory(Access { shared: true, .. }) => latency::SHARED,
        Order::Memory(_) => latency::MEMORY,
        _ if matches!(inst.isa.extra, Extra::Math(_)) => latency::MATH,
        _ if matches!(inst.kind, InstKind::Fill(_)) => latency::SHARED,
        _ => latency::RESULT,
    }
}

/// The 16-bit flags that bits `first..end` of a flag register overlap.
fn flags_of(register: u8, first: u32, end: u32) -> impl Iterator<Item = usize> {
    (0..2)
        .filter(move |half| first < 16 * (half + 1) && 16 * half < end)
        .map(move |half| usize::from(register) * 2 + half as usize)
}

/// The flags with a bit for a channel of an instruction.
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
