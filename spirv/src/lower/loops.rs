//! What producers say of loops: OpLoopMerge and OpLoopControlINTEL, as metadata of the branch back to the
//! header.
//!
//! DontUnroll is left out. Clang says it of all loops at -O1, at which SPIR-V is often made, and loops over
//! private arrays have to be unrolled to keep them in registers.

use rspirv::spirv::{LoopControl, Op};

use super::FunctionWriter;
use crate::error::Result;
use crate::walk::{Id, Instruction};

/// Parameters of a loop control, in the order of their literals.
const PARAMETERS: [LoopControl; 6] = [
    LoopControl::DEPENDENCY_LENGTH,
    LoopControl::MIN_ITERATIONS,
    LoopControl::MAX_ITERATIONS,
    LoopControl::ITERATION_MULTIPLE,
    LoopControl::PEEL_COUNT,
    LoopControl::PARTIAL_COUNT,
];

impl<'m> FunctionWriter<'_, 'm> {
    /// Notes the control of the loop whose header is the current block.
    pub(super) fn loop_control(&mut self, own: &Instruction<'m>) -> Result<()> {
        let first = if own.op == Op::LoopMerge { 2 } else { 0 };
        let control = LoopControl::from_bits_retain(own.operand(first)?);
        let mut properties = Vec::new();
        if control.contains(LoopControl::UNROLL) {
            properties.push("!\"llvm.loop.unroll.enable\"".to_owned());
        }
        let mut literals = own.operands_from(first + 1)?.iter();
        for parameter in PARAMETERS.into_iter().filter(|parameter| control.contains(*parameter)) {
            let literal = literals.next().ok_or_else(|| own.error("it has too few operands"))?;
            if parameter == LoopControl::PARTIAL_COUNT {
                properties.push(format!("!\"llvm.loop.unroll.count\", i32 {literal}"));
            }
        }
        if !properties.is_empty() {
            let node = self.w.metadata.add_loop(&properties);
            self.loops.insert(self.label, node);
        }
        Ok(())
    }

    /// The attachment of a branch to a block, if that is the header of the loop that it is in. Blocks come in
    /// reverse post-order: what is written before is a header.
    pub(super) fn loop_attachment(&self, targets: &[Id]) -> String {
        let node = targets.iter().find_map(|target| self.loops.get(target));
        node.map(|node| format!(", !llvm.loop !{node}")).unwrap_or_default()
    }
}
