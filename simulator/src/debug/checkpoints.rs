//! States of a launch at some of its times, from which it is executed again.
//!
//! A checkpoint has the state of the work-group, and the contents of all pages that have been written since: they are copied
//! before the first write. Restoring the pages of all checkpoints from the last one back gives memory as it was at any.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use gencl_eu::SteppedGroup;
use gencl_eu::memory::{AddressSpace, Cursor, PAGE_SIZE};

/// Instructions between checkpoints, at first.
const INTERVAL: u64 = 1 << 14;

/// When there are so many, every second one is given up, and they are made half as often.
const MOST: usize = 128;

/// A state.
#[derive(Clone)]
struct Checkpoint {
    time: u64,
    /// Number of the work-group in the launch.
    number: u64,
    group: SteppedGroup,
    /// By address.
    pages: BTreeMap<u64, Vec<u8>>,
}

/// The checkpoints of a launch, in the order of their times. The first one is its beginning.
pub struct Checkpoints {
    all: Vec<Checkpoint>,
    /// The last one that is not after the launch's current time.
    current: usize,
    interval: u64,
}

impl Checkpoints {
    /// The beginning.
    pub fn new(group: &SteppedGroup) -> Checkpoints {
        let first = Checkpoint { time: 0, number: 0, group: group.clone(), pages: BTreeMap::new() };
        Checkpoints { all: vec![first], current: 0, interval: INTERVAL }
    }

    /// To be called when the launch has arrived at a time in a state.
    pub fn arrive(&mut self, time: u64, number: u64, group: &SteppedGroup) {
        if let Some(next) = self.all.get(self.current + 1) {
            if next.time == time {
                self.current += 1;
            }
            return;
        }
        if time < self.all[self.current].time + self.interval {
            return;
        }
        self.all.push(Checkpoint { time, number, group: group.clone(), pages: BTreeMap::new() });
        self.current += 1;
        if self.all.len() == MOST {
            self.thin();
        }
    }

    /// Gives up every second one.
    fn thin(&mut self) {
        let mut kept: Vec<Checkpoint> = Vec::with_capacity(MOST);
        for (index, checkpoint) in std::mem::take(&mut self.all).into_iter().enumerate() {
            match kept.last_mut() {
                Some(last) if index % 2 == 1 => {
                    // What was not written between both had the same contents.
                    for (address, page) in checkpoint.pages {
                        last.pages.entry(address).or_insert(page);
                    }
                }
                _ => kept.push(checkpoint),
            }
        }
        self.all = kept;
        self.current = self.all.len() - 1;
        self.interval *= 2;
    }

    /// To be called before bytes in memory are written.
    pub fn keep(&mut self, memory: &AddressSpace, address: u64, bytes: u64) {
        let pages = &mut self.all[self.current].pages;
        for page in address / PAGE_SIZE..=address.saturating_add(bytes - 1) / PAGE_SIZE {
            let Entry::Vacant(place) = pages.entry(page * PAGE_SIZE) else { continue };
            let mut contents = vec![0; PAGE_SIZE as usize];
            // What is in no buffer will not be written, but a fault.
            if memory.read(&mut Cursor::default(), page * PAGE_SIZE, &mut contents).is_ok() {
                place.insert(contents);
            }
        }
    }

    /// The times of checkpoints before a time, the last one first.
    pub fn times_before(&self, time: u64) -> Vec<u64> {
        self.all.iter().rev().map(|checkpoint| checkpoint.time).filter(|other| *other < time).collect()
    }

    /// Restores memory as it was at the last checkpoint that is not after a time, which is not after the launch's current
    /// one. Returns the checkpoint's time, and the number and state of its work-group.
    pub fn restore(&mut self, memory: &AddressSpace, time: u64) -> (u64, u64, SteppedGroup) {
        // The first one is at time 0.
        let target = self.all.partition_point(|checkpoint| checkpoint.time <= time) - 1;
        for checkpoint in self.all[target..=self.current].iter().rev() {
            for (address, page) in &checkpoint.pages {
                // The page was read, and buffers stay during a launch.
                let _ = memory.write(&mut Cursor::default(), *address, page);
            }
        }
        self.current = target;
        let Checkpoint { time, number, group, .. } = &self.all[target];
        (*time, *number, group.clone())
    }
}
