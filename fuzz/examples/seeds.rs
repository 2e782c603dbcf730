//! Converts program binaries of `genclc -o` to inputs of the target `binary`: `seeds FILE...`.

use std::path::Path;

use gencl_program::elf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/binary");
    for path in std::env::args_os().skip(1) {
        let program = elf::read(&std::fs::read(&path)?)?;
        let name = Path::new(&path).file_name().ok_or("a file is wanted")?;
        std::fs::write(corpus.join(name), gencl_fuzz::join(&gencl_fuzz::program_parts(program)))?;
    }
    Ok(())
}
