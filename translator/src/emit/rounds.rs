//! Rounds of a lane that are looked at before they begin (`crate::steady`): how many there are until an address leaves its window, or until the
//! last one. So a round counts, and compares only what nobody knows before.
//!
//! Where the loop's end is known before, too, all lanes are looked at together, as vectors: those whose rounds are all inside only count.

use std::collections::BTreeMap;

use super::lane_reads::AddressSum;
use super::serial::{Lane, Part, Shared};
use super::{Emitter, FILE};
use crate::affine::Affine;
use crate::ir::{I32, I64, Label, Ty, Value};
use crate::message::Lanes;
use crate::steady::{Ending, Form, Root, Steady};

/// Rounds after which a lane looks whether the launch is cancelled.
pub(super) const ROUNDS: u64 = 1024;

/// So many rounds ahead gathers are prefetched.
const AHEAD: u64 = 32;

/// So many bytes ahead of a lane's first round its own rows are: hosts find that out by themselves, but not across pages.
const ROW_AHEAD: usize = 2048;

/// More rounds than that are not only counted: nobody looks whether the launch is cancelled meanwhile.
const MOST_COUNTED: u64 = 1 << 20;

/// Larger steps could overflow when multiplied by so many rounds.
const LONGEST_STEP: u32 = 1 << 11;

/// A lane's rounds.
pub(super) struct Rounds {
    /// What they do.
    steady: Steady,
    /// Where the number of those is that need not be looked at.
    left: Value,
    /// Where they are looked at; `None` when all are inside.
    look: Option<Label>,
}

/// Lanes whose rounds are all inside.
pub(super) struct Counted {
    /// Those, as bits.
    pub(super) lanes: Value,
    /// Where numbers of all lanes are from: how many rounds each has, and by leader the offset of its first round from the first that is inside.
    rounds: Value,
    offsets: BTreeMap<usize, Value>,
    /// Where those of the next lane are.
    next_rounds: Value,
    next_offsets: BTreeMap<usize, Value>,
}

/// A read with elements of what another has read: its offset from those elements, where it is in the host's memory, and what is added first.
type Gather = (Form, Value, Value);

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
    /// How it has to be aligned.
    alignment: usize,
    /// Where that is kept.
    place: Value,
}

/// What a message's offset is when a round begins, if that of later ones is inside of the window as long as it is small enough: it grows
/// by a power of two, which does not change how it is aligned.
fn steady_offset(sum: &AddressSum, steady: &Steady) -> Option<(Form, u32)> {
    let (form, step) = *steady.sources.get(&(sum.definition, sum.offset))?;
    let even = step.is_power_of_two() && step < 1 << 31 && step.is_multiple_of(sum.alignment as u32);
    (sum.leader.is_none() && even).then_some((form, step))
}

/// The messages whose offsets are such.
fn steady_sums(sums: &BTreeMap<usize, AddressSum>, steady: &Steady) -> Vec<SteadySum> {
    let steady = sums.iter().filter_map(|(index, sum)| {
        let (form, step) = steady_offset(sum, steady)?;
        let (count, before) = (sum.inside[1].clone(), sum.before.clone());
        let (alignment, place) = (sum.alignment, sum.from_first.clone());
        Some(SteadySum { index: *index, form, step, count, before, alignment, place })
    });
    steady.collect()
}

impl Emitter<'_> {
    /// Rounds of a loop that is like that, of lanes that look at them or only count.
    pub(super) fn rounds(&mut self, steady: Steady, looks: bool) -> Rounds {
        Rounds { steady, left: self.f.variable(4), look: looks.then(|| self.f.label()) }
    }

    /// The lane that is written, and its rounds, if each does the same.
    fn lane_and_rounds(&self) -> Option<(&Lane, &Rounds)> {
        let lane = self.lane.as_ref()?;
        Some((lane, lane.rounds.as_ref()?))
    }

    /// Where the offset from the first inside is, of a message's address that is looked at before rounds begin, and by what that grows with each.
    pub(super) fn steady_place(&self, index: usize) -> Option<(Value, u32)> {
        let (lane, rounds) = self.lane_and_rounds()?;
        let leader = lane.sums.get(&lane.sums.get(&index)?.leader.unwrap_or(index))?;
        let (_, step) = steady_offset(leader, &rounds.steady)?;
        Some((leader.from_first.clone(), step))
    }

    /// By how much the numbers that end a loop differ, and how many rounds that are.
    fn rounds_left(&mut self, [a, b]: [Value; 2], step: u32) -> [Value; 2] {
        let apart = self.f.binary("sub", &b, &a);
        let rounds = self.f.binary("lshr", &apart, &Value::int(apart.ty, u64::from(step.trailing_zeros())));
        [apart, rounds]
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
        let shifted = self.f.binary("shl", element, &Value::int(element.ty, u64::from(form.shift)));
        self.f.binary("add", &shifted, &Value::int(element.ty, u64::from(form.more)))
    }

    /// What is gathered with elements that a message reads.
    fn gathers(&self, index: usize) -> Vec<Gather> {
        let Some(lane) = &self.lane else { return Vec::new() };
        let gathered = lane.rounds.iter().flat_map(|rounds| &rounds.steady.gathered);
        let forms = gathered.filter(|(_, (_, message))| *message == index);
        let gathers = forms.flat_map(|(at, (form, _))| {
            let all = lane.sums.values().filter(|sum| (sum.definition, sum.offset) == *at);
            all.map(|sum| (*form, sum.host.clone(), sum.before.clone()))
        });
        gathers.collect()
    }

    /// Asks for what later rounds gather with what a message reads in them, of lanes that only count: rounds beyond the lane's are often the next
    /// lane's (S. Ainsworth, T. Jones: "Software Prefetching for Indirect Memory Accesses").
    pub(super) fn prefetch_gathered(&mut self, index: usize, message: &Lanes) {
        let counts = self.lane_and_rounds().filter(|(_, rounds)| rounds.look.is_none());
        let Some(((lane, _), (place, step))) = counts.zip(self.steady_place(index)) else { return };
        let (gathers, Some(own)) = (self.gathers(index), lane.sums.get(&index)) else { return };
        if gathers.is_empty() {
            return;
        }
        let host = own.host.clone();
        let offset = self.f.load(I64, &place, FILE);
        let offset = self.f.binary("add", &offset, &Value::int(I64, AHEAD * u64::from(step)));
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

    /// Asks for what lies ahead of the rows that messages read with an offset.
    fn prefetch_rows(&mut self, leader: usize, offset: &Value) {
        let all = self.lane.iter().flat_map(|lane| &lane.sums);
        let own = all.filter(|(index, sum)| sum.is_of(**index, leader));
        for host in own.map(|(_, sum)| sum.host.clone()).collect::<Vec<_>>() {
            let at = self.f.offset(&host, offset);
            let at = self.f.at(&at, ROW_AHEAD);
            self.f.prefetch(&at);
        }
    }

    /// Looks at the rounds of the lanes of a part, whether they are executed or not; `None` where nobody knows before when a lane's rounds end.
    pub(super) fn counted(&mut self, shared: &Shared, part: &Part) -> Option<Counted> {
        let steady = part.steady.as_ref()?;
        let Ending { numbers, step } = steady.ending?;
        let found = steady_sums(&part.sums, steady);
        if found.iter().any(|sum| sum.step > LONGEST_STEP) {
            return None;
        }
        let number = |emitter: &mut Self, form| emitter.of_lanes(shared, part, form);
        let [a, b] = [number(self, numbers[0])?, number(self, numbers[1])?];
        let forms: Option<Vec<Value>> = found.iter().map(|sum| number(self, sum.form)).collect();
        let forms = forms?;
        let ty = a.ty;
        let [apart, others] = self.rounds_left([a, b], step);
        let mut holds = self.f.compare("icmp ult", &others, &Value::int(ty, MOST_COUNTED));
        // Numbers that pass each other go on.
        let meets = self.aligned(&apart, step as usize);
        holds = self.both(&holds, meets.as_ref());
        let place = |emitter: &mut Self, value: &Value| {
            let array = emitter.f.variable(32 * 4);
            let own = emitter.f.at(&array, part.channel as usize * 4);
            emitter.f.store(value, &own, FILE);
            array
        };
        let rounds = self.f.binary("add", &others, &Value::int(ty, 1));
        let rounds = place(self, &rounds);
        let mut offsets = BTreeMap::new();
        for (SteadySum { index, step, count, before, alignment, .. }, own) in found.iter().zip(&forms) {
            let aligned = self.aligned(own, *alignment);
            holds = self.both(&holds, aligned.as_ref());
            let before = self.f.splat(before, ty.lanes);
            let offset = self.f.binary("add", own, &before);
            // As many bytes are inside, but for what is read ahead.
            let ahead = Value::int(I64, AHEAD * u64::from(*step));
            let count = self.f.intrinsic("usub.sat", ".i64", I64, &[count, &ahead]);
            let count =
                self.f.intrinsic("umin", ".i64", I64, &[&count, &Value::int(I64, u64::from(u32::MAX))]);
            let count = self.f.resize(&count, 32, false);
            let count = self.f.splat(&count, ty.lanes);
            let grown = self.f.binary("shl", &others, &Value::int(ty, u64::from(step.trailing_zeros())));
            let rest = self.f.intrinsic("usub.sat", &format!(".{}", ty.mangled()), ty, &[&count, &offset]);
            let inside = self.f.compare("icmp ult", &grown, &rest);
            holds = self.f.binary("and", &holds, &inside);
            offsets.insert(*index, place(self, &offset));
        }
        let bits = self.f.mask_bits(&holds);
        let bits = self.f.resize(&bits, 32, false);
        let lanes = self.f.binary("shl", &bits, &Value::int(I32, u64::from(part.channel)));
        let next_rounds = self.f.variable(4);
        let next_offsets = offsets.keys().map(|index| (*index, self.f.variable(4))).collect();
        Some(Counted { lanes, rounds, offsets, next_rounds, next_offsets })
    }

    /// Reads what a lane begins with that only counts.
    pub(super) fn look_ahead_counted(&mut self, counted: &Counted, lane: &Value) {
        let offsets = counted.offsets.iter().map(|(index, all)| (all, &counted.next_offsets[index]));
        for (all, next) in offsets.chain([(&counted.rounds, &counted.next_rounds)]) {
            let place = self.element_place(all, 0, 4, lane);
            let element = self.f.load(I32, &place, FILE);
            self.f.store(&element, next, FILE);
        }
    }

    /// Numbers of the lanes of a part, each as it is when a lane's first round begins.
    fn of_lanes(&mut self, shared: &Shared, part: &Part, form: Form) -> Option<Value> {
        let ty = Ty::int(32, part.width);
        let column = match form.root {
            Root::Nothing => return Some(Value::int(ty, u64::from(form.more))),
            Root::Column(column) if (column.size, column.stride) == (4, 4) => column,
            Root::Column(_) | Root::Read(_) => return None,
        };
        let first = column.first - self.variables.as_ref()?.all[column.variable].start as i64;
        let first = first + i64::from(part.channel) * 4;
        let elements = if let Some(array) = shared.arrays.get(&column.variable) {
            let place = self.f.at(array, usize::try_from(first).ok()?);
            self.f.load(ty, &place, FILE)
        } else {
            let Affine { step, .. } = self.affine[column.variable].filter(|affine| affine.size == 4)?;
            let base = self.f.load(I32, &self.places[column.variable].clone(), FILE);
            let base = self.f.splat(&base, part.width);
            let steps =
                Value::ints(ty, |lane| (first / 4 + i64::from(lane)).wrapping_mul(step) as u32 as u64);
            self.f.binary("add", &base, &steps)
        };
        Some(self.formed(form, &elements))
    }

    /// What a lane begins with that only counts.
    pub(super) fn begin_counted(&mut self, counted: &Counted) {
        let Some((lane, rounds)) = self.lane_and_rounds() else { return };
        let (left, sums) = (rounds.left.clone(), steady_sums(&lane.sums, &rounds.steady));
        let prefetches = lane.sums.keys().any(|index| !self.gathers(*index).is_empty());
        for SteadySum { index, place, .. } in &sums {
            let offset = self.dword(&counted.next_offsets[index]);
            let offset = self.f.resize(&offset, 64, false);
            self.f.store(&offset, place, FILE);
            if prefetches {
                self.prefetch_rows(*index, &offset);
            }
        }
        let count = self.dword(&counted.next_rounds);
        self.f.store(&count, &left, FILE);
    }

    /// Looks at the rounds of a lane that does not only count: it goes to the loop's first block, or leaves.
    pub(super) fn look_at_rounds(&mut self, shared: &Shared) {
        let Some((lane, rounds)) = self.lane_and_rounds() else { return };
        let (left, ending, first) = (rounds.left.clone(), rounds.steady.ending, lane.labels[0]);
        let Some(look) = rounds.look else { return };
        let sums = steady_sums(&lane.sums, &rounds.steady);
        self.f.jump(look);
        self.f.begin(look);
        // All but the first of those that are looked at.
        let mut others = Value::int(I64, ROUNDS - 1);
        for SteadySum { index, form, step, place, .. } in sums {
            let own = self.of_round(form);
            let inside = self.check_sum(shared, index, &own);
            self.f.store(&inside.offset, &place, FILE);
            let behind = self.f.binary("sub", &inside.count, &Value::int(I64, 1));
            let rest = self.f.binary("sub", &behind, &inside.offset);
            let steps = self.f.binary("lshr", &rest, &Value::int(I64, u64::from(step.trailing_zeros())));
            others = self.f.intrinsic("umin", ".i64", I64, &[&others, &steps]);
        }
        let mut others = self.f.resize(&others, 32, false);
        if let Some(Ending { numbers, step }) = ending {
            let numbers = numbers.map(|form| self.of_round(form));
            let [_, own] = self.rounds_left(numbers, step);
            others = self.f.intrinsic("umin", ".i32", I32, &[&others, &own]);
        }
        let count = self.f.binary("add", &others, &Value::int(I32, 1));
        self.f.store(&count, &left, FILE);
        self.f.jump(first);
    }

    /// Writes the end of a round, behind which the lane goes on if `more` holds.
    pub(super) fn end_round(&mut self, more: &Value, exit: Label) {
        let Some((lane, rounds)) = self.lane_and_rounds() else { return };
        let (place, look, ends) = (rounds.left.clone(), rounds.look, rounds.steady.ending.is_some());
        let first = lane.labels[0];
        for SteadySum { step, place: offset, .. } in steady_sums(&lane.sums, &rounds.steady) {
            let before = self.f.load(I64, &offset, FILE);
            let next = self.f.binary("add", &before, &Value::int(I64, u64::from(step)));
            self.f.store(&next, &offset, FILE);
        }
        let [next, last, again] = [(); 3].map(|()| self.f.label());
        if !ends {
            self.f.branch(more, next, exit);
            self.f.begin(next);
        }
        let left = self.dword(&place);
        let left = self.f.binary("sub", &left, &Value::int(I32, 1));
        self.f.store(&left, &place, FILE);
        let some = self.f.compare("icmp ne", &left, &Value::int(I32, 0));
        let Some(look) = look else {
            self.f.branch(&some, first, exit);
            return;
        };
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
