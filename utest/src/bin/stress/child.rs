//! Starts the processes that use the driver, and collects their results.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gencl_program::debug::LOG;

use crate::process::FOLDER;
use crate::tally::Tally;

/// What processes say on standard error when something is wrong that the driver survives: panics that are
/// caught at the edge of its interface, in the simulator, or in the compiler's process.
const MARKS: [&str; 5] =
    ["panicked at", "internal error", "the translator failed", "gencl-stress:", "Sanitizer"];

/// What begins a line of standard error that names the file a process goes on to.
const INPUT: &str = "gencl-stress input ";

/// How much longer than its time a process may take: until it has ended what it is at, on a machine that does
/// other things, too.
const GRACE_PERIOD: Duration = Duration::from_secs(240);

/// One repetition of a section.
pub struct Stage {
    pub section: &'static str,
    pub seed: u64,
    /// The section's time.
    pub left: Duration,
    /// A folder of this repetition; empty at first.
    pub folder: PathBuf,
    children: AtomicU32,
}

/// What a process is to do.
pub struct Task {
    pub role: String,
    pub seed: u64,
    pub left: Duration,
    /// One that is its own.
    pub folder: PathBuf,
}

/// A process that runs; one that is dropped is ended.
pub struct Running {
    child: Child,
    folder: PathBuf,
    end: Instant,
}

impl Stage {
    pub fn new(section: &'static str, folder: &Path, seed: u64, left: Duration) -> Result<Self, String> {
        let folder = folder.join(section);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let folder = folder.canonicalize().map_err(|error| error.to_string())?;
        Ok(Self { section, seed, left, folder, children: AtomicU32::new(0) })
    }

    /// Everything went well: nothing is kept.
    pub fn clear(&self) -> Result<(), String> {
        fs::remove_dir_all(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))
    }

    /// The kernel cache of this repetition's processes.
    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// Starts a process for `role`.
    pub fn start(
        &self,
        role: &str,
        seed: u64,
        left: Duration,
        variables: &[(&str, &str)],
    ) -> Result<Running, String> {
        let text = |error: std::io::Error| error.to_string();
        let number = self.children.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(format!("{role}-{number}"));
        fs::create_dir(&folder).map_err(text)?;
        let create = |name: &str| File::create(folder.join(name)).map_err(text);
        let child = Command::new(std::env::current_exe().map_err(text)?)
            .args(["--role", role, "--section", self.section, "--seed", &seed.to_string()])
            .args(["--seconds", &left.as_secs().to_string(), "--folder"])
            .arg(&folder)
            .env(FOLDER, &folder)
            .env("GENCL_CACHE", self.cache())
            .env("GENCL_DEBUG", format!("{LOG}=info"))
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(create("stderr")?)
            .spawn()
            .map_err(text)?;
        Ok(Running { child, folder, end: Instant::now() + left + GRACE_PERIOD })
    }

    /// Starts a process and waits for its end.
    pub fn run(
        &self,
        role: &str,
        seed: u64,
        left: Duration,
        variables: &[(&str, &str)],
    ) -> Result<Tally, String> {
        self.start(role, seed, left, variables)?.finish()
    }
}

impl Running {
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it has ended.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, String> {
        self.child.try_wait().map_err(|error| error.to_string())
    }

    /// Waits for its end: what it has counted, or what went wrong.
    pub fn finish(mut self) -> Result<Tally, String> {
        let status = loop {
            match self.ended()? {
                Some(status) => break Some(status),
                None if Instant::now() >= self.end => break None,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        // What was read until an error is what there is.
        let said = fs::read(self.folder.join("stderr")).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let mut input = "";
        let marked = said.lines().find(|line| {
            input = line.strip_prefix(INPUT).unwrap_or(input);
            MARKS.iter().any(|mark| line.contains(mark))
        });
        let why = match (status, marked) {
            (_, Some(line)) => line.to_owned(),
            (None, None) => "it hangs".into(),
            (Some(status), None) if !status.success() => status.to_string(),
            (Some(_), None) => {
                let result = fs::read_to_string(self.folder.join("result")).unwrap_or_default();
                return Ok(Tally::parse(&result));
            }
        };
        let input = if input.is_empty() { String::new() } else { format!(", input {input}") };
        Err(format!("{}{input}: {why}", self.folder.display()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Task {
    /// Writes what was counted for the process that waits for it.
    pub fn hand_in(&self, tally: &Tally) -> Result<(), String> {
        fs::write(self.folder.join("result"), tally.lines()).map_err(|error| error.to_string())
    }

    /// Keeps what the process goes on to, so that it is there when it dies of it.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.folder.join(name);
        fs::write(&path, bytes).map_err(|error| error.to_string())?;
        eprintln!("{INPUT}{}", path.display());
        Ok(())
    }
}
