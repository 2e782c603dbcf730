//! `GENCL_DEBUG`: debug options of compiler and runtime.
//!
//! The variable holds names from [`OPTIONS`], separated by commas, some with a value: `ir,asm,simd=8`.
//! The table defines the options and the text of `genclc --help`.

use std::collections::BTreeMap;

use crate::environment;

/// One debug option.
#[derive(Clone, Copy, Debug)]
pub struct DebugOption {
    /// Its name.
    pub name: &'static str,
    /// Possible values; empty when the option takes none.
    pub value: &'static str,
    /// Description.
    pub help: &'static str,
}

impl DebugOption {
    fn takes(&self, value: &str) -> bool {
        self.value.is_empty() == value.is_empty()
            && (!self.value.contains('|') || self.value.split('|').any(|one| one == value))
    }

    /// The option as it is written: `simd=8|16|32`.
    fn form(&self) -> String {
        if self.value.is_empty() { self.name.to_owned() } else { format!("{}={}", self.name, self.value) }
    }
}

macro_rules! options {
    ($($(#[doc = $doc:literal])* $constant:ident $name:literal $value:literal $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $constant: &str = $name;
        )*

        /// All debug options.
        pub const OPTIONS: &[DebugOption] = &[$(DebugOption { name: $name, value: $value, help: $help }),*];
    };
}

options! {
    AST "ast" "" "Print clang's syntax tree.";
    LLVM "llvm" "" "Print LLVM IR before its translation to Gen IR.";
    LLVM_PASSES "llvm-passes" "" "Print LLVM IR after each step of the pipeline.";
    IR "ir" "" "Print Gen IR before code generation.";
    IR_PASSES "ir-passes" "" "Print Gen IR after each pass.";
    AFTER "after" "PASS" "Print LLVM IR after this step of the pipeline, or Gen IR after this pass.";
    ASM "asm" "" "Print machine code as assembly.";
    LIR "lir" "" "Print machine instructions on virtual registers.";
    STATS "stats" "" "Print statistics of each kernel.";
    TIME "time" "" "Print how long each pass takes.";
    VALIDATE "validate" "" "Check LLVM IR after each step, and each register allocation symbolically.";
    SIMD "simd" "8|16|32" "Compile for this SIMD width.";
    CONTROL_FLOW "control-flow" "structured|goto|block-ip" "Lower divergent control flow to structured branches, goto and join, or block numbers (block-ip).";
    QWORDS "qwords" "lowered" "Lower 64-bit integers to pairs of 32 bits, as for devices without them.";
    CRASH "crash" "PASS[:KERNEL]" "Make the compiler crash at the beginning of a pass.";
    STALL "stall" "PASS[:KERNEL]" "Make the compiler hang at the beginning of a pass.";
    BATCH "batch" "" "Print batch buffers before they are submitted.";
    PROFILE "profile" "FOLDER" "Compile with line tables, and write programs and the simulated GPU's counters of each process (gencl-profile shows them).";
    PROFILE_LAUNCHES "profile-launches" "FIRST-LAST" "With profile: count these launches only, several separated by + (gencl-profile --launch).";
    PROFILE_KERNELS "profile-kernels" "NAME" "With profile: count launches of these kernels only, several separated by + (gencl-profile --kernel).";
    FAST_PROFILE "fast-profile" "" "With profile: count executions and lanes in translated code, and nothing else (gencl-profile --fast).";
    DEBUGGER "debug" "FOLDER" "Compile for debugging, with variables in memory, and have the debugger that listens in this folder control launches on the simulated GPU (gencl-debug).";
    TRANSLATIONS "translations" "FOLDER" "Write the LLVM IR and the host's assembly of each kernel that is translated for the simulator.";
    HOST "host" "v2|v3|v4" "Translate for this level of x86-64, not for the host's processor; code for a level that it does not have is only written (translations).";
    CHECK "check" "" "Build kernels with checks of what they access and compute, look at calls of the API, and print what is found.";
    CHECK_TOOLS "check-tools" "NAMES" "With check: only these checks, of memory, arithmetic, race, sync, undefined, api, order, shift and overflow, separated by +; default is all but the last two (gencl-check --tool).";
    CHECK_GROUPS "check-groups" "NUMBER" "With check: look for data races in about this number of work-groups of a launch (gencl-check --groups).";
    CHECK_OUTPUT "check-output" "FOLDER" "With check: write what is found to a file of each process, instead of printing it (gencl-check shows it).";
    QUIET "quiet" "" "Print no messages on standard error about kernel faults, missing devices and invalid variables.";
    LOG "log" "error|warn|info|debug|trace" "Log to standard error; debug includes OpenCL calls that fail, trace all calls.";
}

/// The debug options that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debug {
    set: BTreeMap<&'static str, String>,
}

impl Debug {
    /// Parses the variable `GENCL_DEBUG`, which may name files. The second result is messages about invalid
    /// options.
    #[must_use]
    pub fn from_environment() -> (Self, Vec<String>) {
        Self::parse(&environment::trusted_value("GENCL_DEBUG").unwrap_or_default().to_string_lossy())
    }

    /// Parses options separated by commas. The second result is messages about invalid options.
    #[must_use]
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut debug = Self::default();
        let mut complaints = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            match OPTIONS.iter().find(|option| option.name == name) {
                None => complaints.push(format!(
                    "GENCL_DEBUG: {name} is ignored: the options are {}; genclc --help describes them",
                    OPTIONS.iter().map(|option| option.name).collect::<Vec<_>>().join(", ")
                )),
                Some(option) if !option.takes(value) => {
                    complaints.push(format!("GENCL_DEBUG: {word} is ignored: it takes {}", option.form()));
                }
                Some(option) => {
                    debug.set.insert(option.name, value.to_owned());
                }
            }
        }
        (debug, complaints)
    }

    /// Whether the option is set. `name` is one of this module's constants.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    /// Whether any option is set but these.
    #[must_use]
    pub fn is_any_set_but(&self, names: &[&str]) -> bool {
        self.set.keys().any(|name| !names.contains(name))
    }

    /// The option's value, if it is set.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.set.get(name).map(String::as_str)
    }
}

/// The table as text, one option per line.
#[must_use]
pub fn help() -> String {
    OPTIONS.iter().map(|option| format!("  {}\n", usage(option))).collect()
}

fn usage(option: &DebugOption) -> String {
    format!("{:<18} {}", option.form(), option.help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values() {
        let (debug, complaints) = Debug::parse("ir, simd=8,");
        assert!(complaints.is_empty(), "{complaints:?}");
        assert!(debug.is_set(IR));
        assert!(!debug.is_set(ASM));
        assert_eq!(debug.value(SIMD), Some("8"));
        assert!(debug.is_any_set_but(&[IR]));
        assert!(!debug.is_any_set_but(&[IR, SIMD, ASM]));
    }

    #[test]
    fn invalid_options_are_reported() {
        let (debug, complaints) = Debug::parse("irr,simd,asm=3,control-flow=linear");
        assert_eq!(debug, Debug::default());
        assert_eq!(complaints.len(), 4);
        assert!(complaints[0].starts_with("GENCL_DEBUG: irr is ignored: "));
        assert_eq!(complaints[1], "GENCL_DEBUG: simd is ignored: it takes simd=8|16|32");
        assert_eq!(complaints[2], "GENCL_DEBUG: asm=3 is ignored: it takes asm");
    }
}
