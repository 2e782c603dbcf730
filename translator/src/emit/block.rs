//! Messages that move a block of bytes at one address.

use std::mem::offset_of;

use gencl_eu::abi::Frame;

use super::memory::{Ways, mark};
use super::{Emitter, FILE};
use crate::ir::{I32, I64, Ty, Value};
use crate::message::{Address, Block, Memory};

/// The bits of the header's dword that are the scratch pointer.
const SCRATCH_POINTER: u64 = !0x3ff;

impl Emitter<'_> {
    /// Writes a message that moves bytes at one address.
    pub(super) fn data_block(&mut self, index: usize, message: &Block) {
        let window = match message.address {
            Address::Scratch { .. } => self.window_of_scratch(),
            _ => self.next_window(),
        };
        let reach = self.reach_of(window);
        let address = self.block_address(index, message.address);
        let offset = self.f.binary("sub", &address, &reach.start);
        let inside = self.inside(&reach, &offset, message.bytes);
        let aligned = self.aligned(&address, message.alignment);
        let holds = self.both(&inside, aligned.as_ref());
        let (here, outside) = (self.f.label(), self.f.label());
        let mut ways = Ways::new(self.f.label());
        self.f.branch_likely(&holds, here, outside);
        self.f.begin(here);
        let at = self.f.offset(&reach.host, &offset);
        let ty = Ty::int(32, message.bytes as u32 / 4);
        let how = format!("align 4, {}", mark(Memory::Global));
        let mut values = Vec::new();
        if message.write {
            let place = self.use_place(index, 1);
            let data = self.f.load(ty, &place, FILE);
            self.f.store(&data, &at, &how);
        } else {
            values.push(self.f.load(ty, &at, &how));
        }
        ways.add(self, values);
        self.f.begin(outside);
        self.find(window, &address);
        self.store_operands(index, None);
        self.execute_rarely(index);
        let mut values = Vec::new();
        if !message.write {
            let at = self.f.at(&self.file.clone(), message.data);
            values.push(self.f.load(ty, &at, FILE));
        }
        ways.add(self, values);
        self.f.begin(ways.join);
        for value in self.joined(&ways) {
            let place = self.definition_place(index, 0);
            self.f.store(&value, &place, FILE);
        }
    }

    /// Where the thread's scratch memory begins, by its header's dword.
    pub(super) fn start_of_scratch(&mut self, pointer: &Value) -> Value {
        let pointer = self.f.binary("and", pointer, &Value::int(I32, SCRATCH_POINTER));
        let pointer = self.f.resize(&pointer, 64, false);
        let general = self.constant(I64, offset_of!(Frame, general));
        self.f.binary("add", &general, &pointer)
    }

    /// The window of scratch memory: all spilled registers are in one buffer.
    pub(super) fn window_of_scratch(&mut self) -> u32 {
        let window = self.scratch_window.unwrap_or_else(|| self.next_window());
        self.scratch_window = Some(window);
        window
    }

    /// The address of a block.
    fn block_address(&mut self, index: usize, address: Address) -> Value {
        let place = self.use_place(index, 0);
        match address {
            Address::Wide(_) => self.f.load(I64, &place, FILE),
            Address::Flat { unit, .. } => {
                let number = self.f.load(I32, &place, FILE);
                let number = self.f.resize(&number, 64, false);
                self.f.binary("mul", &number, &Value::int(I64, unit))
            }
            Address::Scratch { offset, .. } => {
                let pointer = self.f.load(I32, &place, FILE);
                let start = self.start_of_scratch(&pointer);
                self.f.binary("add", &start, &Value::int(I64, offset))
            }
        }
    }
}
