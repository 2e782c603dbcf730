//! Which objects have shadow memory, and where that of an access is.

use std::collections::{HashMap, HashSet};

use crate::llvm::build::Builder;
use crate::llvm::check::mark::begins;
use crate::llvm::check::pointer::{CONSTANT, GLOBAL, LOCAL, Pointers, argument_index, first_instruction};
use crate::llvm::view::{Block, Opcode, TypeKind, Value, ValueKind};

/// Functions of the library: the shadow memory of an argument's object, that of any address, and how far that of local
/// memory is behind it.
const OF_ARGUMENT: &str = "__gencl_shadow_of_argument";
const OF_ADDRESS: &str = "__gencl_check_shadow_of_address";
const OF_LOCAL: &str = "__gencl_shadow_of_local";

/// Makes all local memory undefined, with a barrier.
const BEGIN_LOCAL: &str = "__gencl_check_begin_local";

/// Address space of generic pointers.
const GENERIC: u32 = 4;

/// Where the shadow of an access is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'m> {
    /// In private or global memory.
    Memory(Value<'m>),
    /// Behind local memory, and by how many bytes; 0 if there is none.
    Local(Value<'m>, Value<'m>),
}

/// Shadow memory by object.
pub(in super::super) struct Objects<'c, 'm> {
    builder: &'c Builder<'m>,
    kernel: Value<'m>,
    /// Of private variables whose accesses are all known.
    variables: HashMap<Value<'m>, Value<'m>>,
    /// Of pointers whose objects all have some: the beginning of the object's.
    bases: HashMap<Value<'m>, Value<'m>>,
    /// How many bytes shadows are behind local memory, if the kernel has any, and accesses it by local pointers only.
    local: Option<Value<'m>>,
}

impl<'c, 'm> Objects<'c, 'm> {
    /// Gives the private variables of a kernel, which has these instructions, shadow memory, and prepares local memory.
    pub(in super::super) fn new(
        builder: &'c Builder<'m>,
        kernel: Value<'m>,
        instructions: &[Value<'m>],
    ) -> Self {
        let variables = followed(instructions);
        let variables = variables.into_iter().map(|variable| (variable, shadow(builder, variable))).collect();
        let mut objects = Self { builder, kernel, variables, bases: HashMap::new(), local: None };
        objects.local = objects.begin_local(instructions);
        objects
    }

    /// The kernel.
    pub(super) fn kernel(&self) -> Value<'m> {
        self.kernel
    }

    fn begin_local(&self, instructions: &[Value<'m>]) -> Option<Value<'m>> {
        let b = self.builder;
        let uses = |space| {
            instructions.iter().any(|i| i.operands().iter().any(|operand| operand.ty().is_pointer_to(space)))
        };
        let first = first_instruction(self.kernel).filter(|_| uses(LOCAL) && !uses(GENERIC))?;
        b.before(first);
        let distance = b.call(OF_LOCAL, b.int(32), &[]);
        b.call(BEGIN_LOCAL, b.void(), &[distance]);
        Some(distance)
    }

    /// Whether what a pointer points to may have shadow memory.
    pub(super) fn has_shadow(&self, pointer: Value<'m>, pointers: &mut Pointers<'_, 'm>) -> bool {
        match pointer.ty().kind() {
            TypeKind::Pointer(0) => self.is_followed(pointer),
            TypeKind::Pointer(LOCAL) => self.local.is_some(),
            TypeKind::Pointer(CONSTANT) => self.is_followed(pointer),
            TypeKind::Pointer(GLOBAL) => {
                // Memory of the launch itself, and variables of the program, have none.
                let is_variable = |root: &Value| root.kind() == ValueKind::GlobalVariable;
                pointers.target(pointer).is_some() && !roots(pointer).iter().all(is_variable)
            }
            TypeKind::Pointer(GENERIC) => true,
            _ => false,
        }
    }

    /// The shadow of the bytes from a pointer on, in front of the instruction that accesses them. Where `failed` is
    /// true, the access is out of bounds.
    pub(super) fn place(
        &mut self,
        instruction: Value<'m>,
        pointer: Value<'m>,
        failed: Option<Value<'m>>,
        pointers: &mut Pointers<'_, 'm>,
    ) -> Option<Place<'m>> {
        let b = self.builder;
        if !self.has_shadow(pointer, pointers) {
            return None;
        }
        if pointer.ty().is_pointer_to(LOCAL) {
            let distance = self.local?;
            b.before(instruction);
            // What is out of bounds may be a shadow already.
            let distance =
                failed.map_or(distance, |failed| b.select(failed, b.zero(distance.ty()), distance));
            // For LLVM, it is not behind the variable that the pointer is to: nothing is.
            let int = b.int(8 * b.size_of(pointer.ty()) as u32);
            let address = b.cast(Opcode::LLVMPtrToInt, pointer, int);
            let address = b.binary(Opcode::LLVMAdd, address, b.resize(distance, int, false));
            let place = b.cast(Opcode::LLVMIntToPtr, address, pointer.ty());
            return Some(Place::Local(place, distance));
        }
        if !self.is_followed(pointer) {
            b.before(instruction);
            let address = b.cast(Opcode::LLVMPtrToInt, pointer, b.int(64));
            return Some(Place::Memory(b.call(OF_ADDRESS, b.pointer(GLOBAL), &[address])));
        }
        let (base, target) = (self.base(pointer)?, pointers.target(pointer)?);
        b.before(instruction);
        let place = b.offset(base, target.offset);
        Some(Place::Memory(match failed {
            Some(failed) if !pointer.ty().is_pointer_to(0) => {
                let spare = b.call("__gencl_check_spare_shadow", b.pointer(GLOBAL), &[]);
                b.select(failed, spare, place)
            }
            _ => place,
        }))
    }

    /// Whether all objects that a pointer may point into are arguments' or private variables with shadow memory.
    fn is_followed(&self, pointer: Value<'m>) -> bool {
        roots(pointer).iter().all(|root| match root.kind() {
            ValueKind::Argument => argument_index(self.kernel, *root).is_some(),
            _ => self.variables.contains_key(root),
        })
    }

    /// The beginning of the shadow memory of a pointer's object.
    fn base(&mut self, pointer: Value<'m>) -> Option<Value<'m>> {
        if let Some(known) = self.bases.get(&pointer) {
            return Some(*known);
        }
        let b = self.builder;
        let base = match pointer.kind() {
            ValueKind::Argument => {
                let index = argument_index(self.kernel, pointer)?;
                b.before(first_instruction(self.kernel)?);
                b.call(OF_ARGUMENT, b.pointer(GLOBAL), &[b.number(32, index.into())])
            }
            _ => match pointer.opcode() {
                Opcode::LLVMAlloca => *self.variables.get(&pointer)?,
                Opcode::LLVMSelect => {
                    let (yes, no) = (self.base(pointer.operand(1))?, self.base(pointer.operand(2))?);
                    b.before(pointer);
                    b.select(pointer.operand(0), yes, no)
                }
                Opcode::LLVMPHI => {
                    b.before(pointer);
                    let space = if pointer.ty().is_pointer_to(0) { 0 } else { GLOBAL };
                    let phi = b.phi(b.pointer(space), &[]);
                    // The phi may be among its own values.
                    self.bases.insert(pointer, phi);
                    for (value, block) in pointer.incoming() {
                        phi.add_incoming(self.base(value)?, block);
                    }
                    phi
                }
                _ => self.base(pointer.operand(0))?,
            },
        };
        self.bases.insert(pointer, base);
        Some(base)
    }
}

/// What a pointer may be derived from by indices, casts, choices and loops.
fn roots<'m>(pointer: Value<'m>) -> HashSet<Value<'m>> {
    let (mut roots, mut seen, mut open) = (HashSet::new(), HashSet::new(), vec![pointer]);
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        match value.operation() {
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMFreeze) => {
                open.push(value.operand(0));
            }
            Some(Opcode::LLVMSelect) => open.extend([value.operand(1), value.operand(2)]),
            Some(Opcode::LLVMPHI) => open.extend(value.incoming().into_iter().map(|(value, _)| value)),
            _ => {
                roots.insert(value);
            }
        }
    }
    roots
}

/// The private variables that are accessed by pointers which can be followed only.
fn followed<'m>(instructions: &[Value<'m>]) -> HashSet<Value<'m>> {
    let is_variable = |i: &Value| i.opcode() == Opcode::LLVMAlloca && i.operand(0).integer() == Some(1);
    let variables: Vec<_> = instructions.iter().copied().filter(is_variable).collect();
    let mut escaped = HashSet::new();
    // Sets of objects that one pointer may point into.
    let mut choices = Vec::new();
    for &variable in &variables {
        let (mut seen, mut open) = (HashSet::new(), vec![variable]);
        while let Some(pointer) = open.pop() {
            for user in pointer.users().into_iter().filter(|user| user.kind() == ValueKind::Instruction) {
                let is_accessed = match user.opcode() {
                    Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMFreeze => {
                        open.extend(seen.insert(user).then_some(user));
                        true
                    }
                    Opcode::LLVMPHI | Opcode::LLVMSelect => {
                        if seen.insert(user) {
                            open.push(user);
                            choices.push(roots(user));
                        }
                        true
                    }
                    Opcode::LLVMLoad | Opcode::LLVMICmp => true,
                    Opcode::LLVMStore => user.operand(0) != pointer,
                    Opcode::LLVMCall => user.callee().is_some_and(|callee| {
                        let name = callee.name();
                        name.starts_with("llvm.mem") || name.starts_with("llvm.lifetime")
                    }),
                    _ => false,
                };
                if !is_accessed {
                    escaped.insert(variable);
                }
            }
        }
    }
    let mut followed: HashSet<_> = variables.into_iter().filter(|i| !escaped.contains(i)).collect();
    // A store by a pointer into one of several has to find the shadow of each.
    while let Some(choice) = choices.iter().find(|choice| {
        let count = choice.iter().filter(|root| followed.contains(root)).count();
        count > 0 && count < choice.len()
    }) {
        choice.iter().for_each(|root| {
            followed.remove(root);
        });
    }
    followed
}

/// Shadow memory of a private variable, which is undefined where its life begins.
fn shadow<'m>(b: &Builder<'m>, variable: Value<'m>) -> Value<'m> {
    let (ty, align) = (variable.allocated_type(), variable.alignment());
    b.before(variable);
    let shadow = b.aligned_variable(ty, align);
    let size = b.size_of(ty);
    for begin in begins(variable).collect::<Vec<_>>() {
        let Some(behind) = begin.next() else { continue };
        b.before(behind);
        b.fill(shadow, b.number(8, 0xff), b.number(64, size), align);
    }
    shadow
}

/// The blocks of a function in reverse postorder, those that are reached.
pub(super) fn reverse_postorder(function: Value) -> Vec<Block> {
    let (mut order, mut seen) = (Vec::new(), HashSet::new());
    let mut open: Vec<_> = function.blocks().take(1).map(|block| (block, false)).collect();
    while let Some((block, is_left)) = open.pop() {
        if is_left {
            order.push(block);
        } else if seen.insert(block) {
            open.push((block, true));
            open.extend(block.successors().into_iter().map(|next| (next, false)));
        }
    }
    order.reverse();
    order
}
