//! Conversions.
//!
//! `mov` converts, with three restrictions: results that are smaller than the source's elements must have the
//! source's stride (a second move packs them), there is no conversion between 8 or 16 bits and 64 bits, and
//! the rounding mode of floats is state (`cr0`), not a part of the instruction.

use super::{Failure, Selector, machine_type, one, unsigned};
use crate::codegen::operand::{Dest, Operation, Val};
use crate::ir::{Instruction, Rounding, Type as IrType};
use gencl_isa::{Arf, Condition, Opcode, Type};

/// `cr0.0` bits 5:4: 0 nearest even, 1 up, 2 down, 3 toward zero.
fn rounding_bits(rounding: Rounding) -> u64 {
    match rounding {
        Rounding::Default | Rounding::NearestEven => 0,
        Rounding::Up => 1,
        Rounding::Down => 2,
        Rounding::TowardZero => 3,
    }
}

/// The intermediate type of a conversion that the hardware cannot do directly. `half_instructions`: half
/// floats are converted to and from single floats only.
fn intermediate_type(to: Type, from: Type, half_instructions: bool) -> Option<Type> {
    let single_only = |half: Type, other: Type| half == Type::HF && !matches!(other, Type::HF | Type::F);
    if half_instructions && (single_only(to, from) || single_only(from, to)) {
        return Some(Type::F);
    }
    let small = |t: Type| t.size() <= 2;
    if from.size() == 8 && small(to) {
        return Some(match (from, to) {
            // `convert_to` saturates the dword, which is then still out of the range of half floats.
            (Type::Q, Type::HF) => Type::D,
            (_, t) if t.is_signed() => Type::D,
            _ => Type::UD,
        });
    }
    if to.size() == 8 && small(from) {
        return Some(match from {
            Type::HF => Type::F,
            f if f.is_signed() => Type::D,
            _ => Type::UD,
        });
    }
    // Half floats and integers: the hardware requires a dword per element, and floats represent both exactly.
    match (to, from) {
        (Type::HF, from) if small(from) && !from.is_float() => Some(Type::F),
        (to, Type::HF) if small(to) && !to.is_float() => Some(Type::F),
        _ => None,
    }
}

impl Selector<'_> {
    /// dst = src converted.
    pub fn convert(
        &mut self,
        to: IrType,
        from: IrType,
        rounding: Rounding,
        saturate: bool,
        i: &Instruction,
    ) -> Result<(), Failure> {
        let (dst, [src]) = (i.result(), i.sources());
        match (to, from) {
            (IrType::Bool, _) => Err(Failure::internal("a truth value is made by a comparison")),
            (_, IrType::Bool) => {
                let one = one(to);
                let to = machine_type(to)?;
                let flag = self.read_flag(src)?;
                let ty = if to.size() == 1 { Type::UW } else { unsigned(to.size()) };
                let d = self.dest(dst, ty)?;
                self.b.mov(d, Val::imm(0, ty));
                let set = Operation { select: Some((flag, false)), ..Operation::new(Opcode::Mov) };
                self.b.op(set, d, &[Val::imm(one, ty)]);
                Ok(())
            }
            _ => {
                let (to, from) = (machine_type(to)?, machine_type(from)?);
                let v = self.val(src, from)?;
                let v = self.materialize(v);
                let d = self.dest(dst, to)?;
                if (to, from) == (Type::HF, Type::DF) {
                    self.double_to_half(d, v, rounding);
                } else {
                    self.convert_to(d, v, rounding, saturate);
                }
                Ok(())
            }
        }
    }

    /// d = v converted to its type. Not for doubles to half floats.
    pub fn convert_to(&mut self, d: Dest, v: Val, rounding: Rounding, saturate: bool) {
        let (to, from) = (d.ty, v.ty);
        let integers = !to.is_float() && !from.is_float();
        if integers && !saturate && to.size() <= from.size() || to == Type::HF && from == to {
            // The low part, or the same bits.
            self.b.mov(d.cast(unsigned(to.size())), v.cast(unsigned(to.size())));
            return;
        }
        if let Some(middle) = intermediate_type(to, from, !self.target.execution.half) {
            let t = self.b.temporary(d.scalar(), middle);
            let limited = saturate || (to == Type::HF && from.size() == 8);
            self.convert_to(t, v, rounding, limited);
            self.convert_to(d, t.val(), rounding, saturate);
            return;
        }
        let mut v = v;
        if from.is_float() && !to.is_float() {
            v = self.rounded(v, rounding);
        }
        let mode = if to.is_float() { rounding_bits(rounding) } else { 0 };
        self.rounding_mode(mode);
        let mov = Operation::new(Opcode::Mov);
        let mov = if saturate && !to.is_float() { mov.saturating() } else { mov };
        // Half floats and floats in one instruction: 8 lanes at most.
        let mixed = (to == Type::HF) != (from == Type::HF) && to.is_float() && from.is_float();
        let mov = if mixed { Operation { lanes: 8, ..mov } } else { mov };
        // The separate conversion instructions have half floats as words.
        let (mov, to, v) = match (!self.target.execution.half && mixed, to) {
            (true, Type::HF) => (Operation { opcode: Opcode::F32To16, ..mov }, Type::UW, v),
            (true, _) => (Operation { opcode: Opcode::F16To32, ..mov }, to, v.cast(Type::UW)),
            (false, _) => (mov, to, v),
        };
        let d = d.cast(to);
        let pairs = self.target.execution.double_pairs && from == Type::DF;
        if to.size() < from.size() && (pairs || !d.scalar()) {
            let t = if d.scalar() { self.b.scalar(from).cast(to) } else { self.b.strided(to, from.size()) };
            self.b.op(mov, t, &[v]);
            self.rounding_mode(mode);
            self.b.mov(d.cast(unsigned(to.size())), t.val().cast(unsigned(to.size())));
            return;
        }
        self.b.op(mov, d, &[v]);
        self.rounding_mode(mode);
    }

    /// Double to half float through float. The first step rounds to odd (toward zero, and the last bit is set
    /// if the result is inexact), so that the second step, in any mode, gives the correctly rounded result.
    fn double_to_half(&mut self, d: Dest, v: Val, rounding: Rounding) {
        let scalar = d.scalar();
        let single = self.b.temporary(scalar, Type::F);
        self.convert_to(single, v, Rounding::TowardZero, false);
        let back = self.b.temporary(scalar, Type::DF);
        self.convert_to(back, single.val(), Rounding::Default, false);
        // 1 when any bit differs.
        let lost = self.b.temporary(scalar, Type::UD);
        let other = self.b.temporary(scalar, Type::UD);
        for (d, byte) in [(lost, 0), (other, 4)] {
            self.op2(Opcode::Xor, d, back.val().part(byte, Type::UD), v.part(byte, Type::UD));
        }
        self.op2(Opcode::Or, lost, lost.val(), other.val());
        self.b.op(Operation::choose(Condition::Less), lost, &[lost.val(), Val::imm(1, Type::UD)]);
        let bits = single.cast(Type::UD);
        self.op2(Opcode::Or, bits, bits.val(), lost.val());
        self.convert_to(d, single.val(), rounding, false);
    }

    /// Emits `act` in a rounding mode.
    pub fn in_rounding_mode(&mut self, rounding: Rounding, act: impl FnOnce(&mut Self)) {
        let mode = rounding_bits(rounding);
        self.rounding_mode(mode);
        act(self);
        self.rounding_mode(mode);
    }

    /// Switches from nearest even to another rounding mode, or back.
    fn rounding_mode(&mut self, mode: u64) {
        if mode == 0 {
            return;
        }
        let control = Arf::Control(0);
        let srcs = [Val::arf(control, 0, Type::UD), Val::imm(mode << 4, Type::UD)];
        self.b.scalar_arf(Opcode::Xor, control, 0, Type::UD, &srcs);
    }

    /// Rounds a float to an integral value, unless the mode is toward zero, which `mov` uses.
    fn rounded(&mut self, v: Val, rounding: Rounding) -> Val {
        let opcode = match rounding {
            Rounding::Default | Rounding::TowardZero => return v,
            Rounding::NearestEven => Opcode::Rnde,
            Rounding::Up => Opcode::Rndu,
            Rounding::Down => Opcode::Rndd,
        };
        let mut v = v;
        if v.ty == Type::DF {
            let t = self.b.temporary(v.scalar(), v.ty);
            self.round64(rounding, t, v);
            return t.val();
        }
        // Only single floats have the rounding instructions, and they represent half floats exactly.
        if v.ty == Type::HF {
            let t = self.b.temporary(v.scalar(), Type::F);
            self.b.op(Operation { lanes: 8, ..Operation::new(Opcode::Mov) }, t, &[v]);
            v = t.val();
        }
        let t = self.b.temporary(v.scalar(), v.ty);
        self.b.op(Operation::new(opcode), t, &[v]);
        t.val()
    }
}
