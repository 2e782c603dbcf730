//! What a launch that failed is told of: the work-item, and how far its address is from the nearest buffer.

use gencl_i915::{ErrorState, FaultPlace};

use super::Launch;
use super::walk::Space;
use crate::context::DeviceContext;
use crate::kernel::Bound;
use crate::memory::Storage;

/// Memory that the launch was given.
struct Given {
    what: String,
    begin: u64,
    size: u64,
}

impl Given {
    /// Bytes between it and an address, and on which side that is.
    fn distance(&self, address: u64) -> (u64, &'static str) {
        match address.checked_sub(self.begin) {
            None => (self.begin - address, "before"),
            Some(offset) if offset >= self.size => (offset - self.size, "behind"),
            Some(offset) => (offset, "in"),
        }
    }
}

/// Kernel, work-item and nearest buffer in front of what the render node knows. `place` tells where the
/// kernel driver has a buffer.
pub(super) fn describe(
    launch: &Launch,
    state: &ErrorState,
    device: &DeviceContext,
    place: &dyn Fn(&Storage) -> u64,
) -> String {
    let kernel = launch.kernel();
    let mut text = format!("kernel {}", kernel.name);
    if let Some([x, y, z]) = work_item(&launch.space, kernel.simd_width, &state.place) {
        text += &format!(", work-item ({x}, {y}, {z})");
    }
    if let Some(address) = state.place.address
        && let Some(nearest) =
            given(launch, device, place).iter().min_by_key(|given| given.distance(address).0)
    {
        let (distance, side) = nearest.distance(address);
        text += &format!(", {distance} bytes {side} {} of {} bytes", nearest.what, nearest.size);
    }
    format!("{text}: {}", state.text)
}

/// The global id of the work-item, when it is known.
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

/// What the launch was given, as the device knows it.
fn given(launch: &Launch, device: &DeviceContext, place: &dyn Fn(&Storage) -> u64) -> Vec<Given> {
    let mut all = Vec::new();
    let arguments = launch.kernel().arguments.iter().zip(launch.arguments.bound());
    for (number, (argument, bound)) in arguments.enumerate() {
        let what = || format!("argument {number} ({})", argument.name);
        match bound {
            Bound::Buffer(Some(buffer)) => {
                let begin = place(buffer.storage().on(device)) + buffer.begin() as u64;
                all.push(Given { what: what(), begin, size: buffer.size() });
            }
            Bound::Image(image) => {
                let data = image.data();
                let begin = place(data.storage().on(device)) + data.begin() as u64;
                all.push(Given { what: what(), begin, size: data.size() });
            }
            Bound::Shared(_, memory) => {
                all.push(Given { what: what(), begin: memory.address() as u64, size: memory.size() as u64 })
            }
            Bound::Buffer(None) | Bound::Bytes(_) | Bound::Local(_) | Bound::Sampler => {}
        }
    }
    all.extend(launch.arguments.reaches().iter().map(|memory| Given {
        what: "shared memory".into(),
        begin: memory.address() as u64,
        size: memory.size() as u64,
    }));
    all
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
            let place =
                FaultPlace { address: None, group: Some(group), thread: Some(thread), lane: Some(lane) };
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
        let given = Given { what: String::new(), begin: 0x1000, size: 0x100 };
        assert_eq!(given.distance(0xfff), (1, "before"));
        assert_eq!(given.distance(0x10ff), (0xff, "in"));
        assert_eq!(given.distance(0x1100), (0, "behind"));
    }
}
