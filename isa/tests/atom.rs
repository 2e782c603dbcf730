//! The rules that only the Atom line has: lines that keep and that break each of them.

use gencl_isa::{Generation, atom_rules, parse, validate, validate_atom};

/// What every generation's rules and these accept.
const ACCEPTED: &[&str] = &[
    "mul(8) g4<1>D g6<8,8,1>D g8<8,8,1>W { align1 1Q };",
    "mul(4) g4<2>D g6<8,4,2>D g8<8,4,2>D { align1 1N };",
    "add(4) g4<1>Q g6<4,4,1>Q g8<0,1,0>Q { align1 1N };",
    "mov(4) g4<1>DF g6<4,4,1>DF { align1 1N };",
    "mov(8) g4<1>D g6<8,8,1>F { align1 1Q };",
];

/// A rule's name and a line that breaks it and nothing of what every Gen9 asks.
const REFUSED: &[(&str, &str)] = &[
    ("atom.stride", "mul(8) g4<1>D g6<8,8,1>D g8<8,8,1>D { align1 1Q };"),
    ("atom.stride", "mov(4) g4<1>Q g6<4,4,1>D { align1 1N };"),
    ("atom.contiguous", "mov(4) g4<1>Q g6<0,2,1>Q { align1 1N };"),
    ("atom.offset", "mov(2) g4<1>Q g6.1<2,2,1>Q { align1 1N };"),
    ("atom.indirect", "mov(1) g4<1>Q g[a0 0]<0,1,0>Q { align1 1N };"),
    ("atom.architecture", "mul(8) acc0<1>D g6<0,1,0>D g8<0,1,0>D { align1 1Q };"),
    ("atom.dependency", "mov(4) g4<1>Q g6<4,4,1>Q { align1 1N NoDDClr };"),
];

#[test]
fn every_rule_has_a_refused_line() {
    for line in ACCEPTED {
        let instruction = parse(Generation::Gen9, line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let broken = validate_atom(Generation::Gen9, &instruction);
        assert!(broken.is_empty(), "{line}: {}", broken[0]);
    }
    for (rule, line) in REFUSED {
        let instruction = parse(Generation::Gen9, line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(validate(Generation::Gen9, &instruction).is_empty(), "{line}");
        let broken = validate_atom(Generation::Gen9, &instruction);
        assert!(broken.iter().any(|violation| violation.rule.id == *rule), "{line}: {broken:?}");
    }
    for rule in atom_rules() {
        assert!(REFUSED.iter().any(|(id, _)| *id == rule.id), "{}", rule.id);
    }
}
