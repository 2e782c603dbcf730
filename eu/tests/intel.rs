//! Machine code of Intel's own compiler is accepted in strict mode, and all of its instructions are
//! simulated. Needs `ocloc` (Debian package `intel-opencl-icd`).

use std::path::{Path, PathBuf};
use std::process::Command;

use gencl_eu::Kernel;
use gencl_eu::device::Device;
use gencl_eu::op::Action;
use gencl_testing::harness::{self, missing_programs, test_unless};

/// The simulator's and the compiler's name of a device, for each set of rules.
const DEVICES: &[(&str, &str)] = &[("bdw", "bdw"), ("skl", "skl"), ("bxt", "bxt"), ("glk", "glk")];

/// Machine code of the kernels in `tests/intel.cl` for a device.
fn compile(device: &str) -> Vec<(String, Vec<u8>)> {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("gencl-eu-intel-{device}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the results");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/intel.cl");
    let run = |arguments: &[&str]| {
        Command::new("ocloc")
            .args(arguments)
            .args(["-device", device])
            .current_dir(&folder)
            .output()
            .expect("ocloc runs")
    };
    let file = source.to_str().expect("a path in UTF-8");
    let compiled = run(&["compile", "-file", file, "-output", "kernels", "-output_no_suffix"]);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stdout));
    run(&["disasm", "-file", "kernels", "-dump", "parts"]);
    let entries = std::fs::read_dir(folder.join("parts")).expect("the parts of the program");
    let mut kernels: Vec<(String, Vec<u8>)> = entries
        .filter_map(|entry| {
            let path = entry.expect("a readable folder").path();
            let name = path.file_name()?.to_string_lossy().strip_suffix("_KernelHeap.dat")?.to_owned();
            Some((name, std::fs::read(&path).expect("a readable file")))
        })
        .collect();
    kernels.sort();
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    kernels
}

fn main() -> ! {
    let test = |&(name, intels_name): &(&'static str, &'static str)| {
        test_unless(
            missing_programs(&["ocloc"]),
            format!("intels_kernels_are_accepted_on_{name}"),
            move || {
                let kernels = compile(intels_name);
                assert_eq!(kernels.len(), 3);
                accepts(Device::named(name).expect("the device is in the table"), kernels);
                Ok(())
            },
        )
    };
    harness::run(DEVICES.iter().map(test).collect())
}

fn accepts(device: &Device, kernels: Vec<(String, Vec<u8>)>) {
    for (name, code) in kernels {
        let kernel = Kernel::decode(device, &code, 0, true).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(kernel.ops().len() > 10, "{name} has {} instructions", kernel.ops().len());
        for (index, op) in kernel.ops().iter().enumerate() {
            if let Action::Refused(fault) = &op.action {
                panic!("{name}: {}", kernel.place((**fault).clone(), index));
            }
        }
    }
}
