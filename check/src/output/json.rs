//! JSON for other programs; `docs/checking.md` describes it.

use gencl_program::found::{Found, Told};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;

/// The version of the format: it changes when a field changes its meaning or goes.
const VERSION: u32 = 1;

/// What `gencl-check` has found.
#[derive(Serialize, JsonSchema)]
struct Report<'a> {
    /// The version of the format: it changes when a field changes its meaning or goes.
    version: u32,
    /// Each place once.
    findings: Vec<Told<'a>>,
}

pub(super) fn report(findings: &[Found]) -> Result<String, String> {
    let report = Report { version: VERSION, findings: findings.iter().map(Told::from).collect() };
    text(&report)
}

/// The schema of reports, for programs that read them.
///
/// # Errors
/// None that is known.
pub fn schema() -> Result<String, String> {
    text(&schema_for!(Report))
}

fn text(value: &impl Serialize) -> Result<String, String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}
