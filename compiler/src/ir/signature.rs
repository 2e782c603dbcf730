//! What is known of each operation, whatever registers it works on: what kind it is, what its operands are,
//! what its result depends on.
//!
//! The rows of [`Op::signature`] are all that passes, analyses, the validator and the generators of the tests
//! know; nothing else states a typing rule. Rows of the arithmetic operations are in `arithmetic.rs`.

use super::image::{CHANNELS, MAX_COORDINATES};
use super::{AtomicOp, CrossLane, Family, Form, Input, Op, Space, Type};
use gencl_program::PushSource;
use std::ops::RangeInclusive;

/// Most elements of one load or store.
pub const MAX_ELEMENTS: usize = 16;

/// A set of register families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Families(u8);

impl Families {
    const ANY: Families = Families(0b11111);
    const ANY_INTEGER: Families = Families(0b11110);
    const DWORD_OR_QWORD: Families = Families(0b11000);

    /// Whether the family is in the set.
    pub fn contains(self, family: Family) -> bool {
        self.0 & Self::from(family).0 != 0
    }

    /// The families of the set, smallest first.
    pub fn iter(self) -> impl Iterator<Item = Family> {
        Family::ALL.iter().copied().filter(move |&f| self.contains(f))
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

impl From<Type> for Families {
    fn from(ty: Type) -> Families {
        ty.family().into()
    }
}

/// What a list of operands must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    /// Families of the first ones. Those behind are of the last of these.
    first: [Families; 3],
    /// Fewest operands.
    pub min: usize,
    /// Most operands.
    pub max: usize,
}

impl Operands {
    const NONE: Operands = Operands { first: [Families::ANY; 3], min: 0, max: 0 };

    /// One of each type.
    fn of<const N: usize>(types: [Type; N]) -> Self {
        let mut operands = Operands { min: N, max: N, ..Self::NONE };
        for (families, ty) in operands.first.iter_mut().zip(types) {
            *families = ty.into();
        }
        operands
    }

    /// A number of operands of the same families.
    fn list(families: impl Into<Families>, count: RangeInclusive<usize>) -> Self {
        Operands { first: [families.into(); 3], min: *count.start(), max: *count.end() }
    }

    /// An address and then these.
    fn at_address(self, space: Space) -> Self {
        let [a, b, _] = self.first;
        Operands { first: [addresses(space), a, b], min: self.min + 1, max: self.max + 1 }
    }

    /// The families allowed for operand `index`.
    pub fn families(&self, index: usize) -> Families {
        self.first[index.min(self.first.len() - 1)]
    }
}

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The result is a function of the sources alone.
    Pure,
    /// The result comes from the launch.
    Launch,
    /// The result is anything.
    Undefined,
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// The result depends on what the active lanes hold, and on which they are.
    CrossLane,
    /// Orders what work-items do.
    Order,
    /// Ends a block.
    Terminator,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What kind of operation it is, as far as passes tell operations apart.
    pub class: Class,
    /// Registers written.
    pub dsts: Operands,
    /// Registers read, without the predicate.
    pub srcs: Operands,
    /// The type of a pure operation's result.
    pub result: Option<Type>,
    /// Whether it may be folded: the hardware's result is that of [`super::fold`], to the bit.
    pub exact: bool,
    /// Do all lanes get the same when the sources that decide
    /// ([`super::analysis::uniformity::decisive_sources`]) are the same for all?
    pub uniform: bool,
    /// The sources that decide on that; `None`: all.
    pub decisive: Option<&'static [usize]>,
    /// The forms of functions in which it exists.
    pub forms: &'static [Form],
    /// Whether it takes a predicate.
    pub predicable: bool,
}

impl Signature {
    const fn new(class: Class, dsts: Operands, srcs: Operands) -> Self {
        Signature {
            class,
            dsts,
            srcs,
            result: None,
            exact: false,
            uniform: true,
            decisive: None,
            forms: &[Form::PerLane, Form::Linear, Form::Masked],
            predicable: true,
        }
    }

    const fn terminator(forms: &'static [Form], srcs: Operands) -> Self {
        let row = Self::new(Class::Terminator, Operands::NONE, srcs);
        Signature { forms, predicable: false, ..row }
    }

    fn pure<const N: usize>(result: Type, srcs: [Type; N]) -> Self {
        let row = Self::new(Class::Pure, Operands::of([result]), Operands::of(srcs));
        Signature { result: Some(result), exact: true, ..row }
    }

    const fn exact_if(self, exact: bool) -> Self {
        Signature { exact, ..self }
    }

    const fn uniform_if(self, uniform: bool) -> Self {
        Signature { uniform, ..self }
    }
}

impl Op {
    /// What is known of the operation. Inlined, so that one column costs no more than a `match` for it.
    #[inline(always)]
    pub fn signature(&self) -> Signature {
        use Type::{Bool, U32, U64};
        let none = Operands::NONE;
        let elements = |ty| Operands::list(ty, 1..=MAX_ELEMENTS);
        match *self {
            Op::Immediate { ty, .. } => Signature::pure(ty, []),
            Op::Unary(op, ty) => Signature::pure(ty, [ty]).exact_if(op.is_exact()),
            Op::Binary(op, ty) => Signature::pure(ty, [ty; 2]).exact_if(op.is_exact()),
            Op::Ternary(op, ty) => Signature::pure(ty, [ty; 3]).exact_if(op.is_exact()),
            Op::Compare(_, ty) => Signature::pure(Bool, [ty; 2]),
            Op::Select(ty) => Signature::pure(ty, [Bool, ty, ty]),
            Op::Convert { to, from, .. } => Signature::pure(to, [from]),
            Op::Pair => Signature::pure(U64, [U32; 2]),
            Op::Half { .. } => Signature::pure(U32, [U64]),
            Op::Input(input) => {
                let dsts = Operands::list(input_families(input), 1..=1);
                Signature::new(Class::Launch, dsts, none).uniform_if(is_uniform(input))
            }
            Op::Undefined => {
                let dsts = Operands::list(Families::ANY, 1..=usize::MAX);
                Signature { predicable: false, ..Signature::new(Class::Undefined, dsts, none) }
            }
            Op::Load { space, ty, .. } => {
                let row = Signature::new(Class::Read, elements(ty), none.at_address(space));
                row.uniform_if(space != Space::Private)
            }
            Op::Store { space, ty, .. } => Signature::new(Class::Write, none, elements(ty).at_address(space)),
            Op::Atomic { op, space, ty } => {
                let srcs = Operands::list(ty, op.values()..=op.values()).at_address(space);
                Signature::new(Class::Write, Operands::list(ty, 0..=1), srcs).uniform_if(false)
            }
            Op::Image(access) => {
                let coordinates = usize::from(access.coordinates);
                let dwords = |count| Operands::list(Family::Dword, count);
                // Lanes that are not active get no result of a message.
                if access.writes() {
                    let count = coordinates + CHANNELS;
                    Signature::new(Class::Write, none, dwords(count..=count)).uniform_if(false)
                } else {
                    let (dsts, srcs) = (dwords(1..=CHANNELS), dwords(coordinates..=coordinates));
                    Signature::new(Class::Read, dsts, srcs).uniform_if(false)
                }
            }
            Op::CrossLane(op) => {
                let (result, srcs) = match op {
                    CrossLane::Shuffle(ty) => (ty, Operands::of([ty, U32])),
                    CrossLane::Ballot => (U32, Operands::of([Bool])),
                    CrossLane::Reduce(_, ty) | CrossLane::Scan { ty, .. } => (ty, Operands::of([ty])),
                };
                let row = Signature::new(Class::CrossLane, Operands::of([result]), srcs);
                let decisive = Some(op.decisive_sources());
                Signature { decisive, ..row.uniform_if(op.gives_uniform()) }
            }
            Op::Barrier { .. } | Op::BarrierArrive { .. } | Op::BarrierWait | Op::SubgroupBarrier { .. } => {
                Signature { predicable: false, ..Signature::new(Class::Order, none, none) }
            }
            Op::Clock => Signature::new(Class::Order, Operands::of([U32, U32]), none).uniform_if(false),
            Op::RaceCheck { .. } => Signature::new(Class::Write, none, Operands::of([U32; 5])),
            Op::Fence { .. } => Signature::new(Class::Order, none, none),
            Op::Branch { .. } => Signature::terminator(&[Form::PerLane], Operands::of([Bool])),
            Op::Vote { .. } => Signature::terminator(&[Form::Linear, Form::Masked], Operands::of([Bool])),
            Op::Leave { .. } => {
                Signature { predicable: true, ..Signature::terminator(&[Form::Masked], none) }
            }
            Op::Join { .. } => Signature::terminator(&[Form::Masked], none),
            Op::Jump(_) | Op::Return => {
                Signature::terminator(&[Form::PerLane, Form::Linear, Form::Masked], none)
            }
        }
    }
}

/// What addresses of a space are: those of global memory are as wide as the target has them.
fn addresses(space: Space) -> Families {
    match space {
        Space::Global | Space::Constant => Families::DWORD_OR_QWORD,
        Space::Local | Space::Private => Family::Dword.into(),
    }
}

impl AtomicOp {
    /// How many values it reads besides its address.
    fn values(self) -> usize {
        match self {
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
}

/// Whether all lanes of a thread get the same.
fn is_uniform(input: Input) -> bool {
    match input {
        Input::Push(_) | Input::GroupId(_) | Input::SubgroupId | Input::SimdWidth => true,
        Input::LocalId(_) | Input::LaneId => false,
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
            | PushSource::CheckBuffer
            | PushSource::RaceTable
            | PushSource::Shadow { .. }
            | PushSource::StackBase
            | PushSource::GlobalOffset(_)
            | PushSource::GlobalSize(_)
            | PushSource::LocalSize(_)
            | PushSource::EnqueuedLocalSize(_)
            | PushSource::NumGroups(_)
            | PushSource::WorkDim => Families::DWORD_OR_QWORD,
            PushSource::LocalOffset { .. } | PushSource::Image { .. } | PushSource::LocalShadow => {
                Family::Dword.into()
            }
        },
    }
}

/// The reason why the operation does not exist for its types and attributes, if so.
pub fn check_attributes(op: &Op) -> Result<(), &'static str> {
    let need = |holds: bool, reason| if holds { Ok(()) } else { Err(reason) };
    match *op {
        Op::Immediate { ty, bits } => {
            need(bits & !ty.mask() == 0, "the constant has bits above the width of its type")
        }
        Op::Unary(op, ty) => need(op.takes(ty), "the operation does not exist for this type"),
        Op::Binary(op, ty) => need(op.takes(ty), "the operation does not exist for this type"),
        Op::Ternary(op, ty) => need(op.takes(ty), "the operation does not exist for this type"),
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
                need(op.binary().takes(ty), "the operation does not exist for this type")
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
                | PushSource::CheckBuffer
                | PushSource::RaceTable
                | PushSource::Shadow { .. }
                | PushSource::LocalShadow
                | PushSource::StackBase,
            ),
        )
        | Op::Undefined
        | Op::Select(_)
        | Op::Pair
        | Op::Half { .. }
        | Op::Barrier { .. }
        | Op::BarrierArrive { .. }
        | Op::BarrierWait
        | Op::Clock
        | Op::RaceCheck { .. }
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
