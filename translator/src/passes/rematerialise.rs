//! Rematerialises parameters that are another one of their block and a constant: fewer values live on in loops, and over barriers, where they are saved.

use rustc_hash::{FxHashMap, FxHashSet};

use super::simplify::Rebuild;
use crate::middle::function::{Block, Constant, Definition, Function, Value};
use crate::middle::op::{Binary, Op};
use crate::middle::types::{Scalar, Type};

/// The same function with fewer parameters.
pub fn rematerialise(function: &Function) -> Function {
    let related = Related::new(function).offsets;
    let mut rebuild = Rebuild::new(function);
    for block in rebuild.order.clone() {
        rebuild.begin(block);
        let (made, kept): (Vec<Value>, Vec<Value>) =
            function.block(block).parameters.iter().partition(|own| related.contains_key(own));
        kept.into_iter().for_each(|own| rebuild.add_parameter(block, own));
        for own in made {
            let other = rebuild.value(related[&own].root.unwrap_or(own));
            let constant = rebuild.builder.int(function.ty(own), related[&own].constant);
            let value = rebuild.builder.binary(Binary::Add, other, constant);
            rebuild.values.insert(own, value);
        }
        function.block(block).instructions.iter().for_each(|instruction| rebuild.copy(*instruction));
        rebuild.end(block);
    }
    rebuild.finish_kept(|own| !related.contains_key(own))
}

/// A value and a constant, modulo its type. Without a value it is the constant.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Offset {
    root: Option<Value>,
    constant: u64,
}

/// The parameters that are another one of their block and a constant.
struct Related<'a> {
    function: &'a Function,
    offsets: FxHashMap<Value, Offset>,
}

impl Related<'_> {
    /// Takes for related what the first edge to a block says, the one on the way from the entry, until another edge says otherwise.
    fn new(function: &Function) -> Related<'_> {
        let mut related = Related { function, offsets: FxHashMap::default() };
        let order = order(function);
        let mut edges: FxHashMap<Block, Vec<&[Value]>> = FxHashMap::default();
        for block in &order {
            for target in function.block(*block).end.targets() {
                edges.entry(target.block).or_default().push(&target.arguments);
            }
        }
        for block in &order {
            if let Some(first) = edges.get(block).and_then(|edges| edges.first()) {
                related.relate(&function.block(*block).parameters, first);
            }
        }
        loop {
            let before = related.offsets.len();
            for (block, edges) in &edges {
                let parameters = &function.block(*block).parameters;
                edges.iter().for_each(|arguments| related.check(parameters, arguments));
            }
            if related.offsets.len() == before {
                return related;
            }
        }
    }

    /// Relates parameters whose arguments are.
    fn relate(&mut self, parameters: &[Value], arguments: &[Value]) {
        let mut known: FxHashMap<(Option<Value>, Type), (Value, u64)> = FxHashMap::default();
        for (own, argument) in parameters.iter().zip(arguments) {
            let ty = self.function.ty(*own);
            let Some(sum) = self.sum(*argument) else { continue };
            match known.get(&(sum.root, ty)) {
                Some((other, constant)) => {
                    let constant = wrapped(sum.constant.wrapping_sub(*constant), ty);
                    self.offsets.insert(*own, Offset { root: Some(*other), constant });
                }
                None => {
                    known.insert((sum.root, ty), (*own, sum.constant));
                }
            }
        }
    }

    /// Forgets what an edge does not agree with.
    fn check(&mut self, parameters: &[Value], arguments: &[Value]) {
        let told: FxHashMap<Value, Value> =
            parameters.iter().copied().zip(arguments.iter().copied()).collect();
        for (own, argument) in parameters.iter().zip(arguments) {
            let Some(Offset { root: Some(other), constant }) = self.offsets.get(own).copied() else {
                continue;
            };
            let [own_sum, other_sum] =
                [Some(*argument), told.get(&other).copied()].map(|value| self.sum(value?));
            let agrees = own_sum.zip(other_sum).is_some_and(|(own_sum, other_sum)| {
                let distance = own_sum.constant.wrapping_sub(other_sum.constant);
                own_sum.root == other_sum.root && wrapped(distance, self.function.ty(*own)) == constant
            });
            if !agrees {
                self.offsets.remove(own);
            }
        }
    }

    /// What an integer is made of; `None`: it is no integer, or too wide.
    fn sum(&self, value: Value) -> Option<Offset> {
        let ty = self.function.ty(value);
        let Scalar::Int(1..=64) = ty.scalar else { return None };
        let mut sum = Offset { root: Some(value), constant: 0 };
        while let Some(value) = sum.root {
            let (root, constant) =
                match (&self.function.values[value.0 as usize].definition, self.offsets.get(&value)) {
                    (Definition::Constant(Constant::All(bits)), _) => (None, *bits as u64),
                    (_, Some(own)) => (own.root, own.constant),
                    _ => match self.function.source(value) {
                        Some((Op::Binary(Binary::Add | Binary::AddNuw), [a, b])) => {
                            match self.function.as_constant(*b) {
                                Some(Constant::All(bits)) => (Some(*a), *bits as u64),
                                _ => break,
                            }
                        }
                        _ => break,
                    },
                };
            sum = Offset { root, constant: wrapped(sum.constant.wrapping_add(constant), ty) };
        }
        Some(sum)
    }
}

/// Blocks, each behind one that goes to it, but for the first.
fn order(function: &Function) -> Vec<Block> {
    let (mut order, mut seen) = (vec![Block(0)], FxHashSet::from_iter([Block(0)]));
    let mut next = 0;
    while let Some(block) = order.get(next) {
        let targets = function.block(*block).end.targets().map(|target| target.block);
        let new: Vec<Block> = targets.filter(|target| seen.insert(*target)).collect();
        order.extend(new);
        next += 1;
    }
    order
}

/// A constant modulo a type.
fn wrapped(constant: u64, ty: Type) -> u64 {
    constant & (u64::MAX >> (64 - ty.scalar.bits()))
}
