//! Machine code, read by an independent disassembler. Every program that the suite builds is shown to it;
//! this test reports when there is none.

use gencl_utest::{Case, Gpu, Need, Outcome};

pub fn cases() -> Vec<Case> {
    vec![Case::new("machine_code_reads_the_same_elsewhere", reads_the_same).needing(Need::Witness)]
}

/// Kernels with all kinds of operations; building compares.
fn reads_the_same() -> Outcome {
    for name in ["integers", "floats", "compiler_switch", "local_reduce", "atomics", "private_array"] {
        Gpu::get()?.build(name, None)?;
    }
    Ok(())
}
