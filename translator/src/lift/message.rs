//! Messages, and instructions that the interpreter executes.

use gencl_eu::abi::Interpreted;

use super::Lift;
use super::registers::bytes_of;
use crate::analysis::message::{Address, Atomic, Block, Image, Lanes};
use crate::middle::function::Value;
use crate::middle::op::{Access, Binary, Op, Registers, Space};
use crate::middle::types::Type;

/// The bits of the header's dword that are the scratch pointer.
const SCRATCH_POINTER: u64 = !0x3ff;

impl Lift<'_> {
    pub(super) fn operand(&mut self, index: usize, number: usize) -> Value {
        self.read_access(index, number).unwrap_or(Value(0))
    }

    /// A message with an address for each lane.
    pub fn lanes(&mut self, index: usize, message: &Lanes) {
        let mask = self.mask(index);
        let addresses = self.operand(index, 0);
        let access = Box::new(Access::new(message.space, message.elements));
        let (bits, slot) =
            (u32::from(message.elements.size) * 8, message.elements.register_size() as u32 * 8);
        let count = message.elements.count();
        if message.write {
            let data = (0..count).map(|k| {
                let data = self.operand(index, k + 1);
                self.builder.resize(data, bits, false)
            });
            let operands: Vec<Value> =
                [mask, addresses].into_iter().chain(data.collect::<Vec<_>>()).collect();
            self.builder.effect(Op::Store(access), &operands, &[]);
            return;
        }
        let ty = Type::int(bits, self.plan.ops[index].lanes.into());
        let found = self.builder.effect(Op::Load(access), &[mask, addresses], &vec![ty; count]);
        for (k, value) in found.into_iter().enumerate() {
            let value = self.builder.resize(value, slot, false);
            self.write_elements(index, k, value, Some(mask));
        }
    }

    /// A message that moves bytes at one address.
    pub fn data_block(&mut self, index: usize, message: &Block) {
        let number = self.operand(index, 0);
        let (space, address) = match message.address {
            Address::Wide(_) => (Space::Global, self.as_elements(number, 8)),
            Address::Flat { unit, .. } => {
                let number = self.as_elements(number, 4);
                let number = self.builder.resize(number, 64, false);
                let unit = self.builder.int(Type::int(64, 1), unit);
                (Space::Global, self.builder.binary(Binary::Mul, number, unit))
            }
            Address::Scratch { offset, .. } => {
                let pointer = self.as_elements(number, 4);
                let counted = self.builder.int(Type::int(32, 1), SCRATCH_POINTER);
                let pointer = self.builder.binary(Binary::And, pointer, counted);
                let pointer = self.builder.resize(pointer, 64, false);
                let offset = self.builder.int(Type::int(64, 1), offset);
                (Space::Scratch, self.builder.binary(Binary::Add, pointer, offset))
            }
        };
        let alignment = message.alignment as u8;
        let mask = self.mask(index);
        if message.write {
            let data = self.operand(index, 1);
            let data = self.builder.bitcast(data, bytes_of(message.bytes));
            self.builder.effect(Op::StoreBlock(space, alignment), &[mask, address, data], &[]);
        } else {
            let data = self.builder.effect(
                Op::LoadBlock(space, alignment),
                &[mask, address],
                &[bytes_of(message.bytes)],
            )[0];
            self.write_elements(index, 0, data, None);
        }
    }

    /// An atomic operation.
    pub fn atomic(&mut self, index: usize, message: &Atomic) {
        let mask = self.mask(index);
        let lanes = &message.lanes;
        let addresses = self.operand(index, 0);
        let sources = (0..message.sources.len()).map(|k| self.operand(index, k + 1)).collect::<Vec<_>>();
        let operands: Vec<Value> = [mask, addresses].into_iter().chain(sources).collect();
        let size = lanes.elements.size;
        let ty = Type::int(u32::from(size) * 8, self.plan.ops[index].lanes.into());
        let op = Op::Atomic(message.operation, lanes.space, size);
        let answers = self.builder.effect(op, &operands, &vec![ty; lanes.elements.count()]);
        for (k, value) in answers.into_iter().enumerate() {
            self.write_elements(index, k, value, Some(mask));
        }
    }

    /// A message to an image, which the simulator performs.
    pub fn image_elsewhere(&mut self, index: usize, message: &Image) {
        let lanes = usize::from(self.plan.ops[index].lanes);
        let mask = self.mask(index);
        let mut registers = Registers { operands: Vec::new(), results: Vec::new() };
        let mut operands = vec![mask];
        for number in 0..self.plan.effects[index].uses.len() {
            self.add_operand(index, number, &mut registers, &mut operands);
        }
        registers.results = message.results.iter().map(|at| *at as u16).collect();
        let results = vec![Type::int(message.size as u32 * 8, lanes); message.results.len()];
        let found = self.builder.effect(Op::Image(Box::new(registers)), &operands, &results);
        for (k, value) in found.into_iter().enumerate() {
            self.write_elements(index, k, value, Some(mask));
        }
    }

    /// What an instruction reads, and where the interpreter finds it.
    fn add_operand(
        &mut self,
        index: usize,
        number: usize,
        registers: &mut Registers,
        operands: &mut Vec<Value>,
    ) {
        let Some(access) = self.plan.effects[index].uses[number].clone() else { return };
        if self.variables.is_none() {
            return;
        }
        registers.operands.push(access.extent().0 as u16);
        operands.push(self.operand(index, number));
    }

    /// Has the interpreter execute an instruction.
    pub fn interpret(&mut self, index: usize, reason: &str) {
        self.interpreted.push(Interpreted { instruction: index as u32, reason: reason.to_owned() });
        let mut registers = Registers { operands: Vec::new(), results: Vec::new() };
        let mut operands = vec![self.active()];
        let mut types = Vec::new();
        for (flags, at) in self.flag_operands() {
            operands.push(flags);
            registers.operands.push(at);
            registers.results.push(at);
            types.push(Type::int(32, 1));
        }
        for number in 0..self.plan.effects[index].uses.len() {
            self.add_operand(index, number, &mut registers, &mut operands);
        }
        let definitions =
            if self.variables.is_some() { self.plan.effects[index].definitions.len() } else { 0 };
        for definition in &self.plan.effects[index].definitions[..definitions] {
            let (start, end) = definition.access.extent();
            registers.results.push(start as u16);
            types.push(bytes_of(end - start));
        }
        let found = self.builder.effect(Op::Interpret(Box::new(registers)), &operands, &types);
        for (register, bits) in found[..2].iter().enumerate() {
            let flags = self.builder.as_mask(*bits);
            self.write_flags(register * 32, flags);
        }
        for (k, value) in found[2..].iter().enumerate() {
            self.write_elements(index, k, *value, None);
        }
    }
}
