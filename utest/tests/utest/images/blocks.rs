//! Sub-groups read and write blocks of images.

use std::ptr::null_mut;

use gencl_utest::{Arg, Gpu, Launch, Outcome, Random, run};
use opencl_sys::{
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_R, CL_RGBA, CL_UNORM_INT8, CL_UNSIGNED_INT16,
    CL_UNSIGNED_INT32, cl_image_format,
};

use super::image::{Image, descriptor, pattern};
use super::reference::texel_bytes;
use crate::il::image_blocks;
use crate::memory::same;

/// Lanes of the sub-group.
const LANES: usize = 16;
/// Bytes of a row, and rows.
const ROW: usize = 96;
const ROWS: usize = 21;

/// Elements of blocks: suffix of the functions, type, and the format of the images, whose texels are not larger:
/// otherwise reads outside of an image are undefined.
struct Element {
    suffix: &'static str,
    ty: &'static str,
    bytes: usize,
    order: u32,
    channel: u32,
}

const fn element(suffix: &'static str, ty: &'static str, bytes: usize, order: u32, channel: u32) -> Element {
    Element { suffix, ty, bytes, order, channel }
}

/// How the program is written.
#[derive(Clone, Copy)]
enum Form {
    Source,
    SpirV,
}

const ELEMENTS: &[Element] = &[
    element("", "uint", 4, CL_RGBA, CL_UNORM_INT8),
    element("_ui", "uint", 4, CL_R, CL_UNSIGNED_INT32),
    element("_us", "ushort", 2, CL_R, CL_UNSIGNED_INT16),
];
/// Those of cl_intel_subgroups_char and _long.
const LATER_ELEMENTS: &[Element] = &[
    element("_uc", "uchar", 1, CL_R, CL_UNORM_INT8),
    element("_ul", "ulong", 8, CL_RGBA, CL_UNSIGNED_INT16),
];
const MEDIA_ELEMENTS: &[Element] = &[
    element("_uc", "uchar", 1, CL_R, CL_UNORM_INT8),
    element("_us", "ushort", 2, CL_R, CL_UNSIGNED_INT16),
    element("_ui", "uint", 4, CL_R, CL_UNSIGNED_INT32),
];
/// Bytes of a row of a media block, and rows.
const MEDIA_BLOCKS: &[[usize; 2]] = &[[4, 16], [8, 7], [12, 5], [16, 4], [20, 3], [32, 8]];

impl Element {
    fn image(&self, bytes: &[u8]) -> Result<Image, String> {
        let format =
            cl_image_format { image_channel_order: self.order, image_channel_data_type: self.channel };
        let texel = texel_bytes(&format);
        let sides = [ROW / texel, ROWS, 1];
        let handle =
            Image::create(CL_MEM_READ_WRITE, &format, &descriptor(CL_MEM_OBJECT_IMAGE2D, sides), null_mut())?;
        let image = Image { handle, sides, texel };
        image.write_all(bytes)?;
        Ok(image)
    }

    /// The byte of an image at a place that may be outside: that of the nearest texel.
    fn byte(&self, bytes: &[u8], texel: usize, x: i64, y: i64) -> u8 {
        let within = x.rem_euclid(texel as i64);
        let first = (x - within).clamp(0, (ROW - texel) as i64);
        bytes[y.clamp(0, ROWS as i64 - 1) as usize * ROW + (first + within) as usize]
    }

    /// Reads and writes blocks of `count` elements for each lane; `place` gives byte and row of an element of a
    /// lane, within the block, if it is part of it.
    fn check(
        &self,
        random: &mut Random,
        form: Form,
        media: Option<[usize; 2]>,
        count: usize,
        place: impl Fn(usize, usize) -> Option<[usize; 2]>,
    ) -> Outcome {
        let gpu = Gpu::get()?;
        // Intel's compiler refuses blocks of more elements than lanes have, and reads registers that were not written
        // for smaller ones. Its driver gives the hardware the width of an image in texels, which counts it in dwords.
        let foreign = gpu.foreign_platform().is_some();
        if foreign && media.is_some_and(|[width, rows]| width * rows != LANES * count * self.bytes) {
            return Ok(());
        }
        let Element { suffix, ty, bytes: size, .. } = *self;
        let many = if count == 1 { String::new() } else { count.to_string() };
        let (kind, block) = match media {
            Some([width, rows]) => ("media_block", format!(" -DWIDTH={} -DHEIGHT={rows}", width / size)),
            None => ("block", String::new()),
        };
        let function = |what: &str| format!("intel_sub_group_{kind}_{what}{suffix}{many}");
        let options =
            format!("-DVECTOR={ty}{many} -DREAD={} -DWRITE={}{block}", function("read"), function("write"));
        let kernel = match form {
            Form::Source => gpu.build_with("images_blocks", None, &options)?.kernel("blocks")?,
            Form::SpirV => image_blocks(size, count, media.map(|[width, rows]| [width / size, rows]))?,
        };
        for _ in 0..6 {
            let texels = [pattern(ROW * ROWS), (0..ROW * ROWS).map(|_| random.next_u32() as u8).collect()];
            let [from, to] = [self.image(&texels[1])?, self.image(&texels[0])?];
            let texel = from.texel;
            let outside = if foreign && texel != 4 { 0 } else { 4 };
            let [columns, rows] = media.unwrap_or([LANES * size, count]);
            let columns =
                (ROW / 4 + 2 * outside).saturating_sub(if outside == 0 { columns.div_ceil(4) } else { 0 });
            let rows = ROWS + 2 * outside - if outside == 0 { rows } else { 0 };
            let first = outside as i32;
            let mut at = || {
                let [column, row] = [columns, rows].map(|end| random.below::<u32>(end as u32) as i32);
                [(column - first) * 4, row - first]
            };
            let (source, destination) = (at(), at());
            let output = gpu.buffer(&vec![0x77u8; LANES * count * size])?;
            let bytes = [source, destination].map(|at| at.map(i32::to_ne_bytes).concat());
            let [source_bytes, destination_bytes] = &bytes;
            let args = [
                Arg::Memory(from.handle),
                Arg::Memory(to.handle),
                Arg::Bytes(source_bytes),
                Arg::Bytes(destination_bytes),
                output.arg(),
            ];
            run(&kernel, &args, &Launch::linear(LANES, LANES))?;
            let mut read = output.read()?;
            let mut expected = vec![0x77u8; read.len()];
            let mut written = texels[0].clone();
            for index in 0..count {
                for lane in 0..LANES {
                    let element = (lane * count + index) * size;
                    let Some([x, y]) = place(index, lane) else {
                        // Undefined.
                        read[element..element + size].fill(0x77);
                        continue;
                    };
                    for byte in 0..size {
                        let place = |at: [i32; 2]| {
                            [i64::from(at[0]) + (x + byte) as i64, i64::from(at[1]) + y as i64]
                        };
                        let [column, row] = place(source);
                        let value = self.byte(&texels[1], texel, column, row);
                        expected[element + byte] = value;
                        let [column, row] = place(destination);
                        if (0..ROW as i64).contains(&column) && (0..ROWS as i64).contains(&row) {
                            written[row as usize * ROW + column as usize] = value;
                        }
                    }
                }
            }
            let place = |error| format!("{} at {source:?} to {destination:?}: {error}", function("read"));
            same(&read, &expected).map_err(place)?;
            to.expect(&written).map_err(|error| place(format!("written: {error}")))?;
        }
        Ok(())
    }
}

fn blocks(elements: &[Element], form: Form) -> Outcome {
    let mut random = Random::new(5);
    for element in elements {
        for count in [1, 2, 4, 8] {
            element
                .check(&mut random, form, None, count, |index, lane| Some([lane * element.bytes, index]))?;
        }
    }
    Ok(())
}

/// cl_intel_subgroups, cl_intel_subgroups_short
pub fn words() -> Outcome {
    blocks(ELEMENTS, Form::Source)
}

/// SPV_INTEL_subgroups
pub fn words_of_spirv() -> Outcome {
    blocks(ELEMENTS, Form::SpirV)
}

/// cl_intel_subgroups_char, cl_intel_subgroups_long
pub fn bytes_and_longs() -> Outcome {
    blocks(LATER_ELEMENTS, Form::Source)
}

/// cl_intel_media_block_io
pub fn media() -> Outcome {
    media_blocks(Form::Source)
}

/// SPV_INTEL_media_block_io
pub fn media_of_spirv() -> Outcome {
    media_blocks(Form::SpirV)
}

fn media_blocks(form: Form) -> Outcome {
    let mut random = Random::new(6);
    for element in MEDIA_ELEMENTS {
        for block @ [width, rows] in MEDIA_BLOCKS.iter().copied() {
            for count in [1, 2, 4, 8] {
                let place = |index: usize, lane: usize| {
                    let byte = (index * LANES + lane) * element.bytes;
                    (byte / width < rows).then_some([byte % width, byte / width])
                };
                element.check(&mut random, form, Some(block), count, place)?;
            }
        }
    }
    Ok(())
}
