//! Files with the statistics of a process that outlive it, however it ends: they are complete when a batch has ended, before
//! anyone learns of that.
//!
//! A folder has `head.json`; for each kernel `N.json` with its description and `N.sums` with the sums over its launches
//! (`postcard` encoding), with N from 0; and `launches.jsonl`. A file that changes is replaced as a whole.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::report::{self, Report};
use super::sums::{Kernel, Sums};
use gencl_eu::device::Device;

/// What is said once about all kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    device: String,
    program: String,
    fast: bool,
    /// EUs of the device.
    pub eus: u64,
}

impl Head {
    /// For this program on a device.
    pub fn new(device: &Device, fast: bool) -> Head {
        let program = std::env::current_exe().ok();
        let program = program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let eus = u64::from(device.total_eus());
        Head { device: device.name().to_owned(), program: program.unwrap_or_default(), fast, eus }
    }

    /// The report of kernels and launches.
    pub fn report(&self, kernels: Vec<report::Kernel>, launches: Vec<report::Launch>) -> Report {
        Report {
            version: report::VERSION,
            device: self.device.clone(),
            program: self.program.clone(),
            fast: self.fast,
            kernels,
            launches,
            ..Report::default()
        }
    }
}

/// The files of a process.
#[derive(Debug)]
pub struct LiveFiles {
    folder: PathBuf,
    /// A forked child has the collector, but must not write the files.
    process: u32,
    head: Option<Head>,
    /// Number of kernels with a description.
    kernels: usize,
    /// Number of launches in the file.
    launches: usize,
}

/// Between the name of the file that a process writes when it exits, and its process id.
const MARK: &str = ".live.";

/// The folders that processes which wrote no `path` have left, with their process ids.
pub fn left_behind(path: &Path) -> Vec<(PathBuf, u32)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let prefix = format!("{}{MARK}", name.to_string_lossy());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let process = |name: &str| name.strip_prefix(&prefix)?.split('.').next()?.parse().ok();
    let mut found: Vec<(PathBuf, u32)> =
        entries.filter_map(|entry| Some((entry.path(), process(entry.file_name().to_str()?)?))).collect();
    found.sort();
    found
}

impl LiveFiles {
    /// A new folder beside `path`.
    pub fn create(path: &Path) -> io::Result<LiveFiles> {
        let process = std::process::id();
        let name = format!("{}{MARK}{process}", path.display());
        let mut folder = PathBuf::from(&name);
        let mut number = 0;
        // A process may become another program, which has the same id.
        while let Err(error) = fs::create_dir(&folder) {
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(error);
            }
            number += 1;
            folder = format!("{name}.{number}").into();
        }
        Ok(LiveFiles { folder, process, head: None, kernels: 0, launches: 0 })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = self.folder.join("new");
        fs::write(&new, bytes)?;
        fs::rename(&new, self.folder.join(name))
    }

    /// Writes kernels that have changed, and the launches that are new in `launches`.
    pub fn save<'a>(
        &mut self,
        head: &Head,
        kernels: impl Iterator<Item = (usize, &'a Kernel)>,
        launches: &[report::Launch],
    ) -> io::Result<()> {
        let new = &launches[self.launches..];
        if !self.is_own() || new.is_empty() {
            return Ok(());
        }
        if self.head.as_ref() != Some(head) {
            self.replace("head.json", &serde_json::to_vec(head)?)?;
            self.head = Some(head.clone());
        }
        for (index, kernel) in kernels {
            if index >= self.kernels {
                self.replace(&format!("{index}.json"), &serde_json::to_vec(&kernel.head)?)?;
                self.kernels = index + 1;
            }
            let sums = postcard::to_stdvec(&kernel.sums).map_err(io::Error::other)?;
            self.replace(&format!("{index}.sums"), &sums)?;
        }
        let mut lines = Vec::new();
        for launch in new {
            serde_json::to_writer(&mut lines, launch)?;
            lines.push(b'\n');
        }
        File::options()
            .create(true)
            .append(true)
            .open(self.folder.join("launches.jsonl"))?
            .write_all(&lines)?;
        self.launches = launches.len();
        Ok(())
    }

    /// Removes the files.
    pub fn remove(self) {
        if self.is_own() {
            // What is left is in a folder of a name that nobody reads twice.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// The report that the files of a folder make; `None` when no launch had ended.
///
/// # Errors
/// Files that cannot be read.
pub fn read(folder: &Path) -> io::Result<Option<Report>> {
    let Some(head) = optional(fs::read(folder.join("head.json")))? else { return Ok(None) };
    let head: Head = serde_json::from_slice(&head)?;
    let mut kernels = Vec::new();
    for index in 0.. {
        // The description is written first.
        let Some(sums) = optional(fs::read(folder.join(format!("{index}.sums"))))? else { break };
        let sums: Sums = postcard::from_bytes(&sums).map_err(io::Error::other)?;
        let kernel: report::Kernel =
            serde_json::from_slice(&fs::read(folder.join(format!("{index}.json")))?)?;
        kernels.push(sums.report(&kernel, head.eus));
    }
    let mut launches = Vec::new();
    if let Some(file) = optional(File::open(folder.join("launches.jsonl")))? {
        for line in BufReader::new(file).lines() {
            // A process that is killed may leave a part of a line.
            if let Ok(launch) = serde_json::from_str::<report::Launch>(&line?)
                && launch.kernel < kernels.len()
            {
                launches.push(launch);
            }
        }
    }
    Ok((!kernels.is_empty()).then(|| head.report(kernels, launches)))
}

/// `None` for a file that does not exist.
fn optional<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
