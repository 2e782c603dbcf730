//! Commands on images that cannot be.

use std::ptr::{null, null_mut};

use gencl_utest::raw::api;
use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_IMAGE_FORMAT_MISMATCH, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_EVENT_WAIT_LIST,
    CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE,
    CL_MEM_COPY_OVERLAP, CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY,
    CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D,
    CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, CL_UNSIGNED_INT8, cl_command_queue, cl_image_format, cl_int,
    cl_mem, cl_uint,
};
use opencl3::memory::ClMem;

use super::image::{Image, RGBA, TEXEL, descriptor};
use crate::information::expect;

/// Regions that are not in an image of 16 x 8 texels.
const WRONG: [([usize; 3], [usize; 3], &str); 7] = [
    ([0, 0, 0], [0, 1, 1], "a region of no width"),
    ([0, 0, 0], [1, 0, 1], "a region of no height"),
    ([0, 0, 0], [1, 1, 0], "a region of no depth"),
    ([10, 0, 0], [7, 1, 1], "a region beyond the right edge"),
    ([0, 8, 0], [1, 1, 1], "a region below the last row"),
    ([0, 0, 1], [1, 1, 1], "a second slice"),
    ([0, 0, 0], [1, 1, 2], "two slices"),
];

/// One image of each size that the tests need.
struct Images {
    flat: Image,
    queue: opencl3::command_queue::CommandQueue,
}

impl Images {
    fn new() -> Result<Self, String> {
        Ok(Self { flat: Image::new(CL_MEM_OBJECT_IMAGE2D, [16, 8, 1])?, queue: Gpu::get()?.queue()? })
    }
}

fn pointer(triple: Option<&[usize; 3]>) -> *const usize {
    triple.map_or(null(), |values| values.as_ptr())
}

/// Arguments of a read or a write that are good unless a test changes them.
struct Transfer<'a> {
    queue: cl_command_queue,
    image: cl_mem,
    origin: Option<&'a [usize; 3]>,
    region: Option<&'a [usize; 3]>,
    row: usize,
    slice: usize,
    memory: bool,
    /// Events in a list that is null.
    events: cl_uint,
}

impl Transfer<'_> {
    fn good(images: &Images) -> Self {
        Transfer {
            queue: images.queue.get(),
            image: images.flat.handle,
            origin: Some(&[0; 3]),
            region: Some(&[1, 1, 1]),
            row: 0,
            slice: 0,
            memory: true,
            events: 0,
        }
    }

    /// The codes of reading and of writing.
    fn codes(&self) -> Result<[cl_int; 2], String> {
        let api = api()?;
        let mut memory = vec![0u8; 4096];
        let host = if self.memory { memory.as_mut_ptr() } else { null_mut() };
        let (origin, region) = (pointer(self.origin), pointer(self.region));
        // SAFETY: blocking; there is more memory than any region that is not refused has.
        unsafe {
            Ok([
                (api.clEnqueueReadImage)(
                    self.queue,
                    self.image,
                    CL_TRUE,
                    origin,
                    region,
                    self.row,
                    self.slice,
                    host.cast(),
                    self.events,
                    null(),
                    null_mut(),
                ),
                (api.clEnqueueWriteImage)(
                    self.queue,
                    self.image,
                    CL_TRUE,
                    origin,
                    region,
                    self.row,
                    self.slice,
                    host.cast(),
                    self.events,
                    null(),
                    null_mut(),
                ),
            ])
        }
    }

    fn expect(&self, code: cl_int, what: &str) -> Outcome {
        let codes = self.codes()?;
        if codes == [code; 2] { Ok(()) } else { Err(format!("{what}: {codes:?}, expected {code}")) }
    }
}

/// A context of its own with a queue: objects of other contexts are not its.
fn other_queue() -> Result<(opencl3::context::Context, cl_command_queue), String> {
    let (api, device) = (api()?, &Gpu::get()?.device);
    let context = opencl3::context::Context::from_device(device).map_err(|error| error.to_string())?;
    let mut code = 1;
    // SAFETY: context and device belong together.
    let queue =
        unsafe { (api.clCreateCommandQueueWithProperties)(context.get(), device.id(), null(), &mut code) };
    expect(code, CL_SUCCESS, "clCreateCommandQueueWithProperties")?;
    Ok((context, queue))
}

fn release_queue(queue: cl_command_queue) -> Outcome {
    // SAFETY: the test's own.
    expect(unsafe { (api()?.clReleaseCommandQueue)(queue) }, CL_SUCCESS, "clReleaseCommandQueue")
}

pub fn read_write() -> Outcome {
    let gpu = Gpu::get()?;
    let images = Images::new()?;
    let good = || Transfer::good(&images);
    good().expect(CL_SUCCESS, "what is right")?;
    Transfer { queue: null_mut(), ..good() }.expect(CL_INVALID_COMMAND_QUEUE, "no queue")?;
    Transfer { image: null_mut(), ..good() }.expect(CL_INVALID_MEM_OBJECT, "no image")?;
    let buffer = gpu.buffer(&[0u8; 64])?;
    let image = buffer.memory().get();
    Transfer { image, ..good() }.expect(CL_INVALID_MEM_OBJECT, "a buffer")?;
    Transfer { origin: None, ..good() }.expect(CL_INVALID_VALUE, "no origin")?;
    Transfer { region: None, ..good() }.expect(CL_INVALID_VALUE, "no region")?;
    Transfer { memory: false, ..good() }.expect(CL_INVALID_VALUE, "no memory")?;
    Transfer { events: 1, ..good() }.expect(CL_INVALID_EVENT_WAIT_LIST, "a list of events that is null")?;
    for (origin, region, what) in &WRONG {
        Transfer { origin: Some(origin), region: Some(region), ..good() }.expect(CL_INVALID_VALUE, what)?;
    }
    let wide = Some(&[4, 2, 1]);
    Transfer { region: wide, row: 15, ..good() }
        .expect(CL_INVALID_VALUE, "a row pitch of less than a row")?;
    let none = good();
    Transfer { slice: 64, ..none }.expect(CL_INVALID_VALUE, "a slice pitch without slices")?;
    let far = Some(&[usize::MAX, usize::MAX, usize::MAX]);
    Transfer { origin: far, ..good() }.expect(CL_INVALID_VALUE, "an origin beyond all memory")?;
    Transfer { region: far, ..good() }.expect(CL_INVALID_VALUE, "a region beyond all memory")?;
    let array = Image::new(CL_MEM_OBJECT_IMAGE2D_ARRAY, [16, 8, 2])?;
    let whole = Transfer { image: array.handle, region: Some(&[16, 8, 2]), ..good() };
    Transfer { slice: 16 * 4 * 7, ..whole }.expect(CL_INVALID_VALUE, "a slice pitch of less than a slice")?;

    let (_context, queue) = other_queue()?;
    let result = Transfer { queue, ..good() }.expect(CL_INVALID_CONTEXT, "an image of another context");
    release_queue(queue)?;
    result
}

pub fn fill() -> Outcome {
    let api = api()?;
    let images = Images::new()?;
    let (queue, flat) = (images.queue.get(), images.flat.handle);
    let color = [0u32; 4];
    let code = |queue, image, color: Option<&[u32; 4]>, origin, region| {
        // SAFETY: handles are alive or the driver's to refuse.
        unsafe {
            (api.clEnqueueFillImage)(
                queue,
                image,
                color.map_or(null(), |color| color.as_ptr().cast()),
                pointer(origin),
                pointer(region),
                0,
                null(),
                null_mut(),
            )
        }
    };
    let (zero, one) = (Some(&[0; 3]), Some(&[1; 3]));
    expect(code(queue, flat, Some(&color), zero, one), CL_SUCCESS, "what is right")?;
    expect(code(null_mut(), flat, Some(&color), zero, one), CL_INVALID_COMMAND_QUEUE, "no queue")?;
    expect(code(queue, null_mut(), Some(&color), zero, one), CL_INVALID_MEM_OBJECT, "no image")?;
    expect(code(queue, flat, None, zero, one), CL_INVALID_VALUE, "no color")?;
    expect(code(queue, flat, Some(&color), None, one), CL_INVALID_VALUE, "no origin")?;
    expect(code(queue, flat, Some(&color), zero, None), CL_INVALID_VALUE, "no region")?;
    for (origin, region, what) in &WRONG {
        expect(code(queue, flat, Some(&color), Some(origin), Some(region)), CL_INVALID_VALUE, what)?;
    }
    Ok(())
}

pub fn copy() -> Outcome {
    let (api, gpu) = (api()?, Gpu::get()?);
    let images = Images::new()?;
    let (queue, flat) = (images.queue.get(), images.flat.handle);
    let other = Image::new(CL_MEM_OBJECT_IMAGE3D, [16, 8, 2])?;
    let code = |from, to, at: [&[usize; 3]; 2], region: &[usize; 3]| {
        // SAFETY: handles are alive or the driver's to refuse.
        unsafe {
            (api.clEnqueueCopyImage)(
                queue,
                from,
                to,
                at[0].as_ptr(),
                at[1].as_ptr(),
                region.as_ptr(),
                0,
                null(),
                null_mut(),
            )
        }
    };
    let (zero, one) = ([0; 3], [1; 3]);
    expect(code(flat, other.handle, [&zero, &zero], &one), CL_SUCCESS, "what is right")?;
    for (origin, region, what) in &WRONG {
        expect(code(flat, other.handle, [origin, &zero], region), CL_INVALID_VALUE, what)?;
        expect(code(other.handle, flat, [&zero, origin], region), CL_INVALID_VALUE, what)?;
    }
    let line = Image::new(CL_MEM_OBJECT_IMAGE1D, [16, 1, 1])?;
    let two_rows = code(flat, line.handle, [&zero, &zero], &[4, 2, 1]);
    expect(two_rows, CL_INVALID_VALUE, "two rows to a line")?;
    let overlap = code(flat, flat, [&[0, 0, 0], &[3, 3, 0]], &[4, 4, 1]);
    expect(overlap, CL_MEM_COPY_OVERLAP, "regions that overlap")?;
    let format = cl_image_format { image_channel_data_type: CL_UNSIGNED_INT8, ..RGBA };
    let given = descriptor(CL_MEM_OBJECT_IMAGE2D, [16, 8, 1]);
    let handle = Image::create(CL_MEM_READ_WRITE, &format, &given, null_mut())?;
    let numbers = Image { handle, sides: [16, 8, 1], texel: TEXEL };
    let mismatch = code(flat, numbers.handle, [&zero, &zero], &one);
    expect(mismatch, CL_IMAGE_FORMAT_MISMATCH, "images of different formats")?;
    // Buffers.
    let buffer = gpu.buffer(&[0u8; 64])?;
    let memory = buffer.memory().get();
    let codes = |image, memory, origin: &[usize; 3], region: &[usize; 3], offset| {
        // SAFETY: handles are alive; origin and region have three elements.
        unsafe {
            [
                (api.clEnqueueCopyImageToBuffer)(
                    queue,
                    image,
                    memory,
                    origin.as_ptr(),
                    region.as_ptr(),
                    offset,
                    0,
                    null(),
                    null_mut(),
                ),
                (api.clEnqueueCopyBufferToImage)(
                    queue,
                    memory,
                    image,
                    offset,
                    origin.as_ptr(),
                    region.as_ptr(),
                    0,
                    null(),
                    null_mut(),
                ),
            ]
        }
    };
    let both = |codes: [cl_int; 2], expected, what: &str| {
        if codes == [expected; 2] { Ok(()) } else { Err(format!("{what}: {codes:?}, expected {expected}")) }
    };
    both(codes(flat, memory, &zero, &[16, 1, 1], 0), CL_SUCCESS, "what is right, and a buffer")?;
    both(codes(memory, memory, &zero, &one, 0), CL_INVALID_MEM_OBJECT, "a buffer for an image")?;
    both(codes(flat, flat, &zero, &one, 0), CL_INVALID_MEM_OBJECT, "an image for a buffer")?;
    both(codes(flat, memory, &zero, &[16, 2, 1], 0), CL_INVALID_VALUE, "more than the buffer has")?;
    both(codes(flat, memory, &zero, &[16, 1, 1], 4), CL_INVALID_VALUE, "an offset too far")?;
    for (origin, region, what) in &WRONG {
        both(codes(flat, memory, origin, region, 0), CL_INVALID_VALUE, what)?;
    }
    Ok(())
}

pub fn map() -> Outcome {
    let (api, gpu) = (api()?, Gpu::get()?);
    let images = Images::new()?;
    let queue = images.queue.get();
    let flat = images.flat.handle;
    let code = |image, flags, at: [&[usize; 3]; 2], row: *mut usize, slice: *mut usize| {
        let mut code = 1;
        // SAFETY: handles are alive or the driver's to refuse.
        let pointer = unsafe {
            (api.clEnqueueMapImage)(
                queue,
                image,
                CL_TRUE,
                flags,
                at[0].as_ptr(),
                at[1].as_ptr(),
                row,
                slice,
                0,
                null(),
                null_mut(),
                &mut code,
            )
        };
        (pointer, code)
    };
    let (mut row, mut slice) = (0, 0);
    let (zero, one) = ([0; 3], [1; 3]);
    for (origin, region, what) in &WRONG {
        let (pointer, found) = code(flat, CL_MAP_READ, [origin, region], &mut row, &mut slice);
        expect(found, CL_INVALID_VALUE, what)?;
        if !pointer.is_null() {
            return Err(format!("{what}: a pointer"));
        }
    }
    let none = code(flat, CL_MAP_READ, [&zero, &one], null_mut(), null_mut()).1;
    expect(none, CL_INVALID_VALUE, "no row pitch")?;
    let buffer = gpu.buffer(&[0u8; 64])?;
    let none = code(buffer.memory().get(), CL_MAP_READ, [&zero, &one], &mut row, &mut slice).1;
    expect(none, CL_INVALID_MEM_OBJECT, "a buffer")?;
    let deep = Image::new(CL_MEM_OBJECT_IMAGE3D, [4, 4, 4])?;
    let lacks = code(deep.handle, CL_MAP_READ, [&zero, &one], &mut row, null_mut()).1;
    expect(lacks, CL_INVALID_VALUE, "no slice pitch of an image with slices")?;
    let unknown = code(flat, 1 << 20, [&zero, &one], &mut row, &mut slice).1;
    expect(unknown, CL_INVALID_VALUE, "flags that there are not")?;
    // Twice for writing where both meet.
    let (first, found) = code(flat, CL_MAP_WRITE, [&[0, 0, 0], &[8, 4, 1]], &mut row, &mut slice);
    expect(found, CL_SUCCESS, "mapping for writing")?;
    let again = code(flat, CL_MAP_WRITE, [&[7, 3, 0], &[2, 2, 1]], &mut row, &mut slice).1;
    let beside = code(flat, CL_MAP_WRITE, [&[8, 4, 0], &[8, 4, 1]], &mut row, &mut slice);
    let unmap = |pointer| {
        // SAFETY: a pointer of this test, or one that the driver is to refuse.
        unsafe { (api.clEnqueueUnmapMemObject)(queue, flat, pointer, 0, null(), null_mut()) }
    };
    expect(unmap(first), CL_SUCCESS, "unmapping")?;
    if beside.1 == CL_SUCCESS {
        expect(unmap(beside.0), CL_SUCCESS, "unmapping beside")?;
    }
    images.queue.finish().map_err(|error| error.to_string())?;
    expect(again, CL_INVALID_OPERATION, "mapping twice for writing")?;
    expect(beside.1, CL_SUCCESS, "mapping beside what is mapped for writing")?;
    expect(unmap(first), CL_INVALID_VALUE, "unmapping what is not mapped")
}

/// Flags that forbid the host to read or to write.
pub fn host_access() -> Outcome {
    let images = Images::new()?;
    let (refused, fine) = (CL_INVALID_OPERATION, CL_SUCCESS);
    for (flag, expected) in [
        (CL_MEM_HOST_READ_ONLY, [fine, refused]),
        (CL_MEM_HOST_WRITE_ONLY, [refused, fine]),
        (CL_MEM_HOST_NO_ACCESS, [refused, refused]),
    ] {
        let given = descriptor(CL_MEM_OBJECT_IMAGE2D, [16, 8, 1]);
        let handle = Image::create(CL_MEM_READ_WRITE | flag, &RGBA, &given, null_mut())?;
        let image = Image { handle, sides: [16, 8, 1], texel: TEXEL };
        let codes = Transfer { image: image.handle, ..Transfer::good(&images) }.codes()?;
        if codes != expected {
            return Err(format!("flag {flag:#x}: {codes:?}, expected {expected:?}"));
        }
    }
    Ok(())
}
