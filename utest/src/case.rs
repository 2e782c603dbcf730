//! Test cases and the runner.

use gencl_program::debug::{CONTROL_FLOW, OPTIONS};
use std::collections::HashMap;
use std::process::Command;

use gencl_testing::harness;

use crate::device::Gpu;
use crate::driver;
use crate::need::Need;

pub use gencl_testing::harness::Outcome;

/// One test with its name.
pub struct Case {
    name: String,
    run: Box<dyn FnOnce() -> Outcome + Send>,
    /// The property of gencl that is tested, if it is not required by OpenCL.
    own: Option<&'static str>,
    /// Requirements on the device.
    needs: Vec<Need>,
    /// Why it is skipped here, whatever the device is.
    skipped: Option<String>,
}

impl Case {
    /// A test. Names are what `make test` takes to select: `compiler_if_else/simd16`.
    pub fn new(name: impl Into<String>, run: impl FnOnce() -> Outcome + Send + 'static) -> Case {
        Case { name: name.into(), run: Box::new(run), own: None, needs: Vec::new(), skipped: None }
    }

    /// A test of a property that OpenCL does not require. With other drivers it is skipped with `what` as the
    /// reason.
    pub fn of_gencl(
        what: &'static str,
        name: impl Into<String>,
        run: impl FnOnce() -> Outcome + Send + 'static,
    ) -> Case {
        Case { own: Some(what), ..Case::new(name, run) }
    }

    /// The same, not asked of other drivers: `what` is the reason.
    pub fn only_of_gencl(self, what: &'static str) -> Case {
        Case { own: Some(what), ..self }
    }

    /// The same, skipped where there is a reason.
    pub fn skipped_for(self, reason: Option<String>) -> Case {
        Case { skipped: reason, ..self }
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

/// Cases of divergent control flow, and each of them again for every strategy that is not the default: the
/// compiler is told by `GENCL_DEBUG`, so these run this program again, for the one case.
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

/// Runs the cases as the command line asks (the options of `cargo test`) and ends the process. To be called
/// at the beginning of `main`, with a function that makes the cases: `OCL_ICD_VENDORS` and the like are set
/// where they are not, so that the driver of this build is tested.
pub fn main_with(cases: impl FnOnce() -> Vec<Case>) -> ! {
    if let Err(error) = driver::choose() {
        eprintln!("{error}");
        std::process::exit(1);
    }
    let gpu = Gpu::get().ok();
    let foreign = gpu.and_then(Gpu::foreign_platform);
    // Asking is slow for some needs.
    let mut known: HashMap<Need, Option<String>> = HashMap::new();
    let mut missing = |need: Need| {
        let ask = || gpu.filter(|gpu| need.is_missing(gpu)).map(|gpu| need.reason(gpu));
        known.entry(need).or_insert_with(ask).clone()
    };
    let trial = |Case { name, run, own, needs, skipped }: Case| {
        let reason = skipped.or_else(|| match (&foreign, own) {
            (Some(platform), Some(what)) => Some(format!("with {platform}: {what}")),
            _ => needs.into_iter().find_map(&mut missing),
        });
        harness::test_unless(reason, name, run)
    };
    harness::run(cases().into_iter().map(trial).collect())
}
