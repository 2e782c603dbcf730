//! Reads of a lane alone (`super::serial`): windows do not change while a lane is in its loop, and what is the same in all rounds is computed
//! before.

use std::collections::BTreeMap;

use super::memory::LOCAL_OFFSET_BITS;
use super::serial::Shared;
use super::{Emitter, FILE};
use crate::ir::{I32, I64, Label, POINTER, Ty, Value};
use crate::message::Lanes;
use crate::serial::{Column, Serial, has_channel};
use crate::split::{self, Sum};

/// What is known of a window while it does not change.
#[derive(Clone)]
pub(super) struct Known {
    /// Its number.
    pub(super) number: u32,
    /// Where the first address is.
    pub(super) start: Value,
    /// Where the first offset is that is outside for this message.
    pub(super) limit: Value,
    /// Where the place in the host's memory is.
    pub(super) host: Value,
}

/// An address that is a scalar from before the loop and the lane's own offset.
#[derive(Clone)]
pub(super) struct AddressSum {
    /// The instruction that adds.
    pub(super) definition: usize,
    /// Its source with the offset.
    pub(super) offset: usize,
    /// Where the offset is kept, a signed number of 32 bits.
    pub(super) place: Value,
    /// The scalar.
    pub(super) base: Value,
    /// Where the place of the first offset inside is in the host's memory.
    pub(super) host: Value,
    /// The first offset that is inside for this message and those with the same offset, and how many are ([`Emitter::as_offsets`]).
    pub(super) inside: [Value; 2],
    /// What makes of an offset the one from the first that is inside, when it is added.
    pub(super) before: Value,
    /// Where the latter is kept, of messages that are looked at before rounds begin ([`Emitter::steady_place`]).
    pub(super) from_first: Value,
    /// How addresses have to be aligned.
    pub(super) alignment: usize,
    /// The message that has found out already that the offset is inside.
    pub(super) leader: Option<usize>,
}

impl AddressSum {
    /// Is the offset, which is that of a message's address, the one of a leader's?
    pub(super) fn is_of(&self, index: usize, leader: usize) -> bool {
        index == leader || self.leader == Some(leader)
    }
}

/// An offset that is inside.
pub(super) struct Inside {
    /// From the first one that is, in 64 bits.
    pub(super) offset: Value,
    /// How many are.
    pub(super) count: Value,
}

impl Emitter<'_> {
    /// Reads what is known of a window.
    pub(super) fn look_at_window(&mut self, index: usize, known: &Known) {
        let span = self.message_of_lanes(index).map_or(1, Lanes::span);
        let reach = self.reach_of(known.number);
        let less = Value::int(I64, span as u64 - 1);
        let limit = self.f.intrinsic("usub.sat", ".i64", I64, &[&reach.size, &less]);
        for (value, place) in [(reach.start, &known.start), (limit, &known.limit), (reach.host, &known.host)]
        {
            self.f.store(&value, place, FILE);
        }
    }

    /// The addresses that are sums. Goes to `slow` if one of the scalars is not as aligned as its message wants.
    pub(super) fn address_sums(
        &mut self,
        serial: &Serial,
        shared: &Shared,
        channel: u32,
        slow: Label,
    ) -> BTreeMap<usize, AddressSum> {
        let mut sums: BTreeMap<usize, AddressSum> = BTreeMap::new();
        for (index, known) in &shared.windows {
            let Some((definition, Sum::Of { base: source, offset: Some(offset) })) =
                self.only_sum(serial, *index, channel)
            else {
                continue;
            };
            let place = self.use_place(definition, source);
            let scalar = self.f.load(I64, &place, FILE);
            let alignment = self.message_of_lanes(*index).map_or(1, |message| message.alignment);
            if let Some(aligned) = self.aligned(&scalar, alignment) {
                let on = self.f.label();
                self.f.branch_likely(&aligned, on, slow);
                self.f.begin(on);
            }
            let [start, limit] = [&known.start, &known.limit].map(|place| self.f.load(I64, place, FILE));
            let host = self.f.load(POINTER, &known.host, FILE);
            let before = self.f.binary("sub", &scalar, &start);
            let host = self.f.offset(&host, &before);
            let first = self.f.binary("sub", &start, &scalar);
            let leader = sums
                .iter()
                .filter(|(leader, other)| {
                    other.leader.is_none() && self.plan.ops[**leader].predicate.is_none()
                })
                .find(|(leader, other)| self.is_same_offset(**leader, other, *index, definition, offset))
                .map(|(leader, _)| *leader);
            let inside = match leader.and_then(|leader| sums.get_mut(&leader)) {
                Some(leader) => {
                    let [a, count] = leader.inside.clone();
                    let ends = [self.f.binary("add", &a, &count), self.f.binary("add", &first, &limit)];
                    let begin = self.f.intrinsic("smax", ".i64", I64, &[&a, &first]);
                    let end = self.f.intrinsic("smin", ".i64", I64, &[&ends[0], &ends[1]]);
                    let end = self.f.intrinsic("smax", ".i64", I64, &[&begin, &end]);
                    leader.inside = [begin.clone(), self.f.binary("sub", &end, &begin)];
                    leader.inside.clone()
                }
                None => [first, limit],
            };
            let place = self.f.variable(4);
            let base = scalar;
            let from_first = self.f.variable(8);
            let before = Value::int(I32, 0);
            let sum = AddressSum {
                definition,
                offset,
                place,
                base,
                host,
                inside,
                before,
                from_first,
                alignment,
                leader,
            };
            sums.insert(*index, sum);
        }
        // From here on, offsets are counted from the first inside, with 32 bits: a round then costs one comparison, and what it compares
        // is the place, too.
        let leaders: Vec<usize> =
            sums.iter().filter(|(_, sum)| sum.leader.is_none()).map(|(index, _)| *index).collect();
        for leader in leaders {
            let inside = self.as_offsets(&sums[&leader].inside);
            let before = self.f.binary("sub", &Value::int(I32, 0), &inside[0]);
            // Otherwise LLVM subtracts, for which x86 has no instruction that also shifts.
            let before = self.f.opaque(&before);
            let first = self.f.resize(&inside[0], 64, true);
            let own = sums.iter_mut().filter(|(index, sum)| sum.is_of(**index, leader));
            for (_, sum) in own {
                sum.host = self.f.offset(&sum.host, &first);
                sum.inside = inside.clone();
                sum.before = before.clone();
            }
        }
        sums
    }

    /// What of a range of 64-bit numbers are signed numbers of 32 bits: the first, in 32 bits, and how many, in 64.
    fn as_offsets(&mut self, [first, count]: &[Value; 2]) -> [Value; 2] {
        let (least, behind) = (Value::int(I64, i64::from(i32::MIN) as u64), Value::int(I64, 1 << 31));
        let end = self.f.binary("add", first, count);
        let first = self.f.intrinsic("smax", ".i64", I64, &[first, &least]);
        let end = self.f.intrinsic("smin", ".i64", I64, &[&end, &behind]);
        let end = self.f.intrinsic("smax", ".i64", I64, &[&end, &first]);
        let count = self.f.binary("sub", &end, &first);
        [self.f.resize(&first, 32, false), count]
    }

    /// Has a message the offset of one before it in the same block, as aligned?
    pub(super) fn is_same_offset(
        &self,
        leader: usize,
        other: &AddressSum,
        index: usize,
        definition: usize,
        offset: usize,
    ) -> bool {
        let element = |definition: usize, source: usize| {
            let access = self.plan.effects[definition].uses[source].as_ref()?;
            Column::of(access, self.variables.as_ref()?.uses[definition][source]?)
        };
        let block = |index: usize| self.flow.blocks.iter().rposition(|block| block.start <= index);
        let alignment = |index: usize| self.message_of_lanes(index).map(|message| message.alignment);
        let (Some(a), Some(b)) = (element(other.definition, other.offset), element(definition, offset))
        else {
            return false;
        };
        let between = other.definition.min(definition)..other.definition.max(definition);
        let changed = between
            .clone()
            .any(|index| self.variables.as_ref().is_none_or(|v| v.definitions[index].contains(&a.variable)));
        a == b
            && !changed
            && block(leader) == block(index)
            && definition < leader
            && alignment(index) <= alignment(leader)
    }

    /// The instruction of the loop that makes a message's address for a channel, if there is one only, and it adds right before.
    pub(super) fn only_sum(&self, serial: &Serial, index: usize, channel: u32) -> Option<(usize, Sum)> {
        let variables = self.variables.as_ref()?;
        let variable = variables.uses[index][0]?;
        let own = |other: &usize| {
            has_channel(&self.plan.ops[*other], channel) && variables.definitions[*other].contains(&variable)
        };
        let mut all = (self.flow.blocks[serial.blocks.start].start..serial.end).filter(own);
        let (definition, None) = (all.next()?, all.next()) else { return None };
        let begin = self.flow.blocks.iter().map(|block| block.start).filter(|start| *start <= index).max()?;
        if !(begin..index).contains(&definition) {
            return None;
        }
        Some((definition, split::sum(&self.plan.steps[definition], &self.plan.ops[definition])?))
    }

    /// Keeps the offset of an address that an instruction makes.
    pub(super) fn keep_offset(&mut self, index: usize) {
        let Some(lane) = &self.lane else { return };
        let own = lane.sums.values().filter(|sum| sum.definition == index);
        let places: Vec<(usize, Value)> = own.map(|sum| (sum.offset, sum.place.clone())).collect();
        for (source, place) in places {
            let offset = self.bits(index, source);
            self.f.store(&offset, &place, FILE);
        }
    }

    /// A read of the lane alone.
    pub(super) fn lane_read(&mut self, shared: &Shared, index: usize, message: &Lanes) {
        let Some(place) = self.lane_use(index, 0) else { return };
        let values = match shared.windows.get(&index) {
            Some(known) => {
                let bits = message.memory.address_size() as u32 * 8;
                let address = self.f.load(Ty::int(bits, 1), &place, FILE);
                let address = self.f.resize(&address, 64, false);
                self.known_read(shared, index, message, &address, known)
            }
            None => {
                let offset = self.f.load(I32, &place, FILE);
                self.local_read(message, &offset)
            }
        };
        for (k, value) in values.iter().enumerate() {
            self.write(index, k, value, None);
        }
    }

    /// A read of shared local memory.
    pub(super) fn local_read(&mut self, message: &Lanes, offset: &Value) -> Vec<Value> {
        let reach = self.local_reach();
        let offset = self.f.binary("and", offset, &Value::int(I32, LOCAL_OFFSET_BITS));
        let inside = self.inside(&reach, &offset, message.span());
        let aligned = self.aligned(&offset, message.alignment);
        let holds = self.both(&inside, aligned.as_ref());
        let here = self.f.label();
        let slow = self.lane.as_ref().map_or(self.fault, |lane| lane.slow);
        self.f.branch_likely(&holds, here, slow);
        self.f.begin(here);
        let at = self.f.offset(&reach.host, &offset);
        self.components_at(message, &at)
    }

    /// A read inside of a window that does not change, or a new beginning.
    pub(super) fn known_read(
        &mut self,
        shared: &Shared,
        index: usize,
        message: &Lanes,
        address: &Value,
        known: &Known,
    ) -> Vec<Value> {
        let sum = self.lane.as_ref().and_then(|lane| lane.sums.get(&index));
        let parts = sum.map(|sum| (sum.place.clone(), sum.host.clone(), sum.before.clone(), sum.leader));
        let Some((place, host, before, leader)) = parts else {
            let [start, limit] = [&known.start, &known.limit].map(|place| self.f.load(I64, place, FILE));
            let host = self.f.load(POINTER, &known.host, FILE);
            let aligned = self.aligned(address, message.alignment);
            let offset = self.f.binary("sub", address, &start);
            let inside = self.f.compare("icmp ult", &offset, &limit);
            self.begin_anew_outside(&inside, aligned, |_| vec![(index, known, address.clone())]);
            let at = self.f.offset(&host, &offset);
            return self.components_at(message, &at);
        };
        let offset = match self.steady_place(index) {
            Some((place, _)) => self.f.load(I64, &place, FILE),
            None => {
                let own = self.f.load(I32, &place, FILE);
                if leader.is_some() {
                    self.counted_from_first(&own, &before)
                } else {
                    self.check_sum(shared, index, &own).offset
                }
            }
        };
        let at = self.f.offset(&host, &offset);
        self.prefetch_gathered(index, message);
        self.components_at(message, &at)
    }

    /// An offset from the first inside.
    pub(super) fn counted_from_first(&mut self, own: &Value, before: &Value) -> Value {
        let offset = self.f.binary("add", own, before);
        self.f.resize(&offset, 64, false)
    }

    /// Goes on only if the offset of an address, and of those with the same one, is inside; the lane begins anew otherwise.
    pub(super) fn check_sum(&mut self, shared: &Shared, index: usize, own: &Value) -> Inside {
        let sums = self.lane.iter().flat_map(|lane| &lane.sums);
        let group = sums.filter(|(other, sum)| sum.is_of(**other, index));
        let bases: Vec<(usize, Value)> = group.map(|(other, sum)| (*other, sum.base.clone())).collect();
        let sum = self.lane.as_ref().and_then(|lane| lane.sums.get(&index));
        let none = || [I32, I64, I32].map(|ty| Value::int(ty, 0));
        let [first, count, before] =
            sum.map_or_else(none, |sum| [sum.inside[0].clone(), sum.inside[1].clone(), sum.before.clone()]);
        let alignment = sum.map_or(1, |sum| sum.alignment);
        let aligned = self.aligned(own, alignment);
        let offset = self.counted_from_first(own, &before);
        let inside = self.f.compare("icmp ult", &offset, &count);
        self.begin_anew_outside(&inside, aligned, |emitter| {
            // Computed again, so that nothing is kept for it.
            let from_first = emitter.f.resize(&offset, 32, false);
            let from_first = emitter.f.opaque(&from_first);
            let own = emitter.f.binary("add", &from_first, &first);
            let own = emitter.f.resize(&own, 64, true);
            let known = bases
                .into_iter()
                .filter_map(|(other, base)| Some((other, shared.windows.get(&other)?, base)));
            known.map(|(other, known, base)| (other, known, emitter.f.binary("add", &base, &own))).collect()
        });
        Inside { offset, count }
    }

    /// Has the lane begin anew with other windows, those of the addresses, where it is not inside of them.
    fn begin_anew_outside<'k>(
        &mut self,
        inside: &Value,
        aligned: Option<Value>,
        addresses: impl FnOnce(&mut Self) -> Vec<(usize, &'k Known, Value)>,
    ) {
        let holds = self.both(inside, aligned.as_ref());
        let [here, outside] = [self.f.label(), self.f.label()];
        self.f.branch_likely(&holds, here, outside);
        let retry = self.lane.as_ref().map_or(self.fault, |lane| lane.retry);
        self.f.begin(outside);
        for (index, known, address) in addresses(self) {
            self.find(known.number, &address);
            self.look_at_window(index, known);
        }
        self.f.jump(retry);
        self.f.begin(here);
    }
}
