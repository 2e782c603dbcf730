//! Properties of generations, as data.

use crate::Generation;

/// Number of generations, each of which has a column in the tables. Values are written for as many columns as there are
/// (`[value; 4]`), so that rustc reports all of them when there is one more.
pub(crate) const COLUMNS: usize = 4;

/// A set of generations. Sets end with a generation, as the rows of all tables do: none continues into a new one
/// before somebody has looked it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generations([bool; COLUMNS]);

#[allow(missing_docs, reason = "the names are self-explanatory")]
impl Generations {
    pub const NONE: Generations = Generations([false; COLUMNS]);
    pub const GEN7_TO_9: Generations = Generations([true, true, true, true]);
    pub const GEN7: Generations = Generations([true, false, false, false]);
    pub const GEN7_TO_75: Generations = Generations([true, true, false, false]);
    pub const GEN7_TO_8: Generations = Generations([true, true, true, false]);
    pub const GEN75_TO_9: Generations = Generations([false, true, true, true]);
    pub const GEN8: Generations = Generations([false, false, true, false]);
    pub const GEN8_TO_9: Generations = Generations([false, false, true, true]);
    pub const GEN9: Generations = Generations([false, false, false, true]);

    /// Whether a generation is one of them.
    pub const fn has(self, generation: Generation) -> bool {
        self.0[generation.column()]
    }
}

/// Properties of a generation that are not a matter of one opcode, field or message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The generation's name in text files and on command lines.
    pub name: &'static str,
    /// Its name in `iga64 -p=`; `None` if that tool does not support it.
    pub iga_platform: Option<&'static str>,
    /// Unit of branch offsets in bytes.
    pub branch_unit: i32,
    /// Unit of the offsets of `jmpi` and `call` in bytes.
    pub jump_unit: i32,
    /// Branches have their offset in the immediate of source 0 (if there are two, both have 32 bits) instead
    /// of as two 16-bit halves in that of source 1.
    pub wide_branch_offsets: bool,
    /// `negate` on the sources of logic instructions means complement.
    pub logic_negate_is_complement: bool,
    /// A `goto` without branch control is taken by the channels for which its predicate is false; with branch
    /// control, by those for which it is true. IGC inverts the predicate for generations before Gen11
    /// (`gotoJumpOnTrue`).
    pub forward_goto_takes_false: bool,
    /// An integer multiplication only uses the low 16 bits of a dword source 1 (Mesa,
    /// `lower_mul_dword_inst` and `lower_mulh_inst`).
    pub multiplier_is_word: bool,
    /// Instructions that use the accumulator implicitly use `acc1` for the second eight channels, which does
    /// not exist for integers (Mesa, as above).
    pub upper_channels_take_acc1: bool,
    /// Number of words of the address register.
    pub address_words: u8,
    /// Regions and execution sizes count doubles in halves of 32 bits (Ivy Bridge manual, Volume 4 Part 3,
    /// "Register Region Restrictions"; Mesa's `brw_eu_validate.c`).
    pub doubles_in_halves: bool,
    /// Conversions from floats to half floats can have a packed destination (Skylake manual, Volume 7,
    /// "Special Restrictions for Handling Mixed Mode Float Operations"). Before, results that are narrower
    /// than the operands have the operands' stride.
    pub packed_half_results: bool,
    /// Has 64-bit immediates.
    pub wide_immediates: bool,
}

const CAPABILITIES: [Capabilities; COLUMNS] = [
    Capabilities {
        name: "gen7",
        iga_platform: None,
        branch_unit: 8,
        jump_unit: 8,
        wide_branch_offsets: false,
        logic_negate_is_complement: false,
        forward_goto_takes_false: false,
        multiplier_is_word: true,
        upper_channels_take_acc1: true,
        address_words: 8,
        doubles_in_halves: true,
        packed_half_results: false,
        wide_immediates: false,
    },
    Capabilities {
        name: "gen7.5",
        iga_platform: Some("7p5"),
        branch_unit: 8,
        jump_unit: 1,
        wide_branch_offsets: false,
        logic_negate_is_complement: false,
        forward_goto_takes_false: false,
        multiplier_is_word: true,
        upper_channels_take_acc1: false,
        address_words: 8,
        doubles_in_halves: false,
        packed_half_results: false,
        wide_immediates: false,
    },
    Capabilities {
        name: "gen8",
        iga_platform: Some("8"),
        branch_unit: 1,
        jump_unit: 1,
        wide_branch_offsets: true,
        logic_negate_is_complement: true,
        forward_goto_takes_false: true,
        multiplier_is_word: false,
        upper_channels_take_acc1: false,
        address_words: 16,
        doubles_in_halves: false,
        packed_half_results: false,
        wide_immediates: true,
    },
    Capabilities {
        name: "gen9",
        iga_platform: Some("9"),
        branch_unit: 1,
        jump_unit: 1,
        wide_branch_offsets: true,
        logic_negate_is_complement: true,
        forward_goto_takes_false: true,
        multiplier_is_word: false,
        upper_channels_take_acc1: false,
        address_words: 16,
        doubles_in_halves: false,
        packed_half_results: true,
        wide_immediates: true,
    },
];

impl Generation {
    /// All generations, oldest first.
    pub const ALL: [Generation; COLUMNS] =
        [Generation::Gen7, Generation::Gen75, Generation::Gen8, Generation::Gen9];

    /// The generation's column in every table.
    pub const fn column(self) -> usize {
        match self {
            Generation::Gen7 => 0,
            Generation::Gen75 => 1,
            Generation::Gen8 => 2,
            Generation::Gen9 => 3,
        }
    }

    /// Its properties.
    pub const fn capabilities(self) -> &'static Capabilities {
        &CAPABILITIES[self.column()]
    }

    /// The generation with a name (`gen7`, `gen7.5`, `gen8`, `gen9`).
    pub fn from_name(name: &str) -> Option<Generation> {
        Generation::ALL.into_iter().find(|g| g.capabilities().name == name)
    }
}
