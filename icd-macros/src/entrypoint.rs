//! Expansion of `#[cl_entrypoint]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Error, FnArg, GenericArgument, Ident, ItemFn, Pat, PathArguments, Result, ReturnType, Type, TypePath,
};

/// What the C function gives back.
enum Shape<'a> {
    /// An error code.
    Status,
    /// A value, and the error code through `errcode_ret`.
    Object(&'a Type),
    /// A value, no error code at all.
    Plain,
}

/// The Rust function, followed by a C function of each name.
pub fn expand<'n>(names: impl Iterator<Item = &'n Ident>, function: &ItemFn) -> Result<TokenStream> {
    let entries = names.map(|name| entry(name, function)).collect::<Result<Vec<_>>>()?;
    Ok(quote!(#function #(#entries)*))
}

/// The C function `name`.
fn entry(name: &Ident, function: &ItemFn) -> Result<TokenStream> {
    if !function.sig.generics.params.is_empty() {
        return Err(Error::new_spanned(&function.sig.generics, "an entry point has no generic parameters"));
    }
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    for input in &function.sig.inputs {
        let FnArg::Typed(typed) = input else {
            return Err(Error::new_spanned(input, "an entry point is no method"));
        };
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(Error::new_spanned(&typed.pat, "a parameter of an entry point is a plain name"));
        };
        let (ident, ty) = (&pattern.ident, &typed.ty);
        parameters.push(quote!(#ident: <#ty as crate::abi::Argument>::Raw));
        arguments.push(quote!(crate::abi::Argument::from_raw(#ident)));
    }

    let inner = &function.sig.ident;
    let text = name.to_string();
    let doc = format!("`{text}`: C entry point of [`{inner}`].");
    let call = quote! {
        // SAFETY: whoever calls an OpenCL function passes arguments as its specification asks.
        || unsafe { #inner(#(#arguments),*) }
    };
    let output = &function.sig.output;
    let (output, body) = match shape(output)? {
        Shape::Status => (quote!(-> ::opencl_sys::cl_int), quote!(crate::abi::entry::status(#text, #call))),
        Shape::Object(ty) => {
            let errcode = format_ident!("errcode_ret");
            parameters.push(quote!(#errcode: *mut ::opencl_sys::cl_int));
            let body = quote! {
                // SAFETY: `errcode_ret` is null or can be written, as the specification asks.
                let #errcode = unsafe { crate::abi::Argument::from_raw(#errcode) };
                crate::abi::entry::object(#text, #errcode, #call)
            };
            (quote!(-> #ty), body)
        }
        Shape::Plain => (quote!(#output), quote!(crate::abi::entry::plain(#text, #call))),
    };
    Ok(quote! {
        #[doc = #doc]
        ///
        /// # Safety
        /// The arguments are what the OpenCL specification asks for.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the names of the C API")]
        pub unsafe extern "C" fn #name(#(#parameters),*) #output {
            #body
        }
    })
}

fn shape(output: &ReturnType) -> Result<Shape<'_>> {
    let ReturnType::Type(_, ty) = output else {
        return Ok(Shape::Plain);
    };
    let Type::Path(TypePath { path, .. }) = &**ty else {
        return Ok(Shape::Plain);
    };
    let Some(last) = path.segments.last().filter(|segment| segment.ident == "CLResult") else {
        return Ok(Shape::Plain);
    };
    let PathArguments::AngleBracketed(generic) = &last.arguments else {
        return Err(Error::new_spanned(last, "CLResult has one parameter"));
    };
    let Some(GenericArgument::Type(value)) = generic.args.first() else {
        return Err(Error::new_spanned(generic, "CLResult has one parameter"));
    };
    let status = match value {
        Type::Tuple(tuple) => tuple.elems.is_empty(),
        Type::Path(path) => path.path.is_ident("Written"),
        _ => false,
    };
    Ok(if status { Shape::Status } else { Shape::Object(value) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expansion of a function, without spaces.
    fn expanded(name: &str, function: &str) -> String {
        let name = syn::parse_str(name).unwrap();
        let function = syn::parse_str(function).unwrap();
        expand([&name].into_iter(), &function).unwrap().to_string().replace(' ', "")
    }

    #[test]
    fn unit_becomes_a_status() {
        let text = expanded("clFlush", "fn flush(queue: cl_command_queue) -> CLResult<()> { Ok(()) }");
        assert!(text.contains(
            "pubunsafeextern\"C\"fnclFlush(queue:<cl_command_queueascrate::abi::Argument>::Raw)\
             ->::opencl_sys::cl_int{"
        ));
        assert!(text.contains("crate::abi::entry::status(\"clFlush\","));
    }

    #[test]
    fn proof_of_writing_becomes_a_status() {
        let text = expanded("clGetX", "fn get_x(size: usize) -> CLResult<Written> { todo }");
        assert!(text.contains("->::opencl_sys::cl_int{"));
        assert!(!text.contains("errcode_ret"));
    }

    #[test]
    fn handle_gets_an_error_parameter() {
        let text = expanded("clCreateX", "fn create_x(context: cl_context) -> CLResult<cl_mem> { todo }");
        assert!(text.contains("errcode_ret:*mut::opencl_sys::cl_int)->cl_mem{"));
        assert!(text.contains("crate::abi::entry::object(\"clCreateX\",errcode_ret,"));
    }

    #[test]
    fn other_values_are_returned_as_they_are() {
        assert!(
            expanded("clA", "fn a(x: usize) -> *mut c_void { x }")
                .contains("->*mutc_void{crate::abi::entry::plain(")
        );
        assert!(expanded("clB", "fn b(x: usize) {}").contains("Raw){crate::abi::entry::plain("));
    }

    #[test]
    fn each_name_gets_a_function() {
        let names = ["clA", "clAKHR"].map(|name| format_ident!("{name}"));
        let function = syn::parse_str("fn a() -> CLResult<()> { Ok(()) }").unwrap();
        let text = expand(names.iter(), &function).unwrap().to_string().replace(' ', "");
        assert_eq!(text.matches("fna()").count(), 1);
        for name in ["clA", "clAKHR"] {
            assert!(text.contains(&format!("fn{name}()->::opencl_sys::cl_int")));
            assert!(text.contains(&format!("status(\"{name}\",")));
        }
    }

    #[test]
    fn methods_and_patterns_are_refused() {
        for bad in ["fn a(&self) {}", "fn a((x, y): (i32, i32)) {}", "fn a<T>(x: T) {}"] {
            assert!(
                expand([&format_ident!("clA")].into_iter(), &syn::parse_str(bad).unwrap()).is_err(),
                "{bad}"
            );
        }
    }
}
