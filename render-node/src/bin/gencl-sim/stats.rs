//! `--stats`: the files that the program's processes write, one each.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use gencl_simulator::statistics::{Report, live, text};

/// Target of the statistics.
pub struct Statistics {
    path: PathBuf,
    /// Print the statistics, and keep no file.
    print: bool,
}

impl Statistics {
    /// `wish` is a file, or `-` for a table on standard error. Files of an earlier run are removed. `folder`
    /// is for files that are not kept.
    pub fn new(wish: &Path, folder: &Path) -> Result<Statistics, String> {
        let print = wish.as_os_str() == "-";
        let path = if print { folder.join("statistics") } else { wish.to_owned() };
        // The program may go to another folder.
        let path = std::path::absolute(path).map_err(|error| format!("{}: {error}", wish.display()))?;
        let statistics = Statistics { path, print };
        for old in statistics.written()? {
            fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
        }
        Ok(statistics)
    }

    /// The file that processes write, for the environment.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The existing files: that of the first process to end, then those with a process id.
    fn written(&self) -> Result<Vec<PathBuf>, String> {
        let fail = |error| format!("{}: {error}", self.path.display());
        let (folder, name) = (self.path.parent(), self.path.file_name());
        let (Some(folder), Some(name)) = (folder, name) else { return Err("--stats needs a file".into()) };
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(fail(error)),
            entries => entries.map_err(fail)?,
        };
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| is_one(&entry.file_name(), name))
            .map(|entry| entry.path())
            .collect();
        found.sort();
        Ok(found)
    }

    /// Makes the file of a process that was killed of what it has left.
    fn complete(&self, folder: &Path, process: u32) -> io::Result<()> {
        if let Some(report) = live::read(folder)? {
            let named = format!("{}.{process}", self.path.display());
            let path = if self.path.exists() { Path::new(&named) } else { &self.path };
            fs::write(path, serde_json::to_vec(&report)?)?;
            eprintln!(
                "gencl-sim: process {process} did not exit by itself: what it had not ended is not counted"
            );
        }
        fs::remove_dir_all(folder)
    }

    /// Writes those of processes that were killed, and prints the statistics, or a message that there are none.
    pub fn finish(self) -> Result<(), String> {
        for (folder, process) in live::left_behind(&self.path) {
            self.complete(&folder, process).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let written = self.written()?;
        if written.is_empty() {
            eprintln!("gencl-sim: no statistics: no process ended a launch of a kernel");
        }
        for path in written.iter().filter(|_| self.print) {
            let report: Report = File::open(path)
                .map_err(serde_json::Error::io)
                .and_then(|file| serde_json::from_reader(BufReader::new(file)))
                .map_err(|error| format!("statistics: {error}"))?;
            eprint!("{}", text::table(&report));
        }
        Ok(())
    }
}

/// Whether it is the name, or the name with a process id.
fn is_one(found: &OsStr, name: &OsStr) -> bool {
    let (found, name) = (found.as_encoded_bytes(), name.as_encoded_bytes());
    let Some(rest) = found.strip_prefix(name) else { return false };
    match rest.strip_prefix(b".") {
        Some(number) => !number.is_empty() && number.iter().all(u8::is_ascii_digit),
        None => rest.is_empty(),
    }
}
