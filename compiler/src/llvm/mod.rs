//! The interface to LLVM, apart from [`crate::clang`]; the translation reads LLVM IR through [`view`].
//!
//! A new version of LLVM requires changes in these files only:
//!
//! - [`view`]: modules, functions, blocks and values to read;
//! - [`debug`]: debug locations to read, and [`variables`] of the source;
//! - `build`: modules to change;
//! - [`library`]: linking the built-in library;
//! - [`generic`]: generic pointers, and accesses through them;
//! - [`check`]: checks of what kernels do;
//! - [`lower`]: lowering to calls of the library;
//! - [`printf`]: lowering of printf to records for the host;
//! - [`prepare`]: changes to modules before and between LLVM's own passes;
//! - [`text`]: reading LLVM IR;
//! - [`pipeline`]: the names of LLVM's passes.
//!
//! [`steps`] is the list of what they do, in order.

pub mod atomics;
mod build;
pub mod check;
pub mod debug;
pub mod generic;
pub mod library;
pub mod lower;
pub mod pipeline;
pub mod prepare;
pub mod printf;
pub mod steps;
pub mod text;
pub mod variables;
pub mod view;

use gencl_device_info::DeviceInfo;

/// The properties of a target that LLVM modules depend on: the size of pointers, and its consequences.
#[derive(Debug)]
pub struct Machine {
    /// Clang's name for it.
    pub triple: &'static str,
    /// The data layout of all modules.
    pub data_layout: &'static str,
    /// The built-in library for it.
    library: &'static library::Library,
}

impl Machine {
    /// That of a device.
    pub fn of(device: &DeviceInfo) -> &'static Self {
        if device.pointer_bits() == 64 { &WIDE } else { &NARROW }
    }
}

/// Global addresses have 64 bits.
///
/// The data layout is clang's for SPIR-64, except that indices of local and private pointers have 32 bits and
/// 64-bit integers are not native, so that LLVM keeps address computations and induction variables in 32 bits
/// where possible.
static WIDE: Machine = Machine {
    triple: "spir64-unknown-unknown",
    data_layout: include_str!("data_layout64.txt").trim_ascii_end(),
    library: &library::WIDE,
};

/// All addresses have 32 bits.
static NARROW: Machine = Machine {
    triple: "spir-unknown-unknown",
    data_layout: include_str!("data_layout32.txt").trim_ascii_end(),
    library: &library::NARROW,
};

/// Calls into LLVM's C interface.
///
/// All references passed to these functions come from a live [`view`] handle or an `inkwell` object, neither
/// of which can outlive its module and context. The C interface checks casts only in debug builds of LLVM, so
/// callers check the kind of a value before they use a property of that kind.
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
