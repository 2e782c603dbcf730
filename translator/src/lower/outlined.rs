//! Out-of-line slow paths. There is one function for all accesses that do the same, and it keeps all registers for its callers: LLVM has little
//! to do for paths that are rarely taken.

use std::mem::offset_of;

use gencl_eu::abi::Frame;

use super::memory::Site;
use super::{FILE, Lowering, WIDE};
use crate::analysis::message::Lanes;
use crate::ir::{BIT, Callee, Function as Builder, I32, I64, POINTER, Ty, Value as LlvmValue, is_missing};
use crate::middle::op::{Access, Addressing};

/// The name of the function that looks for a window and then has the simulator perform a message.
const MISSED: &str = "missed";
/// The name of the function that only has the simulator do that.
const SENT: &str = "sent";
/// The name of the function that has the simulator check for cancellation.
const CANCELLED: &str = "cancelled";
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

impl<'c> Lowering<'_, 'c> {
    /// Has the simulator check, at an instruction, whether the launch is cancelled.
    pub(super) fn call_cancelled(&mut self, index: u32) {
        let own = [self.thread.number, self.f.int(I32, index.into())];
        let failed = self.call_outlined(CANCELLED, &own);
        self.fault_if(failed);
    }

    /// Has the simulator look for the buffer of the first enabled lane's address and then perform a message whose payload is in the register
    /// file. Whether the thread faults.
    pub(super) fn call_missed(
        &mut self,
        window: Option<u32>,
        message: &[LlvmValue<'c>],
        addresses: LlvmValue<'c>,
        enabled: LlvmValue<'c>,
    ) -> LlvmValue<'c> {
        let Some(window) = window else { return self.call_outlined(SENT, message) };
        let address = self.first_enabled(addresses, enabled);
        let own = [self.windows.found, self.f.int(I64, window.into()), address];
        self.call_outlined(MISSED, &[&own, message].concat())
    }

    /// All arguments have 64 bits: LLVM 19 takes the rest of a register of which 32 bits are an argument for one that is kept, and does not keep it. The
    /// result has one, as wider ones are lost in baseline code (`faults`).
    fn call_outlined(&mut self, name: &str, arguments: &[LlvmValue<'c>]) -> LlvmValue<'c> {
        let wide = arguments.iter().map(|value| match value.ty {
            POINTER => *value,
            _ => self.f.to(*value, I64),
        });
        let arguments: Vec<_> = std::iter::once(self.frame()).chain(wide).collect();
        self.f.call(Callee::Named(name), BIT, &arguments, &["cold", "nounwind", "no_caller_saved_registers"])
    }

    /// Calls the function for a row that is not all inside, or whose stride does not hold. It computes the addresses if the stride is known to
    /// hold, else they are in the register file.
    pub(super) fn call_partial_row(
        &mut self,
        site: &Site<'_, 'c>,
        message: &Lanes,
        first: LlvmValue<'c>,
        holds: bool,
        call: &[LlvmValue<'c>],
    ) -> LlvmValue<'c> {
        let addressing = if holds { site.access.addressing } else { Addressing::Varying };
        let row = PartialRow {
            access: Access { addressing, ..site.access.clone() },
            lanes: site.lanes,
            is_write: site.is_write(),
            window: site.reach.window,
            address: first.ty,
            slot: message.elements.register_size() as u32 * 8,
        };
        let number = number_of(&mut self.outlined.partial_rows, row);
        let mut arguments = [&[self.windows.found], call, &[first]].concat();
        let places = std::iter::once(message.addresses).chain(message.places());
        arguments.extend(places.map(|at| self.f.at(self.thread.file, at)));
        self.call_outlined(&format!("{PARTIAL}{number}"), &arguments)
    }

    /// Builds all functions that have been called.
    pub(super) fn outlined_functions(&mut self) {
        for (number, row) in std::mem::take(&mut self.outlined.partial_rows).into_iter().enumerate() {
            self.partial_row(number, &row);
        }
        self.atomic_functions();
        self.callback_function(CANCELLED, &[I64, I64], offset_of!(Frame, look), |_| {});
        self.callback_function(SENT, &[I64, I64, I64], super::calls::SEND, |_| {});
        let parameters = [POINTER, I64, I64, I64, I64, I64];
        self.callback_function(MISSED, &parameters, super::calls::SEND, |lowering| {
            let [window, address] = [2, 3].map(|number| lowering.f.parameter(number));
            let window = lowering.f.to(window, I32);
            lowering.call_simulator(offset_of!(Frame, find_window), &[window, address]);
            (0..lowering.windows.count()).for_each(|window| lowering.load_window(window));
        });
    }

    /// Builds an out-of-line function, which keeps all registers for its callers. Its second parameter, if there are windows, is where their
    /// variables are.
    pub(super) fn in_function(
        &mut self,
        name: &str,
        result: Option<Ty>,
        parameters: &[Ty],
        attributes: &[&str],
        build: impl FnOnce(&mut Self),
    ) {
        let (keeping, _) = self.plan.host.keeping_registers();
        let attributes: Vec<&str> =
            attributes.iter().copied().chain(keeping.iter().map(String::as_str)).collect();
        let f = Builder::new(self.module, name, result, parameters, &attributes);
        f.set_internal();
        let caller = std::mem::replace(&mut self.f, f);
        let variables = (self.windows.known, self.windows.found);
        (self.windows.known, self.windows.found) = (self.f.parameter(1), self.f.parameter(1));
        let entry = self.f.label();
        self.f.begin(entry);
        build(self);
        std::mem::replace(&mut self.f, caller).finish(entry);
        (self.windows.known, self.windows.found) = variables;
    }

    /// Builds one that is called on slow paths, and returns whether the thread faults.
    fn slow_function(&mut self, name: &str, parameters: &[Ty], build: impl FnOnce(&mut Self)) {
        let attributes = [&["cold"], &WIDE[..]].concat();
        self.in_function(name, Some(BIT), &[&[POINTER], parameters].concat(), &attributes, build);
    }

    /// Builds a function, if it is called, that does something and then calls one of the simulator's with its parameters that are no pointers
    /// and follow those of [`MISSED`].
    fn callback_function(
        &mut self,
        name: &str,
        parameters: &[Ty],
        callback: usize,
        before: impl FnOnce(&mut Self),
    ) {
        if !is_missing(self.module, name) {
            return;
        }
        let own = if name == MISSED { 4 } else { 1 }..=parameters.len();
        self.slow_function(name, parameters, |lowering| {
            if lowering.plan.host.keeping_registers().1 {
                lowering.f.intrinsic_line("x86.avx.vzeroupper", &[], &[]);
            }
            before(lowering);
            let own: Vec<_> = own.map(|number| lowering.f.to(lowering.f.parameter(number), I32)).collect();
            lowering.f.ret(Some(lowering.f.to(lowering.call_simulator(callback, &own), BIT)));
        });
    }

    /// Builds the function for a row that is not all inside. Its enabled lanes may be; their addresses and data are where the message has
    /// them.
    fn partial_row(&mut self, number: usize, row: &PartialRow) {
        let access = &row.access;
        let mut parameters = vec![POINTER, I64, I64, I64, I64, POINTER];
        parameters.extend(std::iter::repeat_n(POINTER, access.elements.count()));
        self.slow_function(&format!("{PARTIAL}{number}"), &parameters, |lowering| {
            let parameter = |number| lowering.f.parameter(number);
            let [own, index, mask, first, place] = [2, 3, 4, 5, 6].map(parameter);
            let places: Vec<_> = (7..=parameters.len()).map(parameter).collect();
            let all = Ty { lanes: row.lanes, ..row.address };
            let stride = access.stride();
            let addresses = match stride {
                Some(stride) => {
                    let first = lowering.f.splat(lowering.f.to(first, row.address), row.lanes);
                    let steps =
                        lowering.f.ints(all, |lane| i64::from(lane).wrapping_mul(stride.into()) as u64);
                    lowering.f.add(first, steps)
                }
                None => lowering.f.load(all, place, FILE),
            };
            let enabled = lowering.f.resize(mask, row.lanes, false);
            let slots = Ty::int(row.slot, row.lanes);
            let size = u32::from(access.elements.size) * 8;
            let written = places.iter().filter(|_| row.is_write);
            let data = written.map(|at| lowering.f.resize(lowering.f.load(slots, *at, FILE), size, false));
            let data = data.collect();
            let mut site = Site {
                access,
                mask: Some(enabled),
                lanes: row.lanes,
                reach: match row.window {
                    Some(window) => {
                        lowering.reach_of(window, row.address, access.window, access.elements.alignment)
                    }
                    None => lowering.reach(access.space, access.window, access.elements.alignment),
                },
                data,
                paths: lowering.paths(),
                is_scalar: false,
                enabled,
            };
            let counted = lowering.counted(access.space, addresses);
            lowering.by_addresses(&mut site, counted);
            let slow = site.paths.slow;
            let found = lowering.join_paths(site.paths);
            for (value, at) in found.iter().zip(&places) {
                lowering.f.store(lowering.f.resize(*value, row.slot, false), *at, FILE);
            }
            lowering.f.ret(Some(lowering.f.int(BIT, 0)));
            lowering.f.begin(slow);
            if stride.is_some() {
                lowering.f.store(addresses, place, FILE);
            }
            let failed = lowering.call_missed(row.window, &[own, index, mask], addresses, enabled);
            lowering.f.ret(Some(failed));
        });
    }
}
