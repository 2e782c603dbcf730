//! Folders and files that only the user can write.
//!
//! Write access to the files opened here allows execution of code. So a folder or a file is accepted only if
//! it belongs to the user and is not writable by others, which is checked on the open descriptor, as a name
//! may be replaced. Opening never blocks, as it would for a FIFO.

use std::ffi::CString;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::path::Arg;
use rustix::process::{Resource, geteuid, getrlimit};

/// The reason why a folder or a file is not used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// The system's error, usually that it does not exist.
    #[error("{0}")]
    System(#[from] io::Error),
    /// Another user could have written it.
    #[error("{0}")]
    Untrusted(&'static str),
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        match errno {
            // The error with O_NOFOLLOW.
            Errno::LOOP => Self::Untrusted("it is a symbolic link"),
            _ => Self::System(errno.into()),
        }
    }
}

/// Flags of all descriptors.
const OPEN: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK);

/// Access of new files and folders: the user only.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// An accepted folder.
pub(super) struct Folder(OwnedFd);

impl Folder {
    /// Opens a folder. Its path may contain symbolic links, as the target is checked.
    pub(super) fn open(path: &Path) -> Result<Self, Refusal> {
        let folder = rustix::fs::openat(CWD, path, OPEN | OFlags::DIRECTORY, Mode::empty())?;
        check(folder, FileType::Directory).map(Self)
    }

    /// Opens a folder, and creates it and its parents if it does not exist.
    pub(super) fn create(path: &Path) -> Result<Self, Refusal> {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)?;
        Self::open(path)
    }

    /// Opens a folder in this one.
    pub(super) fn subfolder(&self, name: impl Arg) -> Result<Self, Refusal> {
        let flags = OPEN | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let folder = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        check(folder, FileType::Directory).map(Self)
    }

    /// Opens a folder in this one, and creates it if it does not exist.
    pub(super) fn create_subfolder(&self, name: &str) -> Result<Self, Refusal> {
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(FOLDER_MODE)) {
            Ok(()) | Err(Errno::EXIST) => self.subfolder(name),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a file for reading.
    pub(super) fn file(&self, name: &str) -> Result<File, Refusal> {
        let file = rustix::fs::openat(&self.0, name, OPEN | OFlags::NOFOLLOW, Mode::empty())?;
        check(file, FileType::RegularFile).map(File::from)
    }

    /// Creates or replaces a file atomically: it is written as `beside` and renamed. When that fails, no file
    /// is left.
    pub(super) fn write(&self, name: &str, beside: &str, bytes: &[u8]) -> Result<(), Refusal> {
        // Writing more would raise SIGXFSZ, which ends applications.
        if getrlimit(Resource::Fsize).current.is_some_and(|most| most < bytes.len() as u64) {
            return Err(Errno::FBIG.into());
        }
        let flags = OPEN | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file = rustix::fs::openat(&self.0, beside, flags, Mode::from_raw_mode(FILE_MODE))?;
        let written = File::from(file)
            .write_all(bytes)
            .and_then(|()| Ok(rustix::fs::renameat(&self.0, beside, &self.0, name)?));
        if written.is_err() {
            self.remove(beside);
        }
        Ok(written?)
    }

    /// The names of all entries.
    pub(super) fn names(&self) -> Vec<CString> {
        let entries = Dir::read_from(&self.0).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_owned());
        names.filter(|name| !matches!(name.to_bytes(), b"." | b"..")).collect()
    }

    /// Metadata of an entry, without following links.
    pub(super) fn stat(&self, name: impl Arg) -> Option<Stat> {
        rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    /// Removes a file, which may have been removed by another process.
    pub(super) fn remove(&self, name: impl Arg) {
        let _ = rustix::fs::unlinkat(&self.0, name, AtFlags::empty());
    }

    /// Removes a folder in this one, if it is empty.
    pub(super) fn remove_subfolder(&self, name: impl Arg) {
        let _ = rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR);
    }
}

/// Checks that an open file has the given type and only the user can write it.
fn check(open: OwnedFd, kind: FileType) -> Result<OwnedFd, Refusal> {
    let about = rustix::fs::fstat(open.as_fd())?;
    let others = Mode::WGRP | Mode::WOTH;
    if FileType::from_raw_mode(about.st_mode) != kind {
        Err(Refusal::Untrusted("it is something else"))
    } else if about.st_uid != geteuid().as_raw() {
        Err(Refusal::Untrusted("it belongs to another user"))
    } else if Mode::from_raw_mode(about.st_mode).intersects(others) {
        Err(Refusal::Untrusted("others may write to it"))
    } else {
        Ok(open)
    }
}
