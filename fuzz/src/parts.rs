//! Inputs of several parts, which are independent of each other's sizes.
//!
//! Program binaries have offsets and a checksum, so that an input with a changed byte would be rejected
//! immediately. So the input has the parts of a program, from which the target builds the binary.

use gencl_program::{Data, Program};

/// The separator of parts.
const BETWEEN: &[u8] = b"\n%%%%\n";

/// The parts of an input.
pub fn split(data: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(BETWEEN.len()).position(|window| window == BETWEEN) {
        parts.push(&rest[..at]);
        rest = &rest[at + BETWEEN.len()..];
    }
    parts.push(rest);
    parts
}

/// The input with these parts.
pub fn join(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.join(BETWEEN)
}

/// A program as the parts of an input: description, relocations, constants, variables, then the code of each
/// kernel.
pub fn program_parts(mut program: Program) -> Vec<Vec<u8>> {
    let codes: Vec<Vec<u8>> =
        program.kernels.iter_mut().map(|kernel| std::mem::take(&mut kernel.code)).collect();
    let Data { constants, variables, relocations } = std::mem::take(&mut program.data);
    program.bitcode.clear();
    let text = |value: Result<String, serde_json::Error>| value.expect("numbers and strings").into_bytes();
    let head = [
        text(serde_json::to_string_pretty(&program)),
        text(serde_json::to_string(&relocations)),
        constants,
        variables,
    ];
    head.into_iter().chain(codes).collect()
}

/// The program with these parts; missing code is empty.
pub(crate) fn program(parts: &[&[u8]]) -> Option<Program> {
    let [description, relocations, constants, variables, codes @ ..] = parts else { return None };
    let mut program: Program = serde_json::from_slice(description).ok()?;
    let relocations = serde_json::from_slice(relocations).ok()?;
    program.data = Data { constants: constants.to_vec(), variables: variables.to_vec(), relocations };
    for (kernel, code) in program.kernels.iter_mut().zip(codes) {
        kernel.code = code.to_vec();
    }
    Some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When the types of a program have changed, `examples/seeds.rs` makes new ones.
    #[test]
    fn most_inputs_of_binary_are_programs() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/binary");
        let files = std::fs::read_dir(folder).expect("the folder is there");
        let inputs: Vec<_> =
            files.map(|file| std::fs::read(file.expect("readable").path()).expect("readable")).collect();
        let good = |input: &&Vec<u8>| program(&split(input)).is_some_and(|program| program.check().is_ok());
        let programs = inputs.iter().filter(good).count();
        assert!(programs > inputs.len() / 2, "{programs} of {}", inputs.len());
    }
}
