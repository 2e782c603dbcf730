//! Shadows of values: integers of the same width, of which a bit says whether that of the value is undefined.
//!
//! Rules as those of LLVM's MemorySanitizer: bits of `and`, `or`, shifts and casts are followed each, so that bit fields
//! and packed bytes are defined where they are; sums spread by bit; what else an undefined bit goes into is undefined as a
//! whole.

use std::collections::HashMap;

use crate::llvm::build::Builder;
use crate::llvm::check::mark::is_mark;
use crate::llvm::view::{IntPredicate, Opcode, Type, TypeKind, Value};

/// Shadows of a kernel's values.
pub(super) struct Shadows<'c, 'm> {
    builder: &'c Builder<'m>,
    /// Of values that may be undefined.
    known: HashMap<Value<'m>, Value<'m>>,
}

impl<'c, 'm> Shadows<'c, 'm> {
    pub(super) fn new(builder: &'c Builder<'m>) -> Self {
        Self { builder, known: HashMap::new() }
    }

    /// The shadow of a value; `None` if it is defined.
    pub(super) fn of(&self, value: Value<'m>) -> Option<Value<'m>> {
        self.known.get(&value).copied()
    }

    /// Sets that of a value.
    pub(super) fn set(&mut self, value: Value<'m>, shadow: Value<'m>) {
        self.known.insert(value, shadow);
    }

    /// The type of shadows; `None` for aggregates, images and so on, which are defined.
    pub(super) fn ty(&self, ty: Type<'m>) -> Option<Type<'m>> {
        let b = self.builder;
        Some(match ty.kind() {
            TypeKind::Integer(_) => ty,
            TypeKind::Half => b.int(16),
            TypeKind::Float => b.int(32),
            TypeKind::Double => b.int(64),
            TypeKind::Pointer(_) => b.int(8 * b.size_of(ty) as u32),
            TypeKind::Vector(count, element) => b.vector(self.ty(element)?, count),
            _ => return None,
        })
    }

    /// Whether any bit is undefined: one bit.
    pub(super) fn any(&self, shadow: Value<'m>) -> Value<'m> {
        let b = self.builder;
        let is_any = |shadow: Value<'m>| b.compare(IntPredicate::LLVMIntNE, shadow, b.zero(shadow.ty()));
        let TypeKind::Vector(count, _) = shadow.ty().kind() else { return is_any(shadow) };
        let elements = (0..count).map(|index| b.extract(shadow, index));
        let all = elements.reduce(|x, y| b.binary(Opcode::LLVMOr, x, y));
        is_any(all.expect("vectors have elements"))
    }

    /// Adds the shadow of an instruction with operands that may be undefined, in front of it. Those of memory and choices
    /// by control flow are not made here.
    pub(super) fn propagate(&mut self, instruction: Value<'m>) {
        self.builder.before(instruction);
        if let Some(shadow) = self.result(instruction) {
            self.set(instruction, shadow);
        }
    }

    fn result(&self, i: Value<'m>) -> Option<Value<'m>> {
        let b = self.builder;
        let ty = self.ty(i.ty())?;
        if is_mark(i) {
            return Some(b.ones(ty));
        }
        let operand = |index| self.of(i.operand(index));
        let binary = |opcode, x, y| b.binary(opcode, x, y);
        let or = |x, y| binary(Opcode::LLVMOr, x, y);
        match i.opcode() {
            Opcode::LLVMAnd => self.masked([i.operand(0), i.operand(1)]),
            // Bits that are set in the other operand are defined: the complement is an `and` of complements.
            Opcode::LLVMOr => {
                let complements =
                    [0, 1].map(|index| binary(Opcode::LLVMXor, i.operand(index), b.ones(i.ty())));
                let [x, y] = complements;
                self.masked_by([operand(0), operand(1)], [x, y])
            }
            Opcode::LLVMXor | Opcode::LLVMAdd | Opcode::LLVMSub => self.union(&[operand(0), operand(1)]),
            Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => {
                let shifted = operand(0).map(|x| binary(i.opcode(), x, i.operand(1)));
                let by = operand(1).map(|by| self.whole(by, ty));
                self.union(&[shifted, by])
            }
            Opcode::LLVMTrunc | Opcode::LLVMZExt | Opcode::LLVMSExt => {
                Some(b.cast(i.opcode(), operand(0)?, ty))
            }
            Opcode::LLVMBitCast => Some(b.cast(Opcode::LLVMBitCast, operand(0)?, ty)),
            Opcode::LLVMFreeze => operand(0),
            Opcode::LLVMICmp | Opcode::LLVMFCmp => {
                let both = self.union(&[operand(0), operand(1)])?;
                Some(b.compare(IntPredicate::LLVMIntNE, both, b.zero(both.ty())))
            }
            Opcode::LLVMSelect => {
                let zero = || b.zero(ty);
                let [yes, no] = [1, 2].map(|index| operand(index).unwrap_or_else(zero));
                let chosen = b.select(i.operand(0), yes, no);
                Some(match operand(0) {
                    Some(condition) if matches!(condition.ty().kind(), TypeKind::Vector(..)) => {
                        or(chosen, self.whole(condition, ty))
                    }
                    Some(condition) => or(chosen, self.spread(condition, ty)),
                    None => chosen,
                })
            }
            Opcode::LLVMExtractElement => Some(b.extract_at(operand(0)?, i.operand(1))),
            Opcode::LLVMInsertElement => {
                let element = || b.zero(self.ty(i.operand(1).ty()).expect("elements are numbers"));
                let vector = operand(0).unwrap_or_else(|| b.zero(ty));
                Some(b.insert_at(vector, operand(1).unwrap_or_else(element), i.operand(2)))
            }
            Opcode::LLVMShuffleVector => self.shuffled(i, ty),
            Opcode::LLVMFNeg
            | Opcode::LLVMMul
            | Opcode::LLVMFAdd
            | Opcode::LLVMFSub
            | Opcode::LLVMFMul
            | Opcode::LLVMFDiv
            | Opcode::LLVMFRem
            | Opcode::LLVMUDiv
            | Opcode::LLVMSDiv
            | Opcode::LLVMURem
            | Opcode::LLVMSRem => {
                let all: Vec<_> = i.operands().into_iter().map(|operand| self.of(operand)).collect();
                Some(self.whole(self.union(&all)?, ty))
            }
            Opcode::LLVMFPTrunc
            | Opcode::LLVMFPExt
            | Opcode::LLVMFPToUI
            | Opcode::LLVMFPToSI
            | Opcode::LLVMUIToFP
            | Opcode::LLVMSIToFP
            | Opcode::LLVMPtrToInt
            | Opcode::LLVMIntToPtr
            | Opcode::LLVMAddrSpaceCast => Some(self.whole(operand(0)?, ty)),
            Opcode::LLVMGetElementPtr => self.of_all(&i.operands(), ty),
            Opcode::LLVMCall => {
                let arguments = i.call_arguments();
                let is_by_element = arguments.iter().all(|argument| self.ty(argument.ty()) == Some(ty));
                if !is_by_element {
                    return self.of_all(&arguments, ty);
                }
                let all: Vec<_> = arguments.into_iter().map(|argument| self.of(argument)).collect();
                Some(self.whole(self.union(&all)?, ty))
            }
            _ => None,
        }
    }

    /// The union of shadows of one type.
    fn union(&self, shadows: &[Option<Value<'m>>]) -> Option<Value<'m>> {
        let known = shadows.iter().copied().flatten();
        known.reduce(|x, y| self.builder.binary(Opcode::LLVMOr, x, y))
    }

    /// Of an `and`: a zero in one operand makes a bit defined.
    fn masked(&self, operands: [Value<'m>; 2]) -> Option<Value<'m>> {
        self.masked_by(operands.map(|operand| self.of(operand)), operands)
    }

    fn masked_by(&self, shadows: [Option<Value<'m>>; 2], values: [Value<'m>; 2]) -> Option<Value<'m>> {
        let b = self.builder;
        let and = |x, y| b.binary(Opcode::LLVMAnd, x, y);
        let ([x, y], [x_bits, y_bits]) = (shadows, values);
        let both = x.zip(y).map(|(x, y)| and(x, y));
        self.union(&[both, x.map(|x| and(x, y_bits)), y.map(|y| and(y, x_bits))])
    }

    /// Undefined as a whole, by element, in a type of as many elements.
    fn whole(&self, shadow: Value<'m>, ty: Type<'m>) -> Value<'m> {
        let b = self.builder;
        let is_any = b.compare(IntPredicate::LLVMIntNE, shadow, b.zero(shadow.ty()));
        if is_any.ty() == ty { is_any } else { b.cast(Opcode::LLVMSExt, is_any, ty) }
    }

    /// One bit in all bits.
    fn spread(&self, bit: Value<'m>, ty: Type<'m>) -> Value<'m> {
        let b = self.builder;
        let TypeKind::Vector(count, element) = ty.kind() else { return b.resize(bit, ty, true) };
        let bits = b.resize(bit, element, true);
        (0..count).fold(b.zero(ty), |vector, index| b.insert(vector, bits, index))
    }

    /// Undefined as a whole if any operand is in part.
    fn of_all(&self, operands: &[Value<'m>], ty: Type<'m>) -> Option<Value<'m>> {
        let known = operands.iter().filter_map(|operand| self.of(*operand));
        let any =
            known.map(|shadow| self.any(shadow)).reduce(|x, y| self.builder.binary(Opcode::LLVMOr, x, y))?;
        Some(self.spread(any, ty))
    }

    fn shuffled(&self, i: Value<'m>, ty: Type<'m>) -> Option<Value<'m>> {
        let b = self.builder;
        let TypeKind::Vector(count, _) = i.operand(0).ty().kind() else { return None };
        let sources = [0, 1].map(|index| self.of(i.operand(index)));
        let mut result = b.zero(ty);
        for (to, from) in (0..).zip(i.shuffle_mask()) {
            // Elements that are not chosen are nobody's fault: clang pads vectors of three so.
            let Some(from) = from else { continue };
            if let Some(source) = sources[usize::from(from >= count)] {
                result = b.insert(result, b.extract(source, from % count), to);
            }
        }
        Some(result)
    }
}
