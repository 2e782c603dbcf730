//! `genclc` as users and scripts call it.
#![cfg(feature = "llvm")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const SCALE: &str = "kernel void scale(global float *a, float by) { a[get_global_id(0)] *= by; }\n";
const TWO: &str = "kernel void first(global int *a) { a[get_global_id(0)] = N; }\n\
                   kernel void second(global int *a) { barrier(CLK_GLOBAL_MEM_FENCE); a[get_local_id(0)]++; }\n";

/// A folder for a test, with files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn genclc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_genclc")).args(arguments).env_remove("GENCL_DEBUG").output().unwrap()
}

/// The table's lines, cut into columns.
fn table(output: &Output) -> Vec<Vec<String>> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn statistics_have_a_line_for_each_kernel_of_a_folder() {
    let folder = folder("statistics", &[("b.cl", TWO), ("a.cl", SCALE), ("a.h", "no source")]);
    let output = genclc(&["--stats", "-DN=3", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = table(&output);
    let head = "simd instr per-lane sends spills fills regs scratch bytes kernel file";
    assert_eq!(table[0], head.split(' ').collect::<Vec<_>>());
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let names: Vec<_> = table[1..].iter().map(|row| row[9..].to_vec()).collect();
    let expected =
        [("scale", "a.cl"), ("first", "b.cl"), ("second", "b.cl")].map(|(k, f)| vec![k.to_owned(), file(f)]);
    assert_eq!(names, expected);
    for row in &table[1..] {
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        let (simd, instructions, bytes) = (number(0), number(1), number(8));
        assert!([8.0, 16.0, 32.0].contains(&simd), "{row:?}");
        assert!((number(2) - instructions / simd).abs() < 1e-3, "{row:?}");
        assert!(number(3) >= 2.0 && number(3) < instructions, "a store and the end of the thread: {row:?}");
        assert_eq!((number(4), number(5), number(7)), (0.0, 0.0, 0.0), "neither spills nor scratch: {row:?}");
        assert!((1.0..=128.0).contains(&number(6)), "{row:?}");
        assert!(bytes >= instructions * 8.0 && bytes <= instructions * 16.0, "{row:?}");
    }
}

#[test]
fn statistics_go_on_after_a_source_with_errors() {
    let folder = folder("statistics-errors", &[("a.cl", "kernel void broken( {"), ("b.cl", SCALE)]);
    let output = genclc(&["--stats", folder.to_str().unwrap()]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("a.cl:1:"), "{output:?}");
    let table = table(&output);
    assert_eq!((table.len(), table[1][9].as_str()), (2, "scale"));
}

#[test]
fn options_of_the_build_change_the_statistics() {
    let folder = folder("statistics-width", &[("a.cl", SCALE)]);
    let file = folder.join("a.cl");
    let width = |simd: &str| {
        let output = genclc(&["--stats", "--dump", simd, file.to_str().unwrap()]);
        table(&output)[1][0].clone()
    };
    assert_eq!(["simd=8", "simd=16", "simd=32"].map(width), ["8", "16", "32"]);
}

#[test]
fn ring_buffers_are_in_registers_without_unrolling_all_iterations() {
    let source = "kernel void ring(global uint *p) {
        uint w[16], sum = 0;
        for (int i = 0; i < 16; ++i)
            w[i] = p[i];
        for (int i = 0; i < 160; ++i) {
            if (i >= 16)
                w[i & 15] += w[(i + 1) & 15] * 3 ^ rotate(w[(i + 14) & 15], 7u) ^ (w[(i + 9) & 15] >> 5);
            sum = rotate(sum, 5u) * 31 + w[i & 15];
        }
        p[get_global_id(0)] = sum;
    }";
    let folder = folder("ring", &[("a.cl", source)]);
    let table = table(&genclc(&["--stats", folder.join("a.cl").to_str().unwrap()]));
    let number = |column: usize| table[1][column].parse::<u32>().unwrap();
    assert_eq!(number(7), 0, "scratch: {table:?}");
    // Two times sixteen iterations of some fifteen instructions, twice that with 32 lanes.
    assert!(number(1) < 40 * 15 * number(0).div_ceil(16), "{table:?}");
}

/// The argument reduction is most of a sine.
#[test]
fn a_sine_and_a_cosine_share_the_argument_reduction() {
    let kernel = |name: &str, value: &str| {
        format!("kernel void {name}(global float *a, float b) {{ float x = *a; *a = {value}; }}\n")
    };
    let angle =
        kernel("one", "sin(x)") + &kernel("both", "sin(x) - cos(x)") + &kernel("two", "sin(x) - cos(x - b)");
    let folder = folder("angles", &[("a.cl", &angle)]);
    let table = table(&genclc(&["--stats", folder.join("a.cl").to_str().unwrap()]));
    let [one, both, two] = [1, 2, 3].map(|row| table[row][1].parse::<u32>().unwrap());
    assert!(both < one + one / 4 && two > one + one / 2, "{one} {both} {two}");
}

#[test]
fn one_output_is_for_one_source() {
    let folder = folder("one-output", &[("a.cl", SCALE), ("b.cl", SCALE)]);
    let target = folder.join("out.elf");
    let several = genclc(&["-o", target.to_str().unwrap(), folder.to_str().unwrap()]);
    assert!(!several.status.success() && !target.exists());
    let one = genclc(&["-o", target.to_str().unwrap(), folder.join("a.cl").to_str().unwrap()]);
    assert!(one.status.success() && target.exists());
}

#[test]
fn dumps_are_text_that_tools_read() {
    let folder = folder("dump", &[("a.cl", SCALE)]);
    let output = genclc(&["--dump", "llvm", folder.join("a.cl").to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("; ModuleID") && text.contains("\ndefine "), "{text}");
}

#[test]
fn single_passes_are_dumped_by_their_names() {
    let folder = folder("dump-after", &[("a.cl", SCALE)]);
    let file = folder.join("a.cl");
    let after = |pass: &str| genclc(&["--dump", &format!("after={pass}"), file.to_str().unwrap()]);
    for (pass, what) in [("unify", "\ndefine "), ("llvm-finish", "\ndefine "), ("opt_dead_code", "\nkernel ")]
    {
        let text = String::from_utf8(after(pass).stdout).unwrap();
        assert!(text.starts_with(&format!("; after {pass}\n")) && text.contains(what), "{text}");
        assert_eq!(text.matches("; after ").count(), 1, "{text}");
    }
    let unknown = after("sleep");
    let message = String::from_utf8_lossy(&unknown.stderr);
    assert!(
        !unknown.status.success()
            && message.contains(
                "the passes are rename, unify, drop-destructors, order-atomics, mark-sub-groups, check-arithmetic,"
            ),
        "{message}"
    );
}

#[test]
fn the_current_directory_may_have_been_deleted() {
    let folder = folder("deleted-directory", &[("a.cl", SCALE)]);
    let script = r#"mkdir gone && cd gone && rmdir ../gone && exec "$0" --stats "$1""#;
    let file = folder.join("a.cl");
    let output = Command::new("sh")
        .current_dir(&folder)
        .args(["-c", script, env!("CARGO_BIN_EXE_genclc"), file.to_str().unwrap()])
        .env_remove("GENCL_DEBUG")
        .output()
        .unwrap();
    assert_eq!(table(&output).len(), 2, "{}", String::from_utf8_lossy(&output.stderr));
}
