//! Cross-lane operations.
//!
//! Values are combined by instructions without mask on halves of a register in which inactive lanes hold the
//! identity, as in IGC (`EmitPass::emitReductionTree`, `emitPreOrPostFixOp`). `reduce` of 16 dwords takes two
//! copies and four instructions, `scan` two copies and six.

use super::{Failure, Selector, machine_type, unsigned};
use crate::codegen::indirect::Table;
use crate::codegen::lir::{GRF, VRef};
use crate::codegen::operand::{Dest, LaneRegion, Operation, Val, ValueLocation};
use crate::ir::{CrossLane, Form, GroupOp, Instruction, Predicate, Reg, Type as IrType};
use gencl_isa::{Condition, Opcode, Type};

/// The type in which values are combined: bytes as words, whose low bytes are the results.
fn working_type(ty: Type) -> Type {
    match ty {
        Type::B => Type::W,
        Type::UB => Type::UW,
        other => other,
    }
}

impl Selector<'_> {
    /// Selects a cross-lane operation.
    pub fn cross_lane(&mut self, op: CrossLane, i: &Instruction) -> Result<(), Failure> {
        match op {
            CrossLane::Shuffle(ty) => self.shuffle(ty, i),
            CrossLane::Ballot => self.ballot(i),
            CrossLane::Reduce(op, ty) => self.reduce(op, ty, i),
            CrossLane::Scan { op, ty, exclusive } => self.scan(op, ty, exclusive, i),
        }
    }

    /// Emits `build` for `lanes` lanes, enabled or not.
    fn without_mask(&mut self, lanes: u32, build: impl FnOnce(&mut Self)) {
        let simd = std::mem::replace(&mut self.b.simd, lanes);
        let all = std::mem::replace(&mut self.b.all_lanes, true);
        build(self);
        self.b.simd = simd;
        self.b.all_lanes = all;
    }

    /// The values of all lanes in a new register, with the identity in inactive lanes; with `in_front` also
    /// before lane 0.
    fn participants(&mut self, op: GroupOp, ty: IrType, src: Reg, in_front: bool) -> Result<Dest, Failure> {
        let machine = machine_type(ty)?;
        let working = working_type(machine);
        let slot = working.size();
        let vreg = self.b.program.vreg(GRF + self.b.simd * slot, GRF);
        let values = Dest { at: VRef { vreg, offset: GRF }, stride: slot, ty: working, kills: true };
        let identity = Val::imm(op.identity(ty), machine);
        let identity = Val::imm(identity.extended().unwrap_or(0) as u64, working);
        let identity = if slot == 8 { self.materialize(identity) } else { identity };
        let before = Dest { at: VRef { vreg, offset: GRF - slot }, ..values };
        if in_front {
            self.without_mask(1, |s| s.b.mov(before, identity));
        }
        let simd = self.b.simd;
        self.without_mask(simd, |s| s.b.mov(values, identity));
        let v = self.val(src, machine)?;
        let v = if v.constant().is_some() { self.materialize(v) } else { v };
        self.b.mov(Dest { kills: false, ..values }, v);
        Ok(Dest { kills: false, ..values })
    }

    /// d = a op b, in a [`working_type`].
    fn combine(&mut self, op: GroupOp, d: Dest, a: Val, b: Val) {
        let wide = d.ty.size() == 8 && !d.ty.is_float();
        let opcode = match op {
            GroupOp::Mul if wide => return self.mul64(d, a, b),
            GroupOp::Mul if d.ty.size() == 4 && !d.ty.is_float() => return self.multiply(d, a, b),
            GroupOp::Min => return self.b.op(Operation::choose(Condition::Less), d, &[a, b]),
            GroupOp::Max => return self.b.op(Operation::choose(Condition::GreaterEqual), d, &[a, b]),
            GroupOp::Add => Opcode::Add,
            GroupOp::Mul => Opcode::Mul,
            GroupOp::And => Opcode::And,
            GroupOp::Or => Opcode::Or,
            GroupOp::Xor => Opcode::Xor,
        };
        self.b.op(Operation::new(opcode), d, &[a, b]);
    }

    fn reduce(&mut self, op: GroupOp, ty: IrType, i: &Instruction) -> Result<(), Failure> {
        let [src] = i.sources();
        let values = self.participants(op, ty, src, false)?;
        let mut half = self.b.simd / 2;
        while half > 0 {
            let upper = Val::reg(values.at.plus(half * values.stride), values.stride, values.ty);
            self.without_mask(half, |s| s.combine(op, values, values.val(), upper));
            half /= 2;
        }
        let ty = unsigned(machine_type(ty)?.size());
        let d = self.dest(i.result(), ty)?;
        self.b.mov(d, Val::reg(values.at, 0, ty));
        Ok(())
    }

    fn scan(&mut self, op: GroupOp, ty: IrType, exclusive: bool, i: &Instruction) -> Result<(), Failure> {
        let [src] = i.sources();
        let values = self.participants(op, ty, src, exclusive)?;
        let slot = values.stride;
        let lane = |n: u32, stride: u32| Dest { at: values.at.plus(n * slot), stride, ..values };
        let simd = self.b.simd;
        let mut group = 1;
        while group < simd {
            let last = group - 1;
            if group <= 2 {
                // The same lane of all groups at once.
                let stride = 2 * group * slot;
                for own in group..2 * group {
                    let d = lane(own, stride);
                    self.without_mask(simd / (2 * group), |s| {
                        s.combine(op, d, lane(last, stride).val(), d.val());
                    });
                }
            } else {
                // All lanes of one group at once.
                for first in (group..simd).step_by(2 * group as usize) {
                    let d = lane(first, slot);
                    let before = Val::reg(lane(first - 1, slot).at, 0, values.ty);
                    self.without_mask(group, |s| s.combine(op, d, before, d.val()));
                }
            }
            group *= 2;
        }
        let ty = unsigned(machine_type(ty)?.size());
        let first = if exclusive { VRef { offset: values.at.offset - slot, ..values.at } } else { values.at };
        let d = self.dest(i.result(), ty)?;
        self.b.mov(d, Val::reg(first, slot, ty));
        Ok(())
    }

    fn shuffle(&mut self, ty: IrType, i: &Instruction) -> Result<(), Failure> {
        let ty = unsigned(machine_type(ty)?.size());
        let [src, index] = i.sources();
        let v = self.val(src, ty)?;
        let index = self.val(index, Type::UD)?;
        let last = u64::from(self.b.simd - 1);
        // Elements with gaps are packed.
        let v = if matches!(v.location, ValueLocation::Register(LaneRegion { split: Some(_), .. })) {
            self.packed_vector(v)
        } else {
            v
        };
        let ValueLocation::Register(LaneRegion { at, stride: stride @ 1.., .. }) = v.location else {
            let d = self.dest(i.result(), ty)?;
            self.b.mov(d, v);
            return Ok(());
        };
        if let Some(lane) = index.constant() {
            let d = self.dest(i.result(), ty)?;
            self.b.mov(d, Val::reg(at.plus((lane & last) as u32 * stride), 0, ty));
            return Ok(());
        }
        let single = index.scalar();
        let simd = self.b.simd;
        let offsets = self.b.temporary(single, Type::UW);
        self.without_mask(if single { 1 } else { simd }, |s| {
            let low = index.part(0, Type::UW);
            s.b.op(Operation::new(Opcode::And), offsets, &[low, Val::imm(last, Type::UW)]);
            let shift = Val::imm(u64::from(stride.trailing_zeros()), Type::UW);
            s.b.op(Operation::new(Opcode::Shl), offsets, &[offsets.val(), shift]);
        });
        let table = Table { at, bytes: (simd - 1) * stride + ty.size(), single };
        // Not all targets have 64-bit indirect sources, and IGC uses dwords on all. A byte's slot is a word.
        let (ty, parts): (Type, &[u32]) = match ty {
            Type::UQ => (Type::UD, &[0, 4]),
            Type::UB => (Type::UW, &[0]),
            ty => (ty, &[0]),
        };
        let d = self.dest(i.result(), ty)?;
        let all = if d.scalar() { 1 } else { simd };
        let lanes = all.min(self.target.generation.capabilities().address_words.into());
        for first in (0..all).step_by(lanes as usize) {
            self.b.set_addresses(table, offsets.val(), first, lanes);
            for part in parts {
                self.b.read_addressed(d.part(*part, ty), table, *part, first, lanes);
            }
        }
        Ok(())
    }

    /// A predicate selects the lanes that take part.
    fn ballot(&mut self, i: &Instruction) -> Result<(), Failure> {
        let votes = self.temporary_flag()?;
        let predicate = self.b.predicate.take();
        let result = self.count_votes(votes, i);
        self.b.predicate = predicate;
        result?;
        let d = self.dest(i.result(), Type::UD)?;
        self.b.mov(d, self.flag_value(votes));
        Ok(())
    }

    /// Sets the flag bits of active lanes whose value is true. In the linear form bits of lanes that were not
    /// dispatched are zero.
    fn count_votes(&mut self, votes: gencl_isa::Flag, i: &Instruction) -> Result<(), Failure> {
        let [src] = i.sources();
        let v = self.truth(src)?;
        if self.function.form == Form::Masked {
            let none = self.no_lanes();
            self.logic(Opcode::Mov, votes, &[none]);
            let any = Val::reg(self.header()?, 0, Type::UW);
            self.compare_into(votes, Condition::Equal, any, any);
            self.logic(Opcode::And, votes, &[self.flag_value(votes), v]);
        } else {
            self.logic(Opcode::Mov, votes, &[v]);
        }
        if let Some(Predicate { reg, inverse }) = i.predicate {
            let mask = self.truth(reg)?;
            let mask = if inverse { self.complement(mask) } else { mask };
            self.logic(Opcode::And, votes, &[self.flag_value(votes), mask]);
        }
        Ok(())
    }
}
