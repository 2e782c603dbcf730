//! LLVM types in registers and in memory.

use smallvec::SmallVec;

use super::Failure;
use crate::ir::{Family, Space, Type as IrType};
use crate::llvm::generic::GENERIC;
use crate::llvm::view::{Module, Type, TypeKind};

/// The type of a value in one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// A truth value: `i1`.
    Bool,
    /// An integer of 2 to 64 bits. Bits of the register above these are undefined.
    Integer(u32),
    /// 16-bit float.
    Half,
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// An address.
    Pointer(Space, Pointers),
    /// A generic address: its upper three bits tell the space.
    Generic,
}

impl Scalar {
    /// Registers that hold it.
    pub fn family(self) -> Family {
        self.unsigned().family()
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Integer(bits) => bits,
            other => other.unsigned().bits(),
        }
    }

    /// The unsigned integer type that is at least as wide as the value.
    pub fn unsigned(self) -> IrType {
        match self {
            Scalar::Bool => IrType::Bool,
            Scalar::Integer(..=8) => IrType::U8,
            Scalar::Integer(..=16) | Scalar::Half => IrType::U16,
            Scalar::Integer(..=32) | Scalar::Float => IrType::U32,
            Scalar::Integer(_) | Scalar::Double | Scalar::Generic => IrType::U64,
            Scalar::Pointer(space, pointers) => pointers.address(space),
        }
    }

    /// The same, signed.
    pub fn signed(self) -> IrType {
        signed(self.unsigned())
    }

    /// The type of arithmetic: floats as floats, integers unsigned.
    pub fn arithmetic(self) -> IrType {
        match self {
            Scalar::Half => IrType::F16,
            Scalar::Float => IrType::F32,
            Scalar::Double => IrType::F64,
            other => other.unsigned(),
        }
    }
}

/// The size of pointers, a property of the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pointers {
    /// `__global` and `__constant` addresses have 64 bits, as all pointers have in memory.
    Wide,
    /// All addresses have 32 bits.
    Narrow,
}

impl Pointers {
    /// Those of a module.
    pub fn of(module: Module) -> Self {
        if module.pointer_size() == 8 { Pointers::Wide } else { Pointers::Narrow }
    }

    /// The type in which addresses of a space are computed.
    pub fn address(self, space: Space) -> IrType {
        match (self, space) {
            (Pointers::Wide, Space::Global | Space::Constant) => IrType::U64,
            (Pointers::Narrow, _) | (_, Space::Local | Space::Private) => IrType::U32,
        }
    }

    /// The type of a pointer in memory.
    pub fn in_memory(self) -> IrType {
        match self {
            Pointers::Wide => IrType::U64,
            Pointers::Narrow => IrType::U32,
        }
    }
}

/// The signed type of the same width.
pub fn signed(ty: IrType) -> IrType {
    match ty {
        IrType::U8 => IrType::S8,
        IrType::U16 => IrType::S16,
        IrType::U32 => IrType::S32,
        IrType::U64 => IrType::S64,
        other => other,
    }
}

/// The unsigned integer type of 8, 16, 32 or 64 bits.
pub fn unsigned_of(bits: u32) -> IrType {
    Scalar::Integer(bits).unsigned()
}

/// Bits of a piece of an integer of more than 64 bits ([`super::wide`]).
pub const PIECE: u32 = 32;

/// Pieces of an integer of more than 64 bits, or `None` for other types.
pub fn pieces(ty: Type) -> Option<u32> {
    match ty.kind() {
        TypeKind::Integer(bits) if bits > 64 && bits.is_multiple_of(PIECE) => Some(bits / PIECE),
        _ => None,
    }
}

/// The scalars of a type, in order, each with its offset in memory in bytes.
pub type Layout = SmallVec<[(Scalar, u32); 4]>;

/// The scalars of a type.
pub fn layout<'m>(module: Module<'m>, ty: Type<'m>) -> Result<Layout, Failure> {
    let mut result = Layout::new();
    append(module, ty, 0, &mut result)?;
    Ok(result)
}

/// The scalar that a type is.
pub fn scalar(module: Module, ty: Type) -> Result<Scalar, Failure> {
    match ty.kind() {
        TypeKind::Integer(1) => Ok(Scalar::Bool),
        TypeKind::Integer(bits @ 2..=64) => Ok(Scalar::Integer(bits)),
        TypeKind::Half => Ok(Scalar::Half),
        TypeKind::Float => Ok(Scalar::Float),
        TypeKind::Double => Ok(Scalar::Double),
        TypeKind::Pointer(GENERIC) => Ok(Scalar::Generic),
        TypeKind::Pointer(space) => Ok(Scalar::Pointer(address_space(space)?, Pointers::of(module))),
        _ => Err(Failure::new(format!("values of type {} are not supported", ty.text()))),
    }
}

/// The address space with a number in LLVM IR.
pub fn address_space(number: u32) -> Result<Space, Failure> {
    match number {
        0 => Ok(Space::Private),
        1 => Ok(Space::Global),
        2 => Ok(Space::Constant),
        3 => Ok(Space::Local),
        GENERIC => Err(Failure::new("a generic pointer where the address space must be known")),
        _ => Err(Failure::new(format!("address space {number} does not exist"))),
    }
}

fn append<'m>(module: Module<'m>, ty: Type<'m>, at: u64, result: &mut Layout) -> Result<(), Failure> {
    match ty.kind() {
        // Asynchronous copies are executed immediately, so that all of their events are alike.
        TypeKind::Target if ty.is_event() => result.push((Scalar::Integer(32), place(at)?)),
        // Images and samplers have no value, as no function takes them.
        TypeKind::Void | TypeKind::Target => {}
        TypeKind::Integer(65..) => {
            let count = pieces(ty)
                .ok_or_else(|| Failure::new(format!("values of type {} are not supported", ty.text())))?;
            for i in 0..count {
                result.push((Scalar::Integer(PIECE), place(at + u64::from(i * PIECE / 8))?));
            }
        }
        TypeKind::Vector(count, element) if pieces(element).is_some() => {
            let step = module.store_size_of(element);
            for i in 0..u64::from(count) {
                append(module, element, at + i * step, result)?;
            }
        }
        TypeKind::Vector(count, element) => {
            let scalar = scalar(module, element)?;
            // Elements of a vector are contiguous, whatever their alignment; those of <n x i1> are bits,
            // which exist in registers only.
            let bytes = scalar.bits().div_ceil(8);
            for i in 0..count {
                result.push((scalar, place(at + u64::from(i * bytes))?));
            }
        }
        TypeKind::Array(count, element) => {
            let step = module.size_of(element);
            if count > 256 {
                return Err(Failure::new(format!("values of type {} are not supported", ty.text())));
            }
            for i in 0..count {
                append(module, element, at + i * step, result)?;
            }
        }
        TypeKind::Struct(count) => {
            for field in 0..count {
                append(module, ty.field(field), at + module.field_offset(ty, field), result)?;
            }
        }
        _ => result.push((scalar(module, ty)?, place(at)?)),
    }
    Ok(())
}

fn place(offset: u64) -> Result<u32, Failure> {
    u32::try_from(offset).map_err(|_| Failure::new("a value of more than 4 GB"))
}
