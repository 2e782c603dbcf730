//! Discovery of devices: supported render nodes, or else the simulator.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gencl_i915::RenderNode;
use gencl_i915::kernel::{self, KernelNode};
use gencl_i915::uapi::param;
use gencl_program::{environment, report};
use gencl_simulator::translated::source::{self, EngineChoice, Source};
use gencl_simulator::{Settings, Simulator, statistics};

use super::Device;
use super::needs;
use super::pci_ids;
use super::table::{DeviceKind, GpuConfig};
use super::units::Units;
use crate::profile;

/// The default target of the simulator.
const DEFAULT_TARGET: &str = "skl";

/// Finds the devices that `GENCL_DEVICE` names, separated by commas: `sim:skl` or the path of a render node.
/// Without it, all supported render nodes, or the simulator if there are none. `GENCL_DEVICE_TYPE` (`cpu`,
/// `gpu`) overrides the reported type. Devices that cannot be used are left out. The error, when none is
/// left, is a text for users.
pub(crate) fn discover() -> Result<Vec<Device>, String> {
    let names = environment::trusted_value("GENCL_DEVICE").unwrap_or_default();
    let names = names.to_string_lossy();
    let kind = match environment::value("GENCL_DEVICE_TYPE").unwrap_or_default().as_str() {
        "" => None,
        "cpu" => Some(DeviceKind::Cpu),
        "gpu" => Some(DeviceKind::Gpu),
        other => return Err(format!("GENCL_DEVICE_TYPE={other}: it may be cpu or gpu")),
    };
    if !names.is_empty() {
        let list: Vec<_> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if list.is_empty() {
            return Err(format!("GENCL_DEVICE={names} names no device"));
        }
        return usable(list.into_iter().map(|name| {
            let device = named(name, kind);
            if let Err(reason) = &device {
                report::once(name, &format!("GENCL_DEVICE: {name} is not used: {reason}"));
            }
            (name.to_owned(), device)
        }));
    }
    let nodes = kernel::find().into_iter().map(|found| {
        let opened = found.device.and_then(|_| KernelNode::open(&found.path));
        (found.path.display().to_string(), opened.and_then(|node| real(node, kind)))
    });
    match usable(nodes) {
        Ok(devices) => Ok(devices),
        Err(reasons) => {
            tracing::info!("no render node is used: {reasons}");
            simulated(DEFAULT_TARGET, kind).map(|device| vec![device])
        }
    }
}

/// The devices that could be opened; the error has the reasons when there are none.
fn usable<T>(opened: impl Iterator<Item = (String, Result<T, String>)>) -> Result<Vec<T>, String> {
    let (mut devices, mut reasons) = (Vec::new(), Vec::new());
    for (name, result) in opened {
        match result {
            Ok(device) => devices.push(device),
            Err(reason) => {
                tracing::warn!("{name} is not used: {reason}");
                reasons.push(format!("{name}: {reason}"));
            }
        }
    }
    if devices.is_empty() { Err(reasons.join("; ")) } else { Ok(devices) }
}

/// The device that an entry of `GENCL_DEVICE` names.
fn named(name: &str, kind: Option<DeviceKind>) -> Result<Device, String> {
    if let Some(target) = name.strip_prefix("sim:") {
        return simulated(target, kind);
    }
    if name.starts_with('/') {
        return real(KernelNode::open(name.as_ref())?, kind);
    }
    Err("it may be sim:TARGET or the path of a render node, or several of these, separated by commas"
        .to_owned())
}

fn real(node: KernelNode, kind: Option<DeviceKind>) -> Result<Device, String> {
    let hardware = hardware(&node)?;
    let mut facts = hardware.facts(kind.unwrap_or(DeviceKind::Gpu), false, usable_memory());
    facts.revision = node.get_param(param::REVISION).unwrap_or_default() as u16;
    facts.pci_address = node.pci_address();
    Ok(Device::new(Arc::new(node), facts, hardware))
}

/// The GPU behind a render node; an error if it or the kernel driver is not supported.
fn hardware(node: &dyn RenderNode) -> Result<GpuConfig, String> {
    let pci_id = node.get_param(param::CHIPSET_ID).map_err(|errno| errno.to_string())? as u16;
    let (name, model) =
        pci_ids::by_pci_id(pci_id).ok_or_else(|| format!("GPU 8086:{pci_id:04x} is not supported"))?;
    if let Some(reason) = needs::missing(node, model.family.needs) {
        return Err(reason);
    }
    Ok(GpuConfig { model, pci_id, name, units: Units::of_device(node, model) })
}

/// Device files of other GPUs, which may have no render node: NVIDIA's, and the compute interface of AMD's.
const OTHER_GPUS: [&str; 2] = ["/dev/nvidia0", "/dev/kfd"];

/// Type that a simulated device reports: GPU, as many programs look for nothing else (docs/decisions.md). CPU
/// on a machine with a GPU, which another platform may offer, so that programs that take the first GPU find
/// that one.
fn simulated_kind() -> DeviceKind {
    let others = || OTHER_GPUS.iter().any(|path| Path::new(path).exists());
    if !kernel::has_nodes() && !others() { DeviceKind::Gpu } else { DeviceKind::Cpu }
}

/// A simulated device with the settings of the environment: `GENCL_HANG_LIMIT`, `GENCL_ENGINE`,
/// `GENCL_DEBUG=profile`.
fn simulated(target: &str, kind: Option<DeviceKind>) -> Result<Device, String> {
    let mut settings = Settings { shared: false, ..Settings::default() };
    if let Some(limit) = environment::value("GENCL_HANG_LIMIT") {
        let seconds = limit.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        settings.hang_limit = seconds.ok_or_else(|| format!("GENCL_HANG_LIMIT={limit}: it takes seconds"))?;
    }
    settings.engine = EngineChoice::named(&environment::value(source::ENGINE).unwrap_or_default())?;
    settings.translations = Some(Source(Arc::new(gencl_client::Translations)));
    settings.statistics = profile::file("counts.json").map(|file| statistics::written_at_exit(&file));
    simulate(target, kind.unwrap_or_else(simulated_kind), settings)
}

/// A simulated device with the given settings.
pub(super) fn simulate(target: &str, kind: DeviceKind, settings: Settings) -> Result<Device, String> {
    let simulator = Simulator::with_settings(target, settings).map_err(|error| error.to_string())?;
    let hardware = hardware(&simulator)?;
    let facts = hardware.facts(kind, true, usable_memory());
    Ok(Device::new(Arc::new(simulator), facts, hardware))
}

/// Bytes of memory for buffers: half of the host's memory, as the GPU has none of its own.
fn usable_memory() -> u64 {
    const FALLBACK: u64 = 2 << 30;
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    });
    total.map_or(FALLBACK, |kib| kib * 1024 / 2) & !0xfff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_fails_does_not_hide_others() {
        let opened = |results: [Result<u32, &str>; 3]| {
            usable(results.into_iter().map(|result| ("a node".to_owned(), result.map_err(str::to_owned))))
        };
        assert_eq!(opened([Ok(1), Err("locked"), Ok(2)]), Ok(vec![1, 2]));
        assert_eq!(opened([Err("locked"), Err("busy"), Ok(3)]), Ok(vec![3]));
        let none = opened([Err("locked"), Err("busy"), Err("gone")]).unwrap_err();
        assert_eq!(none, "a node: locked; a node: busy; a node: gone");
    }

    #[test]
    fn simulated_devices_match_their_target() {
        for simulated in gencl_eu::device::Device::all() {
            if pci_ids::by_pci_id(simulated.pci_id).is_none() {
                continue;
            }
            let device = simulate(simulated.name, DeviceKind::Cpu, Settings::default()).unwrap();
            assert_eq!(device.facts().target, simulated.name);
            assert_eq!(device.facts().compute_units, simulated.total_eus());
        }
    }
}
