//! Parameters and queries.

use gencl_eu::device::Device;
use gencl_i915::uapi::{param, query};
use gencl_i915::{Errno, RenderNode};
use gencl_simulator::Simulator;

use crate::setup::simulator;

#[test]
fn the_driver_is_i915() {
    assert_eq!(simulator().version().unwrap().name, "i915");
}

#[test]
fn unknown_devices_are_refused_with_a_list() {
    let error = Simulator::new("none").err().unwrap().to_string();
    assert!(error.starts_with("no simulated device is called \"none\"; there are: ivb, byt, "), "{error}");
    assert!(Device::all().iter().all(|device| error.contains(device.name())), "{error}");
}

#[test]
fn parameters() {
    let node = simulator();
    let expected = [
        (param::CHIPSET_ID, 0x1912),
        (param::EU_TOTAL, 24),
        (param::SUBSLICE_TOTAL, 3),
        (param::SLICE_MASK, 1),
        (param::SUBSLICE_MASK, 7),
        (param::CS_TIMESTAMP_FREQUENCY, 12_000_000),
        (param::HAS_EXEC_SOFTPIN, 1),
        (param::HAS_LLC, 1),
        (param::MMAP_GTT_VERSION, 4),
    ];
    for (number, value) in expected {
        assert_eq!(node.get_param(number), Ok(value), "{number}");
    }
    assert_eq!(node.get_param(1000), Err(Errno(libc::EINVAL)));
    assert_eq!(node.get_param(-1), Err(Errno(libc::EINVAL)));
    assert_eq!(node.get_param(param::HAS_EXEC_CONSTANTS), Err(Errno(libc::ENODEV)));
}

#[test]
fn devices_with_aliasing_ppgtt() {
    let node = |name| Simulator::new(name).unwrap();
    let params = [
        param::HAS_ALIASING_PPGTT,
        param::HAS_SCHEDULER,
        param::HAS_CONTEXT_ISOLATION,
        param::CS_TIMESTAMP_FREQUENCY,
        param::HAS_LLC,
        param::EU_TOTAL,
        param::SUBSLICE_TOTAL,
    ];
    let values = |name| params.map(|number| node(name).get_param(number).map_err(|errno| errno.0));
    let (none, frequency) = (Err(libc::ENODEV), Ok(12_500_000));
    assert_eq!(values("hsw"), [Ok(1), Ok(0), Ok(1), frequency, Ok(1), Ok(20), Ok(2)]);
    // The kernel does not report their topology.
    assert_eq!(values("ivb"), [Ok(1), Ok(0), Ok(1), frequency, Ok(1), none, none]);
    assert_eq!(values("byt"), [Ok(1), Ok(0), Ok(1), frequency, Ok(0), none, none]);
    assert_eq!(values("bdw"), [Ok(2), Ok(3), Ok(3), frequency, Ok(1), Ok(24), Ok(3)]);
    assert_eq!(node("ivb").query(query::TOPOLOGY_INFO), Err(Errno(libc::ENODEV)));
    assert_eq!(node("hsw").query(query::TOPOLOGY_INFO).unwrap()[16..], [1, 3, 0xff, 3, 0xff, 3]);
}

#[test]
fn the_topology_is_in_the_kernels_layout() {
    let data = simulator().query(query::TOPOLOGY_INFO).unwrap();
    let word = |index: usize| u16::from_le_bytes([data[2 * index], data[2 * index + 1]]);
    // flags, slices, subslices, EUs, subslice offset and stride, EU offset and stride
    let head: Vec<u16> = (0..8).map(word).collect();
    assert_eq!(head, [0, 1, 3, 8, 1, 1, 2, 1]);
    assert_eq!(data[16..], [1, 7, 0xff, 0xff, 0xff]);
}

#[test]
fn engines_and_memory() {
    let node = simulator();
    let data = node.query(query::ENGINE_INFO).unwrap();
    assert_eq!(data.len(), 16 + 2 * 56);
    assert_eq!((data[0], data[16], data[16 + 56]), (2, 0, 1), "render and copy");
    assert_eq!(data[24], 1, "a logical instance");
    let data = node.query(query::MEMORY_REGIONS).unwrap();
    assert_eq!(data.len(), 16 + 88);
    let size = u64::from_le_bytes(data[24..32].try_into().unwrap());
    assert!(size > 1 << 28, "{size}");
    assert_eq!(node.query(3), Err(Errno(libc::ENODEV)));
    assert_eq!(node.query(7), Err(Errno(libc::EINVAL)));
    assert_eq!(node.query(u64::MAX), Err(Errno(libc::EINVAL)));
}
