//! The compile server: `genclc --serve`.
//!
//! Reads requests from standard input and answers on standard output ([`gencl_program::protocol`]). It ends
//! when its input ends or after an idle timeout. After a crash the client reads the end of the pipe, and has
//! the kernel and pass from the last [`FromServer::Progress`].

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

use crate::driver::{Build, Driver, Listener, Outcome};
use crate::link::Link;
use crate::llvm::library;
use crate::{clang, internal};

/// The default idle timeout.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The source's name in diagnostics: applications give none.
const SOURCE_NAME: &str = "<source>";

/// Identifies the compiler and its version: caches do not exchange programs between different ones.
#[must_use]
pub fn identity() -> String {
    // The executable's size and modification time identify its contents.
    let executable = std::env::current_exe().and_then(std::fs::metadata);
    let stamp = executable.and_then(|file| {
        let time = file.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{:x}-{:x}", file.len(), time.as_nanos()))
    });
    format!("genclc {} {} {}", env!("CARGO_PKG_VERSION"), stamp.unwrap_or_default(), clang::version())
}

/// The configuration of a server.
#[derive(Clone, Copy, Debug)]
pub struct Service<'a> {
    /// Debug options.
    pub debug: &'a Debug,
    /// How long it waits for a request before it ends.
    pub idle_timeout: Duration,
    /// Prepares for the requests that are expected, after the greeting and before the first one.
    pub warm_up: fn(),
    /// Answers a request for a translation, both in the encoding of the protocol.
    pub translate: fn(&[u8]) -> Vec<u8>,
}

/// Serves requests until the input ends or the idle timeout expires.
///
/// # Errors
/// I/O errors, a client with another version of the protocol, and malformed messages.
pub fn serve(
    input: impl Read + Send + 'static,
    output: &mut impl Write,
    service: Service<'_>,
) -> io::Result<()> {
    let Service { debug, idle_timeout, warm_up, translate } = service;
    write_message(output, &FromServer::Hello { version: VERSION, compiler: identity() })?;
    warm_up();
    let requests = read_in_background(input)?;
    loop {
        match requests.recv_timeout(idle_timeout) {
            Ok(Ok(ToServer::Hello { version: VERSION })) => {}
            Ok(Ok(ToServer::Hello { version })) => {
                let message = format!("the client has protocol version {version}, the server {VERSION}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            Ok(Ok(ToServer::Compile(request))) => {
                let build = Build {
                    source: &request.source,
                    name: SOURCE_NAME,
                    options: &request.options,
                    headers: &request.headers,
                    target: &request.target,
                    specialization: &request.specialization,
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
                // Reported before, in case it crashes.
                let (kernel, pass) = (String::new(), "translate".into());
                write_message(output, &FromServer::Progress { kernel, pass })?;
                write_message(output, &FromServer::Translated(translate(&request)))?;
            }
            Ok(Err(error)) => return Err(error),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Reads messages in a separate thread, so that the server can wait for them with a timeout. The channel
/// closes when the input ends.
///
/// # Errors
/// The thread cannot be created.
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

/// Builds a kernel and discards it, to initialise LLVM and clang.
pub fn warm_up() {
    library::preload();
    let mut silent = Progress { output: &mut io::sink(), at: (String::new(), String::new()) };
    let build = Build {
        source: b"kernel void warm(global float *x) { x[get_global_id(0)] += 1.0f; }",
        name: SOURCE_NAME,
        target: "skl",
        ..Build::default()
    };
    // Errors are ignored here: the first build has them as well, and reports them.
    let _ = catch_unwind(AssertUnwindSafe(|| Driver::new(&Debug::default(), &mut silent).build(&build)));
}

/// Executes one request, and reports a panic as a failure of the build.
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
        Ok((outcome, Err(error))) => failure(outcome.log + &internal::message("", &error.to_string(), debug)),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
            let (kernel, pass) = &progress.at;
            failure(internal::message(kernel, &format!("pass {pass}: {message}"), debug))
        }
    }
}

fn failure(log: String) -> BuildResult {
    BuildResult { status: Status::Failure, log, binary: Vec::new(), files: Vec::new() }
}

/// Reports the progress of a build to the client.
struct Progress<'a, W: Write> {
    output: &'a mut W,
    at: (String, String),
}

impl<W: Write> Listener for Progress<'_, W> {
    fn progress(&mut self, kernel: &str, pass: &str) {
        self.at = (kernel.into(), pass.into());
        // If the client has hung up, the next read ends the server.
        let message = FromServer::Progress { kernel: kernel.into(), pass: pass.into() };
        let _ = write_message(self.output, &message);
    }

    fn print(&mut self, what: &str, text: &str) {
        eprintln!("---- {what}\n{text}");
    }
}
