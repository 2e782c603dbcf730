//! Test cases and the runner.

use libtest_mimic::{Arguments, Failed, Trial};

/// What a test returns: an explanation when it fails.
pub type Outcome = Result<(), String>;

/// One test with its name.
pub struct Case {
    name: String,
    run: Box<dyn FnOnce() -> Outcome + Send>,
}

impl Case {
    /// A test. Names are what `make test` takes to select: `compiler_if_else/simd16`.
    pub fn new(name: impl Into<String>, run: impl FnOnce() -> Outcome + Send + 'static) -> Case {
        Case { name: name.into(), run: Box::new(run) }
    }
}

/// One case for each SIMD width that the compiler can be told to use; `run` gets the width.
pub fn all_widths(name: &str, run: impl Fn(u32) -> Outcome + Clone + Send + 'static) -> Vec<Case> {
    [8, 16]
        .into_iter()
        .map(|width| {
            let run = run.clone();
            Case::new(format!("{name}/simd{width}"), move || run(width))
        })
        .collect()
}

/// Runs the cases as the command line asks (the options of `cargo test`) and ends the process.
pub fn main_with(cases: Vec<Case>) -> ! {
    let trials = cases
        .into_iter()
        .map(|case| Trial::test(case.name, move || (case.run)().map_err(Failed::from)))
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}
