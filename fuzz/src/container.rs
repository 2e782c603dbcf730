//! The ELF container of programs.

use gencl_program::elf;

/// A file that an application may bring as a program binary: it is refused, or is what is written for the
/// program in it.
pub fn container(data: &[u8]) {
    if let Ok(program) = elf::read(data) {
        assert_eq!(elf::write(&program).expect("what was read can be written"), data);
    }
}
