//! The entry-point macro of the C ABI.
//!
//! See [`cl_entrypoint`].

mod entrypoint;

use proc_macro::TokenStream;
use syn::punctuated::Punctuated;
use syn::{Ident, Token, parse_macro_input};

/// Makes the C function of an OpenCL call from a Rust function.
///
/// `#[cl_entrypoint(clFlush)] fn flush(queue: cl_command_queue) -> CLResult<()>` keeps `flush` as it is and
/// adds `unsafe extern "C" fn clFlush`, exported under its own name. Parameters are converted with the trait
/// `crate::abi::Argument`: a parameter of type `T` is a C parameter of type `<T as Argument>::Raw`. What the
/// C function returns follows from what the Rust function returns:
///
/// | Rust | C |
/// | --- | --- |
/// | `CLResult<()>`, `CLResult<Written>` | `cl_int`, an error code |
/// | `CLResult<T>` | `T`, null after an error, and a last parameter `cl_int *errcode_ret` |
/// | anything else, or nothing | the same; its `Default` or null after a panic |
///
/// Several names, separated by commas, give a C function each.
///
/// A panic ends in the entry point: it is logged and becomes `CL_OUT_OF_HOST_MEMORY`.
#[proc_macro_attribute]
pub fn cl_entrypoint(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let names = parse_macro_input!(attribute with Punctuated::<Ident, Token![,]>::parse_terminated);
    let function = parse_macro_input!(item as syn::ItemFn);
    entrypoint::expand(names.iter(), &function).unwrap_or_else(syn::Error::into_compile_error).into()
}
