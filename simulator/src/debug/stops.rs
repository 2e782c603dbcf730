//! Where a launch stops.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// What a launch stops at.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stops {
    /// Places in the code.
    pub points: Vec<Point>,
    /// Memory whose writes are observed.
    pub watches: Vec<Watch>,
    /// A time, when it runs forwards.
    pub until: Option<u64>,
    /// The end of a thread of a work-group, when it runs forwards.
    pub end_of: Option<([u32; 3], u32)>,
}

/// A place in the code, or all but one, for some or all threads. A thread is there before it executes the instruction.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Point {
    /// Byte offsets in the kernel.
    pub code: Vec<Range<u32>>,
    /// Outside of these.
    pub outside: bool,
    /// Only this work-group.
    pub group: Option<[u32; 3]>,
    /// Only this thread of the work-group.
    pub thread: Option<u32>,
    /// Only with this lane enabled; otherwise with any.
    pub lane: Option<u32>,
}

impl Point {
    /// Whether a thread that is at an offset, with these lanes enabled, is at this place.
    pub fn is_at(&self, offset: u32, group: [u32; 3], thread: u32, enabled: u32) -> bool {
        let lanes = self.lane.map_or(u32::MAX, |lane| 1 << lane);
        enabled & lanes != 0
            && self.thread.is_none_or(|only| only == thread)
            && self.group.is_none_or(|only| only == group)
            && self.code.iter().any(|code| code.contains(&offset)) != self.outside
    }
}

/// Bytes in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The work-group whose shared local memory it is in; otherwise it is in the global address space.
    pub local: Option<[u32; 3]>,
    /// Addresses, or offsets in local memory.
    pub bytes: Range<u64>,
}

impl Watch {
    /// Whether a write of a work-group concerns it.
    pub fn is_hit(&self, group: [u32; 3], local: bool, address: u64, bytes: u64) -> bool {
        let same = self.local.map_or(!local, |only| local && only == group);
        same && address < self.bytes.end && self.bytes.start < address.saturating_add(bytes)
    }
}

/// Why a launch has stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// Nothing has been executed.
    Begin,
    /// All has been executed.
    End,
    /// A thread is at a point, by index.
    Point(usize),
    /// Memory was written, by the index of a watch: by the last instruction when the launch runs forwards, by the next one
    /// when it runs backwards.
    Watch(usize),
    /// The wanted time.
    Time,
    /// The thread has ended.
    EndOfThread,
    /// The next instruction fails.
    Fault(String),
    /// The launch is to be given up.
    Cancelled,
    /// The debugger has asked for it.
    Interrupted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_places_threads_and_lanes() {
        let code = std::iter::once(16..32).collect();
        let point = Point { code, thread: Some(1), lane: Some(2), ..Point::default() };
        assert!(point.is_at(16, [0; 3], 1, 0b100));
        assert!(!point.is_at(32, [0; 3], 1, 0b100) && !point.is_at(16, [0; 3], 0, 0b100));
        assert!(!point.is_at(16, [0; 3], 1, 0b011), "the lane is not enabled");
        let outside = Point { outside: true, group: Some([0, 1, 0]), ..point };
        assert!(outside.is_at(32, [0, 1, 0], 1, 0xff) && !outside.is_at(16, [0, 1, 0], 1, 0xff));
        assert!(!outside.is_at(32, [0; 3], 1, 0xff));
    }

    #[test]
    fn watches_are_hit_by_any_byte() {
        let watch = Watch { local: None, bytes: 100..104 };
        assert!(watch.is_hit([0; 3], false, 103, 1) && watch.is_hit([0; 3], false, 96, 8));
        assert!(!watch.is_hit([0; 3], false, 96, 4) && !watch.is_hit([0; 3], false, 104, 4));
        assert!(!watch.is_hit([0; 3], true, 100, 4));
        let local = Watch { local: Some([1, 0, 0]), bytes: 0..4 };
        assert!(local.is_hit([1, 0, 0], true, 0, 4));
        assert!(!local.is_hit([0; 3], true, 0, 4) && !local.is_hit([1, 0, 0], false, 0, 4));
    }
}
