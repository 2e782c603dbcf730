//! LLVM IR: typed values, and a builder of functions over inkwell's.

mod operations;

use std::cell::{OnceCell, RefCell};

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicType, BasicTypeEnum, FunctionType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue, FunctionValue, InstructionValue,
    IntValue, MetadataValue, PhiValue, PointerValue,
};
use rustc_hash::FxHashMap;

/// The type of an element. Of those of floats, the larger is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// An integer of so many bits.
    Int(u32),
    /// `half`
    Half,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `ptr`
    Pointer,
}

impl Scalar {
    /// Bits; of a pointer 64.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Int(bits) => bits,
            Scalar::Half => 16,
            Scalar::Float => 32,
            Scalar::Double | Scalar::Pointer => 64,
        }
    }
}

/// A type: an element, or a vector of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty {
    /// Element.
    pub scalar: Scalar,
    /// Elements; 1 is no vector.
    pub lanes: u32,
}

impl Ty {
    /// Integers.
    pub const fn int(bits: u32, lanes: u32) -> Ty {
        Ty { scalar: Scalar::Int(bits), lanes }
    }

    /// The same number of other elements.
    pub fn of(self, scalar: Scalar) -> Ty {
        Ty { scalar, ..self }
    }

    /// Bytes of a value in memory.
    pub fn bytes(self) -> usize {
        (self.scalar.bits() * self.lanes / 8) as usize
    }

    /// Inkwell's type.
    fn own(self, context: ContextRef<'_>) -> BasicTypeEnum<'_> {
        let scalar: BasicTypeEnum<'_> = match self.scalar {
            Scalar::Int(bits) => {
                let width = std::num::NonZeroU32::new(bits);
                let ty = width.and_then(|width| context.custom_width_int_type(width).ok());
                ty.unwrap_or_else(|| unreachable!("integers of {bits} bits")).into()
            }
            Scalar::Half => context.f16_type().into(),
            Scalar::Float => context.f32_type().into(),
            Scalar::Double => context.f64_type().into(),
            Scalar::Pointer => context.ptr_type(AddressSpace::default()).into(),
        };
        match (self.lanes, scalar) {
            (1, _) => scalar,
            (lanes, BasicTypeEnum::IntType(ty)) => ty.vec_type(lanes).into(),
            (lanes, BasicTypeEnum::FloatType(ty)) => ty.vec_type(lanes).into(),
            (lanes, BasicTypeEnum::PointerType(ty)) => ty.vec_type(lanes).into(),
            _ => unreachable!("vectors of {scalar}"),
        }
    }
}

/// `ptr`
pub const POINTER: Ty = Ty { scalar: Scalar::Pointer, lanes: 1 };
/// `i1`
pub const BIT: Ty = Ty::int(1, 1);
/// `i32`
pub const I32: Ty = Ty::int(32, 1);
/// `i64`
pub const I64: Ty = Ty::int(64, 1);

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value<'c> {
    /// Its type.
    pub ty: Ty,
    own: BasicValueEnum<'c>,
}

impl<'c> Value<'c> {
    fn int(self) -> IntValue<'c> {
        self.own.into_int_value()
    }

    fn pointer(self) -> PointerValue<'c> {
        self.own.into_pointer_value()
    }

    /// A constant integer of up to 64 bits that is no vector.
    fn as_int(self) -> Option<u64> {
        matches!(self.own, BasicValueEnum::IntValue(_))
            .then(|| self.int())
            .filter(|own| self.ty.scalar.bits() <= 64 && own.is_constant_int())?
            .get_zero_extended_constant()
    }

    /// Whether it is 0 in all lanes.
    fn is_zero(self) -> bool {
        match self.own {
            BasicValueEnum::IntValue(own) => own.is_null(),
            BasicValueEnum::VectorValue(own) => own.is_null(),
            _ => false,
        }
    }
}

/// A basic block.
pub type Label<'c> = BasicBlock<'c>;

/// Memory of which no class overlaps another (type-based alias analysis).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The frame and windows.
    Frame,
    /// Buffers.
    Memory,
    /// Register files, and variables.
    Registers,
    /// Shared local memory.
    Local,
}

/// What is known of an access.
#[derive(Clone, Copy)]
pub struct Mark {
    /// Alignment in bytes.
    pub alignment: u8,
    /// Class of the memory, if it is known.
    pub class: Option<Class>,
    /// Whether the memory does not change while the function runs.
    pub is_invariant: bool,
}

impl Mark {
    /// Of memory that changes.
    pub const fn new(alignment: u8, class: Class) -> Mark {
        Mark { alignment, class: Some(class), is_invariant: false }
    }

    /// Of memory that does not change while the function runs.
    pub const fn invariant(alignment: u8, class: Class) -> Mark {
        Mark { alignment, class: Some(class), is_invariant: true }
    }
}

/// What is called.
pub enum Callee<'c, 'n> {
    /// A function of the module, which may be written later.
    Named(&'n str),
    /// The address of a function.
    Address(Value<'c>),
}

/// A function that is being built. Its first block has the variables, and loads of what does not change.
pub struct Function<'m, 'c> {
    module: &'m Module<'c>,
    context: ContextRef<'c>,
    own: FunctionValue<'c>,
    parameters: Vec<Ty>,
    builder: Builder<'c>,
    first: Builder<'c>,
    /// By pointer, offset and type, what the first block has loaded.
    hoisted: RefCell<FxHashMap<(Value<'c>, usize, Ty), Value<'c>>>,
    sink: OnceCell<Value<'c>>,
    classes: [MetadataValue<'c>; 4],
}

/// What a builder has built. It fails only where operands have wrong types.
fn built<T>(result: Result<T, BuilderError>) -> T {
    result.unwrap_or_else(|error| unreachable!("{error}"))
}

/// `name`, or `name=text` where it is none of LLVM's.
fn attribute(context: ContextRef<'_>, text: &str) -> Attribute {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match Attribute::get_named_enum_kind_id(name) {
        0 => context.create_string_attribute(name, value),
        // Of `memory`, 0 is `none`.
        kind => context.create_enum_attribute(kind, 0),
    }
}

fn signature<'c>(context: ContextRef<'c>, result: Option<Ty>, parameters: &[Ty]) -> FunctionType<'c> {
    let parameters: Vec<_> = parameters.iter().map(|ty| ty.own(context).into()).collect();
    match result {
        Some(ty) => ty.own(context).fn_type(&parameters, false),
        None => context.void_type().fn_type(&parameters, false),
    }
}

impl<'m, 'c> Function<'m, 'c> {
    /// Begins a function, which may have been called already.
    pub fn new(
        module: &'m Module<'c>,
        name: &str,
        result: Option<Ty>,
        parameters: &[Ty],
        attributes: &[&str],
    ) -> Function<'m, 'c> {
        let context = module.get_context();
        let ty = signature(context, result, parameters);
        let own = module.get_function(name).unwrap_or_else(|| module.add_function(name, ty, None));
        for text in attributes {
            own.add_attribute(AttributeLoc::Function, attribute(context, text));
        }
        let [builder, first] = [(); 2].map(|()| context.create_builder());
        first.position_at_end(context.append_basic_block(own, "start"));
        let root = context.metadata_node(&[context.metadata_string("gencl").into()]);
        let zero = context.i64_type().const_zero();
        let classes = ["frame", "memory", "registers", "shared local memory"].map(|name| {
            let ty = [context.metadata_string(name).into(), root.into(), zero.into()];
            let ty = context.metadata_node(&ty).into();
            context.metadata_node(&[ty, ty, zero.into()])
        });
        let (hoisted, parameters) = (RefCell::default(), parameters.to_vec());
        Function { module, context, own, parameters, builder, first, hoisted, sink: OnceCell::new(), classes }
    }

    /// Makes it visible to nobody outside of the module.
    pub fn set_internal(&self) {
        self.own.set_linkage(Linkage::Internal);
    }

    /// Gives a parameter an attribute.
    pub fn mark_parameter(&self, number: u32, text: &str) {
        self.own.add_attribute(AttributeLoc::Param(number), attribute(self.context, text));
    }

    /// A parameter.
    pub fn parameter(&self, number: usize) -> Value<'c> {
        let Some(own) = self.own.get_nth_param(number as u32) else { unreachable!("no parameter {number}") };
        Value { ty: self.parameters[number], own }
    }

    /// Ends the function: its first block jumps to `entry`. Blocks that were not begun are removed.
    pub fn finish(&self, entry: Label<'c>) {
        built(self.first.build_unconditional_branch(entry));
        for block in self.own.get_basic_blocks() {
            if block.get_first_instruction().is_none() {
                assert!(block.get_first_use().is_none(), "a branch to a block that was not begun");
                // SAFETY: nothing refers to the block.
                let _ = unsafe { block.delete() };
            }
        }
    }

    fn value(&self, ty: Ty, own: impl BasicValue<'c>) -> Value<'c> {
        Value { ty, own: own.as_basic_value_enum() }
    }

    fn ty(&self, ty: Ty) -> BasicTypeEnum<'c> {
        ty.own(self.context)
    }

    /// All elements the same integer.
    pub fn int(&self, ty: Ty, value: u64) -> Value<'c> {
        self.ints(ty, |_| value)
    }

    /// Integers by lane.
    pub fn ints(&self, ty: Ty, value: impl Fn(u32) -> u64) -> Value<'c> {
        self.constant(ty, |lane| value(lane).into())
    }

    /// Elements of these bits.
    pub fn constant(&self, ty: Ty, bits: impl Fn(u32) -> u128) -> Value<'c> {
        let integer = Ty::int(ty.scalar.bits(), ty.lanes);
        let element = self.ty(Ty { lanes: 1, ..integer }).into_int_type();
        let one = |lane| {
            let bits = bits(lane) & (u128::MAX >> (128 - ty.scalar.bits()));
            match ty.scalar.bits() {
                ..=64 => element.const_int(bits as u64, false),
                _ => element.const_int_arbitrary_precision(&[bits as u64, (bits >> 64) as u64]),
            }
        };
        let own: BasicValueEnum<'c> = match ty.lanes {
            1 => one(0).into(),
            lanes => {
                inkwell::types::VectorType::const_vector(&(0..lanes).map(one).collect::<Vec<_>>()).into()
            }
        };
        match ty == integer {
            true => Value { ty, own },
            false => self.value(ty, built(self.builder.build_bit_cast(own, self.ty(ty), ""))),
        }
    }

    /// Any bits: what is read of it does not matter.
    pub fn poison(&self, ty: Ty) -> Value<'c> {
        let own: BasicValueEnum<'c> = match self.ty(ty) {
            BasicTypeEnum::VectorType(own) => own.get_poison().into(),
            BasicTypeEnum::IntType(own) => own.get_poison().into(),
            BasicTypeEnum::FloatType(own) => own.get_poison().into(),
            _ => unreachable!("no such values are lowered"),
        };
        Value { ty, own }
    }

    /// A new block, to be begun later.
    pub fn label(&self) -> Label<'c> {
        self.context.append_basic_block(self.own, "")
    }

    /// Appends to a block, which becomes the last one of the function. The block before jumps there if it has no terminator.
    pub fn begin(&self, label: Label<'c>) {
        if let Some(before) = self.builder.get_insert_block()
            && before.get_terminator().is_none()
        {
            self.jump(label);
        }
        if let Some(last) = self.own.get_last_basic_block()
            && last != label
        {
            let _ = label.move_after(last);
        }
        self.builder.position_at_end(label);
    }

    /// What follows is put before what a block has.
    pub fn resume_at_begin(&self, label: Label<'c>) {
        match label.get_first_instruction() {
            Some(instruction) => self.builder.position_before(&instruction),
            None => self.builder.position_at_end(label),
        }
    }

    /// Leaves a block, to append to it later.
    pub fn leave(&self) {
        self.builder.clear_insertion_position();
    }

    /// The block that is being written.
    pub fn current(&self) -> Label<'c> {
        self.builder.get_insert_block().unwrap_or_else(|| unreachable!("no block has been begun"))
    }

    /// `phi`, whose operands are added later.
    pub fn phi(&self, ty: Ty) -> Value<'c> {
        self.value(ty, built(self.builder.build_phi(self.ty(ty), "")).as_basic_value())
    }

    /// The operands of a `phi`.
    pub fn add_incoming(&self, phi: Value<'c>, incoming: &[(Value<'c>, Label<'c>)]) {
        let own = phi.own.as_instruction_value().and_then(|own| PhiValue::try_from(own).ok());
        let Some(own) = own else { unreachable!("no phi") };
        for (value, from) in incoming {
            own.add_incoming(&[(&value.own, *from)]);
        }
    }

    /// `phi` with its operands.
    pub fn phi_of(&self, incoming: &[(Value<'c>, Label<'c>)]) -> Value<'c> {
        let phi = self.phi(incoming[0].0.ty);
        self.add_incoming(phi, incoming);
        phi
    }

    /// An integer of which LLVM does not know where it is from.
    pub fn opaque(&self, a: Value<'c>) -> Value<'c> {
        let ty = signature(self.context, Some(a.ty), &[a.ty]);
        let own = self.context.create_inline_asm(ty, String::new(), "=r,0".into(), false, false, None, false);
        let call = built(self.builder.build_indirect_call(ty, own, &[a.own.into()], ""));
        self.mark_call(call, &["memory", "nounwind", "willreturn"]);
        self.value(a.ty, call.try_as_basic_value().unwrap_basic())
    }

    /// A variable on the stack.
    pub fn variable(&self, bytes: usize) -> Value<'c> {
        let ty = self.context.i8_type().array_type(bytes as u32);
        let own = built(self.first.build_alloca(ty, ""));
        self.aligned(own.as_instruction(), 64);
        self.value(POINTER, own)
    }

    /// A variable that is written and never read.
    pub fn sink(&self) -> Value<'c> {
        *self.sink.get_or_init(|| self.variable(16))
    }

    /// A pointer that is not known yet.
    pub fn placeholder(&self) -> Value<'c> {
        self.variable(1)
    }

    /// Uses a value wherever a placeholder has been used.
    pub fn replace(&self, old: Value<'c>, new: Value<'c>) {
        if let (Some(old), Some(new)) = (old.own.as_instruction_value(), new.own.as_instruction_value()) {
            old.replace_all_uses_with(&new);
            old.erase_from_basic_block();
        }
    }

    fn aligned(&self, instruction: Option<InstructionValue<'c>>, alignment: u32) {
        if let Some(instruction) = instruction {
            let _ = instruction.set_alignment(alignment);
        }
    }

    /// `br`
    pub fn jump(&self, to: Label<'c>) {
        built(self.builder.build_unconditional_branch(to));
    }

    /// `br` by a condition.
    pub fn branch(&self, condition: Value<'c>, yes: Label<'c>, no: Label<'c>) {
        built(self.builder.build_conditional_branch(condition.int(), yes, no));
    }

    /// `br` by a condition that nearly always holds.
    pub fn branch_likely(&self, condition: Value<'c>, yes: Label<'c>, no: Label<'c>) {
        let weight = |weight| self.int(I32, weight).own.into();
        let name = self.context.metadata_string("branch_weights").into();
        let weights = self.context.metadata_node(&[name, weight(1000), weight(1)]);
        let own = built(self.builder.build_conditional_branch(condition.int(), yes, no));
        let _ = own.set_metadata(weights, self.context.get_kind_id("prof"));
    }

    /// Goes on in a new block if a condition holds, as it nearly always does.
    pub fn require(&self, condition: Value<'c>, otherwise: Label<'c>) {
        let on = self.label();
        self.branch_likely(condition, on, otherwise);
        self.begin(on);
    }

    /// `switch` over `0..targets.len()`; other numbers do not occur.
    pub fn switch(&self, number: Value<'c>, targets: &[Label<'c>]) {
        let Some((last, others)) = targets.split_last() else { return };
        let cases: Vec<_> =
            (0..).zip(others).map(|(n, target)| (self.int(number.ty, n).int(), *target)).collect();
        built(self.builder.build_switch(number.int(), *last, &cases));
    }

    /// `ret`
    pub fn ret(&self, value: Option<Value<'c>>) {
        built(self.builder.build_return(value.as_ref().map(|value| &value.own as &dyn BasicValue<'c>)));
    }

    /// Calls an intrinsic, one that is overloaded by these types.
    pub fn intrinsic(&self, name: &str, overloads: &[Ty], ty: Ty, arguments: &[Value<'c>]) -> Value<'c> {
        self.value(ty, self.intrinsic_call(name, overloads, arguments).try_as_basic_value().unwrap_basic())
    }

    /// As [`Function::intrinsic`], without result.
    pub fn intrinsic_line(&self, name: &str, overloads: &[Ty], arguments: &[Value<'c>]) {
        self.intrinsic_call(name, overloads, arguments);
    }

    fn intrinsic_call(&self, name: &str, overloads: &[Ty], arguments: &[Value<'c>]) -> CallSiteValue<'c> {
        let types: Vec<_> = overloads.iter().map(|ty| self.ty(*ty)).collect();
        let found = Intrinsic::find(&format!("llvm.{name}"));
        let Some(function) = found.and_then(|found| found.get_declaration(self.module, &types)) else {
            unreachable!("LLVM has no {name}")
        };
        let arguments: Vec<BasicMetadataValueEnum<'c>> = arguments.iter().map(|a| a.own.into()).collect();
        built(self.builder.build_call(function, &arguments, ""))
    }

    /// Calls a function with a result.
    pub fn call(
        &self,
        callee: Callee<'c, '_>,
        result: Ty,
        arguments: &[Value<'c>],
        attributes: &[&str],
    ) -> Value<'c> {
        let call = self.call_site(callee, Some(result), arguments, attributes);
        self.value(result, call.try_as_basic_value().unwrap_basic())
    }

    /// Calls a function without one.
    pub fn call_void(&self, callee: Callee<'c, '_>, arguments: &[Value<'c>], attributes: &[&str]) {
        self.call_site(callee, None, arguments, attributes);
    }

    fn call_site(
        &self,
        callee: Callee<'c, '_>,
        result: Option<Ty>,
        arguments: &[Value<'c>],
        attributes: &[&str],
    ) -> CallSiteValue<'c> {
        let types: Vec<Ty> = arguments.iter().map(|a| a.ty).collect();
        let ty = signature(self.context, result, &types);
        let arguments: Vec<BasicMetadataValueEnum<'c>> = arguments.iter().map(|a| a.own.into()).collect();
        let call = built(match callee {
            Callee::Named(name) => {
                let own = self.module.get_function(name);
                let own = own.unwrap_or_else(|| self.module.add_function(name, ty, None));
                self.builder.build_call(own, &arguments, "")
            }
            Callee::Address(own) => self.builder.build_indirect_call(ty, own.pointer(), &arguments, ""),
        });
        self.mark_call(call, attributes);
        call
    }

    fn mark_call(&self, call: CallSiteValue<'c>, attributes: &[&str]) {
        attributes
            .iter()
            .for_each(|text| call.add_attribute(AttributeLoc::Function, attribute(self.context, text)));
    }
}

/// Whether a module has a function that is called, but not written yet.
pub fn is_missing(module: &Module<'_>, name: &str) -> bool {
    module.get_function(name).is_some_and(|own| own.count_basic_blocks() == 0)
}

/// The number of a module's instructions.
pub fn instructions(module: &Module<'_>) -> usize {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
    blocks.map(|block| block.get_instructions().count()).sum()
}
