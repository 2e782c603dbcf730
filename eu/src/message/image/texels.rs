//! Addresses of the texels of all channels, and the texels' bits.
//!
//! An address is the sum of an offset that depends on the column and one that depends on the row, with any
//! tiling.

use super::surface::{Surface, SurfaceType};
use super::values::{Dwords, LANES, Lanes, each};
use crate::memory::HostRange;
use crate::operand::lanes;

/// A level of detail of a surface: where its texels are.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// Its number, counted from the level 0 of the surface state.
    pub number: u32,
    /// Size in texels: width, height, depth or slices.
    pub size: [u32; 3],
    /// All texels are in so many bytes from the surface's base address on.
    pub extent: u32,
    /// The position of the first texel of slice 0.
    origin: [u32; 2],
}

impl Level {
    /// A level of a surface; `None` if offsets do not fit in 32 bits.
    pub fn new(image: &Surface, number: u32) -> Option<Level> {
        let size = image.level_size(number);
        let bytes = image.format.bytes() as u64;
        if image.ty == SurfaceType::Buffer {
            let extent = u64::from(size[0] - 1) * image.pitch + bytes;
            return Some(Level { number, size, extent: u32::try_from(extent).ok()?, origin: [0; 2] });
        }
        let origins = (0..size[2]).map(|slice| image.slice_origin(number, slice + image.first_slice));
        let [x, y] = origins.fold([0; 2], |[x, y], origin| [x.max(origin[0]), y.max(origin[1])]);
        let last = y + image.offset[1] + u64::from(size[1]) - 1;
        let end = (x + image.offset[0] + u64::from(size[0])) * bytes;
        let extent = u32::try_from(image.tiling.end(image.pitch, end, last)).ok()?;
        let mut level = Level { number, size, extent, origin: [0; 2] };
        level.origin = level.slice_origin(image, 0);
        Some(level)
    }

    fn slice_origin(&self, image: &Surface, slice: u32) -> [u32; 2] {
        let [x, y] = image.slice_origin(self.number, slice + image.first_slice);
        [(x + image.offset[0]) as u32, (y + image.offset[1]) as u32]
    }

    /// The positions of the first texels of slices.
    #[inline]
    pub fn origins<const N: usize>(&self, image: &Surface, slices: &Lanes<u32>) -> [Lanes<u32>; 2] {
        let mut origins = self.origin.map(|first| [first; LANES]);
        if self.size[2] > 1 {
            // Channels mostly have the same slice.
            let (mut last, mut origin) = (0, self.origin);
            for lane in 0..N {
                if slices[lane] != last {
                    last = slices[lane];
                    origin = self.slice_origin(image, last);
                }
                [origins[0][lane], origins[1][lane]] = origin;
            }
        }
        origins
    }
}

impl Surface {
    /// The offsets of columns, which are in texels.
    #[inline]
    pub fn columns<const N: usize>(&self, columns: &Lanes<u32>) -> Lanes<u32> {
        match self.ty {
            SurfaceType::Buffer => each::<N, _>(|lane| columns[lane].wrapping_mul(self.pitch as u32)),
            SurfaceType::OneDimensional
            | SurfaceType::TwoDimensional
            | SurfaceType::ThreeDimensional
            | SurfaceType::Null => {
                let bytes = self.format.bytes() as u32;
                self.tiling.columns::<N>(&each::<N, _>(|lane| columns[lane].wrapping_mul(bytes)))
            }
        }
    }

    /// The offsets of rows.
    #[inline]
    pub fn rows<const N: usize>(&self, rows: &Lanes<u32>) -> Lanes<u32> {
        self.tiling.rows::<N>(self.pitch as u32, rows)
    }
}

/// Reads texels of `size` bytes at offsets of a range.
#[inline]
pub fn read<const N: usize>(range: &HostRange<'_>, size: usize, offsets: &Lanes<u32>) -> Dwords {
    match size {
        1 => read_sized::<N, 1>(range, offsets),
        2 => read_sized::<N, 2>(range, offsets),
        4 => read_sized::<N, 4>(range, offsets),
        8 => read_sized::<N, 8>(range, offsets),
        12 => read_sized::<N, 12>(range, offsets),
        _ => read_sized::<N, 16>(range, offsets),
    }
}

#[inline(always)]
fn read_sized<const N: usize, const SIZE: usize>(range: &HostRange<'_>, offsets: &Lanes<u32>) -> Dwords {
    let mut texels = [[0; LANES]; 4];
    for lane in 0..N {
        let bytes: [u8; SIZE] = range.load(offsets[lane] as usize);
        for (dword, bytes) in texels.iter_mut().zip(bytes.chunks(4)) {
            let mut whole = [0; 4];
            whole[..bytes.len()].copy_from_slice(bytes);
            dword[lane] = u32::from_le_bytes(whole);
        }
    }
    texels
}

/// Writes texels of `size` bytes at offsets of a range, those of the channels in `mask`, in their order.
pub fn write(range: &HostRange<'_>, size: usize, offsets: &Lanes<u32>, texels: &Dwords, mask: u32) {
    match size {
        1 => write_sized::<1>(range, offsets, texels, mask),
        2 => write_sized::<2>(range, offsets, texels, mask),
        4 => write_sized::<4>(range, offsets, texels, mask),
        8 => write_sized::<8>(range, offsets, texels, mask),
        12 => write_sized::<12>(range, offsets, texels, mask),
        _ => write_sized::<16>(range, offsets, texels, mask),
    }
}

#[inline(always)]
fn write_sized<const SIZE: usize>(range: &HostRange<'_>, offsets: &Lanes<u32>, texels: &Dwords, mask: u32) {
    for lane in lanes(mask) {
        let mut bytes = [0; SIZE];
        for (dword, bytes) in texels.iter().zip(bytes.chunks_mut(4)) {
            bytes.copy_from_slice(&dword[lane].to_le_bytes()[..bytes.len()]);
        }
        range.store(offsets[lane] as usize, bytes);
    }
}
