//! Arithmetic, comparisons, conversions and accesses to memory.

use inkwell::llvm_sys::core::LLVMBuildFreeze;
use inkwell::values::{
    AsValueRef, BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue,
};
use inkwell::{AtomicOrdering, AtomicRMWBinOp, FloatPredicate, IntPredicate};

use super::{BIT, Function, I32, I64, Mark, POINTER, Scalar, Ty, Value, built};
use crate::middle::op::{Binary, Convert, FloatRelation, Relation};

/// Methods for operations that LLVM IR often has.
macro_rules! operations {
    ($($name:ident $operation:ident),*) => {
        $(
            /// LLVM's instruction of that name.
            pub fn $name(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
                self.binary(Binary::$operation, a, b)
            }
        )*
    };
}

impl<'c> Function<'_, 'c> {
    operations! { add Add, sub Sub, mul Mul, and And, or Or, xor Xor, shl Shl, lshr LShr }

    /// An operation on two operands of one type. None where one of them stays as it is.
    pub fn binary(&self, operation: Binary, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        use Binary::{
            AShr, Add, AddNuw, And, FAdd, FDiv, FMul, FSub, LShr, Mul, Or, SDiv, SMax, SMin, SRem, Shl, Sub,
            UMax, UMin, Xor,
        };
        match operation {
            Add | Or | Xor if a.is_zero() => return b,
            Add | Sub | Or | Xor | Shl | LShr | AShr if b.is_zero() => return a,
            And if b.as_int() == Some(u64::MAX >> (64 - b.ty.scalar.bits().min(64))) => return a,
            _ => {}
        }
        let opcode = match operation {
            SMin | SMax | UMin | UMax => return self.intrinsic(operation.name(), &[a.ty], a.ty, &[a, b]),
            Add | AddNuw => InstructionOpcode::Add,
            Sub => InstructionOpcode::Sub,
            Mul => InstructionOpcode::Mul,
            And => InstructionOpcode::And,
            Or => InstructionOpcode::Or,
            Xor => InstructionOpcode::Xor,
            Shl => InstructionOpcode::Shl,
            LShr => InstructionOpcode::LShr,
            AShr => InstructionOpcode::AShr,
            SDiv => InstructionOpcode::SDiv,
            SRem => InstructionOpcode::SRem,
            FAdd => InstructionOpcode::FAdd,
            FSub => InstructionOpcode::FSub,
            FMul => InstructionOpcode::FMul,
            FDiv => InstructionOpcode::FDiv,
        };
        let own = built(self.builder.build_binop(opcode, a.own, b.own, ""));
        if operation == AddNuw
            && let Some(own) = own.as_instruction_value()
        {
            let _ = own.set_no_unsigned_wrap_flag(true);
        }
        self.value(a.ty, own)
    }

    /// `udiv` by a constant.
    pub fn udiv(&self, a: Value<'c>, b: u64) -> Value<'c> {
        let b = self.int(a.ty, b);
        self.value(a.ty, built(self.builder.build_binop(InstructionOpcode::UDiv, a.own, b.own, "")))
    }

    /// `icmp`
    pub fn compare(&self, relation: Relation, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let predicate = match relation {
            Relation::Eq => IntPredicate::EQ,
            Relation::Ne => IntPredicate::NE,
            Relation::Ult => IntPredicate::ULT,
            Relation::Ule => IntPredicate::ULE,
            Relation::Ugt => IntPredicate::UGT,
            Relation::Uge => IntPredicate::UGE,
            Relation::Slt => IntPredicate::SLT,
            Relation::Sle => IntPredicate::SLE,
            Relation::Sgt => IntPredicate::SGT,
            Relation::Sge => IntPredicate::SGE,
        };
        let own: BasicValueEnum<'c> = match (a.own, b.own) {
            (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                built(self.builder.build_int_compare(predicate, a, b, "")).into()
            }
            _ => built(self.builder.build_int_compare(predicate, a.int(), b.int(), "")).into(),
        };
        self.value(a.ty.of(Scalar::Int(1)), own)
    }

    /// Whether integers are the same.
    pub fn equal(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.compare(Relation::Eq, a, b)
    }

    /// Whether integers are `value`.
    pub fn is(&self, a: Value<'c>, value: u64) -> Value<'c> {
        self.equal(a, self.int(a.ty, value))
    }

    /// `fcmp`
    pub fn compare_floats(&self, relation: FloatRelation, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let predicate = match relation {
            FloatRelation::Oeq => FloatPredicate::OEQ,
            FloatRelation::One => FloatPredicate::ONE,
            FloatRelation::Olt => FloatPredicate::OLT,
            FloatRelation::Ole => FloatPredicate::OLE,
            FloatRelation::Ogt => FloatPredicate::OGT,
            FloatRelation::Oge => FloatPredicate::OGE,
            FloatRelation::Ord => FloatPredicate::ORD,
            FloatRelation::Uno => FloatPredicate::UNO,
            FloatRelation::Une => FloatPredicate::UNE,
        };
        let own: BasicValueEnum<'c> = match (a.own, b.own) {
            (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                built(self.builder.build_float_compare(predicate, a, b, "")).into()
            }
            _ => {
                let [a, b] = [a, b].map(|value| value.own.into_float_value());
                built(self.builder.build_float_compare(predicate, a, b, "")).into()
            }
        };
        self.value(a.ty.of(Scalar::Int(1)), own)
    }

    /// A conversion; none if the type is the same.
    pub fn convert(&self, operation: Convert, a: Value<'c>, ty: Ty) -> Value<'c> {
        if a.ty == ty {
            return a;
        }
        let opcode = match operation {
            Convert::Trunc => InstructionOpcode::Trunc,
            Convert::ZExt => InstructionOpcode::ZExt,
            Convert::SExt => InstructionOpcode::SExt,
            Convert::FPExt => InstructionOpcode::FPExt,
            Convert::FPTrunc => InstructionOpcode::FPTrunc,
            Convert::SIToFP => InstructionOpcode::SIToFP,
            Convert::UIToFP => InstructionOpcode::UIToFP,
            Convert::FPToSI => InstructionOpcode::FPToSI,
            Convert::FPToUI => InstructionOpcode::FPToUI,
            Convert::Bitcast => InstructionOpcode::BitCast,
        };
        self.value(ty, built(self.builder.build_cast(opcode, a.own, self.ty(ty), "")))
    }

    /// To integers of another size.
    pub fn resize(&self, a: Value<'c>, bits: u32, signed: bool) -> Value<'c> {
        let operation = match bits.cmp(&a.ty.scalar.bits()) {
            std::cmp::Ordering::Less => Convert::Trunc,
            _ if signed => Convert::SExt,
            _ => Convert::ZExt,
        };
        self.convert(operation, a, a.ty.of(Scalar::Int(bits)))
    }

    /// `zext` or `trunc` to integers of that type's size.
    pub fn to(&self, a: Value<'c>, ty: Ty) -> Value<'c> {
        self.resize(a, ty.scalar.bits(), false)
    }

    /// `bitcast` to elements of the same size.
    pub fn cast(&self, a: Value<'c>, scalar: Scalar) -> Value<'c> {
        self.convert(Convert::Bitcast, a, a.ty.of(scalar))
    }

    /// `freeze`
    pub fn freeze(&self, a: Value<'c>) -> Value<'c> {
        // SAFETY: the builder is in a block, and the value is the function's; inkwell has no method for it.
        let own = unsafe {
            let own = LLVMBuildFreeze(self.builder.as_mut_ptr(), a.own.as_value_ref(), c"".as_ptr());
            BasicValueEnum::new(own)
        };
        self.value(a.ty, own)
    }

    /// `select`
    pub fn select(&self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        let own = match condition.own {
            BasicValueEnum::VectorValue(lanes) => self.builder.build_select(lanes, yes.own, no.own, ""),
            _ => self.builder.build_select(condition.int(), yes.own, no.own, ""),
        };
        self.value(yes.ty, built(own))
    }

    /// A function of one operand that LLVM has.
    pub fn function_of(&self, name: &str, a: Value<'c>) -> Value<'c> {
        self.intrinsic(name, &[a.ty], a.ty, &[a])
    }

    /// `fneg`
    pub fn negated(&self, a: Value<'c>) -> Value<'c> {
        let own: BasicValueEnum<'c> = match a.own {
            BasicValueEnum::VectorValue(own) => built(self.builder.build_float_neg(own, "")).into(),
            own => built(self.builder.build_float_neg(own.into_float_value(), "")).into(),
        };
        self.value(a.ty, own)
    }

    /// A scalar in all lanes.
    pub fn splat(&self, a: Value<'c>, lanes: u32) -> Value<'c> {
        if lanes == 1 {
            return a;
        }
        let ty = Ty { lanes, ..a.ty };
        if let Some(value) = a.as_int() {
            return self.int(ty, value);
        }
        let first = self.insert(self.poison(ty), a, 0);
        self.shuffle(first, None, &vec![0; lanes as usize])
    }

    /// One lane.
    pub fn element(&self, a: Value<'c>, lane: u32) -> Value<'c> {
        self.element_at(a, self.int(I64, lane.into()))
    }

    /// The lane of a number.
    pub fn element_at(&self, a: Value<'c>, lane: Value<'c>) -> Value<'c> {
        let BasicValueEnum::VectorValue(own) = a.own else { return a };
        let own = built(self.builder.build_extract_element(own, lane.int(), ""));
        self.value(Ty { lanes: 1, ..a.ty }, own)
    }

    /// A vector with another value in one lane.
    pub fn insert(&self, a: Value<'c>, element: Value<'c>, lane: u32) -> Value<'c> {
        let (vector, lane) = (a.own.into_vector_value(), self.int(I64, lane.into()).int());
        self.value(a.ty, built(self.builder.build_insert_element(vector, element.own, lane, "")))
    }

    /// The lanes of `a`, then those of `b`, in another order.
    pub fn shuffle(&self, a: Value<'c>, b: Option<Value<'c>>, order: &[u32]) -> Value<'c> {
        if a.ty.lanes == 1 {
            let pair = Ty { lanes: 2, ..a.ty };
            let mut both = self.insert(self.poison(pair), a, 0);
            if let Some(b) = b {
                both = self.insert(both, b, 1);
            }
            return self.shuffle(both, None, order);
        }
        if order.len() == 1 {
            return self.element(a, order[0]);
        }
        let lanes = order.len() as u32;
        let second = b.unwrap_or_else(|| self.poison(a.ty));
        let order = self.ints(Ty::int(32, lanes), |lane| order[lane as usize].into());
        let [first, second, order] = [a, second, order].map(|value| value.own.into_vector_value());
        self.value(Ty { lanes, ..a.ty }, built(self.builder.build_shuffle_vector(first, second, order, "")))
    }

    /// A mask's bits as an integer of as many bits.
    pub fn mask_bits(&self, mask: Value<'c>) -> Value<'c> {
        self.convert(Convert::Bitcast, mask, Ty::int(mask.ty.lanes, 1))
    }

    /// Bits as a mask of as many lanes.
    pub fn mask(&self, bits: Value<'c>) -> Value<'c> {
        self.convert(Convert::Bitcast, bits, Ty::int(1, bits.ty.scalar.bits()))
    }

    /// A place some bytes further, or one for each lane of `bytes`.
    pub fn offset(&self, pointer: Value<'c>, bytes: Value<'c>) -> Value<'c> {
        // SAFETY: inkwell has no method for vectors of offsets, which its types tell from integers; LLVM takes both. What the pointers are for is
        // the module's matter.
        let own = unsafe {
            let offsets = IntValue::new(bytes.own.as_value_ref());
            let byte = self.context.i8_type();
            let own = built(self.builder.build_gep(byte, pointer.pointer(), &[offsets], ""));
            BasicValueEnum::new(own.as_value_ref())
        };
        self.value(Ty { lanes: bytes.ty.lanes, ..POINTER }, own)
    }

    /// A place a known number of bytes further.
    pub fn at(&self, pointer: Value<'c>, bytes: usize) -> Value<'c> {
        if bytes == 0 {
            return pointer;
        }
        self.offset(pointer, self.int(I64, bytes as u64))
    }

    /// `load`
    pub fn load(&self, ty: Ty, pointer: Value<'c>, mark: Mark) -> Value<'c> {
        let own = built(self.builder.build_load(self.ty(ty), pointer.pointer(), ""));
        self.mark_access(own.as_instruction_value(), mark);
        self.value(ty, own)
    }

    /// `load` at an offset from a pointer of what does not change: once, in the function's first block.
    pub fn hoisted(&self, pointer: Value<'c>, offset: usize, ty: Ty, mark: Mark) -> Value<'c> {
        *self.hoisted.borrow_mut().entry((pointer, offset, ty)).or_insert_with(|| {
            let (byte, bytes) = (self.context.i8_type(), self.int(I64, offset as u64).int());
            // SAFETY: the frame has these fields.
            let at = unsafe { self.first.build_gep(byte, pointer.pointer(), &[bytes], "") };
            let own = built(self.first.build_load(self.ty(ty), built(at), ""));
            self.mark_access(own.as_instruction_value(), mark);
            self.value(ty, own)
        })
    }

    /// `store`
    pub fn store(&self, value: Value<'c>, pointer: Value<'c>, mark: Mark) {
        self.mark_access(Some(built(self.builder.build_store(pointer.pointer(), value.own))), mark);
    }

    fn mark_access(&self, access: Option<InstructionValue<'c>>, mark: Mark) {
        let Some(own) = access else { return };
        let set = |node, kind| own.set_metadata(node, self.context.get_kind_id(kind));
        let _ = own.set_alignment(mark.alignment.into());
        if let Some(class) = mark.class {
            let _ = set(self.classes[class as usize], "tbaa");
        }
        if mark.is_invariant {
            let _ = set(self.context.metadata_node(&[]), "invariant.load");
        }
    }

    /// Asks for memory that will be read, wherever that is.
    pub fn prefetch(&self, at: Value<'c>) {
        let [read, keep, data] = [0, 3, 1].map(|value| self.int(I32, value));
        self.intrinsic_line("prefetch", &[POINTER], &[at, read, keep, data]);
    }

    /// `fence seq_cst`
    pub fn fence(&self) {
        built(self.builder.build_fence(AtomicOrdering::SequentiallyConsistent, false, ""));
    }

    /// `load atomic`
    pub fn load_atomic(&self, ty: Ty, at: Value<'c>, ordering: AtomicOrdering) -> Value<'c> {
        let own = built(self.builder.build_load(self.ty(ty), at.pointer(), ""));
        if let Some(own) = own.as_instruction_value() {
            let _ = own.set_atomic_ordering(ordering);
            let _ = own.set_alignment(ty.bytes() as u32);
        }
        self.value(ty, own)
    }

    /// `atomicrmw`; the old value.
    pub fn host_atomic(&self, operation: AtomicRMWBinOp, at: Value<'c>, operand: Value<'c>) -> Value<'c> {
        let ordering = AtomicOrdering::SequentiallyConsistent;
        self.value(
            operand.ty,
            built(self.builder.build_atomicrmw(operation, at.pointer(), operand.int(), ordering)),
        )
    }

    /// `cmpxchg`: what was there, and whether it was what was expected.
    pub fn compare_exchange(
        &self,
        at: Value<'c>,
        expected: Value<'c>,
        new: Value<'c>,
    ) -> (Value<'c>, Value<'c>) {
        let ordering = AtomicOrdering::SequentiallyConsistent;
        let both = self.builder.build_cmpxchg(at.pointer(), expected.own, new.own, ordering, ordering);
        let both = built(both);
        let [old, same] = [0, 1].map(|n| built(self.builder.build_extract_value(both, n, "")));
        (self.value(new.ty, old), self.value(BIT, same))
    }
}
