//! Messages to memory.
//!
//! Lanes whose addresses follow each other are one access of the host, lanes that all have one address one of a scalar; others are
//! gathered and scattered. All of that only inside of the instruction's window; what is elsewhere, or not aligned, the interpreter does,
//! after the simulator has looked for a better window. What lanes that are not enabled read is 0, or what is there: in LLVM's terms it
//! must not be poison, because comparisons look at all lanes, and the bits of their results are one number.

use std::mem::{offset_of, size_of};

use gencl_eu::abi::{Frame, Window};

use super::addresses::Addresses;
use super::{Emitter, FILE, FRAME};
use crate::components;
use crate::hints::Stride;
use crate::ir::{BIT, I32, I64, Label, POINTER, Ty, Value};
use crate::message::{Lanes, Memory};
use crate::split::Base;

/// How accesses to buffers and to shared local memory are marked.
pub(super) fn mark(memory: Memory) -> &'static str {
    match memory {
        Memory::Global | Memory::Flat => "!tbaa !3",
        Memory::Local => "!tbaa !6",
    }
}

/// How the accesses of a message are marked, with their alignment.
pub(super) fn how(message: &Lanes) -> String {
    format!("align {}, {}", message.alignment.min(message.size), mark(message.memory))
}

/// The bits of an offset in shared local memory that count.
pub(super) const LOCAL_OFFSET_BITS: u64 = 0x0fff_ffff;

/// The memory that an instruction may access without asking.
#[derive(Clone)]
pub(super) struct Reach {
    /// Address of the first byte, of the addresses' type.
    pub(super) start: Value,
    /// Bytes, of the addresses' type.
    pub(super) size: Value,
    /// Where it is.
    pub(super) host: Value,
    /// Its window, if it has one.
    pub(super) window: Option<u32>,
}

/// A message with an address for each lane, and the ways through it so far.
pub(super) struct LaneAccess<'m> {
    pub(super) message: &'m Lanes,
    pub(super) reach: Reach,
    pub(super) addresses: Addresses,
    /// The lanes that are enabled; `None`: all.
    pub(super) mask: Option<Value>,
    /// What is written, component by component, as wide as in memory.
    pub(super) data: Vec<Value>,
    /// The same as it lies in memory, where all ways write it so.
    pub(super) row: Option<Value>,
    pub(super) ways: Ways,
}

/// What the ways through a read have found, to be joined.
pub(super) struct Ways {
    pub(super) join: Label,
    incoming: Vec<(Vec<Value>, Label)>,
    /// The components of all lanes are joined as they lie in memory, and taken apart behind that (`crate::components`).
    in_rows: Option<u32>,
}

impl Ways {
    pub(super) fn new(join: Label) -> Ways {
        Ways { join, incoming: Vec::new(), in_rows: None }
    }

    /// The end of a way that has found a row of components, those of each lane side by side.
    pub(super) fn add_row(&mut self, emitter: &mut Emitter<'_>, message: &Lanes, row: Value, lanes: u32) {
        if self.in_rows.is_some() {
            self.add_joined(emitter, vec![row]);
        } else {
            let components = emitter.components_of(message, &row, lanes);
            self.add_joined(emitter, components);
        }
    }

    /// The end of a way that has found components.
    pub(super) fn add(&mut self, emitter: &mut Emitter<'_>, values: Vec<Value>) {
        let values = if self.in_rows.is_some() { vec![emitter.interleaved(&values)] } else { values };
        self.add_joined(emitter, values);
    }

    fn add_joined(&mut self, emitter: &mut Emitter<'_>, values: Vec<Value>) {
        let from = emitter.f.current();
        self.incoming.push((values, from));
        emitter.f.jump(self.join);
    }
}

impl Emitter<'_> {
    /// Has each lane four dwords that follow each other, on a host that accesses them at once? LLVM can have lanes in registers as transposing wants them then
    /// (`components::shuffles`); hosts with registers of 64 bytes have better ways.
    pub(super) fn is_of_fours(&self, message: &Lanes) -> bool {
        message.components.len() == 4
            && message.size == 4
            && message.is_whole()
            && self.plan.host.vectors.bytes < 64
    }

    pub(super) fn reach(&mut self, index: usize, memory: Memory) -> Reach {
        match memory {
            Memory::Local => self.local_reach(),
            Memory::Global => {
                let number = self.window_of(index);
                self.reach_of(number)
            }
            Memory::Flat => {
                // Windows of an address space of 31 bits.
                let number = self.own_window(index);
                let reach = self.reach_of(number);
                let [start, size] = [&reach.start, &reach.size].map(|v| self.f.resize(v, 32, false));
                Reach { start, size, ..reach }
            }
        }
    }

    /// Shared local memory.
    pub(super) fn local_reach(&mut self) -> Reach {
        let host = self.constant(POINTER, offset_of!(Frame, local));
        let size = self.constant(I32, offset_of!(Frame, local_size));
        Reach { start: Value::int(I32, 0), size, host, window: None }
    }

    /// A window.
    pub(super) fn reach_of(&mut self, number: u32) -> Reach {
        let windows = self.constant(POINTER, offset_of!(Frame, windows));
        let window = self.f.at(&windows, number as usize * size_of::<Window>());
        let mut field = |ty, offset| {
            let at = self.f.at(&window, offset);
            self.f.load(ty, &at, FRAME)
        };
        let start = field(I64, offset_of!(Window, start));
        let size = field(I64, offset_of!(Window, size));
        let host = field(POINTER, offset_of!(Window, host));
        Reach { start, size, host, window: Some(number) }
    }

    /// The window of a message: that of others whose addresses are sums with the same scalar, which are most likely in the same buffer. What is
    /// asked of it is asked once then.
    fn window_of(&mut self, index: usize) -> u32 {
        let Some(base) = self.base_of(index) else { return self.own_window(index) };
        match self.shared_windows.get(&base) {
            Some(window) => *window,
            None => {
                let window = self.next_window();
                self.shared_windows.insert(base, window);
                self.know(window, base);
                window
            }
        }
    }

    /// The scalar in all sums that a message's addresses are.
    pub(super) fn base_of(&self, index: usize) -> Option<Base> {
        let parts = self.numbers_of_parts(index)?;
        let base = self.sums.bases[*parts.first()?]?;
        parts.iter().all(|part| self.sums.bases[*part] == Some(base)).then_some(base)
    }

    /// The window of a message that shares none.
    fn own_window(&mut self, index: usize) -> u32 {
        match self.own_windows.get(&index) {
            Some(window) => *window,
            None => {
                let window = self.next_window();
                self.own_windows.insert(index, window);
                window
            }
        }
    }

    /// The number of a window that no other instruction has.
    pub(super) fn next_window(&mut self) -> u32 {
        self.windows += 1;
        self.windows - 1
    }

    /// Are accesses of so many bytes at these offsets inside?
    pub(super) fn inside(&mut self, reach: &Reach, offsets: &Value, bytes: usize) -> Value {
        if offsets.ty == I32 {
            let [offset, size] = [offsets, &reach.size].map(|value| self.f.resize(value, 64, false));
            let end = self.f.binary("add nuw", &offset, &Value::int(I64, bytes as u64));
            return self.f.compare("icmp ule", &end, &size);
        }
        let end = self.end_inside(reach, bytes);
        let end = self.f.splat(&end, offsets.ty.lanes);
        self.f.compare("icmp ult", offsets, &end)
    }

    /// The first offset of which so many bytes are not all inside.
    pub(super) fn end_inside(&mut self, reach: &Reach, bytes: usize) -> Value {
        let less = Value::int(reach.size.ty, bytes as u64 - 1);
        let suffix = format!(".{}", reach.size.ty.mangled());
        self.f.intrinsic("usub.sat", &suffix, reach.size.ty, &[&reach.size, &less])
    }

    /// Are addresses multiples of a power of two? `None`: of 1 they are.
    pub(super) fn aligned(&mut self, addresses: &Value, alignment: usize) -> Option<Value> {
        if alignment == 1 {
            return None;
        }
        let low = self.f.binary("and", addresses, &Value::int(addresses.ty, alignment as u64 - 1));
        Some(self.f.compare("icmp eq", &low, &Value::int(addresses.ty, 0)))
    }

    pub(super) fn both(&mut self, a: &Value, b: Option<&Value>) -> Value {
        b.map_or_else(|| a.clone(), |b| self.f.binary("and", a, b))
    }

    /// Does a condition hold in all lanes that are enabled (`None`: all)? Sets of lanes are numbers here, as masks are.
    pub(super) fn all_where_enabled(&mut self, condition: &Value, mask: Option<&Value>) -> Value {
        let Some(mask) = mask else { return self.f.all(condition) };
        let [holds, enabled] = [condition, mask].map(|set| self.f.mask_bits(set));
        let ones = Value::int(enabled.ty, u64::MAX);
        let others = self.f.binary("xor", &enabled, &ones);
        let all = self.f.binary("or", &holds, &others);
        if all.ty == BIT { all } else { self.f.compare("icmp eq", &all, &ones) }
    }

    /// Writes a message with an address for each lane.
    pub(super) fn lanes(&mut self, index: usize, message: &Lanes) {
        if let Some(inside) = self.quick.as_mut().and_then(|quick| quick.inside.remove(&index)) {
            return self.row_inside(index, message, inside);
        }
        let mask = self.mask(index);
        let lanes = u32::from(self.plan.ops[index].lanes);
        let done = self.f.label();
        if lanes == 1
            && let Some(mask) = &mask
        {
            // A channel alone: all or nothing.
            let on = self.f.label();
            if message.write {
                self.f.branch(mask, on, done);
                self.f.begin(on);
            }
        }
        let whole = self.reach(index, message.memory);
        let outside = self.f.label();
        let (reach, addresses) = self.reached(index, message, &whole, outside);
        // What all lanes read at one address is a scalar until they have it.
        let same = lanes > 1 && addresses.step() == Some(0);
        let lane_mask = mask.as_ref().map(|mask| self.f.mask(mask));
        let mut access = self.lane_access(index, message, reach, addresses, lane_mask);
        // Whole threads may be outside of a range of ids. What is done for lanes that ask for something else, most threads do for some.
        if self.plan.ops[index].predicate.is_some() && self.is_of_range(index) {
            self.if_enabled(&mut access);
        }
        if lanes == 1 {
            self.one_address(&mut access);
        } else {
            self.all_ways(index, &mut access);
        }
        let mut ways = access.ways;
        self.f.begin(outside);
        self.outside(index, message, &whole, same, &mut ways);
        self.end_ways(index, &ways, same, mask.as_ref());
        if message.write && lanes == 1 && mask.is_some() {
            self.f.begin(done);
        }
    }

    /// The way of a message for which no lane is enabled.
    pub(super) fn if_enabled(&mut self, access: &mut LaneAccess<'_>) {
        let Some(mask) = access.mask.as_ref().filter(|mask| mask.ty.lanes > 1) else { return };
        let bits = self.f.mask_bits(mask);
        let some = self.f.compare("icmp ne", &bits, &Value::int(bits.ty, 0));
        let [here, none] = [(); 2].map(|()| self.f.label());
        self.f.branch(&some, here, none);
        self.f.begin(none);
        let LaneAccess { message, addresses, .. } = &*access;
        // What all lanes read at one address is a scalar.
        let lanes = if addresses.step() == Some(0) { 1 } else { addresses.lanes() };
        let nothing = Value::int(Ty::int(message.slot as u32 * 8, lanes), 0);
        let found = if message.write { Vec::new() } else { vec![nothing; message.components.len()] };
        access.ways.add(self, found);
        self.f.begin(here);
    }

    /// A message, before any way through it.
    pub(super) fn lane_access<'m>(
        &mut self,
        index: usize,
        message: &'m Lanes,
        reach: Reach,
        addresses: Addresses,
        mask: Option<Value>,
    ) -> LaneAccess<'m> {
        let lanes = addresses.lanes();
        let data = if message.write {
            (0..message.components.len()).map(|k| self.payload_of(index, k, message)).collect()
        } else {
            Vec::new()
        };
        let mut ways = Ways::new(self.f.label());
        // There is one way for rows, beside the interpreter's; or all ways find them.
        let (count, size) = (message.components.len(), message.size);
        let certain = addresses.step().is_some_and(|step| step >= (count * size) as i64);
        if (certain || addresses.step().is_none() && self.is_of_fours(message))
            && lanes > 1
            && matches!(count, 2 | 4)
            && !message.write
            && message.is_whole()
            && size == message.slot
        {
            ways.in_rows = Some(count as u32);
        }
        let row = (message.write && lanes > 1 && self.is_of_fours(message)).then(|| self.interleaved(&data));
        LaneAccess { message, reach, addresses, mask, data, row, ways }
    }

    /// Joins the ways through a message. Where all lanes have the `same` address, they have found a scalar.
    pub(super) fn end_ways(&mut self, index: usize, ways: &Ways, same: bool, mask: Option<&Value>) {
        let lanes = u32::from(self.plan.ops[index].lanes);
        self.f.begin(ways.join);
        let values = self.joined(ways);
        for (k, value) in values.iter().enumerate() {
            let all = same && !self.is_affine_definition(index, k);
            let value = if all { self.f.splat(value, lanes) } else { value.clone() };
            self.write(index, k, &value, mask);
        }
    }

    /// The ways of several lanes that may be the right ones.
    fn all_ways(&mut self, index: usize, access: &mut LaneAccess<'_>) {
        let (message, certain) = (access.message, access.addresses.step());
        let stride = certain.map_or_else(|| self.stride(index), Stride::Known);
        let step = message.components.len() * message.size;
        if self.expected(index, access) {
            return self.scattered(access);
        }
        // Is the row, whose steps are certain, outside when it is not taken? Then it is the interpreter's; also when nothing but lanes that
        // are not enabled are outside, at a buffer's end.
        let mut all = false;
        if matches!(stride, Stride::Any) || stride == Stride::Known(step as i64) {
            all |= self.consecutive(access);
        }
        let one = stride == Stride::Known(0) || stride == Stride::Any && !self.is_of_fours(message);
        if !message.write && one {
            self.one_address(access);
            all = true;
        }
        // Lanes that write what others write too have to do so one after the other.
        let overlapping = !message.write && stride == Stride::Known(message.size as i64);
        if let Stride::Known(known) = stride
            && (known > step as i64 || overlapping)
        {
            all |= self.strided(access, known as usize);
        }
        if certain == Some(-(step as i64)) && message.components.len() == 1 && message.is_whole() {
            self.backwards(access);
        }
        if certain.is_none() || !all {
            self.scattered(access);
        }
    }

    /// A component that is to be written, as wide as it is in memory.
    fn payload_of(&mut self, index: usize, component: usize, message: &Lanes) -> Value {
        let lanes = u32::from(self.plan.ops[index].lanes);
        let data = self.elements(index, component + 1, Ty::int(message.slot as u32 * 8, lanes));
        self.f.resize(&data, message.size as u32 * 8, false)
    }

    /// What was read, whichever way.
    pub(super) fn joined(&mut self, ways: &Ways) -> Vec<Value> {
        let count = ways.incoming.first().map_or(0, |(values, _)| values.len());
        let values = (0..count).map(|k| {
            let incoming: Vec<(Value, Label)> =
                ways.incoming.iter().map(|(values, label)| (values[k].clone(), *label)).collect();
            self.f.phi(&incoming)
        });
        let values: Vec<Value> = values.collect();
        match ways.in_rows {
            Some(count) => {
                (0..count).map(|k| components::component(&mut self.f, &values[0], k, count)).collect()
            }
            None => values,
        }
    }

    /// The interpreter's way. The next time the window may be the right one. Where all lanes have the `same` address, its results are those of
    /// one that is enabled.
    pub(super) fn outside(
        &mut self,
        index: usize,
        message: &Lanes,
        reach: &Reach,
        same: bool,
        ways: &mut Ways,
    ) {
        let addresses = self.whole_addresses(index, message);
        if let Some(window) = reach.window {
            let address = self.first_enabled(index, &addresses);
            let address = self.f.resize(&address, 64, false);
            self.find(window, &address);
            self.look_again(window);
        }
        self.store_operands(index, Some(&addresses));
        self.execute_rarely(index);
        let lanes = addresses.ty.lanes;
        let values = if message.write {
            Vec::new()
        } else {
            let ty = Ty::int(message.slot as u32 * 8, lanes);
            let components = message.components.iter();
            components
                .map(|(_, byte)| {
                    let at = self.f.at(&self.file.clone(), *byte);
                    let value = self.f.load(ty, &at, FILE);
                    if same { self.first_enabled(index, &value) } else { value }
                })
                .collect()
        };
        ways.add(self, values);
    }
}
