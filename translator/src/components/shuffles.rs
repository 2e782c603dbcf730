//! What components and rows are where nothing else helps: shuffles.

use std::collections::{HashMap, HashSet};

use inkwell::basic_block::BasicBlock;
use inkwell::builder::BuilderError;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue, PhiValue, VectorValue};

use super::{Pseudo, Rows, called, instructions, operand, put, result, users};

/// Components of a lane that are transposed at once.
const FOUR: u32 = 4;

/// Which half of each 16 bytes of two registers is interleaved.
#[derive(Clone, Copy)]
enum Half {
    Low,
    High,
}

/// A row that is taken apart.
struct Apart<'c> {
    row: VectorValue<'c>,
    /// Components of a lane.
    count: u32,
    /// What makes the row, if it is taken apart right behind that.
    made: Option<InstructionValue<'c>>,
    /// Who wants which of them.
    calls: Vec<(InstructionValue<'c>, u32)>,
}

fn is_lane(call: &InstructionValue<'_>) -> bool {
    matches!(Pseudo::of(*call), Some(Pseudo::Lane { .. }))
}

impl<'c> Rows<'_, 'c> {
    /// Has blocks to which threads rarely come take rows apart for themselves, so that nobody else does it for their sake.
    pub(super) fn part_rare_uses(
        &self,
        function: FunctionValue<'c>,
        rare: &HashSet<BasicBlock<'c>>,
    ) -> Result<(), BuilderError> {
        let is_component =
            |call: &InstructionValue<'c>| matches!(Pseudo::of(*call), Some(Pseudo::Component { .. }));
        let all: Vec<_> = instructions(function).filter(is_component).collect();
        // What is taken apart in any case.
        let often =
            |user: InstructionValue<'c>| user.get_parent().is_some_and(|block| !rare.contains(&block));
        let apart: HashSet<VectorValue<'c>> =
            all.iter().filter(|call| users(**call).any(often)).filter_map(|call| operand(*call, 0)).collect();
        let alone = all.into_iter().filter(|call| operand(*call, 0).is_some_and(|row| !apart.contains(&row)));
        for call in alone {
            let is_elsewhere =
                |block: &BasicBlock<'c>| rare.contains(block) && call.get_parent() != Some(*block);
            let elsewhere = users(call).filter(|user| user.get_opcode() != InstructionOpcode::Phi);
            for user in elsewhere.collect::<Vec<_>>() {
                let Some(block) = user.get_parent().filter(is_elsewhere) else { continue };
                self.position_at_beginning(block.get_first_instruction());
                let (Some(row), Some(function)) = (operand(call, 0), called(call)) else { continue };
                let own = self.builder.build_call(function, &[row.into()], "")?;
                let own = own.try_as_basic_value().unwrap_basic();
                for number in (0..user.get_num_operands()).filter(|n| operand(user, *n) == result(call)) {
                    user.set_operand(number, own);
                }
            }
        }
        Ok(())
    }

    /// Makes shuffles of what is left.
    pub(super) fn lower(
        &self,
        function: FunctionValue<'c>,
        rare: &HashSet<BasicBlock<'c>>,
    ) -> Result<(), BuilderError> {
        let mut rows: Vec<Apart<'c>> = Vec::new();
        // Where they are taken apart: right behind them, or in a rare block.
        let mut numbers: HashMap<(VectorValue<'c>, Option<BasicBlock<'c>>), usize> = HashMap::new();
        let mut interleaved = Vec::new();
        for instruction in instructions(function) {
            match Pseudo::of(instruction) {
                Some(Pseudo::Component { number, count }) => {
                    let Some(row) = operand(instruction, 0) else { continue };
                    let block = instruction.get_parent().filter(|block| rare.contains(block));
                    let at = *numbers.entry((row, block)).or_insert_with(|| {
                        let made = row.as_instruction().filter(|_| block.is_none());
                        rows.push(Apart { row, count, made, calls: Vec::new() });
                        rows.len() - 1
                    });
                    rows[at].calls.push((instruction, number));
                }
                Some(Pseudo::Interleaved) => interleaved.push(instruction),
                Some(Pseudo::Lane { .. }) | None => {}
            }
        }
        rows.into_iter().try_for_each(|row| self.take_apart(row))?;
        interleaved.into_iter().try_for_each(|call| self.put_together(call))?;
        let parts: Vec<_> = instructions(function).filter(is_lane).collect();
        parts.into_iter().try_for_each(|part| self.pick_lane(part))
    }

    /// Makes shuffles of the components of a row.
    fn take_apart(&self, Apart { row, count, made, calls }: Apart<'c>) -> Result<(), BuilderError> {
        let components = match made.map(|made| (made, PhiValue::try_from(made))) {
            Some((made, Ok(phi))) => self.joined(made, phi, count)?,
            Some((made, Err(()))) => {
                self.position_at_beginning(made.get_next_instruction());
                self.components(row, count)?
            }
            None => {
                self.builder.position_before(&calls[0].0);
                self.components(row, count)?
            }
        };
        for (call, number) in calls {
            put(components[number as usize], call);
        }
        Ok(())
    }

    /// Makes shuffles of a row of components; where lanes are transposed at once, each that is wanted for itself is one of those.
    fn put_together(&self, call: InstructionValue<'c>) -> Result<(), BuilderError> {
        self.builder.position_before(&call);
        let count = call.get_num_operands() - 1;
        let components: Vec<VectorValue<'c>> =
            (0..count).filter_map(|number| operand(call, number)).collect();
        let one = components[0].get_type();
        let parts: Vec<InstructionValue<'c>> = users(call).filter(is_lane).collect();
        let at_once = self.transposed_at_once(one, one.get_size(), count);
        if let Some(side) = at_once.filter(|_| !parts.is_empty()) {
            let fours = self.fours(&components, side)?;
            for part in parts {
                self.builder.position_before(&part);
                let Some(Pseudo::Lane { number, count, .. }) = Pseudo::of(part) else { continue };
                let own: Vec<u32> = (0..count).collect();
                put(self.shuffle(fours[number as usize], None, &own)?, part);
            }
        }
        if call.get_first_use().is_some() {
            self.builder.position_before(&call);
            put(self.interleave(&components)?, call);
        } else {
            call.erase_from_basic_block();
        }
        Ok(())
    }

    /// Makes a shuffle of what a lane has of a row.
    fn pick_lane(&self, part: InstructionValue<'c>) -> Result<(), BuilderError> {
        let (Some(row), Some(Pseudo::Lane { number, count, each })) = (operand(part, 0), Pseudo::of(part))
        else {
            return Ok(());
        };
        self.builder.position_before(&part);
        let own: Vec<u32> = (number * each..number * each + count).collect();
        put(self.shuffle(row, None, &own)?, part);
        Ok(())
    }

    /// The components of a row that several ways have found: they are taken apart on each, where most often they have just been read.
    fn joined(
        &self,
        made: InstructionValue<'c>,
        phi: PhiValue<'c>,
        count: u32,
    ) -> Result<Vec<VectorValue<'c>>, BuilderError> {
        let mut ways = Vec::new();
        for (row, block) in (0..phi.count_incoming()).filter_map(|way| phi.get_incoming(way)) {
            let row = row.into_vector_value();
            let whole =
                row.as_instruction().filter(|row| matches!(Pseudo::of(*row), Some(Pseudo::Interleaved)));
            let components = match (whole, block.get_terminator()) {
                (Some(whole), _) => (0..count).filter_map(|number| operand(whole, number)).collect(),
                (None, Some(end)) => {
                    self.builder.position_before(&end);
                    self.components(row, count)?
                }
                (None, None) => return Err(BuilderError::UnsetPosition),
            };
            ways.push((components, block));
        }
        self.builder.position_before(&made);
        let mut joined = Vec::new();
        for number in 0..count as usize {
            let phi = self.builder.build_phi(ways[0].0[number].get_type(), "")?;
            for (components, block) in &ways {
                phi.add_incoming(&[(&components[number], *block)]);
            }
            joined.push(phi.as_basic_value().into_vector_value());
        }
        Ok(joined)
    }

    /// Goes on writing in front of an instruction, or of the first behind it that is no phi.
    fn position_at_beginning(&self, mut next: Option<InstructionValue<'c>>) {
        while let Some(phi) = next.filter(|next| next.get_opcode() == InstructionOpcode::Phi) {
            next = phi.get_next_instruction();
        }
        if let Some(next) = next {
            self.builder.position_before(&next);
        }
    }

    /// The components of a row's lanes.
    fn components(&self, row: VectorValue<'c>, count: u32) -> Result<Vec<VectorValue<'c>>, BuilderError> {
        let lanes = row.get_type().get_size() / count;
        let Some(side) = self.transposed_at_once(row.get_type(), lanes, count) else {
            let order = |number| (0..lanes).map(|lane| lane * count + number).collect::<Vec<_>>();
            return (0..count).map(|number| self.shuffle(row, None, &order(number))).collect();
        };
        let mut components = vec![Vec::new(); FOUR as usize];
        for first in (0..lanes).step_by((FOUR * side) as usize) {
            // Registers with lanes that are four apart: each 16 bytes are a lane's.
            let own = |row: u32| (0..side).map(move |group| (first + group * FOUR + row) * FOUR);
            let order = |row| own(row).flat_map(|lane| lane..lane + FOUR).collect::<Vec<_>>();
            let rows: Vec<_> =
                (0..FOUR).map(|number| self.shuffle(row, None, &order(number))).collect::<Result<_, _>>()?;
            for (component, part) in components.iter_mut().zip(self.transposed(&rows)?) {
                component.push(part);
            }
        }
        components.into_iter().map(|parts| self.concatenated(parts)).collect()
    }

    /// The row of which these are the components.
    pub(super) fn interleave(&self, components: &[VectorValue<'c>]) -> Result<VectorValue<'c>, BuilderError> {
        let (one, count) = (components[0].get_type(), components.len() as u32);
        let lanes = one.get_size();
        let Some(side) = self.transposed_at_once(one, lanes, count).filter(|_| !components[0].is_const())
        else {
            let all = self.concatenated(components.to_vec())?;
            let order: Vec<u32> = (0..lanes * count).map(|n| n % count * lanes + n / count).collect();
            return self.shuffle(all, None, &order);
        };
        let lanes = self.fours(components, side)?;
        self.concatenated(lanes)
    }

    /// Each lane's four components.
    fn fours(&self, components: &[VectorValue<'c>], side: u32) -> Result<Vec<VectorValue<'c>>, BuilderError> {
        let lanes = components[0].get_type().get_size();
        let mut fours = Vec::with_capacity(lanes as usize);
        for first in (0..lanes).step_by((FOUR * side) as usize) {
            let own: Vec<u32> = (first..first + FOUR * side).collect();
            let parts: Vec<_> =
                components.iter().map(|all| self.shuffle(*all, None, &own)).collect::<Result<_, _>>()?;
            let rows = self.transposed(&parts)?;
            // Those of lane 4 * g + r are the 16 bytes g of register r.
            for lane in 0..FOUR * side {
                let at = lane / FOUR * FOUR;
                let own: Vec<u32> = (at..at + FOUR).collect();
                fours.push(self.shuffle(rows[(lane % FOUR) as usize], None, &own)?);
            }
        }
        Ok(fours)
    }

    /// How many 4 x 4 dwords a register of the host has side by side. `None` when the host has better ways (those with registers of 64 bytes pick dwords from two
    /// registers with one instruction, `vpermt2d`), or lanes have other components than four dwords.
    ///
    /// Two rows of instructions that interleave two registers within each 16 bytes (`unpcklps`, `unpckhpd` and their like) transpose as many as that.
    /// LLVM takes other ways, twice as long, when it is told the whole order at once.
    fn transposed_at_once(&self, ty: VectorType<'c>, lanes: u32, count: u32) -> Option<u32> {
        let dwords = match ty.get_element_type() {
            BasicTypeEnum::IntType(ty) => ty.get_bit_width() == 32,
            BasicTypeEnum::FloatType(ty) => ty.get_bit_width() == 32,
            _ => false,
        };
        let side = (self.vectors.bytes as u32 / 16).min(lanes / FOUR);
        (dwords && count == FOUR && matches!(side, 1 | 2)).then_some(side)
    }

    /// Four registers' rows of 16 bytes, each group of four transposed.
    fn transposed(&self, rows: &[VectorValue<'c>]) -> Result<Vec<VectorValue<'c>>, BuilderError> {
        let mut transposed = Vec::new();
        for half in [Half::Low, Half::High] {
            let pair = |row: usize| self.halves(rows[row], rows[row + 1], half, 1);
            let [a, b] = [pair(0)?, pair(2)?];
            for half in [Half::Low, Half::High] {
                transposed.push(self.halves(a, b, half, 2)?);
            }
        }
        Ok(transposed)
    }

    /// In each 16 bytes: pieces of `dwords` of one half of `a` and `b`, by turns.
    fn halves(
        &self,
        a: VectorValue<'c>,
        b: VectorValue<'c>,
        half: Half,
        dwords: u32,
    ) -> Result<VectorValue<'c>, BuilderError> {
        let lanes = a.get_type().get_size();
        let from = match half {
            Half::Low => 0,
            Half::High => 2,
        };
        let order = |lane: u32| {
            let (group, at) = (lane / 4 * 4, lane % 4);
            let (piece, inner) = (at / dwords, at % dwords);
            group + from + piece / 2 * dwords + inner + piece % 2 * lanes
        };
        self.shuffle(a, Some(b), &(0..lanes).map(order).collect::<Vec<_>>())
    }

    /// Vectors of one type, one behind the other; what is missing to a power of two is anything.
    pub(super) fn concatenated(
        &self,
        mut parts: Vec<VectorValue<'c>>,
    ) -> Result<VectorValue<'c>, BuilderError> {
        while parts.len() > 1 {
            let pair = |pair: &[VectorValue<'c>]| {
                let order: Vec<u32> = (0..pair[0].get_type().get_size() * 2).collect();
                self.shuffle(pair[0], pair.get(1).copied(), &order)
            };
            parts = parts.chunks(2).map(pair).collect::<Result<_, _>>()?;
        }
        Ok(parts.swap_remove(0))
    }

    /// The lanes of `a`, then those of `b`, in another order.
    pub(super) fn shuffle(
        &self,
        a: VectorValue<'c>,
        b: Option<VectorValue<'c>>,
        order: &[u32],
    ) -> Result<VectorValue<'c>, BuilderError> {
        let number = self.module.get_context().i32_type();
        let order: Vec<_> = order.iter().map(|lane| number.const_int(u64::from(*lane), false)).collect();
        let other = b.unwrap_or_else(|| a.get_type().get_poison());
        self.builder.build_shuffle_vector(a, other, VectorType::const_vector(&order), "")
    }
}
