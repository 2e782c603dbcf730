//! Between front end and back end: from a front end's LLVM module to Gen IR.

use gencl_device_info::DeviceInfo;
use gencl_program::debug;
use gencl_program::tools::Tools;
use inkwell::context::Context;
use inkwell::module::Module;

use super::front_end::Source;
use super::{Driver, Stop};
use crate::ir::Unit;
use crate::link;
use crate::llvm::steps::{STEPS, Work};
use crate::llvm::view;
use crate::translate::{TranslateError, translate};

/// A source's Gen IR as it is before the first pass, and its bitcode.
pub(super) struct Translated {
    /// An error is an unsupported construct.
    unit: Result<Unit, TranslateError>,
    bitcode: Vec<u8>,
}

impl Driver<'_> {
    /// Source to Gen IR and bitcode.
    pub(super) fn translate_source(
        &mut self,
        source: Source,
        log: &mut String,
    ) -> Result<(Unit, Vec<u8>), Stop> {
        let Translated { unit, bitcode } = self.try_translate_source(source, log)?;
        match unit {
            Ok(unit) => Ok((unit, bitcode)),
            Err(error) => Err(self.locate(source, error)),
        }
    }

    fn try_translate_source(&mut self, source: Source, log: &mut String) -> Result<Translated, Stop> {
        let context = Context::create();
        let module = self.front_end(&context, source, log)?;
        let bitcode = self.run("", "write-bitcode", |_| link::bitcode(&module));
        Ok(Translated { unit: self.translate_module(&context, &module, source.target)?, bitcode })
    }

    /// A front end's module to Gen IR. The outer error is one of LLVM, the inner one an unsupported construct.
    pub(super) fn translate_module<'ctx>(
        &mut self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        target: &DeviceInfo,
    ) -> Result<Result<Unit, TranslateError>, Stop> {
        let mut work = Work::new(context, module, target, Tools::of(self.debug), self.is_debugged());
        for step in STEPS {
            if step.is_needed(&work) {
                let name = step.name;
                let result = self.run("", name, |_| step.run(&mut work));
                result.map_err(|e| Stop::failure(format!("error: {name}: {e}")))?;
                self.after_step(module, name)?;
            }
        }
        let Work { formats, sites, .. } = work;
        let sites = sites.into_iter().collect();
        if self.debug.is_set(debug::LLVM) {
            self.listener.print(debug::LLVM, &module.print_to_string().to_string_lossy());
        }
        let translated = self.run("", "translate", |_| translate(view::Module::of(module)));
        Ok(translated.map(|unit| Unit { formats, sites, ..unit }))
    }

    /// Prints the module as debug options want it after a step, and runs LLVM's verifier if enabled.
    pub(super) fn after_step(&mut self, module: &Module, name: &str) -> Result<(), Stop> {
        if let Some(option) = self.prints_after(debug::LLVM_PASSES, name) {
            let text = format!("; after {name}\n{}", module.print_to_string().to_string_lossy());
            self.listener.print(option, &text);
        }
        if self.validates() {
            module.verify().map_err(|e| self.internal("", format!("after {name}: {e}")))?;
        }
        Ok(())
    }

    /// Adds the source location to an error of the translation. Without `-g` the module has no line tables,
    /// which would slow down every build, so that the front end is run again with them.
    fn locate(&mut self, source: Source, error: TranslateError) -> Stop {
        let mut best = error;
        if best.location.is_none() {
            let source = Source { lines: true, ..source };
            let again = self.try_translate_source(source, &mut String::new());
            if let Ok(Translated { unit: Err(located), .. }) = again {
                best = located;
            }
        }
        let separator = if best.location.is_some() { ":" } else { ": " };
        Stop::failure(format!("{}{separator}{best}", source.build.name))
    }
}
