//! Which of the latest commands of a context happen before which others.
//!
//! Each has a slot, and the set of slots of those that happen before it: by wait lists, by the order of its queue, or
//! through others. A command that the application has waited for happens before all later ones, and needs no slot any
//! more; the same goes for those before it. Where too many are left, the oldest one is forgotten.

use std::collections::HashMap;

use fixedbitset::FixedBitSet;

/// Commands that are known at a time, at most.
const SLOTS: usize = 1024;

/// How a command is ordered.
pub(crate) struct Place<'w> {
    /// Number of the queue.
    pub(crate) queue: u64,
    /// Numbers of the commands that it waits for; 0 for user events that have not ended.
    pub(crate) waits: &'w [u64],
    /// All earlier commands of the queue happen before it, and it before all later ones.
    pub(crate) after_all: bool,
    pub(crate) before_all: bool,
}

/// The commands.
pub(super) struct Window<T> {
    slots: Vec<Option<Entry<T>>>,
    /// What happens before all later commands of a queue, by its number.
    queues: HashMap<u64, Before>,
    by_number: HashMap<u64, usize>,
    last: u64,
}

struct Entry<T> {
    value: T,
    number: u64,
    /// `None` for the application's access to mapped memory.
    queue: Option<u64>,
    before: Before,
}

/// What happens before a command.
#[derive(Clone, Default)]
struct Before {
    slots: FixedBitSet,
    /// A user event does that had not ended: by what the application does until then, others may.
    is_open: bool,
}

impl Before {
    fn add(&mut self, slot: usize, before: &Self) {
        self.slots.grow(SLOTS);
        self.slots.union_with(&before.slots);
        self.slots.insert(slot);
        self.is_open |= before.is_open;
    }
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), queues: HashMap::new(), by_number: HashMap::new(), last: 0 }
    }
}

impl<T> Window<T> {
    /// Adds a command. Returns its number, from 1 on, and calls `unordered` with those that it is not ordered with.
    pub(super) fn add(&mut self, place: &Place<'_>, value: T, mut unordered: impl FnMut(&T, &T)) -> u64 {
        let mut before = self.queues.get(&place.queue).cloned().unwrap_or_default();
        for number in place.waits {
            before.is_open |= *number == 0;
            if let Some((slot, entry)) = self.of_number(*number) {
                before.add(slot, &entry.before);
            }
        }
        if place.after_all {
            for (slot, entry) in self.slots.iter().enumerate() {
                if let Some(entry) = entry.as_ref().filter(|entry| entry.queue == Some(place.queue)) {
                    before.add(slot, &entry.before);
                }
            }
        }
        let behind = place.before_all.then(|| before.clone());
        let (number, slot) = self.insert(Some(place.queue), before, value, &mut unordered);
        if let Some(behind) = behind {
            self.queues.entry(place.queue).or_default().add(slot, &behind);
        }
        number
    }

    /// Adds an access of the application to memory that a command has mapped, until [`Window::remove`]. As [`Window::add`].
    pub(super) fn add_mapping(&mut self, map: u64, value: T, mut unordered: impl FnMut(&T, &T)) -> u64 {
        let mut before = Before::default();
        if let Some((slot, entry)) = self.of_number(map) {
            before.add(slot, &entry.before);
        }
        self.insert(None, before, value, &mut unordered).0
    }

    fn insert(
        &mut self,
        queue: Option<u64>,
        before: Before,
        value: T,
        unordered: &mut impl FnMut(&T, &T),
    ) -> (u64, usize) {
        for (slot, entry) in self.slots.iter().enumerate() {
            if let Some(entry) = entry
                && !before.slots.contains(slot)
                && !before.is_open
                && !entry.before.is_open
            {
                unordered(&entry.value, &value);
            }
        }
        self.last += 1;
        let slot = self.free_slot();
        self.by_number.insert(self.last, slot);
        self.slots[slot] = Some(Entry { value, number: self.last, queue, before });
        (self.last, slot)
    }

    fn of_number(&self, number: u64) -> Option<(usize, &Entry<T>)> {
        let slot = *self.by_number.get(&number)?;
        Some((slot, self.slots[slot].as_ref()?))
    }

    /// A slot without a command.
    fn free_slot(&mut self) -> usize {
        if let Some(slot) = self.slots.iter().position(Option::is_none) {
            return slot;
        }
        if self.slots.len() < SLOTS {
            self.slots.push(None);
            return self.slots.len() - 1;
        }
        let oldest =
            |slot: &usize| self.slots[*slot].as_ref().map(|entry| (entry.queue.is_none(), entry.number));
        let slot = (0..SLOTS).min_by_key(oldest).unwrap_or(0);
        let mut one = FixedBitSet::with_capacity(SLOTS);
        one.insert(slot);
        self.forget(&one);
        slot
    }

    /// The application has waited for a command.
    pub(super) fn observe(&mut self, number: u64) {
        if let Some((slot, entry)) = self.of_number(number) {
            let mut all = entry.before.clone();
            all.add(slot, &Before::default());
            self.forget(&all.slots);
        }
    }

    /// The application has waited for all commands of a queue.
    pub(super) fn observe_queue(&mut self, queue: u64) {
        let mut all = Before::default();
        for (slot, entry) in self.slots.iter().enumerate() {
            if let Some(entry) = entry.as_ref().filter(|entry| entry.queue == Some(queue)) {
                all.add(slot, &entry.before);
            }
        }
        self.forget(&all.slots);
    }

    /// A mapping has ended: the application knows that, and what was before it.
    pub(super) fn remove(&mut self, number: u64) {
        self.observe(number);
    }

    fn forget(&mut self, all: &FixedBitSet) {
        if all.is_clear() {
            return;
        }
        for slot in all.ones() {
            if let Some(entry) = self.slots.get_mut(slot).and_then(Option::take) {
                self.by_number.remove(&entry.number);
            }
        }
        for entry in self.slots.iter_mut().flatten() {
            entry.before.slots.difference_with(all);
        }
        for behind in self.queues.values_mut() {
            behind.slots.difference_with(all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds commands to a window, and says which are not ordered with which.
    #[derive(Default)]
    struct Test {
        window: Window<u64>,
        unordered: Vec<(u64, u64)>,
    }

    impl Test {
        fn add(&mut self, queue: u64, waits: &[u64], after_all: bool, before_all: bool) -> u64 {
            let place = Place { queue, waits, after_all, before_all };
            let value = self.window.last + 1;
            self.window.add(&place, value, |a, b| self.unordered.push((*a, *b)))
        }

        /// A command of an in-order queue.
        fn next(&mut self, queue: u64, waits: &[u64]) -> u64 {
            self.add(queue, waits, true, true)
        }

        fn found(&mut self) -> Vec<(u64, u64)> {
            std::mem::take(&mut self.unordered)
        }
    }

    #[test]
    fn queues_are_ordered_by_events() {
        let mut test = Test::default();
        let a = test.next(1, &[]);
        let b = test.next(1, &[]);
        assert_eq!(test.found(), []);
        let c = test.next(2, &[a]);
        assert_eq!(test.found(), [(b, c)]);
        let d = test.next(1, &[c]);
        let e = test.next(2, &[d]);
        assert_eq!((e, test.found()), (5, vec![]));
    }

    #[test]
    fn barriers_order_other_commands() {
        let mut test = Test::default();
        let a = test.add(1, &[], false, false);
        let b = test.add(1, &[], false, false);
        assert_eq!(test.found(), [(a, b)]);
        let marker = test.add(1, &[], true, false);
        let c = test.add(1, &[], false, false);
        assert_eq!(test.found(), [(a, c), (b, c), (marker, c)]);
        test.add(1, &[b], false, true);
        test.found();
        let d = test.add(1, &[], false, false);
        assert_eq!(test.found(), [(a, d), (marker, d), (c, d)]);
    }

    #[test]
    fn what_the_application_has_waited_for_is_before_all() {
        let mut test = Test::default();
        let a = test.next(1, &[]);
        let b = test.next(2, &[]);
        let c = test.next(1, &[]);
        test.found();
        test.window.observe(c);
        let d = test.next(3, &[]);
        assert_eq!((a, test.found()), (1, vec![(b, d)]));
        test.window.observe_queue(2);
        let e = test.next(4, &[]);
        assert_eq!(test.found(), [(d, e)]);
    }

    #[test]
    fn mappings_last_until_they_are_removed() {
        let mut test = Test::default();
        let map = test.next(1, &[]);
        let mapping = test.window.add_mapping(map, 99, |_, _| panic!("it is behind its command"));
        test.window.observe(map);
        test.next(1, &[]);
        assert_eq!(test.found(), [(99, 3)]);
        test.window.remove(mapping);
        test.next(1, &[]);
        assert_eq!(test.found(), []);
    }

    #[test]
    fn open_user_events_may_order_anything() {
        let mut test = Test::default();
        test.next(1, &[0]);
        test.next(1, &[]);
        test.next(2, &[]);
        assert_eq!(test.found(), []);
    }

    #[test]
    fn old_commands_are_forgotten() {
        let mut test = Test::default();
        for _ in 0..SLOTS + 3 {
            test.add(1, &[], false, false);
            test.found();
        }
        let last = test.add(1, &[], false, false);
        let found = test.found();
        assert_eq!((found.len(), found.iter().map(|pair| pair.0).min()), (SLOTS, Some(last - SLOTS as u64)));
    }
}
