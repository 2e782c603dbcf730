//! From the machine code of a kernel to host machine code.
//!
//! [`analysis`] selects what becomes of each instruction, and finds control flow, liveness and webs; [`lift`] makes a function
//! of the [`middle`] IR, which is in SSA form; [`passes`] optimise it; [`lower`] builds LLVM IR; and [`host`] has LLVM
//! compile it. See `docs/translator.md`.

pub mod analysis;
pub mod faults;
pub mod host;
pub mod ir;
pub mod lift;
pub mod lower;
pub mod middle;
pub mod passes;

use gencl_eu::Kernel;
use gencl_eu::abi::{Answer, Request, Tier, Translation, VERSION};
use gencl_eu::device::Device;
pub use inkwell::context::Context;

use analysis::Refused;
use host::Host;
use lower::Written;

/// Kernels with more instructions stay interpreted.
pub const MAX_INSTRUCTIONS: usize = 40_000;

/// Kernels with more instructions of LLVM IR stay interpreted: LLVM takes one to three seconds for 20,000, and 50 MB of memory.
pub const MAX_IR: usize = 300_000;

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
    let context = Context::create();
    let module = host::codegen::parsed(&context, include_str!("warm_up.ll"));
    let _ = module.and_then(|module| Host::own().compile(&module, Tier::Baseline));
}

/// Translates a kernel.
///
/// # Errors
/// Why it cannot be translated, or not executed here.
pub fn translate(request: &Request, choices: &Choices) -> Answer {
    if !choices.host.is_here() {
        return Err("this processor has not all instructions of the host that was asked for".to_owned());
    }
    let context = Context::create();
    let written = to_ir(&context, request, choices).map_err(|refused| refused.0)?;
    let count = ir::instructions(&written.module);
    if count > MAX_IR {
        return Err(format!("{count} instructions of IR are more than {MAX_IR}"));
    }
    let object = choices.host.compile(&written.module, request.tier)?;
    Ok(Translation { tier: request.tier, object, ..written.translation })
}

/// The LLVM IR of a kernel.
///
/// # Errors
/// Why it cannot be translated.
pub fn to_ir<'c>(context: &'c Context, request: &Request, choices: &Choices) -> Result<Written<'c>, Refused> {
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
    let (plan, flow) = analysis::analyse(&kernel, variant, choices.host)?;
    let mut lifted = lift::lift(&plan, &flow, choices.rounds);
    if variant.counted {
        passes::counters::place(&mut lifted);
    }
    lifted.function = passes::all(&lifted.function, request.tier);
    Ok(lower::lower(context, &plan, lifted, request.tier))
}
