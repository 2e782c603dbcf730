//! Masks that are numbers.

use crate::PARTS_OF_COMPARISONS;
use gencl_eu::abi::Tier;
use gencl_translator::faults::masks;
use gencl_translator::host::Host;
use gencl_translator::host::codegen::parsed;
use inkwell::context::Context;
use std::sync::mpsc;
use std::time::Duration;

/// Numbers as sets, a set of both, and vectors that are wider than any host's.
fn module(operation: &str, lanes: u32) -> String {
    format!(
        "define void @f(i64 %aw, i64 %bw, ptr %p) {{
           %an = trunc i64 %aw to i{lanes}
           %bn = trunc i64 %bw to i{lanes}
           %a = bitcast i{lanes} %an to <{lanes} x i1>
           %b = bitcast i{lanes} %bn to <{lanes} x i1>
           %x = select <{lanes} x i1> %a, <{lanes} x i32> splat (i32 1), <{lanes} x i32> zeroinitializer
           store <{lanes} x i32> %x, ptr %p
           %q = getelementptr i8, ptr %p, i64 64
           %y = select <{lanes} x i1> %b, <{lanes} x i32> zeroinitializer, <{lanes} x i32> splat (i32 3)
           store <{lanes} x i32> %y, ptr %q
           {operation}
           %z = select <{lanes} x i1> %o, <{lanes} x i64> zeroinitializer, <{lanes} x i64> splat (i64 1)
           %r = getelementptr i8, ptr %p, i64 128
           store <{lanes} x i64> %z, ptr %r
           %wide = load <32 x i64>, ptr %p
           %sum = add <32 x i64> %wide, splat (i64 1)
           store <32 x i64> %sum, ptr %p
           ret void
         }}"
    )
}

/// Sets that others are made with are compared; selecting knows numbers.
#[test]
fn bits_of_numbers_are_compared_lane_by_lane() {
    let text = "define <16 x i32> @f(i16 %number, <16 x i32> %a, <16 x i32> %b) {
        %set = bitcast i16 %number to <16 x i1>
        %less = icmp slt <16 x i32> %a, %b
        %both = and <16 x i1> %less, %set
        %chosen = select <16 x i1> %set, <16 x i32> %a, <16 x i32> %b
        %all = select <16 x i1> %both, <16 x i32> %chosen, <16 x i32> zeroinitializer
        ret <16 x i32> %all
    }";
    let context = Context::create();
    let module = parsed(&context, text).unwrap();
    masks::spread(&module).unwrap();
    let text = module.print_to_string().to_string();
    let compared = text.lines().find(|line| line.contains("icmp ne <16 x i8>")).unwrap();
    let name = compared.trim().split(' ').next().unwrap();
    assert!(text.contains(&format!("%both = and <16 x i1> %less, {name}")), "{text}");
    assert!(text.contains("select <16 x i1> %set"), "{text}");
    assert!(text.contains("<i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 1"), "{text}");
}

#[test]
fn parts_of_comparisons_are_hidden() {
    let context = Context::create();
    let module = parsed(&context, PARTS_OF_COMPARISONS).unwrap();
    Host::own().compile(&module, Tier::Optimised).unwrap();
    let text = module.print_to_string().to_string();
    assert!(text.contains("call i32 asm") && text.contains(", 65535"), "{text}");
}

/// A set of two, as an operation of sets, of numbers, or as a choice.
fn operations(lanes: u32) -> impl Iterator<Item = String> {
    let set = format!("<{lanes} x i1>");
    let of_numbers =
        move |name| format!("%n = {name} i{lanes} %an, %bn\n%o = bitcast i{lanes} %n to <{lanes} x i1>");
    let of_sets = ["and", "or", "xor"].map(|name| format!("%o = {name} {set} %a, %b"));
    let with_constant = format!("%n = xor i{lanes} %an, 1\n%o = bitcast i{lanes} %n to <{lanes} x i1>");
    let choices = [
        with_constant,
        format!("%o = select {set} %a, {set} splat (i1 true), {set} %b"),
        format!("%o = select {set} %a, {set} %b, {set} zeroinitializer"),
    ];
    of_sets.into_iter().chain(["and", "or", "xor"].map(of_numbers)).chain(choices)
}

#[test]
fn sets_of_few_lanes_are_parts() {
    let context = Context::create();
    for lanes in [2, 4] {
        let module = parsed(&context, &module(&format!("%o = and <{lanes} x i1> %a, %b"), lanes)).unwrap();
        masks::widen(&module).unwrap();
        let text = module.print_to_string().to_string();
        assert_eq!(text.matches("call i8 asm").count(), 2, "{text}");
        assert!(text.contains(&format!("%o = and <{lanes} x i1> %")) && !text.contains("%a,"), "{text}");
    }
}

#[test]
fn sets_of_two_numbers_are_hidden() {
    let context = Context::create();
    for (lanes, operation) in
        [8, 16, 32].into_iter().flat_map(|lanes| operations(lanes).map(move |o| (lanes, o)))
    {
        let module = parsed(&context, &module(&operation, lanes)).unwrap();
        masks::hide(&module).unwrap();
        let text = module.print_to_string().to_string();
        let used = text.lines().find(|line| line.contains("%z = ")).unwrap();
        assert!(text.contains("call i") && !used.contains("%o,"), "{operation}: {text}");
    }
}

#[test]
fn instruction_selection_ends() {
    for lanes in [8, 16, 32] {
        for operation in operations(lanes) {
            let (done, result) = mpsc::channel();
            let text = module(&operation, lanes);
            // A thread that never ends does not keep the process.
            std::thread::spawn(move || {
                let context = Context::create();
                let module = parsed(&context, &text).unwrap();
                done.send(Host::own().compile(&module, Tier::Optimised))
            });
            let object = result.recv_timeout(Duration::from_secs(60));
            assert!(matches!(object, Ok(Ok(_))), "{operation}: {object:?}");
        }
    }
}
