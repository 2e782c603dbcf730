//! Operands of wide operations on the Atom line.
//!
//! There, operations on types of 64 bits and multiplications of dwords take operands whose elements lie as
//! those of the destination do: in quadwords, from the same place in a register on (Broxton manual, Volume 7,
//! "Special Requirements for Handling 64-bit Types"; [`gencl_isa::validate_atom`] has the rules). What lies
//! otherwise is copied before or after. vISA does so too (`HWConformity::fix64bInst`).

use super::build::Builder;
use super::lir::{GRF, VRef};
use super::operand::{Dest, Operation, Place, Spot, Val, is_wide};
use gencl_isa::{Opcode, Type};
use smallvec::SmallVec;

/// Bytes from element to element of a wide operation's operands.
const STRIDE: u32 = 8;

/// A dword as a word, where it is a constant that fits: multiplications by words are not wide.
fn narrowed(s: Val) -> Val {
    match (s.extended(), s.ty) {
        (Some(value), Type::D | Type::UD) if u16::try_from(value).is_ok() => Val::imm(value as u64, Type::UW),
        (Some(value), Type::D) if i16::try_from(value).is_ok() => Val::imm(value as u64, Type::W),
        _ => s,
    }
}

/// What a result has on its way to its place: bytes cannot lie so far apart.
fn between(ty: Type, srcs: &[Val]) -> Type {
    match ty.size() {
        1 if srcs.iter().any(|s| s.ty.is_signed()) => Type::D,
        1 => Type::UD,
        _ => ty,
    }
}

impl Builder {
    /// Do elements begin with a register and follow each other in quadwords?
    fn lies_right(&self, at: VRef, stride: u32) -> bool {
        let info = self.program.info(at.vreg);
        let begins = info.fixed.map_or(info.align == GRF, |byte| byte.is_multiple_of(GRF));
        stride == STRIDE && begins && at.offset.is_multiple_of(GRF)
    }

    /// Emits an operation on all lanes, a wide one with copies around it so that its operands lie alike.
    /// `false` when that is not for here: three sources have regions of their own.
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
            self.cut_lanes(operation, dst, ty, &srcs);
            return true;
        }
        if let Some(d) = dst.filter(|_| self.all_lanes)
            && (self.simd * STRIDE < GRF || !self.lies_right(d.at, d.stride))
        {
            // Elements far apart or few, as in scans.
            self.one_by_one(operation, d, &srcs, self.simd);
            return true;
        }
        for s in &mut srcs {
            *s = self.aligned(*s);
        }
        let into = dst.map(|d| match self.lies_right(d.at, d.stride) {
            true => d,
            false => self.strided(between(d.ty, &srcs), STRIDE),
        });
        self.cut_lanes(operation, into, ty, &srcs);
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

    /// Emits an operation for the first `lanes` lanes, whether they run or not, one by one: so elements may
    /// lie anywhere.
    pub(super) fn one_by_one(&mut self, operation: Operation, dst: Dest, srcs: &[Val], lanes: u32) {
        let all = std::mem::replace(&mut self.all_lanes, true);
        for lane in 0..lanes {
            self.chunk(operation, Some(dst), dst.ty, srcs, lane, 1);
        }
        self.all_lanes = all;
    }

    /// The same value where a wide operation can read it.
    fn aligned(&mut self, s: Val) -> Val {
        let Place::Register(Spot { at, stride, split }) = s.place else { return s };
        let gaps = split.is_some_and(|(_, gap)| !gap.is_multiple_of(GRF));
        if stride == 0 || self.lies_right(at, stride) && !gaps {
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

    /// Copies, quadwords by their halves.
    fn copy_parts(&mut self, dst: Dest, src: Val) {
        if dst.ty.size() < STRIDE {
            return self.mov(dst, src);
        }
        for half in [0, 4] {
            self.mov(dst.part(half, Type::UD), src.part(half, Type::UD));
        }
    }
}
