//! Messages with an address per channel: untyped surface, byte, dword and qword scattered reads and writes.
//!
//! Payload: optional header, addresses (dwords, or qwords for A64), data. The data of one component of all
//! channels fills whole registers: dwords one register for SIMD8 and two for SIMD16, qwords twice that.

use super::call::Call;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::file::{element, set_element};
use crate::message::port::{MemoryRegion, is_inside};
use crate::message::{Elements, Scattered};
use crate::operand::lanes;

/// A dword at each address.
const DWORD: Elements = Elements::first(1, 4, 4);

/// Reads and writes, for each channel in turn.
#[inline]
pub fn perform(call: &mut Call<'_, '_>, message: &Scattered) -> Result<(), Fault> {
    let Scattered { space, write, elements, simd, address_unit } = *message;
    let region = call.region(space)?;
    let addresses = call.addresses(space, simd)?;
    let mask = call.channels(simd)?;
    let per_element = Call::registers(simd, elements.register_size());
    let (data, count) = (call.first() + Call::registers(simd, space.address_size()), elements.count());
    let base = if write {
        call.payload_range(data, count * per_element)?
    } else {
        call.response(count * per_element)?
    };
    let places = Places { region, address_unit, base, step: per_element * GRF_SIZE };
    // Dwords are most of all: their size and, of one, the number are constants in the loop.
    match (elements, address_unit) {
        (DWORD, 1) => {
            if contiguous(call, region, &addresses[..simd], mask, base, write)? {
                return Ok(());
            }
            each_lane(call, Places { address_unit: 1, ..places }, &addresses, mask, DWORD, write)
        }
        (Elements { size: 4, alignment: 4, present }, _) => {
            each_lane(call, places, &addresses, mask, Elements { size: 4, present, alignment: 4 }, write)
        }
        _ => each_lane(call, places, &addresses, mask, elements, write),
    }
}

/// Where elements are.
#[derive(Clone, Copy)]
struct Places {
    region: MemoryRegion,
    /// See [`Scattered`].
    address_unit: u64,
    /// First byte in the register file, and bytes from there to the next element of the lanes.
    base: usize,
    step: usize,
}

#[inline(always)]
fn each_lane(
    call: &mut Call<'_, '_>,
    places: Places,
    addresses: &[u64],
    mask: u32,
    elements: Elements,
    write: bool,
) -> Result<(), Fault> {
    let (size, register_size) = (elements.size.into(), elements.register_size());
    for lane in lanes(mask) {
        let in_lane = |fault: Fault| fault.in_lane(lane as u32);
        let address = addresses[lane].wrapping_mul(places.address_unit);
        let address = call.aligned(address, elements.alignment.into()).map_err(in_lane)?;
        let mut slot = places.base + lane * register_size;
        for inner in elements.offsets() {
            let offset = address.wrapping_add(inner as u64);
            transfer(call, places.region, offset, slot, size, register_size, write).map_err(in_lane)?;
            slot += places.step;
        }
    }
    Ok(())
}

/// Moves one element between memory and a register. Reads are zero-extended to the register's element.
#[inline(always)]
fn transfer(
    call: &mut Call<'_, '_>,
    region: MemoryRegion,
    offset: u64,
    slot: usize,
    size: usize,
    register_size: usize,
    write: bool,
) -> Result<(), Fault> {
    if write {
        let value = element(&call.thread.file[slot..slot + register_size]);
        call.write_element(region, offset, size, value)
    } else {
        let value = call.read_element(region, offset, size)?;
        set_element(&mut call.thread.file[slot..slot + register_size], value);
        Ok(())
    }
}

/// Fast path for the case that all channels are enabled and access consecutive aligned dwords in one buffer.
/// Returns whether it applied.
fn contiguous(
    call: &mut Call<'_, '_>,
    region: MemoryRegion,
    addresses: &[u64],
    mask: u32,
    slot: usize,
    write: bool,
) -> Result<bool, Fault> {
    let simd = addresses.len();
    let MemoryRegion::Memory { base, size } = region else { return Ok(false) };
    let first = addresses[0];
    let consecutive =
        addresses.iter().enumerate().fold(true, |all, (n, a)| all & (*a == first.wrapping_add(4 * n as u64)));
    let bytes = simd * 4;
    if !consecutive
        || !is_inside(first, bytes, size)
        || !first.is_multiple_of(4)
        || mask != u32::MAX >> (32 - simd)
    {
        return Ok(false);
    }
    let address = base.wrapping_add(first);
    let Some(range) =
        call.context.memory.range(&mut call.context.caches[call.thread.ip].cursor, address, bytes as u64)
    else {
        return Ok(false);
    };
    let registers = &mut call.thread.file[slot..slot + bytes];
    if write {
        range.write(0, registers);
    } else {
        range.read(0, registers);
    }
    Ok(true)
}
