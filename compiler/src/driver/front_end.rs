//! The front ends: from a source to an LLVM module. One is clang, the other one reads SPIR-V.

use gencl_device_info::DeviceInfo;
use gencl_program::options::{BuildOptions, EXACT_DIVISION, LINE_TABLES, VARIABLES};
use gencl_program::{Profile, debug};
use inkwell::context::Context;
use inkwell::module::Module;

use super::{Build, Driver, Stop};
use crate::llvm::debug::Subprogram;
use crate::llvm::{Machine, lower, text, view};
use crate::{clang, unsupported};

/// The name of the step that replaces functions as options want it.
pub(super) const RENAME: &str = "rename";

/// A source, and what it is compiled for.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub build: &'a Build<'a>,
    pub target: &'static DeviceInfo,
    pub options: &'a BuildOptions,
    /// Whether instructions get locations in the source, with any options.
    pub lines: bool,
    /// Whether variables of the source are described, too.
    pub variables: bool,
}

/// What a front end makes of a source.
struct Parsed<'ctx> {
    /// A module for SPIR-64 or SPIR, not optimised, which calls built-in functions by their mangled names; none after
    /// an error.
    module: Option<Module<'ctx>>,
    /// Errors, warnings and notes.
    log: String,
    /// Files on disk that were read.
    files: Vec<String>,
    /// The syntax tree, if requested.
    ast: String,
}

/// Clang as the front end. `ast` requests the syntax tree.
fn clang<'ctx>(context: &'ctx Context, source: Source, ast: bool) -> Parsed<'ctx> {
    let Source { build, target, options, lines, variables } = source;
    let profile = Profile::of(target.family);
    let mut arguments = clang::options::arguments(options, &profile);
    if lines {
        arguments.extend(LINE_TABLES.iter().map(ToString::to_string));
    }
    if variables {
        arguments.extend(VARIABLES.iter().map(ToString::to_string));
    }
    let headers: Vec<_> =
        build.headers.iter().map(|header| (header.name.as_str(), header.source.as_slice())).collect();
    let request = clang::Request {
        source: build.source,
        name: build.name,
        arguments: &arguments,
        headers: &headers,
        triple: Machine::of(target).triple,
        extensions: &profile.extensions().collect::<Vec<_>>().join(" "),
        ast,
    };
    let clang::Response { module, mut log, ast, files } = clang::compile(context, &request);
    if module.is_none() {
        log += &unsupported::notes(&log);
    }
    Parsed { module, log, files, ast }
}

/// The reader of SPIR-V as the front end.
fn spirv<'ctx>(context: &'ctx Context, source: Source) -> Parsed<'ctx> {
    let Source { build, target, options, lines, variables } = source;
    let Machine { triple, data_layout, .. } = Machine::of(target);
    let pointer_bits = target.pointer_bits();
    let Profile { half, double, long_atomics, generic_pointers, .. } = Profile::of(target.family);
    let environment = gencl_spirv::Environment {
        pointer_bits,
        triple,
        data_layout,
        features: gencl_spirv::Features { half, double, long_atomics, generic_pointers },
        correctly_rounded: options.arguments.iter().any(|option| option == EXACT_DIVISION),
        lines: lines || variables || options.arguments.iter().any(|option| option == LINE_TABLES[0]),
        specialization: build.specialization,
    };
    let module = gencl_spirv::translate(build.source, &environment)
        .map_err(|error| error.to_string())
        // What has types that do not fit together is refused by LLVM.
        .and_then(|text| text::parse(context, &text).map_err(|error| format!("SPIR-V: {error}")));
    let log = module.as_ref().err().map(|error| format!("{}: error: {error}\n", build.name));
    Parsed { module: module.ok(), log: log.unwrap_or_default(), files: Vec::new(), ast: String::new() }
}

impl Driver<'_> {
    /// Runs the front end, and replaces functions as the build's options want it: the module of an object.
    pub(super) fn front_end<'ctx>(
        &mut self,
        context: &'ctx Context,
        source: Source,
        log: &mut String,
    ) -> Result<Module<'ctx>, Stop> {
        let print_ast = self.debug.is_set(debug::AST);
        let Parsed { module, log: own, files, ast } = if gencl_spirv::is_module(source.build.source) {
            self.run("", "spirv", |_| spirv(context, source))
        } else {
            self.run("", "clang", |_| clang(context, source, print_ast))
        };
        log.push_str(&own);
        self.files.extend(files);
        if print_ast {
            self.listener.print(debug::AST, &ast);
        }
        // The log says why there is none.
        let module = module.ok_or_else(|| Stop::failure(""))?;
        self.run("", RENAME, |_| lower::rename(&module, &source.options.arguments));
        self.after_step(&module, RENAME)?;
        Ok(module)
    }

    /// The line of a kernel's definition, for an error that is of no line in it.
    pub(super) fn line_of_kernel(&mut self, source: Source, kernel: &str) -> Option<u32> {
        let context = Context::create();
        let module = self.front_end(&context, Source { lines: true, ..source }, &mut String::new()).ok()?;
        let function = view::Module::of(&module).function(kernel)?;
        Subprogram::of(function).map(Subprogram::line)
    }
}
