//! What the simulator does.

use std::mem::offset_of;

use gencl_eu::abi::Frame;

use super::{FILE, FRAME, Lowering};
use crate::ir::{Callee, I32, POINTER, Value as LlvmValue};
use crate::middle::function::{Instruction, Value};
use crate::middle::op::Registers;

/// Where the frame has the addresses of the simulator's functions.
const INTERPRET: usize = offset_of!(Frame, interpret);
pub(super) const SEND: usize = offset_of!(Frame, send);

impl<'c> Lowering<'_, 'c> {
    /// Has the thread fault if a call has not returned 0.
    pub(super) fn fault_if(&self, failed: LlvmValue<'c>) {
        self.f.require(self.f.is(failed, 0), self.control.fault);
    }

    /// Puts operands where the interpreter finds them.
    fn put_operands(&mut self, registers: &Registers, operands: &[Value]) {
        for (value, at) in operands.iter().zip(&registers.operands) {
            let value = self.value(*value);
            let at = self.f.at(self.thread.file, (*at).into());
            self.f.store(value, at, FILE);
        }
    }

    fn taken_results(&mut self, registers: &Registers, results: &[Value]) -> Vec<LlvmValue<'c>> {
        let taken = results.iter().zip(&registers.results).map(|(result, at)| {
            let ty = super::llvm(self.function.ty(*result));
            self.f.load(ty, self.f.at(self.thread.file, (*at).into()), FILE)
        });
        taken.collect()
    }

    fn called(&mut self, callback: usize, index: usize, mask: Value) {
        let mask = self.dword_of_mask(mask);
        let arguments = [self.thread.number, self.f.int(I32, index as u64), mask];
        let failed = self.call_simulator(callback, &arguments);
        self.fault_if(failed);
    }

    /// A message to an image.
    pub fn image(&mut self, instruction: Instruction, registers: &Registers) -> Vec<LlvmValue<'c>> {
        self.interpreted_by(SEND, instruction, registers)
    }

    /// An instruction that the interpreter executes.
    pub fn interpret(&mut self, instruction: Instruction, registers: &Registers) -> Vec<LlvmValue<'c>> {
        self.interpreted_by(INTERPRET, instruction, registers)
    }

    fn interpreted_by(
        &mut self,
        callback: usize,
        instruction: Instruction,
        registers: &Registers,
    ) -> Vec<LlvmValue<'c>> {
        let data = self.function.instruction(instruction);
        self.put_operands(registers, &data.operands[1..]);
        self.called(callback, data.origin as usize, data.operands[0]);
        self.taken_results(registers, &data.results)
    }

    /// Registers that have not been written are read: the interpreter says which.
    pub fn unwritten(&mut self, instruction: Instruction, registers: &Registers) {
        let data = self.function.instruction(instruction);
        let missing = self.value(data.operands[0]);
        let told = self.f.at(self.frame(), offset_of!(Frame, unwritten));
        self.f.store(missing, told, FRAME);
        self.put_operands(registers, &data.operands[2..]);
        self.called(INTERPRET, data.origin as usize, data.operands[1]);
    }

    /// Calls a function of the simulator's, whose address and first argument are in the frame.
    pub(super) fn call_simulator(&self, callback: usize, arguments: &[LlvmValue<'c>]) -> LlvmValue<'c> {
        let function = Callee::Address(self.field(POINTER, callback));
        let arguments = [&[self.frame()], arguments].concat();
        self.f.call(function, I32, &arguments, &["cold", "nounwind"])
    }
}
