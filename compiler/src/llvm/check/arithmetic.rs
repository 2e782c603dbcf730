//! Checks of operations whose result the language does not define.

use gencl_program::finding::{Check, Site};
use gencl_program::tools::Tools;
use indexmap::IndexSet;
use inkwell::context::Context;
use inkwell::module::Module;

use super::Checker;
use crate::llvm::build::Builder;
use crate::llvm::debug::DebugLocation;
use crate::llvm::view::{self, IntPredicate, Opcode, RealPredicate, TypeKind, Value, ValueKind};

/// The product's upper half of longs.
const MUL_HI: &str = "_Z6mul_hill";

/// Adds the checks that tools ask for to the source's functions. The library's are not there yet.
pub fn arithmetic(context: &Context, module: &Module, tools: Tools, sites: &mut IndexSet<Site>) {
    let builder = Builder::new(context, module);
    let functions = view::Module::of(module).functions();
    let instructions: Vec<_> =
        functions.flat_map(|function| function.blocks()).flat_map(view::Block::instructions).collect();
    let mut checker = Checker { builder: &builder, sites };
    for instruction in
        instructions.into_iter().filter(|&instruction| DebugLocation::of(instruction).is_some())
    {
        match instruction.opcode() {
            opcode @ (Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem) => {
                if tools.arithmetic {
                    checker.division(instruction);
                }
                if tools.overflow && matches!(opcode, Opcode::LLVMSDiv | Opcode::LLVMSRem) {
                    checker.quotient(instruction);
                }
            }
            Opcode::LLVMFPToSI if tools.arithmetic => checker.conversion(instruction, true),
            Opcode::LLVMFPToUI if tools.arithmetic => checker.conversion(instruction, false),
            Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr if tools.shift => {
                checker.shift(instruction);
            }
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul
                if tools.overflow && instruction.has_no_overflow() =>
            {
                checker.overflow(instruction);
            }
            _ => {}
        }
    }
}

impl<'m> Checker<'_, 'm> {
    fn division(&mut self, instruction: Value<'m>) {
        let b = self.builder;
        b.before(instruction);
        let is_zero = |[divisor]: [Value<'m>; 1]| b.equal(divisor, b.zero(divisor.ty()));
        let failed = self.any([instruction.operand(1)], is_zero);
        self.plain(instruction, Check::Division, failed);
    }

    /// A float becomes an integer: its truncated value has to be one of the type's.
    fn conversion(&mut self, instruction: Value<'m>, signed: bool) {
        let b = self.builder;
        b.before(instruction);
        let Some(bits) = width(instruction) else { return };
        // The least power of two that is too large, and the largest number that is too small.
        let above = 2f64.powi((if signed { bits - 1 } else { bits }).cast_signed());
        let below = if signed { -above - 1.0 } else { -1.0 };
        let is_outside = |[x]: [Value<'m>; 1]| {
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
        let failed = self.any([instruction.operand(0)], is_outside);
        self.plain(instruction, Check::Conversion, failed);
    }

    /// The least integer divided by -1 is none of its type.
    fn quotient(&mut self, instruction: Value<'m>) {
        let b = self.builder;
        let Some(bits) = width(instruction) else { return };
        b.before(instruction);
        let failed = self.any([0, 1].map(|index| instruction.operand(index)), |[x, y]| {
            let is_least = b.equal(x, b.number(bits, 1 << (bits - 1)));
            b.binary(Opcode::LLVMAnd, is_least, b.equal(y, b.ones(y.ty())))
        });
        self.plain(instruction, Check::Overflow, failed);
    }

    /// A sum, difference or product is one of the type's integers.
    fn overflow(&mut self, instruction: Value<'m>) {
        let b = self.builder;
        let Some(bits) = width(instruction) else { return };
        // Or passes could conclude from it that the check never fails.
        instruction.let_overflow();
        b.before(instruction);
        let opcode = instruction.opcode();
        let binary = |opcode, x, y| b.binary(opcode, x, y);
        let differ = |x: Value<'m>, y| b.compare(IntPredicate::LLVMIntNE, x, y);
        let failed = self.any([0, 1].map(|index| instruction.operand(index)), |[x, y]| match opcode {
            Opcode::LLVMMul if bits > 32 => {
                let above = b.call(MUL_HI, x.ty(), &[x, y]);
                let product = binary(opcode, x, y);
                differ(above, binary(Opcode::LLVMAShr, product, b.number(bits, u64::from(bits) - 1)))
            }
            Opcode::LLVMMul => {
                let [x, y] = [x, y].map(|value| b.resize(value, b.int(64), true));
                let product = binary(opcode, x, y);
                let low = b.resize(product, b.int(bits), false);
                differ(product, b.resize(low, b.int(64), true))
            }
            // The sign of a sum differs from those of both operands; a difference is a sum, too.
            _ => {
                let result = binary(opcode, x, y);
                let (sum, part) = if opcode == Opcode::LLVMAdd { (result, x) } else { (x, result) };
                let signs = binary(
                    Opcode::LLVMAnd,
                    binary(Opcode::LLVMXor, sum, part),
                    binary(Opcode::LLVMXor, sum, y),
                );
                b.compare(IntPredicate::LLVMIntSLT, signs, b.zero(signs.ty()))
            }
        });
        self.plain(instruction, Check::Overflow, failed);
    }

    /// The amount of a shift is less than the width.
    fn shift(&mut self, instruction: Value<'m>) {
        let b = self.builder;
        let Some(bits) = width(instruction) else { return };
        b.before(instruction);
        let amount = given_amount(instruction);
        let larger = |x: Value<'m>, y| b.select(b.compare(IntPredicate::LLVMIntUGT, x, y), x, y);
        let amount = self.elements([amount]).into_iter().map(|[amount]| amount).reduce(larger);
        let amount = amount.expect("vectors have elements");
        let failed = b.compare(IntPredicate::LLVMIntUGE, amount, b.number_of(amount.ty(), bits.into()));
        let zero = b.number(64, 0);
        self.check(instruction, (Check::Shift(bits.into()), None), failed, [zero, amount, zero]);
    }

    /// Scalars, or what the elements of vectors with the same number of them are.
    fn elements<const N: usize>(&self, values: [Value<'m>; N]) -> Vec<[Value<'m>; N]> {
        match values[0].ty().kind() {
            TypeKind::Vector(count, _) => {
                (0..count).map(|index| values.map(|value| self.builder.extract(value, index))).collect()
            }
            _ => vec![values],
        }
    }

    /// Whether something is true of scalars, or of any elements of vectors.
    fn any<const N: usize>(
        &self,
        values: [Value<'m>; N],
        is: impl Fn([Value<'m>; N]) -> Value<'m>,
    ) -> Value<'m> {
        let each = self.elements(values).into_iter().map(is);
        each.reduce(|x, y| self.builder.binary(Opcode::LLVMOr, x, y)).expect("vectors have elements")
    }

    fn plain(&mut self, instruction: Value<'m>, check: Check, failed: Value<'m>) {
        let zero = self.builder.number(64, 0);
        self.check(instruction, (check, None), failed, [zero; 3]);
    }
}

/// The bits of an integer, or of each element of a vector of them.
fn width(value: Value) -> Option<u32> {
    let kind = match value.ty().kind() {
        TypeKind::Vector(_, element) => element.kind(),
        kind => kind,
    };
    if let TypeKind::Integer(bits) = kind { Some(bits) } else { None }
}

/// The amount of a shift as the source has it: clang converts it to the other operand's type, then masks it (OpenCL C,
/// 6.3.10), with an instruction each of the shift's own place.
fn given_amount(shift: Value) -> Value {
    let is_clang = |value: Value, opcodes: &[Opcode]| {
        value.kind() == ValueKind::Instruction
            && value.location() == shift.location()
            && opcodes.contains(&value.opcode())
    };
    let masks = [Opcode::LLVMAnd];
    let casts = [Opcode::LLVMZExt, Opcode::LLVMSExt, Opcode::LLVMTrunc];
    [masks.as_slice(), &casts].into_iter().fold(shift.operand(1), |amount, opcodes| {
        if is_clang(amount, opcodes) { amount.operand(0) } else { amount }
    })
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
