//! Whole programs as users run them: what `clinfo` prints of gencl in process and through the kernel's
//! interface, and of Intel's driver on the simulated devices; the picture of `examples/mandelbrot.c` with all
//! of these.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use gencl_testing::harness::missing_programs;
use gencl_utest::{Case, Outcome, main_with};

/// Intel's driver, where Debian's package has it.
const INTEL: &str = "/etc/OpenCL/vendors/intel.icd";

/// What `clinfo` must print of Intel's driver 22.43 on any of the devices: attribute, value.
const INTEL_ON_ANY: &[(&str, &str)] = &[
    ("CL_DEVICE_VENDOR_ID", "0x8086"),
    ("CL_DEVICE_TYPE", "CL_DEVICE_TYPE_GPU"),
    ("CL_DEVICE_MAX_WORK_GROUP_SIZE", "256"),
    ("CL_DEVICE_LOCAL_MEM_SIZE", "65536"),
    ("CL_DEVICE_SUB_GROUP_SIZES_INTEL", "8 16 32"),
];

/// What it must print of each simulated device: units as `eu/src/device.rs` has them, clocks in MHz, and
/// the address space that the kernel grants.
const WITNESSED: [Witnessed; 3] = [
    Witnessed {
        device: "skl",
        name: "Intel(R) HD Graphics 530 [0x1912]",
        units: "24",
        clock: "1150",
        bits: "64",
    },
    Witnessed {
        device: "bdw",
        name: "Intel(R) HD Graphics 5500 [0x1616]",
        units: "24",
        clock: "950",
        bits: "64",
    },
    Witnessed {
        device: "bxt",
        name: "Intel(R) HD Graphics 505 [0x5a84]",
        units: "18",
        clock: "750",
        bits: "32",
    },
];

/// A simulated device in Intel's driver's words.
struct Witnessed {
    device: &'static str,
    name: &'static str,
    units: &'static str,
    clock: &'static str,
    bits: &'static str,
}

fn main() -> ! {
    main_with(cases)
}

fn cases() -> Vec<Case> {
    let no_clinfo = missing_programs(&["clinfo"]);
    let no_mandelbrot = (!beside("mandelbrot").is_ok_and(|program| program.exists()))
        .then(|| "examples/mandelbrot.c is not built (make demo)".to_owned());
    let no_intel = (!Path::new(INTEL).exists()).then(|| format!("Intel's driver is not installed ({INTEL})"));
    let mut cases = vec![
        Case::new("clinfo_is_the_same_through_the_kernels_interface", same_through_the_node)
            .skipped_for(no_clinfo.clone()),
        Case::new("mandelbrot_in_process", || mandelbrot(None, "sim:skl", None))
            .skipped_for(no_mandelbrot.clone()),
        Case::new("mandelbrot_through_the_kernels_interface", || {
            mandelbrot(Some("skl"), "/dev/dri/renderD128", None)
        })
        .skipped_for(no_mandelbrot.clone()),
    ];
    for witnessed in &WITNESSED {
        let device = witnessed.device;
        cases.extend([
            Case::new(format!("clinfo_with_intels_driver_on_{device}"), || clinfo_with_intel(witnessed))
                .skipped_for(no_intel.clone().or_else(|| no_clinfo.clone())),
            Case::new(format!("mandelbrot_with_intels_driver_on_{device}"), || {
                mandelbrot(Some(device), "", Some(INTEL))
            })
            .skipped_for(no_intel.clone().or_else(|| no_mandelbrot.clone())),
        ]);
    }
    cases
}

/// A program in the folder of builds, above the folder of this program.
fn beside(name: &str) -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.ancestors().nth(2).ok_or("this program is in no folder")?;
    Ok(folder.join(name))
}

/// A program under `gencl-sim` in strict mode.
fn on(device: &str, program: impl AsRef<std::ffi::OsStr>) -> Result<Command, String> {
    let mut command = Command::new(beside("gencl-sim")?);
    command.args(["--strict", "--device", device, "--"]).arg(program);
    Ok(command)
}

/// What `clinfo` prints of the first device: attributes and values.
fn attributes(command: &mut Command) -> Result<BTreeMap<String, String>, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // [INTEL/0]    CL_DEVICE_NAME              Intel(R) HD Graphics 530
    let attribute = |line: &str| {
        let (name, value) = line.strip_prefix('[')?.split_once(']')?.1.trim().split_once(' ')?;
        Some((name.to_owned(), value.trim().to_owned()))
    };
    Ok(text.lines().filter_map(attribute).collect())
}

fn same_through_the_node() -> Outcome {
    // A simulated device reports that it is simulated, and a CPU; a render node's device reports a GPU.
    let mut in_process = attributes(
        Command::new("clinfo").arg("--raw").env("GENCL_DEVICE", "sim:skl").env("GENCL_DEVICE_TYPE", "gpu"),
    )?;
    if let Some(name) = in_process.get_mut("CL_DEVICE_NAME") {
        *name = name.replace(", simulated", "");
    }
    let mut through_the_node =
        attributes(on("skl", "clinfo")?.arg("--raw").env("GENCL_DEVICE", "/dev/dri/renderD128"))?;
    // A render node's device has a place on the bus, and that in its identity.
    if through_the_node.remove("CL_DEVICE_PCI_BUS_INFO_KHR").is_none() {
        return Err("the render node's device has no place on the bus".into());
    }
    let without_place = |words: &mut String| {
        let others = words.split(' ').filter(|word| !word.starts_with("cl_khr_pci_bus_info"));
        *words = others.collect::<Vec<_>>().join(" ");
    };
    through_the_node.values_mut().for_each(without_place);
    let ids = [&mut in_process, &mut through_the_node].map(|facts| facts.remove("CL_DEVICE_UUID_KHR"));
    if ids[0].is_none() || ids[1].is_none() || ids[0] == ids[1] {
        return Err(format!("identities {ids:?}"));
    }
    // Shared virtual memory is fine-grained in the simulator only.
    let shared =
        [&mut in_process, &mut through_the_node].map(|facts| facts.remove("CL_DEVICE_SVM_CAPABILITIES"));
    let is_fine =
        |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains("FINE_GRAIN_BUFFER"));
    if !is_fine(&shared[0]) || is_fine(&shared[1]) {
        return Err(format!("shared virtual memory {shared:?}"));
    }
    if in_process.len() < 80 {
        return Err(format!("clinfo printed {} attributes only: {in_process:?}", in_process.len()));
    }
    let names: BTreeSet<&String> = in_process.keys().chain(through_the_node.keys()).collect();
    let differences: Vec<String> = names
        .into_iter()
        .filter(|&name| in_process.get(name) != through_the_node.get(name))
        .map(|name| format!("{name}: {:?} and {:?}", in_process.get(name), through_the_node.get(name)))
        .collect();
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
}

fn clinfo_with_intel(witnessed: &Witnessed) -> Outcome {
    let printed = attributes(on(witnessed.device, "clinfo")?.arg("--raw").env("OCL_ICD_VENDORS", INTEL))?;
    let of_device = [
        ("CL_DEVICE_NAME", witnessed.name),
        ("CL_DEVICE_MAX_COMPUTE_UNITS", witnessed.units),
        ("CL_DEVICE_MAX_CLOCK_FREQUENCY", witnessed.clock),
        ("CL_DEVICE_ADDRESS_BITS", witnessed.bits),
    ];
    let wrong: Vec<String> = INTEL_ON_ANY
        .iter()
        .chain(&of_device)
        .filter(|(name, value)| printed.get(*name).map(String::as_str) != Some(*value))
        .map(|(name, value)| format!("{name} is {:?}, expected {value:?}", printed.get(*name)))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Runs the example, which checks each pixel itself, with a small picture; `device`: under `gencl-sim`.
fn mandelbrot(device: Option<&str>, gencl_device: &str, vendors: Option<&str>) -> Outcome {
    let driver = vendors.map_or("gencl", |_| "intel");
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{driver}-{}", device.unwrap_or("process")));
    let picture = folder.join("mandelbrot.png");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(&picture);
    let program = beside("mandelbrot")?;
    let mut command = match device {
        Some(device) => on(device, program)?,
        None => Command::new(program),
    };
    if let Some(vendors) = vendors {
        command.env("OCL_ICD_VENDORS", vendors);
    }
    command.args(["96", "64"]).env("GENCL_DEVICE", gencl_device).current_dir(&folder);
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        return Err(format!("{command:?}: {}\n{}", output.status, text.concat()));
    }
    match picture.metadata() {
        Ok(picture) if picture.len() > 100 => Ok(()),
        other => Err(format!("no picture: {other:?}")),
    }
}
