//! Accesses with a known stride: no address of each lane is needed.

use super::Lowering;
use super::memory::Site;
use crate::ir::{I32, I64, POINTER, Ty, Value as LlvmValue};
use crate::middle::op::Space;

/// The largest stride, in elements, with which the elements between lanes are loaded, too.
const MAX_STRIDE: i64 = 4;
/// Bytes of a line of the host's caches.
const LINE: usize = 64;
/// Distance in bytes to the row of a later thread. Hosts prefetch it themselves only when accesses are many and close together.
const PREFETCH_DISTANCE: usize = 2048;
/// Larger rows, in bytes, hosts prefetch themselves.
const MAX_PREFETCHED: usize = 512;

impl<'c> Lowering<'_, 'c> {
    /// Lanes with a stride, if that is certain and the row is inside.
    pub(super) fn row(
        &mut self,
        site: &mut Site<'_, 'c>,
        step: i64,
        first: LlvmValue<'c>,
        certain: LlvmValue<'c>,
    ) {
        let access = site.access;
        let distance = self.distance(site.reach, first);
        let offset = self.offset(site.reach, distance);
        let extent = access.extent(site.lanes as usize, step as i32);
        let inside = self.is_extent_inside(site.reach, &extent, distance);
        let holds = self.f.and(inside, certain);
        self.f.require(holds, site.paths.slow);
        self.row_at(site, step, offset);
    }

    /// Lanes of an image, with a stride if that is certain, else scattered. All of them are inside.
    pub(super) fn row_or_scattered(
        &mut self,
        site: &mut Site<'_, 'c>,
        step: i64,
        (first, certain): (LlvmValue<'c>, LlvmValue<'c>),
        offsets: LlvmValue<'c>,
    ) {
        let [row, others] = [(); 2].map(|()| self.f.label());
        self.f.branch(certain, row, others);
        self.f.begin(row);
        // Lanes that are not enabled may be before the image.
        let offset = self.f.resize(first, 64, true);
        self.row_at(site, step, offset);
        self.f.begin(others);
        self.scattered(site, offsets);
    }

    /// A row whose first lane is at an offset of its window, all inside. Ends the path.
    pub(super) fn row_at(&mut self, site: &mut Site<'_, 'c>, step: i64, offset: LlvmValue<'c>) {
        let elements = site.access.elements;
        let packed = (elements.count() * usize::from(elements.size)) as i64;
        let is_one = site.lanes == 1 || step == 0;
        let wide = self.f.to(offset, I64);
        let at = self.f.offset(site.reach.host, wide);
        if is_one {
            self.one(site, at);
        } else if step == packed && elements.is_packed() {
            self.packed(site, at);
        } else if step > packed && elements.is_packed() && elements.count() > 1 {
            let disabled = site.mask.filter(|_| site.is_write()).map(|mask| {
                let [whole, partial] = [(); 2].map(|()| self.f.label());
                self.f.branch_likely(self.f.equal(mask, self.f.int(mask.ty, u64::MAX)), whole, partial);
                self.f.begin(whole);
                partial
            });
            self.apart(site, at, step as usize);
            if let Some(partial) = disabled {
                self.f.begin(partial);
                self.scattered_by(site, step, wide);
            }
        } else if self.is_near(site, step) {
            let at = self.f.at(at, elements.span() - usize::from(elements.size));
            self.near(site, step / i64::from(elements.size), at);
        } else {
            self.scattered_by(site, step, wide);
        }
    }

    /// Whether the stride is a few elements, or -1.
    fn is_near(&self, site: &Site<'_, 'c>, step: i64) -> bool {
        let size = i64::from(site.access.elements.size);
        let count = step / size;
        let is_row = site.access.elements.count() == 1 && step % size == 0 && site.lanes >= 4;
        is_row && (count == -1 || (2..=MAX_STRIDE).contains(&count) && !site.is_write())
    }

    /// Loads with a small stride, in elements: vectors that cover the row, of as many elements as there are lanes; the last one ends with the last lane. Or backwards.
    fn near(&mut self, site: &mut Site<'_, 'c>, count: i64, at: LlvmValue<'c>) {
        let (row, how, lanes) = (site.row(), site.mark(), site.lanes as usize);
        let size = usize::from(site.access.elements.size);
        if count < 0 {
            let first = self.f.at(at, 0_usize.wrapping_sub((lanes - 1) * size));
            let order: Vec<u32> = (0..site.lanes).rev().collect();
            if site.is_write() {
                return self.store_reversed(site, first, &order);
            }
            let all = self.f.load(row, first, how);
            let found = self.f.shuffle(all, None, &order);
            return self.end_path(&mut site.paths, vec![found]);
        }
        let count = count as usize;
        let last = (lanes - 1) * count + 1 - lanes;
        let begins: Vec<usize> = (0..count).map(|piece| (piece * lanes).min(last)).collect();
        let mut pieces: Vec<LlvmValue<'c>> =
            begins.iter().map(|begin| self.f.load(row, self.f.at(at, begin * size), how)).collect();
        pieces.resize(count.next_power_of_two(), self.f.poison(row));
        let all = self.concatenated(pieces);
        let order: Vec<u32> = (0..lanes)
            .map(|lane| {
                let element = lane * count;
                let piece = (element / lanes).min(count - 1);
                (piece * lanes + element - begins[piece]) as u32
            })
            .collect();
        let found = self.f.shuffle(all, None, &order);
        self.end_path(&mut site.paths, vec![found]);
    }

    /// Stores lanes with stride -1.
    fn store_reversed(&mut self, site: &mut Site<'_, 'c>, first: LlvmValue<'c>, order: &[u32]) {
        let all = self.f.shuffle(site.data[0], None, order);
        match site.mask {
            Some(mask) => {
                let mask = self.f.shuffle(self.f.mask(mask), None, order);
                self.store_masked(site, first, all, mask);
            }
            None => self.f.store(all, first, site.mark()),
        }
        self.end_path(&mut site.paths, Vec::new());
    }

    /// Lanes with any other stride: each has an offset of its own.
    fn scattered_by(&mut self, site: &mut Site<'_, 'c>, step: i64, first: LlvmValue<'c>) {
        let steps = self.f.ints(Ty::int(32, site.lanes), |lane| i64::from(lane).wrapping_mul(step) as u64);
        let first = self.f.to(first, I32);
        let offsets = self.f.add(self.f.splat(first, site.lanes), steps);
        self.scattered(site, offsets);
    }

    /// One address for all lanes. The last enabled lane's value is stored.
    fn one(&mut self, site: &mut Site<'_, 'c>, at: LlvmValue<'c>) {
        if site.is_write() {
            let zero = self.f.int(Ty::int(32, site.lanes), 0);
            let host = std::mem::replace(&mut site.reach.host, at);
            self.scattered(site, zero);
            site.reach.host = host;
            return;
        }
        let how = site.mark();
        let found = site.access.elements.offsets().map(|inner| {
            let at = self.f.at(at, inner);
            let one = self.f.load(site.element(), at, how);
            if site.is_scalar { one } else { self.f.splat(one, site.lanes) }
        });
        let found: Vec<LlvmValue<'c>> = found.collect();
        self.end_path(&mut site.paths, found);
    }

    /// Lanes whose components follow each other.
    fn packed(&mut self, site: &mut Site<'_, 'c>, at: LlvmValue<'c>) {
        let count = site.access.elements.count() as u32;
        let (row, how) = (site.row(), site.mark());
        if !site.is_write() {
            self.prefetch(site, at);
            // What disabled lanes read is inside, too.
            let all = self.f.load(row, at, how);
            let found = self.components(all, count);
            return self.end_path(&mut site.paths, found);
        }
        let all = self.interleaved(&site.data);
        if let Some(mask) = site.mask {
            let full = self.f.equal(mask, self.f.int(mask.ty, u64::MAX));
            let [whole, masked] = [(); 2].map(|()| self.f.label());
            self.f.branch_likely(full, whole, masked);
            self.f.begin(masked);
            let mask = self.f.mask(mask);
            let order: Vec<u32> = (0..row.lanes).map(|n| n / count).collect();
            let mask = self.f.shuffle(mask, None, &order);
            self.store_masked(site, at, all, mask);
            self.end_path(&mut site.paths, Vec::new());
            self.f.begin(whole);
        }
        self.f.store(all, at, how);
        self.end_path(&mut site.paths, Vec::new());
    }

    /// Prefetches a row of a later thread.
    fn prefetch(&self, site: &Site<'_, 'c>, at: LlvmValue<'c>) {
        let bytes = (site.row().lanes * site.row().scalar.bits() / 8) as usize;
        if matches!(site.access.space, Space::Local | Space::Image) || bytes > MAX_PREFETCHED {
            return;
        }
        for line in (0..bytes).step_by(LINE) {
            self.f.prefetch(self.f.at(at, PREFETCH_DISTANCE + line));
        }
    }

    fn store_masked(
        &self,
        site: &Site<'_, 'c>,
        at: LlvmValue<'c>,
        value: LlvmValue<'c>,
        mask: LlvmValue<'c>,
    ) {
        let align = self.f.int(I32, site.alignment().into());
        self.f.intrinsic_line("masked.store", &[value.ty, POINTER], &[value, at, align, mask]);
    }

    /// Accesses all components of each lane at once, where lanes are farther apart than that. All lanes are enabled if they are written.
    fn apart(&mut self, site: &mut Site<'_, 'c>, at: LlvmValue<'c>, step: usize) {
        let (count, how) = (site.access.elements.count() as u32, site.mark());
        let ty = Ty { lanes: count, ..site.element() };
        if site.is_write() {
            let all = self.interleaved(&site.data);
            for lane in 0..site.lanes {
                let own = self.slice(all, lane * count, count);
                let at = self.f.at(at, lane as usize * step);
                self.f.store(own, at, how);
            }
            return self.end_path(&mut site.paths, Vec::new());
        }
        let mut lanes = Vec::with_capacity(site.lanes as usize);
        for lane in 0..site.lanes as usize {
            let at = self.f.at(at, lane * step);
            lanes.push(self.f.load(ty, at, how));
        }
        let all = self.concatenated(lanes);
        let found = self.components(all, count);
        self.end_path(&mut site.paths, found);
    }
}
