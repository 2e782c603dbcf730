//! `make bench`: build time, launch overhead and small kernels, gencl beside the CPU drivers.
//!
//! Each driver is measured in processes of its own, in turn, several rounds; medians are printed. Compare
//! figures of one run only. Kernel caches are off.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

use gencl_utest::{Arg, Gpu, Launch};

const ROUNDS: usize = 5;

/// Drivers: name, and the value of `OCL_ICD_VENDORS` (the first comes from the environment).
const DRIVERS: [(&str, Option<&str>); 3] = [
    ("gencl", None),
    ("pocl", Some("/etc/OpenCL/vendors/pocl.icd")),
    ("oclgrind", Some("/usr/lib/oclgrind/liboclgrind-rt-icd.so")),
];

/// What is measured, smaller is better.
const MEASUREMENTS: [(&str, &str); 6] = [
    ("build_first", "ms, the first program of a process"),
    ("build_later", "ms, another program"),
    ("empty_stream", "us per empty kernel, 1000 in a stream"),
    ("empty_finish", "us per empty kernel and clFinish"),
    ("mandelbrot", "ms, 64 x 64 pixels, 64 iterations"),
    ("nbody", "ms, 256 bodies"),
];

fn main() -> Result<(), String> {
    if std::env::args().nth(1).as_deref() == Some("--measure") {
        return measure();
    }
    let mut samples: BTreeMap<(&str, String), Vec<f64>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        for (driver, vendors) in DRIVERS {
            for (name, value) in measure_driver(vendors) {
                samples.entry((driver, name)).or_default().push(value);
            }
        }
    }
    let median = |driver: &'static str, name: &str| {
        let mut values = samples.get(&(driver, name.to_string()))?.clone();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    println!(
        "{:<14}{:>12}{:>12}{:>12}{:>14}{:>14}",
        "", "gencl", "pocl", "oclgrind", "pocl/gencl", "oclgrind/gencl"
    );
    for (name, unit) in MEASUREMENTS {
        let [own, pocl, oclgrind] = DRIVERS.map(|(driver, _)| median(driver, name));
        let ratio = |other: Option<f64>| Some(other? / own?);
        let show = |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.2}"));
        println!(
            "{name:<14}{:>12}{:>12}{:>12}{:>14}{:>14}  {unit}",
            show(own),
            show(pocl),
            show(oclgrind),
            show(ratio(pocl)),
            show(ratio(oclgrind)),
        );
    }
    Ok(())
}

/// Runs this program again with another driver. A driver that is not installed gives nothing.
fn measure_driver(vendors: Option<&str>) -> Vec<(String, f64)> {
    let Ok(program) = std::env::current_exe() else { return Vec::new() };
    let mut command = Command::new(program);
    command.arg("--measure").env("POCL_KERNEL_CACHE", "0");
    if let Some(vendors) = vendors {
        if !std::path::Path::new(vendors).exists() {
            return Vec::new();
        }
        command.env("OCL_ICD_VENDORS", vendors);
    }
    let Ok(output) = command.output() else { return Vec::new() };
    if !output.status.success() {
        eprintln!("{}: {}", vendors.unwrap_or("gencl"), String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_string(), value.parse().ok()?))
        })
        .collect()
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

/// Measures the driver that the loader finds first; one line "name value" each.
fn measure() -> Result<(), String> {
    let source = include_str!("../../kernels/bench.cl");
    let gpu = Gpu::get()?;
    // A context of the process exists: what a driver starts then is part of its start, not of a build.
    let begin = Instant::now();
    let program = gpu.build_source(source, "")?;
    println!("build_first {}", milliseconds(begin));
    let begin = Instant::now();
    gpu.build_source(source, "-DANOTHER=1")?;
    println!("build_later {}", milliseconds(begin));

    let queue = gpu.queue()?;
    let buffer = gpu.buffer(&[0i32; 4096])?;
    let kernel = program.kernel("empty")?;
    // SAFETY: the argument is a buffer's handle, as the kernel declares it.
    unsafe { kernel.set_arg(0, &opencl3::memory::ClMem::get(buffer.memory())) }.map_err(|e| e.to_string())?;
    let enqueue = || {
        // SAFETY: one dimension, sizes of one element.
        unsafe {
            queue.enqueue_nd_range_kernel(
                kernel.get(),
                1,
                std::ptr::null(),
                [64usize].as_ptr(),
                [64usize].as_ptr(),
                &[],
            )
        }
        .map_err(|error| error.to_string())
    };
    let finish = || queue.finish().map_err(|error| error.to_string());
    enqueue()?;
    finish()?;
    const COUNT: u32 = 1000;
    let begin = Instant::now();
    for _ in 0..COUNT {
        enqueue()?;
    }
    finish()?;
    println!("empty_stream {}", milliseconds(begin) * 1e3 / f64::from(COUNT));
    let begin = Instant::now();
    for _ in 0..COUNT {
        enqueue()?;
        finish()?;
    }
    println!("empty_finish {}", milliseconds(begin) * 1e3 / f64::from(COUNT));

    let (width, limit) = (64i32.to_ne_bytes(), 64i32.to_ne_bytes());
    let mandelbrot = [buffer.arg(), Arg::Bytes(&width), Arg::Bytes(&limit)];
    let launch = Launch { global: vec![64, 64], local: vec![16, 8], ..Launch::default() };
    println!("mandelbrot {}", steady(|| program.run("mandelbrot", &mandelbrot, &launch))?);
    let bodies: Vec<f32> = (0..1024).map(|i| (i * 37 % 101) as f32 * 0.01).collect();
    let (bodies, forces) = (gpu.buffer(&bodies)?, gpu.buffer(&[0f32; 1024])?);
    let count = 256i32.to_ne_bytes();
    let nbody = [bodies.arg(), forces.arg(), Arg::Bytes(&count)];
    println!("nbody {}", steady(|| program.run("nbody", &nbody, &Launch::linear(256, 64)))?);
    Ok(())
}

/// Milliseconds of one run: the median of five after a warm-up.
fn steady(run: impl Fn() -> Result<(), String>) -> Result<f64, String> {
    run()?;
    let mut times = Vec::new();
    for _ in 0..5 {
        let begin = Instant::now();
        run()?;
        times.push(milliseconds(begin));
    }
    times.sort_by(f64::total_cmp);
    Ok(times[2])
}
