//! The driver: from source to program, all passes in order.
//!
//! All passes run through [`Driver::run`], which reports progress and measures the time.

use std::time::{Duration, Instant};

use gencl_device_info::{DeviceInfo, Family};
use gencl_program::debug::{self, Debug};
use gencl_program::options::{BuildOptions, LINE_TABLES, LinkOptions};
use gencl_program::printf::PrintfFormat;
use gencl_program::protocol::{Header, Status};
use gencl_program::{DebugSection, GEN_IR, Profile, Program, ProgramKind, elf, suggest};
use inkwell::context::Context;
use inkwell::module::Module;

use crate::codegen;
use crate::ir::passes::{ControlFlow, Strategy};
use crate::ir::{self, Unit, passes, text};
use crate::link::{self, Link};
use crate::llvm::debug::Subprogram;
use crate::llvm::{self, Machine, generic, library, lower, pipeline, prepare, printf, view};
use crate::options::clang_arguments;
use crate::translate::{TranslateError, translate};
use crate::{clang, dwarf, internal, statistics, unsupported};

/// A build.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// OpenCL C.
    pub source: &'a [u8],
    /// The source's name in diagnostics.
    pub name: &'a str,
    /// Build options as passed by the application.
    pub options: &'a str,
    /// Files that `#include` finds before those on disk.
    pub headers: &'a [Header],
    /// The target's name.
    pub target: &'a str,
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

impl From<TranslateError> for Stop {
    fn from(error: TranslateError) -> Self {
        Self::failure(error)
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

/// The LLVM machine of a target.
fn machine(target: &DeviceInfo) -> &'static Machine {
    if target.pointer_bits() == 64 { &llvm::WIDE } else { &llvm::NARROW }
}

/// Parses a build's options; diagnostics go to the log.
fn read_options(build: &Build, target: &DeviceInfo, log: &mut String) -> Result<BuildOptions, Stop> {
    let options = BuildOptions::parse(build.options, &Profile::of(target.family)).map_err(Stop::options)?;
    log.push_str(&options.notes);
    Ok(options)
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
            let target = target(build.target)?;
            let options = read_options(build, target, log)?;
            let (unit, bitcode) = driver.front(build, target, &options, log)?;
            let uneven_groups = options.uneven_groups;
            let program =
                Program { options: build.options.into(), uneven_groups, bitcode, ..Program::default() };
            driver.back_end(build.name, target, program, unit, None).map_err(|stop| {
                let line = stop.kernel.as_ref().and_then(|kernel| {
                    driver.line_of_kernel(build, target, driver.arguments(&options, target), kernel)
                });
                stop.at(build.name, line)
            })
        })
    }

    /// Compiles a source to an object.
    pub fn compile(&mut self, build: &Build) -> Outcome {
        self.outcome(|driver, log| {
            let target = target(build.target)?;
            let options = read_options(build, target, log)?;
            let arguments = driver.arguments(&options, target);
            let context = Context::create();
            let module = driver.clang(&context, build, target, &arguments, log)?;
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

    /// Compiles clang's LLVM IR, without its source, to machine code; otherwise as [`Driver::back_end`].
    fn compile_module<'ctx>(
        &mut self,
        name: &str,
        context: &'ctx Context,
        module: &Module<'ctx>,
        target: &DeviceInfo,
        program: Program,
        lanes: Option<u32>,
    ) -> Result<Program, Stop> {
        let unit = self.middle(context, module, target)?;
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
        target(build.target)
            .and_then(|target| {
                let options = read_options(build, target, &mut log)?;
                self.front(build, target, &options, &mut log).map(|(unit, _)| unit)
            })
            .map_err(|stop| log + &stop.message)
    }

    /// Clang's arguments.
    fn arguments(&self, options: &BuildOptions, target: &DeviceInfo) -> Vec<String> {
        let mut arguments = clang_arguments(options, &Profile::of(target.family));
        if self.debug.is_set(debug::PROFILE) {
            arguments.extend(LINE_TABLES.iter().map(ToString::to_string));
        }
        arguments
    }

    /// Source to Gen IR, and to bitcode.
    fn front(
        &mut self,
        build: &Build,
        target: &DeviceInfo,
        options: &BuildOptions,
        log: &mut String,
    ) -> Result<(Unit, Vec<u8>), Stop> {
        let arguments = self.arguments(options, target);
        match self.front_end(build, target, &arguments, log)? {
            (Ok(unit), bitcode) => Ok((unit, bitcode)),
            (Err(error), _) => Err(self.locate(build, target, arguments, error)),
        }
    }

    /// Source to Gen IR and bitcode. The outer error is one in the source, the inner one an unsupported
    /// construct.
    fn front_end(
        &mut self,
        build: &Build,
        target: &DeviceInfo,
        arguments: &[String],
        log: &mut String,
    ) -> Result<(Result<Unit, TranslateError>, Vec<u8>), Stop> {
        let context = Context::create();
        let module = self.clang(&context, build, target, arguments, log)?;
        let bitcode = self.run("", "write-bitcode", |_| link::bitcode(&module));
        Ok((self.middle(&context, &module, target)?, bitcode))
    }

    /// Clang's LLVM IR to Gen IR; errors as [`Driver::front_end`].
    fn middle<'ctx>(
        &mut self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        target: &DeviceInfo,
    ) -> Result<Result<Unit, TranslateError>, Stop> {
        let formats = self.llvm(context, module, target)?;
        if self.debug.is_set(debug::LLVM) {
            self.listener.print(debug::LLVM, &module.print_to_string().to_string_lossy());
        }
        let translated = self.run("", "translate", |_| translate(view::Module::of(module)));
        Ok(translated.map(|unit| Unit { formats, ..unit }))
    }

    fn clang<'ctx>(
        &mut self,
        context: &'ctx Context,
        build: &Build,
        target: &DeviceInfo,
        arguments: &[String],
        log: &mut String,
    ) -> Result<Module<'ctx>, Stop> {
        let ast = self.debug.is_set(debug::AST);
        let headers: Vec<_> =
            build.headers.iter().map(|header| (header.name.as_str(), header.source.as_slice())).collect();
        let request = clang::Request {
            source: build.source,
            name: build.name,
            arguments,
            headers: &headers,
            triple: machine(target).triple,
            extensions: &Profile::of(target.family).extensions().collect::<Vec<_>>().join(" "),
            ast,
        };
        let response = self.run("", "clang", |_| clang::compile(context, &request));
        log.push_str(&response.log);
        self.files.extend(response.files);
        if ast {
            self.listener.print(debug::AST, &response.ast);
        }
        let module = response.module.ok_or_else(|| Stop::failure(unsupported::notes(&response.log)))?;
        let renamed: Vec<_> =
            lower::RENAMED.iter().filter(|row| arguments.iter().any(|a| a == row.0)).collect();
        self.step(&module, "rename", |module| {
            renamed.iter().for_each(|(_, exact, other)| lower::rename(module, exact, other));
            Ok(())
        })?;
        Ok(module)
    }

    fn llvm<'ctx>(
        &mut self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        target: &DeviceInfo,
    ) -> Result<Vec<PrintfFormat>, Stop> {
        let machine = machine(target);
        self.step(module, "unify", |module| {
            prepare::unify(module, machine);
            prepare::tell_effects(context, module);
            Ok(())
        })?;
        self.step(module, "link", |module| library::link(context, module, machine, false))?;
        self.step(module, "lower-conversions", |module| {
            lower::conversions(context, module);
            Ok(())
        })?;
        self.step(module, "inline-everything", |module| {
            prepare::inline_everything(context, module);
            Ok(())
        })?;
        for step in [pipeline::REDUCE, pipeline::INLINE] {
            self.step(module, step.name, |module| pipeline::run(module, step))?;
        }
        if prepare::has_functions(module) {
            let step = pipeline::INLINE;
            self.step(module, step.name, |module| pipeline::run(module, step))?;
        }
        self.step(module, "merge-samplers", |module| {
            prepare::merge_samplers(context, module);
            Ok(())
        })?;
        self.step(module, "hide-integers", |module| {
            pipeline::hide_integers(module);
            Ok(())
        })?;
        let formats = self.printf(context, module, machine)?;
        if generic::is_used(module) {
            self.step(module, "infer-address-spaces", |module| {
                generic::infer(module);
                generic::tell_spaces(context, module, false);
                Ok(())
            })?;
        }
        self.step(module, "copy-arguments", |module| {
            prepare::copy_arguments(context, module);
            Ok(())
        })?;
        self.step(module, pipeline::SIMPLIFY.name, |module| pipeline::run(module, pipeline::SIMPLIFY))?;
        self.step(module, "unroll-loops", |module| {
            pipeline::unroll_loops(module);
            Ok(())
        })?;
        self.step(module, pipeline::OPTIMIZE.name, |module| pipeline::run(module, pipeline::OPTIMIZE))?;
        let mut promoted = false;
        self.step(module, "promote-arrays", |module| {
            promoted = pipeline::promote_arrays(module);
            Ok(())
        })?;
        let mut calls = library::has_late_calls(module);
        calls |= lower::arithmetic(context, module);
        calls |= !target.messages.integer_borders && lower::integer_borders(context, module);
        if generic::is_used(module) {
            self.step(module, "generic-pointers", |module| {
                generic::infer(module);
                calls |= generic::tell_spaces(context, module, true);
                calls |= generic::lower(context, module)?;
                Ok(())
            })?;
        }
        if calls {
            self.step(module, "link-again", |module| library::link(context, module, machine, true))?;
            prepare::inline_everything(context, module);
        }
        if calls || promoted {
            let step = pipeline::INLINE_AGAIN;
            self.step(module, step.name, |module| pipeline::run(module, step))?;
        }
        if !target.execution.half {
            self.step(module, "widen-halves", |module| {
                pipeline::widen_halves(module);
                Ok(())
            })?;
        }
        let step = pipeline::FINISH;
        self.step(module, step.name, |module| pipeline::run(module, step))?;
        Ok(formats)
    }

    /// Lowers calls of `printf`; returns their formats.
    fn printf<'ctx>(
        &mut self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        machine: &Machine,
    ) -> Result<Vec<PrintfFormat>, Stop> {
        let mut formats = Vec::new();
        self.step(module, "printf", |module| {
            formats = printf::lower(context, module)?;
            Ok(())
        })?;
        if !formats.is_empty() {
            self.step(module, "link-printf", |module| library::link(context, module, machine, false))?;
            prepare::inline_everything(context, module);
        }
        Ok(formats)
    }

    /// Runs one step on the module, followed by LLVM's verifier if enabled.
    fn step<'ctx>(
        &mut self,
        module: &Module<'ctx>,
        name: &str,
        act: impl FnOnce(&Module<'ctx>) -> Result<(), String>,
    ) -> Result<(), Stop> {
        self.run("", name, |_| act(module)).map_err(|e| Stop::failure(format!("error: {name}: {e}")))?;
        if self.debug.is_set(debug::LLVM_PASSES) {
            let text = format!("; after {name}\n{}", module.print_to_string().to_string_lossy());
            self.listener.print(debug::LLVM_PASSES, &text);
        }
        if self.validates() {
            module.verify().map_err(|e| self.internal("", format!("after {name}: {e}")))?;
        }
        Ok(())
    }

    /// Adds the source location to an error of the translation. Without `-g` the module has no line tables,
    /// which would slow down every build, so that the front end is run again with them.
    fn locate(
        &mut self,
        build: &Build,
        target: &DeviceInfo,
        mut arguments: Vec<String>,
        error: TranslateError,
    ) -> Stop {
        let mut best = error;
        if best.location.is_none() {
            arguments.extend(LINE_TABLES.iter().map(ToString::to_string));
            if let Ok((Err(located), _)) = self.front_end(build, target, &arguments, &mut String::new()) {
                best = located;
            }
        }
        let separator = if best.location.is_some() { ":" } else { ": " };
        Stop::failure(format!("{}{separator}{best}", build.name))
    }

    /// The line of a kernel's definition, for an error that is of no line in it: as [`Driver::locate`].
    fn line_of_kernel(
        &mut self,
        build: &Build,
        target: &DeviceInfo,
        mut arguments: Vec<String>,
        kernel: &str,
    ) -> Option<u32> {
        arguments.extend(LINE_TABLES.iter().map(ToString::to_string));
        let context = Context::create();
        let module = self.clang(&context, build, target, &arguments, &mut String::new()).ok()?;
        let function = view::Module::of(&module).function(kernel)?;
        Subprogram::of(function).map(Subprogram::line)
    }

    /// Compiles Gen IR to machine code, at SIMD width `lanes` if given. `program` has the parts that are
    /// complete; `name` is the source's name in the log.
    fn back_end(
        &mut self,
        name: &str,
        target: &DeviceInfo,
        program: Program,
        mut unit: Unit,
        lanes: Option<u32>,
    ) -> Result<Program, Stop> {
        if self.debug.is_set(debug::IR_PASSES) {
            self.listener.print(debug::IR_PASSES, &format!("; as translated\n{}", text::print(&unit)));
        }
        let print_passes = self.debug.is_set(debug::IR_PASSES);
        let control_flow = self.debug.value(debug::CONTROL_FLOW);
        let control_flow = control_flow.and_then(ControlFlow::from_name).unwrap_or_default();
        let lower_qwords = !target.execution.int64 || self.debug.is_set(debug::QWORDS);
        let strategy = Strategy { control_flow, lower_qwords, no_gotos: !target.execution.gotos };
        self.run("", "ir", |driver| {
            let mut observer = Observer { driver, print: print_passes };
            passes::standard(&mut unit, strategy, &mut observer)
        })
        .map_err(|e| self.internal(&e.function, &e))?;
        if self.debug.is_set(debug::IR) {
            self.listener.print(debug::IR, &text::print(&unit));
        }

        let simd = || self.debug.value(debug::SIMD).and_then(|simd| simd.parse().ok());
        let options = codegen::Options {
            simd: lanes.or_else(simd),
            check: self.debug.is_set(debug::VALIDATE),
            dump_lir: self.debug.is_set(debug::LIR),
            ..codegen::Options::default()
        };
        let (mut kernels, mut lines) = (Vec::new(), Vec::new());
        for function in &unit.functions {
            let compiled = self
                .run(&function.name, "codegen", |_| codegen::compile(function, target, &options))
                .map_err(|e| match e.is_internal {
                    true => self.internal(&e.kernel, &e),
                    false => Stop::of_kernel(&e.kernel, format!("error: {e}")),
                })?;
            compiled.kernel.check().map_err(|what| self.internal(&function.name, what))?;
            if let Some(text) = &compiled.lir {
                self.listener.print(debug::LIR, text);
            }
            if self.debug.is_set(debug::ASM) {
                self.listener.print(debug::ASM, &compiled.listing());
            }
            lines.push(compiled.lines().collect());
            kernels.push(compiled.kernel);
        }
        if self.debug.is_set(debug::STATS) {
            self.listener.print(debug::STATS, &statistics::table(&kernels, name));
        }
        let mut debug = self
            .run("", "line-tables", |_| dwarf::sections(&kernels, &lines, &unit.locations))
            .map_err(|e| self.internal("", format!("line tables: {e}")))?;
        if self.debug.is_set(debug::PROFILE) {
            debug.push(DebugSection { name: GEN_IR.into(), bytes: text::print(&unit).into_bytes() });
        }
        let (data, formats) = (unit.data, unit.formats);
        Ok(Program { target: target.family.name().into(), data, formats, kernels, debug, ..program })
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

struct Observer<'d, 'a> {
    driver: &'d mut Driver<'a>,
    print: bool,
}

impl passes::Observer for Observer<'_, '_> {
    fn after_pass(&mut self, pass: &'static str, function: &ir::Function, time: Duration) {
        self.driver.times.push((format!("{pass} {}", function.name), time));
        if self.print {
            let text = format!("; after {pass}\n{}", text::print_function(function));
            self.driver.listener.print(debug::IR_PASSES, &text);
        }
    }

    fn validates(&self) -> bool {
        self.driver.validates()
    }
}
