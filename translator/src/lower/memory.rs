//! Accesses to memory. Each has the way that is expected, and another one that is rarely taken: the simulator performs the message, after it has looked for the buffer.

use gencl_eu::abi::Window;

use super::Lowering;
use super::windows::Reach;
use crate::ir::{BIT, Class, I32, I64, Label, Mark, Ty, Value as LlvmValue};
use crate::middle::function::{Constant, Instruction, Value};
use crate::middle::op::{Access, Addressing, Inside, LOCAL_OFFSET, Relation, Space};

/// The ways through an access, to be joined.
pub struct Ways<'c> {
    pub outside: Label<'c>,
    pub join: Label<'c>,
    incoming: Vec<(Vec<LlvmValue<'c>>, Label<'c>)>,
}

/// The mark of an access.
pub fn mark(alignment: u8, space: Space) -> Mark {
    let class = match space {
        Space::Global | Space::Flat | Space::Scratch | Space::Image => Class::Memory,
        Space::Local => Class::Local,
    };
    Mark::new(alignment, class)
}

/// An access that is being lowered.
pub(super) struct Site<'a, 'c> {
    pub(super) access: &'a Access,
    /// The enabled lanes, a bit for each; `None`: all.
    pub(super) mask: Option<LlvmValue<'c>>,
    pub(super) lanes: u32,
    pub(super) reach: Reach<'c>,
    /// What is written, component by component.
    pub(super) data: Vec<LlvmValue<'c>>,
    pub(super) ways: Ways<'c>,
    pub(super) is_write: bool,
    /// What is read is one value for all lanes.
    pub(super) is_one: bool,
    /// The enabled lanes, all if there is no mask.
    pub(super) enabled: LlvmValue<'c>,
}

impl Site<'_, '_> {
    pub(super) fn how(&self) -> Mark {
        mark(self.alignment(), self.access.space)
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

impl<'c> Lowering<'_, 'c> {
    /// Reads memory; a value for each component.
    pub fn load(&mut self, instruction: Instruction, access: &Access) -> Vec<LlvmValue<'c>> {
        self.access(instruction, access, false)
    }

    /// Writes memory.
    pub fn store(&mut self, instruction: Instruction, access: &Access) {
        self.access(instruction, access, true);
    }

    fn access(&mut self, instruction: Instruction, access: &Access, is_write: bool) -> Vec<LlvmValue<'c>> {
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
                self.row_or_scattered(&mut site, i64::from(step), (first, certain), offsets);
                return self.joined(site.ways);
            }
            Addressing::Affine(step) if access.is_guarded => {
                let first = self.value(operands[2]);
                let first = self.counted(access.space, first);
                return self.inside_row(site, i64::from(step), first);
            }
            Addressing::Affine(step) => {
                let [first, certain] = [2, 3].map(|n| self.value(operands[n]));
                let counted = self.counted(access.space, first);
                self.row(&mut site, i64::from(step), counted, certain);
                self.f.begin(site.ways.outside);
                let found = self.missed_row(instruction, &site, first);
                self.add_lanes(&mut site, found);
                return self.joined(site.ways);
            }
            Addressing::Offsets if access.is_guarded => {
                let [base, offsets] = [2, 3].map(|n| self.value(operands[n]));
                let distance = self.distance(site.reach, base);
                let delta = self.offset(site.reach, distance);
                let places = self.behind_scalar(offsets, delta);
                self.anywhere(&mut site, places);
                return self.joined(site.ways);
            }
            Addressing::Offsets => {
                let [base, offsets] = [2, 3].map(|n| self.value(operands[n]));
                self.by_offsets(&mut site, base, offsets, None);
            }
            Addressing::Interleaved(step) => {
                let [base, offsets] = [2, 3].map(|n| self.value(operands[n]));
                self.by_offsets(&mut site, base, offsets, Some(step.into()));
            }
            Addressing::Varying => {
                let all = self.value(operands[1]);
                let all = self.counted(access.space, all);
                self.scattered(&mut site, all);
            }
        }
        self.f.begin(site.ways.outside);
        let found = self.performed_elsewhere(instruction, site.reach, operands[1], operands[0]);
        self.add_lanes(&mut site, found);
        self.joined(site.ways)
    }

    /// The end of a way that has found a value for each lane. Where all have one address, one enabled lane's is that of all.
    pub(super) fn add_lanes(&mut self, site: &mut Site<'_, 'c>, found: Vec<LlvmValue<'c>>) {
        let found = match site.is_one {
            true => found.iter().map(|value| self.first_enabled(*value, site.enabled)).collect(),
            false => found,
        };
        self.add_way(&mut site.ways, found);
    }

    /// The bits of addresses that count.
    pub fn counted(&mut self, space: Space, addresses: LlvmValue<'c>) -> LlvmValue<'c> {
        match space {
            Space::Local => self.f.and(addresses, self.f.int(addresses.ty, LOCAL_OFFSET)),
            _ => addresses,
        }
    }

    pub fn ways(&mut self) -> Ways<'c> {
        Ways { outside: self.f.label(), join: self.f.label(), incoming: Vec::new() }
    }

    /// The end of a way.
    pub fn add_way(&mut self, ways: &mut Ways<'c>, values: Vec<LlvmValue<'c>>) {
        let from = self.f.current();
        ways.incoming.push((values, from));
        self.f.jump(ways.join);
    }

    /// What the ways have found.
    pub fn joined(&mut self, ways: Ways<'c>) -> Vec<LlvmValue<'c>> {
        self.f.begin(ways.join);
        let count = ways.incoming[0].0.len();
        let incoming = |k: usize| -> Vec<(LlvmValue<'c>, Label)> {
            ways.incoming.iter().map(|(values, label)| (values[k], *label)).collect()
        };
        (0..count).map(|k| self.f.phi_of(&incoming(k))).collect()
    }

    /// Whether addresses are aligned.
    pub fn aligned(&mut self, addresses: LlvmValue<'c>, alignment: u8) -> Option<LlvmValue<'c>> {
        (alignment > 1).then(|| {
            let low = self.f.and(addresses, self.f.int(addresses.ty, u64::from(alignment) - 1));
            self.f.is(low, 0)
        })
    }

    pub fn both(&mut self, a: LlvmValue<'c>, b: Option<LlvmValue<'c>>) -> LlvmValue<'c> {
        b.map_or_else(|| a, |b| self.f.and(a, b))
    }

    /// Whether a condition holds in all enabled lanes.
    pub fn holds_where_enabled(
        &mut self,
        condition: LlvmValue<'c>,
        mask: Option<LlvmValue<'c>>,
    ) -> LlvmValue<'c> {
        let holds = self.f.mask_bits(condition);
        let ones = self.f.int(holds.ty, u64::MAX);
        let all = match mask {
            Some(mask) => {
                let others = self.f.xor(mask, ones);
                self.f.or(holds, others)
            }
            None => holds,
        };
        if all.ty == BIT { all } else { self.f.equal(all, ones) }
    }

    /// Whether bytes are inside and aligned.
    pub fn is_inside(&mut self, inside: &Inside, address: Value) -> LlvmValue<'c> {
        let first = self.value(address);
        let first = self.counted(inside.space, first);
        let reach = self.reach(inside.space, inside.window, inside.alignment);
        let distance = self.distance(reach, first);
        self.is_extent_inside(reach, inside, distance)
    }

    /// Whether bytes are inside of what may be accessed, and their address aligned, which is so far from what addresses are counted from.
    pub(super) fn is_extent_inside(
        &mut self,
        reach: Reach<'c>,
        inside: &Inside,
        distance: LlvmValue<'c>,
    ) -> LlvmValue<'c> {
        let before = self.f.int(distance.ty, i64::from(inside.first) as u64);
        let lowest = self.f.add(distance, before);
        let offset = self.offset(reach, lowest);
        let holds = self.inside(reach, offset, inside.bytes as usize);
        let aligned = self.aligned(distance, inside.alignment);
        self.both(holds, aligned)
    }

    /// Lanes whose addresses are offsets of 32 bits from a scalar, which are unsigned where lanes are so many bytes apart besides.
    fn by_offsets(
        &mut self,
        site: &mut Site<'_, 'c>,
        base: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
        step: Option<u64>,
    ) {
        let distance = self.distance(site.reach, base);
        let delta = self.offset(site.reach, distance);
        let near = self.f.compare(Relation::Ult, delta, self.f.int(I64, Window::MAX_SIZE));
        let here = self.f.label();
        self.f.branch_likely(near, here, site.ways.outside);
        self.f.begin(here);
        let bytes = site.access.span();
        let steps = self.f.ints(offsets.ty, |lane| u64::from(lane) * step.unwrap_or(0));
        let more = self.f.add(offsets, steps);
        let [distances, places] = [distance, delta].map(|scalar| self.behind_scalar(more, scalar));
        let inside = match step {
            // A sum below 0 is at least 2^31 here, and so beyond every window.
            None => self.inside(site.reach, places, bytes),
            // A sum that wraps around is not small: the offsets themselves are compared.
            Some(step) => {
                let last = self.f.int(I64, u64::from(site.lanes - 1) * step);
                let last = self.f.add(delta, last);
                self.below(site.reach, last, offsets, bytes)
            }
        };
        self.at_offsets(site, distances, places, inside);
    }

    /// The low 32 bits of offsets from a scalar.
    fn behind_scalar(&mut self, offsets: LlvmValue<'c>, scalar: LlvmValue<'c>) -> LlvmValue<'c> {
        let scalar = self.f.to(scalar, I32);
        let scalar = self.f.splat(scalar, offsets.ty.lanes);
        self.f.add(offsets, scalar)
    }

    /// Lanes with any addresses.
    pub(super) fn scattered(&mut self, site: &mut Site<'_, 'c>, addresses: LlvmValue<'c>) {
        let distances = self.distance(site.reach, addresses);
        let offsets = self.offset(site.reach, distances);
        let inside = self.inside(site.reach, offsets, site.access.span());
        self.at_offsets(site, distances, offsets, inside);
    }

    /// Lanes at offsets from the beginning of a window, if they are inside and `distances` aligned.
    fn at_offsets(
        &mut self,
        site: &mut Site<'_, 'c>,
        distances: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
        inside: LlvmValue<'c>,
    ) {
        let access = site.access;
        let mask = site.mask;
        let aligned = self.aligned(distances, access.alignment);
        let inside = self.both(inside, aligned);
        let holds = self.holds_where_enabled(inside, mask);
        let here = self.f.label();
        self.f.branch_likely(holds, here, site.ways.outside);
        self.f.begin(here);
        let mut offsets = self.f.resize(offsets, 32, false);
        if let Some(mask) = &mask
            && !site.is_write
            && (!self.plan.host.vectors.masked || site.has_vectors())
        {
            // Without masks there would be a branch for each lane: all lanes read, those that are not enabled at the place of the window's beginning, if there is one.
            let begin = self.f.int(Ty { lanes: 1, ..offsets.ty }, 0);
            let one = self.inside(site.reach, begin, access.span());
            let go_on = self.f.label();
            self.f.branch_likely(one, go_on, site.ways.outside);
            self.f.begin(go_on);
            let vector = self.f.mask(*mask);
            offsets = self.f.select(vector, offsets, self.f.int(offsets.ty, 0));
            site.mask = None;
            self.anywhere(site, offsets);
            site.mask = Some(*mask);
            return;
        }
        self.anywhere(site, offsets);
    }
}
