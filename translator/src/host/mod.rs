//! What code is made for.

pub mod codegen;

use std::sync::LazyLock;

use inkwell::targets::TargetMachine;

/// The host's vector registers.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    /// How many there are.
    pub count: usize,
    /// Bytes of each.
    pub bytes: usize,
    /// Whether instructions can be masked by element (AVX-512).
    pub masked: bool,
}

impl Vectors {
    fn of(features: &[&str]) -> Vectors {
        let has = |feature| features.contains(&feature);
        match () {
            () if has("+avx512f") => Vectors { count: 32, bytes: 64, masked: true },
            () if has("+avx") => Vectors { count: 16, bytes: 32, masked: false },
            () if has("+sse2") => Vectors { count: 16, bytes: 16, masked: false },
            () => Vectors { count: 32, bytes: 16, masked: false },
        }
    }
}

/// The levels of x86-64 (its ABI, "Micro-Architecture Levels"), and what each has that the one before has not.
const LEVELS: [(&str, &str); 3] = [
    ("v2", "+sse2,+cx16,+popcnt,+sahf,+sse3,+ssse3,+sse4.1,+sse4.2"),
    ("v3", "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"),
    ("v4", "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"),
];

/// What code is made for: which instructions there are. Which of them are fast is always as this machine's processor has it.
#[derive(Debug)]
pub struct Host {
    /// As LLVM calls it.
    cpu: String,
    /// LLVM's, separated by commas.
    features: String,
    /// Vector registers.
    pub vectors: Vectors,
    /// Whether there are conversions from and to half floats: F16C, since 2012, on x86; elsewhere they come with vectors.
    pub converts_halves: bool,
    /// Whether there is a fused multiply-add.
    pub fuses: bool,
}

impl Host {
    /// The processor of the machine on which this runs.
    pub fn own() -> &'static Host {
        static OWN: LazyLock<Host> = LazyLock::new(|| {
            let features = TargetMachine::get_host_cpu_features().to_string();
            Host::new(own_cpu(), features)
        });
        &OWN
    }

    /// A processor that has what a level of x86-64 has, and no more: `v2` to `v4`.
    pub fn named(name: &str) -> Option<&'static Host> {
        static ALL: LazyLock<Vec<Host>> = LazyLock::new(|| {
            let features = |last| LEVELS[..=last].iter().map(|level| level.1).collect::<Vec<_>>().join(",");
            (0..LEVELS.len()).map(|last| Host::new("x86-64".to_owned(), features(last))).collect()
        });
        LEVELS.iter().position(|level| level.0 == name).map(|number| &ALL[number])
    }

    fn new(cpu: String, features: String) -> Host {
        let own: Vec<_> = features.split(',').collect();
        let x86 = TargetMachine::get_default_triple().as_str().to_string_lossy().starts_with("x86");
        let converts_halves = !x86 || own.contains(&"+f16c");
        let fuses = !x86 || own.contains(&"+fma");
        Host { vectors: Vectors::of(&own), converts_halves, fuses, cpu, features }
    }

    /// Can this machine execute its code?
    pub fn is_here(&self) -> bool {
        let own: Vec<_> = Host::own().features.split(',').collect();
        self.features.split(',').all(|feature| !feature.starts_with('+') || own.contains(&feature))
    }

    /// The attributes of a function that keeps all registers for its callers, and whether it clears the upper parts of vectors before it calls another.
    ///
    /// No calling convention of x86 keeps them all, but an attribute that is for handlers of interrupts does (GCC's manual, "x86 Function Attributes"). The
    /// upper parts of vectors, which LLVM clears before functions return, have to be left alone; the callee may have code without vectors of that width,
    /// which is slow when they are not clear. Other hosts ignore the attribute.
    pub fn keeping_registers(&self) -> (Vec<String>, bool) {
        let mut keeps = vec!["noinline".to_owned(), "no_caller_saved_registers".to_owned()];
        let clears = self.features.split(',').any(|own| own == "+avx");
        if clears {
            let Host { cpu, features, .. } = self;
            keeps.extend([format!("target-cpu={cpu}"), format!("target-features={features},-vzeroupper")]);
        }
        (keeps, clears)
    }
}

/// What LLVM calls the processor on which this runs.
fn own_cpu() -> String {
    TargetMachine::get_host_cpu_name().to_string()
}
