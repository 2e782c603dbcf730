//! `make bench`: build time, launch overhead and small kernels, gencl beside the CPU drivers.
//!
//! Each driver is measured in processes of its own, in turn, several rounds; medians are printed. Compare
//! figures of one run only. Kernel caches are off.
//!
//! `bench compare` does the same with the kernels of `utest/kernels/bench`.

mod cases;
mod compare;
mod data;
mod expected;
mod filters;
mod images;
mod kernels;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use clap::Parser as _;
use gencl_utest::{Arg, Buffer, Gpu, Launch, Program, Random};

const ROUNDS: usize = 5;

/// A driver that is measured.
struct Driver {
    name: &'static str,
    /// The value of `OCL_ICD_VENDORS`; the environment's when there is none.
    vendors: Option<&'static str>,
    /// Whether it needs the simulated render node.
    simulated: bool,
    /// The variable that names the folder of its kernel cache.
    cache: Option<&'static str>,
    /// Whether it makes host code, so that large launches end.
    fast: bool,
}

const DRIVERS: [Driver; 4] = [
    Driver { name: "gencl", vendors: None, simulated: false, cache: Some("GENCL_CACHE"), fast: true },
    Driver {
        name: "pocl",
        vendors: Some("/etc/OpenCL/vendors/pocl.icd"),
        simulated: false,
        cache: Some("POCL_CACHE_DIR"),
        fast: true,
    },
    Driver {
        name: "oclgrind",
        vendors: Some("/usr/lib/oclgrind/liboclgrind-rt-icd.so"),
        simulated: false,
        cache: None,
        fast: false,
    },
    Driver {
        name: "intel",
        vendors: Some("/etc/OpenCL/vendors/intel.icd"),
        simulated: true,
        cache: None,
        fast: false,
    },
];

/// Code of the host itself, without OpenCL.
const HOST: &str = "host";

/// What is measured, smaller is better.
const MEASUREMENTS: [(&str, &str); 20] = [
    ("build_first", "ms, the first program of a process, built and launched once"),
    ("build_later", "ms, another program, built and launched once"),
    ("build_cached", "ms, the first program of a process, from the kernel cache"),
    ("empty_stream", "us per empty kernel, 1000 in a stream"),
    ("empty_finish", "us per empty kernel and clFinish"),
    ("mandelbrot", "ms, 64 x 64 pixels, 64 iterations"),
    ("nbody", "ms, 256 bodies"),
    ("axpy", "ms, 16,777,216 floats"),
    ("sum", "ms, 16,777,216 floats in 256 work-groups"),
    ("matmul", "ms, 512 x 512, in tiles of 16 x 16"),
    ("rows", "ms, 262,144 rows of 1 to 256 numbers"),
    ("blend", "ms, 2,097,152 pixels as uchar4, floats between"),
    ("gray", "ms, 2,097,152 pixels as uchar4, bytes from them"),
    ("stencil", "ms, 2048 x 2048 floats, work-groups as the driver likes"),
    ("scan", "ms, 1,048,576 floats in work-groups of 256"),
    ("divide", "ms, 1,048,576 quotients and remainders"),
    ("mandelbrot_large", "ms, 1024 x 1024 pixels, 256 iterations"),
    ("nbody_large", "ms, 4096 bodies"),
    ("fma16", "ms, 17.2 G operations on float16; host: vectors as wide as it has"),
    ("read4", "ms, 256 MiB read as float4; host: a sum"),
];

/// What turns kernel caches off.
const NO_CACHES: [(&str, &str); 4] = [
    ("POCL_KERNEL_CACHE", "0"),
    ("NEO_CACHE_PERSISTENT", "0"),
    ("CL_CONFIG_CPU_ENABLE_CACHE", "0"),
    ("GENCL_CACHE", "off"),
];

fn main() -> Result<(), String> {
    let options = || std::env::args().skip(1);
    match std::env::args().nth(1).as_deref() {
        Some("kernels") => return kernels::measure(&kernels::Options::parse_from(options())),
        Some("compare") => return compare::compare(&compare::Options::parse_from(options())),
        Some("--measure") => return measure(),
        Some("--build") => return measure_build().map(drop),
        Some("--large") => return measure_large(),
        _ => {}
    }
    let mut samples: BTreeMap<(&str, String), Vec<f64>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        for (name, value) in host::measure() {
            samples.entry((HOST, name.to_string())).or_default().push(value);
        }
        for driver in &DRIVERS {
            for (name, value) in measure_driver(driver) {
                samples.entry((driver.name, name)).or_default().push(value);
            }
        }
    }
    let median_of =
        |driver: &'static str, name: &str| samples.get(&(driver, name.to_string())).cloned().map(median);
    let columns = |cells: [String; DRIVERS.len() + 1]| cells.map(|cell| format!("{cell:>10}")).concat();
    let own = DRIVERS[0].name;
    let others = [DRIVERS[0].name, DRIVERS[1].name, DRIVERS[2].name, DRIVERS[3].name, HOST];
    println!("{:<16}{}    by {own}:{}", "", columns(others.map(Into::into)), columns(others.map(Into::into)));
    for (name, unit) in MEASUREMENTS {
        let show = |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.2}"));
        let values = others.map(|driver| median_of(driver, name));
        let ratios = values.map(|other| Some(other? / values[0]?));
        println!("{name:<16}{}             {}  {unit}", columns(values.map(show)), columns(ratios.map(show)));
    }
    Ok(())
}

/// Runs this program again with another driver. A driver that is not installed gives nothing.
fn measure_driver(driver: &Driver) -> Vec<(String, f64)> {
    if driver.vendors.is_some_and(|vendors| !Path::new(vendors).exists()) {
        return Vec::new();
    }
    let mut values = run(driver, "--measure", None);
    if driver.fast {
        values.extend(run(driver, "--large", None));
    }
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

/// Runs this program with a driver and collects what it prints; with a kernel cache (the driver's variable,
/// and the folder) or with none.
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
        None => command.envs(NO_CACHES),
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

/// The middle one of several values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

const SOURCE: &str = include_str!("../../../kernels/bench.cl");
const LARGE: &str = include_str!("../../../kernels/bench_large.cl");

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
    Ok(median(times))
}

/// Prints the time of a launch.
fn time(
    name: &str,
    program: &Program,
    kernel: &str,
    arguments: &[Arg<'_>],
    launch: &Launch,
) -> Result<(), String> {
    let run = || program.run(kernel, arguments, launch);
    // Until whatever is compiled beside the launches is there.
    let begin = Instant::now();
    while milliseconds(begin) < 500.0 {
        run()?;
    }
    println!("{name} {}", steady(run)?);
    Ok(())
}

/// Measures launches that are large enough to be worth host code.
fn measure_large() -> Result<(), String> {
    const FLOATS: usize = 1 << 24;
    const ROWS: usize = 1 << 18;
    let gpu = Gpu::get()?;
    let program = gpu.build_unchecked(&[SOURCE, LARGE].concat(), "")?;
    let number = |value: i32| value.to_ne_bytes();
    let time = |name: &str, kernel: &str, arguments: &[Arg<'_>], launch: &Launch| {
        time(name, &program, kernel, arguments, launch)
    };
    {
        let (x, y) = (gpu.buffer(&vec![1f32; FLOATS])?, gpu.buffer(&vec![2f32; FLOATS])?);
        let (a, count) = (0.5f32.to_ne_bytes(), number(FLOATS as i32));
        time("axpy", "axpy", &[x.arg(), y.arg(), Arg::Bytes(&a)], &Launch::linear(FLOATS, 256))?;
        time("sum", "sum", &[x.arg(), y.arg(), Arg::Bytes(&count)], &Launch::linear(256 * 256, 256))?;
    }
    {
        let (n, size) = (512, number(512));
        let matrices = [(); 3].map(|()| gpu.buffer(&vec![0.5f32; n * n]));
        let [a, b, c] = matrices;
        let (a, b, c) = (a?, b?, c?);
        let launch = Launch { global: vec![n, n], local: vec![16, 16], ..Launch::default() };
        time("matmul", "matmul", &[a.arg(), b.arg(), c.arg(), Arg::Bytes(&size)], &launch)?;
    }
    {
        let mut random = Random::new(3);
        let mut starts = vec![0i32];
        let mut columns = Vec::new();
        for _ in 0..ROWS {
            let length = if random.next_u32().is_multiple_of(64) { 256 } else { 1 + random.next_u32() % 32 };
            columns.extend((0..length).map(|_| (random.next_u32() as usize % ROWS) as i32));
            starts.push(columns.len() as i32);
        }
        let (starts, columns) = (gpu.buffer(&starts)?, gpu.buffer(&columns)?);
        let (x, y) = (gpu.buffer(&vec![1f32; ROWS])?, gpu.buffer(&vec![0f32; ROWS])?);
        let arguments = [starts.arg(), columns.arg(), x.arg(), y.arg()];
        time("rows", "rows", &arguments, &Launch::linear(ROWS, 256))?;
    }
    measure_small_work_items(gpu, &time)?;
    {
        let counts = gpu.buffer(&vec![0i32; 1 << 20])?;
        let (width, limit) = (number(1024), number(256));
        let launch = Launch { global: vec![1024, 1024], local: vec![16, 8], ..Launch::default() };
        let arguments = [counts.arg(), Arg::Bytes(&width), Arg::Bytes(&limit)];
        time("mandelbrot_large", "mandelbrot", &arguments, &launch)?;
    }
    {
        let bodies: Vec<f32> = (0..4 * 4096).map(|i| (i * 37 % 101) as f32 * 0.01).collect();
        let (bodies, forces) = (gpu.buffer(&bodies)?, gpu.buffer(&[0f32; 4 * 4096])?);
        let count = number(4096);
        let arguments = [bodies.arg(), forces.arg(), Arg::Bytes(&count)];
        time("nbody_large", "nbody", &arguments, &Launch::linear(4096, 64))?;
    }
    let out = gpu.buffer(&vec![0f32; 1 << 20])?;
    let (a, rounds) = (0.1f32.to_ne_bytes(), number(host::ROUNDS as i32));
    time(
        "fma16",
        "fma16",
        &[out.arg(), Arg::Bytes(&a), Arg::Bytes(&rounds)],
        &Launch::linear(host::ITEMS, 256),
    )?;
    let input = gpu.buffer(&vec![1f32; host::READ / 4])?;
    time("read4", "read4", &[input.arg(), out.arg()], &Launch::linear(host::READ / 256, 256))
}

/// Measures kernels that do little for each work-item.
fn measure_small_work_items(
    gpu: &Gpu,
    time: &impl Fn(&str, &str, &[Arg<'_>], &Launch) -> Result<(), String>,
) -> Result<(), String> {
    const PIXELS: usize = 1 << 21;
    const SIDE: usize = 2048;
    const NUMBERS: usize = 1 << 20;
    let mut random = Random::new(5);
    let bits: Vec<u32> = (0..SIDE * SIDE).map(|_| random.next_u32()).collect();
    let (a, b) = (gpu.buffer(&bits)?, gpu.buffer(&bits[1..])?);
    let floats: Vec<f32> = bits.iter().map(|bits| (bits % 1000) as f32).collect();
    let (floats, out) = (gpu.buffer(&floats)?, gpu.buffer(&bits)?);
    let (part, side) = (0.3f32.to_ne_bytes(), (SIDE as i32).to_ne_bytes());
    let free = |global: Vec<usize>| Launch { global, ..Launch::default() };
    time("blend", "blend", &[a.arg(), b.arg(), out.arg(), Arg::Bytes(&part)], &free(vec![PIXELS]))?;
    time("gray", "gray", &[a.arg(), out.arg()], &free(vec![PIXELS]))?;
    let arguments = [floats.arg(), out.arg(), Arg::Bytes(&side), Arg::Bytes(&side)];
    time("stencil", "stencil", &arguments, &free(vec![SIDE, SIDE]))?;
    time("scan", "scan", &[floats.arg(), out.arg()], &Launch::linear(NUMBERS, 256))?;
    time("divide", "divide", &[a.arg(), b.arg(), out.arg()], &free(vec![NUMBERS]))
}

/// What the host does without OpenCL, on all of its cores.
mod host {
    use std::time::Instant;

    use super::milliseconds;

    /// Work-items of `fma16`.
    pub const ITEMS: usize = 1 << 16;
    /// Rounds of each.
    pub const ROUNDS: usize = 128;
    /// Bytes of `read4`.
    pub const READ: usize = 256 << 20;
    /// Operations of `fma16`.
    const OPERATIONS: usize = ITEMS * ROUNDS * 2 * 16 * 64;

    /// Lanes of a vector, and vectors that are computed side by side, so that none waits for another.
    const LANES: usize = 16;
    const VECTORS: usize = 12;
    type Values = [[f32; LANES]; VECTORS];

    /// Multiplies and adds so often, all values at once.
    #[inline(always)]
    fn multiply_add(rounds: usize, values: &mut Values) {
        for _ in 0..rounds {
            for vector in values.iter_mut() {
                for value in vector {
                    *value = value.mul_add(0.999, 0.001);
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,fma")]
    fn multiply_add_512(rounds: usize, values: &mut Values) {
        multiply_add(rounds, values);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn multiply_add_256(rounds: usize, values: &mut Values) {
        multiply_add(rounds, values);
    }

    fn fastest(rounds: usize, values: &mut Values) {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                // SAFETY: the processor has these instructions.
                return unsafe { multiply_add_512(rounds, values) };
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: the processor has these instructions.
                return unsafe { multiply_add_256(rounds, values) };
            }
        }
        multiply_add(rounds, values);
    }

    /// Milliseconds of the same work as that of the kernels of these names, the best of three.
    pub fn measure() -> Vec<(&'static str, f64)> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let data = vec![1f32; READ / 4];
        let best = |work: &(dyn Fn(usize) + Sync)| {
            let times = (0..3).map(|_| {
                let begin = Instant::now();
                std::thread::scope(|scope| (0..cores).for_each(|core| drop(scope.spawn(move || work(core)))));
                milliseconds(begin)
            });
            times.fold(f64::INFINITY, f64::min)
        };
        let rounds = OPERATIONS / cores / (2 * LANES * VECTORS);
        let fma = best(&|core| {
            let mut values = [[core as f32; LANES]; VECTORS];
            fastest(rounds, &mut values);
            std::hint::black_box(values);
        });
        let part = data.len() / cores;
        let read = best(&|core| {
            let mut sums = [0f32; 64];
            for chunk in data[core * part..(core + 1) * part].chunks_exact(64) {
                sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value);
            }
            std::hint::black_box(sums);
        });
        vec![("fma16", fma), ("read4", read)]
    }
}
