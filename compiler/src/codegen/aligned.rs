//! Operands of wide operations on the Atom line.
//!
//! There, operations on 64-bit types and multiplications of dwords require that the elements of all operands
//! are at the same register offsets as those of the destination: in quadwords, from the same byte of a
//! register on (Broxton manual, Volume 7, "Special Requirements for Handling 64-bit Types";
//! [`gencl_isa::validate_atom`] has the rules). Other operands are copied before or after. vISA does the same
//! (`HWConformity::fix64bInst`).

use super::build::Builder;
use super::lir::{GRF, VRef};
use super::operand::{Dest, LaneRegion, Operation, Val, ValueLocation, is_wide};
use gencl_isa::{Opcode, Type};
use smallvec::SmallVec;

/// Bytes from element to element of a wide operation's operands.
const STRIDE: u32 = 8;

/// Converts a dword constant that fits into a word to one: multiplications by words are not restricted.
fn narrowed(s: Val) -> Val {
    match (s.extended(), s.ty) {
        (Some(value), Type::D | Type::UD) if u16::try_from(value).is_ok() => Val::imm(value as u64, Type::UW),
        (Some(value), Type::D) if i16::try_from(value).is_ok() => Val::imm(value as u64, Type::W),
        _ => s,
    }
}

/// The type in which a result is computed before it is moved to its destination: bytes cannot be eight bytes
/// apart.
fn intermediate_type(ty: Type, srcs: &[Val]) -> Type {
    match ty.size() {
        1 if srcs.iter().any(|s| s.ty.is_signed()) => Type::D,
        1 => Type::UD,
        _ => ty,
    }
}

impl Builder {
    /// Whether elements begin at a register boundary and are eight bytes apart.
    fn is_wide_aligned(&self, at: VRef, stride: u32) -> bool {
        let info = self.program.info(at.vreg);
        let begins = info.fixed.map_or(info.align == GRF, |byte| byte.is_multiple_of(GRF));
        stride == STRIDE && begins && at.offset.is_multiple_of(GRF)
    }

    /// Emits an operation on all lanes, with copies of the operands of a restricted one so that they are
    /// aligned. Returns `false` for three-source instructions, whose regions are restricted differently.
    pub(super) fn emit_aligned(
        &mut self,
        operation: Operation,
        dst: Option<Dest>,
        ty: Type,
        srcs: &[Val],
    ) -> bool {
        let mut srcs: SmallVec<[Val; 3]> = srcs.into();
        if operation.opcode == Opcode::Mul
            && let Some(last) = srcs.last_mut()
        {
            *last = narrowed(*last);
        }
        if operation.opcode == Opcode::Mad {
            return false;
        }
        if !is_wide(operation.opcode, ty, &srcs) {
            self.split_lanes(operation, dst, ty, &srcs);
            return true;
        }
        if let Some(d) = dst.filter(|_| self.all_lanes)
            && (self.simd * STRIDE < GRF || !self.is_wide_aligned(d.at, d.stride))
        {
            // Strides or lane counts for which no aligned region exists, as in scans.
            self.lane_by_lane(operation, d, &srcs, self.simd);
            return true;
        }
        for s in &mut srcs {
            *s = self.aligned(*s);
        }
        let into = dst.map(|d| match self.is_wide_aligned(d.at, d.stride) {
            true => d,
            false => self.strided(intermediate_type(d.ty, &srcs), STRIDE),
        });
        self.split_lanes(operation, into, ty, &srcs);
        if let (Some(d), Some(into)) = (dst, into)
            && d != into
        {
            let last =
                Operation { saturate: operation.saturate && into.ty != d.ty, ..Operation::new(Opcode::Mov) };
            match d.ty.size() {
                STRIDE => self.copy_parts(d, into.val()),
                _ => self.op(last, d, &[into.val()]),
            }
        }
        true
    }

    /// Emits an operation for the first `lanes` lanes, enabled or not, one lane at a time: single elements
    /// can be anywhere.
    pub(super) fn lane_by_lane(&mut self, operation: Operation, dst: Dest, srcs: &[Val], lanes: u32) {
        let all = std::mem::replace(&mut self.all_lanes, true);
        for lane in 0..lanes {
            self.emit_lanes(operation, Some(dst), dst.ty, srcs, lane, 1);
        }
        self.all_lanes = all;
    }

    /// The same value in a register that a restricted operation can read.
    fn aligned(&mut self, s: Val) -> Val {
        let ValueLocation::Register(LaneRegion { at, stride, split }) = s.location else { return s };
        let gaps = split.is_some_and(|(_, gap)| !gap.is_multiple_of(GRF));
        if stride == 0 || self.is_wide_aligned(at, stride) && !gaps {
            return s;
        }
        let ty = match s.ty {
            Type::B | Type::W => Type::D,
            Type::UB | Type::UW => Type::UD,
            ty => ty,
        };
        let copy = self.strided(ty, STRIDE);
        self.copy_parts(copy, Val { negate: false, abs: false, ..s });
        Val { negate: s.negate, abs: s.abs, ..copy.val() }
    }

    /// Copies; quadwords as two dwords each.
    fn copy_parts(&mut self, dst: Dest, src: Val) {
        if dst.ty.size() < STRIDE {
            return self.mov(dst, src);
        }
        for half in [0, 4] {
            self.mov(dst.part(half, Type::UD), src.part(half, Type::UD));
        }
    }
}
