//! The program that a tool runs, which outlives it to clean up or to show what the program has left: signals are passed on to it, and
//! its exit status is the tool's.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Result};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

/// The variable with gencl's debug options.
pub const DEBUG: &str = "GENCL_DEBUG";
/// The variable with the folder, or the file, that names the drivers of the ICD loader.
pub const VENDORS: &str = "OCL_ICD_VENDORS";

/// Why a program could not be run.
#[derive(Debug)]
pub struct NotRun {
    /// What failed.
    pub reason: String,
    /// The exit status, as shells give it: 127 for a program that does not exist, 126 for one that cannot be executed, and
    /// 125 where the tool itself failed.
    pub status: u8,
}

impl NotRun {
    /// That a program cannot be started.
    #[must_use]
    pub fn of(command: &Command, error: &std::io::Error) -> NotRun {
        let reason = format!("{}: {error}", command.get_program().to_string_lossy());
        NotRun { reason, status: if error.kind() == ErrorKind::NotFound { 127 } else { 126 } }
    }
}

impl From<String> for NotRun {
    fn from(reason: String) -> NotRun {
        NotRun { reason, status: 125 }
    }
}

/// A program, with its arguments, that uses gencl: on a simulated device, or on that of the environment, and with more
/// debug options.
#[must_use]
pub fn with_driver(program: &[OsString], device: Option<&str>, options: &OsStr) -> Command {
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]);
    command.env(DEBUG, debug_options(options));
    // It keeps binaries, which were compiled with other options.
    command.env("PYOPENCL_NO_CACHE", "1");
    if let Some(device) = device {
        command.env("GENCL_DEVICE", format!("sim:{device}"));
    }
    // In the build tree, and in a prefix that the ICD loader does not search.
    let vendors = beside("vendors").or_else(|| beside("../etc/OpenCL/vendors"));
    if let Some(vendors) = vendors.filter(|_| std::env::var_os(VENDORS).is_none()) {
        command.env(VENDORS, vendors);
    }
    command
}

/// gencl's debug options of the environment, and more.
#[must_use]
pub fn debug_options(more: &OsStr) -> OsString {
    let mut debug = std::env::var_os(DEBUG).filter(|debug| !debug.is_empty()).unwrap_or_default();
    if !debug.is_empty() {
        debug.push(",");
    }
    debug.push(more);
    debug
}

/// A file in the folder of this program, if there is one.
pub fn beside(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.parent()?.join(name.as_ref());
    path.exists().then_some(path)
}

/// Runs a program to its end, as [`spawn`].
///
/// # Errors
/// A program that cannot be started.
pub fn run(command: &mut Command) -> std::result::Result<ExitStatus, NotRun> {
    spawn(command).and_then(|mut child| child.wait()).map_err(|error| NotRun::of(command, &error))
}

/// The program's process; 0 before it runs.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// Signals that end a program and can be caught.
const SIGNALS: [libc::c_int; 6] =
    [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2, libc::SIGINT, libc::SIGQUIT];

extern "C" fn pass_on(signal: libc::c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    // SAFETY: the handler is installed with SA_SIGINFO, so that there is a description of the signal.
    let code = unsafe { (*info).si_code };
    // The terminal sends its signals to the program itself, too.
    let from_terminal = code == libc::SI_KERNEL;
    if !from_terminal {
        send(signal);
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

/// Has a program ignore the interrupts of the terminal, as they are for this process.
pub fn without_interrupts(command: &mut Command) {
    // SAFETY: between `fork` and `exec` it makes a system call only.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_IGN);
            Ok(())
        });
    }
}

/// Sends a signal to the program, if it runs.
pub fn send(signal: libc::c_int) {
    let program = PROGRAM.load(Ordering::Relaxed);
    if program != 0 {
        // SAFETY: no pointers; handlers may call the function, too.
        unsafe { libc::kill(program, signal) };
    }
}

/// The exit status as shells give it: 128 and the number of the signal that ended the program.
#[must_use]
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(u8::MAX)
}
