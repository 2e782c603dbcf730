//! The ELF container of programs.

use gencl_program::elf;

/// A file that an application passes as a program binary: it is rejected, or writing the program again has
/// the same result.
pub fn container(data: &[u8]) {
    if let Ok(program) = elf::read(data) {
        assert_eq!(elf::write(&program).expect("what was read can be written"), data);
    }
}
