//! Targets of coverage-guided fuzzing.
//!
//! A target is a function that takes any bytes and panics when something is wrong. `fuzz_targets/` has a
//! program of libFuzzer for each (`make fuzz T=NAME`), `corpus/` has the inputs, with which `tests/replay.rs`
//! runs the targets in every test run. See `docs/debugging.md`.

mod assembly_text;
mod binary;
mod container;
mod decoder;
mod gen_ir_text;
mod ioctl;
mod options;
mod parts;
mod printf;
mod protocol;
mod spirv;

pub use assembly_text::assembly_text;
pub use binary::binary;
pub use container::container;
pub use decoder::decoder;
pub use gen_ir_text::gen_ir_text;
pub use ioctl::{Access, Object, Relocation, Request, ioctl};
pub use options::options;
pub use parts::{join, program_parts, split};
pub use printf::printf;
pub use protocol::protocol;
pub use spirv::spirv;

use gencl_isa::Generation;

/// The generation selected by the first byte, and the rest.
fn generation(data: &[u8]) -> Option<(Generation, &[u8])> {
    let (first, rest) = data.split_first()?;
    Some((Generation::ALL[usize::from(*first) % Generation::ALL.len()], rest))
}
