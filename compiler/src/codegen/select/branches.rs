//! Jumps of the thread, and branches of lanes.

use super::{Failure, Selector};
use crate::codegen::build::Branch;
use crate::codegen::lir::Point;
use crate::ir::{BlockId, Join, Leave, Op, Predicate, Reg, Vote};
use gencl_isa::{Flag, Opcode};

impl Selector<'_> {
    /// The jump that a vote decides about.
    pub fn vote(
        &mut self,
        vote: Vote,
        target: BlockId,
        next: BlockId,
        src: Reg,
        index: usize,
    ) -> Result<(), Failure> {
        let target = self.place_of(target)?;
        if self.place_of(next)? != index + 1 {
            return Err(Failure::internal("a vote that does not go on with the next block"));
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
        self.follow(&[target, index + 1]);
        Ok(())
    }

    /// A jump of the whole thread.
    pub fn jump(&mut self, target: BlockId, index: usize) -> Result<(), Failure> {
        let target = self.place_of(target)?;
        if target != index + 1 {
            self.b.jump(target, None);
        }
        self.follow(&[target]);
        Ok(())
    }

    fn follow(&mut self, successors: &[usize]) {
        if let Some(block) = self.b.program.blocks.last_mut() {
            block.successors = successors.to_vec();
            block.successors.dedup();
        }
    }

    fn place_of(&self, block: BlockId) -> Result<usize, Failure> {
        let place = self.order.get(&block).copied();
        place.ok_or_else(|| Failure::internal(format!("a jump to block {}, which is not laid out", block.0)))
    }

    /// Lanes leave: `blocks` are where they go, the next block, and where the thread goes without any.
    pub fn leave(
        &mut self,
        by: Leave,
        predicate: Option<Predicate>,
        blocks: [BlockId; 3],
        index: usize,
    ) -> Result<(), Failure> {
        let [target, next, empty] =
            [self.place_of(blocks[0])?, self.place_of(blocks[1])?, self.place_of(blocks[2])?];
        if next != index + 1 {
            return Err(Failure::internal("a branch that does not go on with the next block"));
        }
        // Flag and inversion for which lanes leave, and for which they stay.
        let leaving = match predicate {
            Some(p) => Some((self.read_flag(p.reg)?, p.inverse)),
            None => None,
        };
        let staying = leaving.map(|(flag, inverse)| (flag, !inverse));
        let plain = Branch {
            opcode: Opcode::Goto,
            predicate: leaving,
            target: Point::First(empty),
            lanes_to: Some(Point::First(target)),
            control: false,
        };
        let branch = match by {
            Leave::Goto if self.target.generation.capabilities().forward_goto_takes_false => {
                Branch { predicate: Some(self.or_none(staying)?), ..plain }
            }
            Leave::Goto => plain,
            Leave::If => {
                if target != empty {
                    return Err(Failure::internal("an if with lanes that wait in its first side"));
                }
                let end = Point::First(self.end_of_if(target));
                Branch { opcode: Opcode::If, predicate: staying, lanes_to: Some(end), ..plain }
            }
            Leave::Else if Opcode::Else.has_uip(self.target.generation) => {
                Branch { opcode: Opcode::Else, ..plain }
            }
            // The one offset is that of the `endif` (Ivy Bridge, Volume 4 Part 3, "else - Else").
            Leave::Else => {
                Branch { opcode: Opcode::Else, target: Point::First(target), lanes_to: None, ..plain }
            }
            Leave::Break => {
                let end = Point::Last(self.loop_before(target)?);
                // Behind the loop the thread comes by way of the `while` alone: that enables the lanes.
                let target = if empty == target { end } else { Point::First(empty) };
                Branch { opcode: Opcode::Break, target, lanes_to: Some(end), ..plain }
            }
            Leave::Continue => Branch { opcode: Opcode::Cont, ..plain },
            Leave::While => {
                let target = Point::First(target);
                Branch { opcode: Opcode::While, target, lanes_to: None, ..plain }
            }
            // Lanes go to `UIP`, the others wait at `JIP`.
            Leave::Back => Branch { target: Point::First(next), control: true, ..plain },
        };
        self.b.branch(branch);
        let successors = if by.is_backward() { [target, next] } else { [next, empty] };
        self.follow(&successors);
        Ok(())
    }

    /// A flag that says which lanes stay: none, when there is none.
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

    /// The block before the one at `place`, whose last instruction is the `while` of the loop that ends
    /// there.
    fn loop_before(&self, place: usize) -> Result<usize, Failure> {
        let last = place.checked_sub(1).and_then(|last| Some((last, *self.function.layout.get(last)?)));
        match last.map(|(last, block)| (last, self.function.block(block).terminator().map(|t| t.op))) {
            Some((last, Some(Op::Leave { by: Leave::While, .. }))) => Ok(last),
            _ => Err(Failure::internal("a break out of a loop that does not end with a while")),
        }
    }

    /// The end of the if whose branch goes to the block at `place`: where the `else` before it goes, or that
    /// block itself.
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

    /// Lanes that wait here go on: `blocks` are the next one, and where the thread goes when there are none.
    pub fn join(&mut self, by: Join, blocks: [BlockId; 2], index: usize) -> Result<(), Failure> {
        let [next, empty] = [self.place_of(blocks[0])?, self.place_of(blocks[1])?];
        if next != index + 1 {
            return Err(Failure::internal("a join that does not go on with the next block"));
        }
        let opcode = match by {
            Join::Goto => Opcode::Join,
            Join::If => Opcode::Endif,
        };
        let target = Point::First(empty);
        self.b.branch(Branch { opcode, predicate: None, target, lanes_to: None, control: false });
        self.follow(&[next, empty]);
        Ok(())
    }
}
