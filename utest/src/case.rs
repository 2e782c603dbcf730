//! Test cases and the runner.

use gencl_program::debug::{CONTROL_FLOW, IMAGES, OPTIONS};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::process::Command;

use crate::device::Gpu;

/// What a test returns: an explanation when it fails.
pub type Outcome = Result<(), String>;

/// One test with its name.
pub struct Case {
    name: String,
    run: Box<dyn FnOnce() -> Outcome + Send>,
    /// What of gencl's own is tested, if it is not OpenCL.
    own: Option<&'static str>,
}

impl Case {
    /// A test. Names are what `make test` takes to select: `compiler_if_else/simd16`.
    pub fn new(name: impl Into<String>, run: impl FnOnce() -> Outcome + Send + 'static) -> Case {
        Case { name: name.into(), run: Box::new(run), own: None }
    }

    /// A test of what other drivers need not do. With them it is skipped, and `what` printed.
    pub fn of_gencl(
        what: &'static str,
        name: impl Into<String>,
        run: impl FnOnce() -> Outcome + Send + 'static,
    ) -> Case {
        Case { own: Some(what), ..Case::new(name, run) }
    }
}

/// One case for each SIMD width that the compiler can be told to use; `run` gets the width.
pub fn all_widths(name: &str, run: impl Fn(u32) -> Outcome + Clone + Send + 'static) -> Vec<Case> {
    let widths = Gpu::get().map_or(vec![8, 16, 32], Gpu::simd_widths);
    widths
        .into_iter()
        .map(|width| {
            let run = run.clone();
            Case::new(format!("{name}/simd{width}"), move || run(width))
        })
        .collect()
}

/// Cases of divergent control flow, and each of them again for every strategy that is not the default: the compiler is told
/// by `GENCL_DEBUG`, so these run this program anew, for the one case.
pub fn all_control_flows(cases: Vec<Case>) -> Vec<Case> {
    let option = OPTIONS.iter().find(|option| option.name == CONTROL_FLOW);
    let strategies = option.map_or("", |option| option.value).split('|').skip(1);
    let again: Vec<Case> = strategies
        .flat_map(|strategy| {
            cases.iter().map(move |case| {
                let name = case.name.clone();
                let case = format!("{name}/{strategy}");
                Case::of_gencl("its compiler's strategies", case, move || {
                    run_with(&name, &format!("{CONTROL_FLOW}={strategy}"))
                })
            })
        })
        .collect();
    cases.into_iter().chain(again).collect()
}

/// Cases that need images. gencl has them only when it is asked to (its kernels cannot use them yet), so these run this program anew, for the one case and with
/// `GENCL_DEBUG=images`; on other drivers without images they do nothing.
pub fn all_with_images(cases: Vec<Case>) -> Vec<Case> {
    let again = |Case { name, run, own }: Case| {
        let this = name.clone();
        let run = move || {
            let gpu = Gpu::get()?;
            if gpu.device.image_support().map_err(|error| error.to_string())? {
                run()
            } else if gpu.foreign_platform().is_none() {
                run_with(&this, IMAGES)
            } else {
                Ok(())
            }
        };
        Case { name, run: Box::new(run), own }
    };
    cases.into_iter().map(again).collect()
}

/// Runs one case with a debug option that is not set now.
fn run_with(name: &str, option: &str) -> Outcome {
    let set = std::env::var("GENCL_DEBUG").unwrap_or_default();
    if set.split(',').any(|word| word == option) {
        return Err(format!("GENCL_DEBUG={option} changes nothing"));
    }
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new(program)
        .args(["--exact", name])
        .env("GENCL_DEBUG", format!("{set},{option}"))
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.contains("1 passed") { Ok(()) } else { Err(text.into_owned()) }
}

/// Runs the cases as the command line asks (the options of `cargo test`) and ends the process.
pub fn main_with(cases: Vec<Case>) -> ! {
    let foreign = Gpu::get().ok().and_then(Gpu::foreign_platform);
    let arguments = Arguments::from_args();
    if let Some(platform) = foreign.as_ref().filter(|_| !arguments.list) {
        let mut skipped: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for case in &cases {
            if let Some(what) = case.own {
                skipped.entry(what).or_default().push(&case.name);
            }
        }
        for (what, names) in skipped {
            println!("skipped with {platform} ({what}): {}", names.join(", "));
        }
    }
    let trials = cases
        .into_iter()
        .map(|case| {
            let skipped = foreign.is_some() && case.own.is_some();
            Trial::test(case.name, move || (case.run)().map_err(Failed::from)).with_ignored_flag(skipped)
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit()
}
