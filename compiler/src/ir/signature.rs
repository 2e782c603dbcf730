//! The typing table: which types an operation takes and which register families its operands have.
//!
//! The validator, the parser and the generators of the tests ask here; nothing else states a typing rule.

use super::image::{CHANNELS, MAX_COORDINATES};
use super::{AtomicOp, BinaryOp, CrossLane, Family, Input, Op, Space, TernaryOp, Type, UnaryOp};
use gencl_program::PushSource;
use smallvec::{SmallVec, smallvec};

/// Most elements of one load or store.
pub const MAX_ELEMENTS: usize = 16;

/// A set of register families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Families(u8);

impl Families {
    const ANY: Families = Families(0b11111);
    const ANY_INTEGER: Families = Families(0b11110);
    const DWORD_OR_QWORD: Families = Families(0b11000);

    /// Is the family in the set?
    pub fn contains(self, family: Family) -> bool {
        self.0 & Self::from(family).0 != 0
    }

    /// The families of the set, smallest first.
    pub fn iter(self) -> impl Iterator<Item = Family> {
        [Family::Bool, Family::Byte, Family::Word, Family::Dword, Family::Qword]
            .into_iter()
            .filter(move |&f| self.contains(f))
    }
}

impl From<Family> for Families {
    fn from(family: Family) -> Families {
        Families(match family {
            Family::Bool => 1,
            Family::Byte => 2,
            Family::Word => 4,
            Family::Dword => 8,
            Family::Qword => 16,
        })
    }
}

/// What a list of operands must look like: the fixed ones, then between `rest_min` and `rest_max` of `rest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operands {
    /// Operands that are always there.
    pub fixed: SmallVec<[Families; 3]>,
    /// The family of all others.
    pub rest: Families,
    /// How many of them at least.
    pub rest_min: usize,
    /// How many of them at most.
    pub rest_max: usize,
}

impl Operands {
    fn fixed<const N: usize>(families: [Family; N]) -> Self {
        Operands {
            fixed: families.into_iter().map(Families::from).collect(),
            rest: Families::ANY,
            rest_min: 0,
            rest_max: 0,
        }
    }

    fn one(families: Families) -> Self {
        Operands { fixed: smallvec![families], ..Self::fixed([]) }
    }

    fn and_rest(self, rest: Families, rest_min: usize, rest_max: usize) -> Self {
        Operands { rest, rest_min, rest_max, ..self }
    }

    /// Fewest operands.
    pub fn min(&self) -> usize {
        self.fixed.len() + self.rest_min
    }

    /// Most operands.
    pub fn max(&self) -> usize {
        self.fixed.len() + self.rest_max
    }

    /// The families allowed for operand `index`.
    pub fn families(&self, index: usize) -> Families {
        self.fixed.get(index).copied().unwrap_or(self.rest)
    }
}

/// Operands of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Written.
    pub dsts: Operands,
    /// Read, without the predicate.
    pub srcs: Operands,
}

/// The operands that an operation must have.
pub fn signature(op: &Op) -> Signature {
    use Family::Bool;
    let none = || Operands::fixed([]);
    let (dsts, srcs) = match *op {
        Op::Immediate { ty, .. } => (Operands::fixed([ty.family()]), none()),
        Op::Input(input) => (Operands::one(input_families(input)), none()),
        Op::Undefined => (none().and_rest(Families::ANY, 1, usize::MAX), none()),
        Op::Unary(_, ty) => (Operands::fixed([ty.family()]), Operands::fixed([ty.family()])),
        Op::Binary(_, ty) => (Operands::fixed([ty.family()]), Operands::fixed([ty.family(); 2])),
        Op::Ternary(_, ty) => (Operands::fixed([ty.family()]), Operands::fixed([ty.family(); 3])),
        Op::Compare(_, ty) => (Operands::fixed([Bool]), Operands::fixed([ty.family(); 2])),
        Op::Select(ty) => (Operands::fixed([ty.family()]), Operands::fixed([Bool, ty.family(), ty.family()])),
        Op::Convert { to, from, .. } => (Operands::fixed([to.family()]), Operands::fixed([from.family()])),
        Op::Pair => (Operands::fixed([Family::Qword]), Operands::fixed([Family::Dword; 2])),
        Op::Half { .. } => (Operands::fixed([Family::Dword]), Operands::fixed([Family::Qword])),
        Op::Load { space, ty, .. } => {
            (none().and_rest(ty.family().into(), 1, MAX_ELEMENTS), Operands::one(addresses(space)))
        }
        Op::Store { space, ty, .. } => {
            (none(), Operands::one(addresses(space)).and_rest(ty.family().into(), 1, MAX_ELEMENTS))
        }
        Op::Atomic { op, space, ty } => {
            let values = atomic_values(op);
            (
                none().and_rest(ty.family().into(), 0, 1),
                Operands::one(addresses(space)).and_rest(ty.family().into(), values, values),
            )
        }
        Op::Image(access) => {
            let coordinates = usize::from(access.coordinates);
            let dwords = |min, max| none().and_rest(Family::Dword.into(), min, max);
            if access.writes() {
                (none(), dwords(coordinates + CHANNELS, coordinates + CHANNELS))
            } else {
                (dwords(1, CHANNELS), dwords(coordinates, coordinates))
            }
        }
        Op::CrossLane(op) => match op {
            CrossLane::Shuffle(ty) => {
                (Operands::fixed([ty.family()]), Operands::fixed([ty.family(), Family::Dword]))
            }
            CrossLane::Ballot => (Operands::fixed([Family::Dword]), Operands::fixed([Bool])),
            CrossLane::Reduce(_, ty) | CrossLane::Scan { ty, .. } => {
                (Operands::fixed([ty.family()]), Operands::fixed([ty.family()]))
            }
        },
        Op::Branch { .. } | Op::Vote { .. } => (none(), Operands::fixed([Bool])),
        Op::Barrier { .. }
        | Op::SubgroupBarrier { .. }
        | Op::Fence { .. }
        | Op::Jump(_)
        | Op::Leave { .. }
        | Op::Join { .. }
        | Op::Return => (none(), none()),
    };
    Signature { dsts, srcs }
}

/// What addresses of a space are: those of global memory are as wide as the target has them.
fn addresses(space: Space) -> Families {
    match space {
        Space::Global | Space::Constant => Families::DWORD_OR_QWORD,
        Space::Local | Space::Private => Family::Dword.into(),
    }
}

/// How many values an atomic operation reads besides its address.
pub fn atomic_values(op: AtomicOp) -> usize {
    match op {
        AtomicOp::Inc | AtomicOp::Dec => 0,
        AtomicOp::Add
        | AtomicOp::Sub
        | AtomicOp::Xchg
        | AtomicOp::And
        | AtomicOp::Or
        | AtomicOp::Xor
        | AtomicOp::Min
        | AtomicOp::Max => 1,
        AtomicOp::CmpXchg => 2,
    }
}

fn input_families(input: Input) -> Families {
    match input {
        Input::LocalId(_) | Input::LaneId => Family::Word.into(),
        Input::GroupId(_) | Input::SubgroupId | Input::SimdWidth => Family::Dword.into(),
        Input::Push(source) => match source {
            PushSource::Value { .. } => Families::ANY_INTEGER,
            PushSource::Pointer { .. }
            | PushSource::ArgumentBlock
            | PushSource::ConstantBase
            | PushSource::VariableBase
            | PushSource::PrintfBuffer
            | PushSource::StackBase => Families::DWORD_OR_QWORD,
            PushSource::LocalOffset { .. } | PushSource::Image { .. } => Family::Dword.into(),
            PushSource::GlobalOffset(_)
            | PushSource::GlobalSize(_)
            | PushSource::LocalSize(_)
            | PushSource::EnqueuedLocalSize(_)
            | PushSource::NumGroups(_)
            | PushSource::WorkDim => Families::DWORD_OR_QWORD,
        },
    }
}

/// Does the operation exist for its types and attributes? The reason when it does not.
pub fn check_attributes(op: &Op) -> Result<(), &'static str> {
    let need = |holds: bool, reason| if holds { Ok(()) } else { Err(reason) };
    match *op {
        Op::Immediate { ty, bits } => {
            need(bits & !ty.mask() == 0, "the constant has bits above the width of its type")
        }
        Op::Unary(op, ty) => need(unary_takes(op, ty), "the operation does not exist for this type"),
        Op::Binary(op, ty) => need(binary_takes(op, ty), "the operation does not exist for this type"),
        Op::Ternary(op, ty) => need(ternary_takes(op, ty), "the operation does not exist for this type"),
        Op::Compare(_, ty) => need(ty != Type::Bool, "truth values are not compared; use xor"),
        Op::Convert { to, .. } => need(to != Type::Bool, "a truth value is made by a comparison"),
        Op::Load { ty, align, .. } => check_memory(ty, align),
        Op::Store { space, ty, align } => {
            need(space != Space::Constant, "constant memory is not written")?;
            check_memory(ty, align)
        }
        Op::Atomic { space, ty, .. } => {
            need(matches!(space, Space::Global | Space::Local), "atomics work on global and local memory")?;
            need(
                matches!(ty, Type::S32 | Type::U32 | Type::S64 | Type::U64),
                "atomics work on integers of 32 and 64 bits",
            )
        }
        Op::Image(access) => {
            need(
                matches!(access.ty, Type::F32 | Type::S32 | Type::U32),
                "channels are floats or integers of 32 bits",
            )?;
            let coordinates = usize::from(access.coordinates);
            need((1..=MAX_COORDINATES).contains(&coordinates), "images have one to three coordinates")
        }
        Op::CrossLane(op) => match op {
            CrossLane::Shuffle(ty) => need(ty != Type::Bool, "truth values are not shuffled; use a ballot"),
            CrossLane::Ballot => Ok(()),
            CrossLane::Reduce(op, ty) | CrossLane::Scan { op, ty, .. } => {
                need(ty != Type::Bool, "truth values are not reduced; use a ballot")?;
                need(binary_takes(op.binary(), ty), "the operation does not exist for this type")
            }
        },
        Op::Input(
            Input::LocalId(d)
            | Input::GroupId(d)
            | Input::Push(
                PushSource::GlobalOffset(d)
                | PushSource::GlobalSize(d)
                | PushSource::LocalSize(d)
                | PushSource::EnqueuedLocalSize(d)
                | PushSource::NumGroups(d),
            ),
        ) => need(d < 3, "there are three dimensions"),
        Op::Input(
            Input::LaneId
            | Input::SubgroupId
            | Input::SimdWidth
            | Input::Push(
                PushSource::Value { .. }
                | PushSource::Pointer { .. }
                | PushSource::LocalOffset { .. }
                | PushSource::Image { .. }
                | PushSource::WorkDim
                | PushSource::ArgumentBlock
                | PushSource::ConstantBase
                | PushSource::VariableBase
                | PushSource::PrintfBuffer
                | PushSource::StackBase,
            ),
        )
        | Op::Undefined
        | Op::Select(_)
        | Op::Pair
        | Op::Half { .. }
        | Op::Barrier { .. }
        | Op::SubgroupBarrier { .. }
        | Op::Fence { .. }
        | Op::Jump(_)
        | Op::Branch { .. }
        | Op::Vote { .. }
        | Op::Leave { .. }
        | Op::Join { .. }
        | Op::Return => Ok(()),
    }
}

fn check_memory(ty: Type, align: u32) -> Result<(), &'static str> {
    if ty == Type::Bool {
        return Err("truth values have no place in memory");
    }
    if !align.is_power_of_two() {
        return Err("the alignment is not a power of two");
    }
    Ok(())
}

/// Types of the operations that only the MATH unit has.
fn is_math_type(ty: Type) -> bool {
    ty == Type::F32
}

/// Does a unary operation exist for a type?
pub fn unary_takes(op: UnaryOp, ty: Type) -> bool {
    match op {
        UnaryOp::Mov => true,
        UnaryOp::Not => !ty.is_float(),
        UnaryOp::Neg | UnaryOp::Abs => ty != Type::Bool,
        UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::RoundEven | UnaryOp::Canonicalize => {
            ty.is_float()
        }
        UnaryOp::Sqrt
        | UnaryOp::Rcp
        | UnaryOp::Rsqrt
        | UnaryOp::Exp2
        | UnaryOp::Log2
        | UnaryOp::Sin
        | UnaryOp::Cos => is_math_type(ty),
        UnaryOp::LeadingZeros | UnaryOp::TrailingZeros | UnaryOp::PopCount | UnaryOp::BitReverse => {
            ty.is_integer()
        }
    }
}

/// Does a binary operation exist for a type?
pub fn binary_takes(op: BinaryOp, ty: Type) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max => ty != Type::Bool,
        BinaryOp::MulHigh
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::AddSat
        | BinaryOp::SubSat
        | BinaryOp::Avg => ty.is_integer(),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !ty.is_float(),
        BinaryOp::Pow | BinaryOp::FastDiv => is_math_type(ty),
    }
}

/// Does a ternary operation exist for a type?
pub fn ternary_takes(op: TernaryOp, ty: Type) -> bool {
    match op {
        TernaryOp::Mad => ty != Type::Bool,
        TernaryOp::BitSelect => ty.is_integer(),
    }
}
