//! Between C and Rust: what the parameters of entry points become, and how entry points end.
//!
//! The C functions that `#[cl_entrypoint]` makes convert each parameter with [`Argument`] and call the Rust
//! function through [`entry`]. A value of one of the pointer types below exists only as a parameter of an
//! entry point, so the promises that the OpenCL specification asks of the application hold for it.

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

    /// Takes it over.
    ///
    /// # Safety
    /// `raw` is what the specification of the function asks for this parameter. Errors that the
    /// specification tells the implementation to detect (null, numbers out of range, wrong handles) are fine.
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

// Handles are `*mut c_void` in opencl-sys; the registry of handles decides what they are worth.
plain_arguments!(u32, i32, u64, usize, *mut c_void, *const c_void);
