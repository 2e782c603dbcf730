//! Arithmetic, bits and comparisons: SPIR-V 1.6, 3.49.13 to 3.49.15.

use std::cmp::Ordering;

use rspirv::spirv::{Decoration, FPFastMathMode, Op};

use super::{FunctionWriter, Sign};
use crate::error::Result;
use crate::types::Type;
use crate::walk::{Id, Instruction};
use crate::writer::Value;

/// Operations with two operands that are one instruction of LLVM.
const BINARY: &[(Op, &str)] = &[
    (Op::IAdd, "add"),
    (Op::ISub, "sub"),
    (Op::IMul, "mul"),
    (Op::UDiv, "udiv"),
    (Op::SDiv, "sdiv"),
    (Op::UMod, "urem"),
    (Op::SRem, "srem"),
    (Op::FAdd, "fadd"),
    (Op::FSub, "fsub"),
    (Op::FMul, "fmul"),
    (Op::FDiv, "fdiv"),
    (Op::BitwiseAnd, "and"),
    (Op::BitwiseOr, "or"),
    (Op::BitwiseXor, "xor"),
    (Op::LogicalAnd, "and"),
    (Op::LogicalOr, "or"),
    (Op::LogicalEqual, "icmp eq"),
    (Op::LogicalNotEqual, "icmp ne"),
    (Op::IEqual, "icmp eq"),
    (Op::INotEqual, "icmp ne"),
    (Op::PtrEqual, "icmp eq"),
    (Op::PtrNotEqual, "icmp ne"),
    (Op::UGreaterThan, "icmp ugt"),
    (Op::UGreaterThanEqual, "icmp uge"),
    (Op::ULessThan, "icmp ult"),
    (Op::ULessThanEqual, "icmp ule"),
    (Op::SGreaterThan, "icmp sgt"),
    (Op::SGreaterThanEqual, "icmp sge"),
    (Op::SLessThan, "icmp slt"),
    (Op::SLessThanEqual, "icmp sle"),
    (Op::FOrdEqual, "fcmp oeq"),
    (Op::FUnordEqual, "fcmp ueq"),
    (Op::FOrdNotEqual, "fcmp one"),
    (Op::FUnordNotEqual, "fcmp une"),
    (Op::FOrdLessThan, "fcmp olt"),
    (Op::FUnordLessThan, "fcmp ult"),
    (Op::FOrdGreaterThan, "fcmp ogt"),
    (Op::FUnordGreaterThan, "fcmp ugt"),
    (Op::FOrdLessThanEqual, "fcmp ole"),
    (Op::FUnordLessThanEqual, "fcmp ule"),
    (Op::FOrdGreaterThanEqual, "fcmp oge"),
    (Op::FUnordGreaterThanEqual, "fcmp uge"),
    (Op::LessOrGreater, "fcmp one"),
    (Op::Ordered, "fcmp ord"),
    (Op::Unordered, "fcmp uno"),
];

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn arithmetic(&mut self, own: &Instruction<'m>) -> Result<bool> {
        if self.contracted(own)? {
            return Ok(true);
        }
        if let Some((_, name)) = BINARY.iter().find(|row| row.0 == own.op) {
            let (a, b) = (self.operand(own, 0)?, self.operand(own, 1)?);
            // What a compare-exchange of floats gives: producers compare its bits.
            if matches!(own.op, Op::IEqual | Op::INotEqual)
                && matches!(self.w.types.scalar(a.ty), Some(Type::Float(_)))
            {
                let ((a, ty), (b, _)) = (self.as_integer(own, 0)?, self.as_integer(own, 1)?);
                self.result(own, &format!("{name} {ty} {a}, {b}"));
                return Ok(true);
            }
            if own.op == Op::FMul {
                self.products.insert(own.result, (own.operand(0)?, own.operand(1)?));
            }
            let flags = self.flags(own, name);
            let (name, predicate) = name.split_at(name.find(' ').unwrap_or(name.len()));
            let ty = self.type_of(&a).to_owned();
            let accuracy = if own.op == Op::FDiv { self.accuracy(own) } else { String::new() };
            self.result(own, &format!("{name}{flags}{predicate} {ty} {}, {}{accuracy}", a.text, b.text));
            return Ok(true);
        }
        match own.op {
            Op::ShiftLeftLogical => self.shift(own, "shl")?,
            Op::ShiftRightLogical => self.shift(own, "lshr")?,
            Op::ShiftRightArithmetic => self.shift(own, "ashr")?,
            Op::SNegate => {
                let value = self.operand(own, 0)?;
                let zero = self.splat(&value, "0");
                let flags = self.flags(own, "sub");
                self.result(own, &format!("sub{flags} {} {zero}, {}", self.type_of(&value), value.text));
            }
            Op::FNegate => {
                let flags = self.flags(own, "fneg");
                let value = self.typed(own, 0)?;
                self.result(own, &format!("fneg{flags} {value}"));
            }
            Op::Not => self.invert(own, "-1")?,
            Op::LogicalNot => self.invert(own, "true")?,
            Op::SMod => self.signed_modulo(own)?,
            Op::FRem => self.remainder(own)?,
            Op::FMod => self.float_modulo(own)?,
            Op::Select => {
                let list = [self.typed(own, 0)?, self.typed(own, 1)?, self.typed(own, 2)?];
                self.result(own, &format!("select {}", list.join(", ")));
            }
            Op::IsNan => {
                let value = self.operand(own, 0)?;
                self.result(
                    own,
                    &format!("fcmp uno {} {}, {}", self.type_of(&value), value.text, value.text),
                );
            }
            Op::IsInf => self.classify(own, "oeq")?,
            Op::IsFinite => self.classify(own, "olt")?,
            Op::IsNormal => self.is_normal(own)?,
            Op::SignBitSet => {
                let (value, ty) = self.as_integer(own, 0)?;
                let zero = if ty.starts_with('<') { "zeroinitializer" } else { "0" };
                self.result(own, &format!("icmp slt {ty} {value}, {zero}"));
            }
            Op::Any => self.reduce(own, "or")?,
            Op::All => self.reduce(own, "and")?,
            Op::Dot => self.built_in(own, "dot", Sign::Signed)?,
            Op::VectorTimesScalar => {
                let (vector, scalar) = (self.operand(own, 0)?, self.operand(own, 1)?);
                let all = self.repeated(&vector, &scalar);
                let flags = self.flags(own, "fmul");
                self.result(own, &format!("fmul{flags} {} {}, {all}", self.type_of(&vector), vector.text));
            }
            Op::BitCount => self.built_in(own, "popcount", Sign::Signed)?,
            Op::BitReverse => {
                let value = self.operand(own, 0)?;
                let (ty, code) = (self.type_of(&value).to_owned(), self.intrinsic_code(value.ty));
                let name =
                    self.intrinsic(&format!("llvm.bitreverse.{code}"), &ty, &[(ty.clone(), value.text)]);
                self.is(own, name);
            }
            Op::IAddCarry => self.with_carry(own, "uadd")?,
            Op::ISubBorrow => self.with_carry(own, "usub")?,
            Op::UMulExtended => self.extended_product(own, "zext")?,
            Op::SMulExtended => self.extended_product(own, "sext")?,
            Op::ExpectKHR => {
                let value = self.operand(own, 0)?.text;
                self.is(own, value);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A sum or difference with a product that nothing else uses, rounded once as clang does it in an expression, unless
    /// the module forbids it (ContractionOff, NoContraction).
    fn contracted(&mut self, own: &Instruction<'m>) -> Result<bool> {
        if !matches!(own.op, Op::FAdd | Op::FSub) || !self.may_contract(own.result) {
            return Ok(false);
        }
        let product = [0, 1].into_iter().find_map(|number| {
            let id = own.operands.get(number)?;
            Some((number, *id, *self.products.get(id).filter(|_| self.uses.get(id) == Some(&1))?))
        });
        let Some((number, product, factors)) = product else { return Ok(false) };
        if !self.may_contract(product) {
            return Ok(false);
        }
        let (mut a, b, mut c) =
            (self.value(own, factors.0)?, self.value(own, factors.1)?, self.operand(own, 1 - number)?);
        let (ty, code) = (self.type_of(&c).to_owned(), self.intrinsic_code(c.ty));
        if own.op == Op::FSub {
            let negated = if number == 0 { &mut c } else { &mut a };
            negated.text = self.temporary(&format!("fneg {ty} {}", negated.text));
        }
        let list = [a, b, c].map(|value| (ty.clone(), value.text));
        let found = self.intrinsic(&format!("llvm.fmuladd.{code}"), &ty, &list);
        self.is(own, found);
        Ok(true)
    }

    /// The error that a division of single floats may have, as an attachment: OpenCL's if the module does not
    /// ask for less (SPV_INTEL_fp_max_error).
    fn accuracy(&mut self, own: &Instruction<'_>) -> String {
        let is_single = self.w.types.scalar(own.ty) == Some(&Type::Float(32));
        let asked = self.w.module.decoration(own.result, Decoration::FPMaxErrorDecorationINTEL);
        let is_exact = match asked {
            Some([bits, ..]) => f32::from_bits(*bits) < 2.5,
            _ => self.w.environment.correctly_rounded,
        };
        if !is_single || is_exact {
            return String::new();
        }
        format!(", !fpmath !{}", self.w.metadata.division())
    }

    fn may_contract(&self, id: Id) -> bool {
        let module = self.w.module;
        !module.forbids_contraction && module.decoration(id, Decoration::NoContraction).is_none()
    }

    /// A built-in function of all operands.
    pub(super) fn built_in(&mut self, own: &Instruction<'m>, name: &str, sign: Sign) -> Result<()> {
        let mut list = Vec::new();
        for number in 0..own.operands.len() {
            list.push((self.operand(own, number)?, sign));
        }
        let ty = self.w.types.text(own.ty).to_owned();
        let name = self.call_built_in(name, &ty, &list)?;
        self.is(own, name);
        Ok(())
    }

    /// What is promised of an operation: no wrapping, fast math.
    fn flags(&self, own: &Instruction<'_>, name: &str) -> String {
        let module = self.w.module;
        let mut text = String::new();
        if matches!(name, "add" | "sub" | "mul" | "shl") {
            for (decoration, flag) in
                [(Decoration::NoUnsignedWrap, " nuw"), (Decoration::NoSignedWrap, " nsw")]
            {
                if module.decoration(own.result, decoration).is_some() {
                    text.push_str(flag);
                }
            }
        }
        if name.starts_with('f')
            && let Some([bits, ..]) = module.decoration(own.result, Decoration::FPFastMathMode)
        {
            let mode = FPFastMathMode::from_bits_truncate(*bits);
            let flags = [
                (FPFastMathMode::NOT_NAN, " nnan"),
                (FPFastMathMode::NOT_INF, " ninf"),
                (FPFastMathMode::NSZ, " nsz"),
                (FPFastMathMode::ALLOW_RECIP, " arcp"),
                (FPFastMathMode::ALLOW_CONTRACT, " contract"),
                (FPFastMathMode::ALLOW_REASSOC, " reassoc"),
                (FPFastMathMode::FAST, " fast"),
            ];
            flags.iter().filter(|(flag, _)| mode.contains(*flag)).for_each(|(_, flag)| text.push_str(flag));
        }
        text
    }

    /// A constant of all elements of a value's type.
    pub(super) fn splat(&self, value: &Value, element: &str) -> String {
        let (scalar, count) = self.w.types.element(value.ty);
        if count == 1 {
            return element.to_owned();
        }
        let one = format!("{} {element}", self.w.types.text(scalar));
        format!("<{}>", vec![one; count as usize].join(", "))
    }

    /// A vector like another one, with a scalar in all elements.
    pub(super) fn repeated(&mut self, vector: &Value, scalar: &Value) -> String {
        let (_, count) = self.w.types.element(vector.ty);
        let (ty, scalar) = (self.type_of(vector).to_owned(), self.w.typed(scalar));
        let one = self.temporary(&format!("insertelement {ty} poison, {scalar}, i32 0"));
        self.temporary(&format!("shufflevector {ty} {one}, {ty} poison, <{count} x i32> zeroinitializer"))
    }

    /// Integers, or vectors of them, in other widths, given as bits of the elements and types: extended or cut.
    pub(super) fn resized(
        &mut self,
        extend: &str,
        value: String,
        from: (u32, &str),
        to: (u32, &str),
    ) -> String {
        let how = match from.0.cmp(&to.0) {
            Ordering::Less => extend,
            Ordering::Equal => return value,
            Ordering::Greater => "trunc",
        };
        self.temporary(&format!("{how} {} {value} to {}", from.1, to.1))
    }

    fn shift(&mut self, own: &Instruction<'m>, name: &str) -> Result<()> {
        let (value, by) = (self.operand(own, 0)?, self.operand(own, 1)?);
        let (ty, by_ty) = (self.type_of(&value).to_owned(), self.type_of(&by).to_owned());
        let width = |ty| if let Some(Type::Int(width)) = self.w.types.scalar(ty) { *width } else { 0 };
        let (from, to) = ((width(by.ty), by_ty.as_str()), (width(value.ty), ty.as_str()));
        let by = self.resized("zext", by.text, from, to);
        let flags = self.flags(own, name);
        self.result(own, &format!("{name}{flags} {ty} {}, {by}", value.text));
        Ok(())
    }

    fn invert(&mut self, own: &Instruction<'m>, ones: &str) -> Result<()> {
        let value = self.operand(own, 0)?;
        let ones = self.splat(&value, ones);
        self.result(own, &format!("xor {} {}, {ones}", self.type_of(&value), value.text));
        Ok(())
    }

    /// The remainder with the sign of the divisor.
    fn signed_modulo(&mut self, own: &Instruction<'m>) -> Result<()> {
        let (a, b) = (self.operand(own, 0)?, self.operand(own, 1)?);
        let ty = self.type_of(&a).to_owned();
        let zero = self.splat(&a, "0");
        let rest = self.temporary(&format!("srem {ty} {}, {}", a.text, b.text));
        let mixed = self.temporary(&format!("xor {ty} {rest}, {}", b.text));
        let bits = self.bits_type(own);
        let differs = self.temporary(&format!("icmp slt {ty} {mixed}, {zero}"));
        let there = self.temporary(&format!("icmp ne {ty} {rest}, {zero}"));
        let wrong = self.temporary(&format!("and {bits} {differs}, {there}"));
        let moved = self.temporary(&format!("add {ty} {rest}, {}", b.text));
        self.result(own, &format!("select {bits} {wrong}, {ty} {moved}, {ty} {rest}"));
        Ok(())
    }

    /// The type of a comparison of values like the result.
    pub(super) fn bits_type(&self, own: &Instruction<'_>) -> String {
        match self.w.types.element(own.ty) {
            (_, 1) => "i1".into(),
            (_, count) => format!("<{count} x i1>"),
        }
    }

    fn remainder(&mut self, own: &Instruction<'m>) -> Result<()> {
        self.built_in(own, "fmod", Sign::Signed)
    }

    /// The remainder with the sign of the divisor.
    fn float_modulo(&mut self, own: &Instruction<'m>) -> Result<()> {
        let (a, b) = (self.operand(own, 0)?, self.operand(own, 1)?);
        let (ty, bits) = (self.type_of(&a).to_owned(), self.bits_type(own));
        let list = [(a, Sign::Signed), (b.clone(), Sign::Signed)];
        let rest = self.call_built_in("fmod", &ty, &list)?;
        let product = self.temporary(&format!("fmul {ty} {rest}, {}", b.text));
        let zero = self.splat(&b, "0.0");
        let differs = self.temporary(&format!("fcmp olt {ty} {product}, {zero}"));
        let moved = self.temporary(&format!("fadd {ty} {rest}, {}", b.text));
        self.result(own, &format!("select {bits} {differs}, {ty} {moved}, {ty} {rest}"));
        Ok(())
    }

    /// The absolute value of the first operand.
    fn magnitude(&mut self, own: &Instruction<'m>) -> Result<(Value, String)> {
        let value = self.operand(own, 0)?;
        let (ty, code) = (self.type_of(&value).to_owned(), self.intrinsic_code(value.ty));
        let name = self.intrinsic(&format!("llvm.fabs.{code}"), &ty, &[(ty.clone(), value.text.clone())]);
        Ok((Value { text: name, ..value }, ty))
    }

    /// A comparison of the magnitude with infinity.
    fn classify(&mut self, own: &Instruction<'m>, how: &str) -> Result<()> {
        let (magnitude, ty) = self.magnitude(own)?;
        let infinity = self.float_bits(&magnitude, 0x7c00, 0x7f80_0000, 0x7ff << 52);
        self.result(own, &format!("fcmp {how} {ty} {}, {infinity}", magnitude.text));
        Ok(())
    }

    fn is_normal(&mut self, own: &Instruction<'m>) -> Result<()> {
        let (magnitude, ty) = self.magnitude(own)?;
        let infinity = self.float_bits(&magnitude, 0x7c00, 0x7f80_0000, 0x7ff << 52);
        let least = self.float_bits(&magnitude, 0x0400, 0x0080_0000, 1 << 52);
        let finite = self.temporary(&format!("fcmp olt {ty} {}, {infinity}", magnitude.text));
        let large = self.temporary(&format!("fcmp oge {ty} {}, {least}", magnitude.text));
        let bits = self.bits_type(own);
        self.result(own, &format!("and {bits} {finite}, {large}"));
        Ok(())
    }

    /// A constant of a value's type, by its bits as half, single and double.
    fn float_bits(&self, value: &Value, half: u16, single: u32, double: u64) -> String {
        let element = match self.w.types.scalar(value.ty) {
            Some(Type::Float(16)) => format!("0xH{half:04X}"),
            Some(Type::Float(32)) => crate::constants::float(single),
            _ => format!("0x{double:016X}"),
        };
        self.splat(value, &element)
    }

    /// The bits of a float: the value and its type.
    pub(super) fn as_integer(&mut self, own: &Instruction<'m>, number: usize) -> Result<(String, String)> {
        let value = self.operand(own, number)?;
        let Some(Type::Float(width)) = self.w.types.scalar(value.ty).cloned() else {
            return Err(own.error("the operand is no float"));
        };
        let ty = match self.w.types.element(value.ty) {
            (_, 1) => format!("i{width}"),
            (_, count) => format!("<{count} x i{width}>"),
        };
        let typed = self.w.typed(&value);
        Ok((self.temporary(&format!("bitcast {typed} to {ty}")), ty))
    }

    fn reduce(&mut self, own: &Instruction<'m>, name: &str) -> Result<()> {
        let value = self.operand(own, 0)?;
        let (_, count) = self.w.types.element(value.ty);
        let mut typed = self.w.typed(&value);
        let mut text = value.text.clone();
        // LLVM's back end leaves the integers of OpenCL C's functions: their highest bits count (OpenCL C 3.0, 6.15.6).
        if matches!(self.w.types.scalar(value.ty), Some(Type::Int(_))) {
            let zero = self.splat(&value, "0");
            text = self.temporary(&format!("icmp slt {typed}, {zero}"));
            typed = if count == 1 { format!("i1 {text}") } else { format!("<{count} x i1> {text}") };
        }
        let mut all =
            if count == 1 { text } else { self.temporary(&format!("extractelement {typed}, i32 0")) };
        for number in 1..count {
            let one = self.temporary(&format!("extractelement {typed}, i32 {number}"));
            all = self.temporary(&format!("{name} i1 {all}, {one}"));
        }
        self.is(own, all);
        Ok(())
    }

    /// How intrinsics name a type: `v4f32`.
    pub(super) fn intrinsic_code(&self, ty: crate::walk::Id) -> String {
        let scalar = match self.w.types.scalar(ty) {
            Some(Type::Float(width)) => format!("f{width}"),
            Some(Type::Int(width)) => format!("i{width}"),
            _ => "i1".into(),
        };
        match self.w.types.element(ty) {
            (_, 1) => scalar,
            (_, count) => format!("v{count}{scalar}"),
        }
    }

    /// A structure of the result and the carry, both of the operands' type.
    fn with_carry(&mut self, own: &Instruction<'m>, name: &str) -> Result<()> {
        let (a, b) = (self.operand(own, 0)?, self.operand(own, 1)?);
        let (ty, code) = (self.type_of(&a).to_owned(), self.intrinsic_code(a.ty));
        let bits = match self.w.types.element(a.ty) {
            (_, 1) => "i1".to_owned(),
            (_, count) => format!("<{count} x i1>"),
        };
        let both = format!("{{ {ty}, {bits} }}");
        let list = [(ty.clone(), a.text), (ty.clone(), b.text)];
        let pair = self.intrinsic(&format!("llvm.{name}.with.overflow.{code}"), &both, &list);
        let low = self.temporary(&format!("extractvalue {both} {pair}, 0"));
        let carry = self.temporary(&format!("extractvalue {both} {pair}, 1"));
        let carry = self.temporary(&format!("zext {bits} {carry} to {ty}"));
        self.pair(own, &ty, &low, &carry);
        Ok(())
    }

    /// A structure of two values.
    fn pair(&mut self, own: &Instruction<'m>, ty: &str, first: &str, second: &str) {
        let whole = self.w.types.text(own.ty).to_owned();
        let half = self.temporary(&format!("insertvalue {whole} poison, {ty} {first}, 0"));
        self.result(own, &format!("insertvalue {whole} {half}, {ty} {second}, 1"));
    }

    /// A structure of the low and the high part of a product.
    fn extended_product(&mut self, own: &Instruction<'m>, extend: &str) -> Result<()> {
        let (a, b) = (self.operand(own, 0)?, self.operand(own, 1)?);
        let sign = if extend == "sext" { Sign::Signed } else { Sign::Unsigned };
        let ty = self.type_of(&a).to_owned();
        let low = self.temporary(&format!("mul {ty} {}, {}", a.text, b.text));
        let high = self.call_built_in("mul_hi", &ty, &[(a, sign), (b, sign)])?;
        self.pair(own, &ty, &low, &high);
        Ok(())
    }
}
