//! Build options (OpenCL 1.2, 5.6.4; OpenCL 3.0, 5.8.6).

use gencl_program::{Optional, Profile};
use thiserror::Error;

/// Options that stand alone, and what clang is told for each.
const FLAGS: &[(&str, &[&str])] = &[
    ("-cl-single-precision-constant", &["-cl-single-precision-constant"]),
    ("-cl-denorms-are-zero", &[FLUSH_FLOATS]),
    (EXACT_DIVISION, &[EXACT_DIVISION]),
    // Calls are inlined whatever the optimisation, and then there is little left to disable.
    ("-cl-opt-disable", &[]),
    ("-cl-strict-aliasing", &[]),
    ("-cl-uniform-work-group-size", &[]),
    ("-cl-no-subgroup-ifp", &[]),
    ("-cl-mad-enable", &["-cl-mad-enable"]),
    ("-cl-no-signed-zeros", &["-cl-no-signed-zeros"]),
    ("-cl-unsafe-math-optimizations", &["-cl-unsafe-math-optimizations"]),
    ("-cl-finite-math-only", &["-cl-finite-math-only"]),
    (RELAXED_MATH, &[RELAXED_MATH]),
    ("-w", &["-w"]),
    ("-Werror", &["-Werror"]),
    ("-cl-kernel-arg-info", &["-cl-kernel-arg-info"]),
    ("-g", LINE_TABLES),
];

/// Gives each function [`FLOAT_DENORMALS`].
const FLUSH_FLOATS: &str = "-fdenormal-fp-math-f32=preserve-sign";

/// The attribute that tells what becomes of denormal floats in a function, and its value where they become zeros.
pub const FLOAT_DENORMALS: (&str, &str) = ("denormal-fp-math-f32", "preserve-sign,preserve-sign");

/// Divisions and square roots of floats are rounded correctly.
pub const EXACT_DIVISION: &str = "-cl-fp32-correctly-rounded-divide-sqrt";

/// Functions may be less exact, and NaN and infinity do not occur.
pub const RELAXED_MATH: &str = "-cl-fast-relaxed-math";

/// Makes clang say where each instruction comes from.
pub const LINE_TABLES: &[&str] = &["-debug-info-kind=line-tables-only", "-dwarf-version=5"];

/// Options that take a value, in the same word or the next.
const WITH_VALUE: &[&str] = &["-D", "-I"];

/// Versions of OpenCL C that `-cl-std=` takes.
const STANDARDS: &[&str] = &["CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"];

/// The version without `-cl-std=`: the latest 1.x, as the specification has it.
const DEFAULT_STANDARD: &str = "CL1.2";

/// Extensions and features that clang knows, and which targets have them.
#[rustfmt::skip]
const FEATURES: &[Optional] = &[
    ("cl_khr_global_int32_base_atomics,+cl_khr_global_int32_extended_atomics", |_| true),
    ("cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics", |_| true),
    ("cl_khr_byte_addressable_store,+cl_khr_subgroups,+__cl_clang_bitfields", |_| true),
    ("__opencl_c_int64,+__opencl_c_program_scope_global_variables,+__opencl_c_subgroups", |_| true),
    ("__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst,+__opencl_c_atomic_scope_device", |_| true),
    ("cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics", |p| p.long_atomics),
    ("cl_khr_fp16", |p| p.half),
    ("cl_khr_fp64,+__opencl_c_fp64", |p| p.double),
    ("__opencl_c_generic_address_space", |p| p.generic_pointers),
];

/// Told to clang always: the version of the device.
const DEVICE: &[&str] = &[
    "-D__OPENCL_VERSION__=300",
    // Clang takes images for granted.
    "-U__IMAGE_SUPPORT__",
];

/// `CL_INVALID_BUILD_OPTIONS`, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// No such option.
    #[error("unknown build option {0}")]
    Unknown(String),
    /// `-D` or `-I` at the end.
    #[error("build option {0} needs a value")]
    NoValue(String),
    /// `-cl-std=` with something else.
    #[error("{0} is not a version of OpenCL C that this device compiles")]
    Standard(String),
    /// A quotation mark without its second.
    #[error("a quotation mark is not closed in the build options")]
    Quote,
}

/// Makes clang's arguments of an application's build options.
///
/// # Errors
/// Anything that OpenCL does not define.
pub fn clang_arguments(options: &str, profile: &Profile) -> Result<Vec<String>, OptionsError> {
    let mut arguments: Vec<String> = DEVICE.iter().map(ToString::to_string).collect();
    let features = FEATURES
        .iter()
        .filter(|(_, has)| has(profile))
        .fold(String::new(), |list, (name, _)| list + ",+" + name);
    arguments.push(format!("-cl-ext=-all{features}"));
    let mut standard = DEFAULT_STANDARD.to_owned();
    let mut words = split(options)?.into_iter();
    while let Some(word) = words.next() {
        if let Some((_, clang)) = FLAGS.iter().find(|(flag, _)| *flag == word) {
            arguments.extend(clang.iter().map(ToString::to_string));
        } else if let Some(version) = word.strip_prefix("-cl-std=") {
            // OpenCL C 2.0 has generic pointers, without a choice.
            if !STANDARDS.contains(&version) || version == "CL2.0" && !profile.generic_pointers {
                return Err(OptionsError::Standard(version.into()));
            }
            standard = version.into();
        } else if let Some(flag) = WITH_VALUE.iter().find(|flag| word.starts_with(**flag)) {
            let value = match &word[flag.len()..] {
                "" => words.next().ok_or_else(|| OptionsError::NoValue((*flag).into()))?,
                value => value.to_owned(),
            };
            arguments.extend([(*flag).to_owned(), value]);
        } else {
            return Err(OptionsError::Unknown(word));
        }
    }
    arguments.push(format!("-cl-std={standard}"));
    Ok(arguments)
}

/// Do build options allow uneven work-groups? Since OpenCL C 2.0 they do, unless one forbids it.
///
/// # Errors
/// A quotation mark without its second.
pub fn allows_uneven_groups(options: &str) -> Result<bool, OptionsError> {
    let mut version = false;
    let mut uniform = false;
    for option in split(options)? {
        match option.strip_prefix("-cl-std=") {
            Some(standard) => version = !standard.starts_with("CL1"),
            None => uniform |= option == "-cl-uniform-work-group-size",
        }
    }
    Ok(version && !uniform)
}

/// Splits at blanks. Quotation marks of both kinds keep blanks, a backslash keeps the next character.
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
    use super::*;

    /// Arguments that come from the options and not from the device.
    fn own(options: &str) -> Vec<String> {
        clang_arguments(options, Profile::of("skl")).unwrap().split_off(DEVICE.len() + 1)
    }

    #[test]
    fn the_default_is_opencl_c_1_2() {
        assert_eq!(own(""), ["-cl-std=CL1.2"]);
        assert_eq!(own("-cl-std=CL3.0"), ["-cl-std=CL3.0"]);
    }

    #[test]
    fn values_stand_in_the_same_word_or_the_next() {
        let expected = ["-D", "A=1", "-D", "B", "-I", "some where", "-cl-std=CL1.2"];
        assert_eq!(own("-DA=1 -D B  -I\"some where\""), expected);
        assert_eq!(own(r"-D A=1 -DB -I some\ where"), expected);
        assert_eq!(own(r#"-D 'S="x"'"#)[1], r#"S="x""#);
    }

    #[test]
    fn flags_are_known_one_by_one() {
        for (flag, clang) in FLAGS {
            assert_eq!(own(flag)[..clang.len()], **clang);
        }
    }

    #[test]
    fn uneven_groups_by_language() {
        let allowed = |options| allows_uneven_groups(options).unwrap();
        assert!(!allowed(""));
        assert!(!allowed("-w -cl-std=CL1.2"));
        assert!(allowed("-cl-std=CL2.0 -w"));
        assert!(!allowed("-cl-std=CL3.0 -cl-uniform-work-group-size"));
    }

    #[test]
    fn what_is_not_defined_is_refused() {
        let of = |target, options| clang_arguments(options, Profile::of(target)).unwrap_err();
        let error = |options| of("skl", options);
        assert_eq!(error("-cl-fast"), OptionsError::Unknown("-cl-fast".into()));
        assert_eq!(error("-emit-llvm"), OptionsError::Unknown("-emit-llvm".into()));
        assert_eq!(error("file.cl"), OptionsError::Unknown("file.cl".into()));
        assert_eq!(error("-D"), OptionsError::NoValue("-D".into()));
        assert_eq!(error("-cl-std=CL4.0"), OptionsError::Standard("CL4.0".into()));
        assert_eq!(error("-D 'A"), OptionsError::Quote);
        assert_eq!(of("hsw", "-cl-std=CL2.0"), OptionsError::Standard("CL2.0".into()));
    }
}
