//! Messages to memory.
//!
//! Lanes whose addresses follow each other are one access of the host, lanes that all have one address one of a scalar; others are
//! gathered and scattered. All of that only inside of the instruction's window; what is elsewhere, or not aligned, the interpreter does,
//! after the simulator has looked for a better window. What is not read is 0: in LLVM's terms it must not be poison, because comparisons
//! look at all lanes, and the bits of their results are one number.

use std::mem::{offset_of, size_of};

use gencl_simulator::translated::abi::{Frame, Window};

use super::{Emitter, FILE, FRAME};
use crate::hints::Stride;
use crate::ir::{I32, I64, Label, POINTER, Scalar, Ty, Value};
use crate::message::{Lanes, Memory};
use crate::split::LANES;

/// How accesses to buffers and to shared local memory are marked.
pub(super) fn mark(memory: Memory) -> &'static str {
    match memory {
        Memory::Global | Memory::Flat => "!tbaa !3",
        Memory::Local => "!tbaa !6",
    }
}

/// The bits of an offset in shared local memory that count.
pub(super) const LOCAL_OFFSET_BITS: u64 = 0x0fff_ffff;

/// So many bytes ahead of a read of lanes that follow each other is what will be read soon: the next threads' part. Hosts find that out by
/// themselves only when the accesses are many and close together.
const PREFETCHED: usize = 1024;

/// Bytes of a line of the host's caches.
const LINE: usize = 64;

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

/// A part of addresses that are sums.
pub(super) struct Part {
    /// Where base and offsets are; of known steps, the first offset.
    places: [Value; 2],
    /// Of the offsets, from lane to lane.
    step: Option<i64>,
}

/// The addresses of all lanes.
pub(super) struct Addresses {
    /// That of the first lane.
    pub(super) first: Value,
    /// How they change from lane to lane, where that is certain.
    step: Option<i64>,
    /// All, where it is not.
    pub(super) all: Value,
}

impl Addresses {
    fn lanes(&self) -> u32 {
        self.all.ty.lanes
    }
}

/// What the ways through a read have found, to be joined.
pub(super) struct Ways {
    pub(super) join: Label,
    incoming: Vec<(Vec<Value>, Label)>,
}

impl Ways {
    pub(super) fn new(join: Label) -> Ways {
        Ways { join, incoming: Vec::new() }
    }

    pub(super) fn add(&mut self, emitter: &mut Emitter<'_>, values: Vec<Value>) {
        let from = emitter.f.current();
        self.incoming.push((values, from));
        emitter.f.jump(self.join);
    }
}

impl Emitter<'_> {
    pub(super) fn reach(&mut self, memory: Memory) -> Reach {
        match memory {
            Memory::Local => self.local_reach(),
            Memory::Global => {
                let number = self.next_window();
                self.reach_of(number)
            }
            Memory::Flat => {
                // Windows of an address space of 31 bits.
                let number = self.next_window();
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
        let less = Value::int(reach.size.ty, bytes as u64 - 1);
        let suffix = format!(".{}", reach.size.ty.mangled());
        let end = self.f.intrinsic("usub.sat", &suffix, reach.size.ty, &[&reach.size, &less]);
        let end = self.f.splat(&end, offsets.ty.lanes);
        self.f.compare("icmp ult", offsets, &end)
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

    /// Writes a message with an address for each lane.
    pub(super) fn lanes(&mut self, index: usize, message: &Lanes) {
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
        let whole = self.reach(message.memory);
        let outside = self.f.label();
        let (reach, addresses) = match self.parts_of(index) {
            Some(parts) => self.in_parts(&whole, &parts, outside),
            None => (whole.clone(), self.addresses(index, message)),
        };
        let data = if message.write {
            (0..message.components.len()).map(|k| self.payload_of(index, k, message)).collect()
        } else {
            Vec::new()
        };
        let mut ways = Ways::new(self.f.label());
        let lane_mask = mask.as_ref().map(|mask| self.f.mask(mask));
        if lanes == 1 {
            self.alone(message, &reach, &addresses.first, &data, &mut ways);
        } else {
            let stride = addresses.step.map_or_else(|| self.stride(index), Stride::Known);
            let step = message.components.len() * message.size;
            let consecutive = matches!(stride, Stride::Any) || stride == Stride::Known(step as i64);
            if consecutive {
                self.consecutive(message, &reach, &addresses, lane_mask.as_ref(), &data, &mut ways);
            }
            let uniform = !message.write && matches!(stride, Stride::Any | Stride::Known(0));
            if uniform {
                self.uniform(message, &reach, &addresses, lane_mask.as_ref(), &mut ways);
            }
            // Lanes that write what others write too have to do so one after the other.
            let overlapping = !message.write && stride == Stride::Known(message.size as i64);
            if let Stride::Known(known) = stride
                && (known > step as i64 || overlapping)
            {
                self.strided(
                    message,
                    known as usize,
                    &reach,
                    &addresses,
                    lane_mask.as_ref(),
                    &data,
                    &mut ways,
                );
            }
            // What is certain needs no other way, unless lanes that are not enabled are in the way.
            let certain =
                addresses.step.is_some() && (uniform || consecutive && message.components.len() == 1);
            if !certain {
                self.scattered(message, &reach, &addresses, lane_mask.as_ref(), &data, &mut ways);
            }
        }
        self.f.begin(outside);
        self.outside(index, message, &whole, &mut ways);
        self.f.begin(ways.join);
        let values = self.joined(&ways);
        for (k, value) in values.iter().enumerate() {
            self.write(index, k, value, mask.as_ref());
        }
        if message.write && lanes == 1 && mask.is_some() {
            self.f.begin(done);
        }
    }

    /// How the addresses of a message change from lane to lane.
    pub(super) fn stride(&self, index: usize) -> Stride {
        let variable = self.variables.as_ref().and_then(|v| v.uses[index][0]);
        variable.map_or(Stride::Any, |variable| self.strides[variable])
    }

    /// The parts of which a message's addresses are the sums, if all are.
    pub(super) fn parts_of(&self, index: usize) -> Option<Vec<Part>> {
        let access = self.plan.effects[index].uses[0].as_ref()?;
        let variable = self.variables.as_ref()?.uses[index][0]?;
        if access.size != 8 || access.at.len() % LANES != 0 || access.at.len() > 2 * LANES {
            return None;
        }
        let starts = access.at.chunks(LANES).map(|lanes| usize::from(lanes[0]));
        starts
            .map(|start| {
                let part = *self.sums.parts.get(&(variable, start))?;
                Some(Part { places: self.parts[part].clone(), step: self.sums.steps[part] })
            })
            .collect()
    }

    /// The offsets of addresses that are kept in parts, from the beginning of the window; 32 bits are enough for those inside. Goes
    /// outside when the bases differ or are not there.
    pub(super) fn in_parts(&mut self, whole: &Reach, parts: &[Part], outside: Label) -> (Reach, Addresses) {
        let (bases, offsets) = self.loaded_parts(parts);
        // Steps are certain when all parts have the same, and each begins where the one before ends.
        let step = parts[0].step.filter(|step| parts.iter().all(|part| part.step == Some(*step)));
        let delta = self.f.binary("sub", &bases[0], &whole.start);
        let limit = Value::int(I64, Window::MAX_SIZE);
        let mut holds = self.f.compare("icmp ult", &delta, &limit);
        for base in &bases[1..] {
            let same = self.f.compare("icmp eq", base, &bases[0]);
            holds = self.f.binary("and", &holds, &same);
        }
        if let Some(step) = step {
            let part = (LANES as i64).wrapping_mul(step) as u64;
            for pair in offsets.windows(2) {
                let next = self.f.binary("add", &pair[0], &Value::int(I32, part));
                let follows = self.f.compare("icmp eq", &pair[1], &next);
                holds = self.f.binary("and", &holds, &follows);
            }
        }
        let on = self.f.label();
        self.f.branch_likely(&holds, on, outside);
        self.f.begin(on);
        // A sum below 0 is at least 2^31 here, and so beyond every window.
        let delta = self.f.resize(&delta, 32, false);
        let lanes = (parts.len() * LANES) as u32;
        let addresses = match step {
            Some(known) => {
                let first = self.f.binary("add", &offsets[0], &delta);
                let all = self.steps_from(&first, known, lanes);
                Addresses { first, step, all }
            }
            None => {
                let all = self.joined_parts(parts, &offsets);
                let delta = self.f.splat(&delta, lanes);
                let all = self.f.binary("add", &all, &delta);
                Addresses { first: self.f.element(&all, 0), step, all }
            }
        };
        let size = self.f.resize(&whole.size, 32, false);
        let reach = Reach { start: Value::int(I32, 0), size, host: whole.host.clone(), window: None };
        (reach, addresses)
    }

    /// The offsets of all parts, of which there are one or two.
    fn joined_parts(&mut self, parts: &[Part], offsets: &[Value]) -> Value {
        let mut own = parts.iter().zip(offsets).map(|(part, offsets)| match part.step {
            Some(step) => self.steps_from(offsets, step, LANES as u32),
            None => offsets.clone(),
        });
        let (first, second) = (own.next(), own.next());
        drop(own);
        match (first, second) {
            (Some(a), Some(b)) => {
                let order: Vec<u32> = (0..2 * LANES as u32).collect();
                self.f.shuffle(&a, Some(&b), &order)
            }
            (Some(a), None) => a,
            (None, _) => Value::int(Ty::int(32, LANES as u32), 0),
        }
    }

    /// What was read, whichever way.
    pub(super) fn joined(&mut self, ways: &Ways) -> Vec<Value> {
        let count = ways.incoming.first().map_or(0, |(values, _)| values.len());
        let values = (0..count).map(|k| {
            let incoming: Vec<(Value, Label)> =
                ways.incoming.iter().map(|(values, label)| (values[k].clone(), *label)).collect();
            self.f.phi(&incoming)
        });
        values.collect()
    }

    /// The addresses, or offsets in shared local memory.
    pub(super) fn addresses(&mut self, index: usize, message: &Lanes) -> Addresses {
        let lanes = u32::from(self.plan.ops[index].lanes);
        let bits = message.memory.address_size() as u32 * 8;
        let step = self.affine_use(index, 0).map(|(_, step)| step);
        let mut all = self.elements(index, 0, Ty::int(bits, lanes));
        if message.memory == Memory::Local {
            all = self.f.binary("and", &all, &Value::int(all.ty, LOCAL_OFFSET_BITS));
        }
        // Of certain steps only the first lane's offset is cut: what is inside does not come to the bits that do not count.
        let first = match self.affine_use(index, 0) {
            Some((first, _)) if message.memory == Memory::Local => {
                self.f.binary("and", &first, &Value::int(first.ty, LOCAL_OFFSET_BITS))
            }
            Some((first, _)) => first,
            None => self.f.element(&all, 0),
        };
        Addresses { first, step, all }
    }

    /// The addresses as the message has them. Of those that are kept in parts the sum is made here, so that it need not be anywhere else.
    fn whole_addresses(&mut self, index: usize, message: &Lanes) -> Value {
        let Some(parts) = self.parts_of(index) else { return self.addresses(index, message).all };
        let (bases, offsets) = self.loaded_parts(&parts);
        let offsets = self.joined_parts(&parts, &offsets);
        let offsets = self.f.resize(&offsets, 64, true);
        let all: Vec<Value> = bases.iter().map(|base| self.f.splat(base, LANES as u32)).collect();
        let bases = match all.as_slice() {
            [a, b] => {
                let order: Vec<u32> = (0..2 * LANES as u32).collect();
                self.f.shuffle(a, Some(b), &order)
            }
            _ => all[0].clone(),
        };
        self.f.binary("add", &bases, &offsets)
    }

    /// Bases and offsets of parts.
    fn loaded_parts(&mut self, parts: &[Part]) -> (Vec<Value>, Vec<Value>) {
        let bases = parts.iter().map(|part| self.f.load(I64, &part.places[0], FILE)).collect();
        let offset = |part: &Part| {
            let lanes = if part.step.is_some() { 1 } else { LANES as u32 };
            self.f.load(Ty::int(32, lanes), &part.places[1], FILE)
        };
        (bases, parts.iter().map(offset).collect())
    }

    /// A component that is to be written, as wide as it is in memory.
    fn payload_of(&mut self, index: usize, component: usize, message: &Lanes) -> Value {
        let lanes = u32::from(self.plan.ops[index].lanes);
        let data = self.elements(index, component + 1, Ty::int(message.slot as u32 * 8, lanes));
        self.f.resize(&data, message.size as u32 * 8, false)
    }

    /// All lanes as one access, if their addresses follow each other.
    fn consecutive(
        &mut self,
        message: &Lanes,
        reach: &Reach,
        addresses: &Addresses,
        mask: Option<&Value>,
        data: &[Value],
        ways: &mut Ways,
    ) {
        let (lanes, span) = (addresses.lanes(), message.span());
        let count = message.components.len();
        // Components that are left out would lie between the lanes'.
        let lead = message.components[0].0;
        if count * message.size != span - lead {
            return;
        }
        let step = (count * message.size) as u64;
        let first = &addresses.first;
        let offset = self.f.binary("sub", first, &reach.start);
        let mut holds = self.inside(reach, &offset, lead + step as usize * lanes as usize);
        let aligned = self.aligned(first, message.alignment);
        holds = self.both(&holds, aligned.as_ref());
        let mut lanes_hold = None;
        if addresses.step.is_none() {
            let expected = self.steps_from(first, step as i64, lanes);
            let same = self.f.compare("icmp eq", &addresses.all, &expected);
            lanes_hold = Some(match mask.filter(|_| count == 1) {
                Some(mask) => self.or_not(&same, mask),
                None => same,
            });
        }
        if let Some(mask) = mask.filter(|_| count > 1) {
            lanes_hold = Some(self.both(mask, lanes_hold.as_ref()));
        }
        if let Some(lanes_hold) = lanes_hold {
            let all = self.f.all(&lanes_hold);
            holds = self.f.binary("and", &holds, &all);
        }
        let (here, elsewhere) = (self.f.label(), self.f.label());
        self.f.branch_likely(&holds, here, elsewhere);
        self.f.begin(here);
        let at = self.f.offset(&reach.host, &offset);
        let at = self.f.at(&at, lead);
        self.prefetch(message, &at, step as usize * lanes as usize);
        let mask = mask.filter(|_| count == 1);
        if let Some(mask) = mask {
            // Most often all lanes are enabled, and accesses without mask are a lot faster.
            let all = self.f.all(mask);
            let (whole, masked) = (self.f.label(), self.f.label());
            self.f.branch_likely(&all, whole, masked);
            self.f.begin(whole);
            let values = self.access_all(message, &at, lanes, None, data);
            ways.add(self, values);
            self.f.begin(masked);
        }
        let values = self.access_all(message, &at, lanes, mask, data);
        ways.add(self, values);
        self.f.begin(elsewhere);
    }

    /// Asks for what threads that come later read: as many bytes as all lanes do, behind theirs.
    fn prefetch(&mut self, message: &Lanes, at: &Value, bytes: usize) {
        if message.memory == Memory::Local || message.write {
            return;
        }
        let [read, keep, data] = [0, 3, 1].map(|value| Value::int(I32, value));
        for line in (0..bytes).step_by(LINE) {
            let ahead = self.f.at(at, PREFETCHED + line);
            self.f.intrinsic_line("prefetch", ".p0", &[&ahead, &read, &keep, &data]);
        }
    }

    /// Reads or writes all lanes, one behind the other. The values are as wide as in the registers.
    fn access_all(
        &mut self,
        message: &Lanes,
        at: &Value,
        lanes: u32,
        mask: Option<&Value>,
        data: &[Value],
    ) -> Vec<Value> {
        let count = message.components.len() as u32;
        let one = Ty::int(message.size as u32 * 8, lanes);
        let all = Ty { lanes: lanes * count, ..one };
        let alignment = message.alignment.min(message.size);
        let how = format!("align {alignment}, {}", mark(message.memory));
        if message.write {
            let value = self.interleaved(data);
            match mask {
                Some(mask) => {
                    let suffix = format!(".{}.p0", all.mangled());
                    let align = Value::int(I32, alignment as u64);
                    self.f.intrinsic_line("masked.store", &suffix, &[&value, at, &align, mask]);
                }
                None => self.f.store(&value, at, &how),
            }
            return Vec::new();
        }
        let value = match mask {
            Some(mask) => {
                let suffix = format!(".{}.p0", all.mangled());
                let (align, none) = (Value::int(I32, alignment as u64), Value::int(all, 0));
                self.f.intrinsic("masked.load", &suffix, all, &[at, &align, mask, &none])
            }
            None => self.f.load(all, at, &how),
        };
        self.components_of(message, &value, lanes)
    }

    /// The components of what was read lane by lane, as wide as in the registers.
    fn components_of(&mut self, message: &Lanes, value: &Value, lanes: u32) -> Vec<Value> {
        let count = message.components.len() as u32;
        (0..count)
            .map(|k| {
                let order: Vec<u32> = (0..lanes).map(|lane| lane * count + k).collect();
                let own = if count == 1 { value.clone() } else { self.f.shuffle(value, None, &order) };
                self.f.resize(&own, message.slot as u32 * 8, false)
            })
            .collect()
    }

    /// Components of all lanes, lane by lane.
    fn interleaved(&mut self, data: &[Value]) -> Value {
        if data.len() == 1 {
            return data[0].clone();
        }
        let lanes = data[0].ty.lanes;
        let all = self.concatenated(data.to_vec());
        let count = data.len() as u32;
        let order: Vec<u32> = (0..lanes * count).map(|n| n % count * lanes + n / count).collect();
        self.f.shuffle(&all, None, &order)
    }

    /// Vectors of one type, one behind the other; what is missing to a power of two is anything.
    fn concatenated(&mut self, mut parts: Vec<Value>) -> Value {
        while parts.len() > 1 {
            let pairs: Vec<Value> = parts
                .chunks(2)
                .map(|pair| {
                    let other = pair.get(1).cloned().unwrap_or_else(|| Value::poison(pair[0].ty));
                    let order: Vec<u32> = (0..pair[0].ty.lanes * 2).collect();
                    self.f.shuffle(&pair[0], Some(&other), &order)
                })
                .collect();
            parts = pairs;
        }
        parts.swap_remove(0)
    }

    /// Several components of each lane as one access, if lanes are equally far apart.
    #[expect(clippy::too_many_arguments, reason = "all that the ways of a message have in common")]
    fn strided(
        &mut self,
        message: &Lanes,
        step: usize,
        reach: &Reach,
        addresses: &Addresses,
        mask: Option<&Value>,
        data: &[Value],
        ways: &mut Ways,
    ) {
        let (lanes, count) = (addresses.lanes(), message.components.len());
        let lead = message.components[0].0;
        let whole = count * message.size == message.span() - lead;
        if count == 1 || !whole || !step.is_multiple_of(message.alignment) {
            return;
        }
        let first = &addresses.first;
        let offset = self.f.binary("sub", first, &reach.start);
        let mut holds = self.inside(reach, &offset, (lanes as usize - 1) * step + message.span());
        let aligned = self.aligned(first, message.alignment);
        holds = self.both(&holds, aligned.as_ref());
        let mut lanes_hold = mask.filter(|_| message.write).cloned();
        if addresses.step.is_none() {
            let expected = self.steps_from(first, step as i64, lanes);
            let same = self.f.compare("icmp eq", &addresses.all, &expected);
            lanes_hold = Some(match (mask, lanes_hold) {
                (_, Some(enabled)) => self.f.binary("and", &same, &enabled),
                (Some(mask), None) => self.or_not(&same, mask),
                (None, None) => same,
            });
        }
        if let Some(lanes_hold) = lanes_hold {
            let all = self.f.all(&lanes_hold);
            holds = self.f.binary("and", &holds, &all);
        }
        let (here, elsewhere) = (self.f.label(), self.f.label());
        self.f.branch_likely(&holds, here, elsewhere);
        self.f.begin(here);
        let at = self.f.offset(&reach.host, &offset);
        let at = self.f.at(&at, lead);
        let one = Ty::int(message.size as u32 * 8, count as u32);
        let how = format!("align {}, {}", message.alignment.min(message.size), mark(message.memory));
        if message.write {
            let value = self.interleaved(data);
            for lane in 0..lanes {
                let order: Vec<u32> = (lane * one.lanes..(lane + 1) * one.lanes).collect();
                let own = self.f.shuffle(&value, None, &order);
                let place = self.f.at(&at, lane as usize * step);
                self.f.store(&own, &place, &how);
            }
            ways.add(self, Vec::new());
        } else if step == message.size {
            // Each component of all lanes is one access.
            self.prefetch(message, &at, lanes as usize * step);
            let row = Ty { lanes, ..one };
            let values = (0..count).map(|k| {
                let place = self.f.at(&at, k * step);
                let value = self.f.load(row, &place, &how);
                self.f.resize(&value, message.slot as u32 * 8, false)
            });
            let values = values.collect();
            ways.add(self, values);
        } else {
            self.prefetch(message, &at, lanes as usize * step);
            let parts = (0..lanes).map(|lane| {
                let place = self.f.at(&at, lane as usize * step);
                self.f.load(one, &place, &how)
            });
            let parts = parts.collect();
            let value = self.concatenated(parts);
            let values = self.components_of(message, &value, lanes);
            ways.add(self, values);
        }
        self.f.begin(elsewhere);
    }

    pub(super) fn or_not(&mut self, condition: &Value, mask: &Value) -> Value {
        let ones = Value::int(mask.ty, 1);
        let not = self.f.binary("xor", mask, &ones);
        self.f.binary("or", condition, &not)
    }

    /// The only lane's access.
    fn alone(&mut self, message: &Lanes, reach: &Reach, address: &Value, data: &[Value], ways: &mut Ways) {
        let offset = self.f.binary("sub", address, &reach.start);
        let inside = self.inside(reach, &offset, message.span());
        let aligned = self.aligned(address, message.alignment);
        let holds = self.both(&inside, aligned.as_ref());
        let (here, elsewhere) = (self.f.label(), self.f.label());
        self.f.branch_likely(&holds, here, elsewhere);
        self.f.begin(here);
        let at = self.f.offset(&reach.host, &offset);
        let values = if message.write {
            let how = format!("align {}, {}", message.alignment.min(message.size), mark(message.memory));
            for ((inner, _), value) in message.components.iter().zip(data) {
                let at = self.f.at(&at, *inner);
                self.f.store(value, &at, &how);
            }
            Vec::new()
        } else {
            self.components_at(message, &at)
        };
        ways.add(self, values);
        self.f.begin(elsewhere);
    }

    /// The components at one place.
    pub(super) fn components_at(&mut self, message: &Lanes, at: &Value) -> Vec<Value> {
        let how = format!("align {}, {}", message.alignment.min(message.size), mark(message.memory));
        let read = |(inner, _): &(usize, usize)| {
            let at = self.f.at(at, *inner);
            let value = self.f.load(Ty::int(message.size as u32 * 8, 1), &at, &how);
            self.f.resize(&value, message.slot as u32 * 8, false)
        };
        message.components.iter().map(read).collect()
    }

    /// One read for all lanes, if they have one address.
    fn uniform(
        &mut self,
        message: &Lanes,
        reach: &Reach,
        addresses: &Addresses,
        mask: Option<&Value>,
        ways: &mut Ways,
    ) {
        let lanes = addresses.lanes();
        let first = &addresses.first;
        let offset = self.f.binary("sub", first, &reach.start);
        let inside = self.inside(reach, &offset, message.span());
        let aligned = self.aligned(first, message.alignment);
        let mut holds = self.both(&inside, aligned.as_ref());
        if addresses.step.is_none() {
            let all = self.f.splat(first, lanes);
            let mut same = self.f.compare("icmp eq", &addresses.all, &all);
            if let Some(mask) = mask {
                same = self.or_not(&same, mask);
            }
            let all = self.f.all(&same);
            holds = self.f.binary("and", &holds, &all);
        }
        let (here, elsewhere) = (self.f.label(), self.f.label());
        self.f.branch(&holds, here, elsewhere);
        self.f.begin(here);
        let at = self.f.offset(&reach.host, &offset);
        let values = self.components_at(message, &at);
        let values = values.iter().map(|value| self.f.splat(value, lanes)).collect();
        ways.add(self, values);
        self.f.begin(elsewhere);
    }

    /// Each lane for itself, if all are inside.
    fn scattered(
        &mut self,
        message: &Lanes,
        reach: &Reach,
        addresses: &Addresses,
        mask: Option<&Value>,
        data: &[Value],
        ways: &mut Ways,
    ) {
        let (lanes, addresses) = (addresses.lanes(), &addresses.all);
        let start = self.f.splat(&reach.start, lanes);
        let offsets = self.f.binary("sub", addresses, &start);
        let inside = self.inside(reach, &offsets, message.span());
        let aligned = self.aligned(addresses, message.alignment);
        let mut holds = self.both(&inside, aligned.as_ref());
        if let Some(mask) = mask {
            holds = self.or_not(&holds, mask);
        }
        let all = self.f.all(&holds);
        let (here, elsewhere) = (self.f.label(), self.f.label());
        self.f.branch_likely(&all, here, elsewhere);
        self.f.begin(here);
        // A window has no more bytes than 31 bits can count.
        let offsets = self.f.resize(&offsets, 32, false);
        let all_lanes = Value::int(Ty::int(1, lanes), 1);
        let mask = mask.cloned().unwrap_or(all_lanes);
        let values = if message.write {
            self.scatter(message, reach, &offsets, &mask, data);
            Vec::new()
        } else {
            let gather = |(inner, _): &(usize, usize)| self.gather(message, reach, &offsets, &mask, *inner);
            message.components.iter().map(gather).collect()
        };
        ways.add(self, values);
        self.f.begin(elsewhere);
    }

    /// One component of each lane.
    fn gather(
        &mut self,
        message: &Lanes,
        reach: &Reach,
        offsets: &Value,
        mask: &Value,
        inner: usize,
    ) -> Value {
        let host = self.f.at(&reach.host, inner);
        let places = self.places_at(&host, offsets);
        let ty = Ty::int(message.size as u32 * 8, offsets.ty.lanes);
        let suffix = format!(".{}.{}", ty.mangled(), places.ty.mangled());
        let align = Value::int(I32, message.alignment.min(message.size) as u64);
        let none = Value::int(ty, 0);
        let value = self.f.intrinsic("masked.gather", &suffix, ty, &[&places, &align, mask, &none]);
        self.f.resize(&value, message.slot as u32 * 8, false)
    }

    /// All components, lane by lane, so that where lanes overlap the last one's stay, as the interpreter has it.
    fn scatter(&mut self, message: &Lanes, reach: &Reach, offsets: &Value, mask: &Value, data: &[Value]) {
        let count = message.components.len() as u32;
        let value = self.interleaved(data);
        let (mut offsets, mut mask) = (offsets.clone(), mask.clone());
        if count > 1 {
            let order: Vec<u32> = (0..value.ty.lanes).map(|n| n / count).collect();
            offsets = self.f.shuffle(&offsets, None, &order);
            mask = self.f.shuffle(&mask, None, &order);
        }
        let inner = Value::ints(offsets.ty, |n| message.components[(n % count) as usize].0 as u64);
        let offsets = self.f.binary("add", &offsets, &inner);
        let places = self.places_at(&reach.host.clone(), &offsets);
        let suffix = format!(".{}.{}", value.ty.mangled(), places.ty.mangled());
        let align = Value::int(I32, message.alignment.min(message.size) as u64);
        self.f.intrinsic_line("masked.scatter", &suffix, &[&value, &places, &align, &mask]);
    }

    pub(super) fn places_at(&mut self, host: &Value, offsets: &Value) -> Value {
        let pointers = Ty { scalar: Scalar::Pointer, lanes: offsets.ty.lanes };
        self.f.value(pointers, &format!("getelementptr i8, {}, {}", host.typed(), offsets.typed()))
    }

    /// The interpreter's way. The next time the window may be the right one.
    pub(super) fn outside(&mut self, index: usize, message: &Lanes, reach: &Reach, ways: &mut Ways) {
        let addresses = self.whole_addresses(index, message);
        if let Some(window) = reach.window {
            let address = self.first_enabled(index, &addresses);
            let address = self.f.resize(&address, 64, false);
            self.find(window, &address);
        }
        self.store_operands(index, Some(&addresses));
        self.execute(index);
        let lanes = addresses.ty.lanes;
        let values = if message.write {
            Vec::new()
        } else {
            let ty = Ty::int(message.slot as u32 * 8, lanes);
            let components = message.components.iter();
            components
                .map(|(_, byte)| {
                    let at = self.f.at(&self.file.clone(), *byte);
                    self.f.load(ty, &at, FILE)
                })
                .collect()
        };
        ways.add(self, values);
    }

    /// The address of the first channel for which the message is executed; any if there is none.
    pub(super) fn first_enabled(&mut self, index: usize, addresses: &Value) -> Value {
        let lanes = addresses.ty.lanes;
        let mask = self.mask(index);
        let (Some(mask), true) = (mask, lanes > 1) else { return self.f.element(addresses, 0) };
        let defined = Value::int(crate::ir::BIT, 0);
        let suffix = format!(".{}", mask.ty.mangled());
        let first = self.f.intrinsic("cttz", &suffix, mask.ty, &[&mask, &defined]);
        let first = self.f.convert("zext", &first, I64);
        let last = Value::int(I64, u64::from(lanes - 1));
        let first = self.f.intrinsic("umin", ".i64", I64, &[&first, &last]);
        let text = format!("extractelement {}, {}", addresses.typed(), first.typed());
        self.f.value(Ty { lanes: 1, ..addresses.ty }, &text)
    }
}
