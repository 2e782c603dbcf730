//! Message descriptors.
//!
//! Source: Skylake manual, Volume 7 "3D-Media-GPGPU", "Data Port Messages", and Volume 2d
//! "Command Reference: Structures" (`MSD*` and `MDC_*`).

use gencl_isa::{Descriptor, Send, SharedFunction};

/// Binding table index of A64 and A32 stateless memory, coherent with other agents.
pub const STATELESS: u32 = 255;
/// Binding table index of shared local memory.
pub const SLM: u32 = 254;

/// A message without its lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who gets it.
    pub target: SharedFunction,
    /// Bits 18:0 of the descriptor, and bit 19 when it has a header.
    pub function: u32,
}

const HEADER: u32 = 1 << 19;

fn data_port(target: SharedFunction, bti: u32, kind: u32, control: u32) -> Message {
    Message { target, function: bti | control << 8 | kind << 14 }
}

/// `MDC_CMASK`: channels that are not wanted.
fn channel_mask(channels: u32) -> u32 {
    0xf & (0xf << channels)
}

/// `MDC_SM3`: 1 is SIMD16, 2 is SIMD8.
fn simd_mode(lanes: u32) -> u32 {
    if lanes == 16 { 1 } else { 2 }
}

/// `MDC_DS`, of byte scattered messages.
fn data_size(bytes: u32) -> u32 {
    match bytes {
        1 => 0,
        2 => 1,
        _ => 2,
    }
}

impl Message {
    /// Untyped surface read or write of 1 to 4 dwords per lane at 64-bit addresses.
    pub fn a64_untyped(write: bool, lanes: u32, channels: u32) -> Message {
        let kind = if write { 0x19 } else { 0x11 };
        let control = channel_mask(channels) | simd_mode(lanes) << 4;
        data_port(SharedFunction::DataCache1, STATELESS, kind, control)
    }

    /// Scattered read or write of one element of 1, 2 or 4 bytes per lane at 64-bit addresses of any alignment.
    pub fn a64_byte(write: bool, lanes: u32, bytes: u32) -> Message {
        let kind = if write { 0x1a } else { 0x10 };
        let control = data_size(bytes) << 2 | u32::from(lanes == 16) << 4;
        data_port(SharedFunction::DataCache1, STATELESS, kind, control)
    }

    /// Scattered read of 1 or 2 quadwords per lane at 64-bit addresses; they arrive packed.
    pub fn a64_qword_read(lanes: u32, elements: u32) -> Message {
        let control = 2 | (elements - 1) << 2 | u32::from(lanes == 16) << 4;
        data_port(SharedFunction::DataCache1, STATELESS, 0x10, control)
    }

    /// Atomic operation at 64-bit addresses, 8 lanes.
    pub fn a64_atomic(operation: u32, wide: bool, response: bool) -> Message {
        let control = operation | u32::from(wide) << 4 | u32::from(response) << 5;
        data_port(SharedFunction::DataCache1, STATELESS, 0x12, control)
    }

    /// Untyped surface read or write of 1 to 4 dwords per lane in local memory.
    pub fn slm_untyped(write: bool, lanes: u32, channels: u32) -> Message {
        let kind = if write { 9 } else { 1 };
        let control = channel_mask(channels) | simd_mode(lanes) << 4;
        data_port(SharedFunction::DataCache1, SLM, kind, control)
    }

    /// Byte scattered read or write in local memory.
    pub fn slm_byte(write: bool, lanes: u32, bytes: u32) -> Message {
        let kind = if write { 12 } else { 4 };
        let control = data_size(bytes) << 2 | u32::from(lanes == 16);
        data_port(SharedFunction::DataCache, SLM, kind, control)
    }

    /// Untyped atomic operation on dwords in local memory.
    pub fn slm_atomic(lanes: u32, operation: u32, response: bool) -> Message {
        let control = operation | u32::from(lanes != 16) << 4 | u32::from(response) << 5;
        data_port(SharedFunction::DataCache1, SLM, 2, control)
    }

    /// Memory fence that answers when all earlier accesses are done.
    pub fn fence() -> Message {
        let mut m = data_port(SharedFunction::DataCache, 0, 7, 0x20);
        m.function |= HEADER;
        m
    }

    /// Scratch block access: `registers` (1, 2, 4 or 8) from register `offset` of the thread's scratch on.
    pub fn scratch(write: bool, registers: u32, offset: u32) -> Message {
        let function = offset | registers.trailing_zeros() << 12 | u32::from(write) << 17 | 1 << 18 | HEADER;
        Message { target: SharedFunction::DataCache, function }
    }

    /// Signal of a barrier.
    pub fn barrier() -> Message {
        Message { target: SharedFunction::Gateway, function: 4 }
    }

    /// End of thread.
    pub fn end_of_thread() -> Message {
        Message { target: SharedFunction::ThreadSpawner, function: 0x10 }
    }

    /// With lengths in registers: payload, second payload of a split send, response.
    pub fn send(self, payload: u32, second: u32, response: u32, end_of_thread: bool) -> Send {
        Send {
            target: self.target,
            descriptor: Descriptor::Immediate(self.function | response << 20 | payload << 25),
            extended: Descriptor::Immediate(second << 6),
            end_of_thread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(m: Message, payload: u32, response: u32) -> u32 {
        match m.send(payload, 0, response, false).descriptor {
            Descriptor::Immediate(d) => d,
            Descriptor::Register(_) => 0,
        }
    }

    /// Descriptors as Intel's own compiler emits them for the same accesses.
    #[test]
    fn descriptors_match_the_vendors() {
        assert_eq!(bits(Message::a64_byte(false, 16, 1), 4, 2), 0x0824_10ff);
        assert_eq!(bits(Message::a64_byte(true, 16, 1), 4, 0), 0x0806_90ff);
        assert_eq!(bits(Message::a64_qword_read(16, 1), 4, 4), 0x0844_12ff);
        assert_eq!(bits(Message::a64_qword_read(16, 2), 4, 8), 0x0884_16ff);
        assert_eq!(bits(Message::slm_untyped(false, 16, 1), 2, 2), 0x0420_5efe);
        assert_eq!(bits(Message::slm_untyped(true, 16, 1), 2, 0), 0x0402_5efe);
        assert_eq!(bits(Message::slm_byte(false, 16, 1), 2, 2), 0x0421_01fe);
        assert_eq!(bits(Message::slm_byte(true, 16, 1), 2, 0), 0x0403_01fe);
        assert_eq!(bits(Message::a64_atomic(7, false, true), 2, 1), 0x0414_a7ff);
        assert_eq!(bits(Message::fence(), 1, 1), 0x0219_e000);
        assert_eq!(bits(Message::barrier(), 1, 0), 0x0200_0004);
        assert_eq!(bits(Message::end_of_thread(), 1, 0), 0x0200_0010);
    }
}
