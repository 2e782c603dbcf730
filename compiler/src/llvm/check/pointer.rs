//! Where pointers point to: the offset in an object, and its size, as values of the program.
//!
//! They are computed along with each pointer, from the object at its root on, through indices, casts, choices and loops.
//! Offsets have as many bits as the address space has for indices; they are negative in front of the object.

use std::collections::{HashMap, HashSet};

use gencl_program::finding::{UNREADABLE, UNWRITABLE};

use super::mark::is_mark;
use crate::llvm::build::Builder;
use crate::llvm::view::{IntPredicate, Module, Opcode, Type, TypeKind, Value, ValueKind};

/// Functions of the library that ask the launch: of a kernel's argument, and of a pointer that was loaded from memory.
const OF_ARGUMENT: &str = "__gencl_check_argument";
const OF_POINTER: &str = "__gencl_check_pointer";

/// The prefix of functions whose pointers are to the launch's own memory.
const OWN: &str = "__gencl_";

/// Address spaces of global, constant and local memory.
pub(super) const GLOBAL: u32 = 1;
pub(super) const CONSTANT: u32 = 2;
pub(super) const LOCAL: u32 = 3;

/// Address spaces of private and local memory, whose pointers have 32 bits at run time.
const SMALL_SPACES: [u32; 2] = [0, 3];

/// Where a pointer points to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'m> {
    /// Offset in the object in bytes, signed.
    pub(super) offset: Value<'m>,
    /// The object's size in bytes.
    pub(super) size: Value<'m>,
}

/// The targets of a kernel's pointers.
pub(super) struct Pointers<'c, 'm> {
    builder: &'c Builder<'m>,
    module: Module<'m>,
    kernel: Value<'m>,
    known: HashMap<Value<'m>, Option<Target<'m>>>,
    /// By private variable with a pointer, the variables beside it with the pointer's offset and size.
    beside: HashMap<Value<'m>, [Value<'m>; 2]>,
    /// For arguments and reads or writes, whether these are forbidden.
    forbidden: HashMap<(Value<'m>, bool), Value<'m>>,
}

impl<'c, 'm> Pointers<'c, 'm> {
    pub(super) fn new(builder: &'c Builder<'m>, module: Module<'m>, kernel: Value<'m>) -> Self {
        Self {
            builder,
            module,
            kernel,
            known: HashMap::new(),
            beside: HashMap::new(),
            forbidden: HashMap::new(),
        }
    }

    /// Where a pointer points to. `None` for memory of the launch itself. The builder is somewhere else afterwards.
    pub(super) fn target(&mut self, pointer: Value<'m>) -> Option<Target<'m>> {
        if let Some(known) = self.known.get(&pointer) {
            return *known;
        }
        let target = self.find(pointer);
        self.known.insert(pointer, target);
        target
    }

    /// Whether an access by a pointer is forbidden by the flags of an argument's buffer. The builder is somewhere else
    /// afterwards.
    pub(super) fn forbidden(&mut self, pointer: Value<'m>, writes: bool) -> Option<Value<'m>> {
        let argument = root(pointer);
        if let Some(known) = self.forbidden.get(&(argument, writes)) {
            return Some(*known);
        }
        let b = self.builder;
        let index = argument_index(self.kernel, argument)?;
        if !argument.ty().is_pointer_to(GLOBAL) {
            return None;
        }
        b.before(first_instruction(self.kernel)?);
        let flag = has_flag(b, index, if writes { UNWRITABLE } else { UNREADABLE });
        let is_forbidden = b.compare(IntPredicate::LLVMIntNE, flag, b.number(32, 0));
        self.forbidden.insert((argument, writes), is_forbidden);
        Some(is_forbidden)
    }

    fn find(&mut self, pointer: Value<'m>) -> Option<Target<'m>> {
        let b = self.builder;
        let int = self.offset_type(pointer);
        let static_size = |size| Target { offset: b.zero(int), size: b.number_of(int, size) };
        match pointer.kind() {
            ValueKind::Argument => {
                let index = argument_index(self.kernel, pointer)?;
                b.before(first_instruction(self.kernel)?);
                let pair = b.vector(b.int(64), 2);
                Some(self.halves(b.call(OF_ARGUMENT, pair, &[b.number(32, index.into())]), int))
            }
            ValueKind::GlobalVariable => Some(static_size(self.module.size_of(pointer.value_type()))),
            ValueKind::Zero => Some(static_size(0)),
            ValueKind::Instruction | ValueKind::ConstantExpression => match pointer.opcode() {
                Opcode::LLVMAlloca => {
                    let count = pointer.operand(0).integer().unwrap_or(1);
                    Some(static_size(count * self.module.size_of(pointer.allocated_type())))
                }
                Opcode::LLVMGetElementPtr => {
                    let base = self.target(pointer.operand(0))?;
                    self.before(pointer);
                    let offset = b.binary(Opcode::LLVMAdd, base.offset, self.distance(pointer, int));
                    Some(Target { offset, ..base })
                }
                Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => {
                    let base = self.target(pointer.operand(0))?;
                    self.before(pointer);
                    Some(Target {
                        offset: b.resize(base.offset, int, true),
                        size: b.resize(base.size, int, false),
                    })
                }
                Opcode::LLVMSelect => {
                    let [yes, no] = [1, 2].map(|index| self.target(pointer.operand(index)));
                    let (yes, no, condition) = (yes?, no?, pointer.operand(0));
                    self.before(pointer);
                    Some(Target {
                        offset: b.select(condition, yes.offset, no.offset),
                        size: b.select(condition, yes.size, no.size),
                    })
                }
                Opcode::LLVMFreeze => self.target(pointer.operand(0)),
                Opcode::LLVMLoad => Some(match self.beside(pointer.operand(0), int) {
                    Some([offset, size]) => {
                        b.before(pointer);
                        Target { offset: b.load(int, offset), size: b.load(int, size) }
                    }
                    None => self.asked(pointer, int),
                }),
                Opcode::LLVMPHI => Some(self.merged(pointer, int)),
                Opcode::LLVMCall if is_mark(pointer) => Some(static_size(0)),
                Opcode::LLVMCall if pointer.callee().is_some_and(|callee| callee.name().starts_with(OWN)) => {
                    None
                }
                _ => Some(self.asked(pointer, int)),
            },
            _ => Some(self.far_from_ends(int)),
        }
    }

    /// Of a phi: both numbers are phis.
    fn merged(&mut self, phi: Value<'m>, int: Type<'m>) -> Target<'m> {
        let b = self.builder;
        b.before(phi);
        let target = Target { offset: b.phi(int, &[]), size: b.phi(int, &[]) };
        // The phi may be among its own values.
        self.known.insert(phi, Some(target));
        for (value, block) in phi.incoming() {
            let incoming = self.target(value).unwrap_or_else(|| self.far_from_ends(int));
            target.offset.add_incoming(incoming.offset, block);
            target.size.add_incoming(incoming.size, block);
        }
        target
    }

    /// The variables for offset and size beside a private variable with a pointer, which is only loaded and stored.
    fn beside(&mut self, variable: Value<'m>, int: Type<'m>) -> Option<[Value<'m>; 2]> {
        if let Some(known) = self.beside.get(&variable) {
            return Some(*known);
        }
        let (b, stores) = (self.builder, variable.whole_stores()?);
        b.before(variable);
        let both = [b.variable(int), b.variable(int)];
        let store = |target: Target<'m>| {
            b.store(target.offset, both[0], both[0].alignment());
            b.store(target.size, both[1], both[1].alignment());
        };
        store(self.far_from_ends(int));
        // What is stored may be made of what was loaded.
        self.beside.insert(variable, both);
        for instruction in stores {
            let target = self.target(instruction.operand(0)).unwrap_or_else(|| self.far_from_ends(int));
            b.before(instruction);
            store(target);
        }
        Some(both)
    }

    /// Of a pointer that was loaded or made of an integer: the launch knows allocations in global memory.
    fn asked(&mut self, pointer: Value<'m>, int: Type<'m>) -> Target<'m> {
        let b = self.builder;
        let Some(next) = pointer.next().filter(|_| !is_small(pointer)) else {
            return self.far_from_ends(int);
        };
        b.before(next);
        let address = b.cast(Opcode::LLVMPtrToInt, pointer, b.int(64));
        self.halves(b.call(OF_POINTER, b.vector(b.int(64), 2), &[address]), int)
    }

    /// An offset and a size that no access is out of.
    fn far_from_ends(&self, int: Type<'m>) -> Target<'m> {
        Target { offset: self.builder.number_of(int, 1 << 30), size: self.builder.number_of(int, 1 << 31) }
    }

    fn halves(&self, pair: Value<'m>, int: Type<'m>) -> Target<'m> {
        let half = |index| self.builder.resize(self.builder.extract(pair, index), int, false);
        Target { offset: half(0), size: half(1) }
    }

    /// Puts the builder in front of an instruction; for constants there is nothing to build.
    fn before(&self, value: Value<'m>) {
        if value.kind() == ValueKind::Instruction {
            self.builder.before(value);
        }
    }

    /// The bytes that a `getelementptr` adds.
    fn distance(&self, pointer: Value<'m>, int: Type<'m>) -> Value<'m> {
        let b = self.builder;
        steps(b, pointer).into_iter().fold(b.zero(int), |sum, (index, size)| {
            let index = index.map(|index| b.resize(index, int, true));
            let size = b.number_of(int, size);
            let step = index.map_or(size, |index| b.binary(Opcode::LLVMMul, index, size));
            b.binary(Opcode::LLVMAdd, sum, step)
        })
    }

    /// The type of offsets.
    fn offset_type(&self, pointer: Value<'m>) -> Type<'m> {
        self.builder.int(if is_small(pointer) { 32 } else { 8 * self.module.pointer_size() })
    }
}

/// What a `getelementptr` adds: sizes in bytes, each with the index that it is multiplied by, or none for a member of a
/// structure.
pub(super) fn steps<'m>(b: &Builder<'m>, pointer: Value<'m>) -> Vec<(Option<Value<'m>>, u64)> {
    let mut ty = pointer.source_element_type();
    let mut steps = Vec::new();
    for (number, index) in pointer.operands().into_iter().skip(1).enumerate() {
        steps.push(match ty.kind() {
            _ if number == 0 => (Some(index), b.size_of(ty)),
            TypeKind::Struct(_) => {
                let field = index.integer().unwrap_or_default() as u32;
                let offset = b.field_offset(ty, field);
                ty = ty.field(field);
                (None, offset)
            }
            TypeKind::Array(_, element) | TypeKind::Vector(_, element) => {
                ty = element;
                (Some(index), b.size_of(element))
            }
            _ => continue,
        });
    }
    steps
}

/// Whether a pointer is to private or local memory.
fn is_small(pointer: Value) -> bool {
    SMALL_SPACES.iter().any(|&space| pointer.ty().is_pointer_to(space))
}

/// The index of a kernel's argument; `None` for other values.
pub(super) fn argument_index(kernel: Value, argument: Value) -> Option<u32> {
    let index = kernel.parameters().iter().position(|parameter| *parameter == argument)?;
    Some(index as u32)
}

/// Whether an argument has a flag in the launch's buffer, 0 or 1.
pub(super) fn has_flag<'m>(b: &Builder<'m>, argument: u32, flag: u64) -> Value<'m> {
    let bit = b.number(32, flag.trailing_zeros().into());
    b.call("__gencl_check_flag", b.int(32), &[b.number(32, argument.into()), bit])
}

/// The first instruction of a function with a body.
pub(super) fn first_instruction(function: Value) -> Option<Value> {
    function.blocks().next()?.instructions().next()
}

/// What a pointer is derived from by indices and casts, and by way of private variables that get one value only.
pub(super) fn root(pointer: Value) -> Value {
    let (mut root, mut variables) = (pointer, HashSet::new());
    while matches!(root.kind(), ValueKind::Instruction | ValueKind::ConstantExpression) {
        root = match root.opcode() {
            Opcode::LLVMGetElementPtr
            | Opcode::LLVMAddrSpaceCast
            | Opcode::LLVMBitCast
            | Opcode::LLVMFreeze => root.operand(0),
            Opcode::LLVMLoad if variables.insert(root.operand(0)) => {
                let stores = root.operand(0).whole_stores().unwrap_or_default();
                let values: Vec<_> =
                    stores.iter().map(|store| store.operand(0)).filter(|v| !is_mark(*v)).collect();
                match values[..] {
                    [value] => value,
                    _ => break,
                }
            }
            _ => break,
        };
    }
    root
}
