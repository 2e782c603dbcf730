//! Discovery of devices: supported render nodes, or else the simulator.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gencl_device_info::{Family, by_pci_id};
use gencl_i915::RenderNode;
use gencl_i915::facts::NodeFacts;
use gencl_i915::kernel::{self, KernelNode};
use gencl_i915::uapi::param;
use gencl_program::{environment, report, suggest, variables};
use gencl_simulator::translated::source::{EngineChoice, Source};
use gencl_simulator::{OnStall, Settings, Simulator, statistics};

use super::Device;
use super::kernel_names::KernelNames;
use super::needs;
use super::table::{DeviceKind, GpuConfig};
use super::units::Units;
use crate::{debugger, profile};

/// The default target of the simulator.
const DEFAULT_TARGET: &str = "skl";

/// The time after which a launch under a debugger is stopped.
const NEVER: Duration = Duration::from_secs(u32::MAX as u64);

/// What goes before the name of a simulated device in `GENCL_DEVICE`.
const SIMULATED: &str = "sim:";

/// The result of a search for devices.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    /// Devices that can be used.
    pub devices: Vec<Device>,
    /// Devices that cannot be used, by path or name, with reasons.
    pub refused: Vec<(String, String)>,
    /// Why there are no devices, a text for users.
    pub failure: Option<String>,
}

impl Discovery {
    fn failed(reason: String) -> Self {
        Self { failure: Some(reason), ..Self::default() }
    }

    /// From devices by their names; the failure has the reasons when none can be used.
    fn of(opened: impl Iterator<Item = (String, Result<Device, String>)>) -> Self {
        let mut found = Self::default();
        for (name, result) in opened {
            match result {
                Ok(device) => found.devices.push(device),
                Err(reason) => {
                    tracing::info!("{name} is not used: {reason}");
                    found.refused.push((name, reason));
                }
            }
        }
        if found.devices.is_empty() {
            let reasons: Vec<_> =
                found.refused.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
            found.failure = Some(reasons.join("; "));
        }
        found
    }
}

/// Finds the devices that `GENCL_DEVICE` names, separated by commas: `sim:skl` or the path of a render node.
/// Without it, all supported render nodes, or the simulator if there are none. `GENCL_DEVICE_TYPE` (`cpu`,
/// `gpu`) overrides the reported type. Devices that cannot be used are left out, with a message when that may be a surprise.
pub(crate) fn discover() -> Discovery {
    let kind = report::word(&variables::DEVICE_TYPE)
        .map(|word| if word == "cpu" { DeviceKind::Cpu } else { DeviceKind::Gpu });
    match environment::trusted_value(variables::DEVICE.name) {
        Some(names) => chosen(&names.to_string_lossy(), kind),
        None => automatic(kind),
    }
}

/// The devices of a list of names.
fn chosen(names: &str, kind: Option<DeviceKind>) -> Discovery {
    let list: Vec<_> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if list.is_empty() {
        let takes = variables::DEVICE.takes();
        return Discovery::failed(format!("GENCL_DEVICE={names} names no device: it takes {takes}"));
    }
    let found =
        Discovery::of(list.into_iter().map(|name| (format!("GENCL_DEVICE={name}"), named(name, kind))));
    // When none is left, the failure has the reasons.
    if found.failure.is_none() {
        for (name, reason) in &found.refused {
            report::once(name, &format!("{name} is not used: {reason}"));
        }
    }
    found
}

/// All render nodes that can be used, or a simulated device.
fn automatic(kind: Option<DeviceKind>) -> Discovery {
    let nodes = kernel::find().into_iter().map(|found| {
        let opened = found.device.and_then(|_| KernelNode::open(&found.path));
        (found.path.display().to_string(), opened.and_then(|node| real(node, kind)))
    });
    let found = Discovery::of(nodes);
    if !found.devices.is_empty() {
        return found;
    }
    for (path, reason) in &found.refused {
        if NodeFacts::of(Path::new(path)).is_intel() {
            report::once(path, &format!("{path} is not used, but a simulated GPU: {reason}"));
        }
    }
    match simulated(DEFAULT_TARGET, kind) {
        Ok(device) => Discovery { devices: vec![device], failure: None, ..found },
        Err(reason) => Discovery { failure: Some(reason), ..found },
    }
}

/// The device that an entry of `GENCL_DEVICE` names.
fn named(name: &str, kind: Option<DeviceKind>) -> Result<Device, String> {
    if let Some(target) = name.strip_prefix(SIMULATED) {
        return simulated(target, kind);
    }
    if name.starts_with('/') {
        return real(KernelNode::open(name.as_ref())?, kind);
    }
    let simulated = Family::ALL.iter().map(|family| format!("{SIMULATED}{family}"));
    let nodes = kernel::find().into_iter().map(|node| node.path.display().to_string());
    let known: Vec<_> = simulated.chain(nodes).collect();
    // The name alone, without what goes before it.
    let whole = known
        .iter()
        .find(|known| known.ends_with(&format!(":{name}")) || known.ends_with(&format!("/{name}")));
    let hint = whole.map_or_else(
        || suggest::did_you_mean(name, known.iter().map(String::as_str)),
        |whole| format!("; did you mean {whole}?"),
    );
    Err(format!("there is no such device; it takes {}{hint}", variables::DEVICE.takes()))
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
    let (name, model) = by_pci_id(pci_id).ok_or_else(|| format!("GPU 8086:{pci_id:04x} is not supported"))?;
    if let Some(reason) = needs::missing(node, needs::of(model.info().address_space)) {
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
/// `GENCL_DEBUG=profile`, `fast-profile` and `debug`.
fn simulated(target: &str, kind: Option<DeviceKind>) -> Result<Device, String> {
    let mut settings = Settings { shared: false, ..Settings::default() };
    settings.hang_limit = report::seconds(&variables::HANG_LIMIT, settings.hang_limit);
    settings.engine = EngineChoice::named(&report::word(&variables::ENGINE).unwrap_or_default())?;
    settings.translations = Some(Source(Arc::new(gencl_client::Translations)));
    settings.statistics = profile::file("counts.json").map(|file| statistics::written_at_exit(&file));
    settings.fast_statistics = profile::is_fast();
    settings.debugger = debugger::connection();
    if settings.debugger.is_some() {
        // It is the user who makes launches wait.
        settings.hang_limit = NEVER;
    }
    let names = Arc::<KernelNames>::default();
    settings.on_stall = settings.debugger.is_none().then(|| tell_of_stalls(&names));
    let device = simulate(target, kind.unwrap_or_else(simulated_kind), settings)?;
    Ok(Device { kernel_names: names, ..device })
}

/// Prints that a kernel takes long, before it is stopped.
fn tell_of_stalls(names: &Arc<KernelNames>) -> OnStall {
    let names = names.clone();
    OnStall(Arc::new(move |stall| {
        let name = stall.kernel.and_then(|address| names.find(address));
        let what = name.map_or_else(|| "a kernel".into(), |name| format!("kernel {name}"));
        report::once(&format!("{what} still runs"), &stall.message(&what));
    }))
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
        let found = |names: &str| {
            let found = chosen(names, None);
            let refused: Vec<_> = found.refused.into_iter().map(|(name, _)| name).collect();
            (found.devices.len(), refused.join(" "), found.failure)
        };
        assert_eq!(found("sim:skl, sim:none,sim:hsw"), (2, "GENCL_DEVICE=sim:none".to_owned(), None));
        let (devices, refused, failure) = found("sim:none,/nonexistent");
        assert_eq!((devices, refused.as_str()), (0, "GENCL_DEVICE=sim:none GENCL_DEVICE=/nonexistent"));
        let failure = failure.unwrap();
        assert!(failure.contains("ivb") && failure.contains("there is no such file"), "{failure}");
        assert_eq!(found(",").0, 0);
    }

    #[test]
    fn names_without_what_goes_before_them_are_suggested() {
        let hint = |name| named(name, None).unwrap_err();
        assert!(hint("skl").ends_with("did you mean sim:skl?"), "{}", hint("skl"));
        assert!(hint("sin:hsw").ends_with("did you mean sim:hsw?"), "{}", hint("sin:hsw"));
        assert!(!hint("cuda").contains("did you mean"));
    }

    #[test]
    fn the_variable_has_the_names_of_engines() {
        let variables::Values::Words(words) = variables::ENGINE.values else { panic!("it takes words") };
        for word in words {
            EngineChoice::named(word).unwrap();
        }
    }

    #[test]
    fn simulated_devices_match_their_target() {
        for simulated in gencl_eu::device::Device::all() {
            let device = simulate(simulated.name(), DeviceKind::Cpu, Settings::default()).unwrap();
            assert_eq!(device.facts().family, simulated.family);
            assert_eq!(device.facts().compute_units, simulated.total_eus());
        }
    }
}
