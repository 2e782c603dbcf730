//! Choices of bits under masks, which LLVM 19 gets wrong.
//!
//! With AVX-512, `a & C | b & ~C` is one instruction, `vpternlog`, whose immediate says what it computes of its operands. Where a mask chooses between that and one of the
//! operands, the mask is part of the instruction, and one operand may be in memory. Instruction selection has a pattern for each order of the operands, and those two
//! in which all three change their places have each other's immediate (LLVM's issue 157929, mended by its pull request 209782). So no mask may meet such an
//! operation: [`hide`] puts a fence between them.
//!
//! Only choices by constants are made `vpternlog` so early; other logic is when its mask has an instruction of its own already. But constants of LLVM IR are not all
//! that instruction selection finds out to be constant: parts of vectors that are constant in some lanes only are, too. So any `and` counts.

use inkwell::builder::BuilderError;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{BasicValueEnum, InstructionOpcode, InstructionValue, VectorValue};

use super::masks::operand;

/// Hides choices of bits from the masks under which they are, everywhere in a module.
///
/// The fence is one for floats, as LLVM has no other that becomes no instruction, is there for vectors of any size, and stays there until registers are
/// allocated. The masked instruction needs a copy of the operand that it changes, and the mask's own does not: so it costs nothing.
pub fn hide(module: &Module<'_>) -> Result<(), BuilderError> {
    let context = module.get_context();
    let builder = context.create_builder();
    for block in module.get_functions().flat_map(|function| function.get_basic_blocks()) {
        for user in block.get_instructions() {
            for index in arms(user) {
                let Some(BasicValueEnum::VectorValue(arm)) = operand(user, index) else { continue };
                let Some(floats) = as_floats(arm.get_type()).filter(|_| is_choice(arm)) else { continue };
                builder.position_before(&user);
                let fence = Intrinsic::find("llvm.arithmetic.fence")
                    .and_then(|fence| fence.get_declaration(module, &[floats.into()]))
                    .expect("there is one for all floats");
                let bits = builder.build_bit_cast(arm, floats, "")?;
                let same = builder.build_call(fence, &[bits.into()], "")?.try_as_basic_value().unwrap_basic();
                user.set_operand(index, builder.build_bit_cast(same, arm.get_type(), "")?);
            }
        }
    }
    Ok(())
}

/// The operands of which a set of lanes chooses one for each lane, where one does. The lanes of a shuffle may be a constant set.
fn arms(user: InstructionValue<'_>) -> std::ops::Range<u32> {
    let is_defined =
        |index| matches!(operand(user, index), Some(BasicValueEnum::VectorValue(v)) if !v.is_undef());
    match user.get_opcode() {
        InstructionOpcode::Select if operand(user, 0).is_some_and(|set| set.is_vector_value()) => 1..3,
        InstructionOpcode::ShuffleVector if is_defined(1) => 0..2,
        _ => 0..0,
    }
}

/// Could it be made of some bits of one number and the others of another?
fn is_choice(arm: VectorValue<'_>) -> bool {
    use InstructionOpcode as O;
    let Some(arm) = behind_casts(arm) else { return false };
    match arm.get_opcode() {
        O::Or | O::Xor | O::Add => (0..2).any(|index| operand(arm, index).is_some_and(is_part)),
        O::Call => calls(arm, "copysign"),
        _ => false,
    }
}

/// Whether it extracts some bits of an integer.
fn is_part(value: BasicValueEnum<'_>) -> bool {
    use InstructionOpcode as O;
    let BasicValueEnum::VectorValue(value) = value else { return false };
    let Some(part) = behind_casts(value) else { return false };
    match part.get_opcode() {
        O::And => true,
        O::Call => calls(part, "fabs"),
        O::Shl | O::LShr => operand(part, 0).is_some_and(is_part),
        _ => false,
    }
}

/// The instruction whose bits a vector has.
fn behind_casts(vector: VectorValue<'_>) -> Option<InstructionValue<'_>> {
    let instruction = vector.as_instruction()?;
    match (instruction.get_opcode(), operand(instruction, 0)) {
        (InstructionOpcode::BitCast, Some(BasicValueEnum::VectorValue(from))) => behind_casts(from),
        _ => Some(instruction),
    }
}

/// Whether it calls an LLVM intrinsic.
fn calls(call: InstructionValue<'_>, name: &str) -> bool {
    let function = operand(call, call.get_num_operands() - 1);
    let function =
        function.filter(|f| f.is_pointer_value()).map(|f| f.into_pointer_value().get_name().to_owned());
    function.is_some_and(|own| own.to_bytes().starts_with(format!("llvm.{name}.").as_bytes()))
}

/// The type of as many floats as a vector of dwords or qwords has elements.
fn as_floats(ty: VectorType<'_>) -> Option<VectorType<'_>> {
    let context = ty.get_context();
    let bits = match ty.get_element_type() {
        BasicTypeEnum::FloatType(element) if element == context.f32_type() => 32,
        BasicTypeEnum::FloatType(element) if element == context.f64_type() => 64,
        BasicTypeEnum::IntType(element) => element.get_bit_width(),
        _ => return None,
    };
    let element = match bits {
        32 => context.f32_type(),
        64 => context.f64_type(),
        _ => return None,
    };
    Some(element.vec_type(ty.get_size()))
}
