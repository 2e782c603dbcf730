//! Access to images: their decoded states, and their texels.

use super::call::Call;
use crate::fault::Fault;
use crate::file;
use crate::message::image::lanes::LaneAccess;
use crate::message::image::prepared::{ImageOperation, Key, Prepared};
use crate::message::image::source::TexelSource;
use crate::message::image::surface::Surface;
use crate::message::image::values::{Lanes, Texel};
use crate::message::surface_state::SurfaceState;
use crate::operand::lanes;

impl TexelSource for Call<'_, '_> {
    fn texel(&mut self, address: u64, image: &Surface) -> Result<Texel, Fault> {
        Ok(image.format.decode(self.read_texel(address, image.format.bytes())?))
    }

    fn border(&mut self, offset: u32, image: &Surface) -> Result<Texel, Fault> {
        self.border_colour(offset, image)
    }
}

impl Call<'_, '_> {
    /// Reads the state of the surface that a typed message or the sampler accesses.
    pub fn image_state(&mut self, index: u8) -> Result<SurfaceState, Fault> {
        if matches!(index, 253..=255) {
            return Err(Fault::illegal(format!("typed access through binding table index {index}")));
        }
        self.surface_state(index)
    }

    /// Decodes the surface that a message accesses.
    pub fn image(&mut self, index: u8) -> Result<Surface, Fault> {
        let state = self.image_state(index)?;
        Surface::decode(&state, self.rules(), self.context.strict)
    }

    /// The states that a message uses: those that its instruction has kept, if they are still the same.
    pub fn prepare(
        &mut self,
        operation: ImageOperation,
        surface: u8,
        sampler: Option<u8>,
    ) -> Result<Box<Prepared>, Fault> {
        let rules = self.rules();
        let surface = self.image_state(surface)?;
        let sampler = sampler.map(|index| self.sampler_dwords(index)).transpose()?;
        let key = Key { operation, surface, sampler, strict: self.context.strict };
        match self.context.caches[self.thread.ip].image.take() {
            Some(kept) if kept.key == key => Ok(kept),
            _ => Ok(Box::new(Prepared::new(key, rules)?)),
        }
    }

    /// Keeps prepared states for the next time.
    pub fn keep(&mut self, prepared: Box<Prepared>) {
        self.context.caches[self.thread.ip].image = Some(prepared);
    }

    /// Reads the bytes of a texel at a GPU address.
    pub fn read_texel(&mut self, address: u64, size: usize) -> Result<u128, Fault> {
        let mut bytes = [0; 16];
        let cursor = &mut self.context.caches[self.thread.ip].cursor;
        self.context.memory.read(cursor, address, &mut bytes[..size])?;
        Ok(u128::from_le_bytes(bytes))
    }

    /// Writes the bytes of a texel at a GPU address.
    pub fn write_texel(&mut self, address: u64, size: usize, bits: u128) -> Result<(), Fault> {
        let cursor = &mut self.context.caches[self.thread.ip].cursor;
        Ok(self.context.memory.write(cursor, address, &bits.to_le_bytes()[..size])?)
    }

    /// Writes a dword per channel to registers.
    pub fn write_lanes(&mut self, at: usize, simd: usize, mask: u32, values: &Lanes<u32>) {
        if mask == u32::MAX >> (32 - simd) {
            self.thread.file[at..at + simd * 4].copy_from_slice(bytemuck::cast_slice(&values[..simd]));
            return;
        }
        for lane in lanes(mask) {
            file::set_dword(&mut self.thread.file, at + lane * 4, values[lane]);
        }
    }
}

impl<'c> Call<'_, 'c> {
    /// Access to the texels of all channels at once, and whether the minification filter applies; `None` if channels
    /// use different levels of detail, or the level is not in one buffer.
    pub fn lane_access<'p>(
        &mut self,
        prepared: &'p Prepared,
        mask: u32,
        needed: [bool; 4],
    ) -> Option<(LaneAccess<'p>, bool)>
    where
        'c: 'p,
    {
        let (level, smaller) = prepared.level.as_ref()?;
        let cursor = &mut self.context.caches[self.thread.ip].cursor;
        let range = self.context.memory.range(cursor, prepared.image.base, u64::from(level.extent))?;
        Some((LaneAccess { prepared, level, range, mask, needed }, *smaller))
    }
}
