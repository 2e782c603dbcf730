//! What a program is for a device, and how it becomes that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gencl_program::protocol::{BuildResult, Status, ToServer};
use gencl_program::{ProgramKind, elf};
use parking_lot::MutexGuard;
use smallvec::SmallVec;

use super::{BinaryKind, BuildStatus, Call, Executable, Program};
use crate::context::DeviceContext;
use crate::{Code, Error, Result};

/// Called when a build has ended.
pub(super) type Notify = Box<dyn FnOnce() + Send>;

/// What there is of a program for a device.
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
    /// What runs, if it is built.
    pub(super) fn executable(&self) -> Option<Arc<Executable>> {
        self.executable.clone().filter(|_| self.status == BuildStatus::Success)
    }

    /// A build begins; with a source there is nothing until it has ended.
    pub(super) fn begin(&mut self, options: &str, has_source: bool) {
        self.status = BuildStatus::InProgress;
        self.options = options.to_owned();
        self.log.clear();
        if has_source {
            self.kind = BinaryKind::None;
            self.binary = Arc::new([]);
            self.executable = None;
        }
    }

    /// Takes over what the compiler made, or the application brought.
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

    /// Takes over what the compiler has answered.
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

/// A build that has begun. Dropping it unended fails the build, so that it cannot be in progress for ever.
pub(super) struct Building {
    program: Arc<Program>,
    call: Call,
    /// Numbers of the program's devices for which it has not ended.
    devices: SmallVec<[usize; 1]>,
}

impl Building {
    /// One that has begun for those of the program's devices that have these numbers.
    pub(super) fn new(program: &Arc<Program>, call: Call, devices: SmallVec<[usize; 1]>) -> Self {
        Self { program: program.clone(), call, devices }
    }

    fn build(&self, device: usize) -> (&DeviceContext, MutexGuard<'_, Build>) {
        let (member, build) = &self.program.builds[device];
        (member, build.lock())
    }

    /// Are the options valid, and is there a compiler, if it takes more than a look at the program's
    /// binaries?
    pub(super) fn check(&self, options: &str) -> Result<()> {
        let mut compiles = false;
        for &device in &self.devices {
            let (member, build) = self.build(device);
            self.call.check_options(options, member.device())?;
            compiles |= self.call != Call::Build || build.kind != BinaryKind::Executable;
        }
        if compiles { self.call.check_available() } else { Ok(()) }
    }

    /// Ends the build, which could not begin.
    pub(super) fn fail(mut self, error: Error) -> Error {
        self.fail_rest(&error);
        error
    }

    fn fail_rest(&mut self, error: &Error) {
        for device in std::mem::take(&mut self.devices) {
            // Those who ask for status and log are told.
            let _ = self.end(device, |_, _| Err(error.clone()));
        }
    }

    /// Has what `request` says done for one device after the other: nothing for `None`. The error is that of
    /// the first for which it fails.
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
                let answer = request.as_ref().map(gencl_client::build).transpose();
                answer.map_err(|reason| call.not_available(reason))
            });
            let ended = self.end(device, |build, member| match answer? {
                Some(answer) => build.answered(call, member, answer),
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

/// Runs `work` here, or, when there is somebody to tell, on a thread of its own.
pub(super) fn in_background(
    notify: Option<Notify>,
    work: impl FnOnce() -> Result<()> + Send + 'static,
) -> Result<()> {
    let Some(notify) = notify else { return work() };
    let thread = std::thread::Builder::new().name("gencl-build".into()).spawn(move || {
        // The program's status and log tell how it went, even if that was a panic.
        let _ = catch_unwind(AssertUnwindSafe(work));
        notify();
    });
    match thread {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(Code::OutOfHostMemory, format!("no thread for the build: {error}"))),
    }
}
