//! Accesses to images: messages to the sampler, and typed writes of the data port.
//!
//! - `sample_lz` and `ld_lz` (Gen9; before it `sample_l` and `ld` with level 0): the coordinates, a dword for each lane;
//!   the response has red, green, blue and alpha, as many of them as are read. 16 lanes at most.
//! - typed writes: the coordinates, then the four channels; 8 lanes.
//!
//! Sources: Skylake manual, Volume 7, "Sampling Engine", "Messages", and "Typed Surface Write"; the order of parameters
//! also in Mesa's `brw_lower_logical_sends.cpp` (`lower_sampler_logical_send`, `lower_surface_logical_send`).

use super::memory::{LoadedPart, simd_mode};
use super::{Failure, Selector};

use crate::codegen::lir::{GRF, VRef};
use crate::codegen::operand::{Dest, LaneRegion, Operation, Val, ValueLocation};
use crate::ir::{ImageAccess, ImageOp, Instruction};
use gencl_device_info::AddressModel;
use gencl_isa::message::{Message, Operation as Access, SlotGroup};
use gencl_isa::{Opcode, Send, Type};
use gencl_program::{MAX_SAMPLERS, SamplerSource, SurfaceBinding, SurfaceView};

/// Most lanes of a message to the sampler, and of a typed one.
const SAMPLER_LANES: u32 = 16;
const TYPED_LANES: u32 = 8;

/// Messages of the sampler (Skylake manual, Volume 7, "Message Types"): filtered with a level of detail and without,
/// a texel with a level of detail and without.
const SAMPLE_L: u8 = 2;
const SAMPLE_LZ: u8 = 24;
const LD: u8 = 7;
const LD_LZ: u8 = 26;

/// Bits of a lane's channels in a message: red, green, blue, alpha.
const ALL_CHANNELS: u8 = 0xf;

/// Bytes of a lane's parameter or channel.
const DWORD: u32 = 4;

/// Surfaces and sampler states that a kernel's messages name.
#[derive(Default)]
pub struct Bindings {
    /// Entries of the binding table.
    pub surfaces: Vec<SurfaceBinding>,
    /// Sampler states by index.
    pub samplers: Vec<SamplerSource>,
}

impl Bindings {
    /// The binding table index of an image; `first` is the first one that is not the launch's own.
    fn surface(&mut self, argument: u32, view: SurfaceView, first: u8) -> Result<u8, Failure> {
        let known = self.surfaces.iter().find(|known| known.argument == argument && known.view == view);
        if let Some(known) = known {
            return Ok(known.index);
        }
        let index = u8::try_from(usize::from(first) + self.surfaces.len())
            .ok()
            .filter(|index| *index < MAX_SURFACES)
            .ok_or_else(|| Failure::unsupported("more images than a binding table has entries"))?;
        self.surfaces.push(SurfaceBinding { index, argument, view });
        Ok(index)
    }

    /// The index of a sampler state.
    fn sampler(&mut self, source: SamplerSource) -> Result<u8, Failure> {
        let index = self.samplers.iter().position(|known| *known == source).unwrap_or_else(|| {
            self.samplers.push(source);
            self.samplers.len() - 1
        });
        if index >= MAX_SAMPLERS {
            return Err(Failure::unsupported(format!("more than {MAX_SAMPLERS} samplers")));
        }
        Ok(index as u8)
    }
}

/// Binding table indices from here on have meanings of their own (Skylake manual, Volume 7, "Binding Table Index").
const MAX_SURFACES: u8 = 240;

impl Selector<'_> {
    /// An access to an image.
    pub fn image(&mut self, access: ImageAccess, i: &Instruction) -> Result<(), Failure> {
        let view = if access.writes() { SurfaceView::Written } else { SurfaceView::Sampled };
        let first = match self.target.messages.global {
            AddressModel::A64 => 0,
            AddressModel::Surface(number) => number + 1,
        };
        let surface = self.bindings.surface(access.image, view, first)?;
        match access.op {
            ImageOp::Sample(source) => {
                let sampler = self.bindings.sampler(source)?;
                if self.target.messages.sampler_level_zero {
                    let coordinates = self.sources(i)?;
                    self.sample(SAMPLE_LZ, surface, sampler, &coordinates, i)
                } else {
                    let mut parameters = vec![Val::imm(0, Type::UD)];
                    parameters.extend(self.sources(i)?);
                    self.sample(SAMPLE_L, surface, sampler, &parameters, i)
                }
            }
            ImageOp::Load => {
                let mut parameters = self.sources(i)?;
                if self.target.messages.sampler_level_zero {
                    self.sample(LD_LZ, surface, 0, &parameters, i)
                } else {
                    parameters.insert(1, Val::imm(0, Type::UD));
                    self.sample(LD, surface, 0, &parameters, i)
                }
            }
            ImageOp::Write => self.typed_write(surface, i),
        }
    }

    /// The sources as dwords.
    pub fn sources(&mut self, i: &Instruction) -> Result<Vec<Val>, Failure> {
        i.srcs.iter().map(|reg| self.val(*reg, Type::UD)).collect()
    }

    /// The payloads of messages of `width` lanes, one after the other, each with `header` registers in front.
    pub fn parameters(
        &mut self,
        parameters: &[Val],
        width: u32,
        header: u32,
    ) -> Result<(VRef, u32), Failure> {
        let each = header * GRF + parameters.len() as u32 * width * DWORD;
        let messages = self.b.simd / width;
        let payload = self.b.registers(each * messages / GRF);
        for (first, begin) in (0..self.b.simd).step_by(width as usize).zip((0..).step_by(each as usize)) {
            for (index, value) in parameters.iter().enumerate() {
                let at = payload.plus(begin + header * GRF + index as u32 * width * DWORD);
                self.b.mov_lanes(Dest { at, stride: DWORD, ty: Type::UD, kills: true }, *value, first, width);
            }
        }
        Ok((payload, each))
    }

    /// A message to the sampler for all lanes.
    fn sample(
        &mut self,
        kind: u8,
        surface: u8,
        sampler: u8,
        parameters: &[Val],
        i: &Instruction,
    ) -> Result<(), Failure> {
        let width = self.b.simd.min(SAMPLER_LANES);
        let (payload, each) = self.parameters(parameters, width, 0)?;
        let channels = i.dsts.len() as u32;
        let slots = channels * DWORD;
        let message = Message {
            payload: (each / GRF) as u8,
            response: (width * slots / GRF) as u8,
            header: false,
            operation: Access::Sampler { surface, sampler, kind, mode: simd_mode(width) as u8, half: false },
        };
        let message = self.encoded(message)?;
        let (in_place, kills) = self.message_results(i, false);
        let response = self.b.registers(self.b.simd * slots / GRF);
        for (first, begin) in (0..self.b.simd).step_by(width as usize).zip((0..).step_by(each as usize)) {
            let at = response.plus(first * slots);
            self.b.send(message, width, first, [Some(payload.plus(begin)), None], Some(at));
            self.b.set_last_kills(kills);
        }
        let gap = width * (slots - DWORD);
        let split = (gap > 0 && width < self.b.simd).then_some((width, gap));
        let part = |channel: u32| {
            let region = LaneRegion { at: response.plus(channel * DWORD * width), stride: DWORD, split };
            let value = Val { location: ValueLocation::Register(region), ..Val::imm(0, Type::UD) };
            LoadedPart { offset: channel * DWORD, bytes: DWORD, value }
        };
        let parts: Vec<LoadedPart> = (0..channels).map(part).collect();
        for (channel, dst) in (0..).zip(&i.dsts) {
            self.assign_loaded(*dst, DWORD, channel * DWORD, &parts, in_place)?;
        }
        Ok(())
    }

    /// Typed writes for all lanes.
    fn typed_write(&mut self, surface: u8, i: &Instruction) -> Result<(), Failure> {
        let sources = self.sources(i)?;
        let header = u32::from(self.target.messages.typed_header);
        let (payload, each) = self.parameters(&sources, TYPED_LANES, header)?;
        for (first, begin) in (0..self.b.simd).step_by(TYPED_LANES as usize).zip((0..).step_by(each as usize))
        {
            let slots =
                if (first / TYPED_LANES).is_multiple_of(2) { SlotGroup::Low } else { SlotGroup::High };
            let message = Message {
                payload: (each / GRF) as u8,
                response: 0,
                header: header > 0,
                operation: Access::Typed { write: true, surface, slots, channels: ALL_CHANNELS },
            };
            let message = self.encoded(message)?;
            let at = payload.plus(begin);
            if header > 0 {
                self.sample_mask(at);
            }
            self.b.send(message, TYPED_LANES, first, [Some(at), None], None);
        }
        Ok(())
    }

    /// Makes the header of a typed message: its dword 7 is the sample mask, of which all samples count (Haswell manual,
    /// Volume 7, "Message Header" of typed messages).
    fn sample_mask(&mut self, header: VRef) {
        const SAMPLE_MASK: u32 = 7 * DWORD;
        let scalar = |at: VRef| Dest { at, stride: 0, ty: Type::UD, kills: true };
        let zero = Dest { stride: DWORD, ..scalar(header) };
        self.b.op_on_first_lanes(Operation::new(Opcode::Mov), zero, &[Val::imm(0, Type::UD)], GRF / DWORD);
        self.b.mov(scalar(header.plus(SAMPLE_MASK)), Val::imm(0xffff, Type::UD));
    }

    fn encoded(&self, message: Message) -> Result<Send, Failure> {
        message
            .send(self.target.generation, 0, false)
            .map_err(|error| Failure::unsupported(error.to_string()))
    }
}
