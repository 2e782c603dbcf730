//! Test cases and the runner.

use gencl_program::debug::{CONTROL_FLOW, IMAGES, OPTIONS};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::process::Command;

use crate::device::Gpu;
use crate::need::Need;

/// What a test returns: an explanation when it fails.
pub type Outcome = Result<(), String>;

/// One test with its name.
pub struct Case {
    name: String,
    run: Box<dyn FnOnce() -> Outcome + Send>,
    /// What of gencl's own is tested, if it is not OpenCL.
    own: Option<&'static str>,
    /// What the device has to have.
    needs: Vec<Need>,
}

impl Case {
    /// A test. Names are what `make test` takes to select: `compiler_if_else/simd16`.
    pub fn new(name: impl Into<String>, run: impl FnOnce() -> Outcome + Send + 'static) -> Case {
        Case { name: name.into(), run: Box::new(run), own: None, needs: Vec::new() }
    }

    /// A test of what other drivers need not do. With them it is skipped, and `what` printed.
    pub fn of_gencl(
        what: &'static str,
        name: impl Into<String>,
        run: impl FnOnce() -> Outcome + Send + 'static,
    ) -> Case {
        Case { own: Some(what), ..Case::new(name, run) }
    }

    /// The same, left out on devices that lack something.
    pub fn needing(mut self, need: Need) -> Case {
        self.needs.push(need);
        self
    }
}

/// Cases that need something of the device.
pub fn all_needing(need: Need, cases: impl IntoIterator<Item = Case>) -> Vec<Case> {
    cases.into_iter().map(|case| case.needing(need)).collect()
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
                let (name, needs) = (case.name.clone(), case.needs.clone());
                let case = format!("{name}/{strategy}");
                let again = Case::of_gencl("its compiler's strategies", case, move || {
                    run_with(&name, &format!("{CONTROL_FLOW}={strategy}"))
                });
                Case { needs, ..again }
            })
        })
        .collect();
    cases.into_iter().chain(again).collect()
}

/// Cases that need images. gencl has them only when it is asked to (its kernels cannot use them yet), so these run this program anew, for the one case and with
/// `GENCL_DEBUG=images`; on other drivers without images they do nothing.
pub fn all_with_images(cases: Vec<Case>) -> Vec<Case> {
    let again = |Case { name, run, own, needs }: Case| {
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
        Case { name, run: Box::new(run), own, needs }
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
    let gpu = Gpu::get().ok();
    let foreign = gpu.and_then(Gpu::foreign_platform);
    let arguments = Arguments::from_args();
    let mut missing: BTreeMap<String, bool> = BTreeMap::new();
    let mut lacks = |need: Need| {
        *missing.entry(need.name()).or_insert_with(|| gpu.is_some_and(|gpu| need.is_missing(gpu)))
    };
    let mut skipped: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let trials = cases
        .into_iter()
        .map(|case| {
            let need = case.needs.iter().find(|need| lacks(**need));
            let reason = match (&foreign, case.own, need) {
                (Some(platform), Some(what), _) => Some(format!("with {platform} ({what})")),
                (_, _, Some(need)) => Some(format!("without {}", need.name())),
                _ => None,
            };
            let ignored = reason.is_some();
            if let Some(reason) = reason {
                skipped.entry(reason).or_default().push(case.name.clone());
            }
            Trial::test(case.name, move || (case.run)().map_err(Failed::from)).with_ignored_flag(ignored)
        })
        .collect();
    if !arguments.list {
        for (reason, names) in skipped {
            println!("skipped {reason}: {}", names.join(", "));
        }
    }
    libtest_mimic::run(&arguments, trials).exit()
}
