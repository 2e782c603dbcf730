//! `bench kernels`: builds, checks and times the kernels of `utest/kernels/bench` on the driver that the loader
//! finds first, a line of JSON each.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use gencl_utest::{Arg, Buffer, Gpu, Random, enqueue};
use opencl3::command_queue::CommandQueue;
use opencl3::kernel::Kernel;
use serde_json::{Value, json};

use crate::cases::{CASES, Case, Step};
use crate::data::Data;
use crate::images::Image;
use crate::{median, milliseconds};

/// Milliseconds of repetitions that are not measured: until what is compiled beside the launches is there, which takes
/// longest for transforms.
const WARM_UP: f64 = 2000.0;
/// Repetitions that are measured: at least, at most, and after how many milliseconds no more are needed.
const REPETITIONS: (usize, usize, f64) = (5, 25, 2000.0);

/// Sizes of the kernels' input.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Size {
    /// For interpreters.
    Small,
    /// For several drivers in turn.
    Medium,
    /// What comparisons are quoted at.
    Full,
}

/// Builds, checks and times kernels.
#[derive(Debug, Parser)]
pub struct Options {
    #[arg(long, value_enum, default_value = "medium")]
    size: Size,
    /// Names of kernels; all if there are none.
    names: Vec<String>,
}

/// Prints the measurements of all kernels; an error if one is wrong.
pub fn measure(options: &Options) -> Result<(), String> {
    let gpu = Gpu::get()?;
    let mut failed = Vec::new();
    for case in select(&options.names)? {
        let mut line = json!({ "name": case.name, "size": case.sizes[options.size as usize] });
        let result = measure_case(gpu, case, options.size).unwrap_or_else(|error| {
            failed.push(case.name);
            json!({ "error": error })
        });
        if let (Value::Object(line), Value::Object(result)) = (&mut line, result) {
            line.extend(result);
        }
        println!("{line}");
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// The cases of these names; all if there are none.
pub fn select(names: &[String]) -> Result<Vec<&'static Case>, String> {
    if let Some(name) = names.iter().find(|name| CASES.iter().all(|case| case.name != **name)) {
        return Err(format!("there is no kernel {name} in utest/kernels/bench"));
    }
    Ok(CASES.iter().filter(|case| names.is_empty() || names.iter().any(|name| name == case.name)).collect())
}

/// Milliseconds of the build, of the first repetition and of later ones. The first and the last are checked.
fn measure_case(gpu: &Gpu, case: &Case, size: Size) -> Result<Value, String> {
    let path = format!("{}/kernels/bench/{}.cl", env!("CARGO_MANIFEST_DIR"), case.name);
    let source = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let size = case.sizes[size as usize];
    let data = (case.arguments)(size, &mut Random::new(1));
    let mut arguments = Vec::new();
    for data in &data {
        arguments.push(Argument::new(gpu, data)?);
    }
    let queue = gpu.queue()?;
    let steps = (case.steps)(size);

    let begin = Instant::now();
    let program = gpu.build_unchecked(&source, "")?;
    let mut kernels = BTreeMap::new();
    for step in &steps {
        if !kernels.contains_key(step.kernel) {
            kernels.insert(step.kernel, program.kernel(step.kernel)?);
        }
    }
    let build = milliseconds(begin);

    let mut repetitions = Repetitions { steps, kernels, queue, arguments };
    let first = repetitions.run()?;
    let expected = (case.expected)(&data);
    let check = |repetitions: &Repetitions| case.check.compare(&repetitions.output()?, &expected);
    check(&repetitions)?;
    let begin = Instant::now();
    while milliseconds(begin) < WARM_UP {
        repetitions.run()?;
    }
    let (least, most, enough) = REPETITIONS;
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < least || times.len() < most && milliseconds(begin) < enough {
        times.push(repetitions.run()?);
    }
    check(&repetitions)?;
    Ok(json!({
        "build_ms": build,
        "first_launch_ms": first,
        "first_result_ms": build + first,
        "steady_ms": median(times),
    }))
}

/// A kernel's argument on the device.
enum Argument {
    Buffer { contents: Vec<u8>, buffer: Buffer<u8> },
    Image { bytes: usize, image: Image },
    Scalar(Vec<u8>),
}

impl Argument {
    fn new(gpu: &Gpu, data: &Data) -> Result<Argument, String> {
        let contents = data.to_bytes();
        Ok(match data {
            Data::Image(picture) => {
                Argument::Image { bytes: contents.len(), image: Image::new(picture, &contents)? }
            }
            _ if data.is_scalar() => Argument::Scalar(contents),
            _ => Argument::Buffer { buffer: gpu.buffer(&contents)?, contents },
        })
    }

    fn arg(&self) -> Arg<'_> {
        match self {
            Argument::Buffer { buffer, .. } => buffer.arg(),
            Argument::Image { image, .. } => image.arg(),
            Argument::Scalar(bytes) => Arg::Bytes(bytes),
        }
    }
}

/// A case that can be run again and again.
struct Repetitions {
    steps: Vec<Step>,
    kernels: BTreeMap<&'static str, Kernel>,
    queue: CommandQueue,
    arguments: Vec<Argument>,
}

impl Repetitions {
    /// Milliseconds of all launches. The first argument, if it is a buffer, is written before, as kernels sort it or add to it.
    fn run(&mut self) -> Result<f64, String> {
        if let Some(Argument::Buffer { contents, buffer }) = self.arguments.first_mut() {
            buffer.write(contents)?;
        }
        let begin = Instant::now();
        for step in &self.steps {
            let more: Vec<[u8; 4]> = step.more.iter().map(|value| value.to_ne_bytes()).collect();
            let arguments = self.arguments.iter().map(Argument::arg);
            let arguments: Vec<_> = arguments.chain(more.iter().map(|value| Arg::Bytes(value))).collect();
            enqueue(&self.queue, &self.kernels[step.kernel], &arguments, &step.launch)?;
        }
        self.queue.finish().map_err(|error| format!("clFinish: {error}"))?;
        Ok(milliseconds(begin))
    }

    /// What the first argument contains.
    fn output(&self) -> Result<Vec<u8>, String> {
        match self.arguments.first() {
            Some(Argument::Buffer { buffer, .. }) => buffer.read(),
            Some(Argument::Image { bytes, image }) => image.read(&self.queue, *bytes),
            _ => Err("the first argument is a number".into()),
        }
    }
}
