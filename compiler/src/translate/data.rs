//! Program-scope variables: images that all kernels share.

use rustc_hash::FxHashMap;

use gencl_program::{Data, Image, Relocation};

use super::element_pointer::{Index, indices};
use super::types::{Scalar, address_space, layout};
use super::{Failure, types};
use crate::ir::Space;
use crate::llvm::view::{Module, Opcode, Type, TypeKind, Value, ValueKind};

/// The images as they grow: each variable is placed when it is first used.
#[derive(Default)]
pub struct Variables<'m> {
    places: FxHashMap<Value<'m>, (Image, u32)>,
    data: Data,
}

impl<'m> Variables<'m> {
    /// The image that a variable is in, and where, in bytes from its beginning.
    pub fn place(&mut self, module: Module<'m>, variable: Value<'m>) -> Result<(Image, u32), Failure> {
        if let Some(&place) = self.places.get(&variable) {
            return Ok(place);
        }
        let name = variable.name();
        let initializer = variable
            .initializer()
            .ok_or_else(|| Failure::new(format!("the variable {name} is declared, but not defined")))?;
        let image = image_of(variable)?;
        let ty = variable.value_type();
        let align = variable.global_alignment().max(module.align_of(ty)).max(4) as usize;
        let bytes = self.bytes(image);
        let begin = bytes.len().next_multiple_of(align);
        let size = module.size_of(ty);
        let place = u32::try_from(begin as u64 + size)
            .map(|_| begin as u32)
            .map_err(|_| Failure::new("more than 4 GB of program-scope variables"))?;
        bytes.resize(begin + size as usize, 0);
        // Before its contents, which may point to it.
        self.places.insert(variable, (image, place));
        self.write(module, initializer, (image, begin))
            .map_err(|failure| Failure::new(format!("variable {name}: {}", failure.message)))?;
        Ok((image, place))
    }

    fn bytes(&mut self, image: Image) -> &mut Vec<u8> {
        match image {
            Image::Constants => &mut self.data.constants,
            Image::Variables => &mut self.data.variables,
        }
    }

    /// The finished images.
    pub fn finish(mut self) -> Data {
        self.data.relocations.sort_unstable();
        self.data
    }

    /// Writes a constant as it stands in memory, where zeros are.
    fn write(
        &mut self,
        module: Module<'m>,
        value: Value<'m>,
        (image, begin): (Image, usize),
    ) -> Result<(), Failure> {
        match value.kind() {
            ValueKind::Zero | ValueKind::Undefined => Ok(()),
            ValueKind::ConstantInteger | ValueKind::ConstantFloat => {
                let size = module.store_size_of(value.ty()) as usize;
                let little_endian = scalar_bits(module, value)?.to_le_bytes();
                let copied = size.min(8);
                self.bytes(image)[begin..begin + copied].copy_from_slice(&little_endian[..copied]);
                Ok(())
            }
            ValueKind::ConstantAggregate => {
                for (index, place) in (0..).zip(element_places(module, value.ty())?) {
                    let element = value.element(index).ok_or_else(|| unsupported(value))?;
                    self.write(module, element, (image, begin + place))?;
                }
                Ok(())
            }
            ValueKind::GlobalVariable | ValueKind::ConstantExpression => {
                let size = module.pointer_size();
                if module.store_size_of(value.ty()) != u64::from(size) {
                    return Err(unsupported(value));
                }
                match constant_address(module, value)? {
                    (Some(variable), addend) => {
                        let (target, place) = self.place(module, variable)?;
                        let addend = addend.wrapping_add(place.into());
                        // The kernel driver relocates dwords that are aligned.
                        if size == 4 && !begin.is_multiple_of(4) {
                            return Err(unsupported(value));
                        }
                        let offset = begin as u64;
                        self.data.relocations.push(Relocation { image, offset, size, target, addend });
                    }
                    (None, number) => {
                        let bytes = &number.to_le_bytes()[..size as usize];
                        self.bytes(image)[begin..begin + bytes.len()].copy_from_slice(bytes);
                    }
                }
                Ok(())
            }
            _ => Err(unsupported(value)),
        }
    }
}

/// Where a variable lives, by its address space.
fn image_of(variable: Value) -> Result<Image, Failure> {
    let TypeKind::Pointer(number) = variable.ty().kind() else { return Err(unsupported(variable)) };
    match address_space(number)? {
        Space::Constant => Ok(Image::Constants),
        Space::Global => Ok(Image::Variables),
        Space::Local | Space::Private => Err(Failure::new(format!("the address of {}", variable.name()))),
    }
}

/// A constant address as a variable and a number of bytes to add; no variable for a number that was made a
/// pointer.
fn constant_address<'m>(module: Module<'m>, value: Value<'m>) -> Result<(Option<Value<'m>>, i64), Failure> {
    match value.kind() {
        ValueKind::GlobalVariable => Ok((Some(value), 0)),
        ValueKind::Zero | ValueKind::Undefined => Ok((None, 0)),
        ValueKind::ConstantInteger => Ok((None, value.signed_integer().unwrap_or(0))),
        ValueKind::ConstantExpression => match value.opcode() {
            Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast | Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr => {
                constant_address(module, value.operand(0))
            }
            Opcode::LLVMGetElementPtr => {
                let (variable, mut addend) = constant_address(module, value.operand(0))?;
                for (index, scale) in indices(module, value)? {
                    let Index::Constant(number) = index else {
                        return Err(unsupported(value));
                    };
                    addend = addend.wrapping_add(number.wrapping_mul(scale as i64));
                }
                Ok((variable, addend))
            }
            opcode @ (Opcode::LLVMAdd | Opcode::LLVMSub) => {
                let (variable, a) = constant_address(module, value.operand(0))?;
                match (opcode, constant_address(module, value.operand(1))?) {
                    (Opcode::LLVMAdd, (None, b)) => Ok((variable, a.wrapping_add(b))),
                    (Opcode::LLVMAdd, (other, b)) if variable.is_none() => Ok((other, a.wrapping_add(b))),
                    (Opcode::LLVMSub, (None, b)) => Ok((variable, a.wrapping_sub(b))),
                    _ => Err(unsupported(value)),
                }
            }
            _ => Err(unsupported(value)),
        },
        _ => Err(unsupported(value)),
    }
}

/// A constant integer's or float's bits.
pub fn scalar_bits(module: Module, value: Value) -> Result<u64, Failure> {
    if value.kind() == ValueKind::ConstantInteger {
        return value.integer().ok_or_else(|| unsupported(value));
    }
    match types::scalar(module, value.ty())? {
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
