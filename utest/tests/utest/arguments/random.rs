//! Random layouts of arguments: structures, unions, vectors, arrays, attributes, nested in each other, with small
//! arguments before and behind, each read and written in several ways.
//!
//! `GENCL_ARGUMENT_LAYOUTS` is their number, `GENCL_ARGUMENT_SEED` chooses others. What kernels compute is compared with
//! what `layout.rs` and the bytes of the arguments give on the host.

use std::fmt::Write as _;

use gencl_utest::{Arg, Gpu, Launch, Outcome, Program, Random, setting};

use super::layout::{DOUBLE, Field, Record, SCALARS, Scalar, Type};
use super::reading::{self, Step};

/// Kernels of a program: most of the time of a build is the same for one and for many.
const KERNELS: u64 = 40;
/// Work-items of a launch.
const ITEMS: u32 = 16;
/// Bytes of a structure, at most; `CL_DEVICE_MAX_PARAMETER_SIZE` is at least 1,024.
const MAX_BYTES: usize = 320;
/// The failures that a run reports.
const MAX_FAILURES: usize = 10;

pub fn layouts() -> Outcome {
    let count = setting("GENCL_ARGUMENT_LAYOUTS", 200)?;
    let first = setting("GENCL_ARGUMENT_SEED", 1)?;
    let mut failures = Vec::new();
    for begin in (0..count).step_by(KERNELS as usize) {
        let seeds = begin..(begin + KERNELS).min(count);
        // Seeds of their own, so that a kernel is the same however many there are.
        let kernels = seeds.map(|number| Kernel::random(first * 1_000_000 + number)).collect::<Vec<_>>();
        check(&kernels, &mut failures)?;
        if failures.len() >= MAX_FAILURES {
            break;
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// Builds and runs kernels; if they cannot be built together, each alone, to find out which.
fn check(kernels: &[Kernel], failures: &mut Vec<String>) -> Outcome {
    let width = kernels[0].pick_width()?;
    let build = |kernels: &[Kernel]| {
        let source: String = kernels.iter().map(|kernel| kernel.source.as_str()).collect();
        Gpu::get()?.build_unchecked(&source, &format!("-w -D WIDTH={width}"))
    };
    let together = build(kernels);
    for kernel in kernels {
        let outcome = match &together {
            Ok(program) => kernel.run(program),
            Err(_) => build(std::slice::from_ref(kernel)).and_then(|program| kernel.run(&program)),
        };
        if let Err(error) = outcome {
            failures.push(format!("{} lanes: {error}\n{}", width, kernel.source));
        }
    }
    Ok(())
}

/// A value of an argument.
enum Value {
    Out,
    Zero,
    Local(usize),
    Bytes(Vec<u8>),
}

struct Kernel {
    seed: u64,
    source: String,
    /// In the order of the parameters.
    values: Vec<Value>,
    /// Each on the parameter with this index.
    steps: Vec<(usize, Step)>,
}

impl Kernel {
    fn random(seed: u64) -> Kernel {
        let mut random = Random::new(seed);
        let mut parameters: Vec<Parameter> = Vec::new();
        for _ in 0..random.below(3) {
            parameters.push(Parameter::Value(random_small(&mut random)));
        }
        for _ in 0..if random.one_in(4) { 2 } else { 1 } {
            parameters.push(Parameter::Value(random_record(&mut random)));
        }
        for _ in 0..random.below(3) {
            parameters.push(Parameter::Value(random_small(&mut random)));
        }
        let mut others = vec![Parameter::Out, Parameter::Zero];
        if random.one_in(4) {
            others.push(Parameter::Local);
        }
        for other in others {
            parameters.insert(random.below(parameters.len() + 1), other);
        }
        Kernel::of(seed, random, &parameters)
    }

    fn of(seed: u64, mut random: Random, parameters: &[Parameter]) -> Kernel {
        // Names of their own in a program of many.
        let (mut structures, mut count) = (String::new(), seed as usize * 100);
        let (mut head, mut values, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for (index, parameter) in parameters.iter().enumerate() {
            let name = format!("a{index}");
            match parameter {
                Parameter::Out => head.push("global uint *out".to_owned()),
                Parameter::Zero => head.push("int z".to_owned()),
                Parameter::Local => head.push(format!("local {} *l", random.pick(&SCALARS).name)),
                Parameter::Value(ty) => {
                    let declaration = ty.declare("", &mut structures, &mut count);
                    head.push(format!("{declaration}{name}"));
                    let own = random_steps(&mut random, ty, &name, &declaration);
                    steps.extend(own.into_iter().map(|step| (index, step)));
                }
            }
            values.push(match parameter {
                Parameter::Out => Value::Out,
                Parameter::Zero => Value::Zero,
                Parameter::Local => Value::Local(1 + random.below(200usize)),
                Parameter::Value(ty) => {
                    Value::Bytes((0..ty.layout().0).map(|_| random.next_u32() as u8).collect())
                }
            });
        }
        let mut source = format!(
            "{structures}kernel __attribute__((intel_reqd_sub_group_size(WIDTH)))\nvoid k{seed}({}) {{\n",
            head.join(", ")
        );
        let _ = writeln!(source, "    const uint gid = get_global_id(0);\n    uint h;");
        for (number, (_, step)) in steps.iter().enumerate() {
            let _ = writeln!(source, "    h = 7; {}", step.code);
            let _ = writeln!(source, "    out[gid * {} + {number}] = h;", steps.len());
        }
        source.push_str("}\n");
        Kernel { seed, source, values, steps }
    }

    fn pick_width(&self) -> Result<u32, String> {
        Ok(Random::new(self.seed).pick(&Gpu::get()?.simd_widths()))
    }

    fn run(&self, program: &Program) -> Outcome {
        let count = self.steps.len();
        let out = Gpu::get()?.buffer(&vec![0u32; count * ITEMS as usize])?;
        let arguments: Vec<Arg> = (self.values.iter())
            .map(|value| match value {
                Value::Out => out.arg(),
                Value::Zero => Arg::Bytes(&[0; 4]),
                Value::Local(size) => Arg::Local(*size),
                Value::Bytes(bytes) => Arg::Bytes(bytes),
            })
            .collect();
        program.run(
            &format!("k{}", self.seed),
            &arguments,
            &Launch::linear(ITEMS as usize, ITEMS as usize),
        )?;
        let found = out.read()?;
        for item in 0..ITEMS {
            let mut bytes: Vec<Vec<u8>> = (self.values.iter())
                .map(|value| if let Value::Bytes(bytes) = value { bytes.clone() } else { Vec::new() })
                .collect();
            for (number, (index, step)) in self.steps.iter().enumerate() {
                let mut expected = 7;
                step.effect.apply(&mut bytes[*index], &mut expected, item);
                let found = found[item as usize * count + number];
                if found != expected {
                    let given = &bytes[*index];
                    return Err(format!(
                        "item {item}, step {number}: {found:#x}, not {expected:#x}: a{index} is {given:?}"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// A parameter of a kernel.
enum Parameter {
    Out,
    /// 0, which the compiler does not know.
    Zero,
    Local,
    Value(Type),
}

/// Most often the argument is only read; else it is written between reads.
fn random_steps(random: &mut Random, ty: &Type, name: &str, declaration: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    if matches!(ty, Type::Record(_)) && random.one_in(2) {
        steps.push(reading::layout(ty, name));
    }
    let writes = random.one_in(3);
    for _ in 0..1 + random.below(3) {
        steps.push(reading::read(random, ty, name, declaration));
        if writes {
            steps.extend(reading::write(random, ty, name));
        }
    }
    if writes {
        steps.push(reading::read(random, ty, name, declaration));
    }
    steps
}

fn random_scalar(random: &mut Random) -> Scalar {
    if random.one_in(12) { DOUBLE } else { random.pick(&SCALARS) }
}

fn random_small(random: &mut Random) -> Type {
    let scalar = random_scalar(random);
    if random.one_in(3) { Type::Vector(scalar, random.pick(&[2, 3, 4, 8])) } else { Type::Scalar(scalar) }
}

/// A structure or union of limited size.
fn random_record(random: &mut Random) -> Type {
    loop {
        let depth = random.pick(&[1, 2, 2, 3]);
        let ty = random_type(random, depth, true);
        if ty.layout().0 <= MAX_BYTES {
            return ty;
        }
    }
}

fn random_type(random: &mut Random, depth: u32, is_record: bool) -> Type {
    if depth == 0 || !is_record && random.one_in(2) {
        return random_small(random);
    }
    if !is_record && random.one_in(2) {
        let (element, count) = (random_type(random, depth - 1, false), 1 + random.below(5usize));
        return Type::Array(Box::new(element), count);
    }
    let (union, packed) = (random.one_in(3), random.one_in(4));
    let align = random_alignment(random, 6);
    let fields = (0..1 + random.below(4)).map(|_| {
        let ty = random_type(random, depth - 1, false);
        Field { ty, align: random_alignment(random, 8) }
    });
    let fields = fields.collect();
    Type::Record(Record { fields, union, packed, align })
}

fn random_alignment(random: &mut Random, rarity: u64) -> Option<usize> {
    random.one_in(rarity).then(|| random.pick(&[1, 2, 4, 8, 16, 32, 64]))
}
