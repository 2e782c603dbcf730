//! Images, and commands on them.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use opencl_sys::{cl_image_desc, cl_image_format};

use super::{Caller, Waits};
use crate::handles::Kind;
use crate::sizes::size;

/// Channel orders and types that go together, and some that do not. A texel has at most 16 bytes.
const FORMATS: [(u32, u32); 14] = [
    (0x10B5, 0x10D2), // CL_RGBA, CL_UNORM_INT8
    (0x10B5, 0x10DE), // CL_RGBA, CL_FLOAT
    (0x10B5, 0x10DC), // CL_RGBA, CL_UNSIGNED_INT32
    (0x10B5, 0x10D8), // CL_RGBA, CL_SIGNED_INT16
    (0x10B6, 0x10D2), // CL_BGRA, CL_UNORM_INT8
    (0x10B0, 0x10DA), // CL_R, CL_UNSIGNED_INT8
    (0x10B0, 0x10DD), // CL_R, CL_HALF_FLOAT
    (0x10B2, 0x10DE), // CL_RG, CL_FLOAT
    (0x10C1, 0x10D2), // CL_sRGBA, CL_UNORM_INT8
    (0x10BD, 0x10DE), // CL_DEPTH, CL_FLOAT
    (0x10B8, 0x10D2), // CL_INTENSITY, CL_UNORM_INT8
    (0x10B4, 0x10D4), // CL_RGB, CL_UNORM_SHORT_565
    (0x10B6, 0x10DE), // CL_BGRA, CL_FLOAT, which there is not
    (7, 9),
];

/// `CL_MEM_OBJECT_IMAGE1D_BUFFER`, whose texels are a buffer's.
const BUFFER_IMAGE: u32 = 0x10F6;

/// What an image's sides usually have; more is more than any device has, so that an image has as many bytes
/// as a buffer at most.
const SIDES: [usize; 3] = [64, 16, 4];

/// A place or an extent in an image, and pitches on the host's side: rows are within 2 KiB and slices within
/// 64 KiB, so that what is right stays within the memory.
struct Part {
    origin: [usize; 3],
    region: [usize; 3],
    row: usize,
    slice: usize,
}

impl Caller {
    fn part(&mut self) -> Part {
        let origin = SIDES.map(|usual| if self.random.one_in(6) { size(&mut self.random, usual) } else { 0 });
        let region = SIDES.map(|usual| if self.random.one_in(3) { size(&mut self.random, usual) } else { 1 });
        let (row, slice) = self.pitches();
        Part { origin, region, row, slice }
    }

    fn pitches(&mut self) -> (usize, usize) {
        if !self.random.one_in(4) { (0, 0) } else { (self.random.below(2049), self.random.below(1 << 16)) }
    }

    pub fn create_image(&mut self) {
        let (context, host, mut error) = (self.pick(Kind::Context), self.memory(), 0);
        // Those that are equal can be copied into each other.
        let (order, ty) = if self.random.one_in(2) { FORMATS[0] } else { self.random.pick(&FORMATS) };
        let format = cl_image_format { image_channel_order: order, image_channel_data_type: ty };
        let [width, height, depth] = SIDES.map(|usual| size(&mut self.random, usual));
        let (row, slice) = self.pitches();
        let image_type = 0x10F0 + self.random.below(9) as u32;
        let parent = match image_type {
            BUFFER_IMAGE => self.pick(Kind::Memory),
            _ if self.random.one_in(6) => self.pick(Kind::Memory),
            _ if self.random.one_in(10) => self.pick(Kind::Image),
            _ => null_mut(),
        };
        let description = cl_image_desc {
            image_type,
            image_width: width,
            image_height: height,
            image_depth: depth,
            image_array_size: size(&mut self.random, SIDES[2]),
            image_row_pitch: row,
            image_slice_pitch: slice,
            num_mip_levels: u32::from(self.random.one_in(60)),
            num_samples: u32::from(self.random.one_in(60)),
            buffer: parent,
        };
        let flags =
            self.random.pick(&[0, 1, 2, 4, 1 << 3, 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 9, 3, 1 << 40]);
        let host = if flags & (1 << 3 | 1 << 5) != 0 || self.random.one_in(20) { host } else { null_mut() };
        let list = [self.random.pick(&[0, 0, 0, 0, 7]), 1, 0];
        let which = self.random.below(6);
        self.note(format_args!(
            "create image {which} {context:?} {flags:#x} {order:x} {ty:x} {width} {height} {depth} {row} {slice} {parent:?} {host:?}"
        ));
        let (api, format) =
            (self.shared.api, if self.random.one_in(40) { null() } else { &raw const format });
        if let Some(requirements) = self.shared.requirements.filter(|_| self.random.one_in(4)) {
            let name =
                self.random.pick(&[0x1290, 0x1291, 0x1292, 0x12B2, 0x12B3, 0x12B4, 0x12B5, 0x12B6, 0x1293]);
            let (mut value, mut size, room) = (0u64, 0, self.random.pick(&[8, 8, 4, 0]));
            let description = if self.random.one_in(8) { null() } else { &raw const description };
            let (list, value) = (list.as_ptr(), (&raw mut value).cast());
            // SAFETY: a list that ends with 0; the value has eight bytes.
            unsafe {
                let ask = requirements.clGetImageRequirementsInfoEXT;
                ask(context, list, flags, format, description, name, room, value, &mut size)
            };
        }
        // SAFETY: the memory is there as long as the process, and has more bytes than such an image; a list
        // that ends with 0.
        let image = unsafe {
            match which {
                0 => (api.clCreateImage2D)(context, flags, format, width, height, row, host, &mut error),
                1 => {
                    let create = api.clCreateImage3D;
                    create(context, flags, format, width, height, depth, row, slice, host, &mut error)
                }
                2 => {
                    let create = api.clCreateImageWithProperties;
                    create(context, list.as_ptr(), flags, format, &description, host, &mut error)
                }
                _ => (api.clCreateImage)(context, flags, format, &description, host, &mut error),
            }
        };
        self.created(Kind::Image, image, error);
    }

    fn image(&mut self) -> (*mut c_void, *mut c_void, Part, Waits) {
        (self.pick(Kind::Queue), self.pick(Kind::Image), self.part(), self.waits())
    }

    pub fn image_read_or_write(&mut self) {
        let (queue, image, part, waits) = self.image();
        let (memory, blocking) = (self.memory(), u32::from(self.random.one_in(4)));
        let Part { origin, region, row, slice } = part;
        self.note(format_args!(
            "read or write image {queue:?} {image:?} {origin:?} {region:?} {row} {slice}"
        ));
        let (api, mut event) = (self.shared.api, null_mut());
        let (at, extent) = (origin.as_ptr(), region.as_ptr());
        let (length, list) = (waits.length(), waits.pointer());
        // SAFETY: triples; what a right part covers of the host's memory is there.
        unsafe {
            if self.random.one_in(2) {
                let read = api.clEnqueueReadImage;
                read(queue, image, blocking, at, extent, row, slice, memory, length, list, &mut event);
            } else {
                let write = api.clEnqueueWriteImage;
                write(queue, image, blocking, at, extent, row, slice, memory, length, list, &mut event);
            }
        }
        self.keep(Kind::Event, event);
    }

    pub fn image_copy_or_fill(&mut self) {
        let (queue, image, part, waits) = self.image();
        let Part { origin, region, .. } = part;
        let (to, offset, which) = (self.part().origin, size(&mut self.random, 4096), self.random.below(4));
        let (other, color) = (self.pick(if which == 0 { Kind::Image } else { Kind::Memory }), self.memory());
        self.note(format_args!(
            "copy or fill image {which} {queue:?} {image:?} {other:?} {origin:?} {to:?} {region:?} {offset}"
        ));
        let (api, mut event) = (self.shared.api, null_mut());
        let (at, target, extent) = (origin.as_ptr(), to.as_ptr(), region.as_ptr());
        let (length, list) = (waits.length(), waits.pointer());
        // SAFETY: triples; there are more bytes than a color has.
        unsafe {
            match which {
                0 => {
                    let copy = api.clEnqueueCopyImage;
                    copy(queue, image, other, at, target, extent, length, list, &mut event)
                }
                1 => {
                    let copy = api.clEnqueueCopyImageToBuffer;
                    copy(queue, image, other, at, extent, offset, length, list, &mut event)
                }
                2 => {
                    let copy = api.clEnqueueCopyBufferToImage;
                    copy(queue, other, image, offset, at, extent, length, list, &mut event)
                }
                _ => (api.clEnqueueFillImage)(queue, image, color, at, extent, length, list, &mut event),
            }
        };
        self.keep(Kind::Event, event);
    }

    /// As with buffers, what is mapped is not touched.
    pub fn image_map(&mut self) {
        let (queue, image, part, waits) = self.image();
        let (flags, blocking) = (self.random.next_u64() % 9, u32::from(self.random.one_in(2)));
        let Part { origin, region, .. } = part;
        self.note(format_args!("clEnqueueMapImage {queue:?} {image:?} {flags} {origin:?} {region:?}"));
        let (api, length, list) = (self.shared.api, waits.length(), waits.pointer());
        let (mut events, mut error, mut row, mut slice) = ([null_mut(); 2], 0, 0, 0);
        let (at, extent) = (origin.as_ptr(), region.as_ptr());
        let row_pitch = if self.random.one_in(20) { null_mut() } else { &raw mut row };
        let slice_pitch = if self.random.one_in(4) { null_mut() } else { &raw mut slice };
        // SAFETY: triples, and pitches; what is unmapped is an address, right or not.
        unsafe {
            let map = api.clEnqueueMapImage;
            let mapped = map(
                queue,
                image,
                blocking,
                flags,
                at,
                extent,
                row_pitch,
                slice_pitch,
                length,
                list,
                &mut events[0],
                &mut error,
            );
            let address = if self.random.one_in(20) { self.memory() } else { mapped };
            (api.clEnqueueUnmapMemObject)(queue, image, address, 0, null(), &mut events[1]);
        }
        events.into_iter().for_each(|event| self.keep(Kind::Event, event));
    }
}
