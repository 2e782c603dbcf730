//! What a command is: a row of the table.

use super::Streamer;
use gencl_isa::Generation;

use super::field::{COLUMNS, Field, Packet, bits_of};
use gencl_eu::fault::Fault;

/// Opcode bits of MI commands.
pub const MI_MASK: u32 = 0xff80_0000;
/// Opcode bits of render and media commands.
pub const RENDER_MASK: u32 = 0xffff_0000;

/// How long a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The generation does not have it.
    None,
    /// One dword, without a length field.
    One,
    /// Exactly so many dwords.
    Exactly(u32),
    /// One of two lengths.
    Either(u32, u32),
    /// So many dwords, of which the last `each` may be repeated.
    Repeated {
        /// Dwords with one repetition.
        first: u32,
        /// Dwords of each repetition.
        each: u32,
    },
}

/// On which engines a command exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engines {
    /// All.
    All,
    /// Render only.
    Render,
    /// Blitter (and video) only.
    NotRender,
}

/// Where the streamer goes after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next command.
    Next,
    /// To an address.
    Jump(u64),
    /// To an address, and back at the end of that batch.
    Call(u64),
    /// The (second-level) batch is over.
    End,
}

/// What executes a command.
pub type Handler = fn(&mut Streamer<'_>, Packet<'_>) -> Result<Flow, Fault>;

/// One row of the command table.
#[derive(Debug)]
pub struct Command {
    /// The manual's name.
    pub name: &'static str,
    /// Opcode bits of the first dword.
    pub opcode: u32,
    /// Which bits those are.
    pub mask: u32,
    /// Length in each generation.
    pub lengths: [Length; COLUMNS],
    /// Bits of the length field in the first dword, in each generation; without meaning where the length is
    /// one dword.
    pub length_bits: [u32; COLUMNS],
    /// Engines that have it.
    pub engines: Engines,
    /// Fields; all other bits must be 0.
    pub fields: &'static [Field],
    /// It leaves the context's state and registers as they are, as far as a walker depends on them; memory it
    /// may write. An equal walker behind it is executed again without being looked at
    /// ([`super::media::walker`]).
    pub keeps_state: bool,
    /// What it does.
    pub run: Handler,
}

impl Command {
    /// Its length in a generation.
    pub fn length(&self, generation: Generation) -> Length {
        self.lengths[generation.column()]
    }

    /// Is it this command, in this generation, that begins with `header`?
    pub fn is(&self, generation: Generation, header: u32) -> bool {
        header & self.mask == self.opcode && self.length(generation) != Length::None
    }

    /// The length field's bits in the first dword.
    pub fn length_bits(&self, generation: Generation) -> u32 {
        match self.length(generation) {
            Length::None | Length::One => 0,
            _ => self.length_bits[generation.column()],
        }
    }

    /// Dwords of the command that begins with `header`, or the reason why it cannot be so long.
    pub fn dwords(&self, generation: Generation, header: u32) -> Result<u32, Fault> {
        let coded = (header & self.length_bits(generation)) + 2;
        let right = match self.length(generation) {
            Length::One => return Ok(1),
            Length::None => false,
            Length::Exactly(n) => coded == n,
            Length::Either(a, b) => coded == a || coded == b,
            Length::Repeated { first, each } => coded >= first && (coded - first).is_multiple_of(each),
        };
        if right {
            return Ok(coded);
        }
        Err(Fault::illegal(format!("{} has a DWord Length that means {coded} dwords", self.name)))
    }

    /// The bits of each dword that have a meaning; dwords that are repeated are there once.
    pub fn meanings(&self, generation: Generation) -> Vec<u32> {
        let dwords = match self.length(generation) {
            Length::None | Length::One => 1,
            Length::Exactly(n) | Length::Repeated { first: n, .. } => n,
            Length::Either(a, b) => a.max(b),
        };
        let of = |index| {
            let opcode = if index == 0 { self.mask | self.length_bits(generation) } else { 0 };
            opcode | bits_of(self.fields, generation, index)
        };
        (0..dwords).map(of).collect()
    }

    /// Refuses bits that are set in reserved places; `meanings` are this command's.
    pub fn check_reserved(&self, packet: Packet<'_>, meanings: &[u32]) -> Result<(), Fault> {
        let once = packet.dwords.len() <= meanings.len();
        if once && packet.dwords.iter().zip(meanings).all(|(dword, meaning)| dword & !meaning == 0) {
            return Ok(());
        }
        let repeated = match self.length(packet.generation) {
            Length::Repeated { each, .. } => &meanings[meanings.len() - each as usize..],
            _ => &[],
        };
        let meanings = meanings.iter().chain(repeated.iter().cycle());
        for (index, (dword, meaning)) in packet.dwords.iter().zip(meanings).enumerate() {
            let set = dword & !meaning;
            if set != 0 {
                let bit = set.trailing_zeros();
                return Err(Fault::illegal(format!(
                    "{}: reserved bit {bit} of dword {index} is set (0x{dword:08x})",
                    self.name
                )));
            }
        }
        Ok(())
    }
}
