//! What the simulator does.

use std::mem::offset_of;

use gencl_eu::abi::Frame;

use super::{FILE, FRAME, Lowering};
use crate::ir::{I32, I64, POINTER, Ty, Value as LlvmValue};
use crate::middle::function::{Instruction, Value};
use crate::middle::op::Registers;

/// A function of the simulator that code calls.
struct Callback {
    name: &'static str,
    /// Where the frame has its address.
    place: usize,
    /// Bits of arguments behind the frame.
    arguments: &'static [u32],
}

const INTERPRET: Callback =
    Callback { name: "interpret", place: offset_of!(Frame, interpret), arguments: &[32, 32, 32] };
const SEND: Callback = Callback { name: "execute", place: offset_of!(Frame, send), arguments: &[32, 32, 32] };
const FIND: Callback = Callback { name: "find", place: offset_of!(Frame, find_window), arguments: &[32, 64] };

/// The functions that are called rarely.
pub const RARE: [&str; 2] = [SEND.name, FIND.name];

impl Lowering<'_> {
    /// Has the simulator look for the buffer of an address.
    pub fn find(&mut self, window: u32, address: &LlvmValue) {
        self.call_rarely(&FIND, &[LlvmValue::int(I32, window.into()), address.clone()]);
    }

    /// Has the simulator perform a message whose payload is in the register file.
    pub fn send_rarely(&mut self, index: usize, mask: Value) {
        let mask = self.dword_of_mask(mask);
        let arguments = [self.thread.clone(), LlvmValue::int(I32, index as u64), mask];
        let failed = self.call_rarely(&SEND, &arguments);
        self.fault_if(&failed);
    }

    fn fault_if(&mut self, failed: &LlvmValue) {
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

    fn called(&mut self, callback: &Callback, index: usize, mask: Value) {
        let mask = self.dword_of_mask(mask);
        let arguments = [self.thread.clone(), LlvmValue::int(I32, index as u64), mask];
        let function = self.constant(POINTER, callback.place);
        let failed = self.call_with(function.name(), I32, &arguments, "#2");
        self.fault_if(&failed);
    }

    /// A message to an image.
    pub fn image(&mut self, instruction: Instruction, registers: &Registers) -> Vec<LlvmValue> {
        self.interpreted_by(&SEND, instruction, registers)
    }

    /// An instruction that the interpreter executes.
    pub fn interpret(&mut self, instruction: Instruction, registers: &Registers) -> Vec<LlvmValue> {
        self.interpreted_by(&INTERPRET, instruction, registers)
    }

    fn interpreted_by(
        &mut self,
        callback: &Callback,
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
        self.called(&INTERPRET, data.origin as usize, data.operands[1]);
    }

    fn call_rarely(&mut self, callback: &Callback, arguments: &[LlvmValue]) -> LlvmValue {
        let wide: Vec<LlvmValue> = arguments.iter().map(|value| self.f.resize(value, 64, false)).collect();
        self.call_with(&format!("@{}", callback.name), I64, &wide, "#3")
    }

    fn call_with(
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

    /// Writes the functions that rare calls go through: they keep all registers for their callers.
    ///
    /// All of their arguments have 64 bits, and so have results: LLVM 19 takes the rest of a register of which 32 bits are an argument for one that is kept,
    /// and does not keep it.
    pub fn rare_calls(&mut self) {
        let (attributes, before) = self.plan.host.keeping_registers();
        if !before.is_empty() {
            self.module.declare(&format!("void {before}"));
        }
        for Callback { name, place, arguments } in [&SEND, &FIND] {
            let entry = self.f.label();
            self.f.begin(entry);
            let own = |number: usize| LlvmValue::named(I64, &format!("%argument{number}"));
            let types: String =
                (0..arguments.len()).map(|number| format!(", {}", own(number).typed())).collect();
            let arguments: Vec<LlvmValue> = arguments
                .iter()
                .enumerate()
                .map(|(number, bits)| self.f.resize(&own(number), *bits, false))
                .collect();
            let function = self.constant(POINTER, *place);
            if !before.is_empty() {
                self.f.line(&format!("call void {before}"));
            }
            let result = self.call_with(function.name(), I32, &arguments, "#2");
            let result = self.f.resize(&result, 64, false);
            self.f.ret(&result);
            let header = format!("define internal i64 @{name}(ptr %frame{types}) cold nounwind {attributes}");
            self.module.add(std::mem::take(&mut self.f), &header, entry);
        }
    }
}
