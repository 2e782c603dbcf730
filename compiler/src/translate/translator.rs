//! The state of a kernel's translation.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Failure;
use super::data::{Variables, scalar_bits};
use super::element_pointer::ObjectOffset;
use super::location::Sources;
use super::types::{PIECE, Pointers, Scalar, layout, pieces, scalar};
use super::variables::Declarations;
use crate::conversion::Conversion;
use crate::ir::{
    BinaryOp, BlockId, Condition, Family, Function, Input, Instruction, Location, Op, Reg, Rounding,
    TernaryOp, Type, UnaryOp,
};
use crate::llvm::view::{Block, Module, TypeKind, Value, ValueKind};

/// The registers of a value: one for each scalar in it.
pub type Regs = SmallVec<[Reg; 4]>;

/// The translation of a kernel. The files of this folder have its methods, by the construct that they
/// translate.
pub struct Translator<'a, 'm> {
    pub module: Module<'m>,
    /// The size of pointers.
    pub pointers: Pointers,
    pub kernel: Value<'m>,
    pub variables: &'a mut Variables<'m>,
    pub sources: &'a mut Sources<'m>,
    pub declarations: &'a mut Declarations<'m>,
    pub function: Function,
    /// The current block.
    pub block: BlockId,
    /// The location of the instructions that are added.
    pub location: Location,
    /// Inputs of the launch, which the prologue reads. A place of an argument may be read as several types.
    inputs: FxHashMap<(Input, Family), Reg>,
    pub prologue: Vec<Instruction>,
    pub values: FxHashMap<Value<'m>, Regs>,
    pub blocks: FxHashMap<Block<'m>, BlockId>,
    /// The registers of each phi that predecessors write. They are copied to the phi's own registers at the
    /// beginning of its block, so that no predecessor overwrites a phi that is live on another path.
    pub phi_places: FxHashMap<Value<'m>, Regs>,
    /// Constants with a register in the current block.
    immediates: FxHashMap<(Type, u64), Reg>,
    /// Offsets of allocas in private memory.
    pub private: FxHashMap<Value<'m>, u32>,
    /// Offsets of `__local` variables in local memory.
    pub local: FxHashMap<Value<'m>, u32>,
    /// Offset of the memory of work-group functions in local memory, if it is allocated.
    pub group_memory: Option<u32>,
    /// Offset of the lock in local memory, if it is allocated.
    pub local_lock: Option<u32>,
    /// `getelementptr` instructions whose base objects are known.
    pub places: FxHashMap<Value<'m>, ObjectOffset>,
}

impl<'a, 'm> Translator<'a, 'm> {
    /// A translation with an empty entry block.
    pub fn new(
        module: Module<'m>,
        kernel: Value<'m>,
        variables: &'a mut Variables<'m>,
        sources: &'a mut Sources<'m>,
        declarations: &'a mut Declarations<'m>,
    ) -> Self {
        let function = Function::new(&kernel.name());
        let block = function.layout[0];
        Translator {
            module,
            pointers: Pointers::of(module),
            kernel,
            variables,
            sources,
            declarations,
            function,
            block,
            location: Location::NONE,
            inputs: FxHashMap::default(),
            prologue: Vec::new(),
            values: FxHashMap::default(),
            blocks: FxHashMap::default(),
            phi_places: FxHashMap::default(),
            immediates: FxHashMap::default(),
            private: FxHashMap::default(),
            local: FxHashMap::default(),
            group_memory: None,
            local_lock: None,
            places: FxHashMap::default(),
        }
    }
}

impl<'m> Translator<'_, 'm> {
    /// Scalars of a value, in order.
    pub fn scalars(&self, value: Value<'m>) -> Result<SmallVec<[Scalar; 4]>, Failure> {
        Ok(layout(self.module, value.ty())?.into_iter().map(|(scalar, _)| scalar).collect())
    }

    pub fn new_registers(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let scalars = self.scalars(value)?;
        Ok(scalars.into_iter().map(|scalar| self.function.new_register(scalar.family())).collect())
    }

    /// Sets the registers of a value.
    pub fn define(&mut self, value: Value<'m>, registers: Regs) {
        self.values.insert(value, registers);
    }

    /// The registers of a value; constants are materialised in the current block.
    pub fn value(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        if let Some(registers) = self.values.get(&value) {
            return Ok(registers.clone());
        }
        if value.kind() == ValueKind::ConstantInteger
            && let Some(count) = pieces(value.ty())
        {
            let piece = |index| value.constant_bits(index * PIECE, PIECE).ok_or_else(|| unsupported(value));
            return (0..count).map(|index| Ok(self.immediate(Type::U32, piece(index)?))).collect();
        }
        match value.kind() {
            ValueKind::ConstantInteger | ValueKind::ConstantFloat => {
                let scalar = scalar(self.module, value.ty())?;
                let bits = scalar_bits(self.module, value)?;
                Ok(Regs::from_elem(self.scalar_constant(scalar, bits), 1))
            }
            ValueKind::Undefined | ValueKind::Zero => {
                let scalars = self.scalars(value)?;
                Ok(scalars.into_iter().map(|scalar| self.scalar_constant(scalar, 0)).collect())
            }
            ValueKind::ConstantAggregate => {
                let count = match value.ty().kind() {
                    TypeKind::Vector(count, _) | TypeKind::Struct(count) => count,
                    TypeKind::Array(count, _) => count as u32,
                    _ => 0,
                };
                let mut registers = Regs::new();
                for index in 0..count {
                    let element = value.element(index).ok_or_else(|| unsupported(value))?;
                    registers.extend(self.value(element)?);
                }
                Ok(registers)
            }
            ValueKind::ConstantExpression => self.expression(value),
            ValueKind::GlobalVariable => Ok(Regs::from_elem(self.variable_address(value)?, 1)),
            ValueKind::Argument => self.argument(value),
            _ => Err(unsupported(value)),
        }
    }

    /// The register of a value that has exactly one.
    pub fn one(&mut self, value: Value<'m>) -> Result<Reg, Failure> {
        let registers = self.value(value)?;
        match registers.as_slice() {
            &[register] => Ok(register),
            _ => Err(unsupported(value)),
        }
    }

    fn scalar_constant(&mut self, scalar: Scalar, bits: u64) -> Reg {
        match scalar {
            Scalar::Float | Scalar::Half | Scalar::Double => self.immediate(scalar.arithmetic(), bits),
            _ => self.immediate(scalar.unsigned(), bits),
        }
    }

    /// The register of an input, which the prologue reads.
    pub fn input(&mut self, input: Input, family: Family) -> Reg {
        if let Some(&register) = self.inputs.get(&(input, family)) {
            return register;
        }
        let register = self.function.new_register(family);
        self.prologue.push(Instruction::new(Op::Input(input), [register], []));
        self.inputs.insert((input, family), register);
        register
    }
}

/// Building instructions at the end of the current block.
impl Translator<'_, '_> {
    pub fn emit(&mut self, op: Op, dsts: &[Reg], srcs: &[Reg]) {
        let instruction = Instruction::new(op, dsts.iter().copied(), srcs.iter().copied()).at(self.location);
        self.function.block_mut(self.block).instructions.push(instruction);
    }

    fn result(&mut self, family: Family, op: Op, srcs: &[Reg]) -> Reg {
        let register = self.function.new_register(family);
        self.emit(op, &[register], srcs);
        register
    }

    pub fn immediate(&mut self, ty: Type, bits: u64) -> Reg {
        let bits = bits & ty.mask();
        if let Some(&register) = self.immediates.get(&(ty, bits)) {
            return register;
        }
        let register = self.result(ty.family(), Op::Immediate { ty, bits }, &[]);
        self.immediates.insert((ty, bits), register);
        register
    }

    pub fn unary(&mut self, op: UnaryOp, ty: Type, a: Reg) -> Reg {
        self.result(ty.family(), Op::Unary(op, ty), &[a])
    }

    pub fn binary(&mut self, op: BinaryOp, ty: Type, a: Reg, b: Reg) -> Reg {
        self.result(ty.family(), Op::Binary(op, ty), &[a, b])
    }

    /// A binary operation whose second operand is a constant.
    pub fn binary_constant(&mut self, op: BinaryOp, ty: Type, a: Reg, b: u64) -> Reg {
        let b = self.immediate(ty, b);
        self.binary(op, ty, a, b)
    }

    pub fn ternary(&mut self, op: TernaryOp, ty: Type, a: Reg, b: Reg, c: Reg) -> Reg {
        self.result(ty.family(), Op::Ternary(op, ty), &[a, b, c])
    }

    pub fn compare(&mut self, condition: Condition, ty: Type, a: Reg, b: Reg) -> Reg {
        self.result(Family::Bool, Op::Compare(condition, ty), &[a, b])
    }

    pub fn select(&mut self, ty: Type, condition: Reg, a: Reg, b: Reg) -> Reg {
        self.result(ty.family(), Op::Select(ty), &[condition, a, b])
    }

    pub fn convert(&mut self, to: Type, from: Type, a: Reg) -> Reg {
        self.converted(Conversion { to, from, rounding: Rounding::Default, saturate: false }, a)
    }

    pub fn convert_saturated(&mut self, to: Type, from: Type, a: Reg) -> Reg {
        self.converted(Conversion { to, from, rounding: Rounding::Default, saturate: true }, a)
    }

    pub fn converted(&mut self, conversion: Conversion, a: Reg) -> Reg {
        let Conversion { to, from, rounding, saturate } = conversion;
        self.result(to.family(), Op::Convert { to, from, rounding, saturate }, &[a])
    }

    /// Creates a block after the current one in the layout, and makes it the current one.
    pub fn start_block(&mut self) -> BlockId {
        let block = self.function.new_block();
        let position = self.function.layout.iter().position(|&other| other == self.block);
        self.function.layout.insert(position.map_or(0, |position| position + 1), block);
        self.continue_in(block);
        block
    }

    /// Changes the current block.
    pub fn continue_in(&mut self, block: BlockId) {
        self.block = block;
        self.immediates.clear();
    }
}

fn unsupported(value: Value) -> Failure {
    Failure::new(format!("{} is not supported", value.text()))
}
