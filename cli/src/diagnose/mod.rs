//! `gencl diagnose`: what works, and what is wrong with the installation.

mod child;
mod driver;
mod loader;
mod text;

use std::path::{Path, PathBuf};

use gencl_program::diagnosis::Diagnosis;
use serde::{Deserialize, Serialize};

pub use loader::load;

use crate::tools;

/// Everything that is known.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// The version of this command.
    command: String,
    /// The library of the driver.
    library: Option<PathBuf>,
    /// The library's report on itself.
    driver: Option<Diagnosis>,
    /// The ICD loader and what it finds.
    loader: loader::LoaderState,
    /// A small kernel on each device.
    kernels: Vec<driver::KernelRun>,
    /// What is broken, with what to do about it. Empty when all works.
    problems: Vec<String>,
}

/// Prints the diagnosis. Returns whether everything works.
#[must_use]
pub fn run(json: bool) -> bool {
    let report = Report::collect();
    match serde_json::to_string_pretty(&report) {
        Ok(text) if json => println!("{text}"),
        _ => print!("{}", text::render(&report)),
    }
    report.problems.is_empty()
}

impl Report {
    fn collect() -> Self {
        let loader = loader::LoaderState::collect();
        let mut problems = loader.problems();
        // The one that applications load; else the one of this installation.
        let named = loader.own_library().map(Path::to_owned);
        let library = named.or_else(|| {
            let folders = tools::beside(std::env::current_exe().ok().as_deref());
            folders.into_iter().map(|folder| folder.join(driver::LIBRARY)).find(|path| path.is_file())
        });
        let mut report = Self { command: env!("CARGO_PKG_VERSION").to_owned(), loader, ..Self::default() };
        match &library {
            None => problems.push(format!(
                "{} is neither named by an .icd file nor beside this command: install gencl",
                driver::LIBRARY
            )),
            Some(path) => match Examined::by_child(path) {
                Ok(Examined { driver, kernels }) => {
                    (report.driver, report.kernels) = (Some(driver), kernels);
                }
                // The loader's part may have said that it cannot be loaded.
                Err(reason) if problems.iter().any(|problem| problem.ends_with(&reason)) => {}
                Err(reason) => problems.push(format!("{}: {reason}", path.display())),
            },
        }
        if let Some(driver) = &report.driver {
            problems.extend(problems_of(driver));
            // Without a compiler all of them fail for that.
            let failed = report.kernels.iter().filter(|_| driver.compiler.problem.is_none());
            problems.extend(failed.filter_map(|run| {
                run.problem.as_ref().map(|problem| format!("a kernel on {}: {problem}", run.device))
            }));
        }
        report.library = library;
        report.problems = problems;
        report
    }
}

/// What a library says and does.
#[derive(Serialize, Deserialize)]
struct Examined {
    driver: Diagnosis,
    kernels: Vec<driver::KernelRun>,
}

impl Examined {
    fn by_child(library: &Path) -> Result<Self, String> {
        let text = child::run("--examine", library.as_os_str())?;
        // Debug options may print before.
        let line = text.lines().last().unwrap_or_default();
        serde_json::from_str(line).map_err(|error| format!("what it says cannot be read: {error}"))
    }

    fn here(library: &Path) -> Result<Self, String> {
        let loaded = driver::Driver::load(library)?;
        Ok(Self { driver: loaded.diagnosis()?, kernels: loaded.run_kernels() })
    }
}

/// Prints what a library of gencl says and does as one line of JSON, or why it cannot be loaded. Returns whether it has worked.
#[must_use]
pub fn examine(library: &Path) -> bool {
    let text = Examined::here(library)
        .and_then(|examined| serde_json::to_string(&examined).map_err(|error| error.to_string()));
    println!("{}", text.as_ref().unwrap_or_else(|reason| reason));
    text.is_ok()
}

/// What is broken by the driver's own report. Render nodes of other drivers are nothing that is broken.
fn problems_of(driver: &Diagnosis) -> Vec<String> {
    let mut problems: Vec<String> = Vec::new();
    problems.extend(driver.no_device.iter().map(|reason| format!("no device: {reason}")));
    if driver.no_device.is_none() {
        let faults = driver.unused.iter().filter(|node| node.fault);
        problems.extend(faults.map(|node| format!("{} is not used: {}", node.name, node.reason)));
    }
    problems.extend(driver.variables.iter().filter_map(|variable| variable.problem.clone()));
    problems.extend(driver.misspelt.iter().cloned());
    problems.extend(driver.compiler.problem.iter().map(|problem| format!("the compiler: {problem}")));
    if let (Some(folder), Some(problem)) = (&driver.cache.folder, &driver.cache.problem) {
        problems.push(format!(
            "the kernel cache {folder}: {problem}; GENCL_CACHE=FOLDER names another folder, GENCL_CACHE=off none"
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use gencl_program::diagnosis::{CompilerState, UnusedDevice, VariableState};

    use super::*;

    #[test]
    fn other_drivers_nodes_are_no_problem() {
        let node = |fault| UnusedDevice {
            name: "/dev/dri/renderD128".into(),
            reason: "why".into(),
            fault,
            ..UnusedDevice::default()
        };
        let of = |fault| problems_of(&Diagnosis { unused: vec![node(fault)], ..Diagnosis::default() });
        assert!(of(false).is_empty());
        assert_eq!(of(true), ["/dev/dri/renderD128 is not used: why"]);
    }

    #[test]
    fn each_problem_is_said_once() {
        let variable =
            VariableState { problem: Some("GENCL_ENGINE=x: it takes y".into()), ..VariableState::default() };
        let node = UnusedDevice { reason: "why".into(), fault: true, ..UnusedDevice::default() };
        let driver = Diagnosis {
            no_device: Some("why".into()),
            unused: vec![node],
            variables: vec![variable],
            compiler: CompilerState { problem: Some("gone".into()), ..CompilerState::default() },
            ..Diagnosis::default()
        };
        assert_eq!(
            problems_of(&driver),
            ["no device: why", "GENCL_ENGINE=x: it takes y", "the compiler: gone"]
        );
    }
}
