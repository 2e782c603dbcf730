//! What accesses rarely do, in functions of the module. Each is there once for all accesses that do the same, and keeps all
//! registers for its callers: LLVM has little to do for ways that are not taken.

use std::mem::offset_of;

use gencl_eu::abi::Frame;

use super::memory::Site;
use super::windows::{KNOWN, Reach};
use super::{FILE, Lowering};
use crate::analysis::message::Message;
use crate::analysis::plan::Step;
use crate::ir::{BIT, I32, I64, Label, POINTER, Ty, Value as LlvmValue};
use crate::middle::function::{Constant, Instruction};
use crate::middle::op::{Access, Addressing};

/// The name of the function that looks for a window and then has the simulator perform a message.
const MISSED: &str = "missed";
/// The name of the function that only has the simulator do that.
const SENT: &str = "sent";
/// The name of the function that has the simulator look whether the thread may go on.
const LOOKED: &str = "looked";
/// The name of the functions for rows that are not all inside.
const PARTIAL: &str = "partial";

/// What a function for rows does.
#[derive(Clone, PartialEq, Eq)]
pub struct PartialRow {
    /// Without a stride if addresses are in the register file.
    access: Access,
    lanes: u32,
    is_write: bool,
    window: Option<u32>,
    /// The type of an address.
    address: Ty,
    /// Bits of a component in the register file.
    slot: u32,
}

/// The number of a function, of which there is one for all accesses that do the same.
pub(super) fn number_of<T: PartialEq>(all: &mut Vec<T>, own: T) -> usize {
    all.iter().position(|other| *other == own).unwrap_or_else(|| {
        all.push(own);
        all.len() - 1
    })
}

impl Lowering<'_> {
    /// Has the simulator look for the buffer of an address and then perform a message whose payload is in the register file.
    pub(super) fn call_missed(
        &mut self,
        reach: &Reach,
        index: usize,
        mask: &LlvmValue,
        addresses: &LlvmValue,
    ) {
        let own = [self.thread.clone(), LlvmValue::int(I32, index as u64), mask.clone()];
        let found = self.windows.found();
        let failed = self.missed(reach.window, &found, &own, addresses, mask);
        self.performed(&failed, reach.window);
    }

    /// Has the simulator look whether the thread, which is at an instruction, may go on.
    pub(super) fn call_look(&mut self, index: u32) {
        let own = [self.thread.clone(), LlvmValue::int(I32, index.into())];
        let failed = self.call_rarely(LOOKED, &own);
        self.fault_if(&failed);
    }

    /// What is behind a message that the simulator may have performed.
    fn performed(&mut self, failed: &LlvmValue, window: Option<u32>) {
        self.fault_if(failed);
        if let Some(window) = window {
            self.take_again(window);
        }
    }

    /// Calls the function that does so: the first enabled lane's address is the one that is looked for.
    fn missed(
        &mut self,
        window: Option<u32>,
        found: &LlvmValue,
        message: &[LlvmValue],
        addresses: &LlvmValue,
        enabled: &LlvmValue,
    ) -> LlvmValue {
        match window {
            None => self.call_rarely(SENT, message),
            Some(window) => {
                let address = self.first_enabled(addresses, enabled);
                let mut own = vec![found.clone(), LlvmValue::int(I64, window.into()), address];
                own.extend_from_slice(message);
                self.call_rarely(MISSED, &own)
            }
        }
    }

    /// All arguments have 64 bits: LLVM 19 takes the rest of a register of which 32 bits are an argument for one that is kept, and does not keep it. The
    /// result has one, as wider ones are lost in baseline code (`faults`).
    fn call_rarely(&mut self, name: &str, arguments: &[LlvmValue]) -> LlvmValue {
        let wide: Vec<LlvmValue> = arguments
            .iter()
            .map(|value| if value.ty == POINTER { value.clone() } else { self.f.resize(value, 64, false) })
            .collect();
        self.call_with(&format!("@{name}"), BIT, &wide, "#3")
    }

    /// A row that is not all inside, or whose stride does not hold: the enabled lanes may be, or the simulator performs the message.
    pub(super) fn missed_row(
        &mut self,
        instruction: Instruction,
        site: &Site<'_>,
        first: &LlvmValue,
    ) -> Vec<LlvmValue> {
        let data = self.function.instruction(instruction);
        let index = data.origin as usize;
        let Step::Message(Message::Lanes(message)) = &self.plan.steps[index] else {
            unreachable!("no row is at {index}")
        };
        let file = self.file.clone();
        let addresses = self.f.at(&file, message.addresses);
        let places: Vec<LlvmValue> = message.components.iter().map(|(_, at)| self.f.at(&file, *at)).collect();
        // Where the stride is known to hold, the function computes the addresses.
        let holds = self.function.as_constant(data.operands[3]) == Some(&Constant::All(1));
        if !holds {
            let all = self.value(data.operands[1]);
            self.f.store(&all, &addresses, FILE);
        }
        let slot = message.slot as u32 * 8;
        for (value, at) in site.data.iter().zip(&places) {
            let value = self.f.resize(value, slot, false);
            self.f.store(&value, at, FILE);
        }
        let addressing = if holds { site.access.addressing } else { Addressing::Varying };
        let row = PartialRow {
            access: Access { addressing, ..site.access.clone() },
            lanes: site.lanes,
            is_write: site.is_write,
            window: site.reach.window,
            address: first.ty,
            slot,
        };
        let number = number_of(&mut self.partial_rows, row);
        let mut arguments = vec![
            self.windows.found(),
            self.thread.clone(),
            LlvmValue::int(I32, index as u64),
            site.enabled.clone(),
            first.clone(),
            addresses,
        ];
        arguments.extend(places.iter().cloned());
        let failed = self.call_rarely(&format!("{PARTIAL}{number}"), &arguments);
        self.performed(&failed, site.reach.window);
        if site.is_write {
            return Vec::new();
        }
        let found = places.iter().map(|at| {
            let wide = self.f.load(Ty::int(slot, site.lanes), at, FILE);
            self.f.resize(&wide, u32::from(site.access.size) * 8, false)
        });
        found.collect()
    }

    /// Writes all functions that are called rarely.
    pub(super) fn rare_functions(&mut self) {
        let (_, before) = self.plan.host.keeping_registers();
        if !before.is_empty() {
            self.module.declare(&format!("void {before}"));
        }
        for (number, row) in std::mem::take(&mut self.partial_rows).into_iter().enumerate() {
            self.partial_row(number, &row);
        }
        self.callback_function(LOOKED, &[], &["%own", "%index"], offset_of!(Frame, look), |_| {});
        self.message_function(SENT, &[], |_| {});
        let [known, window, address] = [(POINTER, KNOWN), (I64, "%window"), (I64, "%address")]
            .map(|(ty, name)| LlvmValue::named(ty, name));
        self.message_function(MISSED, &[known, window.clone(), address.clone()], |lowering| {
            let find = lowering.constant(POINTER, offset_of!(Frame, find_window));
            let window = lowering.f.resize(&window, 32, false);
            lowering.call_with(find.name(), I32, &[window, address], "#2");
            (0..lowering.windows.count()).for_each(|window| lowering.look_again(window));
        });
    }

    /// Writes one of them.
    fn add_rare(&mut self, name: &str, arguments: &[LlvmValue], write: impl FnOnce(&mut Self)) {
        let entry = self.f.label();
        self.f.begin(entry);
        write(self);
        let arguments: String = arguments.iter().map(|value| format!(", {}", value.typed())).collect();
        self.add_function(&format!("i1 @{name}(ptr %frame{arguments}) #1"), entry);
        self.hoisted.clear();
    }

    /// Adds what has been written from `entry` on as a function that keeps all registers for its callers.
    pub(super) fn add_function(&mut self, header: &str, entry: Label) {
        let (attributes, _) = self.plan.host.keeping_registers();
        let header = format!("define internal {header} {attributes}");
        self.module.add(std::mem::take(&mut self.f), &header, entry);
    }

    /// Writes a function that has the simulator perform a message, and does something before.
    fn message_function(&mut self, name: &str, arguments: &[LlvmValue], before: impl FnOnce(&mut Self)) {
        self.callback_function(name, arguments, &["%own", "%index", "%mask"], super::calls::SEND, before);
    }

    /// Writes a function that does something and then calls one of the simulator's with those of its arguments that have
    /// names in `own`.
    fn callback_function(
        &mut self,
        name: &str,
        arguments: &[LlvmValue],
        own: &[&str],
        callback: usize,
        before: impl FnOnce(&mut Self),
    ) {
        let own: Vec<LlvmValue> = own.iter().map(|name| LlvmValue::named(I64, name)).collect();
        let arguments = [arguments, &own[..]].concat();
        self.add_rare(name, &arguments, |lowering| {
            let (_, clear) = lowering.plan.host.keeping_registers();
            if !clear.is_empty() {
                lowering.f.line(&format!("call void {clear}"));
            }
            before(lowering);
            let function = lowering.constant(POINTER, callback);
            let own: Vec<LlvmValue> = own.iter().map(|value| lowering.f.resize(value, 32, false)).collect();
            let failed = lowering.call_with(function.name(), I32, &own, "#2");
            let failed = lowering.f.resize(&failed, 1, false);
            lowering.f.ret(&failed);
        });
    }

    /// Writes the function for a row that is not all inside. Its enabled lanes may be; their addresses and data are where the message has
    /// them.
    fn partial_row(&mut self, number: usize, row: &PartialRow) {
        let access = &row.access;
        let [own, index, mask, first] =
            ["%own", "%index", "%mask", "%first"].map(|name| LlvmValue::named(I64, name));
        let [known, place] = [KNOWN, "%addresses"].map(|name| LlvmValue::named(POINTER, name));
        let places: Vec<LlvmValue> = (0..access.components.len())
            .map(|k| LlvmValue::named(POINTER, &format!("%component{k}")))
            .collect();
        let mut arguments =
            vec![known.clone(), own.clone(), index.clone(), mask.clone(), first.clone(), place.clone()];
        arguments.extend(places.iter().cloned());
        self.add_rare(&format!("{PARTIAL}{number}"), &arguments, |lowering| {
            let all = Ty { lanes: row.lanes, ..row.address };
            let stride = access.stride();
            let addresses = match stride {
                Some(stride) => {
                    let first = lowering.f.resize(&first, row.address.scalar.bits(), false);
                    let first = lowering.f.splat(&first, row.lanes);
                    let steps =
                        LlvmValue::ints(all, |lane| i64::from(lane).wrapping_mul(stride.into()) as u64);
                    lowering.f.binary("add", &first, &steps)
                }
                None => lowering.f.load(all, &place, FILE),
            };
            let enabled = lowering.f.resize(&mask, row.lanes, false);
            let slots = Ty::int(row.slot, row.lanes);
            let data = match row.is_write {
                false => Vec::new(),
                true => {
                    let size = u32::from(access.size) * 8;
                    let load = |at: &LlvmValue| {
                        let value = lowering.f.load(slots, at, FILE);
                        lowering.f.resize(&value, size, false)
                    };
                    places.iter().map(load).collect()
                }
            };
            let mut site = Site {
                access,
                mask: Some(enabled.clone()),
                lanes: row.lanes,
                reach: match row.window {
                    Some(window) => lowering.reach_of(window, row.address, access.window, access.alignment),
                    None => lowering.reach(access.space, access.window, access.alignment),
                },
                data,
                ways: lowering.ways(),
                is_write: row.is_write,
                is_one: false,
                enabled: enabled.clone(),
            };
            let counted = lowering.counted(access.space, &addresses);
            lowering.scattered(&mut site, &counted);
            let outside = site.ways.outside;
            let found = lowering.joined(site.ways);
            for (value, at) in found.iter().zip(&places) {
                let value = lowering.f.resize(value, row.slot, false);
                lowering.f.store(&value, at, FILE);
            }
            lowering.f.ret(&LlvmValue::int(BIT, 0));
            lowering.f.begin(outside);
            if stride.is_some() {
                lowering.f.store(&addresses, &place, FILE);
            }
            let failed = lowering.missed(row.window, &known, &[own, index, mask], &addresses, &enabled);
            lowering.f.ret(&failed);
        });
    }
}
