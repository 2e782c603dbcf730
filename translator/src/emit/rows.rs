//! Lanes whose addresses are as far apart as is known: accesses without an address for each lane.

use super::Emitter;
use super::addresses::Addresses;
use super::memory::{LOCAL_OFFSET_BITS, LaneAccess, Reach, how};
use crate::components;
use crate::ir::{I32, Label, Ty, Value};
use crate::message::{Lanes, Memory};
use crate::split::LINE;

/// So many bytes ahead of a read of lanes that follow each other is what will be read soon: the next threads' part. Hosts find that out by
/// themselves only when the accesses are many and close together.
pub(super) const PREFETCHED: usize = 2048;

/// Of longer rows hosts find it out: each is accesses enough. Sixteen rows of `float16` that are a power of two apart are too many lines of a set, too.
const MOST_PREFETCHED: usize = 512;

/// Most bytes that are read, or looked at to be written, for lanes that are not side by side.
const MOST_SPREAD: usize = 256;

/// How lanes that are certainly so many bytes apart are accessed, if all is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// There is one lane, or one address for all.
    One,
    /// They are one access.
    Whole,
    /// Each has one, or each component.
    Apart(usize),
    /// They are read with what lies between.
    WithBetween(usize),
}

impl Row {
    /// That of a message; `None` if there is no such way.
    pub(super) fn of(message: &Lanes, lanes: usize, step: i64) -> Option<Row> {
        let (count, size) = (message.components.len(), message.size);
        if lanes == 1 || step == 0 && !message.write {
            return Some(Row::One);
        }
        let step = usize::try_from(step).ok().filter(|_| message.is_whole())?;
        match count {
            _ if step == count * size => Some(Row::Whole),
            1 if message.write || step < size || !step.is_multiple_of(size) || lanes * step > MOST_SPREAD => {
                None
            }
            1 => Some(Row::WithBetween(step)),
            _ if !step.is_multiple_of(message.alignment) => None,
            _ if step > count * size || !message.write && step == size => Some(Row::Apart(step)),
            _ => None,
        }
    }

    /// Bytes from the first lane's address on.
    pub(super) fn bytes(self, message: &Lanes, lanes: usize) -> usize {
        match self {
            Row::One => message.span(),
            Row::Whole => (lanes - 1) * message.components.len() * message.size + message.span(),
            Row::Apart(step) => (lanes - 1) * step + message.span(),
            Row::WithBetween(step) => message.components[0].0 + lanes * step,
        }
    }
}

/// What channels that are not enabled mean for an access of all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disabled {
    /// They are left out: where their addresses are does not count.
    LeftOut,
    /// There must be none.
    None,
}

impl Emitter<'_> {
    /// Goes on where all lanes are `step` bytes apart, aligned, and all `bytes` from the first on inside. Gives the place of the first lane's address in the
    /// host's memory, and where it goes otherwise.
    fn begin_row(
        &mut self,
        access: &LaneAccess<'_>,
        step: usize,
        bytes: usize,
        disabled: Disabled,
    ) -> (Value, Label) {
        let LaneAccess { message, reach, addresses, mask, .. } = access;
        let (lanes, first) = (addresses.lanes(), &addresses.first);
        let (offset, mut holds) = self.first_inside(message, reach, addresses, bytes);
        let of_lanes = mask.clone().filter(|_| disabled == Disabled::None);
        let certain = addresses.step().is_some() || lanes == 1;
        if !certain {
            let expected = self.steps_from(first, step as i64, lanes);
            let all = self.all_of(message, addresses);
            let same = self.f.compare("icmp eq", &all, &expected);
            let all = match &of_lanes {
                Some(_) => self.f.all(&same),
                None => self.all_where_enabled(&same, mask.as_ref()),
            };
            holds = self.f.binary("and", &holds, &all);
        }
        if let Some(enabled) = of_lanes {
            let all = self.f.all(&enabled);
            holds = self.f.binary("and", &holds, &all);
        }
        let (here, elsewhere) = (self.f.label(), self.f.label());
        // That all lanes have one address is only a guess.
        if certain || step > 0 {
            self.f.branch_likely(&holds, here, elsewhere);
        } else {
            self.f.branch(&holds, here, elsewhere);
        }
        self.f.begin(here);
        (self.place_of(reach, &offset), elsewhere)
    }

    /// The offset of the first lane's address, and whether it is aligned and all `bytes` from it on are inside.
    fn first_inside(
        &mut self,
        message: &Lanes,
        reach: &Reach,
        addresses: &Addresses,
        bytes: usize,
    ) -> (Value, Value) {
        let offset = self.f.binary("sub", &addresses.first, &reach.start);
        let inside = self.inside(reach, &offset, bytes);
        let aligned = self.aligned(&addresses.first, message.alignment);
        let holds = self.both(&inside, aligned.as_ref());
        (offset, holds)
    }

    /// Where an offset that is inside is in the host's memory.
    fn place_of(&mut self, reach: &Reach, offset: &Value) -> Value {
        // Windows have 2^31 bytes at most.
        let offset = self.f.resize(offset, 64, false);
        self.f.offset(&reach.host, &offset)
    }

    /// Where an offset is in the host's memory, and whether so many bytes from there on are inside.
    pub(super) fn place_if_inside(&mut self, reach: &Reach, offset: &Value, bytes: usize) -> (Value, Value) {
        let holds = self.inside(reach, offset, bytes);
        (self.place_of(reach, offset), holds)
    }

    /// Accesses a row that is all inside, and ends the way.
    pub(super) fn access_row(&mut self, access: &mut LaneAccess<'_>, row: Row, at: &Value) {
        match row {
            Row::One => self.at_one(access, at),
            Row::Whole => {
                let message = access.message;
                let bytes = access.addresses.lanes() as usize * message.components.len() * message.size;
                let at = self.f.at(at, message.components[0].0);
                self.prefetch(access, &at, bytes);
                self.access_all(access, &at, None);
            }
            Row::Apart(step) => self.apart(access, at, step),
            Row::WithBetween(step) => self.with_between(access, at, step),
        }
    }

    /// All lanes as one access, if their addresses follow each other. Gives whether that is all which decides it, and not what lanes are
    /// enabled.
    pub(super) fn consecutive(&mut self, access: &mut LaneAccess<'_>) -> bool {
        let LaneAccess { message, ref mask, .. } = *access;
        let (lanes, count) = (access.addresses.lanes(), message.components.len());
        // Components that are left out would lie between the lanes'.
        if !message.is_whole() {
            return false;
        }
        let step = count * message.size;
        let row = step * lanes as usize;
        // Several components of a channel are not enabled or disabled by one bit. Reading those of others does no harm.
        let (mask, disabled) = match count {
            1 => (mask.clone(), Disabled::LeftOut),
            _ if message.write => (None, Disabled::None),
            _ => (None, Disabled::LeftOut),
        };
        let lead = message.components[0].0;
        let (at, elsewhere) = self.begin_row(access, step, lead + row, disabled);
        let at = self.f.at(&at, lead);
        self.prefetch(access, &at, row);
        if let Some(mask) = &mask {
            // Most often all lanes are enabled, and accesses without mask are a lot faster.
            let all = self.f.all(mask);
            let (whole, masked) = (self.f.label(), self.f.label());
            self.f.branch_likely(&all, whole, masked);
            self.f.begin(whole);
            self.access_all(access, &at, None);
            self.f.begin(masked);
        }
        self.access_all(access, &at, mask.as_ref());
        self.f.begin(elsewhere);
        if let (Some(mask), Some(step)) = (mask, access.addresses.step()) {
            self.at_edge(access, step, &mask);
        }
        disabled == Disabled::LeftOut || access.mask.is_none()
    }

    /// A row of which only lanes that are not enabled lie outside: at the ends of buffers and arrays, where programs ask whether they are there.
    fn at_edge(&mut self, access: &mut LaneAccess<'_>, step: i64, mask: &Value) {
        let LaneAccess { message, ref reach, ref addresses, .. } = *access;
        let lanes = addresses.lanes();
        let aligned = self.aligned(&addresses.first, message.alignment);
        let first = self.f.opaque(&addresses.first);
        let mut offset = self.f.binary("sub", &first, &reach.start);
        if message.memory == Memory::Local {
            // Those before the first byte are the largest of the bits that count.
            let others = Value::int(I32, u64::from(LOCAL_OFFSET_BITS.leading_zeros() - 32));
            for shift in ["shl", "ashr"] {
                offset = self.f.binary(shift, &offset, &others);
            }
        }
        let offsets = self.steps_from(&offset, step, lanes);
        let inside = self.inside(reach, &offsets, message.span());
        let inside = self.all_where_enabled(&inside, Some(mask));
        let holds = self.both(&inside, aligned.as_ref());
        let (here, elsewhere) = (self.f.label(), self.f.label());
        self.f.branch(&holds, here, elsewhere);
        self.f.begin(here);
        let host = reach.host.clone();
        let at = self.f.offset(&host, &offset);
        let at = self.f.at(&at, message.components[0].0);
        self.access_all(access, &at, Some(mask));
        self.f.begin(elsewhere);
    }

    /// Asks for what threads that come later read: as many bytes as all lanes do, behind theirs.
    fn prefetch(&mut self, access: &LaneAccess<'_>, at: &Value, bytes: usize) {
        let message = access.message;
        let read = message.memory != Memory::Local && !message.write;
        if !read || access.addresses.follows || bytes > MOST_PREFETCHED || !self.prefetches {
            return;
        }
        for line in (0..bytes).step_by(LINE) {
            let ahead = self.f.at(at, PREFETCHED + line);
            self.f.prefetch(&ahead);
        }
    }

    /// Reads or writes all lanes, one behind the other, and ends the way.
    fn access_all(&mut self, access: &mut LaneAccess<'_>, at: &Value, mask: Option<&Value>) {
        if mask.is_some() {
            self.if_enabled(access);
        }
        let message = access.message;
        let lanes = access.addresses.lanes() * message.components.len() as u32;
        let all = Ty::int(message.size as u32 * 8, lanes);
        let how = how(message);
        if mask.is_none() && self.is_of_fours(message) {
            // LLVM makes larger accesses of lanes that stay side by side.
            return self.lane_by_lane(access, at, message.components.len() * message.size);
        }
        if message.write {
            let value = self.interleaved(&access.data);
            match mask {
                Some(mask) => self.store_masked(message, at, &value, mask),
                None => self.f.store(&value, at, &how),
            }
            access.ways.add(self, Vec::new());
            return;
        }
        let value = match mask {
            Some(mask) => {
                let suffix = format!(".{}.p0", all.mangled());
                let alignment = message.alignment.min(message.size);
                let (align, none) = (Value::int(I32, alignment as u64), Value::int(all, 0));
                self.f.intrinsic("masked.load", &suffix, all, &[at, &align, mask, &none])
            }
            None => self.f.load(all, at, &how),
        };
        let lanes = access.addresses.lanes();
        access.ways.add_row(self, message, value, lanes);
    }

    /// The components of what was read lane by lane, as wide as in the registers.
    pub(super) fn components_of(&mut self, message: &Lanes, row: &Value, lanes: u32) -> Vec<Value> {
        let count = row.ty.lanes / lanes;
        let mut components = Vec::with_capacity(message.components.len());
        for number in 0..message.components.len() as u32 {
            let own = match count {
                1 => row.clone(),
                _ => components::component(&mut self.f, row, number, count),
            };
            components.push(self.f.resize(&own, message.slot as u32 * 8, false));
        }
        components
    }

    /// Components of all lanes, lane by lane.
    pub(super) fn interleaved(&mut self, data: &[Value]) -> Value {
        match data {
            [only] => only.clone(),
            _ => components::interleaved(&mut self.f, data),
        }
    }

    /// Vectors of one type, one behind the other; what is missing to a power of two is anything.
    pub(super) fn concatenated(&mut self, mut parts: Vec<Value>) -> Value {
        while parts.len() > 1 {
            let pairs: Vec<Value> = parts
                .chunks(2)
                .map(|pair| {
                    let other = pair.get(1).cloned().unwrap_or_else(|| Value::poison(pair[0].ty));
                    let order: Vec<u32> = (0..pair[0].ty.lanes * 2).collect();
                    self.f.shuffle(&pair[0], Some(&other), &order)
                })
                .collect();
            parts = pairs;
        }
        parts.swap_remove(0)
    }

    /// Several components of each lane as one access, if lanes are `step` bytes apart. Gives whether that is all which
    /// decides it, as [`Emitter::consecutive`] does.
    pub(super) fn strided(&mut self, access: &mut LaneAccess<'_>, step: usize) -> bool {
        let message = access.message;
        let (lanes, count) = (access.addresses.lanes(), message.components.len());
        if !message.is_whole() || !step.is_multiple_of(message.alignment) {
            return false;
        }
        if count == 1 {
            if step > message.size {
                if message.write {
                    self.spread_out(access, step);
                } else {
                    self.spread(access, step);
                }
            }
            return false;
        }
        let disabled = if message.write { Disabled::None } else { Disabled::LeftOut };
        let bytes = (lanes as usize - 1) * step + message.span();
        let (at, elsewhere) = self.begin_row(access, step, bytes, disabled);
        self.apart(access, &at, step);
        self.f.begin(elsewhere);
        disabled == Disabled::LeftOut || access.mask.is_none()
    }

    /// Several components of each lane, where lanes are `step` bytes apart, and the end of the way.
    fn apart(&mut self, access: &mut LaneAccess<'_>, at: &Value, step: usize) {
        let message = access.message;
        let (lanes, count) = (access.addresses.lanes(), message.components.len());
        let at = self.f.at(at, message.components[0].0);
        self.prefetch(access, &at, lanes as usize * step);
        if !message.write && step == message.size {
            // Each component of all lanes is one access.
            let row = Ty::int(message.size as u32 * 8, lanes);
            let how = how(message);
            let component = |k| {
                let place = self.f.at(&at, k * step);
                let value = self.f.load(row, &place, &how);
                self.f.resize(&value, message.slot as u32 * 8, false)
            };
            let values = (0..count).map(component).collect();
            access.ways.add(self, values);
        } else {
            self.lane_by_lane(access, &at, step);
        }
    }

    /// All lanes as one access, if each is right in front of the one before it.
    pub(super) fn backwards(&mut self, access: &mut LaneAccess<'_>) {
        let (message, lanes) = (access.message, access.addresses.lanes());
        let row = lanes as usize * message.size;
        let (lead, lowest) = (message.components[0].0, (row - message.size) as u64);
        let order: Vec<u32> = (0..lanes).rev().collect();
        let forwards = access.addresses.reversed(self, lowest, message.size);
        let addresses = std::mem::replace(&mut access.addresses, forwards);
        let disabled = if message.write { Disabled::None } else { Disabled::LeftOut };
        let (at, elsewhere) = self.begin_row(access, message.size, lead + row, disabled);
        let at = self.f.at(&at, lead);
        let how = how(message);
        if message.write {
            let data = self.f.shuffle(&access.data[0], None, &order);
            self.f.store(&data, &at, &how);
            access.ways.add(self, Vec::new());
        } else {
            let all = self.f.load(Ty::int(message.size as u32 * 8, lanes), &at, &how);
            let all = self.f.shuffle(&all, None, &order);
            access.ways.add_row(self, message, all, lanes);
        }
        self.f.begin(elsewhere);
        access.addresses = addresses;
    }

    /// Reads what is `step` bytes apart with all that lies between, if that is not much: hosts gather slowly, bytes and words not at all. At the end of a
    /// buffer, where there is nothing between the last lane's and the end, lanes are gathered all the same.
    fn spread(&mut self, access: &mut LaneAccess<'_>, step: usize) {
        let (message, lanes) = (access.message, access.addresses.lanes());
        let bytes = lanes as usize * step;
        if !step.is_multiple_of(message.size) || bytes > MOST_SPREAD {
            return;
        }
        let (at, elsewhere) =
            self.begin_row(access, step, message.components[0].0 + bytes, Disabled::LeftOut);
        self.with_between(access, &at, step);
        self.f.begin(elsewhere);
    }

    /// Reads lanes `step` bytes apart with what lies between, and ends the way.
    fn with_between(&mut self, access: &mut LaneAccess<'_>, at: &Value, step: usize) {
        let (message, lanes) = (access.message, access.addresses.lanes());
        let at = self.f.at(at, message.components[0].0);
        self.prefetch(access, &at, lanes as usize * step);
        let (size, how) = (message.size, how(message));
        let own = if matches!(step, 2 | 4 | 8) {
            let all = self.f.load(Ty::int(step as u32 * 8, lanes), &at, &how);
            self.f.resize(&all, size as u32 * 8, false)
        } else {
            let count = (step / size) as u32;
            let all = self.f.load(Ty::int(size as u32 * 8, lanes * count), &at, &how);
            let order: Vec<u32> = (0..lanes).map(|lane| lane * count).collect();
            self.f.shuffle(&all, None, &order)
        };
        let value = self.f.resize(&own, message.slot as u32 * 8, false);
        access.ways.add(self, vec![value]);
    }

    /// Writes what is `step` bytes apart by a mask that leaves out what lies between, if that is not much and the host's vectors have masks: there a line
    /// is one access, where scattering has one for each lane.
    fn spread_out(&mut self, access: &mut LaneAccess<'_>, step: usize) {
        let (message, lanes) = (access.message, access.addresses.lanes());
        let (size, bytes) = (message.size, lanes as usize * step);
        if size < 4 || !step.is_multiple_of(size) || bytes > MOST_SPREAD || !self.plan.host.vectors.masked {
            return;
        }
        let (lead, count) = (message.components[0].0, (step / size) as u32);
        let last = bytes - step + message.span();
        let (at, elsewhere) = self.begin_row(access, step, last, Disabled::None);
        let at = self.f.at(&at, lead);
        let order: Vec<u32> = (0..lanes * count).map(|n| n / count).collect();
        let all = self.f.shuffle(&access.data[0], None, &order);
        let own = Value::ints(Ty::int(1, lanes * count), |n| u64::from(n.is_multiple_of(count)));
        self.store_masked(message, &at, &all, &own);
        access.ways.add(self, Vec::new());
        self.f.begin(elsewhere);
    }

    /// Writes the elements for which a mask holds.
    fn store_masked(&mut self, message: &Lanes, at: &Value, all: &Value, mask: &Value) {
        let alignment = Value::int(I32, message.alignment.min(message.size) as u64);
        let suffix = format!(".{}.p0", all.ty.mangled());
        self.f.intrinsic_line("masked.store", &suffix, &[all, at, &alignment, mask]);
    }

    /// Reads or writes the components of each lane at once, where lanes are `step` bytes apart, and ends the way.
    fn lane_by_lane(&mut self, access: &mut LaneAccess<'_>, at: &Value, step: usize) {
        let lanes = access.addresses.lanes() as usize;
        let places: Vec<Value> = (0..lanes).map(|lane| self.f.at(at, lane * step)).collect();
        self.each_lane(access, &places, step);
    }

    /// Reads or writes the components of each lane at once, at its place, and ends the way. Behind the places of all lanes but the last are `room` bytes.
    pub(super) fn each_lane(&mut self, access: &mut LaneAccess<'_>, places: &[Value], room: usize) {
        let message = access.message;
        let (lanes, count) = (access.addresses.lanes(), message.components.len() as u32);
        let how = how(message);
        if message.write {
            let all = access.row.clone().unwrap_or_else(|| {
                // Four are transposed faster than three.
                let fourth = access.data.last().filter(|_| count == 3).cloned();
                let data: Vec<Value> = access.data.iter().cloned().chain(fourth).collect();
                self.interleaved(&data)
            });
            let each = all.ty.lanes / lanes;
            for (lane, place) in places.iter().enumerate() {
                let own = components::lane(&mut self.f, &all, lane as u32, count, each);
                self.f.store(&own, place, &how);
            }
            access.ways.add(self, Vec::new());
            return;
        }
        // Of three components with room behind them the fourth is read, too, which nobody asks for: but not of the last lane, behind which nothing may be.
        let wide = if count == 3 && room >= 4 * message.size { 4 } else { count };
        let ty = |count| Ty::int(message.size as u32 * 8, count);
        let mut own = |lane: u32, count| self.f.load(ty(count), &places[lane as usize], &how);
        let mut owns: Vec<Value> = (0..lanes - 1).map(|lane| own(lane, wide)).collect();
        let last = own(lanes - 1, count);
        owns.push(match wide == count {
            true => last,
            false => self.f.shuffle(&last, None, &[0, 1, 2, 2]),
        });
        let row = self.concatenated(owns);
        access.ways.add_row(self, message, row, lanes);
    }

    /// The access of the only lane, or one read for all lanes, if they have one address; a scalar, if that is certain.
    pub(super) fn one_address(&mut self, access: &mut LaneAccess<'_>) {
        let span = access.message.span();
        let (at, elsewhere) = self.begin_row(access, 0, span, Disabled::LeftOut);
        self.at_one(access, &at);
        self.f.begin(elsewhere);
    }

    /// The access of the only lane, or the read of all at one address, and the end of the way.
    fn at_one(&mut self, access: &mut LaneAccess<'_>, at: &Value) {
        let message = access.message;
        if message.write {
            for ((inner, _), value) in message.components.iter().zip(&access.data) {
                let at = self.f.at(at, *inner);
                self.f.store(value, &at, &how(message));
            }
            return access.ways.add(self, Vec::new());
        }
        let values = self.components_at(message, at);
        let lanes = access.addresses.lanes();
        let certain = access.addresses.step().is_some() || lanes == 1;
        let values =
            if certain { values } else { values.iter().map(|value| self.f.splat(value, lanes)).collect() };
        access.ways.add(self, values);
    }

    /// The components at one place.
    pub(super) fn components_at(&mut self, message: &Lanes, at: &Value) -> Vec<Value> {
        let how = how(message);
        let read = |(inner, _): &(usize, usize)| {
            let at = self.f.at(at, *inner);
            let value = self.f.load(Ty::int(message.size as u32 * 8, 1), &at, &how);
            self.f.resize(&value, message.slot as u32 * 8, false)
        };
        message.components.iter().map(read).collect()
    }
}
