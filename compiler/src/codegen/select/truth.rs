//! Operations on truth values.

use super::{Failure, Selector, machine_type};
use crate::codegen::operand::{Operation, Val, ValueLocation};
use crate::ir::{BinaryOp, Condition, Form, Instruction, Reg, Type as IrType, UnaryOp};
use gencl_isa::{Arf, Condition as MachineCondition, Flag, Opcode};
use smallvec::SmallVec;

/// The conditional modifier of a comparison.
pub fn machine_condition(condition: Condition) -> MachineCondition {
    match condition {
        Condition::Equal => MachineCondition::Equal,
        Condition::NotEqual => MachineCondition::NotEqual,
        Condition::Less => MachineCondition::Less,
        Condition::LessEqual => MachineCondition::LessEqual,
        Condition::Greater => MachineCondition::Greater,
        Condition::GreaterEqual => MachineCondition::GreaterEqual,
    }
}

/// The comparison with operands exchanged.
fn mirrored(condition: Condition) -> Condition {
    match condition {
        Condition::Less => Condition::Greater,
        Condition::LessEqual => Condition::GreaterEqual,
        Condition::Greater => Condition::Less,
        Condition::GreaterEqual => Condition::LessEqual,
        same => same,
    }
}

impl Selector<'_> {
    /// A logic instruction on flags. Only source 0 can be an architecture register: a second one is copied to
    /// a scalar.
    pub fn logic(&mut self, opcode: Opcode, to: Flag, srcs: &[Val]) {
        let mut srcs: SmallVec<[Val; 2]> = srcs.into();
        if let [_, second] = &mut srcs[..]
            && matches!(second.location, ValueLocation::Arf { .. })
        {
            let copy = self.b.scalar(self.flag_type());
            self.b.mov(copy, Val { negate: false, ..*second });
            *second = Val { negate: second.negate, ..copy.val() };
        }
        let srcs = &srcs;
        let ty = self.flag_type();
        self.b.scalar_arf(opcode, Arf::Flag(to.register), to.subregister * 2, ty, srcs);
    }

    /// The complement of a truth value, as the second source of a logic instruction.
    pub fn complement(&mut self, mask: Val) -> Val {
        if self.target.generation.capabilities().logic_negate_is_complement {
            return mask.negated();
        }
        let copy = self.b.scalar(self.flag_type());
        self.b.op(Operation::new(Opcode::Not), copy, &[mask]);
        copy.val()
    }

    /// Assigns the result of `compute`, which computes all lanes, to `dst` in the lanes of the instruction's
    /// predicate.
    fn assign_truth(
        &mut self,
        dst: Reg,
        i: &Instruction,
        compute: impl FnOnce(&mut Self, Flag) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(p) = i.predicate else {
            if !i.srcs.contains(&dst) {
                let to = self.write_flag(dst)?;
                compute(self, to)?;
                self.flag_written(dst);
                return Ok(());
            }
            // `dst` is a source as well: compute the result in a temporary.
            let t = self.temporary_flag()?;
            compute(self, t)?;
            let to = self.write_flag(dst)?;
            self.logic(Opcode::Mov, to, &[self.flag_value(t)]);
            self.flag_written(dst);
            return Ok(());
        };
        let to = self.write_flag(dst)?;
        let t = self.temporary_flag()?;
        compute(self, t)?;
        // to = to ^ ((to ^ t) & mask): other lanes keep their bits.
        let mask = self.truth(p.reg)?;
        let in_mask = if p.inverse { self.complement(mask) } else { mask };
        self.logic(Opcode::Xor, t, &[self.flag_value(t), self.flag_value(to)]);
        self.logic(Opcode::And, t, &[self.flag_value(t), in_mask]);
        self.logic(Opcode::Xor, to, &[self.flag_value(to), self.flag_value(t)]);
        self.flag_written(dst);
        Ok(())
    }

    /// dst = true (the mask of dispatched lanes) or false.
    pub fn assign_constant_truth(&mut self, i: &Instruction, value: Val) -> Result<(), Failure> {
        self.assign_truth(i.result(), i, |s, t| {
            s.logic(Opcode::Mov, t, &[value]);
            Ok(())
        })
    }

    /// `Mov` and `Not`.
    pub fn unary_truth(&mut self, op: UnaryOp, i: &Instruction) -> Result<(), Failure> {
        let (dst, [src]) = (i.result(), i.sources());
        self.assign_truth(dst, i, |s, t| {
            let v = s.truth(src)?;
            match op {
                UnaryOp::Mov => s.logic(Opcode::Mov, t, &[v]),
                UnaryOp::Not => {
                    let mask = s.dispatch_mask()?;
                    s.invert(t, v, mask);
                }
                _ => return Err(Failure::unsupported(format!("{op:?} of truth values"))),
            }
            Ok(())
        })
    }

    /// t = v ^ mask
    pub fn invert(&mut self, t: Flag, v: Val, mask: Val) {
        if v.constant().is_some() {
            self.logic(Opcode::Mov, t, &[mask]);
        } else {
            self.logic(Opcode::Xor, t, &[v, mask]);
        }
    }

    /// t = a op b, either of which can be the constant 0.
    fn logic2(&mut self, opcode: Opcode, t: Flag, a: Val, b: Val) {
        let (a, b) = if a.constant().is_some() { (b, a) } else { (a, b) };
        if a.constant().is_some() {
            self.logic(Opcode::Mov, t, &[a]);
        } else {
            self.logic(opcode, t, &[a, b]);
        }
    }

    /// `And`, `Or`, `Xor`.
    pub fn binary_truth(&mut self, op: BinaryOp, i: &Instruction) -> Result<(), Failure> {
        let opcode = match op {
            BinaryOp::And | BinaryOp::Mul | BinaryOp::Min => Opcode::And,
            BinaryOp::Or | BinaryOp::Max => Opcode::Or,
            BinaryOp::Xor | BinaryOp::Add | BinaryOp::Sub => Opcode::Xor,
            _ => return Err(Failure::unsupported(format!("{op:?} of truth values"))),
        };
        let [a, b] = i.sources();
        self.assign_truth(i.result(), i, |s, t| {
            let (a, b) = (s.truth(a)?, s.truth(b)?);
            s.logic2(opcode, t, a, b);
            Ok(())
        })
    }

    /// dst = c ? a : b = b ^ (c & (a ^ b))
    pub fn select_truth(&mut self, i: &Instruction) -> Result<(), Failure> {
        let [c, a, b] = i.sources();
        self.assign_truth(i.result(), i, |s, t| {
            let (c, a, b) = (s.truth(c)?, s.truth(a)?, s.truth(b)?);
            s.logic2(Opcode::Xor, t, a, b);
            s.logic2(Opcode::And, t, s.flag_value(t), c);
            s.logic2(Opcode::Xor, t, s.flag_value(t), b);
            Ok(())
        })
    }

    /// A numeric comparison.
    pub fn compare(&mut self, condition: Condition, ty: IrType, i: &Instruction) -> Result<(), Failure> {
        let ty = machine_type(ty)?;
        let [a, b] = i.sources();
        let (mut a, mut b) = (self.val(a, ty)?, self.val(b, ty)?);
        let mut condition = condition;
        if a.constant().is_some() && b.constant().is_none() {
            std::mem::swap(&mut a, &mut b);
            condition = mirrored(condition);
        }
        let a = self.materialize(a);
        let b = self.as_second_source(b);
        self.compare_to(i, condition, a, b)
    }

    /// dst = a `condition` b
    pub fn compare_to(
        &mut self,
        i: &Instruction,
        condition: Condition,
        a: Val,
        b: Val,
    ) -> Result<(), Failure> {
        // The bits of a uniform truth value must be equal in all lanes, active or not: votes read all of
        // them.
        let uniform = self.function.register(i.result()).uniform && self.function.form == Form::Masked;
        if uniform && !(a.scalar() && b.scalar()) {
            return Err(Failure::internal("a uniform comparison of operands that are not scalar"));
        }
        self.assign_truth(i.result(), i, |s, t| {
            let condition = machine_condition(condition);
            let compare = Operation { condition: Some((condition, t)), ..Operation::new(Opcode::Cmp) };
            s.b.compare(Operation { all_lanes: uniform, ..compare }, &[a, b]);
            Ok(())
        })
    }

    /// dst = c ? a : b
    pub fn select(&mut self, ty: IrType, i: &Instruction) -> Result<(), Failure> {
        let ty = super::unsigned(machine_type(ty)?.size());
        let [condition, a, b] = i.sources();
        let flag = self.read_flag(condition)?;
        let (mut a, mut b) = (self.val(a, ty)?, self.val(b, ty)?);
        let mut inverse = false;
        if a.constant().is_some() && b.constant().is_none() {
            std::mem::swap(&mut a, &mut b);
            inverse = true;
        }
        let a = self.materialize(a);
        let b = self.as_second_source(b);
        let d = self.dest(i.result(), ty)?;
        let operation = Operation { select: Some((flag, inverse)), ..Operation::new(Opcode::Sel) };
        self.b.op(operation, d, &[a, b]);
        Ok(())
    }
}
