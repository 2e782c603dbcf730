//! Batches that are kept: when the launches of a command-buffer are submitted together once more, so is the batch that
//! was assembled of them, without being assembled again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::slot::{BatchedLaunch, Slot, SlotPool};
use crate::SharedMemory;
use crate::memory::SharedList;

/// Batches that a device keeps in a context, at most: 16 MiB of slots of the usual size.
const MAX_KEPT: usize = 64;

/// Batches of the same launches that are kept, at most: as many as a queue has in flight.
const MAX_OF_LAUNCHES: usize = 2;

/// Launches that are submitted together have a kept batch of their first ones, unless these are fewer than one in so
/// many.
const MAX_RATIO: usize = 4;

/// A share in [`MAX_KEPT`].
struct Permit(Arc<AtomicUsize>);

impl Permit {
    fn new(count: &Arc<AtomicUsize>) -> Option<Self> {
        let more = |kept| (kept < MAX_KEPT).then_some(kept + 1);
        count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Self(count.clone()))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A launch of a batch, as far as the batch depends on it.
#[derive(Clone, Copy)]
pub(super) struct Part<'l> {
    /// Those of the prepared launch, by whose address it is known.
    pub(super) kept: &'l Arc<KeptBatches>,
    pub(super) reachable: Option<&'l SharedList>,
    /// It has something that is for one submission.
    pub(super) is_unique: bool,
}

/// What a batch was assembled of. Launches and memory are compared by their addresses, which a weak reference keeps
/// from being those of others.
pub(super) struct Origin {
    launches: Box<[Weak<KeptBatches>]>,
    /// The shared virtual memory that its validation list has.
    reachable: Option<Weak<[Arc<SharedMemory>]>>,
    /// The launch behind these did not fit.
    is_full: bool,
    _permit: Permit,
}

impl Origin {
    /// `None` for a batch with something that is for one submission (`printf`, checks, marks of a profile), for one queue (memory
    /// of hardware threads), or that the kernel driver relocates, and where enough are kept.
    pub(super) fn new<'l>(
        slot: &Slot,
        parts: impl Iterator<Item = Part<'l>> + Clone,
        is_full: bool,
        pool: &SlotPool,
    ) -> Option<Self> {
        let has_buffers = slot.launches.iter().any(BatchedLaunch::has_buffer);
        let of_queue = !slot.kept.is_empty() || slot.storage.relocates();
        if has_buffers || of_queue || parts.clone().any(|part| part.is_unique) {
            return None;
        }
        let _permit = Permit::new(pool.kept())?;
        let reachable = parts.clone().find_map(|part| part.reachable).map(Arc::downgrade);
        Some(Self {
            launches: parts.map(|part| Arc::downgrade(part.kept)).collect(),
            reachable,
            is_full,
            _permit,
        })
    }

    /// Number of launches.
    pub(super) fn len(&self) -> usize {
        self.launches.len()
    }

    /// Whether a batch of the first of these launches, of which there are `count`, would be the same.
    fn is_of<'l>(&self, parts: impl Iterator<Item = Part<'l>>, count: usize) -> bool {
        // The number that a queue submits together changes a little all the time.
        let fits = self.len() <= count && (self.is_full || self.len() >= count / MAX_RATIO);
        let is_same = |(own, part): (&Weak<KeptBatches>, Part<'_>)| {
            let same_memory = match (&self.reachable, part.reachable) {
                (Some(own), Some(other)) => std::ptr::addr_eq(own.as_ptr(), Arc::as_ptr(other)),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            same_memory && !part.is_unique && std::ptr::eq(own.as_ptr(), Arc::as_ptr(part.kept))
        };
        fits && self.launches.iter().zip(parts).all(is_same)
    }

    /// Keeps a slot with the first of its launches, in place of one that is no longer of use.
    pub(super) fn keep(self, slot: Slot, pool: &SlotPool) {
        let first = self.launches.first().and_then(Weak::upgrade);
        let Some(first) = first else { return pool.give(slot) };
        let mut kept = first.0.lock();
        let replaced = (kept.len() >= MAX_OF_LAUNCHES).then(|| kept.remove(0));
        kept.push((slot, self));
        drop(kept);
        if let Some((slot, _)) = replaced {
            pool.give(slot);
        }
    }
}

/// Batches that begin with a launch and are not in flight.
#[derive(Default)]
pub(super) struct KeptBatches(Mutex<Vec<(Slot, Origin)>>);

impl KeptBatches {
    /// Takes a batch of the first of these launches, of which there are `count`.
    pub(super) fn take<'l>(
        &self,
        parts: impl Iterator<Item = Part<'l>> + Clone,
        count: usize,
    ) -> Option<(Slot, Origin)> {
        let mut kept = self.0.lock();
        let index = kept.iter().position(|(_, origin)| origin.is_of(parts.clone(), count))?;
        Some(kept.swap_remove(index))
    }

    /// Forgets all.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}
