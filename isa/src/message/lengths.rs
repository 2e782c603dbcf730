//! Lengths of payloads and responses in registers.
//!
//! Source: "Message Payload" of each message (Skylake, Volume 7, "Shared Functions - Data Port").

use super::{AtomicOperation, Operation, SimdMode};

/// Whether the payload may or must start with a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeaderRule {
    /// No header (A64 messages without blocks).
    Forbidden,
    /// With or without.
    Optional,
    /// Always.
    Required,
}

/// The lengths of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lengths {
    /// Registers of the payload without header.
    pub payload: u8,
    /// Registers of the response.
    pub response: u8,
    /// Whether there may or must be a header.
    pub header: HeaderRule,
    /// Whether the operation determines the lengths; if not (sampler, URB, ...), they are 0 here.
    pub known: bool,
}

/// Registers of one dword per lane.
const fn dwords(simd: SimdMode) -> u8 {
    match simd {
        SimdMode::Simd4x2 | SimdMode::Simd8 => 1,
        SimdMode::Simd16 => 2,
    }
}

/// Registers of an address per lane.
const fn addresses(simd: SimdMode, a64: bool) -> u8 {
    match (simd, a64) {
        (SimdMode::Simd4x2, _) => 1,
        (_, false) => dwords(simd),
        (_, true) => 2 * dwords(simd),
    }
}

/// Registers of a block of bytes.
const fn registers(bytes: u32) -> u8 {
    bytes.div_ceil(32) as u8
}

const fn fixed(payload: u8, response: u8, header: HeaderRule) -> Lengths {
    Lengths { payload, response, header, known: true }
}

/// The lengths of an access that either writes or reads `data` registers after its addresses.
const fn access(write: bool, addresses: u8, data: u8, header: HeaderRule) -> Lengths {
    if write { fixed(addresses + data, 0, header) } else { fixed(addresses, data, header) }
}

/// Registers of one operand per lane, of an atomic.
const fn atomic(addresses: u8, operands: u8, data: u8, returns: bool, header: HeaderRule) -> Lengths {
    fixed(addresses + operands * data, if returns { data } else { 0 }, header)
}

impl Operation {
    /// The lengths of the operation.
    pub fn lengths(&self) -> Lengths {
        let unknown = Lengths { payload: 0, response: 0, header: HeaderRule::Optional, known: false };
        let header = |a64: bool| if a64 { HeaderRule::Forbidden } else { HeaderRule::Optional };
        match *self {
            Operation::Untyped { write, a64, simd, channels, .. } => {
                let data = match simd {
                    SimdMode::Simd4x2 => 1,
                    _ => (channels & 0xf).count_ones() as u8 * dwords(simd),
                };
                access(write, addresses(simd, a64), data, header(a64))
            }
            Operation::UntypedAtomic { a64, simd, operation, qword, returns, .. } => {
                let data = dwords(simd) * if qword { 2 } else { 1 };
                // The double compare-and-write returns both dwords.
                let scale = if operation == AtomicOperation::CmpWrite2 { 2 } else { 1 };
                let operands = operation.operands() / scale;
                atomic(addresses(simd, a64), operands, data * scale, returns, header(a64))
            }
            Operation::UntypedAtomicFloat { a64, simd, operation, returns, .. } => {
                atomic(addresses(simd, a64), operation.operands(), dwords(simd), returns, header(a64))
            }
            Operation::ByteScattered { write, simd, .. } => {
                access(write, dwords(simd), dwords(simd), HeaderRule::Optional)
            }
            Operation::DwordScattered { write, simd, .. } => {
                access(write, dwords(simd), dwords(simd), HeaderRule::Optional)
            }
            Operation::A64Scattered { write, simd, element, elements, .. } => {
                // Bytes are packed into dwords; every lane has at least one.
                let dwords_per_lane = (element.bytes() * elements).div_ceil(4);
                let data = dwords_per_lane * dwords(simd);
                access(write, addresses(simd, true), data, HeaderRule::Forbidden)
            }
            Operation::OwordBlock { write, size, .. } => {
                access(write, 0, registers(size.bytes()), HeaderRule::Required)
            }
            Operation::OwordDualBlock { write, owords, .. } => access(write, 1, owords, HeaderRule::Required),
            Operation::ScratchBlock { write, registers, .. } => {
                access(write, 0, registers, HeaderRule::Required)
            }
            Operation::Fence { commit, .. } => fixed(0, u8::from(commit), HeaderRule::Required),
            Operation::Gateway { function: super::GatewayFunction::Barrier, .. } => {
                fixed(1, 0, HeaderRule::Forbidden)
            }
            Operation::ThreadSpawner { .. } => fixed(1, 0, HeaderRule::Forbidden),
            // Addresses, work-items, groups and values.
            Operation::RaceCheck { simd, .. } => fixed(5 * dwords(simd), 0, HeaderRule::Required),
            Operation::Urb { .. } => Lengths { header: HeaderRule::Required, ..unknown },
            Operation::Typed { .. }
            | Operation::TypedAtomic { .. }
            | Operation::MediaBlock { .. }
            | Operation::RenderTarget { .. }
            | Operation::Sampler { .. }
            | Operation::Gateway { .. }
            | Operation::PixelInterpolator { .. } => unknown,
        }
    }
}
