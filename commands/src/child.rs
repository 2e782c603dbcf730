//! The program that a tool runs, which outlives it to clean up or to show what the program has left: signals are passed on to it, and
//! its exit status is the tool's.

use std::io::Result;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

/// The program's process; 0 before it runs.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// Signals that end a program and can be caught.
const SIGNALS: [libc::c_int; 6] =
    [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2, libc::SIGINT, libc::SIGQUIT];

extern "C" fn pass_on(signal: libc::c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    let program = PROGRAM.load(Ordering::Relaxed);
    // SAFETY: the handler is installed with SA_SIGINFO, so that there is a description of the signal.
    let code = unsafe { (*info).si_code };
    // The terminal sends its signals to the program itself, too.
    let from_terminal = code == libc::SI_KERNEL;
    if program != 0 && !from_terminal {
        // SAFETY: no pointers; the function may be called in a handler.
        unsafe { libc::kill(program, signal) };
    }
}

/// Has a signal passed on, unless it is ignored: the program inherits that, as `nohup` needs.
fn catch(signal: libc::c_int) {
    // SAFETY: zeros are valid in the structure: no handler, no flags.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the pointers are null or to a structure of the right type.
    unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut before) };
    if before.sa_sigaction == libc::SIG_IGN {
        return;
    }
    // SAFETY: as above.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(libc::c_int, *const libc::siginfo_t, *const libc::c_void) = pass_on;
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: the handler only calls async-signal-safe functions.
    unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
}

/// Starts the program and passes signals on to it. When this process is killed, so is the program: nobody would clean up after it.
///
/// # Errors
/// A program that cannot be started.
pub fn spawn(command: &mut Command) -> Result<Child> {
    SIGNALS.into_iter().for_each(catch);
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

/// The exit status as shells give it: 128 and the number of the signal that ended the program.
#[must_use]
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(u8::MAX)
}
