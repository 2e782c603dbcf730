//! Messages about launches that failed: the source line, the work-item, and the distance of its address to the nearest
//! buffer, or that it is of a private array.

use std::sync::Arc;

use gencl_i915::{ErrorState, FaultPlace};

use super::EnqueuedLaunch;
use super::source_line::source_line;
use super::walk::Space;
use crate::context::DeviceContext;
use crate::memory::Storage;

/// Distance in bytes up to which the buffer nearest to an address is named: about what an index of 32 bits can be wrong
/// by. Any other address has nothing to do with the buffer.
const MAX_DISTANCE: u64 = 1 << 30;

/// Memory that a launch may access.
struct LaunchMemory {
    what: String,
    begin: u64,
    size: u64,
}

impl LaunchMemory {
    /// Distance of an address in bytes, or its offset, and on which side it is.
    fn distance(&self, address: u64) -> (u64, &'static str) {
        match address.checked_sub(self.begin) {
            None => (self.begin - address, "before"),
            Some(offset) if offset >= self.size => (offset - self.size, "behind"),
            Some(offset) => (offset, "in"),
        }
    }
}

/// The message about a failed launch: kernel, source line, work-item and nearest buffer, as far as known, then the text of
/// the render node. `private` is the memory of hardware threads, `place` returns the address that the kernel driver has
/// chosen for a buffer.
pub(super) fn describe(
    launch: &EnqueuedLaunch,
    state: &ErrorState,
    device: &DeviceContext,
    private: &[Arc<Storage>],
    place: &dyn Fn(&Storage) -> u64,
) -> String {
    let kernel = launch.kernel();
    let mut text = format!("kernel {}", kernel.name);
    let executable = launch.executable();
    let instruction =
        state.place.kernel_offset.and_then(|offset| executable.debug_address(launch.number, offset));
    let mut hint = "";
    if let Some(address) = instruction {
        let tables = executable.debug();
        match source_line(tables, address) {
            Some(line) => text += &format!(", {line}"),
            None if tables.is_empty() => hint = "; build the program with -g for the source line",
            None => {}
        }
    }
    if let Some([x, y, z]) = work_item(&launch.space, kernel.simd_width, &state.place) {
        text += &format!(", work-item ({x}, {y}, {z})");
    }
    if let Some(address) = state.place.address {
        let private = private.iter().filter(|_| kernel.private_size > 0).map(|storage| place(storage));
        text += &near(address, &memory(launch, device, place), private);
    }
    // The first line is for users, the second has the machine's view.
    let mut fault = state.text.clone();
    fault.insert_str(fault.find('\n').unwrap_or(fault.len()), hint);
    format!("{text}: {fault}")
}

/// What is said of an address, if anything: the distance to the nearest of the launch's buffers, or that it is of a
/// private array, whose memory begins at one of `private` and has 32 bits for addresses. Lanes' private memory is
/// interleaved, so that a distance would say nothing.
fn near(address: u64, memory: &[LaunchMemory], private: impl Iterator<Item = u64>) -> String {
    let distance = |memory: &&LaunchMemory| memory.distance(address).0;
    let nearest = memory.iter().min_by_key(distance).filter(|memory| distance(memory) <= MAX_DISTANCE);
    let behind = private.filter_map(|begin| address.checked_sub(begin)).min();
    let is_nearer = |behind: &u64| nearest.is_none_or(|memory| *behind < distance(&memory));
    if behind.filter(is_nearer).is_some_and(|_| u32::try_from(address).is_ok()) {
        return ", out of bounds of a private array".into();
    }
    nearest.map_or_else(String::new, |nearest| {
        let (distance, side) = nearest.distance(address);
        format!(", {distance} bytes {side} {} of {} bytes", nearest.what, nearest.size)
    })
}

/// The global id of the work-item, if it is known.
fn work_item(space: &Space, simd_width: u32, place: &FaultPlace) -> Option<[u64; 3]> {
    let group = place.group?;
    let number = place.thread? * simd_width + place.lane?;
    space.work_item(group, number)
}

/// Memory that a launch may access, by GPU addresses.
fn memory(
    launch: &EnqueuedLaunch,
    device: &DeviceContext,
    place: &dyn Fn(&Storage) -> u64,
) -> Vec<LaunchMemory> {
    let arguments = launch.arguments.memory().iter().map(|(index, memory)| {
        let (allocation, begin, size) = memory.range();
        let what = format!("argument {index} ({})", launch.kernel().arguments[*index].name);
        LaunchMemory { what, begin: place(allocation.on(device)) + begin, size }
    });
    let reachable = launch.reachable.iter().flat_map(|list| list.iter());
    let reachable = reachable.map(|memory| LaunchMemory {
        what: "shared memory".into(),
        begin: memory.address() as u64,
        size: memory.size() as u64,
    });
    arguments.chain(reachable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NdRange;

    #[test]
    fn work_items_are_found() {
        let local = [5, 2, 1];
        let range = NdRange { dimensions: 2, offset: [100, 0, 0], global: [12, 5, 1], local: Some(local) };
        let space = Space::new(&range, local, true).unwrap();
        let item = |group, thread, lane| {
            let place = FaultPlace {
                group: Some(group),
                thread: Some(thread),
                lane: Some(lane),
                ..FaultPlace::default()
            };
            work_item(&space, 8, &place)
        };
        assert_eq!(item([1, 0, 0], 0, 7), Some([107, 1, 0]));
        assert_eq!(item([1, 1, 0], 1, 1), Some([109, 3, 0]));
        // The last groups are smaller.
        assert_eq!(item([2, 1, 0], 0, 3), Some([111, 3, 0]));
        assert_eq!(item([0, 2, 0], 0, 4), Some([104, 4, 0]));
        assert_eq!(work_item(&space, 8, &FaultPlace::default()), None);
    }

    #[test]
    fn addresses_are_named_by_what_is_near() {
        let memory = [LaunchMemory { what: "argument 0 (p)".into(), begin: 0x1_0000_0000, size: 0x100 }];
        let said = |address, private: &[u64]| near(address, &memory, private.iter().copied());
        assert_eq!(said(0x1_0000_0110, &[]), ", 16 bytes behind argument 0 (p) of 256 bytes");
        assert_eq!(said(0x1_5000_0000, &[]), "", "more than a gigabyte away");
        assert_eq!(said(0, &[0x10_0000]), "", "a null pointer");
        assert_eq!(said(0x2000_0000, &[0x10_0000]), ", out of bounds of a private array");
        assert_eq!(said(0xffff_ff00, &[0x10_0000]), ", 256 bytes before argument 0 (p) of 256 bytes");
        assert_eq!(said(0x1_0000_0110, &[0x10_0000]), ", 16 bytes behind argument 0 (p) of 256 bytes");
    }

    #[test]
    fn distances_have_a_side() {
        let memory = LaunchMemory { what: String::new(), begin: 0x1000, size: 0x100 };
        assert_eq!(memory.distance(0xfff), (1, "before"));
        assert_eq!(memory.distance(0x10ff), (0xff, "in"));
        assert_eq!(memory.distance(0x1100), (0, "behind"));
    }
}
