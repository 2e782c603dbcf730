//! The program that is debugged: its process, and the connections of it and its children.

use std::ffi::OsString;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::Duration;

use gencl_commands::child::{self, NotRun};
use gencl_program::tools::Tools;
use gencl_simulator::debug::protocol::SOCKET;

use crate::link::Link;

/// Time between looks whether the program has ended.
const POLL: Duration = Duration::from_millis(5);

/// A program. When dropped, it is killed.
pub struct Program {
    folder: tempfile::TempDir,
    listener: UnixListener,
    child: Child,
}

impl Program {
    /// Starts a program on a simulated device, or that of the environment, with checks by some tools, or the
    /// usual ones if there are none, in its kernels. With `quiet` it has no standard input, and
    /// what it prints goes to standard error.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(
        program: &[OsString],
        device: Option<&str>,
        check: Option<&[String]>,
        quiet: bool,
    ) -> Result<Program, NotRun> {
        let folder = tempfile::Builder::new().prefix("gencl-debug-").tempdir();
        let folder = folder.map_err(|error| format!("a temporary folder: {error}"))?;
        let socket = folder.path().join(SOCKET);
        let failed = |error: std::io::Error| format!("{}: {error}", socket.display());
        let listener = UnixListener::bind(&socket).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let mut options = OsString::from("debug=");
        options.push(folder.path());
        if let Some(tools) = check {
            let tools = if tools.is_empty() { Tools::default_code() } else { tools.join("+") };
            options.push(format!(",check,check-tools={tools}"));
        }
        let mut command = child::with_driver(program, device, &options);
        if quiet {
            // The debugger's own input and output are a front end's.
            command.stdin(std::process::Stdio::null()).stdout(std::io::stderr());
        }
        child::without_interrupts(&mut command);
        let child = child::spawn(&mut command).map_err(|error| NotRun::of(&command, &error))?;
        Ok(Program { folder, listener, child })
    }

    /// The folder in which processes have their kernels.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        Path::new(self.folder.path()).to_owned()
    }

    /// Waits until a process of the program connects; none when the program has ended without.
    ///
    /// # Errors
    /// Those of the system.
    pub fn connect(&mut self) -> Result<Option<Link>, String> {
        loop {
            // What has connected before its end is served.
            let ended = self.child.try_wait().map_err(|error| error.to_string())?.is_some();
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let link = stream.set_nonblocking(false).and_then(|()| Link::new(stream));
                    return link.map(Some).map_err(|error| error.to_string());
                }
                Err(_) if ended => return Ok(None),
                Err(_) => std::thread::sleep(POLL),
            }
        }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// Those of the system.
    pub fn wait(&mut self) -> Result<ExitStatus, String> {
        self.child.wait().map_err(|error| error.to_string())
    }

    /// Ends it.
    pub fn kill(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
