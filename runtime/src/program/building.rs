//! Builds: the state of a program on each device, and the calls that change it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gencl_program::protocol::{BuildResult, Status, ToServer};
use gencl_program::{ProgramKind, elf};
use parking_lot::MutexGuard;
use smallvec::SmallVec;

use super::lines::Origin;
use super::{BinaryKind, BuildStatus, Call, Executable, Program};
use crate::context::DeviceContext;
use crate::{Code, Error, Result, trace};

/// Called when a build has ended.
pub(super) type Notify = Box<dyn FnOnce() + Send>;

/// The state of a program on a device.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) status: BuildStatus,
    pub(super) kind: BinaryKind,
    pub(super) options: String,
    pub(super) log: String,
    pub(super) binary: Arc<[u8]>,
    executable: Option<Arc<Executable>>,
}

impl Default for Build {
    fn default() -> Self {
        Self {
            status: BuildStatus::None,
            kind: BinaryKind::None,
            options: String::new(),
            log: String::new(),
            binary: Arc::new([]),
            executable: None,
        }
    }
}

impl Build {
    /// The executable, if the last build succeeded.
    pub(super) fn executable(&self) -> Option<Arc<Executable>> {
        self.executable.clone().filter(|_| self.status == BuildStatus::Success)
    }

    /// Begins a build. A program that is compiled loses its binary.
    pub(super) fn begin(&mut self, options: &str, compiles: bool) {
        self.status = BuildStatus::InProgress;
        self.options = options.to_owned();
        self.log.clear();
        if compiles {
            self.kind = BinaryKind::None;
            self.binary = Arc::new([]);
            self.executable = None;
        }
    }

    /// Loads a binary from the compiler or the application. `INVALID_BINARY`.
    pub(super) fn take(&mut self, member: &DeviceContext, binary: Arc<[u8]>) -> Result<()> {
        let program =
            elf::read(&binary).map_err(|error| Error::new(Code::InvalidBinary, error.to_string()))?;
        self.kind = match program.kind {
            ProgramKind::Executable => {
                self.executable = Some(Arc::new(Executable::load(member, program, &binary)?));
                BinaryKind::Executable
            }
            ProgramKind::Object => BinaryKind::CompiledObject,
            ProgramKind::Library => BinaryKind::Library,
        };
        self.binary = binary;
        Ok(())
    }

    /// Whether it is an executable that was compiled without checks.
    pub(super) fn lacks_checks(&self) -> bool {
        self.executable.as_ref().is_some_and(|executable| executable.sites().is_empty())
    }

    /// Applies the compiler's answer.
    fn answered(&mut self, call: Call, member: &DeviceContext, answer: BuildResult) -> Result<()> {
        self.log = answer.log;
        let code = match answer.status {
            Status::Success => return self.take(member, answer.binary.into()),
            Status::Failure | Status::InvalidTarget => call.failure(),
            Status::InvalidOptions => call.invalid_options(),
        };
        Err(Error::new(code, self.log.clone()))
    }
}

impl Build {
    /// Keeps what an executable was made of, for its line tables.
    fn is_made_by(&self, request: ToServer) {
        if let (ToServer::Compile(request), Some(executable)) = (request, &self.executable) {
            executable.set_origin(Origin { request: Arc::new(request), lanes: None });
        }
    }
}

/// A build in progress. Dropping it before its end fails the build.
pub(super) struct Building {
    program: Arc<Program>,
    call: Call,
    /// Indices of the program's devices for which the build has not ended.
    devices: SmallVec<[usize; 1]>,
}

impl Building {
    /// A build that has begun for the program's devices with these indices.
    pub(super) fn new(program: &Arc<Program>, call: Call, devices: SmallVec<[usize; 1]>) -> Self {
        Self { program: program.clone(), call, devices }
    }

    fn build(&self, device: usize) -> (&DeviceContext, MutexGuard<'_, Build>) {
        let (member, build) = &self.program.builds[device];
        (member, build.lock())
    }

    /// Checks the options and, if the build needs one, that there is a compiler. Errors: see
    /// [`Program::build`].
    pub(super) fn check(&self, options: &str) -> Result<()> {
        let mut compiles = false;
        for &device in &self.devices {
            let (member, build) = self.build(device);
            self.call.check_options(options, member.device())?;
            compiles |= self.call != Call::Build || build.kind != BinaryKind::Executable;
        }
        if compiles { self.call.check_available() } else { Ok(()) }
    }

    /// Fails a build that cannot begin. Returns the error.
    pub(super) fn fail(mut self, error: Error) -> Error {
        self.fail_rest(&error);
        error
    }

    fn fail_rest(&mut self, error: &Error) {
        for device in std::mem::take(&mut self.devices) {
            // Status and log have the error.
            let _ = self.end(device, |_, _| Err(error.clone()));
        }
    }

    /// Sends the request that `request` makes for each device to the compiler and applies the answer; `None`
    /// needs no compiler. Returns the error of the first device that fails.
    pub(super) fn run(
        mut self,
        request: impl Fn(&Program, &DeviceContext, &Build) -> Result<Option<ToServer>>,
    ) -> Result<()> {
        let (call, mut result) = (self.call, Ok(()));
        while let Some(&device) = self.devices.first() {
            let request = {
                let (member, build) = self.build(device);
                request(&self.program, member, &build)
            };
            let answer = request.and_then(|request| {
                let Some(request) = request else { return Ok(None) };
                let answer = trace::build(call.name(), || gencl_client::build(&request));
                answer.map(|answer| Some((answer, request))).map_err(|reason| call.not_available(reason))
            });
            let ended = self.end(device, |build, member| match answer? {
                Some((answer, request)) => {
                    build.answered(call, member, answer)?;
                    build.is_made_by(request);
                    Ok(())
                }
                None => Ok(()),
            });
            self.devices.remove(0);
            result = result.and(ended);
        }
        result
    }

    /// Ends the build for a device with the outcome of `change`.
    fn end(
        &self,
        device: usize,
        change: impl FnOnce(&mut Build, &DeviceContext) -> Result<()>,
    ) -> Result<()> {
        let (member, mut build) = self.build(device);
        let result = change(&mut build, member);
        build.status = if result.is_ok() { BuildStatus::Success } else { BuildStatus::Error };
        if let (Err(error), true) = (&result, build.log.is_empty()) {
            build.log = error.to_string();
        }
        result
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        self.fail_rest(&Error::new(Code::OutOfResources, "the build ended in an internal error"));
    }
}

/// Runs `work` and returns its result; with `notify`, runs it on a new thread, then calls `notify`.
pub(super) fn in_background(
    notify: Option<Notify>,
    work: impl FnOnce() -> Result<()> + Send + 'static,
) -> Result<()> {
    let Some(notify) = notify else { return work() };
    let thread = std::thread::Builder::new().name("gencl-build".into()).spawn(move || {
        // Status and log have the result, also after a panic.
        let _ = catch_unwind(AssertUnwindSafe(work));
        notify();
    });
    match thread {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(Code::OutOfHostMemory, format!("no thread for the build: {error}"))),
    }
}
