//! Atomic operations in memory: those of the host, for one lane after the other, as the interpreter has it.
//!
//! Where all lanes have one address and nobody asks for the answers, integers are combined before, and it is one operation. In shared local
//! memory no operation of the host's needs to be atomic: all threads of a work-group run on one of the host's.

use gencl_eu::message::AtomicOperation as Operation;

use super::memory::mark;
use super::{FILE, Lowering};
use crate::atomics::{Reduction, host_operation, reduction};
use crate::ir::{BIT, I32, I64, Label, Ty, Value as LlvmValue};
use crate::middle::function::Instruction;
use crate::middle::op::Space;

/// An element of each lane in an array, which one lane after the other takes.
struct Array {
    place: LlvmValue,
    element: Ty,
}

/// The values of a lane.
struct Lane {
    at: LlvmValue,
    a: LlvmValue,
    b: LlvmValue,
}

/// An operation on values of so many bytes.
#[derive(Clone, Copy)]
struct Kind {
    operation: Operation,
    space: Space,
    size: u8,
}

impl Lowering<'_> {
    /// An atomic operation; the answers, if they are asked for.
    pub fn atomic(
        &mut self,
        instruction: Instruction,
        operation: Operation,
        space: Space,
        size: u8,
    ) -> Vec<LlvmValue> {
        let data = self.function.instruction(instruction);
        let kind = Kind { operation, space, size };
        let mask = self.value(data.operands[0]);
        let addresses = self.value(data.operands[1]);
        let sources: Vec<LlvmValue> = data.operands[2..].iter().map(|value| self.value(*value)).collect();
        let addresses = self.counted(space, &addresses);
        let reach = self.reach(space, None, size);
        let mut ways = self.ways();
        let distances = self.distance(&reach, &addresses);
        let offsets = self.offset(&reach, &distances);
        let inside = self.inside(&reach, &offsets, size.into());
        let aligned = self.aligned(&distances, size);
        let inside = self.both(&inside, aligned);
        let holds = self.holds_where_enabled(&inside, Some(&mask));
        let here = self.f.label();
        self.f.branch_likely(&holds, here, ways.outside);
        self.f.begin(here);
        let bits = u32::from(size) * 8;
        let is_asked = !data.results.is_empty();
        if let (Some(reduction), false, true) =
            (reduction(operation, bits), is_asked, space != Space::Local && mask.ty != BIT)
        {
            let elsewhere = self.combined(&reduction, &reach.host, &offsets, sources.first(), &mask);
            self.add_way(&mut ways, Vec::new());
            self.f.begin(elsewhere);
        }
        let found = self.one_by_one(kind, &reach.host, &offsets, &sources, &mask, is_asked);
        self.add_way(&mut ways, found.into_iter().collect());
        self.f.begin(ways.outside);
        let found = self.performed_elsewhere(instruction, &reach, data.operands[1], data.operands[0]);
        self.add_way(&mut ways, found);
        self.joined(ways)
    }

    /// One operation, if all enabled lanes have one address. At least one has to be enabled. Gives where it goes otherwise.
    fn combined(
        &mut self,
        reduction: &Reduction,
        host: &LlvmValue,
        offsets: &LlvmValue,
        source: Option<&LlvmValue>,
        mask: &LlvmValue,
    ) -> Label {
        let zeros = self.f.intrinsic(
            "cttz",
            &format!(".{}", mask.ty.mangled()),
            mask.ty,
            &[mask, &LlvmValue::int(BIT, 0)],
        );
        let lane = self.f.convert("zext", &zeros, I64);
        let last = LlvmValue::int(I64, u64::from(offsets.ty.lanes - 1));
        let lane = self.f.intrinsic("umin", ".i64", I64, &[&lane, &last]);
        let one = Ty { lanes: 1, ..offsets.ty };
        let offset = self.f.value(one, &format!("extractelement {}, {}", offsets.typed(), lane.typed()));
        let all = self.f.splat(&offset, offsets.ty.lanes);
        let same = self.f.compare("icmp eq", offsets, &all);
        let same = self.holds_where_enabled(&same, Some(mask));
        let some = self.f.compare("icmp ne", mask, &LlvmValue::int(mask.ty, 0));
        let holds = self.f.binary("and", &same, &some);
        let [here, elsewhere] = [(); 2].map(|()| self.f.label());
        self.f.branch(&holds, here, elsewhere);
        self.f.begin(here);
        let operand = match (reduction.combine, source) {
            (Some(name), Some(source)) => {
                let neutral = LlvmValue::int(source.ty, reduction.neutral);
                let enabled = self.f.mask(mask);
                let source = self.f.select(&enabled, source, &neutral);
                let suffix = format!(".{}", source.ty.mangled());
                let one = Ty { lanes: 1, ..source.ty };
                self.f.intrinsic(&format!("vector.reduce.{name}"), &suffix, one, &[&source])
            }
            _ => self.f.intrinsic("ctpop", &format!(".{}", mask.ty.mangled()), mask.ty, &[mask]),
        };
        let operand = self.f.resize(&operand, reduction.bits, false);
        let offset = self.f.resize(&offset, 64, false);
        let at = self.f.offset(host, &offset);
        self.f.host_atomic(reduction.then, &at, &operand);
        elsewhere
    }

    /// A loop over the enabled lanes.
    fn one_by_one(
        &mut self,
        kind: Kind,
        host: &LlvmValue,
        offsets: &LlvmValue,
        sources: &[LlvmValue],
        mask: &LlvmValue,
        is_asked: bool,
    ) -> Option<LlvmValue> {
        let element = Ty::int(u32::from(kind.size) * 8, 1);
        let places = self.array_of(offsets);
        let operands: Vec<Array> = sources.iter().map(|source| self.array_of(source)).collect();
        let answers = Ty { lanes: offsets.ty.lanes, ..element };
        let results = is_asked.then(|| self.array_of(&LlvmValue::int(answers, 0)));
        let left = self.f.variable(4);
        let all = self.f.resize(mask, 32, false);
        self.f.store(&all, &left, FILE);
        let [next, some, done] = [(); 3].map(|()| self.f.label());
        self.f.begin(next);
        let enabled = self.f.load(I32, &left, FILE);
        let any = self.f.compare("icmp ne", &enabled, &LlvmValue::int(I32, 0));
        self.f.branch(&any, some, done);
        self.f.begin(some);
        let lane = self.f.intrinsic("cttz", ".i32", I32, &[&enabled, &LlvmValue::int(BIT, 1)]);
        let lane = self.f.resize(&lane, 64, false);
        let below = self.f.binary("sub", &enabled, &LlvmValue::int(I32, 1));
        let rest = self.f.binary("and", &enabled, &below);
        self.f.store(&rest, &left, FILE);
        let offset = self.taken(&places, &lane);
        let offset = self.f.resize(&offset, 64, false);
        let at = self.f.offset(host, &offset);
        let mut own = operands.iter().map(|array| self.taken(array, &lane)).collect::<Vec<_>>().into_iter();
        let one = LlvmValue::int(element, 1);
        let a = own.next().unwrap_or(one);
        let b = own.next().unwrap_or_else(|| a.clone());
        let old = self.updated(kind, &Lane { at, a, b });
        if let Some(results) = &results {
            let answer = match kind.operation {
                Operation::PreDecrement => self.f.binary("sub", &old, &LlvmValue::int(element, 1)),
                _ => old,
            };
            let at = self.element_of(results, &lane);
            self.f.store(&answer, &at, FILE);
        }
        self.f.jump(next);
        self.f.begin(done);
        results.map(|results| self.f.load(answers, &results.place, FILE))
    }

    fn array_of(&mut self, values: &LlvmValue) -> Array {
        let element = Ty { lanes: 1, ..values.ty };
        let bytes = values.ty.lanes * element.scalar.bits() / 8;
        let place = self.f.variable((bytes as usize).next_multiple_of(4));
        self.f.store(values, &place, FILE);
        Array { place, element }
    }

    fn element_of(&mut self, array: &Array, lane: &LlvmValue) -> LlvmValue {
        let size = LlvmValue::int(I64, u64::from(array.element.scalar.bits() / 8));
        let bytes = self.f.binary("mul", lane, &size);
        self.f.offset(&array.place, &bytes)
    }

    fn taken(&mut self, array: &Array, lane: &LlvmValue) -> LlvmValue {
        let at = self.element_of(array, lane);
        self.f.load(array.element, &at, FILE)
    }

    /// Does the operation for a lane; the old value.
    fn updated(&mut self, kind: Kind, lane: &Lane) -> LlvmValue {
        let (ty, bytes) = (lane.a.ty, kind.size);
        if kind.space == Space::Local {
            let how = format!("align {bytes}, {}", mark(Space::Local));
            let old = self.f.load(ty, &lane.at, &how);
            let new = self.f.new_value(kind.operation, &old, &lane.a, &lane.b);
            self.f.store(&new, &lane.at, &how);
            return old;
        }
        if let Some(name) = host_operation(kind.operation) {
            return self.f.host_atomic(name, &lane.at, &lane.a);
        }
        if kind.operation == Operation::CompareWrite {
            let (old, _) = self.f.compare_exchange(&lane.at, &lane.a, &lane.b);
            return old;
        }
        let text = format!("load atomic {}, {} seq_cst, align {bytes}", ty.text(), lane.at.typed());
        let first = self.f.value(ty, &text);
        let place = self.f.variable(bytes.into());
        self.f.store(&first, &place, FILE);
        let [again, done] = [(); 2].map(|()| self.f.label());
        self.f.begin(again);
        let old = self.f.load(ty, &place, FILE);
        let new = self.f.new_value(kind.operation, &old, &lane.a, &lane.b);
        let (found, same) = self.f.compare_exchange(&lane.at, &old, &new);
        self.f.store(&found, &place, FILE);
        self.f.branch(&same, done, again);
        self.f.begin(done);
        old
    }
}
