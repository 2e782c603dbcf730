//! The engines of gencl's simulated device. The environment selects one, so the cases run this program again.

use std::path::Path;

use gencl_utest::{Arg, Case, DOUBLE, Gpu, Launch, Need, Outcome, Random};

use crate::child::{self, is_child};
use crate::memory::same;

pub fn cases() -> Vec<Case> {
    let own = |name: &'static str, run: fn() -> Outcome| {
        Case::of_gencl("its own simulator", name, run).needing(Need::Simulator)
    };
    vec![
        own("engine_translate", translate),
        own("engine_auto", auto),
        own("engine_interpret", interpret),
        own("engine_faults", faults),
        own("engine_gather", gather),
        own("engine_walk", walk),
        own("engine_rows", rows),
        own("engine_signs", signs),
        own("engine_waits", waits),
        own("engine_hosts", hosts),
        own("engine_without_translator", without_translator),
    ]
}

/// Runs a case in a separate process and returns its standard error.
fn child(name: &str, variables: &[(&str, &str)]) -> Result<String, String> {
    output_of_child(name, variables).map(|[_, errors]| errors)
}

/// Runs a case in a separate process and returns its output and standard error.
pub fn output_of_child(name: &str, variables: &[(&str, &str)]) -> Result<[String; 2], String> {
    let output = child::run(name, "engine", &[&[("GENCL_DEBUG", "log=debug")], variables].concat())?;
    let texts = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if output.status.success() { Ok(texts) } else { Err(texts.concat()) }
}

/// Each work-group sums up squares, half of the work-items on another path.
const SUM: &str = "
    kernel void sum(global int *out, int rounds) {
        local int part[64];
        int id = get_local_id(0), value = 0;
        for (int i = 0; i < rounds; i++) {
            if ((id + i) & 1) value += id * id; else value += id * (id - 1) + id;
        }
        part[id] = value;
        for (int step = 32; step > 0; step /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (id < step) part[id] += part[id + step];
        }
        if (id == 0) out[get_group_id(0)] = part[0];
    }";

fn sum(groups: usize, rounds: i32) -> Outcome {
    let gpu = Gpu::get()?;
    let out = gpu.buffer(&vec![0i32; groups])?;
    let launch = Launch::linear(64 * groups, 64);
    gpu.build_source(SUM, "")?.run("sum", &[out.arg(), Arg::Bytes(&rounds.to_ne_bytes())], &launch)?;
    let squares: i32 = (0..64).map(|id| id * id).sum();
    same(&out.read()?, &vec![rounds * squares; groups])
}

/// A line of the error output has these words, or none has.
pub fn says(errors: &str, words: &str, expected: bool) -> Outcome {
    if errors.contains(words) == expected {
        return Ok(());
    }
    let not = if expected { "not " } else { "" };
    Err(format!("the log does {not}say {words:?}: {errors}"))
}

fn translate() -> Outcome {
    if is_child() {
        sum(1, 3)?;
        return sum(100, 3);
    }
    let folder = std::env::temp_dir().join(format!("gencl-utest-engine-{}", std::process::id()));
    let _gone = Gone(&folder);
    let variables =
        [("GENCL_ENGINE", "translate"), ("GENCL_CACHE", folder.to_str().ok_or("a folder without name")?)];
    says(&child("engine_translate", &variables)?, "kernel was translated", true)?;
    // Now all is in the cache.
    let again = child("engine_translate", &variables)?;
    says(&again, "kernel was translated", true)?;
    says(&again, "is ready", false)
}

/// A folder that goes.
struct Gone<'a>(&'a Path);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        // It is not there when nothing was stored.
        let _ = std::fs::remove_dir_all(self.0);
    }
}

fn auto() -> Outcome {
    if is_child() {
        return sum(20_000, 100);
    }
    // Whether the translation comes in time is not sure; the result is.
    child("engine_auto", &[("GENCL_ENGINE", "auto")]).map(drop)
}

fn interpret() -> Outcome {
    if is_child() {
        return sum(100, 100);
    }
    says(&child("engine_interpret", &[("GENCL_ENGINE", "interpret")])?, "kernel was translated", false)
}

/// Faults inside translated kernels: the cases for that.
fn faults() -> Outcome {
    let names = [
        "fault_wild_pointer",
        "fault_endless_loop",
        "fault_endless_barriers",
        "fault_wild_gather",
        "fault_endless_gather",
        "after_fault_in_order",
        "after_fault_out_of_order",
        "read_past_end_of_elements",
        "read_past_end_of_blocks",
        "read_past_end_of_kinds",
        "read_past_end_faults",
    ];
    for name in names {
        child(name, &[("GENCL_ENGINE", "translate"), ("GENCL_HANG_LIMIT", "1")])?;
    }
    Ok(())
}

/// Loops that are executed lane by lane: the cases for that.
fn gather() -> Outcome {
    for name in ["compiler_gather_loop", "compiler_gather_nested"] {
        for width in Gpu::get()?.simd_widths() {
            let errors = child(&format!("{name}/simd{width}"), &[("GENCL_ENGINE", "translate")])?;
            says(&errors, "is not translated", false)?;
        }
    }
    Ok(())
}

/// Lanes that change between two buffers all the time, with one instruction.
const WALK: &str = "
    kernel void walk(global const uint *a, global const uint *b, global uint *out) {
        uint at = get_global_id(0), rounds = 0;
        while ((at & 31) != 7 && rounds < 100) {
            global const uint *from = at & 64 ? a : b;
            at = from[at & 255];
            rounds++;
        }
        out[get_global_id(0)] = at + rounds * 1024;
    }";

fn walk() -> Outcome {
    if !is_child() {
        let errors = child("engine_walk", &[("GENCL_ENGINE", "translate")])?;
        return says(&errors, "kernel was translated", true);
    }
    let gpu = Gpu::get()?;
    let mut random = Random::new(11);
    let lists = [(), ()].map(|()| (0..256).map(|_| random.next_u32() & 1023).collect::<Vec<u32>>());
    let expected: Vec<u32> = (0..200u32)
        .map(|first| {
            let (mut at, mut rounds) = (first, 0);
            while at & 31 != 7 && rounds < 100 {
                at = lists[usize::from(at & 64 == 0)][at as usize & 255];
                rounds += 1;
            }
            at + rounds * 1024
        })
        .collect();
    let (a, b, out) = (gpu.buffer(&lists[0])?, gpu.buffer(&lists[1])?, gpu.buffer(&[0u32; 200])?);
    let program = gpu.build_source(WALK, "")?;
    program.run("walk", &[a.arg(), b.arg(), out.arg()], &Launch::linear(200, 40))?;
    same(&out.read()?, &expected)
}

/// Rows of their own lengths, through which lanes go by equal steps.
const ROWS: &str = "
    kernel void rows(
        global const uint *start, global const uint *column, global const uint *value, global const uint *x, global uint *y
    ) {
        uint row = get_global_id(0), sum = row;
        for (uint i = start[row]; i < start[row + 1]; i += STEP)
            sum = sum * 5 + value[i] * x[column[i]];
        y[row] = sum;
    }";

/// The last row ends where its buffers end, with a page; one is longer than a lane goes without looking.
fn rows() -> Outcome {
    if !is_child() {
        let errors = child("engine_rows", &[("GENCL_ENGINE", "translate")])?;
        return says(&errors, "kernel was translated", true);
    }
    const ELEMENTS: u32 = 8192;
    let gpu = Gpu::get()?;
    let mut random = Random::new(12);
    let mut start = vec![0u32];
    for row in 1..=320 {
        let length = if row == 20 { 3000 } else { random.next_u32() % 40 };
        let last = if row == 320 { ELEMENTS } else { start[row - 1] + length };
        start.push(last.min(ELEMENTS));
    }
    let rows = start.len() - 1;
    let x: Vec<u32> = (0..1000).map(|_| random.next_u32()).collect();
    let column: Vec<u32> = (0..ELEMENTS).map(|_| random.next_u32() % 1000).collect();
    let value: Vec<u32> = (0..ELEMENTS).map(|_| random.next_u32()).collect();
    let [a, b, c, d] = [gpu.buffer(&start)?, gpu.buffer(&column)?, gpu.buffer(&value)?, gpu.buffer(&x)?];
    for step in [1, 2, 3] {
        let row = |row: usize| {
            let all = (start[row] as usize..start[row + 1] as usize).step_by(step);
            all.fold(row as u32, |sum, i| {
                sum.wrapping_mul(5).wrapping_add(value[i].wrapping_mul(x[column[i] as usize]))
            })
        };
        let expected: Vec<u32> = (0..rows).map(row).collect();
        let out = gpu.buffer(&vec![0u32; rows])?;
        let program = gpu.build_source(ROWS, &format!("-DSTEP={step}"))?;
        let arguments = [a.arg(), b.arg(), c.arg(), d.arg(), out.arg()];
        program.run("rows", &arguments, &Launch::linear(rows, 64))?;
        same(&out.read()?, &expected)?;
    }
    Ok(())
}

/// Between barriers, work-items diverge: channels are parked in more places than a register file has room
/// for.
const WAITS: &str = "
    #define ROUND(n)                                                                            \\
        for (uint i = 0; i < (r & 3); i++) {                                                    \\
            if (r >> i & 8) { r = r * 5 + part[(id + n) % SIZE]; continue; }                    \\
            if (r & 64) { r ^= id * (n + 1); break; }                                           \\
            r += part[(id ^ n) % SIZE];                                                         \\
        }                                                                                       \\
        barrier(CLK_LOCAL_MEM_FENCE); part[id] = r; barrier(CLK_LOCAL_MEM_FENCE);
    #define FOUR(n) ROUND(n) ROUND(n + 1) ROUND(n + 2) ROUND(n + 3)
    kernel void waits(global uint *data) {
        local uint part[SIZE];
        uint id = get_local_id(0), r = data[get_global_id(0)];
        part[id] = r;
        barrier(CLK_LOCAL_MEM_FENCE);
        FOUR(0) FOUR(4) FOUR(8) FOUR(12)
        data[get_global_id(0)] = r;
    }";

/// What becomes of a work-group's numbers.
fn waited(mut part: Vec<u32>) -> Vec<u32> {
    let size = part.len();
    for n in 0..16 {
        let one = |id: usize| {
            let (mut r, mut i) = (part[id], 0);
            while i < r & 3 {
                if r >> i & 8 != 0 {
                    r = r.wrapping_mul(5).wrapping_add(part[(id + n) % size]);
                } else if r & 64 != 0 {
                    r ^= (id * (n + 1)) as u32;
                    break;
                } else {
                    r = r.wrapping_add(part[(id ^ n) % size]);
                }
                i += 1;
            }
            r
        };
        part = (0..size).map(one).collect();
    }
    part
}

/// In work-groups of several threads, and of one.
fn waits() -> Outcome {
    if !is_child() {
        let errors = child("engine_waits", &[("GENCL_ENGINE", "translate")])?;
        says(&errors, "kernel was translated", true)?;
        return says(&errors, "is not translated", false);
    }
    let gpu = Gpu::get()?;
    let mut random = Random::new(14);
    let numbers: Vec<u32> = (0..640).map(|_| random.next_u32()).collect();
    for size in [64, 8] {
        let data = gpu.buffer(&numbers)?;
        let program = gpu.build_source(WAITS, &format!("-DSIZE={size}"))?;
        program.run("waits", &[data.arg()], &Launch::linear(numbers.len(), size))?;
        let expected: Vec<u32> = numbers.chunks(size).flat_map(|part| waited(part.to_vec())).collect();
        same(&data.read()?, &expected)?;
    }
    Ok(())
}

/// Functions that copy signs, and what they are of two numbers. Each lane has its own path through them, so
/// hosts copy under masks.
type Copies = [(&'static str, fn(f64, f64) -> f64); 4];
const COPIES: Copies = [
    ("cbrt(a[i])", |x, _| x.cbrt()),
    ("copysign(a[i], b[i])", f64::copysign),
    ("round(a[i])", |x, _| x.round()),
    ("a[i] < 0 ? copysign(a[i], b[i]) : a[i]", |x, y| if x < 0.0 { x.copysign(y) } else { x }),
];

/// In vectors of several sizes, of floats and of doubles.
fn signs() -> Outcome {
    if !is_child() {
        return child("engine_signs", &[("GENCL_ENGINE", "translate")]).map(drop);
    }
    let gpu = Gpu::get()?;
    let mut random = Random::new(13);
    let mut numbers = || -> Vec<f64> {
        let number = |random: &mut Random| random.float(-1.0, 1.0) * random.float(-40.0, 40.0).exp2();
        (0..1024).map(|_| number(&mut random).into()).collect()
    };
    let [a, b] = [numbers(), numbers()];
    signs_of(
        "float",
        &a,
        &b,
        |number| (number as f32).to_le_bytes(),
        |bytes| f32::from_le_bytes(bytes).into(),
    )?;
    match DOUBLE.is_there(gpu) {
        true => signs_of("double", &a, &b, f64::to_le_bytes, f64::from_le_bytes),
        false => Ok(()),
    }
}

fn signs_of<const N: usize>(
    kind: &str,
    a: &[f64],
    b: &[f64],
    to: fn(f64) -> [u8; N],
    from: fn([u8; N]) -> f64,
) -> Outcome {
    let gpu = Gpu::get()?;
    let bytes = |numbers: &[f64]| numbers.iter().flat_map(|number| to(*number)).collect::<Vec<u8>>();
    let buffers = [gpu.buffer(&bytes(a))?, gpu.buffer(&bytes(b))?];
    let bound = if N == 4 { 2.4e-7 } else { 6.7e-16 };
    for size in [1, 4] {
        let ty = if size == 1 { kind.to_owned() } else { format!("{kind}{size}") };
        for (call, exact) in COPIES {
            let source = format!(
                "kernel void f(global {ty} *d, global const {ty} *a, global const {ty} *b) {{
                    size_t i = get_global_id(0); d[i] = {call}; }}"
            );
            let d = gpu.empty::<u8>(N * a.len())?;
            let arguments = [d.arg(), buffers[0].arg(), buffers[1].arg()];
            gpu.build_source(&source, "")?.run("f", &arguments, &Launch::linear(a.len() / size, 32))?;
            for (i, got) in d.read()?.chunks_exact(N).enumerate() {
                let got = from(got.try_into().map_err(|_| "a part of a number")?);
                let [x, y] = [a, b].map(|numbers| from(to(numbers[i])));
                let exact = exact(x, y);
                if (got - exact).abs() > bound * exact.abs() {
                    return Err(format!("{call} of {ty}: {got:e}, not {exact:e}, of {x:e} and {y:e}"));
                }
            }
        }
    }
    Ok(())
}

/// For other processors than the host's: what this one can execute, it does.
fn hosts() -> Outcome {
    if is_child() {
        return sum(100, 3);
    }
    for level in ["v2", "v3", "v4"] {
        let debug = format!("log=debug,host={level}");
        let errors = child("engine_hosts", &[("GENCL_ENGINE", "translate"), ("GENCL_DEBUG", &debug)])?;
        let told = ["kernel was translated", "has not all of its instructions"];
        if !told.iter().any(|text| errors.contains(text)) {
            return Err(format!("nothing is said of {level}: {errors}"));
        }
    }
    Ok(())
}

/// A translator that ends immediately: the kernel is interpreted, and the log has the reason.
fn without_translator() -> Outcome {
    if is_child() {
        return sum(10, 3);
    }
    // Builds come from the same program, so only its part as translator may fail.
    let compiler =
        std::env::var_os("GENCL_COMPILER").ok_or("GENCL_COMPILER does not say where the compiler is")?;
    let script = std::env::temp_dir().join(format!("gencl-utest-translator-{}", std::process::id()));
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *--translations*) echo no translator >&2; exit 1;; esac\nexec '{}' \"$@\"\n",
        Path::new(&compiler).display()
    );
    std::fs::write(&script, text).map_err(|e| e.to_string())?;
    let _gone = GoneFile(&script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&script, mode).map_err(|e| e.to_string())?;
    let path = script.to_str().ok_or("a file without name")?;
    let variables = [("GENCL_ENGINE", "translate"), ("GENCL_COMPILER", path), ("GENCL_CACHE", "off")];
    says(&child("engine_without_translator", &variables)?, "kernel is not translated", true)
}

/// A file that goes.
struct GoneFile<'a>(&'a Path);

impl Drop for GoneFile<'_> {
    fn drop(&mut self) {
        // What cannot be removed stays.
        let _ = std::fs::remove_file(self.0);
    }
}
