//! What a thread begins with, and registers that strict mode looks at.

use gencl_eu::abi::Pattern;
use gencl_eu::file::{ADDRESS, CONTROL, FLAG, grf_mask};
use gencl_eu::op::Action;

use super::ssa::Variable;
use super::{Lift, THREAD_LANES};
use crate::analysis::native::ACCUMULATOR_DWORDS;
use crate::analysis::plan::Plan;
use crate::analysis::written::moved;
use crate::middle::function::{Block, Value};
use crate::middle::op::{Binary, Input, Op, Registers, Relation};
use crate::middle::types::Type;

/// Bytes of a register.
const REGISTER: usize = 32;
/// Bytes of a half register, of which constants of each thread have a pattern.
const HALF: usize = 16;
/// Words of it.
const WORDS: usize = HALF / 2;
/// A bit for each register.
const REGISTERS: Type = Type::int(128, 1);
/// The whole values in the accumulators.
pub const ACCUMULATORS: Type = Type::int(64, ACCUMULATOR_DWORDS);

impl Lift<'_> {
    /// Gives all variables the values that a thread begins with.
    pub fn entry(&mut self, entry: Block) {
        let resumed: Vec<Block> = self.flow.resumed().map(|_| self.builder.function.add_block()).collect();
        self.builder.function.resumed = resumed;
        self.begin_sealed(entry);
        let variant = self.plan.variant;
        let active = if variant.full {
            self.builder.ints(Type::mask(THREAD_LANES), |lane| u64::from(lane < variant.simd_width as usize))
        } else {
            let bits = self.builder.pure(Op::Input(Input::Mask), &[], Type::int(32, 1));
            self.builder.as_mask(bits)
        };
        self.write_variable(Variable::Active, active);
        let none = self.builder.mask(THREAD_LANES, false);
        (0..self.flow.targets.len())
            .for_each(|target| self.write_variable(Variable::Waiting(target as u32), none));
        for number in 0..self.flags.len() {
            let none = self.builder.mask(self.flags[number].len(), false);
            self.write_variable(Variable::Flag(number as u32), none);
        }
        let none = self.builder.int(ACCUMULATORS, 0);
        self.write_variable(Variable::Accumulator, none);
        let payload = self.builder.signed(REGISTERS, grf_mask(0, self.payload_bytes()) as i128);
        self.write_variable(Variable::Written, payload);
        self.restart_rounds();
        self.set_control(variant.control);
        if self.plan.in_memory {
            self.begin_file();
        }
        for variable in 0..self.pieces.of_variable.len() {
            let is_read = self.variables.as_ref().is_some_and(|v| !v.all[variable].initial.is_empty());
            for number in self.pieces.of_variable[variable].clone() {
                let value = match is_read {
                    true => self.initial_piece(number),
                    // With no channel enabled, a thread may reach a read past the write.
                    false => self.builder.int(self.pieces.all[number].ty, 0),
                };
                self.write_variable(Variable::Register(number as u32), value);
            }
        }
        self.jump(self.blocks[0]);
    }

    /// Bytes of the registers that a thread begins with.
    fn payload_bytes(&self) -> usize {
        REGISTER + self.plan.variant.cross_thread as usize + self.plan.variant.per_thread.len() * HALF
    }

    /// Where the launch puts a byte of the general registers, and the end of what follows it there.
    pub fn input_at(&self, byte: usize) -> (Option<Input>, usize) {
        let variant = self.plan.variant;
        let (cross, own) = (variant.cross_thread as usize, variant.per_thread.len() * HALF);
        let (first, is_own_first) = if variant.indirect_data { (own, true) } else { (cross, false) };
        let Some(offset) = byte.checked_sub(REGISTER) else {
            return (Some(Input::Header(byte as u16)), REGISTER);
        };
        let input = |is_own: bool, offset: usize| match is_own {
            true => Input::PerThread(offset as u16),
            false => Input::CrossThread(offset as u16),
        };
        match offset {
            offset if offset < first => (Some(input(is_own_first, offset)), REGISTER + first),
            offset if offset < cross + own => {
                (Some(input(!is_own_first, offset - first)), REGISTER + cross + own)
            }
            _ => (None, usize::MAX),
        }
    }

    /// Words of a thread's own constants that have a pattern, from a half register on: all of those that follow each other, at most up to `limit`, and where they end.
    pub fn patterned(&mut self, start: usize, limit: usize) -> Option<(Value, usize)> {
        let begins = start.is_multiple_of(HALF) && limit >= start + HALF;
        let first = pattern_at(self.plan, start).filter(|pattern| begins && *pattern != Pattern::Any)?;
        let is_uniform = |pattern| matches!(pattern, Pattern::Uniform | Pattern::Repeats);
        let goes_on = |at: usize| match pattern_at(self.plan, at) {
            Some(Pattern::Repeats) => is_uniform(first),
            Some(Pattern::Continues) => !is_uniform(first),
            _ => false,
        };
        let mut end = start + HALF;
        while end + HALF <= limit && goes_on(end) {
            end += HALF;
        }
        // The first word determines all half registers of consecutive words.
        let (begin, more) = row_begin(self.plan, start);
        let (Some(input), _) = self.input_at(begin) else { return None };
        let word = self.builder.pure(Op::Input(input), &[], Type::int(16, 1));
        let lanes = (end - start) / HALF * WORDS;
        let all = self.builder.splat(word, lanes);
        let step = u64::from(!is_uniform(first));
        let steps = self.builder.ints(self.builder.ty(all), |lane| u64::from(more) + lane as u64 * step);
        Some((self.builder.binary(Binary::AddNuw, all, steps), end))
    }

    /// Puts what a thread begins with into its register file. The thread before may have left something there.
    fn begin_file(&mut self) {
        let none = self.builder.int(Type::int(32, REGISTER / 4), 0);
        self.builder.effect(Op::Put(ADDRESS as u16), &[none], &[]);
        let mut at = 0;
        while let (Some(input), end) = self.input_at(at) {
            let end = end.min(at + REGISTER);
            let value = self.builder.pure(Op::Input(input), &[], super::registers::bytes_of(end - at));
            self.builder.effect(Op::Put(at as u16), &[value], &[]);
            at = end;
        }
    }

    /// What the interpreter finds in `cr0`.
    pub fn set_control(&mut self, bits: u32) {
        let bits = self.builder.int(Type::int(32, 1), u64::from(bits));
        self.builder.effect(Op::Put(CONTROL as u16), &[bits], &[]);
    }

    /// Both flag registers, and where they are in the register file.
    pub fn flag_operands(&mut self) -> [(Value, u16); 2] {
        [0, 1].map(|register| {
            let flags = self.read_flags(register * 32, 32);
            (self.builder.bits(flags), (FLAG + register * 4) as u16)
        })
    }

    /// In front of an instruction: if it reads registers that have not been written, the interpreter says so.
    pub fn look_for_unwritten(&mut self, index: usize) {
        let op = &self.plan.ops[index];
        let read = self.plan.doubts.reads.get(&index).filter(|_| op.copies_by.is_none());
        let Some(read) = read.copied() else { return };
        let written = self.read_variable(Variable::Written, REGISTERS);
        let read = self.builder.signed(REGISTERS, read as i128);
        let all = self.builder.signed(REGISTERS, -1);
        let others = self.builder.binary(Binary::Xor, written, all);
        let missing = self.builder.binary(Binary::And, others, read);
        let none = self.builder.signed(REGISTERS, 0);
        let mut is_missing = self.builder.compare(Relation::Ne, missing, none);
        if !matches!(&op.action, Action::Message(message) if message.end_of_thread) {
            let mask = self.mask(index);
            let somebody = self.builder.any(mask);
            is_missing = self.builder.binary(Binary::And, is_missing, somebody);
        }
        let [found, on] = [(); 2].map(|()| self.add_block());
        self.branch(is_missing, found, on);
        self.begin_sealed(found);
        let flags = self.flag_operands();
        let active = self.active();
        let registers =
            Registers { operands: flags.iter().map(|(_, at)| *at).collect(), results: Vec::new() };
        let operands: Vec<Value> =
            [missing, active].into_iter().chain(flags.map(|(value, _)| value)).collect();
        self.builder.effect(Op::Unwritten(Box::new(registers)), &operands, &[]);
        self.jump(on);
        self.begin_sealed(on);
    }

    /// Behind an instruction: what it has written, whether for a channel or not. Of what it has copied that depends on what was there.
    pub fn note_written(&mut self, index: usize) {
        let (op, doubts) = (&self.plan.ops[index], &self.plan.doubts);
        let writes = op.writes & doubts.noted;
        if writes == 0 {
            return;
        }
        let before = self.read_variable(Variable::Written, REGISTERS);
        let set = |lift: &mut Self, registers: u128| lift.builder.signed(REGISTERS, registers as i128);
        let mut all = before;
        let mut certain = writes;
        if let (Some(distance), Some(read)) = (op.copies_by, doubts.reads.get(&index)) {
            let in_doubt = moved(*read, distance) & writes;
            certain &= !in_doubt;
            let from = set(self, moved(in_doubt, -distance));
            let there = self.builder.binary(Binary::And, before, from);
            let far = set(self, distance.unsigned_abs().into());
            let shift = if distance >= 0 { Binary::Shl } else { Binary::LShr };
            let copied = self.builder.binary(shift, there, far);
            let mask = self.mask(index);
            let somebody = self.builder.any(mask);
            let in_doubt = set(self, in_doubt);
            let copied = self.builder.select(somebody, copied, in_doubt);
            all = self.builder.binary(Binary::Or, all, copied);
        }
        let certain = set(self, certain);
        let all = self.builder.binary(Binary::Or, all, certain);
        self.write_variable(Variable::Written, all);
    }
}

/// The pattern of the half register of a thread's own constants in which a byte of the payload is.
fn pattern_at(plan: &Plan<'_>, byte: usize) -> Option<Pattern> {
    let variant = plan.variant;
    let before = if variant.indirect_data { 32 } else { 32 + variant.cross_thread as usize };
    variant.per_thread.get(byte.checked_sub(before)? / 16).copied()
}

/// The first half register of the row of consecutive words that a half register of per-thread constants belongs to, and the difference of their first words.
fn row_begin(plan: &Plan<'_>, half: usize) -> (usize, u32) {
    let (mut begin, mut more) = (half, 0);
    loop {
        match pattern_at(plan, begin) {
            Some(Pattern::Repeats) => {}
            Some(Pattern::Continues) => more += 8,
            _ => return (begin, more),
        }
        begin -= 16;
    }
}
