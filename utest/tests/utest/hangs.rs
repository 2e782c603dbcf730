//! Kernels that never end, or not soon, each in a process of its own: others would wait for the device meanwhile.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gencl_utest::{Case, Gpu, Launch, Outcome};

use crate::child::{self, is_child};
use crate::faults::fails;

pub fn cases() -> Vec<Case> {
    vec![
        Case::of_gencl("the context is told why", "hang_no_end", no_end),
        Case::of_gencl("the context is told why", "hang_no_end_of_lanes", no_end_of_lanes),
        Case::of_gencl("the context is told why", "hang_registers_repeat", registers_repeat),
        Case::of_gencl("the context is told why", "hang_local_memory_repeats", local_memory_repeats),
        Case::of_gencl("others have no limit", "hang_interrupted", interrupted),
    ]
}

/// How much earlier than other hangs these end, with room for a busy machine.
const EARLY: Duration = Duration::from_secs(120);

/// Runs a kernel that is known to never end, by some engines, and checks that it says so early and without any variable.
fn never_ends(name: &str, source: &str, words: &str, engines: &[&str]) -> Outcome {
    if is_child() {
        return fails(source, words);
    }
    for engine in engines {
        let begin = Instant::now();
        let output = child::run(name, "hang", &[("GENCL_ENGINE", engine)])?;
        if !output.status.success() {
            return Err(format!("{engine}: the process failed: {output:?}"));
        }
        if begin.elapsed() > EARLY {
            return Err(format!("{engine}: stopped after {:?}", begin.elapsed()));
        }
    }
    Ok(())
}

const ENGINES: [&str; 2] = ["interpret", "translate"];

fn no_end() -> Outcome {
    never_ends(
        "hang_no_end",
        "kernel void bad(global volatile int *p) { for (;;) p[get_local_id(0)]++; }",
        "never ends: no end of the kernel can be reached",
        &ENGINES,
    )
}

/// The other lanes wait behind the loop.
fn no_end_of_lanes() -> Outcome {
    never_ends(
        "hang_no_end_of_lanes",
        "kernel void bad(global volatile int *p) {
            if (get_local_id(0) % 16 == 3) for (;;) p[1]++;
            p[0] = 1;
        }",
        "never ends: no end of the kernel can be reached",
        &ENGINES,
    )
}

/// Euclid's algorithm with 0.
fn registers_repeat() -> Outcome {
    never_ends(
        "hang_registers_repeat",
        "kernel void bad(global int *p) {
            uint a = p[0], b = get_global_id(0) + 7;
            while (a != b) { if (a > b) a -= b; else b -= a; }
            p[get_global_id(0)] = a;
        }",
        "never ends: the registers repeat",
        &ENGINES,
    )
}

fn local_memory_repeats() -> Outcome {
    never_ends(
        "hang_local_memory_repeats",
        "kernel __attribute__((reqd_work_group_size(32, 1, 1))) void bad(global int *p) {
            volatile local int done;
            if (get_local_id(0) == 0) done = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            while (!done) barrier(CLK_LOCAL_MEM_FENCE);
            p[get_global_id(0)] = done;
        }",
        "repeat",
        &["interpret"],
    )
}

/// SIGINT ends a process that waits for a kernel at once.
fn interrupted() -> Outcome {
    const SOURCE: &str =
        "kernel void waits(global volatile int *p) { while (p[get_global_id(0)] != 12345) p[512] = 0; }";
    const WAITS: &str = "waits for its kernel";
    if is_child() {
        // A shell's background jobs ignore it.
        // SAFETY: no handler.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        let gpu = Gpu::get()?;
        let (queue, buffer) = (gpu.queue()?, gpu.buffer(&[0u32; 1024])?);
        let program = gpu.build_source(SOURCE, "")?;
        program.enqueue(&queue, "waits", &[buffer.arg()], &Launch::linear(32, 32))?;
        println!("{WAITS}");
        return Err(format!("it ended: {:?}", queue.finish()));
    }
    for engine in ENGINES {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut child = Command::new(program)
            .args(["--exact", "hang_interrupted"])
            .env(child::CHILD, "hang")
            .env("GENCL_ENGINE", engine)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let output = child.stdout.take().ok_or("the child has no output")?;
        let waits = BufReader::new(output).lines().map_while(Result::ok).any(|line| line.contains(WAITS));
        // The launch begins, and with a translator its translation.
        std::thread::sleep(Duration::from_millis(500));
        // SAFETY: no pointers; the child has not been waited for, so that its number is not another's.
        unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
        let begin = Instant::now();
        let ended = loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                break Some(status);
            }
            if begin.elapsed() > Duration::from_secs(20) {
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        if ended.is_none() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if !waits || ended.and_then(|status| status.signal()) != Some(libc::SIGINT) {
            return Err(format!("{engine}: the child waited: {waits}; it ended: {ended:?}"));
        }
    }
    Ok(())
}
