//! Checks of operations whose result the language does not define.

use gencl_program::finding::{Check, Site};
use indexmap::IndexSet;
use inkwell::context::Context;
use inkwell::module::Module;

use super::Checker;
use crate::llvm::build::Builder;
use crate::llvm::debug::DebugLocation;
use crate::llvm::view::{self, Opcode, RealPredicate, TypeKind, Value};

/// Adds checks of divisors and conversions of the source's functions. The library's are not there yet.
pub fn arithmetic(context: &Context, module: &Module, sites: &mut IndexSet<Site>) {
    let builder = Builder::new(context, module);
    let functions = view::Module::of(module).functions();
    let instructions: Vec<_> =
        functions.flat_map(|function| function.blocks()).flat_map(view::Block::instructions).collect();
    let mut checker = Checker { builder: &builder, sites };
    for instruction in
        instructions.into_iter().filter(|&instruction| DebugLocation::of(instruction).is_some())
    {
        match instruction.opcode() {
            Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem => {
                checker.division(instruction);
            }
            Opcode::LLVMFPToSI => checker.conversion(instruction, true),
            Opcode::LLVMFPToUI => checker.conversion(instruction, false),
            _ => {}
        }
    }
}

impl<'m> Checker<'_, 'm> {
    fn division(&mut self, instruction: Value<'m>) {
        let b = self.builder;
        b.before(instruction);
        let is_zero = |divisor: Value<'m>| b.equal(divisor, b.zero(divisor.ty()));
        let failed = self.any(instruction.operand(1), is_zero);
        self.plain(instruction, Check::Division, failed);
    }

    /// A float becomes an integer: its truncated value has to be one of the type's.
    fn conversion(&mut self, instruction: Value<'m>, signed: bool) {
        let b = self.builder;
        b.before(instruction);
        let to = match instruction.ty().kind() {
            TypeKind::Vector(_, element) => element.kind(),
            kind => kind,
        };
        let TypeKind::Integer(bits) = to else { return };
        // The least power of two that is too large, and the largest number that is too small.
        let above = 2f64.powi((if signed { bits - 1 } else { bits }).cast_signed());
        let below = if signed { -above - 1.0 } else { -1.0 };
        let is_outside = |x: Value<'m>| {
            // -2^31 - 1 is none of a float's numbers: there the integer's least number itself is the limit.
            let (limit, predicate) = if rounds_up(x, below) {
                (-above, RealPredicate::LLVMRealOGE)
            } else {
                (below, RealPredicate::LLVMRealOGT)
            };
            let is_above_least = b.compare_floats(predicate, x, b.float(x.ty(), limit));
            let is_below = b.compare_floats(RealPredicate::LLVMRealOLT, x, b.float(x.ty(), above));
            let is_inside = b.binary(Opcode::LLVMAnd, is_above_least, is_below);
            b.equal(is_inside, b.number(1, 0))
        };
        let failed = self.any(instruction.operand(0), is_outside);
        self.plain(instruction, Check::Conversion, failed);
    }

    /// Whether something is true of a scalar, or of any element of a vector.
    fn any(&self, value: Value<'m>, is: impl Fn(Value<'m>) -> Value<'m>) -> Value<'m> {
        let b = self.builder;
        let TypeKind::Vector(count, _) = value.ty().kind() else { return is(value) };
        let each = (0..count).map(|index| is(b.extract(value, index)));
        each.reduce(|x, y| b.binary(Opcode::LLVMOr, x, y)).expect("vectors have elements")
    }

    fn plain(&mut self, instruction: Value<'m>, check: Check, failed: Value<'m>) {
        let zero = self.builder.number(64, 0);
        self.check(instruction, (check, None), failed, [zero; 3]);
    }
}

/// Whether an integral number becomes a larger one that is finite in a float's type.
fn rounds_up(float: Value, number: f64) -> bool {
    let (digits, exponents) = match float.ty().kind() {
        TypeKind::Half => (11, 16),
        TypeKind::Float => (24, 128),
        _ => (53, 1024),
    };
    (2f64.powi(digits)..2f64.powi(exponents)).contains(&-number)
}
