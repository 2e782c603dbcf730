//! Loop predication: a guard whose addresses change by the same number with each iteration holds in all iterations if it holds in the first and in the last.
//! That is asked before the loop, which is there twice: without such guards, and with what they guard as it was.

use rustc_hash::{FxHashMap, FxHashSet};

use super::natural::{Loop, loops};
use crate::middle::function::{Block, Constant, Definition, End, Function, Target, Value};
use crate::middle::op::{Access, Binary, Convert, Inside, LOCAL_OFFSET, Op, Relation, Space, Window};
use crate::middle::types::{Scalar, Type};

/// The same function with such loops.
pub fn predicate(function: &Function) -> Function {
    let mut result = function.clone();
    let mut done: FxHashSet<Block> = FxHashSet::default();
    while let Some(own) = loops(&result).into_iter().find(|own| !done.contains(&own.header)) {
        done.insert(own.header);
        let guards = guards(&result, &own);
        if guards.is_empty() {
            continue;
        }
        if let Some(copy) = Predication::write(&mut result, &own, guards) {
            done.insert(copy);
        }
    }
    result
}

/// A branch to where accesses are known to be inside.
struct Guard {
    block: Block,
    /// Conditions that all have to hold.
    leaves: Vec<Value>,
    fast: Target,
    slow: Target,
}

/// The guards of a loop.
fn guards(function: &Function, own: &Loop) -> Vec<Guard> {
    let guard = |block: &Block| {
        let End::Branch { condition, yes, no } = &function.block(*block).end else { return None };
        let mut leaves = Vec::new();
        conjuncts(function, *condition, &mut leaves);
        let is_guard = leaves.iter().any(|leaf| matches!(function.source(*leaf), Some((Op::Inside(_), _))))
            && own.blocks.contains(&yes.block)
            && own.blocks.contains(&no.block);
        is_guard.then(|| Guard { block: *block, leaves, fast: yes.clone(), slow: no.clone() })
    };
    own.order(function).iter().filter_map(guard).collect()
}

/// What has to hold so that a condition does.
fn conjuncts(function: &Function, condition: Value, leaves: &mut Vec<Value>) {
    match function.source(condition) {
        Some((Op::Binary(Binary::And), operands)) => {
            operands.iter().for_each(|operand| conjuncts(function, *operand, leaves));
        }
        _ => leaves.push(condition),
    }
}

/// How a scalar changes from iteration to iteration.
#[derive(Clone, Copy)]
struct Evolution {
    /// What it is in the first.
    first: Value,
    /// By what it grows with each; `None`: it is invariant.
    step: Option<Value>,
}

/// What a leaf needs to hold for all iterations.
enum Question {
    /// An address is inside.
    Inside(Inside, Evolution),
    /// A number of 64 bits is one of fewer bits that is extended so.
    Fits(Convert, u32, Evolution),
    /// It is the same in all.
    Holds(Value),
}

struct Predication<'a> {
    function: &'a mut Function,
    own: &'a Loop,
    defined: FxHashSet<Value>,
    /// The block before the loop, and what the header's parameters are there.
    entry: Block,
    given: Vec<Value>,
    evolutions: FxHashMap<Value, Option<Evolution>>,
    /// The number of the last iteration, 64 bits.
    last: Value,
    /// What has to hold, besides.
    obligations: Vec<Value>,
}

impl Predication<'_> {
    /// Gives the header of the copy.
    fn write(function: &mut Function, own: &Loop, guards: Vec<Guard>) -> Option<Block> {
        let (defined, outputs) = (own.defined(function), own.outputs(function));
        let exit = exit(function, own)?;
        let (entry, given) = own.enter_by(function);
        let last = function.constant(I64, Constant::All(0));
        let (evolutions, obligations) = (FxHashMap::default(), Vec::new());
        let mut pass = Predication { function, own, defined, entry, given, evolutions, last, obligations };
        let chosen = pass.chosen(&exit, guards);
        let given = pass.given.clone();
        let target = Target { block: own.header, arguments: given.clone() };
        function.block_mut(entry).end = End::Jump(target);
        let (condition, chosen) = chosen?;
        let join = own.leave_by(function, &outputs);
        let copy = own.copied(function, join);
        for guard in &chosen {
            function.block_mut(guard.block).end = End::Jump(guard.slow.clone());
            let block = copy.blocks[&guard.block];
            function.block_mut(block).end = End::Jump(copy.target(&guard.fast));
        }
        let to = |block: Block| Target { block, arguments: given.clone() };
        let header = copy.blocks[&own.header];
        function.block_mut(entry).end = End::Branch { condition, yes: to(header), no: to(own.header) };
        Some(header)
    }

    /// The guards that can be asked before the loop, and the condition under which they hold.
    fn chosen(&mut self, exit: &Exit, guards: Vec<Guard>) -> Option<(Value, Vec<Guard>)> {
        self.last = self.last_iteration(exit)?;
        let mut chosen: Vec<(Guard, Vec<Question>)> = Vec::new();
        for guard in guards {
            let questions: Option<Vec<Question>> =
                guard.leaves.iter().map(|leaf| self.question(*leaf)).collect();
            chosen.extend(questions.map(|questions| (guard, questions)));
        }
        // A window may be another one after an access that is not guarded.
        loop {
            let changed = self.changed_windows(&chosen);
            let before = chosen.len();
            chosen.retain(|(_, questions)| {
                !questions.iter().any(|question| match question {
                    Question::Inside(inside, _) => {
                        inside.window.is_some_and(|window| changed.contains(&window))
                    }
                    _ => false,
                })
            });
            if chosen.len() == before {
                break;
            }
        }
        if chosen.is_empty() {
            return None;
        }
        let mut all = std::mem::take(&mut self.obligations);
        for (_, questions) in &chosen {
            questions.iter().for_each(|question| self.ask(question, &mut all));
        }
        let mut seen = FxHashSet::default();
        all.retain(|condition| seen.insert(*condition));
        let mut condition = self.function.constant(Type::mask(1), Constant::All(1));
        for own in all {
            condition = self.binary(Binary::And, condition, own);
        }
        Some((condition, chosen.into_iter().map(|(guard, _)| guard).collect()))
    }

    /// The windows of accesses that may find another buffer while guards are taken to hold.
    fn changed_windows(&self, chosen: &[(Guard, Vec<Question>)]) -> FxHashSet<Window> {
        let left_out: FxHashSet<Block> = chosen.iter().map(|(guard, _)| guard.slow.block).collect();
        let blocks = self.own.blocks.iter().filter(|block| !left_out.contains(block));
        let accesses = blocks.flat_map(|block| &self.function.block(*block).instructions);
        let windows = accesses.filter_map(|instruction| match &self.function.instruction(*instruction).op {
            Op::Load(access) | Op::Store(access) => window_to_find(access),
            _ => None,
        });
        windows.collect()
    }

    /// What has to be asked of a leaf.
    fn question(&mut self, leaf: Value) -> Option<Question> {
        if let Some(Evolution { first, step: None }) = self.evolution(leaf) {
            return Some(Question::Holds(first));
        }
        let (op, operands) = self.function.source(leaf)?;
        let (op, operands) = (op.clone(), operands.to_vec());
        match op {
            Op::Inside(inside) => {
                let address = self.evolution(operands[0])?;
                self.bounded(&inside, address);
                Some(Question::Inside(inside, address))
            }
            Op::ICmp(Relation::Eq) => {
                let (Op::Convert(again), inner) = self.function.source(operands[1])? else { return None };
                let (again, inner) = (*again, inner[0]);
                let (Op::Convert(Convert::Trunc), whole) = self.function.source(inner)? else { return None };
                let is_same = whole[0] == operands[0] && matches!(again, Convert::SExt | Convert::ZExt);
                let bits = self.function.ty(inner).scalar.bits();
                let number = self.evolution(operands[0])?;
                (is_same && self.function.ty(operands[0]) == I64)
                    .then_some(Question::Fits(again, bits, number))
            }
            _ => None,
        }
    }

    /// Asks for the first and the last iteration.
    fn ask(&mut self, question: &Question, all: &mut Vec<Value>) {
        match question {
            Question::Holds(condition) => all.push(*condition),
            Question::Fits(convert, bits, number) => {
                for value in self.ends(*number) {
                    let own = self.fits(value, *convert, *bits);
                    all.push(own);
                }
            }
            Question::Inside(inside, address) => {
                for value in self.ends(*address) {
                    let own = self.append(Op::Inside(*inside), &[value], Type::mask(1));
                    all.push(own);
                }
            }
        }
    }

    /// A value in the first and in the last iteration.
    fn ends(&mut self, evolution: Evolution) -> Vec<Value> {
        let Evolution { first, step } = evolution;
        let Some(step) = step else { return vec![first] };
        let ty = self.function.ty(first);
        let last = self.resized(self.last, ty, Convert::ZExt);
        let distance = self.binary(Binary::Mul, step, last);
        vec![first, self.binary(Binary::Add, first, distance)]
    }

    /// Addresses do not wrap around on their way from the first to the last.
    fn bounded(&mut self, inside: &Inside, address: Evolution) {
        let Some(step) = address.step else { return };
        let ty = self.function.ty(address.first);
        if ty == I64 {
            // Steps of 32 bits, at most 2^32 times.
            let own = self.fits(step, Convert::SExt, 32);
            self.obligations.push(own);
            return;
        }
        self.extends(Convert::ZExt, address, I64);
        if inside.space == Space::Local {
            let most = self.function.constant(ty, Constant::All(u128::from(LOCAL_OFFSET)));
            for value in self.ends(address) {
                let own = self.append(Op::ICmp(Relation::Ule), &[value, most], Type::mask(1));
                self.obligations.push(own);
            }
        }
    }

    /// How a value changes.
    fn evolution(&mut self, value: Value) -> Option<Evolution> {
        if !self.defined.contains(&value) {
            return Some(Evolution { first: value, step: None });
        }
        if let Some(known) = self.evolutions.get(&value) {
            return *known;
        }
        // Loops of values end at the header's parameters.
        self.evolutions.insert(value, None);
        let found = match self.function.values[value.0 as usize].definition {
            Definition::Parameter(block) if block == self.own.header => self.of_parameter(value),
            Definition::Parameter(_) | Definition::Constant(_) => None,
            Definition::Result(..) => self.of_result(value),
        };
        self.evolutions.insert(value, found);
        found
    }

    fn of_parameter(&mut self, value: Value) -> Option<Evolution> {
        let header = self.function.block(self.own.header);
        let number = header.parameters.iter().position(|own| *own == value)?;
        let back = self.function.block(self.own.last).end.targets();
        let back = back.filter(|target| target.block == self.own.header);
        let back: Vec<Value> = back.map(|target| target.arguments[number]).collect();
        let [back] = back[..] else { return None };
        let first = self.given[number];
        if back == value {
            return Some(Evolution { first, step: None });
        }
        let (Op::Binary(Binary::Add), operands) = self.function.source(back)? else { return None };
        let step = match operands {
            [own, step] | [step, own] if *own == value => *step,
            _ => return None,
        };
        match self.evolution(step)? {
            Evolution { first: step, step: None } => Some(Evolution { first, step: Some(step) }),
            _ => None,
        }
    }

    fn of_result(&mut self, value: Value) -> Option<Evolution> {
        let (op, operands) = self.function.source(value)?;
        let (op, operands) = (op.clone(), operands.to_vec());
        // A division may be reached only where its divisor is not 0.
        if !op.is_pure() || matches!(op, Op::Binary(Binary::SDiv | Binary::SRem)) {
            return None;
        }
        let all: Vec<Evolution> =
            operands.iter().map(|operand| self.evolution(*operand)).collect::<Option<_>>()?;
        let ty = self.function.ty(value);
        let is_invariant = all.iter().all(|own| own.step.is_none());
        let is_linear = ty.lanes == 1
            && matches!(ty.scalar, Scalar::Int(_))
            && match op {
                Op::Binary(Binary::Add | Binary::AddNuw | Binary::Sub) => true,
                Op::Binary(Binary::Mul) => all.iter().any(|own| own.step.is_none()),
                Op::Binary(Binary::Shl) => all[1].step.is_none(),
                Op::Convert(Convert::Trunc) => true,
                Op::Convert(Convert::SExt | Convert::ZExt) => ty == I64,
                _ => false,
            };
        if !is_invariant && !is_linear {
            return None;
        }
        if let (Op::Convert(convert @ (Convert::SExt | Convert::ZExt)), false) = (&op, is_invariant) {
            return self.extends(*convert, all[0], ty);
        }
        let firsts: Vec<Value> = all.iter().map(|own| own.first).collect();
        let first = self.append(op.clone(), &firsts, ty);
        if is_invariant {
            return Some(Evolution { first, step: None });
        }
        let step = match (&op, all[0].step, all.get(1).and_then(|own| own.step)) {
            (Op::Binary(Binary::Sub), a, Some(b)) => {
                let zero = self.function.constant(ty, Constant::All(0));
                self.binary(Binary::Sub, a.unwrap_or(zero), b)
            }
            (Op::Binary(Binary::Add | Binary::AddNuw), Some(a), Some(b)) => self.binary(Binary::Add, a, b),
            (Op::Binary(Binary::Add | Binary::AddNuw | Binary::Sub), a, b) => a.or(b)?,
            (Op::Binary(Binary::Mul), None, Some(step)) => self.binary(Binary::Mul, step, firsts[0]),
            (Op::Binary(binary), Some(step), None) => self.binary(*binary, step, firsts[1]),
            (Op::Convert(Convert::Trunc), Some(step), _) => self.resized(step, ty, Convert::ZExt),
            _ => return None,
        };
        Some(Evolution { first, step: Some(step) })
    }

    /// An extension of what changes: it does not wrap around if the last is as far from the first as without.
    fn extends(&mut self, convert: Convert, narrow: Evolution, ty: Type) -> Option<Evolution> {
        let bits = self.function.ty(narrow.first).scalar.bits();
        let first = self.resized(narrow.first, ty, convert);
        let step = self.resized(narrow.step?, ty, Convert::SExt);
        let [_, end] = self.ends(Evolution { first, step: Some(step) })[..] else { return None };
        let own = self.fits(end, convert, bits);
        self.obligations.push(own);
        Some(Evolution { first, step: Some(step) })
    }

    /// Whether a number has so many bits, extended so.
    fn fits(&mut self, value: Value, convert: Convert, bits: u32) -> Value {
        let ty = self.function.ty(value);
        let cut = self.resized(value, Type::int(bits, 1), Convert::Trunc);
        let again = self.resized(cut, ty, convert);
        self.append(Op::ICmp(Relation::Eq), &[value, again], Type::mask(1))
    }

    fn resized(&mut self, value: Value, ty: Type, extend: Convert) -> Value {
        let bits = self.function.ty(value).scalar.bits();
        match bits.cmp(&ty.scalar.bits()) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Less => self.append(Op::Convert(extend), &[value], ty),
            std::cmp::Ordering::Greater => self.append(Op::Convert(Convert::Trunc), &[value], ty),
        }
    }

    fn binary(&mut self, binary: Binary, a: Value, b: Value) -> Value {
        let ty = self.function.ty(a);
        self.append(Op::Binary(binary), &[a, b], ty)
    }

    fn append(&mut self, op: Op, operands: &[Value], ty: Type) -> Value {
        let instruction = self.function.add_instruction(self.entry, op, operands, &[ty], 0);
        self.function.instruction(instruction).results[0]
    }

    /// The number of the last iteration, 64 bits, if the loop ends where it seems to.
    fn last_iteration(&mut self, exit: &Exit) -> Option<Value> {
        let [counter, bound] = [exit.counter, exit.bound].map(|value| self.evolution(value));
        let (counter, bound) = (counter?, bound?);
        let ty = self.function.ty(counter.first);
        let Scalar::Int(bits @ 8..=32) = ty.scalar else { return None };
        if ty.lanes > 1 || bound.step.is_some() {
            return None;
        }
        let Some(Constant::All(step)) = self.function.as_constant(counter.step?) else { return None };
        let step = *step;
        let (mut first, mut bound) = (counter.first, bound.first);
        if exit.relation == Relation::Slt {
            let sign = self.function.constant(ty, Constant::All(1 << (bits - 1)));
            (first, bound) = (self.binary(Binary::Xor, first, sign), self.binary(Binary::Xor, bound, sign));
        }
        let is_negative = step >> (bits - 1) != 0;
        let size = if is_negative { (1 << bits) - step } else { step };
        if !size.is_power_of_two() || is_negative && exit.relation != Relation::Ne {
            return None;
        }
        let (from, to) = if is_negative { (bound, first) } else { (first, bound) };
        let distance = self.binary(Binary::Sub, to, from);
        let shift = self.function.constant(ty, Constant::All(size.trailing_zeros().into()));
        let rest = self.function.constant(ty, Constant::All(size - 1));
        let zero = self.function.constant(ty, Constant::All(0));
        let mut whole = distance;
        if exit.relation == Relation::Ne {
            let left = self.binary(Binary::And, distance, rest);
            let divides = self.append(Op::ICmp(Relation::Eq), &[left, zero], Type::mask(1));
            self.obligations.push(divides);
        } else {
            // It ends where the counter is not below the bound any more, unless it wraps around before.
            let most = self.function.constant(ty, Constant::All((1 << bits) - size));
            let fits = self.append(Op::ICmp(Relation::Ule), &[bound, most], Type::mask(1));
            self.obligations.push(fits);
            let more = self.binary(Binary::Add, distance, rest);
            let goes_on = self.append(Op::ICmp(Relation::Ult), &[first, bound], Type::mask(1));
            whole = self.append(Op::Select, &[goes_on, more, zero], ty);
        }
        let count = self.binary(Binary::LShr, whole, shift);
        Some(self.resized(count, I64, Convert::ZExt))
    }
}

const I64: Type = Type { scalar: Scalar::Int(64), lanes: 1 };

/// How a loop ends: it goes on while a counter has a relation to a bound.
struct Exit {
    relation: Relation,
    counter: Value,
    bound: Value,
}

/// The end of a loop that is left where an iteration ends.
fn exit(function: &Function, own: &Loop) -> Option<Exit> {
    let latches = own.blocks.iter().filter(|block| {
        let mut targets = function.block(**block).end.targets();
        targets.any(|target| target.block == own.header)
    });
    let latches: Vec<&Block> = latches.collect();
    let End::Branch { condition, yes, no } = &function.block(own.last).end else { return None };
    if latches != [&own.last] || yes.block == no.block {
        return None;
    }
    let mut condition = *condition;
    let mut goes_on = yes.block == own.header;
    let is_one = |value: Value| function.as_constant(value) == Some(&Constant::All(1));
    while let Some((Op::Binary(Binary::Xor), [inner, one])) = function.source(condition)
        && is_one(*one)
    {
        condition = *inner;
        goes_on = !goes_on;
    }
    let (Op::ICmp(relation), [a, b]) = function.source(condition)? else { return None };
    let defined = own.defined(function);
    let (relation, counter, bound) =
        if defined.contains(b) { (relation.swapped(), *b, *a) } else { (*relation, *a, *b) };
    let relation = if goes_on { relation } else { relation.negated() };
    let is_known = matches!(relation, Relation::Ne | Relation::Ult | Relation::Slt);
    is_known.then_some(Exit { relation, counter, bound })
}

/// The window of an access that may find another buffer.
fn window_to_find(access: &Access) -> Option<Window> {
    access.window.filter(|_| !access.is_guarded)
}
