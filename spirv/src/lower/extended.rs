//! OpenCL's extended instructions, which are calls of OpenCL C's built-in functions: OpenCL Extended Instruction Set,
//! 2.1 to 2.7.

use rspirv::grammar::OPENCL_STD_100_INSTRUCTION_TABLE;
use rspirv::spirv::Op;

use super::{Argument, FunctionWriter, Sign};
use crate::capability::Set;
use crate::error::Result;
use crate::mangle::{Parameter, mangle};
use crate::types::{Type, address_space};
use crate::walk::Instruction;
use crate::writer::Value;

/// Instructions whose function has another name.
const RENAMED: &[(&str, &str)] = &[
    ("fmax_common", "max"),
    ("fmin_common", "min"),
    ("fclamp", "clamp"),
    ("s_clamp", "clamp"),
    ("u_clamp", "clamp"),
];

/// Rounding modes' suffixes, by number.
const ROUNDING: [&str; 4] = ["_rte", "_rtz", "_rtp", "_rtn"];

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn extended(&mut self, own: &Instruction<'m>) -> Result<bool> {
        if own.op != Op::ExtInst {
            return Ok(false);
        }
        let set = own.operand(0)?;
        match self.w.module.sets.get(&set) {
            Some(Set::OpenCl) => {}
            // What is ignored does not come here.
            _ => return Err(own.error(format!("{set} is no instruction set"))),
        }
        let number = own.operand(1)?;
        let row = OPENCL_STD_100_INSTRUCTION_TABLE.lookup_opcode(number);
        let name = row.ok_or_else(|| own.error(format!("OpenCL.std has no instruction {number}")))?.opname;
        match name {
            "printf" => self.printf(own)?,
            "prefetch" => {}
            "vloadn" => self.load_vector(own, &format!("vload{}", own.operand(4)?))?,
            "vload_half" => self.load_vector(own, "vload_half")?,
            "vload_halfn" => self.load_vector(own, &format!("vload_half{}", own.operand(4)?))?,
            "vloada_halfn" => self.load_vector(own, &format!("vloada_half{}", own.operand(4)?))?,
            "vstoren" => self.store_vector(own, "vstore", true, None)?,
            "vstore_half" => self.store_vector(own, "vstore_half", false, None)?,
            "vstore_half_r" => self.store_vector(own, "vstore_half", false, Some(own.operand(5)?))?,
            "vstore_halfn" => self.store_vector(own, "vstore_half", true, None)?,
            "vstore_halfn_r" => self.store_vector(own, "vstore_half", true, Some(own.operand(5)?))?,
            "vstorea_halfn" => self.store_vector(own, "vstorea_half", true, None)?,
            "vstorea_halfn_r" => self.store_vector(own, "vstorea_half", true, Some(own.operand(5)?))?,
            _ => self.function(own, name)?,
        }
        Ok(true)
    }

    /// A call of the function that the instruction names.
    fn function(&mut self, own: &Instruction<'m>, name: &str) -> Result<()> {
        let (plain, sign) = match name.split_once('_') {
            Some(("s", plain)) => (plain, Sign::Signed),
            Some(("u", plain)) => (plain, Sign::Unsigned),
            _ if name == "nan" => (name, Sign::Unsigned),
            _ => (name, Sign::Signed),
        };
        let renamed = RENAMED.iter().find(|row| row.0 == name).map_or(plain, |row| row.1);
        let mut list = Vec::new();
        for number in 2..own.operands.len() {
            let sign = match (renamed, number) {
                // What is shuffled has any sign, the mask none.
                ("shuffle", 3) | ("shuffle2", 4) => Sign::Unsigned,
                // The lower half has no sign.
                ("upsample", 3) => Sign::Unsigned,
                _ => sign,
            };
            list.push((self.operand(own, number)?, sign));
        }
        let ty = self.w.types.text(own.ty).to_owned();
        let name = self.call_built_in(renamed, &ty, &list)?;
        self.is(own, name);
        Ok(())
    }

    /// A pointer to scalars, as `vload` and `vstore` take it.
    fn scalar_pointer(
        &self,
        own: &Instruction<'_>,
        value: &Value,
        qualifiers: &'static str,
    ) -> Result<Parameter> {
        let Some(Type::Pointer(class, pointee)) = self.w.types.get(value.ty) else {
            return Err(own.error("it is no pointer"));
        };
        let pointee = self.parameter(*pointee, Sign::Signed);
        Ok(Parameter::Pointer(address_space(*class).unwrap_or(0), qualifiers, Box::new(pointee)))
    }

    fn load_vector(&mut self, own: &Instruction<'m>, name: &str) -> Result<()> {
        let (offset, pointer) = (self.operand(own, 2)?, self.operand(own, 3)?);
        let parameters =
            [Parameter::Named(self.size_type().0.into()), self.scalar_pointer(own, &pointer, "K")?];
        let list = [self.argument(&offset), self.argument(&pointer)];
        let ty = self.w.types.text(own.ty).to_owned();
        let name = self.call(&mangle(name, &parameters), &ty, &list);
        self.is(own, name);
        Ok(())
    }

    fn store_vector(
        &mut self,
        own: &Instruction<'m>,
        name: &str,
        counted: bool,
        mode: Option<u32>,
    ) -> Result<()> {
        let (data, offset, pointer) = (self.operand(own, 2)?, self.operand(own, 3)?, self.operand(own, 4)?);
        let count = if counted { self.w.types.element(data.ty).1.to_string() } else { String::new() };
        let rounding = match mode {
            Some(mode) => {
                ROUNDING.get(mode as usize).ok_or_else(|| own.error("the rounding mode is unknown"))?
            }
            None => "",
        };
        let parameters = [
            self.parameter(data.ty, Sign::Signed),
            Parameter::Named(self.size_type().0.into()),
            self.scalar_pointer(own, &pointer, "")?,
        ];
        let list: Vec<Argument> =
            [&data, &offset, &pointer].iter().map(|value| self.argument(value)).collect();
        self.call(&mangle(&format!("{name}{count}{rounding}"), &parameters), "void", &list);
        Ok(())
    }

    fn printf(&mut self, own: &Instruction<'m>) -> Result<()> {
        let mut list = Vec::new();
        for number in 2..own.operands.len() {
            list.push(self.typed(own, number)?);
        }
        let format = self.operand(own, 2)?;
        let ty = self.type_of(&format).to_owned();
        let name = self.w.declare("printf", "i32", &format!("{ty}, ..."));
        self.result(own, &format!("call spir_func i32 ({ty}, ...) {name}({}) #0", list.join(", ")));
        Ok(())
    }
}
