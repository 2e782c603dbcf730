//! One kernel: blocks and phis.

use rustc_hash::FxHashSet;

use super::data::Variables;
use super::location::Sources;
use super::translator::Translator;
use super::variables::Declarations;
use super::{Failure, arguments};
use crate::ir::{Function, Op, UnaryOp};
use crate::llvm::generic::GENERIC;
use crate::llvm::view::{Block, Module, Opcode, TypeKind, Value, ValueKind};

/// Unused bytes at the beginning of local and private memory, in kernels with generic pointers and in those
/// that compare pointers with null.
const NULL_ROOM: u32 = 16;

/// Whether a local or private pointer is compared with null, or converted to an integer or from one, by an instruction or
/// by a constant that it uses: all that is left of a generic pointer whose tag is looked at.
fn asks_for_null(value: Value) -> bool {
    let short = |value: Value| matches!(value.ty().kind(), TypeKind::Pointer(0 | 3));
    let asks = match value.opcode() {
        Opcode::LLVMICmp => {
            let (a, b) = (value.operand(0), value.operand(1));
            short(a) && (a.kind() == ValueKind::Zero || b.kind() == ValueKind::Zero)
        }
        Opcode::LLVMPtrToInt => short(value.operand(0)),
        Opcode::LLVMIntToPtr => short(value),
        _ => false,
    };
    let is_expression = |operand: &Value| operand.kind() == ValueKind::ConstantExpression;
    asks || value.operands().into_iter().filter(is_expression).any(asks_for_null)
}

/// Whether an instruction or a constant that it uses has a generic pointer.
fn mentions_generic(value: Value) -> bool {
    let inside = match value.kind() {
        ValueKind::Instruction | ValueKind::ConstantExpression => value.operands(),
        _ => Vec::new(),
    };
    value.ty().kind() == TypeKind::Pointer(GENERIC) || inside.into_iter().any(constant_mentions_generic)
}

/// The same for a constant operand.
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
    sources: &mut Sources<'m>,
    declarations: &mut Declarations<'m>,
) -> Result<Function, Failure> {
    let mut translator = Translator::new(module, kernel, variables, sources, declarations);
    arguments::describe(&mut translator)?;
    if kernel.blocks().any(|block| block.instructions().any(|i| mentions_generic(i) || asks_for_null(i))) {
        // A pointer to the first byte would be null, which is the result of `to_local` for other pointers.
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
        // The layout is LLVM's order, which is mostly that of the source, without unreachable blocks.
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
        self.continue_in(self.blocks[&block]);
        for phi in phis(block) {
            self.location = self.sources.of(phi);
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
            self.location = self.sources.of(instruction);
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

    /// Writes the incoming values from `block` to the phis of `successor`.
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
        let location = self.sources.of_kernel(self.kernel);
        let prologue = self.prologue.into_iter().map(|instruction| instruction.at(location));
        self.function.block_mut(entry).instructions.splice(0..0, prologue);
        self.function
    }
}

fn phis<'m>(block: Block<'m>) -> impl Iterator<Item = Value<'m>> {
    block.instructions().take_while(|instruction| instruction.opcode() == Opcode::LLVMPHI)
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
