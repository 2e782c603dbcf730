//! Jumps of the whole thread, and branches with a decision for each lane.

use super::{Failure, Selector};
use crate::codegen::build::Branch;
use crate::codegen::lir::BranchTarget;
use crate::ir::{BlockId, Join, Leave, Op, Predicate, Reg, Vote};
use gencl_isa::{Flag, Opcode};

impl Selector<'_> {
    /// A jump of the whole thread, decided by a vote.
    pub fn vote(
        &mut self,
        vote: Vote,
        target: BlockId,
        next: BlockId,
        src: Reg,
        index: usize,
    ) -> Result<(), Failure> {
        let target = self.layout_index(target)?;
        if self.layout_index(next)? != index + 1 {
            return Err(Failure::internal("a vote whose fall-through is not the next block"));
        }
        let (flag, inverse) = match vote {
            Vote::Any => (self.read_flag(src)?, false),
            Vote::None => (self.read_flag(src)?, true),
            Vote::All => {
                let v = self.truth(src)?;
                let mask = self.dispatch_mask()?;
                let t = self.temporary_flag()?;
                self.invert(t, v, mask);
                (t, true)
            }
        };
        self.b.jump(target, Some((flag, inverse)));
        self.set_successors(&[target, index + 1]);
        Ok(())
    }

    /// A jump of the whole thread.
    pub fn jump(&mut self, target: BlockId, index: usize) -> Result<(), Failure> {
        let target = self.layout_index(target)?;
        if target != index + 1 {
            self.b.jump(target, None);
        }
        self.set_successors(&[target]);
        Ok(())
    }

    fn set_successors(&mut self, successors: &[usize]) {
        if let Some(block) = self.b.program.blocks.last_mut() {
            block.successors = successors.to_vec();
            block.successors.dedup();
        }
    }

    fn layout_index(&self, block: BlockId) -> Result<usize, Failure> {
        let place = self.order.get(&block).copied();
        place.ok_or_else(|| Failure::internal(format!("a jump to block {}, which is not laid out", block.0)))
    }

    /// Lanes leave for another block. `blocks` are that block, the next one, and the one to jump to when no
    /// lane is left.
    pub fn leave(
        &mut self,
        by: Leave,
        predicate: Option<Predicate>,
        blocks: [BlockId; 3],
        index: usize,
    ) -> Result<(), Failure> {
        let [target, next, empty] =
            [self.layout_index(blocks[0])?, self.layout_index(blocks[1])?, self.layout_index(blocks[2])?];
        if next != index + 1 {
            return Err(Failure::internal("a branch whose fall-through is not the next block"));
        }
        // Flag and inversion with which lanes leave, and with which they stay.
        let leaving = match predicate {
            Some(p) => Some((self.read_flag(p.reg)?, p.inverse)),
            None => None,
        };
        let staying = leaving.map(|(flag, inverse)| (flag, !inverse));
        let plain = Branch {
            opcode: Opcode::Goto,
            predicate: leaving,
            target: BranchTarget::First(empty),
            uip: Some(BranchTarget::First(target)),
            control: false,
        };
        let branch = match by {
            Leave::Goto if self.target.generation.capabilities().forward_goto_takes_false => {
                Branch { predicate: Some(self.or_none(staying)?), ..plain }
            }
            Leave::Goto => plain,
            Leave::If => {
                if target != empty {
                    return Err(Failure::internal("an if with parked lanes in its then side"));
                }
                let end = BranchTarget::First(self.end_of_if(target));
                Branch { opcode: Opcode::If, predicate: staying, uip: Some(end), ..plain }
            }
            Leave::Else if Opcode::Else.has_uip(self.target.generation) => {
                Branch { opcode: Opcode::Else, ..plain }
            }
            // The one offset is that of the `endif` (Ivy Bridge, Volume 4 Part 3, "else - Else").
            Leave::Else => {
                Branch { opcode: Opcode::Else, target: BranchTarget::First(target), uip: None, ..plain }
            }
            Leave::Break => {
                let end = BranchTarget::Last(self.loop_before(target)?);
                // The thread must leave the loop through the `while`, which enables the lanes again.
                let target = if empty == target { end } else { BranchTarget::First(empty) };
                Branch { opcode: Opcode::Break, target, uip: Some(end), ..plain }
            }
            Leave::Continue => Branch { opcode: Opcode::Cont, ..plain },
            Leave::While => {
                let target = BranchTarget::First(target);
                Branch { opcode: Opcode::While, target, uip: None, ..plain }
            }
            // Lanes go to `UIP`, the others wait at `JIP`.
            Leave::Back => Branch { target: BranchTarget::First(next), control: true, ..plain },
        };
        self.b.branch(branch);
        let successors = if by.is_backward() { [target, next] } else { [next, empty] };
        self.set_successors(&successors);
        Ok(())
    }

    /// The flag of the lanes that stay; one with no lane if all leave.
    fn or_none(&mut self, staying: Option<(Flag, bool)>) -> Result<(Flag, bool), Failure> {
        match staying {
            Some(flag) => Ok(flag),
            None => {
                let none = self.temporary_flag()?;
                self.logic(Opcode::Mov, none, &[self.no_lanes()]);
                Ok((none, false))
            }
        }
    }

    /// The index of the block before the one at `place`, which must end with the `while` of a loop.
    fn loop_before(&self, place: usize) -> Result<usize, Failure> {
        let last = place.checked_sub(1).and_then(|last| Some((last, *self.function.layout.get(last)?)));
        match last.map(|(last, block)| (last, self.function.block(block).terminator().map(|t| t.op))) {
            Some((last, Some(Op::Leave { by: Leave::While, .. }))) => Ok(last),
            _ => Err(Failure::internal("a break out of a loop that does not end with a while")),
        }
    }

    /// The index of the block with the `endif` of an `if` that branches to the block at `place`: the target
    /// of the `else` before it, or that block itself.
    fn end_of_if(&self, place: usize) -> usize {
        let before = place.checked_sub(1).and_then(|before| self.function.layout.get(before));
        let terminator = before.and_then(|&block| self.function.block(block).terminator());
        match terminator.map(|t| t.op) {
            Some(Op::Leave { by: Leave::Else, target, .. }) => {
                self.order.get(&target).copied().unwrap_or(place)
            }
            _ => place,
        }
    }

    /// Lanes that wait here are enabled. `blocks` are the next block, and the one to jump to when no lane is
    /// active.
    pub fn join(&mut self, by: Join, blocks: [BlockId; 2], index: usize) -> Result<(), Failure> {
        let [next, empty] = [self.layout_index(blocks[0])?, self.layout_index(blocks[1])?];
        if next != index + 1 {
            return Err(Failure::internal("a join whose fall-through is not the next block"));
        }
        let opcode = match by {
            Join::Goto => Opcode::Join,
            Join::If => Opcode::Endif,
        };
        let target = BranchTarget::First(empty);
        self.b.branch(Branch { opcode, predicate: None, target, uip: None, control: false });
        self.set_successors(&[next, empty]);
        Ok(())
    }
}
