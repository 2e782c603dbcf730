//! Every operation with every type, modifier, region form and width of each of its operands, and what else its instructions say.

use gencl_isa::{
    Condition, Format, Generation, MathFunction, OPCODES, Opcode, Predicate, PredicateControl, Type,
};

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The opcode.
    pub opcode: Opcode,
    /// That of `math`.
    pub function: Option<MathFunction>,
}

impl Operation {
    /// Sources.
    pub fn sources(self) -> usize {
        self.function.map_or(usize::from(self.opcode.info().sources), MathFunction::arguments)
    }
}

/// How a source's elements are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `<0;1,0>`
    Scalar,
    /// One after the other.
    Packed,
    /// Two or four elements apart.
    Strided,
    /// Rows of one element.
    Column,
    /// Rows with gaps between them.
    Rows,
    /// One row for all.
    Repeated,
    /// Rows that overlap.
    Overlapping,
    /// No registers at all.
    Immediate,
    /// At an address.
    Indirect,
    /// At an address for each row.
    IndirectRows,
    /// In the accumulator.
    Accumulator,
    /// Align16: components in any order.
    Swizzled,
    /// Align16: one element for all, or four.
    Replicated,
}

/// Where a destination's elements go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// So many elements apart.
    Strided(u8),
    /// At an address.
    Indirect,
    /// To the accumulator.
    Accumulator,
    /// Nowhere.
    Null,
    /// Align16: some components.
    Masked,
}

/// What a point asks for.
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    /// Of a source.
    Source {
        /// Its number.
        number: usize,
        /// Its type.
        ty: Type,
        /// Negated, and without its sign.
        modifier: (bool, bool),
        /// Its elements.
        form: Form,
    },
    /// Of the destination.
    Destination {
        /// Its type.
        ty: Type,
        /// Its elements.
        target: Target,
        /// Saturated.
        saturate: bool,
        /// The accumulator is written too.
        accumulator: bool,
    },
    /// Of flags.
    Flags {
        /// Those that it writes.
        condition: Option<Condition>,
        /// Those that it reads.
        predicate: Option<Predicate>,
    },
}

/// An operation of so many channels, and one thing that its instruction is to have.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// What is computed.
    pub operation: Operation,
    /// Channels.
    pub width: u8,
    /// What it is to have.
    pub asked: Asked,
}

/// All execution sizes.
const WIDTHS: [u8; 6] = [1, 2, 4, 8, 16, 32];

/// Types in registers.
pub const TYPES: [Type; 11] =
    [Type::UB, Type::B, Type::UW, Type::W, Type::UD, Type::D, Type::UQ, Type::Q, Type::HF, Type::F, Type::DF];

/// Types of immediates beside those in registers.
const VECTORS: [Type; 3] = [Type::V, Type::UV, Type::VF];

const FORMS: [Form; 13] = [
    Form::Scalar,
    Form::Packed,
    Form::Strided,
    Form::Column,
    Form::Rows,
    Form::Repeated,
    Form::Overlapping,
    Form::Immediate,
    Form::Indirect,
    Form::IndirectRows,
    Form::Accumulator,
    Form::Swizzled,
    Form::Replicated,
];

const TARGETS: [Target; 7] = [
    Target::Strided(1),
    Target::Strided(2),
    Target::Strided(4),
    Target::Indirect,
    Target::Accumulator,
    Target::Null,
    Target::Masked,
];

pub const CONDITIONS: [Condition; 8] = [
    Condition::Equal,
    Condition::NotEqual,
    Condition::Greater,
    Condition::GreaterEqual,
    Condition::Less,
    Condition::LessEqual,
    Condition::Overflow,
    Condition::Unordered,
];

/// Of align1.
pub const CONTROLS: [PredicateControl; 13] = [
    PredicateControl::Normal,
    PredicateControl::AnyV,
    PredicateControl::AllV,
    PredicateControl::Any2H,
    PredicateControl::All2H,
    PredicateControl::Any4H,
    PredicateControl::All4H,
    PredicateControl::Any8H,
    PredicateControl::All8H,
    PredicateControl::Any16H,
    PredicateControl::All16H,
    PredicateControl::Any32H,
    PredicateControl::All32H,
];

/// Of align16, beside the normal one.
pub const CONTROLS_16: [PredicateControl; 6] = [
    PredicateControl::ReplicateX,
    PredicateControl::ReplicateY,
    PredicateControl::ReplicateZ,
    PredicateControl::ReplicateW,
    PredicateControl::Align16Any4H,
    PredicateControl::Align16All4H,
];

const FUNCTIONS: [MathFunction; 14] = [
    MathFunction::Inv,
    MathFunction::Log,
    MathFunction::Exp,
    MathFunction::Sqrt,
    MathFunction::Rsq,
    MathFunction::Sin,
    MathFunction::Cos,
    MathFunction::Fdiv,
    MathFunction::Pow,
    MathFunction::IntDivQuotientRemainder,
    MathFunction::IntDivQuotient,
    MathFunction::IntDivRemainder,
    MathFunction::Invm,
    MathFunction::Rsqrtm,
];

/// All that computes and that a generation has.
pub fn operations(generation: Generation) -> Vec<Operation> {
    let rows = OPCODES.iter().filter(|row| row.code(generation).is_some());
    rows.flat_map(|row| match row.format {
        Format::Basic | Format::Ternary => vec![Operation { opcode: row.opcode, function: None }],
        Format::Math => {
            let of = |function| Operation { opcode: row.opcode, function: Some(function) };
            FUNCTIONS.into_iter().map(of).collect()
        }
        _ => Vec::new(),
    })
    .collect()
}

/// All points of some operations, also those that no instruction has.
pub fn points(operations: &[Operation]) -> Vec<Point> {
    let mut points = Vec::new();
    for &operation in operations {
        for width in WIDTHS {
            let mut add = |asked| points.push(Point { operation, width, asked });
            for number in 0..operation.sources() {
                sources(number, &mut add);
            }
            destinations(&mut add);
            flags(&mut add);
        }
    }
    points
}

fn sources(number: usize, add: &mut impl FnMut(Asked)) {
    for form in FORMS {
        let vectors: &[Type] = if form == Form::Immediate { &VECTORS } else { &[] };
        for &ty in TYPES.iter().chain(vectors) {
            let modifiers: &[_] = match form {
                Form::Immediate => &[(false, false)],
                _ => &[(false, false), (true, false), (false, true), (true, true)],
            };
            modifiers.iter().for_each(|&modifier| add(Asked::Source { number, ty, modifier, form }));
        }
    }
}

fn destinations(add: &mut impl FnMut(Asked)) {
    for target in TARGETS {
        for ty in TYPES {
            for (saturate, accumulator) in [(false, false), (true, false), (false, true), (true, true)] {
                add(Asked::Destination { ty, target, saturate, accumulator });
            }
        }
    }
}

fn flags(add: &mut impl FnMut(Asked)) {
    let conditions = [None].into_iter().chain(CONDITIONS.map(Some));
    for condition in conditions {
        add(Asked::Flags { condition, predicate: None });
        for control in CONTROLS.into_iter().chain(CONTROLS_16) {
            for inverse in [false, true] {
                add(Asked::Flags { condition, predicate: Some(Predicate { control, inverse }) });
            }
        }
    }
}
