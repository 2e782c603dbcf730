//! Addresses: variables, allocas and `getelementptr`.

use gencl_program::{DataSection, PushSource};

use super::Failure;
use super::element_pointer::{Index, Indices, indices};
use super::offset::without_constant;
use super::translator::Translator;
use super::types::{Scalar, address_space, scalar};
use crate::ir::variable::Place;
use crate::ir::{BinaryOp, Input, Reg, Space, Type};
use crate::llvm::prepare::ARGUMENT_PREFIX;
use crate::llvm::view::{Opcode, TypeKind, Value, ValueKind};

impl<'m> Translator<'_, 'm> {
    /// The address space of a pointer.
    pub fn space(&self, pointer: Value<'m>) -> Result<Space, Failure> {
        match scalar(self.module, pointer.ty())? {
            Scalar::Pointer(space, _) => Ok(space),
            _ => Err(Failure::new(format!("{} is not a pointer", pointer.text()))),
        }
    }

    /// The address of a program-scope or `__local` variable, or of a by-value argument.
    pub fn variable_address(&mut self, variable: Value<'m>) -> Result<Reg, Failure> {
        let TypeKind::Pointer(number) = variable.ty().kind() else {
            return Err(Failure::new(format!("{} has no address", variable.name())));
        };
        match address_space(number)? {
            space @ (Space::Constant | Space::Global) => match argument_number(variable) {
                Some(argument) => Ok(self.argument_address(argument)),
                None => {
                    let (section, place) = self.variables.place(self.module, variable)?;
                    self.declarations.global(self.sources, variable, Place::Data(section, place));
                    let source = match section {
                        DataSection::Constants => PushSource::ConstantBase,
                        DataSection::Variables => PushSource::VariableBase,
                    };
                    let base = self.input(Input::Push(source), self.pointers.address(space).family());
                    Ok(self.offset(space, base, place.into()))
                }
            },
            Space::Local => {
                let place = self.local_place(variable);
                Ok(self.immediate(Type::U32, place.into()))
            }
            Space::Private => Err(Failure::new(format!(
                "program-scope variables must be __constant or __global ({})",
                variable.name()
            ))),
        }
    }

    /// The address of an argument in the argument block in memory.
    fn argument_address(&mut self, argument: u32) -> Reg {
        let kernel = &mut self.function.kernel;
        kernel.argument_block_size =
            kernel.arguments.last().map_or(0, |last| (last.block_offset + last.size).next_multiple_of(8));
        let place = kernel.arguments[argument as usize].block_offset;
        let family = self.pointers.address(Space::Constant).family();
        let base = self.input(Input::Push(PushSource::ArgumentBlock), family);
        self.offset(Space::Constant, base, place.into())
    }

    fn local_place(&mut self, variable: Value<'m>) -> u32 {
        if let Some(&place) = self.local.get(&variable) {
            return place;
        }
        let ty = variable.value_type();
        let align = variable.global_alignment().max(self.module.align_of(ty)).max(4);
        let place = self.function.local_size.next_multiple_of(align);
        self.function.local_size = place + self.module.size_of(ty) as u32;
        self.local.insert(variable, place);
        let kernel = self.declarations.kernel;
        self.declarations.global(self.sources, variable, Place::Local { kernel, offset: place });
        place
    }

    /// Allocates an alloca in private memory.
    pub fn alloca(&mut self, instruction: Value<'m>) -> Result<Reg, Failure> {
        let ty = instruction.allocated_type();
        let count = instruction.operand(0).integer().unwrap_or(u64::MAX);
        let size = self.module.size_of(ty).checked_mul(count).and_then(|size| u32::try_from(size).ok());
        let size = size.ok_or_else(|| Failure::new("variable-length arrays are not supported"))?;
        let align = instruction.alignment().max(4);
        let place = self.function.private_size.next_multiple_of(align);
        let end = place.checked_add(size.next_multiple_of(4));
        self.function.private_size = end.ok_or_else(|| Failure::new("more than 4 GB of private memory"))?;
        self.private.insert(instruction, place);
        self.declarations.private(self.sources, instruction, place);
        Ok(self.immediate(Type::U32, place.into()))
    }

    /// base + constant
    pub fn offset(&mut self, space: Space, base: Reg, offset: i64) -> Reg {
        if offset == 0 {
            return base;
        }
        let ty = self.pointers.address(space);
        self.binary_constant(BinaryOp::Add, ty, base, offset as u64)
    }

    /// A `getelementptr`.
    pub fn element_address(&mut self, instruction: Value<'m>) -> Result<Reg, Failure> {
        if matches!(instruction.ty().kind(), TypeKind::Vector(..)) {
            return Err(Failure::new("vectors of pointers are not supported"));
        }
        // A generic address is computed like a global one, which keeps its tag.
        let space = match scalar(self.module, instruction.ty())? {
            Scalar::Generic => Space::Global,
            _ => self.space(instruction)?,
        };
        let ty = self.pointers.address(space);
        let pointer = instruction.operand(0);
        if ty == Type::U64
            && let Some(place) = self.element_place(instruction)?
        {
            if instruction.kind() == ValueKind::Instruction {
                self.places.insert(instruction, place);
            }
            return Ok(self.place_address(place));
        }
        let mut address = self.one(pointer)?;
        let mut constant = 0i64;
        for (index, scale) in self.indices(instruction)? {
            match index {
                Index::Constant(number) => {
                    constant = constant.wrapping_add(number.wrapping_mul(scale as i64))
                }
                Index::Value(value) => {
                    let (value, number) =
                        if ty == Type::U32 { without_constant(self.module, value) } else { (value, 0) };
                    constant = constant.wrapping_add(number.wrapping_mul(scale as i64));
                    let index = self.index(value, ty)?;
                    let scaled = self.scaled(ty, index, scale);
                    address = self.binary(BinaryOp::Add, ty, address, scaled);
                }
            }
        }
        Ok(self.offset(space, address, constant))
    }

    /// index x constant
    pub fn scaled(&mut self, ty: Type, index: Reg, scale: u64) -> Reg {
        match scale {
            1 => index,
            _ if scale.is_power_of_two() => {
                self.binary_constant(BinaryOp::Shl, ty, index, scale.trailing_zeros().into())
            }
            _ => self.binary_constant(BinaryOp::Mul, ty, index, scale),
        }
    }

    /// An index as wide as an address, sign-extended.
    fn index(&mut self, value: Value<'m>, ty: Type) -> Result<Reg, Failure> {
        let register = self.one(value)?;
        let own = scalar(self.module, value.ty())?;
        let register = self.extended(own, register, true);
        Ok(if own.family() == ty.family() {
            register
        } else {
            self.convert(super::types::signed(ty), own.signed(), register)
        })
    }

    fn indices(&self, instruction: Value<'m>) -> Result<Indices<'m>, Failure> {
        indices(self.module, instruction)
    }

    /// For a pointer at a constant offset in a by-value argument: the argument's index, and the offset in
    /// bytes.
    pub fn argument_place(&self, pointer: Value<'m>) -> Option<(u32, u32)> {
        let mut pointer = pointer;
        let mut place = 0i64;
        loop {
            match pointer.kind() {
                ValueKind::GlobalVariable => {
                    return Some((argument_number(pointer)?, u32::try_from(place).ok()?));
                }
                ValueKind::Instruction | ValueKind::ConstantExpression
                    if pointer.opcode() == Opcode::LLVMGetElementPtr =>
                {
                    for (index, scale) in self.indices(pointer).ok()? {
                        let Index::Constant(number) = index else { return None };
                        place = place.checked_add(number.checked_mul(scale as i64)?)?;
                    }
                    pointer = pointer.operand(0);
                }
                _ => return None,
            }
        }
    }
}

/// The index of the by-value argument that a variable represents.
fn argument_number(variable: Value) -> Option<u32> {
    let name = variable.name();
    let (number, _) = name.strip_prefix(ARGUMENT_PREFIX)?.split_once('.')?;
    number.parse().ok()
}
