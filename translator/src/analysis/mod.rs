//! The front: from decoded instructions to what the lifter needs to know of a kernel.
//!
//! | step | result |
//! | --- | --- |
//! | [`plan`] | instruction selection: which instructions become host code, with their register accesses ([`access`]); refuses kernels, beside the limits in `lib.rs` |
//! | [`flow`] | the control-flow graphs of the thread and of a channel, and where channels may be parked |
//! | [`spin`] | loops in which a thread may wait for another one, where it yields |
//! | [`predicates`] | predicated writes that may be executed for all channels |
//! | [`written`] | definite assignment of whole registers, for strict mode; bytes that may be read first: [`variables::Variable::initial`] |
//! | [`liveness`] | cross-channel (`foreign`) and per-channel (`own`) live registers, byte by byte |
//! | [`variables`] | webs: registers become variables by union-find over reaching definitions |

pub mod access;
mod branches;
pub mod flow;
pub mod liveness;
pub mod message;
pub mod modes;
pub mod native;
pub mod plan;
mod predicates;
pub mod selection;
pub mod spin;
pub mod variables;
pub mod width;
pub mod written;

use gencl_eu::Kernel;
use gencl_eu::abi::Variant;
use gencl_eu::file::grf_mask;

use crate::host::Host;
use flow::Flow;
use plan::Plan;

/// Why a kernel is not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Analyses a kernel. Liveness and variables are the lifter's to compute, of what this returns.
///
/// # Errors
/// Why it cannot be translated.
pub fn analyse<'a>(
    kernel: &'a Kernel,
    variant: &'a Variant,
    host: &'a Host,
) -> Result<(Plan<'a>, Flow), Refused> {
    let mut plan = Plan::new(kernel, variant, host)?;
    let mut flow = Flow::new(&plan);
    flow.turns = spin::turns(&plan, &flow);
    predicates::complete(&mut plan, &flow);
    if variant.strict {
        let bytes = 32 + variant.cross_thread as usize + variant.per_thread.len() * 16;
        plan.doubts = written::doubts(plan.ops, &flow, grf_mask(0, bytes));
    }
    Ok((plan, flow))
}
