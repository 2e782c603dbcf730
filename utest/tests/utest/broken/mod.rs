//! Wrong settings and broken installations: each gives a line that a person can act on.
//!
//! A row of [`rows`] breaks a copy of the installation. A program that builds and launches a kernel then runs with it, or
//! `gencl diagnose` does.

mod installation;
mod program;
mod rows;

use gencl_utest::{Case, Need, Outcome};

use crate::child::is_child;
use installation::Installation;

/// How something is broken, and what is expected.
#[derive(Clone)]
pub struct Row {
    /// The name of the case.
    name: &'static str,
    /// Variables; `{}` is the installation's folder.
    variables: &'static [(&'static str, &'static str)],
    /// Changes files of the installation.
    change: fn(&Installation) -> std::io::Result<()>,
    /// Source and options of the program, when others than [`program::GOOD`].
    source: &'static str,
    options: &'static str,
    /// What is run.
    run: Run,
    /// Words of one line of its output.
    line: &'static [&'static str],
}

/// What is run, and how it ends.
#[derive(Clone, Copy)]
pub enum Run {
    /// The program, which ends with an error code of this function.
    Fails(&'static str, i32),
    /// The program, which works nevertheless.
    Works,
    /// `gencl diagnose`, which finds something.
    Diagnosis,
    /// The tool of this name, by `gencl`.
    Tool(&'static str),
}

pub fn cases() -> Vec<Case> {
    let case = |row: Row| {
        let name = format!("broken_{}", row.name);
        Case::of_gencl("its own words", name.clone(), move || {
            if is_child() { program::run(&row) } else { test(&name, &row) }
        })
        .needing(Need::Simulator)
        .skipped_for(Installation::missing())
    };
    rows::ROWS.iter().cloned().map(case).collect()
}

fn test(name: &str, row: &Row) -> Outcome {
    let installation = Installation::new(row.name)?;
    (row.change)(&installation).map_err(|error| format!("the installation cannot be changed: {error}"))?;
    let output = match row.run {
        Run::Fails(..) | Run::Works => installation.program(name, row.variables)?,
        Run::Diagnosis => installation.gencl(&["diagnose"], row.variables)?,
        Run::Tool(tool) => installation.gencl(&[tool], row.variables)?,
    };
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
    let context = |what: String| format!("{what}:\n{text}");
    let lines = text.lines().filter(|line| row.line.iter().all(|words| line.contains(words))).count();
    match row.run {
        // A diagnosis has the state of each part, and what is broken at its end.
        Run::Diagnosis if lines == 0 => return Err(context(format!("no line has {:?}", row.line))),
        Run::Diagnosis => {}
        _ if lines != 1 => return Err(context(format!("{lines} lines have {:?}", row.line))),
        _ => {}
    }
    let ended = match row.run {
        Run::Fails(function, code) => text.contains(&program::ending(function, code)),
        Run::Works => text.contains(program::WORKED),
        Run::Diagnosis | Run::Tool(_) => output.status.code() == Some(1),
    };
    if ended { Ok(()) } else { Err(context(format!("it has ended otherwise ({})", output.status))) }
}
