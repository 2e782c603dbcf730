//! Faults of LLVM 19 that are worked around, each with a module that shows it. When one of these tests fails LLVM has been mended, and the workaround that it names
//! can go.
//!
//! That of choices of bits has its test beside it (`bitselect`). Where LLVM does not end (`masks::hide`, `masks::widen`, `set_options`) there is none: a thread that never ends would be left behind. Tests there say that it ends with the workaround.

#![cfg(target_arch = "x86_64")]

mod bitselect;
mod masks;

use gencl_eu::abi::Tier;
use inkwell::context::Context;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::FileType;

use gencl_translator::host::Host;
use gencl_translator::host::codegen::parsed;

/// What LLVM's passes make of a module for hosts with AVX-512, and the assembly of that, without workarounds.
fn compiled(text: &str, passes: &str) -> (String, String) {
    compiled_as(Tier::Optimised, text, passes)
}

fn compiled_as(tier: Tier, text: &str, passes: &str) -> (String, String) {
    let context = Context::create();
    let machine = Host::named("v4").unwrap().machine(tier).unwrap();
    let module = parsed(&context, text).unwrap();
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.run_passes(passes, &machine, PassBuilderOptions::create()).unwrap();
    let assembly = machine.write_to_memory_buffer(&module, FileType::Assembly).unwrap();
    (module.print_to_string().to_string(), String::from_utf8_lossy(assembly.as_slice()).into_owned())
}

/// The low half of a comparison of 32 lanes is stored.
pub const PARTS_OF_COMPARISONS: &str = "define void @f(ptr %p) {
    %a = load <32 x float>, ptr %p
    %c = fcmp olt <32 x float> %a, splat (float 1.0)
    %all = bitcast <32 x i1> %c to i32
    %low = and i32 %all, 65535
    store i32 %low, ptr %p
    ret void
}";

/// `masks::hide_parts`: the low half is stored with the other half.
#[test]
fn parts_of_comparisons() {
    let (_, assembly) = compiled(PARTS_OF_COMPARISONS, "function(early-cse)");
    assert!(
        !assembly.contains("and") && !assembly.contains("movz") && !assembly.contains("kmovw"),
        "{assembly}"
    );
}

/// `lift::rounding::of_integers`: a number of 32 bits that has eight of them is taken for one that half floats have exactly, whatever their place.
#[test]
fn half_floats_of_large_integers() {
    let text = "define float @f(i8 %b) {
        %wide = zext i8 %b to i32
        %large = shl i32 %wide, 24
        %number = uitofp i32 %large to float
        %half = fptrunc float %number to half
        %again = fpext half %half to float
        ret float %again
    }";
    let (optimised, _) = compiled(text, "function(instcombine)");
    assert!(!optimised.contains("half"), "{optimised}");
}

/// `lower::calls::rare_calls`: a function that is to keep all registers does not keep the upper half of one whose lower half is an argument.
#[test]
fn registers_of_narrow_arguments() {
    let text = "define internal i32 @rare(ptr %frame, i32 %a) noinline \"no_caller_saved_registers\" {
        %w = load ptr, ptr %frame
        %r = call i32 %w(ptr %frame, i32 %a)
        ret i32 %r
    }
    define i64 @f(ptr %frame, i64 %x) {
        %t = trunc i64 %x to i32
        %r = call i32 @rare(ptr %frame, i32 %t)
        %w = zext i32 %r to i64
        %s = add i64 %w, %x
        ret i64 %s
    }";
    let (_, assembly) = compiled(text, "function(early-cse)");
    let (_, behind) = assembly.split_once("callq\trare").unwrap();
    let is_kept = ["pushq\t%rsi", "movq\t%rsi"].iter().any(|own| assembly.contains(own));
    assert!(behind.contains("%rsi") && !is_kept, "{assembly}");
}

/// `lower::rare`, whose functions have one bit as their result: one that is to keep all registers restores the result's with the others, in code
/// without optimisation, unless it has to be extended.
#[test]
fn results_of_functions_that_keep_registers() {
    let text = |ty: &str| {
        format!(
            "define {ty} @rare(ptr %frame) \"no_caller_saved_registers\" {{
               %r = load {ty}, ptr %frame
               ret {ty} %r
             }}"
        )
    };
    let restores =
        |ty| compiled_as(Tier::Baseline, &text(ty), "function(early-cse)").1.contains("popq\t%rax");
    assert!(restores("i64") && !restores("i1"));
}
