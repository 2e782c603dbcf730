//! Accesses to memory. Each has the way that is expected, and another one that is rarely taken: the simulator performs the message, after it has looked for the buffer.

use std::mem::{offset_of, size_of};

use gencl_eu::abi::{Frame, Window};

use super::{FILE, FRAME, Lowering};
use crate::components;
use crate::ir::{BIT, I32, I64, Label, POINTER, Scalar as LlvmScalar, Ty, Value as LlvmValue};
use crate::message::{Address, Message};
use crate::middle::function::{Constant, Instruction, Value};
use crate::middle::op::{Access, Addressing, Inside, LOCAL_OFFSET, Space};
use crate::plan::Step;

/// Bytes of a line of the host's caches.
const LINE: usize = 64;
/// So many bytes ahead of a row is what will be read soon: the next threads' part. Hosts find that out by themselves only when the accesses are many and close
/// together.
const PREFETCHED: usize = 2048;
/// Bytes of rows that hosts find out for themselves: each is accesses enough.
const MOST_PREFETCHED: usize = 512;

/// The memory that an instruction may access without asking.
#[derive(Clone)]
pub struct Reach {
    /// Address of the first byte, of the addresses' type.
    pub start: LlvmValue,
    /// Bytes, 64 bits.
    pub size: LlvmValue,
    /// Where it is.
    pub host: LlvmValue,
    /// Its window, if it has one.
    pub window: Option<u32>,
}

/// The ways through an access, to be joined.
pub struct Ways {
    pub outside: Label,
    pub join: Label,
    incoming: Vec<(Vec<LlvmValue>, Label)>,
}

/// How an access is marked.
pub fn mark(space: Space) -> &'static str {
    match space {
        Space::Global | Space::Flat | Space::Scratch => "!tbaa !3",
        Space::Local => "!tbaa !6",
    }
}

/// An access that is being lowered.
struct Site<'a> {
    access: &'a Access,
    /// The enabled lanes, a bit for each; `None`: all.
    mask: Option<LlvmValue>,
    lanes: u32,
    reach: Reach,
    /// What is written, component by component.
    data: Vec<LlvmValue>,
    ways: Ways,
    is_write: bool,
    /// What is read is one value for all lanes.
    is_one: bool,
    /// The mask.
    mask_value: Value,
}

impl Site<'_> {
    fn how(&self) -> String {
        format!("align {}, {}", self.alignment(), mark(self.access.space))
    }

    fn alignment(&self) -> u8 {
        self.access.alignment.min(self.access.size)
    }

    /// All lanes' components of a row.
    fn row(&self) -> Ty {
        Ty::int(u32::from(self.access.size) * 8, self.lanes * self.access.components.len() as u32)
    }

    fn element(&self) -> Ty {
        Ty::int(u32::from(self.access.size) * 8, 1)
    }
}

impl Lowering<'_> {
    /// Reads memory; a value for each component.
    pub fn load(&mut self, instruction: Instruction, access: &Access) -> Vec<LlvmValue> {
        self.access(instruction, access, false)
    }

    /// Writes memory.
    pub fn store(&mut self, instruction: Instruction, access: &Access) {
        self.access(instruction, access, true);
    }

    fn access(&mut self, instruction: Instruction, access: &Access, is_write: bool) -> Vec<LlvmValue> {
        let data = self.function.instruction(instruction);
        let operands = &data.operands;
        let addresses = self.function.ty(operands[1]);
        let mask = match self.function.as_constant(operands[0]) {
            Some(Constant::All(1)) => None,
            _ => Some(self.value(operands[0])),
        };
        let written = if is_write { &operands[access.first_datum()..] } else { &[] };
        let mut site = Site {
            access,
            mask,
            lanes: addresses.lanes.into(),
            reach: self.reach(access.space, access.window),
            data: written.iter().map(|value| self.value(*value)).collect(),
            ways: self.ways(),
            is_write,
            is_one: !is_write && addresses.lanes > 1 && self.function.ty(data.results[0]).lanes == 1,
            mask_value: operands[0],
        };
        match access.addressing {
            Addressing::Affine(step) if access.is_guarded => {
                let first = self.value(operands[2]);
                let first = self.counted(access.space, &first);
                return self.inside_row(site, i64::from(step), &first);
            }
            Addressing::Affine(step) => {
                let [first, certain] = [2, 3].map(|n| self.value(operands[n]));
                let first = self.counted(access.space, &first);
                self.row(&mut site, i64::from(step), &first, &certain);
            }
            Addressing::Offsets => {
                let [base, offsets] = [2, 3].map(|n| self.value(operands[n]));
                self.by_offsets(&mut site, &base, &offsets);
            }
            Addressing::Varying => {
                let all = self.value(operands[1]);
                let all = self.counted(access.space, &all);
                self.scattered(&mut site, &all);
            }
        }
        self.f.begin(site.ways.outside);
        let found = self.performed_elsewhere(instruction, &site.reach, operands[1], operands[0]);
        self.add_lanes(&mut site, found);
        self.joined(site.ways)
    }

    /// The end of a way that has found a value for each lane. Where all have one address, one enabled lane's is that of all.
    fn add_lanes(&mut self, site: &mut Site<'_>, found: Vec<LlvmValue>) {
        let found = match site.is_one && !site.is_write {
            true => found.iter().map(|value| self.first_enabled(value, site.mask_value)).collect(),
            false => found,
        };
        self.add_way(&mut site.ways, found);
    }

    /// The bits of addresses that count.
    pub fn counted(&mut self, space: Space, addresses: &LlvmValue) -> LlvmValue {
        match space {
            Space::Local => self.f.binary("and", addresses, &LlvmValue::int(addresses.ty, LOCAL_OFFSET)),
            _ => addresses.clone(),
        }
    }

    pub fn ways(&mut self) -> Ways {
        Ways { outside: self.f.label(), join: self.f.label(), incoming: Vec::new() }
    }

    /// The end of a way.
    pub fn add_way(&mut self, ways: &mut Ways, values: Vec<LlvmValue>) {
        let from = self.f.current();
        ways.incoming.push((values, from));
        self.f.jump(ways.join);
    }

    /// What the ways have found.
    pub fn joined(&mut self, ways: Ways) -> Vec<LlvmValue> {
        self.f.begin(ways.join);
        let count = ways.incoming[0].0.len();
        let incoming = |k: usize| -> Vec<(LlvmValue, Label)> {
            ways.incoming.iter().map(|(values, label)| (values[k].clone(), *label)).collect()
        };
        (0..count).map(|k| self.f.phi(&incoming(k))).collect()
    }

    pub fn reach(&mut self, space: Space, window: Option<u16>) -> Reach {
        match space {
            Space::Local => {
                let host = self.constant(POINTER, offset_of!(Frame, local));
                let size = self.constant(I64, offset_of!(Frame, local_size));
                Reach { start: LlvmValue::int(I32, 0), size, host, window: None }
            }
            Space::Scratch => {
                let window = self.scratch_window.unwrap_or_else(|| self.next_window());
                self.scratch_window = Some(window);
                self.reach_of(window)
            }
            Space::Global => {
                let window = window.map_or_else(|| self.next_window(), u32::from);
                self.reach_of(window)
            }
            Space::Flat => {
                let window = self.next_window();
                let reach = self.reach_of(window);
                Reach { start: self.f.convert("trunc", &reach.start, I32), ..reach }
            }
        }
    }

    fn next_window(&mut self) -> u32 {
        self.windows += 1;
        self.windows - 1
    }

    pub fn reach_of(&mut self, number: u32) -> Reach {
        let windows = self.constant(POINTER, offset_of!(Frame, windows));
        let window = self.f.at(&windows, number as usize * size_of::<Window>());
        let mut field = |ty, offset| {
            let at = self.f.at(&window, offset);
            self.f.load(ty, &at, FRAME)
        };
        let start = field(I64, offset_of!(Window, start));
        let size = field(I64, offset_of!(Window, size));
        let host = field(POINTER, offset_of!(Window, host));
        Reach { start, size, host, window: Some(number) }
    }

    /// Whether accesses of so many bytes at these offsets are inside.
    pub fn inside(&mut self, reach: &Reach, offsets: &LlvmValue, bytes: usize) -> LlvmValue {
        let end =
            self.f.intrinsic("usub.sat", ".i64", I64, &[&reach.size, &LlvmValue::int(I64, bytes as u64 - 1)]);
        // Windows have 2^31 bytes at most.
        let end = self.f.convert("trunc", &end, Ty { lanes: 1, ..offsets.ty });
        let end = self.f.splat(&end, offsets.ty.lanes);
        self.f.compare("icmp ult", offsets, &end)
    }

    /// Whether addresses are aligned.
    pub fn aligned(&mut self, addresses: &LlvmValue, alignment: u8) -> Option<LlvmValue> {
        (alignment > 1).then(|| {
            let low =
                self.f.binary("and", addresses, &LlvmValue::int(addresses.ty, u64::from(alignment) - 1));
            self.f.compare("icmp eq", &low, &LlvmValue::int(addresses.ty, 0))
        })
    }

    pub fn both(&mut self, a: &LlvmValue, b: Option<LlvmValue>) -> LlvmValue {
        b.map_or_else(|| a.clone(), |b| self.f.binary("and", a, &b))
    }

    /// Whether a condition holds in all enabled lanes.
    pub fn holds_where_enabled(&mut self, condition: &LlvmValue, mask: Option<&LlvmValue>) -> LlvmValue {
        let holds = self.f.mask_bits(condition);
        let ones = LlvmValue::int(holds.ty, u64::MAX);
        let all = match mask {
            Some(mask) => {
                let others = self.f.binary("xor", mask, &ones);
                self.f.binary("or", &holds, &others)
            }
            None => holds,
        };
        if all.ty == BIT { all } else { self.f.compare("icmp eq", &all, &ones) }
    }

    /// Lanes that are known to be so far apart.
    fn row(&mut self, site: &mut Site<'_>, step: i64, first: &LlvmValue, certain: &LlvmValue) {
        let (access, lanes) = (site.access, i64::from(site.lanes));
        let offset = self.f.binary("sub", first, &site.reach.start);
        let aligned = self.aligned(first, access.alignment);
        let certain = self.both(certain, aligned);
        let is_one = lanes == 1 || step == 0;
        let extent = if is_one { 0 } else { (lanes - 1) * step.abs() };
        let lowest = if step < 0 && !is_one {
            self.f.binary("sub", &offset, &LlvmValue::int(offset.ty, extent as u64))
        } else {
            offset.clone()
        };
        let inside = self.inside(&site.reach, &lowest, extent as usize + access.span());
        let holds = self.f.binary("and", &inside, &certain);
        let here = self.f.label();
        let elsewhere = if site.mask.is_some() { self.f.label() } else { site.ways.outside };
        self.f.branch_likely(&holds, here, elsewhere);
        self.f.begin(here);
        self.row_at(site, step, &offset);
        if site.mask.is_some() {
            // Lanes that are not enabled may be outside.
            self.f.begin(elsewhere);
            let steps = LlvmValue::ints(Ty { lanes: site.lanes, ..first.ty }, |lane| {
                i64::from(lane).wrapping_mul(step) as u64
            });
            let all = self.f.opaque(first);
            let all = self.f.splat(&all, site.lanes);
            let all = self.f.binary("add", &all, &steps);
            let all = self.counted(access.space, &all);
            let go_on = self.f.label();
            self.f.branch(&certain, go_on, site.ways.outside);
            self.f.begin(go_on);
            self.scattered(site, &all);
        }
    }

    /// An access of which a guard has found that it is inside.
    fn inside_row(&mut self, mut site: Site<'_>, step: i64, first: &LlvmValue) -> Vec<LlvmValue> {
        let offset = self.f.binary("sub", first, &site.reach.start);
        self.row_at(&mut site, step, &offset);
        self.joined(site.ways)
    }

    /// Whether bytes are inside and aligned.
    pub fn is_inside(&mut self, inside: &Inside, address: Value) -> LlvmValue {
        let first = self.value(address);
        let first = self.counted(inside.space, &first);
        let reach = self.reach(inside.space, inside.window);
        let distance = LlvmValue::int(first.ty, i64::from(inside.first) as u64);
        let lowest = self.f.binary("add", &first, &distance);
        let offset = self.f.binary("sub", &lowest, &reach.start);
        let holds = self.inside(&reach, &offset, inside.bytes as usize);
        let aligned = self.aligned(&first, inside.alignment);
        self.both(&holds, aligned)
    }

    /// A row whose first lane is at an offset of its window, all inside. Ends the way.
    fn row_at(&mut self, site: &mut Site<'_>, step: i64, offset: &LlvmValue) {
        let access = site.access;
        let packed = (access.components.len() * usize::from(access.size)) as i64;
        let is_one = site.lanes == 1 || step == 0;
        let wide = self.f.convert("zext", offset, I64);
        let at = self.f.offset(&site.reach.host.clone(), &wide);
        if is_one {
            self.one(site, &at);
        } else if step == packed && access.is_packed() {
            self.packed(site, &at);
        } else if step > packed && access.is_packed() && access.components.len() > 1 {
            let disabled = site.mask.clone().filter(|_| site.is_write).map(|mask| {
                let [whole, partial] = [(); 2].map(|()| self.f.label());
                let full = self.f.compare("icmp eq", &mask, &LlvmValue::int(mask.ty, u64::MAX));
                self.f.branch_likely(&full, whole, partial);
                self.f.begin(whole);
                partial
            });
            self.apart(site, &at, step as usize);
            if let Some(partial) = disabled {
                self.f.begin(partial);
                self.anywhere_by(site, step, &wide);
            }
        } else {
            self.anywhere_by(site, step, &wide);
        }
    }

    /// Lanes that are so far apart, each with an offset of its own.
    fn anywhere_by(&mut self, site: &mut Site<'_>, step: i64, first: &LlvmValue) {
        let steps =
            LlvmValue::ints(Ty::int(32, site.lanes), |lane| i64::from(lane).wrapping_mul(step) as u64);
        let first = self.f.convert("trunc", first, I32);
        let first = self.f.splat(&first, site.lanes);
        let offsets = self.f.binary("add", &first, &steps);
        self.anywhere(site, &offsets);
    }

    /// One address for all lanes: what is read there, for each. What is written there, the last enabled lane writes.
    fn one(&mut self, site: &mut Site<'_>, at: &LlvmValue) {
        let access = site.access;
        if site.is_write {
            let zero = LlvmValue::int(Ty::int(32, site.lanes), 0);
            let host = std::mem::replace(&mut site.reach.host, at.clone());
            self.anywhere(site, &zero);
            site.reach.host = host;
            return;
        }
        let how = site.how();
        let found = access.components.iter().map(|component| {
            let at = self.f.at(at, (*component).into());
            let one = self.f.load(site.element(), &at, &how);
            if site.is_one { one } else { self.f.splat(&one, site.lanes) }
        });
        let found: Vec<LlvmValue> = found.collect();
        self.add_way(&mut site.ways, found);
    }

    /// Lanes whose components follow each other.
    fn packed(&mut self, site: &mut Site<'_>, at: &LlvmValue) {
        let count = site.access.components.len() as u32;
        let (row, how) = (site.row(), site.how());
        if !site.is_write {
            self.prefetch(site, at);
            // What disabled lanes read is inside, too.
            let all = self.f.load(row, at, &how);
            let found = self.deinterleaved(&all, count);
            return self.add_way(&mut site.ways, found);
        }
        let all = self.interleaved(&site.data.clone());
        if let Some(mask) = site.mask.clone() {
            let ones = LlvmValue::int(mask.ty, u64::MAX);
            let full = self.f.compare("icmp eq", &mask, &ones);
            let [whole, masked] = [(); 2].map(|()| self.f.label());
            self.f.branch_likely(&full, whole, masked);
            self.f.begin(masked);
            let mask = self.f.mask(&mask);
            let order: Vec<u32> = (0..row.lanes).map(|n| n / count).collect();
            let mask = self.f.shuffle(&mask, None, &order);
            self.store_masked(site, at, &all, &mask);
            self.add_way(&mut site.ways, Vec::new());
            self.f.begin(whole);
        }
        self.f.store(&all, at, &how);
        self.add_way(&mut site.ways, Vec::new());
    }

    /// Prefetches what threads that come later read: as many bytes as all lanes do, behind theirs.
    fn prefetch(&mut self, site: &Site<'_>, at: &LlvmValue) {
        let bytes = (site.row().lanes * site.row().scalar.bits() / 8) as usize;
        if site.access.space == Space::Local || bytes > MOST_PREFETCHED {
            return;
        }
        for line in (0..bytes).step_by(LINE) {
            let ahead = self.f.at(at, PREFETCHED + line);
            self.f.prefetch(&ahead);
        }
    }

    fn store_masked(&mut self, site: &Site<'_>, at: &LlvmValue, value: &LlvmValue, mask: &LlvmValue) {
        let suffix = format!(".{}.p0", value.ty.mangled());
        let align = LlvmValue::int(I32, site.alignment().into());
        self.f.intrinsic_line("masked.store", &suffix, &[value, at, &align, mask]);
    }

    /// Each component of lanes whose components follow each other.
    fn deinterleaved(&mut self, all: &LlvmValue, count: u32) -> Vec<LlvmValue> {
        match count {
            1 => vec![all.clone()],
            _ => (0..count).map(|k| components::component(&mut self.f, all, k, count)).collect(),
        }
    }

    /// Components of all lanes, those of each lane one behind the other.
    fn interleaved(&mut self, parts: &[LlvmValue]) -> LlvmValue {
        match parts {
            [only] => only.clone(),
            [first, ..] if first.ty.lanes > 1 => components::interleaved(&mut self.f, parts),
            _ => {
                let ty = Ty { lanes: parts.len() as u32, ..parts[0].ty };
                let lanes = (0..).zip(parts);
                lanes.fold(LlvmValue::poison(ty), |all, (lane, part)| self.f.insert(&all, part, lane))
            }
        }
    }

    /// Vectors of one type, one behind the other.
    fn concatenated(&mut self, mut parts: Vec<LlvmValue>) -> LlvmValue {
        while parts.len() > 1 {
            let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
            for pair in parts.chunks(2) {
                joined.push(match pair {
                    [a, b] => {
                        let order: Vec<u32> = (0..2 * a.ty.lanes).collect();
                        self.f.shuffle(a, Some(b), &order)
                    }
                    _ => pair[0].clone(),
                });
            }
            parts = joined;
        }
        parts.remove(0)
    }

    /// Accesses all components of each lane at once, where lanes are farther apart than that. All lanes are enabled if they are written.
    fn apart(&mut self, site: &mut Site<'_>, at: &LlvmValue, step: usize) {
        let (count, how) = (site.access.components.len() as u32, site.how());
        let ty = Ty { lanes: count, ..site.element() };
        if site.is_write {
            let all = self.interleaved(&site.data.clone());
            for lane in 0..site.lanes {
                let own = components::lane(&mut self.f, &all, lane, count, count);
                let at = self.f.at(at, lane as usize * step);
                self.f.store(&own, &at, &how);
            }
            return self.add_way(&mut site.ways, Vec::new());
        }
        let mut lanes = Vec::with_capacity(site.lanes as usize);
        for lane in 0..site.lanes as usize {
            let at = self.f.at(at, lane * step);
            lanes.push(self.f.load(ty, &at, &how));
        }
        let all = self.concatenated(lanes);
        let found = self.deinterleaved(&all, count);
        self.add_way(&mut site.ways, found);
    }

    /// Lanes whose addresses are offsets of 32 bits from a scalar.
    fn by_offsets(&mut self, site: &mut Site<'_>, base: &LlvmValue, offsets: &LlvmValue) {
        let delta = self.f.binary("sub", base, &site.reach.start);
        let near = self.f.compare("icmp ult", &delta, &LlvmValue::int(I64, Window::MAX_SIZE));
        let here = self.f.label();
        self.f.branch_likely(&near, here, site.ways.outside);
        self.f.begin(here);
        // A sum below 0 is at least 2^31 here, and so beyond every window.
        let delta = self.f.convert("trunc", &delta, I32);
        let delta = self.f.splat(&delta, site.lanes);
        let offsets = self.f.binary("add", offsets, &delta);
        // What windows begin with is aligned.
        self.at_offsets(site, &offsets.clone(), &offsets);
    }

    /// Lanes with any addresses.
    fn scattered(&mut self, site: &mut Site<'_>, addresses: &LlvmValue) {
        let start = self.f.splat(&site.reach.start, site.lanes);
        let offsets = self.f.binary("sub", addresses, &start);
        self.at_offsets(site, addresses, &offsets);
    }

    /// Lanes at offsets from the beginning of a window, if they are inside and `addresses` aligned.
    fn at_offsets(&mut self, site: &mut Site<'_>, addresses: &LlvmValue, offsets: &LlvmValue) {
        let access = site.access;
        let mask = site.mask.clone();
        let inside = self.inside(&site.reach, offsets, access.span());
        let aligned = self.aligned(addresses, access.alignment);
        let inside = self.both(&inside, aligned);
        let holds = self.holds_where_enabled(&inside, mask.as_ref());
        let here = self.f.label();
        self.f.branch_likely(&holds, here, site.ways.outside);
        self.f.begin(here);
        let mut offsets = self.f.resize(offsets, 32, false);
        if let Some(mask) = &mask
            && !site.is_write
            && !self.plan.host.vectors.masked
        {
            // Hosts without masks would have a branch for each lane: all lanes read, those that are not enabled at the place of the window's beginning, if there is one.
            let begin = LlvmValue::int(Ty { lanes: 1, ..offsets.ty }, 0);
            let one = self.inside(&site.reach, &begin, access.span());
            let go_on = self.f.label();
            self.f.branch_likely(&one, go_on, site.ways.outside);
            self.f.begin(go_on);
            let mask = self.f.mask(mask);
            offsets = self.f.select(&mask, &offsets, &LlvmValue::int(offsets.ty, 0));
            site.mask = None;
            self.anywhere(site, &offsets);
            site.mask = Some(self.f.mask_bits(&mask));
            return;
        }
        self.anywhere(site, &offsets);
    }

    /// Accesses elements at offsets of 32 bits that are inside, and ends the way.
    fn anywhere(&mut self, site: &mut Site<'_>, offsets: &LlvmValue) {
        let host = site.reach.host.clone();
        if !site.is_write {
            let mask = site.mask.clone();
            let found = site
                .access
                .components
                .iter()
                .map(|component| {
                    let host = self.f.at(&host, (*component).into());
                    let ty = Ty { lanes: site.lanes, ..site.element() };
                    self.gathered(&host, offsets, ty, site.alignment(), mask.as_ref())
                })
                .collect();
            return self.add_lanes(site, found);
        }
        // Lane by lane, so that where lanes overlap the last one's stay, as the interpreter has it.
        let count = site.access.components.len() as u32;
        let all = self.interleaved(&site.data.clone());
        let order: Vec<u32> = (0..all.ty.lanes).map(|n| n / count).collect();
        let offsets = self.f.shuffle(offsets, None, &order);
        let inner = LlvmValue::ints(offsets.ty, |n| u64::from(site.access.components[(n % count) as usize]));
        let offsets = self.f.binary("add", &offsets, &inner);
        let mut places = self.places_at(&host, &offsets);
        let ones = LlvmValue::int(Ty::int(1, all.ty.lanes), 1);
        let mask = match site.mask.clone() {
            None => ones,
            Some(mask) => {
                let mask = self.f.mask(&mask);
                let mask = self.f.shuffle(&mask, None, &order);
                match self.plan.host.vectors.masked || all.ty.lanes == 1 {
                    true => mask,
                    false => {
                        // Without masks there would be a branch for each lane. Lanes that are not enabled write where nobody reads.
                        let nowhere = self.f.variable(16);
                        let nowhere = self.f.opaque(&nowhere);
                        let nowhere = self.f.splat(&nowhere, places.ty.lanes);
                        places = self.f.select(&mask, &places, &nowhere);
                        ones
                    }
                }
            }
        };
        let suffix = format!(".{}.{}", all.ty.mangled(), places.ty.mangled());
        let align = LlvmValue::int(I32, site.alignment().into());
        match all.ty.lanes {
            1 => self.store_if(&all, &places, &mask, &site.how()),
            _ => self.f.intrinsic_line("masked.scatter", &suffix, &[&all, &places, &align, &mask]),
        }
        self.add_way(&mut site.ways, Vec::new());
    }

    /// Writes a scalar if a condition holds.
    fn store_if(&mut self, value: &LlvmValue, at: &LlvmValue, condition: &LlvmValue, how: &str) {
        let [here, on] = [(); 2].map(|()| self.f.label());
        self.f.branch(condition, here, on);
        self.f.begin(here);
        self.f.store(value, at, how);
        self.f.jump(on);
        self.f.begin(on);
    }

    /// Elements at offsets from a place; of a mask only those of its lanes.
    fn gathered(
        &mut self,
        host: &LlvmValue,
        offsets: &LlvmValue,
        ty: Ty,
        alignment: u8,
        mask: Option<&LlvmValue>,
    ) -> LlvmValue {
        if ty.lanes == 1 {
            let how = format!("align {alignment}");
            let wide = self.f.resize(offsets, 64, false);
            let at = self.f.offset(host, &wide);
            let Some(mask) = mask else { return self.f.load(ty, &at, &how) };
            let [here, on] = [(); 2].map(|()| self.f.label());
            let before = self.f.current();
            self.f.branch(mask, here, on);
            self.f.begin(here);
            let found = self.f.load(ty, &at, &how);
            self.f.jump(on);
            self.f.begin(on);
            return self.f.phi(&[(found, here), (LlvmValue::int(ty, 0), before)]);
        }
        if !self.plan.host.vectors.masked {
            return self.each_lane_loaded(host, offsets, ty, &format!("align {alignment}"));
        }
        let places = self.places_at(host, offsets);
        let suffix = format!(".{}.{}", ty.mangled(), places.ty.mangled());
        let (align, none) = (LlvmValue::int(I32, alignment.into()), LlvmValue::int(ty, 0));
        let mask = match mask {
            Some(mask) => self.f.mask(mask),
            None => LlvmValue::int(Ty::int(1, ty.lanes), 1),
        };
        self.f.intrinsic("masked.gather", &suffix, ty, &[&places, &align, &mask, &none])
    }

    /// Elements at offsets from a place, one by one.
    pub fn each_lane_loaded(
        &mut self,
        host: &LlvmValue,
        offsets: &LlvmValue,
        ty: Ty,
        how: &str,
    ) -> LlvmValue {
        let mut all = LlvmValue::poison(ty);
        for lane in 0..ty.lanes {
            let offset = self.f.element(offsets, lane);
            let offset = self.f.resize(&offset, 64, false);
            let place = self.f.offset(host, &offset);
            let own = self.f.load(Ty { lanes: 1, ..ty }, &place, how);
            all = if ty.lanes == 1 { own } else { self.f.insert(&all, &own, lane) };
        }
        all
    }

    fn places_at(&mut self, host: &LlvmValue, offsets: &LlvmValue) -> LlvmValue {
        let pointers = Ty { scalar: LlvmScalar::Pointer, lanes: offsets.ty.lanes };
        self.f.value(pointers, &format!("getelementptr i8, {}, {}", host.typed(), offsets.typed()))
    }

    /// The lane that is enabled first, of a vector; any if there is none.
    fn first_enabled(&mut self, values: &LlvmValue, mask: Value) -> LlvmValue {
        if values.ty.lanes == 1 {
            return values.clone();
        }
        let mask = self.value(mask);
        let suffix = format!(".{}", mask.ty.mangled());
        let first = self.f.intrinsic("cttz", &suffix, mask.ty, &[&mask, &LlvmValue::int(BIT, 0)]);
        let first = self.f.convert("zext", &first, I64);
        let last = LlvmValue::int(I64, u64::from(values.ty.lanes - 1));
        let first = self.f.intrinsic("umin", ".i64", I64, &[&first, &last]);
        let text = format!("extractelement {}, {}", values.typed(), first.typed());
        self.f.value(Ty { lanes: 1, ..values.ty }, &text)
    }

    /// Has the simulator perform a message. The next time the window may be the right one.
    pub fn performed_elsewhere(
        &mut self,
        instruction: Instruction,
        reach: &Reach,
        addresses: Value,
        mask: Value,
    ) -> Vec<LlvmValue> {
        let own = self.value(addresses);
        if let Some(window) = reach.window {
            let address = self.first_enabled(&own, mask);
            let address = self.f.resize(&address, 64, false);
            self.find(window, &address);
        }
        let data = self.function.instruction(instruction);
        let index = data.origin as usize;
        let Step::Message(message) = &self.plan.steps[index] else {
            unreachable!("no message is at {index}")
        };
        let mut payload: Vec<(usize, LlvmValue)> = Vec::new();
        let mut results: Vec<(usize, u32)> = Vec::new();
        match message {
            Message::Lanes(lanes) => {
                payload.push((lanes.addresses, own));
                let slot = lanes.slot as u32 * 8;
                if lanes.write {
                    let first = data.operands.len() - lanes.components.len();
                    for (value, (_, at)) in data.operands[first..].iter().zip(&lanes.components) {
                        let value = self.value(*value);
                        payload.push((*at, self.f.resize(&value, slot, false)));
                    }
                } else {
                    results.extend(lanes.components.iter().map(|(_, at)| (*at, slot)));
                }
            }
            Message::Atomic(atomic) => {
                payload.push((atomic.lanes.addresses, own));
                for (value, at) in data.operands[2..].iter().zip(&atomic.sources) {
                    payload.push((*at, self.value(*value)));
                }
                results.extend(
                    atomic.lanes.components.iter().map(|(_, at)| (*at, atomic.lanes.size as u32 * 8)),
                );
            }
            Message::Block(block) => {
                let number = match block.address {
                    Address::Wide(at) => (at, own),
                    Address::Flat { at, unit } => {
                        let number = self.f.binary("udiv", &own, &LlvmValue::int(own.ty, unit));
                        (at, self.f.convert("trunc", &number, I32))
                    }
                    Address::Scratch { at, offset } => {
                        let start = self.f.binary("sub", &own, &LlvmValue::int(own.ty, offset));
                        let general = self.constant(I64, offset_of!(Frame, general));
                        let pointer = self.f.binary("sub", &start, &general);
                        (at, self.f.convert("trunc", &pointer, I32))
                    }
                };
                payload.push(number);
                if block.write {
                    payload.push((block.data, self.value(data.operands[2])));
                } else {
                    results.push((block.data, 0));
                }
            }
            _ => unreachable!("no access is at {index}"),
        }
        for (at, value) in payload {
            let at = self.f.at(&self.file.clone(), at);
            self.f.store(&value, &at, FILE);
        }
        self.send_rarely(index, mask);
        let data = self.function.instruction(instruction);
        let found = results.iter().zip(&data.results).map(|((at, slot), result)| {
            let mut ty = super::llvm(self.function.ty(*result));
            // One value for all is that of each here.
            ty.lanes = if *slot == 0 { ty.lanes } else { self.function.ty(addresses).lanes.into() };
            let wide = if *slot == 0 { ty } else { Ty::int(*slot, ty.lanes) };
            let at = self.f.at(&self.file.clone(), *at);
            let value = self.f.load(wide, &at, FILE);
            self.f.convert("trunc", &value, ty)
        });
        found.collect()
    }

    /// Bytes at one address.
    pub fn block_access(
        &mut self,
        instruction: Instruction,
        space: Space,
        alignment: u8,
        is_write: bool,
    ) -> Vec<LlvmValue> {
        let data = self.function.instruction(instruction);
        let mut address = self.value(data.operands[1]);
        if space == Space::Scratch {
            let general = self.constant(I64, offset_of!(Frame, general));
            address = self.f.binary("add", &general, &address);
        }
        let reach = self.reach(space, None);
        let mut ways = self.ways();
        let offset = self.f.binary("sub", &address, &reach.start);
        let ty = match is_write {
            true => super::llvm(self.function.ty(data.operands[2])),
            false => super::llvm(self.function.ty(data.results[0])),
        };
        let inside = self.inside(&reach, &offset, (ty.scalar.bits() * ty.lanes / 8) as usize);
        let aligned = self.aligned(&address, alignment);
        let holds = self.both(&inside, aligned);
        let here = self.f.label();
        self.f.branch_likely(&holds, here, ways.outside);
        self.f.begin(here);
        let at = self.f.offset(&reach.host, &offset);
        let how = format!("align {}, {}", alignment.min(4), mark(space));
        let found = if is_write {
            let value = self.value(data.operands[2]);
            self.f.store(&value, &at, &how);
            Vec::new()
        } else {
            vec![self.f.load(ty, &at, &how)]
        };
        self.add_way(&mut ways, found);
        self.f.begin(ways.outside);
        let own = data.operands[1];
        let before = self.values.insert(own, address);
        let found = self.performed_elsewhere(instruction, &reach, own, data.operands[0]);
        match before {
            Some(value) => self.values.insert(own, value),
            None => self.values.remove(&own),
        };
        self.add_way(&mut ways, found);
        self.joined(ways)
    }
}
