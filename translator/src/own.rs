//! Memory of the lanes' own: what a loop that is executed lane by lane (`crate::serial`) may write.
//!
//! Compilers put private arrays into the thread's scratch memory, at addresses that are a base of each lane and something that is not known. Bases
//! are equally far apart. Either each lane has its memory in one piece, as long as the bases are apart, or a granule of that length of each lane in turn. In both
//! cases, if the distance from the lane's base, modulo a power of two that is at least as large as all bases are apart, is less than from one base to the next, no
//! other lane's access can be there.

use gencl_eu::operand::SourceLocation;
use gencl_isa::Type;

use crate::flow::Flow;
use crate::hints::Stride;
use crate::message::{Lanes, Memory};
use crate::native::{Integer, Native};
use crate::plan::{Plan, Step};
use crate::serial::{Column, has_channel};
use crate::variables::Variables;

/// More bytes of scratch memory are not kept for the case that a loop has to begin anew.
pub const MOST_SCRATCH: u32 = 16 << 10;

/// So many sums behind each other are looked through for the base.
const MOST_SUMS: usize = 4;

/// What a message's addresses are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// The lane's base.
    pub base: Column,
    /// From one lane's to the next.
    pub step: u32,
    /// A power of two.
    pub modulus: u32,
}

/// Looks at the messages of a loop's instructions.
pub struct Finder<'a> {
    pub plan: &'a Plan<'a>,
    pub flow: &'a Flow,
    pub variables: &'a Variables,
    pub strides: &'a [Stride],
    pub instructions: &'a [usize],
}

impl Finder<'_> {
    /// What the addresses of a message may be compared with for the lanes from a channel on: what is in the sums that they are, and from before the loop.
    pub fn own(&self, index: usize, message: &Lanes, channel: u32) -> Option<Own> {
        if message.memory == Memory::Local {
            return None;
        }
        let (mut index, mut number) = (index, 0);
        for _ in 0..MOST_SUMS {
            let variable = self.variables.uses[index][number]?;
            let base = Column::of(self.plan.effects[index].uses[number].as_ref()?, variable)?;
            let all = self.instructions.iter().copied().filter(|other| {
                has_channel(&self.plan.ops[*other], channel)
                    && self.variables.definitions[*other].contains(&variable)
            });
            let all: Vec<usize> = all.collect();
            if all.is_empty() {
                let Stride::Known(step @ 1..=0xffff) = self.strides[variable] else { return None };
                let modulus = (step as u32 * self.plan.variant.simd_width).next_power_of_two();
                return (message.span() as i64 <= step).then_some(Own { base, step: step as u32, modulus });
            }
            // Where there are several, it is the last one before; whether it is does not matter, as each address is compared.
            let begin =
                self.flow.blocks.iter().map(|block| block.start).filter(|start| *start <= index).max()?;
            let before = all.iter().rfind(|definition| (begin..index).contains(definition));
            let definition = *before.or(if all.len() == 1 { all.first() } else { None })?;
            (index, number) = (definition, self.summand(definition, message.memory.address_size() as u32)?);
        }
        None
    }

    /// The source of a sum that may be a base.
    fn summand(&self, index: usize, size: u32) -> Option<usize> {
        let Step::Native(Native::Integer { function: Integer::Add, bits }) = &self.plan.steps[index] else {
            return None;
        };
        let fits = |number: &usize| {
            let src = &self.plan.ops[index].src[*number];
            let unsigned = matches!(src.ty, Type::UQ | Type::UD);
            matches!(src.location, SourceLocation::Packed(_))
                && unsigned
                && src.ty.size() == size
                && !src.modified()
        };
        (*bits == size * 8).then(|| [0, 1].into_iter().find(fits))?
    }
}
