//! Address spaces (PPGTT): where buffers are bound.
//!
//! A buffer has one address in an address space, for all contexts that use it. It is bound by the first batch
//! that lists it, until it is freed, is evicted for one whose address is fixed, or has to move itself. A
//! batch can access the buffers of its own request only; on i915 it could also access others that happen to
//! be bound.

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

/// Lowest address of batches with relocations (`BATCH_OFFSET_BIAS`), so that negative deltas remain valid
/// addresses.
pub const BATCH_BIAS: u64 = 256 << 10;

const EINVAL: Errno = Errno(libc::EINVAL);
const ENOSPC: Errno = Errno(libc::ENOSPC);

/// An address space.
#[derive(Debug, Default)]
pub struct Vm {
    bindings: Mutex<Bindings>,
}

/// A buffer to be bound, with the constraints on its address.
pub struct PlacementRequest<'a> {
    /// The object of the request, with an offset of 48 bits.
    pub object: &'a ExecObject,
    /// The buffer.
    pub buffer: &'a Arc<Buffer>,
    /// Lowest address, unless it is fixed.
    pub bias: u64,
}

/// Bytes after a buffer that are reserved and can be read (`EXEC_OBJECT_PAD_TO_SIZE`).
pub fn padding(object: &ExecObject, buffer: &Buffer) -> u64 {
    match object.flags.contains(ObjectFlags::PAD_TO_SIZE) {
        true => object.pad_to_size.saturating_sub(buffer.size()),
        // The size is ignored without the flag.
        false => 0,
    }
}

impl PlacementRequest<'_> {
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

    /// Whether a current or presumed address meets the constraints (`eb_vma_misplaced`).
    fn accepts(&self, device: &Device, start: u64, size: u64) -> bool {
        let aligned = self.object.alignment == 0 || start.is_multiple_of(self.object.alignment);
        let below = start.checked_add(size).is_some_and(|end| end <= self.end(device));
        let here = !self.is_fixed() || start == self.object.offset;
        aligned && below && here && size >= self.size() && start >= self.bias
    }
}

#[derive(Debug, Default)]
struct Bindings {
    /// Bound buffers, by first address.
    ranges: BTreeMap<u64, Range>,
    /// First address of each bound buffer. Keys are host addresses of [`Buffer`]s, which weak references keep
    /// from being reused.
    addresses: HashMap<usize, u64>,
    /// Number of ranges at which freed buffers are removed next.
    sweep_threshold: usize,
}

#[derive(Debug)]
struct Range {
    end: u64,
    key: usize,
    buffer: Weak<Buffer>,
    /// The last request that listed it.
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

    /// Binds all buffers of a request and returns their addresses. `EINVAL` for a fixed address outside of
    /// the address space, `ENOSPC` when two of the request overlap or there is no room.
    pub fn place(
        &self,
        device: &Device,
        request: u64,
        placements: &[PlacementRequest<'_>],
    ) -> Result<Vec<u64>> {
        let mut bindings = self.bindings.lock();
        bindings.sweep_if_large();
        let mut addresses = vec![None; placements.len()];
        // Fixed addresses first, then buffers that can stay where they are, then the rest: the result of
        // `eb_reserve` after its passes.
        for (address, placement) in
            addresses.iter_mut().zip(placements).filter(|(_, placement)| placement.is_fixed())
        {
            *address = Some(bindings.bind_fixed(device, request, placement)?);
        }
        for (address, placement) in
            addresses.iter_mut().zip(placements).filter(|(_, placement)| !placement.is_fixed())
        {
            *address = bindings.keep(device, request, placement);
        }
        for (address, placement) in addresses.iter_mut().zip(placements) {
            if address.is_none() {
                *address = Some(bindings.bind_anywhere(device, request, placement)?);
            }
        }
        Ok(addresses.into_iter().flatten().collect())
    }
}

impl Bindings {
    fn keep(&mut self, device: &Device, request: u64, placement: &PlacementRequest<'_>) -> Option<u64> {
        let start = *self.addresses.get(&placement.key())?;
        let range = self.ranges.get_mut(&start)?;
        if range.request == request {
            // A buffer may be listed twice, but has one address.
            return (!placement.is_fixed() || start == placement.object.offset).then_some(start);
        }
        if placement.accepts(device, start, range.end - start) {
            range.request = request;
            return Some(start);
        }
        self.unbind(start);
        None
    }

    fn unbind(&mut self, start: u64) {
        if let Some(range) = self.ranges.remove(&start) {
            self.addresses.remove(&range.key);
        }
    }

    fn bind(&mut self, start: u64, request: u64, placement: &PlacementRequest<'_>) -> u64 {
        let (end, key) = (start + placement.size(), placement.key());
        self.ranges.insert(start, Range { end, key, buffer: Arc::downgrade(placement.buffer), request });
        self.addresses.insert(key, start);
        start
    }

    /// Starts of the ranges that overlap `start..end`.
    fn overlapping(&self, start: u64, end: u64) -> Vec<u64> {
        let below = self.ranges.range(..end).rev();
        below.take_while(|(_, range)| range.end > start).map(|(start, _)| *start).collect()
    }

    /// Binds a buffer with a fixed address; evicts buffers there that are not of this request
    /// (`i915_gem_evict_for_node`).
    fn bind_fixed(&mut self, device: &Device, request: u64, placement: &PlacementRequest<'_>) -> Result<u64> {
        if let Some(start) = self.keep(device, request, placement) {
            return Ok(start);
        }
        let (start, alignment) = (placement.object.offset, placement.object.alignment.max(PAGE_SIZE));
        let end = start.checked_add(placement.size()).ok_or(EINVAL)?;
        if placement.size() > placement.end(device) {
            return Err(ENOSPC);
        }
        let is_elsewhere = self.addresses.contains_key(&placement.key());
        if is_elsewhere || !start.is_multiple_of(alignment) || end > placement.end(device) {
            return Err(EINVAL);
        }
        let there = self.overlapping(start, end);
        if there.iter().any(|start| self.ranges[start].request == request) {
            return Err(ENOSPC);
        }
        there.into_iter().for_each(|start| self.unbind(start));
        Ok(self.bind(start, request, placement))
    }

    /// Binds a buffer whose address is not fixed: at the presumed address if only freed buffers are there,
    /// else in a gap, else where buffers that are not of this request can be evicted.
    fn bind_anywhere(
        &mut self,
        device: &Device,
        request: u64,
        placement: &PlacementRequest<'_>,
    ) -> Result<u64> {
        if let Some(start) = self.keep(device, request, placement) {
            return Ok(start);
        }
        let (presumed, size) = (placement.object.offset, placement.size());
        // Address 0 is only used when it is fixed, since programs use it for "none".
        if presumed != 0 && presumed.is_multiple_of(PAGE_SIZE) && placement.accepts(device, presumed, size) {
            let there = self.overlapping(presumed, presumed + size);
            if there.iter().all(|start| self.ranges[start].is_freed()) {
                there.into_iter().for_each(|start| self.unbind(start));
                return Ok(self.bind(presumed, request, placement));
            }
        }
        let mut start = self.gap(device, placement, |_| true);
        if start.is_none() {
            self.sweep();
            start = self.gap(device, placement, |_| true);
        }
        if start.is_none() {
            // Evicts from the whole address space (`i915_gem_evict_vm`).
            start = self.gap(device, placement, |range| range.request == request);
            if let Some(start) = start {
                self.overlapping(start, start + size).into_iter().for_each(|start| self.unbind(start));
            }
        }
        Ok(self.bind(start.ok_or(ENOSPC)?, request, placement))
    }

    /// The lowest gap between the ranges for which `counts` holds.
    fn gap(
        &self,
        device: &Device,
        placement: &PlacementRequest<'_>,
        counts: impl Fn(&Range) -> bool,
    ) -> Option<u64> {
        let alignment = placement.object.alignment.max(PAGE_SIZE);
        let mut address = placement.bias.max(PAGE_SIZE).checked_next_multiple_of(alignment)?;
        for (start, range) in self.ranges.iter().filter(|(_, range)| counts(range)) {
            if address.checked_add(placement.size())? <= *start {
                break;
            }
            address = address.max(range.end.checked_next_multiple_of(alignment)?);
        }
        (address.checked_add(placement.size())? <= placement.end(device)).then_some(address)
    }

    fn sweep_if_large(&mut self) {
        if self.ranges.len() >= self.sweep_threshold {
            self.sweep();
            self.sweep_threshold = (2 * self.ranges.len()).max(64);
        }
    }

    /// Unbinds buffers that have been freed.
    fn sweep(&mut self) {
        let addresses = &mut self.addresses;
        self.ranges.retain(|_, range| {
            if range.is_freed() {
                addresses.remove(&range.key);
            }
            !range.is_freed()
        });
    }
}
