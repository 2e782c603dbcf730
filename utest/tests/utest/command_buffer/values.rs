//! What commands of each kind compute.

use std::ptr::{null, null_mut};

use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_RGBA, CL_UNSIGNED_INT32, cl_image_format, cl_mem,
};
use opencl3::memory::ClMem;

use super::list::{List, program, queue_with, set, well};
use crate::images::descriptor;
use crate::memory::same;

/// Launches, enqueued several times.
pub fn launches() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let numbers: Vec<i32> = (0..100).collect();
    let (a, b) = (gpu.buffer(&numbers)?, gpu.buffer(&[0i32; 100])?);
    let (add, scale) = (program.kernel("add")?, program.kernel("scale")?);
    let list = List::new(&queue, 0)?;
    set(&add, 0, &a.memory().get())?;
    set(&add, 1, &7i32)?;
    list.launch(&add, 100, &[])?;
    set(&scale, 0, &b.memory().get())?;
    set(&scale, 1, &a.memory().get())?;
    set(&scale, 2, &3i32)?;
    list.launch(&scale, 100, &[])?;
    list.finalize()?;
    for round in 1..=3 {
        list.run()?;
        let added: Vec<i32> = numbers.iter().map(|number| number + 7 * round).collect();
        same(&a.read()?, &added)?;
        let scaled: Vec<i32> = (0..).zip(&added).map(|(i, number)| number * 3 + i).collect();
        same(&b.read()?, &scaled)?;
    }
    Ok(())
}

/// Arguments are those of when a launch is recorded, local memory too.
pub fn arguments() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let buffers = [gpu.buffer(&[0i32; 8])?, gpu.buffer(&[0i32; 8])?];
    let (put, sum) = (program.kernel("put")?, program.kernel("sum")?);
    let list = List::new(&queue, 0)?;
    for (index, buffer) in buffers.iter().enumerate() {
        set(&put, 0, &buffer.memory().get())?;
        set(&put, 1, &(index as i32 + 5))?;
        list.launch(&put, 8, &[])?;
    }
    set(&put, 1, &1000i32)?;
    set(&sum, 0, &buffers[1].memory().get())?;
    // SAFETY: local memory for the eight work-items.
    unsafe { sum.set_arg_local_buffer(1, 8 * 4) }.map_err(|error| error.to_string())?;
    list.launch_as(sum.get(), &[], [0, 8, 8], &[])?;
    // SAFETY: more than is needed.
    unsafe { sum.set_arg_local_buffer(1, 1 << 12) }.map_err(|error| error.to_string())?;
    list.finalize()?;
    list.run()?;
    same(&buffers[0].read()?, &[5; 8])?;
    same(&buffers[1].read()?, &[48; 8])
}

/// Objects of C++ are constructed before the first launch, if that is a recorded one, too.
pub fn constructed() -> Outcome {
    let source = "struct S { int a; S(int x) : a(get_global_size(0) + x) {} };
        static __global S object(10);
        kernel void k(global int *p) { p[0] += object.a++; }";
    let (gpu, queue) = (Gpu::get()?, queue_with(0)?);
    let kernel = gpu.build_source(source, "-cl-std=CLC++")?.kernel("k")?;
    let buffer = gpu.buffer(&[0i32])?;
    set(&kernel, 0, &buffer.memory().get())?;
    let list = List::new(&queue, 0)?;
    list.launch(&kernel, 1, &[])?;
    list.finalize()?;
    list.run()?;
    list.run()?;
    same(&buffer.read()?, &[11 + 12])
}

/// Copies and fills of buffers, and parts of them.
pub fn copies() -> Outcome {
    let (gpu, queue) = (Gpu::get()?, queue_with(0)?);
    let mut a = gpu.buffer(&[1i32, 2, 3, 4, 5, 6, 7, 8])?;
    let b = gpu.buffer(&[0i32; 8])?;
    let list = List::new(&queue, 0)?;
    list.fill(b.memory().get(), -1, [0, 32], &[])?;
    list.copy((a.memory().get(), 8), (b.memory().get(), 4), 16, &[])?;
    list.fill(b.memory().get(), 9, [24, 4], &[])?;
    list.copy((a.memory().get(), 0), (b.memory().get(), 0), 0, &[])?;
    list.finalize()?;
    list.run()?;
    same(&b.read()?, &[-1, 3, 4, 5, 6, -1, 9, -1])?;
    a.write(&[10, 20, 30, 40, 50, 60, 70, 80])?;
    list.run()?;
    same(&b.read()?, &[-1, 30, 40, 50, 60, -1, 9, -1])
}

/// A rectangle of rows with pitches.
pub fn rectangles() -> Outcome {
    let (gpu, queue) = (Gpu::get()?, queue_with(0)?);
    let numbers: Vec<i32> = (0..64).collect();
    let (a, b) = (gpu.buffer(&numbers)?, gpu.buffer(&[-1i32; 64])?);
    let list = List::new(&queue, 0)?;
    // Two rows of three numbers: from a row of 8 to one of 16.
    // SAFETY: origins and region have three numbers.
    let code = unsafe {
        (list.functions.clCommandCopyBufferRectKHR)(
            list.handle,
            null_mut(),
            null(),
            a.memory().get(),
            b.memory().get(),
            [4, 2, 0].as_ptr(),
            [8, 1, 0].as_ptr(),
            [12, 2, 1].as_ptr(),
            32,
            0,
            64,
            0,
            0,
            null(),
            null_mut(),
            null_mut(),
        )
    };
    well(code, "clCommandCopyBufferRectKHR")?;
    list.finalize()?;
    list.run()?;
    let mut expected = vec![-1; 64];
    expected[18..21].copy_from_slice(&[17, 18, 19]);
    expected[34..37].copy_from_slice(&[25, 26, 27]);
    same(&b.read()?, &expected)
}

/// An image of 4 by 4 texels of four numbers.
fn image(list: &List) -> Result<cl_mem, String> {
    let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNSIGNED_INT32 };
    let description = descriptor(CL_MEM_OBJECT_IMAGE2D, [4, 4, 0]);
    let mut code = 1;
    let context = Gpu::get()?.context.get();
    // SAFETY: the context is alive, format and description are right.
    let image = unsafe {
        (list.api.clCreateImage)(context, CL_MEM_READ_WRITE, &format, &description, null_mut(), &mut code)
    };
    well(code, "clCreateImage").map(|()| image)
}

/// Fills and copies of images, to and from buffers.
pub fn images() -> Outcome {
    let (gpu, queue) = (Gpu::get()?, queue_with(0)?);
    let numbers: Vec<u32> = (0..64).collect();
    let (from, to) = (gpu.buffer(&numbers)?, gpu.buffer(&[0u32; 64])?);
    let list = List::new(&queue, 0)?;
    let (first, second) = (image(&list)?, image(&list)?);
    let (zero, all) = ([0usize; 3], [4usize, 4, 1]);
    let color = [7u32, 8, 9, 10];
    let (f, own) = (list.functions, list.handle);
    // SAFETY: origins, regions and the color are of the sizes that the functions take.
    let codes = unsafe {
        [
            (f.clCommandFillImageKHR)(
                own,
                null_mut(),
                null(),
                first,
                color.as_ptr().cast(),
                zero.as_ptr(),
                all.as_ptr(),
                0,
                null(),
                null_mut(),
                null_mut(),
            ),
            (f.clCommandCopyBufferToImageKHR)(
                own,
                null_mut(),
                null(),
                from.memory().get(),
                second,
                16,
                zero.as_ptr(),
                [2, 2, 1].as_ptr(),
                0,
                null(),
                null_mut(),
                null_mut(),
            ),
            (f.clCommandCopyImageKHR)(
                own,
                null_mut(),
                null(),
                second,
                first,
                zero.as_ptr(),
                [1, 2, 0].as_ptr(),
                [2, 2, 1].as_ptr(),
                0,
                null(),
                null_mut(),
                null_mut(),
            ),
            (f.clCommandCopyImageToBufferKHR)(
                own,
                null_mut(),
                null(),
                first,
                to.memory().get(),
                zero.as_ptr(),
                all.as_ptr(),
                0,
                0,
                null(),
                null_mut(),
                null_mut(),
            ),
        ]
    };
    for code in codes {
        well(code, "a command on an image")?;
    }
    // They are the command-buffer's now.
    // SAFETY: the test's own references.
    unsafe {
        (list.api.clReleaseMemObject)(first);
        (list.api.clReleaseMemObject)(second);
    }
    list.finalize()?;
    list.run()?;
    let mut expected: Vec<u32> = color.repeat(16);
    expected[36..44].copy_from_slice(&numbers[4..12]);
    expected[52..60].copy_from_slice(&numbers[12..20]);
    same(&to.read()?, &expected)
}

/// Command-buffers of no commands, of barriers alone, and empty launches.
pub fn empty() -> Outcome {
    let queue = queue_with(0)?;
    let nothing = List::new(&queue, 0)?;
    nothing.finalize()?;
    nothing.run()?;
    let barriers = List::new(&queue, 0)?;
    let first = barriers.barrier(&[])?;
    barriers.barrier(&[first])?;
    barriers.finalize()?;
    barriers.run()?;
    let program = program()?;
    let launches = List::new(&queue, 0)?;
    launches.launch(&program.kernel("nothing")?, 0, &[])?;
    launches.launch(&program.kernel("nothing")?, 1, &[])?;
    launches.finalize()?;
    launches.run()
}

/// More commands than batches have, some of them not for the GPU.
pub fn long() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let (a, b) = (gpu.buffer(&[0i32; 16])?, gpu.buffer(&[0i32; 16])?);
    let add = program.kernel("add")?;
    set(&add, 0, &a.memory().get())?;
    let list = List::new(&queue, 0)?;
    let mut expected = 0;
    for number in 0..700 {
        set(&add, 1, &(number % 5))?;
        list.launch(&add, 16, &[])?;
        expected += number % 5;
        if number == 350 {
            list.copy((a.memory().get(), 0), (b.memory().get(), 0), 64, &[])?;
        }
    }
    list.finalize()?;
    list.run()?;
    same(&a.read()?, &[expected; 16])?;
    same(&b.read()?, &[(0..=350).map(|number| number % 5).sum::<i32>(); 16])
}
