//! What Intel's devices have beside OpenCL's limits: `cl_intel_device_attribute_query`

use gencl_runtime::DeviceFacts;
use opencl_sys::{
    CL_DEVICE_FEATURE_CAPABILITIES_INTEL, CL_DEVICE_ID_INTEL, CL_DEVICE_IP_VERSION_INTEL,
    CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL, CL_DEVICE_NUM_SLICES_INTEL,
    CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL, CL_DEVICE_NUM_THREADS_PER_EU_INTEL,
    cl_device_feature_capabilities_intel, cl_device_info,
};

use crate::CLResult;
use crate::info::{InfoWriter, Written};

/// Answers a query of the extension. Where units are fused off, numbers are those of the largest slice or subslice.
pub(super) fn query(name: cl_device_info, facts: &DeviceFacts, info: InfoWriter) -> CLResult<Written> {
    let Some(version) = facts.family.info().ip_version else { return info.unknown(name) };
    match name {
        CL_DEVICE_IP_VERSION_INTEL => info.value(version.bits()),
        CL_DEVICE_ID_INTEL => info.value(u32::from(facts.pci_id)),
        CL_DEVICE_NUM_SLICES_INTEL => info.value(facts.slices),
        CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL => info.value(facts.subslices.div_ceil(facts.slices)),
        CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL => info.value(facts.compute_units.div_ceil(facts.subslices)),
        CL_DEVICE_NUM_THREADS_PER_EU_INTEL => info.value(facts.threads_per_eu),
        // Neither dp4a nor dpas is in the instruction set of any of the devices.
        CL_DEVICE_FEATURE_CAPABILITIES_INTEL => info.value(0 as cl_device_feature_capabilities_intel),
        _ => info.unknown(name),
    }
}
