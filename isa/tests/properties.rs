//! What must hold for any bytes, any text and any instruction.

use gencl_isa::message::Message;
use gencl_isa::{
    AccessMode, Allows, Extra, Generation, Instruction, OPCODES, SharedFunction, compact, decode,
    decode_first, decode_stream, encode, parse, parse_program, print, print_program, validate,
};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn runner() -> TestRunner {
    runner_of(6_000)
}

fn runner_of(cases: u32) -> TestRunner {
    // The same inputs in every run: a test that fails by chance helps nobody.
    let config =
        Config { cases, max_local_rejects: 10_000_000, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn generations() -> impl Strategy<Value = Generation> {
    proptest::sample::select(Generation::ALL.to_vec())
}

/// Bytes that have an opcode of the generation and are not compacted; the rest is random.
fn likely_bytes() -> impl Strategy<Value = (Generation, [u8; 16])> {
    let thin = prop_oneof![any::<u128>(), Just(u128::MAX)];
    (generations(), any::<prop::sample::Index>(), any::<[u8; 16]>(), thin).prop_map(
        |(generation, index, mut bytes, thin)| {
            // With fewer bits set, more of the fields have values that exist.
            let thinned = u128::from_le_bytes(bytes) & thin;
            bytes = thinned.to_le_bytes();
            let codes: Vec<u8> = OPCODES.iter().filter_map(|row| row.code(generation)).collect();
            bytes[0] = bytes[0] & 0x80 | index.get(&codes);
            bytes[3] &= !0x20;
            (generation, bytes)
        },
    )
}

/// Instructions that have an encoding.
fn instructions() -> impl Strategy<Value = (Generation, Instruction)> {
    likely_bytes().prop_filter_map("no instruction", |(generation, bytes)| {
        Some((generation, decode(generation, &bytes).ok()?))
    })
}

#[test]
fn any_decoded_instruction_encodes_and_decodes_to_itself() {
    let result = runner().run(&instructions(), |(generation, instruction)| {
        let bytes = encode(generation, &instruction).expect("what was decoded can be encoded");
        assert_eq!(decode(generation, &bytes), Ok(instruction));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn any_instruction_prints_and_parses_to_itself() {
    let result = runner().run(&instructions(), |(generation, instruction)| {
        let text = print(generation, &instruction);
        assert_eq!(parse(generation, &text), Ok(instruction), "{text}");
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn compacting_and_expanding_gives_the_same_bytes() {
    let result = runner().run(&instructions(), |(generation, instruction)| {
        let bytes = encode(generation, &instruction).expect("encodable");
        if let Some(small) = compact(generation, &bytes) {
            assert_eq!(decode_first(generation, &small), Ok((8, instruction)));
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn random_bytes_never_panic() {
    let bytes = prop::collection::vec(any::<u8>(), 0..64);
    let result = runner().run(&(generations(), bytes), |(generation, bytes)| {
        if let Ok(stream) = decode_stream(generation, &bytes) {
            let program: Vec<Instruction> = stream.into_iter().map(|(_, _, i)| i).collect();
            let text = print_program(generation, &program);
            assert_eq!(parse_program(generation, &text).as_ref(), Ok(&program), "{text}");
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn any_instruction_can_be_validated() {
    let result = runner().run(&instructions(), |(generation, instruction)| {
        for violation in validate(generation, &instruction) {
            assert!(!violation.to_string().is_empty());
        }
        // Whatever is changed, validating and encoding answer.
        let changed = Instruction {
            access_mode: AccessMode::Align1,
            exec_size: instruction.exec_size.wrapping_mul(3),
            channel_offset: instruction.channel_offset.wrapping_add(251),
            extra: Extra::None,
            ..instruction
        };
        validate(generation, &changed);
        let _ = encode(generation, &changed);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn text_never_panics() {
    // Pieces of the syntax in any order, and any characters between.
    let pieces = prop_oneof![
        prop::sample::select(vec![
            "mov",
            "(8)",
            "mad",
            "send",
            "math inv",
            "g3",
            "<1>",
            "<8;8,1>",
            "<4>",
            ".xyzw",
            "F",
            "UD",
            "0x3f800000F",
            "-",
            "(abs)",
            "g[a0.1 -4]",
            "{",
            "}",
            "align1",
            "align16",
            "1Q",
            ";",
            "JIP:",
            "UIP:",
            "L0:",
            "L0",
            "(+f0.0.any4h)",
            ".sat",
            ".z.f0.1",
            "null",
            "a0",
            "/*",
            "*/",
            "//",
            "\n",
            "data",
            "dp data 1",
            "MsgDesc:",
            "99999999999999999999",
            "0x",
            "acc",
            "[1,2,3,4]VF",
            "é",
        ])
        .prop_map(str::to_owned),
        ".{0,3}",
    ];
    let text = prop::collection::vec((pieces, prop_oneof![Just(""), Just(" ")]), 0..16)
        .prop_map(|words| words.into_iter().map(|(word, space)| word + space).collect::<String>());
    let result = runner().run(&(generations(), text), |(generation, text)| {
        let _ = parse(generation, &text);
        let _ = parse_program(generation, &text);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn any_descriptor_decodes_to_what_encodes_to_the_same_message() {
    let targets = prop::sample::select(vec![
        SharedFunction::Sampler,
        SharedFunction::Gateway,
        SharedFunction::SamplerCache,
        SharedFunction::RenderCache,
        SharedFunction::Urb,
        SharedFunction::ThreadSpawner,
        SharedFunction::ConstantCache,
        SharedFunction::DataCache,
        SharedFunction::PixelInterpolator,
        SharedFunction::DataCache1,
    ]);
    let input = (generations(), targets, any::<u32>());
    let result = runner().run(&input, |(generation, target, descriptor)| {
        let Ok(message) = Message::decode(generation, target, descriptor) else { return Ok(()) };
        let (again, bits) = message.encode(generation).expect("what was decoded can be encoded");
        assert_eq!(again, target);
        assert_eq!(Message::decode(generation, target, bits), Ok(message));
        assert!(!message.to_string().is_empty());
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// Every opcode of every generation turns up, so that the properties above mean something.
#[test]
fn random_bytes_reach_every_opcode() {
    let missing = std::cell::RefCell::new(
        Generation::ALL
            .into_iter()
            .flat_map(|g| {
                OPCODES.iter().filter(move |row| row.code(g).is_some()).map(move |row| (g, row.opcode))
            })
            .filter(|(_, opcode)| !opcode.info().allows.contains(Allows::WIDE_IMMEDIATE))
            .collect::<std::collections::HashSet<_>>(),
    );
    let result = runner_of(60_000).run(&instructions(), |(generation, instruction)| {
        missing.borrow_mut().remove(&(generation, instruction.opcode));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(missing.borrow().is_empty(), "{:?}", missing.borrow());
}
