//! Typed surface reads, writes and atomics of the data port.
//!
//! Skylake manual, Volume 7 "3D-Media-GPGPU", "Typed Surface Read/Write", "Typed Atomic Operation";
//! descriptors: Volume 2d, `MSD1R_TS`, `MSD1W_TS`, `MSD1A_TAI`; cross-checked with Mesa's `brw_eu.h` and
//! `brw_lower_logical_sends.cpp`.
//!
//! Payload: optional header, up to four registers of coordinates (U, V, R, level of detail; missing ones are
//! 0), then the data, a register for each channel of a texel. All are for eight channels of the thread.

use super::call::Call;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::file;
use crate::message::image::operations::{SlotGroup, Typed, TypedAtomic};
use crate::message::image::prepared::{ImageOperation, Prepared};
use crate::message::image::source::TexelAccess;
use crate::message::image::surface::{Surface, SurfaceType};
use crate::message::image::values::{LANES, Lanes, Texel, each};
use crate::message::port::MemoryRegion;
use crate::operand::lanes;

/// Number of channels of a typed message.
const SIMD: usize = 8;
/// Maximum number of coordinates.
const COORDINATES: usize = 4;

impl Call<'_, '_> {
    /// The enabled channels: those of the instruction that are also in the header's sample mask.
    fn samples(&self, slots: SlotGroup) -> Result<u32, Fault> {
        let mask = self.channels(SIMD)?;
        if !self.lengths.header {
            if self.context.strict && self.rules().typed_header {
                return Err(Fault::illegal("a typed message without a header"));
            }
            return Ok(mask);
        }
        let samples = self.header(7)?;
        Ok(mask & (samples >> slots.first_sample() & 0xff))
    }

    /// Number of registers of coordinates, when `data` registers of data follow them.
    fn coordinates(&self, data: usize) -> Result<usize, Fault> {
        let registers = self.lengths.length + self.lengths.second_length;
        match registers.checked_sub(self.first() + data) {
            Some(count @ 1..=COORDINATES) => Ok(count),
            _ => Err(Fault::illegal("a typed message needs one to four registers of coordinates")),
        }
    }

    /// The coordinates of all lanes: U, V, R, level of detail.
    fn lane_coordinates(&self, count: usize) -> Result<[Lanes<u32>; COORDINATES], Fault> {
        let mut coordinates = [[0; LANES]; COORDINATES];
        for (index, coordinates) in coordinates[..count].iter_mut().enumerate() {
            *coordinates = self.operand(self.first() + index)?;
        }
        Ok(coordinates)
    }

    /// An operand of all lanes.
    fn operand(&self, index: usize) -> Result<Lanes<u32>, Fault> {
        let at = self.payload(index)?;
        let mut values = [0; LANES];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values[..SIMD]);
        bytes.copy_from_slice(&self.thread.file[at..at + SIMD * 4]);
        Ok(values)
    }
}

/// As [`Surface::texel`] for a message of the data port.
fn port_texel(image: &Surface, place: [u32; COORDINATES]) -> Result<Option<u64>, Fault> {
    if image.ty != SurfaceType::Buffer && (place[3] != 0 || image.first_level != 0 || image.last_level != 0) {
        return Err(Fault::unsupported("a typed access to a surface with levels of detail"));
    }
    Ok(image.texel(0, [place[0], place[1], place[2]]))
}

/// The texels that a typed message accesses, with `data` registers of data after the coordinates; none for an
/// invalid one.
pub fn texels(call: &mut Call<'_, '_>, surface: u8, slots: SlotGroup, data: usize) -> Vec<TexelAccess> {
    let texels = |call: &mut Call<'_, '_>| -> Result<Vec<TexelAccess>, Fault> {
        let image = call.image(surface)?;
        let mask = call.samples(slots)?;
        let coordinates = call.lane_coordinates(call.coordinates(data)?)?;
        let address = |lane: usize| port_texel(&image, coordinates.map(|values| values[lane])).ok().flatten();
        let bytes = image.format.bytes();
        Ok(lanes(mask).filter_map(address).map(|address| TexelAccess { address, bytes }).collect())
    };
    texels(call).unwrap_or_default()
}

/// Typed read and write. Out of bounds, reads are 0 and writes are dropped.
pub fn access(call: &mut Call<'_, '_>, message: &Typed) -> Result<(), Fault> {
    let prepared = call.prepare(ImageOperation::Typed, message.surface, None)?;
    access_prepared(call, message, &prepared)?;
    call.keep(prepared);
    Ok(())
}

fn access_prepared(call: &mut Call<'_, '_>, message: &Typed, prepared: &Prepared) -> Result<(), Fault> {
    let Typed { write, components, slots, .. } = *message;
    let image = &prepared.image;
    let generation = call.context.device.generation;
    let converts = if write { image.format.typed_write } else { image.format.typed_read.has(generation) };
    if image.ty != SurfaceType::Null && !converts {
        let direction = if write { "write" } else { "read" };
        return Err(Fault::illegal(format!("a typed {direction} of format {}", image.format.name)));
    }
    if call.context.strict {
        image.check_typed()?;
    }
    let moved = components.count_ones() as usize;
    let missing = image.format.components() & !components;
    if write && missing != 0 && call.context.strict {
        return Err(Fault::illegal("a typed write without all channels of the surface's format"));
    }
    let mask = call.samples(slots)?;
    let count = call.coordinates(if write { moved } else { 0 })?;
    let data = call.first() + count;
    let response = if write { 0 } else { call.response(moved)? };
    // Read first, as the response may overlap the payload.
    let [u, v, r, levels] = call.lane_coordinates(count)?;
    let needed = [0, 1, 2, 3].map(|channel| components >> channel & 1 != 0);
    let channels = (0..4).filter(|channel| needed[*channel]);
    let mut values = [[0; LANES]; 4];
    if write {
        for (index, channel) in channels.clone().enumerate() {
            values[channel] = call.operand(data + index)?;
        }
    }
    // Other levels are refused channel by channel.
    let first_level = image.ty == SurfaceType::Buffer || lanes(mask).all(|lane| levels[lane] == 0);
    let access = if first_level { call.lane_access(prepared, mask, needed) } else { None };
    match access {
        Some((access, _)) if write && missing == 0 => access.written::<SIMD>(&[u, v, r], &values),
        Some((access, _)) if !write => {
            let (texels, inside) = access.loaded::<SIMD>(&[u, v, r], [0; 3], &[0; LANES]);
            values =
                texels.map(|texels| each::<SIMD, _>(|n| if inside >> n & 1 != 0 { texels[n] } else { 0 }));
        }
        _ => {
            for lane in lanes(mask) {
                let place = [u, v, r, levels].map(|coordinates| coordinates[lane]);
                let mut texel = values.map(|values| values[lane]);
                transfer(call, image, place, write.then_some(components), &mut texel)
                    .map_err(|fault| fault.in_lane(lane as u32))?;
                (0..4).for_each(|channel| values[channel][lane] = texel[channel]);
            }
        }
    }
    if !write {
        for (index, channel) in channels.enumerate() {
            call.write_lanes(response + index * GRF_SIZE, SIMD, mask, &values[channel]);
        }
    }
    Ok(())
}

/// Reads or writes a texel. `written` is the mask of the channels to write.
fn transfer(
    call: &mut Call<'_, '_>,
    image: &Surface,
    place: [u32; COORDINATES],
    written: Option<u8>,
    texel: &mut Texel,
) -> Result<(), Fault> {
    let (address, size) = (port_texel(image, place)?, image.format.bytes());
    match (address, written) {
        (None, Some(_)) => {}
        (None, None) => *texel = [0; 4],
        (Some(address), None) => *texel = image.format.decode(call.read_texel(address, size)?),
        (Some(address), Some(written)) => {
            let missing = image.format.components() & !written;
            let old = if missing != 0 { call.read_texel(address, size)? } else { 0 };
            call.write_texel(address, size, image.format.encode(texel, written, old))?;
        }
    }
    Ok(())
}

/// Typed atomic operations, on texels of one channel of 32 bits, in the order of the channels.
pub fn atomic(call: &mut Call<'_, '_>, message: &TypedAtomic) -> Result<(), Fault> {
    let TypedAtomic { surface, operation, returns, slots } = *message;
    let image = call.image(surface)?;
    if image.ty != SurfaceType::Null && !matches!(image.format.name, "R32_UINT" | "R32_SINT") {
        return Err(Fault::illegal(format!("a typed atomic operation on format {}", image.format.name)));
    }
    let mask = call.samples(slots)?;
    let sources = operation.sources();
    let count = call.coordinates(sources)?;
    let data = call.first() + count;
    let response = if returns { Some(call.response(1)?) } else { None };
    // Addresses are global.
    let memory = MemoryRegion::Memory { base: 0, size: u64::MAX };
    let coordinates = call.lane_coordinates(count)?;
    let mut operands = [[0; LANES]; 2];
    for (index, operand) in operands[..sources].iter_mut().enumerate() {
        *operand = call.operand(data + index)?;
    }
    for lane in lanes(mask) {
        let place = |fault: Fault| fault.in_lane(lane as u32);
        let [a, b] = operands.map(|operand| u64::from(operand[lane]));
        let value = match port_texel(&image, coordinates.map(|values| values[lane])).map_err(place)? {
            Some(address) => {
                let old = call
                    .update(memory, address, 4, |old| {
                        operation.apply(old, a, b, 4).map(|new| new & 0xffff_ffff)
                    })
                    .map_err(place)?;
                operation.returned(old, 4) as u32
            }
            None => 0,
        };
        if let Some(response) = response {
            file::set_dword(&mut call.thread.file, response + lane * 4, value);
        }
    }
    Ok(())
}
