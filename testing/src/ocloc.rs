//! Intel's offline compiler (Debian package `intel-opencl-icd`).

use std::path::Path;
use std::process::Command;

/// Names and machine code of the kernels in a file, for a device as `ocloc` names it; sorted by name. Panics
/// when they cannot be compiled.
pub fn compile(source: &Path, device: &str) -> Vec<(String, Vec<u8>)> {
    let stem = source.file_stem().expect("the name of a file").to_string_lossy();
    let folder = std::env::temp_dir().join(format!("gencl-{stem}-{device}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the results");
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
