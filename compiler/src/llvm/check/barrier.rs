//! Checks of barriers, and of functions that all work-items of a group call: all work-items of a thread come to each.

use gencl_program::finding::Check;
use inkwell::context::Context;
use inkwell::module::Module;

use super::Checker;
use crate::llvm::build::Builder;
use crate::llvm::view::{self, IntPredicate, Opcode, Value};

/// Barriers of the work-group.
const BARRIERS: [&str; 2] = ["__gencl_barrier", "__gencl_barrier_arrive"];

/// In front of calls of such functions, as long as there are checks to be added.
const COLLECTIVE: &str = "__gencl_check_collective";

/// Parts of the names of functions that all work-items of a group, or a sub-group, call (OpenCL C, 6.15.11, 6.15.18), and
/// that have no barrier. Others, such as shuffles and ballots, go without some work-items.
const COLLECTIVES: [&str; 5] =
    ["async_work_group_", "sub_group_all", "sub_group_any", "sub_group_reduce_", "sub_group_scan_"];

/// The lanes that execute it, as bits.
const LANES: &str = "__gencl_ballot";

/// Marks calls of the functions that all work-items call, before they are inlined.
pub fn mark_collectives(context: &Context, module: &Module) {
    let builder = Builder::new(context, module);
    let functions = view::Module::of(module).functions();
    let calls = functions.flat_map(|function| function.blocks()).flat_map(view::Block::instructions);
    let is_collective = |i: &Value| {
        let name = i.callee().map(Value::name).unwrap_or_default();
        COLLECTIVES.iter().any(|part| name.contains(part))
    };
    let calls: Vec<_> = calls.filter(|i| i.opcode() == Opcode::LLVMCall && is_collective(i)).collect();
    for call in calls {
        builder.before(call);
        if let Some(function) = builder.call(COLLECTIVE, builder.void(), &[]).callee() {
            function.add_attribute(context, "convergent");
        }
    }
}

impl<'m> Checker<'_, 'm> {
    /// Checks at each barrier of a kernel, which has these instructions, that the lanes with which it began are there.
    pub(super) fn barriers(&mut self, context: &Context, instructions: &[Value<'m>]) {
        let check = |instruction: Value<'m>| match instruction.callee()?.name().as_str() {
            COLLECTIVE => Some(Check::Collective),
            name if BARRIERS.contains(&name) => Some(Check::Barrier),
            _ => None,
        };
        let calls = instructions.iter().filter(|i| i.opcode() == Opcode::LLVMCall);
        let barriers: Vec<_> = calls.filter_map(|call| Some((*call, check(*call)?))).collect();
        let Some(first) = instructions.first().filter(|_| !barriers.is_empty()) else { return };
        let b = self.builder;
        b.before(*first);
        let all = lanes(b, context);
        for (barrier, check) in barriers {
            b.before(barrier);
            let failed = b.compare(IntPredicate::LLVMIntNE, lanes(b, context), all);
            let zero = b.number(64, 0);
            self.check(barrier, (check, None), failed, [zero; 3]);
        }
    }
}

/// Whether an instruction is a mark of such a call.
pub(super) fn is_mark(i: Value) -> bool {
    i.opcode() == Opcode::LLVMCall && i.callee().is_some_and(|callee| callee.name() == COLLECTIVE)
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
