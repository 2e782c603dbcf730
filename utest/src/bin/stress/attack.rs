//! Program binaries that no compiler has made: each is refused, or its launches end with an error code or a
//! result, within a small multiple of the hang limit, and the driver catches no panic.

use std::path::Path;
use std::time::{Duration, Instant};

use gencl_program::{Program, elf};
use gencl_utest::Random;
use opencl3::kernel::{Kernel, create_program_kernels};
use opencl3::memory::{Buffer, ClMem};
use opencl3::types::{cl_int, cl_uint};

use crate::child::{Stage, Task};
use crate::hangs::{LIMIT, LONGEST};
use crate::mutate;
use crate::tally::Tally;
use crate::work::{Session, Trouble, of, round};

/// What is mutated: arguments of each kind, barriers, memory of each kind, formats, loops and branches,
/// doubles, atomics.
const SOURCES: [&str; 3] = [
    "constant int table[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
     typedef struct { float4 a; char b; long c; } S;
     kernel void local_and_constant(global int *p, int n, local int *l, constant int *c, S s) {
         int id = get_local_id(0), x = table[id & 7] + c[id] + (int)s.c;
         for (int i = 0; i < n; i++) { l[id] = x + i; barrier(CLK_LOCAL_MEM_FENCE); x += l[(id + i) % get_local_size(0)]; }
         p[get_global_id(0)] = x;
     }
     kernel __attribute__((reqd_work_group_size(16, 1, 1))) void branches(global int *p, int n) {
         int x = get_global_id(0), y = 0;
         while (x < n * 16) { if (x & 1) { x += 3; continue; } if (y > 40) break; switch (x & 3) { case 0: y += 2; break; default: x++; } x++; y++; }
         p[get_global_id(0)] = y + (x > 3 ? p[x & 63] : atomic_add(&p[1], y));
     }",
    "kernel void prints(global int *p, float f, long l, uchar4 v) {
         int i = get_global_id(0);
         if (i < 3) printf(\"%5.2f %ld %v4hhd %s %c %%\\n\", f, l, v, \"text\", 65);
         p[i] = printf(\"%#x\\n\", i);
     }
     kernel void calls(global float *p, float f) {
         int i = get_global_id(0);
         p[i] = sin(f * i) + pow(f, 2.5f) + sqrt(p[i]);
     }",
    "kernel void scratch(global int *p, int n) {
         int a[300]; long b[16];
         for (int i = 0; i < 300; i++) a[i] = i * n;
         for (int i = 0; i < 16; i++) b[i] = a[(i * n) % 300];
         p[get_global_id(0)] = a[(p[0] + get_local_id(0)) % 300] + (int)b[n & 15];
     }
     kernel void wide(global long *p, global char *q, short n) {
         size_t i = get_global_id(0);
         p[i] = p[i] * n + q[i]; q[i] = convert_char_sat(p[i] / (n + 1));
         vstore3(vload3(i, q), i, q + 1);
         p[i] += work_group_reduce_add((int)i);
     }",
];

/// Bytes of the buffer that all pointers point to.
const BUFFER: usize = 1 << 14;

/// Inputs of one process.
const INPUTS: u64 = 50;

/// Inputs between two looks whether the driver still gives right results.
const BETWEEN: u64 = 10;

pub fn binaries(stage: &Stage) -> Result<Tally, String> {
    attack(stage, "anything", ["interpret", "translate"][(stage.seed % 2) as usize])
}

pub fn interpreted(stage: &Stage) -> Result<Tally, String> {
    attack(stage, "code", "interpret")
}

pub fn translated(stage: &Stage) -> Result<Tally, String> {
    attack(stage, "code", "translate")
}

fn attack(stage: &Stage, role: &str, engine: &str) -> Result<Tally, String> {
    let limit = LIMIT.to_string();
    let left = stage.left.max(Duration::from_secs(1));
    stage.run(role, stage.seed, left, &[("GENCL_ENGINE", engine), ("GENCL_HANG_LIMIT", &limit)])
}

/// Gives the driver mutated binaries.
pub fn work(task: &Task) -> Result<Tally, String> {
    let begin = Instant::now();
    let mut tally = Tally::default();
    let programs = {
        let session = Session::new(0)?;
        SOURCES.iter().map(|source| binary(&session, source)).collect::<Result<Vec<_>, String>>()?
    };
    let mutate = if task.role == "code" { mutate::machine_code } else { mutate::anything };
    for number in 0..INPUTS {
        let seed = task.seed.wrapping_mul(INPUTS).wrapping_add(number);
        let mut random = Random::new(seed);
        let program = &programs[random.below(programs.len())];
        let Some(bytes) = (0..20).find_map(|_| mutate(program, &mut random)) else { continue };
        task.keep(&format!("{seed}.bin"), &bytes)?;
        tally.count("binaries");
        feed(&bytes, &mut tally)?;
        if number % BETWEEN == 0 {
            round(seed % 2)?;
        }
        if begin.elapsed() > task.left {
            break;
        }
    }
    Ok(tally)
}

/// Runs the driver with one binary, for debugging.
pub fn one(path: &Path) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut tally = Tally::default();
    feed(&bytes, &mut tally)?;
    println!("{tally}");
    Ok(())
}

fn binary(session: &Session, source: &str) -> Result<Program, String> {
    let program = session.build(source, "-cl-std=CL3.0")?;
    let binaries = program.get_binaries().map_err(of("CL_PROGRAM_BINARIES"))?;
    elf::read(&binaries[0]).map_err(|error| error.to_string())
}

/// Loads and builds a binary, and launches its kernels.
fn feed(bytes: &[u8], tally: &mut Tally) -> Result<(), String> {
    // Clears the faults of the previous input.
    let session = Session::new(0)?;
    let program = match session.load(bytes) {
        Ok(program) => program,
        Err(trouble) => return refused(trouble, "refused", tally),
    };
    let kernels = match create_program_kernels(&program).map_err(of("clCreateKernelsInProgram")) {
        Ok(kernels) => kernels,
        Err(trouble) => return refused(trouble, "refused", tally),
    };
    let mut buffer = session.buffer(BUFFER)?;
    // SAFETY: the pattern is copied at once.
    unsafe { session.queue.enqueue_fill_buffer(&mut buffer, &[0u32], 0, BUFFER, &[]) }
        .map_err(of("clEnqueueFillBuffer"))?;
    for kernel in &kernels {
        for local in [None, Some(16)] {
            let mut timed = || -> Result<Duration, String> {
                let begin = Instant::now();
                match launch(&session, kernel, &buffer, local) {
                    Ok(()) => tally.count("launches with a result"),
                    Err(trouble) => refused(trouble, "launches with an error", tally)?,
                }
                let took = begin.elapsed();
                // Reports the fault, so that the next launch has a separate one.
                let _ = session.queue.finish();
                Ok(took)
            };
            // The first launch may wait for a translation. Each of these ends, but on a busy machine late.
            if timed()? > LONGEST {
                let took = timed()?;
                if took > LONGEST {
                    let name = kernel.function_name().unwrap_or_default();
                    return Err(format!("kernel {name} is stopped after {:.1} s", took.as_secs_f64()));
                }
            }
        }
    }
    Ok(())
}

fn refused(trouble: Trouble, what: &str, tally: &mut Tally) -> Result<(), String> {
    match trouble {
        Trouble::Failed { code: ..0, .. } => {
            tally.count(what);
            Ok(())
        }
        other => Err(other.into()),
    }
}

/// Sets all arguments as far as they can be, asks for what can be asked, and launches.
fn launch(
    session: &Session,
    kernel: &Kernel,
    buffer: &Buffer<u32>,
    local: Option<usize>,
) -> Result<(), Trouble> {
    let count: cl_uint = kernel.num_args().map_err(of("CL_KERNEL_NUM_ARGS"))?;
    for index in 0..count {
        set(kernel, index, buffer)?;
    }
    let device = session.device.id();
    // Any result is valid.
    let _ = (
        kernel.get_work_group_size(device),
        kernel.get_compile_work_group_size(device),
        kernel.get_local_mem_size(device),
        kernel.get_private_mem_size(device),
        kernel.attributes(),
    );
    session.launch(kernel, 48, local)
}

/// Sets an argument to whatever is taken: a buffer, or a value of some size, or local memory.
fn set(kernel: &Kernel, index: cl_uint, buffer: &Buffer<u32>) -> Result<(), Trouble> {
    // What loops run to: few times.
    let value = [5u32; 16];
    let mut result = {
        // SAFETY: a handle that is alive. The driver says whether the argument is a buffer.
        unsafe { kernel.set_arg(index, &buffer.get()) }
    };
    for bytes in [1, 2, 4, 8, 16, 32, 48, 64] {
        if result.is_ok() {
            break;
        }
        let set = opencl3::kernel::set_kernel_arg;
        // SAFETY: the value has as many bytes and more.
        let done: Result<(), cl_int> = unsafe { set(kernel.get(), index, bytes, value.as_ptr().cast()) };
        result = done.map_err(Into::into);
    }
    if result.is_err() {
        // SAFETY: local memory has no value.
        result = unsafe { kernel.set_arg_local_buffer(index, 256) };
    }
    result.map_err(of("clSetKernelArg"))
}
