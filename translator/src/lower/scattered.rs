//! Scattered lanes of a window: vectors of each lane, gathers and scatters.

use super::Lowering;
use super::memory::Site;
use crate::ir::{I32, Mark, Ty, Value as LlvmValue};

impl<'c> Lowering<'_, 'c> {
    /// Accesses elements at offsets of 32 bits that are inside. Ends the path.
    pub(super) fn scattered(&mut self, site: &mut Site<'_, 'c>, offsets: LlvmValue<'c>) {
        let host = site.reach.host;
        if site.mask.is_none() && site.has_vectors() {
            let found = self.vectors_at(site, host, offsets);
            return self.end_lanes(site, found);
        }
        if !site.is_write() {
            let mask = site.mask;
            let found = site
                .access
                .elements
                .offsets()
                .map(|inner| {
                    let ty = Ty { lanes: site.lanes, ..site.element() };
                    if self.has_dwords(site) {
                        let offsets = self.f.add(offsets, self.f.int(offsets.ty, inner as u64));
                        return self.gathered_by_dwords(host, offsets, ty, mask);
                    }
                    let host = self.f.at(host, inner);
                    self.gathered(host, offsets, ty, site.alignment(), mask)
                })
                .collect();
            return self.end_lanes(site, found);
        }
        // Lane by lane, so that where lanes overlap the last one's stay, as the interpreter has it.
        let count = site.access.elements.count() as u32;
        let all = self.interleaved(&site.data);
        let order: Vec<u32> = (0..all.ty.lanes).map(|n| n / count).collect();
        let offsets = self.f.shuffle(offsets, None, &order);
        let inner: Vec<usize> = site.access.elements.offsets().collect();
        let inner = self.f.ints(offsets.ty, |n| inner[(n % count) as usize] as u64);
        let mut places = self.f.offset(host, self.f.add(offsets, inner));
        let ones = self.f.int(Ty::int(1, all.ty.lanes), 1);
        let mask = match site.mask {
            None => ones,
            Some(mask) => {
                let mask = self.f.shuffle(self.f.mask(mask), None, &order);
                match self.plan.host.vectors.masked || all.ty.lanes == 1 {
                    true => mask,
                    false => {
                        // Without masks there would be a branch for each lane. Disabled lanes write to a sink.
                        let nowhere = self.f.splat(self.f.opaque(self.f.sink()), places.ty.lanes);
                        places = self.f.select(mask, places, nowhere);
                        ones
                    }
                }
            }
        };
        let align = self.f.int(I32, site.alignment().into());
        match all.ty.lanes {
            1 => self.store_if(all, places, mask, site.mark()),
            _ => {
                let overloads = [all.ty, places.ty];
                self.f.intrinsic_line("masked.scatter", &overloads, &[all, places, align, mask]);
            }
        }
        self.end_path(&mut site.paths, Vec::new());
    }

    /// Accesses each enabled lane's components as one vector; returns the components if they are read.
    fn vectors_at(
        &self,
        site: &Site<'_, 'c>,
        host: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
    ) -> Vec<LlvmValue<'c>> {
        let count = site.access.elements.count() as u32;
        let ty = Ty { lanes: count, ..site.element() };
        let how = site.mark();
        let row = site.is_write().then(|| self.interleaved(&site.data));
        let mut vectors = Vec::new();
        for lane in 0..site.lanes {
            let place = self.place_at(host, offsets, lane);
            match &row {
                // In the order of the lanes, so that where they overlap the last one's stay.
                Some(row) => {
                    self.f.store(self.slice(*row, lane * count, count), place, how);
                }
                None => vectors.push(self.f.load(ty, place, how)),
            }
        }
        if site.is_write() {
            return Vec::new();
        }
        let row = self.concatenated(vectors);
        self.components(row, count)
    }

    /// Writes a scalar if a condition holds.
    fn store_if(&self, value: LlvmValue<'c>, at: LlvmValue<'c>, condition: LlvmValue<'c>, how: Mark) {
        let [here, on] = [(); 2].map(|()| self.f.label());
        self.f.branch(condition, here, on);
        self.f.begin(here);
        self.f.store(value, at, how);
        self.f.jump(on);
        self.f.begin(on);
    }

    /// Whether elements are gathered faster as parts of dwords, which hosts have instructions for.
    fn has_dwords(&self, site: &Site<'_, 'c>) -> bool {
        let size = site.access.elements.size;
        let is_narrow = size == 1 || size == 2 && site.alignment() == 2;
        is_narrow && self.plan.host.vectors.masked && site.lanes > 1
    }

    /// Elements of bytes or words, of the dwords around them. Windows begin at a dword, and have whole ones.
    fn gathered_by_dwords(
        &self,
        host: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
        ty: Ty,
        mask: Option<LlvmValue<'c>>,
    ) -> LlvmValue<'c> {
        let around = self.f.and(offsets, self.f.int(offsets.ty, !3));
        let dwords = self.gathered(host, around, Ty::int(32, ty.lanes), 4, mask);
        let rest = self.f.and(offsets, self.f.int(offsets.ty, 3));
        self.f.to(self.f.lshr(dwords, self.f.shl(rest, self.f.int(offsets.ty, 3))), ty)
    }

    /// Elements at offsets from a place; of a mask only those of its lanes.
    pub(super) fn gathered(
        &self,
        host: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
        ty: Ty,
        alignment: u8,
        mask: Option<LlvmValue<'c>>,
    ) -> LlvmValue<'c> {
        let how = Mark { alignment, class: None, is_invariant: false };
        if ty.lanes == 1 {
            let at = self.f.offset(host, self.f.resize(offsets, 64, false));
            let Some(mask) = mask else { return self.f.load(ty, at, how) };
            let [here, on] = [(); 2].map(|()| self.f.label());
            let before = self.f.current();
            self.f.branch(mask, here, on);
            self.f.begin(here);
            let found = self.f.load(ty, at, how);
            self.f.jump(on);
            self.f.begin(on);
            return self.f.phi_of(&[(found, here), (self.f.int(ty, 0), before)]);
        }
        if !self.plan.host.vectors.masked {
            return self.each_lane_loaded(host, offsets, ty, how);
        }
        let places = self.f.offset(host, offsets);
        let (align, none) = (self.f.int(I32, alignment.into()), self.f.int(ty, 0));
        let mask = match mask {
            Some(mask) => self.f.mask(mask),
            None => self.f.int(Ty::int(1, ty.lanes), 1),
        };
        self.f.intrinsic("masked.gather", &[ty, places.ty], ty, &[places, align, mask, none])
    }

    /// Elements at offsets from a place, one by one.
    pub fn each_lane_loaded(
        &self,
        host: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
        ty: Ty,
        how: Mark,
    ) -> LlvmValue<'c> {
        let mut all = self.f.poison(ty);
        for lane in 0..ty.lanes {
            let own = self.f.load(Ty { lanes: 1, ..ty }, self.place_at(host, offsets, lane), how);
            all = if ty.lanes == 1 { own } else { self.f.insert(all, own, lane) };
        }
        all
    }

    /// The place of one lane.
    fn place_at(&self, host: LlvmValue<'c>, offsets: LlvmValue<'c>, lane: u32) -> LlvmValue<'c> {
        let offset = self.f.resize(self.f.element(offsets, lane), 64, false);
        self.f.offset(host, offset)
    }
}
