//! The linker's part of the ICD: the library's name and its `.icd` file for tests.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in [
        "-soname,libgencl.so",
        // Calls and the dispatch table stay within the library, although libOpenCL.so has functions of the
        // same names.
        "-Bsymbolic",
        // The runtime's threads may still run when the application closes the library.
        "-z,nodelete",
    ] {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{argument}");
    }
    // A folder of its own: Debian's ICD loader takes a file in OCL_ICD_VENDORS as well, Khronos' only
    // folders.
    let directory = target_directory();
    let vendors = directory.join("vendors");
    fs::create_dir_all(&vendors)?;
    fs::write(vendors.join("gencl.icd"), format!("{}\n", directory.join("libgencl.so").display()))
}

/// Where cargo puts the library: `target/PROFILE`, of which the output directory of build scripts,
/// `target/PROFILE/build/NAME-HASH/out`, is a part.
fn target_directory() -> PathBuf {
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    Path::new(&out).ancestors().nth(3).expect("OUT_DIR is below target/PROFILE/build").to_owned()
}
