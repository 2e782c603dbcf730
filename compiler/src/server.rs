//! The compile server: `genclc --serve`.
//!
//! Reads requests from standard input and answers on standard output ([`gencl_program::protocol`]). It ends
//! when its input ends, and when it has had nothing to do for a while. A crash needs no handling here: the
//! client sees the end of the pipe and knows from the last [`FromServer::Progress`] where it happened.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use gencl_program::debug::Debug;
use gencl_program::elf;
use gencl_program::protocol::{
    BuildResult, FromServer, LinkRequest, Status, ToServer, VERSION, WidenRequest, read_message,
    write_message,
};

use crate::clang;
use crate::driver::{Build, Driver, Listener, Outcome};
use crate::link::Link;
use crate::llvm::library;

/// How long a server waits for work, usually.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The source's name in diagnostics: applications give none.
const SOURCE_NAME: &str = "<source>";

/// Names compiler and version: programs that different ones made are not exchanged.
#[must_use]
pub fn identity() -> String {
    // The executable's size and time stand for everything that is in it.
    let executable = std::env::current_exe().and_then(std::fs::metadata);
    let stamp = executable.and_then(|file| {
        let time = file.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{:x}-{:x}", file.len(), time.as_nanos()))
    });
    format!("genclc {} {} {}", env!("CARGO_PKG_VERSION"), stamp.unwrap_or_default(), clang::version())
}

/// What a server is to do.
#[derive(Clone, Copy, Debug)]
pub struct Service<'a> {
    /// Debug options.
    pub debug: &'a Debug,
    /// How long it waits for work before it ends.
    pub idle_timeout: Duration,
    /// Builds are to be expected: what they need is prepared before the first one.
    pub builds: bool,
    /// Answers a request for a translation, both in the encoding of the protocol.
    pub translate: fn(&[u8]) -> Vec<u8>,
}

/// Serves until the input ends or nothing comes for a while.
///
/// # Errors
/// Those of the streams, and a client that speaks another version or no protocol at all.
pub fn serve(
    input: impl Read + Send + 'static,
    output: &mut impl Write,
    service: Service<'_>,
) -> io::Result<()> {
    let Service { debug, idle_timeout, builds, translate } = service;
    write_message(output, &FromServer::Hello { version: VERSION, compiler: identity() })?;
    if builds {
        warm_up();
    }
    let requests = read_in_background(input)?;
    loop {
        match requests.recv_timeout(idle_timeout) {
            Ok(Ok(ToServer::Hello { version: VERSION })) => {}
            Ok(Ok(ToServer::Hello { version })) => {
                let message = format!("the client speaks version {version}, this is {VERSION}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            Ok(Ok(ToServer::Compile(request))) => {
                let build = Build {
                    source: &request.source,
                    name: SOURCE_NAME,
                    options: &request.options,
                    headers: &request.headers,
                    target: &request.target,
                };
                let result = work(output, debug, |driver| match request.object {
                    true => driver.compile(&build),
                    false => driver.build(&build),
                });
                write_message(output, &FromServer::Result(result))?;
            }
            Ok(Ok(ToServer::Link(LinkRequest { inputs, options, target }))) => {
                let link = Link { inputs: &inputs, options: &options, target: &target };
                let result = work(output, debug, |driver| driver.link(&link));
                write_message(output, &FromServer::Result(result))?;
            }
            Ok(Ok(ToServer::Widen(WidenRequest { program, lanes }))) => {
                let result = work(output, debug, |driver| driver.widen(&program, lanes));
                write_message(output, &FromServer::Result(result))?;
            }
            Ok(Ok(ToServer::Translate(request))) => {
                // Should it crash, the client knows where.
                let (kernel, pass) = (String::new(), "translate".into());
                write_message(output, &FromServer::Progress { kernel, pass })?;
                write_message(output, &FromServer::Translated(translate(&request)))?;
            }
            Ok(Err(error)) => return Err(error),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Reads messages in a thread of its own, so that waiting for them can end. The channel closes when the input
/// ends.
///
/// # Errors
/// The system gives no thread.
fn read_in_background(
    mut input: impl Read + Send + 'static,
) -> io::Result<mpsc::Receiver<io::Result<ToServer>>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().name("requests".into()).spawn(move || {
        while let Some(message) = read_message(&mut input).transpose() {
            let last = message.is_err();
            if sender.send(message).is_err() || last {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// Builds a kernel for nothing: what LLVM and clang set up on first use is then there.
fn warm_up() {
    library::preload();
    let mut silent = Progress { output: &mut io::sink(), at: (String::new(), String::new()) };
    let build = Build {
        source: b"kernel void warm(global float *x) { x[get_global_id(0)] += 1.0f; }",
        name: SOURCE_NAME,
        options: "",
        headers: &[],
        target: "skl",
    };
    // Whatever goes wrong here goes wrong in the first build, too, and is reported there.
    let _ = catch_unwind(AssertUnwindSafe(|| Driver::new(&Debug::default(), &mut silent).build(&build)));
}

/// Does one request's work, and reports a panic as a failure of the build.
fn work(output: &mut impl Write, debug: &Debug, act: impl FnOnce(&mut Driver<'_>) -> Outcome) -> BuildResult {
    let mut progress = Progress { output, at: (String::new(), String::new()) };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let outcome = act(&mut Driver::new(debug, &mut progress));
        let binary = outcome.program.as_ref().map(elf::write).transpose();
        (outcome, binary)
    }));
    match outcome {
        Ok((outcome, Ok(binary))) => {
            let Outcome { status, log, files, .. } = outcome;
            BuildResult { status, log, binary: binary.unwrap_or_default(), files }
        }
        Ok((outcome, Err(error))) => failure(format!("{}error: {error}\n", outcome.log)),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
            let (kernel, pass) = &progress.at;
            let kernel = if kernel.is_empty() { String::new() } else { format!(" kernel {kernel},") };
            failure(format!("error:{kernel} pass {pass}: the compiler failed: {message}\n"))
        }
    }
}

fn failure(log: String) -> BuildResult {
    BuildResult { status: Status::Failure, log, binary: Vec::new(), files: Vec::new() }
}

/// Tells the client how far the build is.
struct Progress<'a, W: Write> {
    output: &'a mut W,
    at: (String, String),
}

impl<W: Write> Listener for Progress<'_, W> {
    fn progress(&mut self, kernel: &str, pass: &str) {
        self.at = (kernel.into(), pass.into());
        // When the client is gone, the next read ends the server.
        let message = FromServer::Progress { kernel: kernel.into(), pass: pass.into() };
        let _ = write_message(self.output, &message);
    }

    fn print(&mut self, what: &str, text: &str) {
        eprintln!("---- {what}\n{text}");
    }
}
