//! The built-in library: libclc with our own functions over it.
//!
//! libclc is installed as bitcode for NVIDIA's 64-bit and 32-bit targets, whose only target-specific parts
//! are the data layout, the triple and the number of the constant address space. These are rewritten in the
//! text form, also in mangled names.

use std::path::{Path, PathBuf};

use crate::llvm::{Llvm, VERSION, out_dir};
use crate::shards;

/// A size of pointers: the library is built once for each.
struct Machine {
    /// Bits of a pointer.
    bits: u32,
    /// The module's data layout; the driver sets the same on the user's module.
    triple: &'static str,
    data_layout: &'static str,
    /// libclc's bitcode.
    libclc: &'static str,
}

const MACHINES: [Machine; 2] = [
    Machine {
        bits: 64,
        triple: "spir64-unknown-unknown",
        data_layout: include_str!("../src/llvm/data_layout64.txt"),
        libclc: "nvptx64--.bc",
    },
    Machine {
        bits: 32,
        triple: "spir-unknown-unknown",
        data_layout: include_str!("../src/llvm/data_layout32.txt"),
        libclc: "nvptx--.bc",
    },
];

/// The language of our own functions: files whose names end with 20 need the later one.
fn language(source: &Path) -> &'static str {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    if stem.ends_with("20") { "-cl-std=CL2.0" } else { "-cl-std=CL1.2" }
}

/// Builds the library's bitcode and its index.
pub fn build(llvm: &Llvm) {
    let mut own: Vec<PathBuf> = std::fs::read_dir("library")
        .expect("compiler/library is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cl"))
        .collect();
    own.sort();
    println!("cargo::rerun-if-changed=library");
    std::thread::scope(|scope| {
        for machine in &MACHINES {
            println!("cargo::rerun-if-changed=src/llvm/data_layout{}.txt", machine.bits);
            scope.spawn(|| build_for(llvm, machine, &own));
        }
    });
}

fn build_for(llvm: &Llvm, machine: &Machine, own: &[PathBuf]) {
    // `llvm-link` drops functions with `linkonce` linkage that are not called, so they are `weak` while the
    // two are linked. Conversions need no functions (`src/conversion.rs`).
    let base = place(machine, "libclc.ll");
    llvm.run("llvm-extract", |command| {
        command
            .args(["-S", "--delete", "--rfunc=^_Z[0-9]+convert_"])
            .arg(libclc(machine))
            .arg("-o")
            .arg(&base)
    });
    check_version(&base);
    rewrite(&base, machine, |line| {
        let line = line
            .replace("addrspace(4)", "addrspace(2)")
            .replace("U3AS4", "U3AS2")
            .replace("linkonce_odr", "weak_odr");
        CALLED.iter().fold(line, |line, (mangled, name)| {
            line.replace(&format!("@{mangled}("), &format!("@__gencl_libclc_{name}("))
        })
    });

    let own: Vec<PathBuf> = own.iter().map(|source| compile(llvm, machine, source)).collect();
    let merged = place(machine, "library.ll");
    llvm.run("llvm-link", |command| {
        command.arg("-S").arg(&base);
        for module in &own {
            command.arg("--override").arg(module);
        }
        command.arg("-o").arg(&merged)
    });
    rewrite(&merged, machine, |line| line.replace(" weak_odr ", " linkonce_odr "));
    let text = std::fs::read_to_string(&merged).expect("just written");
    shards::write(llvm, &text, machine.bits);
}

/// Fails for the libclc of another LLVM, which other packages install in the same place: its functions have other
/// faults than those that are replaced here.
fn check_version(base: &Path) {
    let text = std::fs::read_to_string(base).expect("just written");
    let version = text.split("clang version ").nth(1).and_then(|rest| rest.split('.').next());
    assert!(
        version.is_none_or(|version| version == VERSION),
        "libclc is of clang {}: install libclc-{VERSION}, or set GENCL_LIBCLC",
        version.unwrap_or_default()
    );
}

/// Compiles one of our files to LLVM IR text.
fn compile(llvm: &Llvm, machine: &Machine, source: &Path) -> PathBuf {
    let name = source.file_name().expect("a file").to_string_lossy();
    let text = place(machine, &name).with_extension("ll");
    llvm.run("clang", |command| {
        command
            .args(["-cc1", "-triple", machine.triple, "-O2", language(source), "-emit-llvm", "-x", "cl"])
            .args(["-finclude-default-header", "-fdeclare-opencl-builtins", "-fno-builtin", "-Werror"])
            .args(["-disable-llvm-passes", "-ffp-contract=off", "-internal-isystem"])
            .arg(out_dir())
            .arg("-o")
            .arg(&text)
            .arg(source)
    });
    rewrite(&text, machine, |line| {
        line.replace("define dso_local ", "define weak_odr dso_local ").replace("spir_func ", "")
    });
    text
}

/// Functions of libclc that ours call (`library/edge_cases.cl`, `library/gamma.cl`): by their mangled names,
/// and by what comes after `__gencl_libclc_`.
const CALLED: &[(&str, &str)] = &[
    ("_Z3sind", "sin"),
    ("_Z3tand", "tan"),
    ("_Z4atand", "atan"),
    ("_Z5expm1d", "expm1"),
    ("_Z3erfd", "erf"),
    ("_Z8lgamma_rfPi", "lgamma_r_float"),
    ("_Z8lgamma_rdPi", "lgamma_r_double"),
];

/// Prefixes of lines that are dropped.
const DROPPED: &[&str] = &["; ", "source_filename", "!llvm.ident", "!llvm.module", "!opencl."];

/// Rewrites a module's text line by line; target, identification and function attributes of the target go.
fn rewrite(path: &Path, machine: &Machine, line: impl Fn(&str) -> String) {
    let text = std::fs::read_to_string(path).expect("just written");
    let mut result = String::with_capacity(text.len());
    for old in text.lines() {
        if old.starts_with("target datalayout") {
            result += &format!("target datalayout = \"{}\"", machine.data_layout.trim());
        } else if old.starts_with("target triple") {
            result += &format!("target triple = \"{}\"", machine.triple);
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

/// An attribute group without the strings that describe a target or the compilation. Clang takes each function for
/// convergent, so that LLVM would not merge calls; those that access no memory are not.
fn attributes(line: &str) -> String {
    let pure = line.contains(" memory(none) ");
    let is_kept = |word: &&str| match *word {
        "convergent" => !pure,
        word => !word.starts_with('"') || word.starts_with("\"no-builtins"),
    };
    line.split(' ').filter(is_kept).collect::<Vec<_>>().join(" ")
}

/// The path of a machine's file in `OUT_DIR`.
fn place(machine: &Machine, name: &str) -> PathBuf {
    out_dir().join(format!("{}-{name}", machine.bits))
}

/// libclc's bitcode: from the directory `GENCL_LIBCLC` or the directories of distributions.
fn libclc(machine: &Machine) -> PathBuf {
    println!("cargo::rerun-if-env-changed=GENCL_LIBCLC");
    let folders = match std::env::var_os("GENCL_LIBCLC") {
        Some(folder) => vec![PathBuf::from(folder)],
        None => ["/usr/lib/clc", "/usr/share/clc", "/usr/lib64/clc"].map(PathBuf::from).into(),
    };
    let candidates: Vec<PathBuf> = folders.iter().map(|folder| folder.join(machine.libclc)).collect();
    let found = candidates.iter().find(|path| path.exists());
    let found = found.unwrap_or_else(|| {
        panic!("libclc is not among {candidates:?}: install libclc-{VERSION}, or set GENCL_LIBCLC")
    });
    println!("cargo::rerun-if-changed={}", found.display());
    found.clone()
}
