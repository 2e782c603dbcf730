//! Warnings on standard error. The environment controls them, so the cases run this program again.

use gencl_utest::{Case, Gpu, Launch, Need, Outcome};

use crate::child::{self, is_child};

pub fn cases() -> Vec<Case> {
    let own = |name: &'static str, run: fn() -> Outcome| Case::of_gencl("its own words", name, run);
    vec![
        own("told_fault", fault),
        own("told_variables", variables),
        own("told_sampler", sampler).needing(Need::Images),
        own("told_device", device).needing(Need::Simulator),
        own("told_no_device", no_device),
    ]
}

/// Runs a case in a separate process and returns gencl's lines of its standard error.
fn lines(name: &str, variables: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let output = child::run(name, "tell", variables)?;
    let text = String::from_utf8_lossy(&output.stderr);
    Ok(text.lines().filter(|line| line.starts_with("gencl: ")).map(str::to_owned).collect())
}

/// There is one line for each list of words, and it has them all.
fn expect(lines: &[String], expected: &[&[&str]]) -> Outcome {
    let says = |words: &[&str]| lines.iter().any(|line| words.iter().all(|word| line.contains(word)));
    if lines.len() == expected.len() && expected.iter().all(|words| says(words)) {
        return Ok(());
    }
    Err(format!("told: {lines:#?}, expected: {expected:#?}"))
}

/// Kernel, work-item and nearest buffer; once for each kernel.
fn fault() -> Outcome {
    if is_child() {
        let gpu = Gpu::get()?;
        let source = "
            kernel void first(global int *p, global int *q) { if (get_global_id(0) == 21 && get_global_id(1) == 3) q[1024 + 8192] = 1; }
            kernel void second(global int *p, global int *q) { if (get_global_id(0) == 9) p[-1] = 1; }";
        let (program, one, other) =
            (gpu.build_source(source, "")?, gpu.empty::<u8>(4096)?, gpu.empty::<u8>(4096)?);
        let launch = Launch { global: vec![32, 4], local: vec![8, 2], ..Launch::default() };
        for kernel in ["first", "first", "second", "first"] {
            let event = program.enqueue(&gpu.queue()?, kernel, &[one.arg(), other.arg()], &launch)?;
            if event.wait().is_ok() {
                return Err(format!("kernel {kernel} has ended well"));
            }
        }
        return Ok(());
    }
    let told = lines("told_fault", &[])?;
    // With a GPU behind the kernel's interface, only the failure itself is known.
    let expected: [&[&str]; 2] = match told.iter().any(|line| line.contains("page fault")) {
        true if told.iter().any(|line| line.contains("work-item")) => [
            &[
                "kernel first, line 2, work-item (21, 3, 0), 32768 bytes behind argument 1 (q) of 4096 bytes: page fault: write at 0x",
            ],
            &[
                "kernel second, line 3, work-item (9, 0, 0), 4 bytes before argument 0 (p) of 4096 bytes: page fault: write at 0x",
            ],
        ],
        _ => [&["kernel first: "], &["kernel second: "]],
    };
    expect(&told, &expected)?;
    expect(&lines("told_fault", &[("GENCL_DEBUG", "quiet")])?, &[])
}

/// An invalid value is reported once, with the valid ones.
fn variables() -> Outcome {
    if is_child() {
        let gpu = Gpu::get()?;
        let (out, program) =
            (gpu.empty::<u32>(1)?, gpu.build_source("kernel void k(global uint *p) { *p = 3; }", ""));
        program?.run("k", &[out.arg()], &Launch::linear(1, 1))?;
        return crate::memory::same(&out.read()?, &[3]);
    }
    let set = [("GENCL_DEBUG", "irr,log=loud"), ("GENCL_CACHE_SIZE", "lots"), ("GENCL_BUILD_TIMEOUT", "-1")];
    // A separate cache, so that there is a build.
    let cache = std::env::temp_dir().join(format!("gencl-told-{}", std::process::id()));
    let folder = cache.to_string_lossy();
    let set = [&set[..], &[("GENCL_CACHE", &*folder)]].concat();
    let expected: [&[&str]; 4] = [
        &["GENCL_DEBUG", "irr", "llvm-passes"],
        &["GENCL_DEBUG", "log=error|warn|info|debug|trace"],
        &["GENCL_CACHE_SIZE=lots", "MiB"],
        &["GENCL_BUILD_TIMEOUT=-1", "seconds"],
    ];
    let told = lines("told_variables", &set);
    // It is missing if the first build did not get that far.
    let _ = std::fs::remove_dir_all(&cache);
    expect(&told?, &expected)?;
    expect(&lines("told_variables", &[])?, &[])
}

/// A device of several that cannot be used.
fn device() -> Outcome {
    if is_child() {
        return Gpu::get().map(drop);
    }
    let expected: [&[&str]; 2] =
        [&["GENCL_DEVICE", "sim:none", "skl"], &["GENCL_DEVICE", "wrong", "sim:NAME"]];
    expect(&lines("told_device", &[("GENCL_DEVICE", "sim:none,wrong,sim:skl")])?, &expected)
}

/// Why there is none.
fn no_device() -> Outcome {
    if is_child() {
        return Gpu::get().map(drop);
    }
    let only = |variable, value, words: &[&str]| {
        let told = lines("told_no_device", &[(variable, value)])?;
        let said = told.iter().filter(|line| words.iter().all(|word| line.contains(word))).count();
        if said == 1 {
            Ok(())
        } else {
            Err(format!("{variable}={value} told: {told:#?}, expected {words:?}"))
        }
    };
    only("GENCL_DEVICE", "/nonexistent", &["no device is found", "/nonexistent"])?;
    only("GENCL_DEVICE", ",", &["no device is found", "GENCL_DEVICE"])?;
    only("GENCL_DEVICE_TYPE", "tpu", &["GENCL_DEVICE_TYPE=tpu is ignored", "cpu or gpu"])?;
    if !Need::Simulator.is_there(Gpu::get()?) {
        return Ok(());
    }
    only("GENCL_ENGINE", "fast", &["GENCL_ENGINE=fast is ignored", "interpret"])?;
    only("GENCL_HANG_LIMIT", "never", &["GENCL_HANG_LIMIT=never is ignored", "seconds"])
}

/// A sampler that clamps in place of repeating, once.
fn sampler() -> Outcome {
    if is_child() {
        return crate::images::repeated_texels();
    }
    let expected: &[&[&str]] = &[&["CL_ADDRESS_REPEAT", "CL_ADDRESS_CLAMP_TO_EDGE is used"]];
    expect(&lines("told_sampler", &[])?, expected)
}
