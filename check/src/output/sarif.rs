//! SARIF 2.1.0, which code hosts show beside the source.

use gencl_program::finding::Place;
use gencl_program::found::Found;
use serde_json::{Value, json};

pub(super) fn report(findings: &[Found]) -> Result<String, String> {
    let mut kinds: Vec<_> = findings.iter().map(Found::kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let rules: Vec<_> = kinds.iter().map(|kind| json!({ "id": kind })).collect();
    let results: Vec<_> = findings.iter().map(result).collect();
    let sarif = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "gencl-check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    });
    let text = serde_json::to_string_pretty(&sarif).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

fn result(finding: &Found) -> Value {
    let places = finding.places();
    let frames: Vec<_> = places.iter().map(|place| json!({ "location": location(place) })).collect();
    json!({
        "ruleId": finding.kind(),
        "level": "error",
        "message": { "text": finding.to_string() },
        "occurrenceCount": finding.count().min(i64::MAX.cast_unsigned()),
        "locations": places.first().map(location).into_iter().collect::<Vec<_>>(),
        "stacks": [{ "frames": frames }],
    })
}

fn location(place: &Place) -> Value {
    let mut region = json!({ "startLine": place.line.max(1) });
    if place.column > 0 {
        region["startColumn"] = place.column.into();
    }
    json!({
        "physicalLocation": { "artifactLocation": { "uri": place.file }, "region": region },
        "logicalLocations": [{ "name": place.function, "kind": "function" }],
    })
}
