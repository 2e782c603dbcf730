//! Writing a process's statistics when it ends.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gencl_sync::Mutex;

use super::collect::Collector;

/// A file and what it will hold.
struct Destination {
    path: PathBuf,
    /// The process that asked for it. A forked child inherits the rest of the memory.
    process: u32,
    collector: Arc<Collector>,
}

static DESTINATIONS: Mutex<Vec<Destination>> = Mutex::new(Vec::new());

/// The collector whose report is written to a file when this process exits; the same one each time.
///
/// A file that exists is left as it is, since another process may have written it: then the file's name is
/// followed by a dot and the process's number. Nothing is written when nothing was launched, or when the
/// process ends without `exit`.
pub fn written_at_exit(path: &Path) -> Arc<Collector> {
    let process = std::process::id();
    let mut destinations = DESTINATIONS.lock();
    if let Some(known) = destinations.iter().find(|d| d.path == path && d.process == process) {
        return Arc::clone(&known.collector);
    }
    if !destinations.iter().any(|d| d.process == process) {
        // SAFETY: `write_all` is a function of the right type, without requirements. When there is no room
        // for it, the statistics are not written, which is all that could be done about it.
        unsafe { libc::atexit(write_all) };
    }
    let collector = Arc::<Collector>::default();
    destinations.push(Destination { path: path.to_owned(), process, collector: Arc::clone(&collector) });
    collector
}

extern "C" fn write_all() {
    let process = std::process::id();
    for destination in DESTINATIONS.lock().iter().filter(|d| d.process == process && !d.collector.is_empty())
    {
        if let Err(error) = write(destination) {
            eprintln!("statistics: {}: {error}", destination.path.display());
        }
    }
}

fn write(destination: &Destination) -> io::Result<()> {
    let create = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let file = match create(&destination.path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let mut path = destination.path.clone().into_os_string();
            path.push(format!(".{}", destination.process));
            create(Path::new(&path))?
        }
        other => other?,
    };
    let mut file = BufWriter::new(file);
    serde_json::to_writer(&mut file, &destination.collector.report())?;
    file.flush()
}
