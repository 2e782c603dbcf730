//! The diagnosis as text.

use std::fmt::Write;

use gencl_program::diagnosis::Diagnosis;

use super::Report;
use super::loader::Loaded;
use crate::cache;

/// The diagnosis for people: a section for each part, and what is broken at the end.
pub(super) fn render(report: &Report) -> String {
    let mut out = Sections(String::new());
    let library =
        report.library.as_ref().map_or_else(|| "none".to_owned(), |path| path.display().to_string());
    out.section("gencl");
    out.line("command", &report.command);
    out.line("library", &library);
    if let Some(driver) = &report.driver {
        let commit = driver.commit.as_ref().map_or_else(String::new, |commit| format!(" (commit {commit})"));
        out.line("version", &format!("{}{commit}", driver.version));
    }
    loader(&mut out, report);
    if let Some(driver) = &report.driver {
        of_driver(&mut out, driver);
    }
    out.section("kernels");
    for run in &report.kernels {
        let result = run
            .problem
            .clone()
            .unwrap_or_else(|| format!("built and computed in {:.1} ms", run.milliseconds));
        out.line(&run.device, &result);
    }
    if report.problems.is_empty() {
        out.0 += "\neverything works\n";
    } else {
        out.section("broken");
        report.problems.iter().for_each(|problem| out.item(problem));
    }
    out.0
}

fn loader(out: &mut Sections, report: &Report) {
    let state = &report.loader;
    out.section("ICD loader");
    out.line("library", &state.library);
    let variable = state.variable.map_or_else(String::new, |name| format!(" ({name})"));
    out.line("drivers in", &format!("{}{variable}", state.place));
    for icd in &state.drivers {
        let name = icd.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        out.line(&name, &format!("{}: {}", icd.library, loaded(&icd.loaded)));
    }
    out.line("platforms", &loaded(&state.platforms));
}

fn loaded(loaded: &Loaded) -> String {
    match loaded {
        Loaded::Platforms(names) if names.is_empty() => "no platform".to_owned(),
        Loaded::Platforms(names) => names.join(", "),
        Loaded::Problem(reason) => reason.clone(),
    }
}

fn of_driver(out: &mut Sections, driver: &Diagnosis) {
    out.section("devices");
    for device in &driver.devices {
        out.line(&device.target, &device.name);
    }
    for node in &driver.unused {
        let facts = if node.facts.is_empty() { String::new() } else { format!(" ({})", node.facts) };
        out.line(&node.name, &format!("not used: {}{facts}", node.reason));
    }
    out.section("compiler");
    let compiler = &driver.compiler;
    out.line("path", compiler.path.as_deref().unwrap_or("none"));
    if let (Some(version), Some(start)) = (&compiler.version, compiler.start) {
        out.line("version", version);
        out.line("start", &format!("{start:.1} ms"));
    }
    out.section("kernel cache");
    out.item(&cache::describe(&driver.cache));
    out.section("variables");
    let set = driver.variables.iter().filter_map(|variable| Some((variable, variable.value.as_ref()?)));
    let mut any = false;
    for (variable, value) in set {
        any = true;
        let verdict = variable
            .problem
            .as_ref()
            .map_or_else(String::new, |_| format!("  (not valid: it takes {})", variable.takes));
        out.item(&format!("{}={value}{verdict}", variable.name));
    }
    driver.misspelt.iter().for_each(|complaint| out.item(complaint));
    if !any && driver.misspelt.is_empty() {
        out.item("none of gencl's is set");
    }
}

/// Text with headings.
struct Sections(String);

impl Sections {
    fn section(&mut self, name: &str) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.0, "{gap}{name}");
    }

    fn line(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.0, "  {name:<12} {value}");
    }

    fn item(&mut self, text: &str) {
        let _ = writeln!(self.0, "  {text}");
    }
}
