//! `printf`: what kernels print is read from the output of a process of its own.
#![allow(clippy::approx_constant, reason = "a number with two digits behind the point, nothing more")]

use std::process::Command;

use gencl_utest::{Arg, Case, Gpu, Launch, Outcome};

/// Set in the processes that print.
const CHILD: &str = "GENCL_UTEST_PRINTS";

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("printf_conversions", || {
            lines("printf_conversions", conversions, |lines| same(lines, CONVERSIONS))
        }),
        Case::new("printf_vectors", || lines("printf_vectors", vectors, |lines| same(lines, VECTORS))),
        Case::new("printf_flows", || lines("printf_flows", flows, |lines| same(lines, FLOWS))),
        Case::new("printf_repeated", || lines("printf_repeated", repeated, |lines| same(lines, REPEATED))),
        Case::new("printf_divergent", || lines("printf_divergent", divergent, check_divergent)),
        Case::of_gencl("others have no lengths of OpenCL C 3.1", "printf_sizes", || {
            lines("printf_sizes", sizes, check_sizes)
        }),
        Case::new("printf_address", || lines("printf_address", address, check_address)),
        Case::of_gencl("what does not fit is counted", "printf_flood", || {
            lines("printf_flood", flood, check_flood)
        }),
    ]
}

/// Runs the case again in a separate process, where `print` runs the kernel, and returns the lines that begin
/// with a bar to `check`.
fn lines(name: &str, print: fn() -> Outcome, check: fn(&[&str]) -> Outcome) -> Outcome {
    if std::env::var_os(CHILD).is_some() {
        return print();
    }
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let child = Command::new(program).args(["--exact", name]).env(CHILD, "1").output();
    let output = child.map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(text.into_owned());
    }
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix('|')).collect();
    check(&lines)
}

fn same(lines: &[&str], expected: &[&str]) -> Outcome {
    match lines == expected {
        true => Ok(()),
        false => Err(format!("printed:\n{}\nexpected:\n{}", lines.join("\n"), expected.join("\n"))),
    }
}

const CONVERSIONS: &[&str] = &[
    "42 -42 42 52 2a FFFFFFFF",
    "   42|42   |+42| 42|00042|007|0x2a|052",
    "-3 253 -4 65532",
    "-5000000000 18446744068709551616 ffffffffffffffff",
    "3.140000 3.14      3.140 3.1       | 3.140000e+00 3.140E+00 3.14 1E-10",
    "0x1.8p+0 -0X1.8P-1 0x1.0p+0",
    "ok     r l  |",
    "text      right left  | cu",
    "100% %d",
    "A \"quoted\" \\",
    "0",
];

fn conversions() -> Outcome {
    let (i, f, l) = (42i32.to_ne_bytes(), 3.14f32.to_ne_bytes(), (-5_000_000_000i64).to_ne_bytes());
    let args = [Arg::Bytes(&i), Arg::Bytes(&f), Arg::Bytes(&l)];
    Gpu::get()?.build("printf", None)?.run("conversions", &args, &Launch::linear(1, 1))
}

const VECTORS: &[&str] = &[
    "42,-1,2,3 4,5 10,20,30",
    "-1,2,-3,4 1,2,3,4,5,6,7,8,9,a,b,c,d,e,f,ff",
    "1,-2,3,-4,5,-6,7,-8 65535,0",
    "-1,1 123456789abc,1,2",
    "3.140000,1.000000,-2.500000,0.000000 1.000000e+00,2.000000e+00",
    "  3.14,  1.00, -2.50,  0.00|",
    "1 2,3 4",
];

fn vectors() -> Outcome {
    let (i, f) = (42i32.to_ne_bytes(), 3.14f32.to_ne_bytes());
    let args = [Arg::Bytes(&i), Arg::Bytes(&f)];
    Gpu::get()?.build("printf", None)?.run("vectors", &args, &Launch::linear(1, 1))
}

fn sizes() -> Outcome {
    let program = Gpu::get()?.build_with("printf", None, "-cl-std=CL3.1")?;
    program.run("sizes", &[Arg::Bytes(&42i32.to_ne_bytes())], &Launch::linear(1, 1))
}

/// The last two lines tell how many bits an address has, and all of them.
fn check_sizes(lines: &[&str]) -> Outcome {
    let ends = match lines.get(2) {
        Some(&"1") => ["1", "ffffffffffffffff"],
        _ => ["0", "ffffffff"],
    };
    same(lines, &["42 42 2a   -42|", "-42 42 42", ends[0], ends[1]])
}

const FLOWS: &[&str] = &[
    "first 5", "second 6", "great 5", "more", "same 5", "first 1", "second 2", "small 1", "less", "other 1",
];

/// Two launches, the second begun when the first has ended: so are their lines.
fn flows() -> Outcome {
    let program = Gpu::get()?.build("printf", None)?;
    for i in [5i32, 1] {
        program.run("flows", &[Arg::Bytes(&i.to_ne_bytes())], &Launch::linear(1, 1))?;
    }
    Ok(())
}

const ITEMS: usize = 100;

fn divergent() -> Outcome {
    Gpu::get()?.build("printf", None)?.run("divergent", &[], &Launch::linear(ITEMS, 20))
}

fn check_divergent(lines: &[&str]) -> Outcome {
    let mut total = 0;
    for id in 0..ITEMS {
        let mut expected: Vec<String> = (0..id % 4).map(|i| format!("{id}.{i}")).collect();
        if id % 3 == 0 {
            expected.push(format!("{id} three"));
        }
        let own = lines.iter().filter(|line| line.split(['.', ' ']).next() == Some(&id.to_string()));
        let own: Vec<&str> = own.copied().collect();
        same(&own, &expected.iter().map(String::as_str).collect::<Vec<_>>())?;
        total += own.len();
    }
    if total == lines.len() { Ok(()) } else { Err(format!("{} lines, expected {total}", lines.len())) }
}

const REPEATED: &[&str] = &["0 of 1", "1 of 1", "2 of 1", "3 of 1", "4 of 1", "5 of 1", "6 of 1"];

/// Equal launches in a row without waiting: each prints its own records.
fn repeated() -> Outcome {
    let gpu = Gpu::get()?;
    let source = r#"kernel void next(global int *count) { printf("|%d of %d\n", count[0], (int)get_global_size(0)); count[0]++; }"#;
    let (program, count, queue) = (gpu.build_source(source, "")?, gpu.buffer(&[0i32])?, gpu.queue()?);
    for _ in REPEATED {
        program.enqueue(&queue, "next", &[count.arg()], &Launch::linear(1, 1))?;
    }
    queue.finish().map_err(|e| e.to_string())
}

fn address() -> Outcome {
    let gpu = Gpu::get()?;
    let (buffer, out) = (gpu.buffer(&[0i32])?, gpu.buffer(&[0u64])?);
    gpu.build("printf", None)?.run("address", &[buffer.arg(), out.arg()], &Launch::linear(1, 1))?;
    println!("|{:x}", out.read()?[0]);
    Ok(())
}

fn check_address(lines: &[&str]) -> Outcome {
    let [printed, expected] = lines else { return Err(format!("{lines:?}")) };
    let printed = printed.trim_start_matches("0x").trim_start_matches('0').to_lowercase();
    if printed == *expected { Ok(()) } else { Err(format!("printed {printed}, the address is {expected}")) }
}

fn flood() -> Outcome {
    let gpu = Gpu::get()?;
    let failed = gpu.buffer(&[0u32])?;
    gpu.build("printf", None)?.run("flood", &[failed.arg()], &Launch::linear(256, 64))?;
    println!("|failed {}", failed.read()?[0]);
    Ok(())
}

/// Each call has printed its line or returned an error.
fn check_flood(lines: &[&str]) -> Outcome {
    let failed = lines.iter().find_map(|line| line.strip_prefix("failed ")).ok_or("no number")?;
    let failed: usize = failed.parse().map_err(|e| format!("{e}"))?;
    match (failed, lines.len() - 1 + failed) {
        (0, _) => Err("everything fits".into()),
        (_, 65536) => Ok(()),
        (_, calls) => Err(format!("{calls} of 65536 calls")),
    }
}
