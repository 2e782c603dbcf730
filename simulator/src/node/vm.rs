//! Address spaces (PPGTT): where buffers are bound.
//!
//! A buffer has one address in an address space, for all contexts that use it, from the first batch that
//! names it on until it is freed, has to make room for one whose address is fixed, or has to move itself. A
//! batch nevertheless sees the buffers of its own request only; that those of others are at their addresses
//! too is i915's, by chance.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use gencl_i915::{Errno, ExecObject, ObjectFlags, Result};
use gencl_sync::Mutex;

use super::buffers::Buffer;
use gencl_eu::device::Device;
use gencl_eu::memory::PAGE_SIZE;

/// Without [`ObjectFlags::SUPPORTS_48B_ADDRESS`] buffers end before the last page below 4 GiB
/// (`PIN_ZONE_4G`).
const ZONE_4G: u64 = (1 << 32) - PAGE_SIZE;

/// Batches with relocations are not placed below (`BATCH_OFFSET_BIAS`), so that negative deltas stay
/// addresses.
pub const BATCH_BIAS: u64 = 256 << 10;

const EINVAL: Errno = Errno(libc::EINVAL);
const ENOSPC: Errno = Errno(libc::ENOSPC);

/// An address space.
#[derive(Debug, Default)]
pub struct Vm {
    bound: Mutex<Bound>,
}

/// What a batch asks of the place of one buffer.
pub struct Wish<'a> {
    /// The request's entry; its offset is 48 bits wide.
    pub object: &'a ExecObject,
    /// The buffer.
    pub buffer: &'a Arc<Buffer>,
    /// Lowest address when it is not fixed.
    pub bias: u64,
}

/// Bytes behind a buffer that belong to it, for reading (`EXEC_OBJECT_PAD_TO_SIZE`).
pub fn padding(object: &ExecObject, buffer: &Buffer) -> u64 {
    match object.flags.contains(ObjectFlags::PAD_TO_SIZE) {
        true => object.pad_to_size.saturating_sub(buffer.size()),
        // Without the flag, what the caller says has no meaning.
        false => 0,
    }
}

impl Wish<'_> {
    fn size(&self) -> u64 {
        self.buffer.size() + padding(self.object, self.buffer)
    }

    fn key(&self) -> usize {
        Arc::as_ptr(self.buffer) as usize
    }

    fn end(&self, device: &Device) -> u64 {
        let end = 1 << device.address_bits;
        match self.object.flags.contains(ObjectFlags::SUPPORTS_48B_ADDRESS) {
            true => end,
            false => ZONE_4G.min(end),
        }
    }

    fn is_fixed(&self) -> bool {
        self.object.flags.contains(ObjectFlags::PINNED)
    }

    /// May it be at an address where it is bound or presumed (`eb_vma_misplaced`)?
    fn accepts(&self, device: &Device, start: u64, size: u64) -> bool {
        let aligned = self.object.alignment == 0 || start.is_multiple_of(self.object.alignment);
        let below = start.checked_add(size).is_some_and(|end| end <= self.end(device));
        let here = !self.is_fixed() || start == self.object.offset;
        aligned && below && here && size >= self.size() && start >= self.bias
    }
}

#[derive(Debug, Default)]
struct Bound {
    /// By first address.
    ranges: BTreeMap<u64, Range>,
    /// Where a buffer is; keys are addresses of buffers, whose weak references keep them from being given out
    /// again.
    places: HashMap<usize, u64>,
    /// How many ranges are looked through for freed buffers next.
    look_at: usize,
}

#[derive(Debug)]
struct Range {
    end: u64,
    key: usize,
    buffer: Weak<Buffer>,
    /// The last request that pinned it.
    request: u64,
}

impl Range {
    fn is_freed(&self) -> bool {
        self.buffer.strong_count() == 0
    }
}

impl Vm {
    /// An empty address space.
    pub fn new() -> Arc<Vm> {
        Arc::default()
    }

    /// Binds all buffers of a request and gives their addresses. `EINVAL` for a fixed address outside of the
    /// address space, `ENOSPC` when two of the request overlap or there is no room.
    pub fn place(&self, device: &Device, request: u64, wishes: &[Wish<'_>]) -> Result<Vec<u64>> {
        let mut bound = self.bound.lock();
        bound.forget_freed_sometimes();
        let mut addresses = vec![None; wishes.len()];
        // Fixed ones have their place, others may stay where they are if that is free, the rest finds room:
        // what `eb_reserve` comes to after its passes.
        for (address, wish) in addresses.iter_mut().zip(wishes).filter(|(_, wish)| wish.is_fixed()) {
            *address = Some(bound.fix(device, request, wish)?);
        }
        for (address, wish) in addresses.iter_mut().zip(wishes).filter(|(_, wish)| !wish.is_fixed()) {
            *address = bound.keep(device, request, wish);
        }
        for (address, wish) in addresses.iter_mut().zip(wishes) {
            if address.is_none() {
                *address = Some(bound.find(device, request, wish)?);
            }
        }
        Ok(addresses.into_iter().flatten().collect())
    }
}

impl Bound {
    fn keep(&mut self, device: &Device, request: u64, wish: &Wish<'_>) -> Option<u64> {
        let start = *self.places.get(&wish.key())?;
        let range = self.ranges.get_mut(&start)?;
        if range.request == request {
            // The same buffer may be named twice, but has one address.
            return (!wish.is_fixed() || start == wish.object.offset).then_some(start);
        }
        if wish.accepts(device, start, range.end - start) {
            range.request = request;
            return Some(start);
        }
        self.unbind(start);
        None
    }

    fn unbind(&mut self, start: u64) {
        if let Some(range) = self.ranges.remove(&start) {
            self.places.remove(&range.key);
        }
    }

    fn bind(&mut self, start: u64, request: u64, wish: &Wish<'_>) -> u64 {
        let (end, key) = (start + wish.size(), wish.key());
        self.ranges.insert(start, Range { end, key, buffer: Arc::downgrade(wish.buffer), request });
        self.places.insert(key, start);
        start
    }

    /// Starts of the ranges that overlap.
    fn overlapping(&self, start: u64, end: u64) -> Vec<u64> {
        let below = self.ranges.range(..end).rev();
        below.take_while(|(_, range)| range.end > start).map(|(start, _)| *start).collect()
    }

    /// A fixed address: what is there and not of this request makes room (`i915_gem_evict_for_node`).
    fn fix(&mut self, device: &Device, request: u64, wish: &Wish<'_>) -> Result<u64> {
        if let Some(start) = self.keep(device, request, wish) {
            return Ok(start);
        }
        let (start, alignment) = (wish.object.offset, wish.object.alignment.max(PAGE_SIZE));
        let end = start.checked_add(wish.size()).ok_or(EINVAL)?;
        if wish.size() > wish.end(device) {
            return Err(ENOSPC);
        }
        let is_elsewhere = self.places.contains_key(&wish.key());
        if is_elsewhere || !start.is_multiple_of(alignment) || end > wish.end(device) {
            return Err(EINVAL);
        }
        let there = self.overlapping(start, end);
        if there.iter().any(|start| self.ranges[start].request == request) {
            return Err(ENOSPC);
        }
        there.into_iter().for_each(|start| self.unbind(start));
        Ok(self.bind(start, request, wish))
    }

    /// Where the caller presumes it when nothing is there but what has been freed, or a gap, or what is not
    /// of this request makes room.
    fn find(&mut self, device: &Device, request: u64, wish: &Wish<'_>) -> Result<u64> {
        if let Some(start) = self.keep(device, request, wish) {
            return Ok(start);
        }
        let (presumed, size) = (wish.object.offset, wish.size());
        // No buffer is put at address 0 unless that is asked for: programs take it for none.
        if presumed != 0 && presumed.is_multiple_of(PAGE_SIZE) && wish.accepts(device, presumed, size) {
            let there = self.overlapping(presumed, presumed + size);
            if there.iter().all(|start| self.ranges[start].is_freed()) {
                there.into_iter().for_each(|start| self.unbind(start));
                return Ok(self.bind(presumed, request, wish));
            }
        }
        let mut start = self.gap(device, wish, |_| true);
        if start.is_none() {
            self.forget_freed();
            start = self.gap(device, wish, |_| true);
        }
        if start.is_none() {
            // The whole address space makes room (`i915_gem_evict_vm`).
            start = self.gap(device, wish, |range| range.request == request);
            if let Some(start) = start {
                self.overlapping(start, start + size).into_iter().for_each(|start| self.unbind(start));
            }
        }
        Ok(self.bind(start.ok_or(ENOSPC)?, request, wish))
    }

    /// The lowest gap between the ranges that count.
    fn gap(&self, device: &Device, wish: &Wish<'_>, counts: impl Fn(&Range) -> bool) -> Option<u64> {
        let alignment = wish.object.alignment.max(PAGE_SIZE);
        let mut address = wish.bias.max(PAGE_SIZE).checked_next_multiple_of(alignment)?;
        for (start, range) in self.ranges.iter().filter(|(_, range)| counts(range)) {
            if address.checked_add(wish.size())? <= *start {
                break;
            }
            address = address.max(range.end.checked_next_multiple_of(alignment)?);
        }
        (address.checked_add(wish.size())? <= wish.end(device)).then_some(address)
    }

    fn forget_freed_sometimes(&mut self) {
        if self.ranges.len() >= self.look_at {
            self.forget_freed();
            self.look_at = (2 * self.ranges.len()).max(64);
        }
    }

    /// Buffers that have been freed are bound no more.
    fn forget_freed(&mut self) {
        let places = &mut self.places;
        self.ranges.retain(|_, range| {
            if range.is_freed() {
                places.remove(&range.key);
            }
            !range.is_freed()
        });
    }
}
