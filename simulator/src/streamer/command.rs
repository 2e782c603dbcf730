//! The description of a command: a row of the command table.

use super::Streamer;
use gencl_isa::Generation;

use super::field::{COLUMNS, Field, Packet, bits_of};
use gencl_eu::fault::Fault;

/// Opcode bits of MI commands.
pub const MI_MASK: u32 = 0xff80_0000;
/// Opcode bits of render and media commands.
pub const RENDER_MASK: u32 = 0xffff_0000;

/// The length of a command in a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The generation does not have it.
    None,
    /// One dword, without a length field.
    One,
    /// A fixed number of dwords.
    Exactly(u32),
    /// One of two numbers of dwords.
    Either(u32, u32),
    /// A number of dwords, of which the last `each` may be repeated.
    Repeated {
        /// Dwords with one repetition.
        first: u32,
        /// Dwords of each repetition.
        each: u32,
    },
}

/// The engines that have a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engines {
    /// All.
    All,
    /// Render only.
    Render,
    /// Blitter (and video) only.
    NotRender,
}

/// Where the streamer continues after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// At the next command.
    Next,
    /// At an address.
    Jump(u64),
    /// At an address, to return at the end of that batch.
    Call(u64),
    /// The batch ends: the streamer returns from a second-level batch, or stops.
    End,
}

/// Executes a command.
pub type Handler = fn(&mut Streamer<'_>, Packet<'_>) -> Result<Flow, Fault>;

/// One row of the command table.
#[derive(Debug)]
pub struct Command {
    /// The manual's name.
    pub name: &'static str,
    /// Opcode bits of the first dword.
    pub opcode: u32,
    /// Mask of the opcode bits.
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
    /// Whether it leaves the state and registers that GPGPU_WALKER depends on unchanged; it may write memory.
    /// An equal walker after it can be executed again without being decoded ([`super::media::walker`]).
    pub keeps_state: bool,
    /// Executes it.
    pub run: Handler,
}

impl Command {
    /// Its length in a generation.
    pub fn length(&self, generation: Generation) -> Length {
        self.lengths[generation.column()]
    }

    /// Whether a command with the first dword `header` is this one, in a generation.
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

    /// Number of dwords of the command with the first dword `header`.
    ///
    /// # Errors
    /// A length that the command cannot have.
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
        Err(Fault::illegal(format!(
            "{}: its DWord Length gives {coded} dwords, which it cannot have",
            self.name
        )))
    }

    /// Mask of the bits of each dword that are not reserved; repeated dwords are included once.
    pub fn defined_bits(&self, generation: Generation) -> Vec<u32> {
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

    /// Checks that reserved bits are 0; `defined` is [`Command::defined_bits`].
    pub fn check_reserved(&self, packet: Packet<'_>, defined: &[u32]) -> Result<(), Fault> {
        let once = packet.dwords.len() <= defined.len();
        if once && packet.dwords.iter().zip(defined).all(|(dword, mask)| dword & !mask == 0) {
            return Ok(());
        }
        let repeated = match self.length(packet.generation) {
            Length::Repeated { each, .. } => &defined[defined.len() - each as usize..],
            _ => &[],
        };
        let defined = defined.iter().chain(repeated.iter().cycle());
        for (index, (dword, mask)) in packet.dwords.iter().zip(defined).enumerate() {
            let set = dword & !mask;
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
