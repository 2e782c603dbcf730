//! Half floats as a format of memory: what is computed in floats between `vload_half` and `vstore_half`. LLVM
//! narrows much of it to operations on half floats, which some generations have not (there is no
//! `cl_khr_fp16`).

use std::process::Command;

use gencl_utest::{Case, Gpu, Launch, Need, Outcome, Program, Random};
use half::f16;

use crate::numbers::{MODES, Mode, to_half};

/// Targets without arithmetic on half floats, tried wherever the suite runs.
const WITHOUT_ARITHMETIC: &[&str] = &["ivb", "byt", "hsw"];

pub fn cases() -> Vec<Case> {
    let own = Case::of_gencl("Intel's compiler loses signs of zeros, and NaNs", "half_storage", all);
    let again = WITHOUT_ARITHMETIC.iter().map(|target| {
        let name = format!("half_storage/{target}");
        Case::of_gencl("its simulator", name, || on(target)).needing(Need::Simulator)
    });
    [own].into_iter().chain(again).collect()
}

/// Elements: each width of vectors divides it.
const N: usize = 480;

/// The operands: two and three half floats as floats, and an integer.
type Operands = (f32, f32, f32, i32);

/// How close a result has to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    /// The same bits; NaN is any NaN.
    Bits,
    /// The same number: zeros have no sign.
    Number,
    /// A neighbour will do, as floats need not be rounded correctly.
    Near,
}
use Match::{Bits, Near, Number};

type Form<T> = (&'static str, fn(Operands) -> T);
type Vector = (Match, &'static str, fn(Operands) -> f32);

/// Expressions of floats or of vectors of them; the results become half floats.
const VECTORS: &[Vector] = &[
    (Bits, "x + y", |(x, y, ..)| x + y),
    (Bits, "x - y", |(x, y, ..)| x - y),
    (Bits, "x * y", |(x, y, ..)| x * y),
    (Near, "x / y", |(x, y, ..)| x / y),
    (Bits, "x * 2.0f", |(x, ..)| x * 2.0),
    (Bits, "x * 0.1f", |(x, ..)| x * 0.1),
    (Bits, "x + 1.0f", |(x, ..)| x + 1.0),
    (Bits, "0.5f - x", |(x, ..)| 0.5 - x),
    (Bits, "x * y * z", |(x, y, z, _)| x * y * z),
    (Bits, "-x", |(x, ..)| -x),
    (Bits, "fabs(x)", |(x, ..)| x.abs()),
    (Bits, "-fabs(x)", |(x, ..)| -x.abs()),
    (Bits, "copysign(x, y)", |(x, y, ..)| x.copysign(y)),
    (Number, "fmin(x, y)", |(x, y, ..)| x.min(y)),
    (Number, "fmax(x, y)", |(x, y, ..)| x.max(y)),
    (Number, "fmax(x, 1.0f)", |(x, ..)| x.max(1.0)),
    (Bits, "floor(x)", |(x, ..)| x.floor()),
    (Bits, "ceil(x)", |(x, ..)| x.ceil()),
    (Bits, "trunc(x)", |(x, ..)| x.trunc()),
    (Bits, "rint(x)", |(x, ..)| x.round_ties_even()),
    (Bits, "round(x)", |(x, ..)| x.round()),
    (Near, "sqrt(x)", |(x, ..)| x.sqrt()),
    (Bits, "fma(x, y, z)", |(x, y, z, _)| x.mul_add(y, z)),
    (Bits, "fmod(x, y)", |(x, y, ..)| x % y),
    (Bits, "ldexp(x, 1)", |(x, ..)| x * 2.0),
    (Bits, "x > y ? x : y", |(x, y, ..)| if x > y { x } else { y }),
    (Bits, "x <= 1.0f ? x : -z", |(x, _, z, _)| if x <= 1.0 { x } else { -z }),
    (Bits, "x == y ? z : x", |(x, y, z, _)| if x == y { z } else { x }),
    (Bits, "x != 1.5f ? y : z", |(x, y, z, _)| if x == 1.5 { z } else { y }),
    (Bits, "select(x, y, x > 1.0f)", |(x, y, ..)| if x > 1.0 { y } else { x }),
    (Bits, "step(y, x)", |(x, y, ..)| if x < y { 0.0 } else { 1.0 }),
];

/// How many elements the vectors of [`VECTORS`] have, and what stands behind the names of types and functions
/// for that.
const WIDTHS: &[(usize, &str)] = &[(1, ""), (3, "3"), (8, "8")];

/// Expressions of one element whose results become half floats.
const HALVES: &[Form<f16>] = &[
    ("(float)n", |(.., n)| f16::from_f32(n as f32)),
    ("(float)(uint)n", |(.., n)| f16::from_f32(n as u32 as f32)),
    ("(float)(short)n", |(.., n)| f16::from_f32(f32::from(n as i16))),
    ("(float)(ushort)n", |(.., n)| f16::from_f32(f32::from(n as u16))),
    ("(float)((long)n * n)", |(.., n)| f16::from_f32((i64::from(n) * i64::from(n)) as f32)),
    ("n & 1 ? x : y", |(x, y, _, n)| f16::from_f32(if n & 1 != 0 { x } else { y })),
    ("(double)x * (double)y", |(x, y, ..)| to_half(f64::from(x) * f64::from(y), Mode::Nearest)),
    ("-(double)x", |(x, ..)| f16::from_f32(-x)),
    ("(double)x * 0.1", |(x, ..)| to_half(f64::from(x) * 0.1, Mode::Nearest)),
];

/// Expressions whose results are floats.
const FLOATS: &[Form<f32>] = &[
    ("x", |(x, ..)| x),
    ("-x", |(x, ..)| -x),
    ("fabs(x)", |(x, ..)| x.abs()),
    ("x * 2.0f", |(x, ..)| x * 2.0),
    ("x + y", |(x, y, ..)| x + y),
    ("x > y ? x : y", |(x, y, ..)| if x > y { x } else { y }),
    ("copysign(x, y)", |(x, y, ..)| x.copysign(y)),
    // The product is exact, and so it does not matter whether it is rounded before the sum.
    ("x * y + z", |(x, y, z, _)| x * y + z),
];

/// Expressions whose results are integers.
const INTEGERS: &[Form<i32>] = &[
    ("x < y", |(x, y, ..)| i32::from(x < y)),
    ("x <= y", |(x, y, ..)| i32::from(x <= y)),
    ("x == y", |(x, y, ..)| i32::from(x == y)),
    ("x != y", |(x, y, ..)| i32::from(x != y)),
    ("x >= 1.5f", |(x, ..)| i32::from(x >= 1.5)),
    ("x > 0.1f", |(x, ..)| i32::from(x > 0.1)),
    ("(double)x < 0.3", |(x, ..)| i32::from(f64::from(x) < 0.3)),
    ("(double)x < (double)y", |(x, y, ..)| i32::from(x < y)),
    ("isunordered(x, y)", |(x, y, ..)| i32::from(x.is_nan() || y.is_nan())),
    ("isnan(x)", |(x, ..)| i32::from(x.is_nan())),
    ("isinf(x)", |(x, ..)| i32::from(x.is_infinite())),
    ("isfinite(x)", |(x, ..)| i32::from(x.is_finite())),
    ("isnormal(x)", |(x, ..)| i32::from(x.is_normal())),
    ("signbit(x)", |(x, ..)| i32::from(x.is_sign_negative())),
    ("isfinite(x) ? (int)x : 7", |(x, ..)| if x.is_finite() { x as i32 } else { 7 }),
    ("isfinite(x) ? (int)(uint)fabs(x) : 7", |(x, ..)| if x.is_finite() { x.abs() as i32 } else { 7 }),
    // What was stored is looked at as an integer: LLVM makes operations on signs of it.
    ("(vstore_half(x, g, o), ((global ushort *)o)[g] & 0x7fff)", |(x, ..)| bits(x.abs())),
    ("(vstore_half(x, g, o), ((global ushort *)o)[g] ^ 0x8000)", |(x, ..)| bits(-x)),
    ("(vstore_half(x, g, o), ((global ushort *)o)[g] | 0x8000)", |(x, ..)| bits(-x.abs())),
];

fn bits(x: f32) -> i32 {
    f16::from_f32(x).to_bits().into()
}

/// The program of all forms: kernels are named by their lists and their places in them.
fn source() -> String {
    let kernel = |name: String, suffix: &str, statement: String| {
        format!(
            "kernel void {name}(global const half *a, global const half *b, global const half *c, global const int *i,
            global half *o, global float *q, global int *m) {{
                int g = get_global_id(0), n = i[g];
                float{suffix} x = vload_half{suffix}(g, a), y = vload_half{suffix}(g, b), z = vload_half{suffix}(g, c);
                {statement};
            }}\n"
        )
    };
    let mut text = String::new();
    for (width, suffix) in WIDTHS {
        for (k, (_, form, _)) in VECTORS.iter().enumerate() {
            let statement = format!("vstore_half{suffix}({form}, g, o)");
            text += &kernel(format!("vector{width}_{k}"), suffix, statement);
        }
    }
    for (k, (form, _)) in HALVES.iter().enumerate() {
        text += &kernel(format!("half_{k}"), "", format!("vstore_half({form}, g, o)"));
    }
    for (mode, _) in MODES {
        text += &kernel(format!("float{mode}"), "", format!("vstore_half{mode}(x * 0.1f, g, o)"));
        text += &kernel(format!("double{mode}"), "", format!("vstore_half{mode}((double)x * 0.1, g, o)"));
    }
    for (k, (form, _)) in FLOATS.iter().enumerate() {
        text += &kernel(format!("float_{k}"), "", format!("q[g] = {form}"));
    }
    for (k, (form, _)) in INTEGERS.iter().enumerate() {
        text += &kernel(format!("int_{k}"), "", format!("m[g] = {form}"));
    }
    text
}

/// Half floats of all kinds: zeros, subnormals, the largest, infinities, NaN, some that are equal, and
/// others.
fn halves(random: &mut Random) -> Vec<u16> {
    const SPECIAL: &[u16] = &[
        0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x83ff, 0x3c00, 0xbc00, 0x3e00, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
        0x7e00, 0x3800, 0x4100, 0xb801,
    ];
    let mut any = || {
        let bits = random.next_u32();
        match bits % 4 {
            0 => SPECIAL[(bits >> 8) as usize % SPECIAL.len()],
            // Between 1/8 and 8, so that sums need rounding.
            1 | 2 => (0x3000 + (bits >> 8) as u16 % 0x1800) | ((bits >> 16) as u16 & 0x8000),
            // No signalling NaN.
            _ => match (bits >> 8) as u16 {
                nan if nan & 0x7fff > 0x7c00 => nan | 0x200,
                other => other,
            },
        }
    };
    (0..N).map(|_| any()).collect()
}

/// An integer of any size.
fn integer(random: &mut Random) -> i32 {
    let shift = random.next_u32() % 32;
    random.next_u32() as i32 >> shift
}

fn matches(found: f16, expected: f16, how: Match) -> bool {
    let (a, b) = (found.to_bits(), expected.to_bits());
    let near = a & 0x8000 == b & 0x8000 && a.abs_diff(b) <= 1 && !found.is_nan() && !expected.is_nan();
    a == b || found.is_nan() && expected.is_nan() || how == Number && found == expected || how == Near && near
}

/// Runs every form of this device.
fn all() -> Outcome {
    let gpu = Gpu::get()?;
    let program = gpu.build_unchecked(&source(), "")?;
    let mut random = Random::new(52);
    let inputs = [halves(&mut random), halves(&mut random), halves(&mut random)];
    let integers: Vec<i32> = (0..N).map(|_| integer(&mut random)).collect();
    let buffers = [gpu.buffer(&inputs[0])?, gpu.buffer(&inputs[1])?, gpu.buffer(&inputs[2])?];
    let ints = gpu.buffer(&integers)?;
    let (o, q, m) = (gpu.buffer(&[0u16; N])?, gpu.buffer(&[0f32; N])?, gpu.buffer(&[0i32; N])?);
    let run = |program: &Program, kernel: &str, items: usize| {
        let [a, b, c] = &buffers;
        let arguments = [a.arg(), b.arg(), c.arg(), ints.arg(), o.arg(), q.arg(), m.arg()];
        program.run(kernel, &arguments, &Launch { global: vec![items], ..Launch::default() })
    };
    let operands = |i: usize| -> Operands {
        let float = |input: &Vec<u16>| f16::from_bits(input[i]).to_f32();
        (float(&inputs[0]), float(&inputs[1]), float(&inputs[2]), integers[i])
    };
    let mut wrong = Vec::new();
    let mut note = |form: &str, width: usize, bad: Option<(usize, String)>| {
        if let Some((i, what)) = bad {
            wrong.push(format!("{form}, width {width}, of {:?}: {what}", operands(i)));
        }
    };
    for (width, _) in WIDTHS {
        for (k, (how, form, host)) in VECTORS.iter().enumerate() {
            run(&program, &format!("vector{width}_{k}"), N / width)?;
            let expected = |i| f16::from_f32(host(operands(i)));
            note(form, *width, first_wrong(&o.read()?, expected, *how));
        }
    }
    for (k, (form, host)) in HALVES.iter().enumerate() {
        run(&program, &format!("half_{k}"), N)?;
        note(form, 1, first_wrong(&o.read()?, |i| host(operands(i)), Bits));
    }
    for (suffix, mode) in MODES {
        run(&program, &format!("float{suffix}"), N)?;
        let expected = |i| to_half(f64::from(operands(i).0 * 0.1), mode);
        note(suffix, 1, first_wrong(&o.read()?, expected, Bits));
        run(&program, &format!("double{suffix}"), N)?;
        let expected = |i| to_half(f64::from(operands(i).0) * 0.1, mode);
        note(suffix, 1, first_wrong(&o.read()?, expected, Bits));
    }
    for (k, (form, host)) in FLOATS.iter().enumerate() {
        run(&program, &format!("float_{k}"), N)?;
        let same = |a: f32, b: f32| {
            a == b && a.is_sign_negative() == b.is_sign_negative() || a.is_nan() && b.is_nan()
        };
        let found = q.read()?;
        let bad = (0..N).map(|i| (i, found[i], host(operands(i)))).find(|&(_, a, b)| !same(a, b));
        note(form, 1, bad.map(|(i, a, b)| (i, format!("{a}, expected {b}"))));
    }
    for (k, (form, host)) in INTEGERS.iter().enumerate() {
        run(&program, &format!("int_{k}"), N)?;
        let found = m.read()?;
        let bad = (0..N).map(|i| (i, found[i], host(operands(i)))).find(|(_, a, b)| a != b);
        note(form, 1, bad.map(|(i, a, b)| (i, format!("{a:#x}, expected {b:#x}"))));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The first half float that is wrong, and how.
fn first_wrong(found: &[u16], expected: impl Fn(usize) -> f16, how: Match) -> Option<(usize, String)> {
    let pairs = found.iter().enumerate().map(|(i, bits)| (i, f16::from_bits(*bits), expected(i)));
    let bad = pairs.into_iter().find(|&(_, found, expected)| !matches(found, expected, how));
    bad.map(|(i, found, expected)| (i, format!("{found:?}, expected {expected:?}")))
}

/// The same on another device, in a process of its own.
fn on(target: &str) -> Outcome {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["--exact", "half_storage"]).env("GENCL_DEVICE", format!("sim:{target}"));
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.contains("1 passed") { Ok(()) } else { Err(text.into_owned()) }
}
