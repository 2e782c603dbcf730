//! `GENCL_DEBUG`: debug options, for compiler and runtime.
//!
//! The variable holds names from [`OPTIONS`], separated by commas, some with a value: `ir,asm,simd=8`.
//! This table is what the code looks up, what `genclc --help` prints and what the documentation shows.

use std::collections::BTreeMap;

use crate::environment;

/// One debug option.
#[derive(Clone, Copy, Debug)]
pub struct DebugOption {
    /// Its name.
    pub name: &'static str,
    /// What its value may be; empty when it takes none.
    pub value: &'static str,
    /// What it does.
    pub help: &'static str,
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
    LLVM "llvm" "" "Print LLVM IR as it goes to the translation.";
    LLVM_PASSES "llvm-passes" "" "Print LLVM IR after each step of the pipeline.";
    IR "ir" "" "Print Gen IR as it goes to code generation.";
    IR_PASSES "ir-passes" "" "Print Gen IR after each pass.";
    ASM "asm" "" "Print machine code as assembly.";
    LIR "lir" "" "Print machine instructions on virtual registers.";
    STATS "stats" "" "Print what the compiler counted per kernel.";
    TIME "time" "" "Print how long each pass takes.";
    VALIDATE "validate" "" "Check LLVM IR after each step, and each register allocation symbolically.";
    SIMD "simd" "8|16|32" "Compile for this many lanes per thread.";
    CONTROL_FLOW "control-flow" "structured|goto|block-ip" "Run divergent control flow by this means.";
    QWORDS "qwords" "lowered" "Compute integers of 64 bits as pairs of 32 bits, as for machines without them.";
    CRASH "crash" "PASS[:KERNEL]" "Let the compiler crash when a pass begins.";
    STALL "stall" "PASS[:KERNEL]" "Let the compiler stand still when a pass begins.";
    BATCH "batch" "" "Print batch buffers before they are executed.";
    PROFILE "profile" "FILE" "Write what the simulated GPU counted for each kernel and instruction (gencl-stats shows it).";
    TRANSLATIONS "translations" "FOLDER" "Write the LLVM IR and the host's assembly of each kernel that is translated for the simulator.";
    HOST "host" "v2|v3|v4" "Translate for this level of x86-64, not for all that the processor has; a level that it has not is only shown (translations).";
    IMAGES "images" "" "State that the device has images: kernels that use them are compiled, but not launched yet.";
    QUIET "quiet" "" "Do not tell of faults of kernels, missing devices and meaningless variables on standard error.";
    LOG "log" "error|warn|info|debug|trace" "Print messages; debug adds OpenCL calls that fail, trace all of them.";
}

/// Debug options that were set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debug {
    set: BTreeMap<&'static str, String>,
}

impl Debug {
    /// Reads the variable `GENCL_DEBUG`, which may name files. What it holds that is no option is returned as
    /// messages for the user.
    #[must_use]
    pub fn from_environment() -> (Self, Vec<String>) {
        Self::parse(&environment::trusted_value("GENCL_DEBUG").unwrap_or_default().to_string_lossy())
    }

    /// Reads options separated by commas; the second result are messages about what was not understood.
    #[must_use]
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut debug = Self::default();
        let mut complaints = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            match OPTIONS.iter().find(|option| option.name == name) {
                None => complaints.push(format!(
                    "GENCL_DEBUG: there is no option {name}, but {}; genclc --help says what they do",
                    OPTIONS.iter().map(|option| option.name).collect::<Vec<_>>().join(", ")
                )),
                Some(option) if option.value.is_empty() != value.is_empty() => {
                    complaints.push(format!("GENCL_DEBUG: {}", usage(option)));
                }
                Some(option)
                    if option.value.contains('|') && !option.value.split('|').any(|v| v == value) =>
                {
                    complaints.push(format!("GENCL_DEBUG: {}", usage(option)));
                }
                Some(option) => {
                    debug.set.insert(option.name, value.to_owned());
                }
            }
        }
        (debug, complaints)
    }

    /// Is the option set? `name` is one of this module's constants.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    /// Is any option set but these?
    #[must_use]
    pub fn is_any_set_but(&self, names: &[&str]) -> bool {
        self.set.keys().any(|name| !names.contains(name))
    }

    /// The option's value when it is set.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.set.get(name).map(String::as_str)
    }
}

/// The table as text, one option a line.
#[must_use]
pub fn help() -> String {
    OPTIONS.iter().map(|option| format!("  {}\n", usage(option))).collect()
}

fn usage(option: &DebugOption) -> String {
    let value = if option.value.is_empty() { String::new() } else { format!("={}", option.value) };
    format!("{:<18} {}", format!("{}{value}", option.name), option.help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values() {
        let (debug, complaints) = Debug::parse("ir, simd=8,");
        assert!(complaints.is_empty(), "{complaints:?}");
        assert!(debug.is_set(IR));
        assert!(!debug.is_set(ASM));
        assert_eq!(debug.value(SIMD), Some("8"));
        assert!(debug.is_any_set_but(&[IR]));
        assert!(!debug.is_any_set_but(&[IR, SIMD, ASM]));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let (debug, complaints) = Debug::parse("irr,simd,asm=3,control-flow=linear");
        assert_eq!(debug, Debug::default());
        assert_eq!(complaints.len(), 4);
        assert!(complaints[0].contains("irr"));
    }
}
