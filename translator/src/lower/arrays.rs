//! Elements that are chosen at run time: memory of a thread's own, and its register file.

use super::{FILE, Lowering, llvm};
use crate::ir::{I64, Ty, Value as LlvmValue};
use crate::middle::function::Value;
use crate::middle::op::Relation;
use crate::middle::types::{Scalar, Type};

/// The LLVM type of what an array has.
pub(super) fn array_type(ty: Type) -> Ty {
    if ty.scalar == Scalar::Mask { Ty::int(8, ty.lanes.into()) } else { llvm(ty) }
}

impl<'c> Lowering<'_, 'c> {
    /// The place of an array.
    pub(super) fn array(&mut self, number: u16, ty: Ty) -> LlvmValue<'c> {
        if let Some(place) = self.arrays.get(&number) {
            return *place;
        }
        let place = self.f.variable((ty.scalar.bits() * ty.lanes / 8) as usize);
        self.arrays.insert(number, place);
        place
    }

    pub(super) fn array_element(&mut self, number: u16, element: Value, ty: Ty) -> LlvmValue<'c> {
        let place = self.array(number, ty);
        let element = self.value(element);
        let wide = self.f.to(element, I64);
        let bytes = self.f.mul(wide, self.f.int(I64, u64::from(ty.scalar.bits() / 8)));
        self.f.offset(place, bytes)
    }

    /// What an array has of a value: of masks bytes.
    pub(super) fn array_value(&mut self, value: Value) -> LlvmValue<'c> {
        let ty = self.function.ty(value);
        if ty.scalar != Scalar::Mask {
            return self.value(value);
        }
        let mask = self.vector(value);
        self.f.to(mask, array_type(ty))
    }

    /// A value of what an array has.
    pub(super) fn of_array(&self, own: LlvmValue<'c>, ty: Type) -> LlvmValue<'c> {
        if ty.scalar != Scalar::Mask {
            return own;
        }
        self.f.mask_bits(self.f.compare(Relation::Ne, own, self.f.int(own.ty, 0)))
    }

    /// Writes elements in the register file, one after the other, for the lanes of a mask.
    pub(super) fn scatter_in_file(&mut self, operands: &[Value]) {
        let (mask, offsets, data) =
            (self.value(operands[0]), self.value(operands[1]), self.value(operands[2]));
        for lane in 0..data.ty.lanes {
            let bit = self.lane_of_mask(mask, lane);
            let offset = self.f.element(offsets, lane);
            let offset = self.f.resize(offset, 64, false);
            let place = self.f.offset(self.thread.file, offset);
            let own = self.f.element(data, lane);
            let old = self.f.load(own.ty, place, FILE);
            self.f.store(self.f.select(bit, own, old), place, FILE);
        }
    }
}
