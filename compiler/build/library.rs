//! The built-in library: libclc with our own functions over it.
//!
//! libclc comes compiled for NVIDIA's 64-bit target, which has nothing of NVIDIA in it but data layout, triple and the
//! number of the constant address space. These are rewritten in the text form, in mangled names too.

use std::path::{Path, PathBuf};

use crate::llvm::{Llvm, out_dir};
use crate::shards;

/// What the module says of its target; the driver gives the same to the user's module.
pub const DATA_LAYOUT: &str = include_str!("../src/llvm/data_layout.txt");

/// The language of our own functions: files whose names end with 20 need the later one.
fn language(source: &Path) -> &'static str {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    if stem.ends_with("20") { "-cl-std=CL2.0" } else { "-cl-std=CL1.2" }
}

/// Makes the library's bitcode and its index.
pub fn build(llvm: &Llvm) {
    let mut own: Vec<PathBuf> = std::fs::read_dir("library")
        .expect("compiler/library is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cl"))
        .collect();
    own.sort();
    println!("cargo::rerun-if-changed=library");
    println!("cargo::rerun-if-changed=src/llvm/data_layout.txt");

    // The linker that puts the two together would drop functions with the linkage `linkonce`, all of which nobody
    // calls here; so they are `weak` for that while.
    // Conversions need no functions (`src/conversion.rs`).
    let base = out_dir().join("libclc.ll");
    llvm.run("llvm-extract", |command| {
        command.args(["-S", "--delete", "--rfunc=^_Z[0-9]+convert_"]).arg(libclc()).arg("-o").arg(&base)
    });
    rewrite(&base, |line| {
        let line = line
            .replace("addrspace(4)", "addrspace(2)")
            .replace("U3AS4", "U3AS2")
            .replace("linkonce_odr", "weak_odr");
        CALLED.iter().fold(line, |line, (mangled, name)| {
            line.replace(&format!("@{mangled}("), &format!("@__gencl_libclc_{name}("))
        })
    });

    let own: Vec<PathBuf> = own.iter().map(|source| compile(llvm, source)).collect();
    let merged = out_dir().join("library.ll");
    llvm.run("llvm-link", |command| {
        command.arg("-S").arg(&base);
        for module in &own {
            command.arg("--override").arg(module);
        }
        command.arg("-o").arg(&merged)
    });
    rewrite(&merged, |line| line.replace(" weak_odr ", " linkonce_odr "));
    let text = std::fs::read_to_string(&merged).expect("just written");
    shards::write(llvm, &text);
}

/// Compiles one file of ours to LLVM IR text.
fn compile(llvm: &Llvm, source: &Path) -> PathBuf {
    let text = out_dir().join(source.file_name().expect("a file")).with_extension("ll");
    llvm.run("clang", |command| {
        command
            .args([
                "-cc1",
                "-triple",
                "spir64-unknown-unknown",
                "-O2",
                language(source),
                "-emit-llvm",
                "-x",
                "cl",
            ])
            .args(["-finclude-default-header", "-fdeclare-opencl-builtins", "-fno-builtin", "-Werror"])
            .args(["-disable-llvm-passes", "-ffp-contract=off", "-internal-isystem"])
            .arg(out_dir())
            .arg("-o")
            .arg(&text)
            .arg(source)
    });
    rewrite(&text, |line| {
        line.replace("define dso_local ", "define weak_odr dso_local ").replace("spir_func ", "")
    });
    text
}

/// Functions of libclc that ours call (`library/zeros.cl`): by their mangled names, and by what comes after `__gencl_libclc_`.
const CALLED: &[(&str, &str)] = &[
    ("_Z3sind", "sin"),
    ("_Z3tand", "tan"),
    ("_Z4atand", "atan"),
    ("_Z5expm1d", "expm1"),
    ("_Z3erfd", "erf"),
];

/// Lines that say nothing of functions.
const DROPPED: &[&str] = &["; ", "source_filename", "!llvm.ident", "!llvm.module", "!opencl."];

/// Rewrites a module's text line by line; target, identification and function attributes of the target go.
fn rewrite(path: &Path, line: impl Fn(&str) -> String) {
    let text = std::fs::read_to_string(path).expect("just written");
    let mut result = String::with_capacity(text.len());
    for old in text.lines() {
        if old.starts_with("target datalayout") {
            result += &format!("target datalayout = \"{}\"", DATA_LAYOUT.trim());
        } else if old.starts_with("target triple") {
            result += "target triple = \"spir64-unknown-unknown\"";
        } else if old.starts_with("attributes #") {
            result += &attributes(old);
        } else if old.is_empty() || DROPPED.iter().any(|prefix| old.starts_with(prefix)) {
            continue;
        } else {
            result += &line(old);
        }
        result.push('\n');
    }
    std::fs::write(path, result).expect("OUT_DIR can be written");
}

/// An attribute group without the strings that describe a target or the compilation.
fn attributes(line: &str) -> String {
    let words = line.split(' ').filter(|word| !word.starts_with('"') || word.starts_with("\"no-builtins"));
    words.collect::<Vec<_>>().join(" ")
}

/// libclc's bitcode: from `GENCL_LIBCLC` or where distributions put it.
fn libclc() -> PathBuf {
    println!("cargo::rerun-if-env-changed=GENCL_LIBCLC");
    let known = ["/usr/lib/clc/nvptx64--.bc", "/usr/share/clc/nvptx64--.bc", "/usr/lib64/clc/nvptx64--.bc"];
    let candidates: Vec<PathBuf> = match std::env::var_os("GENCL_LIBCLC") {
        Some(path) => vec![path.into()],
        None => known.iter().map(PathBuf::from).collect(),
    };
    let found = candidates.iter().find(|path| path.exists());
    let found = found.unwrap_or_else(|| {
        panic!("libclc's nvptx64--.bc is not among {candidates:?}: install libclc-19, or set GENCL_LIBCLC")
    });
    println!("cargo::rerun-if-changed={}", found.display());
    found.clone()
}
