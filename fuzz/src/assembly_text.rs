//! Assembly text.

use gencl_isa::{decode, encode, parse_program, print_program};

/// Assembly text; the first byte selects the generation. Parsed instructions are printed and parsed again,
/// and encoded and decoded again, with the same result.
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
