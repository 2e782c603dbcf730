//! Atomic additions, minima and maxima of floats: SPV_EXT_shader_atomic_float_add,
//! SPV_EXT_shader_atomic_float_min_max.
//!
//! The data port of some generations has some of them, of none all: they compare and exchange until nobody
//! interferes. Each is a function, as the loop would split the block, whose label `phi`s name.

use rspirv::spirv::{Op, StorageClass};

use super::FunctionWriter;
use crate::error::Result;
use crate::types::{Type, pointer};
use crate::walk::Instruction;

/// The opcode, and what makes the new value of the old one and the operand.
const OPERATIONS: &[(Op, &str)] =
    &[(Op::AtomicFAddEXT, "fadd"), (Op::AtomicFMinEXT, "minnum"), (Op::AtomicFMaxEXT, "maxnum")];

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn float_atomics(&mut self, own: &Instruction<'m>) -> Result<bool> {
        let Some((_, operation)) = OPERATIONS.iter().find(|row| row.0 == own.op) else { return Ok(false) };
        let (target, value) = (self.operand(own, 0)?, self.operand(own, 3)?);
        let bits = match self.w.types.get(own.ty) {
            Some(Type::Float(bits @ (32 | 64))) => *bits,
            _ => return Err(own.error("atomic operations are on single or double floats")),
        };
        let Some(Type::Pointer(class, _)) = self.w.types.get(target.ty).cloned() else {
            return Err(own.error("it is no pointer"));
        };
        let order = self.order(own.operand(2)?);
        let name = format!("atomic.{operation}.f{bits}.{class:?}.{order}");
        let text = definition(&name, operation, bits, class, order);
        if *operation != "fadd" {
            let ty = self.w.types.text(own.ty).to_owned();
            let name = format!("llvm.{operation}.f{bits}");
            self.w.declare_intrinsic(&name, &ty, &format!("{ty}, {ty}"));
        }
        if is_local_quadword(bits, class) {
            for (name, parameters) in [(LOCAL_LOAD, "i64"), (LOCAL_EXCHANGE, "i64, i64")] {
                self.w.declare(name, "i64", &format!("ptr addrspace(3), {parameters}"));
            }
        }
        let ty = self.w.types.text(own.ty).to_owned();
        self.w.declarations.entry(format!("@{name}")).or_insert(text);
        let list = [self.w.typed(&target), self.w.typed(&value)].join(", ");
        self.result(own, &format!("call spir_func {ty} @{name}({list}) #0"));
        Ok(true)
    }
}

/// Functions of the library for quadwords in local memory, which the data port does not exchange: `atom_or`,
/// `atom_cmpxchg`.
const LOCAL_LOAD: &str = "_Z7atom_orPU3AS3Vll";
const LOCAL_EXCHANGE: &str = "_Z12atom_cmpxchgPU3AS3Vlll";

fn is_local_quadword(bits: u32, class: StorageClass) -> bool {
    bits == 64 && class == StorageClass::Workgroup
}

/// The function's definition.
fn definition(name: &str, operation: &str, bits: u32, class: StorageClass, order: &str) -> String {
    let (float, pointer) = (if bits == 32 { "float" } else { "double" }, pointer(class));
    let load = match is_local_quadword(bits, class) {
        true => format!("call spir_func i64 @{LOCAL_LOAD}(ptr addrspace(3) %pointer, i64 0) #0"),
        false => format!("load atomic i{bits}, {pointer} %pointer unordered, align {}", bits / 8),
    };
    let new = match operation {
        "fadd" => format!("fadd {float} %value, %operand"),
        _ => format!("call {float} @llvm.{operation}.f{bits}({float} %value, {float} %operand)"),
    };
    let exchange = match is_local_quadword(bits, class) {
        true => format!(
            "%found = call spir_func i64 @{LOCAL_EXCHANGE}(ptr addrspace(3) %pointer, i64 %old, i64 %bits) #0"
        ),
        false => format!(
            "%pair = cmpxchg {pointer} %pointer, i{bits} %old, i{bits} %bits {order} monotonic
  %found = extractvalue {{ i{bits}, i1 }} %pair, 0"
        ),
    };
    format!(
        "
define internal spir_func {float} @{name}({pointer} %pointer, {float} %operand) #0 {{
start:
  %first = {load}
  br label %again
again:
  %old = phi i{bits} [ %first, %start ], [ %found, %again ]
  %value = bitcast i{bits} %old to {float}
  %new = {new}
  %bits = bitcast {float} %new to i{bits}
  {exchange}
  %done = icmp eq i{bits} %found, %old
  br i1 %done, label %end, label %again
end:
  ret {float} %value
}}
"
    )
}
