//! Conversion between C and Rust: parameters and results of entry points.
//!
//! The C functions that `#[cl_entrypoint]` makes convert each parameter with [`Argument`] and call the Rust
//! function through [`entry`]. A value of one of the pointer types below exists only as a parameter of an
//! entry point, so the requirements of the OpenCL specification on the application hold for it.

use std::ffi::c_void;

mod callback;
pub mod entry;
mod pointer;

pub use callback::{ContextNotify, EventNotify, NativeFunction, ObjectNotify, SharedFree, Unused, UserData};
pub use pointer::{Bytes, Fixed, HostPointer, List, ListMut, Out, OutList, Strings, Text, ZeroTerminated};

/// A parameter of an entry point.
pub trait Argument {
    /// Its C type.
    type Raw;

    /// Converts the parameter.
    ///
    /// # Safety
    /// `raw` is what the specification of the function requires for this parameter. Errors that the
    /// implementation has to detect (null, numbers out of range, invalid handles) are allowed.
    unsafe fn from_raw(raw: Self::Raw) -> Self;
}

/// Types that are the same in C and in Rust.
macro_rules! plain_arguments {
    ($($name:ty),*) => {
        $(impl Argument for $name {
            type Raw = Self;

            unsafe fn from_raw(raw: Self) -> Self {
                raw
            }
        })*
    };
}

// Handles are `*mut c_void` in opencl-sys; the registry of handles checks them.
plain_arguments!(u32, i32, u64, usize, *mut c_void, *const c_void);
