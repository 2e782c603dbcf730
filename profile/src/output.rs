//! The files of a profile.

use std::fs;
use std::path::Path;

use crate::analysis::Analysis;
use crate::{callgrind, flame, html, pprof};

/// Writes all files of a profile to a folder, and the sources beside them, where tools look for them.
///
/// # Errors
/// Files that cannot be written.
pub fn write(analysis: &Analysis<'_>, folder: &Path) -> Result<(), String> {
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let json = serde_json::to_vec(analysis.report).map_err(|error| error.to_string())?;
    file("profile.json", &json)?;
    file("profile.html", html::write(analysis).map_err(|error| error.to_string())?.as_bytes())?;
    file("callgrind.out", callgrind::write(analysis).as_bytes())?;
    file("folded.txt", flame::folded(analysis).as_bytes())?;
    file("profile.pb.gz", &pprof::write(analysis).map_err(|error| error.to_string())?)?;
    for source in &analysis.report.sources {
        // Only names that the join has made are those of files in this folder.
        if let Some(text) = source.text.as_ref().filter(|_| !source.name.contains('/')) {
            file(&source.name, text.as_bytes())?;
        }
    }
    Ok(())
}
