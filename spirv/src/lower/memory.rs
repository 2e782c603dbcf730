//! Memory: SPIR-V 1.6, 3.49.8 "Memory Instructions".

use rspirv::spirv::{BuiltIn, MemoryAccess, Op};

use super::FunctionWriter;
use crate::error::Result;
use crate::types::Type;
use crate::walk::{Id, Instruction};
use crate::writer::{Constant, Value, Writer};

/// A built-in function that has the value of a built-in variable: the variable, the function, its parameter (a
/// dimension, none), whether it gives a `size_t`.
const BUILT_INS: &[(BuiltIn, &str, bool, bool)] = &[
    (BuiltIn::GlobalInvocationId, "get_global_id", true, true),
    (BuiltIn::LocalInvocationId, "get_local_id", true, true),
    (BuiltIn::WorkgroupId, "get_group_id", true, true),
    (BuiltIn::NumWorkgroups, "get_num_groups", true, true),
    (BuiltIn::WorkgroupSize, "get_local_size", true, true),
    (BuiltIn::EnqueuedWorkgroupSize, "get_enqueued_local_size", true, true),
    (BuiltIn::GlobalSize, "get_global_size", true, true),
    (BuiltIn::GlobalOffset, "get_global_offset", true, true),
    (BuiltIn::WorkDim, "get_work_dim", false, false),
    (BuiltIn::GlobalLinearId, "get_global_linear_id", false, true),
    (BuiltIn::LocalInvocationIndex, "get_local_linear_id", false, true),
    (BuiltIn::SubgroupSize, "get_sub_group_size", false, false),
    (BuiltIn::SubgroupMaxSize, "get_max_sub_group_size", false, false),
    (BuiltIn::NumSubgroups, "get_num_sub_groups", false, false),
    (BuiltIn::NumEnqueuedSubgroups, "get_enqueued_num_sub_groups", false, false),
    (BuiltIn::SubgroupId, "get_sub_group_id", false, false),
    (BuiltIn::SubgroupLocalInvocationId, "get_sub_group_local_id", false, false),
];

/// Masks of a sub-group: the variable and the function, which gives a `uint4`.
const MASKS: &[(BuiltIn, &str)] = &[
    (BuiltIn::SubgroupEqMask, "get_sub_group_eq_mask"),
    (BuiltIn::SubgroupGeMask, "get_sub_group_ge_mask"),
    (BuiltIn::SubgroupGtMask, "get_sub_group_gt_mask"),
    (BuiltIn::SubgroupLeMask, "get_sub_group_le_mask"),
    (BuiltIn::SubgroupLtMask, "get_sub_group_lt_mask"),
];

/// What an access is decorated with, as LLVM writes it.
struct Access {
    volatile: &'static str,
    alignment: String,
    /// The same in bytes, for `memcpy`.
    bytes: u32,
    /// The number of the operand behind.
    end: usize,
}

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn memory(&mut self, own: &Instruction<'m>) -> Result<bool> {
        match own.op {
            Op::Variable => self.variable(own)?,
            Op::Load => self.load(own)?,
            Op::Store => {
                let (pointer, value) = (self.typed(own, 0)?, self.typed(own, 1)?);
                let access = access(own, 2)?;
                self.line(&format!("store {}{value}, {pointer}{}", access.volatile, access.alignment));
            }
            Op::CopyMemory => {
                let to = self.operand(own, 0)?;
                let Some(Type::Pointer(_, pointee)) = self.w.types.get(to.ty) else {
                    return Err(own.error("the target is no pointer"));
                };
                let ty = self.w.types.text(*pointee).to_owned();
                let (from, [written, read]) = (self.typed(own, 1)?, accesses(own, 2)?);
                let value = self.temporary(&format!("load {}{ty}, {from}{}", read.volatile, read.alignment));
                let to = self.w.typed(&to);
                self.line(&format!("store {}{ty} {value}, {to}{}", written.volatile, written.alignment));
            }
            Op::CopyMemorySized => self.copy_sized(own)?,
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                self.access_chain(own)?;
            }
            Op::GenericPtrMemSemantics => {
                // The semantics' bits of work-group and cross-work-group memory are 8 above the fences' flags.
                let value = self.operand(own, 0)?;
                let argument = self.argument(&value);
                let flags = self.call("_Z9get_fencePU3AS4v", "i32", &[argument]);
                self.result(own, &format!("shl i32 {flags}, 8"));
            }
            Op::PtrDiff => {
                let (a, b) = (self.operand(own, 0)?, self.operand(own, 1)?);
                let Some(Type::Pointer(_, pointee)) = self.w.types.get(a.ty) else {
                    return Err(own.error("it is no pointer"));
                };
                let pointee = self.w.types.text(*pointee).to_owned();
                let ty = self.w.types.text(own.ty).to_owned();
                let [a, b] = [a, b].map(|value| {
                    let typed = self.w.typed(&value);
                    self.temporary(&format!("ptrtoint {typed} to {ty}"))
                });
                let bytes = self.temporary(&format!("sub {ty} {a}, {b}"));
                let size = format!("ptrtoint (ptr getelementptr ({pointee}, ptr null, i32 1) to {ty})");
                self.result(own, &format!("sdiv exact {ty} {bytes}, {size}"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn variable(&mut self, own: &Instruction<'m>) -> Result<()> {
        let Some(Type::Pointer(_, pointee)) = self.w.types.get(own.ty).cloned() else {
            return Err(own.error("a variable's type is no pointer"));
        };
        let ty = self.w.types.text(pointee).to_owned();
        let alignment = self.w.module.alignment(own.result);
        let alignment = alignment.map(|bytes| format!(", align {bytes}")).unwrap_or_default();
        self.result(own, &format!("alloca {ty}{alignment}"));
        if own.operands.len() > 1 {
            let initial = self.typed(own, 1)?;
            self.line(&format!("store {initial}, ptr %v{}", own.result));
        }
        Ok(())
    }

    fn load(&mut self, own: &Instruction<'m>) -> Result<()> {
        let pointer = own.operand(0)?;
        if let Some((built_in, dimension)) = self.built_in_of(pointer) {
            return self.load_built_in(own, built_in, dimension);
        }
        let (typed, access) = (self.typed(own, 0)?, access(own, 1)?);
        let ty = self.w.types.text(own.ty).to_owned();
        self.result(own, &format!("load {}{ty}, {typed}{}", access.volatile, access.alignment));
        Ok(())
    }

    /// The built-in variable that a pointer points to, and the dimension if it is to one element.
    fn built_in_of(&self, pointer: Id) -> Option<(BuiltIn, Option<u64>)> {
        match self.elements.get(&pointer) {
            Some((variable, dimension)) => Some((*self.w.built_ins.get(variable)?, Some(*dimension))),
            None => Some((*self.w.built_ins.get(&pointer)?, None)),
        }
    }

    fn load_built_in(
        &mut self,
        own: &Instruction<'m>,
        variable: BuiltIn,
        element: Option<u64>,
    ) -> Result<()> {
        if let Some((_, name)) = MASKS.iter().find(|row| row.0 == variable) {
            let all = self.call(&format!("_Z{}{name}v", name.len()), "<4 x i32>", &[]);
            match element {
                Some(number) => self.result(own, &format!("extractelement <4 x i32> {all}, i64 {number}")),
                None => self.is(own, all),
            }
            return Ok(());
        }
        let (scalar, count) = self.w.types.element(own.ty);
        if count == 1 {
            let value = self.built_in_element(own, variable, scalar, &element.unwrap_or(0).to_string())?;
            self.is(own, value);
            return Ok(());
        }
        let (ty, wanted) = (self.w.types.text(own.ty).to_owned(), self.w.types.text(scalar).to_owned());
        let mut all = "poison".to_owned();
        for dimension in 0..count {
            let value = self.built_in_element(own, variable, scalar, &dimension.to_string())?;
            all = self.temporary(&format!("insertelement {ty} {all}, {wanted} {value}, i32 {dimension}"));
        }
        self.loaded.insert(own.result, variable);
        self.is(own, all);
        Ok(())
    }

    /// The value of a built-in variable in a dimension, an `i32`, as a scalar of a type.
    fn built_in_element(
        &mut self,
        own: &Instruction<'m>,
        variable: BuiltIn,
        scalar: Id,
        dimension: &str,
    ) -> Result<String> {
        let row = BUILT_INS.iter().find(|row| row.0 == variable);
        let (_, name, by_dimension, is_size) =
            *row.ok_or_else(|| own.error(format!("the built-in variable {variable:?} is not supported")))?;
        let given = if is_size { self.size_type().1 } else { "i32" };
        let wanted = self.w.types.text(scalar).to_owned();
        let mangled = format!("_Z{}{name}{}", name.len(), if by_dimension { "j" } else { "v" });
        let arguments = if by_dimension { vec![("i32".into(), dimension.to_owned())] } else { Vec::new() };
        let value = self.call(&mangled, given, &arguments);
        Ok(match (given, wanted.as_str()) {
            ("i64", "i32") => self.temporary(&format!("trunc i64 {value} to i32")),
            ("i32", "i64") => self.temporary(&format!("zext i32 {value} to i64")),
            _ => value,
        })
    }

    /// An element of a vector, by an index that is not constant. That of a built-in variable is a call of its
    /// function, as in OpenCL C, which producers make it of: beyond the dimensions it has a value.
    pub(super) fn extract_dynamic(&mut self, own: &Instruction<'m>) -> Result<()> {
        let (vector, index) = (self.typed(own, 0)?, self.operand(own, 1)?);
        let Some(variable) = self.loaded.get(&own.operand(0)?).copied() else {
            let index = self.w.typed(&index);
            self.result(own, &format!("extractelement {vector}, {index}"));
            return Ok(());
        };
        let dimension = match self.w.types.get(index.ty) {
            Some(Type::Int(32)) => index.text,
            Some(Type::Int(33..)) => {
                let typed = self.w.typed(&index);
                self.temporary(&format!("trunc {typed} to i32"))
            }
            _ => {
                let typed = self.w.typed(&index);
                self.temporary(&format!("zext {typed} to i32"))
            }
        };
        let value = self.built_in_element(own, variable, own.ty, &dimension)?;
        self.is(own, value);
        Ok(())
    }

    fn copy_sized(&mut self, own: &Instruction<'m>) -> Result<()> {
        let [to, from, size] = [self.operand(own, 0)?, self.operand(own, 1)?, self.operand(own, 2)?];
        let [written, read] = accesses(own, 3)?;
        let code = |value: &Value| match self.w.types.get(value.ty) {
            Some(Type::Pointer(class, _)) => format!("p{}", crate::types::address_space(*class).unwrap_or(0)),
            _ => "p0".into(),
        };
        let name = format!("llvm.memcpy.{}.{}.{}", code(&to), code(&from), self.type_of(&size));
        let is_volatile = [&written, &read].iter().any(|access| !access.volatile.is_empty());
        let types = format!("{}, {}, {}, i1", self.type_of(&to), self.type_of(&from), self.type_of(&size));
        self.w.declare_intrinsic(&name, "void", &types);
        let (to_align, from_align) = (written.bytes, read.bytes);
        let [to_ty, from_ty] = [&to, &from].map(|value| self.type_of(value).to_owned());
        let size = self.w.typed(&size);
        self.line(&format!(
            "call void @{name}({to_ty} align {to_align} {}, {from_ty} align {from_align} {}, {size}, i1 {is_volatile})",
            to.text, from.text
        ));
        Ok(())
    }

    fn access_chain(&mut self, own: &Instruction<'m>) -> Result<()> {
        let base = own.operand(0)?;
        let indices = own.operands_from(1)?;
        if self.w.built_ins.contains_key(&base) {
            let element = indices.last().and_then(|id| self.constant(*id));
            let element =
                element.ok_or_else(|| own.error("the index of a built-in variable is no constant"))?;
            self.elements.insert(own.result, (base, element));
            self.is(own, "poison".into());
            return Ok(());
        }
        let values: Vec<Value> = own.operands.iter().map(|id| self.value(own, *id)).collect::<Result<_>>()?;
        let is_pointer = matches!(own.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        let inbounds = matches!(own.op, Op::InBoundsAccessChain | Op::InBoundsPtrAccessChain);
        let (pointee, list) = self.w.chain(own, &values, own.operands, is_pointer)?;
        let inbounds = if inbounds { "inbounds " } else { "" };
        self.result(own, &format!("getelementptr {inbounds}{pointee}, {list}"));
        Ok(())
    }
}

impl Writer<'_> {
    /// The operands of a `getelementptr`: what the pointer points to, and pointer and indices. `is_pointer`: the first
    /// index moves the pointer itself.
    pub(crate) fn chain(
        &self,
        own: &Instruction<'_>,
        values: &[Value],
        ids: &[Id],
        is_pointer: bool,
    ) -> Result<(String, String)> {
        let base = values.first().ok_or_else(|| own.error("it has too few operands"))?;
        let Some(Type::Pointer(_, pointee)) = self.types.get(base.ty) else {
            return Err(own.error("the base is no pointer"));
        };
        let mut list = vec![self.typed(base)];
        if !is_pointer {
            list.push("i32 0".into());
        }
        let mut ty = *pointee;
        for (number, (value, id)) in values.iter().zip(ids).enumerate().skip(1) {
            if is_pointer && number == 1 {
                list.push(self.typed(value));
                continue;
            }
            match self.types.get(ty) {
                Some(Type::Struct(members)) => {
                    // LLVM takes members by numbers of 32 bits only.
                    let index = self.constants.get(id).and_then(Constant::integer);
                    let member = index.and_then(|index| members.get(usize::try_from(index).ok()?));
                    ty = *member.ok_or_else(|| own.error("a structure has no such member"))?;
                    list.push(format!("i32 {}", index.unwrap_or_default()));
                }
                Some(Type::Array(element, _) | Type::Vector(element, _)) => {
                    ty = *element;
                    list.push(self.typed(value));
                }
                _ => return Err(own.error("it has more indices than the type has levels")),
            }
        }
        Ok((self.types.text(*pointee).to_owned(), list.join(", ")))
    }
}

/// Memory operands, from operand `first` on.
fn access(own: &Instruction<'_>, first: usize) -> Result<Access> {
    let mask = MemoryAccess::from_bits_retain(own.operands.get(first).copied().unwrap_or(0));
    let volatile = if mask.contains(MemoryAccess::VOLATILE) { "volatile " } else { "" };
    let bytes = if mask.contains(MemoryAccess::ALIGNED) { own.operand(first + 1)? } else { 0 };
    if bytes != 0 && !bytes.is_power_of_two() {
        return Err(own.error(format!("an alignment of {bytes} is no power of two")));
    }
    let alignment = if bytes == 0 { String::new() } else { format!(", align {bytes}") };
    let operands = (mask & MemoryAccess::from_bits_retain(WITH_OPERAND)).bits().count_ones() as usize;
    Ok(Access { volatile, alignment, bytes: bytes.max(1), end: first + 1 + operands })
}

/// Memory operands of a copy: of what is written, and of what is read, which may have some of its own since
/// SPIR-V 1.4.
fn accesses(own: &Instruction<'_>, first: usize) -> Result<[Access; 2]> {
    let written = access(own, first)?;
    let read = if own.operands.len() > written.end { written.end } else { first };
    Ok([written, access(own, read)?])
}

/// Memory operands with an operand of their own: alignment, scopes of availability and visibility, lists of
/// scopes that alias or do not (SPV_INTEL_memory_access_aliasing).
const WITH_OPERAND: u32 = 0x2 | 0x8 | 0x10 | 0x1_0000 | 0x2_0000;
