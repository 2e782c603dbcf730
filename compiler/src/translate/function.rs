//! One kernel: values, blocks and phis.

use super::wide::{PIECE, pieces};
use rustc_hash::{FxHashMap, FxHashSet};

use smallvec::SmallVec;

use super::data::{Variables, scalar_bits};
use super::offset::Place;
use super::types::{Pointers, Scalar, layout};
use super::{Failure, arguments};
use crate::conversion::Conversion;
use crate::ir::{
    BinaryOp, BlockId, Condition, Family, Function, Input, Instruction, Op, Reg, Rounding, TernaryOp, Type,
    UnaryOp,
};
use crate::llvm::generic::GENERIC;
use crate::llvm::view::{Block, Module, Opcode, TypeKind, Value, ValueKind};

/// The registers of a value: one for each scalar in it.
pub type Regs = SmallVec<[Reg; 4]>;

/// A kernel in translation. Methods are spread over the files of this folder by what they translate.
pub struct Translator<'a, 'm> {
    pub module: Module<'m>,
    /// How large pointers are.
    pub pointers: Pointers,
    pub kernel: Value<'m>,
    pub variables: &'a mut Variables<'m>,
    pub function: Function,
    /// Where instructions go.
    pub block: BlockId,
    /// What the launch gives, read once at the kernel's beginning.
    inputs: FxHashMap<Input, Reg>,
    pub prologue: Vec<Instruction>,
    values: FxHashMap<Value<'m>, Regs>,
    blocks: FxHashMap<Block<'m>, BlockId>,
    /// Each phi's registers into which predecessors write. The phi's own are written at the beginning of its
    /// block, so that no predecessor can overwrite a phi that another path still needs.
    phi_places: FxHashMap<Value<'m>, Regs>,
    /// Constants made in this block.
    immediates: FxHashMap<(Type, u64), Reg>,
    /// Places of allocas in private memory.
    pub private: FxHashMap<Value<'m>, u32>,
    /// Places of `__local` variables.
    pub local: FxHashMap<Value<'m>, u32>,
    /// Where the memory of work-group functions is in local memory, once one needs it.
    pub group_memory: Option<u32>,
    /// Where the lock is in local memory, once something needs it.
    pub local_lock: Option<u32>,
    /// `getelementptr`s whose objects are known.
    pub places: FxHashMap<Value<'m>, Place>,
}

/// Bytes at the beginning of local and private memory where nothing is, in kernels with generic pointers and
/// in those that look whether a pointer is null.
const NULL_ROOM: u32 = 16;

/// Is a local or private pointer compared with null, or made a number?
fn asks_for_null(instruction: Value) -> bool {
    let short = |value: Value| matches!(value.ty().kind(), TypeKind::Pointer(0 | 3));
    match instruction.opcode() {
        Opcode::LLVMICmp => {
            let (a, b) = (instruction.operand(0), instruction.operand(1));
            short(a) && (a.kind() == ValueKind::Zero || b.kind() == ValueKind::Zero)
        }
        Opcode::LLVMPtrToInt => short(instruction.operand(0)),
        _ => false,
    }
}

/// Is a generic pointer in an instruction or in the constants that it uses?
fn mentions_generic(value: Value) -> bool {
    let inside = match value.kind() {
        ValueKind::Instruction | ValueKind::ConstantExpression => value.operands(),
        _ => Vec::new(),
    };
    value.ty().kind() == TypeKind::Pointer(GENERIC) || inside.into_iter().any(constant_mentions_generic)
}

/// The same for an operand; instructions are looked at for themselves.
fn constant_mentions_generic(operand: Value) -> bool {
    match operand.kind() {
        ValueKind::ConstantExpression => mentions_generic(operand),
        ValueKind::Block => false,
        _ => operand.ty().kind() == TypeKind::Pointer(GENERIC),
    }
}

/// Translates a kernel.
pub fn translate<'m>(
    module: Module<'m>,
    kernel: Value<'m>,
    variables: &mut Variables<'m>,
) -> Result<Function, Failure> {
    let function = Function::new(&kernel.name());
    let block = function.layout[0];
    let mut translator = Translator {
        module,
        pointers: Pointers::of(module),
        kernel,
        variables,
        function,
        block,
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
    };
    arguments::describe(&mut translator)?;
    if kernel.blocks().any(|block| block.instructions().any(|i| mentions_generic(i) || asks_for_null(i))) {
        // A pointer to the first byte would be null, and that is how `to_local` says no.
        translator.function.local_size = NULL_ROOM;
        translator.function.private_size = NULL_ROOM;
    }
    translator.body()?;
    Ok(translator.finish())
}

impl<'m> Translator<'_, 'm> {
    fn body(&mut self) -> Result<(), Failure> {
        let order = reverse_post_order(self.kernel);
        for (index, &block) in order.iter().enumerate() {
            let id = if index == 0 { self.block } else { self.function.new_block() };
            self.blocks.insert(block, id);
        }
        // LLVM's order is the source's for the most part; what is unreachable has no place in it.
        let layout = self.kernel.blocks().filter_map(|block| self.blocks.get(&block).copied());
        self.function.layout = layout.collect();
        for phi in order.iter().flat_map(|block| phis(*block)) {
            let registers = self.new_registers(phi)?;
            self.values.insert(phi, registers);
            let places = self.new_registers(phi)?;
            self.phi_places.insert(phi, places);
        }
        // In this order every value but a phi's is defined before it is used.
        for &block in &order {
            self.translate_block(block)?;
        }
        Ok(())
    }

    fn translate_block(&mut self, block: Block<'m>) -> Result<(), Failure> {
        self.block = self.blocks[&block];
        self.immediates.clear();
        for phi in phis(block) {
            for ((&place, &register), scalar) in
                self.phi_places[&phi].clone().iter().zip(&self.values[&phi].clone()).zip(self.scalars(phi)?)
            {
                self.emit(Op::Unary(UnaryOp::Mov, scalar.unsigned()), &[register], &[place]);
            }
        }
        for instruction in block.instructions() {
            let opcode = instruction.opcode();
            if opcode == Opcode::LLVMPHI {
                continue;
            }
            let result = match opcode {
                Opcode::LLVMRet | Opcode::LLVMUnreachable => {
                    self.emit(Op::Return, &[], &[]);
                    Ok(())
                }
                Opcode::LLVMBr => self.branch(block, instruction),
                _ => self.instruction(instruction),
            };
            result.map_err(|failure| failure.at(instruction.location()))?;
        }
        Ok(())
    }

    fn branch(&mut self, block: Block<'m>, instruction: Value<'m>) -> Result<(), Failure> {
        let successors = block.successors();
        for (index, successor) in successors.iter().enumerate() {
            if !successors[..index].contains(successor) {
                self.write_phis(block, *successor)?;
            }
        }
        let targets: Vec<_> = successors.iter().map(|successor| self.blocks[successor]).collect();
        match (instruction.condition(), targets.as_slice()) {
            (Some(condition), &[then, otherwise]) if then != otherwise => {
                let condition = self.one(condition)?;
                self.emit(Op::Branch { then, otherwise }, &[], &[condition]);
            }
            (_, targets) => self.emit(Op::Jump(targets[0]), &[], &[]),
        }
        Ok(())
    }

    /// Writes what goes from `block` into the phis of `successor`.
    fn write_phis(&mut self, block: Block<'m>, successor: Block<'m>) -> Result<(), Failure> {
        for phi in phis(successor) {
            let incoming = phi.incoming();
            let (value, _) = incoming
                .iter()
                .find(|(_, from)| *from == block)
                .ok_or_else(|| Failure::new("a phi without value for a predecessor"))?;
            let sources = self.value(*value)?;
            let places = self.phi_places[&phi].clone();
            for ((&place, &source), scalar) in places.iter().zip(&sources).zip(self.scalars(phi)?) {
                self.emit(Op::Unary(UnaryOp::Mov, scalar.unsigned()), &[place], &[source]);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Function {
        let entry = self.function.layout[0];
        self.function.block_mut(entry).instructions.splice(0..0, self.prologue);
        self.function
    }

    /// Scalars of a value, in order.
    pub fn scalars(&self, value: Value<'m>) -> Result<SmallVec<[Scalar; 4]>, Failure> {
        Ok(layout(self.module, value.ty())?.into_iter().map(|(scalar, _)| scalar).collect())
    }

    fn new_registers(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let scalars = self.scalars(value)?;
        Ok(scalars.into_iter().map(|scalar| self.function.new_register(scalar.family())).collect())
    }

    /// Says which registers hold a value.
    pub fn define(&mut self, value: Value<'m>, registers: Regs) {
        self.values.insert(value, registers);
    }

    /// The registers of a value; constants are made here.
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
                let scalar = super::types::scalar(self.module, value.ty())?;
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

    /// The register of a value that needs one.
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

    /// Reads an input, at the kernel's beginning.
    pub fn input(&mut self, input: Input, family: Family) -> Reg {
        if let Some(&register) = self.inputs.get(&input) {
            return register;
        }
        let register = self.function.new_register(family);
        self.prologue.push(Instruction::new(Op::Input(input), [register], []));
        self.inputs.insert(input, register);
        register
    }
}

/// Building instructions at the end of the current block.
impl Translator<'_, '_> {
    pub fn emit(&mut self, op: Op, dsts: &[Reg], srcs: &[Reg]) {
        let instruction = Instruction::new(op, dsts.iter().copied(), srcs.iter().copied());
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

    /// The second operand is a constant.
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

    /// A new block that is laid out after the current one, where building goes on.
    pub fn start_block(&mut self) -> BlockId {
        let block = self.function.new_block();
        let position = self.function.layout.iter().position(|&other| other == self.block);
        self.function.layout.insert(position.map_or(0, |position| position + 1), block);
        self.block = block;
        self.immediates.clear();
        block
    }
}

fn phis<'m>(block: Block<'m>) -> impl Iterator<Item = Value<'m>> {
    block.instructions().take_while(|instruction| instruction.opcode() == Opcode::LLVMPHI)
}

fn unsupported(value: Value) -> Failure {
    Failure::new(format!("{} is not supported", value.text()))
}

/// Reachable blocks, each before those it dominates.
fn reverse_post_order<'m>(function: Value<'m>) -> Vec<Block<'m>> {
    let Some(entry) = function.blocks().next() else { return Vec::new() };
    let mut seen = FxHashSet::from_iter([entry]);
    let mut order = Vec::new();
    let mut stack = vec![(entry, entry.successors())];
    while let Some((block, successors)) = stack.last_mut() {
        match successors.pop() {
            Some(next) => {
                if seen.insert(next) {
                    stack.push((next, next.successors()));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
