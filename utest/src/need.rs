//! Optional parts of OpenCL that a test is about.

use opencl_sys::{CL_DEVICE_SVM_ATOMICS, CL_DEVICE_SVM_FINE_GRAIN_BUFFER};

use crate::device::Gpu;

/// What a device may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// An extension.
    Extension(&'static str),
    /// A feature of OpenCL C 3.0.
    Feature(&'static str),
    /// Shared virtual memory.
    SharedMemory,
    /// Fine-grained shared virtual memory with atomic operations. gencl has it on the simulator in the process.
    FineGrain,
    /// Images.
    Images,
    /// Sub-groups of OpenCL 2.1 and later.
    SubGroups,
    /// Threads of so many lanes.
    Lanes(u32),
    /// gencl's simulator in this process, whose engine the environment chooses.
    Simulator,
    /// Machine code that `iga64` can read, and `iga64`.
    Witness,
    /// Private arrays of doubles at the right places, which Intel's compiler does not have on the Atom line
    /// (docs/measurements/witness.md).
    DoubleArrays,
}

/// Arithmetic on half floats.
pub const HALF: Need = Need::Extension("cl_khr_fp16");
/// Arithmetic on doubles.
pub const DOUBLE: Need = Need::Extension("cl_khr_fp64");

/// Parts of the names that Intel's driver gives devices of the Atom line: "Intel(R) HD Graphics 505
/// [0x5a84]".
const ATOM_LINE: &[&str] = &["Graphics 500 ", "Graphics 505 ", "Graphics 600 ", "Graphics 605 "];

impl Need {
    /// Whether a test that needs it may be left out. Not on what gencl has everywhere but on Gen7 and Gen7.5, and
    /// Cherryview without shared memory: there it would fail.
    pub fn is_missing(self, gpu: &Gpu) -> bool {
        let narrow = gpu.device.address_bits().is_ok_and(|bits| bits == 32);
        let near = gpu.device.name().is_ok_and(|name| name.contains("Cherryview"));
        let shared = match self {
            Need::SharedMemory | Need::FineGrain => true,
            Need::Extension(name) => name == "cl_intel_unified_shared_memory",
            _ => false,
        };
        if matches!(self, Need::Witness | Need::Simulator) {
            return !self.is_there(gpu);
        }
        let lacking = self != Need::Images && (narrow || near && shared);
        let hardware = self == Need::FineGrain && !Need::Simulator.is_there(gpu);
        let optional = gpu.foreign_platform().is_some() || lacking || hardware;
        optional && !self.is_there(gpu)
    }

    /// Whether the device reports it.
    pub fn is_there(self, gpu: &Gpu) -> bool {
        let device = &gpu.device;
        match self {
            Need::Extension(name) => {
                device.extensions().is_ok_and(|list| list.split(' ').any(|other| other == name))
            }
            Need::Feature(name) => device.opencl_c_features().is_ok_and(|list| {
                list.iter()
                    .any(|known| known.name.iter().copied().take_while(|&byte| byte != 0).eq(name.bytes()))
            }),
            Need::SharedMemory => device.svm_mem_capability() != 0,
            Need::FineGrain => {
                let all = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
                device.svm_mem_capability() & all == all
            }
            Need::Images => device.image_support().unwrap_or(false),
            Need::SubGroups => gpu.device.max_num_sub_groups().is_ok_and(|most| most != 0),
            Need::Lanes(lanes) => gpu.simd_widths().contains(&lanes),
            Need::Simulator => device.name().is_ok_and(|name| name.contains("simulated")),
            Need::Witness => gpu.missing_witness().is_none(),
            Need::DoubleArrays => {
                let atom = |name: String| ATOM_LINE.iter().any(|graphics| name.contains(graphics));
                gpu.foreign_platform().is_none() || !gpu.device.name().is_ok_and(atom)
            }
        }
    }

    /// Why a test that needs it is skipped, for people.
    pub fn reason(self, gpu: &Gpu) -> String {
        match self {
            Need::Extension(name) | Need::Feature(name) => format!("the device lacks {name}"),
            Need::SharedMemory => "the device lacks shared virtual memory".to_owned(),
            Need::FineGrain => "the device lacks fine-grained shared virtual memory".to_owned(),
            Need::Images => "the device lacks images".to_owned(),
            Need::SubGroups => "the device lacks sub-groups".to_owned(),
            Need::Lanes(lanes) => format!("the device lacks threads of {lanes} lanes"),
            Need::DoubleArrays => "the driver puts private arrays of doubles to wrong places".to_owned(),
            Need::Simulator => "the device is not simulated in this process".to_owned(),
            Need::Witness => gpu.missing_witness().unwrap_or_default(),
        }
    }
}
