//! Instructions that the interpreter executes.

use std::mem::offset_of;

use gencl_eu::abi::{Frame, Interpreted};
use gencl_eu::file::FLAG;

use super::{Emitter, FILE};
use crate::access::Access;
use crate::ir::{I32, I64, POINTER, Ty, Value};
use crate::message::Image;
use crate::plan::Step;

impl Emitter<'_> {
    /// Has the interpreter execute an instruction.
    pub(super) fn interpret(&mut self, index: usize, reason: &str) {
        self.interpreted.push(Interpreted { instruction: index as u32, reason: reason.to_owned() });
        self.store_operands(index, None);
        self.execute(index, Call::Usual);
        self.load_flags();
        if self.plan.in_memory {
            return;
        }
        let plan = self.plan;
        for (k, definition) in plan.effects[index].definitions.iter().enumerate() {
            let place = self.definition_place(index, k);
            self.copy_access(&definition.access, &place, false);
        }
    }

    /// Has the simulator perform a message to an image.
    pub(super) fn image(&mut self, index: usize, message: &Image) {
        let lanes = u32::from(self.plan.ops[index].lanes);
        let mask = self.mask(index);
        self.store_operands(index, None);
        let enabled = mask.clone().unwrap_or(Value::int(Ty::int(lanes, 1), u64::MAX));
        let enabled = self.f.resize(&enabled, 32, false);
        let arguments = [self.thread.clone(), Value::int(I32, index as u64), enabled];
        self.call_or_fault(&SEND, Call::Usual, &arguments);
        for (number, at) in message.results.iter().enumerate() {
            let at = self.f.at(&self.file.clone(), *at);
            let value = self.f.load(Ty::int(message.size as u32 * 8, lanes), &at, FILE);
            self.write(index, number, &value, mask.as_ref());
        }
    }

    /// Takes the flags from the register file.
    pub(super) fn load_flags(&mut self) {
        for (k, flags) in self.flags.clone().iter().enumerate() {
            let at = self.f.at(&self.file.clone(), FLAG + 4 * k);
            let value = self.f.load(I32, &at, FILE);
            self.f.store(&value, flags, FILE);
        }
    }

    /// Copies the flags to the register file.
    pub(super) fn store_flags(&mut self) {
        for (k, flags) in self.flags.clone().iter().enumerate() {
            let value = self.f.load(I32, flags, FILE);
            let at = self.f.at(&self.file.clone(), FLAG + 4 * k);
            self.f.store(&value, &at, FILE);
        }
    }

    /// Copies what an instruction reads, and what it may leave as it is, to the register file; `first` is its first operand, where that is known.
    pub(super) fn store_operands(&mut self, index: usize, first: Option<&Value>) {
        let op = &self.plan.ops[index];
        // A message that is not predicated neither reads nor writes flags.
        if op.predicate.is_some() || !matches!(self.plan.steps[index], Step::Message(_)) {
            self.store_flags();
        }
        if self.plan.in_memory {
            return;
        }
        let plan = self.plan;
        for (k, access) in plan.effects[index].uses.iter().enumerate() {
            let Some(access) = access else { continue };
            if let (0, Some(value)) = (k, first) {
                let file = self.f.at(&self.file.clone(), access.extent().0);
                self.f.store(value, &file, FILE);
                continue;
            }
            if let Some((first, step)) = self.affine_use(index, k) {
                let value = self.steps_from(&first, step, access.at.len() as u32);
                let file = self.f.at(&self.file.clone(), access.extent().0);
                self.f.store(&value, &file, FILE);
            } else {
                let place = self.use_place(index, k);
                self.copy_access(access, &place, true);
            }
        }
    }

    /// Copies the bytes of an access between its variable and the register file.
    fn copy_access(&mut self, access: &Access, place: &Value, save: bool) {
        let (start, end) = access.extent();
        let bytes = (end - start) as u32;
        let ty = if bytes.is_multiple_of(4) { Ty::int(32, bytes / 4) } else { Ty::int(8, bytes) };
        let file = self.f.at(&self.file.clone(), start);
        let (from, to) = if save { (place, &file) } else { (&file, place) };
        let value = self.f.load(ty, from, FILE);
        self.f.store(&value, to, FILE);
    }

    /// Calls the interpreter for an instruction whose operands are in the register file.
    fn execute(&mut self, index: usize, call: Call) {
        let active = self.active.clone();
        let active = self.dword(&active);
        let arguments = [self.thread.clone(), Value::int(I32, index as u64), active];
        self.call_or_fault(&EXECUTE, call, &arguments);
    }

    /// Calls a function that returns 0, or a fault of the thread.
    fn call_or_fault(&mut self, callback: &Callback, call: Call, arguments: &[Value]) {
        let failed = self.call(callback, call, arguments);
        let right = self.f.compare("icmp eq", &failed, &Value::int(failed.ty, 0));
        let on = self.f.label();
        self.f.branch_likely(&right, on, self.fault);
        self.f.begin(on);
    }

    /// Calls the interpreter for a message that is rarely its own.
    pub(super) fn execute_rarely(&mut self, index: usize) {
        self.execute(index, Call::Rare);
    }

    /// Has the simulator look for the buffer of an address.
    pub(super) fn find(&mut self, window: u32, address: &Value) {
        self.call(&FIND, Call::Rare, &[Value::int(I32, window.into()), address.clone()]);
    }

    fn call(&mut self, callback: &Callback, call: Call, arguments: &[Value]) -> Value {
        match call {
            Call::Usual => {
                let function = self.constant(POINTER, callback.place);
                self.call_with(function.name(), I32, arguments, "#2")
            }
            Call::Rare => {
                let wide: Vec<Value> =
                    arguments.iter().map(|value| self.f.resize(value, 64, false)).collect();
                self.call_with(&format!("@{}", callback.name), I64, &wide, "#3")
            }
        }
    }

    fn call_with(&mut self, function: &str, result: Ty, arguments: &[Value], attributes: &str) -> Value {
        let arguments: String = arguments.iter().map(|value| format!(", {}", value.typed())).collect();
        let text =
            format!("call {} {function}({}{arguments}) {attributes}", result.text(), self.frame.typed());
        self.f.value(result, &text)
    }

    /// Writes the functions that rare calls go through: they keep all registers for their callers.
    ///
    /// All of their arguments have 64 bits, and so have results: LLVM 19 takes the rest of a register of which 32 bits are an argument for one that is kept,
    /// and does not keep it.
    pub(super) fn rare_calls(&mut self) {
        let (attributes, before) = self.plan.host.keeping_registers();
        if !before.is_empty() {
            self.module.declare(&format!("void {before}"));
        }
        for Callback { name, place, arguments } in [&EXECUTE, &FIND] {
            let entry = self.f.label();
            self.f.begin(entry);
            let own = |number: usize| Value::named(I64, &format!("%argument{number}"));
            let types: String =
                (0..arguments.len()).map(|number| format!(", {}", own(number).typed())).collect();
            let arguments: Vec<Value> = arguments
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

/// How likely a call is.
#[derive(Clone, Copy)]
enum Call {
    /// Each time.
    Usual,
    /// Where nothing is as it mostly is: all registers stay what they are, so that nothing else has to be in memory for the sake of the call.
    Rare,
}

/// A function of the simulator that code calls.
struct Callback {
    name: &'static str,
    /// Where the frame has its address.
    place: usize,
    /// Bits of arguments behind the frame.
    arguments: &'static [u32],
}

/// The functions that rare calls go through: blocks that call them are rarely executed.
pub const RARE: [&str; 2] = [EXECUTE.name, FIND.name];

const EXECUTE: Callback =
    Callback { name: "execute", place: offset_of!(Frame, interpret), arguments: &[32, 32, 32] };

const SEND: Callback = Callback { name: "send", place: offset_of!(Frame, send), arguments: &[32, 32, 32] };

const FIND: Callback = Callback { name: "find", place: offset_of!(Frame, find_window), arguments: &[32, 64] };
