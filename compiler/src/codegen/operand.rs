//! Operands for all lanes of a thread, and operations on them.

use super::lir::VRef;
use gencl_isa::{Arf, Condition, Flag, MathFunction, Opcode, Type};

/// The location of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueLocation {
    /// A constant: bits of its type, zero above.
    Immediate(u64),
    /// Elements in a virtual register.
    Register(LaneRegion),
    /// One element of an architecture register, for all lanes.
    Arf {
        /// Register.
        arf: Arf,
        /// First byte.
        subregister: u8,
    },
}

/// A register region with an element for each lane, or one for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneRegion {
    /// Of lane 0.
    pub at: VRef,
    /// Bytes from lane to lane; 0: one element for all lanes.
    pub stride: u32,
    /// `(lanes, gap)`: a gap of so many bytes after every so many lanes, in results of several messages.
    pub split: Option<(u32, u32)>,
}

impl LaneRegion {
    /// The element of a lane.
    pub fn lane(&self, lane: u32) -> VRef {
        let gaps = self.split.map_or(0, |(lanes, gap)| lane / lanes * gap);
        self.at.plus(lane * self.stride + gaps)
    }
}

/// A source operand for all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Val {
    /// Where.
    pub location: ValueLocation,
    /// Type.
    pub ty: Type,
    /// Negated (on logic instructions: complemented).
    pub negate: bool,
    /// Absolute value.
    pub abs: bool,
}

/// A destination for all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dest {
    /// Of lane 0.
    pub at: VRef,
    /// Bytes from lane to lane; 0: one element, written by `WE_all` instructions.
    pub stride: u32,
    /// Type.
    pub ty: Type,
    /// Whether the writes of the current IR instruction to it are a killing definition
    /// ([`Inst::kills`](super::lir::Inst::kills)).
    pub kills: bool,
}

impl Val {
    /// A constant.
    pub fn imm(bits: u64, ty: Type) -> Val {
        // A packed vector is a dword whatever it expands to.
        let size = if matches!(ty, Type::V | Type::UV | Type::VF) { 4 } else { ty.size() };
        let bits = if size >= 8 { bits } else { bits & ((1 << (8 * size)) - 1) };
        Val { location: ValueLocation::Immediate(bits), ty, negate: false, abs: false }
    }

    /// A register.
    pub fn reg(at: VRef, stride: u32, ty: Type) -> Val {
        Val {
            location: ValueLocation::Register(LaneRegion { at, stride, split: None }),
            ty,
            negate: false,
            abs: false,
        }
    }

    /// An architecture register.
    pub fn arf(arf: Arf, subregister: u8, ty: Type) -> Val {
        Val { location: ValueLocation::Arf { arf, subregister }, ty, negate: false, abs: false }
    }

    /// The bits of a constant; `None` if it is none.
    pub fn constant(&self) -> Option<u64> {
        match self.location {
            ValueLocation::Immediate(bits) => Some(bits),
            ValueLocation::Register(_) | ValueLocation::Arf { .. } => None,
        }
    }

    /// Whether it is one element for all lanes.
    pub fn scalar(&self) -> bool {
        !matches!(self.location, ValueLocation::Register(LaneRegion { stride: 1.., .. }))
    }

    /// The same bits as another type of at most the same size: the low part where it is smaller.
    pub fn cast(self, ty: Type) -> Val {
        match self.location {
            ValueLocation::Immediate(bits) => Val::imm(bits, ty),
            ValueLocation::Register(_) | ValueLocation::Arf { .. } => Val { ty, ..self },
        }
    }

    /// The part of each element that starts at byte `byte`.
    pub fn part(self, byte: u32, ty: Type) -> Val {
        match self.location {
            ValueLocation::Immediate(bits) => Val::imm(bits >> (8 * byte), ty),
            ValueLocation::Register(region) => Val {
                location: ValueLocation::Register(LaneRegion { at: region.at.plus(byte), ..region }),
                ty,
                ..self
            },
            ValueLocation::Arf { arf, subregister } => Val {
                location: ValueLocation::Arf { arf, subregister: subregister + byte as u8 },
                ty,
                ..self
            },
        }
    }

    /// Negated.
    pub fn negated(self) -> Val {
        Val { negate: !self.negate, ..self }
    }

    /// The value of a constant, sign- or zero-extended by its type.
    pub fn extended(&self) -> Option<i128> {
        let bits = self.constant()?;
        let shift = 128 - 8 * self.ty.size();
        let wide = i128::from(bits) << shift;
        Some(if self.ty.is_signed() { wide >> shift } else { (wide as u128 >> shift) as i128 })
    }
}

impl Dest {
    /// Whether it is one element for all lanes.
    pub fn scalar(&self) -> bool {
        self.stride == 0
    }

    /// The location of private memory.
    pub fn region(&self) -> LaneRegion {
        LaneRegion { at: self.at, stride: self.stride, split: None }
    }

    /// The value in it.
    pub fn val(&self) -> Val {
        Val::reg(self.at, self.stride, self.ty)
    }

    /// The part of each element that starts at byte `byte`; writing it keeps the rest.
    pub fn part(self, byte: u32, ty: Type) -> Dest {
        Dest { at: self.at.plus(byte), ty, ..self }
    }

    /// With another type.
    pub fn cast(self, ty: Type) -> Dest {
        Dest { ty, ..self }
    }
}

/// An operation without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Opcode.
    pub opcode: Opcode,
    /// Condition and the flag for its result; `sel` has no flag result.
    pub condition: Option<(Condition, Flag)>,
    /// Selection by a flag; replaces the current predicate.
    pub select: Option<(Flag, bool)>,
    /// Saturate.
    pub saturate: bool,
    /// `math`.
    pub math: Option<MathFunction>,
    /// Maximum number of lanes of one instruction.
    pub lanes: u32,
    /// Execute for all lanes, enabled or not (`WE_all`).
    pub all_lanes: bool,
    /// Update the accumulator.
    pub thread_switch: bool,
}

impl Operation {
    /// A plain one.
    pub fn new(opcode: Opcode) -> Operation {
        Operation {
            opcode,
            condition: None,
            select: None,
            saturate: false,
            math: None,
            lanes: 16,
            all_lanes: false,
            thread_switch: false,
        }
    }

    /// A function of the MATH unit.
    pub fn math(function: MathFunction) -> Operation {
        Operation { math: Some(function), ..Operation::new(Opcode::Math) }
    }

    /// Saturating.
    pub fn saturating(self) -> Operation {
        Operation { saturate: true, ..self }
    }

    /// `sel` of the smaller (`Less`) or larger (`GreaterEqual`).
    pub fn choose(condition: Condition) -> Operation {
        Operation { condition: Some((condition, Flag::default())), ..Operation::new(Opcode::Sel) }
    }
}

/// Whether it is one of the operations whose operands must be aligned alike on the Atom line.
pub fn is_wide(opcode: Opcode, ty: Type, srcs: &[Val]) -> bool {
    let is_dword = |s: &Val| matches!(s.ty, Type::D | Type::UD);
    ty.size() == 8
        || srcs.iter().any(|s| s.ty.size() == 8)
        || opcode == Opcode::Mul && srcs.iter().all(is_dword)
}
