//! The validator's rules: instructions that keep and break each of them, from `rules.txt`.

use std::collections::BTreeMap;
use std::path::Path;

use gencl_isa::{Flag, Generation, Instruction, Opcode, decode, parse, rules, validate};

/// Rules that no text can break, because it would not parse.
const WITHOUT_TEXT: [&str; 3] = ["control.exec-size", "operand.flag", "operand.sources"];

/// Does the instruction break the rule?
fn breaks(generation: Generation, instruction: &Instruction, rule: &str) -> bool {
    validate(generation, instruction).iter().any(|violation| violation.rule.id == rule)
}

#[test]
fn every_rule_has_an_accepted_and_a_refused_line() {
    let text = include_str!("rules.txt");
    let mut rule = ("", Generation::Gen9, Generation::Gen9);
    // Accepted and refused lines by rule.
    let mut seen: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let at = format!("rules.txt:{}: {line}", number + 1);
        let generation = |name: &str| Generation::from_name(name).expect("a generation's name");
        if let Some(header) = line.strip_prefix("rule ") {
            rule = match header.split_whitespace().collect::<Vec<_>>()[..] {
                [id, name] => (id, generation(name), generation(name)),
                [id, name, "as", written] => (id, generation(name), generation(written)),
                _ => panic!("{at}: no rule, generation, and maybe another one"),
            };
            continue;
        }
        let (accepted, instruction) = match line.split_at_checked(2) {
            Some(("+ ", text)) => (true, text),
            Some(("- ", text)) => (false, text),
            _ => continue,
        };
        let (id, generation, written) = rule;
        let instruction = parse(written, instruction).unwrap_or_else(|error| panic!("{at}: {error}"));
        if accepted {
            let violations = validate(generation, &instruction);
            assert!(violations.is_empty(), "{at}: {}", violations[0]);
            seen.entry(id).or_default()[0] += 1;
        } else {
            let others = validate(generation, &instruction);
            assert!(breaks(generation, &instruction, id), "{at}: not refused, or for {others:?}");
            seen.entry(id).or_default()[1] += 1;
        }
    }
    for rule in rules().filter(|rule| !WITHOUT_TEXT.contains(&rule.id)) {
        let counts = seen.remove(rule.id).unwrap_or_default();
        assert!(counts[0] > 0 && counts[1] > 0, "{}: {counts:?} accepted and refused lines", rule.id);
    }
    assert!(seen.is_empty(), "there are no such rules: {seen:?}");
}

#[test]
fn rules_that_no_text_can_break() {
    let good = parse(Generation::Gen9, "add(8) g3<1>F g4<8,8,1>F g5<8,8,1>F { align1 1Q };").unwrap();
    assert!(validate(Generation::Gen9, &good).is_empty());
    let size = Instruction { exec_size: 3, ..good };
    assert!(breaks(Generation::Gen9, &size, "control.exec-size"));
    let flag = Instruction { flag: Flag { register: 2, subregister: 0 }, ..good };
    assert!(breaks(Generation::Gen9, &flag, "operand.flag"));
    let missing = Instruction::new(Opcode::Add, 8);
    assert!(breaks(Generation::Gen9, &missing, "operand.sources"));
}

#[test]
fn rule_names_are_unique() {
    let mut ids: Vec<&str> = rules().map(|rule| rule.id).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

/// What the vectors of Mesa's assembler are known to break: where Gen9 has the extended descriptor it writes a payload's region, and one
/// line's immediate has lost its type's first letter.
const MESAS_FAULTS: [(&str, &[Generation]); 2] =
    [("send.region", &Generation::ALL), ("operand.float-logic", &[Generation::Gen75])];

/// What Mesa's compiler emits breaks no rule, but for what is known.
#[test]
fn mesas_instructions_are_accepted() {
    for generation in Generation::ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../shared/oracle/mesa-asm")
            .join(generation.capabilities().name);
        let Ok(entries) = std::fs::read_dir(&folder) else {
            println!("no vectors in {}: skipped", folder.display());
            return;
        };
        let paths = entries.map(|entry| entry.expect("a readable folder").path());
        for path in paths.filter(|path| path.extension().is_some_and(|e| e == "expected")) {
            for line in std::fs::read_to_string(&path).expect("a readable file").lines() {
                let bytes: Vec<u8> = line
                    .split_whitespace()
                    .map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal bytes"))
                    .collect();
                let instruction = decode(generation, &bytes.try_into().expect("16 bytes")).expect("known");
                for violation in validate(generation, &instruction) {
                    let known = MESAS_FAULTS
                        .iter()
                        .any(|(rule, of)| *rule == violation.rule.id && of.contains(&generation));
                    assert!(known, "{}: {violation}", instruction.display(generation));
                }
            }
        }
    }
}
