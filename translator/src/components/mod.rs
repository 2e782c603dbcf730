//! Components of lanes that stay as they lie in memory.
//!
//! Of vectors of an application, four floats for each work-item, a message makes registers with one component of all lanes each. In memory the components of a
//! lane lie side by side: they are transposed when they are read, and once more when they are written. But most of what is done to one of them is done to all:
//! sums, products, conversions. Done to the row as it lies in memory it takes as many instructions, and nothing is transposed.
//!
//! The emitter writes functions that do not exist: one [`component`] of a row, the row that is [`interleaved`] of components, what a row has of a [`lane`]. Here
//! instructions are found that do the same to all components of rows ([`groups`]); where it pays they become one ([`widen`]); what is left of the
//! functions becomes shuffles ([`shuffles`]).

mod groups;
mod shuffles;
mod widen;

use std::collections::HashSet;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::values::{
    AnyValue, AnyValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode,
    InstructionValue, VectorValue,
};

use crate::host::Vectors;
use crate::ir::{Function, Ty, Value};

const COMPONENT: &str = "gencl.component";
const INTERLEAVED: &str = "gencl.interleaved";
const LANE: &str = "gencl.lane";

/// Writes one of `count` components of a row's lanes.
pub fn component(f: &mut Function, row: &Value, number: u32, count: u32) -> Value {
    let ty = Ty { lanes: row.ty.lanes / count, ..row.ty };
    f.pure(&format!("{COMPONENT}.{number}.{count}.{}", row.ty.mangled()), ty, &[row])
}

/// Writes the row of which these are the components.
pub fn interleaved(f: &mut Function, components: &[Value]) -> Value {
    let (one, count) = (components[0].ty, components.len() as u32);
    let ty = Ty { lanes: one.lanes * count, ..one };
    f.pure(&format!("{INTERLEAVED}.{count}.{}", ty.mangled()), ty, &components.iter().collect::<Vec<_>>())
}

/// Writes the first `count` components of a lane, of which a row has `each`.
pub fn lane(f: &mut Function, row: &Value, number: u32, count: u32, each: u32) -> Value {
    let ty = Ty { lanes: count, ..row.ty };
    f.pure(&format!("{LANE}.{number}.{count}.{each}.{}", row.ty.mangled()), ty, &[row])
}

/// Replaces the functions everywhere in a module, for a host with such vectors.
pub fn replace(module: &Module<'_>, vectors: Vectors) -> Result<(), BuilderError> {
    let rows = Rows { module, builder: module.get_context().create_builder(), vectors };
    for function in module.get_functions() {
        let rare = rare_blocks(function);
        rows.widen(&groups::Found::of(function, &rare))?;
        rows.part_rare_uses(function, &rare)?;
        rows.lower(function, &rare)?;
    }
    Ok(())
}

/// Writes rows.
struct Rows<'m, 'c> {
    module: &'m Module<'c>,
    builder: Builder<'c>,
    vectors: Vectors,
}

/// A call of one of the functions.
#[derive(Clone, Copy)]
enum Pseudo {
    Component { number: u32, count: u32 },
    Interleaved,
    Lane { number: u32, count: u32, each: u32 },
}

impl Pseudo {
    fn of(instruction: InstructionValue<'_>) -> Option<Pseudo> {
        let function = called(instruction)?;
        let name = function.get_name().to_str().ok()?;
        let numbers = |of: &str| {
            let numbers = name.strip_prefix(of)?.split('.').skip(1).map_while(|number| number.parse().ok());
            Some(numbers.collect::<Vec<u32>>())
        };
        if let Some(&[number, count]) = numbers(COMPONENT).as_deref() {
            return Some(Pseudo::Component { number, count });
        }
        if let Some(&[number, count, each]) = numbers(LANE).as_deref() {
            return Some(Pseudo::Lane { number, count, each });
        }
        name.starts_with(INTERLEAVED).then_some(Pseudo::Interleaved)
    }
}

/// All instructions of a function, in their order.
fn instructions<'c>(function: FunctionValue<'c>) -> impl Iterator<Item = InstructionValue<'c>> {
    function.get_basic_block_iter().flat_map(|block| block.get_instructions())
}

/// The blocks to which threads rarely come.
fn rare_blocks<'c>(function: FunctionValue<'c>) -> HashSet<BasicBlock<'c>> {
    let cold = Attribute::get_named_enum_kind_id("cold");
    let is_rare =
        |function: FunctionValue<'c>| function.get_enum_attribute(AttributeLoc::Function, cold).is_some();
    let calls = |block: &BasicBlock<'c>| block.get_instructions().filter_map(called).any(is_rare);
    function.get_basic_block_iter().filter(calls).collect()
}

/// Who uses an instruction's result.
fn users<'c>(instruction: InstructionValue<'c>) -> impl Iterator<Item = InstructionValue<'c>> {
    let uses = std::iter::successors(instruction.get_first_use(), |one| one.get_next_use());
    uses.filter_map(|one| match one.get_user() {
        AnyValueEnum::InstructionValue(user) => Some(user),
        AnyValueEnum::VectorValue(user) => user.as_instruction(),
        AnyValueEnum::IntValue(user) => user.as_instruction(),
        AnyValueEnum::FloatValue(user) => user.as_instruction(),
        AnyValueEnum::PointerValue(user) => user.as_instruction(),
        AnyValueEnum::PhiValue(user) => Some(user.as_instruction()),
        _ => None,
    })
}

/// The function that an instruction calls.
fn called(instruction: InstructionValue<'_>) -> Option<FunctionValue<'_>> {
    if instruction.get_opcode() != InstructionOpcode::Call {
        return None;
    }
    CallSiteValue::try_from(instruction).ok()?.get_called_fn_value()
}

/// An instruction's result, if it is a vector.
fn result(instruction: InstructionValue<'_>) -> Option<VectorValue<'_>> {
    match instruction.as_any_value_enum() {
        AnyValueEnum::VectorValue(value) => Some(value),
        _ => None,
    }
}

/// An operand, if it is a vector.
fn operand(instruction: InstructionValue<'_>, number: u32) -> Option<VectorValue<'_>> {
    match instruction.get_operand(number)?.value()? {
        BasicValueEnum::VectorValue(value) => Some(value),
        _ => None,
    }
}

/// Puts a value in the place of an instruction, whose last use this is.
fn put(value: VectorValue<'_>, instruction: InstructionValue<'_>) {
    if let Some(old) = result(instruction) {
        old.replace_all_uses_with(value);
    }
    instruction.erase_from_basic_block();
}
