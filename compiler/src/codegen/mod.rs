//! Code generation: Gen IR to machine code.
//!
//! [`select`] makes machine instructions on virtual registers ([`lir`]), [`schedule`] orders them,
//! [`allocate`] gives them places, [`spill`] moves some to scratch when there are too few, [`check`] proves
//! the result symbolically, [`emit`] encodes.

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
mod target;
mod width;

#[cfg(test)]
mod tests;

pub use target::Target;

use crate::ir::{Form, Function};
use gencl_program::{Kernel, Statistics};
use lir::{Kind, Program};
use select::PrivatePlace;
use std::fmt::Write;

/// What the caller decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Lanes per thread, 8, 16 or 32; `None`: as many as fit into registers, 32 where it pays.
    pub simd: Option<u32>,
    /// General registers to use, to test spilling; `None`: all of the target.
    pub registers: Option<u32>,
    /// Check the register allocation symbolically; builds with debug assertions always do.
    pub check: bool,
    /// Give the machine instructions on virtual registers as well.
    pub machine_form: bool,
}

/// A kernel in machine code.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// Code and all that the launch has to know.
    pub kernel: Kernel,
    /// Machine instructions on virtual registers, after spilling, when they were asked for.
    pub machine_form: Option<String>,
    code: emit::Code,
    /// Of each instruction, in bytes from the beginning of the code.
    offsets: Vec<usize>,
    generation: gencl_isa::Generation,
}

impl Compiled {
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

/// Why there is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel {kernel}: {what} ({place})")]
pub struct Error {
    /// The kernel.
    pub kernel: String,
    /// What is wrong.
    pub what: String,
    /// Where: a block and instruction, a stage, an offset.
    pub place: String,
}

/// Smallest scratch of a thread in bytes.
const SCRATCH_MIN: u32 = 1024;

/// Compiles a function in linear form.
///
/// # Errors
/// An operation that the target does not have, or more of something than there is.
pub fn compile(function: &Function, target: &Target, options: &Options) -> Result<Compiled, Error> {
    let error = |what: String, place: String| Error { kernel: function.name.clone(), what, place };
    if function.form == Form::PerLane {
        return Err(error("control flow has not been lowered".into(), "input".into()));
    }
    let possible = target.profile().widths;
    let widths: Vec<u32> = match function.kernel.required_sub_group_size.or(options.simd) {
        Some(wanted) if possible.contains(&wanted) => vec![wanted],
        Some(other) => {
            let what =
                format!("threads of {other} lanes (sub-group size) are not supported; {possible:?} are");
            return Err(error(what, "options".into()));
        }
        None => width::worth(function, possible),
    };
    let Some(&narrowest) = widths.last() else {
        return Err(error("the target has no width".into(), "options".into()));
    };
    let in_scratch = widths.iter().map(|simd| (*simd, PrivatePlace::Scratch));
    let stack = function.private_size > 0 && target.thread_number.is_some();
    let attempts: Vec<_> = in_scratch.chain(stack.then_some((narrowest, PrivatePlace::Stack))).collect();
    for (index, (simd, place)) in attempts.iter().enumerate() {
        let last = Last { width: *simd == narrowest, attempt: index + 1 == attempts.len() };
        let selected = match select::select(function, target, *simd, *place) {
            Ok(selected) => selected,
            // Private memory of so many lanes may be too much.
            Err(_) if !last.attempt => continue,
            Err((place, failure)) => return Err(error(failure.what, place)),
        };
        if let Some(compiled) =
            finish(function, target, options, selected, *simd, last).map_err(&error2(function))?
        {
            return Ok(compiled);
        }
    }
    Err(error("registers do not suffice".into(), "register allocation".into()))
}

fn error2(function: &Function) -> impl Fn((String, &'static str)) -> Error + '_ {
    |(what, place)| Error { kernel: function.name.clone(), what, place: place.into() }
}

/// Percentages of the registers that scheduling may use: first fit wastes some. In the order of selection
/// there may be room where there is none in any of these.
const BUDGETS: &[u32] = &[90, 60];

/// Percentage of the registers beyond which scheduling is not tried: of the 860 kernels that this was
/// measured with none that needs more than 117 in the order of selection could be made to fit.
const HOPELESS: u32 = 125;

/// Most rounds of spilling; each frees the room that one register lacked.
const ROUNDS: usize = 2000;

/// What comes after an attempt to compile a kernel.
#[derive(Clone, Copy)]
struct Last {
    /// No narrower threads: registers may be spilled.
    width: bool,
    /// Nothing: what does not fit is an error.
    attempt: bool,
}

/// Allocates and encodes. `None` when registers or scratch memory do not suffice and there is something else
/// to try.
fn finish(
    function: &Function,
    target: &Target,
    options: &Options,
    mut selected: select::Selected,
    simd: u32,
    last: Last,
) -> Result<Option<Compiled>, (String, &'static str)> {
    let registers = options.registers.unwrap_or(target.registers).min(target.registers);
    coalesce::coalesce(&mut selected.program);
    let hopeless = liveness::peak(&selected.program) > registers * lir::GRF * HOPELESS / 100;
    let budgets = if hopeless { &[] } else { BUDGETS };
    let scheduled = budgets.iter().find_map(|percent| {
        let program = schedule::before(&selected.program, target.generation, registers * percent / 100);
        let locations = allocate::allocate(&program, registers).ok()?;
        Some((program, locations))
    });
    let locations = match scheduled {
        Some((program, locations)) => {
            selected.program = program;
            locations
        }
        None => match with_spills(&mut selected.program, target, registers, last.width) {
            Ok(Some(locations)) => locations,
            Ok(None) => return Ok(None),
            Err(e) => return Err((e, "register allocation")),
        },
    };
    schedule::after(&mut selected.program, &locations, target.generation);
    if options.check || cfg!(debug_assertions) {
        check::check(&selected.program, &locations).map_err(|e| (e, "check of the register allocation"))?;
    }
    let mut code = emit::place(&selected.program, &locations).map_err(|e| (e, "emission"))?;
    let encoded = emit::encode(&mut code, target.generation).map_err(|e| (e, "encoding"))?;
    let mut kernel = function.kernel.clone();
    kernel.name.clone_from(&function.name);
    kernel.simd_width = simd;
    kernel.cross_thread_size = selected.cross_thread_size;
    kernel.pushes = selected.pushes;
    kernel.local_ids = selected.local_ids;
    kernel.local_size = function.local_size;
    kernel.barrier = selected.barrier;
    kernel.private_size = selected.private_size;
    kernel.spill_size = selected.program.spill_size;
    let private = selected.private_size * simd;
    let (in_scratch, stack) = match selected.private_place {
        PrivatePlace::Scratch => (private, 0),
        PrivatePlace::Stack => (0, private),
    };
    kernel.stack_size = stack;
    let most = target.scratch;
    kernel.scratch_size = match scratch_size(selected.program.spill_size, in_scratch, most) {
        Some(size) => size,
        None if !last.attempt => return Ok(None),
        None => {
            let what = format!("more than {most} bytes of private memory and spilled registers in a thread");
            return Err((what, "register allocation"));
        }
    };
    kernel.statistics = statistics(&selected.program, &locations, &code);
    kernel.code = encoded.bytes;
    let machine_form = options.machine_form.then(|| selected.program.dump());
    let (offsets, generation) = (encoded.offsets, target.generation);
    Ok(Some(Compiled { kernel, machine_form, code, offsets, generation }))
}

/// Allocates in the order of selection, and sends registers to scratch until what is left fits. `None` when
/// it does not fit at once and `may_spill` is false.
fn with_spills(
    program: &mut Program,
    target: &Target,
    registers: u32,
    may_spill: bool,
) -> Result<Option<allocate::Locations>, String> {
    for round in 1..=ROUNDS {
        let shortage = match allocate::allocate(program, registers) {
            Ok(locations) => return Ok(Some(locations)),
            Err(shortage) => shortage,
        };
        if !may_spill {
            return Ok(None);
        }
        let count = shortage.candidates.len().min(1 + round / 8);
        if count == 0 {
            break;
        }
        spill::spill(program, &shortage.candidates[..count], target)?;
    }
    Err(format!("{registers} registers do not suffice, even with spilling"))
}

/// Scratch per thread, at most `most` bytes: spilled registers, then the lanes' private memory.
fn scratch_size(spilled: u32, private: u32, most: u32) -> Option<u32> {
    let bytes = spilled.checked_add(private)?;
    if bytes == 0 {
        return Some(0);
    }
    if bytes > most {
        return None;
    }
    Some(bytes.next_power_of_two().min(most).max(SCRATCH_MIN))
}

fn statistics(program: &Program, locations: &allocate::Locations, code: &emit::Code) -> Statistics {
    let all = || program.blocks.iter().flat_map(|b| &b.insts);
    let count = |f: &dyn Fn(Kind) -> bool| all().filter(|i| f(i.kind)).count() as u32;
    let sends = code.instructions.iter().filter(|i| matches!(i.extra, gencl_isa::Extra::Send(_))).count();
    let used = locations.iter().zip(&program.vregs).filter_map(|(at, v)| at.map(|at| at + v.size)).max();
    Statistics {
        instructions: code.instructions.len() as u32,
        sends: sends as u32,
        spills: count(&|k| matches!(k, Kind::Spill(_))),
        fills: count(&|k| matches!(k, Kind::Fill(_))),
        registers: used.unwrap_or(0).div_ceil(lir::GRF),
    }
}
