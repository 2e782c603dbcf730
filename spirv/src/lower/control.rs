//! Control flow: SPIR-V 1.6, 3.49.17 "Control-Flow Instructions", and calls.

use rspirv::spirv::Op;

use super::{FunctionWriter, is_ignored};
use crate::error::Result;
use crate::types::Type;
use crate::walk::Instruction;

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn control(&mut self, own: &Instruction<'m>) -> Result<bool> {
        match own.op {
            op if is_ignored(op) => {}
            Op::LoopMerge | Op::LoopControlINTEL => self.loop_control(own)?,
            Op::Branch => {
                let target = own.operand(0)?;
                let attachment = self.loop_attachment(&[target]);
                self.line(&format!("br label %b{target}{attachment}"));
            }
            Op::BranchConditional => {
                let condition = self.typed(own, 0)?;
                let (yes, no) = (own.operand(1)?, own.operand(2)?);
                let attachment = self.loop_attachment(&[yes, no]);
                self.line(&format!("br {condition}, label %b{yes}, label %b{no}{attachment}"));
            }
            Op::Switch => self.switch(own)?,
            Op::Return => self.line("ret void"),
            Op::ReturnValue => {
                let value = self.typed(own, 0)?;
                self.line(&format!("ret {value}"));
            }
            Op::Unreachable => self.line("unreachable"),
            Op::Phi => {
                let name = format!("%v{}", own.result);
                self.body.push_str(&format!("  {name} = phi {} ", self.w.types.text(own.ty)));
                self.phis.push((*own, self.body.len()));
                self.body.push_str(&format!("{}\n", self.location));
                self.is(own, name);
            }
            Op::FunctionCall => self.function_call(own)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn switch(&mut self, own: &Instruction<'m>) -> Result<()> {
        let selector = self.operand(own, 0)?;
        let ty = self.type_of(&selector).to_owned();
        let Some(Type::Int(bits)) = self.w.types.get(selector.ty).cloned() else {
            return Err(own.error("the selector is no integer"));
        };
        let words = self.literal_words(own.operand(0)?);
        let mut cases = String::new();
        for case in own.operands_from(2)?.chunks(words + 1) {
            let (target, literal) = case.split_last().expect("chunks are not empty");
            if literal.len() != words {
                return Err(own.error("a case has no target"));
            }
            let value = literal.iter().rev().fold(0, |value, word| value << 32 | u64::from(*word));
            cases.push_str(&format!(" {ty} {}, label %b{target}", value & u64::MAX >> (64 - bits)));
        }
        let otherwise = own.operand(1)?;
        self.line(&format!("switch {ty} {}, label %b{otherwise} [{cases} ]", selector.text));
        Ok(())
    }

    fn function_call(&mut self, own: &Instruction<'m>) -> Result<()> {
        let function = self.operand(own, 0)?;
        let called = self.w.module.function(own.operand(0)?);
        let parameters = called.map_or(&[][..], |function| &function.parameters);
        let mut list = Vec::new();
        for number in 1..own.operands.len() {
            let value = self.operand(own, number)?;
            let attributes = parameters.get(number - 1).map(|parameter| self.attributes(parameter));
            list.push(format!("{}{} {}", self.type_of(&value), attributes.unwrap_or_default(), value.text));
        }
        let result = self.w.types.text(own.ty).to_owned();
        let text = format!("call spir_func {result} {}({}) #0", function.text, list.join(", "));
        if result == "void" {
            self.line(&text)
        } else {
            self.result(own, &text)
        }
        Ok(())
    }
}
