//! The supervisor process of the compile server.
//!
//! If the server were a child of the application, the application's own `wait` would wait for it. So the
//! process that the driver starts ends immediately, and the server is the child of a second process, the
//! supervisor. The supervisor reports the server's exit status to the client, which only a parent gets, and
//! kills the server when the client has hung up or the server exceeds its memory limit. It forks before
//! anything is allocated, so that it needs little memory itself.

use std::io::{self, PipeReader};
use std::os::fd::AsRawFd;

use gencl_program::protocol::{FromServer, write_message};

/// Interval in milliseconds at which the supervisor checks the server's memory.
const LOOK: libc::c_int = 100;

/// Creates the supervisor and returns in the server process, if standard input is a socket, as drivers use;
/// otherwise returns in this process. `memory` is the server's memory limit in MiB. Must be called before
/// there are threads.
///
/// # Errors
/// `fork` or the pipe failed.
pub fn step_aside(memory: u64) -> io::Result<()> {
    if !is_socket(libc::STDIN_FILENO) {
        return Ok(());
    }
    // An ignored SIGCHLD is inherited from the application, and would discard the server's exit status.
    // SAFETY: the default action is no function.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    if fork()? != 0 {
        exit();
    }
    // The server has the only writing end, which closes when it ends.
    let (ended, held) = io::pipe()?;
    let server = fork()?;
    if server == 0 {
        std::mem::forget(held);
        return Ok(());
    }
    drop(held);
    supervise(server, &ended, memory)
}

/// Waits until the server or the client ends, kills the server in the latter case, and reports its exit
/// status.
fn supervise(server: libc::pid_t, ended: &PipeReader, memory: u64) -> ! {
    let entry = |fd, events| libc::pollfd { fd, events, revents: 0 };
    let mut ends = [entry(ended.as_raw_fd(), libc::POLLIN), entry(libc::STDIN_FILENO, libc::POLLRDHUP)];
    // SAFETY: there are two entries.
    while unsafe { libc::poll(ends.as_mut_ptr(), 2, LOOK) } <= 0 {
        if taken(server).is_some_and(|taken| taken > memory) {
            eprintln!("it took more than {memory} MiB of memory; GENCL_BUILD_MEMORY sets the limit");
            break;
        }
    }
    if ends[0].revents == 0 {
        // SAFETY: the server has not been waited for, so that the number is still its own.
        unsafe { libc::kill(server, libc::SIGKILL) };
    }
    let mut status = 0;
    // SAFETY: there is room for the status.
    while unsafe { libc::waitpid(server, &raw mut status, 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
    // The client may have hung up.
    let _ = write_message(&mut io::stdout(), &FromServer::Ended(status));
    exit()
}

/// The anonymous memory of a process in MiB, resident or swapped out.
fn taken(process: libc::pid_t) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kibibytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some((kibibytes("RssAnon:")? + kibibytes("VmSwap:")?) >> 10)
}

fn is_socket(descriptor: i32) -> bool {
    // SAFETY: zeros are a value of this structure of numbers.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: there is room for what is known of it.
    let known = unsafe { libc::fstat(descriptor, &raw mut about) } == 0;
    known && about.st_mode & libc::S_IFMT == libc::S_IFSOCK
}

fn fork() -> io::Result<libc::pid_t> {
    // SAFETY: there is one thread, says the contract of `step_aside`: nothing is locked or half done in the
    // new process.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        process => Ok(process),
    }
}

/// Ends this process without flushing or destroying anything that it shares with the others.
fn exit() -> ! {
    // SAFETY: nothing has to be written or destroyed.
    unsafe { libc::_exit(0) }
}
