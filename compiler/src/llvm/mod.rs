//! Everything that touches LLVM, together with [`crate::clang`]; the translation reads LLVM IR by way of
//! [`view`].
//!
//! A new version of LLVM means work in these files only:
//!
//! - [`view`]: modules, functions, blocks and values to read;
//! - `build`: the same to change;
//! - [`library`]: linking the built-in library;
//! - [`generic`]: generic pointers, and accesses through them;
//! - [`lower`]: calls of the library for what the hardware has not;
//! - [`printf`]: calls of printf become records for the host;
//! - [`prepare`]: what has to be changed by hand before and between LLVM's own passes;
//! - [`pipeline`]: LLVM's passes, in which order.

mod build;
pub mod generic;
pub mod library;
pub mod lower;
pub mod pipeline;
pub mod prepare;
pub mod printf;
pub mod view;

/// What a module has to know of its target: how large pointers are, and all that follows from it.
#[derive(Debug)]
pub struct Machine {
    /// Clang's name for it.
    pub triple: &'static str,
    /// The data layout of all modules.
    data_layout: &'static str,
    /// The built-in library for it.
    library: &'static library::Library,
}

/// Global addresses have 64 bits.
///
/// The data layout is clang's for SPIR-64, but that indices of local and private pointers have 32 bits and
/// 64-bit integers are not called native: so LLVM keeps address computations and loop counters in 32 bits
/// where it can.
pub static WIDE: Machine = Machine {
    triple: "spir64-unknown-unknown",
    data_layout: include_str!("data_layout64.txt").trim_ascii_end(),
    library: &library::WIDE,
};

/// All addresses have 32 bits.
pub static NARROW: Machine = Machine {
    triple: "spir-unknown-unknown",
    data_layout: include_str!("data_layout32.txt").trim_ascii_end(),
    library: &library::NARROW,
};

/// Calls into LLVM's C interface.
///
/// Every function called so takes references that come from a live [`view`] handle or an `inkwell` object;
/// both cannot outlive the module and context that own what they refer to. The C interface checks casts only
/// in debug builds of LLVM, so callers look at the kind of a value before they ask what only that kind has.
macro_rules! ask {
    ($call:expr) => {{
        // SAFETY: see the macro's description.
        #[allow(unused_unsafe, reason = "nested use")]
        unsafe {
            $call
        }
    }};
}
use ask;
