//! The states that messages use: surface states, sampler states and border colours.

use super::call::Call;
use crate::fault::Fault;
use crate::message::image::rules::{self, IntegerBorder, Rules};
use crate::message::image::sampler_state::unpack_border;
use crate::message::image::surface::Surface;
use crate::message::image::values::Texel;
use crate::message::surface_state::{SurfaceState, read_surface_state};

impl Call<'_, '_> {
    /// The rules of images in the device's generation.
    pub fn rules(&self) -> &'static Rules {
        rules::of(self.context.device.generation)
    }

    /// Reads the surface state of a binding table index; dwords that the generation does not have are 0.
    pub fn surface_state(&mut self, index: u8) -> Result<SurfaceState, Fault> {
        let (launch, generation) = (self.context.launch, self.context.device.generation);
        self.check_used("surface", index, launch.used.surfaces)?;
        read_surface_state(launch, generation, self.context.memory, &mut self.context.state_cursor, index)
    }

    /// Strict mode: a kernel uses no more states than its interface descriptor says. The others may be
    /// whatever is behind them.
    pub fn check_used(&self, what: &str, index: u8, used: Option<u32>) -> Result<(), Fault> {
        match used {
            Some(count) if self.context.strict && u32::from(index) >= count => {
                Err(Fault::illegal(format!("{what} {index}, of {count} that the interface descriptor has")))
            }
            _ => Ok(()),
        }
    }

    /// Reads the state of a sampler, from the table that the header points to, else from the launch's.
    pub fn sampler_dwords(&mut self, index: u8) -> Result<[u32; 4], Fault> {
        let launch = self.context.launch;
        let table = if self.lengths.header { self.header(3)? } else { launch.samplers } & !0x1f;
        // A header may name another table.
        if table == launch.samplers {
            self.check_used("sampler", index, launch.used.samplers)?;
        }
        let offset = u64::from(table) + u64::from(index) * 16;
        self.dynamic_state(offset)
    }

    /// Reads the border colour at an offset, for a surface: four floats, or integers for integer formats.
    pub fn border_colour(&mut self, offset: u32, image: &Surface) -> Result<Texel, Fault> {
        let offset = u64::from(offset);
        let border =
            if image.format.is_integer() { self.rules().integer_border } else { IntegerBorder::Same };
        match border {
            IntegerBorder::Same => self.dynamic_state(offset),
            IntegerBorder::Packed if image.integer_border && offset.is_multiple_of(512) => {
                let colour = self.dynamic_state(offset + 64)?;
                Ok(unpack_border(image.format, colour))
            }
            IntegerBorder::Packed => Err(Fault::illegal(
                "the border colour of integers without Integer Surface Format, or not aligned to 512 bytes",
            )),
            IntegerBorder::Missing => {
                Err(Fault::illegal(format!("the border colour of integer format {}", image.format.name)))
            }
        }
    }

    /// Reads four dwords at an offset from the Dynamic State Base Address.
    pub fn dynamic_state(&mut self, offset: u64) -> Result<[u32; 4], Fault> {
        let address = self.context.launch.bases.dynamic.wrapping_add(offset);
        let mut bytes = [0; 16];
        self.context.memory.read(&mut self.context.state_cursor, address, &mut bytes)?;
        Ok(bytemuck::cast(bytes))
    }
}
