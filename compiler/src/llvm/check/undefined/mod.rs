//! Checks that no undefined value decides where control flow goes, which address is accessed, or what a kernel's results
//! are. Copies of undefined values are followed, and no faults.
//!
//! [`super::mark`] gives variables without a value one that can be recognised. Each value that may be undefined gets a shadow
//! ([`shadow`]), each private variable shadow memory of its own, local memory shadow memory behind it, and global memory
//! shadow memory of the runtime ([`objects`]).

mod objects;
mod shadow;

use std::collections::{HashMap, HashSet};

use gencl_program::finding::Check;

pub(super) use self::objects::Objects;
use self::objects::{Place, reverse_postorder};
use self::shadow::Shadows;
use super::access;
use super::mark::is_mark;
use super::pointer::{CONSTANT, GLOBAL, Pointers, root};
use super::{Checker, site};
use crate::llvm::view::{Module, Opcode, Type, TypeKind, Value};

/// The prefix of functions that access images: coordinates are addresses.
const IMAGE: &str = "__gencl_image_";

/// Checks the uses of undefined values of a kernel.
struct Pass<'a, 'c, 'm> {
    checker: &'a mut Checker<'c, 'm>,
    kernel: Value<'m>,
    module: Module<'m>,
    pointers: &'a mut Pointers<'c, 'm>,
    /// By instruction and operand, whether the access is out of bounds.
    failed: &'a HashMap<(Value<'m>, u32), Value<'m>>,
    objects: Objects<'c, 'm>,
    shadows: Shadows<'c, 'm>,
    /// Values that may be undefined.
    undefined: HashSet<Value<'m>>,
}

impl<'c, 'm> Checker<'c, 'm> {
    /// Adds the checks of a kernel, which has these instructions, with its objects. `failed` has for instructions and operands whether the
    /// access is out of bounds.
    pub(super) fn undefined(
        &mut self,
        module: Module<'m>,
        instructions: &[Value<'m>],
        (pointers, objects): (&mut Pointers<'c, 'm>, Objects<'c, 'm>),
        failed: &HashMap<(Value<'m>, u32), Value<'m>>,
    ) {
        let (kernel, shadows) = (objects.kernel(), Shadows::new(self.builder));
        let (checker, undefined) = (self, HashSet::new());
        Pass { checker, kernel, module, pointers, failed, objects, shadows, undefined }.run(instructions);
    }
}

impl<'m> Pass<'_, '_, 'm> {
    fn run(&mut self, instructions: &[Value<'m>]) {
        self.find(instructions);
        let own: HashSet<_> = instructions.iter().copied().collect();
        for block in reverse_postorder(self.kernel) {
            for instruction in block.instructions().filter(|i| own.contains(i)).collect::<Vec<_>>() {
                self.visit(instruction);
            }
        }
        let phis = instructions.iter().filter(|i| i.opcode() == Opcode::LLVMPHI);
        for (phi, shadow) in phis.filter_map(|phi| Some((phi, self.shadows.of(*phi)?))) {
            for (value, block) in phi.incoming() {
                let zero = || self.checker.builder.zero(shadow.ty());
                shadow.add_incoming(self.shadows.of(value).unwrap_or_else(zero), block);
            }
        }
    }

    /// Finds the values that may be undefined: from memory that may be, and what is made of them.
    fn find(&mut self, instructions: &[Value<'m>]) {
        let mut open: Vec<_> = instructions.iter().copied().filter(|i| is_mark(*i)).collect();
        for load in instructions.iter().filter(|i| i.opcode() == Opcode::LLVMLoad) {
            if self.objects.has_shadow(address(load.operand(0)), self.pointers) {
                open.push(*load);
            }
        }
        while let Some(value) = open.pop() {
            if self.shadows.ty(value.ty()).is_some() && self.undefined.insert(value) {
                open.extend(value.users().into_iter().filter(|user| is_made_of_operands(*user)));
            }
        }
    }

    fn visit(&mut self, i: Value<'m>) {
        match i.opcode() {
            Opcode::LLVMBr => self.branch(i, i.condition()),
            Opcode::LLVMSwitch => self.branch(i, Some(i.operand(0))),
            Opcode::LLVMLoad => self.load(i),
            Opcode::LLVMStore => self.store(i),
            Opcode::LLVMPHI if self.undefined.contains(&i) => {
                let b = self.checker.builder;
                b.before(i);
                if let Some(ty) = self.shadows.ty(i.ty()) {
                    self.shadows.set(i, b.phi(ty, &[]));
                }
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => self.atomic(i),
            Opcode::LLVMCall => {
                let name = i.callee().map(Value::name).unwrap_or_default();
                if name.starts_with(IMAGE) {
                    for argument in i.call_arguments() {
                        self.used(i, argument, Check::UndefinedAddress);
                    }
                } else if name.starts_with("llvm.mem") {
                    self.bulk(i);
                } else if name.starts_with(access::ATOMIC) {
                    self.atomic(i);
                } else if self.undefined.contains(&i) {
                    self.shadows.propagate(i);
                }
            }
            _ if self.undefined.contains(&i) => self.shadows.propagate(i),
            _ => {}
        }
    }

    /// Checks that a value is defined in front of the instruction that uses it.
    fn used(&mut self, i: Value<'m>, value: Value<'m>, check: Check) {
        let Some(shadow) = self.shadows.of(value) else { return };
        let b = self.checker.builder;
        let zero = b.number(64, 0);
        let (object, numbers) = match check {
            Check::UndefinedResult | Check::UndefinedCopy => {
                let pointer = pointer_of(i);
                let target = self.pointers.target(pointer);
                let numbers = target.map_or([zero; 3], |target| [zero, target.offset, target.size]);
                (site::object(self.kernel, root(pointer)), numbers)
            }
            _ => (None, [zero; 3]),
        };
        b.before(i);
        let any = self.shadows.any(shadow);
        self.checker.check(i, (check, object), any, numbers);
    }

    fn branch(&mut self, i: Value<'m>, condition: Option<Value<'m>>) {
        if let Some(condition) = condition {
            self.used(i, condition, Check::UndefinedBranch);
        }
    }

    fn load(&mut self, i: Value<'m>) {
        let pointer = i.operand(0);
        self.used(i, address(pointer), Check::UndefinedAddress);
        let Some(ty) = self.shadows.ty(i.ty()).filter(|_| self.undefined.contains(&i)) else { return };
        if let Some(place) = self.place(i, 0) {
            let shadow = self.read(place, ty, i.alignment());
            // What is read out of bounds was told.
            let b = self.checker.builder;
            let failed = self.failed.get(&(i, 0));
            self.shadows.set(i, failed.map_or(shadow, |failed| b.select(*failed, b.zero(ty), shadow)));
        }
    }

    fn store(&mut self, i: Value<'m>) {
        let (value, pointer) = (i.operand(0), i.operand(1));
        self.used(i, address(pointer), Check::UndefinedAddress);
        let is_result = !matches!(pointer.ty().kind(), TypeKind::Pointer(0 | super::pointer::LOCAL));
        if is_result {
            let is_copied = self.is_copied(value);
            self.used(i, value, if is_copied { Check::UndefinedCopy } else { Check::UndefinedResult });
        }
        if let Some(place) = self.place(i, 1) {
            self.write(place, value.ty(), self.shadows.of(value), i.alignment());
        }
    }

    /// Atomic operations use what is there, but for exchanges, and leave something defined.
    fn atomic(&mut self, i: Value<'m>) {
        let (pointer, value) = (i.operand(0), i.operand(1));
        self.used(i, address(pointer), Check::UndefinedAddress);
        let operands = if i.opcode() == Opcode::LLVMCall { i.call_arguments() } else { i.operands() };
        for operand in operands.into_iter().skip(1) {
            self.used(i, operand, Check::UndefinedResult);
        }
        let Some(ty) = self.shadows.ty(value.ty()) else { return };
        let Some(place) = self.place(i, 0) else { return };
        let align = self.module.align_of(ty);
        if !access::is_exchange(i) {
            let shadow = self.read(place, ty, align);
            let (any, zero) = (self.shadows.any(shadow), self.checker.builder.number(64, 0));
            let object = site::object(self.kernel, root(pointer));
            self.checker.check(i, (Check::UndefinedResult, object), any, [zero; 3]);
        }
        self.write(place, value.ty(), None, align);
    }

    /// Of a copy, the shadows are copied.
    fn bulk(&mut self, i: Value<'m>) {
        let builder = self.checker.builder;
        let is_fill = i.callee().is_some_and(|callee| callee.name().starts_with("llvm.memset"));
        for operand in if is_fill { 0..1 } else { 0..2 } {
            self.used(i, address(i.operand(operand)), Check::UndefinedAddress);
        }
        let length = i.operand(2);
        self.used(i, length, Check::UndefinedAddress);
        let align = |operand| i.call_alignment(operand);
        let from = if is_fill { None } else { self.place(i, 1) };
        match (self.place(i, 0), from) {
            (Some(Place::Memory(to)), Some(Place::Memory(from))) => {
                let (to, from) = ((to, align(0)), (from, align(1)));
                if i.callee().is_some_and(|callee| callee.name().starts_with("llvm.memmove")) {
                    builder.move_memory(to, from, length);
                } else {
                    builder.copy_memory(to, from, length);
                }
            }
            (Some(Place::Memory(to)), _) => builder.fill(to, builder.number(8, 0), length, align(0)),
            (Some(Place::Local(to, distance)), _) => {
                let length = builder.resize(length, builder.int(32), false);
                let arguments = [to, length, distance];
                builder.call("__gencl_check_define_local", builder.void(), &arguments);
            }
            (None, _) => {}
        }
    }

    /// Where the shadow of an access is, and the builder in front of that.
    fn place(&mut self, i: Value<'m>, operand: u32) -> Option<Place<'m>> {
        let failed = self.failed.get(&(i, operand)).copied();
        let place = self.objects.place(i, address(i.operand(operand)), failed, self.pointers);
        self.checker.builder.before(i);
        place
    }

    fn read(&self, place: Place<'m>, ty: Type<'m>, align: u32) -> Value<'m> {
        let b = self.checker.builder;
        match place {
            Place::Memory(pointer) => b.aligned_load(ty, pointer, align),
            Place::Local(pointer, distance) => {
                let shadow = b.aligned_load(ty, pointer, align);
                // Without shadow memory, this is the local memory itself.
                let is_absent = b.equal(distance, b.number(32, 0));
                b.select(is_absent, b.zero(ty), shadow)
            }
        }
    }

    /// Writes the shadow of a value of a type; `None` if it is defined.
    fn write(&self, place: Place<'m>, of: Type<'m>, shadow: Option<Value<'m>>, align: u32) {
        let b = self.checker.builder;
        let size = self.module.store_size_of(of);
        match (place, self.shadows.ty(of)) {
            (Place::Memory(pointer), Some(ty)) => {
                b.store(shadow.unwrap_or_else(|| b.zero(ty)), pointer, align);
            }
            (Place::Memory(pointer), None) => b.fill(pointer, b.number(8, 0), b.number(64, size), align),
            (Place::Local(pointer, distance), Some(ty)) => {
                let shadow = shadow.unwrap_or_else(|| b.zero(ty));
                let parts = match ty.kind() {
                    TypeKind::Vector(count, _) => (0..count).map(|index| b.extract(shadow, index)).collect(),
                    _ => vec![shadow],
                };
                let mut pointer = pointer;
                for part in parts {
                    let bytes = self.module.store_size_of(part.ty()) as u32;
                    let part = b.resize(part, b.int(8 * bytes), false);
                    let name = format!("__gencl_check_put_local{}", 8 * bytes);
                    b.call(&name, b.void(), &[pointer, part, distance]);
                    pointer = b.advance(pointer, bytes);
                }
            }
            (Place::Local(pointer, distance), _) => {
                let arguments = [pointer, b.number(32, size), distance];
                b.call("__gencl_check_define_local", b.void(), &arguments);
            }
        }
    }

    /// Whether a value is only copied from global memory, as far as it is undefined.
    fn is_copied(&self, value: Value<'m>) -> bool {
        let (mut seen, mut open) = (HashSet::new(), vec![value]);
        while let Some(value) = open.pop() {
            if !self.undefined.contains(&value) || !seen.insert(value) {
                continue;
            }
            match value.opcode() {
                Opcode::LLVMLoad
                    if matches!(value.operand(0).ty().kind(), TypeKind::Pointer(GLOBAL | CONSTANT)) => {}
                Opcode::LLVMSelect => open.extend([value.operand(1), value.operand(2)]),
                Opcode::LLVMPHI => open.extend(value.incoming().into_iter().map(|(value, _)| value)),
                Opcode::LLVMInsertElement | Opcode::LLVMShuffleVector => {
                    open.extend([value.operand(0), value.operand(1)]);
                }
                Opcode::LLVMExtractElement
                | Opcode::LLVMBitCast
                | Opcode::LLVMTrunc
                | Opcode::LLVMZExt
                | Opcode::LLVMSExt
                | Opcode::LLVMFreeze => open.push(value.operand(0)),
                _ => return false,
            }
        }
        true
    }
}

/// The pointer of an access before checks of bounds have put a choice in its place.
fn address(pointer: Value) -> Value {
    let is_spare = |value: Value| {
        value.operation() == Some(Opcode::LLVMCall)
            && value.callee().is_some_and(|callee| callee.name() == super::bounds::SPARE)
    };
    match pointer.operation() {
        Some(Opcode::LLVMSelect) if is_spare(pointer.operand(1)) => pointer.operand(2),
        _ => pointer,
    }
}

/// The pointer of a store or an atomic operation.
fn pointer_of(i: Value) -> Value {
    address(i.operand(u32::from(i.opcode() == Opcode::LLVMStore)))
}

/// Whether an instruction's result is made of its operands only.
fn is_made_of_operands(i: Value) -> bool {
    match i.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => false,
        Opcode::LLVMCall => i.callee().is_some_and(|callee| {
            let name = callee.name();
            !name.starts_with(access::ATOMIC) && !name.starts_with(IMAGE) && !name.starts_with("llvm.mem")
        }),
        _ => true,
    }
}
