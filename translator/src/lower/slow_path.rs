//! The slow path of accesses: the simulator performs the message, after it has looked for the buffer.

use std::mem::offset_of;

use gencl_eu::abi::Frame;

use super::memory::Addresses;
use super::{FILE, Lowering, llvm};
use crate::analysis::message::{Address, Message};
use crate::analysis::plan::Step;
use crate::ir::{BIT, I32, I64, Ty, Value as LlvmValue};
use crate::middle::function::Instruction;
use crate::middle::op::Binary;

impl<'c> Lowering<'_, 'c> {
    /// The element of the first enabled lane; any if no lane is.
    pub(super) fn first_enabled(&self, values: LlvmValue<'c>, mask: LlvmValue<'c>) -> LlvmValue<'c> {
        if values.ty.lanes == 1 {
            return values;
        }
        let first = self.f.intrinsic("cttz", &[mask.ty], mask.ty, &[mask, self.f.int(BIT, 0)]);
        let last = self.f.int(I64, u64::from(values.ty.lanes - 1));
        self.f.element_at(values, self.f.binary(Binary::UMin, self.f.to(first, I64), last))
    }

    /// Stores the payload of a message in the register file, calls an out-of-line function that performs it, and loads its results from there.
    /// The window may be another one afterwards.
    pub(super) fn slow_path(
        &mut self,
        instruction: Instruction,
        window: Option<u32>,
        addresses: &Addresses<'_, 'c>,
    ) -> Vec<LlvmValue<'c>> {
        let data = self.function.instruction(instruction);
        let index = data.origin as usize;
        let Step::Message(message) = &self.plan.steps[index] else {
            unreachable!("no message is at {index}")
        };
        let mask = self.value(data.operands[0]);
        let lanes = self.function.ty(data.operands[1]).lanes.into();
        let stored = match addresses {
            Addresses::Each(all) => Some(*all),
            Addresses::Row(_, _, all) => *all,
        };
        let mut payload: Vec<(usize, LlvmValue<'c>)> = Vec::new();
        let mut results: Vec<(usize, Ty)> = Vec::new();
        match message {
            Message::Lanes(own) => {
                payload.extend(stored.map(|all| (own.addresses, all)));
                let (slot, count) = (own.elements.register_size() as u32 * 8, own.elements.count());
                if own.write {
                    let written = &data.operands[data.operands.len() - count..];
                    for (value, at) in written.iter().zip(own.places()) {
                        let value = self.value(*value);
                        payload.push((at, self.f.resize(value, slot, false)));
                    }
                } else {
                    results.extend(own.places().map(|at| (at, Ty::int(slot, lanes))));
                }
            }
            Message::Atomic(own) => {
                payload.extend(stored.map(|all| (own.lanes.addresses, all)));
                for (value, at) in data.operands[2..].iter().zip(&own.sources) {
                    payload.push((*at, self.value(*value)));
                }
                let ty = Ty::int(u32::from(own.lanes.elements.size) * 8, lanes);
                results.extend(own.lanes.places().map(|at| (at, ty)));
            }
            Message::Block(own) => {
                payload.extend(stored.map(|address| match own.address {
                    Address::Wide(at) => (at, address),
                    Address::Flat { at, unit } => (at, self.f.to(self.f.udiv(address, unit), I32)),
                    Address::Scratch { at, offset } => {
                        let start = self.f.sub(address, self.f.int(I64, offset));
                        let general = self.field(I64, offset_of!(Frame, general));
                        (at, self.f.to(self.f.sub(start, general), I32))
                    }
                }));
                match data.results.first() {
                    Some(result) => results.push((own.data, llvm(self.function.ty(*result)))),
                    None => payload.push((own.data, self.value(data.operands[2]))),
                }
            }
            _ => unreachable!("no access is at {index}"),
        }
        for (at, value) in payload {
            self.f.store(value, self.f.at(self.thread.file, at), FILE);
        }
        let call = [self.thread.number, self.f.int(I32, index as u64), mask];
        let failed = match (addresses, message) {
            (Addresses::Row(site, first, all), Message::Lanes(own)) => {
                self.call_partial_row(site, own, *first, all.is_none(), &call)
            }
            (Addresses::Each(all) | Addresses::Row(_, all, _), _) => {
                self.call_missed(window, &call, *all, mask)
            }
        };
        self.fault_if(failed);
        if let Some(window) = window {
            self.copy_again(window);
        }
        let found = results.iter().zip(&data.results).map(|((at, ty), result)| {
            let value = self.f.load(*ty, self.f.at(self.thread.file, *at), FILE);
            self.f.to(value, llvm(self.function.ty(*result)))
        });
        found.collect()
    }
}
