//! Kernels that never end: their commands fail within a small multiple of the hang limit, and then all is as
//! before.

use std::time::{Duration, Instant};

use gencl_eu::device::Device;
use gencl_isa::{Generation, Instruction, Opcode, decode_stream, encode};
use gencl_program::elf;
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;
use opencl3::program::Program;

use crate::child::{Stage, Task};
use crate::tally::Tally;
use crate::work::{Session, of, round};

const SOURCE: &str = "
    kernel void endless(global volatile int *p) { while (p[0] != 12345) p[1] = get_global_id(0); }
    kernel void alone(global volatile int *p) {
        if (get_global_id(0) == 40) while (p[0] != 12345) p[1]++;
        p[2] = 1;
    }
    kernel void meets(global volatile int *p) { while (p[0] != 12345) barrier(CLK_GLOBAL_MEM_FENCE); }
    kernel void turns(global volatile int *p) { while (atomic_add(&p[0], 0) >= 0) atomic_and(&p[0], 0xff); }
    kernel void partly(global int *p) {
        if (get_local_id(0) < 32) barrier(CLK_GLOBAL_MEM_FENCE);
        p[get_global_id(0)] = 1;
    }";

const NOTIFICATION: &str = "
    kernel void waits(global int *p) { barrier(CLK_GLOBAL_MEM_FENCE); p[get_global_id(0)] = 1; }";

/// Seconds.
pub const LIMIT: u64 = 1;

/// A small multiple of it, on a machine that does other things, too.
pub const LONGEST: Duration = Duration::from_secs(4 * LIMIT + 4);

pub fn repeat(stage: &Stage) -> Result<Tally, String> {
    let limit = LIMIT.to_string();
    let mut tally = Tally::default();
    for engine in ["interpret", "translate", "auto"] {
        let variables = [("GENCL_ENGINE", engine), ("GENCL_HANG_LIMIT", limit.as_str())];
        tally += stage.run(engine, stage.seed, Duration::ZERO, &variables)?;
    }
    Ok(tally)
}

pub fn work(_: &Task) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let session = Session::new(0)?;
    let program = session.build(SOURCE, "")?;
    for name in ["endless", "alone", "meets", "turns", "partly"] {
        hang(&session, &program, name, &mut tally)?;
    }
    let program = session.build(NOTIFICATION, "")?;
    for number in 1..4 {
        let program = session.load(&waiting(&program, number)?)?;
        hang(&session, &program, "waits", &mut tally)?;
    }
    Ok(tally)
}

fn hang(session: &Session, program: &Program, name: &str, tally: &mut Tally) -> Result<(), String> {
    let kernel = Kernel::create(program, name).map_err(of("clCreateKernel"))?;
    let buffer = session.buffer(4096)?;
    // SAFETY: the argument is that of the kernel.
    unsafe { kernel.set_arg(0, &buffer.get()) }.map_err(of("clSetKernelArg"))?;
    let begin = Instant::now();
    let ended = session.launch(&kernel, 128, Some(64));
    let took = begin.elapsed();
    if ended.is_ok() {
        return Err(format!("kernel {name} ends well"));
    }
    if took > LONGEST {
        return Err(format!("kernel {name} is stopped after {:.1} s", took.as_secs_f64()));
    }
    // Tells of the fault.
    let _ = session.queue.finish();
    round(u64::from(std::process::id()))?;
    tally.count("ended with a code");
    Ok(())
}

/// The program whose kernel waits for a notification that nobody sends, in place of the barrier's.
fn waiting(program: &Program, number: u8) -> Result<Vec<u8>, String> {
    let binaries = program.get_binaries().map_err(of("CL_PROGRAM_BINARIES"))?;
    let mut program = elf::read(&binaries[0]).map_err(|error| error.to_string())?;
    let generation = generation(&program.target)?;
    let code = &mut program.kernels[0].code;
    let stream = decode_stream(generation, code).map_err(|(at, error)| format!("{at}: {error}"))?;
    let wait = stream.iter().find(|(_, size, instruction)| *size == 16 && instruction.opcode == Opcode::Wait);
    let (at, ..) = wait.ok_or("a barrier without a wait")?;
    let bytes = encode(generation, &Instruction::wait(number)).map_err(|error| error.to_string())?;
    code[*at..at + bytes.len()].copy_from_slice(&bytes);
    elf::write(&program).map_err(|error| error.to_string())
}

fn generation(target: &str) -> Result<Generation, String> {
    Device::named(target).map(|device| device.generation).ok_or_else(|| format!("unknown target {target}"))
}
