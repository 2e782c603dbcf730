//! Program-scope constants: one image for all kernels.

use std::collections::HashMap;

use super::types::{Scalar, layout};
use super::{Failure, types};
use crate::llvm::view::{Module, Type, TypeKind, Value, ValueKind};

/// The image as it grows: each variable is placed when it is first used.
#[derive(Default)]
pub struct Constants<'m> {
    places: HashMap<Value<'m>, u32>,
    bytes: Vec<u8>,
}

impl<'m> Constants<'m> {
    /// Where a variable is, in bytes from the beginning of the image.
    pub fn place(&mut self, module: Module<'m>, variable: Value<'m>) -> Result<u32, Failure> {
        if let Some(&place) = self.places.get(&variable) {
            return Ok(place);
        }
        let initializer = variable
            .initializer()
            .ok_or_else(|| Failure::new(format!("the constant {} is declared only", variable.name())))?;
        let ty = variable.value_type();
        let align = variable.global_alignment().max(module.align_of(ty)).max(4) as usize;
        let place = self.bytes.len().next_multiple_of(align);
        let end = place + module.size_of(ty) as usize;
        self.bytes.resize(end, 0);
        write(module, initializer, &mut self.bytes[place..])
            .map_err(|failure| Failure::new(format!("constant {}: {}", variable.name(), failure.message)))?;
        let place =
            u32::try_from(place).map_err(|_| Failure::new("more than 4 GB of program-scope constants"))?;
        self.places.insert(variable, place);
        Ok(place)
    }

    /// The finished image.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Writes a constant as it stands in memory; `bytes` holds zeros.
fn write<'m>(module: Module<'m>, value: Value<'m>, bytes: &mut [u8]) -> Result<(), Failure> {
    match value.kind() {
        ValueKind::Zero | ValueKind::Undefined => Ok(()),
        ValueKind::ConstantInteger | ValueKind::ConstantFloat => {
            let size = module.store_size_of(value.ty()) as usize;
            let bits = scalar_bits(value)?;
            let little_endian = bits.to_le_bytes();
            let copied = size.min(8);
            bytes[..copied].copy_from_slice(&little_endian[..copied]);
            Ok(())
        }
        ValueKind::ConstantAggregate => {
            for (index, place) in (0..).zip(element_places(module, value.ty())?) {
                let element = value.element(index).ok_or_else(|| unsupported(value))?;
                write(module, element, &mut bytes[place..])?;
            }
            Ok(())
        }
        _ => Err(unsupported(value)),
    }
}

/// A constant integer's or float's bits.
pub fn scalar_bits(value: Value) -> Result<u64, Failure> {
    if value.kind() == ValueKind::ConstantInteger {
        return value.integer().ok_or_else(|| unsupported(value));
    }
    match types::scalar(value.ty())? {
        Scalar::Half => Ok(half::f16::from_f64(value.float()).to_bits().into()),
        Scalar::Float => Ok((value.float() as f32).to_bits().into()),
        _ => Ok(value.float().to_bits()),
    }
}

/// Where the elements of an array, vector or structure stand.
fn element_places<'m>(module: Module<'m>, ty: Type<'m>) -> Result<Vec<usize>, Failure> {
    Ok(match ty.kind() {
        TypeKind::Array(count, element) => {
            (0..count).map(|i| (i * module.size_of(element)) as usize).collect()
        }
        TypeKind::Struct(count) => (0..count).map(|i| module.field_offset(ty, i) as usize).collect(),
        _ => layout(module, ty)?.into_iter().map(|(_, place)| place as usize).collect(),
    })
}

fn unsupported(value: Value) -> Failure {
    Failure::new(format!("{} is not supported as initial value", value.text()))
}
