//! Builds the parts of the front end that are not Rust: the bridge to clang, OpenCL C's base header and the
//! built-in library.

#[cfg(feature = "llvm")]
mod library;
#[cfg(feature = "llvm")]
mod llvm;
#[cfg(feature = "llvm")]
mod shards;

fn main() {
    println!("cargo::rerun-if-changed=build");
    #[cfg(feature = "llvm")]
    {
        let llvm = llvm::Llvm::find();
        llvm.build_bridges();
        llvm.prepare_base_header();
        library::build(&llvm);
    }
}
