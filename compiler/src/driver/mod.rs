//! The driver: from source to program, all passes in order.
//!
//! All passes run through [`Driver::run`], which reports progress and measures the time. The parts are:
//!
//! - `front_end`: a source to an LLVM module;
//! - `middle`: an LLVM module to Gen IR;
//! - `back_end`: Gen IR to machine code.

mod back_end;
mod front_end;
mod middle;

use std::time::{Duration, Instant};

use gencl_device_info::{DeviceInfo, Family};
use gencl_program::debug::{self, Debug};
use gencl_program::options::{BuildOptions, LinkOptions};
use gencl_program::protocol::{Header, Status};
use gencl_program::tools::Tools;
use gencl_program::{Profile, Program, ProgramKind, elf, suggest};
use inkwell::context::Context;
use inkwell::module::Module;

use self::front_end::{RENAME, Source};
use crate::internal;
use crate::ir::Unit;
use crate::ir::passes::PASSES;
use crate::link::{self, Link};
use crate::llvm::steps::STEPS;

/// A build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Build<'a> {
    /// OpenCL C, or a module of SPIR-V.
    pub source: &'a [u8],
    /// The source's name in diagnostics.
    pub name: &'a str,
    /// Build options as passed by the application.
    pub options: &'a str,
    /// Files that `#include` finds before those on disk.
    pub headers: &'a [Header],
    /// The target's name.
    pub target: &'a str,
    /// Values of a module's specialization constants, little endian, with their ids.
    pub specialization: &'a [(u32, Vec<u8>)],
}

/// The result of a build.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Success, or the kind of failure.
    pub status: Status,
    /// Errors and warnings.
    pub log: String,
    /// The program; none after an error.
    pub program: Option<Program>,
    /// Files on disk that were read.
    pub files: Vec<String>,
}

/// Receives progress and debug output of the driver.
pub trait Listener {
    /// A pass begins, on a kernel or (when the name is empty) on the whole program.
    fn progress(&mut self, kernel: &str, pass: &str);
    /// Output of a debug option: the option's name, and the text.
    fn print(&mut self, what: &str, text: &str);
}

/// Why a build failed.
struct Stop {
    status: Status,
    message: String,
    /// The kernel that the message is about, if the place of its definition is to be added.
    kernel: Option<String>,
}

impl Stop {
    fn failure(message: impl ToString) -> Self {
        Self { status: Status::Failure, message: message.to_string(), kernel: None }
    }

    fn options(message: impl ToString) -> Self {
        Self { status: Status::InvalidOptions, ..Self::failure(message) }
    }

    /// What is wrong with a whole kernel.
    fn of_kernel(kernel: &str, message: impl ToString) -> Self {
        Self { kernel: Some(kernel.into()), ..Self::failure(message) }
    }

    /// Adds the name and line of a source to a message about a kernel.
    fn at(mut self, source: &str, line: Option<u32>) -> Self {
        if self.kernel.take().is_some() {
            let line = line.map(|line| format!("{line}:")).unwrap_or_default();
            self.message = format!("{source}:{line} {}", self.message);
        }
        self
    }
}

/// The name of the source of linked programs in the log.
const LINKED: &str = "<linked>";

/// The same for programs that are compiled once more.
const WIDENED: &str = "<widened>";

/// The target with a name.
fn target(name: &str) -> Result<&'static DeviceInfo, Stop> {
    let unknown = || Stop { status: Status::InvalidTarget, ..Stop::failure(unknown_target(name)) };
    Family::from_name(name).map(Family::info).ok_or_else(unknown)
}

/// The message about a target that does not exist, with those that do.
fn unknown_target(name: &str) -> String {
    let names: Vec<_> = Family::ALL.iter().map(|family| family.name()).collect();
    let hint = suggest::did_you_mean(name, names.iter().copied());
    format!("there is no target {name}; the targets are {}{hint}", names.join(", "))
}

/// Parses a build's target and options; diagnostics go to the log.
fn read_options(build: &Build, log: &mut String) -> Result<(&'static DeviceInfo, BuildOptions), Stop> {
    let target = target(build.target)?;
    let options = BuildOptions::parse(build.options, &Profile::of(target.family)).map_err(Stop::options)?;
    log.push_str(&options.notes);
    Ok((target, options))
}

/// The steps and passes that [`debug::AFTER`] can name, in order.
pub fn pass_names() -> impl Iterator<Item = &'static str> {
    let steps = STEPS.iter().map(|step| step.name);
    [RENAME].into_iter().chain(steps).chain(PASSES.iter().map(|pass| pass.name))
}

/// Runs builds.
pub struct Driver<'a> {
    debug: &'a Debug,
    listener: &'a mut dyn Listener,
    times: Vec<(String, Duration)>,
    files: Vec<String>,
}

impl<'a> Driver<'a> {
    /// A driver with debug options.
    pub fn new(debug: &'a Debug, listener: &'a mut dyn Listener) -> Self {
        Self { debug, listener, times: Vec::new(), files: Vec::new() }
    }

    /// Compiles a source to a program that can be executed.
    pub fn build(&mut self, build: &Build) -> Outcome {
        self.outcome(|driver, log| {
            let (target, options) = read_options(build, log)?;
            let source = driver.source(build, target, &options);
            let (unit, bitcode) = driver.translate_source(source, log)?;
            let uneven_groups = options.uneven_groups;
            let program =
                Program { options: build.options.into(), uneven_groups, bitcode, ..Program::default() };
            driver.back_end(build.name, target, program, unit, None).map_err(|stop| {
                let line = stop.kernel.as_ref().and_then(|kernel| driver.line_of_kernel(source, kernel));
                stop.at(build.name, line)
            })
        })
    }

    /// Compiles a source to an object.
    pub fn compile(&mut self, build: &Build) -> Outcome {
        self.outcome(|driver, log| {
            let (target, options) = read_options(build, log)?;
            let context = Context::create();
            let module = driver.front_end(&context, driver.source(build, target, &options), log)?;
            Ok(driver.run("", "write-object", |_| {
                link::object(&module, build.options, options.uneven_groups, target.family.name())
            }))
        })
    }

    /// Links objects and libraries to a library or to a program that can be executed.
    pub fn link(&mut self, link: &Link) -> Outcome {
        self.outcome(|driver, log| {
            let target = target(link.target)?;
            let options = LinkOptions::parse(link.options).map_err(Stop::options)?;
            log.push_str(&options.notes);
            let context = Context::create();
            let merged = driver.run("", "link-objects", |_| link::merge(&context, link));
            let (module, uneven_groups) = merged.map_err(|e| Stop::failure(format!("error: {e}")))?;
            if options.library {
                let library = driver.run("", "write-library", |_| {
                    link::object(&module, link.options, uneven_groups, target.family.name())
                });
                return Ok(Program { kind: ProgramKind::Library, ..library });
            }
            let bitcode = driver.run("", "write-bitcode", |_| link::bitcode(&module));
            let program =
                Program { options: link.options.into(), uneven_groups, bitcode, ..Program::default() };
            driver.compile_module(LINKED, &context, &module, target, program, None)
        })
    }

    /// Recompiles an executable (an ELF file) with SIMD width `lanes`.
    pub fn widen(&mut self, program: &[u8], lanes: u32) -> Outcome {
        self.outcome(|driver, _| {
            let program = elf::read(program).map_err(Stop::failure)?;
            let target = target(&program.target)?;
            let context = Context::create();
            let module = driver.run("", "read-bitcode", |_| link::parse(&context, &program.bitcode));
            let module = module.map_err(|e| Stop::failure(format!("error: {e}")))?;
            driver.compile_module(WIDENED, &context, &module, target, program, Some(lanes))
        })
    }

    /// Compiles a front end's LLVM IR, without its source, to machine code; otherwise as [`Driver::back_end`].
    fn compile_module<'ctx>(
        &mut self,
        name: &str,
        context: &'ctx Context,
        module: &Module<'ctx>,
        target: &DeviceInfo,
        program: Program,
        lanes: Option<u32>,
    ) -> Result<Program, Stop> {
        let unit = self.translate_module(context, module, target)?;
        let unit = unit.map_err(|error| Stop::failure(format!("{name}: {error}")))?;
        self.back_end(name, target, program, unit, lanes).map_err(|stop| stop.at(name, None))
    }

    /// Runs one job, and converts its result to an outcome with log and timings.
    fn outcome(&mut self, job: impl FnOnce(&mut Self, &mut String) -> Result<Program, Stop>) -> Outcome {
        self.times.clear();
        self.files.clear();
        let mut log = String::new();
        let result = job(self, &mut log);
        if self.debug.is_set(debug::TIME) {
            let line =
                |(name, time): &(String, Duration)| format!("{:9.3} ms  {name}\n", time.as_secs_f64() * 1e3);
            let table: String = self.times.iter().map(line).collect();
            self.listener.print(debug::TIME, &table);
        }
        let files = std::mem::take(&mut self.files);
        match result {
            Ok(program) => Outcome { status: Status::Success, log, program: Some(program), files },
            Err(stop) => {
                log.push_str(&stop.message);
                if !log.is_empty() && !log.ends_with('\n') {
                    log.push('\n');
                }
                Outcome { status: stop.status, log, program: None, files }
            }
        }
    }

    /// Compiles a source to Gen IR as it is before the first pass.
    ///
    /// # Errors
    /// The log.
    pub fn translate(&mut self, build: &Build) -> Result<Unit, String> {
        let mut log = String::new();
        read_options(build, &mut log)
            .and_then(|(target, options)| {
                let source = self.source(build, target, &options);
                self.translate_source(source, &mut log).map(|(unit, _)| unit)
            })
            .map_err(|stop| log + &stop.message)
    }

    /// A source as the front end takes it.
    fn source<'s>(
        &self,
        build: &'s Build<'s>,
        target: &'static DeviceInfo,
        options: &'s BuildOptions,
    ) -> Source<'s> {
        Source {
            build,
            target,
            options,
            lines: self.debug.is_set(debug::PROFILE) || Tools::of(self.debug).any(),
            variables: self.is_debugged(),
        }
    }

    /// Whether programs are compiled for a debugger.
    fn is_debugged(&self) -> bool {
        self.debug.is_set(debug::DEBUGGER)
    }

    /// A failure that is a fault of the compiler itself.
    fn internal(&self, kernel: &str, detail: impl ToString) -> Stop {
        Stop::failure(internal::message(kernel, &detail.to_string(), self.debug))
    }

    /// Injects the faults of debug options (crashes, hangs, memory use), to test that clients handle them.
    fn provoke(&self, kernel: &str, pass: &str) {
        let here = |option| {
            self.debug.value(option).is_some_and(|place| {
                let (wanted, only) = place.split_once(':').unwrap_or((place, kernel));
                wanted == pass && only == kernel
            })
        };
        if here(debug::CRASH) {
            std::process::abort();
        }
        while here(debug::STALL) {
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// Whether to verify the result of each step, instead of the last one only.
    fn validates(&self) -> bool {
        cfg!(debug_assertions) || self.debug.is_set(debug::VALIDATE)
    }

    /// The debug option that prints what a step or pass has made: `all`, or the one that names it.
    fn prints_after(&self, all: &'static str, name: &str) -> Option<&'static str> {
        let named = || (self.debug.value(debug::AFTER) == Some(name)).then_some(debug::AFTER);
        if self.debug.is_set(all) { Some(all) } else { named() }
    }

    /// Runs a pass.
    fn run<R>(&mut self, kernel: &str, pass: &str, act: impl FnOnce(&mut Self) -> R) -> R {
        self.listener.progress(kernel, pass);
        self.provoke(kernel, pass);
        let begin = Instant::now();
        let result = act(self);
        let name = if kernel.is_empty() { pass.to_owned() } else { format!("{pass} {kernel}") };
        self.times.push((name, begin.elapsed()));
        result
    }
}
