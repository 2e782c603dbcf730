//! Accesses to memory. Each has the way that is expected, and another one that is rarely taken: the simulator performs the message, after it has looked for the buffer.

use gencl_eu::abi::Window;

use super::Lowering;
use super::windows::Reach;
use crate::ir::{BIT, I32, I64, Label, Ty, Value as LlvmValue};
use crate::middle::function::{Constant, Instruction, Value};
use crate::middle::op::{Access, Addressing, Inside, LOCAL_OFFSET, Space};

/// The ways through an access, to be joined.
pub struct Ways {
    pub outside: Label,
    pub join: Label,
    incoming: Vec<(Vec<LlvmValue>, Label)>,
}

/// How an access is marked.
pub fn mark(space: Space) -> &'static str {
    match space {
        Space::Global | Space::Flat | Space::Scratch | Space::Image => "!tbaa !3",
        Space::Local => "!tbaa !6",
    }
}

/// An access that is being lowered.
pub(super) struct Site<'a> {
    pub(super) access: &'a Access,
    /// The enabled lanes, a bit for each; `None`: all.
    pub(super) mask: Option<LlvmValue>,
    pub(super) lanes: u32,
    pub(super) reach: Reach,
    /// What is written, component by component.
    pub(super) data: Vec<LlvmValue>,
    pub(super) ways: Ways,
    pub(super) is_write: bool,
    /// What is read is one value for all lanes.
    pub(super) is_one: bool,
    /// The enabled lanes, all if there is no mask.
    pub(super) enabled: LlvmValue,
}

impl Site<'_> {
    pub(super) fn how(&self) -> String {
        format!("align {}, {}", self.alignment(), mark(self.access.space))
    }

    pub(super) fn alignment(&self) -> u8 {
        self.access.alignment.min(self.access.size)
    }

    /// All lanes' components of a row.
    pub(super) fn row(&self) -> Ty {
        Ty::int(u32::from(self.access.size) * 8, self.lanes * self.access.components.len() as u32)
    }

    /// Whether lanes that are anywhere are accessed one by one, each with a vector of its components: transposing takes fewer instructions than hosts need for gathers.
    pub(super) fn has_vectors(&self) -> bool {
        let is_vector = self.access.components.len() > 1 && self.access.is_packed();
        self.lanes > 1 && is_vector && matches!(self.access.span(), 8 | 16)
    }

    pub(super) fn element(&self) -> Ty {
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
            reach: self.reach(access.space, access.window, access.alignment),
            data: written.iter().map(|value| self.value(*value)).collect(),
            ways: self.ways(),
            is_write,
            is_one: !is_write && addresses.lanes > 1 && self.function.ty(data.results[0]).lanes == 1,
            enabled: self.value(operands[0]),
        };
        match access.addressing {
            Addressing::Affine(step) if access.space == Space::Image => {
                let [offsets, first, certain] = [1, 2, 3].map(|n| self.value(operands[n]));
                self.row_or_scattered(&mut site, i64::from(step), (&first, &certain), &offsets);
                return self.joined(site.ways);
            }
            Addressing::Affine(step) if access.is_guarded => {
                let first = self.value(operands[2]);
                let first = self.counted(access.space, &first);
                return self.inside_row(site, i64::from(step), &first);
            }
            Addressing::Affine(step) => {
                let [first, certain] = [2, 3].map(|n| self.value(operands[n]));
                let counted = self.counted(access.space, &first);
                self.row(&mut site, i64::from(step), &counted, &certain);
                self.f.begin(site.ways.outside);
                let found = self.missed_row(instruction, &site, &first);
                self.add_lanes(&mut site, found);
                return self.joined(site.ways);
            }
            Addressing::Offsets if access.is_guarded => {
                let [base, offsets] = [2, 3].map(|n| self.value(operands[n]));
                let distance = self.distance(&site.reach, &base);
                let delta = self.offset(&site.reach, &distance);
                let places = self.behind_scalar(&offsets, &delta);
                self.anywhere(&mut site, &places);
                return self.joined(site.ways);
            }
            Addressing::Offsets => {
                let [base, offsets] = [2, 3].map(|n| self.value(operands[n]));
                self.by_offsets(&mut site, &base, &offsets, None);
            }
            Addressing::Interleaved(step) => {
                let [base, offsets] = [2, 3].map(|n| self.value(operands[n]));
                self.by_offsets(&mut site, &base, &offsets, Some(step.into()));
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
    pub(super) fn add_lanes(&mut self, site: &mut Site<'_>, found: Vec<LlvmValue>) {
        let found = match site.is_one {
            true => found.iter().map(|value| self.first_enabled(value, &site.enabled)).collect(),
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

    /// Whether bytes are inside and aligned.
    pub fn is_inside(&mut self, inside: &Inside, address: Value) -> LlvmValue {
        let first = self.value(address);
        let first = self.counted(inside.space, &first);
        let reach = self.reach(inside.space, inside.window, inside.alignment);
        let distance = self.distance(&reach, &first);
        self.is_extent_inside(&reach, inside, &distance)
    }

    /// Whether bytes are inside of what may be accessed, and their address aligned, which is so far from what addresses are counted from.
    pub(super) fn is_extent_inside(
        &mut self,
        reach: &Reach,
        inside: &Inside,
        distance: &LlvmValue,
    ) -> LlvmValue {
        let before = LlvmValue::int(distance.ty, i64::from(inside.first) as u64);
        let lowest = self.f.binary("add", distance, &before);
        let offset = self.offset(reach, &lowest);
        let holds = self.inside(reach, &offset, inside.bytes as usize);
        let aligned = self.aligned(distance, inside.alignment);
        self.both(&holds, aligned)
    }

    /// Lanes whose addresses are offsets of 32 bits from a scalar, which are unsigned where lanes are so many bytes apart besides.
    fn by_offsets(&mut self, site: &mut Site<'_>, base: &LlvmValue, offsets: &LlvmValue, step: Option<u64>) {
        let distance = self.distance(&site.reach, base);
        let delta = self.offset(&site.reach, &distance);
        let near = self.f.compare("icmp ult", &delta, &LlvmValue::int(I64, Window::MAX_SIZE));
        let here = self.f.label();
        self.f.branch_likely(&near, here, site.ways.outside);
        self.f.begin(here);
        let bytes = site.access.span();
        let steps = LlvmValue::ints(offsets.ty, |lane| u64::from(lane) * step.unwrap_or(0));
        let more = self.f.binary("add", offsets, &steps);
        let [distances, places] = [&distance, &delta].map(|scalar| self.behind_scalar(&more, scalar));
        let inside = match step {
            // A sum below 0 is at least 2^31 here, and so beyond every window.
            None => self.inside(&site.reach, &places, bytes),
            // A sum that wraps around is not small: the offsets themselves are compared.
            Some(step) => {
                let last = LlvmValue::int(I64, u64::from(site.lanes - 1) * step);
                let last = self.f.binary("add", &delta, &last);
                self.below(&site.reach, &last, offsets, bytes)
            }
        };
        self.at_offsets(site, &distances, &places, &inside);
    }

    /// The low 32 bits of offsets from a scalar.
    fn behind_scalar(&mut self, offsets: &LlvmValue, scalar: &LlvmValue) -> LlvmValue {
        let scalar = self.f.convert("trunc", scalar, I32);
        let scalar = self.f.splat(&scalar, offsets.ty.lanes);
        self.f.binary("add", offsets, &scalar)
    }

    /// Lanes with any addresses.
    pub(super) fn scattered(&mut self, site: &mut Site<'_>, addresses: &LlvmValue) {
        let distances = self.distance(&site.reach, addresses);
        let offsets = self.offset(&site.reach, &distances);
        let inside = self.inside(&site.reach, &offsets, site.access.span());
        self.at_offsets(site, &distances, &offsets, &inside);
    }

    /// Lanes at offsets from the beginning of a window, if they are inside and `distances` aligned.
    fn at_offsets(
        &mut self,
        site: &mut Site<'_>,
        distances: &LlvmValue,
        offsets: &LlvmValue,
        inside: &LlvmValue,
    ) {
        let access = site.access;
        let mask = site.mask.clone();
        let aligned = self.aligned(distances, access.alignment);
        let inside = self.both(inside, aligned);
        let holds = self.holds_where_enabled(&inside, mask.as_ref());
        let here = self.f.label();
        self.f.branch_likely(&holds, here, site.ways.outside);
        self.f.begin(here);
        let mut offsets = self.f.resize(offsets, 32, false);
        if let Some(mask) = &mask
            && !site.is_write
            && (!self.plan.host.vectors.masked || site.has_vectors())
        {
            // Without masks there would be a branch for each lane: all lanes read, those that are not enabled at the place of the window's beginning, if there is one.
            let begin = LlvmValue::int(Ty { lanes: 1, ..offsets.ty }, 0);
            let one = self.inside(&site.reach, &begin, access.span());
            let go_on = self.f.label();
            self.f.branch_likely(&one, go_on, site.ways.outside);
            self.f.begin(go_on);
            let vector = self.f.mask(mask);
            offsets = self.f.select(&vector, &offsets, &LlvmValue::int(offsets.ty, 0));
            site.mask = None;
            self.anywhere(site, &offsets);
            site.mask = Some(mask.clone());
            return;
        }
        self.anywhere(site, &offsets);
    }
}
