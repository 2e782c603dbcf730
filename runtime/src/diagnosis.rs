//! The driver's report on itself, for `gencl diagnose`.

use std::path::Path;

use gencl_i915::facts::NodeFacts;
use gencl_i915::kernel;
use gencl_program::diagnosis::{DeviceState, Diagnosis, UnusedDevice, VariableState};
use gencl_program::{environment, variables};

use crate::Platform;

/// The report. It starts a compiler and probes the cache.
#[must_use]
pub fn diagnosis() -> Diagnosis {
    let platform = Platform::get();
    Diagnosis {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: None,
        devices: platform.devices().iter().map(|device| device_state(device.facts())).collect(),
        no_device: platform.no_devices_reason().map(str::to_owned),
        unused: unused(platform),
        compiler: gencl_client::compiler_state(),
        cache: gencl_client::cache_state(),
        variables: variables::VARIABLES.iter().map(|variable| variable_state(variable, platform)).collect(),
        misspelt: variables::misspelt(),
    }
}

fn device_state(facts: &crate::DeviceFacts) -> DeviceState {
    DeviceState { name: facts.name.clone(), target: facts.family.to_string(), simulated: facts.simulated }
}

/// Devices that are refused, and render nodes that `GENCL_DEVICE` does not name.
fn unused(platform: &Platform) -> Vec<UnusedDevice> {
    let names = environment::trusted_value(variables::DEVICE.name);
    let refused =
        platform.refused().iter().map(|(name, reason)| unused_device(name, reason, names.is_none()));
    let listed = |path: &str| names.as_ref().is_none_or(|names| names.to_string_lossy().contains(path));
    let nodes = kernel::find().into_iter().map(|node| node.path.display().to_string());
    let others = nodes
        .filter(|path| !listed(path))
        .map(|path| unused_device(&path, "GENCL_DEVICE does not name it", false));
    refused.chain(others).collect()
}

/// A device by its name or path; `wanted`: if it is an Intel GPU, it should be used.
fn unused_device(name: &str, reason: &str, wanted: bool) -> UnusedDevice {
    let path = Path::new(name.strip_prefix("GENCL_DEVICE=").unwrap_or(name));
    let node = if path.starts_with("/dev/dri") { NodeFacts::of(path) } else { NodeFacts::default() };
    UnusedDevice {
        name: name.to_owned(),
        reason: reason.to_owned(),
        facts: if node == NodeFacts::default() { String::new() } else { node.to_string() },
        fault: wanted && node.is_intel(),
    }
}

/// A variable, and what its reader says about its value.
fn variable_state(variable: &variables::Variable, platform: &Platform) -> VariableState {
    let value = environment::value(variable.name);
    let complaints = value.as_deref().map(|value| variable.complaints(value)).unwrap_or_default();
    let refused =
        platform.refused().iter().filter(|(name, _)| name.starts_with(&format!("{}=", variable.name)));
    let reasons = complaints.into_iter().chain(refused.map(|(name, reason)| format!("{name}: {reason}")));
    let problem = reasons.reduce(|all, reason| format!("{all}; {reason}"));
    VariableState { name: variable.name.to_owned(), value, takes: variable.takes(), problem }
}
