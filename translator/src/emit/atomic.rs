//! Atomic operations in memory: those of the host, for one channel after the other, as the interpreter has it.
//!
//! Where all channels have one address and nobody asks for the answers, integers are combined before, and it is one operation. In shared local
//! memory no operation of the host's needs to be atomic: all threads of a work-group run on one of the host's.

use gencl_eu::message::AtomicOperation as Operation;

use super::memory::{Reach, Ways, mark};
use super::{Emitter, FILE};
use crate::atomics::{Reduction, host_operation, reduction};
use crate::hints::Stride;
use crate::ir::{BIT, I32, I64, Label, Ty, Value};
use crate::message::{Atomic, Memory};

/// An element of each channel in an array, which one channel after the other takes.
struct Array {
    place: Value,
    element: Ty,
}

/// The values of a channel.
struct Channel {
    at: Value,
    a: Value,
    b: Value,
}

impl Emitter<'_> {
    /// Writes an atomic operation.
    pub(super) fn atomic(&mut self, index: usize, message: &Atomic) {
        let lanes = u32::from(self.plan.ops[index].lanes);
        let mask = self.mask(index);
        let outside = self.f.label();
        let whole = self.reach(index, message.lanes.memory);
        let (reach, addresses) = self.reached(index, &message.lanes, &whole, outside);
        let element = Ty::int(message.lanes.size as u32 * 8, lanes);
        let sources: Vec<Value> =
            (0..message.sources.len()).map(|k| self.elements(index, k + 1, element)).collect();
        let start = self.f.splat(&reach.start, lanes);
        let all = self.all_of(&message.lanes, &addresses);
        let offsets = self.f.binary("sub", &all, &start);
        let inside = self.inside(&reach, &offsets, message.lanes.size);
        let aligned = self.aligned(&all, message.lanes.alignment);
        let holds = self.both(&inside, aligned.as_ref());
        let lane_mask = mask.as_ref().map(|mask| self.f.mask(mask));
        let all = self.all_where_enabled(&holds, lane_mask.as_ref());
        let here = self.f.label();
        self.f.branch_likely(&all, here, outside);
        self.f.begin(here);
        let mut ways = Ways::new(self.f.label());
        let channels = mask.clone().unwrap_or(Value::int(Ty::int(lanes, 1), u64::MAX));
        let may_be_one = matches!(self.stride(index), Stride::Any | Stride::Known(0) | Stride::Unset);
        if let (Some(reduction), true, true) = (
            reduction(message.operation, element.scalar.bits()),
            message.lanes.components.is_empty() && message.lanes.memory != Memory::Local,
            lanes > 1 && may_be_one,
        ) {
            self.at_once(index, &reduction, &reach, &offsets, sources.first(), &channels, &mut ways);
        }
        self.one_by_one(message, &reach, &offsets, &sources, &channels, &mut ways);
        self.f.begin(outside);
        self.outside(index, &message.lanes, &whole, false, &mut ways);
        self.f.begin(ways.join);
        for (k, value) in self.joined(&ways).iter().enumerate() {
            self.write(index, k, value, mask.as_ref());
        }
    }

    /// One operation, if all enabled channels have one address. At least one has to be enabled.
    #[expect(clippy::too_many_arguments, reason = "what a way through a message needs")]
    fn at_once(
        &mut self,
        index: usize,
        reduction: &Reduction,
        reach: &Reach,
        offsets: &Value,
        source: Option<&Value>,
        channels: &Value,
        ways: &mut Ways,
    ) {
        let lanes = offsets.ty.lanes;
        let offset = self.first_enabled(index, offsets);
        let all = self.f.splat(&offset, lanes);
        let mask = self.f.mask(channels);
        let same = self.f.compare("icmp eq", offsets, &all);
        let same = self.all_where_enabled(&same, Some(&mask));
        let some = self.f.compare("icmp ne", channels, &Value::int(channels.ty, 0));
        let holds = self.f.binary("and", &same, &some);
        let (here, elsewhere) = (self.f.label(), self.f.label());
        self.f.branch(&holds, here, elsewhere);
        self.f.begin(here);
        let operand = match (reduction.combine, source) {
            (Some(name), Some(source)) => {
                let neutral = Value::int(source.ty, reduction.neutral);
                let source = self.f.select(&mask, source, &neutral);
                let suffix = format!(".{}", source.ty.mangled());
                let one = Ty { lanes: 1, ..source.ty };
                self.f.intrinsic(&format!("vector.reduce.{name}"), &suffix, one, &[&source])
            }
            _ => {
                let suffix = format!(".{}", channels.ty.mangled());
                self.f.intrinsic("ctpop", &suffix, channels.ty, &[channels])
            }
        };
        let operand = self.f.resize(&operand, reduction.bits, false);
        let at = self.f.offset(&reach.host, &offset);
        self.f.host_atomic(reduction.then, &at, &operand);
        ways.add(self, Vec::new());
        self.f.begin(elsewhere);
    }

    /// A loop over the enabled channels.
    fn one_by_one(
        &mut self,
        message: &Atomic,
        reach: &Reach,
        offsets: &Value,
        sources: &[Value],
        channels: &Value,
        ways: &mut Ways,
    ) {
        let element = Ty::int(message.lanes.size as u32 * 8, 1);
        let places = self.array_of(offsets);
        let operands: Vec<Array> = sources.iter().map(|source| self.array_of(source)).collect();
        let answers = Ty { lanes: offsets.ty.lanes, ..element };
        let results = (!message.lanes.components.is_empty()).then(|| self.array_of(&Value::int(answers, 0)));
        let left = self.f.variable(4);
        let all = self.f.resize(channels, 32, false);
        self.f.store(&all, &left, FILE);
        let [next, some, done] = [self.f.label(), self.f.label(), self.f.label()];
        self.f.begin(next);
        let enabled = self.dword(&left);
        let any = self.f.compare("icmp ne", &enabled, &Value::int(I32, 0));
        self.f.branch(&any, some, done);
        self.f.begin(some);
        let lane = self.f.intrinsic("cttz", ".i32", I32, &[&enabled, &Value::int(BIT, 1)]);
        let lane = self.f.resize(&lane, 64, false);
        let below = self.f.binary("sub", &enabled, &Value::int(I32, 1));
        let rest = self.f.binary("and", &enabled, &below);
        self.f.store(&rest, &left, FILE);
        let offset = self.taken(&places, &lane);
        let at = self.f.offset(&reach.host, &offset);
        let mut own = operands.iter().map(|array| self.taken(array, &lane)).collect::<Vec<_>>().into_iter();
        let one = Value::int(element, 1);
        let a = own.next().unwrap_or(one);
        let b = own.next().unwrap_or(a.clone());
        let old = self.updated(message, &Channel { at, a, b });
        if let Some(results) = &results {
            let answer = match message.operation {
                Operation::PreDecrement => self.f.binary("sub", &old, &Value::int(element, 1)),
                _ => old,
            };
            let at = self.element_of(results, &lane);
            self.f.store(&answer, &at, FILE);
        }
        self.f.jump(next);
        self.f.begin(done);
        let values = results.map(|results| self.f.load(answers, &results.place, FILE));
        ways.add(self, values.into_iter().collect());
    }

    fn array_of(&mut self, values: &Value) -> Array {
        let element = Ty { lanes: 1, ..values.ty };
        let bytes = values.ty.lanes * element.scalar.bits() / 8;
        let place = self.f.variable((bytes as usize).next_multiple_of(4));
        self.f.store(values, &place, FILE);
        Array { place, element }
    }

    fn element_of(&mut self, array: &Array, lane: &Value) -> Value {
        let size = Value::int(I64, u64::from(array.element.scalar.bits() / 8));
        let bytes = self.f.binary("mul", lane, &size);
        self.f.offset(&array.place, &bytes)
    }

    fn taken(&mut self, array: &Array, lane: &Value) -> Value {
        let at = self.element_of(array, lane);
        self.f.load(array.element, &at, FILE)
    }

    /// Does the operation for a channel; the old value.
    fn updated(&mut self, message: &Atomic, channel: &Channel) -> Value {
        let ty = channel.a.ty;
        let bytes = message.lanes.size;
        if message.lanes.memory == Memory::Local {
            let how = format!("align {bytes}, {}", mark(Memory::Local));
            let old = self.f.load(ty, &channel.at, &how);
            let new = self.f.new_value(message.operation, &old, &channel.a, &channel.b);
            self.f.store(&new, &channel.at, &how);
            return old;
        }
        if let Some(name) = host_operation(message.operation) {
            return self.f.host_atomic(name, &channel.at, &channel.a);
        }
        if message.operation == Operation::CompareWrite {
            let (old, _) = self.f.compare_exchange(&channel.at, &channel.a, &channel.b);
            return old;
        }
        let text = format!("load atomic {}, {} seq_cst, align {bytes}", ty.text(), channel.at.typed());
        let first = self.f.value(ty, &text);
        let place = self.f.variable(bytes);
        self.f.store(&first, &place, FILE);
        let [again, done]: [Label; 2] = [self.f.label(), self.f.label()];
        self.f.begin(again);
        let old = self.f.load(ty, &place, FILE);
        let new = self.f.new_value(message.operation, &old, &channel.a, &channel.b);
        let (found, same) = self.f.compare_exchange(&channel.at, &old, &new);
        self.f.store(&found, &place, FILE);
        self.f.branch(&same, done, again);
        self.f.begin(done);
        old
    }
}
