//! Checks of barriers: all work-items of a thread come to each.

use gencl_program::finding::Check;
use inkwell::context::Context;

use super::Checker;
use crate::llvm::build::Builder;
use crate::llvm::view::{IntPredicate, Opcode, Value};

/// Barriers of the work-group.
const BARRIERS: [&str; 2] = ["__gencl_barrier", "__gencl_barrier_arrive"];

/// The lanes that execute it, as bits.
const LANES: &str = "__gencl_ballot";

impl<'m> Checker<'_, 'm> {
    /// Checks at each barrier of a kernel, which has these instructions, that the lanes with which it began are there.
    pub(super) fn barriers(&mut self, context: &Context, instructions: &[Value<'m>]) {
        let is_barrier = |instruction: &&Value<'m>| {
            instruction.opcode() == Opcode::LLVMCall
                && instruction.callee().is_some_and(|callee| BARRIERS.contains(&callee.name().as_str()))
        };
        let barriers: Vec<_> = instructions.iter().filter(is_barrier).collect();
        let Some(first) = instructions.first().filter(|_| !barriers.is_empty()) else { return };
        let b = self.builder;
        b.before(*first);
        let all = lanes(b, context);
        for &&barrier in &barriers {
            b.before(barrier);
            let failed = b.compare(IntPredicate::LLVMIntNE, lanes(b, context), all);
            let zero = b.number(64, 0);
            self.check(barrier, (Check::Barrier, None), failed, [zero; 3]);
        }
    }
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
