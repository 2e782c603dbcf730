//! Messages to the sampler.
//!
//! Skylake manual, Volume 7 "3D-Media-GPGPU", "Sampling Engine", "Messages"; descriptor: Volume 2d,
//! `MSD_SAMPLER`; parameters cross-checked with Mesa's `brw_lower_logical_sends.cpp` and what Intel's
//! compiler emits.
//!
//! Payload: optional header, then the parameters, each a dword per channel. Parameters that are missing at
//! the end are 0. Response: red, green, blue, alpha, each in separate registers; as many as fit in the
//! response length, without those that the header's write mask disables.

use super::call::Call;
use crate::dispatch::{GRF_SIZE, Rounding};
use crate::fault::Fault;
use crate::float::to_f16;
use crate::message::image::operations::Sample;
use crate::message::image::prepared::{ImageOperation, Prepared};
use crate::message::image::reference::{SampleCoordinates, Sampling};
use crate::message::image::sample_kind::{Parameter, SampleKind};
use crate::message::image::source::TexelAccess;
use crate::message::image::values::{Dwords, LANES, Lanes};
use crate::operand::lanes;

/// A message with its parameters.
struct Request {
    prepared: Box<Prepared>,
    /// Offsets of coordinates in texels.
    offsets: [i32; 3],
    /// Enabled channels.
    mask: u32,
    /// U, V, R: floats, or integers for `ld`.
    coordinates: [Lanes<u32>; 3],
    /// Levels of detail, or their biases.
    levels: Lanes<u32>,
    /// Mask of the channels in registers that the header disables.
    disabled: u32,
}

impl Request {
    /// Reads a message.
    fn of(call: &mut Call<'_, '_>, message: &Sample) -> Result<Request, Fault> {
        let Sample { surface, sampler, kind, simd, .. } = *message;
        let rules = call.rules();
        if !kind.exists(rules) {
            return Err(Fault::illegal(format!(
                "sampler message {kind:?}, which the generation does not have"
            )));
        }
        let prepared =
            call.prepare(ImageOperation::Sample(kind), surface, kind.is_filtered().then_some(sampler))?;
        let control = if call.lengths.header { call.header(2)? } else { 0 };
        // Offsets of U, V, R in four bits each, from bit 11 down.
        let offsets = [8, 4, 0].map(|first| (control >> first << 28) as i32 >> 28);
        let per_parameter = simd * 4 / GRF_SIZE;
        let count = (call.lengths.length + call.lengths.second_length - call.first()) / per_parameter;
        let parameters = kind.parameters(rules);
        if count == 0 || count > parameters.len() + 1 {
            return Err(Fault::illegal(format!("{count} parameters in a message to the sampler")));
        }
        let (mut coordinates, mut levels) = ([[0; LANES]; 3], [0; LANES]);
        for (index, parameter) in parameters.iter().take(count).enumerate() {
            let at = call.payload_range(call.first() + index * per_parameter, per_parameter)?;
            let lanes = match parameter {
                Parameter::U => &mut coordinates[0],
                Parameter::V => &mut coordinates[1],
                Parameter::R => &mut coordinates[2],
                Parameter::Level => &mut levels,
            };
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut lanes[..simd]);
            bytes.copy_from_slice(&call.thread.file[at..at + simd * 4]);
        }
        let (mask, disabled) = (call.channels(simd)?, control >> 12 & 0xf);
        Ok(Request { prepared, offsets, mask, coordinates, levels, disabled })
    }

    /// The parameters of one channel.
    fn parameters(&self, lane: usize) -> SampleCoordinates {
        SampleCoordinates {
            coordinates: self.coordinates.map(|values| values[lane]),
            level: self.levels[lane],
        }
    }

    fn reference(&self, kind: SampleKind) -> Sampling<'_> {
        Sampling { prepared: &self.prepared, kind, offsets: self.offsets }
    }
}

/// The texels that a message reads; none for an invalid one.
pub fn texels(call: &mut Call<'_, '_>, message: &Sample) -> Vec<TexelAccess> {
    let mut texels = Vec::with_capacity(LANES);
    if let Ok(request) = Request::of(call, message) {
        let found = match message.simd {
            8 => filtered_texels::<8>(call, &request, &mut texels),
            _ => filtered_texels::<16>(call, &request, &mut texels),
        };
        if found.is_none() {
            for lane in lanes(request.mask) {
                let _ = request.reference(message.kind).texel(&mut texels, request.parameters(lane));
            }
        }
        call.keep(request.prepared);
    }
    texels
}

/// Adds the texels of all channels at once; `None` if that is not possible.
fn filtered_texels<const N: usize>(
    call: &mut Call<'_, '_>,
    request: &Request,
    texels: &mut Vec<TexelAccess>,
) -> Option<()> {
    let Request { prepared, offsets, mask, coordinates, .. } = request;
    let state = prepared.sampler.as_ref()?;
    let (access, smaller) = call.lane_access(prepared, *mask, [true; 4])?;
    let bytes = prepared.image.format.bytes();
    let add = |address| texels.push(TexelAccess { address, bytes });
    access.filtered_texels::<N>(state, smaller, coordinates, *offsets, add);
    Some(())
}

/// Performs a message for all enabled channels.
pub fn sample(call: &mut Call<'_, '_>, message: &Sample) -> Result<(), Fault> {
    let request = Request::of(call, message)?;
    let Sample { kind, simd, half, .. } = *message;
    let per_channel = if half { 1 } else { simd * 4 / GRF_SIZE };
    let mut channels = [0; 4];
    let enabled = (0..4).filter(|channel| request.disabled >> channel & 1 == 0);
    let mut count = 0;
    for channel in enabled.take(call.lengths.response_length / per_channel) {
        channels[count] = channel;
        count += 1;
    }
    let channels = &channels[..count];
    let response = call.response(count * per_channel)?;
    let values = match simd {
        8 => of_lanes::<8>(call, &request, channels),
        _ => of_lanes::<16>(call, &request, channels),
    };
    let values = match values {
        Some(values) => values,
        None => {
            let mut values = [[0; LANES]; 4];
            for lane in lanes(request.mask) {
                let parameters = request.parameters(lane);
                let texel = request.reference(kind).texel(call, parameters);
                let texel = texel.map_err(|fault| fault.in_lane(lane as u32))?;
                (0..4).for_each(|channel| values[channel][lane] = texel[channel]);
            }
            values
        }
    };
    let integer = request.prepared.image.format.is_integer() || kind == SampleKind::ResourceInfo;
    for (index, channel) in channels.iter().enumerate() {
        let at = response + index * per_channel * GRF_SIZE;
        if half {
            write_halves(call, at, request.mask, &values[*channel], integer);
        } else {
            call.write_lanes(at, simd, request.mask, &values[*channel]);
        }
    }
    call.keep(request.prepared);
    Ok(())
}

/// The results of all channels at once, for the channels in registers that are in the response; `None` if that is
/// not possible.
fn of_lanes<const N: usize>(
    call: &mut Call<'_, '_>,
    request: &Request,
    channels: &[usize],
) -> Option<Dwords> {
    let Request { prepared, offsets, mask, coordinates, levels, .. } = request;
    let image = &prepared.image;
    let (access, smaller) = call.lane_access(prepared, *mask, image.selected(channels))?;
    let values = match &prepared.sampler {
        Some(state) => access.filtered::<N>(call, state, smaller, coordinates, *offsets)?,
        None => access.loaded::<N>(coordinates, *offsets, levels).0,
    };
    Some(image.select_lanes(&values))
}

/// Writes 16-bit values to a register.
fn write_halves(call: &mut Call<'_, '_>, at: usize, mask: u32, values: &Lanes<u32>, integer: bool) {
    for lane in lanes(mask) {
        let short = match integer {
            true => values[lane] as u16,
            false => to_f16(f64::from(f32::from_bits(values[lane])), Rounding::NearestEven),
        };
        call.thread.file[at + lane * 2..at + lane * 2 + 2].copy_from_slice(&short.to_le_bytes());
    }
}
