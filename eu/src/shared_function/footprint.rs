//! The memory footprint of a message: the cache lines that it accesses, and how long it occupies the banks of
//! shared local memory. Statistics determine it before the message is performed.
//!
//! "The data port coalesces scattered accesses into fewer operations over non-duplicated 64-byte cachelines";
//! shared local memory has 16 banks of 4 bytes ("The Compute Architecture of Intel Processor Graphics Gen9",
//! "Subslice Architecture" and "Shared Local Memory"). Reads of the same dword by several lanes are one
//! access, writes to a bank are always separate (Intel's "OpenCL Developer Guide for Intel Processor
//! Graphics", "Kernel Memory Access Optimization Summary").

use gencl_isa::Descriptor;
use smallvec::SmallVec;

use super::call::Call;
use super::port::LOCAL_OFFSET_BITS;
use super::{media_block, sampler, typed};
use crate::context::Context;
use crate::cycles::MessageClass;
use crate::dispatch::GRF_SIZE;
use crate::file::{self, ADDRESS};
use crate::message::image::source::TexelAccess;
use crate::message::port::{MemoryRegion, Space};
use crate::message::{BlockAddress, Message, MessageLengths, MessageOperation, decode};
use crate::op::Op;
use crate::operand::lanes;
use crate::thread::Thread;

/// Bytes of a cache line.
const LINE: u64 = 64;
/// Number of banks of shared local memory.
const BANKS: usize = 16;
/// Bytes per clock of a bank.
const BANK_WIDTH: u64 = 4;

/// Results per clock of a sampler, filtered or not ("The Compute Architecture of Intel Processor Graphics Gen9",
/// "Sampler").
const RESULTS: u32 = 4;

/// The global address space.
const EVERYTHING: MemoryRegion = MemoryRegion::Memory { base: 0, size: u64::MAX };

/// What a message occupies and accesses. One is filled in for message after message, so that its vectors keep their
/// memory.
#[derive(Debug, Default)]
pub struct Footprint {
    /// Its class, which determines the latency; `None` for invalid messages.
    pub class: Option<MessageClass>,
    /// Cache lines, each once, ascending: GPU address / 64. Empty for shared local memory.
    pub lines: Vec<u64>,
    /// Bytes in memory that it accesses, each once; 0 for shared local memory and images.
    pub bytes: u64,
    /// Clocks that it occupies the data port.
    pub port: u32,
    /// Those of `port` that accesses to other banks, or atomic operations on other elements, would not take.
    pub conflicts: u32,
    /// Clocks that it occupies the sampler.
    pub sampler: u32,
    /// Texels that it reads or writes: up to eight for a filtered result.
    pub texels: u32,
    /// Number of payload registers.
    pub payload: usize,
    /// Bit set of general registers that it reads.
    pub reads: u128,
    /// Bit set of general registers that it writes.
    pub writes: u128,
    /// Whether it may write memory.
    pub is_write: bool,
    /// The memory of [`Footprint::accesses`].
    region: Option<MemoryRegion>,
    /// The accesses of all lanes, by offset in the region.
    accesses: Vec<Access>,
}

/// One access of a lane.
#[derive(Clone, Copy, Debug)]
struct Access {
    offset: u64,
    bytes: u64,
}

impl Footprint {
    /// The accesses to memory, images too: whether to shared local memory, address or offset there, and bytes.
    pub fn accesses(&self) -> impl Iterator<Item = (bool, u64, u64)> + '_ {
        self.accesses.iter().filter_map(|access| match self.region? {
            MemoryRegion::Local => Some((true, access.offset & LOCAL_OFFSET_BITS, access.bytes)),
            MemoryRegion::Memory { base, size } => (access.offset.checked_add(access.bytes)? <= size)
                .then(|| (false, base.wrapping_add(access.offset), access.bytes)),
        })
    }

    /// Fills in the footprint of a message that a thread is about to send for the lanes in `mask`. Faults are
    /// raised when the message is performed; here invalid accesses are ignored.
    pub fn fill(
        &mut self,
        context: &mut Context<'_>,
        thread: &mut Thread,
        op: &Op,
        message: &Message,
        mask: u32,
    ) {
        let at = |d: Descriptor| match d {
            Descriptor::Immediate(bits) => bits,
            Descriptor::Register(n) => file::dword(&thread.file, ADDRESS + usize::from(n) % 8 * 4),
        };
        let (descriptor, extended) = (at(message.descriptor), at(message.extended));
        let lengths = MessageLengths::of(descriptor, extended, message.split);
        let known = message.kind.is_some();
        let (mut lines, mut accesses) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.accesses));
        lines.clear();
        accesses.clear();
        *self = Footprint {
            payload: lengths.length + lengths.second_length,
            reads: if known { op.reads } else { message.reads(lengths) },
            writes: if known { op.writes } else { message.writes(lengths) },
            lines,
            accesses,
            ..Footprint::default()
        };
        let decoded;
        let kind = match &message.kind {
            Some(kind) => kind,
            None => {
                let generation = context.device.generation;
                let kind = decode(generation, message.target, descriptor, message.end_of_thread);
                let Ok(kind) = kind else { return };
                decoded = kind;
                &decoded
            }
        };
        self.memory(&mut Call { context, thread, op, message, lengths, mask }, kind);
    }

    /// Fills in the accesses to memory.
    fn memory(&mut self, call: &mut Call<'_, '_>, kind: &MessageOperation) {
        match kind {
            MessageOperation::Scattered(m) => {
                let bytes = m.elements.size.into();
                per_lane(call, m.space, m.simd, m.address_unit, |address| {
                    let offsets = m.elements.offsets().map(|inner| address.wrapping_add(inner as u64));
                    self.accesses.extend(offsets.map(|offset| Access { offset, bytes }));
                });
                self.count_accesses(call, m.space, m.write);
            }
            MessageOperation::Atomic(m) => {
                let bytes = m.size as u64;
                per_lane(call, m.space, m.simd, 1, |offset| self.accesses.push(Access { offset, bytes }));
                self.count_accesses(call, m.space, true);
                // Operations on the same element are serialised.
                let most = most_of(self.accesses.iter().map(|a| a.offset));
                self.conflicts += most.saturating_sub(self.port);
                self.port = self.port.max(most);
                self.class = Some(if m.space == Space::Local {
                    MessageClass::SlmAtomic
                } else {
                    MessageClass::Atomic
                });
            }
            MessageOperation::Block(m) => {
                let (space, offset) = match m.address {
                    BlockAddress::OWords(space) => (space, call.header(2).map(|o| u64::from(o) * 16)),
                    BlockAddress::Bytes(space) => (space, call.header(2).map(u64::from)),
                    BlockAddress::Wide { .. } => {
                        let (low, high) = (call.header(0), call.header(1));
                        let address = low.and_then(|l| Ok(u64::from(l) | u64::from(high?) << 32));
                        (Space::Global, address)
                    }
                };
                let bytes = m.bytes as u64;
                self.accesses.extend(offset.into_iter().map(|offset| Access { offset, bytes }));
                self.count_accesses(call, space, m.write);
            }
            MessageOperation::Scratch(m) => {
                let bytes = (m.registers * GRF_SIZE) as u64;
                self.accesses.push(Access { offset: u64::from(m.offset), bytes });
                self.count_accesses(call, Space::Stateless, m.write);
            }
            MessageOperation::Typed(m) => {
                let coordinates = if m.write { m.components.count_ones() as usize } else { 0 };
                self.texels(&typed::texels(call, m.surface, m.slots, coordinates));
                self.is_write = m.write;
                (self.class, self.port) = (Some(MessageClass::Memory), (self.lines.len() as u32).max(1));
            }
            MessageOperation::TypedAtomic(m) => {
                self.texels(&typed::texels(call, m.surface, m.slots, m.operation.sources()));
                self.is_write = true;
                (self.class, self.port) = (Some(MessageClass::Atomic), (self.lines.len() as u32).max(1));
            }
            // Cache lines of media blocks are not counted.
            MessageOperation::MediaBlock(m) => {
                let bytes = media_block::addresses(call, m).unwrap_or_default();
                self.accesses.extend(bytes.into_iter().map(|offset| Access { offset, bytes: 1 }));
                (self.region, self.is_write) = (Some(EVERYTHING), m.write);
                (self.class, self.port) = (Some(MessageClass::Memory), 1);
            }
            MessageOperation::Sample(m) => {
                self.texels(&sampler::texels(call, m));
                self.class = Some(MessageClass::Sampler);
                self.sampler = call.mask.count_ones().div_ceil(RESULTS);
            }
            MessageOperation::Fence => self.class = Some(MessageClass::Fence),
            MessageOperation::Barrier => self.class = Some(MessageClass::Barrier),
            // The hardware does not have it.
            MessageOperation::Race(_) => {}
            MessageOperation::End => self.class = Some(MessageClass::End),
        }
    }

    /// Adds texels.
    fn texels(&mut self, texels: &[TexelAccess]) {
        self.texels += texels.len() as u32;
        self.region = Some(EVERYTHING);
        let accesses = texels.iter().map(|texel| Access { offset: texel.address, bytes: texel.bytes as u64 });
        self.accesses.extend(accesses);
        self.add_lines(texels.iter().map(|texel| (texel.address, texel.bytes as u64)));
    }

    /// Adds the cache lines of accesses: addresses and bytes.
    fn add_lines(&mut self, accesses: impl Iterator<Item = (u64, u64)>) {
        for (first, bytes) in accesses {
            for line in first / LINE..=first.wrapping_add(bytes - 1) / LINE {
                // Neighbouring lanes mostly access the same line.
                if self.lines.last() != Some(&line) {
                    self.lines.push(line);
                }
            }
        }
        if !self.lines.is_sorted() {
            self.lines.sort_unstable();
        }
        self.lines.dedup();
    }

    /// Counts `accesses`, which are to one kind of memory.
    fn count_accesses(&mut self, call: &mut Call<'_, '_>, space: Space, write: bool) {
        let Ok(region) = call.region(space) else { return };
        (self.region, self.is_write) = (Some(region), write);
        match region {
            MemoryRegion::Local => {
                self.class = Some(MessageClass::Slm);
                let banks = BankAccesses::of(&self.accesses, write);
                (self.port, self.conflicts) = (banks.clocks, banks.conflicts());
            }
            MemoryRegion::Memory { base, size } => {
                self.class = Some(MessageClass::Memory);
                let accesses = std::mem::take(&mut self.accesses);
                let inside =
                    accesses.iter().filter(|a| a.offset.checked_add(a.bytes).is_some_and(|end| end <= size));
                self.add_lines(inside.map(|a| (base.wrapping_add(a.offset), a.bytes)));
                self.port = self.lines.len() as u32;
                self.bytes = distinct_bytes(&accesses);
                self.accesses = accesses;
            }
        }
    }
}

/// Bytes of accesses, each once.
fn distinct_bytes(accesses: &[Access]) -> u64 {
    let count = |(bytes, end): (u64, u64), access: &Access| {
        let last = access.offset.saturating_add(access.bytes);
        (bytes + last.saturating_sub(access.offset.max(end)), end.max(last))
    };
    // Neighbouring lanes mostly access neighbouring elements.
    if accesses.is_sorted_by_key(|access| access.offset) {
        return accesses.iter().fold((0, 0), count).0;
    }
    let mut sorted: SmallVec<[Access; 64]> = accesses.into();
    sorted.sort_unstable_by_key(|access| access.offset);
    sorted.iter().fold((0, 0), count).0
}

/// Calls `access` for the address of each enabled lane, which are in the payload in units of `unit` bytes.
fn per_lane(call: &Call<'_, '_>, space: Space, simd: usize, unit: u64, mut access: impl FnMut(u64)) {
    let (Ok(addresses), Ok(mask)) = (call.addresses(space, simd), call.channels(simd)) else { return };
    lanes(mask).for_each(|lane| access(addresses[lane].wrapping_mul(unit)));
}

/// Accesses of a message to the banks of shared local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BankAccesses {
    /// Clocks that they take: the maximum number of accesses to one bank.
    clocks: u32,
    /// Dwords that are accessed.
    dwords: u32,
}

impl BankAccesses {
    fn of(accesses: &[Access], write: bool) -> BankAccesses {
        let mut dwords: SmallVec<[u64; 64]> = SmallVec::new();
        for access in accesses {
            for dword in access.offset / BANK_WIDTH..=(access.offset + access.bytes - 1) / BANK_WIDTH {
                // Neighbouring lanes often read the same dword.
                if write || dwords.last() != Some(&dword) {
                    dwords.push(dword);
                }
            }
        }
        if !write {
            if !dwords.is_sorted() {
                dwords.sort_unstable();
            }
            dwords.dedup();
        }
        let mut banks = [0; BANKS];
        for dword in &dwords {
            banks[*dword as usize % BANKS] += 1;
        }
        BankAccesses { clocks: banks.into_iter().max().unwrap_or(0), dwords: dwords.len() as u32 }
    }

    /// Clocks that they would not take if they were spread over the banks evenly.
    fn conflicts(self) -> u32 {
        self.clocks - self.dwords.div_ceil(BANKS as u32)
    }
}

/// Number of occurrences of the most frequent value.
fn most_of(values: impl Iterator<Item = u64>) -> u32 {
    let mut sorted: Vec<u64> = values.collect();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|run| run.len() as u32).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(lanes: u64, stride: u64) -> Vec<Access> {
        (0..lanes).map(|lane| Access { offset: lane * stride, bytes: 4 }).collect()
    }

    #[test]
    fn bytes_count_once() {
        assert_eq!(distinct_bytes(&strided(16, 4)), 64);
        assert_eq!(distinct_bytes(&strided(16, 0)), 4);
        assert_eq!(distinct_bytes(&strided(16, 2)), 34);
        let mut reversed = strided(16, 4096);
        reversed.reverse();
        assert_eq!(distinct_bytes(&reversed), 64);
        assert_eq!(distinct_bytes(&[]), 0);
    }

    /// Clocks, and those of them for conflicts.
    fn conflicts(accesses: &[Access], write: bool) -> (u32, u32) {
        let banks = BankAccesses::of(accesses, write);
        (banks.clocks, banks.conflicts())
    }

    #[test]
    fn accesses_to_one_bank_are_serialised() {
        for (stride, ways) in [(4, 1), (8, 2), (12, 1), (16, 4), (32, 8), (64, 16), (128, 16), (68, 1)] {
            assert_eq!(conflicts(&strided(16, stride), false), (ways, ways - 1), "every {stride} bytes");
            assert_eq!(conflicts(&strided(16, stride), true), (ways, ways - 1), "every {stride} bytes");
        }
    }

    #[test]
    fn reads_of_one_dword_are_merged_but_not_writes() {
        assert_eq!(conflicts(&strided(16, 0), false), (1, 0));
        assert_eq!(conflicts(&strided(16, 0), true), (16, 15));
    }

    #[test]
    fn an_access_of_several_dwords_uses_several_banks() {
        let vectors: Vec<Access> = (0..16).map(|lane| Access { offset: lane * 16, bytes: 16 }).collect();
        assert_eq!(conflicts(&vectors, false), (4, 0), "64 dwords, 16 banks");
        assert_eq!(conflicts(&[], false), (0, 0));
    }
}
