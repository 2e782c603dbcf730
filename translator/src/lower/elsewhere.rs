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
use crate::middle::op::Space;

impl Lowering<'_> {
    /// The lane that is enabled first, of a vector; any if there is none.
    pub(super) fn first_enabled(&mut self, values: &LlvmValue, mask: &LlvmValue) -> LlvmValue {
        if values.ty.lanes == 1 {
            return values.clone();
        }
        let suffix = format!(".{}", mask.ty.mangled());
        let first = self.f.intrinsic("cttz", &suffix, mask.ty, &[mask, &LlvmValue::int(BIT, 0)]);
        let first = self.f.convert("zext", &first, I64);
        let last = LlvmValue::int(I64, u64::from(values.ty.lanes - 1));
        let first = self.f.intrinsic("umin", ".i64", I64, &[&first, &last]);
        let text = format!("extractelement {}, {}", values.typed(), first.typed());
        self.f.value(Ty { lanes: 1, ..values.ty }, &text)
    }

    /// Has the simulator perform a message. The next time the window may be the right one.
    pub fn performed_elsewhere(
        &mut self,
        instruction: Instruction,
        reach: &Reach,
        addresses: Value,
        mask: Value,
    ) -> Vec<LlvmValue> {
        let own = self.value(addresses);
        let mask = self.value(mask);
        let data = self.function.instruction(instruction);
        let index = data.origin as usize;
        let Step::Message(message) = &self.plan.steps[index] else {
            unreachable!("no message is at {index}")
        };
        let mut payload: Vec<(usize, LlvmValue)> = Vec::new();
        let mut results: Vec<(usize, u32)> = Vec::new();
        match message {
            Message::Lanes(lanes) => {
                payload.push((lanes.addresses, own.clone()));
                let slot = lanes.slot as u32 * 8;
                if lanes.write {
                    let first = data.operands.len() - lanes.components.len();
                    for (value, (_, at)) in data.operands[first..].iter().zip(&lanes.components) {
                        let value = self.value(*value);
                        payload.push((*at, self.f.resize(&value, slot, false)));
                    }
                } else {
                    results.extend(lanes.components.iter().map(|(_, at)| (*at, slot)));
                }
            }
            Message::Atomic(atomic) => {
                payload.push((atomic.lanes.addresses, own.clone()));
                for (value, at) in data.operands[2..].iter().zip(&atomic.sources) {
                    payload.push((*at, self.value(*value)));
                }
                results.extend(
                    atomic.lanes.components.iter().map(|(_, at)| (*at, atomic.lanes.size as u32 * 8)),
                );
            }
            Message::Block(block) => {
                let number = match block.address {
                    Address::Wide(at) => (at, own.clone()),
                    Address::Flat { at, unit } => {
                        let number = self.f.binary("udiv", &own, &LlvmValue::int(own.ty, unit));
                        (at, self.f.convert("trunc", &number, I32))
                    }
                    Address::Scratch { at, offset } => {
                        let start = self.f.binary("sub", &own, &LlvmValue::int(own.ty, offset));
                        let general = self.constant(I64, offset_of!(Frame, general));
                        let pointer = self.f.binary("sub", &start, &general);
                        (at, self.f.convert("trunc", &pointer, I32))
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
            let at = self.f.at(&self.file.clone(), at);
            self.f.store(&value, &at, FILE);
        }
        self.call_missed(reach, index, &mask, &own);
        let found = results.iter().zip(&data.results).map(|((at, slot), result)| {
            let mut ty = super::llvm(self.function.ty(*result));
            // One value for all is that of each here.
            ty.lanes = if *slot == 0 { ty.lanes } else { self.function.ty(addresses).lanes.into() };
            let wide = if *slot == 0 { ty } else { Ty::int(*slot, ty.lanes) };
            let at = self.f.at(&self.file.clone(), *at);
            let value = self.f.load(wide, &at, FILE);
            self.f.convert("trunc", &value, ty)
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
    ) -> Vec<LlvmValue> {
        let data = self.function.instruction(instruction);
        let mut address = self.value(data.operands[1]);
        if space == Space::Scratch {
            let general = self.constant(I64, offset_of!(Frame, general));
            address = self.f.binary("add", &general, &address);
        }
        let reach = self.reach(space, None, alignment);
        let mut ways = self.ways();
        let distance = self.distance(&reach, &address);
        let offset = self.offset(&reach, &distance);
        let ty = match is_write {
            true => super::llvm(self.function.ty(data.operands[2])),
            false => super::llvm(self.function.ty(data.results[0])),
        };
        let inside = self.inside(&reach, &offset, (ty.scalar.bits() * ty.lanes / 8) as usize);
        let aligned = self.aligned(&distance, alignment);
        let holds = self.both(&inside, aligned);
        let here = self.f.label();
        self.f.branch_likely(&holds, here, ways.outside);
        self.f.begin(here);
        let at = self.f.offset(&reach.host, &offset);
        let how = format!("align {}, {}", alignment.min(4), mark(space));
        let found = if is_write {
            let value = self.value(data.operands[2]);
            self.f.store(&value, &at, &how);
            Vec::new()
        } else {
            vec![self.f.load(ty, &at, &how)]
        };
        self.add_way(&mut ways, found);
        self.f.begin(ways.outside);
        let own = data.operands[1];
        let before = self.values.insert(own, address);
        let found = self.performed_elsewhere(instruction, &reach, own, data.operands[0]);
        match before {
            Some(value) => self.values.insert(own, value),
            None => self.values.remove(&own),
        };
        self.add_way(&mut ways, found);
        self.joined(ways)
    }
}
