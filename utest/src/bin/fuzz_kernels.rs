//! `make fuzz-kernels`: random kernels on gencl, at each SIMD width, and on another driver; their results
//! must be the same.
//!
//! Each driver runs in processes of its own, as either may crash. A kernel for which the other driver gives
//! nothing is skipped. What differs is written to `fuzz-SEED.cl` in the current directory.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use clap::Parser;
use gencl_utest::random_kernel::{GROUP, INPUT_BYTES, ITEM_DWORDS, prelude, source};
use gencl_utest::{Gpu, Launch, Program, Random};

/// Compares random kernels on two OpenCL drivers. `OCL_ICD_VENDORS` names the one under test.
#[derive(Parser)]
struct Options {
    /// The first kernel.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many.
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// What `OCL_ICD_VENDORS` is for the other driver.
    #[arg(long, default_value = "/etc/OpenCL/vendors/pocl.icd")]
    reference: String,
    /// Print the kernel of the seed and end.
    #[arg(long)]
    print: bool,
    /// Print a line `SEED DIGEST` for each kernel on the driver that the loader finds: what the program runs
    /// itself for.
    #[arg(long)]
    digests: bool,
    /// Lanes per thread, for the attribute that asks for them.
    #[arg(long)]
    width: Option<u32>,
    /// Build options.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    options: String,
}

/// Kernels of one run of another process, and of one program.
const RUN: u64 = 32;
const BATCH: u64 = 8;
/// Work-items, and of a group; the argument is the size of the group too. A kernel is launched with one of
/// them, as pocl compiles it anew for each size of a group.
const SIZES: [(usize, usize); 3] = [(64, 64), (48, 16), (45, 15)];
/// How often a kernel is launched, each time with another input.
const LAUNCHES: u64 = 3;
/// How long a kernel and its program may take.
const HANG_TIMEOUT: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    let options = Options::parse();
    if options.print {
        println!("{}{}", prelude(), source(options.seed));
        return ExitCode::SUCCESS;
    }
    if options.digests {
        return digests(&options);
    }
    let (mut same, mut skipped, mut different) = (0, 0, 0);
    let end = options.seed + options.count;
    // What runs with the driver under test: the driver's choice, and every `intel_reqd_sub_group_size` that
    // the device has.
    let widths = Gpu::get().map(Gpu::simd_widths).unwrap_or_default();
    let widths: Vec<Option<u32>> = std::iter::once(None).chain(widths.into_iter().map(Some)).collect();
    let other = [("OCL_ICD_VENDORS", options.reference.as_str()), ("POCL_KERNEL_CACHE", "0")];
    for first in (options.seed..end).step_by(RUN as usize) {
        let count = RUN.min(end - first);
        let (reference, own) = std::thread::scope(|scope| {
            let reference =
                scope.spawn(|| run(first, count, &other, &["--options=-cl-opt-disable".to_owned()]));
            let start = |&width: &Option<u32>| {
                let number = width.map(|width| format!("--width={width}"));
                let run =
                    scope.spawn(move || run(first, count, &[("GENCL_CACHE", "off")], number.as_slice()));
                (width, run)
            };
            let own: Vec<_> = widths.iter().map(start).collect();
            let own: Vec<_> = own.into_iter().map(|(width, run)| (width, joined(run))).collect();
            (joined(reference), own)
        });
        for seed in first..first + count {
            let Some(mut expected) = reference.get(&seed).filter(|text| !text.starts_with("error")).cloned()
            else {
                skipped += 1;
                continue;
            };
            if own.iter().any(|(_, results)| results.get(&seed) != Some(&expected)) {
                // A second opinion: pocl's two ways to compile do not always agree.
                let optimised = run(seed, 1, &other, &[]).remove(&seed);
                expected = optimised.filter(|text| !text.starts_with("error")).unwrap_or(expected);
            }
            let wrong: Vec<String> = own
                .iter()
                .filter(|(_, results)| results.get(&seed) != Some(&expected))
                .map(|(width, results)| {
                    let width = width.map_or("its own width".to_owned(), |w| format!("{w} lanes"));
                    format!("{width}: {}", results.get(&seed).map_or("crashed", String::as_str))
                })
                .collect();
            if wrong.is_empty() {
                same += 1;
                continue;
            }
            different += 1;
            println!("kernel {seed} differs, expected {expected}: {}", wrong.join("; "));
            if let Err(error) = std::fs::write(format!("fuzz-{seed}.cl"), prelude() + &source(seed)) {
                println!("fuzz-{seed}.cl: {error}");
            }
        }
        println!(
            "{} kernels: {same} same, {different} different, {skipped} skipped",
            first + count - options.seed
        );
    }
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a thread gives; it ends the program if it panicked.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs this program for some kernels with another environment. It is restarted after a kernel on which it
/// crashes or hangs.
fn run(first: u64, count: u64, environment: &[(&str, &str)], arguments: &[String]) -> BTreeMap<u64, String> {
    let mut results = BTreeMap::new();
    let mut seed = first;
    while seed < first + count {
        let Ok(program) = std::env::current_exe() else { break };
        let left = first + count - seed;
        let child = Command::new(program)
            .args(["--digests", "--seed", &seed.to_string(), "--count", &left.to_string()])
            .args(arguments)
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { break };
        let (sender, lines) = mpsc::channel();
        let output = child.stdout.take();
        std::thread::spawn(move || {
            for line in
                output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok))
            {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let hangs = loop {
            match lines.recv_timeout(HANG_TIMEOUT) {
                Ok(line) => {
                    if let Some((number, digest)) = line.split_once(' ')
                        && let Ok(number) = number.parse::<u64>()
                    {
                        results.insert(number, digest.to_owned());
                        seed = number + 1;
                    }
                }
                Err(error) => break error == RecvTimeoutError::Timeout,
            }
        };
        if hangs && child.kill().is_ok() {
            results.insert(seed, "stands still".to_owned());
        }
        if child.wait().is_ok_and(|status| status.success()) {
            break;
        }
        seed += 1;
    }
    results
}

fn digests(options: &Options) -> ExitCode {
    let end = options.seed + options.count;
    for first in (options.seed..end).step_by(BATCH as usize) {
        let seeds = first..end.min(first + BATCH);
        let program = build(seeds.clone(), options);
        for seed in seeds {
            // One kernel that cannot be built takes its neighbours along.
            let alone;
            let program = match &program {
                Ok(program) => Ok(program),
                Err(_) => {
                    alone = build(seed..seed + 1, options);
                    alone.as_ref()
                }
            };
            match program.map_err(Clone::clone).and_then(|program| digest(program, seed)) {
                Ok(digest) => println!("{seed} {digest:016x}"),
                Err(error) => println!("{seed} error: {}", error.replace('\n', " ")),
            }
        }
    }
    ExitCode::SUCCESS
}

fn build(seeds: std::ops::Range<u64>, options: &Options) -> Result<Program, String> {
    let attribute = match options.width {
        Some(width) => format!("__attribute__((intel_reqd_sub_group_size({width})))"),
        None => String::new(),
    };
    let kernels: String = seeds.map(source).collect();
    Gpu::get()?.build_source(&format!("#define WIDTH {attribute}\n{}{kernels}", prelude()), &options.options)
}

/// A hash of all output of a kernel.
fn digest(program: &Program, seed: u64) -> Result<u64, String> {
    let gpu = Gpu::get()?;
    let mut hash = DefaultHasher::new();
    let (items, group) = SIZES[(seed % SIZES.len() as u64) as usize];
    for number in 0..LAUNCHES {
        let input = gpu.buffer(&input(seed / SIZES.len() as u64, number))?;
        let output = gpu.buffer(&vec![0u32; (GROUP * ITEM_DWORDS) as usize])?;
        let argument = (group as u32).to_ne_bytes();
        let arguments = [output.arg(), input.arg(), gencl_utest::Arg::Bytes(&argument)];
        program.run(&format!("k{seed}"), &arguments, &Launch::linear(items, group))?;
        for dword in output.read()? {
            hash.write_u32(dword);
        }
    }
    Ok(hash.finish())
}

/// Random numbers: any, small ones, the same for all, or such of few bits.
fn input(seed: u64, launch: u64) -> Vec<u32> {
    let mut random = Random::new(seed * 3 + launch + 7);
    let same = random.next_u32();
    (0..INPUT_BYTES / 4)
        .map(|_| match (seed + launch) % 4 {
            0 => random.next_u32(),
            1 => random.next_u32() % 16,
            2 => same,
            _ => 1 << (random.next_u32() % 32),
        })
        .collect()
}
