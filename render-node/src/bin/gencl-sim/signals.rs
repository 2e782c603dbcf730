//! Forwarding of signals from `gencl-sim`, which outlives the program to clean up, to the program.

use std::io::Result;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicI32, Ordering};

/// The program's process; 0 before it runs.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// Signals that end a program and can be caught. (The terminal sends SIGINT and SIGQUIT to the program
/// itself, too.)
const SIGNALS: [libc::c_int; 6] =
    [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2, libc::SIGINT, libc::SIGQUIT];

extern "C" fn pass_on(signal: libc::c_int) {
    let program = PROGRAM.load(Ordering::Relaxed);
    let from_terminal = matches!(signal, libc::SIGINT | libc::SIGQUIT);
    if program != 0 && !from_terminal {
        // SAFETY: no pointers; the function may be called in a handler.
        unsafe { libc::kill(program, signal) };
    }
}

/// Starts the program and forwards signals to it. When this process is killed, so is the program, whose node
/// would lose its files.
pub fn spawn(command: &mut Command) -> Result<Child> {
    for signal in SIGNALS {
        let handler = pass_on as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler only calls async-signal-safe functions.
        let before = unsafe { libc::signal(signal, handler) };
        if before == libc::SIG_IGN {
            // The program inherits an ignored signal, as `nohup` needs.
            // SAFETY: no handler.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    }
    // SAFETY: between `fork` and `exec` it makes a system call only.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    let child = command.spawn()?;
    PROGRAM.store(child.id() as i32, Ordering::Relaxed);
    Ok(child)
}
