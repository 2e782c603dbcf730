//! LLVM's passes, in which order.

use std::ffi::CString;

use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMPassBuilderOptionsSetLoopInterleaving,
    LLVMPassBuilderOptionsSetLoopVectorization, LLVMPassBuilderOptionsSetSLPVectorization, LLVMRunPasses,
};
use inkwell::module::Module;

use super::ask;

/// One step: its name for progress and timing, and what `opt -passes=` would be given.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// LLVM's passes.
    pub passes: &'static str,
}

/// Unused functions go before anything is optimised: large programs consist of them.
pub const REDUCE: Step = Step { name: "llvm-reduce", passes: "globaldce" };

/// All calls are inlined. Small functions become smaller first.
pub const INLINE: Step =
    Step { name: "llvm-inline", passes: "function(sroa,early-cse,simplifycfg),always-inline,globaldce" };

unsafe extern "C" {
    /// In `unroll.cpp`.
    fn gencl_mark_loops(module: LLVMModuleRef);
    /// In `promote.cpp`.
    fn gencl_promote_arrays(module: LLVMModuleRef) -> bool;
}

/// Marks the loops that [`OPTIMIZE`] is to unroll beyond LLVM's own measure: those over small private arrays.
pub fn mark_loops(module: &Module) {
    // SAFETY: the function takes any valid module and keeps nothing of it.
    unsafe { gencl_mark_loops(module.as_mut_ptr()) }
}

/// Makes vectors of small private arrays that are indexed by what is known at run time; true when there were any.
pub fn promote_arrays(module: &Module) -> bool {
    // SAFETY: the function takes any valid module and keeps nothing of it.
    unsafe { gencl_promote_arrays(module.as_mut_ptr()) }
}

/// Everything that -O2 has without vectors.
pub const OPTIMIZE: Step = Step { name: "llvm-optimize", passes: "default<O2>" };

/// After calls were put in for what the hardware has not.
pub const INLINE_AGAIN: Step = Step {
    name: "llvm-inline-again",
    passes: "always-inline,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,gvn,\
             instcombine<no-verify-fixpoint>,simplifycfg)",
};

/// What the translation wants to see: one return, no switches, no dead code. Blocks behind loops of their own have the copies for
/// what is needed there.
pub const FINISH: Step = Step {
    name: "llvm-finish",
    passes: "globaldce,function(simplifycfg,mergereturn,lower-switch,dce,loop-simplify)",
};

/// Runs one step.
///
/// # Errors
/// LLVM's message.
pub fn run(module: &Module, step: Step) -> Result<(), String> {
    let passes = CString::new(step.passes).expect("no zero in it");
    let options = ask!(LLVMCreatePassBuilderOptions());
    // Lanes are the vectors here: what LLVM packed into vectors would be taken apart again.
    ask!(LLVMPassBuilderOptionsSetLoopVectorization(options, 0));
    ask!(LLVMPassBuilderOptionsSetSLPVectorization(options, 0));
    ask!(LLVMPassBuilderOptionsSetLoopInterleaving(options, 0));
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
