//! Messages about launches that failed: the source line, the work-item, and the distance of its address to the nearest buffer.

use gencl_i915::{ErrorState, FaultPlace};

use super::Launch;
use super::source_line::source_line;
use super::walk::Space;
use crate::context::DeviceContext;
use crate::memory::Storage;

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
/// the render node. `place` returns the address that the kernel driver has chosen for a buffer.
pub(super) fn describe(
    launch: &Launch,
    state: &ErrorState,
    device: &DeviceContext,
    place: &dyn Fn(&Storage) -> u64,
) -> String {
    let kernel = launch.kernel();
    let mut text = format!("kernel {}", kernel.name);
    let executable = launch.executable();
    let instruction =
        state.place.kernel_offset.and_then(|offset| executable.debug_address(launch.number, offset));
    if let Some(line) = instruction.and_then(|address| source_line(executable.debug(), address)) {
        text += &format!(", {line}");
    }
    if let Some([x, y, z]) = work_item(&launch.space, kernel.simd_width, &state.place) {
        text += &format!(", work-item ({x}, {y}, {z})");
    }
    if let Some(address) = state.place.address
        && let Some(nearest) =
            memory(launch, device, place).iter().min_by_key(|memory| memory.distance(address).0)
    {
        let (distance, side) = nearest.distance(address);
        text += &format!(", {distance} bytes {side} {} of {} bytes", nearest.what, nearest.size);
    }
    format!("{text}: {}", state.text)
}

/// The global id of the work-item, if it is known.
fn work_item(space: &Space, simd_width: u32, place: &FaultPlace) -> Option<[u64; 3]> {
    let group = place.group?;
    let number = place.thread? * simd_width + place.lane?;
    let is_in = |walk: &&super::walk::Walk| (0..3).all(|d| (walk.first[d]..walk.end[d]).contains(&group[d]));
    let [x, y, _] = space.walks().iter().find(is_in)?.local;
    let local = [number % x, number / x % y, number / x / y];
    let id =
        |d: usize| space.offset[d] + u64::from(group[d]) * u64::from(space.local[d]) + u64::from(local[d]);
    Some([id(0), id(1), id(2)])
}

/// Memory that a launch may access, by GPU addresses.
fn memory(launch: &Launch, device: &DeviceContext, place: &dyn Fn(&Storage) -> u64) -> Vec<LaunchMemory> {
    let arguments = launch.arguments.memory().iter().map(|(index, memory)| {
        let (allocation, begin, size) = memory.range();
        let what = format!("argument {index} ({})", launch.kernel().arguments[*index].name);
        LaunchMemory { what, begin: place(allocation.on(device)) + begin, size }
    });
    let indirect = launch.arguments.indirect().iter().map(|memory| LaunchMemory {
        what: "shared memory".into(),
        begin: memory.address() as u64,
        size: memory.size() as u64,
    });
    arguments.chain(indirect).collect()
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
    fn distances_have_a_side() {
        let memory = LaunchMemory { what: String::new(), begin: 0x1000, size: 0x100 };
        assert_eq!(memory.distance(0xfff), (1, "before"));
        assert_eq!(memory.distance(0x10ff), (0xff, "in"));
        assert_eq!(memory.distance(0x1100), (0, "behind"));
    }
}
