//! Rounds of a lane that are looked at before they begin (`crate::steady`): how many there are until an address leaves its window, or until the
//! last one. So a round counts, and compares only what nobody knows before.

use super::serial::Shared;
use super::{Emitter, FILE};
use crate::ir::{I32, I64, Label, Value};
use crate::message::Lanes;
use crate::steady::{Ending, Form, Root, Steady};

/// Rounds after which a lane looks whether the launch is cancelled.
pub(super) const ROUNDS: u64 = 1024;

/// So many rounds ahead gathers are prefetched.
const AHEAD: u64 = 32;

/// A lane's rounds.
pub(super) struct Rounds {
    /// What they do.
    steady: Steady,
    /// Where the number of those is that need not be looked at.
    left: Value,
    /// Where they are looked at.
    look: Label,
}

/// A message whose offsets are looked at before rounds begin.
struct SteadySum {
    index: usize,
    /// The offset when a round begins.
    form: Form,
    /// By what it grows with each.
    step: u32,
    /// How many offsets are inside.
    count: Value,
    /// What makes of an offset the one from the first that is inside.
    before: Value,
    /// Where that is kept.
    place: Value,
    /// Where it is kept how far ahead one may read.
    ahead: Value,
}

impl Rounds {
    /// Where a lane begins.
    pub(super) fn begin(&self) -> Label {
        self.look
    }
}

impl Emitter<'_> {
    /// Rounds of a loop that is like that.
    pub(super) fn rounds(&mut self, steady: Steady) -> Rounds {
        Rounds { steady, left: self.f.variable(4), look: self.f.label() }
    }

    /// What a message's offset is when a round begins, if that of later ones is inside of the window as long as it is small enough: it grows
    /// by a power of two, which does not change how it is aligned.
    fn steady_offset(&self, index: usize) -> Option<(Form, u32)> {
        let lane = self.lane.as_ref()?;
        let sum = lane.sums.get(&index).filter(|sum| sum.leader.is_none())?;
        let (form, step) = *lane.rounds.as_ref()?.steady.sources.get(&(sum.definition, sum.offset))?;
        let alignment = self.message_of_lanes(index).map_or(1, |message| message.alignment as u32);
        (step.is_power_of_two() && step < 1 << 31 && step.is_multiple_of(alignment)).then_some((form, step))
    }

    /// Where the offset from the first inside is, of a message's address that is looked at before rounds begin.
    pub(super) fn steady_place(&self, index: usize) -> Option<Value> {
        let sums = &self.lane.as_ref()?.sums;
        let leader = sums.get(&index)?.leader.unwrap_or(index);
        self.steady_offset(leader)?;
        Some(sums.get(&leader)?.from_first.clone())
    }

    /// The messages whose offsets are such.
    fn steady_sums(&self) -> Vec<SteadySum> {
        let all = self.lane.iter().flat_map(|lane| &lane.sums);
        let steady = all.filter_map(|(index, sum)| {
            let (form, step) = self.steady_offset(*index)?;
            let (count, before) = (sum.inside[1].clone(), sum.before.clone());
            let (place, ahead) = (sum.from_first.clone(), sum.ahead.clone());
            Some(SteadySum { index: *index, form, step, count, before, place, ahead })
        });
        steady.collect()
    }

    /// A number of the round that begins.
    fn of_round(&mut self, form: Form) -> Value {
        let place = match (form.root, &self.lane) {
            (Root::Column(column), Some(lane)) => lane.columns.get(&column).cloned(),
            _ => None,
        };
        let element = place.map_or(Value::int(I32, 0), |place| self.dword(&place));
        self.formed(form, &element)
    }

    /// What a form makes of its element.
    fn formed(&mut self, form: Form, element: &Value) -> Value {
        let shifted = self.f.binary("shl", element, &Value::int(I32, u64::from(form.shift)));
        self.f.binary("add", &shifted, &Value::int(I32, u64::from(form.more)))
    }

    /// Asks for what later rounds gather with what a message reads in them: rounds beyond those of the lane are often the next lane's
    /// (S. Ainsworth, T. Jones: "Software Prefetching for Indirect Memory Accesses").
    pub(super) fn prefetch_gathered(&mut self, index: usize, message: &Lanes) {
        let Some((lane, place)) = self.lane.as_ref().zip(self.steady_place(index)) else { return };
        let Some(own) = lane.sums.get(&index) else { return };
        let leader = own.leader.unwrap_or(index);
        let (host, ahead) = (own.host.clone(), lane.sums[&leader].ahead.clone());
        let gathered = lane.rounds.iter().flat_map(|rounds| &rounds.steady.gathered);
        let forms = gathered.filter(|(_, (_, message))| *message == index);
        let gathers: Vec<(Form, Value, Value)> = forms
            .flat_map(|(at, (form, _))| {
                let all = lane.sums.values().filter(|sum| (sum.definition, sum.offset) == *at);
                all.map(|sum| (*form, sum.host.clone(), sum.before.clone()))
            })
            .collect();
        if gathers.is_empty() {
            return;
        }
        let offset = self.f.load(I64, &place, FILE);
        let distance = self.f.load(I64, &ahead, FILE);
        let offset = self.f.binary("add", &offset, &distance);
        let at = self.f.offset(&host, &offset);
        let element = self.components_at(message, &at)[0].clone();
        for (form, host, before) in gathers {
            // With 64 bits, so that it needs no more than an operand: where sums of 32 bits wrap, it is another place.
            let [element, more, before] = [&element, &Value::int(I32, u64::from(form.more)), &before]
                .map(|part| self.f.resize(part, 64, true));
            let shifted = self.f.binary("shl", &element, &Value::int(I64, u64::from(form.shift)));
            let at = self.f.offset(&host, &before);
            let at = self.f.offset(&at, &more);
            let at = self.f.offset(&at, &shifted);
            self.f.prefetch(&at);
        }
    }

    /// Writes what looks at rounds: the lane goes to the loop's first block, or leaves.
    pub(super) fn look_at_rounds(&mut self, shared: &Shared) {
        let Some((rounds, first)) =
            self.lane.as_ref().and_then(|lane| lane.rounds.as_ref().zip(lane.labels.first().copied()))
        else {
            return;
        };
        let (left, look, ending) = (rounds.left.clone(), rounds.look, rounds.steady.ending);
        self.f.begin(look);
        let own = ending.map(|Ending { numbers, step }| {
            let [a, b] = numbers.map(|form| self.of_round(form));
            let apart = self.f.binary("sub", &b, &a);
            self.f.binary("lshr", &apart, &Value::int(I32, u64::from(step.trailing_zeros())))
        });
        if let Some(own) = &own {
            self.look_at_all_rounds(own, &left, first);
        }
        // All but the first of those that are looked at.
        let mut others = Value::int(I64, ROUNDS - 1);
        let mut looked_at = Vec::new();
        for SteadySum { index, form, step, place, ahead, .. } in self.steady_sums() {
            let own = self.of_round(form);
            let inside = self.check_sum(shared, index, &own);
            self.f.store(&inside.offset, &place, FILE);
            let behind = self.f.binary("sub", &inside.count, &Value::int(I64, 1));
            let rest = self.f.binary("sub", &behind, &inside.offset);
            let steps = self.f.binary("lshr", &rest, &Value::int(I64, u64::from(step.trailing_zeros())));
            others = self.f.intrinsic("umin", ".i64", I64, &[&others, &steps]);
            looked_at.push((step, behind, inside.offset, ahead));
        }
        for (step, behind, offset, ahead) in looked_at {
            // So far ahead of the last of these rounds, or not at all.
            let distance = Value::int(I64, AHEAD * u64::from(step));
            let grown = self.f.binary("mul", &others, &Value::int(I64, u64::from(step)));
            let last = self.f.binary("add", &offset, &grown);
            let farther = self.f.binary("add", &last, &distance);
            let inside = self.f.compare("icmp ule", &farther, &behind);
            let rest = self.f.select(&inside, &distance, &Value::int(I64, 0));
            self.f.store(&rest, &ahead, FILE);
        }
        let mut others = self.f.resize(&others, 32, false);
        if let Some(own) = &own {
            others = self.f.intrinsic("umin", ".i32", I32, &[&others, own]);
        }
        let count = self.f.binary("add", &others, &Value::int(I32, 1));
        self.f.store(&count, &left, FILE);
        self.f.jump(first);
    }

    /// What most lanes do: all their rounds, of which `others` come before the last, are inside, and so is what they prefetch.
    fn look_at_all_rounds(&mut self, others: &Value, left: &Value, first: Label) {
        let wide = self.f.resize(others, 64, false);
        let mut holds = self.f.compare("icmp ult", &wide, &Value::int(I64, ROUNDS));
        let mut found = Vec::new();
        for SteadySum { index, form, step, count, before, place, ahead } in self.steady_sums() {
            let own = self.of_round(form);
            let alignment = self.message_of_lanes(index).map_or(1, |message| message.alignment);
            let aligned = self.aligned(&own, alignment);
            holds = self.both(&holds, aligned.as_ref());
            let offset = self.counted_from_first(&own, &before);
            let distance = AHEAD * u64::from(step);
            // Offsets and rounds are too small for what overflows.
            let grown = self.f.binary("mul", &wide, &Value::int(I64, u64::from(step)));
            let last = self.f.binary("add", &offset, &grown);
            let farther = self.f.binary("add", &last, &Value::int(I64, distance));
            let inside = self.f.compare("icmp ult", &farther, &count);
            holds = self.f.binary("and", &holds, &inside);
            found.push((offset, place, Value::int(I64, distance), ahead));
        }
        let [all, some] = [(); 2].map(|()| self.f.label());
        self.f.branch_likely(&holds, all, some);
        self.f.begin(all);
        for (offset, place, distance, ahead) in found {
            self.f.store(&offset, &place, FILE);
            self.f.store(&distance, &ahead, FILE);
        }
        let count = self.f.binary("add", others, &Value::int(I32, 1));
        self.f.store(&count, left, FILE);
        self.f.jump(first);
        self.f.begin(some);
    }

    /// Writes the end of a round, behind which the lane goes on if `more` holds.
    pub(super) fn end_round(&mut self, more: &Value, exit: Label) {
        let Some((rounds, first)) =
            self.lane.as_ref().and_then(|lane| lane.rounds.as_ref().zip(lane.labels.first().copied()))
        else {
            return;
        };
        let (place, look, ends) = (rounds.left.clone(), rounds.look, rounds.steady.ending.is_some());
        for SteadySum { step, place: offset, .. } in self.steady_sums() {
            let before = self.f.load(I64, &offset, FILE);
            let next = self.f.binary("add", &before, &Value::int(I64, u64::from(step)));
            self.f.store(&next, &offset, FILE);
        }
        let [next, last, again] = [(); 3].map(|()| self.f.label());
        if !ends {
            self.f.branch(more, next, exit);
        }
        self.f.begin(next);
        let left = self.dword(&place);
        let left = self.f.binary("sub", &left, &Value::int(I32, 1));
        self.f.store(&left, &place, FILE);
        let some = self.f.compare("icmp ne", &left, &Value::int(I32, 0));
        if ends {
            // None of those that are looked at but the last of them is the last.
            self.f.branch(&some, first, last);
            self.f.begin(last);
            self.f.branch(more, again, exit);
        } else {
            self.f.branch_likely(&some, first, again);
        }
        self.f.begin(again);
        self.stop_if_cancelled();
        self.f.jump(look);
    }
}
