//! Atomic operations and barriers: SPIR-V 1.6, 3.49.18, 3.49.20.

use rspirv::spirv::{MemorySemantics, Op, Scope};

use super::{Argument, FunctionWriter};
use crate::error::Result;
use crate::mangle::mangle;
use crate::types::Type;
use crate::walk::{Id, Instruction};

/// Operations on a pointer and a value that are LLVM's `atomicrmw`.
const MODIFY: &[(Op, &str)] = &[
    (Op::AtomicExchange, "xchg"),
    (Op::AtomicIAdd, "add"),
    (Op::AtomicISub, "sub"),
    (Op::AtomicSMin, "min"),
    (Op::AtomicUMin, "umin"),
    (Op::AtomicSMax, "max"),
    (Op::AtomicUMax, "umax"),
    (Op::AtomicAnd, "and"),
    (Op::AtomicOr, "or"),
    (Op::AtomicXor, "xor"),
];

/// What a fence of OpenCL C is for: `CLK_LOCAL_MEM_FENCE`, `CLK_GLOBAL_MEM_FENCE`, `CLK_IMAGE_MEM_FENCE`.
const FENCES: [(MemorySemantics, u32); 3] = [
    (MemorySemantics::WORKGROUP_MEMORY, 1),
    (MemorySemantics::CROSS_WORKGROUP_MEMORY, 2),
    (MemorySemantics::IMAGE_MEMORY, 4),
];

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn sync(&mut self, own: &Instruction<'m>) -> Result<bool> {
        if let Some((_, name)) = MODIFY.iter().find(|row| row.0 == own.op) {
            let value = self.operand(own, 3)?;
            let is_pointer = matches!(self.w.types.get(value.ty), Some(Type::Pointer(..)));
            if is_pointer && *name != "xchg" {
                return Err(own.error("the operand is no number"));
            }
            let value = self.w.typed(&value);
            self.modify(own, name, &value)?;
            return Ok(true);
        }
        match own.op {
            Op::AtomicIIncrement | Op::AtomicIDecrement => {
                let name = if own.op == Op::AtomicIIncrement { "add" } else { "sub" };
                let one = format!("{} 1", self.w.types.text(own.ty));
                self.modify(own, name, &one)?;
            }
            Op::AtomicLoad => {
                let (pointer, ty) = (self.typed(own, 0)?, self.w.types.text(own.ty).to_owned());
                let order = self.load_order(own.operand(2)?);
                let bytes = self.bytes(own, own.ty)?;
                self.result(own, &format!("load atomic {ty}, {pointer} {order}, align {bytes}"));
            }
            Op::AtomicStore => {
                let (pointer, value) = (self.typed(own, 0)?, self.operand(own, 3)?);
                let order = self.store_order(own.operand(2)?);
                let (bytes, value) = (self.bytes(own, value.ty)?, self.w.typed(&value));
                self.line(&format!("store atomic {value}, {pointer} {order}, align {bytes}"));
            }
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                let pointer = self.typed(own, 0)?;
                // A float's bits are exchanged: producers write it for `atomic_float`, though SPIR-V has integers only.
                let is_float = matches!(self.w.types.get(own.ty), Some(Type::Float(_)));
                let [(value, ty), (comparator, _)] = if is_float {
                    [self.as_integer(own, 4)?, self.as_integer(own, 5)?]
                } else {
                    [self.operand(own, 4)?, self.operand(own, 5)?]
                        .map(|value| (value.text.clone(), self.type_of(&value).to_owned()))
                };
                let (success, failure) = (self.order(own.operand(2)?), self.load_order(own.operand(3)?));
                let pair = self.temporary(&format!(
                    "cmpxchg {pointer}, {ty} {comparator}, {ty} {value} {success} {failure}"
                ));
                let before = self.temporary(&format!("extractvalue {{ {ty}, i1 }} {pair}, 0"));
                if is_float {
                    let float = self.w.types.text(own.ty).to_owned();
                    self.result(own, &format!("bitcast {ty} {before} to {float}"));
                } else {
                    self.is(own, before);
                }
            }
            Op::AtomicFlagTestAndSet => {
                let (pointer, order) = (self.typed(own, 0)?, self.order(own.operand(2)?));
                let old = self.temporary(&format!("atomicrmw xchg {pointer}, i32 1 {order}"));
                self.result(own, &format!("icmp ne i32 {old}, 0"));
            }
            Op::AtomicFlagClear => {
                let pointer = self.typed(own, 0)?;
                let order = self.store_order(own.operand(2)?);
                self.line(&format!("store atomic i32 0, {pointer} {order}, align 4"));
            }
            Op::ReadClockKHR => {
                if self.constant(own.operand(0)?).and_then(scope_of) != Some(Scope::Subgroup) {
                    return Err(own.error("the scope of the clock is not the sub-group"));
                }
                let is_scalar = matches!(self.w.types.get(own.ty), Some(Type::Int(_)));
                let name = if is_scalar { "clock_read_sub_group" } else { "clock_read_hilo_sub_group" };
                let ty = self.w.types.text(own.ty).to_owned();
                let time = self.call(&mangle(name, &[]), &ty, &[]);
                self.is(own, time);
            }
            Op::ControlBarrier | Op::ControlBarrierArriveINTEL | Op::ControlBarrierWaitINTEL => {
                let scope = self.constant(own.operand(0)?);
                let name = match (own.op, scope.and_then(scope_of)) {
                    (Op::ControlBarrierArriveINTEL, Some(Scope::Workgroup)) => {
                        "intel_work_group_barrier_arrive"
                    }
                    (Op::ControlBarrierWaitINTEL, Some(Scope::Workgroup)) => "intel_work_group_barrier_wait",
                    (Op::ControlBarrier, Some(Scope::Workgroup)) => "work_group_barrier",
                    (Op::ControlBarrier, Some(Scope::Subgroup)) => "sub_group_barrier",
                    _ => return Err(own.error("the scope is neither the work-group nor the sub-group")),
                };
                let flags = self.fences(own, own.operand(2)?)?;
                let list = [flags, self.memory_scope(own, own.operand(1)?)?];
                self.call(&format!("_Z{}{name}j12memory_scope", name.len()), "void", &list);
            }
            Op::MemoryBarrier => {
                let semantics = own.operand(1)?;
                let order = match self.order(semantics) {
                    "monotonic" => 0,
                    "acquire" => 2,
                    "release" => 3,
                    "acq_rel" => 4,
                    _ => 5,
                };
                let flags = self.fences(own, semantics)?;
                let list =
                    [flags, ("i32".into(), order.to_string()), self.memory_scope(own, own.operand(0)?)?];
                self.call("_Z22atomic_work_item_fencej12memory_order12memory_scope", "void", &list);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn modify(&mut self, own: &Instruction<'m>, name: &str, value: &str) -> Result<()> {
        let (pointer, order) = (self.typed(own, 0)?, self.order(own.operand(2)?));
        self.result(own, &format!("atomicrmw {name} {pointer}, {value} {order}"));
        Ok(())
    }

    /// The memory order of semantics; the strictest where they are known only at run time.
    pub(super) fn order(&self, semantics: Id) -> &'static str {
        let Some(bits) = self.constant(semantics) else { return "seq_cst" };
        let bits = MemorySemantics::from_bits_truncate(bits as u32);
        let orders = [
            (MemorySemantics::SEQUENTIALLY_CONSISTENT, "seq_cst"),
            (MemorySemantics::ACQUIRE_RELEASE, "acq_rel"),
            (MemorySemantics::RELEASE, "release"),
            (MemorySemantics::ACQUIRE, "acquire"),
        ];
        orders.iter().find(|(bit, _)| bits.contains(*bit)).map_or("monotonic", |row| row.1)
    }

    /// The order of an operation that only reads.
    fn load_order(&self, semantics: Id) -> &'static str {
        match self.order(semantics) {
            "acq_rel" => "acquire",
            "release" => "monotonic",
            order => order,
        }
    }

    /// The order of an operation that only writes.
    fn store_order(&self, semantics: Id) -> &'static str {
        match self.order(semantics) {
            "acq_rel" => "release",
            "acquire" => "monotonic",
            order => order,
        }
    }

    /// Bytes of a scalar, to which atomic operations are aligned.
    fn bytes(&self, own: &Instruction<'_>, ty: Id) -> Result<u32> {
        match self.w.types.get(ty) {
            Some(Type::Int(bits) | Type::Float(bits)) if *bits >= 8 => Ok(bits / 8),
            Some(Type::Pointer(..)) => Ok(self.w.environment.pointer_bits / 8),
            _ => Err(own.error("the type is not one of atomic operations")),
        }
    }

    /// The flags of OpenCL C's fences.
    fn fences(&self, own: &Instruction<'_>, semantics: Id) -> Result<Argument> {
        let bits = self.constant(semantics).ok_or_else(|| own.error("the semantics are no constant"))?;
        let bits = MemorySemantics::from_bits_truncate(bits as u32);
        let flags = FENCES.iter().filter(|(bit, _)| bits.contains(*bit)).fold(0, |all, (_, flag)| all | flag);
        Ok(("i32".into(), flags.to_string()))
    }

    /// OpenCL C's `memory_scope`.
    fn memory_scope(&self, own: &Instruction<'_>, scope: Id) -> Result<Argument> {
        let number = match self.constant(scope).and_then(scope_of) {
            Some(Scope::Invocation) => 0,
            Some(Scope::Workgroup) => 1,
            Some(Scope::Device) => 2,
            Some(Scope::CrossDevice) => 3,
            Some(Scope::Subgroup) => 4,
            _ => return Err(own.error("the scope is no constant that OpenCL has")),
        };
        Ok(("i32".into(), number.to_string()))
    }
}

pub(super) fn scope_of(number: u64) -> Option<Scope> {
    Scope::from_u32(number.try_into().ok()?)
}
