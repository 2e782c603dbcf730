//! Programs: source, builds, binaries.

mod executable;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gencl_program::protocol::{CompileRequest, Header, Status};
use parking_lot::{Condvar, Mutex};

pub(crate) use executable::Executable;

use crate::{Code, Context, Error, Result};

/// How the last build went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildStatus {
    /// There was none.
    None,
    /// It runs.
    InProgress,
    /// Compiled or built.
    Success,
    /// Failed; the log says why.
    Error,
}

/// What a program holds; the discriminants are the `CL_PROGRAM_BINARY_TYPE_*` values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BinaryKind {
    /// Nothing yet.
    None = 0,
    /// `clCompileProgram` went well.
    CompiledObject = 1,
    /// `clLinkProgram` with `-create-library` made it.
    Library = 2,
    /// Built: kernels can be made.
    Executable = 4,
}

/// A source that was compiled without being linked: kept for the link, which builds it.
#[derive(Clone, Debug)]
struct Object {
    headers: Vec<Header>,
    options: String,
}

#[derive(Debug)]
struct Build {
    status: BuildStatus,
    kind: BinaryKind,
    options: String,
    log: String,
    object: Option<Object>,
    binary: Arc<[u8]>,
    executable: Option<Arc<Executable>>,
}

/// A program, from source or from a binary.
#[derive(Debug)]
pub struct Program {
    context: Arc<Context>,
    source: Option<String>,
    build: Mutex<Build>,
    ended: Condvar,
    kernels: AtomicU32,
}

/// Called when a build has ended.
type Notify = Box<dyn FnOnce() + Send>;

impl Program {
    fn new(context: &Arc<Context>, source: Option<String>) -> Self {
        let build = Build {
            status: BuildStatus::None,
            kind: BinaryKind::None,
            options: String::new(),
            log: String::new(),
            object: None,
            binary: Arc::new([]),
            executable: None,
        };
        Self {
            context: context.clone(),
            source,
            build: Mutex::new(build),
            ended: Condvar::new(),
            kernels: AtomicU32::new(0),
        }
    }

    /// A program from OpenCL C.
    pub fn from_source(context: &Arc<Context>, source: String) -> Arc<Self> {
        Arc::new(Self::new(context, Some(source)))
    }

    /// A program from what [`Program::binary`] gave. It has to be built, which takes no compiler. `INVALID_BINARY` for bytes
    /// that are damaged or of another device.
    pub fn from_binary(context: &Arc<Context>, binary: &[u8]) -> Result<Arc<Self>> {
        let executable = Executable::load(context, binary)?;
        let mut program = Self::new(context, None);
        let build = program.build.get_mut();
        build.kind = BinaryKind::Executable;
        build.binary = binary.into();
        build.executable = Some(Arc::new(executable));
        Ok(Arc::new(program))
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Its source, if it was made from one.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// How the last build went.
    pub fn status(&self) -> BuildStatus {
        self.build.lock().status
    }

    /// What it holds.
    pub fn binary_kind(&self) -> BinaryKind {
        self.build.lock().kind
    }

    /// Options of the last build.
    pub fn options(&self) -> String {
        self.build.lock().options.clone()
    }

    /// Log of the last build.
    pub fn log(&self) -> String {
        self.build.lock().log.clone()
    }

    /// The program as an ELF file, empty when it is not built.
    pub fn binary(&self) -> Arc<[u8]> {
        self.build.lock().binary.clone()
    }

    /// Names of the kernels in the order of the source. `INVALID_PROGRAM_EXECUTABLE` when it is not built.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        Ok(self.executable()?.kernels().iter().map(|kernel| kernel.name.clone()).collect())
    }

    /// Bytes of program-scope constant data. `INVALID_PROGRAM_EXECUTABLE` when it is not built.
    pub fn constants_size(&self) -> Result<u64> {
        Ok(self.executable()?.constants_size())
    }

    /// Builds. With `notify` the call returns when the build has begun, and `notify` is called from another thread at its end.
    ///
    /// `INVALID_OPERATION` when kernels are attached or a build is in progress, `BUILD_PROGRAM_FAILURE`,
    /// `INVALID_BUILD_OPTIONS`, `COMPILER_NOT_AVAILABLE`; [`Program::log`] has the details.
    pub fn build(self: &Arc<Self>, options: &str, notify: Option<Notify>) -> Result<()> {
        self.begin(options, Code::BuildProgramFailure)?;
        let (program, options) = (self.clone(), options.to_owned());
        in_background(notify, move || program.build_now(&options))
    }

    fn build_now(self: &Arc<Self>, options: &str) -> Result<()> {
        let Some(source) = &self.source else {
            return self.end(|build| match build.executable {
                Some(_) => {
                    build.kind = BinaryKind::Executable;
                    Ok(())
                }
                None => Err(Error::new(Code::InvalidBinary, "the program has neither source nor binary")),
            });
        };
        let object = Object { headers: Vec::new(), options: options.to_owned() };
        self.compile_source(source, &object, Code::BuildProgramFailure)
    }

    /// Compiles without linking; `headers` are programs whose source `#include` finds by the names given.
    /// Errors as [`Program::build`], with `COMPILE_PROGRAM_FAILURE` and `INVALID_COMPILER_OPTIONS`.
    pub fn compile(
        self: &Arc<Self>,
        options: &str,
        headers: &[(String, Arc<Program>)],
        notify: Option<Notify>,
    ) -> Result<()> {
        if self.source.is_none() {
            return Err(Error::new(Code::InvalidOperation, "the program has no source"));
        }
        let headers = headers.iter().map(|(name, program)| match program.source() {
            Some(source) => Ok(Header { name: name.clone(), source: source.as_bytes().to_vec() }),
            None => Err(Error::new(Code::InvalidProgram, format!("header {name} has no source"))),
        });
        let headers = headers.collect::<Result<Vec<_>>>()?;
        self.begin(options, Code::CompileProgramFailure)?;
        let (program, options) = (self.clone(), options.to_owned());
        in_background(notify, move || {
            program.end(|build| {
                build.object = Some(Object { headers, options });
                build.kind = BinaryKind::CompiledObject;
                Ok(())
            })
        })
    }

    /// Links compiled programs to one that is built. The new program is there even when linking fails; then its status and
    /// log say so, and the error comes with it. `INVALID_OPERATION` when an input is not compiled.
    pub fn link(
        context: &Arc<Context>,
        options: &str,
        inputs: &[Arc<Program>],
        notify: Option<Notify>,
    ) -> Result<(Arc<Self>, Result<()>)> {
        let mut objects = Vec::new();
        for input in inputs {
            match (&input.source, &input.build.lock().object) {
                (Some(source), Some(object)) => objects.push((source.clone(), object.clone())),
                _ => return Err(Error::new(Code::InvalidOperation, "a program to link is not compiled")),
            }
        }
        let program = Arc::new(Self::new(context, None));
        program.begin(options, Code::LinkProgramFailure)?;
        let linked = program.clone();
        let result = in_background(notify, move || match &objects[..] {
            [(source, object)] => linked.compile_source(source, object, Code::LinkProgramFailure),
            _ => linked.end(|build| {
                build.log = format!("linking {} programs is not supported, only one", objects.len());
                Err(Error::new(Code::LinkProgramFailure, build.log.clone()))
            }),
        });
        Ok((program, result))
    }

    fn begin(&self, options: &str, failure: Code) -> Result<()> {
        if self.kernels.load(Ordering::Acquire) > 0 {
            return Err(Error::new(Code::InvalidOperation, "kernels of the program exist"));
        }
        let mut build = self.build.lock();
        if build.status == BuildStatus::InProgress {
            return Err(Error::new(Code::InvalidOperation, "a build of the program runs"));
        }
        if options.contains('\0') {
            return Err(Error::new(failure, "the options contain a zero byte"));
        }
        build.status = BuildStatus::InProgress;
        build.options = options.to_owned();
        build.log.clear();
        if self.source.is_some() {
            build.kind = BinaryKind::None;
            build.object = None;
            build.binary = Arc::new([]);
            build.executable = None;
        }
        Ok(())
    }

    fn end(&self, change: impl FnOnce(&mut Build) -> Result<()>) -> Result<()> {
        let mut build = self.build.lock();
        let result = change(&mut build);
        build.status = if result.is_ok() { BuildStatus::Success } else { BuildStatus::Error };
        if let (Err(error), true) = (&result, build.log.is_empty()) {
            build.log = error.to_string();
        }
        drop(build);
        self.ended.notify_all();
        result
    }

    /// Has the compile server build `source` and takes the result.
    fn compile_source(&self, source: &str, object: &Object, failure: Code) -> Result<()> {
        let request = CompileRequest {
            source: source.as_bytes().to_vec(),
            options: object.options.clone(),
            headers: object.headers.clone(),
            target: self.context.device().facts().target.to_owned(),
        };
        let result = crate::compiler::compile(request);
        self.end(|build| {
            let result = result?;
            build.log = result.log;
            match result.status {
                Status::Success => {
                    let executable = Executable::load(&self.context, &result.binary)?;
                    build.kind = BinaryKind::Executable;
                    build.binary = result.binary.into();
                    build.executable = Some(Arc::new(executable));
                    Ok(())
                }
                Status::Failure => Err(Error::new(failure, build.log.clone())),
                Status::InvalidOptions => {
                    let code = match failure {
                        Code::LinkProgramFailure => Code::InvalidLinkerOptions,
                        _ => Code::InvalidBuildOptions,
                    };
                    Err(Error::new(code, build.log.clone()))
                }
                Status::InvalidTarget => Err(Error::new(failure, build.log.clone())),
            }
        })
    }

    /// Waits for a build that runs.
    pub fn wait(&self) {
        let mut build = self.build.lock();
        while build.status == BuildStatus::InProgress {
            self.ended.wait(&mut build);
        }
    }

    pub(crate) fn executable(&self) -> Result<Arc<Executable>> {
        let build = self.build.lock();
        match (&build.executable, build.status) {
            (Some(executable), BuildStatus::Success) => Ok(executable.clone()),
            _ => Err(Error::new(Code::InvalidProgramExecutable, "the program is not built")),
        }
    }

    /// A kernel of it exists now.
    pub(crate) fn attach(&self) {
        self.kernels.fetch_add(1, Ordering::AcqRel);
    }

    /// One kernel less.
    pub(crate) fn detach(&self) {
        self.kernels.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Runs `work` here, or, when there is somebody to tell, on a thread of its own.
fn in_background(notify: Option<Notify>, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
    let Some(notify) = notify else { return work() };
    let thread = std::thread::Builder::new().name("gencl-build".into()).spawn(move || {
        // The program's status and log tell how it went.
        let _ = work();
        notify();
    });
    match thread {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(Code::OutOfHostMemory, format!("no thread for the build: {error}"))),
    }
}
