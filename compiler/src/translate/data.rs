//! Program-scope variables: data sections that all kernels of a program share.

use rustc_hash::FxHashMap;

use gencl_program::{Data, DataSection, Relocation};

use super::element_pointer::{Index, indices};
use super::types::{Scalar, address_space, layout};
use super::{Failure, types};
use crate::ir::Space;
use crate::llvm::view::{Module, Opcode, Type, TypeKind, Value, ValueKind};

/// The data sections under construction: a variable is allocated at its first use.
#[derive(Default)]
pub struct Variables<'m> {
    places: FxHashMap<Value<'m>, (DataSection, u32)>,
    data: Data,
}

impl<'m> Variables<'m> {
    /// The section of a variable, and its offset in bytes.
    pub fn place(&mut self, module: Module<'m>, variable: Value<'m>) -> Result<(DataSection, u32), Failure> {
        if let Some(&place) = self.places.get(&variable) {
            return Ok(place);
        }
        let name = variable.name();
        let initializer = variable
            .initializer()
            .ok_or_else(|| Failure::new(format!("the variable {name} is declared, but not defined")))?;
        let section = section_of(variable)?;
        let ty = variable.value_type();
        let align = variable.global_alignment().max(module.align_of(ty)).max(4) as usize;
        let bytes = self.bytes(section);
        let begin = bytes.len().next_multiple_of(align);
        let size = module.size_of(ty);
        let place = u32::try_from(begin as u64 + size)
            .map(|_| begin as u32)
            .map_err(|_| Failure::new("more than 4 GB of program-scope variables"))?;
        bytes.resize(begin + size as usize, 0);
        // Inserted before its contents are written, which may point to it.
        self.places.insert(variable, (section, place));
        self.write(module, initializer, (section, begin))
            .map_err(|failure| Failure::new(format!("variable {name}: {}", failure.message)))?;
        Ok((section, place))
    }

    fn bytes(&mut self, section: DataSection) -> &mut Vec<u8> {
        match section {
            DataSection::Constants => &mut self.data.constants,
            DataSection::Variables => &mut self.data.variables,
        }
    }

    /// The finished sections.
    pub fn finish(mut self) -> Data {
        self.data.relocations.sort_unstable();
        self.data
    }

    /// Writes the bytes of a constant, over zeros.
    fn write(
        &mut self,
        module: Module<'m>,
        value: Value<'m>,
        (section, begin): (DataSection, usize),
    ) -> Result<(), Failure> {
        match value.kind() {
            ValueKind::Zero | ValueKind::Undefined => Ok(()),
            ValueKind::ConstantInteger | ValueKind::ConstantFloat => {
                let size = module.store_size_of(value.ty()) as usize;
                let little_endian = scalar_bits(module, value)?.to_le_bytes();
                let copied = size.min(8);
                self.bytes(section)[begin..begin + copied].copy_from_slice(&little_endian[..copied]);
                Ok(())
            }
            ValueKind::ConstantAggregate => {
                for (index, place) in (0..).zip(element_places(module, value.ty())?) {
                    let element = value.element(index).ok_or_else(|| unsupported(value))?;
                    self.write(module, element, (section, begin + place))?;
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
                        // The kernel driver relocates only aligned dwords.
                        if size == 4 && !begin.is_multiple_of(4) {
                            return Err(unsupported(value));
                        }
                        let offset = begin as u64;
                        self.data.relocations.push(Relocation { section, offset, size, target, addend });
                    }
                    (None, number) => {
                        let bytes = &number.to_le_bytes()[..size as usize];
                        self.bytes(section)[begin..begin + bytes.len()].copy_from_slice(bytes);
                    }
                }
                Ok(())
            }
            _ => Err(unsupported(value)),
        }
    }
}

/// The section of a variable, from its address space.
fn section_of(variable: Value) -> Result<DataSection, Failure> {
    let TypeKind::Pointer(number) = variable.ty().kind() else { return Err(unsupported(variable)) };
    match address_space(number)? {
        Space::Constant => Ok(DataSection::Constants),
        Space::Global => Ok(DataSection::Variables),
        Space::Local | Space::Private => Err(Failure::new(format!("the address of {}", variable.name()))),
    }
}

/// A constant address as a variable and an offset in bytes; no variable for an integer cast to a pointer.
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

/// The offsets of the elements of an array, vector or structure in bytes.
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
