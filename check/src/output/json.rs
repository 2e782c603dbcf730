//! JSON for other programs; `docs/checking.md` describes it.

use gencl_program::found::{Found, Told};
use serde::Serialize;

/// The version of the format: it changes when a field changes its meaning or goes.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    findings: Vec<Told<'a>>,
}

pub(super) fn report(findings: &[Found]) -> Result<String, String> {
    let report = Report { version: VERSION, findings: findings.iter().map(Told::from).collect() };
    let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}
