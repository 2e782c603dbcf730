//! Types, and how LLVM writes them.

use std::fmt::Write;

use rspirv::spirv::{Op, StorageClass};
use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::walk::{Id, Instruction};

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Void,
    Bool,
    Int(u32),
    Float(u32),
    Vector(Id, u32),
    Array(Id, u64),
    Struct(Vec<Id>),
    Pointer(StorageClass, Id),
    Function(Id, Vec<Id>),
    Image(Image),
    Sampler,
    SampledImage(Id),
    Event,
    /// A type that only its name tells apart.
    Opaque,
}

/// OpTypeImage, from Dim on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) dim: u32,
    pub(crate) depth: u32,
    pub(crate) arrayed: u32,
    pub(crate) multisampled: u32,
    pub(crate) sampled: u32,
    pub(crate) format: u32,
    /// Access qualifier: 0 read only, 1 write only, 2 read and write.
    pub(crate) access: u32,
}

/// The types of a module.
#[derive(Debug, Default)]
pub(crate) struct Types {
    rows: FxHashMap<Id, (Type, String)>,
    /// Pointer types that are declared only.
    forward: FxHashMap<Id, String>,
    /// Definitions of named structures.
    pub(crate) definitions: String,
}

impl Types {
    /// The type with an id.
    pub(crate) fn get(&self, id: Id) -> Option<&Type> {
        self.rows.get(&id).map(|row| &row.0)
    }

    /// Its name in LLVM IR.
    pub(crate) fn text(&self, id: Id) -> &str {
        let row = self.rows.get(&id).map(|row| &row.1);
        row.or_else(|| self.forward.get(&id)).map_or("void", String::as_str)
    }

    /// The type of the elements of a vector, or the type itself; and their number.
    pub(crate) fn element(&self, id: Id) -> (Id, u32) {
        match self.get(id) {
            Some(Type::Vector(element, count)) => (*element, *count),
            _ => (id, 1),
        }
    }

    /// The scalar type of a value or of a vector's elements.
    pub(crate) fn scalar(&self, id: Id) -> Option<&Type> {
        self.get(self.element(id).0)
    }

    /// The type of a part of a vector, array or structure.
    pub(crate) fn part(&self, id: Id, index: u32) -> Option<Id> {
        match self.get(id)? {
            Type::Struct(members) => members.get(index as usize).copied(),
            Type::Array(element, count) => (u64::from(index) < *count).then_some(*element),
            Type::Vector(element, count) => (index < *count).then_some(*element),
            _ => None,
        }
    }

    /// Enters a pointer type whose definition comes later.
    pub(crate) fn declare_pointer(&mut self, own: &Instruction<'_>) -> Result<()> {
        let (id, class) = (own.operand(0)?, storage_class(own, own.operand(1)?)?);
        self.forward.insert(id, pointer(class));
        Ok(())
    }

    /// Enters a type; `packed` if it has no padding; `length` gives the values of constants.
    pub(crate) fn define(
        &mut self,
        own: &Instruction<'_>,
        packed: bool,
        length: impl Fn(Id) -> Option<u64>,
    ) -> Result<()> {
        let known = |types: &Types, id| match types.rows.contains_key(&id) || types.forward.contains_key(&id)
        {
            true => Ok(id),
            false => Err(own.error(format!("{id} is no type"))),
        };
        let ty = match own.op {
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Bool,
            Op::TypeInt => match own.operand(0)? {
                width @ 1..=64 => Type::Int(width),
                width => return Err(own.error(format!("integers of {width} bits are not supported"))),
            },
            Op::TypeFloat => match (own.operand(0)?, own.operands.get(1)) {
                (width @ (16 | 32 | 64), None) => Type::Float(width),
                (width, None) => return Err(own.error(format!("floats of {width} bits are not supported"))),
                (_, Some(_)) => return Err(own.error("the encoding of floats is not supported")),
            },
            Op::TypeVector => {
                let element = known(self, own.operand(0)?)?;
                let is_scalar = matches!(self.get(element), Some(Type::Bool | Type::Int(_) | Type::Float(_)));
                match own.operand(1)? {
                    count @ (2 | 3 | 4 | 8 | 16) if is_scalar => Type::Vector(element, count),
                    count => {
                        return Err(own.error(format!("vectors of {count} such elements are not supported")));
                    }
                }
            }
            Op::TypeArray => {
                let element = known(self, own.operand(0)?)?;
                let count = length(own.operand(1)?);
                Type::Array(element, count.ok_or_else(|| own.error("the length is no constant integer"))?)
            }
            Op::TypeStruct => {
                Type::Struct(own.operands.iter().map(|id| known(self, *id)).collect::<Result<_>>()?)
            }
            Op::TypePointer => {
                self.forward.remove(&own.result);
                Type::Pointer(storage_class(own, own.operand(0)?)?, own.operand(1)?)
            }
            Op::TypeFunction => {
                let result = known(self, own.operand(0)?)?;
                let parameters = own.operands_from(1)?;
                Type::Function(result, parameters.iter().map(|id| known(self, *id)).collect::<Result<_>>()?)
            }
            Op::TypeImage => {
                let [_, dim, depth, arrayed, multisampled, sampled, format] =
                    *own.operands.first_chunk().ok_or_else(|| own.error("it has too few operands"))?;
                let access = own.operands.get(7).copied().unwrap_or(0);
                Type::Image(Image { dim, depth, arrayed, multisampled, sampled, format, access })
            }
            Op::TypeSampler => Type::Sampler,
            Op::TypeSampledImage => Type::SampledImage(known(self, own.operand(0)?)?),
            Op::TypeEvent => Type::Event,
            Op::TypeOpaque => Type::Opaque,
            _ => return Err(own.error("it is not supported outside of functions")),
        };
        let text = self.write(own.result, &ty, packed);
        if self.rows.insert(own.result, (ty, text)).is_some() {
            return Err(own.error(format!("{} is defined twice", own.result)));
        }
        Ok(())
    }

    fn write(&mut self, id: Id, ty: &Type, packed: bool) -> String {
        match ty {
            Type::Void | Type::Function(..) => "void".into(),
            Type::Bool => "i1".into(),
            Type::Int(width) => format!("i{width}"),
            Type::Float(16) => "half".into(),
            Type::Float(32) => "float".into(),
            Type::Float(_) => "double".into(),
            Type::Vector(element, count) => format!("<{count} x {}>", self.text(*element)),
            Type::Array(element, count) => format!("[{count} x {}]", self.text(*element)),
            Type::Struct(members) => {
                let list: Vec<&str> = members.iter().map(|member| self.text(*member)).collect();
                let (open, close) = if packed { ("<{", "}>") } else { ("{", "}") };
                let name = format!("%struct.{id}");
                let _ = writeln!(self.definitions, "{name} = type {open} {} {close}", list.join(", "));
                name
            }
            Type::Pointer(class, _) => pointer(*class),
            Type::Image(image) => {
                let Image { dim, depth, arrayed, multisampled, sampled, format, access } = image;
                format!(
                    "target(\"spirv.Image\", void, {dim}, {depth}, {arrayed}, {multisampled}, {sampled}, {format}, {access})"
                )
            }
            Type::Sampler => "target(\"spirv.Sampler\")".into(),
            // It is never a value: an operation takes image and sampler.
            Type::SampledImage(_) => "void".into(),
            Type::Event => "target(\"spirv.Event\")".into(),
            Type::Opaque => "ptr".into(),
        }
    }
}

fn storage_class(own: &Instruction<'_>, number: u32) -> Result<StorageClass> {
    let class = StorageClass::from_u32(number).filter(|class| address_space(*class).is_some());
    class.ok_or_else(|| own.error(format!("storage class {number} is not supported")))
}

/// The address space of a storage class, as clang numbers them for SPIR.
pub(crate) fn address_space(class: StorageClass) -> Option<u32> {
    match class {
        StorageClass::Function | StorageClass::Private => Some(0),
        StorageClass::CrossWorkgroup | StorageClass::Input => Some(1),
        StorageClass::UniformConstant => Some(2),
        StorageClass::Workgroup => Some(3),
        StorageClass::Generic => Some(4),
        _ => None,
    }
}

/// The type of pointers.
pub(crate) fn pointer(class: StorageClass) -> String {
    match address_space(class) {
        None | Some(0) => "ptr".into(),
        Some(space) => format!("ptr addrspace({space})"),
    }
}
