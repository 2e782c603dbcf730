//! The installation of LLVM and clang that the compiler is built with.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of LLVM, clang and libclc, which `scripts/install-dependencies` and `scripts/dist` read here. The features
/// of `inkwell` in `Cargo.toml` name it, too; what else depends on it is in `docs/measurements/llvm.md`.
pub const VERSION: &str = "19";

/// An installation of LLVM.
pub struct Llvm {
    config: PathBuf,
    /// Directory of `clang`, `llvm-link` and so on.
    pub tools: PathBuf,
    include: PathBuf,
    libraries: PathBuf,
}

/// What a static link takes of LLVM, in `llvm-config`'s names: what the compiler itself calls, what clang's archives
/// call, and the one target that kernels are translated to.
const COMPONENTS: &[&str] = &[
    "bitreader",
    "bitwriter",
    "executionengine",
    "irreader",
    "linker",
    "lto",
    "passes",
    "coverage",
    "frontenddriver",
    "frontendhlsl",
    "frontendoffloading",
    "frontendopenmp",
    "option",
    "windowsdriver",
    "native",
    "nativecodegen",
];

/// Clang's archives for a static link, users before what they use.
const CLANG: &[&str] = &[
    "clangFrontend",
    "clangCodeGen",
    "clangDriver",
    "clangSerialization",
    "clangParse",
    "clangSema",
    "clangAPINotes",
    "clangEdit",
    "clangAnalysis",
    "clangASTMatchers",
    "clangSupport",
    "clangAST",
    "clangLex",
    "clangBasic",
];

impl Llvm {
    /// Finds LLVM with `llvm-config`: from `LLVM_SYS_191_PREFIX` (for LLVM 19) if it is set, as in llvm-sys, else
    /// from `PATH`.
    pub fn find() -> Self {
        let variable = format!("LLVM_SYS_{VERSION}1_PREFIX");
        println!("cargo::rerun-if-env-changed={variable}");
        let candidates = match std::env::var_os(&variable) {
            Some(prefix) => vec![Path::new(&prefix).join("bin/llvm-config")],
            None => vec![format!("llvm-config-{VERSION}").into(), "llvm-config".into()],
        };
        let is_wanted = |version: String| version.split('.').next() == Some(VERSION);
        let config = candidates.iter().find(|config| query(config, &["--version"]).is_some_and(is_wanted));
        let config = config.unwrap_or_else(|| {
            panic!("llvm-config of LLVM {VERSION} not found: install llvm-{VERSION}-dev, or set {variable}")
        });
        let path = |what| PathBuf::from(query(config, &[what]).expect("llvm-config answers"));
        Self {
            config: config.clone(),
            tools: path("--bindir"),
            include: path("--includedir"),
            libraries: path("--libdir"),
        }
    }

    /// Compiles the bridges to C++ and links clang and LLVM.
    pub fn build_bridges(&self) {
        let analyses = "src/llvm/analyses.h";
        for (name, source, headers) in [
            ("gencl_clang", "src/clang/clang.cpp", &[][..]),
            ("gencl_passes", "src/llvm/passes.cpp", &[analyses]),
            ("gencl_promote", "src/llvm/promote.cpp", &[]),
            ("gencl_widen", "src/llvm/widen.cpp", &[]),
            ("gencl_variables", "src/llvm/variables.cpp", &[]),
            ("gencl_unroll", "src/llvm/unroll.cpp", &[analyses]),
        ] {
            self.build_bridge(name, source, headers);
            println!("cargo::rustc-link-lib=static={name}");
        }
        println!("cargo::rustc-link-search=native={}", out_dir().display());
        println!("cargo::rustc-link-search=native={}", self.libraries.display());
        if cfg!(feature = "static") {
            self.link_archives();
        } else {
            for library in ["stdc++", "clang-cpp", &format!("LLVM-{VERSION}")] {
                println!("cargo::rustc-link-lib=dylib={library}");
            }
        }
    }

    /// Links clang, LLVM and what they need apart from the C library from archives, of which the linker takes what is
    /// used. They stay outside of the crate's own archive, which would be a gigabyte, and are the last arguments of
    /// the linker: all but LLVM's look for a symbol only in what comes after its use, and inkwell's come after this
    /// crate's.
    fn link_archives(&self) {
        self.build_bridge("gencl_stand_ins", "src/clang/stand_ins.cpp", &[]);
        let arguments = [&["--link-static", "--libnames"], COMPONENTS].concat();
        let names = query(&self.config, &arguments).expect("llvm-config knows the components");
        // Without those of Polly, which has a stand-in.
        let llvm = names.split_whitespace().filter(|name| name.starts_with("libLLVM"));
        let llvm = llvm.filter_map(|name| name.strip_prefix("lib")?.strip_suffix(".a"));
        let others = ["z", "zstd", "stdc++"];
        for library in others {
            println!("cargo::rustc-link-search=native={}", folder_of_archive(library).display());
        }
        let archives = CLANG.iter().copied().chain(llvm).chain(others).chain(["gencl_stand_ins"]);
        let archives = archives.map(|archive| format!("-l{archive}"));
        let [before, after] = ["-Wl,-Bstatic", "-Wl,-Bdynamic"].map(str::to_owned);
        for argument in [before].into_iter().chain(archives).chain([after]) {
            println!("cargo::rustc-link-arg={argument}");
        }
    }

    /// Compiles one file to a static library, unless it is up to date: clang's headers take minutes, and
    /// usually only the built-in library has changed.
    fn build_bridge(&self, name: &str, source: &str, headers: &[&str]) {
        let mut text = String::new();
        for file in headers.iter().chain([&source]) {
            println!("cargo::rerun-if-changed={file}");
            text += &std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{file}: {e}"));
        }
        let inputs = format!("{}\n{:?}\n{text}", self.include.display(), std::env::var("PROFILE"));
        let stamp = out_dir().join(format!("{name}.inputs"));
        let library = out_dir().join(format!("lib{name}.a"));
        if library.exists() && std::fs::read_to_string(&stamp).is_ok_and(|before| before == inputs) {
            return;
        }
        cc::Build::new()
            .cpp(true)
            .std("c++17")
            .file(source)
            .include(&self.include)
            // LLVM is built without run-time type information; a class derived from its classes has to be,
            // too.
            .flag("-fno-rtti")
            .flag("-fno-exceptions")
            .warnings(false)
            // These only call the libraries: their own speed does not matter, that of this build does.
            .opt_level(1)
            .debug(false)
            .cargo_metadata(false)
            .compile(name);
        std::fs::write(stamp, inputs).expect("OUT_DIR can be written");
    }

    /// Copies clang's `opencl-c-base.h` without its declarations for SPIR, which assume that every feature is
    /// supported, with our own features before it and our own declarations after it.
    pub fn prepare_base_header(&self) {
        let source = self.libraries.join(format!("clang/{VERSION}/include/opencl-c-base.h"));
        println!("cargo::rerun-if-changed={}", source.display());
        let text = std::fs::read_to_string(&source)
            .unwrap_or_else(|e| panic!("{}: {e}; install libclang-common-{VERSION}-dev", source.display()));
        let everything = "#if defined(__SPIR__) || defined(__SPIRV__)";
        assert!(text.contains(everything), "opencl-c-base.h is not as expected");
        let guard = "#define _OPENCL_BASE_H_\n";
        assert!(text.contains(guard), "opencl-c-base.h is not as expected");
        let own =
            |file: &str| std::fs::read_to_string(file).unwrap_or_else(|e| panic!("compiler/{file}: {e}"));
        let features = own("library/features.h");
        let text = text.replace(everything, "#if 0").replacen(guard, &format!("{guard}{features}"), 1)
            + &own("library/intel_subgroups.h");
        std::fs::write(out_dir().join("opencl-c-base.h"), text).expect("OUT_DIR can be written");
    }

    /// Runs one of LLVM's tools.
    pub fn run(&self, tool: &str, configure: impl FnOnce(&mut Command) -> &mut Command) {
        let mut command = Command::new(self.tools.join(tool));
        configure(&mut command);
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => panic!("{command:?}: {status}"),
            Err(e) => panic!("{command:?}: {e}; install llvm-{VERSION} and clang-{VERSION}"),
        }
    }
}

/// The folder in which the C++ compiler finds a library's archive.
fn folder_of_archive(library: &str) -> PathBuf {
    let name = format!("lib{library}.a");
    let compiler = cc::Build::new().cpp(true).get_compiler();
    let output = compiler.to_command().arg(format!("-print-file-name={name}")).output();
    let output = output.unwrap_or_else(|e| panic!("{}: {e}", compiler.path().display()));
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let folder = path.parent().filter(|folder| folder.is_absolute());
    folder.unwrap_or_else(|| panic!("{name} was not found")).to_owned()
}

/// `OUT_DIR`.
pub fn out_dir() -> PathBuf {
    std::env::var_os("OUT_DIR").expect("cargo sets it").into()
}

fn query(config: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(config).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
