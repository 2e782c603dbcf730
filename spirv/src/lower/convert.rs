//! Conversions: SPIR-V 1.6, 3.49.11.

use rspirv::spirv::{Decoration, FPRoundingMode, Op};

use super::{FunctionWriter, Sign};
use crate::error::Result;
use crate::types::Type;
use crate::walk::{Id, Instruction};

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn convert(&mut self, own: &Instruction<'m>) -> Result<bool> {
        let (name, from, to) = match own.op {
            Op::ConvertFToU => ("fptoui", Sign::Signed, Sign::Unsigned),
            Op::ConvertFToS => ("fptosi", Sign::Signed, Sign::Signed),
            Op::ConvertSToF => ("sitofp", Sign::Signed, Sign::Signed),
            Op::ConvertUToF => ("uitofp", Sign::Unsigned, Sign::Signed),
            Op::UConvert => (self.resize(own, ["zext", "trunc"])?, Sign::Unsigned, Sign::Unsigned),
            Op::SConvert => (self.resize(own, ["sext", "trunc"])?, Sign::Signed, Sign::Signed),
            Op::FConvert => (self.resize(own, ["fpext", "fptrunc"])?, Sign::Signed, Sign::Signed),
            Op::SatConvertSToU => return self.saturated(own, Sign::Signed, Sign::Unsigned).map(|()| true),
            Op::SatConvertUToS => return self.saturated(own, Sign::Unsigned, Sign::Signed).map(|()| true),
            Op::Bitcast => return self.bitcast(own).map(|()| true),
            Op::ConvertPtrToU => ("ptrtoint", Sign::Signed, Sign::Signed),
            Op::ConvertUToPtr => ("inttoptr", Sign::Signed, Sign::Signed),
            Op::PtrCastToGeneric | Op::GenericCastToPtr => ("addrspacecast", Sign::Signed, Sign::Signed),
            Op::GenericCastToPtrExplicit => return self.explicit_cast(own).map(|()| true),
            _ => return Ok(false),
        };
        let saturated = self.w.module.decoration(own.result, Decoration::SaturatedConversion).is_some();
        let rounding = self.rounding(own, name)?;
        if saturated || !rounding.is_empty() {
            let saturated = if saturated { "_sat" } else { "" };
            self.built_in_conversion(own, from, to, &format!("{saturated}{rounding}"))?;
            return Ok(true);
        }
        let value = self.operand(own, 0)?;
        let (typed, ty) = (self.w.typed(&value), self.w.types.text(own.ty).to_owned());
        if name.is_empty() {
            self.is(own, value.text);
        } else {
            self.result(own, &format!("{name} {typed} to {ty}"));
        }
        Ok(true)
    }

    /// The one of two instructions that makes a value larger or smaller; none if it keeps its size.
    fn resize(&self, own: &Instruction<'_>, names: [&'static str; 2]) -> Result<&'static str> {
        let bits = |ty| match self.w.types.scalar(ty) {
            Some(Type::Int(bits) | Type::Float(bits)) => Ok(*bits),
            _ => Err(own.error("it is no number")),
        };
        let (from, to) = (bits(self.operand(own, 0)?.ty)?, bits(own.ty)?);
        Ok(match to.cmp(&from) {
            std::cmp::Ordering::Greater => names[0],
            std::cmp::Ordering::Equal => "",
            std::cmp::Ordering::Less => names[1],
        })
    }

    /// The suffix of OpenCL C's conversion, where the mode is not what LLVM's instruction does.
    fn rounding(&self, own: &Instruction<'_>, name: &str) -> Result<&'static str> {
        let Some([mode, ..]) = self.w.module.decoration(own.result, Decoration::FPRoundingMode) else {
            return Ok("");
        };
        let own_mode = if name.starts_with("fpto") { FPRoundingMode::RTZ } else { FPRoundingMode::RTE };
        Ok(match FPRoundingMode::from_u32(*mode) {
            Some(mode) if mode == own_mode => "",
            Some(FPRoundingMode::RTE) => "_rte",
            Some(FPRoundingMode::RTZ) => "_rtz",
            Some(FPRoundingMode::RTP) => "_rtp",
            Some(FPRoundingMode::RTN) => "_rtn",
            None => return Err(own.error(format!("rounding mode {mode} is unknown"))),
        })
    }

    fn saturated(&mut self, own: &Instruction<'m>, from: Sign, to: Sign) -> Result<()> {
        self.built_in_conversion(own, from, to, "_sat")
    }

    /// Calls `convert_TYPE` with suffixes.
    fn built_in_conversion(
        &mut self,
        own: &Instruction<'m>,
        from: Sign,
        to: Sign,
        suffix: &str,
    ) -> Result<()> {
        let (_, count) = self.w.types.element(own.ty);
        let scalar = match (self.w.types.scalar(own.ty), to) {
            (Some(Type::Int(8)), Sign::Signed) => "char",
            (Some(Type::Int(8)), Sign::Unsigned) => "uchar",
            (Some(Type::Int(16)), Sign::Signed) => "short",
            (Some(Type::Int(16)), Sign::Unsigned) => "ushort",
            (Some(Type::Int(32)), Sign::Signed) => "int",
            (Some(Type::Int(32)), Sign::Unsigned) => "uint",
            (Some(Type::Int(64)), Sign::Signed) => "long",
            (Some(Type::Int(64)), Sign::Unsigned) => "ulong",
            (Some(Type::Float(16)), _) => "half",
            (Some(Type::Float(32)), _) => "float",
            (Some(Type::Float(64)), _) => "double",
            _ => return Err(own.error("there is no such conversion in OpenCL")),
        };
        let count = if count == 1 { String::new() } else { count.to_string() };
        let value = self.operand(own, 0)?;
        let ty = self.w.types.text(own.ty).to_owned();
        let name = self.call_built_in(&format!("convert_{scalar}{count}{suffix}"), &ty, &[(value, from)])?;
        self.is(own, name);
        Ok(())
    }

    fn bitcast(&mut self, own: &Instruction<'m>) -> Result<()> {
        let value = self.operand(own, 0)?;
        let (typed, ty) = (self.w.typed(&value), self.w.types.text(own.ty).to_owned());
        let is_pointer = |ty| matches!(self.w.types.get(ty), Some(Type::Pointer(..)));
        let name = match (is_pointer(value.ty), is_pointer(own.ty)) {
            _ if self.type_of(&value) == ty => {
                self.is(own, value.text);
                return Ok(());
            }
            // Vectors of integers as well, since SPIR-V 1.5.
            (true, false) => {
                let integer = self.integer_of_size(own, own.ty)?;
                let number = self.temporary(&format!("ptrtoint {typed} to {integer}"));
                self.result(own, &format!("bitcast {integer} {number} to {ty}"));
                return Ok(());
            }
            (false, true) => {
                let integer = self.integer_of_size(own, value.ty)?;
                let number = self.temporary(&format!("bitcast {typed} to {integer}"));
                self.result(own, &format!("inttoptr {integer} {number} to {ty}"));
                return Ok(());
            }
            (true, true) => "addrspacecast",
            (false, false) => "bitcast",
        };
        self.result(own, &format!("{name} {typed} to {ty}"));
        Ok(())
    }

    /// The integer type that is as large as a scalar or vector.
    fn integer_of_size(&self, own: &Instruction<'_>, ty: Id) -> Result<String> {
        match (self.w.types.scalar(ty), self.w.types.element(ty).1) {
            (Some(Type::Int(bits)), count) => Ok(format!("i{}", bits * count)),
            _ => Err(own.error("a pointer is no such type")),
        }
    }

    /// The pointer, or null if it does not point into the address space.
    fn explicit_cast(&mut self, own: &Instruction<'m>) -> Result<()> {
        let name = match self.w.types.text(own.ty) {
            "ptr addrspace(1)" => "__to_global",
            "ptr addrspace(3)" => "__to_local",
            "ptr" => "__to_private",
            _ => return Err(own.error("the storage class is not one that a generic pointer can point into")),
        };
        let (value, ty) = (self.operand(own, 0)?, self.w.types.text(own.ty).to_owned());
        let argument = self.argument(&value);
        let name = self.call(name, &ty, &[argument]);
        self.is(own, name);
        Ok(())
    }
}
