//! Lanes whose addresses are anywhere.

use super::Emitter;
use super::memory::{LaneAccess, Reach, how};
use crate::ir::{I32, POINTER, Scalar, Ty, Value};
use crate::message::Lanes;

/// What lanes read, all of it inside.
struct Found<'m> {
    message: &'m Lanes,
    reach: &'m Reach,
    /// 32 bits from the beginning of what may be accessed.
    offsets: Value,
    /// The lanes that read, if not all do.
    mask: Option<Value>,
    /// What all are multiples of.
    alignment: usize,
}

/// A function that gathers elements one by one, on hosts that have nothing better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gather {
    /// Of each element.
    bits: u32,
    lanes: u32,
    alignment: usize,
}

impl Gather {
    fn name(self) -> String {
        format!("gather_{}x{}_{}", self.lanes, self.bits, self.alignment)
    }
}

impl Emitter<'_> {
    /// Each lane for itself, if all are inside.
    pub(super) fn scattered(&mut self, access: &mut LaneAccess<'_>) {
        if access.message.write {
            self.if_enabled(access);
        }
        let LaneAccess { message, reach, addresses, mask, .. } = access;
        let lanes = addresses.lanes();
        let addresses = self.all_of(message, addresses);
        let start = self.f.splat(&reach.start, lanes);
        let offsets = self.f.binary("sub", &addresses, &start);
        let inside = self.inside(reach, &offsets, message.span());
        let aligned = self.aligned(&addresses, message.alignment);
        let inside = self.both(&inside, aligned.as_ref());
        let mut all = self.all_where_enabled(&inside, mask.as_ref());
        let all_read = mask.is_some() && !message.write && !self.plan.host.vectors.masked;
        if all_read {
            let begin = Value::int(reach.start.ty, 0);
            let one = self.inside(reach, &begin, message.span());
            all = self.f.binary("and", &all, &one);
        }
        let (here, elsewhere) = (self.f.label(), self.f.label());
        self.f.branch_likely(&all, here, elsewhere);
        self.f.begin(here);
        // A window has no more bytes than 31 bits can count.
        let mut offsets = self.f.resize(&offsets, 32, false);
        let mut mask = mask.clone();
        if all_read {
            // Hosts without masks have a branch for each lane where others gather under one, and LLVM has as many blocks to compile. There all lanes read, those
            // that are outside what the window ends with. Which lanes are enabled is often known later than where they read.
            let end = self.end_inside(reach, message.span());
            let end = self.f.resize(&end, 32, false);
            let last = self.f.binary("sub", &end, &Value::int(I32, 1));
            let last = self.f.splat(&last, lanes);
            offsets =
                self.f.intrinsic("umin", &format!(".{}", last.ty.mangled()), last.ty, &[&offsets, &last]);
            mask = None;
        }
        if self.is_of_fours(message) {
            self.fours(access, &offsets, mask.as_ref());
        } else if message.write {
            self.scatter(message, &access.reach, &offsets, mask.as_ref(), &access.data);
            access.ways.add(self, Vec::new());
        } else {
            let alignment = if all_read { 1 } else { message.alignment };
            let found = Found { message, reach: &access.reach, offsets, mask, alignment };
            let pairs = message.components.chunks(2);
            let values = pairs.flat_map(|pair| self.gather_pair(&found, pair)).collect();
            access.ways.add(self, values);
        }
        self.f.begin(elsewhere);
    }

    /// Four dwords of each lane, which are an access of 16 bytes; hosts with masks gather and scatter pairs of them faster. Ends the way.
    fn fours(&mut self, access: &mut LaneAccess<'_>, offsets: &Value, mask: Option<&Value>) {
        let (message, lanes) = (access.message, offsets.ty.lanes);
        let host = self.f.at(&access.reach.host.clone(), message.components[0].0);
        let nowhere = mask.map(|mask| (mask, self.nowhere()));
        let places: Vec<Value> = (0..lanes)
            .map(|lane| {
                let place = self.place_of_lane(&host, offsets, lane);
                match &nowhere {
                    None => place,
                    Some((mask, nowhere)) => {
                        let enabled = self.f.element(mask, lane);
                        self.f.select(&enabled, &place, nowhere)
                    }
                }
            })
            .collect();
        self.each_lane(access, &places, message.span());
    }

    /// A place of up to 16 bytes for what is not written. LLVM must not know, as it would leave it out with a branch.
    fn nowhere(&mut self) -> Value {
        let place = self.f.variable(16);
        self.f.opaque(&place)
    }

    /// One component of each lane, or two: hosts take as long for each element.
    fn gather_pair(&mut self, found: &Found<'_>, pair: &[(usize, usize)]) -> Vec<Value> {
        let bits = found.message.slot as u32 * 8;
        let elements = match together(found.message, pair) {
            Some(first) => {
                let both = self.gathered(found, first, Ty::int(64, found.offsets.ty.lanes), 4);
                let high = self.f.binary("lshr", &both, &Value::int(both.ty, 32));
                vec![both, high]
            }
            None => pair.iter().map(|(inner, _)| self.gather(found, *inner)).collect(),
        };
        elements.iter().map(|value| self.f.resize(value, bits, false)).collect()
    }

    /// One component of each lane.
    fn gather(&mut self, found: &Found<'_>, inner: usize) -> Value {
        let Found { message, offsets, .. } = found;
        let ty = Ty::int(message.size as u32 * 8, offsets.ty.lanes);
        if !self.plan.host.vectors.masked || message.size >= 4 || message.alignment < message.size {
            return self.gathered(found, inner, ty, message.size);
        }
        // Hosts gather no bytes and words: the dwords that have them, which are in the same window.
        let at = self.f.binary("add", offsets, &Value::int(offsets.ty, inner as u64));
        let whole = self.f.binary("and", &at, &Value::int(at.ty, !3));
        let dwords = Found { offsets: whole, mask: found.mask.clone(), alignment: 4, ..*found };
        let dwords = self.gathered(&dwords, 0, Ty::int(32, at.ty.lanes), 4);
        let byte = self.f.binary("and", &at, &Value::int(at.ty, 3));
        let shift = self.f.binary("shl", &byte, &Value::int(at.ty, 3));
        let own = self.f.binary("lshr", &dwords, &shift);
        self.f.resize(&own, message.size as u32 * 8, false)
    }

    /// Elements so many bytes behind each lane's place, aligned at most so much.
    fn gathered(&mut self, found: &Found<'_>, inner: usize, ty: Ty, alignment: usize) -> Value {
        let host = self.f.at(&found.reach.host, inner);
        self.gathered_at(&host, &found.offsets, ty, found.alignment.min(alignment), found.mask.as_ref())
    }

    /// Elements at such offsets from a place, which is below 2 GB; 0 where a mask does not hold, which only hosts with masks have.
    pub(super) fn gathered_at(
        &mut self,
        host: &Value,
        offsets: &Value,
        ty: Ty,
        alignment: usize,
        mask: Option<&Value>,
    ) -> Value {
        if self.plan.host.vectors.masked {
            let places = self.places_at(host, offsets);
            let suffix = format!(".{}.{}", ty.mangled(), places.ty.mangled());
            let (align, none) = (Value::int(I32, alignment as u64), Value::int(ty, 0));
            let all = all_lanes(ty.lanes);
            return self.f.intrinsic(
                "masked.gather",
                &suffix,
                ty,
                &[&places, &align, mask.unwrap_or(&all), &none],
            );
        }
        let gather = Gather { bits: ty.scalar.bits(), lanes: ty.lanes, alignment };
        if let Some(gathers) = &mut self.gathers {
            gathers.insert(gather);
            let call =
                format!("call {} @{}({}, {})", ty.text(), gather.name(), host.typed(), offsets.typed());
            return self.f.value(ty, &call);
        }
        self.each_lane_of(gather, host, offsets)
    }

    /// Writes the functions that gather.
    pub(super) fn gathers_apart(&mut self) {
        for gather in self.gathers.take().unwrap_or_default() {
            let entry = self.f.label();
            self.f.begin(entry);
            let host = Value::named(POINTER, "%host");
            let offsets = Value::named(Ty::int(32, gather.lanes), "%offsets");
            let all = self.each_lane_of(gather, &host, &offsets);
            self.f.ret(&all);
            let arguments = format!("{}, {}", host.typed(), offsets.typed());
            let header = format!("define internal {} @{}({arguments}) #5", all.ty.text(), gather.name());
            self.module.add(std::mem::take(&mut self.f), &header, entry);
        }
    }

    /// The elements of all lanes, one by one.
    fn each_lane_of(&mut self, gather: Gather, host: &Value, offsets: &Value) -> Value {
        let Gather { bits, lanes, alignment } = gather;
        let ty = Ty::int(bits, lanes);
        // With places in vectors, LLVM would extend and add offsets there, and take more from one register to another.
        let how = format!("align {alignment}");
        (0..lanes).fold(Value::poison(ty), |all, lane| {
            let place = self.place_of_lane(host, offsets, lane);
            let own = self.f.load(Ty { lanes: 1, ..ty }, &place, &how);
            self.f.insert(&all, &own, lane)
        })
    }

    /// The place of a lane.
    pub(super) fn place_of_lane(&mut self, host: &Value, offsets: &Value, lane: u32) -> Value {
        let offset = self.f.element(offsets, lane);
        let offset = self.f.resize(&offset, 64, false);
        self.f.offset(host, &offset)
    }

    /// All components, lane by lane, so that where lanes overlap the last one's stay, as the interpreter has it.
    fn scatter(
        &mut self,
        message: &Lanes,
        reach: &Reach,
        offsets: &Value,
        mask: Option<&Value>,
        data: &[Value],
    ) {
        if mask.is_none() && !self.plan.host.vectors.masked {
            let how = how(message);
            for lane in 0..offsets.ty.lanes {
                let place = self.place_of_lane(&reach.host, offsets, lane);
                for ((inner, _), data) in message.components.iter().zip(data) {
                    let at = self.f.at(&place, *inner);
                    let own = self.f.element(data, lane);
                    self.f.store(&own, &at, &how);
                }
            }
            return;
        }
        let pairs: Option<Vec<usize>> =
            message.components.chunks(2).map(|pair| together(message, pair)).collect();
        let all_of = |components: &[(usize, usize)]| components.iter().map(|(inner, _)| *inner).collect();
        let (inner, data): (Vec<usize>, Vec<Value>) = match pairs {
            Some(pairs) => (pairs, data.chunks(2).map(|pair| self.pair(&pair[0], &pair[1])).collect()),
            None => (all_of(&message.components), data.to_vec()),
        };
        let count = inner.len() as u32;
        let value = self.interleaved(&data);
        let (mut offsets, mut mask) = (offsets.clone(), mask.cloned());
        if count > 1 {
            let order: Vec<u32> = (0..value.ty.lanes).map(|n| n / count).collect();
            offsets = self.f.shuffle(&offsets, None, &order);
            mask = mask.map(|mask| self.f.shuffle(&mask, None, &order));
        }
        let inner = Value::ints(offsets.ty, |n| inner[(n % count) as usize] as u64);
        let offsets = self.f.binary("add", &offsets, &inner);
        let mut places = self.places_at(&reach.host.clone(), &offsets);
        if let Some(enabled) = mask.take_if(|_| !self.plan.host.vectors.masked) {
            // Without masks there would be a branch for each lane, too. Lanes that are not enabled write where nobody reads.
            let nowhere = self.nowhere();
            let nowhere = self.f.splat(&nowhere, places.ty.lanes);
            places = self.f.select(&enabled, &places, &nowhere);
        }
        let mask = mask.unwrap_or_else(|| all_lanes(places.ty.lanes));
        let suffix = format!(".{}.{}", value.ty.mangled(), places.ty.mangled());
        let align = Value::int(I32, message.alignment.min(message.size) as u64);
        self.f.intrinsic_line("masked.scatter", &suffix, &[&value, &places, &align, &mask]);
    }

    /// Two dwords of each lane as a qword.
    fn pair(&mut self, low: &Value, high: &Value) -> Value {
        let [low, high] = [low, high].map(|value| self.f.resize(value, 64, false));
        let high = self.f.binary("shl", &high, &Value::int(high.ty, 32));
        self.f.binary("or", &low, &high)
    }

    pub(super) fn places_at(&mut self, host: &Value, offsets: &Value) -> Value {
        let pointers = Ty { scalar: Scalar::Pointer, lanes: offsets.ty.lanes };
        self.f.value(pointers, &format!("getelementptr i8, {}, {}", host.typed(), offsets.typed()))
    }
}

/// The mask of all lanes.
fn all_lanes(lanes: u32) -> Value {
    Value::int(Ty::int(1, lanes), 1)
}

/// Where a pair of components begins that are one element for the host: two dwords that follow each other.
fn together(message: &Lanes, pair: &[(usize, usize)]) -> Option<usize> {
    match pair {
        [(first, _), (second, _)] if message.size == 4 && *second == first + 4 => Some(*first),
        _ => None,
    }
}
