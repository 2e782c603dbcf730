//! The built-in library, linked lazily.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::ZlibDecoder;
use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::llvm_sys::core::{LLVMCreateMemoryBufferWithMemoryRange, LLVMDisposeMemoryBuffer};
use inkwell::module::Module;

use super::{Machine, ask, view};

/// A library, split into shards.
#[derive(Debug)]
pub struct Library {
    shards: &'static [Shard],
    /// Functions, sorted by name, each with its shard.
    index: &'static [(&'static str, u16)],
}

/// Some functions of a library.
#[derive(Debug)]
struct Shard {
    /// Bitcode in the format of zlib. Without compression the libraries are more than half of the compiler's size.
    compressed: &'static [u8],
    /// Bitcode that was needed by a build of this process.
    bitcode: OnceLock<Vec<u8>>,
}

impl Shard {
    const fn new(compressed: &'static [u8]) -> Shard {
        Shard { compressed, bitcode: OnceLock::new() }
    }

    /// Its bitcode.
    fn bitcode(&self) -> &[u8] {
        self.bitcode.get_or_init(|| {
            let mut bitcode = Vec::new();
            ZlibDecoder::new(self.compressed)
                .read_to_end(&mut bitcode)
                .expect("the compiler was built with it");
            bitcode
        })
    }
}

/// For pointers of 64 bits.
pub static WIDE: Library = include!(concat!(env!("OUT_DIR"), "/library64.rs"));

/// For pointers of 32 bits.
pub static NARROW: Library = include!(concat!(env!("OUT_DIR"), "/library32.rs"));

/// Prefix of the functions that are linked when the module is optimised. Until then LLVM merges calls with the same
/// arguments and moves them out of loops; it would not when they are inlined, if they branch.
const LATE: &str = "__gencl_late_";

/// Whether the module calls functions that are linked late.
pub fn has_late_calls(module: &Module) -> bool {
    view::Module::of(module).functions().any(|function| is_late(&function.name()) && function.is_used())
}

fn is_late(name: &str) -> bool {
    name.starts_with(LATE)
}

/// Links the functions of the library that `module` calls, and what they call, those that are linked late only if
/// `late`.
///
/// Only the symbol table of a shard and the bodies of these functions are read: the library's functions have
/// `linkonce` linkage, so that the linker copies only those that are used.
///
/// # Errors
/// LLVM's message if linking fails.
pub fn link<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &Machine,
    late: bool,
) -> Result<(), String> {
    let library = machine.library;
    loop {
        let shards: BTreeSet<u16> = missing(module, library, late).into_iter().collect();
        if shards.is_empty() {
            return Ok(());
        }
        for shard in shards {
            module
                .link_in_module(load(context, &library.shards[usize::from(shard)])?)
                .map_err(|e| e.to_string())?;
        }
    }
}

/// Shards with functions that the module calls and does not define.
fn missing(module: &Module, library: &Library, late: bool) -> Vec<u16> {
    view::Module::of(module)
        .functions()
        .filter(|function| function.is_declaration() && function.is_used())
        .map(view::Value::name)
        .filter(|name| late || !is_late(name))
        .filter_map(|name| library.index.binary_search_by(|(row, _)| (*row).cmp(&name)).ok())
        .map(|row| library.index[row].1)
        .collect()
}

/// Loads a shard lazily, without function bodies.
fn load<'ctx>(context: &'ctx Context, shard: &'static Shard) -> Result<Module<'ctx>, String> {
    let (bitcode, name) = (shard.bitcode(), c"library");
    let buffer =
        ask!(LLVMCreateMemoryBufferWithMemoryRange(bitcode.as_ptr().cast(), bitcode.len(), name.as_ptr(), 0));
    let mut module = std::ptr::null_mut();
    // On success the module owns the buffer, which borrows the shard's bitcode.
    if ask!(LLVMGetBitcodeModuleInContext2(context.as_ctx_ref(), buffer, &raw mut module)) != 0 {
        ask!(LLVMDisposeMemoryBuffer(buffer));
        return Err("the built-in library is damaged".into());
    }
    // SAFETY: the module is new, in `context`, and there is no other reference to it.
    Ok(unsafe { Module::new(module) })
}

/// Reads the pages of the library, so that the first build does not wait for the disk.
pub fn preload() {
    let bytes = WIDE.shards.iter().flat_map(|shard| shard.compressed.iter().step_by(4096));
    std::hint::black_box(bytes.map(|&byte| u64::from(byte)).sum::<u64>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_sorted_and_complete() {
        for Library { shards, index } in [&WIDE, &NARROW] {
            assert!(index.is_sorted());
            assert!(index.len() > 5000, "{} functions", index.len());
            assert!(index.iter().all(|(_, shard)| usize::from(*shard) < shards.len()));
        }
    }
}
