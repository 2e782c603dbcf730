//! Cross-lane functions of the library, and the local memory of work-group functions.

use super::Failure;
use super::translator::{Regs, Translator};
use crate::ir::{CrossLane, Family, GroupOp, Input, Instruction, Op, Reg, Space, Type};
use crate::llvm::view::Value;

/// Size of the memory for work-group functions in bytes: a quadword for each of at most 64 threads of a
/// group.
const GROUP_MEMORY: u32 = 64 * 8;

/// Inputs that functions without arguments return.
const INPUTS: &[(&str, Input)] =
    &[("simd_width", Input::SimdWidth), ("lane_id", Input::LaneId), ("sub_group_id", Input::SubgroupId)];

/// The operation of a name: `reduce_add_s32`, `exclusive_scan_max_f32`.
fn together(name: &str) -> Option<CrossLane> {
    let (rest, ty) = name.rsplit_once('_')?;
    let (word, op) = rest.rsplit_once('_')?;
    let (op, ty) = (GroupOp::from_name(op)?, Type::from_name(ty)?);
    match word {
        "reduce" => Some(CrossLane::Reduce(op, ty)),
        "scan" | "exclusive_scan" => Some(CrossLane::Scan { op, ty, exclusive: word == "exclusive_scan" }),
        _ => None,
    }
}

impl<'m> Translator<'_, 'm> {
    /// Translates a function, given its name without `__gencl_`; `None` when it is not a cross-lane function.
    pub fn across_lanes(&mut self, name: &str, arguments: &[Value<'m>]) -> Result<Option<Regs>, Failure> {
        if let Some(&(_, input)) = INPUTS.iter().find(|(known, _)| *known == name) {
            let value = if input == Input::LaneId {
                let word = self.input(input, Family::Word);
                self.convert(Type::U32, Type::U16, word)
            } else {
                self.input(input, Family::Dword)
            };
            return Ok(Some(Regs::from_elem(value, 1)));
        }
        let result = if name == "group_memory" {
            self.group_memory()
        } else if name == "local_lock" {
            self.local_lock()
        } else if name == "ballot" {
            let votes = self.one(arguments[0])?;
            let votes = self.truth(votes, Type::U32);
            self.cross_lane(CrossLane::Ballot, Type::U32, &[votes])
        } else if let Some(ty) = name.strip_prefix("shuffle_").and_then(Type::from_name) {
            let sources = [self.one(arguments[0])?, self.one(arguments[1])?];
            self.cross_lane(CrossLane::Shuffle(ty), ty, &sources)
        } else if let Some(op) = together(name) {
            let source = self.one(arguments[0])?;
            let (CrossLane::Reduce(_, ty) | CrossLane::Scan { ty, .. }) = op else { return Ok(None) };
            self.cross_lane(op, ty, &[source])
        } else {
            return Ok(None);
        };
        Ok(Some(Regs::from_elem(result, 1)))
    }

    fn cross_lane(&mut self, op: CrossLane, ty: Type, sources: &[Reg]) -> Reg {
        let result = self.function.new_register(ty.family());
        self.emit(Op::CrossLane(op), &[result], sources);
        result
    }

    /// The address of the lock in local memory, which the prologue sets to 0.
    fn local_lock(&mut self) -> Reg {
        let place = match self.local_lock {
            Some(place) => place,
            None => {
                let place = self.function.local_size.next_multiple_of(4);
                self.function.local_size = place + 4;
                self.local_lock = Some(place);
                let [address, zero] = [(); 2].map(|()| self.function.new_register(Family::Dword));
                let immediate = |bits: u32| Op::Immediate { ty: Type::U32, bits: bits.into() };
                self.prologue.push(Instruction::new(immediate(place), [address], []));
                self.prologue.push(Instruction::new(immediate(0), [zero], []));
                let store = Op::Store { space: Space::Local, ty: Type::U32, align: 4 };
                self.prologue.push(Instruction::new(store, [], [address, zero]));
                self.prologue.push(Instruction::new(Op::Barrier { local: true, global: false }, [], []));
                self.function.kernel.barrier = true;
                place
            }
        };
        self.immediate(Type::U32, place.into())
    }

    /// The address of the local memory that all work-group functions share.
    fn group_memory(&mut self) -> Reg {
        let place = match self.group_memory {
            Some(place) => place,
            None => {
                let place = self.function.local_size.next_multiple_of(8);
                self.function.local_size = place + GROUP_MEMORY;
                self.group_memory = Some(place);
                place
            }
        };
        self.immediate(Type::U32, place.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_operations() {
        assert_eq!(together("reduce_add_s32"), Some(CrossLane::Reduce(GroupOp::Add, Type::S32)));
        let scan = CrossLane::Scan { op: GroupOp::Max, ty: Type::F16, exclusive: true };
        assert_eq!(together("exclusive_scan_max_f16"), Some(scan));
        assert_eq!(together("reduce_sub_s32"), None);
        assert_eq!(together("barrier"), None);
    }
}
