//! The addresses of messages with one for each lane.

use gencl_eu::abi::Window;

use super::known::{MOST_BEHIND, OfPointer};
use super::memory::{LOCAL_OFFSET_BITS, Reach};
use super::{Emitter, FILE};
use crate::hints::Stride;
use crate::ir::{BIT, I32, I64, Label, Ty, Value};
use crate::message::{Lanes, Memory};
use crate::split::{LANES, Sums};

/// A part of addresses that are sums.
pub(super) struct Part {
    /// Where base and offsets are; of known steps, the first offset.
    places: [Value; 2],
    /// Of the offsets, from lane to lane.
    pub(super) step: Option<i64>,
    /// Is it always less than a line behind another?
    follows: bool,
    /// How far it is behind the scalar that its window is known by.
    behind: Option<i64>,
}

/// The addresses of all lanes.
pub(super) struct Addresses {
    /// That of the first lane.
    pub(super) first: Value,
    /// How they change from lane to lane.
    change: Change,
    /// Are they always less than a line behind others, whose messages may ask for that line?
    pub(super) follows: bool,
}

/// How addresses change from lane to lane.
enum Change {
    /// By a number, which is certain: so many lanes.
    Steps(i64, u32),
    /// Somehow; these are all.
    Any(Value),
}

impl Addresses {
    /// Those of so many lanes that are certainly so far apart.
    pub(super) fn of_row(first: &Value, step: i64, lanes: u32, follows: bool) -> Addresses {
        Addresses { first: first.clone(), change: Change::Steps(step, lanes), follows }
    }

    pub(super) fn lanes(&self) -> u32 {
        match &self.change {
            Change::Steps(_, lanes) => *lanes,
            Change::Any(all) => all.ty.lanes,
        }
    }

    /// Those of the same places from the last lane's on, which is `lowest` below the first, each `size` behind the one before.
    pub(super) fn reversed(&self, emitter: &mut Emitter<'_>, lowest: u64, size: usize) -> Addresses {
        let first = emitter.f.binary("sub", &self.first, &Value::int(self.first.ty, lowest));
        Addresses { first, change: Change::Steps(size as i64, self.lanes()), follows: false }
    }

    /// How they change from lane to lane, where that is certain.
    pub(super) fn step(&self) -> Option<i64> {
        match &self.change {
            Change::Steps(step, _) => Some(*step),
            Change::Any(_) => None,
        }
    }
}

impl Emitter<'_> {
    /// How the addresses of a message change from lane to lane.
    pub(super) fn stride(&self, index: usize) -> Stride {
        let variable = self.variables.as_ref().and_then(|v| v.uses[index][0]);
        variable.map_or(Stride::Any, |variable| self.strides[variable])
    }

    pub(super) fn part_of_sums(&self, part: usize) -> Part {
        let Sums { steps, follows, behind, .. } = &self.sums;
        let places = self.parts[part].clone();
        Part { places, step: steps[part], follows: follows[part], behind: behind[part] }
    }

    /// The parts of which a message's addresses are the sums, if all are.
    pub(super) fn parts_of(&self, index: usize) -> Option<Vec<Part>> {
        let numbers = self.numbers_of_parts(index)?;
        Some(numbers.into_iter().map(|part| self.part_of_sums(part)).collect())
    }

    /// Their numbers.
    pub(super) fn numbers_of_parts(&self, index: usize) -> Option<Vec<usize>> {
        let access = self.plan.effects[index].uses[0].as_ref()?;
        let variable = self.variables.as_ref()?.uses[index][0]?;
        if access.size != 8 || access.at.len() % LANES != 0 || access.at.len() > 2 * LANES {
            return None;
        }
        let starts = access.at.chunks(LANES).map(|lanes| usize::from(lanes[0]));
        starts.map(|start| self.sums.parts.get(&(variable, start)).copied()).collect()
    }

    /// The addresses of a message, as offsets if they are kept in parts, and what they are in. Goes outside when there are no such offsets.
    pub(super) fn reached(
        &mut self,
        index: usize,
        message: &Lanes,
        whole: &Reach,
        outside: Label,
    ) -> (Reach, Addresses) {
        let (reach, addresses, holds) = self.reached_if(index, message, whole);
        if let Some(holds) = holds {
            let on = self.f.label();
            self.f.branch_likely(&holds, on, outside);
            self.f.begin(on);
        }
        (reach, addresses)
    }

    /// The same, and whether they are that; `None`: certainly.
    pub(super) fn reached_if(
        &mut self,
        index: usize,
        message: &Lanes,
        whole: &Reach,
    ) -> (Reach, Addresses, Option<Value>) {
        match self.parts_of(index) {
            Some(parts) => self.in_parts(whole, &parts),
            None => (whole.clone(), self.addresses(index, message), None),
        }
    }

    /// The offsets of addresses that are kept in parts, from the beginning of the window; 32 bits are enough for those inside. Also whether the bases
    /// are there, and the same.
    fn in_parts(&mut self, whole: &Reach, parts: &[Part]) -> (Reach, Addresses, Option<Value>) {
        let (bases, offsets) = self.loaded_parts(parts);
        // Steps are certain when all parts have the same, and each begins where the one before ends.
        let step = parts[0].step.filter(|step| parts.iter().all(|part| part.step == Some(*step)));
        let known = self.known_offset(whole, parts);
        let is_known = known.is_some();
        let (delta, size, host, mut holds) = match known {
            Some((delta, OfPointer { limit, host, .. })) => (delta, limit, host, Value::int(BIT, 1)),
            None => {
                let delta = self.f.binary("sub", &bases[0], &whole.start);
                let most = Value::int(I64, Window::MAX_SIZE);
                let mut holds = self.f.compare("icmp ult", &delta, &most);
                for base in &bases[1..] {
                    let same = self.f.compare("icmp eq", base, &bases[0]);
                    holds = self.f.binary("and", &holds, &same);
                }
                let [delta, size] = [&delta, &whole.size].map(|value| self.f.resize(value, 32, false));
                (delta, size, whole.host.clone(), holds)
            }
        };
        if let Some(step) = step {
            let part = (LANES as i64).wrapping_mul(step) as u64;
            for pair in offsets.windows(2) {
                let next = self.f.binary("add", &pair[0], &Value::int(I32, part));
                let follows = self.f.compare("icmp eq", &pair[1], &next);
                holds = self.f.binary("and", &holds, &follows);
            }
        }
        // A sum below 0 is at least 2^31 here, and so beyond every window.
        let lanes = (parts.len() * LANES) as u32;
        let follows = parts.iter().all(|part| part.follows);
        let addresses = match step {
            Some(step) => {
                let first = self.f.binary("add", &offsets[0], &delta);
                Addresses { first, change: Change::Steps(step, lanes), follows }
            }
            None => {
                let all = self.joined_parts(parts, &offsets);
                let delta = self.f.splat(&delta, lanes);
                let all = self.f.binary("add", &all, &delta);
                Addresses { first: self.f.element(&all, 0), change: Change::Any(all), follows }
            }
        };
        let reach = Reach { start: Value::int(I32, 0), size, host, window: None };
        (reach, addresses, (!is_known || step.is_some()).then_some(holds))
    }

    /// Where the scalars of parts are in their window, if more is known of that.
    fn known_offset(&mut self, whole: &Reach, parts: &[Part]) -> Option<(Value, OfPointer)> {
        let behind = parts[0].behind.filter(|behind| (0..=MOST_BEHIND).contains(behind))?;
        if parts.iter().any(|part| part.behind != Some(behind)) {
            return None;
        }
        let known = self.of_pointer(whole.window?)?;
        let offset = self.f.binary("add", &known.offset, &Value::int(I32, behind as u64));
        Some((offset, known))
    }

    /// The offsets of all parts, of which there are one or two.
    fn joined_parts(&mut self, parts: &[Part], offsets: &[Value]) -> Value {
        let own = parts.iter().zip(offsets).map(|(part, offsets)| match part.step {
            Some(step) => {
                let first = self.f.opaque(offsets);
                self.steps_from(&first, step, LANES as u32)
            }
            None => offsets.clone(),
        });
        let own = own.collect();
        self.concatenated(own)
    }

    /// The addresses, or offsets in shared local memory.
    pub(super) fn addresses(&mut self, index: usize, message: &Lanes) -> Addresses {
        let lanes = u32::from(self.plan.ops[index].lanes);
        let bits = message.memory.address_size() as u32 * 8;
        // Rows of certain steps need only the first lane's: what is inside does not come to the bits that do not count.
        let (first, change) = match self.affine_use(index, 0) {
            Some((first, step)) => (self.address_bits(message, first), Change::Steps(step, lanes)),
            None => {
                let all = self.elements(index, 0, Ty::int(bits, lanes));
                let all = self.address_bits(message, all);
                (self.f.element(&all, 0), Change::Any(all))
            }
        };
        Addresses { first, change, follows: false }
    }

    /// All of them. Where steps are certain this is rarely wanted: they are made where it is, and not shared with other places.
    pub(super) fn all_of(&mut self, message: &Lanes, addresses: &Addresses) -> Value {
        match &addresses.change {
            Change::Steps(step, lanes) => {
                let first = self.f.opaque(&addresses.first);
                let all = self.steps_from(&first, *step, *lanes);
                self.address_bits(message, all)
            }
            Change::Any(all) => all.clone(),
        }
    }

    /// The bits of addresses that count.
    fn address_bits(&mut self, message: &Lanes, all: Value) -> Value {
        match message.memory {
            Memory::Local => self.f.binary("and", &all, &Value::int(all.ty, LOCAL_OFFSET_BITS)),
            _ => all,
        }
    }

    /// The addresses as the message has them. Of those that are kept in parts the sum is made here, so that it need not be anywhere else.
    pub(super) fn whole_addresses(&mut self, index: usize, message: &Lanes) -> Value {
        let Some(parts) = self.parts_of(index) else {
            let addresses = self.addresses(index, message);
            return self.all_of(message, &addresses);
        };
        let (bases, offsets) = self.loaded_parts(&parts);
        let offsets = self.joined_parts(&parts, &offsets);
        let offsets = self.f.resize(&offsets, 64, true);
        let bases = bases.iter().map(|base| self.f.splat(base, LANES as u32)).collect();
        let bases = self.concatenated(bases);
        self.f.binary("add", &bases, &offsets)
    }

    /// Bases and offsets of parts.
    fn loaded_parts(&mut self, parts: &[Part]) -> (Vec<Value>, Vec<Value>) {
        parts.iter().map(|part| self.loaded_part(part)).unzip()
    }

    /// Base and offsets of a part; of known steps, the first offset.
    pub(super) fn loaded_part(&mut self, part: &Part) -> (Value, Value) {
        let lanes = if part.step.is_some() { 1 } else { LANES as u32 };
        let base = self.f.load(I64, &part.places[0], FILE);
        (base, self.f.load(Ty::int(32, lanes), &part.places[1], FILE))
    }

    /// The element of the first channel for which the message is executed; any if there is none.
    pub(super) fn first_enabled(&mut self, index: usize, values: &Value) -> Value {
        let lanes = values.ty.lanes;
        let mask = self.mask(index);
        let (Some(mask), true) = (mask, lanes > 1) else { return self.f.element(values, 0) };
        let defined = Value::int(BIT, 0);
        let suffix = format!(".{}", mask.ty.mangled());
        let first = self.f.intrinsic("cttz", &suffix, mask.ty, &[&mask, &defined]);
        let first = self.f.convert("zext", &first, I64);
        let last = Value::int(I64, u64::from(lanes - 1));
        let first = self.f.intrinsic("umin", ".i64", I64, &[&first, &last]);
        let text = format!("extractelement {}, {}", values.typed(), first.typed());
        self.f.value(Ty { lanes: 1, ..values.ty }, &text)
    }
}
