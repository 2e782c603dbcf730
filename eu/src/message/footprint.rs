//! What a message asks of the memory behind the data port: which cache lines, and how long the banks of
//! shared local memory take. Statistics look at it before the message is performed.
//!
//! "The data port coalesces scattered accesses into fewer operations over non-duplicated 64-byte cachelines";
//! shared local memory has 16 banks of 4 bytes ("The Compute Architecture of Intel Processor Graphics Gen9",
//! "Subslice Architecture" and "Shared Local Memory"). Reads of one dword by several lanes are one access,
//! all writes to a bank are accesses of their own (Intel's "OpenCL Developer Guide for Intel Processor
//! Graphics", "Kernel Memory Access Optimization Summary").

use gencl_isa::Descriptor;

use super::block::BlockAddress;
use super::port::Region;
use super::scattered::lanes;
use super::{Call, Kind, Message, Shape, Space, descriptor};
use crate::cycles::Class;
use crate::dispatch::GRF_SIZE;
use crate::file::{self, ADDRESS};
use crate::op::Op;
use crate::run::Context;
use crate::thread::Thread;

/// Bytes of a cache line.
const LINE: u64 = 64;
/// Banks of shared local memory.
const BANKS: usize = 16;
/// Bytes that a bank gives in one clock.
const BANK_WIDTH: u64 = 4;

/// Texels that a sampler filters in one clock ("The Compute Architecture of Intel Processor Graphics Gen9",
/// "Sampler").
const TEXELS: u32 = 4;

/// What a message asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Who answers. `None`: no memory, and nothing to wait for.
    pub class: Option<Class>,
    /// Cache lines, each once, ascending: GPU address / 64. Empty for shared local memory.
    pub lines: Vec<u64>,
    /// Clocks that it occupies the data port.
    pub port: u32,
    /// Clocks that it occupies the sampler.
    pub sampler: u32,
    /// Registers of all payloads.
    pub payload: usize,
    /// General registers that it reads.
    pub reads: u128,
    /// General registers that it writes.
    pub writes: u128,
}

/// One access of a lane.
struct Access {
    offset: u64,
    bytes: u64,
}

impl Footprint {
    /// That of a message which a thread is about to send for the lanes in `mask`. What the message does wrong
    /// is reported when it is performed; here it has no footprint.
    pub fn of(
        context: &mut Context<'_>,
        thread: &mut Thread,
        op: &Op,
        message: &Message,
        mask: u32,
    ) -> Footprint {
        let at = |d: Descriptor| match d {
            Descriptor::Immediate(bits) => bits,
            Descriptor::Register(n) => file::dword(&thread.file, ADDRESS + usize::from(n) % 8 * 4),
        };
        let (descriptor, extended) = (at(message.descriptor), at(message.extended));
        let shape = Shape::of(descriptor, extended, message.split);
        let known = message.kind.is_some();
        let mut footprint = Footprint {
            payload: shape.length + shape.second_length,
            reads: if known { op.reads } else { message.reads(shape) },
            writes: if known { op.writes } else { message.writes(shape) },
            ..Footprint::default()
        };
        let kind = match &message.kind {
            Some(kind) => Ok(kind.clone()),
            None => descriptor::decode(
                context.device.generation,
                message.target,
                descriptor,
                message.end_of_thread,
            ),
        };
        let Ok(kind) = kind else { return footprint };
        let mut call = Call { context, thread, op, message, shape, mask };
        footprint.memory(&mut call, &kind);
        footprint
    }

    /// Fills in what the message asks of memory.
    fn memory(&mut self, call: &mut Call<'_, '_>, kind: &Kind) {
        match kind {
            Kind::Untyped(m) => {
                let components: Vec<u64> = (0..4).filter(|c| m.components >> c & 1 != 0).collect();
                let accesses = per_lane(call, m.space, m.simd, 1, |address| {
                    components.iter().map(|c| Access { offset: address + c * 4, bytes: 4 }).collect()
                });
                self.accesses(call, m.space, &accesses, m.write);
            }
            Kind::Scattered(m) => {
                let bytes = m.element.size() as u64 * m.count as u64;
                let accesses =
                    per_lane(call, m.space, m.simd, m.address_unit, |offset| vec![Access { offset, bytes }]);
                self.accesses(call, m.space, &accesses, m.write);
            }
            Kind::Atomic(m) => {
                let bytes = m.size as u64;
                let accesses = per_lane(call, m.space, m.simd, 1, |offset| vec![Access { offset, bytes }]);
                self.accesses(call, m.space, &accesses, true);
                // The operations on one element are performed one after the other.
                let most = most_of(accesses.iter().map(|a| a.offset));
                self.port = self.port.max(most);
                self.class = Some(if m.space == Space::Local { Class::SlmAtomic } else { Class::Atomic });
            }
            Kind::Block(m) => {
                let (space, offset) = match m.address {
                    BlockAddress::OWords(space) => (space, call.header(2).map(|o| u64::from(o) * 16)),
                    BlockAddress::Bytes(space) => (space, call.header(2).map(u64::from)),
                    BlockAddress::Wide { .. } => {
                        let (low, high) = (call.header(0), call.header(1));
                        let address = low.and_then(|l| Ok(u64::from(l) | u64::from(high?) << 32));
                        (Space::Global, address)
                    }
                };
                let accesses: Vec<Access> =
                    offset.into_iter().map(|offset| Access { offset, bytes: m.bytes as u64 }).collect();
                self.accesses(call, space, &accesses, m.write);
            }
            Kind::Scratch(m) => {
                let access = Access { offset: u64::from(m.offset), bytes: (m.registers * GRF_SIZE) as u64 };
                self.accesses(call, Space::Stateless, &[access], m.write);
            }
            // The lines of images are not counted.
            Kind::Typed(_) | Kind::TypedAtomic(_) | Kind::MediaBlock(_) => {
                (self.class, self.port) = (Some(Class::Memory), 1);
            }
            Kind::Sample(_) => {
                self.class = Some(Class::Sampler);
                self.sampler = call.mask.count_ones().div_ceil(TEXELS);
            }
            Kind::Fence => self.class = Some(Class::Fence),
            Kind::Barrier => self.class = Some(Class::Barrier),
            Kind::End => self.class = Some(Class::End),
        }
    }

    /// Adds accesses to one space.
    fn accesses(&mut self, call: &mut Call<'_, '_>, space: Space, accesses: &[Access], write: bool) {
        let Ok(region) = call.region(space) else { return };
        match region {
            Region::Local => {
                self.class = Some(Class::Slm);
                self.port = bank_conflicts(accesses, write);
            }
            Region::Memory { base, size } => {
                self.class = Some(Class::Memory);
                let inside =
                    accesses.iter().filter(|a| a.offset.checked_add(a.bytes).is_some_and(|end| end <= size));
                self.lines.extend(inside.flat_map(|a| {
                    let first = base.wrapping_add(a.offset);
                    first / LINE..=first.wrapping_add(a.bytes - 1) / LINE
                }));
                self.lines.sort_unstable();
                self.lines.dedup();
                self.port = self.lines.len() as u32;
            }
        }
    }
}

/// The accesses of all enabled lanes, whose addresses are in the payload in steps of `unit` bytes.
fn per_lane(
    call: &Call<'_, '_>,
    space: Space,
    simd: usize,
    unit: u64,
    accesses: impl Fn(u64) -> Vec<Access>,
) -> Vec<Access> {
    let (Ok(addresses), Ok(mask)) = (call.addresses(space, simd), call.channels(simd)) else {
        return Vec::new();
    };
    lanes(mask).flat_map(|lane| accesses(addresses[lane].wrapping_mul(unit))).collect()
}

/// Clocks that the banks of shared local memory take: the most accesses of one bank.
fn bank_conflicts(accesses: &[Access], write: bool) -> u32 {
    let mut dwords: Vec<u64> =
        accesses.iter().flat_map(|a| a.offset / BANK_WIDTH..=(a.offset + a.bytes - 1) / BANK_WIDTH).collect();
    if !write {
        dwords.sort_unstable();
        dwords.dedup();
    }
    let mut banks = [0; BANKS];
    for dword in dwords {
        banks[dword as usize % BANKS] += 1;
    }
    banks.into_iter().max().unwrap_or(0)
}

/// How often the most frequent value occurs.
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
    fn lanes_that_share_a_bank_take_turns() {
        for (stride, ways) in [(4, 1), (8, 2), (12, 1), (16, 4), (32, 8), (64, 16), (128, 16), (68, 1)] {
            assert_eq!(bank_conflicts(&strided(16, stride), false), ways, "every {stride} bytes");
            assert_eq!(bank_conflicts(&strided(16, stride), true), ways, "every {stride} bytes");
        }
    }

    #[test]
    fn readers_of_one_dword_share_it_writers_do_not() {
        assert_eq!(bank_conflicts(&strided(16, 0), false), 1);
        assert_eq!(bank_conflicts(&strided(16, 0), true), 16);
    }

    #[test]
    fn an_access_of_several_dwords_uses_several_banks() {
        let vectors: Vec<Access> = (0..16).map(|lane| Access { offset: lane * 16, bytes: 16 }).collect();
        assert_eq!(bank_conflicts(&vectors, false), 4, "64 dwords, 16 banks");
        assert_eq!(bank_conflicts(&[], false), 0);
    }
}
