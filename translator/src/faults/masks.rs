//! Sets of lanes that are numbers, for LLVM 19.
//!
//! Where the host has no masks, a number becomes a set by comparing each lane's bit of it ([`spread`]): what LLVM
//! makes of the `bitcast` takes bit after bit out of the number and puts it into a vector, two instructions for each
//! lane.
//!
//! Elsewhere, and before that, it must not be seen that they are numbers ([`hide`]); where the host has masks, small
//! numbers are parts of others ([`widen`]).

use inkwell::IntPredicate;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::types::{AnyType, AnyTypeEnum, IntType, VectorType};
use inkwell::values::{
    AnyValueEnum, BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, VectorValue,
};

/// Sets made of numbers become comparisons, everywhere in a module.
pub fn spread(module: &Module<'_>) -> Result<(), BuilderError> {
    let context = module.get_context();
    let builder = context.create_builder();
    for (set, number) in sets_of_numbers(module) {
        let lanes = number.get_type().get_bit_width();
        let users = sets_made_with(set);
        if lanes % 8 != 0 || users.is_empty() {
            continue;
        }
        builder.position_before(&set);
        // The byte of each lane's bit, in each lane.
        let byte = context.i8_type();
        let parts = builder.build_bit_cast(number, byte.vec_type(lanes / 8), "")?.into_vector_value();
        let of_lanes = by_lane(context.i32_type(), lanes, |lane| lane / 8);
        let all = builder.build_shuffle_vector(parts, parts.get_type().get_poison(), of_lanes, "")?;
        let own = builder.build_and(all, by_lane(byte, lanes, |lane| 1 << (lane % 8)), "")?;
        let found = builder.build_int_compare(IntPredicate::NE, own, own.get_type().const_zero(), "")?;
        for (user, index) in users {
            user.set_operand(index, found);
        }
    }
    Ok(())
}

/// All sets that are made of a number, with that.
fn sets_of_numbers<'c>(module: &Module<'c>) -> Vec<(InstructionValue<'c>, IntValue<'c>)> {
    let bit = module.get_context().bool_type();
    let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
    let numbers = blocks.flat_map(|block| block.get_instructions()).filter_map(|set| {
        let number = number_of(set)?;
        let ty = AnyTypeEnum::VectorType(bit.vec_type(number.get_type().get_bit_width()));
        (set.get_type() == ty).then_some((set, number))
    });
    numbers.collect()
}

/// A constant for each lane.
fn by_lane<'c>(ty: IntType<'c>, lanes: u32, constant: impl Fn(u32) -> u32) -> VectorValue<'c> {
    let all = (0..lanes).map(|lane| ty.const_int(u64::from(constant(lane)), false));
    VectorType::const_vector(&all.collect::<Vec<_>>())
}

/// The operations that make another set of one, and which operand of theirs that is. What else a set is for, as
/// selecting, knows numbers.
fn sets_made_with(set: InstructionValue<'_>) -> Vec<(InstructionValue<'_>, u32)> {
    let uses = std::iter::successors(set.get_first_use(), |known| known.get_next_use());
    let users = uses.filter_map(|known| match known.get_user() {
        AnyValueEnum::VectorValue(user) => user.as_instruction(),
        _ => None,
    });
    let users = users.filter(|user| user.get_type() == set.get_type());
    users
        .flat_map(|user| (0..user.get_num_operands()).map(move |index| (user, index)))
        .filter(|(user, index)| operand(*user, *index).and_then(|o| o.as_instruction_value()) == Some(set))
        .collect()
}

/// Hides everywhere in a module that sets are numbers.
///
/// `or` or `xor` of two `<16 x i1>` (or 8 or 32, or a `select` that is one) that are numbers of as many bits is
/// rewritten as one of the numbers, and back, and so on without end, by instruction selection for hosts with AVX-512,
/// when the function has vectors wider than the host's: the former by `hoistLogicOpWithSameOpcodeHands` of all
/// targets, the latter by `combineBitcast` of x86. With the number behind an empty assembly instruction nothing is
/// left to rewrite.
pub fn hide(module: &Module<'_>) -> Result<(), BuilderError> {
    let context = module.get_context();
    for number in [context.i8_type(), context.i16_type(), context.i32_type()] {
        let set = context.bool_type().vec_type(number.get_bit_width());
        let all = by_lane(context.bool_type(), number.get_bit_width(), |_| 1);
        let hidden = Hidden { builder: context.create_builder(), set, all };
        for block in module.get_functions().flat_map(|function| function.get_basic_blocks()) {
            for instruction in block.get_instructions() {
                if let Some(number) = hidden.number(instruction)? {
                    hidden.replace(instruction, number)?;
                }
            }
        }
    }
    hide_parts(module)
}

/// Sets of less than eight lanes that are numbers become parts of hidden ones of eight, everywhere in a module.
///
/// Numbers of two or four bits are none that hosts have. What LLVM makes of them with AVX-512 is rewritten and back
/// without end as well, where some of them are parts of one number.
pub fn widen(module: &Module<'_>) -> Result<(), BuilderError> {
    let context = module.get_context();
    let number = context.i8_type();
    let set = context.bool_type().vec_type(number.get_bit_width());
    let builder = context.create_builder();
    for (narrow, own) in sets_of_numbers(module) {
        let lanes = own.get_type().get_bit_width();
        if lanes >= number.get_bit_width() {
            continue;
        }
        builder.position_before(&narrow);
        let wide = builder.build_int_z_extend(own, number, "")?;
        let wide = hidden(&builder, wide)?;
        let wide = builder.build_bit_cast(wide, set, "")?.into_vector_value();
        let first = by_lane(context.i32_type(), lanes, |lane| lane);
        let part = builder.build_shuffle_vector(wide, set.get_poison(), first, "")?;
        if let Some(part) = part.as_instruction() {
            narrow.replace_all_uses_with(&part);
        }
    }
    Ok(())
}

/// A number behind an empty assembly instruction.
fn hidden<'c>(builder: &Builder<'c>, number: IntValue<'c>) -> Result<BasicValueEnum<'c>, BuilderError> {
    let (ty, same) = (number.get_type(), "=r,0".to_owned());
    let of_type = ty.fn_type(&[ty.into()], false);
    let nothing = ty.get_context().create_inline_asm(of_type, String::new(), same, false, false, None, false);
    let call = builder.build_indirect_call(of_type, nothing, &[number.into()], "")?;
    Ok(call.try_as_basic_value().unwrap_basic())
}

/// Parts of the numbers of comparisons: LLVM 19 takes the low half of a set of 32 lanes, in a mask register, for one
/// whose upper bits are zero, and drops the `and`.
fn hide_parts(module: &Module<'_>) -> Result<(), BuilderError> {
    let context = module.get_context();
    let number = context.i32_type();
    let set = AnyTypeEnum::VectorType(context.bool_type().vec_type(number.get_bit_width()));
    let builder = context.create_builder();
    for block in module.get_functions().flat_map(|function| function.get_basic_blocks()) {
        let parts = block.get_instructions().filter(|i| i.get_opcode() == InstructionOpcode::And);
        for part in parts.collect::<Vec<_>>() {
            let all = operand(part, 0).filter(|all| {
                let cast =
                    all.as_instruction_value().filter(|i| i.get_opcode() == InstructionOpcode::BitCast);
                let from = cast.and_then(|cast| operand(cast, 0));
                from.is_some_and(|from| from.get_type().as_any_type_enum() == set)
            });
            let Some(BasicValueEnum::IntValue(all)) = all else { continue };
            builder.position_before(&part);
            part.set_operand(0, hidden(&builder, all)?);
        }
    }
    Ok(())
}

struct Hidden<'c> {
    builder: Builder<'c>,
    set: VectorType<'c>,
    /// That of all lanes.
    all: VectorValue<'c>,
}

impl<'c> Hidden<'c> {
    /// The number of a set that LLVM would see through to an operation: `or` of two numbers' sets, or the set of an
    /// `or` of numbers.
    fn number(&self, set: InstructionValue<'c>) -> Result<Option<IntValue<'c>>, BuilderError> {
        if set.get_type() != AnyTypeEnum::VectorType(self.set) {
            return Ok(None);
        }
        if set.get_opcode() == InstructionOpcode::BitCast {
            return Ok(number_of(set).filter(|number| number.as_instruction().is_some_and(is_logic)));
        }
        let Some((opcode, operands)) = self.operation(set) else { return Ok(None) };
        let [Some(left), Some(right)] =
            operands.map(|index| number_of(operand(set, index)?.as_instruction_value()?))
        else {
            return Ok(None);
        };
        self.builder.position_before(&set);
        Ok(Some(self.builder.build_binop(opcode, left, right, "")?.into_int_value()))
    }

    /// What makes a set of two others, and which operands these are. A set that chooses between all lanes, or none,
    /// and another is such an operation, too.
    fn operation(&self, set: InstructionValue<'c>) -> Option<(InstructionOpcode, [u32; 2])> {
        let is = |index, constant: VectorValue<'c>| operand(set, index) == Some(constant.into());
        match set.get_opcode() {
            InstructionOpcode::Select if is(1, self.all) => Some((InstructionOpcode::Or, [0, 2])),
            InstructionOpcode::Select if is(2, self.set.const_zero()) => {
                Some((InstructionOpcode::And, [0, 1]))
            }
            opcode => is_logic(set).then_some((opcode, [0, 1])),
        }
    }

    /// Replaces a set by that of the number, hidden.
    fn replace(&self, set: InstructionValue<'c>, number: IntValue<'c>) -> Result<(), BuilderError> {
        self.builder.position_before(&set);
        let hidden = hidden(&self.builder, number)?;
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

pub(super) fn operand(instruction: InstructionValue<'_>, index: u32) -> Option<BasicValueEnum<'_>> {
    instruction.get_operand(index)?.value()
}

/// The number that a set is made of.
fn number_of(set: InstructionValue<'_>) -> Option<IntValue<'_>> {
    if set.get_opcode() != InstructionOpcode::BitCast {
        return None;
    }
    operand(set, 0).filter(|value| value.is_int_value()).map(BasicValueEnum::into_int_value)
}
