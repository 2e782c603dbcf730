//! The validator's rules: instructions that keep and break each of them, from `rules.txt`.

use std::collections::BTreeMap;

use gencl_isa::{Flag, Generation, Instruction, Opcode, parse, rules, validate};

/// Rules that no text can break, because it would not parse.
const WITHOUT_TEXT: [&str; 3] = ["control.exec-size", "operand.flag", "operand.sources"];

/// Whether the instruction breaks the rule.
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
