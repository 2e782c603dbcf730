//! The instruction that is validated, with properties that several rules use.

use super::ViolationSite;
use crate::message::Message;
use crate::opcode::{Format, OpcodeInfo};
use crate::{
    AccessMode, Arf, Descriptor, Destination, Extra, Generation, Instruction, Operand, Region, Register,
    Send, Source, Type,
};

/// Size of a general register in bytes.
pub(super) const GRF: u32 = 32;

/// The instruction that is validated.
pub(super) struct Subject<'a> {
    pub(super) generation: Generation,
    pub(super) i: &'a Instruction,
    pub(super) info: &'static OpcodeInfo,
}

impl<'a> Subject<'a> {
    pub(super) fn new(generation: Generation, i: &'a Instruction) -> Subject<'a> {
        Subject { generation, i, info: i.opcode.info() }
    }

    /// Number of channels.
    pub(super) fn lanes(&self) -> u32 {
        u32::from(self.i.exec_size)
    }

    /// Whether the instruction has regions: whether it is neither message nor branch.
    pub(super) fn computes(&self) -> bool {
        matches!(self.info.format, Format::Basic | Format::Math)
    }

    /// Whether the instruction has align1 regions.
    pub(super) fn has_regions(&self) -> bool {
        self.computes() && self.i.access_mode == AccessMode::Align1
    }

    /// Size of an element in bytes, as regions count it: where doubles are counted in halves, that of a half.
    pub(super) fn element(&self, ty: Type) -> u32 {
        let halved = ty == Type::DF && self.generation.capabilities().doubles_in_halves;
        if halved { ty.size() / 2 } else { ty.size() }
    }

    /// The rows of a source region: first byte and end of each, from the start of its register, or from the
    /// address of an indirect one.
    pub(super) fn rows(&self, s: &Source) -> impl Iterator<Item = (u32, u32)> + use<> {
        let size = self.element(s.ty);
        let Region { vstride, width, hstride } = s.region;
        let width = u32::from(width).clamp(1, self.lanes().max(1));
        let length = (width - 1) * u32::from(hstride) * size + size;
        let start = u32::from(s.subregister);
        (0..self.lanes().div_ceil(width)).map(move |row| {
            let first = start + row * u32::from(vstride) * size;
            (first, first + length)
        })
    }

    /// First byte of each element of a source region, as [`rows`](Self::rows).
    pub(super) fn source_elements(&self, s: &Source) -> impl Iterator<Item = u32> + use<> {
        let size = self.element(s.ty);
        let step = u32::from(s.region.hstride) * size;
        let (width, lanes) = (u32::from(s.region.width.max(1)), self.lanes());
        self.rows(s)
            .flat_map(move |(first, _)| (0..width).map(move |n| first + n * step))
            .take(lanes as usize)
    }

    /// First byte and end of each element of the destination, as [`rows`](Self::rows).
    pub(super) fn elements(&self, d: &Destination) -> impl Iterator<Item = (u32, u32)> + use<> {
        let size = self.element(d.ty);
        let start = u32::from(d.subregister);
        let stride = u32::from(d.hstride);
        (0..self.lanes()).map(move |lane| {
            let first = start + lane * stride * size;
            (first, first + size)
        })
    }

    /// The register sources, with their numbers.
    pub(super) fn sources(&self) -> impl Iterator<Item = (u8, &'a Source)> {
        self.i.sources.iter().enumerate().filter_map(|(n, operand)| match operand {
            Operand::Register(s) => Some((n as u8, s)),
            Operand::None | Operand::Immediate { .. } => None,
        })
    }

    /// The types of all sources that are read.
    pub(super) fn source_types(&self) -> impl Iterator<Item = Type> {
        let is_read = |operand: &&Operand| !matches!(operand, Operand::Register(s) if is_null(s.register));
        self.i.sources.iter().filter(is_read).filter_map(Operand::ty)
    }

    /// The sources for which `broken` holds.
    pub(super) fn broken_sources(&self, broken: impl Fn(&Source) -> bool) -> Vec<ViolationSite> {
        self.sources().filter(|(_, s)| broken(s)).map(|(n, _)| ViolationSite::Source(n)).collect()
    }

    /// The sources with a region in general registers for which `broken` holds.
    pub(super) fn broken_regions(&self, broken: impl Fn(&Source) -> bool) -> Vec<ViolationSite> {
        if !self.has_regions() {
            return Vec::new();
        }
        self.broken_sources(|s| s.region.vstride != Region::VXH && !is_null(s.register) && broken(s))
    }

    /// The same including messages, whose regions have no meaning but are checked by the hardware.
    pub(super) fn broken_parameters(&self, broken: impl Fn(&Source) -> bool) -> Vec<ViolationSite> {
        let message = self.info.format == Format::Send && self.i.access_mode == AccessMode::Align1;
        if message { self.broken_sources(broken) } else { self.broken_regions(broken) }
    }

    /// The destination, unless it is the null register or there is none.
    pub(super) fn destination(&self) -> Option<&'a Destination> {
        (!is_null(self.i.destination.register) || self.i.destination.indirect.is_some())
            .then_some(&self.i.destination)
    }

    /// A move without conversion, modifier or saturation.
    pub(super) fn is_raw_move(&self) -> bool {
        let same = match self.i.sources[0] {
            Operand::Register(s) => {
                !s.negate
                    && !s.abs
                    && s.ty.size() == self.i.destination.ty.size()
                    && s.ty.is_float() == self.i.destination.ty.is_float()
            }
            Operand::Immediate { .. } | Operand::None => false,
        };
        self.i.opcode == crate::Opcode::Mov && !self.i.saturate && same
    }

    /// Size of the execution type in bytes: that of the widest source, where bytes count as words.
    pub(super) fn execution_size(&self) -> u32 {
        self.source_types().map(|ty| ty.size().max(2)).max().unwrap_or(2)
    }

    /// Whether floats and half floats are mixed, for which Gen9 has separate rules.
    pub(super) fn is_mixed_float(&self) -> bool {
        let types = || self.source_types().chain([self.i.destination.ty]);
        types().any(|ty| ty == Type::HF) && types().any(|ty| ty == Type::F)
    }

    /// The message of a send.
    pub(super) fn send(&self) -> Option<&'a Send> {
        match &self.i.extra {
            Extra::Send(send) => Some(send),
            _ => None,
        }
    }

    /// The decoded descriptor of a message, if it is an immediate and valid.
    pub(super) fn message(&self) -> Option<Message> {
        let send = self.send()?;
        match send.descriptor {
            Descriptor::Immediate(bits) => Message::decode(self.generation, send.target, bits).ok(),
            Descriptor::Register(_) => None,
        }
    }

    /// Number of registers of a split send's second payload, if known.
    pub(super) fn second_payload(&self) -> Option<u8> {
        if self.info.format != Format::SplitSend {
            return Some(0);
        }
        match self.send()?.extended {
            Descriptor::Immediate(bits) => Some((bits >> 6 & 0xf) as u8),
            Descriptor::Register(_) => None,
        }
    }

    /// The general register of a source, if it is one.
    pub(super) fn source_register(&self, n: usize) -> Option<u32> {
        match self.i.sources[n] {
            Operand::Register(Source { register: Register::Grf(number), indirect: None, .. }) => {
                Some(u32::from(number))
            }
            _ => None,
        }
    }

    /// The general register of the destination, if it is one.
    pub(super) fn destination_register(&self) -> Option<u32> {
        match self.i.destination {
            Destination { register: Register::Grf(number), indirect: None, .. } => Some(u32::from(number)),
            _ => None,
        }
    }
}

pub(super) fn is_null(register: Register) -> bool {
    register == Register::Arf(Arf::Null)
}

/// Number of registers that rows or elements span, from that of the first byte on.
pub(super) fn registers(parts: impl Iterator<Item = (u32, u32)>) -> u32 {
    parts.map(|(_, end)| end.div_ceil(GRF)).max().unwrap_or(0)
}
