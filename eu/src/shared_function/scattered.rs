//! Messages with an address per channel: untyped surface, byte, dword and qword scattered reads and writes.
//!
//! Payload: optional header, addresses (dwords, or qwords for A64), data. The data of one component of all
//! channels fills whole registers: dwords one register for SIMD8 and two for SIMD16, qwords twice that.

use super::call::Call;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::file::{element, set_element};
use crate::message::port::{MemoryRegion, is_inside};
use crate::message::{Element, Scattered, Untyped};
use crate::operand::lanes;

/// Untyped surface read and write.
#[inline]
pub fn untyped(call: &mut Call<'_, '_>, message: &Untyped) -> Result<(), Fault> {
    let Untyped { space, write, components, simd } = *message;
    let region = call.region(space)?;
    let addresses = call.addresses(space, simd)?;
    let mask = call.channels(simd)?;
    let per_component = Call::registers(simd, 4);
    let count = components.count_ones() as usize;
    let data = call.first() + Call::registers(simd, Call::address_size(space));
    let base = if write {
        call.payload_range(data, count * per_component)?
    } else {
        call.response(count * per_component)?
    };
    if count == 1 && components == 1 && contiguous(call, region, &addresses[..simd], mask, base, write)? {
        return Ok(());
    }
    for lane in lanes(mask) {
        let address = call.aligned(addresses[lane], 4).map_err(|f| f.in_lane(lane as u32))?;
        let mut slot = base + lane * 4;
        for component in (0..4).filter(|c| components >> c & 1 != 0) {
            let offset = address.wrapping_add(component * 4);
            transfer(call, region, offset, slot, 4, 4, write).map_err(|f| f.in_lane(lane as u32))?;
            slot += per_component * GRF_SIZE;
        }
    }
    Ok(())
}

/// Byte, dword and qword scattered read and write.
pub fn scattered(call: &mut Call<'_, '_>, message: &Scattered) -> Result<(), Fault> {
    let Scattered { space, write, element, count, simd, address_unit, alignment } = *message;
    let region = call.region(space)?;
    let addresses = call.addresses(space, simd)?;
    let mask = call.channels(simd)?;
    let (size, register_size) = (element.size(), element.register_size());
    let per_element = Call::registers(simd, register_size);
    let data = call.first() + Call::registers(simd, Call::address_size(space));
    let base = if write {
        call.payload_range(data, count * per_element)?
    } else {
        call.response(count * per_element)?
    };
    if count == 1
        && element == Element::Dword
        && address_unit == 1
        && contiguous(call, region, &addresses[..simd], mask, base, write)?
    {
        return Ok(());
    }
    for lane in lanes(mask) {
        let address = call.aligned(addresses[lane].wrapping_mul(address_unit), alignment);
        let address = address.map_err(|f| f.in_lane(lane as u32))?;
        for k in 0..count {
            let slot = base + k * per_element * GRF_SIZE + lane * register_size;
            let offset = address.wrapping_add((k * size) as u64);
            transfer(call, region, offset, slot, size, register_size, write)
                .map_err(|f| f.in_lane(lane as u32))?;
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
