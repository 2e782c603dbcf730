//! Files to which a process appends a line of JSON for each thing that happens, so that one that is killed leaves what did.

use std::fs::File;
use std::io::{Result, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use gencl_program::report;
use serde::Serialize;

use crate::sync::Mutex;

/// What is told of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    /// Messages about it are of this subject.
    pub(crate) subject: &'static str,
    /// What it is, with an article.
    pub(crate) what: &'static str,
    /// What a full one lacks.
    pub(crate) lacks: &'static str,
    /// Lines, at most.
    pub(crate) most: u64,
}

/// A file.
pub(crate) struct JsonLines {
    about: About,
    file: Mutex<File>,
    lines: AtomicU64,
}

impl JsonLines {
    /// Opens a file in a folder that exists, behind what is in it.
    pub(crate) fn open(path: &Path, about: About) -> Result<Self> {
        let file = File::options().create(true).append(true).open(path)?;
        Ok(Self { about, file: Mutex::new(file), lines: AtomicU64::new(0) })
    }

    /// Appends a line.
    pub(crate) fn append(&self, value: &impl Serialize) {
        let About { subject, what, lacks, most } = self.about;
        if self.lines.fetch_add(1, Ordering::Relaxed) >= most {
            report::once(subject, &format!("{what} is full: {lacks}"));
            return;
        }
        // Plain data always has a JSON form.
        let Ok(mut line) = serde_json::to_vec(value) else { return };
        line.push(b'\n');
        if let Err(error) = self.file.lock().write_all(&line) {
            report::once(subject, &format!("{what} is not complete: {error}"));
        }
    }
}
