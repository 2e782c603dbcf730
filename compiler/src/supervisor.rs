//! The compile server's place among processes.
//!
//! A server that is the application's child is waited for by the application's own `wait`, which then waits
//! for long. So the process that the driver has started ends at once, and what serves is the child of a
//! second one, the supervisor. That tells the client how the server has ended, which only a parent is told,
//! and ends the server when the client has hung up or the server takes too much memory. It needs none itself:
//! it is a fork from before there was anything.

use std::io::{self, PipeReader};
use std::os::fd::AsRawFd;

use gencl_program::protocol::{FromServer, write_message};

/// How often the supervisor looks how much memory the server has, in milliseconds.
const LOOK: libc::c_int = 100;

/// Returns in the process that is to serve: this one, unless standard input is a socket, by which drivers
/// speak. `memory` is how many MiB the server may take then. To be called before there are threads.
///
/// # Errors
/// No process can be made.
pub fn step_aside(memory: u64) -> io::Result<()> {
    if !is_socket(libc::STDIN_FILENO) {
        return Ok(());
    }
    // An application that ignores its children's ends hands that down, and then nobody is told of them.
    // SAFETY: the default action is no function.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    if fork()? != 0 {
        exit();
    }
    // The server has the only end for writing, which closes with it.
    let (ended, held) = io::pipe()?;
    let server = fork()?;
    if server == 0 {
        std::mem::forget(held);
        return Ok(());
    }
    drop(held);
    supervise(server, &ended, memory)
}

/// Waits for the end of server or client, and sees to the server's.
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
    // The client may be gone.
    let _ = write_message(&mut io::stdout(), &FromServer::Ended(status));
    exit()
}

/// The MiB that a process has for data, of its own or swapped out.
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

/// Ends this process and leaves what it shares with the others as it is.
fn exit() -> ! {
    // SAFETY: nothing has to be written or destroyed.
    unsafe { libc::_exit(0) }
}
