//! From source to program: all passes in order.
//!
//! [`Driver::run`] is the only way a pass is run: it says which one comes, takes the time, and prints what was asked for.

use std::fmt::Write;
use std::time::{Duration, Instant};

use gencl_program::Program;
use gencl_program::debug::{self, Debug};
use gencl_program::protocol::{Header, Status};
use inkwell::context::Context;
use inkwell::module::Module;

use crate::codegen::{self, Target};
use crate::ir::passes::ControlFlow;
use crate::ir::{self, Unit, passes, text};
use crate::llvm::{library, pipeline, prepare, view};
use crate::translate::{TranslateError, translate};
use crate::{clang, options};

/// A build.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// OpenCL C.
    pub source: &'a [u8],
    /// The source's name in diagnostics.
    pub name: &'a str,
    /// Build options as the application gave them.
    pub options: &'a str,
    /// Files that `#include` finds before those on disk.
    pub headers: &'a [Header],
    /// The target's name.
    pub target: &'a str,
}

/// How a build ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it went.
    pub status: Status,
    /// Errors and warnings.
    pub log: String,
    /// The program; none after an error.
    pub program: Option<Program>,
}

/// Hears what the driver does.
pub trait Listener {
    /// A pass begins, on a kernel or (when the name is empty) on the whole program.
    fn progress(&mut self, kernel: &str, pass: &str);
    /// Something that the debug options asked for: its name among them, and text.
    fn print(&mut self, what: &str, text: &str);
}

/// Why a build ended early.
struct Stop {
    status: Status,
    message: String,
}

impl Stop {
    fn failure(message: impl ToString) -> Self {
        Self { status: Status::Failure, message: message.to_string() }
    }
}

impl From<TranslateError> for Stop {
    fn from(error: TranslateError) -> Self {
        Self::failure(error)
    }
}

/// Runs builds.
pub struct Driver<'a> {
    debug: &'a Debug,
    listener: &'a mut dyn Listener,
    times: Vec<(String, Duration)>,
}

impl<'a> Driver<'a> {
    /// A driver that prints what `debug` says.
    pub fn new(debug: &'a Debug, listener: &'a mut dyn Listener) -> Self {
        Self { debug, listener, times: Vec::new() }
    }

    /// Compiles a source to a program.
    pub fn build(&mut self, build: &Build) -> Outcome {
        self.times.clear();
        let mut log = String::new();
        let result = self.compile(build, &mut log);
        if self.debug.is_set(debug::TIME) {
            let line =
                |(name, time): &(String, Duration)| format!("{:9.3} ms  {name}\n", time.as_secs_f64() * 1e3);
            let table: String = self.times.iter().map(line).collect();
            self.listener.print(debug::TIME, &table);
        }
        match result {
            Ok(program) => Outcome { status: Status::Success, log, program: Some(program) },
            Err(stop) => {
                log.push_str(&stop.message);
                if !log.is_empty() && !log.ends_with('\n') {
                    log.push('\n');
                }
                Outcome { status: stop.status, log, program: None }
            }
        }
    }

    fn compile(&mut self, build: &Build, log: &mut String) -> Result<Program, Stop> {
        let target = Target::by_name(build.target).ok_or_else(|| Stop {
            status: Status::InvalidTarget,
            message: format!("target {} is not known", build.target),
        })?;
        let unit = self.front(build, log)?;
        self.back_end(build, target, unit)
    }

    /// Compiles a source to Gen IR as it is before the first pass.
    ///
    /// # Errors
    /// The log.
    pub fn translate(&mut self, build: &Build) -> Result<Unit, String> {
        let mut log = String::new();
        self.front(build, &mut log).map_err(|stop| log + &stop.message)
    }

    fn front(&mut self, build: &Build, log: &mut String) -> Result<Unit, Stop> {
        let arguments = options::clang_arguments(build.options)
            .map_err(|e| Stop { status: Status::InvalidOptions, message: e.to_string() })?;
        match self.front_end(build, &arguments, log)? {
            Ok(unit) => Ok(unit),
            Err(error) => Err(self.locate(build, arguments, error)),
        }
    }

    /// Source to Gen IR. The outer error is about the source, the inner one about what the device cannot do.
    fn front_end(
        &mut self,
        build: &Build,
        arguments: &[String],
        log: &mut String,
    ) -> Result<Result<Unit, TranslateError>, Stop> {
        let context = Context::create();
        let module = self.clang(&context, build, arguments, log)?;
        self.llvm(&context, &module)?;
        if self.debug.is_set(debug::LLVM) {
            self.listener.print(debug::LLVM, &module.print_to_string().to_string());
        }
        let translated = self.run("", "translate", |_| translate(view::Module::of(&module)));
        Ok(translated)
    }

    fn clang<'ctx>(
        &mut self,
        context: &'ctx Context,
        build: &Build,
        arguments: &[String],
        log: &mut String,
    ) -> Result<Module<'ctx>, Stop> {
        let ast = self.debug.is_set(debug::AST);
        let headers: Vec<_> =
            build.headers.iter().map(|header| (header.name.as_str(), header.source.as_slice())).collect();
        let request =
            clang::Request { source: build.source, name: build.name, arguments, headers: &headers, ast };
        let response = self.run("", "clang", |_| clang::compile(context, &request));
        log.push_str(&response.log);
        if ast {
            self.listener.print(debug::AST, &response.ast);
        }
        response.module.ok_or_else(|| Stop::failure(""))
    }

    fn llvm<'ctx>(&mut self, context: &'ctx Context, module: &Module<'ctx>) -> Result<(), Stop> {
        self.step(module, "unify", |module| {
            prepare::unify(module);
            Ok(())
        })?;
        self.step(module, "link", |module| library::link(context, module))?;
        self.step(module, "inline-everything", |module| {
            prepare::inline_everything(context, module);
            Ok(())
        })?;
        for step in [pipeline::REDUCE, pipeline::INLINE] {
            self.step(module, step.name, |module| pipeline::run(module, step))?;
        }
        self.step(module, "copy-arguments", |module| {
            prepare::copy_arguments(context, module);
            Ok(())
        })?;
        self.step(module, "mark-loops", |module| {
            pipeline::mark_loops(module);
            Ok(())
        })?;
        self.step(module, pipeline::OPTIMIZE.name, |module| pipeline::run(module, pipeline::OPTIMIZE))?;
        if prepare::lower_divisions(context, module) {
            self.step(module, "link-divisions", |module| library::link(context, module))?;
            prepare::inline_everything(context, module);
            let step = pipeline::INLINE_AGAIN;
            self.step(module, step.name, |module| pipeline::run(module, step))?;
        }
        let step = pipeline::FINISH;
        self.step(module, step.name, |module| pipeline::run(module, step))
    }

    /// One step on the module, with LLVM's own check after it when that is asked for.
    fn step<'ctx>(
        &mut self,
        module: &Module<'ctx>,
        name: &str,
        act: impl FnOnce(&Module<'ctx>) -> Result<(), String>,
    ) -> Result<(), Stop> {
        self.run("", name, |_| act(module)).map_err(|e| Stop::failure(format!("error: {name}: {e}")))?;
        if self.debug.is_set(debug::LLVM_PASSES) {
            let text = format!("; after {name}\n{}", module.print_to_string());
            self.listener.print(debug::LLVM_PASSES, &text);
        }
        if cfg!(debug_assertions) || self.debug.is_set(debug::VALIDATE) {
            module.verify().map_err(|e| Stop::failure(format!("error: after {name}: {e}")))?;
        }
        Ok(())
    }

    /// Says where in the source an error of the translation is. Without `-g` the module does not know; it is made once more
    /// with line tables, which would cost every good build something.
    fn locate(&mut self, build: &Build, mut arguments: Vec<String>, error: TranslateError) -> Stop {
        let mut best = error;
        if best.location.is_none() {
            arguments.extend(options::LINE_TABLES.iter().map(ToString::to_string));
            if let Ok(Err(located)) = self.front_end(build, &arguments, &mut String::new()) {
                best = located;
            }
        }
        let separator = if best.location.is_some() { ":" } else { ": " };
        Stop::failure(format!("{}{separator}{best}", build.name))
    }

    fn back_end(&mut self, build: &Build, target: &Target, mut unit: Unit) -> Result<Program, Stop> {
        if self.debug.is_set(debug::IR_PASSES) {
            self.listener.print(debug::IR_PASSES, &format!("; as translated\n{}", text::print(&unit)));
        }
        let print_passes = self.debug.is_set(debug::IR_PASSES);
        let control_flow = self.debug.value(debug::CONTROL_FLOW);
        let control_flow = control_flow.and_then(ControlFlow::from_name).unwrap_or_default();
        self.run("", "ir", |driver| {
            let mut observer = Observer { driver, print: print_passes };
            passes::standard(&mut unit, control_flow, &mut observer)
        })
        .map_err(|e| Stop::failure(format!("error: {e}")))?;
        if self.debug.is_set(debug::IR) {
            self.listener.print(debug::IR, &text::print(&unit));
        }

        let simd = self.debug.value(debug::SIMD).and_then(|simd| simd.parse().ok());
        let options = codegen::Options {
            simd,
            check: self.debug.is_set(debug::VALIDATE),
            machine_form: self.debug.is_set(debug::LIR),
            ..codegen::Options::default()
        };
        let mut kernels = Vec::new();
        for function in &unit.functions {
            let compiled = self
                .run(&function.name, "codegen", |_| codegen::compile(function, target, &options))
                .map_err(|e| Stop::failure(format!("{}: error: {e}", build.name)))?;
            if let Some(text) = &compiled.machine_form {
                self.listener.print(debug::LIR, text);
            }
            if self.debug.is_set(debug::ASM) {
                self.listener.print(debug::ASM, &compiled.listing);
            }
            kernels.push(compiled.kernel);
        }
        if self.debug.is_set(debug::STATS) {
            self.listener.print(debug::STATS, &statistics(&kernels));
        }
        Ok(Program {
            target: target.name.into(),
            options: build.options.into(),
            constants: unit.constants,
            kernels,
        })
    }

    /// Runs a pass.
    fn run<R>(&mut self, kernel: &str, pass: &str, act: impl FnOnce(&mut Self) -> R) -> R {
        self.listener.progress(kernel, pass);
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
}

/// One line for each kernel.
fn statistics(kernels: &[gencl_program::Kernel]) -> String {
    let mut text = String::from("simd  instr  sends spills  fills   regs  scratch  kernel\n");
    for kernel in kernels {
        let s = &kernel.statistics;
        let _ = writeln!(
            text,
            "{:4} {:6} {:6} {:6} {:6} {:6} {:8}  {}",
            kernel.simd_width,
            s.instructions,
            s.sends,
            s.spills,
            s.fills,
            s.registers,
            kernel.scratch_size,
            kernel.name
        );
    }
    text
}
