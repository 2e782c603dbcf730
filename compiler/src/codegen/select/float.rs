//! Floating-point operations that can need several instructions: rounding to integral values and `mad`.

use super::{Failure, Selector, machine_type};
use crate::codegen::operand::{Dest, Operation, Val};
use crate::ir::{FloatFormat, Instruction, Rounding, Type as IrType, UnaryOp};
use gencl_isa::{MathFunction, Opcode, Type};

/// Operations with one source that are one instruction on 32-bit floats.
const FLOAT_UNARY: &[(UnaryOp, FloatInstruction)] = &[
    (UnaryOp::Floor, FloatInstruction::Round(Opcode::Rndd, Rounding::Down)),
    (UnaryOp::Ceil, FloatInstruction::Round(Opcode::Rndu, Rounding::Up)),
    (UnaryOp::Trunc, FloatInstruction::Round(Opcode::Rndz, Rounding::TowardZero)),
    (UnaryOp::RoundEven, FloatInstruction::Round(Opcode::Rnde, Rounding::NearestEven)),
    (UnaryOp::Rcp, FloatInstruction::Math(MathFunction::Inv)),
    (UnaryOp::Rsqrt, FloatInstruction::Math(MathFunction::Rsq)),
    (UnaryOp::Sqrt, FloatInstruction::Math(MathFunction::Sqrt)),
    (UnaryOp::Exp2, FloatInstruction::Math(MathFunction::Exp)),
    (UnaryOp::Log2, FloatInstruction::Math(MathFunction::Log)),
    (UnaryOp::Sin, FloatInstruction::Math(MathFunction::Sin)),
    (UnaryOp::Cos, FloatInstruction::Math(MathFunction::Cos)),
];

#[derive(Clone, Copy)]
enum FloatInstruction {
    Round(Opcode, Rounding),
    Math(MathFunction),
}

/// High dword of 2^52, from which on all doubles are integral.
const WHOLE: u64 = 0x4330_0000;
/// The sign in the high dword.
const SIGN: u64 = 0x8000_0000;

/// Lanes of a scalar `mad` of doubles: they fill one register.
const SCALAR_LANES: u32 = 4;

impl Selector<'_> {
    /// Rounding to an integral value or a function of the MATH unit; `None` when the operation is neither.
    pub fn float_unary(&mut self, op: UnaryOp, ty: IrType, i: &Instruction) -> Option<Result<(), Failure>> {
        let (_, operation) = FLOAT_UNARY.iter().find(|(o, _)| *o == op)?;
        Some(match *operation {
            FloatInstruction::Round(opcode, rounding) => self.round(opcode, rounding, ty, i),
            FloatInstruction::Math(function) => self.math1(function, ty, i),
        })
    }

    fn math1(&mut self, function: MathFunction, ty: IrType, i: &Instruction) -> Result<(), Failure> {
        let machine = machine_type(ty)?;
        if machine != Type::F {
            return Err(Failure::unsupported(format!("{function:?} of {ty:?}")));
        }
        let [src] = i.sources();
        let v = self.val(src, machine)?;
        let v = self.materialize(v);
        let d = self.dest(i.result(), machine)?;
        self.b.op(Operation::math(function), d, &[v]);
        Ok(())
    }

    fn round(
        &mut self,
        opcode: Opcode,
        rounding: Rounding,
        ty: IrType,
        i: &Instruction,
    ) -> Result<(), Failure> {
        let machine = machine_type(ty)?;
        let [src] = i.sources();
        let v = self.val(src, machine)?;
        let v = if machine == Type::F { v } else { self.materialize(v) };
        let d = self.dest(i.result(), machine)?;
        match ty.float_format() {
            Some(FloatFormat::Single) => self.b.op(Operation::new(opcode), d, &[v]),
            Some(FloatFormat::Double) => self.round64(rounding, d, v),
            Some(FloatFormat::Half) | None => {
                // Only single floats have the instructions, and they represent half floats exactly.
                let t = self.b.temporary(d.scalar(), Type::F);
                self.convert_to(t, v, Rounding::Default, false);
                self.b.op(Operation::new(opcode), t, &[t.val()]);
                self.convert_to(d, t.val(), Rounding::Default, false);
            }
        }
        Ok(())
    }

    /// d = v rounded to an integral value, for doubles. Adding 2^52 with the sign of v rounds the fraction in
    /// the current rounding mode, as such sums have none. From 2^52 on, and for NaN, 0 is added.
    pub fn round64(&mut self, rounding: Rounding, d: Dest, v: Val) {
        let scalar = d.scalar();
        let high = v.part(4, Type::UD);
        let sign = self.b.temporary(scalar, Type::UD);
        self.op2(Opcode::And, sign, high, Val::imm(SIGN, Type::UD));
        let addend = self.b.temporary(scalar, Type::DF);
        let upper = addend.part(4, Type::UD);
        let size = self.b.temporary(scalar, Type::D);
        self.op2(Opcode::And, size.cast(Type::UD), high, Val::imm(SIGN - 1, Type::UD));
        self.op2(Opcode::Add, size, size.val(), Val::imm(WHOLE.wrapping_neg(), Type::D));
        self.op2(Opcode::Asr, size, size.val(), Val::imm(31, Type::UW));
        self.op2(Opcode::And, size.cast(Type::UD), size.val().cast(Type::UD), Val::imm(WHOLE, Type::UD));
        self.b.mov(addend.part(0, Type::UD), Val::imm(0, Type::UD));
        self.op2(Opcode::Or, upper, size.val().cast(Type::UD), sign.val());
        let sum = self.b.temporary(scalar, Type::DF);
        self.in_rounding_mode(rounding, |s| {
            s.op2(Opcode::Add, sum, v, addend.val());
            s.op2(Opcode::Add, sum, sum.val(), addend.val().negated());
        });
        // Zeros keep the sign of v.
        let top = sum.part(4, Type::UD);
        self.op2(Opcode::And, top, top.val(), Val::imm(SIGN - 1, Type::UD));
        self.op2(Opcode::Or, top, top.val(), sign.val());
        self.b.mov(d.cast(Type::UQ), sum.val().cast(Type::UQ));
    }

    /// `a * b + c` of floats, rounded once.
    pub fn float_mad(&mut self, ty: Type, i: &Instruction) -> Result<(), Failure> {
        let mut v = [Val::imm(0, ty); 3];
        for (v, reg) in v.iter_mut().zip(&i.srcs) {
            let loaded = self.val(*reg, ty)?;
            *v = self.materialize(loaded);
        }
        let d = self.dest(i.result(), ty)?;
        // The machine's `mad` is source 1 * source 2 + source 0.
        let sources = [v[2], v[0], v[1]];
        let mad = Operation::new(Opcode::Mad);
        if d.scalar() && ty != Type::F {
            let broadcast = sources.map(|v| self.b.broadcast(v, SCALAR_LANES).val());
            let t = self.b.partial_vector(ty, SCALAR_LANES);
            self.b.op_on_first_lanes(mad, t, &broadcast, SCALAR_LANES);
            self.b.mov(d, Val::reg(t.at, 0, ty));
            return Ok(());
        }
        // Sources are packed, or replicated if they have at most 32 bits (Skylake, Volume 7, "Three-Source
        // Instructions"). The subregister of a replicated one counts dwords.
        let packed = sources.map(|v| match ty {
            Type::F => v,
            Type::HF if v.scalar() => self.b.dword_aligned(v),
            _ => self.packed_vector(v),
        });
        self.b.op(mad, d, &packed);
        Ok(())
    }
}
