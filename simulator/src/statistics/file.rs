//! Writes a process's statistics to a file when it exits, and until then to [live files](super::live).

use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gencl_sync::Mutex;

use super::collect::Collector;
use super::live::LiveFiles;

/// A file and the statistics that will be written to it.
struct Destination {
    path: PathBuf,
    /// The process that requested it. A forked child inherits the list, but must not write the file.
    process: u32,
    collector: Arc<Collector>,
}

static DESTINATIONS: Mutex<Vec<Destination>> = Mutex::new(Vec::new());

/// The collector whose report is written to `path` when this process exits; each call returns the same one.
///
/// An existing file is not overwritten, since another process may have written it: the process id is then
/// appended to the name, after a dot. Nothing is written when nothing was launched. When the process ends without `exit`, its
/// live files are left: [`super::live::left_behind`].
pub fn written_at_exit(path: &Path) -> Arc<Collector> {
    let process = std::process::id();
    let mut destinations = DESTINATIONS.lock();
    if let Some(existing) = destinations.iter().find(|d| d.path == path && d.process == process) {
        return Arc::clone(&existing.collector);
    }
    if !destinations.iter().any(|d| d.process == process) {
        // SAFETY: `write_all` is a function of the right type, without requirements. If it cannot be
        // registered, the statistics are not written; nothing else could be done about that.
        unsafe { libc::atexit(write_all) };
    }
    let collector = Arc::new(LiveFiles::create(path).map_or_else(
        |error| {
            eprintln!("statistics: {}: {error}", path.display());
            Collector::default()
        },
        Collector::with_live_files,
    ));
    destinations.push(Destination { path: path.to_owned(), process, collector: Arc::clone(&collector) });
    collector
}

extern "C" fn write_all() {
    let process = std::process::id();
    for destination in DESTINATIONS.lock().iter().filter(|d| d.process == process) {
        let written = if destination.collector.is_empty() { Ok(()) } else { write(destination) };
        match written {
            Ok(()) => destination.collector.remove_saved(),
            // Who asked for them has removed the folder.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => eprintln!("statistics: {}: {error}", destination.path.display()),
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
