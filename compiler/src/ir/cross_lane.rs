//! Cross-lane operations, from which sub-group functions are built.
//!
//! A thread is a sub-group. Lanes that are not active, or that the dispatch has not enabled, take no part.
//! They are convergent: no pass moves them into a side of a branch, duplicates them or changes the set of
//! lanes that execute them ([`super::signature::Class::CrossLane`]).

use super::fold::fold;
use super::{BinaryOp, FloatFormat, Op, Type};
use gencl_ir_support::names;
use smallvec::{SmallVec, smallvec};

/// How the values of lanes are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "plain words")]
pub enum GroupOp {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

names! {
    GroupOp { Add = "add", Mul = "mul", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor" }
}

/// An operation across lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrossLane {
    /// dst = what the lane numbered src1 (modulo the lanes of a thread) holds in src0; anything when that
    /// lane is not active.
    Shuffle(Type),
    /// dst: bit `i` is set if lane `i` is active and src0 is true there.
    Ballot,
    /// dst = the reduction of src0 in all active lanes: the upper half of the lanes is combined with the
    /// lower half, until one is left.
    Reduce(GroupOp, Type),
    /// dst = the reduction of src0 in all active lanes up to this one: first neighbours are combined, then
    /// groups of two with the last lane of the preceding group, then of four, and so on.
    Scan {
        /// How.
        op: GroupOp,
        /// Of what.
        ty: Type,
        /// Without this lane itself; the first gets the identity.
        exclusive: bool,
    },
}

impl GroupOp {
    /// The same for two values.
    pub fn binary(self) -> BinaryOp {
        match self {
            GroupOp::Add => BinaryOp::Add,
            GroupOp::Mul => BinaryOp::Mul,
            GroupOp::Min => BinaryOp::Min,
            GroupOp::Max => BinaryOp::Max,
            GroupOp::And => BinaryOp::And,
            GroupOp::Or => BinaryOp::Or,
            GroupOp::Xor => BinaryOp::Xor,
        }
    }

    /// The identity: the value of lanes that take no part (OpenCL C 3.0, 6.15.16: infinities for minima and
    /// maxima of floats).
    pub fn identity(self, ty: Type) -> u64 {
        let float = |half: u64, single: u64, double: u64| match ty.float_format() {
            Some(FloatFormat::Half) => half,
            Some(FloatFormat::Single) => single,
            Some(FloatFormat::Double) | None => double,
        };
        let infinity = float(0x7c00, 0x7f80_0000, 0x7ff0_0000_0000_0000);
        let sign = 1u64 << (ty.bits() - 1);
        match self {
            GroupOp::Mul if ty.is_float() => float(0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
            GroupOp::Mul => 1,
            GroupOp::Min if ty.is_float() => infinity,
            GroupOp::Max if ty.is_float() => infinity | sign,
            GroupOp::Min if ty.is_signed() => sign - 1,
            GroupOp::Max if ty.is_signed() => sign,
            GroupOp::Min | GroupOp::And => ty.mask(),
            GroupOp::Add | GroupOp::Max | GroupOp::Or | GroupOp::Xor => 0,
        }
    }

    fn apply(self, ty: Type, a: u64, b: u64) -> u64 {
        fold(&Op::Binary(self.binary(), ty), &[a, b]).unwrap_or(a)
    }
}

impl CrossLane {
    /// The sources that must be the same in all lanes for the result to be.
    pub fn decisive_sources(self) -> &'static [usize] {
        match self {
            CrossLane::Shuffle(_) => &[1],
            CrossLane::Ballot | CrossLane::Reduce(..) | CrossLane::Scan { .. } => &[],
        }
    }

    /// Whether the result is uniform when the decisive sources are.
    pub fn gives_uniform(self) -> bool {
        match self {
            CrossLane::Shuffle(_) | CrossLane::Ballot | CrossLane::Reduce(..) => true,
            CrossLane::Scan { .. } => false,
        }
    }

    /// What each lane gets. `lanes` holds the sources of each lane, none for those that take no part; their
    /// number is that of the lanes of a thread, a power of two.
    pub fn results(self, lanes: &[Option<SmallVec<[u64; 4]>>]) -> SmallVec<[u64; 32]> {
        let width = lanes.len();
        let held = |source: usize, otherwise: u64| -> SmallVec<[u64; 32]> {
            lanes.iter().map(|lane| lane.as_ref().map_or(otherwise, |srcs| srcs[source])).collect()
        };
        match self {
            CrossLane::Shuffle(_) => {
                let values = held(0, 0);
                held(1, 0).iter().map(|&from| values[from as usize % width]).collect()
            }
            CrossLane::Ballot => {
                let votes = held(0, 0);
                let mask = votes.iter().enumerate().fold(0, |mask, (lane, vote)| mask | (vote & 1) << lane);
                smallvec![mask; width]
            }
            CrossLane::Reduce(op, ty) => {
                let mut values = held(0, op.identity(ty));
                let mut half = width / 2;
                while half > 0 {
                    for lane in 0..half {
                        values[lane] = op.apply(ty, values[lane], values[lane + half]);
                    }
                    half /= 2;
                }
                smallvec![values[0]; width]
            }
            CrossLane::Scan { op, ty, exclusive } => {
                let mut values = held(0, op.identity(ty));
                let mut group = 1;
                while group < width {
                    for lane in (0..width).filter(|lane| lane & group != 0) {
                        let last = (lane & !(group - 1)) - 1;
                        values[lane] = op.apply(ty, values[last], values[lane]);
                    }
                    group *= 2;
                }
                if exclusive {
                    values.rotate_right(1);
                    values[0] = op.identity(ty);
                }
                values
            }
        }
    }
}
