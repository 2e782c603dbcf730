//! Media block reads and writes: rectangles of bytes of a two-dimensional surface.
//!
//! Skylake manual, Volume 7 "3D-Media-GPGPU", "Media Block Read/Write", Volume 2d, `MH_MBR`, `MH_MBW`;
//! cross-checked with the code of Intel's compiler for block reads of images.
//!
//! The header has the position in bytes and rows, and the size; the surface's Width counts dwords. The stride
//! of rows in registers is their size rounded up to a power of two, at least four bytes. Reads out of bounds
//! repeat the dword or row at the surface's edge, writes are dropped. The execution mask is ignored.

use super::call::Call;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::message::image::operations::{MediaBlock, RowOverride};
use crate::message::image::surface::SurfaceType;

/// Maximum number of registers of a block.
const MAX_REGISTERS: usize = 8;

/// The addresses of the bytes of a block that are in the image.
pub fn addresses(call: &mut Call<'_, '_>, message: &MediaBlock) -> Result<Vec<u64>, Fault> {
    let image = call.image(message.surface)?;
    let (x, y) = (call.header(0)? as i32, call.header(1)? as i32);
    let size = call.header(2)?;
    let (width, height) = ((size & 0x3f) as i32 + 1, (size >> 16 & 0x3f) as i32 + 1);
    let [columns, lines, _] = image.size.map(|size| size as i32);
    let rows = (0..height).map(|row| y.wrapping_add(row)).filter(|line| (0..lines).contains(line));
    Ok(rows
        .flat_map(|line| (0..width).map(move |column| (x.wrapping_add(column), line)))
        .filter(|(byte, _)| (0..columns).contains(&(byte >> 2)))
        .map(|(byte, line)| image.byte_address(byte as u32, line as u32))
        .collect())
}

/// Reads or writes a block.
pub fn transfer(call: &mut Call<'_, '_>, message: &MediaBlock) -> Result<(), Fault> {
    let image = call.image(message.surface)?;
    let stride = call.rules().surface.line_stride.get(&call.surface_state(message.surface)?);
    if message.rows == RowOverride::Fields || message.rows == RowOverride::None && stride != 0 {
        return Err(Fault::unsupported("media block messages on fields of frames"));
    }
    if !matches!(image.ty, SurfaceType::TwoDimensional | SurfaceType::Null) {
        return Err(Fault::illegal("a media block message needs a two-dimensional surface"));
    }
    let (x, y) = (call.header(0)? as i32, call.header(1)? as i32);
    let size = call.header(2)?;
    let (width, height) = ((size & 0x3f) as usize + 1, (size >> 16 & 0x3f) as usize + 1);
    if size & !0x003f_003f != 0 {
        return Err(Fault::unsupported(format!("media block control {size:#010x}")));
    }
    let pitch = width.next_power_of_two().max(4);
    let registers = (pitch * height).div_ceil(GRF_SIZE);
    if registers > MAX_REGISTERS {
        return Err(Fault::illegal(format!("a media block of {width} bytes x {height} rows")));
    }
    if call.context.strict && (x & 3 != 0 || width & 3 != 0) && message.write {
        return Err(Fault::illegal("a media block write that is not whole dwords"));
    }
    let at = if message.write { call.payload_range(1, registers)? } else { call.response(registers)? };
    let [columns, lines, _] = image.size.map(|size| size as i32);
    for row in 0..height {
        let line = y.wrapping_add(row as i32);
        for column in 0..width {
            let byte = x.wrapping_add(column as i32);
            let register = at + row * pitch + column;
            let inside = (0..columns).contains(&(byte >> 2)) && (0..lines).contains(&line);
            if message.write {
                if inside {
                    let address = image.byte_address(byte as u32, line as u32);
                    let value = call.thread.file[register];
                    call.write_texel(address, 1, u128::from(value))?;
                }
                continue;
            }
            let value = if image.ty == SurfaceType::Null {
                0
            } else {
                let dword = (byte >> 2).clamp(0, columns - 1);
                let line = line.clamp(0, lines - 1);
                let address = image.byte_address((dword << 2 | byte & 3) as u32, line as u32);
                call.read_texel(address, 1)? as u8
            };
            call.thread.file[register] = value;
        }
    }
    Ok(())
}
