//! Finding a device: a render node of the kernel that is supported, else the simulator.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gencl_i915::RenderNode;
use gencl_i915::kernel::{self, KernelNode};
use gencl_program::debug::{self, Debug};
use gencl_simulator::{Settings, Simulator, statistics};

use super::Device;
use super::table::{self, DeviceFacts, DeviceKind};
use crate::ImageLimits;

/// The target that is simulated when nothing else is asked for.
const DEFAULT_TARGET: &str = "skl";

/// Finds the device that `GENCL_DEVICE` names: `sim:skl`, the path of a render node, or when it is not set the first supported
/// render node, else the simulator. `GENCL_DEVICE_TYPE` (`cpu`, `gpu`) changes what it says it is. The error tells why there is none.
pub(crate) fn discover() -> Result<Device, String> {
    let wish = std::env::var("GENCL_DEVICE").unwrap_or_default();
    let kind = match std::env::var("GENCL_DEVICE_TYPE").unwrap_or_default().as_str() {
        "" => None,
        "cpu" => Some(DeviceKind::Cpu),
        "gpu" => Some(DeviceKind::Gpu),
        other => return Err(format!("GENCL_DEVICE_TYPE={other}: it may be cpu or gpu")),
    };
    if let Some(target) = wish.strip_prefix("sim:") {
        return simulated(target, kind);
    }
    if wish.starts_with('/') {
        let node = KernelNode::open(wish.as_ref()).map_err(|reason| format!("{wish}: {reason}"))?;
        return real(node, kind).map_err(|reason| format!("{wish}: {reason}"));
    }
    if !wish.is_empty() {
        return Err(format!("GENCL_DEVICE={wish}: it may be sim:TARGET or the path of a render node"));
    }
    for found in kernel::find() {
        let opened =
            found.device.and_then(|_| KernelNode::open(&found.path)).and_then(|node| real(node, kind));
        match opened {
            Ok(device) => return Ok(device),
            Err(reason) => tracing::info!("{} is not used: {reason}", found.path.display()),
        }
    }
    simulated(DEFAULT_TARGET, kind)
}

fn real(node: KernelNode, kind: Option<DeviceKind>) -> Result<Device, String> {
    let id = node.get_param(gencl_i915::uapi::param::CHIPSET_ID).map_err(|errno| errno.to_string())? as u16;
    let model = table::by_pci_id(id).ok_or_else(|| format!("GPU 8086:{id:04x} is not supported"))?;
    let mut facts = model.facts(kind.unwrap_or(DeviceKind::Gpu), false, usable_memory());
    facts.revision = node.get_param(gencl_i915::uapi::param::REVISION).unwrap_or_default() as u16;
    facts.pci_address = node.pci_address();
    facts.images = images();
    Ok(Device::new(Arc::new(node), facts, model))
}

/// The simulator; a batch without progress is stopped after `GENCL_HANG_LIMIT` seconds.
fn simulated(target: &str, kind: Option<DeviceKind>) -> Result<Device, String> {
    let mut settings = Settings::default();
    if let Ok(limit) = std::env::var("GENCL_HANG_LIMIT") {
        let seconds = limit.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        settings.hang_limit = seconds.ok_or_else(|| format!("GENCL_HANG_LIMIT={limit}: it takes seconds"))?;
    }
    let (debug, _) = Debug::from_environment();
    settings.statistics =
        debug.value(debug::PROFILE).map(|file| statistics::written_at_exit(Path::new(file)));
    simulate(target, kind.unwrap_or(DeviceKind::Cpu), settings)
}

/// A simulated device.
pub(super) fn simulate(target: &str, kind: DeviceKind, settings: Settings) -> Result<Device, String> {
    let model = table::by_target(target).ok_or_else(|| format!("there is no device {target} to simulate"))?;
    let simulator = Simulator::with_settings(target, settings).map_err(|error| error.to_string())?;
    let facts = DeviceFacts { images: images(), ..model.facts(kind, true, usable_memory()) };
    Ok(Device::new(Arc::new(simulator), facts, model))
}

/// Whether images are to be there.
fn images() -> Option<ImageLimits> {
    let (debug, _) = Debug::from_environment();
    debug.is_set(debug::IMAGES).then_some(table::IMAGES)
}

/// How much of the host's memory buffers may take: half of it, as the GPU has none of its own.
fn usable_memory() -> u64 {
    const FALLBACK: u64 = 2 << 30;
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    });
    total.map_or(FALLBACK, |kib| kib * 1024 / 2) & !0xfff
}
