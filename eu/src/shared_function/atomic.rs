//! Atomic operations in memory.

use std::cell::Cell;

use super::call::Call;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::file::{element, set_element};
use crate::message::Atomic;
use crate::operand::lanes;

/// Performs the operation for each channel, in the order of the channels.
pub fn perform(call: &mut Call<'_, '_>, message: &Atomic) -> Result<(), Fault> {
    let Atomic { space, operation, size, simd, returns } = *message;
    let region = call.region(space)?;
    let addresses = call.addresses(space, simd)?;
    let mask = call.channels(simd)?;
    let per_source = Call::registers(simd, size);
    let data = call.first() + Call::registers(simd, space.address_size());
    let sources = operation.sources();
    let source = if sources > 0 { call.payload_range(data, sources * per_source)? } else { 0 };
    let response = if returns { Some(call.response(per_source)?) } else { None };
    let mut changes = false;
    for lane in lanes(mask) {
        let place = |f: Fault| f.in_lane(lane as u32);
        let address = call.aligned(addresses[lane], size as u64).map_err(place)?;
        let operand = |call: &Call<'_, '_>, k: usize| {
            let at = source + k * per_source * GRF_SIZE + lane * size;
            if k < sources { element(&call.thread.file[at..at + size]) } else { 0 }
        };
        let (a, b) = (operand(call, 0), operand(call, 1));
        let cut = |value: u64| if size == 8 { value } else { u64::from(value as u32) };
        // The new value, of the last time that the update was tried.
        let new = Cell::new(None);
        let apply = |old| {
            new.set(operation.apply(old, a, b, size).map(cut));
            new.get()
        };
        let old = call.update(region, address, size, apply).map_err(place)?;
        changes |= new.get().is_some_and(|new| new != old);
        if let Some(response) = response {
            let value = operation.returned(old, size);
            let at = response + lane * size;
            set_element(&mut call.thread.file[at..at + size], value);
        }
    }
    if changes {
        call.thread.polls = None;
    } else if returns {
        call.thread.poll();
    }
    Ok(())
}
