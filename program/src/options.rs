//! Options of builds and links (OpenCL 3.0, 5.8.6 and 5.8.7).
//!
//! The runtime parses them to refuse invalid ones before a build begins, the compiler to pass them to clang.

use thiserror::Error;

use crate::{Profile, suggest};

/// Options without a value, and the options for clang that each becomes.
const FLAGS: &[(&str, &[&str])] = &[
    ("-cl-single-precision-constant", &["-cl-single-precision-constant"]),
    ("-cl-denorms-are-zero", &[FLUSH_FLOATS]),
    (EXACT_DIVISION, &[EXACT_DIVISION]),
    // All calls are inlined in any case, which leaves little to disable.
    ("-cl-opt-disable", &[]),
    ("-cl-strict-aliasing", &[]),
    (UNIFORM_GROUPS, &[]),
    ("-cl-no-subgroup-ifp", &[]),
    ("-cl-mad-enable", &["-cl-mad-enable"]),
    ("-cl-no-signed-zeros", &["-cl-no-signed-zeros"]),
    ("-cl-unsafe-math-optimizations", &["-cl-unsafe-math-optimizations"]),
    ("-cl-finite-math-only", &["-cl-finite-math-only"]),
    (RELAXED_MATH, &[RELAXED_MATH]),
    (NO_WARNINGS, &[NO_WARNINGS]),
    ("-cl-kernel-arg-info", &["-cl-kernel-arg-info"]),
    ("-g", LINE_TABLES),
    ("-gline-tables-only", LINE_TABLES),
];

/// Makes clang set [`FLOAT_DENORMALS`] for each function.
const FLUSH_FLOATS: &str = "-fdenormal-fp-math-f32=preserve-sign";

/// LLVM's function attribute for the handling of denormal floats, and its value when they are flushed to
/// zero.
pub const FLOAT_DENORMALS: (&str, &str) = ("denormal-fp-math-f32", "preserve-sign,preserve-sign");

/// Divisions and square roots of floats are rounded correctly.
pub const EXACT_DIVISION: &str = "-cl-fp32-correctly-rounded-divide-sqrt";

/// Functions may be less precise, and NaN and infinity do not occur.
pub const RELAXED_MATH: &str = "-cl-fast-relaxed-math";

/// Makes clang write debug information with source lines and the sources' texts, the same in every folder.
pub const LINE_TABLES: &[&str] =
    &["-debug-info-kind=line-tables-only", "-dwarf-version=5", "-gembed-source", "-fdebug-compilation-dir=."];

/// The same with variables and types. Of options that contradict each other, clang takes the last one.
pub const VARIABLES: &[&str] =
    &["-debug-info-kind=standalone", "-dwarf-version=5", "-gembed-source", "-fdebug-compilation-dir=."];

/// All work-groups have the same size, although OpenCL C 2.0 and later allow others.
const UNIFORM_GROUPS: &str = "-cl-uniform-work-group-size";

/// The build log has errors only.
const NO_WARNINGS: &str = "-w";

/// Options for clang that take a value, in the same word or the next.
const WITH_VALUE: &[&str] = &["-D", "-I", "-U"];

/// The language, with a value in the same word or the next. It is always OpenCL C.
const LANGUAGE: &str = "-x";

/// Names of OpenCL C for [`LANGUAGE`].
const LANGUAGES: &[&str] = &["cl", "clc"];

/// A language for `-cl-std=`.
struct Standard {
    name: &'static str,
    /// Options for clang.
    clang: &'static [&'static str],
    /// Whether a device compiles it. Generic pointers are not optional in OpenCL C 2.0 and C++ for
    /// OpenCL 1.0.
    has: fn(&Profile) -> bool,
}

const fn standard(name: &'static str, clang: &'static [&'static str], has: fn(&Profile) -> bool) -> Standard {
    Standard { name, clang, has }
}

/// Work-items do not wait for each other where a function initializes its variables, which C++ for OpenCL allows.
const RACING_STATICS: &str = "-fno-threadsafe-statics";

/// The languages. Clang does not know OpenCL C 3.1: what that has beyond 3.0 is in the compiler's headers.
#[rustfmt::skip]
const STANDARDS: &[Standard] = &[
    standard("CL1.0", &["-cl-std=CL1.0"], |_| true),
    standard("CL1.1", &["-cl-std=CL1.1"], |_| true),
    DEFAULT_STANDARD,
    standard("CL2.0", &["-cl-std=CL2.0"], |p| p.generic_pointers),
    standard("CL3.0", &["-cl-std=CL3.0"], |_| true),
    standard("CL3.1", &["-cl-std=CL3.0", "-D__GENCL_OPENCL_C_3_1"], |_| true),
    standard("CLC++", &["-cl-std=CLC++1.0", RACING_STATICS], |p| p.generic_pointers),
    standard("CLC++1.0", &["-cl-std=CLC++1.0", RACING_STATICS], |p| p.generic_pointers),
    standard("CLC++2021", &["-cl-std=CLC++2021", RACING_STATICS], |_| true),
];

/// The version without `-cl-std=`: the latest 1.x, as the specification requires.
const DEFAULT_STANDARD: Standard = standard("CL1.2", &["-cl-std=CL1.2"], |_| true);

/// Optimisation levels, which other compilers accept.
const LEVELS: &[&str] = &["-O0", "-O1", "-O2", "-O3"];

/// Prefixes of options of other drivers: `-cl-intel-greater-than-4GB-buffer-required`, `-cl-nv-maxrregcount
/// 32`. They tune the driver's compiler, so programs are correct without them.
const VENDORS: &[&str] = &[
    "-cl-intel-",
    "-cl-nv-",
    "-cl-amd-",
    "-cl-arm-",
    "-cl-qcom-",
    "-cl-pocl-",
    // Intel's driver accepts those of Level Zero, too.
    "-ze-",
    // Intel's emulation of doubles, and of conversions from and to them.
    "-cl-fp64-gen-",
    // The debugger's code that Intel's driver adds.
    "-cl-include-sip-",
];

/// Options of Intel's driver without such a prefix (the intel-graphics-compiler's `BuildOptionsAreValid`), and whether their value
/// is the next word.
const INTEL: &[(&str, bool)] = &[
    ("-cl-match-sincospi", false),
    ("-cl-replace-global-offsets-by-zero", false),
    ("-cl-kernel-debug-enable", false),
    ("-cl-force-global-mem-allocation", false),
    ("-cl-no-local-to-generic", false),
    ("-cl-poison-unsupported-fp64-kernels", false),
    ("-dwarf-column-info", false),
    ("-profiler", false),
    ("-igc_opts", true),
    ("-Xfinalizer", true),
    // The source file, for a debugger.
    ("-s", true),
];

/// Link options of libraries.
const LIBRARY: &str = "-create-library";
const LINK_OPTIONS: &str = "-enable-link-options";

/// Link options that allow less precise mathematics. They have no effect, as objects are compiled with or
/// without them.
const ALLOWANCES: &[&str] = &[
    "-cl-denorms-are-zero",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    RELAXED_MATH,
    "-cl-no-subgroup-ifp",
];

/// An error in options.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// An unknown option.
    #[error("unknown option {0}{hint}", hint = suggest::did_you_mean(.0, known()))]
    Unknown(String),
    /// An option without its value at the end.
    #[error("option {0} needs a value")]
    NoValue(String),
    /// `-cl-std=` with a version that does not exist or that the device does not compile, and those that it does.
    #[error("-cl-std={0}: this device compiles {1}")]
    Standard(String, String),
    /// `-x` with another language.
    #[error("-x {0}: the language is cl, OpenCL C")]
    Language(String),
    /// An unclosed quotation mark.
    #[error("a quotation mark is not closed in the options")]
    Quote,
    /// A link option that is only for libraries.
    #[error("-enable-link-options needs -create-library")]
    NoLibrary,
}

/// Options to suggest for unknown ones.
fn known() -> impl Iterator<Item = &'static str> {
    let flags = FLAGS.iter().map(|(flag, _)| *flag);
    flags.chain(ALLOWANCES.iter().copied()).chain([
        "-cl-std=CL1.2",
        "-cl-std=CL3.0",
        "-cl-std=CL3.1",
        LIBRARY,
        LINK_OPTIONS,
    ])
}

/// The languages that a device compiles.
fn standards(profile: &Profile) -> impl Iterator<Item = &'static Standard> {
    STANDARDS.iter().filter(|standard| (standard.has)(profile))
}

/// Options of a build or compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// Arguments for clang.
    pub arguments: Vec<String>,
    /// Whether work-groups may be uneven. Since OpenCL C 2.0, unless an option forbids it.
    pub uneven_groups: bool,
    /// Lines for the build log about options of other drivers, which have no effect.
    pub notes: String,
}

impl BuildOptions {
    /// Parses the options for a device with a profile.
    ///
    /// # Errors
    /// An option that neither OpenCL nor another driver defines: `CL_INVALID_BUILD_OPTIONS`,
    /// `CL_INVALID_COMPILER_OPTIONS`.
    pub fn parse(text: &str, profile: &Profile) -> Result<Self, OptionsError> {
        let mut arguments = Vec::new();
        let mut standard = &DEFAULT_STANDARD;
        let (mut uniform, mut silent) = (false, false);
        let mut other_drivers = OtherDrivers::default();
        let mut words = split(text)?.into_iter().peekable();
        while let Some(word) = words.next() {
            let mut value_of = |flag: &str| match &word[flag.len()..] {
                "" => words.next().ok_or_else(|| OptionsError::NoValue(flag.into())),
                value => Ok(value.to_owned()),
            };
            if let Some((flag, clang)) = FLAGS.iter().find(|(flag, _)| *flag == word) {
                uniform |= *flag == UNIFORM_GROUPS;
                silent |= *flag == NO_WARNINGS;
                arguments.extend(clang.iter().map(ToString::to_string));
            } else if let Some(version) = word.strip_prefix("-cl-std=") {
                let Some(known) = standards(profile).find(|known| known.name == version) else {
                    let known = standards(profile).map(|known| known.name).collect::<Vec<_>>().join(", ");
                    return Err(OptionsError::Standard(version.into(), known));
                };
                standard = known;
            } else if let Some(flag) = WITH_VALUE.iter().find(|flag| word.starts_with(**flag)) {
                let value = value_of(flag)?;
                arguments.extend([(*flag).to_owned(), value]);
            } else if word.starts_with(LANGUAGE) {
                let language = value_of(LANGUAGE)?;
                if !LANGUAGES.contains(&language.as_str()) {
                    return Err(OptionsError::Language(language));
                }
            } else if is_warning(&word) {
                arguments.push(word);
            } else if !other_drivers.takes(&word, &mut words) {
                return Err(OptionsError::Unknown(word));
            }
        }
        let uneven_groups = !standard.name.starts_with("CL1") && !uniform;
        arguments.extend(standard.clang.iter().map(ToString::to_string));
        Ok(Self { arguments, uneven_groups, notes: if silent { String::new() } else { other_drivers.notes } })
    }
}

/// Options of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkOptions {
    /// `-create-library`
    pub library: bool,
    /// See [`BuildOptions::notes`].
    pub notes: String,
}

impl LinkOptions {
    /// Parses linker options.
    ///
    /// # Errors
    /// An option that neither OpenCL nor another driver defines: `CL_INVALID_LINKER_OPTIONS`.
    pub fn parse(text: &str) -> Result<Self, OptionsError> {
        let (mut library, mut enable) = (false, false);
        let mut other_drivers = OtherDrivers::default();
        let mut words = split(text)?.into_iter().peekable();
        while let Some(word) = words.next() {
            match word.as_str() {
                LIBRARY => library = true,
                LINK_OPTIONS => enable = true,
                allowance if ALLOWANCES.contains(&allowance) => {}
                _ if other_drivers.takes(&word, &mut words) => {}
                _ => return Err(OptionsError::Unknown(word)),
            }
        }
        if enable && !library {
            return Err(OptionsError::NoLibrary);
        }
        Ok(Self { library, notes: other_drivers.notes })
    }
}

/// Whether this is `-W` with the name of a warning, not options for an assembler or linker (`-Wl,...`).
fn is_warning(word: &str) -> bool {
    let name = |character: char| character.is_ascii_alphanumeric() || "-+=_".contains(character);
    word.strip_prefix("-W").is_some_and(|rest| rest.chars().all(name))
}

/// Options of other drivers.
#[derive(Default)]
struct OtherDrivers {
    notes: String,
}

impl OtherDrivers {
    /// Accepts an option of another driver, and its value in the next word, with a line for the log.
    fn takes(&mut self, word: &str, next: &mut std::iter::Peekable<impl Iterator<Item = String>>) -> bool {
        let vendor = VENDORS.iter().any(|prefix| word.starts_with(prefix));
        let intel = INTEL.iter().find(|(option, _)| *option == word);
        if !vendor && intel.is_none() && !LEVELS.contains(&word) {
            return false;
        }
        if vendor {
            next.next_if(|value| !value.starts_with('-'));
        } else if intel.is_some_and(|&(_, value)| value) {
            next.next();
        }
        self.notes += &format!("warning: option {word} has no effect\n");
        true
    }
}

/// Splits at blanks, except in quotation marks of both kinds and after a backslash.
fn split(text: &str) -> Result<Vec<String>, OptionsError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(mark), c) if c == mark => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                word.get_or_insert_default().extend(characters.next());
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() { Err(OptionsError::Quote) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use gencl_device_info::Family;

    use super::*;

    fn parsed(options: &str) -> BuildOptions {
        BuildOptions::parse(options, &Profile::of(Family::Skl)).unwrap()
    }

    fn arguments(options: &str) -> Vec<String> {
        parsed(options).arguments
    }

    #[test]
    fn the_default_is_opencl_c_1_2() {
        assert_eq!(arguments(""), ["-cl-std=CL1.2"]);
        assert_eq!(arguments("-cl-std=CL3.0"), ["-cl-std=CL3.0"]);
        assert_eq!(arguments("-cl-std=CL3.1")[0], "-cl-std=CL3.0");
    }

    #[test]
    fn values_are_in_the_same_word_or_the_next() {
        let expected = ["-D", "A=1", "-D", "B", "-U", "C", "-I", "some where", "-cl-std=CL1.2"];
        assert_eq!(arguments("-DA=1 -D B -U C  -I\"some where\""), expected);
        assert_eq!(arguments(r"-D A=1 -DB -UC -I some\ where"), expected);
        assert_eq!(arguments(r#"-D 'S="x"'"#)[1], r#"S="x""#);
    }

    #[test]
    fn all_flags_are_accepted() {
        for (flag, clang) in FLAGS {
            assert_eq!(arguments(flag)[..clang.len()], **clang);
        }
    }

    #[test]
    fn uneven_groups_by_language() {
        let allowed = |options| parsed(options).uneven_groups;
        assert!(!allowed(""));
        assert!(!allowed("-w -cl-std=CL1.2"));
        assert!(allowed("-cl-std=CL2.0 -w"));
        assert!(allowed("-cl-std=CLC++"));
        assert!(!allowed("-cl-std=CL3.0 -cl-uniform-work-group-size"));
    }

    #[test]
    fn warnings_are_passed_to_clang() {
        assert_eq!(arguments("-Wall -Werror")[..2], ["-Wall", "-Werror"]);
        assert_eq!(arguments("-Wno-error=unused -W")[..2], ["-Wno-error=unused", "-W"]);
    }

    #[test]
    fn the_language_is_opencl_c() {
        for options in ["-x cl", "-x clc", "-xcl"] {
            assert_eq!(arguments(options), ["-cl-std=CL1.2"]);
        }
    }

    #[test]
    fn options_of_other_drivers_are_accepted() {
        let line = |option: &str| format!("warning: option {option} has no effect\n");
        let known =
            ["-O0", "-O3", "-cl-intel-greater-than-4GB-buffer-required", "-cl-nv-verbose", "-cl-pocl-x=1"];
        for option in known {
            assert_eq!(parsed(option), BuildOptions { notes: line(option), ..parsed("") });
            assert_eq!(LinkOptions::parse(option).unwrap().notes, line(option));
        }
        assert_eq!(
            parsed("-cl-nv-maxrregcount 32 -D A -O2").notes,
            line("-cl-nv-maxrregcount") + &line("-O2")
        );
        assert_eq!(parsed("-cl-nv-verbose -w").notes, "");
        // The value of one of Intel's options may begin as an option does.
        assert_eq!(
            parsed("-igc_opts '-x=1' -ze-opt-large-register-file").notes,
            line("-igc_opts") + &line("-ze-opt-large-register-file")
        );
    }

    #[test]
    fn undefined_options_are_refused() {
        let error = |options| BuildOptions::parse(options, &Profile::of(Family::Skl)).unwrap_err();
        for unknown in ["-cl-fast", "-emit-llvm", "file.cl", "-O4", "-Wl,-x", "-cl-no-vendor", "-"] {
            assert_eq!(error(unknown), OptionsError::Unknown(unknown.into()));
        }
        assert_eq!(error("-O2 32"), OptionsError::Unknown("32".into()));
        for flag in ["-D", "-I", "-U", "-x"] {
            assert_eq!(error(flag), OptionsError::NoValue(flag.into()));
        }
        assert_eq!(error("-x spir"), OptionsError::Language("spir".into()));
        assert_eq!(error("-D 'A"), OptionsError::Quote);
    }

    #[test]
    fn versions_of_the_message_are_those_that_compile() {
        for &family in Family::ALL {
            let profile = &Profile::of(family);
            let message = BuildOptions::parse("-cl-std=CL9", profile).unwrap_err().to_string();
            let listed: Vec<&str> = message.rsplit("compiles ").next().unwrap().split(", ").collect();
            for Standard { name, .. } in STANDARDS {
                let compiles = BuildOptions::parse(&format!("-cl-std={name}"), profile).is_ok();
                assert_eq!(listed.contains(name), compiles, "{family}: {name}: {message}");
            }
            assert_eq!(message.contains("CL2.0"), profile.generic_pointers, "{family}: {message}");
        }
    }

    #[test]
    fn messages_say_what_to_write() {
        let message =
            |options| BuildOptions::parse(options, &Profile::of(Family::Skl)).unwrap_err().to_string();
        let suggested = "unknown option -cl-fast-relaxed-mat; did you mean -cl-fast-relaxed-math?";
        assert_eq!(message("-cl-fast-relaxed-mat"), suggested);
        assert_eq!(message("-foo"), "unknown option -foo");
        assert!(
            message("-cl-std=CL9")
                .ends_with("CL1.0, CL1.1, CL1.2, CL2.0, CL3.0, CL3.1, CLC++, CLC++1.0, CLC++2021")
        );
    }

    #[test]
    fn options_of_links() {
        let library = LinkOptions { library: true, ..LinkOptions::default() };
        assert_eq!(LinkOptions::parse("").unwrap(), LinkOptions::default());
        assert_eq!(LinkOptions::parse(" -create-library  -enable-link-options ").unwrap(), library);
        for allowance in ALLOWANCES {
            assert_eq!(LinkOptions::parse(allowance).unwrap(), LinkOptions::default());
        }
        assert_eq!(LinkOptions::parse("-enable-link-options"), Err(OptionsError::NoLibrary));
        assert_eq!(LinkOptions::parse("-DX"), Err(OptionsError::Unknown("-DX".into())));
        assert_eq!(LinkOptions::parse("'-create-library"), Err(OptionsError::Quote));
    }
}
