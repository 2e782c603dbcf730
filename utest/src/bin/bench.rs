//! `make bench`: build time, launch overhead and small kernels, gencl beside the CPU drivers.
//!
//! Each driver is measured in processes of its own, in turn, several rounds; medians are printed. Compare
//! figures of one run only. Kernel caches are off.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use gencl_utest::{Arg, Buffer, Gpu, Launch, Program};

const ROUNDS: usize = 5;

/// A driver that is measured.
struct Driver {
    name: &'static str,
    /// The value of `OCL_ICD_VENDORS`; the environment's when there is none.
    vendors: Option<&'static str>,
    /// Does it need the simulated render node?
    simulated: bool,
    /// The variable that names the folder of its kernel cache.
    cache: Option<&'static str>,
}

const DRIVERS: [Driver; 4] = [
    Driver { name: "gencl", vendors: None, simulated: false, cache: Some("GENCL_CACHE") },
    Driver {
        name: "pocl",
        vendors: Some("/etc/OpenCL/vendors/pocl.icd"),
        simulated: false,
        cache: Some("POCL_CACHE_DIR"),
    },
    Driver {
        name: "oclgrind",
        vendors: Some("/usr/lib/oclgrind/liboclgrind-rt-icd.so"),
        simulated: false,
        cache: None,
    },
    Driver { name: "intel", vendors: Some("/etc/OpenCL/vendors/intel.icd"), simulated: true, cache: None },
];

/// What is measured, smaller is better.
const MEASUREMENTS: [(&str, &str); 7] = [
    ("build_first", "ms, the first program of a process, built and launched once"),
    ("build_later", "ms, another program, built and launched once"),
    ("build_cached", "ms, the first program of a process, from the kernel cache"),
    ("empty_stream", "us per empty kernel, 1000 in a stream"),
    ("empty_finish", "us per empty kernel and clFinish"),
    ("mandelbrot", "ms, 64 x 64 pixels, 64 iterations"),
    ("nbody", "ms, 256 bodies"),
];

fn main() -> Result<(), String> {
    match std::env::args().nth(1).as_deref() {
        Some("--measure") => return measure(),
        Some("--build") => return measure_build().map(drop),
        _ => {}
    }
    let mut samples: BTreeMap<(&str, String), Vec<f64>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        for driver in &DRIVERS {
            for (name, value) in measure_driver(driver) {
                samples.entry((driver.name, name)).or_default().push(value);
            }
        }
    }
    let median = |driver: &'static str, name: &str| {
        let mut values = samples.get(&(driver, name.to_string()))?.clone();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let columns = |cells: [String; DRIVERS.len()]| cells.map(|cell| format!("{cell:>10}")).concat();
    let (own, others) = (DRIVERS[0].name, DRIVERS.each_ref().map(|driver| driver.name));
    println!("{:<14}{}    by {own}:{}", "", columns(others.map(Into::into)), columns(others.map(Into::into)));
    for (name, unit) in MEASUREMENTS {
        let show = |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.2}"));
        let values = others.map(|driver| median(driver, name));
        let ratios = values.map(|other| Some(other? / values[0]?));
        println!("{name:<14}{}             {}  {unit}", columns(values.map(show)), columns(ratios.map(show)));
    }
    Ok(())
}

/// Runs this program again with another driver. A driver that is not installed gives nothing.
fn measure_driver(driver: &Driver) -> Vec<(String, f64)> {
    if driver.vendors.is_some_and(|vendors| !Path::new(vendors).exists()) {
        return Vec::new();
    }
    let mut values = run(driver, "--measure", None);
    if let Some(variable) = driver.cache {
        let folder = std::env::temp_dir().join(format!("gencl-bench-{}", std::process::id()));
        let cache = || run(driver, "--build", Some((variable, &folder)));
        cache();
        let cached = cache().into_iter().filter(|(name, _)| name == "build_first");
        values.extend(cached.map(|(_, value)| ("build_cached".to_string(), value)));
        // What is left in the folder for temporary files does not change the next run's figures.
        let _ = std::fs::remove_dir_all(folder);
    }
    values
}

/// Runs this program with a driver and collects what it prints; with a kernel cache (the driver's variable, and the folder) or with none.
fn run(driver: &Driver, action: &str, cache: Option<(&str, &Path)>) -> Vec<(String, f64)> {
    let Ok(program) = std::env::current_exe() else { return Vec::new() };
    let mut command = match driver.simulated {
        true => Command::new(program.with_file_name("gencl-sim")),
        false => Command::new(&program),
    };
    if driver.simulated {
        command.arg("--").arg(program);
    }
    command.arg(action).envs(driver.vendors.map(|vendors| ("OCL_ICD_VENDORS", vendors)));
    match cache {
        Some((variable, folder)) => command.env(variable, folder).env("POCL_KERNEL_CACHE", "1"),
        None => command.env("POCL_KERNEL_CACHE", "0").env("NEO_CACHE_PERSISTENT", "0"),
    };
    let Ok(output) = command.output() else { return Vec::new() };
    if !output.status.success() {
        eprintln!("{}: {}", driver.name, String::from_utf8_lossy(&output.stderr).trim());
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

const SOURCE: &str = include_str!("../../kernels/bench.cl");

/// Builds the first program of the process and launches a kernel of it; the context exists before.
fn measure_build() -> Result<Program, String> {
    let gpu = Gpu::get()?;
    let (input, output) = (gpu.buffer(&[1f32; 256])?, gpu.buffer(&[0f32; 256])?);
    let begin = Instant::now();
    let program = gpu.build_unchecked(SOURCE, "")?;
    launch(&program, &input, &output)?;
    println!("build_first {}", milliseconds(begin));
    Ok(program)
}

/// Launches a small kernel.
fn launch(program: &Program, input: &Buffer<f32>, output: &Buffer<f32>) -> Result<(), String> {
    let count = 64i32.to_ne_bytes();
    program.run("nbody", &[input.arg(), output.arg(), Arg::Bytes(&count)], &Launch::linear(64, 64))
}

/// Measures the driver that the loader finds first; one line "name value" each.
fn measure() -> Result<(), String> {
    let program = measure_build()?;
    let gpu = Gpu::get()?;
    let (input, output) = (gpu.buffer(&[1f32; 256])?, gpu.buffer(&[0f32; 256])?);
    let begin = Instant::now();
    let another = gpu.build_unchecked(SOURCE, "-DANOTHER=1")?;
    launch(&another, &input, &output)?;
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
