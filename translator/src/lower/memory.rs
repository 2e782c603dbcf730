//! Accesses to memory. The fast path is inside of a window; on the slow path the simulator performs the message.

use std::mem::offset_of;

use gencl_eu::abi::{Frame, Window};

use super::windows::Reach;
use super::{Lowering, llvm};
use crate::ir::{BIT, Class, I32, I64, Label, Mark, Ty, Value as LlvmValue};
use crate::middle::function::{Constant, Instruction, Value};
use crate::middle::op::{Access, Addressing, Inside, LOCAL_OFFSET, Relation, Space};

/// The execution paths of an access, to be joined.
pub struct Paths<'c> {
    /// The slow path.
    pub slow: Label<'c>,
    join: Label<'c>,
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
    /// What is written, component by component; none for a load.
    pub(super) data: Vec<LlvmValue<'c>>,
    pub(super) paths: Paths<'c>,
    /// The result of a load is one value for all lanes.
    pub(super) is_scalar: bool,
    /// The enabled lanes, all if there is no mask.
    pub(super) enabled: LlvmValue<'c>,
}

/// The addresses of an access on its slow path.
pub(super) enum Addresses<'s, 'c> {
    /// One of each lane, or one address of all.
    Each(LlvmValue<'c>),
    /// A row, with its first address. Where its stride is not known to hold, those of all lanes.
    Row(&'s Site<'s, 'c>, LlvmValue<'c>, Option<LlvmValue<'c>>),
}

impl Site<'_, '_> {
    pub(super) fn is_write(&self) -> bool {
        !self.data.is_empty()
    }

    pub(super) fn mark(&self) -> Mark {
        mark(self.alignment(), self.access.space)
    }

    pub(super) fn alignment(&self) -> u8 {
        self.access.elements.alignment.min(self.access.elements.size)
    }

    /// All lanes' components of a row.
    pub(super) fn row(&self) -> Ty {
        Ty { lanes: self.lanes * self.access.elements.count() as u32, ..self.element() }
    }

    /// Whether scattered lanes are accessed one by one, each with a vector of its components: transposing takes fewer instructions than hosts need for gathers.
    pub(super) fn has_vectors(&self) -> bool {
        let elements = self.access.elements;
        let is_vector = elements.count() > 1 && elements.is_packed();
        self.lanes > 1 && is_vector && matches!(elements.span(), 8 | 16)
    }

    pub(super) fn element(&self) -> Ty {
        Ty::int(u32::from(self.access.elements.size) * 8, 1)
    }
}

impl<'c> Lowering<'_, 'c> {
    /// A load or a store; a load's results are by component.
    pub fn access(&mut self, instruction: Instruction, access: &Access) -> Vec<LlvmValue<'c>> {
        let data = self.function.instruction(instruction);
        let operands = &data.operands;
        let lanes = self.function.ty(operands[1]).lanes;
        let enabled = self.value(operands[0]);
        let is_masked = self.function.as_constant(operands[0]) != Some(&Constant::All(1));
        let written = if data.results.is_empty() { &operands[access.first_datum()..] } else { &[] };
        let mut site = Site {
            access,
            mask: is_masked.then_some(enabled),
            lanes: lanes.into(),
            reach: self.reach(access.space, access.window, access.elements.alignment),
            data: written.iter().map(|value| self.value(*value)).collect(),
            paths: self.paths(),
            is_scalar: lanes > 1 && data.results.first().is_some_and(|own| self.function.ty(*own).lanes == 1),
            enabled,
        };
        match access.addressing {
            Addressing::Affine(step) if access.space == Space::Image => {
                let [offsets, first, certain] = [1, 2, 3].map(|n| self.value(operands[n]));
                self.row_or_scattered(&mut site, step.into(), (first, certain), offsets);
                return self.join_paths(site.paths);
            }
            Addressing::Affine(step) if access.is_guarded => {
                let first = self.value(operands[2]);
                let distance = self.distance(site.reach, self.counted(access.space, first));
                let offset = self.offset(site.reach, distance);
                self.row_at(&mut site, step.into(), offset);
                return self.join_paths(site.paths);
            }
            Addressing::Affine(step) => {
                let [first, certain] = [2, 3].map(|n| self.value(operands[n]));
                self.row(&mut site, step.into(), self.counted(access.space, first), certain);
                self.f.begin(site.paths.slow);
                let is_certain = self.function.as_constant(operands[3]) == Some(&Constant::All(1));
                let all = (!is_certain).then(|| self.value(operands[1]));
                let found =
                    self.slow_path(instruction, site.reach.window, &Addresses::Row(&site, first, all));
                self.end_lanes(&mut site, found);
                return self.join_paths(site.paths);
            }
            Addressing::Offsets | Addressing::Interleaved(_) => {
                let [base, offsets] = [2, 3].map(|n| self.value(operands[n]));
                let distance = self.distance(site.reach, base);
                if access.is_guarded {
                    let offsets = self.behind_scalar(offsets, self.offset(site.reach, distance));
                    self.scattered(&mut site, offsets);
                    return self.join_paths(site.paths);
                }
                let stride = match access.addressing {
                    Addressing::Interleaved(stride) => Some(stride.into()),
                    _ => None,
                };
                self.by_offsets(&mut site, distance, offsets, stride);
            }
            Addressing::Varying => {
                let all = self.value(operands[1]);
                self.by_addresses(&mut site, self.counted(access.space, all));
            }
        }
        self.f.begin(site.paths.slow);
        let all = Addresses::Each(self.value(operands[1]));
        let found = self.slow_path(instruction, site.reach.window, &all);
        self.end_lanes(&mut site, found);
        self.join_paths(site.paths)
    }

    /// A load or a store of consecutive bytes for all lanes.
    pub fn block_access(
        &mut self,
        instruction: Instruction,
        space: Space,
        alignment: u8,
    ) -> Vec<LlvmValue<'c>> {
        let data = self.function.instruction(instruction);
        let mut address = self.value(data.operands[1]);
        if space == Space::Scratch {
            address = self.f.add(self.field(I64, offset_of!(Frame, general)), address);
        }
        let reach = self.reach(space, None, alignment);
        let mut paths = self.paths();
        let distance = self.distance(reach, address);
        let moved = data.results.first().unwrap_or_else(|| &data.operands[2]);
        let ty = llvm(self.function.ty(*moved));
        let inside = Inside { space, window: None, first: 0, bytes: ty.bytes() as u32, alignment };
        let holds = self.is_extent_inside(reach, &inside, distance);
        self.f.require(holds, paths.slow);
        let at = self.f.offset(reach.host, self.offset(reach, distance));
        let mark = mark(alignment.min(4), space);
        let found = if data.results.is_empty() {
            let value = self.value(data.operands[2]);
            self.f.store(value, at, mark);
            Vec::new()
        } else {
            vec![self.f.load(ty, at, mark)]
        };
        self.end_path(&mut paths, found);
        self.f.begin(paths.slow);
        let found = self.slow_path(instruction, reach.window, &Addresses::Each(address));
        self.end_path(&mut paths, found);
        self.join_paths(paths)
    }

    /// The end of a path with a value of each lane. Where all have one address, one enabled lane's is that of all.
    pub(super) fn end_lanes(&mut self, site: &mut Site<'_, 'c>, found: Vec<LlvmValue<'c>>) {
        let found = match site.is_scalar {
            true => found.iter().map(|value| self.first_enabled(*value, site.enabled)).collect(),
            false => found,
        };
        self.end_path(&mut site.paths, found);
    }

    /// The bits of addresses that count.
    pub fn counted(&self, space: Space, addresses: LlvmValue<'c>) -> LlvmValue<'c> {
        match space {
            Space::Local => self.f.and(addresses, self.f.int(addresses.ty, LOCAL_OFFSET)),
            _ => addresses,
        }
    }

    pub fn paths(&self) -> Paths<'c> {
        Paths { slow: self.f.label(), join: self.f.label(), incoming: Vec::new() }
    }

    /// The end of a path, with its values.
    pub fn end_path(&self, paths: &mut Paths<'c>, values: Vec<LlvmValue<'c>>) {
        paths.incoming.push((values, self.f.current()));
        self.f.jump(paths.join);
    }

    /// The values of the path that was taken.
    pub fn join_paths(&self, paths: Paths<'c>) -> Vec<LlvmValue<'c>> {
        self.f.begin(paths.join);
        let incoming = |k: usize| -> Vec<_> {
            paths.incoming.iter().map(|(values, label)| (values[k], *label)).collect()
        };
        (0..paths.incoming[0].0.len()).map(|k| self.f.phi_of(&incoming(k))).collect()
    }

    /// Whether a condition holds, and addresses are aligned.
    pub fn and_aligned(
        &self,
        holds: LlvmValue<'c>,
        addresses: LlvmValue<'c>,
        alignment: u8,
    ) -> LlvmValue<'c> {
        if alignment <= 1 {
            return holds;
        }
        let low = self.f.and(addresses, self.f.int(addresses.ty, u64::from(alignment) - 1));
        self.f.and(holds, self.f.is(low, 0))
    }

    /// Whether a condition holds in all enabled lanes.
    pub fn holds_where_enabled(
        &self,
        condition: LlvmValue<'c>,
        mask: Option<LlvmValue<'c>>,
    ) -> LlvmValue<'c> {
        let holds = self.f.mask_bits(condition);
        let ones = self.f.int(holds.ty, u64::MAX);
        let all = mask.map_or(holds, |mask| self.f.or(holds, self.f.xor(mask, ones)));
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

    /// Whether bytes at a distance from the base of addresses are inside of the window, and their address is aligned.
    pub(super) fn is_extent_inside(
        &mut self,
        reach: Reach<'c>,
        inside: &Inside,
        distance: LlvmValue<'c>,
    ) -> LlvmValue<'c> {
        let lowest = self.f.add(distance, self.f.int(distance.ty, i64::from(inside.first) as u64));
        let offset = self.offset(reach, lowest);
        let holds = self.inside(reach, offset, inside.bytes as usize);
        self.and_aligned(holds, distance, inside.alignment)
    }

    /// Lanes at offsets of 32 bits from a scalar, which are unsigned where lanes are a stride apart besides.
    fn by_offsets(
        &mut self,
        site: &mut Site<'_, 'c>,
        distance: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
        stride: Option<u64>,
    ) {
        let delta = self.offset(site.reach, distance);
        let near = self.f.compare(Relation::Ult, delta, self.f.int(I64, Window::MAX_SIZE));
        self.f.require(near, site.paths.slow);
        let bytes = site.access.elements.span();
        let steps = self.f.ints(offsets.ty, |lane| u64::from(lane) * stride.unwrap_or(0));
        let more = self.f.add(offsets, steps);
        let [distances, places] = [distance, delta].map(|scalar| self.behind_scalar(more, scalar));
        let inside = match stride {
            // A sum below 0 is at least 2^31 here, and so beyond every window.
            None => self.inside(site.reach, places, bytes),
            // A sum that wraps around is not small: the offsets themselves are compared.
            Some(stride) => {
                let last = self.f.int(I64, u64::from(site.lanes - 1) * stride);
                self.below(site.reach, self.f.add(delta, last), offsets, bytes)
            }
        };
        self.at_offsets(site, distances, places, inside);
    }

    /// The low 32 bits of offsets from a scalar.
    fn behind_scalar(&self, offsets: LlvmValue<'c>, scalar: LlvmValue<'c>) -> LlvmValue<'c> {
        self.f.add(offsets, self.f.splat(self.f.to(scalar, I32), offsets.ty.lanes))
    }

    /// Lanes with any addresses.
    pub(super) fn by_addresses(&mut self, site: &mut Site<'_, 'c>, addresses: LlvmValue<'c>) {
        let distances = self.distance(site.reach, addresses);
        let offsets = self.offset(site.reach, distances);
        let inside = self.inside(site.reach, offsets, site.access.elements.span());
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
        let holds = self.and_aligned(inside, distances, access.elements.alignment);
        self.f.require(self.holds_where_enabled(holds, site.mask), site.paths.slow);
        let mut offsets = self.f.to(offsets, I32);
        let needs_all = !self.plan.host.vectors.masked || site.has_vectors();
        let mask = site.mask.take_if(|_| !site.data.is_empty() || !needs_all);
        if let Some(mask) = site.mask.take() {
            // Without masks there would be a branch for each lane: all lanes read, those that are not enabled at the window's beginning, if there is one.
            let begin = self.f.int(I32, 0);
            let inside = self.inside(site.reach, begin, access.elements.span());
            self.f.require(inside, site.paths.slow);
            offsets = self.f.select(self.f.mask(mask), offsets, self.f.int(offsets.ty, 0));
        }
        site.mask = mask;
        self.scattered(site, offsets);
    }
}
