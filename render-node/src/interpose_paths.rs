//! Interposed functions of the C library: those with paths.
//!
//! A path in one of the redirected folders is replaced by that of the file in `gencl-sim`'s folder; the
//! folder is removed from paths in results. The node is recognised by its inode, whatever the path.
//!
//! `open` and `openat` are variadic; see [`crate::interpose`].

#![allow(clippy::missing_safety_doc, reason = "the contracts are those of the C library's functions")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::files;
use crate::interpose::replace;
use crate::paths::{self, DEVICE_NUMBER, Lead, NODE};
use crate::real::{self, Failure};

/// A path of the program after redirection, as a C string.
struct Path {
    lead: Lead,
    given: *const c_char,
}

impl Path {
    /// # Safety
    /// The path is a C string or null.
    unsafe fn new(given: *const c_char) -> Path {
        let lead = if given.is_null() {
            Lead::Unchanged
        } else {
            // SAFETY: not null, so a C string.
            paths::lead(unsafe { CStr::from_ptr(given) })
        };
        Path { lead, given }
    }

    fn as_ptr(&self) -> *const c_char {
        match &self.lead {
            Lead::Unchanged | Lead::Descriptor(_) => self.given,
            Lead::Elsewhere(path) => path.as_ptr(),
        }
    }

    /// Whether it is the path of a descriptor of the node.
    fn is_nodes_descriptor(&self) -> bool {
        matches!(self.lead, Lead::Descriptor(fd) if files::is_node(fd))
    }
}

unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    let open_node = || files::open(flags).unwrap_or_else(|error| Failure::with(error.0));
    // SAFETY: `open`'s caller gives a C string.
    let path = unsafe { Path::new(path) };
    if path.is_nodes_descriptor() {
        return open_node();
    }
    // SAFETY: the caller's own arguments, or a path of ours.
    let fd = unsafe { real::openat(directory, path.as_ptr(), flags, mode) };
    if fd >= 0 && flags & libc::O_PATH == 0 && stands_for_node(fd) {
        // SAFETY: nobody else knows it.
        unsafe { real::close(fd) };
        return open_node();
    }
    fd
}

/// Whether a descriptor is that of the node's file in the folder.
fn stands_for_node(fd: c_int) -> bool {
    let Some(node) = paths::node_id() else { return false };
    let mut status = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: a C string, and room for the result.
    let result = unsafe { real::fstatat(fd, c"".as_ptr(), status.as_mut_ptr(), libc::AT_EMPTY_PATH) };
    // SAFETY: it was zeroed, which is valid.
    let status = unsafe { status.assume_init() };
    result == 0 && (status.st_dev, status.st_ino) == node
}

replace! {
    fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int { open_at(libc::AT_FDCWD, path, flags, mode) }
    fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int { open_at(libc::AT_FDCWD, path, flags, mode) }
    fn __open_2(path: *const c_char, flags: c_int) -> c_int { open_at(libc::AT_FDCWD, path, flags, 0) }
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int { open_at(libc::AT_FDCWD, path, flags, 0) }
    fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        open_at(directory, path, flags, mode)
    }
    fn openat64(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        open_at(directory, path, flags, mode)
    }
    fn __openat_2(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
        open_at(directory, path, flags, 0)
    }
    fn __openat64_2(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
        open_at(directory, path, flags, 0)
    }

    fn access(path: *const c_char, mode: c_int) -> c_int { real::access(Path::new(path).as_ptr(), mode) }
    fn euidaccess(path: *const c_char, mode: c_int) -> c_int { real::euidaccess(Path::new(path).as_ptr(), mode) }
    fn eaccess(path: *const c_char, mode: c_int) -> c_int { real::euidaccess(Path::new(path).as_ptr(), mode) }
    fn faccessat(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
        real::faccessat(directory, Path::new(path).as_ptr(), mode, flags)
    }

    fn readlink(path: *const c_char, out: *mut c_char, size: usize) -> isize {
        read_link(libc::AT_FDCWD, path, out, size)
    }
    fn readlinkat(directory: c_int, path: *const c_char, out: *mut c_char, size: usize) -> isize {
        read_link(directory, path, out, size)
    }
    fn __readlink_chk(path: *const c_char, out: *mut c_char, size: usize, room: usize) -> isize {
        read_link(libc::AT_FDCWD, path, out, size.min(room))
    }
    fn __readlinkat_chk(
        directory: c_int, path: *const c_char, out: *mut c_char, size: usize, room: usize
    ) -> isize {
        read_link(directory, path, out, size.min(room))
    }
    fn realpath(path: *const c_char, out: *mut c_char) -> *mut c_char { real_path(path, out) }
    fn __realpath_chk(path: *const c_char, out: *mut c_char, _room: usize) -> *mut c_char { real_path(path, out) }
    fn canonicalize_file_name(path: *const c_char) -> *mut c_char { real_path(path, std::ptr::null_mut()) }

    fn opendir(path: *const c_char) -> *mut libc::DIR { real::opendir(Path::new(path).as_ptr()) }
    fn readdir(folder: *mut libc::DIR) -> *mut libc::dirent { with_type(real::readdir(folder)) }
    fn readdir64(folder: *mut libc::DIR) -> *mut libc::dirent { with_type(real::readdir(folder)) }
    fn scandir(
        path: *const c_char, out: *mut *mut *mut libc::dirent, filter: *const c_void, compare: *const c_void
    ) -> c_int {
        scan(path, out, filter, compare)
    }
    fn scandir64(
        path: *const c_char, out: *mut *mut *mut libc::dirent, filter: *const c_void, compare: *const c_void
    ) -> c_int {
        scan(path, out, filter, compare)
    }
    fn glob(pattern: *const c_char, flags: c_int, error: *const c_void, out: *mut libc::glob_t) -> c_int {
        glob_paths(pattern, flags, error, out)
    }
    fn glob64(pattern: *const c_char, flags: c_int, error: *const c_void, out: *mut libc::glob_t) -> c_int {
        glob_paths(pattern, flags, error, out)
    }

    fn fopen(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
        real::fopen(Path::new(path).as_ptr(), mode)
    }
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
        real::fopen(Path::new(path).as_ptr(), mode)
    }

    fn stat(path: *const c_char, out: *mut libc::stat) -> c_int { status(libc::AT_FDCWD, path, out, 0) }
    fn stat64(path: *const c_char, out: *mut libc::stat) -> c_int { status(libc::AT_FDCWD, path, out, 0) }
    fn lstat(path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn lstat64(path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn fstat(fd: c_int, out: *mut libc::stat) -> c_int { status(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH) }
    fn fstat64(fd: c_int, out: *mut libc::stat) -> c_int { status(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH) }
    fn fstatat(directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        status(directory, path, out, flags)
    }
    fn fstatat64(directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        status(directory, path, out, flags)
    }
    // For programs linked to a C library before 2.33.
    fn __xstat(_version: c_int, path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, 0)
    }
    fn __xstat64(_version: c_int, path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, 0)
    }
    fn __lxstat(_version: c_int, path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn __lxstat64(_version: c_int, path: *const c_char, out: *mut libc::stat) -> c_int {
        status(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn __fxstat(_version: c_int, fd: c_int, out: *mut libc::stat) -> c_int {
        status(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH)
    }
    fn __fxstat64(_version: c_int, fd: c_int, out: *mut libc::stat) -> c_int {
        status(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH)
    }
    fn __fxstatat(
        _version: c_int, directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int
    ) -> c_int {
        status(directory, path, out, flags)
    }
    fn __fxstatat64(
        _version: c_int, directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int
    ) -> c_int {
        status(directory, path, out, flags)
    }
    fn statx(directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int {
        let given = path;
        let path = Path::new(path);
        if is_open_node(directory, given, &path, flags) {
            // SAFETY: the path is a C string of ours, and the program gives room for the result.
            return statx(libc::AT_FDCWD, NODE.as_ptr(), 0, mask, out);
        }
        let result = real::statx(directory, path.as_ptr(), flags, mask, out);
        if result == 0 {
            let device = libc::makedev((*out).stx_dev_major, (*out).stx_dev_minor);
            if paths::node_id() == Some((device, (*out).stx_ino)) {
                (*out).stx_mode = NODE_MODE as u16;
                ((*out).stx_rdev_major, (*out).stx_rdev_minor) = DEVICE_NUMBER;
            }
        }
        result
    }
}

/// Mode of the node: a character device with access for all users.
const NODE_MODE: u32 = libc::S_IFCHR | 0o666;

/// Whether the target of an `fstatat` with `flags` is a descriptor of the node.
unsafe fn is_open_node(directory: c_int, given: *const c_char, path: &Path, flags: c_int) -> bool {
    if flags & libc::AT_SYMLINK_NOFOLLOW == 0 && path.is_nodes_descriptor() {
        return true;
    }
    // SAFETY: a C string or null.
    let is_empty = given.is_null() || unsafe { *given } == 0;
    flags & libc::AT_EMPTY_PATH != 0 && is_empty && directory >= 0 && files::is_node(directory)
}

unsafe fn status(directory: c_int, given: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
    // SAFETY: the program gives a C string and room for the result.
    unsafe {
        let path = Path::new(given);
        if is_open_node(directory, given, &path, flags) {
            return status(libc::AT_FDCWD, NODE.as_ptr(), out, 0);
        }
        let result = real::fstatat(directory, path.as_ptr(), out, flags);
        if result == 0 && paths::node_id() == Some(((*out).st_dev, (*out).st_ino)) {
            (*out).st_mode = NODE_MODE;
            (*out).st_rdev = libc::makedev(DEVICE_NUMBER.0, DEVICE_NUMBER.1);
        }
        result
    }
}

/// Removes the folder of redirected files from a path of `length` bytes. Returns the new length.
unsafe fn without_hidden(path: *mut c_char, length: usize) -> usize {
    // SAFETY: the caller gives a path of that length.
    let bytes = unsafe { std::slice::from_raw_parts_mut(path.cast::<u8>(), length) };
    let hidden = paths::hidden(bytes);
    bytes.copy_within(hidden.., 0);
    length - hidden
}

/// As [`without_hidden`] for a C string.
unsafe fn string_without_hidden(path: *mut c_char) {
    // SAFETY: a C string; with its end.
    unsafe {
        let length = CStr::from_ptr(path).count_bytes() + 1;
        without_hidden(path, length);
    }
}

unsafe fn read_link(directory: c_int, given: *const c_char, out: *mut c_char, size: usize) -> isize {
    // SAFETY: the program gives a C string and the room that it says.
    unsafe {
        let path = Path::new(given);
        if path.is_nodes_descriptor() {
            let length = NODE.count_bytes().min(size);
            std::ptr::copy_nonoverlapping(NODE.as_ptr(), out, length);
            return length as isize;
        }
        let result = real::readlinkat(directory, path.as_ptr(), out, size);
        if result > 0 { without_hidden(out, result as usize) as isize } else { result }
    }
}

unsafe fn real_path(given: *const c_char, out: *mut c_char) -> *mut c_char {
    // SAFETY: the program gives a C string, and null or room for a path.
    unsafe {
        let path = Path::new(given);
        if path.is_nodes_descriptor() {
            return real_path(NODE.as_ptr(), out);
        }
        let result = real::realpath(path.as_ptr(), out);
        if !result.is_null() {
            string_without_hidden(result);
        }
        result
    }
}

/// Changes a directory entry of the node's file to a character device.
unsafe fn with_type(entry: *mut libc::dirent) -> *mut libc::dirent {
    // SAFETY: null, or an entry whose name is a C string.
    unsafe {
        if !entry.is_null()
            && paths::node_id().is_some_and(|(_, inode)| inode == (*entry).d_ino)
            && CStr::from_ptr((*entry).d_name.as_ptr()) == c"renderD128"
        {
            (*entry).d_type = libc::DT_CHR;
        }
    }
    entry
}

unsafe fn scan(
    path: *const c_char,
    out: *mut *mut *mut libc::dirent,
    filter: *const c_void,
    compare: *const c_void,
) -> c_int {
    // SAFETY: the program's own arguments; the result has as many entries as the function says.
    unsafe {
        let count = real::scandir(Path::new(path).as_ptr(), out, filter, compare);
        for index in 0..usize::try_from(count).unwrap_or(0) {
            with_type(*(*out).add(index));
        }
        count
    }
}

unsafe fn glob_paths(
    pattern: *const c_char,
    flags: c_int,
    error: *const c_void,
    out: *mut libc::glob_t,
) -> c_int {
    // SAFETY: the program's own arguments; the result has as many paths as it says, which are the program's
    // to change.
    unsafe {
        let result = real::glob(Path::new(pattern).as_ptr(), flags, error, out);
        if result == 0 {
            let first = if flags & libc::GLOB_DOOFFS != 0 { (*out).gl_offs } else { 0 };
            for index in first..first + (*out).gl_pathc {
                string_without_hidden(*(*out).gl_pathv.add(index));
            }
        }
        result
    }
}
