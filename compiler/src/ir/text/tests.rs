//! Round trips, and texts that are wrong.

use super::{parse, parse_function, print};

const SAMPLE: &str = r#"constants 00010203ff
kernel "scale \"x\"; y" linear
    private_size 16
    local_size 64
    meta required_work_group_size [8,1,1]
    meta simd_width 16
    register dword %0 %1
    register uniform qword %2
    register bool %3
    register word %4
@0:
    %2 = input.push.pointer 0
    %0 = immediate.f32 0x3f800000 ; 1.0
    %1 = immediate.s32 -5
    %4 = input.lane_id
    %3 = compare.less_equal.u16 %4, %4
    (!%3) %0, %1 = load.global.f32.align4 %2
    (%3) store.global.f32.align4 %2, %0, %1
    %1 = convert.s32.f32.rtz.sat %0
    %1 = atomic.cmp_xchg.global.u32 %2, %0, %1
    barrier.local.global
    fence
    vote.none %3, @5, @2
@2:
    %0, %1 = undefined
    jump @5
@5:
    return
end
"#;

#[test]
fn text_is_kept() {
    let unit = parse(SAMPLE).expect("it is Gen IR");
    assert_eq!(print(&unit), SAMPLE);
    assert_eq!(unit.functions[0].kernel.simd_width, 16);
    assert_eq!(unit.functions[0].blocks.len(), 6);
    assert_eq!(unit.constants, [0, 1, 2, 3, 255]);
}

#[test]
fn wrong_lines_are_named() {
    let cases = [
        ("kernel scale per_lane", 1, "in quotes"),
        ("kernel \"a\" both", 1, "the form is"),
        ("kernel \"a\" per_lane\n", 1, "no `end`"),
        ("kernel \"a\" per_lane\nregister dword %1\nend", 3, "%0 is declared"),
        ("kernel \"a\" per_lane\n@0:\n%0 = addd.u32 %1, %2\nend", 3, "`addd` is not an operation"),
        ("kernel \"a\" per_lane\n@0:\n%0 = add.u31 %1, %2\nend", 3, "`u31` is not a type"),
        ("kernel \"a\" per_lane\n@0:\n%0 = immediate.u8 256\nend", 3, "does not fit u8"),
        ("kernel \"a\" per_lane\n@0:\njump\nend", 3, "a block is missing"),
        ("kernel \"a\" per_lane\n@0:\nreturn @1\nend", 3, "too many"),
        ("kernel \"a\" per_lane\n@4000000000:\nend", 2, "block numbers end"),
        ("kernel \"a\" per_lane\nmeta colour 1\nend", 2, "no field `colour`"),
        ("constants 123", 1, "pairs"),
        ("@0:", 1, "neither"),
    ];
    for (text, line, message) in cases {
        let error = parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
    assert!(parse_function("").is_err());
}
