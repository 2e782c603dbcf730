//! What a `getelementptr` computes: an object and an offset, which its indices add to.

use super::Failure;
use crate::ir::Reg;
use crate::llvm::view::{Module, TypeKind, Value, ValueKind};

/// An address as an object and an offset.
#[derive(Clone, Copy, Debug)]
pub struct ObjectOffset {
    /// The object's address.
    pub base: Reg,
    /// What was computed of the offset, 32 bits.
    pub offset: Option<Reg>,
    /// The constant rest.
    pub constant: i64,
}

/// The indices of a `getelementptr`, each with the bytes that one step of it takes.
pub fn indices<'m>(module: Module<'m>, instruction: Value<'m>) -> Result<Indices<'m>, Failure> {
    let mut ty = instruction.source_element_type();
    let mut result = Vec::new();
    for (position, index) in instruction.operands().into_iter().skip(1).enumerate() {
        if position == 0 {
            result.push((Index::of(index), module.size_of(ty)));
            continue;
        }
        match ty.kind() {
            TypeKind::Struct(_) => {
                let field = index.integer().ok_or_else(|| Failure::new("a structure's field is computed"))?;
                let offset = module.field_offset(ty, field as u32);
                result.push((Index::Constant(offset as i64), 1));
                ty = ty.field(field as u32);
            }
            TypeKind::Array(_, element) | TypeKind::Vector(_, element) => {
                result.push((Index::of(index), module.size_of(element)));
                ty = element;
            }
            _ => return Err(Failure::new(format!("an index into {}", ty.text()))),
        }
    }
    Ok(result)
}

/// An index of a `getelementptr`.
pub enum Index<'m> {
    Constant(i64),
    Value(Value<'m>),
}

impl<'m> Index<'m> {
    fn of(value: Value<'m>) -> Self {
        match value.signed_integer() {
            Some(number) => Index::Constant(number),
            None if value.kind() == ValueKind::Zero => Index::Constant(0),
            None => Index::Value(value),
        }
    }
}

/// Indices, each with the bytes that one step of it takes.
pub type Indices<'m> = Vec<(Index<'m>, u64)>;
