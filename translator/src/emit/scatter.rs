//! Lanes whose addresses are anywhere.

use super::Emitter;
use super::memory::{LaneAccess, Reach, is_of_fours};
use crate::host;
use crate::ir::{I32, Scalar, Ty, Value};
use crate::message::Lanes;

impl Emitter<'_> {
    /// Each lane for itself, if all are inside.
    pub(super) fn scattered(&mut self, access: &mut LaneAccess<'_>) {
        let LaneAccess { message, reach, addresses, mask, .. } = access;
        let lanes = addresses.lanes();
        let addresses = self.all_of(message, addresses);
        let start = self.f.splat(&reach.start, lanes);
        let offsets = self.f.binary("sub", &addresses, &start);
        let inside = self.inside(reach, &offsets, message.span());
        let aligned = self.aligned(&addresses, message.alignment);
        let inside = self.both(&inside, aligned.as_ref());
        let holds = match mask {
            Some(mask) => self.or_not(&inside, mask),
            None => inside.clone(),
        };
        let mut all = self.f.all(&holds);
        let all_read = mask.is_some() && !message.write && !host::vectors().masked;
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
            // that are outside what the window begins with. Which lanes are enabled is often known later than where they read.
            offsets = self.f.select(&inside, &offsets, &Value::int(offsets.ty, 0));
            mask = None;
        }
        if is_of_fours(message) {
            self.fours(access, &offsets, mask.as_ref());
        } else if message.write {
            self.scatter(message, &access.reach, &offsets, mask.as_ref(), &access.data);
            access.ways.add(self, Vec::new());
        } else {
            let mask = mask.unwrap_or_else(|| all_lanes(lanes));
            let pairs = message.components.chunks(2);
            let values = pairs
                .flat_map(|pair| self.gather_pair(message, &access.reach, &offsets, &mask, pair))
                .collect();
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
                let offset = self.f.element(offsets, lane);
                let offset = self.f.resize(&offset, 64, false);
                let place = self.f.offset(&host, &offset);
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
    fn gather_pair(
        &mut self,
        message: &Lanes,
        reach: &Reach,
        offsets: &Value,
        mask: &Value,
        pair: &[(usize, usize)],
    ) -> Vec<Value> {
        if let Some(first) = together(message, pair) {
            let host = self.f.at(&reach.host, first);
            let both = Ty::int(64, offsets.ty.lanes);
            let both = self.gathered(&host, offsets, both, message.alignment.min(4), mask);
            let high = self.f.binary("lshr", &both, &Value::int(both.ty, 32));
            return [both, high]
                .iter()
                .map(|value| self.f.resize(value, message.slot as u32 * 8, false))
                .collect();
        }
        pair.iter().map(|(inner, _)| self.gather(message, reach, offsets, mask, *inner)).collect()
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
        let bits = message.size as u32 * 8;
        let alignment = message.alignment.min(message.size);
        if message.size < 4 && alignment == message.size {
            // Hosts gather no bytes and words: the dwords that have them, which are in the same window.
            let at = self.f.binary("add", offsets, &Value::int(offsets.ty, inner as u64));
            let whole = self.f.binary("and", &at, &Value::int(at.ty, !3));
            let dwords = self.gathered(&reach.host.clone(), &whole, Ty::int(32, at.ty.lanes), 4, mask);
            let byte = self.f.binary("and", &at, &Value::int(at.ty, 3));
            let shift = self.f.binary("shl", &byte, &Value::int(at.ty, 3));
            let own = self.f.binary("lshr", &dwords, &shift);
            let own = self.f.resize(&own, bits, false);
            return self.f.resize(&own, message.slot as u32 * 8, false);
        }
        let host = self.f.at(&reach.host, inner);
        let value = self.gathered(&host, offsets, Ty::int(bits, offsets.ty.lanes), alignment, mask);
        self.f.resize(&value, message.slot as u32 * 8, false)
    }

    /// Elements at such offsets from a place; 0 where a mask that hosts have does not hold.
    pub(super) fn gathered(
        &mut self,
        host: &Value,
        offsets: &Value,
        ty: Ty,
        alignment: usize,
        mask: &Value,
    ) -> Value {
        let places = self.places_at(host, offsets);
        let suffix = format!(".{}.{}", ty.mangled(), places.ty.mangled());
        let (align, none) = (Value::int(I32, alignment as u64), Value::int(ty, 0));
        self.f.intrinsic("masked.gather", &suffix, ty, &[&places, &align, mask, &none])
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
        if let Some(enabled) = mask.take_if(|_| !host::vectors().masked) {
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
