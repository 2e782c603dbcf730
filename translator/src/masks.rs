//! Hides from LLVM 19 that sets of lanes are numbers.
//!
//! `or` or `xor` of two `<16 x i1>` that are numbers of 16 bits is rewritten as one of the numbers, and back, and so on without end, by instruction selection for hosts that have
//! byte and word masks (AVX-512BW), when the function has vectors wider than the host's: the former by `hoistLogicOpWithSameOpcodeHands` of all targets, the
//! latter by `combineBitcast` of x86. With the number behind an empty assembly instruction nothing is left to rewrite.

use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::types::{AnyTypeEnum, IntType, VectorType};
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue};

/// Lanes of the sets.
const LANES: u32 = 16;

/// Does so everywhere in a module.
pub fn hide(module: &Module<'_>) -> Result<(), BuilderError> {
    let context = module.get_context();
    let hidden = Hidden {
        builder: context.create_builder(),
        number: context.i16_type(),
        set: context.bool_type().vec_type(LANES),
    };
    for block in module.get_functions().flat_map(|function| function.get_basic_blocks()) {
        for instruction in block.get_instructions() {
            if let Some(number) = hidden.number(instruction)? {
                hidden.replace(instruction, number)?;
            }
        }
    }
    Ok(())
}

struct Hidden<'c> {
    builder: Builder<'c>,
    number: IntType<'c>,
    set: VectorType<'c>,
}

impl<'c> Hidden<'c> {
    /// The number of a set that LLVM would see through to an operation: `or` of two numbers' sets, or the set of an `or` of numbers.
    fn number(&self, set: InstructionValue<'c>) -> Result<Option<IntValue<'c>>, BuilderError> {
        if set.get_type() != AnyTypeEnum::VectorType(self.set) {
            return Ok(None);
        }
        if set.get_opcode() == InstructionOpcode::BitCast {
            let number =
                operand(set, 0).filter(|value| value.is_int_value()).map(BasicValueEnum::into_int_value);
            return Ok(number.filter(|number| number.as_instruction().is_some_and(is_logic)));
        }
        if !is_logic(set) {
            return Ok(None);
        }
        let [Some(left), Some(right)] = [0, 1].map(|index| number_of(operand(set, index)?)) else {
            return Ok(None);
        };
        self.builder.position_before(&set);
        Ok(Some(self.builder.build_binop(set.get_opcode(), left, right, "")?.into_int_value()))
    }

    /// Replaces a set by that of the number, hidden.
    fn replace(&self, set: InstructionValue<'c>, number: IntValue<'c>) -> Result<(), BuilderError> {
        let of_type = self.number.fn_type(&[self.number.into()], false);
        let (assembly, same) = (String::new(), "=r,0".to_owned());
        let nothing =
            self.number.get_context().create_inline_asm(of_type, assembly, same, false, false, None, false);
        self.builder.position_before(&set);
        let call = self.builder.build_indirect_call(of_type, nothing, &[number.into()], "")?;
        let hidden = call.try_as_basic_value().unwrap_basic();
        let again = self.builder.build_bit_cast(hidden, self.set, "")?;
        if let Some(again) = again.into_vector_value().as_instruction() {
            set.replace_all_uses_with(&again);
        }
        Ok(())
    }
}

fn is_logic(instruction: InstructionValue<'_>) -> bool {
    matches!(
        instruction.get_opcode(),
        InstructionOpcode::And | InstructionOpcode::Or | InstructionOpcode::Xor
    )
}

fn operand(instruction: InstructionValue<'_>, index: u32) -> Option<BasicValueEnum<'_>> {
    instruction.get_operand(index)?.value()
}

/// The number that a set is made of.
fn number_of(set: BasicValueEnum<'_>) -> Option<IntValue<'_>> {
    let set = set.as_instruction_value().filter(|set| set.get_opcode() == InstructionOpcode::BitCast)?;
    operand(set, 0).filter(|value| value.is_int_value()).map(BasicValueEnum::into_int_value)
}

#[cfg(test)]
mod tests {
    use crate::host::{Effort, compile};
    use std::sync::mpsc;
    use std::time::Duration;

    /// Numbers as sets, a set of both, and vectors that are wider than any host's.
    fn module(operation: &str) -> String {
        format!(
            "define void @f(i32 %a32, i32 %b32, ptr %p) {{
               %a16 = trunc i32 %a32 to i16
               %b16 = trunc i32 %b32 to i16
               %a = bitcast i16 %a16 to <16 x i1>
               %b = bitcast i16 %b16 to <16 x i1>
               %x = select <16 x i1> %a, <16 x i32> splat (i32 1), <16 x i32> zeroinitializer
               store <16 x i32> %x, ptr %p
               %q = getelementptr i8, ptr %p, i64 64
               %y = select <16 x i1> %b, <16 x i32> zeroinitializer, <16 x i32> splat (i32 3)
               store <16 x i32> %y, ptr %q
               {operation}
               %z = select <16 x i1> %o, <16 x i64> zeroinitializer, <16 x i64> splat (i64 1)
               %r = getelementptr i8, ptr %p, i64 128
               store <16 x i64> %z, ptr %r
               ret void
             }}"
        )
    }

    #[test]
    fn instruction_selection_ends() {
        for name in ["and", "or", "xor"] {
            let sets = format!("%o = {name} <16 x i1> %a, %b");
            let numbers = format!("%n = {name} i16 %a16, %b16\n%o = bitcast i16 %n to <16 x i1>");
            for operation in [sets, numbers] {
                let (done, result) = mpsc::channel();
                let text = module(&operation);
                // A thread that never ends does not keep the process.
                std::thread::spawn(move || done.send(compile(&text, Effort::Full)));
                let object = result.recv_timeout(Duration::from_secs(60));
                assert!(matches!(object, Ok(Ok(_))), "{operation}: {object:?}");
            }
        }
    }
}
