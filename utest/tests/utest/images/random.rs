//! Random accesses to images by kernels: kinds, formats, sizes, samplers, coordinates, colours. On the simulator both
//! engines do the same, bit by bit.
//!
//! `GENCL_IMAGE_ACCESSES` is their number, `GENCL_IMAGE_SEED` chooses others.

#![allow(non_upper_case_globals, reason = "the API's names in patterns")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use gencl_utest::{Arg, Gpu, Launch, Need, Outcome, Program, Random, setting};
use opencl_sys::{
    CL_ADDRESS_NONE, CL_FLOAT, CL_HALF_FLOAT, CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_READ_ONLY,
    CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, cl_image_format, cl_mem_flags,
};

use super::kinds::{KINDS, Kind, Made, OwnSampler, samplers, tolerance};
use super::reference::{Access, Allowed, Reference, Sampler, is_encoded, texel_bytes};
use crate::child::is_child;
use crate::engine::{output_of_child, says};

/// Accesses of a launch, at most.
const LANES: usize = 48;
/// The failures that a run reports.
const MAX_FAILURES: usize = 10;
/// Begins the lines of a child that are compared.
const LINE: &str = "launch ";

pub fn accesses() -> Outcome {
    let gpu = Gpu::get()?;
    if is_child() || !Need::Simulator.is_there(gpu) {
        return launches(setting("GENCL_IMAGE_ACCESSES", 1000)?, setting("GENCL_IMAGE_SEED", 1)?);
    }
    let run = |engine| -> Result<Vec<String>, String> {
        let [output, errors] = output_of_child("image_random", &[("GENCL_ENGINE", engine)])?;
        says(&errors, "kernel was translated", engine == "translate")?;
        says(&errors, "is not translated", false)?;
        Ok(output.lines().filter(|line| line.starts_with(LINE)).map(str::to_owned).collect())
    };
    let [interpreted, translated] = [run("interpret")?, run("translate")?];
    if interpreted.is_empty() || interpreted.len() != translated.len() {
        return Err(format!("{} launches interpreted, {} translated", interpreted.len(), translated.len()));
    }
    let differs = interpreted.iter().zip(&translated).find(|(a, b)| a != b);
    differs.map_or(Ok(()), |(a, b)| Err(format!("interpreted {a}\n translated {b}")))
}

/// What a kernel does with an image.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Reads with a sampler at floats.
    Sample(Sampler),
    /// Reads with a sampler at integers.
    Fetch(Sampler),
    Load,
    Store,
    /// Reads, then writes, one image.
    Exchange,
}

impl Action {
    fn random(random: &mut Random, kind: Kind) -> Self {
        let action = random.below(10);
        if kind.is_sampled() && action < 6 {
            let linear = random.one_in(2);
            let sampler = random.pick(&samplers(linear));
            // Only such a sampler may be used with integers.
            let fits = !linear && !sampler.normalized;
            return if fits && random.one_in(2) { Self::Fetch(sampler) } else { Self::Sample(sampler) };
        }
        match action % 4 {
            0 => Self::Load,
            1 => Self::Exchange,
            _ => Self::Store,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sample(_) => "sample",
            Self::Fetch(_) => "fetch",
            Self::Load => "load",
            Self::Store => "store",
            Self::Exchange => "exchange",
        }
    }

    fn is_linear(self) -> bool {
        matches!(self, Self::Sample(sampler) if sampler.linear)
    }

    /// The flags of images for it, and those that list the formats for it.
    fn flags(self) -> [cl_mem_flags; 2] {
        match self {
            Self::Store => [CL_MEM_WRITE_ONLY; 2],
            Self::Exchange => [CL_MEM_READ_WRITE, CL_MEM_KERNEL_READ_AND_WRITE],
            _ => [CL_MEM_READ_ONLY; 2],
        }
    }
}

/// The programs for a kind, by whether they read and write one image, each with the SIMD width of its kernels.
struct Programs {
    kind: Kind,
    built: [Option<(Program, u32)>; 2],
}

impl Programs {
    fn get(&mut self, random: &mut Random, both: bool) -> Result<&(Program, u32), String> {
        let slot = &mut self.built[usize::from(both)];
        if slot.is_none() {
            let options = if both { "-cl-std=CL3.0 -DREAD_WRITE" } else { "-cl-std=CL1.2" };
            let width = random.pick(&Gpu::get()?.simd_widths());
            *slot = Some((self.kind.program_with(options, Some(width))?, width));
        }
        slot.as_ref().ok_or_else(|| "no program".into())
    }
}

/// Launches with so many accesses in all.
fn launches(accesses: u64, seed: u64) -> Outcome {
    let mut random = Random::new(seed);
    let mut all: Vec<_> = KINDS.iter().map(|kind| Programs { kind: *kind, built: [None, None] }).collect();
    let (mut done, mut number, mut failures) = (0, 0, String::new());
    while done < accesses {
        let index = random.below(all.len());
        let launch = Random::new(random.next_u64());
        let programs = &mut all[index];
        let (count, text, outcome) = one(launch, &mut random, programs)?;
        println!("{LINE}{number}: {text}");
        if let Err(error) = outcome {
            let _ = write!(failures, "\nlaunch {number}: {text}: {error}");
            if failures.lines().count() > MAX_FAILURES {
                break;
            }
        }
        (done, number) = (done + count, number + 1);
    }
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

/// A launch: the number of its accesses, a text with the hash of all results, and whether these are right.
fn one(
    mut random: Random,
    widths: &mut Random,
    programs: &mut Programs,
) -> Result<(u64, String, Outcome), String> {
    let (gpu, kind) = (Gpu::get()?, programs.kind);
    let action = Action::random(&mut random, kind);
    let linear = action.is_linear();
    let [flags, listing] = action.flags();
    let mut formats = kind.formats(listing)?;
    // Integers are not filtered.
    formats.retain(|format| !linear || Access::of(format) == Access::Float);
    let format = random.pick(&formats);
    let (access, size) = (Access::of(&format), texel_bytes(&format));
    let made = kind.image_of(flags, &format, random_sides(&mut random))?;
    let sides = made.image.sides;
    let texels = random_texels(&mut random, &format, sides.iter().product(), linear);
    made.image.write_all(&texels)?;
    let reference =
        Reference { format, sides, dimensions: kind.dimensions, array: kind.array, bytes: &texels };
    let lanes = 1 + random.below(LANES);
    let launch = Launch { global: vec![lanes], ..Launch::default() };
    let (program, width) = programs.get(widths, matches!(action, Action::Exchange))?;
    let image = Arg::Memory(made.image.handle);
    let kernel = format!("{}_{}", action.name(), access.name());
    let output = gpu.buffer(&vec![[0x77u32; 4]; lanes])?;

    let mut written = texels.clone();
    let expected: Vec<Allowed> = match action {
        Action::Sample(sampler) => {
            let at: Vec<_> = (0..lanes).map(|_| floats(&mut random, kind, sampler, sides)).collect();
            let (own, at) = (OwnSampler::new(sampler)?, (gpu.buffer(&at)?, at));
            let handle = (own.0 as usize).to_ne_bytes();
            program.run(&kernel, &[image, Arg::Bytes(&handle), at.0.arg(), output.arg()], &launch)?;
            at.1.into_iter().map(|at| reference.sample(sampler, at)).collect()
        }
        Action::Fetch(sampler) => {
            let at: Vec<_> = (0..lanes).map(|_| integers(&mut random, sides)).collect();
            let (own, at) = (OwnSampler::new(sampler)?, (gpu.buffer(&at)?, at));
            let handle = (own.0 as usize).to_ne_bytes();
            program.run(&kernel, &[image, Arg::Bytes(&handle), at.0.arg(), output.arg()], &launch)?;
            at.1.into_iter().map(|at| reference.sample(sampler, at.map(|at| at as f32))).collect()
        }
        Action::Load => {
            let at: Vec<_> = (0..lanes).map(|_| integers(&mut random, sides)).collect();
            program.run(&kernel, &[image, gpu.buffer(&at)?.arg(), output.arg()], &launch)?;
            at.into_iter().map(|at| reference.load(at)).collect()
        }
        Action::Store | Action::Exchange => {
            let at = distinct(&mut random, &reference, lanes)?;
            let colours: Vec<_> = at.iter().map(|_| colour(&mut random, access)).collect();
            let (places, input) = (gpu.buffer(&at)?, gpu.buffer(&colours)?);
            let arguments = [image, places.arg(), input.arg(), output.arg()];
            let reads = matches!(action, Action::Exchange);
            let launch = Launch { global: vec![at.len()], ..Launch::default() };
            program.run(&kernel, &arguments[..if reads { 4 } else { 3 }], &launch)?;
            let found = made.image.read_all()?;
            // What was written as the specification allows is not compared below.
            for (at, colour) in at.iter().zip(&colours) {
                let Some(index) = reference.index_of(*at) else { continue };
                let (index, value) =
                    (index * size..(index + 1) * size, colour.map(|bits| access.value(bits)));
                if is_encoded(&format, &found[index.clone()], value) {
                    written[index.clone()].copy_from_slice(&found[index]);
                }
            }
            at.into_iter().filter(|_| reads).map(|at| reference.load(at)).collect()
        }
    };
    let (found, after) = (output.read()?, made.image.read_all()?);
    let mut hasher = DefaultHasher::new();
    (&found, &after).hash(&mut hasher);
    let text = format!(
        "{kernel} of {:#x} with {format:x?}, {sides:?}, simd{width}, {lanes} lanes, {action:?}: {:016x}",
        kind.object,
        hasher.finish()
    );
    Ok((
        lanes as u64,
        text,
        compare(&made, (&found, &expected), (&after, &written), (access, tolerance(&format))),
    ))
}

/// Complains about the first result or texel that is wrong.
fn compare(
    made: &Made,
    (found, expected): (&[[u32; 4]], &[Allowed]),
    (after, written): (&[u8], &[u8]),
    (access, tolerance): (Access, f64),
) -> Outcome {
    for (lane, (found, expected)) in found.iter().zip(expected).enumerate() {
        let found = found.map(|bits| access.value(bits));
        if !expected.has(found, tolerance) {
            return Err(format!("lane {lane}: {found:?}, expected {expected:?}"));
        }
    }
    let size = made.image.texel;
    let wrong = after.chunks(size).zip(written.chunks(size)).position(|(after, before)| after != before);
    wrong.map_or(Ok(()), |index| {
        let [after, before] = [after, written].map(|bytes| &bytes[index * size..][..size]);
        Err(format!("texel {index} is {after:x?} and was {before:x?}"))
    })
}

/// Most images are small, some have a long side.
fn random_sides(random: &mut Random) -> [usize; 3] {
    let most = if random.one_in(8) { 3 } else { 12 };
    let mut sides = [(); 3].map(|()| 1 + random.below(most));
    if most == 3 {
        sides[random.below(3usize)] = random.pick(&[255, 256, 257, 1000, 2047, 2048]);
    }
    sides
}

/// Bytes of texels. Floats may be special, unless a linear filter is used.
fn random_texels(random: &mut Random, format: &cl_image_format, count: usize, linear: bool) -> Vec<u8> {
    let bytes = count * texel_bytes(format);
    let float = |random: &mut Random| {
        if linear { random.float(-4.0, 4.0) } else { f32::from_bits(random.dword()) }
    };
    match format.image_channel_data_type {
        CL_FLOAT => (0..bytes / 4).flat_map(|_| float(random).to_le_bytes()).collect(),
        CL_HALF_FLOAT if linear => {
            (0..bytes / 2).flat_map(|_| half::f16::from_f32(float(random)).to_le_bytes()).collect()
        }
        _ => (0..bytes).map(|_| random.next_u32() as u8).collect(),
    }
}

/// Coordinates of a sampler with floats: in the image and around it, on edges and centres of texels, far away, and
/// numbers that are special.
fn floats(random: &mut Random, kind: Kind, sampler: Sampler, sides: [usize; 3]) -> [f32; 4] {
    // Those with undefined results on any axis are few.
    let special = random.one_in(6);
    let mut at = [0.0; 4];
    for (axis, (at, side)) in at.iter_mut().zip(sides).enumerate() {
        let texels = side as f32;
        let is_inside = sampler.addressing == CL_ADDRESS_NONE && axis < kind.dimensions && !random.one_in(16);
        let [low, high] = if is_inside { [0.0, texels] } else { [-1.5 * texels, 2.5 * texels] };
        let place = match random.below(8) {
            _ if special && random.one_in(2) => {
                *at = f32::from_bits(random.dword());
                continue;
            }
            0 => random.float(low, high).round(),
            1 => random.float(low, high).floor() + 0.5,
            2 => (random.float(low, high) * 512.0).round() / 512.0,
            3 if !is_inside => random.float(-1e6, 1e6),
            _ => random.float(low, high),
        };
        *at = if axis < kind.dimensions && sampler.normalized { place / texels } else { place };
    }
    at
}

/// Integer coordinates in the image and around it.
fn integers(random: &mut Random, sides: [usize; 3]) -> [i32; 4] {
    let special = random.one_in(6);
    let mut at = [0; 4];
    for (at, side) in at.iter_mut().zip(sides) {
        let side = side as i32;
        *at = match random.below(4) {
            _ if !special => random.below(side),
            0 => random.dword().cast_signed(),
            1 => side,
            _ => random.below(3 * side) - side,
        };
    }
    at
}

/// Coordinates of which no two are the same texel's, at most so many. Writes outside of an image do nothing; with other
/// drivers they do, which the specification allows.
fn distinct(random: &mut Random, reference: &Reference<'_>, count: usize) -> Result<Vec<[i32; 4]>, String> {
    let outside = Gpu::get()?.foreign_platform().is_none();
    let mut used = HashSet::new();
    let mut at: Vec<_> = (0..count).map(|_| integers(random, reference.sides)).collect();
    at.retain(|at| reference.index_of(*at).map_or(outside, |index| used.insert(index)));
    Ok(if at.is_empty() { vec![[0; 4]] } else { at })
}

/// A texel to write: in the range of normalized channels and out of it, halfway between two numbers, and special.
fn colour(random: &mut Random, access: Access) -> [u32; 4] {
    [(); 4].map(|()| match access {
        _ if random.one_in(3) => random.dword(),
        Access::Float if random.one_in(2) => {
            ((random.below(511u32) as f32 + 0.5) / random.pick(&[255.0, 127.0, 65535.0])).to_bits()
        }
        Access::Float => random.float(-1.5, 1.5).to_bits(),
        Access::Signed => (random.next_u32().cast_signed() >> random.below(32u32)).cast_unsigned(),
        Access::Unsigned => random.next_u32() >> random.below(32u32),
    })
}
