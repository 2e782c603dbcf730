//! Loads, stores and atomic operations.
//!
//! The IR's accesses are aligned to the size of their elements and have at most four dwords; other accesses
//! are split.

use gencl_program::PushSource;
use smallvec::SmallVec;

use super::Failure;
use super::translator::{Regs, Translator};
use super::types::{Layout, Pointers, Scalar, layout, unsigned_of};
use crate::ir::{AtomicOp, BinaryOp, Condition, Input, Op, Reg, Space, Type};
use crate::llvm::atomics::operation;
use crate::llvm::generic::GENERIC;
use crate::llvm::view::{Module, TypeKind, Value};

/// Maximum number of elements of one access: those of an untyped message.
const GROUP: usize = 4;
/// Their size in bytes, if they are dwords. Bytes and words up to this size are one access as well, if it is
/// aligned as dwords.
const GROUP_BYTES: usize = 16;

impl<'m> Translator<'_, 'm> {
    pub fn load_instruction(&mut self, instruction: Value<'m>) -> Result<Regs, Failure> {
        let pointer = instruction.operand(0);
        let layout = self.memory_layout(instruction)?;
        if let Some((argument, place)) = self.argument_place(pointer) {
            return Ok(self.argument_part(argument, place, &layout));
        }
        let space = self.space(pointer)?;
        let address = self.one(pointer)?;
        Ok(self.load(space, address, instruction.alignment(), &layout))
    }

    pub fn store_instruction(&mut self, instruction: Value<'m>) -> Result<(), Failure> {
        let (value, pointer) = (instruction.operand(0), instruction.operand(1));
        let layout = self.memory_layout(value)?;
        let space = self.space(pointer)?;
        if space == Space::Constant {
            return Err(Failure::new("a store to constant memory"));
        }
        let registers = self.value(value)?;
        let address = self.one(pointer)?;
        self.store(space, address, instruction.alignment(), &layout, &registers);
        Ok(())
    }

    fn memory_layout(&self, value: Value<'m>) -> Result<Layout, Failure> {
        let layout = layout(self.module, value.ty())?;
        if layout.len() > 1 && layout.iter().any(|(scalar, _)| memory_type(*scalar).is_none()) {
            return Err(Failure::new(format!("vectors of type {} in memory", value.ty().text())));
        }
        Ok(layout)
    }

    /// A load from an argument at a constant offset, as pushed constants.
    fn argument_part(&mut self, argument: u32, place: u32, layout: &Layout) -> Regs {
        layout
            .iter()
            .map(|&(scalar, offset)| self.argument_scalar(argument, place + offset, scalar))
            .collect()
    }

    /// A scalar of an argument. Registers have 8, 16, 32 or 64 bits; an integer of another width, which LLVM makes of
    /// what remains of a field, is put together from pieces, as the argument may end where it ends.
    fn argument_scalar(&mut self, argument: u32, offset: u32, scalar: Scalar) -> Reg {
        let mut push =
            |offset, ty: Type| self.input(Input::Push(PushSource::Value { argument, offset }), ty.family());
        if let Some(ty) = memory_type(scalar) {
            let register = push(offset, ty);
            return self.loaded_form(scalar, register);
        }
        let (piece, count) = pieces(scalar, alignment_at(8, offset));
        let parts: Regs = (0..count).map(|i| push(offset + i * piece / 8, unsigned_of(piece))).collect();
        self.assemble(&parts, piece, memory_integer(scalar))
    }

    /// Whether an integer is not 0.
    pub fn truth(&mut self, register: Reg, ty: Type) -> Reg {
        let zero = self.immediate(ty, 0);
        self.compare(Condition::NotEqual, ty, register, zero)
    }

    /// Loads scalars at the offsets of a layout.
    pub fn load(&mut self, space: Space, address: Reg, align: u32, layout: &Layout) -> Regs {
        let mut result = Regs::new();
        for group in groups(layout, align) {
            let (scalar, offset) = group[0];
            let (piece, count) = pieces(scalar, alignment_at(align, offset));
            let address = self.offset(space, address, offset.into());
            if let (1, Some(ty)) = (count, memory_type(scalar)) {
                let registers: SmallVec<[Reg; GROUP]> =
                    group.iter().map(|_| self.function.new_register(ty.family())).collect();
                let align = alignment_at(align, offset);
                self.emit(Op::Load { space, ty, align }, &registers, &[address]);
                for register in registers {
                    result.push(self.loaded_form(scalar, register));
                }
                continue;
            }
            for (scalar, own) in group {
                let address = self.offset(space, address, i64::from(own - offset));
                let align = alignment_at(align, *own);
                let parts = self.load_pieces(space, address, align, piece, count);
                let whole = self.assemble(&parts, piece, memory_integer(*scalar));
                result.push(self.loaded_form(*scalar, whole));
            }
        }
        result
    }

    fn load_pieces(&mut self, space: Space, address: Reg, align: u32, piece: u32, count: u32) -> Regs {
        let ty = unsigned_of(piece);
        let mut parts = Regs::new();
        for first in (0..count).step_by(GROUP) {
            let here = (count - first).min(GROUP as u32);
            let registers: SmallVec<[Reg; GROUP]> =
                (0..here).map(|_| self.function.new_register(ty.family())).collect();
            let offset = first * piece / 8;
            let address = self.offset(space, address, offset.into());
            let align = alignment_at(align, offset);
            self.emit(Op::Load { space, ty, align }, &registers, &[address]);
            parts.extend(registers);
        }
        parts
    }

    /// Stores scalars to the offsets of a layout.
    pub fn store(&mut self, space: Space, address: Reg, align: u32, layout: &Layout, registers: &[Reg]) {
        let mut next = 0;
        for group in groups(layout, align) {
            let values = &registers[next..next + group.len()];
            next += group.len();
            let (scalar, offset) = group[0];
            let (piece, count) = pieces(scalar, alignment_at(align, offset));
            let address = self.offset(space, address, offset.into());
            if let (1, Some(ty)) = (count, memory_type(scalar)) {
                let mut sources: SmallVec<[Reg; 5]> = SmallVec::from_slice(&[address]);
                for &value in values {
                    sources.push(self.stored_form(scalar, value));
                }
                let align = alignment_at(align, offset);
                self.emit(Op::Store { space, ty, align }, &[], &sources);
                continue;
            }
            for ((scalar, own), &value) in group.iter().zip(values) {
                let address = self.offset(space, address, i64::from(own - offset));
                let align = alignment_at(align, *own);
                let whole = self.stored_form(*scalar, value);
                let parts = self.disassemble(whole, memory_integer(*scalar), piece, count);
                self.store_pieces(space, address, align, piece, &parts);
            }
        }
    }

    fn store_pieces(&mut self, space: Space, address: Reg, align: u32, piece: u32, parts: &[Reg]) {
        for (first, group) in parts.chunks(GROUP).enumerate() {
            let offset = (first * GROUP) as u32 * piece / 8;
            let mut sources: SmallVec<[Reg; 5]> =
                SmallVec::from_slice(&[self.offset(space, address, offset.into())]);
            sources.extend_from_slice(group);
            let align = alignment_at(align, offset);
            self.emit(Op::Store { space, ty: unsigned_of(piece), align }, &[], &sources);
        }
    }

    fn loaded_form(&mut self, scalar: Scalar, register: Reg) -> Reg {
        match scalar {
            Scalar::Bool => self.truth(register, Type::U8),
            // 32-bit pointers have 64 bits in memory, according to `sizeof`.
            Scalar::Pointer(Space::Local | Space::Private, Pointers::Wide) => {
                self.convert(Type::U32, Type::U64, register)
            }
            _ => register,
        }
    }

    fn stored_form(&mut self, scalar: Scalar, register: Reg) -> Reg {
        match scalar {
            Scalar::Bool => self.convert(Type::U8, Type::Bool, register),
            Scalar::Pointer(Space::Local | Space::Private, Pointers::Wide) => {
                self.convert(Type::U64, Type::U32, register)
            }
            _ => self.extended(scalar, register, false),
        }
    }

    pub fn atomic(&mut self, instruction: Value<'m>) -> Result<Regs, Failure> {
        let (op, signed) = operation(instruction)
            .ok_or_else(|| Failure::new(format!("{} is not supported", instruction.text())))?;
        let (pointer, operand) = (instruction.operand(0), instruction.operand(1));
        let scalar = atomic_scalar(self.module, operand)?;
        let space = self.atomic_space(pointer)?;
        let (address, operand) = (self.one(pointer)?, self.one(operand)?);
        let ty = if signed { scalar.signed() } else { scalar.unsigned() };
        let before = self.function.new_register(scalar.family());
        let dsts: &[Reg] = if instruction.is_used() { &[before] } else { &[] };
        self.emit(Op::Atomic { op, space, ty }, dsts, &[address, operand]);
        Ok(Regs::from_elem(before, 1))
    }

    /// Translates `cmpxchg`: the result is the previous value, and whether it was the expected one.
    pub fn compare_exchange(&mut self, instruction: Value<'m>) -> Result<Regs, Failure> {
        let [pointer, expected, new] = [0, 1, 2].map(|i| instruction.operand(i));
        let scalar = atomic_scalar(self.module, new)?;
        let space = self.atomic_space(pointer)?;
        let (address, expected, new) = (self.one(pointer)?, self.one(expected)?, self.one(new)?);
        let before = self.function.new_register(scalar.family());
        let ty = scalar.unsigned();
        self.emit(Op::Atomic { op: AtomicOp::CmpXchg, space, ty }, &[before], &[address, expected, new]);
        let success = self.compare(Condition::Equal, ty, before, expected);
        Ok(Regs::from_slice(&[before, success]))
    }

    /// `__gencl_atomic_*`, by its name without that: operation, space, type.
    pub fn atomic_function(&mut self, name: &str, instruction: Value<'m>) -> Result<Regs, Failure> {
        let parts = |name: &str| {
            let (rest, ty) = name.rsplit_once('_')?;
            let (op, space) = rest.rsplit_once('_')?;
            Some((AtomicOp::from_name(op)?, Space::from_name(space)?, Type::from_name(ty)?))
        };
        let (op, space, ty) =
            parts(name).ok_or_else(|| Failure::new(format!("there is no atomic {name}")))?;
        let mut sources: SmallVec<[Reg; 3]> = SmallVec::new();
        for argument in instruction.call_arguments() {
            sources.push(self.one(argument)?);
        }
        let before = self.function.new_register(ty.family());
        let dsts: &[Reg] = if instruction.is_used() { &[before] } else { &[] };
        self.emit(Op::Atomic { op, space, ty }, dsts, &sources);
        Ok(Regs::from_elem(before, 1))
    }

    fn atomic_space(&self, pointer: Value<'m>) -> Result<Space, Failure> {
        match self.space(pointer)? {
            space @ (Space::Global | Space::Local) => Ok(space),
            _ => Err(Failure::new("atomic operations work on global and local memory only")),
        }
    }

    /// a + b as addresses of a space.
    pub fn add_address(&mut self, space: Space, a: Reg, b: Reg) -> Reg {
        self.binary(BinaryOp::Add, self.pointers.address(space), a, b)
    }
}

fn atomic_scalar(module: Module, value: Value) -> Result<Scalar, Failure> {
    match value.ty().kind() {
        TypeKind::Integer(32 | 64) | TypeKind::Float | TypeKind::Pointer(1 | GENERIC) => {
            super::types::scalar(module, value.ty())
        }
        _ => Err(Failure::new(format!("atomic operations on {} are not supported", value.ty().text()))),
    }
}

/// The type of a scalar in memory, if its width is 8, 16, 32 or 64 bits.
fn memory_type(scalar: Scalar) -> Option<Type> {
    match scalar {
        Scalar::Bool => Some(Type::U8),
        Scalar::Integer(bits) => matches!(bits, 8 | 16 | 32 | 64).then(|| scalar.unsigned()),
        Scalar::Pointer(_, pointers) => Some(pointers.in_memory()),
        Scalar::Generic => Some(Type::U64),
        Scalar::Half | Scalar::Float | Scalar::Double => Some(scalar.arithmetic()),
    }
}

/// The integer type in which a scalar is loaded and stored.
fn memory_integer(scalar: Scalar) -> Type {
    match scalar {
        Scalar::Bool => Type::U8,
        Scalar::Pointer(_, pointers) => pointers.in_memory(),
        other => other.unsigned(),
    }
}

/// Width in bits, and number, of the accesses to a scalar at an address of this alignment.
fn pieces(scalar: Scalar, align: u32) -> (u32, u32) {
    let bytes = match memory_type(scalar) {
        Some(ty) => ty.bits() / 8,
        None => scalar.bits().div_ceil(8),
    };
    let piece = align.min(1 << bytes.trailing_zeros());
    (piece * 8, bytes / piece)
}

/// The alignment in bytes at `offset` from an address of alignment `align`.
fn alignment_at(align: u32, offset: u32) -> u32 {
    let align = align.max(1);
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
}

/// Groups of contiguous scalars of one type, each for one access; `align` is that of the first.
fn groups(layout: &Layout, align: u32) -> impl Iterator<Item = &[(Scalar, u32)]> {
    let mut rest = layout.as_slice();
    std::iter::from_fn(move || {
        let &(scalar, offset) = rest.first()?;
        let step = memory_type(scalar).map_or(0, |ty| ty.bits() / 8);
        let follows = |length: usize| rest[length] == (scalar, offset + length as u32 * step);
        let most = rest.len().min(GROUP_BYTES);
        let run = (1..most).find(|length| step == 0 || !follows(*length)).unwrap_or(most);
        let packed = matches!(step, 1 | 2) && alignment_at(align, offset) >= 4;
        // Whole dwords, or at most one dword.
        let whole = if packed { run.min(GROUP_BYTES / step as usize) } else { 0 };
        let length = run.min(GROUP).max(whole - whole % GROUP);
        let (group, after) = rest.split_at(length);
        rest = after;
        Some(group)
    })
}
