//! JSON for other programs; `docs/checking.md` describes it.

use gencl_program::finding::Finding;
use serde::Serialize;

/// The version of the format: it changes when a field changes its meaning or goes.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    findings: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    kind: &'static str,
    message: String,
    #[serde(flatten)]
    finding: &'a Finding,
}

pub(super) fn report(findings: &[Finding]) -> Result<String, String> {
    let entry =
        |finding| Entry { kind: Finding::kind(finding), message: Finding::to_string(finding), finding };
    let report = Report { version: VERSION, findings: findings.iter().map(entry).collect() };
    let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}
