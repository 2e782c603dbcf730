//! Work-items: their ids, and the lanes of threads that execute them.

use gencl_simulator::debug::protocol::{LaunchFacts, Range};

/// A lane of a thread of a work-group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lane {
    /// The work-group.
    pub group: [u32; 3],
    /// Number of the thread in it.
    pub thread: u32,
    /// The lane.
    pub lane: u32,
}

/// The size of a work-group: those at the end of a dimension may be smaller.
fn local_size(range: &Range, group: [u32; 3]) -> [u64; 3] {
    std::array::from_fn(|i| {
        let local = u64::from(range.local[i]);
        local.min(range.global[i].saturating_sub(u64::from(group[i]) * local)).max(1)
    })
}

/// The local id of a work-item.
#[must_use]
pub fn local_id(launch: &LaunchFacts, lane: Lane) -> [u64; 3] {
    let [x, y, _] = local_size(&launch.range, lane.group);
    let number = u64::from(lane.thread * launch.lanes + lane.lane);
    [number % x, number / x % y, number / x / y]
}

/// The global id of a work-item.
#[must_use]
pub fn global_id(launch: &LaunchFacts, lane: Lane) -> [u64; 3] {
    let (range, local) = (&launch.range, local_id(launch, lane));
    std::array::from_fn(|i| range.offset[i] + u64::from(lane.group[i]) * u64::from(range.local[i]) + local[i])
}

/// The lane that executes the work-item with a global id.
///
/// # Errors
/// There is no such work-item.
pub fn find(launch: &LaunchFacts, global: [u64; 3]) -> Result<Lane, String> {
    let range = &launch.range;
    let within = |i: usize| {
        let id = global[i].checked_sub(range.offset[i]).filter(|id| *id < range.global[i]);
        let [first, end] = [launch.first_group[i], launch.end_group[i]].map(u64::from);
        let local = u64::from(range.local[i]).max(1);
        id.map(|id| (id / local, id % local)).filter(|(group, _)| (first..end).contains(group))
    };
    let none = || format!("there is no work-item {} in this launch", text(global));
    let parts = [within(0), within(1), within(2)];
    let mut found = [(0, 0); 3];
    for (place, part) in found.iter_mut().zip(parts) {
        *place = part.ok_or_else(none)?;
    }
    let group = found.map(|(group, _)| group as u32);
    let [x, y, _] = local_size(range, group);
    let number = (found[0].1 + x * (found[1].1 + y * found[2].1)) as u32;
    Ok(Lane { group, thread: number / launch.lanes, lane: number % launch.lanes })
}

/// A function of the language about a work-item; none if it is another one.
#[must_use]
pub fn function(launch: &LaunchFacts, lane: Lane, name: &str, dimension: usize) -> Option<u64> {
    let range = &launch.range;
    // As the language has it beyond three dimensions.
    let or = |values: [u64; 3], other| values.get(dimension).copied().unwrap_or(other);
    let local = range.local.map(u64::from);
    Some(match name {
        "get_global_id" => or(global_id(launch, lane), 0),
        "get_local_id" => or(local_id(launch, lane), 0),
        "get_group_id" => or(lane.group.map(u64::from), 0),
        "get_global_size" => or(range.global, 1),
        "get_global_offset" => or(range.offset, 0),
        "get_local_size" => or(local_size(range, lane.group), 1),
        "get_enqueued_local_size" => or(local, 1),
        "get_num_groups" => or(std::array::from_fn(|i| range.global[i].div_ceil(local[i].max(1))), 1),
        _ => return None,
    })
}

/// An id as text.
#[must_use]
pub fn text<T: std::fmt::Display>([x, y, z]: [T; 3]) -> String {
    format!("({x}, {y}, {z})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> LaunchFacts {
        let range = Range { offset: [100, 0, 0], global: [20, 6, 1], local: [8, 4, 1] };
        LaunchFacts { lanes: 8, end_group: [3, 2, 1], range, ..LaunchFacts::default() }
    }

    #[test]
    fn every_work_item_is_in_its_lane() {
        let launch = launch();
        for y in 0..6 {
            for x in 100..120 {
                let lane = find(&launch, [x, y, 0]).unwrap();
                assert_eq!(global_id(&launch, lane), [x, y, 0]);
            }
        }
        // The last work-group has four columns and two rows: one thread.
        assert_eq!(find(&launch, [119, 5, 0]).unwrap(), Lane { group: [2, 1, 0], thread: 0, lane: 7 });
        assert!(find(&launch, [120, 0, 0]).is_err() && find(&launch, [99, 0, 0]).is_err());
    }

    #[test]
    fn functions_of_the_language() {
        let (launch, lane) = (launch(), Lane { group: [2, 1, 0], thread: 0, lane: 5 });
        let call = |name, dimension| function(&launch, lane, name, dimension).unwrap();
        assert_eq!((call("get_global_id", 0), call("get_global_id", 1)), (117, 5));
        assert_eq!((call("get_local_id", 0), call("get_local_size", 0)), (1, 4));
        assert_eq!((call("get_num_groups", 0), call("get_enqueued_local_size", 0)), (3, 8));
        assert_eq!((call("get_global_id", 3), call("get_global_size", 7)), (0, 1));
        assert_eq!(function(&launch, lane, "sin", 0), None);
    }
}
