//! LLVM's passes, in the syntax of `opt -passes=`, and our own in C++.

use std::ffi::CString;

use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses,
};
use inkwell::module::Module;

use super::ask;

/// Removes unused functions before any optimisation: large programs have many.
pub const REDUCE: &str = "globaldce";

/// LLVM's passes of a build. Steps without passes are left out.
#[derive(Debug)]
pub struct Pipeline {
    /// Inlines all calls, after simplifying the functions. Those that call themselves last become loops; of functions
    /// that call each other, one does so when it has inlined the others.
    pub inline: &'static str,
    /// The first half of optimisation.
    pub simplify: &'static str,
    /// The second half, on code that may have become large by unrolling.
    pub optimize: &'static str,
    /// Inlines the library's functions that lowering has added.
    pub inline_again: &'static str,
    /// The form that the translation requires: one return, no switches, no dead code. Loops have dedicated exit blocks
    /// for the copies of values that are used after them.
    pub finish: &'static str,
    /// Whether variables that the source names stay in memory.
    pub keeps_variables: bool,
}

/// The usual one.
pub static OPTIMIZED: Pipeline = Pipeline {
    inline: "function(sroa,early-cse,simplifycfg,tailcallelim),always-inline,globaldce",
    simplify: SIMPLIFY,
    optimize: OPTIMIZE,
    inline_again: INLINE_AGAIN,
    finish: "globaldce,function(simplifycfg,mergereturn,lower-switch,dce,loop-simplify)",
    keeps_variables: false,
};

/// For code that is checked after inlining: private variables stay in memory until then, but for whole ones that are
/// only loaded and stored.
pub static CHECKED: Pipeline =
    Pipeline { inline: "function(mem2reg,simplifycfg,tailcallelim),always-inline,globaldce", ..OPTIMIZED };

/// For a debugger: no pass may move or unite what belongs to different lines, nor load a variable less often than the
/// source reads it. Only branches on constants, of which the library's functions have many, are decided.
pub static DEBUGGED: Pipeline = Pipeline {
    inline: "function(tailcallelim),always-inline,globaldce",
    simplify: "always-inline,globaldce,function(sccp,dce)",
    optimize: "",
    inline_again: "always-inline,globaldce,function(sccp,dce)",
    finish: "globaldce,function(mergereturn,lower-switch,dce,loop-simplify)",
    keeps_variables: true,
};

unsafe extern "C" {
    /// In `passes.cpp`.
    fn gencl_hide_integers(module: LLVMModuleRef);
    /// In `variables.cpp`.
    fn gencl_promote_unnamed(module: LLVMModuleRef);
    /// In `variables.cpp`.
    fn gencl_expose_tail_calls(module: LLVMModuleRef);
    /// In `unroll.cpp`.
    fn gencl_unroll_loops(module: LLVMModuleRef);
    /// In `promote.cpp`.
    fn gencl_promote_arrays(module: LLVMModuleRef) -> bool;
    /// In `widen.cpp`.
    fn gencl_widen_halves(module: LLVMModuleRef);
}

/// Hides integers that are converted to floats which may be narrowed to half floats: LLVM assumes that large
/// ones are exact.
pub fn hide_integers(module: &Module) {
    // SAFETY: the function takes any valid module and keeps nothing of it.
    unsafe { gencl_hide_integers(module.as_mut_ptr()) }
}

/// Promotes private variables that the source does not name, and those whose types memory does not have.
pub fn promote_unnamed(module: &Module) {
    // SAFETY: the function takes any valid module and keeps nothing of it.
    unsafe { gencl_promote_unnamed(module.as_mut_ptr()) }
}

/// Has the returns of functions that call themselves follow tail calls at once.
pub fn expose_tail_calls(module: &Module) {
    // SAFETY: the function takes any valid module and keeps nothing of it.
    unsafe { gencl_expose_tail_calls(module.as_mut_ptr()) }
}

/// Unrolls loops over small private arrays, which LLVM's own heuristics would not.
pub fn unroll_loops(module: &Module) {
    // SAFETY: the function takes any valid module and keeps nothing of it.
    unsafe { gencl_unroll_loops(module.as_mut_ptr()) }
}

/// Promotes small private arrays with dynamic indices to vectors. Returns whether there were any.
pub fn promote_arrays(module: &Module) -> bool {
    // SAFETY: the function takes any valid module and keeps nothing of it.
    unsafe { gencl_promote_arrays(module.as_mut_ptr()) }
}

/// Widens arithmetic on half floats to floats, for hardware that only converts them. No LLVM pass that
/// narrows operations may run after it.
pub fn widen_halves(module: &Module) {
    // SAFETY: the function takes any valid module and keeps nothing of it.
    unsafe { gencl_widen_halves(module.as_mut_ptr()) }
}

/// The first half of -O2, in its order, without the vectorisers (lanes are the vectors; SLP took most of the
/// time on large kernels), passes for exceptions and coroutines, and half of the runs of
/// `instcombine`, the most expensive pass. It does not unroll loops.
const SIMPLIFY: &str = "always-inline,globalopt,ipsccp,function<eager-inv>(sroa,early-cse,instcombine<no-verify-fixpoint>,\
             simplifycfg<switch-range-to-icmp;no-switch-to-lookup;keep-loops;speculate-blocks>),\
             require<globals-aa>,function(invalidate<aa>),cgscc(function-attrs),\
             function<eager-inv>(sroa,early-cse<memssa>,jump-threading,correlated-propagation,\
             simplifycfg<switch-range-to-icmp;no-switch-to-lookup;keep-loops;speculate-blocks>,\
             aggressive-instcombine,reassociate,constraint-elimination,\
             loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,loop-rotate,\
             licm<allowspeculation>,simple-loop-unswitch<no-nontrivial;trivial>),\
             simplifycfg<switch-range-to-icmp;no-switch-to-lookup;keep-loops;speculate-blocks>,\
             instcombine<no-verify-fixpoint>,\
             loop(loop-idiom,indvars,simple-loop-unswitch<no-nontrivial;trivial>,loop-deletion))";

/// The second half of -O2, on code that may have become large by unrolling.
const OPTIMIZE: &str = "function<eager-inv>(loop(loop-unroll-full),loop-unroll<O2>,\
             sroa,vector-combine,mldst-motion,gvn,sccp,bdce,instcombine<no-verify-fixpoint>,jump-threading,\
             correlated-propagation,adce,memcpyopt,dse,loop-mssa(licm<allowspeculation>),\
             simplifycfg<switch-range-to-icmp;keep-loops;hoist-common-insts;sink-common-insts;speculate-blocks>),\
             globalopt,globaldce,\
             function<eager-inv>(float2int,lower-constant-intrinsics,loop(loop-rotate,loop-deletion),infer-alignment,\
             loop-load-elim,simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-lookup;no-keep-loops;\
             hoist-common-insts;sink-common-insts;speculate-blocks>,\
             infer-alignment,\
             loop-mssa(licm<allowspeculation>),alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs,\
             simplifycfg<switch-range-to-icmp;speculate-blocks>),globaldce,constmerge";

/// Inlines the library's functions that lowering has added.
const INLINE_AGAIN: &str = "always-inline,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,gvn,\
             instcombine<no-verify-fixpoint>,simplifycfg)";

/// Runs LLVM's passes.
///
/// # Errors
/// LLVM's message.
pub fn run(module: &Module, passes: &str) -> Result<(), String> {
    let passes = CString::new(passes).expect("no zero in it");
    let options = ask!(LLVMCreatePassBuilderOptions());
    let error = ask!(LLVMRunPasses(module.as_mut_ptr(), passes.as_ptr(), std::ptr::null_mut(), options));
    ask!(LLVMDisposePassBuilderOptions(options));
    if error.is_null() {
        return Ok(());
    }
    let text = ask!(LLVMGetErrorMessage(error));
    let message = ask!(std::ffi::CStr::from_ptr(text)).to_string_lossy().into_owned();
    ask!(LLVMDisposeErrorMessage(text));
    Err(message)
}
