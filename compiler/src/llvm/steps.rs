//! The steps from a front end's module to one that the translation takes.
//!
//! They are data, which the driver walks, the debug options name, and docs/compiler.md lists.

use gencl_device_info::DeviceInfo;
use gencl_program::finding::Site;
use gencl_program::printf::PrintfFormat;
use gencl_program::tools::Tools;
use indexmap::IndexSet;
use inkwell::context::Context;
use inkwell::module::Module;

use super::pipeline::{CHECKED, DEBUGGED, OPTIMIZED, Pipeline};
use super::{Machine, atomics, check, generic, library, lower, pipeline, prepare, printf, view};

/// A module in work, and what steps leave for later ones.
pub struct Work<'w, 'ctx> {
    context: &'ctx Context,
    module: &'w Module<'ctx>,
    target: &'w DeviceInfo,
    machine: &'static Machine,
    /// The formats of the module's calls of printf.
    pub formats: Vec<PrintfFormat>,
    /// The places that are checked.
    pub sites: IndexSet<Site>,
    /// What is checked.
    tools: Tools,
    pipeline: &'static Pipeline,
    /// Whether there are calls of functions of the library that are to be linked once more.
    calls: bool,
    /// Whether arrays were promoted to vectors.
    promoted: bool,
}

impl<'w, 'ctx> Work<'w, 'ctx> {
    /// The beginning of the work on a module. `tools` says which checks kernels get; `debugged` keeps variables of the
    /// source in memory, and code in its order.
    pub fn new(
        context: &'ctx Context,
        module: &'w Module<'ctx>,
        target: &'w DeviceInfo,
        tools: Tools,
        debugged: bool,
    ) -> Self {
        let machine = Machine::of(target);
        let pipeline = match (debugged, tools.any()) {
            (true, _) => &DEBUGGED,
            (false, true) => &CHECKED,
            (false, false) => &OPTIMIZED,
        };
        let (formats, sites) = (Vec::new(), IndexSet::new());
        Self {
            context,
            module,
            target,
            machine,
            formats,
            sites,
            tools,
            pipeline,
            calls: false,
            promoted: false,
        }
    }

    /// Links functions of the library, `late` ones too, for inlining.
    fn link(&self, late: bool) -> Result<(), String> {
        library::link(self.context, self.module, self.machine, late)
    }

    fn run_passes(&self, passes: &str) -> Result<(), String> {
        pipeline::run(self.module, passes)
    }

    fn inline(&self) -> Result<(), String> {
        if self.pipeline.keeps_variables {
            pipeline::promote_unnamed(self.module);
            pipeline::expose_tail_calls(self.module);
        }
        self.run_passes(self.pipeline.inline)
    }
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// As progress, timings and debug options name it.
    pub name: &'static str,
    /// What it does, as docs/compiler.md says it.
    pub about: &'static str,
    is_needed: fn(&Work<'_, '_>) -> bool,
    run: fn(&mut Work<'_, '_>) -> Result<(), String>,
}

impl Step {
    /// A step that every module needs.
    const fn new(
        name: &'static str,
        about: &'static str,
        run: fn(&mut Work<'_, '_>) -> Result<(), String>,
    ) -> Self {
        Self { name, about, is_needed: |_| true, run }
    }

    const fn only_if(self, is_needed: fn(&Work<'_, '_>) -> bool) -> Self {
        Self { is_needed, ..self }
    }

    /// Whether the step changes anything of this module.
    pub fn is_needed(&self, work: &Work<'_, '_>) -> bool {
        (self.is_needed)(work)
    }

    /// Runs the step.
    ///
    /// # Errors
    /// What is not supported, or LLVM's message.
    pub fn run(&self, work: &mut Work<'_, '_>) -> Result<(), String> {
        (self.run)(work)
    }
}

/// All steps, in order.
pub const STEPS: &[Step] = &[
    Step::new("unify", "one calling convention, our data layout", |work| {
        prepare::unify(work.module, work.machine);
        prepare::tell_effects(work.context, work.module);
        if work.tools.memory {
            prepare::accept_null_pointers(work.context, work.module);
        }
        Ok(())
    }),
    Step::new("drop-destructors", "destructors of program-scope objects do not run", |work| {
        prepare::drop_destructors(work.module);
        Ok(())
    })
    .only_if(|work| view::Module::of(work.module).function(prepare::AT_EXIT).is_some()),
    Step::new("order-atomics", "fences around SPIR-V's atomics", |work| {
        atomics::order(work.context, work.module)
    })
    .only_if(|work| atomics::are_ordered(work.module)),
    Step::new("mark-sub-groups", "marks functions that call functions of sub-groups", |work| {
        prepare::mark_sub_groups(work.context, work.module);
        Ok(())
    })
    .only_if(|work| prepare::has_sub_groups(work.module)),
    Step::new("check-arithmetic", "checks operations on numbers, if asked for", |work| {
        check::arithmetic(work.context, work.module, work.tools, &mut work.sites);
        Ok(())
    })
    .only_if(|work| work.tools.any_of_operations()),
    Step::new("mark-collectives", "marks calls that all work-items have to come to, if asked for", |work| {
        check::mark_collectives(work.context, work.module);
        Ok(())
    })
    .only_if(|work| work.tools.sync || work.tools.race),
    Step::new("mark-images", "marks accesses to images, if asked for", |work| {
        check::mark_images(work.context, work.module);
        Ok(())
    })
    .only_if(|work| work.tools.memory),
    Step::new("mark-undefined", "gives variables without a value one to follow, if asked for", |work| {
        check::mark_undefined(work.context, work.module);
        Ok(())
    })
    .only_if(|work| work.tools.undefined),
    Step::new("link", "links the called functions of the built-in library", |work| work.link(false)),
    Step::new("lower-conversions", "replaces conversions that are casts", |work| {
        lower::conversions(work.context, work.module);
        Ok(())
    }),
    Step::new("inline-everything", "marks all functions for inlining", |work| {
        prepare::inline_everything(work.context, work.module);
        Ok(())
    }),
    Step::new("llvm-reduce", "removes unused functions", |work| work.run_passes(pipeline::REDUCE)),
    Step::new("llvm-inline", "inlines all calls, tail calls become loops", |work| work.inline()),
    Step::new("llvm-inline-rest", "inlines functions that called each other", |work| work.inline())
        .only_if(|work| prepare::has_functions(work.module)),
    Step::new("merge-samplers", "equal samplers of a kernel are one", |work| {
        prepare::merge_samplers(work.context, work.module);
        Ok(())
    }),
    Step::new(
        "hide-integers",
        "hides integers that may become half floats, which LLVM 19 takes for exact",
        |work| {
            pipeline::hide_integers(work.module);
            Ok(())
        },
    ),
    Step::new("printf", "lowers calls of printf to records", |work| {
        work.formats = printf::lower(work.context, work.module)?;
        Ok(())
    }),
    Step::new("link-printf", "links the functions that write records", |work| {
        work.link(false)?;
        prepare::inline_everything(work.context, work.module);
        Ok(())
    })
    .only_if(|work| !work.formats.is_empty()),
    Step::new("infer-address-spaces", "infers the address spaces of generic pointers", |work| {
        generic::infer(work.module);
        generic::tell_spaces(work.context, work.module, false);
        Ok(())
    })
    .only_if(|work| generic::is_used(work.module)),
    Step::new("copy-arguments", "structure arguments are read from constant memory", |work| {
        prepare::copy_arguments(work.context, work.module);
        Ok(())
    }),
    Step::new("check-accesses", "checks accesses to memory and barriers, if asked for", |work| {
        check::accesses(work.context, work.module, work.tools, &mut work.sites);
        work.link(false)?;
        prepare::inline_everything(work.context, work.module);
        Ok(())
    })
    .only_if(|work| work.tools.any_of_accesses()),
    Step::new("llvm-simplify", "the first half of -O2, without vectorisers and unrolling", |work| {
        work.run_passes(work.pipeline.simplify)
    }),
    Step::new("unroll-loops", "unrolls loops over small private arrays", |work| {
        pipeline::unroll_loops(work.module);
        Ok(())
    })
    .only_if(|work| !work.pipeline.keeps_variables),
    Step::new("llvm-optimize", "the second half of -O2", |work| work.run_passes(work.pipeline.optimize))
        .only_if(|work| !work.pipeline.optimize.is_empty()),
    Step::new("promote-arrays", "promotes small private arrays with dynamic indices to vectors", |work| {
        work.promoted = pipeline::promote_arrays(work.module);
        Ok(())
    })
    .only_if(|work| !work.pipeline.keeps_variables),
    Step::new("lower-arithmetic", "divisions and square roots become calls of the library", |work| {
        work.calls = library::has_late_calls(work.module) | lower::arithmetic(work.context, work.module);
        Ok(())
    }),
    Step::new("lower-borders", "reads of integer formats with border colours, too", |work| {
        work.calls |= lower::integer_borders(work.context, work.module);
        Ok(())
    })
    .only_if(|work| !work.target.messages.integer_borders),
    Step::new("generic-pointers", "accesses through generic pointers, too", |work| {
        generic::infer(work.module);
        work.calls |= generic::tell_spaces(work.context, work.module, true);
        work.calls |= generic::lower(work.context, work.module)?;
        Ok(())
    })
    .only_if(|work| generic::is_used(work.module)),
    Step::new("lower-atomics", "atomics through generic pointers and on local quadwords, too", |work| {
        work.calls |= atomics::lower(work.context, work.module)?;
        Ok(())
    }),
    Step::new("link-again", "links the functions of these calls", |work| {
        work.link(true)?;
        prepare::inline_everything(work.context, work.module);
        Ok(())
    })
    .only_if(|work| work.calls),
    Step::new("llvm-inline-again", "inlines them", |work| work.run_passes(work.pipeline.inline_again))
        .only_if(|work| work.calls || work.promoted),
    Step::new(
        "widen-halves",
        "computes half floats as floats, where the hardware only converts them",
        |work| {
            pipeline::widen_halves(work.module);
            Ok(())
        },
    )
    .only_if(|work| !work.target.execution.half),
    Step::new("llvm-finish", "one return, no switches, loops with exit blocks", |work| {
        work.run_passes(work.pipeline.finish)
    }),
];
