//! Code generation: Gen IR to machine code.
//!
//! [`select`] emits machine instructions on virtual registers ([`lir`]), [`schedule`] orders them,
//! [`allocate`] assigns registers, [`spill`] moves registers to scratch when there are too few, [`check`]
//! verifies the allocation symbolically, [`emit`] encodes.

mod aligned;
mod allocate;
mod build;
mod check;
mod coalesce;
mod emit;
mod indirect;
mod lir;
mod liveness;
mod operand;
mod pairs;
mod schedule;
mod select;
mod spill;
mod width;

#[cfg(test)]
mod tests;

use crate::ir::{Form, Function, Location};
use gencl_device_info::DeviceInfo;
use gencl_program::{Kernel, Statistics};
use lir::{InstKind, Program};
use select::{FailureKind, PrivateLocation};
use std::fmt::Write;

/// Options of code generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Lanes per thread, 8, 16 or 32; `None`: as many as fit into registers, 32 where it pays.
    pub simd: Option<u32>,
    /// General registers to use, to test spilling; `None`: all of the target.
    pub registers: Option<u32>,
    /// Check the register allocation symbolically; builds with debug assertions always do.
    pub check: bool,
    /// Return the LIR as text as well.
    pub dump_lir: bool,
    /// Instructions are not scheduled.
    pub in_order: bool,
}

/// A kernel in machine code.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// Code, and its interface for the launch.
    pub kernel: Kernel,
    /// The LIR after spilling, if [`Options::dump_lir`] is set.
    pub lir: Option<String>,
    code: emit::Code,
    /// Offset of each instruction in bytes.
    offsets: Vec<usize>,
    generation: gencl_isa::Generation,
}

impl Compiled {
    /// The offset in bytes and the source location of each instruction.
    pub fn lines(&self) -> impl Iterator<Item = (u64, Location)> + '_ {
        self.offsets.iter().map(|offset| *offset as u64).zip(self.code.locations.iter().copied())
    }

    /// The machine code as text.
    #[must_use]
    pub fn listing(&self) -> String {
        let mut out = format!("// {} SIMD{}\n", self.kernel.name, self.kernel.simd_width);
        for (index, instruction) in self.code.instructions.iter().enumerate() {
            for (block, _) in self.code.blocks.iter().enumerate().filter(|(_, b)| **b == index) {
                let _ = writeln!(out, "// block {block}");
            }
            let text = gencl_isa::print(self.generation, instruction);
            let _ = writeln!(out, "/* {:6x} */ {text}", self.offsets[index]);
        }
        out
    }
}

/// Why a kernel could not be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel {kernel}: {what}{}", if place.is_empty() { String::new() } else { format!(" ({place})") })]
pub struct Error {
    /// The kernel.
    pub kernel: String,
    /// What is wrong.
    pub what: String,
    /// Where: a block and instruction, a stage, an offset. Empty when it is about the whole kernel.
    pub place: String,
    /// Whether it is a fault of the compiler itself.
    pub is_internal: bool,
}

/// Minimum size of a thread's scratch memory in bytes.
const SCRATCH_MIN: u32 = 1024;

/// Compiles a function in linear or masked form.
///
/// # Errors
/// An operation that the target does not support, or a resource (registers, scratch) that does not suffice.
pub fn compile(function: &Function, target: &DeviceInfo, options: &Options) -> Result<Compiled, Error> {
    let error = |failure: select::Failure, place: &str| Error {
        kernel: function.name.clone(),
        what: failure.what,
        place: if failure.kind == FailureKind::Limit { String::new() } else { place.into() },
        is_internal: failure.kind == FailureKind::Internal,
    };
    let internal = |what: &str, place| Err(error(select::Failure::internal(what), place));
    if function.form == Form::PerLane {
        return internal("control flow has not been lowered", "input");
    }
    let possible = target.execution.simd_widths;
    let widths: Vec<u32> = match function.kernel.required_sub_group_size.or(options.simd) {
        Some(wanted) if possible.contains(&wanted) => vec![wanted],
        Some(other) => {
            let what =
                format!("threads of {other} lanes (sub-group size) are not supported; {possible:?} are");
            return Err(error(select::Failure { what, kind: FailureKind::Limit }, ""));
        }
        None => width::candidate_widths(function, possible),
    };
    let Some(&narrowest) = widths.last() else {
        return internal("the target has no width", "options");
    };
    let in_scratch = widths.iter().map(|simd| (*simd, PrivateLocation::Scratch));
    let stack = function.private_size > 0 && target.payload.thread_number.is_some();
    let attempts: Vec<_> = in_scratch.chain(stack.then_some((narrowest, PrivateLocation::Stack))).collect();
    for (index, (simd, place)) in attempts.iter().enumerate() {
        let attempt = Attempt { narrowest: *simd == narrowest, last: index + 1 == attempts.len() };
        let selected = match select::select(function, target, *simd, *place) {
            Ok(selected) => selected,
            // Private memory of so many lanes may be too much.
            Err(_) if !attempt.last => continue,
            Err((place, failure)) => return Err(error(failure, &place)),
        };
        let compiled = finish(function, target, options, selected, *simd, attempt);
        if let Some(compiled) = compiled.map_err(|(failure, stage)| error(failure, stage))? {
            return Ok(compiled);
        }
    }
    let what = "registers do not suffice".into();
    Err(error(select::Failure { what, kind: FailureKind::Limit }, ""))
}

/// Limits of register pressure for scheduling, in percent of the registers: first fit wastes some. If the
/// result of none can be allocated, the order of selection may still fit.
const PRESSURE_LIMITS: &[u32] = &[90, 60];

/// Register pressure in the order of selection, in percent of the registers, above which scheduling is not
/// tried: of 860 measured kernels none above 117 could be made to fit.
const MAX_PRESSURE: u32 = 125;

/// Maximum number of spilling iterations; each makes room for one register.
const MAX_SPILL_ITERATIONS: usize = 2000;

/// Whether there are alternatives to an attempt to compile a kernel.
#[derive(Clone, Copy)]
struct Attempt {
    /// There is no smaller SIMD width: registers may be spilled.
    narrowest: bool,
    /// There is no other attempt: if it does not fit, it is an error.
    last: bool,
}

/// Allocates and encodes. `None` when registers or scratch memory do not suffice and there is another
/// attempt.
fn finish(
    function: &Function,
    target: &DeviceInfo,
    options: &Options,
    mut selected: select::Selected,
    simd: u32,
    attempt: Attempt,
) -> Result<Option<Compiled>, (select::Failure, &'static str)> {
    let internal = |stage| move |what: String| (select::Failure::internal(what), stage);
    let registers = options.registers.unwrap_or(target.execution.registers).min(target.execution.registers);
    coalesce::coalesce(&mut selected.program);
    let exceeds = liveness::peak(&selected.program) > registers * lir::GRF * MAX_PRESSURE / 100;
    let budgets = if exceeds || options.in_order { &[] } else { PRESSURE_LIMITS };
    let scheduled = budgets.iter().find_map(|percent| {
        let program =
            schedule::before_allocation(&selected.program, target.generation, registers * percent / 100);
        let locations = allocate::allocate(&program, registers).ok()?;
        Some((program, locations))
    });
    let locations = match scheduled {
        Some((program, locations)) => {
            selected.program = program;
            locations
        }
        None => match with_spills(&mut selected.program, target, registers, attempt.narrowest) {
            Ok(Some(locations)) => locations,
            Ok(None) => return Ok(None),
            Err(what) => {
                return Err((select::Failure { what, kind: FailureKind::Limit }, "register allocation"));
            }
        },
    };
    if !options.in_order {
        schedule::after_allocation(&mut selected.program, &locations, target.generation);
    }
    if options.check || cfg!(debug_assertions) {
        check::check(&selected.program, &locations).map_err(internal("check of the register allocation"))?;
    }
    let mut code = emit::assign_registers(&selected.program, &locations).map_err(internal("emission"))?;
    let encoded = emit::encode(&mut code, target.generation).map_err(internal("encoding"))?;
    let mut kernel = function.kernel.clone();
    kernel.name.clone_from(&function.name);
    kernel.simd_width = simd;
    kernel.cross_thread_size = selected.cross_thread_size;
    kernel.pushes = selected.pushes;
    kernel.local_ids = selected.local_ids;
    kernel.local_size = function.local_size;
    kernel.barrier = selected.barrier;
    kernel.surfaces = selected.bindings.surfaces;
    kernel.samplers = selected.bindings.samplers;
    kernel.private_size = selected.private_size;
    kernel.spill_size = selected.program.spill_size;
    let private = selected.private_size * simd;
    let (in_scratch, stack) = match selected.private_location {
        PrivateLocation::Scratch => (private, 0),
        PrivateLocation::Stack => (0, private),
    };
    kernel.stack_size = stack;
    kernel.private_granule = options.in_order.then_some(selected.private_granule.unwrap_or(0));
    let limit = target.payload.scratch;
    kernel.scratch_size = match scratch_size(selected.program.spill_size, in_scratch, limit) {
        Some(size) => size,
        None if !attempt.last => return Ok(None),
        None => {
            let used = u64::from(selected.program.spill_size) + u64::from(in_scratch);
            let what = "private memory and spilled registers of a thread";
            return Err((select::Failure::beyond_limit(what, used, "bytes", limit.into()), ""));
        }
    };
    kernel.statistics = statistics(&selected.program, &locations, &code);
    kernel.code = encoded.bytes;
    let lir = options.dump_lir.then(|| selected.program.dump());
    let (offsets, generation) = (encoded.offsets, target.generation);
    Ok(Some(Compiled { kernel, lir, code, offsets, generation }))
}

/// Allocates in the order of selection, and spills registers until the rest fits. `None` when that would be
/// necessary and `may_spill` is false.
fn with_spills(
    program: &mut Program,
    target: &DeviceInfo,
    registers: u32,
    may_spill: bool,
) -> Result<Option<allocate::Locations>, String> {
    for iteration in 1..=MAX_SPILL_ITERATIONS {
        let shortage = match allocate::allocate(program, registers) {
            Ok(locations) => return Ok(Some(locations)),
            Err(shortage) => shortage,
        };
        if !may_spill {
            return Ok(None);
        }
        let count = shortage.candidates.len().min(1 + iteration / 8);
        if count == 0 {
            break;
        }
        spill::spill(program, &shortage.candidates[..count], target)?;
    }
    Err(format!("{registers} registers do not suffice, even with spilling"))
}

/// Size of a thread's scratch memory, for spilled registers followed by the lanes' private memory. `None`
/// above `limit` bytes.
fn scratch_size(spilled: u32, private: u32, limit: u32) -> Option<u32> {
    let bytes = spilled.checked_add(private)?;
    if bytes == 0 {
        return Some(0);
    }
    if bytes > limit {
        return None;
    }
    Some(bytes.next_power_of_two().min(limit).max(SCRATCH_MIN))
}

fn statistics(program: &Program, locations: &allocate::Locations, code: &emit::Code) -> Statistics {
    let all = || program.blocks.iter().flat_map(|b| &b.insts);
    let count = |f: &dyn Fn(InstKind) -> bool| all().filter(|i| f(i.kind)).count() as u32;
    let sends = code.instructions.iter().filter(|i| matches!(i.extra, gencl_isa::Extra::Send(_))).count();
    let used = locations.iter().zip(&program.vregs).filter_map(|(at, v)| at.map(|at| at + v.size)).max();
    Statistics {
        instructions: code.instructions.len() as u32,
        sends: sends as u32,
        spills: count(&|k| matches!(k, InstKind::Spill(_))),
        fills: count(&|k| matches!(k, InstKind::Fill(_))),
        registers: used.unwrap_or(0).div_ceil(lir::GRF),
    }
}
