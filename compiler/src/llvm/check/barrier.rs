//! Checks of barriers, and of functions that all work-items of a group call: all work-items of a thread come to each.

use gencl_program::finding::Check;
use inkwell::context::Context;
use inkwell::module::Module;

use super::Checker;
use crate::llvm::build::Builder;
use crate::llvm::view::{self, IntPredicate, Opcode, TypeKind, Value};

/// Barriers of the work-group.
const BARRIERS: [&str; 2] = ["__gencl_barrier", "__gencl_barrier_arrive"];

/// Marks of calls, as long as there are checks to be added: in front of functions that all work-items call, and have no
/// barrier; in front of copies by the work-group, and behind them; in front of waiting for these, which has one. Numbers are
/// made of the arguments, which are the same for all work-items.
const COLLECTIVE: &str = "__gencl_check_mark_collective";
pub(super) const COPY_BEGIN: &str = "__gencl_check_mark_copy";
pub(super) const COPY_END: &str = "__gencl_check_mark_copied";
pub(super) const WAIT: &str = "__gencl_check_mark_wait";
const MARKS: [&str; 5] = [COLLECTIVE, COPY_BEGIN, COPY_END, WAIT, EVENTS];

/// A mark in front of waiting, too: its number says whether an event is none that a copy gave, as the library's function
/// does.
const EVENTS: &str = "__gencl_check_mark_events";
const NO_EVENT: &str = "__gencl_check_no_event";

/// Parts of the names of functions that all work-items of a group, or a sub-group, call (OpenCL C, 6.15.11, 6.15.18). Others
/// have barriers, or go without some work-items, such as shuffles and ballots.
const COLLECTIVES: [(&str, &str); 6] = [
    ("async_work_group_", COPY_BEGIN),
    ("wait_group_events", WAIT),
    ("sub_group_all", COLLECTIVE),
    ("sub_group_any", COLLECTIVE),
    ("sub_group_reduce_", COLLECTIVE),
    ("sub_group_scan_", COLLECTIVE),
];

/// The lanes that execute it, as bits.
const LANES: &str = "__gencl_ballot";

/// The number of another lane.
const SHUFFLE: &str = "__gencl_shuffle_u64";

/// Marks calls of the functions that all work-items call, before they are inlined.
pub fn mark_collectives(context: &Context, module: &Module) {
    let builder = Builder::new(context, module);
    let functions = view::Module::of(module).functions();
    let calls = functions.flat_map(|function| function.blocks()).flat_map(view::Block::instructions);
    let mark = |i: Value| {
        let name = i.callee()?.name();
        COLLECTIVES.iter().find(|(part, _)| name.contains(part)).map(|(_, mark)| *mark)
    };
    let calls = calls.filter(|i| i.opcode() == Opcode::LLVMCall);
    let calls: Vec<_> = calls.filter_map(|call| Some((call, mark(call)?))).collect();
    let put = |mark, arguments: &[Value]| {
        if let Some(function) = builder.call(mark, builder.void(), arguments).callee() {
            function.add_attribute(context, "convergent");
        }
    };
    for (call, mark) in calls {
        builder.before(call);
        if mark == COLLECTIVE {
            put(mark, &[]);
            continue;
        }
        put(mark, &[of_arguments(&builder, call)]);
        if let [count, events] = call.call_arguments()[..]
            && mark == WAIT
        {
            let private = builder.pointer(0);
            let events = if events.ty() == private {
                events
            } else {
                builder.cast(Opcode::LLVMAddrSpaceCast, events, private)
            };
            put(EVENTS, &[builder.call(NO_EVENT, builder.int(32), &[count, events])]);
        }
        if let Some(behind) = call.next().filter(|_| mark == COPY_BEGIN) {
            builder.before(behind);
            put(COPY_END, &[]);
        }
    }
}

/// A number that differs, most likely, if any argument does.
fn of_arguments<'m>(b: &Builder<'m>, call: Value<'m>) -> Value<'m> {
    let long = b.int(64);
    let numbers = call.call_arguments().into_iter().filter_map(|argument| match argument.ty().kind() {
        TypeKind::Integer(_) => Some(b.resize(argument, long, false)),
        TypeKind::Pointer(_) => Some(b.cast(Opcode::LLVMPtrToInt, argument, long)),
        // Events.
        _ => None,
    });
    let factor = b.number(64, 0x9e37_79b9);
    numbers.fold(b.zero(long), |sum, number| {
        b.binary(Opcode::LLVMAdd, b.binary(Opcode::LLVMMul, sum, factor), number)
    })
}

impl<'m> Checker<'_, 'm> {
    /// Checks at each barrier of a kernel, which has these instructions, that the lanes with which it began are there, and
    /// that they copy the same.
    pub(super) fn barriers(&mut self, context: &Context, instructions: &[Value<'m>]) {
        let name = |call: Value| call.callee().map(Value::name).unwrap_or_default();
        let is_checked =
            |name: &str| BARRIERS.contains(&name) || [COLLECTIVE, COPY_BEGIN, WAIT, EVENTS].contains(&name);
        let calls = instructions.iter().filter(|i| i.opcode() == Opcode::LLVMCall);
        let calls: Vec<_> =
            calls.map(|call| (*call, name(*call))).filter(|(_, name)| is_checked(name)).collect();
        let Some(first) = instructions.first().filter(|_| !calls.is_empty()) else { return };
        let b = self.builder;
        b.before(*first);
        let all = lanes(b, context);
        for (call, name) in calls {
            b.before(call);
            let zero = b.number(64, 0);
            if name == EVENTS {
                self.check(call, (Check::Event, None), call.operand(0), [zero; 3]);
                continue;
            }
            let here = lanes(b, context);
            // Waiting has a barrier of its own.
            if name != WAIT {
                let check =
                    if BARRIERS.contains(&name.as_str()) { Check::Barrier } else { Check::Collective };
                let failed = b.compare(IntPredicate::LLVMIntNE, here, all);
                self.check(call, (check, None), failed, [zero; 3]);
            }
            if let [own] = call.call_arguments()[..]
                && own.ty() == b.int(64)
            {
                let first = b.call("llvm.cttz.i32", b.int(32), &[here, b.number(1, 0)]);
                let other = b.call(SHUFFLE, b.int(64), &[own, first]);
                if let Some(function) = other.callee() {
                    function.add_attribute(context, "convergent");
                }
                let failed = b.compare(IntPredicate::LLVMIntNE, own, other);
                self.check(call, (Check::Uniform, None), failed, [zero; 3]);
            }
        }
    }
}

/// Whether an instruction is a mark of such a call.
pub(super) fn is_mark(i: Value) -> bool {
    i.opcode() == Opcode::LLVMCall && i.callee().is_some_and(|callee| MARKS.contains(&callee.name().as_str()))
}

/// The lanes that are enabled here.
fn lanes<'m>(b: &Builder<'m>, context: &Context) -> Value<'m> {
    let lanes = b.call(LANES, b.int(32), &[b.number(32, 1)]);
    if let Some(function) = lanes.callee() {
        // Or it could be moved to other control flow.
        function.add_attribute(context, "convergent");
    }
    lanes
}
