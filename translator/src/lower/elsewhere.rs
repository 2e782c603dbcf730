//! What the simulator performs because it is in no window yet, and blocks of bytes, which are at one address.

use std::mem::offset_of;

use gencl_eu::abi::Frame;

use super::memory::mark;
use super::windows::Reach;
use super::{FILE, Lowering};
use crate::analysis::message::{Address, Message};
use crate::analysis::plan::Step;
use crate::ir::{BIT, I32, I64, Ty, Value as LlvmValue};
use crate::middle::function::{Instruction, Value};
use crate::middle::op::{Binary, Space};

impl<'c> Lowering<'_, 'c> {
    /// The lane that is enabled first, of a vector; any if there is none.
    pub(super) fn first_enabled(&mut self, values: LlvmValue<'c>, mask: LlvmValue<'c>) -> LlvmValue<'c> {
        if values.ty.lanes == 1 {
            return values;
        }
        let first = self.f.intrinsic("cttz", &[mask.ty], mask.ty, &[mask, self.f.int(BIT, 0)]);
        let first = self.f.to(first, I64);
        let last = self.f.int(I64, u64::from(values.ty.lanes - 1));
        let first = self.f.binary(Binary::UMin, first, last);
        self.f.element_at(values, first)
    }

    /// Has the simulator perform a message. The next time the window may be the right one.
    pub fn performed_elsewhere(
        &mut self,
        instruction: Instruction,
        reach: Reach<'c>,
        addresses: Value,
        mask: Value,
    ) -> Vec<LlvmValue<'c>> {
        let own = self.value(addresses);
        let mask = self.value(mask);
        let data = self.function.instruction(instruction);
        let index = data.origin as usize;
        let Step::Message(message) = &self.plan.steps[index] else {
            unreachable!("no message is at {index}")
        };
        let mut payload: Vec<(usize, LlvmValue<'c>)> = Vec::new();
        let mut results: Vec<(usize, u32)> = Vec::new();
        match message {
            Message::Lanes(lanes) => {
                payload.push((lanes.addresses, own));
                let slot = lanes.slot as u32 * 8;
                if lanes.write {
                    let first = data.operands.len() - lanes.components.len();
                    for (value, (_, at)) in data.operands[first..].iter().zip(&lanes.components) {
                        let value = self.value(*value);
                        payload.push((*at, self.f.resize(value, slot, false)));
                    }
                } else {
                    results.extend(lanes.components.iter().map(|(_, at)| (*at, slot)));
                }
            }
            Message::Atomic(atomic) => {
                payload.push((atomic.lanes.addresses, own));
                for (value, at) in data.operands[2..].iter().zip(&atomic.sources) {
                    payload.push((*at, self.value(*value)));
                }
                results.extend(
                    atomic.lanes.components.iter().map(|(_, at)| (*at, atomic.lanes.size as u32 * 8)),
                );
            }
            Message::Block(block) => {
                let number = match block.address {
                    Address::Wide(at) => (at, own),
                    Address::Flat { at, unit } => {
                        let number = self.f.udiv(own, unit);
                        (at, self.f.to(number, I32))
                    }
                    Address::Scratch { at, offset } => {
                        let start = self.f.sub(own, self.f.int(own.ty, offset));
                        let general = self.field(I64, offset_of!(Frame, general));
                        let pointer = self.f.sub(start, general);
                        (at, self.f.to(pointer, I32))
                    }
                };
                payload.push(number);
                if block.write {
                    payload.push((block.data, self.value(data.operands[2])));
                } else {
                    results.push((block.data, 0));
                }
            }
            _ => unreachable!("no access is at {index}"),
        }
        for (at, value) in payload {
            let at = self.f.at(self.thread.file, at);
            self.f.store(value, at, FILE);
        }
        self.call_missed(reach.window, index, mask, own);
        let found = results.iter().zip(&data.results).map(|((at, slot), result)| {
            let mut ty = super::llvm(self.function.ty(*result));
            // One value for all is that of each here.
            ty.lanes = if *slot == 0 { ty.lanes } else { self.function.ty(addresses).lanes.into() };
            let wide = if *slot == 0 { ty } else { Ty::int(*slot, ty.lanes) };
            let at = self.f.at(self.thread.file, *at);
            let value = self.f.load(wide, at, FILE);
            self.f.to(value, ty)
        });
        found.collect()
    }

    /// Bytes at one address.
    pub fn block_access(
        &mut self,
        instruction: Instruction,
        space: Space,
        alignment: u8,
        is_write: bool,
    ) -> Vec<LlvmValue<'c>> {
        let data = self.function.instruction(instruction);
        let mut address = self.value(data.operands[1]);
        if space == Space::Scratch {
            let general = self.field(I64, offset_of!(Frame, general));
            address = self.f.add(general, address);
        }
        let reach = self.reach(space, None, alignment);
        let mut ways = self.ways();
        let distance = self.distance(reach, address);
        let offset = self.offset(reach, distance);
        let ty = match is_write {
            true => super::llvm(self.function.ty(data.operands[2])),
            false => super::llvm(self.function.ty(data.results[0])),
        };
        let inside = self.inside(reach, offset, ty.bytes());
        let aligned = self.aligned(distance, alignment);
        let holds = self.both(inside, aligned);
        let here = self.f.label();
        self.f.branch_likely(holds, here, ways.outside);
        self.f.begin(here);
        let at = self.f.offset(reach.host, offset);
        let how = mark(alignment.min(4), space);
        let found = if is_write {
            let value = self.value(data.operands[2]);
            self.f.store(value, at, how);
            Vec::new()
        } else {
            vec![self.f.load(ty, at, how)]
        };
        self.add_way(&mut ways, found);
        self.f.begin(ways.outside);
        let own = data.operands[1];
        let before = self.values.insert(own, address);
        let found = self.performed_elsewhere(instruction, reach, own, data.operands[0]);
        match before {
            Some(value) => self.values.insert(own, value),
            None => self.values.remove(&own),
        };
        self.add_way(&mut ways, found);
        self.joined(ways)
    }
}
