//! The files of a profile.

use std::fs;
use std::path::Path;

use gencl_simulator::statistics::Report;

use crate::analysis::Analysis;
use crate::compare::Comparison;
use crate::trace::Trace;
use crate::{callgrind, flame, html, perfetto, pprof};

/// The Perfetto trace.
pub const TRACE: &str = "trace.perfetto-trace";

/// Whether files can be written to a folder, which is made if it does not exist.
///
/// # Errors
/// Why they cannot.
pub fn check(folder: &Path) -> Result<(), String> {
    let written = fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
    written.map(drop).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Writes all files of a profile to a folder, and the sources beside them, where tools look for them. Without traces of
/// processes there is no Perfetto trace. The page has the comparison with an earlier profile, if there is one.
///
/// # Errors
/// Files that cannot be written.
pub fn write(
    analysis: &Analysis<'_>,
    traces: &[Trace],
    comparison: Option<&Comparison>,
    folder: &Path,
) -> Result<(), String> {
    let file = |name: &str, bytes: &[u8]| write_file(folder, name, bytes);
    let json = serde_json::to_vec(analysis.report).map_err(|error| error.to_string())?;
    file("profile.json", &json)?;
    let page = html::write(analysis, traces, comparison).map_err(|error| error.to_string())?;
    file("profile.html", page.as_bytes())?;
    file("callgrind.out", callgrind::write(analysis).as_bytes())?;
    file("folded.txt", flame::folded(analysis).as_bytes())?;
    file("profile.pb.gz", &pprof::write(analysis).map_err(|error| error.to_string())?)?;
    if !traces.is_empty() {
        write_trace(analysis.report, traces, folder)?;
    }
    for source in &analysis.report.sources {
        // Only names that the join has made are those of files in this folder.
        if let Some(text) = source.text.as_ref().filter(|_| !source.name.contains('/')) {
            file(&source.name, text.as_bytes())?;
        }
    }
    Ok(())
}

/// Writes the Perfetto trace to a folder. Without launches on a simulated device the report is empty.
///
/// # Errors
/// A file that cannot be written.
pub fn write_trace(report: &Report, traces: &[Trace], folder: &Path) -> Result<(), String> {
    write_file(folder, TRACE, &perfetto::write(report, traces))
}

fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let path = folder.join(name);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, bytes));
    written.map_err(|error| format!("{}: {error}", path.display()))
}
