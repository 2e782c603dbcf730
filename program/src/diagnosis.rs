//! The driver's report on itself: versions, devices and those that are not used, compiler, cache, variables.
//!
//! `gencl diagnose` queries it from the installed library, so that it is about the driver that applications load.

use serde::{Deserialize, Serialize};

/// The query of `clGetPlatformInfo` for it: a [`Diagnosis`] as JSON. OpenCL's own queries have numbers below 0x10000.
pub const PLATFORM_QUERY: u32 = u32::from_be_bytes(*b"gncl");

/// The report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The driver's version.
    pub version: String,
    /// The commit that it was built from, if that is known.
    pub commit: Option<String>,
    /// Devices in the platform's order.
    pub devices: Vec<DeviceState>,
    /// Why there is no device.
    pub no_device: Option<String>,
    /// Render nodes, and entries of `GENCL_DEVICE`, that are not used.
    pub unused: Vec<UnusedDevice>,
    /// The compiler.
    pub compiler: CompilerState,
    /// The kernel cache.
    pub cache: CacheState,
    /// All variables that exist, in the order of their table.
    pub variables: Vec<VariableState>,
    /// Messages about variables that do not exist.
    pub misspelt: Vec<String>,
}

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceState {
    /// `CL_DEVICE_NAME`
    pub name: String,
    /// The target that kernels are compiled for.
    pub target: String,
    /// Whether it is simulated.
    pub simulated: bool,
}

/// A device that is not used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnusedDevice {
    /// The path of a render node, or a name.
    pub name: String,
    /// Why it is not used, and what to do about it.
    pub reason: String,
    /// What the kernel says about it, for a render node: PCI ids, driver with version.
    pub facts: String,
    /// Whether something is to be mended: it is an Intel GPU, and `GENCL_DEVICE` does not choose others.
    pub fault: bool,
}

/// The compiler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompilerState {
    /// Where it is.
    pub path: Option<String>,
    /// Its own version, and those of clang and LLVM.
    pub version: Option<String>,
    /// Time until it answers, in milliseconds.
    pub start: Option<f64>,
    /// Why it does not work.
    pub problem: Option<String>,
}

/// The kernel cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheState {
    /// Its folder; none when there is no cache.
    pub folder: Option<String>,
    /// Entries.
    pub entries: u64,
    /// Bytes of all entries.
    pub bytes: u64,
    /// The limit in bytes.
    pub limit: u64,
    /// Why it is off.
    pub off: Option<String>,
    /// Why it cannot be used although it is on.
    pub problem: Option<String>,
}

/// A variable of the environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VariableState {
    /// Its name.
    pub name: String,
    /// Its value, if it is set.
    pub value: Option<String>,
    /// What it takes.
    pub takes: String,
    /// Why its value is not valid.
    pub problem: Option<String>,
}
