//! Instructions that the interpreter executes.

use std::mem::offset_of;

use gencl_simulator::eu::file::FLAG;
use gencl_simulator::translated::abi::{Frame, Interpreted};

use super::{CONSTANT, Emitter, FILE};
use crate::access::Access;
use crate::ir::{I32, POINTER, Ty, Value};

impl Emitter<'_> {
    /// Has the interpreter execute an instruction.
    pub(super) fn interpret(&mut self, index: usize, reason: &str) {
        self.interpreted.push(Interpreted { instruction: index as u32, reason: reason.to_owned() });
        self.store_operands(index, None);
        self.execute(index);
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

    /// Takes the flags from the register file.
    pub(super) fn load_flags(&mut self) {
        for (k, flags) in self.flags.clone().iter().enumerate() {
            let at = self.f.at(&self.file.clone(), FLAG + 4 * k);
            let value = self.f.load(I32, &at, FILE);
            self.f.store(&value, flags, FILE);
        }
    }

    /// Copies what an instruction reads, and what it may leave as it is, to the register file; `first` is its first operand, where that is known.
    pub(super) fn store_operands(&mut self, index: usize, first: Option<&Value>) {
        for (k, flags) in self.flags.clone().iter().enumerate() {
            let value = self.f.load(I32, flags, FILE);
            let at = self.f.at(&self.file.clone(), FLAG + 4 * k);
            self.f.store(&value, &at, FILE);
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
    pub(super) fn execute(&mut self, index: usize) {
        let function = self.constant(POINTER, offset_of!(Frame, execute));
        let place = self.active.clone();
        let active = self.dword(&place);
        let arguments =
            format!("{}, {}, i32 {index}, {}", self.frame.typed(), self.thread.typed(), active.typed());
        let failed = self.f.value(I32, &format!("call i32 {}({arguments}) #2", function.name()));
        let right = self.f.compare("icmp eq", &failed, &Value::int(I32, 0));
        let on = self.f.label();
        self.f.branch_likely(&right, on, self.fault);
        self.f.begin(on);
    }

    /// Has the simulator look for the buffer of an address.
    pub(super) fn find(&mut self, window: u32, address: &Value) {
        let at = self.f.at(&self.frame.clone(), offset_of!(Frame, find));
        let function = self.f.load(POINTER, &at, CONSTANT);
        let arguments = format!("{}, i32 {window}, {}", self.frame.typed(), address.typed());
        self.f.value(I32, &format!("call i32 {}({arguments}) #2", function.name()));
    }
}
