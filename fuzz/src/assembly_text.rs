//! Assembly text.

use gencl_isa::{decode, encode, parse_program, print_program};

/// Assembly of the generation that the first byte says. What is parsed prints and parses to itself; what has
/// an encoding decodes to itself.
pub fn assembly_text(data: &[u8]) {
    let Some((generation, text)) = crate::generation(data) else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(program) = parse_program(generation, text) else { return };
    let printed = print_program(generation, &program);
    assert_eq!(parse_program(generation, &printed).as_ref(), Ok(&program), "{printed}");
    for instruction in &program {
        if let Ok(bytes) = encode(generation, instruction) {
            assert_eq!(decode(generation, &bytes).as_ref(), Ok(instruction), "{printed}");
        }
    }
}
