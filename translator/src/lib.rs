//! From the machine code of a kernel to host machine code.
//!
//! `docs/translator.md` tells how. The order of things: [`plan`] decides what becomes of each instruction, [`flow`] finds where threads and channels go, [`predicates`]
//! which writes need keep nothing, [`variables`] makes variables of registers, [`lift`] a function of the [`middle`] IR, [`passes`] a better one, [`lower`] writes LLVM IR
//! as text, and [`host`] has LLVM compile it.

pub mod access;
mod atomics;
mod branches;
mod faults;
pub mod flow;
pub mod host;
pub mod ir;
pub mod lift;
pub mod liveness;
pub mod lower;
pub mod message;
pub mod middle;
pub mod modes;
pub mod native;
pub mod passes;
pub mod plan;
mod predicates;
pub mod selection;
pub mod spin;
pub mod variables;
mod width;
pub mod written;

use gencl_eu::Kernel;
use gencl_eu::abi::{Answer, Request, Tier, Translation, VERSION};
use gencl_eu::device::Device;
use gencl_eu::file::grf_mask;
use host::Host;

/// Why a kernel is not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Kernels with more instructions stay interpreted.
pub const MAX_INSTRUCTIONS: usize = 40_000;

/// Kernels whose IR has more bytes stay interpreted: LLVM takes one to three seconds for each MB, and 50 MB of memory.
pub const MAX_IR: usize = 16 << 20;

/// How a kernel is translated, which changes nothing of what it does.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    /// What the code is for.
    pub host: &'static Host,
    /// After so many rounds of loops in which threads may wait for each other, at least 1, others have their turn.
    pub rounds: u32,
}

impl Default for Choices {
    /// What is best for a device's users. One that waits does so in vain for some microseconds; one that does not stops rarely.
    fn default() -> Choices {
        Choices { host: Host::own(), rounds: 64 }
    }
}

/// Compiles a small module, so that the first translation finds LLVM initialised and its code in memory.
pub fn warm_up() {
    // Errors are those of the first translation, too.
    let _ = Host::own().compile(include_str!("warm_up.ll"), Tier::Baseline);
}

/// Translates a kernel.
///
/// # Errors
/// Why it cannot be translated, or not executed here.
pub fn translate(request: &Request, choices: &Choices) -> Answer {
    if !choices.host.is_here() {
        return Err("this processor has not all instructions of the host that was asked for".to_owned());
    }
    let written = to_ir(request, choices).map_err(|refused| refused.0)?;
    let bytes = written.ir.len();
    if bytes > MAX_IR {
        return Err(format!("{bytes} bytes of IR are more than {MAX_IR}"));
    }
    let object = choices.host.compile(&written.ir, request.tier)?;
    Ok(Translation { tier: request.tier, object, ..written.translation })
}

/// LLVM IR and what else is known of a kernel.
pub struct Written {
    /// The module's text.
    pub ir: String,
    /// The translation but for its object.
    pub translation: Translation,
    /// What a thread executes.
    pub middle: middle::function::Function,
}

/// The LLVM IR of a kernel.
///
/// # Errors
/// Why it cannot be translated.
pub fn to_ir(request: &Request, choices: &Choices) -> Result<Written, Refused> {
    if request.version != VERSION {
        return Err(Refused(format!("version {} of the interface, not {VERSION}", request.version)));
    }
    let variant = &request.variant;
    let device =
        Device::named(&request.device).ok_or_else(|| Refused(format!("no device {:?}", request.device)))?;
    let kernel = Kernel::decode(device, &request.code, 0, variant.strict)
        .map_err(|fault| Refused(fault.to_string()))?;
    let count = kernel.ops().len();
    if count > MAX_INSTRUCTIONS {
        return Err(Refused(format!("{count} instructions are more than {MAX_INSTRUCTIONS}")));
    }
    let mut plan = plan::Plan::new(&kernel, variant, choices.host)?;
    let mut flow = flow::Flow::new(&plan);
    flow.turns = spin::turns(&plan, &flow);
    predicates::complete(&mut plan, &flow);
    if variant.strict {
        let bytes = 32 + variant.cross_thread as usize + variant.per_thread.len() * 16;
        plan.doubts = written::doubts(plan.ops, &flow, grf_mask(0, bytes));
    }
    let mut lifted = lift::lift(&plan, &flow, choices.rounds);
    if variant.counted {
        passes::counters::place(&mut lifted);
    }
    lifted.function = passes::all(&lifted.function, request.tier);
    Ok(lower::lower(&plan, lifted, request.tier))
}
