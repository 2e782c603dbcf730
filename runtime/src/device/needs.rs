//! Features of the kernel driver that launches need. An older one is refused, with the reason.

use gencl_device_info::AddressSpaceKind;
use gencl_i915::RenderNode;
use gencl_i915::uapi::param;

/// A feature of the kernel driver.
#[derive(Debug)]
pub(crate) struct DriverFeature {
    /// The parameter that reports the feature (I915_GETPARAM).
    param: i32,
    /// Smallest sufficient value.
    least: i32,
    /// Description for messages, with the first version of Linux that has the feature.
    what: &'static str,
}

const fn need(param: i32, least: i32, what: &'static str) -> DriverFeature {
    DriverFeature { param, least, what }
}

const EXEC: DriverFeature =
    need(param::HAS_EXECBUF2, 1, "batches with lists of buffers (I915_PARAM_HAS_EXECBUF2, Linux 2.6.33)");
const WAIT: DriverFeature =
    need(param::HAS_WAIT_TIMEOUT, 1, "waiting for a buffer (I915_PARAM_HAS_WAIT_TIMEOUT, Linux 3.6)");
const MAP: DriverFeature =
    need(param::MMAP_GTT_VERSION, 4, "cached mappings by offset (I915_PARAM_MMAP_GTT_VERSION 4, Linux 5.7)");

/// For devices with an address space per context.
const OWN_ADDRESSES: &[DriverFeature] = &[
    EXEC,
    WAIT,
    MAP,
    need(param::HAS_EXEC_SOFTPIN, 1, "buffers at fixed addresses (I915_PARAM_HAS_EXEC_SOFTPIN, Linux 4.5)"),
    need(
        param::HAS_ALIASING_PPGTT,
        2,
        "address spaces of contexts (I915_PARAM_HAS_ALIASING_PPGTT 2, Linux 4.0)",
    ),
];

/// For devices with one address space. The first versions of the command parser allow partitioning the L3
/// cache; atomic operations in it are allowed from the fourth on (`i915_cmd_parser.c`,
/// `i915_cmd_parser_get_version`).
const SHARED_ADDRESSES: &[DriverFeature] = &[
    EXEC,
    WAIT,
    MAP,
    need(param::HAS_ALIASING_PPGTT, 1, "page tables of the GPU (I915_PARAM_HAS_ALIASING_PPGTT, Linux 3.4)"),
    need(
        param::CMD_PARSER_VERSION,
        4,
        "registers of the L3 cache in batches (I915_PARAM_CMD_PARSER_VERSION 4, Linux 4.3)",
    ),
];

/// What devices with such address spaces need.
pub(crate) fn of(space: AddressSpaceKind) -> &'static [DriverFeature] {
    match space {
        AddressSpaceKind::Shared31 => SHARED_ADDRESSES,
        AddressSpaceKind::Own32 | AddressSpaceKind::Own48 => OWN_ADDRESSES,
    }
}

/// A message about the first feature that `node` lacks, if it lacks one.
pub(crate) fn missing(node: &dyn RenderNode, needs: &[DriverFeature]) -> Option<String> {
    let lacks = |need: &&DriverFeature| node.get_param(need.param).unwrap_or(0) < need.least;
    needs.iter().find(lacks).map(|need| format!("the kernel driver is too old: it lacks {}", need.what))
}

#[cfg(test)]
mod tests {
    use gencl_simulator::Simulator;

    use super::*;

    #[test]
    fn the_first_feature_that_is_missing_is_named() {
        let node = Simulator::with_settings("skl", Default::default()).unwrap();
        assert_eq!(missing(&node, OWN_ADDRESSES), None);
        let future = [EXEC, need(param::MMAP_GTT_VERSION, 1000, "mappings of the future"), WAIT];
        let reason = missing(&node, &future).unwrap();
        assert_eq!(reason, "the kernel driver is too old: it lacks mappings of the future");
    }
}
