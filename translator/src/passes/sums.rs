//! Sums: what an integer is added up of, how far the lanes of a row are apart, and how a value changes from iteration to iteration of a loop.

use rustc_hash::{FxHashMap, FxHashSet};

use super::natural::Loop;
use super::strides::{Stride, of_constant};
use crate::middle::builder::Builder;
use crate::middle::function::{Block, Definition, Function, Value};
use crate::middle::op::{Binary, Convert, Op, Relation};
use crate::middle::types::{Scalar, Type};

/// The depth to which sums of sums are followed.
const MAX_DEPTH: usize = 16;

/// A term of a sum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// What is added.
    pub value: Value,
    /// How it is extended to the sum's type.
    pub extend: Option<Convert>,
}

/// An integer as a sum, modulo 2^bits.
#[derive(Default)]
pub struct Sum {
    /// The constant.
    pub constant: u64,
    /// By how much lanes are apart, besides.
    pub stride: i64,
    /// Terms that are the same for all lanes, those that are extended last.
    pub scalars: Vec<Term>,
    /// Terms that each lane has its own of.
    pub offsets: Vec<Term>,
}

impl Sum {
    /// Takes a value apart. A scalar in all lanes is one term, whatever it is added up of itself.
    pub fn of(function: &Function, value: Value) -> Sum {
        let mut sum = Sum::default();
        sum.add(function, value, None, 0);
        sum.scalars.sort_by_key(|term| term.extend.is_some());
        sum
    }

    /// How far it is from another one of the same terms, of so many bits.
    pub fn distance(&self, other: &Sum, bits: u32) -> Option<i64> {
        let is_alike =
            self.stride == other.stride && self.scalars == other.scalars && self.offsets == other.offsets;
        let unused = 64 - bits;
        let distance = self.constant.wrapping_sub(other.constant) << unused;
        is_alike.then_some((distance as i64) >> unused)
    }

    fn add(&mut self, function: &Function, value: Value, extend: Option<Convert>, depth: usize) {
        let (parts, extend) = match (function.source(value).filter(|_| depth < MAX_DEPTH), extend) {
            (Some((Op::Binary(Binary::Add | Binary::AddNuw), parts)), None) => (parts, None),
            (Some((Op::Convert(own @ (Convert::SExt | Convert::ZExt)), parts)), None) => (parts, Some(*own)),
            // The terms of a row that does not wrap around are extended alike.
            (Some((Op::Binary(Binary::AddNuw), parts)), Some(Convert::ZExt))
                if function.as_constant(parts[1]).is_some() =>
            {
                (parts, extend)
            }
            _ => return self.add_term(function, value, extend),
        };
        parts.iter().for_each(|part| self.add(function, *part, extend, depth + 1));
    }

    fn add_term(&mut self, function: &Function, value: Value, extend: Option<Convert>) {
        let ty = function.ty(value);
        let wide = if extend.is_some() { ty.of(Scalar::Int(64)) } else { ty };
        let constant = function.as_constant(value).map(|own| (of_constant(wide, own), own.lane(0)));
        match (constant, function.source(value)) {
            (Some((Stride::Affine { stride, .. }, first)), _) => {
                self.constant = self.constant.wrapping_add(first as u64);
                self.stride = self.stride.wrapping_add(stride);
            }
            (_, Some((Op::Splat, [scalar]))) => self.scalars.push(Term { value: *scalar, extend }),
            _ if ty.lanes == 1 => self.scalars.push(Term { value, extend }),
            _ => self.offsets.push(Term { value, extend }),
        }
    }

    /// The scalars, taken apart.
    pub fn leaves(&self, function: &Function) -> Vec<Term> {
        let parts = |term: &Term| match term.extend {
            None => Sum::of(function, term.value).scalars,
            Some(_) => vec![*term],
        };
        self.scalars.iter().flat_map(parts).collect()
    }
}

/// Lanes that are a stride apart.
#[derive(Clone, Copy)]
pub struct Row {
    /// The first of them.
    pub first: Value,
    /// The stride.
    pub stride: i64,
    /// Whether (a mask of one lane) that is so.
    pub holds: Value,
}

impl Row {
    /// All lanes.
    pub fn lanes(&self, builder: &mut Builder, ty: Type) -> Value {
        let all = builder.splat(self.first, ty.lanes.into());
        let steps = builder.ints(ty, |lane| (lane as i64).wrapping_mul(self.stride) as u64);
        builder.binary(Binary::Add, all, steps)
    }

    /// Whether the last lane of an extension is as far from the first as it is before: then no lane wraps around.
    pub fn fits(&self, builder: &mut Builder, extend: Convert, narrow: Type) -> Value {
        let distance = (i64::from(narrow.lanes) - 1).wrapping_mul(self.stride);
        let distance = builder.int(builder.ty(self.first), distance as u64);
        let last = builder.binary(Binary::Add, self.first, distance);
        builder.fits(last, extend, narrow.scalar)
    }
}

/// What a condition says that fits in fewer bits: the value, how those are extended, and their type ([`Builder::fits`]).
pub fn fitting(function: &Function, condition: Value) -> Option<(Value, Convert, Scalar)> {
    let (Op::ICmp(Relation::Eq), [whole, again]) = function.source(condition)? else { return None };
    let (Op::Convert(extend @ (Convert::SExt | Convert::ZExt)), [cut]) = function.source(*again)? else {
        return None;
    };
    let is_cut = function.source(*cut)? == (&Op::Convert(Convert::Trunc), &[*whole][..]);
    is_cut.then(|| (*whole, *extend, function.ty(*cut).scalar))
}

/// What has to hold so that a condition does.
pub fn conjuncts(function: &Function, condition: Value) -> Vec<Value> {
    match function.source(condition) {
        Some((Op::Binary(Binary::And), operands)) => {
            operands.iter().flat_map(|operand| conjuncts(function, *operand)).collect()
        }
        _ => vec![condition],
    }
}

/// How a value changes from iteration to iteration.
#[derive(Clone, Copy)]
pub struct Evolution {
    /// What it is in the first.
    pub first: Value,
    /// By what it grows with each; `None`: it is invariant.
    pub step: Option<Value>,
}

/// The evolutions of a loop's values, which are computed in a block before it.
pub struct Evolutions<'a> {
    /// Appends to that block.
    pub builder: Builder,
    own: &'a Loop,
    defined: FxHashSet<Value>,
    /// What the header's parameters are in the first iteration.
    given: Vec<Value>,
    /// A lane that keeps what it had is taken for one that has left the loop: the step is that of the others.
    ignores_disabled: bool,
    known: FxHashMap<Value, Option<Evolution>>,
    /// Induction variables that are extended: the evolutions hold if none of them wraps around.
    pub extended: Vec<(Evolution, Convert, Scalar)>,
}

impl<'a> Evolutions<'a> {
    /// Those of a loop.
    pub fn new(
        function: Function,
        own: &'a Loop,
        (entry, given): (Block, Vec<Value>),
        ignores_disabled: bool,
    ) -> Self {
        let defined = own.defined(&function);
        let mut builder = Builder::default();
        builder.function = function;
        builder.begin(entry);
        let (known, extended) = (FxHashMap::default(), Vec::new());
        Evolutions { builder, own, defined, given, ignores_disabled, known, extended }
    }

    /// How a value changes.
    pub fn of(&mut self, value: Value) -> Option<Evolution> {
        if !self.defined.contains(&value) {
            return Some(Evolution { first: value, step: None });
        }
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        // Loops of values end at the header's parameters.
        self.known.insert(value, None);
        let found = match self.builder.function.values[value].definition {
            Definition::Parameter(block) if block == self.own.header => self.of_parameter(value),
            Definition::Parameter(_) | Definition::Constant(_) => None,
            Definition::Result(..) => self.of_result(value),
        };
        self.known.insert(value, found);
        found
    }

    fn of_parameter(&mut self, value: Value) -> Option<Evolution> {
        let function = &self.builder.function;
        let number = function.block(self.own.header).parameters.iter().position(|own| *own == value)?;
        let targets = self.own.blocks.iter().flat_map(|block| function.block(*block).end.targets());
        let back = targets.filter(|target| target.block == self.own.header);
        let steps: Option<FxHashSet<Option<Value>>> =
            back.map(|target| self.step_to(target.arguments[number], value)).collect();
        let [step] = Vec::from_iter(steps?)[..] else { return None };
        let step = match step.map(|step| self.of(step)) {
            None => None,
            Some(Some(Evolution { first, step: None })) => Some(first),
            Some(_) => return None,
        };
        Some(Evolution { first: self.given[number], step })
    }

    /// What is added to a parameter to be what it is in the next iteration.
    fn step_to(&self, next: Value, parameter: Value) -> Option<Option<Value>> {
        if next == parameter {
            return Some(None);
        }
        match self.builder.function.source(next)? {
            (Op::Binary(Binary::Add), [own, step] | [step, own]) if *own == parameter => Some(Some(*step)),
            (Op::Select, [_, next, own]) if self.ignores_disabled && *own == parameter => {
                self.step_to(*next, parameter)
            }
            _ => None,
        }
    }

    fn of_result(&mut self, value: Value) -> Option<Evolution> {
        let (op, operands) = self.builder.function.source(value)?;
        let (op, operands) = (op.clone(), operands.to_vec());
        // A division may be reached only where its divisor is not 0.
        if !op.is_pure() || matches!(op, Op::Binary(Binary::SDiv | Binary::SRem)) {
            return None;
        }
        let all: Vec<Evolution> = operands.iter().map(|own| self.of(*own)).collect::<Option<_>>()?;
        let (firsts, steps): (Vec<Value>, Vec<Option<Value>>) =
            all.iter().map(|own| (own.first, own.step)).unzip();
        let builder = &mut self.builder;
        let ty = builder.ty(value);
        let first = builder.pure(op.clone(), &firsts, ty);
        let step = match (&op, &steps[..]) {
            _ if steps.iter().all(Option::is_none) => return Some(Evolution { first, step: None }),
            _ if !matches!(ty.scalar, Scalar::Int(_)) => return None,
            (Op::Binary(Binary::Add | Binary::AddNuw), [Some(a), Some(b)]) => {
                builder.binary(Binary::Add, *a, *b)
            }
            (Op::Binary(Binary::Sub), [a, Some(b)]) => {
                let zero = builder.int(ty, 0);
                builder.binary(Binary::Sub, a.unwrap_or(zero), *b)
            }
            (Op::Binary(Binary::Add | Binary::AddNuw), [Some(step), _] | [_, Some(step)])
            | (Op::Binary(Binary::Sub), [Some(step), None]) => *step,
            (Op::Binary(Binary::Mul), [None, Some(step)]) => builder.binary(Binary::Mul, *step, firsts[0]),
            (Op::Binary(binary @ (Binary::Mul | Binary::Shl)), [Some(step), None]) => {
                builder.binary(*binary, *step, firsts[1])
            }
            (Op::Convert(Convert::Trunc), [Some(step)]) => builder.resize(*step, ty.scalar.bits(), false),
            (Op::Convert(extend @ (Convert::SExt | Convert::ZExt)), _) if ty.scalar == Scalar::Int(64) => {
                return self.extend(*extend, all[0]);
            }
            (Op::Splat, [Some(step)]) => builder.splat(*step, ty.lanes.into()),
            _ => return None,
        };
        Some(Evolution { first, step: Some(step) })
    }

    /// An extension to 64 bits of what changes.
    pub fn extend(&mut self, extend: Convert, narrow: Evolution) -> Option<Evolution> {
        let scalar = self.builder.ty(narrow.first).scalar;
        let first = self.builder.resize(narrow.first, 64, extend == Convert::SExt);
        let step = self.builder.resize(narrow.step?, 64, true);
        let wide = Evolution { first, step: Some(step) };
        self.extended.push((wide, extend, scalar));
        Some(wide)
    }
}
