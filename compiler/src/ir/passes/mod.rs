//! Passes: each transforms a function and is named by its verb.
//!
//! All passes run through [`run_pass`], which measures the time, notifies the observer, and validates if the
//! observer requires it. The result of [`standard`] is always validated.

mod arrange_blocks;
mod inherit_locations;
mod insert_undefined;
mod lower_block_ips;
mod lower_crossing_bools;
mod lower_masks;
mod lower_qwords;
mod lower_returns;
mod mark_uniform;
mod opt_coalesce_copies;
mod opt_copy_propagation;
mod opt_dead_code;
mod opt_hoist_common;
mod opt_local_values;
mod opt_merge_accesses;
mod opt_merge_blocks;

use super::validate::{Fault, validate};
use super::{Function, Join, Op, Unit};
use std::time::{Duration, Instant};

pub use arrange_blocks::arrange_blocks;
pub use inherit_locations::{continue_locations, inherit_locations};
pub use lower_block_ips::lower_block_ips;
pub use lower_crossing_bools::lower_crossing_bools;
pub use lower_masks::{lower_gotos, lower_structured, lower_unpredicated, split_branches, structure_blocks};
pub use lower_qwords::lower_qwords;
pub use lower_returns::lower_returns;
pub use mark_uniform::mark_uniform;
pub use opt_coalesce_copies::opt_coalesce_copies;
pub use opt_copy_propagation::opt_copy_propagation;
pub use opt_dead_code::opt_dead_code;
pub use opt_hoist_common::opt_hoist_common;
pub use opt_local_values::opt_local_values;
pub use opt_merge_accesses::opt_merge_accesses;
pub use opt_merge_blocks::opt_merge_blocks;

/// A pass: a name, and a function that changes a function.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// As debug switches and dumps name it.
    pub name: &'static str,
    run: fn(&mut Function),
}

macro_rules! passes {
    ($($name:ident)*) => { &[$(Pass { name: stringify!($name), run: $name }),*] };
}

/// All passes.
pub const PASSES: &[Pass] = passes! {
    arrange_blocks
    continue_locations
    inherit_locations
    lower_block_ips
    lower_crossing_bools
    lower_gotos
    lower_qwords
    lower_returns
    lower_structured
    lower_unpredicated
    mark_uniform
    opt_coalesce_copies
    opt_copy_propagation
    opt_dead_code
    opt_hoist_common
    opt_local_values
    opt_merge_accesses
    opt_merge_blocks
    split_branches
    structure_blocks
};

/// The first passes of [`standard`].
const FIRST: &[Pass] = passes! {
    lower_returns
    opt_local_values
    opt_merge_blocks
    opt_copy_propagation
    opt_hoist_common
    opt_copy_propagation
    opt_merge_accesses
};

/// The same where instructions stay in the order of the source, for a debugger.
const FIRST_IN_ORDER: &[Pass] = passes! {
    lower_returns
    opt_local_values
    opt_merge_blocks
    opt_copy_propagation
};

/// The next passes for machines without quadwords.
const WITHOUT_QWORDS: &[Pass] = passes! { lower_qwords };

/// The remaining passes before control flow is lowered.
const PER_LANE: &[Pass] = passes! {
    opt_local_values
    opt_copy_propagation
    opt_dead_code
    lower_crossing_bools
    arrange_blocks
};

/// The last passes, for functions with debug locations.
const WITH_LOCATIONS: &[Pass] = passes! { inherit_locations };
/// The same where instructions stay in the order of the source.
const WITH_LOCATIONS_IN_ORDER: &[Pass] = passes! { continue_locations };

/// How divergent control flow is lowered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ControlFlow {
    /// By a block number for each lane and predicates, on any machine.
    BlockIp,
    /// By the machine's `goto` and `join`.
    Goto,
    /// By the machine's `if`, `else`, `while`, `break` and `cont` where the control-flow tree has such
    /// constructs, else by `goto` and `join`.
    #[default]
    Structured,
}

impl ControlFlow {
    /// All, with their names.
    pub const NAMES: &'static [(&'static str, ControlFlow)] = &[
        ("block-ip", ControlFlow::BlockIp),
        ("goto", ControlFlow::Goto),
        ("structured", ControlFlow::Structured),
    ];

    /// The strategy of a name.
    pub fn from_name(name: &str) -> Option<ControlFlow> {
        Self::NAMES.iter().find(|(n, _)| *n == name).map(|(_, strategy)| *strategy)
    }

    /// The passes that lower control flow.
    fn passes(self, in_order: bool) -> &'static [Pass] {
        match self {
            ControlFlow::Structured if in_order => {
                passes! {
                    structure_blocks split_branches mark_uniform opt_coalesce_copies lower_unpredicated
                }
            }
            ControlFlow::BlockIp => {
                passes! { mark_uniform opt_coalesce_copies lower_block_ips opt_merge_blocks }
            }
            ControlFlow::Goto => passes! { split_branches mark_uniform opt_coalesce_copies lower_gotos },
            ControlFlow::Structured => {
                passes! {
                    structure_blocks split_branches mark_uniform opt_coalesce_copies lower_structured
                }
            }
        }
    }
}

/// How functions are lowered to a form for code generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strategy {
    /// How divergent control flow is lowered.
    pub control_flow: ControlFlow,
    /// Lower 64-bit integers to two of 32 bits.
    pub lower_qwords: bool,
    /// The machine has no `goto` and `join`: a function that would need one is lowered to block IPs.
    pub no_gotos: bool,
    /// Instructions stay in the order of the source.
    pub in_order: bool,
}

impl From<ControlFlow> for Strategy {
    fn from(control_flow: ControlFlow) -> Self {
        Strategy { control_flow, ..Strategy::default() }
    }
}

impl Strategy {
    /// The passes before control flow is lowered.
    fn passes(self) -> impl Iterator<Item = &'static Pass> {
        let qwords = if self.lower_qwords { WITHOUT_QWORDS } else { &[] };
        let first = if self.in_order { FIRST_IN_ORDER } else { FIRST };
        first.iter().chain(qwords).chain(PER_LANE)
    }

    /// Lowers control flow.
    fn lower(self, function: &mut Function, observer: &mut dyn Observer) -> Result<(), PassError> {
        let before = self.no_gotos.then(|| function.clone());
        for &pass in self.control_flow.passes(self.in_order) {
            run_pass(pass, function, observer)?;
        }
        if let Some(before) = before.filter(|_| has_gotos(function)) {
            *function = before;
            for &pass in ControlFlow::BlockIp.passes(self.in_order) {
                run_pass(pass, function, observer)?;
            }
        }
        Ok(())
    }
}

fn has_gotos(function: &Function) -> bool {
    let is_goto = |op| {
        matches!(op, Op::Leave { by, .. } if by.is_goto()) || matches!(op, Op::Join { by: Join::Goto, .. })
    };
    function.instructions().any(|i| is_goto(i.op))
}

/// Watches passes: dumps, timings, statistics.
pub trait Observer {
    /// Called after each pass, before its result is validated, so that what is wrong can be looked at.
    fn after_pass(&mut self, pass: &'static str, function: &Function, time: Duration);

    /// Whether each pass's result is validated, so that a fault names the pass that caused it.
    fn validates(&self) -> bool {
        true
    }
}

/// Watches nothing.
pub struct Unobserved;

impl Observer for Unobserved {
    fn after_pass(&mut self, _: &'static str, _: &Function, _: Duration) {}
}

/// The result of a pass is not valid: a bug in the compiler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pass} broke kernel {function}: {}", faults.first().map(ToString::to_string).unwrap_or_default())]
pub struct PassError {
    /// The pass, or `input` if the function was not valid before the first.
    pub pass: &'static str,
    /// The function's name.
    pub function: String,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

/// Finds a pass by its name.
pub fn find_pass(name: &str) -> Option<Pass> {
    PASSES.iter().find(|pass| pass.name == name).copied()
}

/// Runs one pass on one function.
///
/// # Errors
/// When the result is not valid and the observer [`validates`](Observer::validates).
pub fn run_pass(pass: Pass, function: &mut Function, observer: &mut dyn Observer) -> Result<(), PassError> {
    let begin = Instant::now();
    (pass.run)(function);
    let time = begin.elapsed();
    tracing::trace!(pass = pass.name, function = function.name, ?time, "pass");
    observer.after_pass(pass.name, function, time);
    if observer.validates() { check(pass.name, function) } else { Ok(()) }
}

fn check(pass: &'static str, function: &Function) -> Result<(), PassError> {
    validate(function).map_err(|faults| PassError { pass, function: function.name.clone(), faults })
}

/// Brings all functions of a unit from the form in which they were built to what code generation takes: the
/// linear or masked form.
///
/// # Errors
/// When a function is not valid as it comes, or is not after a pass.
pub fn standard(
    unit: &mut Unit,
    strategy: impl Into<Strategy>,
    observer: &mut dyn Observer,
) -> Result<(), PassError> {
    let strategy = strategy.into();
    let last = match (unit.locations.is_empty(), strategy.in_order) {
        (true, _) => &[],
        (false, false) => WITH_LOCATIONS,
        (false, true) => WITH_LOCATIONS_IN_ORDER,
    };
    for function in &mut unit.functions {
        check("input", function)?;
        for &pass in strategy.passes() {
            run_pass(pass, function, observer)?;
        }
        strategy.lower(function, observer)?;
        for &pass in last {
            run_pass(pass, function, observer)?;
        }
        if !observer.validates() {
            check("all passes together", function)?;
        }
    }
    Ok(())
}
