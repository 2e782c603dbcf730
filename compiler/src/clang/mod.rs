//! The bridge to clang: OpenCL C to LLVM IR.
//!
//! This module is the only caller of `clang.cpp` in this folder.

pub mod options;

use std::ffi::{CStr, CString, c_char};

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};
use inkwell::module::Module;

/// Directory of the headers that [`Request::headers`] names.
const HEADERS: &str = "/gencl/headers";
/// Directory of clang's own header.
const SYSTEM: &str = "/gencl/system";
/// Types, macros and constants of OpenCL C; functions clang declares by itself.
const BASE_HEADER: &str = include_str!(concat!(env!("OUT_DIR"), "/opencl-c-base.h"));

#[repr(C)]
struct File {
    path: *const c_char,
    data: *const c_char,
    size: usize,
}

unsafe extern "C" {
    fn gencl_clang(
        context: LLVMContextRef,
        arguments: *const *const c_char,
        argument_count: usize,
        extensions: *const c_char,
        source: *const File,
        files: *const File,
        file_count: usize,
        log: *mut *mut c_char,
        read: *mut *mut c_char,
        ast: *mut *mut c_char,
    ) -> LLVMModuleRef;
    fn gencl_clang_version() -> *const c_char;
}

/// A compilation with clang.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// OpenCL C.
    pub source: &'a [u8],
    /// The source's name in diagnostics.
    pub name: &'a str,
    /// Arguments for `clang -cc1`: language, macros, include paths, mathematics.
    pub arguments: &'a [String],
    /// Headers that `#include` finds first: name and text.
    pub headers: &'a [(&'a str, &'a [u8])],
    /// The target's triple.
    pub triple: &'a str,
    /// Extensions that the source may name.
    pub extensions: &'a str,
    /// Whether to print the syntax tree.
    pub ast: bool,
}

/// The result of a compilation with clang.
pub struct Response<'ctx> {
    /// The module; none after an error.
    pub module: Option<Module<'ctx>>,
    /// Errors and warnings with line and column.
    pub log: String,
    /// The syntax tree, if requested.
    pub ast: String,
    /// Files on disk that were read.
    pub files: Vec<String>,
}

/// The version of the linked clang.
#[must_use]
pub fn version() -> String {
    // SAFETY: the function returns a zero-terminated string that lives as long as the process.
    let text = unsafe { CStr::from_ptr(gencl_clang_version()) };
    text.to_string_lossy().into_owned()
}

/// Runs clang's front end without optimisation.
///
/// The source, header names and arguments are cut at their first zero byte, as C programs give them.
#[must_use]
pub fn compile<'ctx>(context: &'ctx Context, request: &Request) -> Response<'ctx> {
    let fixed = ["-triple", request.triple, "-O2", "-disable-llvm-passes", "-fno-builtin"];
    // Errors of newer versions of clang that were warnings when the programs were written.
    let lenient = ["-Wno-error=int-conversion", "-Wno-error=incompatible-function-pointer-types"];
    let header = ["-finclude-default-header", "-fdeclare-opencl-builtins", "-internal-isystem", SYSTEM];
    let own = ["-I", HEADERS];
    // A source that is no file has no folder of its own. Intel's driver looks there, too, but first.
    let last = ["-I", "."];
    let arguments: Vec<CString> = fixed
        .iter()
        .chain(&header)
        .chain(&lenient)
        .chain(&own)
        .copied()
        .chain(request.arguments.iter().map(String::as_str))
        .chain(last)
        .chain(names_intel_functions(request).then_some("-D__GENCL_INTEL_SUBGROUPS"))
        .map(c_string)
        .collect();
    let extensions = c_string(request.extensions);
    let pointers: Vec<_> = arguments.iter().map(|argument| argument.as_ptr()).collect();

    // Clang requires a zero byte after each buffer.
    let mut texts = vec![(c_string(request.name), c_string(request.source))];
    texts.push((c_string(format!("{SYSTEM}/opencl-c-base.h")), c_string(BASE_HEADER)));
    for (name, source) in request.headers {
        texts.push((c_string(format!("{HEADERS}/{name}")), c_string(*source)));
    }
    let files: Vec<_> = texts
        .iter()
        .map(|(path, data)| File { path: path.as_ptr(), data: data.as_ptr(), size: data.as_bytes().len() })
        .collect();

    let mut log = std::ptr::null_mut();
    let mut read = std::ptr::null_mut();
    let mut ast = std::ptr::null_mut();
    let ast_place = if request.ast { &raw mut ast } else { std::ptr::null_mut() };
    // SAFETY: all pointers come from `CString`s and vectors that live until the end of this function, with
    // the counts beside them; `log`, `read` and `ast` are valid places.
    let module = unsafe {
        gencl_clang(
            context.as_ctx_ref(),
            pointers.as_ptr(),
            pointers.len(),
            extensions.as_ptr(),
            &raw const files[0],
            files[1..].as_ptr(),
            files.len() - 1,
            &raw mut log,
            &raw mut read,
            ast_place,
        )
    };
    // SAFETY: the module is in `context`, and there is no other reference to it.
    let module = (!module.is_null()).then(|| unsafe { Module::new(module) });
    // SAFETY: they are null or strings that the function made by `malloc`.
    let (log, read, ast) = unsafe { (take(log), take(read), take(ast)) };
    let ours = |file: &&str| file.starts_with(HEADERS) || file.starts_with(SYSTEM);
    let files = read.lines().filter(|file| !ours(file)).map(str::to_owned).collect();
    Response { module, log, ast, files }
}

/// Whether a program may call functions of `intel_subgroups.h`. Parsing their declarations takes a few milliseconds,
/// which other programs save.
fn names_intel_functions(request: &Request) -> bool {
    // A name may be put together by macros of the source or of the options. Headers are not searched.
    let arguments = request.arguments.iter().map(String::as_bytes);
    arguments.chain([request.source]).any(|text| {
        [&b"intel_sub"[..], b"intel_work", b"include"]
            .iter()
            .any(|word| text.windows(word.len()).any(|found| found == *word))
    })
}

fn c_string(text: impl AsRef<[u8]>) -> CString {
    let text = text.as_ref();
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    CString::new(&text[..end]).expect("no zero before the end")
}

/// # Safety
/// `text` is null or a string made by `malloc` that nobody else uses.
unsafe fn take(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe {
        let result = CStr::from_ptr(text).to_string_lossy().into_owned();
        libc::free(text.cast());
        result
    }
}
