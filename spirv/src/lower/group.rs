//! Work-groups and sub-groups: SPIR-V 1.6, 3.49.21 "Group and Subgroup Instructions", 3.49.24 "Non-Uniform
//! Instructions".

use rspirv::spirv::{GroupOperation, Op, Scope};

use super::{Argument, FunctionWriter, Sign};
use crate::error::Result;
use crate::lower::sync::scope_of;
use crate::mangle::{Parameter, mangle};
use crate::types::{Type, address_space};
use crate::walk::Instruction;
use crate::writer::Value;

/// Reductions and scans: the opcode, OpenCL C's name of the operation, how it sees integers, whether it is one of the
/// operations that need not be in uniform control flow.
const REDUCTIONS: &[(Op, &str, Sign, bool)] = &[
    (Op::GroupIAdd, "add", Sign::Signed, false),
    (Op::GroupFAdd, "add", Sign::Signed, false),
    (Op::GroupFMin, "min", Sign::Signed, false),
    (Op::GroupUMin, "min", Sign::Unsigned, false),
    (Op::GroupSMin, "min", Sign::Signed, false),
    (Op::GroupFMax, "max", Sign::Signed, false),
    (Op::GroupUMax, "max", Sign::Unsigned, false),
    (Op::GroupSMax, "max", Sign::Signed, false),
    (Op::GroupNonUniformIAdd, "add", Sign::Signed, true),
    (Op::GroupNonUniformFAdd, "add", Sign::Signed, true),
    (Op::GroupNonUniformIMul, "mul", Sign::Signed, true),
    (Op::GroupNonUniformFMul, "mul", Sign::Signed, true),
    (Op::GroupNonUniformSMin, "min", Sign::Signed, true),
    (Op::GroupNonUniformUMin, "min", Sign::Unsigned, true),
    (Op::GroupNonUniformFMin, "min", Sign::Signed, true),
    (Op::GroupNonUniformSMax, "max", Sign::Signed, true),
    (Op::GroupNonUniformUMax, "max", Sign::Unsigned, true),
    (Op::GroupNonUniformFMax, "max", Sign::Signed, true),
    (Op::GroupNonUniformBitwiseAnd, "and", Sign::Signed, true),
    (Op::GroupNonUniformBitwiseOr, "or", Sign::Signed, true),
    (Op::GroupNonUniformBitwiseXor, "xor", Sign::Signed, true),
    (Op::GroupNonUniformLogicalAnd, "logical_and", Sign::Signed, true),
    (Op::GroupNonUniformLogicalOr, "logical_or", Sign::Signed, true),
    (Op::GroupNonUniformLogicalXor, "logical_xor", Sign::Signed, true),
    (Op::GroupIMulKHR, "mul", Sign::Signed, true),
    (Op::GroupFMulKHR, "mul", Sign::Signed, true),
    (Op::GroupBitwiseAndKHR, "and", Sign::Signed, true),
    (Op::GroupBitwiseOrKHR, "or", Sign::Signed, true),
    (Op::GroupBitwiseXorKHR, "xor", Sign::Signed, true),
    (Op::GroupLogicalAndKHR, "logical_and", Sign::Signed, true),
    (Op::GroupLogicalOrKHR, "logical_or", Sign::Signed, true),
    (Op::GroupLogicalXorKHR, "logical_xor", Sign::Signed, true),
];

/// Functions of a sub-group with a value and perhaps an unsigned number, by their opcode.
const SUB_GROUP: &[(Op, &str)] = &[
    (Op::GroupNonUniformBroadcast, "sub_group_non_uniform_broadcast"),
    (Op::GroupNonUniformBroadcastFirst, "sub_group_broadcast_first"),
    (Op::GroupNonUniformShuffle, "sub_group_shuffle"),
    (Op::GroupNonUniformShuffleXor, "sub_group_shuffle_xor"),
    (Op::GroupNonUniformShuffleUp, "sub_group_shuffle_up"),
    (Op::GroupNonUniformShuffleDown, "sub_group_shuffle_down"),
];

/// Functions of truth values: the opcode, the names for work-groups and sub-groups.
const PREDICATES: &[(Op, &str)] = &[
    (Op::GroupAll, "all"),
    (Op::GroupAny, "any"),
    (Op::GroupNonUniformAll, "non_uniform_all"),
    (Op::GroupNonUniformAny, "non_uniform_any"),
];

/// Functions of ballots: the opcode, the function, whether it has an index.
const BALLOTS: &[(Op, &str)] = &[
    (Op::GroupNonUniformBallotFindLSB, "sub_group_ballot_find_lsb"),
    (Op::GroupNonUniformBallotFindMSB, "sub_group_ballot_find_msb"),
];

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn group(&mut self, own: &Instruction<'m>) -> Result<bool> {
        if let Some((_, name, sign, non_uniform)) = REDUCTIONS.iter().find(|row| row.0 == own.op) {
            self.reduction(own, name, *sign, *non_uniform)?;
            return Ok(true);
        }
        if let Some((_, name)) = SUB_GROUP.iter().find(|row| row.0 == own.op) {
            let mut list = vec![(self.operand(own, 1)?, Sign::Signed)];
            if own.operands.len() > 2 {
                list.push((self.operand(own, 2)?, Sign::Unsigned));
            }
            self.called(own, name, &list)?;
            return Ok(true);
        }
        if let Some((_, name)) = PREDICATES.iter().find(|row| row.0 == own.op) {
            let name = format!("{}_group_{name}", self.prefix(own)?);
            let value = self.integer_of_truth(own, 1)?;
            self.truth(own, &format!("_Z{}{name}i", name.len()), "i32", &[value]);
            return Ok(true);
        }
        if let Some((_, name)) = BALLOTS.iter().find(|row| row.0 == own.op) {
            let value = self.operand(own, 1)?;
            self.called(own, name, &[(value, Sign::Unsigned)])?;
            return Ok(true);
        }
        match own.op {
            Op::GroupBroadcast => self.broadcast(own)?,
            Op::GroupAsyncCopy => self.async_copy(own)?,
            Op::GroupWaitEvents => self.wait_events(own)?,
            Op::GroupNonUniformElect => self.truth(own, "_Z15sub_group_electv", "i32", &[]),
            Op::GroupNonUniformAllEqual => {
                let value = self.operand(own, 1)?;
                let name =
                    self.call_built_in("sub_group_non_uniform_all_equal", "i32", &[(value, Sign::Signed)])?;
                self.result(own, &format!("icmp ne i32 {name}, 0"));
            }
            Op::GroupNonUniformBallot => {
                let value = self.integer_of_truth(own, 1)?;
                let name = self.call("_Z16sub_group_balloti", "<4 x i32>", &[value]);
                self.is(own, name);
            }
            Op::GroupNonUniformInverseBallot => {
                let value = self.operand(own, 1)?;
                let name =
                    self.call_built_in("sub_group_inverse_ballot", "i32", &[(value, Sign::Unsigned)])?;
                self.result(own, &format!("icmp ne i32 {name}, 0"));
            }
            Op::GroupNonUniformBallotBitExtract => {
                let list = [(self.operand(own, 1)?, Sign::Unsigned), (self.operand(own, 2)?, Sign::Unsigned)];
                let name = self.call_built_in("sub_group_ballot_bit_extract", "i32", &list)?;
                self.result(own, &format!("icmp ne i32 {name}, 0"));
            }
            Op::GroupNonUniformBallotBitCount => {
                let name = match self.operation(own)? {
                    GroupOperation::Reduce => "sub_group_ballot_bit_count",
                    GroupOperation::InclusiveScan => "sub_group_ballot_inclusive_scan",
                    GroupOperation::ExclusiveScan => "sub_group_ballot_exclusive_scan",
                    _ => return Err(own.error("the group operation is not supported")),
                };
                let value = self.operand(own, 2)?;
                self.called(own, name, &[(value, Sign::Unsigned)])?;
            }
            Op::GroupNonUniformRotateKHR => {
                let mut list =
                    vec![(self.operand(own, 1)?, Sign::Signed), (self.operand(own, 2)?, Sign::Signed)];
                let name = match own.operands.get(3) {
                    None => "sub_group_rotate",
                    Some(size) => {
                        list.push((self.value(own, *size)?, Sign::Unsigned));
                        "sub_group_clustered_rotate"
                    }
                };
                self.called(own, name, &list)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Calls a built-in function, whose result is the instruction's.
    pub(super) fn called(&mut self, own: &Instruction<'m>, name: &str, list: &[(Value, Sign)]) -> Result<()> {
        let ty = self.w.types.text(own.ty).to_owned();
        let name = self.call_built_in(name, &ty, list)?;
        self.is(own, name);
        Ok(())
    }

    /// Calls a function that gives an integer, which is compared with 0.
    fn truth(&mut self, own: &Instruction<'m>, name: &str, ty: &str, list: &[Argument]) {
        let found = self.call(name, ty, list);
        self.result(own, &format!("icmp ne {ty} {found}, 0"));
    }

    /// A truth value as OpenCL C's `int`.
    fn integer_of_truth(&mut self, own: &Instruction<'m>, number: usize) -> Result<Argument> {
        let value = self.typed(own, number)?;
        Ok(("i32".into(), self.temporary(&format!("zext {value} to i32"))))
    }

    /// `work` or `sub`, by the scope.
    fn prefix(&self, own: &Instruction<'_>) -> Result<&'static str> {
        match self.constant(own.operand(0)?).and_then(scope_of) {
            Some(Scope::Workgroup) => Ok("work"),
            Some(Scope::Subgroup) => Ok("sub"),
            _ => Err(own.error("the scope is neither the work-group nor the sub-group")),
        }
    }

    fn operation(&self, own: &Instruction<'_>) -> Result<GroupOperation> {
        let number = own.operand(1)?;
        GroupOperation::from_u32(number)
            .ok_or_else(|| own.error(format!("group operation {number} is unknown")))
    }

    fn reduction(&mut self, own: &Instruction<'m>, name: &str, sign: Sign, non_uniform: bool) -> Result<()> {
        let prefix = self.prefix(own)?;
        let how = match self.operation(own)? {
            GroupOperation::Reduce => "reduce",
            GroupOperation::InclusiveScan => "scan_inclusive",
            GroupOperation::ExclusiveScan => "scan_exclusive",
            GroupOperation::ClusteredReduce => "clustered_reduce",
            _ => return Err(own.error("the group operation is not supported")),
        };
        // Work-groups have the functions in uniform control flow only.
        let non_uniform = non_uniform && prefix == "sub" && how != "clustered_reduce";
        let middle = if non_uniform { "non_uniform_" } else { "" };
        let function = format!("{prefix}_group_{middle}{how}_{name}");
        if name.starts_with("logical") {
            let mut list = vec![self.integer_of_truth(own, 2)?];
            let mut code = "i".to_owned();
            if let Some(size) = own.operands.get(3) {
                let size = self.value(own, *size)?;
                list.push(self.argument(&size));
                code.push('j');
            }
            self.truth(own, &format!("_Z{}{function}{code}", function.len()), "i32", &list);
            return Ok(());
        }
        let mut list = vec![(self.operand(own, 2)?, sign)];
        if let Some(size) = own.operands.get(3) {
            list.push((self.value(own, *size)?, Sign::Unsigned));
        }
        self.called(own, &function, &list)
    }

    /// The value of one work-item, whose id is a number or a vector of ids.
    fn broadcast(&mut self, own: &Instruction<'m>) -> Result<()> {
        let prefix = self.prefix(own)?;
        let (value, id) = (self.operand(own, 1)?, self.operand(own, 2)?);
        let (scalar, count) = self.w.types.element(id.ty);
        let mut list = vec![(value, Sign::Signed)];
        for number in 0..count {
            let typed = self.w.typed(&id);
            let text = if count == 1 {
                id.text.clone()
            } else {
                self.temporary(&format!("extractelement {typed}, i32 {number}"))
            };
            list.push((Value { ty: scalar, text }, Sign::Unsigned));
        }
        self.called(own, &format!("{prefix}_group_broadcast"), &list)
    }

    fn async_copy(&mut self, own: &Instruction<'m>) -> Result<()> {
        let [to, from, count, stride, event] = [1, 2, 3, 4, 5].map(|number| self.operand(own, number));
        let (to, from, count, stride, event) = (to?, from?, count?, stride?, event?);
        let (Some(Type::Pointer(class, pointee)), Some(Type::Pointer(from_class, _))) =
            (self.w.types.get(to.ty).cloned(), self.w.types.get(from.ty).cloned())
        else {
            return Err(own.error("it copies between pointers"));
        };
        let element = self.parameter(pointee, Sign::Signed);
        let space = |class| address_space(class).unwrap_or(0);
        let size = Parameter::Named(self.size_type().0.into());
        let parameters = [
            Parameter::Pointer(space(class), "", Box::new(element.clone())),
            Parameter::Pointer(space(from_class), "K", Box::new(element)),
            size.clone(),
            size,
            Parameter::Named("9ocl_event".into()),
        ];
        let list: Vec<Argument> =
            [to, from, count, stride, event].iter().map(|value| self.argument(value)).collect();
        let ty = self.w.types.text(own.ty).to_owned();
        let name = self.call(&mangle("async_work_group_strided_copy", &parameters), &ty, &list);
        self.is(own, name);
        Ok(())
    }

    fn wait_events(&mut self, own: &Instruction<'m>) -> Result<()> {
        let (count, events) = (self.operand(own, 1)?, self.operand(own, 2)?);
        let Some(Type::Pointer(class, _)) = self.w.types.get(events.ty).cloned() else {
            return Err(own.error("the list of events is no pointer"));
        };
        let event = Parameter::Named("9ocl_event".into());
        let space = address_space(class).unwrap_or(0);
        let parameters = [Parameter::Named("i".into()), Parameter::Pointer(space, "", Box::new(event))];
        let list = [self.argument(&count), self.argument(&events)];
        self.call(&mangle("wait_group_events", &parameters), "void", &list);
        Ok(())
    }
}
