//! Translation of `getelementptr` as a base object plus an offset.

use super::Failure;
use crate::ir::Reg;
use crate::llvm::view::{Module, TypeKind, Value, ValueKind};

/// An address as a base object plus an offset.
#[derive(Clone, Copy, Debug)]
pub struct ObjectOffset {
    /// The object's address.
    pub base: Reg,
    /// The variable part of the offset, 32 bits.
    pub offset: Option<Reg>,
    /// The constant part of the offset.
    pub constant: i64,
}

/// The indices of a `getelementptr`, each with its scale in bytes.
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
                let field = index
                    .integer()
                    .ok_or_else(|| Failure::new("the index of a structure's field is not constant"))?;
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

/// Indices, each with its scale in bytes.
pub type Indices<'m> = Vec<(Index<'m>, u64)>;
