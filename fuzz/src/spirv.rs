//! Modules of SPIR-V.

use gencl_spirv::{Environment, Features, translate};

/// A module from an application: LLVM IR, or an error.
pub fn spirv(data: &[u8]) {
    for (pointer_bits, triple) in [(64, "spir64-unknown-unknown"), (32, "spir-unknown-unknown")] {
        let environment = Environment {
            pointer_bits,
            triple,
            data_layout: "e",
            features: Features::ALL,
            correctly_rounded: false,
            lines: true,
            specialization: &[],
        };
        let _ = translate(data, &environment);
    }
}
