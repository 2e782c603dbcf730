//! Enabled slices, subslices and EUs of a device.

use gencl_device_info::Model;
use gencl_i915::RenderNode;
use gencl_i915::uapi::{QueryTopologyInfo, query};

/// Numbers of enabled units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Units {
    pub(crate) slices: u32,
    /// Of all slices.
    pub(crate) subslices: u32,
    /// Of all subslices.
    pub(crate) eus: u32,
    /// EUs of the smallest subslice.
    pub(crate) eus_of_smallest: u32,
}

impl Units {
    /// All units of a model.
    pub(crate) fn of_model(model: &Model) -> Self {
        let subslices = model.slices * model.subslices;
        Self {
            slices: model.slices,
            subslices,
            eus: subslices * model.eus_per_subslice,
            eus_of_smallest: model.eus_per_subslice,
        }
    }

    /// The enabled units of a device, by its topology. All of the model's where the kernel driver has no
    /// topology (Ivy Bridge, Bay Trail).
    pub(crate) fn of_device(node: &dyn RenderNode, model: &Model) -> Self {
        let topology = node.query(query::TOPOLOGY_INFO).ok();
        topology.and_then(|bytes| Self::from_topology(&bytes)).unwrap_or(Self::of_model(model))
    }

    /// From the masks of enabled slices, subslices of each slice and EUs of each subslice. `None` when there
    /// are no subslices, or one without EUs.
    fn from_topology(bytes: &[u8]) -> Option<Self> {
        const HEAD: usize = size_of::<QueryTopologyInfo>();
        let head: QueryTopologyInfo = bytemuck::pod_read_unaligned(bytes.get(..HEAD)?);
        let masks = &bytes[HEAD..];
        let bit = |first: usize, index: usize| {
            masks.get(first + index / 8).is_some_and(|byte| byte >> (index % 8) & 1 != 0)
        };
        let (subslices, stride) = (usize::from(head.max_subslices), usize::from(head.subslice_stride));
        let mut units = Self { slices: 0, subslices: 0, eus: 0, eus_of_smallest: u32::MAX };
        for slice in (0..usize::from(head.max_slices)).filter(|&slice| bit(0, slice)) {
            units.slices += 1;
            let first = usize::from(head.subslice_offset) + slice * stride;
            for subslice in (0..subslices).filter(|&subslice| bit(first, subslice)) {
                let first = usize::from(head.eu_offset)
                    + (slice * subslices + subslice) * usize::from(head.eu_stride);
                let eus =
                    (0..usize::from(head.max_eus_per_subslice)).filter(|&eu| bit(first, eu)).count() as u32;
                units.subslices += 1;
                units.eus += eus;
                units.eus_of_smallest = units.eus_of_smallest.min(eus);
            }
        }
        (units.eus_of_smallest > 0 && units.subslices > 0).then_some(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disabled_units_are_not_counted() {
        let head = QueryTopologyInfo {
            flags: 0,
            max_slices: 2,
            max_subslices: 3,
            max_eus_per_subslice: 8,
            subslice_offset: 1,
            subslice_stride: 1,
            eu_offset: 3,
            eu_stride: 1,
        };
        let mut bytes = bytemuck::bytes_of(&head).to_vec();
        // The first slice, with its first and last subslice, of 8 and 7 EUs.
        bytes.extend([0b01, 0b101, 0, 0xff, 0, 0x7f, 0, 0, 0]);
        let units = Units { slices: 1, subslices: 2, eus: 15, eus_of_smallest: 7 };
        assert_eq!(Units::from_topology(&bytes), Some(units));
        assert_eq!(Units::from_topology(&bytes[..10]), None);
        bytes[16] = 0;
        assert_eq!(Units::from_topology(&bytes), None);
    }
}
