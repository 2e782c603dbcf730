//! A compile server: its process and the protocol with it.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gencl_program::protocol::{BuildResult, FromServer, ToServer, VERSION, read_message, write_message};
use gencl_program::{environment, report, variables};
use gencl_sync::{Condvar, Mutex};
use rustix::io::Errno;
use rustix::net::RecvFlags;

use crate::Unavailable;

/// Time limit for the greeting of a new server.
const GREETING_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit for the exit of the spawned process.
const LEAVING_TIMEOUT: Duration = Duration::from_secs(5);

/// Memory limit of a server in MiB unless `GENCL_BUILD_MEMORY` sets one.
const DEFAULT_MEMORY: f64 = 4096.0;

/// Time limit for reading the rest of a server's error output after its exit.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(2);

/// The user is told after so long, at most half of the limit, that a build still runs.
const NOTICE: Duration = Duration::from_secs(30);

/// Exit reason of a server whose supervisor reported none.
const VANISHED: &str = "vanished";

/// Bytes of the server's error output that are kept for the log.
const MAX_COMPLAINT: usize = 4096;

/// Paths of compilers of which a process has greeted. Another process of theirs that ends without a greeting crashed
/// or was killed.
static GREETED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The reason why a request has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// No server can be started.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The server had exited before it read the request.
    #[error("the compile server has ended")]
    Gone,
    /// The server crashed or was killed during the request.
    #[error("the compiler {ended} in {place}{complaint}")]
    Died {
        /// Exit status as a verb phrase: `crashed (signal 11)`.
        ended: String,
        /// The kernel and the pass it was working on.
        place: BuildProgress,
        /// The end of its error output, on further lines.
        complaint: String,
    },
    /// The server did not answer within the time limit and was killed.
    #[error("the compiler was stopped after {} s in {place}; GENCL_BUILD_TIMEOUT sets the limit", .after.as_secs())]
    TimedOut {
        /// The limit.
        after: Duration,
        /// The kernel and the pass it was working on.
        place: BuildProgress,
    },
    /// A process that ended without a greeting and without an error, and no process of the same program has greeted
    /// before.
    #[error("{} has ended at once; is it gencl's compiler?", .0.display())]
    Mute(PathBuf),
    /// The server sent an invalid message.
    #[error("the compile server violates the protocol: {0}")]
    Protocol(String),
}

impl Failure {
    /// Whether a retry in another server may succeed. This one may have been killed from outside.
    fn may_pass(&self) -> bool {
        matches!(self, Failure::Gone | Failure::Died { .. } | Failure::Mute(_) | Failure::Protocol(_))
    }
}

/// Number of requests that servers are working on.
static WORKING: AtomicUsize = AtomicUsize::new(0);

/// See [`WORKING`]. After a `fork`, the child's may stay above 0.
pub(super) fn working() -> usize {
    WORKING.load(Ordering::Relaxed)
}

/// Counts a request in [`WORKING`].
struct Work;

impl Work {
    fn begin() -> Work {
        WORKING.fetch_add(1, Ordering::Relaxed);
        Work
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        WORKING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends a request to an idle server or a new one. When the server dies, the request is retried once, in a
/// new server.
///
/// Returns the answer and the server, which can be reused.
pub(super) fn ask<T>(
    mut waiting: Option<Server>,
    start: impl Fn() -> Result<Server, Failure>,
    request: impl Fn(&mut Server) -> Result<T, Failure>,
) -> Result<(T, Server), Failure> {
    let _work = Work::begin();
    let mut again = false;
    loop {
        let was_waiting = waiting.is_some();
        let server = waiting.take().map_or_else(&start, Ok);
        match server.and_then(|mut server| Ok((request(&mut server)?, server))) {
            // It exited while it was idle.
            Err(Failure::Gone) if was_waiting => {}
            Err(failure) if failure.may_pass() && !again => {
                tracing::warn!("{failure}; once more");
                again = true;
            }
            result => return result,
        }
    }
}

/// The last progress report of a server.
#[derive(Clone, Debug, Default)]
pub(super) struct BuildProgress {
    kernel: String,
    pass: String,
}

impl std::fmt::Display for BuildProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.kernel.as_str(), self.pass.as_str()) {
            ("", "") => write!(f, "its beginning"),
            ("", pass) => write!(f, "pass {pass}"),
            (kernel, pass) => write!(f, "pass {pass} of kernel {kernel}"),
        }
    }
}

/// The tail of a server's error output.
#[derive(Default)]
struct Complaint {
    said: Mutex<Said>,
    /// Signalled when `said` is complete.
    complete: Condvar,
}

#[derive(Default)]
struct Said {
    bytes: VecDeque<u8>,
    /// End of file was reached.
    complete: bool,
}

/// The kind of requests that a server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Builds of programs.
    Builds,
    /// Translations of kernels: it does not initialise the front end.
    Translations,
}

impl Purpose {
    fn argument(self) -> Option<&'static str> {
        (self == Self::Translations).then_some("--translations")
    }
}

/// The reason why a new server has not greeted.
enum Greeting {
    /// It is not a server for this driver; the text says why.
    Refused(String),
    /// It has exited.
    Ended(ExitStatus),
    /// It has closed the socket without a message.
    None,
}

/// A running server.
pub(super) struct Server {
    stream: UnixStream,
    complaint: Arc<Complaint>,
    /// Id of the process that started it. After a `fork`, the server belongs to the parent.
    owner: u32,
    /// Its working directory, to which relative include paths refer.
    folder: Option<PathBuf>,
    /// Its version, and those of its libraries, when it has greeted.
    version: String,
}

impl Server {
    /// Starts a server and waits for its greeting. `verbose`: it inherits this process's error output, which
    /// is captured for build logs otherwise.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when it cannot be started or exits with an error before the greeting, [`Failure::Died`]
    /// when a signal ends it before that, or when nothing tells how a compiler ended that has greeted before,
    /// [`Failure::Mute`] for other programs.
    pub(super) fn start(path: &Path, purpose: Purpose, verbose: bool) -> Result<Self, Failure> {
        let unavailable =
            |reason: String| Failure::Unavailable(Unavailable(format!("{}: {reason}", path.display())));
        let (mut server, mut child) =
            Self::spawn(path, purpose, verbose).map_err(|error| unavailable(error.to_string()))?;
        let greeted = server.greet();
        if greeted.is_err() {
            server.hang_up();
        }
        let spawned = wait_for(&mut child);
        let status = match greeted {
            Ok(()) => {
                GREETED.lock().insert(path.to_owned());
                return Ok(server);
            }
            Err(Greeting::Refused(reason)) => return Err(unavailable(reason)),
            Err(Greeting::Ended(status)) => Some(status),
            // There was no supervisor yet to report the exit status.
            Err(Greeting::None) => spawned.filter(|status| status.code().is_some_and(|code| code != 0)),
        };
        Err(match status {
            Some(status) if status.signal().is_none() => {
                unavailable(format!("it {} before it greeted{}", describe(status), server.last_words()))
            }
            Some(status) => server.died(describe(status)),
            None if GREETED.lock().contains(path) => server.died(VANISHED.into()),
            None => Failure::Mute(path.to_owned()),
        })
    }

    /// Spawns a server. The spawned process exits as soon as the server, its grandchild, runs.
    fn spawn(path: &Path, purpose: Purpose, verbose: bool) -> io::Result<(Self, Child)> {
        let (stream, theirs) = UnixStream::pair()?;
        let theirs = OwnedFd::from(theirs);
        let mut command = Command::new(path);
        if environment::has_raised_privileges() {
            command.env_clear();
        }
        let mut child = command
            .arg("--serve")
            .args(purpose.argument())
            .arg(format!("--memory={}", memory()))
            // Tools preloaded into this process are not for the compiler.
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::from(theirs.try_clone()?))
            .stdout(Stdio::from(theirs))
            .stderr(if verbose { Stdio::inherit() } else { Stdio::piped() })
            .spawn()?;
        // It holds a duplicate of the server's end of the socket.
        drop(command);
        let errors = child.stderr.take();
        let server = Self {
            stream,
            complaint: Arc::default(),
            owner: std::process::id(),
            folder: std::env::current_dir().ok(),
            version: String::new(),
        };
        match errors {
            Some(errors) => {
                let complaint = server.complaint.clone();
                let thread = std::thread::Builder::new().name("gencl-compiler".into());
                thread.spawn(move || listen(errors, &complaint))?;
            }
            None => server.complaint.said.lock().complete = true,
        }
        Ok((server, child))
    }

    fn greet(&mut self) -> Result<(), Greeting> {
        // A failed write means that the server has exited; the read below finds the reason.
        let _ = self.send(&ToServer::Hello { version: VERSION });
        let set = self.stream.set_read_timeout(Some(GREETING_TIMEOUT));
        match set.and_then(|()| read_message(&mut self.stream)) {
            Ok(Some(FromServer::Hello { version: VERSION, compiler })) => {
                tracing::debug!("compile server {compiler} is ready");
                self.version = compiler;
                Ok(())
            }
            Ok(Some(FromServer::Hello { version, .. })) => Err(Greeting::Refused(format!(
                "it is of another version of gencl: its protocol is {version}, the driver's {VERSION}"
            ))),
            Ok(Some(FromServer::Ended(status))) => Err(Greeting::Ended(ExitStatus::from_raw(status))),
            Ok(Some(other)) => Err(Greeting::Refused(format!("it greets with {other:?}"))),
            Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::InvalidData => {
                Err(Greeting::Refused(format!("no greeting: {error}{}", self.last_words())))
            }
            Ok(None) | Err(_) => Err(Greeting::None),
        }
    }

    /// The failure of a server that has died outside of a request.
    fn died(&self, ended: String) -> Failure {
        Failure::Died { ended, place: BuildProgress::default(), complaint: self.last_words() }
    }

    /// Its version, and those of its libraries.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Whether this process can use it for a build: it is alive, and in the same working directory.
    pub(super) fn usable(&mut self) -> bool {
        self.folder == std::env::current_dir().ok() && self.alive()
    }

    /// Whether it is running, and owned by this process.
    pub(super) fn alive(&mut self) -> bool {
        // The only unsolicited message is the exit status.
        let peek = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let silent = || rustix::net::recv(&self.stream, &mut [0; 1], peek) == Err(Errno::AGAIN);
        self.owner == std::process::id() && silent()
    }

    /// Builds a program. After a failure the server must be dropped.
    pub(super) fn build(&mut self, request: &ToServer, timeout: Duration) -> Result<BuildResult, Failure> {
        match self.run(request, timeout, Some(NOTICE.min(timeout / 2)))? {
            FromServer::Result(result) => Ok(result),
            other => Err(no_answer(&other)),
        }
    }

    /// Translates a kernel. After a failure the server must be dropped.
    pub(super) fn translate(&mut self, request: Vec<u8>, timeout: Duration) -> Result<Vec<u8>, Failure> {
        match self.run(&ToServer::Translate(request), timeout, None)? {
            FromServer::Translated(answer) => Ok(answer),
            other => Err(no_answer(&other)),
        }
    }

    /// Sends a request and waits for its final message. After `notice` the user is told that it still runs.
    fn run(
        &mut self,
        request: &ToServer,
        timeout: Duration,
        notice: Option<Duration>,
    ) -> Result<FromServer, Failure> {
        let begin = Instant::now();
        let deadline = begin + timeout;
        let mut notice = notice.map(|after| begin + after);
        // A failed write means that the server has exited; the read below finds the reason.
        let sent = self.stream.set_write_timeout(Some(timeout)).and_then(|()| self.send(request));
        let mut place = BuildProgress::default();
        let mut heard = false;
        loop {
            if let Some(at) = notice
                && !self.is_readable_until(at)
            {
                notice = None;
                let (after, limit) = (begin.elapsed().as_secs_f32(), timeout.as_secs());
                let text = format!(
                    "a program is still being built after {after:.0} s, in {place}; that is stopped after {limit} s \
                     (GENCL_BUILD_TIMEOUT sets this limit in seconds)"
                );
                report::once("slow build", &text);
            }
            let wait = self.stream.set_read_timeout(Some(left(deadline)));
            let read = wait.and_then(|()| read_message(&mut self.stream));
            match read {
                Ok(Some(FromServer::Progress { kernel, pass })) => place = BuildProgress { kernel, pass },
                Ok(Some(end @ (FromServer::Result(_) | FromServer::Translated(_)))) => return Ok(end),
                Ok(Some(FromServer::Ended(status))) => {
                    let status = ExitStatus::from_raw(status);
                    if !heard && status.success() {
                        return Err(Failure::Gone);
                    }
                    let ended = describe(status);
                    return Err(Failure::Died { ended, place, complaint: self.last_words() });
                }
                Ok(Some(other)) => return Err(no_answer(&other)),
                Err(error) if is_timeout(&error) => {
                    self.hang_up();
                    return Err(Failure::TimedOut { after: timeout, place });
                }
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(Failure::Protocol(error.to_string()));
                }
                Ok(None) | Err(_) if !heard && sent.is_err() => return Err(Failure::Gone),
                Ok(None) | Err(_) => {
                    self.hang_up();
                    let ended = VANISHED.into();
                    return Err(Failure::Died { ended, place, complaint: self.last_words() });
                }
            }
            heard = true;
        }
    }

    /// Waits until there is a message, or the server has exited; false if there is none at a time.
    fn is_readable_until(&self, time: Instant) -> bool {
        // Without a limit of time, or after a signal, the read that follows waits.
        self.stream.set_read_timeout(Some(left(time))).is_err()
            || rustix::net::recv(&self.stream, &mut [0; 1], RecvFlags::PEEK) != Err(Errno::AGAIN)
    }

    fn send(&self, message: &ToServer) -> io::Result<()> {
        write_message(&mut NoSignal(&self.stream), message)
    }

    /// Shuts the socket down, also for forked processes that share it. The server's processes notice and
    /// exit.
    fn hang_up(&self) {
        // It fails when the server has closed its end already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// The tail of its error output, as further lines of a log.
    fn last_words(&self) -> String {
        let mut said = self.complaint.said.lock();
        if !said.complete {
            self.complaint.complete.wait_for(&mut said, LAST_WORDS_TIMEOUT);
        }
        let bytes: Vec<u8> = said.bytes.iter().copied().collect();
        drop(said);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        if text.is_empty() { String::new() } else { format!(":\n{text}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.owner == std::process::id() {
            self.hang_up();
        }
    }
}

/// How long it is until a time, as a limit of a read, which cannot be 0.
fn left(time: Instant) -> Duration {
    time.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

fn memory() -> u64 {
    report::number(&variables::BUILD_MEMORY, DEFAULT_MEMORY) as u64
}

/// Reaps the spawned process, which exits once the server runs, so that the application's own `wait` finds
/// neither. A process that stays is not a server.
fn wait_for(child: &mut Child) -> Option<ExitStatus> {
    let deadline = Instant::now() + LEAVING_TIMEOUT;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            // An error: the application has reaped it.
            status => return status.ok().flatten(),
        }
    }
}

/// Keeps the tail of the server's error output.
fn listen(mut errors: impl Read, complaint: &Complaint) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        let kept = &mut complaint.said.lock().bytes;
        kept.extend(&buffer[..count]);
        let excess = kept.len().saturating_sub(MAX_COMPLAINT);
        kept.drain(..excess);
    }
    complaint.said.lock().complete = true;
    complaint.complete.notify_all();
}

fn no_answer(said: &FromServer) -> Failure {
    Failure::Protocol(format!("{said:?} is no answer"))
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("crashed (signal {signal})"),
        (None, Some(code)) => format!("ended with status {code}"),
        (None, None) => "ended".into(),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Writes without SIGPIPE, which would kill an application that does not handle it.
struct NoSignal<'a>(&'a UnixStream);

impl Write for NoSignal<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0, bytes, rustix::net::SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;
    use std::os::unix::fs::PermissionsExt;

    use gencl_program::protocol::{CompileRequest, Status};

    use super::*;

    fn nothing() -> ToServer {
        ToServer::Compile(CompileRequest::default())
    }

    /// A server made of a shell script, which gets its greeting as prepared bytes.
    pub(crate) struct Script(PathBuf);

    impl Script {
        pub(crate) fn new(name: &str, body: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("gencl-test-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let mut greeting = Vec::new();
            write_message(&mut greeting, &FromServer::Hello { version: VERSION, compiler: "test".into() })
                .unwrap();
            std::fs::write(folder.join("greeting"), greeting).unwrap();
            let progress = FromServer::Progress { kernel: "k".into(), pass: "p".into() };
            let mut bytes = Vec::new();
            write_message(&mut bytes, &progress).unwrap();
            std::fs::write(folder.join("progress"), bytes).unwrap();
            for (name, status) in [("left", 0), ("crashed", 11)] {
                let mut bytes = Vec::new();
                write_message(&mut bytes, &FromServer::Ended(status)).unwrap();
                std::fs::write(folder.join(name), bytes).unwrap();
            }
            let executable = |name: &str, text: &str| {
                let path = folder.join(name);
                std::fs::write(&path, format!("#!/bin/sh\ncd {}\n{text}\n", folder.display())).unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            };
            executable("body", body);
            // A command in the background would get another input.
            executable("server", "exec 3<&0\n./body <&3 3<&- &");
            Self(folder)
        }

        /// No server at all.
        fn failing(name: &str) -> Self {
            let script = Self::new(name, "");
            std::fs::write(script.0.join("server"), "#!/bin/sh\necho no compiler >&2\nexit 1\n").unwrap();
            script
        }

        /// A file for the script.
        pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
            std::fs::write(self.0.join(name), bytes).unwrap();
        }

        pub(crate) fn start(&self) -> Result<Server, Failure> {
            Server::start(&self.0.join("server"), Purpose::Builds, false)
        }
    }

    impl Drop for Script {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn a_crash_names_kernel_and_pass() {
        let script = Script::new(
            "crash",
            "cat greeting; head -c 8 >/dev/null; cat progress; echo broken >&2; cat crashed",
        );
        let failure = script.start().unwrap().build(&nothing(), SOON).unwrap_err();
        assert_eq!(failure.to_string(), "the compiler crashed (signal 11) in pass p of kernel k:\nbroken");
    }

    #[test]
    fn an_endless_build_is_stopped() {
        let script = Script::new("endless", "cat greeting; cat progress; cat >/dev/null");
        let limit = Duration::from_secs(1);
        let mut server = script.start().unwrap();
        let failure = server.build(&nothing(), limit).unwrap_err();
        assert!(failure.to_string().contains("stopped after 1 s in pass p of kernel k"), "{failure}");
        assert!(!server.usable());
    }

    #[test]
    fn a_server_that_does_not_listen_is_stopped() {
        let script = Script::new("deaf", "cat greeting; exec sleep 3");
        // More than a socket holds.
        let request = CompileRequest { source: vec![b' '; 16 << 20], ..CompileRequest::default() };
        let request = ToServer::Compile(request);
        let failure = script.start().unwrap().build(&request, Duration::from_secs(1)).unwrap_err();
        assert!(matches!(failure, Failure::TimedOut { .. }), "{failure}");
    }

    #[test]
    fn a_server_that_hangs_up_without_a_word_has_died() {
        let script = Script::new(
            "silent",
            "cat greeting; head -c 8 >/dev/null; cat progress; exec sleep 3 <&- >/dev/null 2>/dev/null",
        );
        let failure = script.start().unwrap().build(&nothing(), SOON).unwrap_err();
        assert!(matches!(failure, Failure::Died { .. }), "{failure}");
    }

    #[test]
    fn a_server_that_left_is_no_failure_of_the_build() {
        let script = Script::new("left", "cat greeting; cat left");
        let mut server = script.start().unwrap();
        let failure = server.build(&nothing(), SOON).unwrap_err();
        assert!(matches!(failure, Failure::Gone), "{failure}");
    }

    #[test]
    fn nonsense_is_refused() {
        let script =
            Script::new("nonsense", "cat greeting; head -c 100 /dev/zero | tr '\\0' '\\377'; cat >/dev/null");
        let failure = script.start().unwrap().build(&nothing(), SOON).unwrap_err();
        assert!(matches!(failure, Failure::Protocol(_)), "{failure}");
        let failure = Script::failing("mute").start().err().unwrap();
        assert!(matches!(failure, Failure::Unavailable(_)), "{failure}");
        assert!(
            failure.to_string().contains("ended with status 1 before it greeted:\nno compiler"),
            "{failure}"
        );
    }

    #[test]
    fn a_compiler_that_is_silent_is_one_if_it_has_greeted_before() {
        let script = Script::new("known", "[ -e known ] && exit; touch known; cat greeting; cat >/dev/null");
        script.start().unwrap();
        let failure = script.start().err().unwrap();
        assert!(matches!(failure, Failure::Died { .. }), "{failure}");
        let failure = Script::new("unknown", "exit").start().err().unwrap();
        assert!(matches!(failure, Failure::Mute(_)), "{failure}");
    }

    /// Servers that are scripts, one after the other; what became of a request, and how many were started.
    fn ask_scripts(scripts: &[Script]) -> (Result<(), Failure>, usize) {
        let started = Cell::new(0);
        let start = || scripts[started.replace(started.get() + 1)].start();
        let result = ask(None, start, |server| server.build(&nothing(), SOON));
        (result.map(drop), started.get())
    }

    #[test]
    fn a_request_that_is_lost_is_tried_once_more() {
        let new = |name: &str, body: &str| Script::new(&format!("lost-{name}"), body);
        let [died, killed] = ["cat greeting; head -c 8 >/dev/null; cat progress; cat crashed", "cat crashed"];
        let (log, binary, files) = (String::new(), Vec::new(), Vec::new());
        let result = BuildResult { status: Status::Success, log, binary, files };
        let mut answer = Vec::new();
        write_message(&mut answer, &FromServer::Result(result)).unwrap();
        let good = |name: &str| {
            let script = new(name, "cat greeting; cat answer; cat >/dev/null");
            script.write("answer", &answer);
            script
        };
        for (number, lost) in [died, killed].into_iter().enumerate() {
            let scripts = [new(&format!("{number}a"), lost), good(&format!("{number}b"))];
            assert!(matches!(ask_scripts(&scripts), (Ok(()), 2)), "{lost}");
            let scripts = [new(&format!("{number}c"), lost), new(&format!("{number}d"), lost)];
            let (result, started) = ask_scripts(&scripts);
            let failure = result.unwrap_err();
            assert!(matches!(failure, Failure::Died { .. }) && started == 2, "{failure}, {started} servers");
            assert!(failure.to_string().contains("crashed (signal 11)"), "{failure}");
        }
        let (result, started) = ask_scripts(&[Script::failing("lost-none")]);
        assert!(matches!(result, Err(Failure::Unavailable(_))) && started == 1);
    }
}
