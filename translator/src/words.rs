//! Words with a bit for each channel: flags, and scalars that conditions are kept in. Compilers combine them for all channels at once,
//! so that what becomes of a bit depends on the bits of the same channel only.

use std::collections::BTreeSet;

use gencl_eu::file::{FLAG, GRF_BYTES};
use gencl_eu::operand::{SourceLocation, Target};
use gencl_isa::PredicateControl;

use crate::flow::Flow;
use crate::native::{Integer, Native};
use crate::plan::{Plan, Step, is_flag};
use crate::variables::Variables;

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// Of the flag registers, from this bit on.
    Flag(u8),
    /// A scalar: the variable, and its first byte in the general registers.
    Scalar(usize, usize),
}

/// An operand of an operation on words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// A word, or its complement.
    Word(Word, bool),
    /// The same bit for all channels.
    All(bool),
}

/// An operation on words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// `and`, `or`, `xor`; `None` copies the first operand.
    pub function: Option<&'static str>,
    /// Operands.
    pub sources: [Bits; 2],
    /// Result.
    pub to: Word,
}

impl Operation {
    /// The words that it reads and writes.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        let sources = self.sources.into_iter().filter_map(|bits| match bits {
            Bits::Word(word, _) => Some(word),
            Bits::All(_) => None,
        });
        sources.chain([self.to])
    }
}

/// The operation on words that an instruction may be.
pub fn operation(plan: &Plan<'_>, variables: &Variables, index: usize) -> Option<Operation> {
    let op = &plan.ops[index];
    let width = plan.variant.simd_width;
    let (function, inverted) = match &plan.steps[index] {
        Step::Native(Native::Copy) => (None, false),
        Step::Native(Native::Integer { function, bits: 32 }) => match function {
            Integer::And => (Some("and"), false),
            Integer::Or => (Some("or"), false),
            Integer::Xor => (Some("xor"), false),
            Integer::Not => (None, true),
            _ => return None,
        },
        _ => return None,
    };
    let ty = op.dst.ty;
    let plain =
        op.lanes == 1 && op.no_mask && op.predicate.is_none() && op.condition.is_none() && !op.saturate;
    if !plain || ty.is_float() || ty.size() * 8 < width || ty.size() > 4 {
        return None;
    }
    let flag = |at: usize| Word::Flag(((at - FLAG) * 8) as u8);
    let source = |number: usize| -> Option<Bits> {
        let src = &op.src[number];
        if src.negate || src.abs || src.ty.size() != ty.size() {
            return None;
        }
        let inverted = src.complement != inverted;
        match src.location {
            SourceLocation::Constant(bits) => {
                let all = u64::MAX >> (64 - width);
                let bits = if inverted { !bits & all } else { bits & all };
                (bits == 0 || bits == all).then_some(Bits::All(bits != 0))
            }
            SourceLocation::Scalar(at) if is_flag(at) => Some(Bits::Word(flag(at), inverted)),
            SourceLocation::Scalar(at) if at < GRF_BYTES => {
                Some(Bits::Word(Word::Scalar(variables.uses[index][number]?, at), inverted))
            }
            _ => None,
        }
    };
    let Target::Direct { offset, .. } = op.dst.target else { return None };
    let to = match offset {
        at if is_flag(at) => flag(at),
        at if at < GRF_BYTES => Word::Scalar(*variables.definitions[index].first()?, at),
        _ => return None,
    };
    let second = if function.is_some() { source(1)? } else { Bits::All(false) };
    Some(Operation { function, sources: [source(0)?, second], to })
}

/// Of these instructions, those that combine flags, and what is combined with flags.
pub fn operations(
    plan: &Plan<'_>,
    variables: &Variables,
    instructions: impl Iterator<Item = usize>,
) -> Vec<(usize, Operation)> {
    let mut open: Vec<(usize, Operation)> =
        instructions.filter_map(|index| Some((index, operation(plan, variables, index)?))).collect();
    let mut known: BTreeSet<Word> = BTreeSet::new();
    let mut found = Vec::new();
    loop {
        let touches = |operation: &Operation| {
            operation.words().any(|word| matches!(word, Word::Flag(_)) || known.contains(&word))
        };
        let (more, others): (Vec<_>, Vec<_>) = open.into_iter().partition(|(_, o)| touches(o));
        if more.is_empty() {
            return found;
        }
        known.extend(more.iter().flat_map(|(_, operation)| operation.words()));
        found.extend(more);
        open = others;
    }
}

/// May bits of the flags be read behind a block's beginning before they are written? A comparison writes the bits of the
/// channels that execute it, so what a predicate reads of them afterwards is not from before; other reads see all channels'.
pub fn flags_are_read(plan: &Plan<'_>, flow: &Flow, block: usize, first: u8, width: u32) -> bool {
    let all = u64::MAX >> (64 - width) << first;
    // For each block, the bits that predicates, and that others, may still read.
    let mut seen = vec![[0u64; 2]; flow.blocks.len()];
    let mut open = vec![(block, [all, all])];
    while let Some((block, mut bits)) = open.pop() {
        if (0..2).all(|n| bits[n] & !seen[block][n] == 0) {
            continue;
        }
        (0..2).for_each(|n| seen[block][n] |= bits[n]);
        for index in flow.blocks[block].start..flow.blocks[block].end {
            let op = &plan.ops[index];
            let own = u64::MAX >> (64 - u32::from(op.lanes)) << op.flag_bit;
            let mut foreign = 0u64;
            if matches!(plan.steps[index], Step::Interpret(_)) {
                foreign = u64::MAX;
            }
            for src in &op.src {
                if src.offset().is_some_and(is_flag) {
                    foreign = u64::MAX;
                }
            }
            match op.predicate {
                Some(predicate) if predicate.control != PredicateControl::Normal => foreign = u64::MAX,
                Some(_) if op.no_mask => foreign |= own,
                Some(_) if own & bits[0] != 0 => return true,
                _ => {}
            }
            if foreign & (bits[0] | bits[1]) != 0 {
                return true;
            }
            if op.condition.is_some() && (op.predicate.is_none() || op.predicate_is_operand) {
                bits[0] &= !own;
            }
            if let Target::Direct { offset, .. } = op.dst.target
                && is_flag(offset)
                && op.lanes == 1
                && op.no_mask
                && op.predicate.is_none()
            {
                let written = u64::MAX >> (64 - op.dst.ty.size() * 8) << ((offset - FLAG) * 8);
                bits = bits.map(|bits| bits & !written);
            }
        }
        let next = flow.blocks[block].thread.iter().chain(&flow.blocks[block].channel);
        open.extend(next.map(|next| (*next, bits)));
    }
    false
}
