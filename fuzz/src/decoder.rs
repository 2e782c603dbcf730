//! Machine code.

use gencl_isa::{
    Generation, Instruction, compact, decode, decode_first, decode_stream, encode, parse, parse_program,
    print, print_program, validate, validate_atom,
};

/// Machine code; the first byte selects the generation. Decoded instructions are encoded, printed, parsed and
/// compacted again, with the same result.
pub fn decoder(data: &[u8]) {
    let Some((generation, code)) = crate::generation(data) else { return };
    let Ok(stream) = decode_stream(generation, code) else { return };
    let program: Vec<Instruction> = stream.into_iter().map(|(_, _, instruction)| instruction).collect();
    for instruction in &program {
        one(generation, instruction);
    }
    let text = print_program(generation, &program);
    assert_eq!(parse_program(generation, &text).as_ref(), Ok(&program), "{text}");
}

fn one(generation: Generation, instruction: &Instruction) {
    let bytes = encode(generation, instruction).expect("what was decoded can be encoded");
    assert_eq!(decode(generation, &bytes).as_ref(), Ok(instruction));
    let text = print(generation, instruction);
    assert_eq!(parse(generation, &text).as_ref(), Ok(instruction), "{text}");
    if let Some(small) = compact(generation, &bytes) {
        assert_eq!(decode_first(generation, &small), Ok((8, *instruction)));
    }
    for violation in
        validate(generation, instruction).into_iter().chain(validate_atom(generation, instruction))
    {
        assert!(!violation.to_string().is_empty());
    }
}
