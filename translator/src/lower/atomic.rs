//! Atomic operations in memory: those of the host, for one lane after the other, as the interpreter has it.
//!
//! Where all lanes have one address and the old values are unused, integers are reduced first, and it is one operation. In shared local
//! memory no operation of the host's needs to be atomic: all threads of a work-group run on one of the host's.

use gencl_eu::message::AtomicOperation as Operation;
use inkwell::AtomicOrdering;

use super::memory::{Addresses, mark};
use super::outlined::number_of;
use super::reductions::{Reduction, host_operation, reduction};
use super::{FILE, Lowering, WIDE};
use crate::ir::{BIT, Callee, I64, Label, POINTER, Ty, Value as LlvmValue};
use crate::middle::function::Instruction;
use crate::middle::op::{Relation, Space};

/// The values of a lane.
struct Lane<'c> {
    at: LlvmValue<'c>,
    a: LlvmValue<'c>,
    b: LlvmValue<'c>,
}

/// An operation with its space and the size of its values in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    operation: Operation,
    space: Space,
    size: u8,
}

/// An out-of-line function that performs an operation for one lane after the other.
#[derive(Clone, PartialEq, Eq)]
pub struct OneByOne {
    kind: Kind,
    /// The types of the lanes' offsets and values.
    offsets: Ty,
    sources: Vec<Ty>,
    returns: bool,
}

/// The name of such functions.
const ATOMIC: &str = "atomic";
/// Bytes of one value of all lanes where such a function finds them: offsets, two values at most, old values.
const ROW: usize = 32 * 8;
const OLD_VALUES: usize = 3 * ROW;

impl<'c> Lowering<'_, 'c> {
    /// An atomic operation; the old values, if they are used.
    pub fn atomic(
        &mut self,
        instruction: Instruction,
        operation: Operation,
        space: Space,
        size: u8,
    ) -> Vec<LlvmValue<'c>> {
        let data = self.function.instruction(instruction);
        let kind = Kind { operation, space, size };
        let mask = self.value(data.operands[0]);
        let addresses = self.value(data.operands[1]);
        let sources: Vec<LlvmValue<'c>> = data.operands[2..].iter().map(|value| self.value(*value)).collect();
        let addresses = self.counted(space, addresses);
        let reach = self.reach(space, None, size);
        let mut paths = self.paths();
        let distances = self.distance(reach, addresses);
        let offsets = self.offset(reach, distances);
        let inside = self.inside(reach, offsets, size.into());
        let inside = self.and_aligned(inside, distances, size);
        self.f.require(self.holds_where_enabled(inside, Some(mask)), paths.slow);
        let bits = u32::from(size) * 8;
        let returns = !data.results.is_empty();
        if let (Some(reduction), false, true) =
            (reduction(operation, bits), returns, space != Space::Local && mask.ty != BIT)
        {
            let elsewhere = self.reduced(&reduction, reach.host, offsets, sources.first().copied(), mask);
            self.end_path(&mut paths, Vec::new());
            self.f.begin(elsewhere);
        }
        let found = self.one_by_one(kind, reach.host, offsets, &sources, mask, returns);
        self.end_path(&mut paths, found.into_iter().collect());
        self.f.begin(paths.slow);
        let all = Addresses::Each(self.value(data.operands[1]));
        let found = self.slow_path(instruction, reach.window, &all);
        self.end_path(&mut paths, found);
        self.join_paths(paths)
    }

    /// A reduction and one operation, if all enabled lanes, at least one, have one address. The block for all other cases.
    fn reduced(
        &mut self,
        reduction: &Reduction,
        host: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
        source: Option<LlvmValue<'c>>,
        mask: LlvmValue<'c>,
    ) -> Label<'c> {
        let offset = self.first_enabled(offsets, mask);
        let all = self.f.splat(offset, offsets.ty.lanes);
        let same = self.f.equal(offsets, all);
        let same = self.holds_where_enabled(same, Some(mask));
        let some = self.f.compare(Relation::Ne, mask, self.f.int(mask.ty, 0));
        let holds = self.f.and(same, some);
        let [here, elsewhere] = [(); 2].map(|()| self.f.label());
        self.f.branch(holds, here, elsewhere);
        self.f.begin(here);
        let operand = match (reduction.combine, source) {
            (Some(name), Some(source)) => {
                let neutral = self.f.int(source.ty, reduction.neutral);
                let enabled = self.f.mask(mask);
                let source = self.f.select(enabled, source, neutral);
                let one = Ty { lanes: 1, ..source.ty };
                self.f.intrinsic(&format!("vector.reduce.{name}"), &[source.ty], one, &[source])
            }
            _ => self.f.function_of("ctpop", mask),
        };
        let operand = self.f.resize(operand, reduction.bits, false);
        let offset = self.f.resize(offset, 64, false);
        self.f.host_atomic(reduction.then, self.f.offset(host, offset), operand);
        elsewhere
    }

    /// Calls the function that performs an operation for one enabled lane after the other. Kernels that emulate operations on floats have
    /// hundreds of them.
    fn one_by_one(
        &mut self,
        kind: Kind,
        host: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
        sources: &[LlvmValue<'c>],
        mask: LlvmValue<'c>,
        returns: bool,
    ) -> Option<LlvmValue<'c>> {
        let lanes = self.lanes_of_atomics();
        let all = std::iter::once(offsets).chain(sources.iter().copied());
        for (number, values) in all.enumerate() {
            let place = self.f.at(lanes, number * ROW);
            self.f.store(values, place, FILE);
        }
        let types = sources.iter().map(|source| source.ty).collect();
        let own = OneByOne { kind, offsets: offsets.ty, sources: types, returns };
        let number = number_of(&mut self.outlined.atomics, own);
        let mask = self.f.resize(mask, 64, false);
        let attributes = ["nounwind", "no_caller_saved_registers"];
        self.f.call_void(Callee::Named(&format!("{ATOMIC}{number}")), &[host, mask, lanes], &attributes);
        returns.then(|| {
            let place = self.f.at(lanes, OLD_VALUES);
            self.f.load(Ty::int(u32::from(kind.size) * 8, offsets.ty.lanes), place, FILE)
        })
    }

    /// Where the functions for atomic operations find lanes.
    fn lanes_of_atomics(&mut self) -> LlvmValue<'c> {
        *self.outlined.lanes_of_atomics.get_or_insert_with(|| self.f.variable(OLD_VALUES + ROW))
    }

    /// Builds those functions.
    pub(super) fn atomic_functions(&mut self) {
        for (number, own) in std::mem::take(&mut self.outlined.atomics).into_iter().enumerate() {
            let parameters = [POINTER, I64, POINTER];
            self.in_function(&format!("{ATOMIC}{number}"), None, &parameters, &WIDE, |lowering| {
                lowering.each_lane(&own);
            });
        }
    }

    /// A loop over the enabled lanes.
    fn each_lane(&mut self, own: &OneByOne) {
        let element = Ty::int(u32::from(own.kind.size) * 8, 1);
        let [host, mask, lanes] = [0, 1, 2].map(|number| self.f.parameter(number));
        let left = self.f.variable(8);
        self.f.store(mask, left, FILE);
        let [next, some, done] = [(); 3].map(|()| self.f.label());
        self.f.begin(next);
        let enabled = self.f.load(I64, left, FILE);
        let any = self.f.compare(Relation::Ne, enabled, self.f.int(I64, 0));
        self.f.branch(any, some, done);
        self.f.begin(some);
        let lane = self.f.intrinsic("cttz", &[I64], I64, &[enabled, self.f.int(BIT, 1)]);
        let below = self.f.sub(enabled, self.f.int(I64, 1));
        self.f.store(self.f.and(enabled, below), left, FILE);
        let offset = self.f.resize(self.of_lane(lanes, own.offsets, lane), 64, false);
        let at = self.f.offset(host, offset);
        let mut values = Vec::new();
        for (number, ty) in own.sources.iter().enumerate() {
            let row = self.f.at(lanes, (1 + number) * ROW);
            values.push(self.of_lane(row, *ty, lane));
        }
        let one = self.f.int(element, 1);
        let a = values.first().cloned().unwrap_or(one);
        let b = *values.get(1).unwrap_or(&a);
        let old = self.updated(own.kind, &Lane { at, a, b });
        if own.returns {
            let answer = match own.kind.operation {
                Operation::PreDecrement => self.f.sub(old, self.f.int(element, 1)),
                _ => old,
            };
            self.f.store(answer, self.place_of_lane(self.f.at(lanes, OLD_VALUES), element, lane), FILE);
        }
        self.f.jump(next);
        self.f.begin(done);
        self.f.ret(None);
    }

    fn place_of_lane(&self, row: LlvmValue<'c>, element: Ty, lane: LlvmValue<'c>) -> LlvmValue<'c> {
        let bytes = self.f.mul(lane, self.f.int(I64, u64::from(element.scalar.bits() / 8)));
        self.f.offset(row, bytes)
    }

    fn of_lane(&self, row: LlvmValue<'c>, values: Ty, lane: LlvmValue<'c>) -> LlvmValue<'c> {
        let element = Ty { lanes: 1, ..values };
        self.f.load(element, self.place_of_lane(row, element, lane), FILE)
    }

    /// Does the operation for a lane; the old value.
    fn updated(&self, kind: Kind, lane: &Lane<'c>) -> LlvmValue<'c> {
        let (ty, bytes) = (lane.a.ty, kind.size);
        if kind.space == Space::Local {
            let how = mark(kind.size, Space::Local);
            let old = self.f.load(ty, lane.at, how);
            let new = self.new_value(kind.operation, old, lane.a, lane.b);
            self.f.store(new, lane.at, how);
            return old;
        }
        if let Some(name) = host_operation(kind.operation) {
            return self.f.host_atomic(name, lane.at, lane.a);
        }
        if kind.operation == Operation::CompareWrite {
            let (old, _) = self.f.compare_exchange(lane.at, lane.a, lane.b);
            return old;
        }
        let first = self.f.load_atomic(ty, lane.at, AtomicOrdering::SequentiallyConsistent);
        let place = self.f.variable(bytes.into());
        self.f.store(first, place, FILE);
        let [again, done] = [(); 2].map(|()| self.f.label());
        self.f.begin(again);
        let old = self.f.load(ty, place, FILE);
        let new = self.new_value(kind.operation, old, lane.a, lane.b);
        let (found, same) = self.f.compare_exchange(lane.at, old, new);
        self.f.store(found, place, FILE);
        self.f.branch(same, done, again);
        self.f.begin(done);
        old
    }
}
