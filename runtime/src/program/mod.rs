//! Programs: source, builds, binaries.

mod call;
mod executable;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gencl_program::protocol::{CompileRequest, Header, LinkRequest, Status, ToServer};
use gencl_program::{ProgramKind, elf};
use parking_lot::Mutex;

use call::Call;
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

#[derive(Debug)]
struct Build {
    status: BuildStatus,
    kind: BinaryKind,
    options: String,
    log: String,
    binary: Arc<[u8]>,
    executable: Option<Arc<Executable>>,
}

/// A program, from source or from a binary.
#[derive(Debug)]
pub struct Program {
    context: Arc<Context>,
    source: Option<String>,
    from_binary: bool,
    build: Mutex<Build>,
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
            binary: Arc::new([]),
            executable: None,
        };
        Self {
            context: context.clone(),
            source,
            from_binary: false,
            build: Mutex::new(build),
            kernels: AtomicU32::new(0),
        }
    }

    /// A program from OpenCL C.
    pub fn from_source(context: &Arc<Context>, source: String) -> Arc<Self> {
        gencl_client::expect_build(source.as_bytes());
        Arc::new(Self::new(context, Some(source)))
    }

    /// A program from what [`Program::binary`] gave. It has to be built, which takes no compiler, or linked if it is a compiled object
    /// or a library. `INVALID_BINARY` for bytes that are damaged or of another device.
    pub fn from_binary(context: &Arc<Context>, binary: &[u8]) -> Result<Arc<Self>> {
        let mut program = Self::new(context, None);
        program.from_binary = true;
        program.build.get_mut().take(context, binary.into())?;
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

    /// Was it made from a binary?
    pub(crate) fn is_from_binary(&self) -> bool {
        self.from_binary
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

    /// Bytes of program-scope variables in global memory; 0 when it is not built.
    pub fn variables_size(&self) -> u64 {
        self.executable().map_or(0, |executable| executable.variables_size())
    }

    /// Builds. With `notify` the call returns when the build has begun, and `notify` is called from another thread at its end. A build that cannot
    /// begin fails at once, and nobody is notified (OpenCL 3.0, 5.8.2 and the like in 5.8.3 and 5.8.4).
    ///
    /// `INVALID_OPERATION` when kernels are attached or a build is in progress, `INVALID_BUILD_OPTIONS` and `COMPILER_NOT_AVAILABLE` when it cannot begin,
    /// `BUILD_PROGRAM_FAILURE`; [`Program::log`] has the details.
    pub fn build(self: &Arc<Self>, options: &str, notify: Option<Notify>) -> Result<()> {
        let building = self.begin(Call::Build, options)?;
        let (context, options) = (self.context.clone(), options.to_owned());
        in_background(notify, move || match &building.program.source {
            Some(_) => building.compile(&context, options, Vec::new()),
            None => {
                let binary = building.program.binary();
                match building.program.binary_kind() {
                    BinaryKind::Executable => building.end(|_| Ok(())),
                    BinaryKind::CompiledObject | BinaryKind::Library => {
                        building.link(&context, String::new(), &[binary])
                    }
                    BinaryKind::None => building.end(|_| {
                        Err(Error::new(Code::InvalidBinary, "the program has neither source nor binary"))
                    }),
                }
            }
        })
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
        let building = self.begin(Call::Compile, options)?;
        let (context, options) = (self.context.clone(), options.to_owned());
        in_background(notify, move || building.compile(&context, options, headers))
    }

    /// Links compiled programs and libraries to one that is built, or to a library. The new program is there even when linking fails; then its status and
    /// log say so, and `LINK_PROGRAM_FAILURE` comes with it. There is none when linking cannot begin: `INVALID_OPERATION` when an input is not compiled,
    /// `INVALID_LINKER_OPTIONS`, `LINKER_NOT_AVAILABLE`.
    pub fn link(
        context: &Arc<Context>,
        options: &str,
        inputs: &[Arc<Program>],
        notify: Option<Notify>,
    ) -> Result<(Arc<Self>, Result<()>)> {
        let mut objects = Vec::new();
        for input in inputs {
            let build = input.build.lock();
            match build.kind {
                BinaryKind::CompiledObject | BinaryKind::Library => objects.push(build.binary.clone()),
                BinaryKind::None | BinaryKind::Executable => {
                    return Err(Error::new(Code::InvalidOperation, "a program to link is not compiled"));
                }
            }
        }
        let program = Arc::new(Self::new(context, None));
        let building = program.begin(Call::Link, options)?;
        let (context, options) = (context.clone(), options.to_owned());
        match in_background(notify, move || building.link(&context, options, &objects)) {
            Err(error) if error.code != Code::LinkProgramFailure => Err(error),
            result => Ok((program, result)),
        }
    }

    /// Begins a build, if it can begin: what the specification wants to be known before a callback is waited for.
    fn begin(self: &Arc<Self>, call: Call, options: &str) -> Result<Building> {
        let building = self.occupy(call, options)?;
        let compiler = building.needs_compiler();
        let able = call.check_options(options, &self.context);
        match able.and_then(|()| if compiler { call.check_available() } else { Ok(()) }) {
            Ok(()) => Ok(building),
            Err(error) => Err(building.fail(error)),
        }
    }

    /// Makes the program one that is being built.
    fn occupy(self: &Arc<Self>, call: Call, options: &str) -> Result<Building> {
        if self.kernels.load(Ordering::Acquire) > 0 {
            return Err(Error::new(Code::InvalidOperation, "kernels of the program exist"));
        }
        let mut build = self.build.lock();
        if build.status == BuildStatus::InProgress {
            return Err(Error::new(Code::InvalidOperation, "a build of the program runs"));
        }
        build.status = BuildStatus::InProgress;
        build.options = options.to_owned();
        build.log.clear();
        if self.source.is_some() {
            build.kind = BinaryKind::None;
            build.binary = Arc::new([]);
            build.executable = None;
        }
        Ok(Building { program: self.clone(), call, ended: false })
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

impl Build {
    /// Takes over what the compiler made, or the application brought.
    fn take(&mut self, context: &Arc<Context>, binary: Arc<[u8]>) -> Result<()> {
        let program =
            elf::read(&binary).map_err(|error| Error::new(Code::InvalidBinary, error.to_string()))?;
        self.kind = match program.kind {
            ProgramKind::Executable => {
                self.executable = Some(Arc::new(Executable::load(context, program, &binary)?));
                BinaryKind::Executable
            }
            ProgramKind::Object => BinaryKind::CompiledObject,
            ProgramKind::Library => BinaryKind::Library,
        };
        self.binary = binary;
        Ok(())
    }
}

/// A build that has begun. Dropping it unended fails the build, so that it cannot be in progress for ever.
struct Building {
    program: Arc<Program>,
    call: Call,
    ended: bool,
}

impl Building {
    /// Does it take more than a look at the program's binary?
    fn needs_compiler(&self) -> bool {
        self.call != Call::Build || self.program.binary_kind() != BinaryKind::Executable
    }

    /// Ends the build, which could not begin.
    fn fail(mut self, error: Error) -> Error {
        // What ends this way gives its error back.
        let _ = self.finish(|_| Err(error.clone()));
        error
    }

    /// Ends the build with the outcome of `change`.
    fn end(mut self, change: impl FnOnce(&mut Build) -> Result<()>) -> Result<()> {
        self.finish(change)
    }

    fn finish(&mut self, change: impl FnOnce(&mut Build) -> Result<()>) -> Result<()> {
        let mut build = self.program.build.lock();
        let result = change(&mut build);
        build.status = if result.is_ok() { BuildStatus::Success } else { BuildStatus::Error };
        if let (Err(error), true) = (&result, build.log.is_empty()) {
            build.log = error.to_string();
        }
        self.ended = true;
        result
    }

    /// Has the program's source compiled, for `clCompileProgram` to an object.
    fn compile(self, context: &Arc<Context>, options: String, headers: Vec<Header>) -> Result<()> {
        let request = CompileRequest {
            source: self.program.source().unwrap_or_default().as_bytes().to_vec(),
            options,
            headers,
            target: context.device().facts().target.to_owned(),
            object: self.call == Call::Compile,
        };
        self.work(context, ToServer::Compile(request))
    }

    /// Has objects and libraries linked.
    fn link(self, context: &Arc<Context>, options: String, inputs: &[Arc<[u8]>]) -> Result<()> {
        let inputs = inputs.iter().map(|input| input.to_vec()).collect();
        let request = LinkRequest { inputs, options, target: context.device().facts().target.to_owned() };
        self.work(context, ToServer::Link(request))
    }

    /// Has a request done, and ends the build with what comes of it.
    fn work(self, context: &Arc<Context>, request: ToServer) -> Result<()> {
        let result = gencl_client::build(&request);
        let call = self.call;
        self.end(|build| {
            let result = result.map_err(|reason| call.not_available(reason))?;
            build.log = result.log;
            let code = match result.status {
                Status::Success => return build.take(context, result.binary.into()),
                Status::Failure | Status::InvalidTarget => call.failure(),
                Status::InvalidOptions => call.invalid_options(),
            };
            Err(Error::new(code, build.log.clone()))
        })
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        if !self.ended {
            // Nobody is left to be told but those who ask for status and log.
            let _ = self
                .finish(|_| Err(Error::new(Code::OutOfResources, "the build ended in an internal error")));
        }
    }
}

/// Runs `work` here, or, when there is somebody to tell, on a thread of its own.
fn in_background(notify: Option<Notify>, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Arc<Program> {
        let device = crate::Device::simulated("skl", crate::SimulatorSettings::default()).unwrap();
        Program::from_source(&Context::new(&device, None).unwrap(), String::new())
    }

    #[test]
    fn a_build_that_panics_has_failed() {
        let program = program();
        let building = program.occupy(Call::Build, "").unwrap();
        assert_eq!(program.occupy(Call::Build, "").err().unwrap().code, Code::InvalidOperation);
        let (sender, receiver) = std::sync::mpsc::channel();
        let notify: Notify = Box::new(move || sender.send(()).unwrap());
        in_background(Some(notify), move || building.end(|_| panic!("as a test"))).unwrap();
        receiver.recv().unwrap();
        assert_eq!(program.status(), BuildStatus::Error);
        assert!(program.log().contains("internal error"), "{}", program.log());
        program.occupy(Call::Build, "").unwrap();
    }
}
