//! What the simulator does.

use std::mem::offset_of;

use gencl_eu::abi::Frame;

use super::{FILE, FRAME, Lowering};
use crate::ir::{I32, POINTER, Ty, Value as LlvmValue};
use crate::middle::function::{Instruction, Value};
use crate::middle::op::Registers;

/// Where the frame has the addresses of the simulator's functions.
const INTERPRET: usize = offset_of!(Frame, interpret);
pub(super) const SEND: usize = offset_of!(Frame, send);

impl Lowering<'_> {
    /// Has the thread fault if a call has not returned 0.
    pub(super) fn fault_if(&mut self, failed: &LlvmValue) {
        let right = self.f.compare("icmp eq", failed, &LlvmValue::int(failed.ty, 0));
        let on = self.f.label();
        self.f.branch_likely(&right, on, self.fault);
        self.f.begin(on);
    }

    /// Puts operands where the interpreter finds them.
    fn put_operands(&mut self, registers: &Registers, operands: &[Value]) {
        for (value, at) in operands.iter().zip(&registers.operands) {
            let value = self.value(*value);
            let at = self.f.at(&self.file.clone(), (*at).into());
            self.f.store(&value, &at, FILE);
        }
    }

    fn taken_results(&mut self, registers: &Registers, results: &[Value]) -> Vec<LlvmValue> {
        let taken = results.iter().zip(&registers.results).map(|(result, at)| {
            let ty = super::llvm(self.function.ty(*result));
            let at = self.f.at(&self.file.clone(), (*at).into());
            self.f.load(ty, &at, FILE)
        });
        taken.collect()
    }

    fn called(&mut self, callback: usize, index: usize, mask: Value) {
        let mask = self.dword_of_mask(mask);
        let arguments = [self.thread.clone(), LlvmValue::int(I32, index as u64), mask];
        let function = self.constant(POINTER, callback);
        let failed = self.call_with(function.name(), I32, &arguments, "#2");
        self.fault_if(&failed);
    }

    /// A message to an image.
    pub fn image(&mut self, instruction: Instruction, registers: &Registers) -> Vec<LlvmValue> {
        self.interpreted_by(SEND, instruction, registers)
    }

    /// An instruction that the interpreter executes.
    pub fn interpret(&mut self, instruction: Instruction, registers: &Registers) -> Vec<LlvmValue> {
        self.interpreted_by(INTERPRET, instruction, registers)
    }

    fn interpreted_by(
        &mut self,
        callback: usize,
        instruction: Instruction,
        registers: &Registers,
    ) -> Vec<LlvmValue> {
        let data = self.function.instruction(instruction);
        self.put_operands(registers, &data.operands[1..]);
        self.called(callback, data.origin as usize, data.operands[0]);
        self.taken_results(registers, &data.results)
    }

    /// Registers that have not been written are read: the interpreter says which.
    pub fn unwritten(&mut self, instruction: Instruction, registers: &Registers) {
        let data = self.function.instruction(instruction);
        let missing = self.value(data.operands[0]);
        let told = self.f.at(&self.frame.clone(), offset_of!(Frame, unwritten));
        self.f.store(&missing, &told, FRAME);
        self.put_operands(registers, &data.operands[2..]);
        self.called(INTERPRET, data.origin as usize, data.operands[1]);
    }

    /// Calls a function of the module or the simulator's, whose first argument is the frame.
    pub(super) fn call_with(
        &mut self,
        function: &str,
        result: Ty,
        arguments: &[LlvmValue],
        attributes: &str,
    ) -> LlvmValue {
        let arguments: String = arguments.iter().map(|value| format!(", {}", value.typed())).collect();
        let frame = self.frame.typed();
        self.f.value(result, &format!("call {} {function}({frame}{arguments}) {attributes}", result.text()))
    }
}
