//! Machine code of Intel's own compiler is accepted in strict mode, and all of its instructions are
//! simulated. Needs `ocloc` (Debian package `intel-opencl-icd`).

use std::path::Path;

use gencl_eu::Kernel;
use gencl_eu::device::Device;
use gencl_eu::op::Action;
use gencl_testing::harness::{self, missing_programs, test_unless};
use gencl_testing::ocloc;

/// The simulator's and the compiler's name of a device, for each set of rules.
const DEVICES: &[(&str, &str)] = &[("bdw", "bdw"), ("skl", "skl"), ("bxt", "bxt"), ("glk", "glk")];

fn main() -> ! {
    let test = |&(name, intels_name): &(&'static str, &'static str)| {
        test_unless(
            missing_programs(&["ocloc"]),
            format!("intels_kernels_are_accepted_on_{name}"),
            move || {
                let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/intel.cl");
                let kernels = ocloc::compile(&source, intels_name);
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
                panic!("{name}: {}", kernel.locate((**fault).clone(), index));
            }
        }
    }
}
