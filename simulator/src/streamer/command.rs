//! What a command is: a row of a generation's table.

use super::Streamer;
use super::field::Field;
use crate::fault::Fault;

/// Opcode bits of MI commands.
pub const MI_MASK: u32 = 0xff80_0000;
/// Opcode bits of render and media commands.
pub const RENDER_MASK: u32 = 0xffff_0000;

/// How long a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
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
pub type Handler = fn(&mut Streamer<'_>, &[u32]) -> Result<Flow, Fault>;

/// One row of the command table.
#[derive(Debug)]
pub struct Command {
    /// The manual's name.
    pub name: &'static str,
    /// Opcode bits of the first dword.
    pub opcode: u32,
    /// Which bits those are.
    pub mask: u32,
    /// Length.
    pub length: Length,
    /// Bits of the length field in the first dword.
    pub length_bits: u32,
    /// Engines that have it.
    pub engines: Engines,
    /// Fields; all other bits must be 0.
    pub fields: &'static [Field],
    /// What it does.
    pub run: Handler,
}

impl Command {
    /// Dwords of the command that begins with `header`, or the reason why it cannot be so long.
    pub fn dwords(&self, header: u32) -> Result<u32, Fault> {
        let coded = (header & self.length_bits) + 2;
        let right = match self.length {
            Length::One => return Ok(1),
            Length::Exactly(n) => coded == n,
            Length::Either(a, b) => coded == a || coded == b,
            Length::Repeated { first, each } => coded >= first && (coded - first).is_multiple_of(each),
        };
        if right {
            return Ok(coded);
        }
        Err(Fault::illegal(format!("{} has a DWord Length that means {coded} dwords", self.name)))
    }

    /// The bits of dword `index` that have a meaning.
    fn meaning(&self, index: u32) -> u32 {
        let opcode = if index == 0 { self.mask | self.length_bits } else { 0 };
        let index = match self.length {
            Length::Repeated { first, each } if index >= first => (index - first) % each + first - each,
            _ => index,
        };
        self.fields.iter().fold(opcode, |bits, field| bits | field.mask(index))
    }

    /// Refuses bits that are set in reserved places.
    pub fn check_reserved(&self, dwords: &[u32]) -> Result<(), Fault> {
        for (index, dword) in (0..).zip(dwords) {
            let set = dword & !self.meaning(index);
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
