//! A small report, whose sums can be checked by hand.

use gencl_eu::profile::InstructionCounter;
use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::{
    Frame, Instruction, Kernel, Launch, LineInformation, Source, VERSION, Wait,
};

/// The source of the first kernel.
pub const TEXT: &str = "float load(const __global float *x, int i) {
    return x[i];
}
__kernel void sum(__global float *x) {
    int i = get_global_id(0);
    float s = load(x, i * 32);
    s += load(x, 0);
    x[i] = s;
}
";

/// Name of its file.
pub const FILE: &str = "1-0123abcd-sum.cl";

fn instruction(offset: u32, text: &str, frames: &[usize], counter: InstructionCounter) -> Instruction {
    Instruction {
        offset,
        text: text.to_owned(),
        width: 16,
        frames: frames.to_vec(),
        counter,
        ..Instruction::default()
    }
}

fn counter(executions: u64, lanes: u64, issue: u64) -> InstructionCounter {
    InstructionCounter { executions, lanes, issue, ..InstructionCounter::default() }
}

/// A message to memory or local memory, with an instruction that waits for it.
fn message(class: &str, instruction: Instruction) -> Instruction {
    Instruction { class: Some(class.to_owned()), ..instruction }
}

/// Two kernels: `sum` with nine tenths of the time, two inlined calls, and a line that waits for both; and another without
/// source lines.
pub fn report() -> Report {
    let frame = |function: &str, line| Frame { function: function.to_owned(), source: 0, line, column: 5 };
    let frames = vec![frame("sum", 5), frame("load", 2), frame("sum", 6), frame("sum", 7)];
    let load = InstructionCounter {
        wait: 80,
        lines: 160,
        misses: 160,
        bytes: 640,
        port: 160,
        ..counter(10, 160, 20)
    };
    let local = InstructionCounter { port: 160, conflicts: 150, ..counter(10, 160, 20) };
    let waiting = InstructionCounter { wait: 4000, ..counter(10, 80, 40) };
    let mut load = message("memory", instruction(0x10, "send(16) memory", &[1, 2], load));
    load.waits = vec![Wait { offset: 0, clocks: 80 }];
    let mut add = instruction(0x30, "add(16)", &[3], waiting);
    add.waits = vec![Wait { offset: 0x10, clocks: 3000 }, Wait { offset: 0x20, clocks: 1000 }];
    add.flops = 1;
    let sum = Kernel {
        hash: "00000000000000a1".to_owned(),
        name: "sum".to_owned(),
        program: FILE.trim_end_matches(".cl").to_owned(),
        line_information: LineInformation::Present,
        simd_width: 16,
        code_bytes: 0x50,
        launches: 2,
        threads: 10,
        cycles: 900,
        limit: "memory".to_owned(),
        occupancy: 3.5,
        threads_per_eu: 7,
        spill_bytes: 64,
        distinct_lines: 160,
        instructions: vec![
            instruction(0, "shl(16)", &[0], counter(10, 160, 40)),
            load,
            message("slm", instruction(0x20, "send(16) slm", &[1, 3], local)),
            add,
            message("end", instruction(0x40, "send(16) end", &[], counter(10, 160, 20))),
        ],
        ..Kernel::default()
    };
    let other = Kernel {
        hash: "00000000000000b2".to_owned(),
        line_information: LineInformation::Missing("built without lines".to_owned()),
        simd_width: 8,
        code_bytes: 0x10,
        launches: 1,
        threads: 50,
        cycles: 100,
        limit: "pipes".to_owned(),
        instructions: vec![instruction(0, "mov(8)", &[], counter(50, 400, 100))],
        ..Kernel::default()
    };
    let launch = |kernel, limit: &str, cycles| {
        // The other resources are busy for a quarter of the time.
        let of = |name: &str| (name.to_owned(), if name == limit { cycles } else { cycles / 4 });
        let bounds = ["pipes", "data port", "memory", "latency"].map(of).into();
        Launch { kernel, limit: limit.to_owned(), cycles, bounds, ..Launch::default() }
    };
    Report {
        version: VERSION,
        device: "skl".to_owned(),
        program: "app".to_owned(),
        fast: false,
        notes: Vec::new(),
        kernels: vec![sum, other],
        launches: vec![launch(0, "data port", 500), launch(0, "pipes", 400), launch(1, "pipes", 100)],
        sources: vec![Source { name: FILE.to_owned(), text: Some(TEXT.to_owned()) }],
        frames,
    }
}
