//! Both engines give the same, bit for bit (of NaNs, any).

mod branches;
mod components;
mod generate;
mod harness;
mod images;
mod lanes;
mod masked;
mod memory;
#[path = "../ir/parse.rs"]
mod parse;
mod points;
mod rows;
mod sample;
mod singles;
mod sparse;
mod stacks;
#[path = "../ir/verify.rs"]
mod verify;
mod walks;

use std::cell::RefCell;
use std::sync::Arc;

use branches::{branches, predicated, unwritten};
use components::components;
use gencl_eu::Kernel;
use gencl_eu::device::Device;
use gencl_eu::fault::{Fault, Reason};
use gencl_isa::{Extra, Instruction, Opcode, Type};
use gencl_testing::Random;
use gencl_testing::instructions::{arithmetic, bytes, indirect, is_integer};
use harness::{
    CONSTANTS, Case, DATA, DATA_SIZE, IDS, Outcome, Translator, code, counts, difference, hosts, run,
};
use memory::{addresses, message};
use rows::{edges, rows, segments};
use walks::{Place, walks, whole};

/// Instructions in each kernel.
const BODY: usize = 12;

fn case(random: &mut Random, width: u8, body: Vec<Instruction>) -> Case {
    let full = u32::MAX >> (32 - u32::from(width));
    Case {
        body,
        width: u32::from(width),
        threads: 1 + random.below(2) as u32,
        mask: if random.one_in(2) { full } else { random.next_u32() & full | 1 },
        constants: bytes(random, usize::from(CONSTANTS) * 32),
        data: bytes(random, DATA_SIZE as usize),
        control: random.pick(&[0x4c0, 0x4c0, 0x4c0, 0, 0x4d0, 0x4e0, 0x4f0]),
        host: random.pick(&hosts()),
        rounds: random.one_in(4).then(|| 1 + random.below(4) as u32),
        strict: false,
    }
}

/// Threads that write what others read, or that may all have a fault, are executed one after the other by both engines, or there is one.
fn in_order(case: Case) -> Case {
    let threads = if case.rounds.is_some() { 1 } else { case.threads };
    Case { threads, ..case }
}

/// What is said of a kernel that neither engine brings to its end.
const ENDLESS: &str = "it does not end";

/// What differs.
fn check(case: &Case) -> Option<String> {
    let code = code(case)?;
    let interpreted = run(case, &code, None);
    let translator = Translator { host: case.host, rounds: case.rounds, ..Translator::default() };
    compared(&interpreted, run(case, &code, Some(&Arc::new(translator))))
}

fn compared(interpreted: &Result<Outcome, Fault>, translated: Result<Outcome, Fault>) -> Option<String> {
    match (interpreted, translated) {
        (Ok(a), Ok(b)) => difference(a, &b),
        (Err(a), Err(b)) if [a, &b].iter().all(|fault| matches!(fault.reason, Reason::Cancelled)) => {
            Some(ENDLESS.to_owned())
        }
        (Err(a), Err(b)) if a.to_string() == b.to_string() => None,
        (a, b) => Some(format!("interpreted {:?}, translated {:?}", a.as_ref().err(), b.err())),
    }
}

fn listing(case: &Case) -> String {
    let line = |i| gencl_isa::print(gencl_isa::Generation::Gen9, i);
    case.body.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The same case with as few instructions as differ too. Nothing stands in place of the others, so that branches stay as they are.
fn reduced(mut case: Case, mut text: String) -> (Case, String) {
    for at in 0..case.body.len() {
        let ends_loops = [walks::ends_loops, lanes::ends_loops, sparse::ends_loops];
        if ends_loops.iter().any(|ends| ends(&case.body[at])) {
            continue;
        }
        let removed = std::mem::replace(&mut case.body[at], Instruction::new(Opcode::Nop, 1));
        match check(&case) {
            Some(found) if !found.ends_with(ENDLESS) => text = found,
            _ => case.body[at] = removed,
        }
    }
    case.body.retain(|i| i.opcode != Opcode::Nop);
    (case, text)
}

/// `GENCL_AGREE_KERNELS` kernels (each with twelve instructions) instead of a few, from the seed `GENCL_AGREE_SEED` on.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Leaves out what cannot be encoded.
fn leave_out(case: &mut Case) {
    let fits = |i: &Instruction| gencl_isa::encode(gencl_isa::Generation::Gen9, i).is_ok();
    case.body.iter_mut().filter(|i| !fits(i)).for_each(|i| *i = Instruction::new(Opcode::Nop, 1));
}

/// Compares kernels that `make` makes of random numbers.
fn compare(make: impl Fn(&mut Random) -> Case) {
    let (count, seed) = (setting("GENCL_AGREE_KERNELS", 8), setting("GENCL_AGREE_SEED", 1));
    let mut failures = Vec::new();
    let mut run = 0;
    for number in seed..seed + count {
        let mut case = make(&mut Random::new(number));
        leave_out(&mut case);
        run += case.body.iter().filter(|i| i.opcode != Opcode::Nop).count();
        if let Some(found) = check(&case) {
            let (case, text) = reduced(case, found);
            let head = format!("seed {number}, SIMD{}, mask {:#x}", case.width, case.mask);
            failures.push(format!("{head}: {text}\n{}", listing(&case)));
            if failures.len() == 10 {
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count}\n{}", failures.len(), failures.join("\n"));
    assert!(run as u64 > count * 6, "only {run} instructions");
}

#[test]
fn random_arithmetic() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let body = (0..BODY).map(|_| arithmetic(random, width)).collect();
        case(random, width, body)
    });
}

/// Registers whose numbers are known at run time only. Of integers, as all other registers are read too, and nobody defines the bits of NaNs.
#[test]
fn random_indirect_registers() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut body = Vec::new();
        while body.len() < BODY {
            if random.one_in(3) {
                body.extend(indirect(random, width));
            } else {
                body.extend([arithmetic(random, width)].into_iter().filter(is_integer));
            }
        }
        case(random, width, body)
    });
}

#[test]
fn random_messages() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let body = (0..BODY).map(|_| message(random, width)).collect();
        let mut case = case(random, width, body);
        addresses(random, &mut case.constants, 16);
        case
    });
}

#[test]
fn random_components() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut case = case(random, width, Vec::new());
        case.body = components(random, width, &mut case.constants);
        case
    });
}

#[test]
fn random_rows() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut case = case(random, width, Vec::new());
        case.body = rows(random, width, &mut case.constants);
        case
    });
}

#[test]
fn random_segments() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut case = case(random, width, Vec::new());
        // The first finds the windows, by executing its instructions anew.
        case.threads = 2 + random.below(3) as u32;
        case.body = segments(random, width, &mut case.constants);
        in_order(case)
    });
}

/// Of rows that are asked for together, the first or the last is outside: for each of the threads that can be that of a buffer's first or last bytes.
#[test]
fn edges_of_segments() {
    let mut faults = 0;
    let [near, far] = [[[64, 64], [-64, -64]], [[128, 128], [-128, -128]]];
    for (down, is_constant, moves) in
        [(false, false, near), (false, true, far), (true, false, far), (true, true, near)]
    {
        for moves in moves {
            for rows in 0..8 {
                let offset = if down { rows * 64 } else { DATA_SIZE - rows * 64 };
                let mut case = case(&mut Random::new(1), 16, Vec::new());
                (case.threads, case.mask) = (3, 0xffff);
                case.body = edges(&mut case.constants, DATA + offset, &moves, is_constant, down);
                assert_eq!(check(&case), None, "{moves:?}, {rows} rows\n{}", listing(&case));
                faults += i32::from(run(&case, &code(&case).unwrap(), None).is_err());
            }
        }
    }
    assert!((16..48).contains(&faults), "{faults} of 64 are outside");
}

/// Integers too large for half floats that are made of few bits: LLVM 19 takes those for exact.
#[test]
fn half_floats_of_large_integers() {
    let shift = Place::Number(24, Type::UW);
    let [bytes, large, half, single] = [
        Place::Row(IDS, Type::UB),
        Place::Row(20, Type::UD),
        Place::Row(24, Type::HF),
        Place::Row(28, Type::F),
    ];
    let steps = [
        (Opcode::Shl, large, vec![bytes, shift]),
        (Opcode::Mov, single, vec![large]),
        (Opcode::Mov, half, vec![single]),
        (Opcode::Mov, single, vec![half]),
        (Opcode::Bfrev, Place::Row(32, Type::HF), vec![bytes]),
    ];
    for control in [0x4c0, 0x4d0, 0x4e0, 0x4f0] {
        let mut case = case(&mut Random::new(1), 16, Vec::new());
        case.body =
            steps.iter().flat_map(|(opcode, to, from)| whole(16, *opcode, *to, from, |_| {})).collect();
        case.control = control;
        assert_eq!(check(&case), None, "{control:#x}\n{}", listing(&case));
    }
}

fn random_image_case(random: &mut Random) -> Case {
    let width = random.pick(&[8, 16, 32]);
    let mut case = case(random, width, Vec::new());
    case.body = images::images(random, width, &mut case.constants, &mut case.data);
    in_order(case)
}

#[test]
fn random_images() {
    compare(random_image_case);
}

/// Nothing of them is left to the simulator but messages to images of which a host knows no format.
#[test]
fn messages_to_images_are_expanded() {
    let (mut expanded, mut others) = (0, 0);
    for seed in 1..7 {
        let case = random_image_case(&mut Random::new(seed));
        let translator = Arc::new(Translator::default());
        let outcome = run(&case, &code(&case).unwrap(), Some(&translator));
        assert!(outcome.is_ok(), "{}", outcome.err().unwrap());
        let text = translator.middle.lock().unwrap();
        expanded += text.matches(" window image ").count();
        others += text.lines().filter(|line| line.contains("= image [")).count();
    }
    assert!(expanded > 30 && others < 10, "{expanded} accesses, {others} messages");
}

#[test]
fn random_walks() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut case = case(random, width, Vec::new());
        case.body = walks(random, width, &mut case.constants);
        case
    });
}

#[test]
fn random_sparse_rows() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut case = case(random, width, Vec::new());
        case.body = sparse::sparse(random, width, &mut case.constants, &mut case.data);
        in_order(case)
    });
}

#[test]
fn random_stacks() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut case = case(random, width, Vec::new());
        // The first finds the windows.
        case.threads = 1 + random.below(3) as u32;
        case.body = stacks::stacks(random, width, &mut case.constants);
        case.rounds = None;
        case
    });
}

#[test]
fn random_rows_of_lanes() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut case = case(random, width, Vec::new());
        case.body = lanes::lanes(random, width, &mut case.constants);
        in_order(case)
    });
}

#[test]
fn random_long_rows_of_lanes() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut case = case(random, width, Vec::new());
        case.mask = u32::MAX >> (32 - u32::from(width));
        case.body = lanes::long(random, width, &mut case.constants);
        in_order(case)
    });
}

#[test]
fn random_branches() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let body = branches(random, width);
        case(random, width, body)
    });
}

/// Strict mode: registers may not have been written when they are read. Whether that is a fault, and which, only the way there tells.
#[test]
fn random_unwritten_registers() {
    let faults = RefCell::new(Vec::new());
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let mut body = unwritten(random, width);
        // What strict mode refuses wherever it stands is no concern here.
        let device = Device::named(harness::DEVICE).unwrap();
        let refused = |i: &Instruction| {
            !matches!(i.extra, Extra::Branch(_)) && Kernel::assemble(device, &[*i], true).is_err()
        };
        body.iter_mut().filter(|i| refused(i)).for_each(|i| *i = Instruction::new(Opcode::Nop, 1));
        let constants = bytes(random, 5 * 32);
        let case = in_order(Case { constants, strict: true, ..case(random, width, body) });
        let fault = code(&case).and_then(|code| run(&case, &code, None).err());
        faults.borrow_mut().push(fault.map(|fault| fault.to_string()));
        case
    });
    let faults = faults.into_inner();
    let unwritten =
        |fault: &&Option<String>| fault.as_ref().is_some_and(|text| text.contains("never been written"));
    let count = faults.iter().filter(unwritten).count();
    assert!(count > 1 && faults.iter().filter(|fault| fault.is_none()).count() > 1, "{faults:?}");
}

#[test]
fn random_predicates() {
    compare(|random| {
        let width = random.pick(&[8, 16, 32]);
        let body = predicated(random, width);
        case(random, width, body)
    });
}

/// For all hosts whose code this machine can execute, as each has other instructions for it.
#[test]
fn random_masked_logic() {
    for host in hosts() {
        compare(|random| {
            let width = random.pick(&[8, 16, 32]);
            let mut case = case(random, width, Vec::new());
            case.host = host;
            case.body = masked::masked(random, width);
            in_order(case)
        });
    }
}

/// LLVM 19 makes one instruction of it on hosts with AVX-512, which computed something else.
#[test]
fn signs_are_copied_under_masks() {
    for host in hosts() {
        for body in masked::copied_signs() {
            let mut case = case(&mut Random::new(1), 16, body);
            (case.host, case.mask, case.rounds) = (host, 0xffff, None);
            assert_eq!(check(&case), None, "{}", listing(&case));
        }
    }
}

/// The same where constants are found late.
#[test]
fn signs_are_copied_by_constants_in_registers() {
    for host in hosts() {
        for seed in 1..5 {
            let parsed = |line| gencl_isa::parse(gencl_isa::Generation::Gen9, line).unwrap();
            let body = masked::LATE_CONSTANTS.trim().lines().map(parsed).collect();
            let mut case = case(&mut Random::new(seed), 8, body);
            (case.host, case.mask) = (host, 0xff);
            assert_eq!(check(&case), None, "{}", listing(&case));
        }
    }
}

/// Translated code counts executions and lanes of each instruction as the interpreter does.
#[test]
fn counts_agree() {
    let (count, first) = (setting("GENCL_AGREE_KERNELS", 8), setting("GENCL_AGREE_SEED", 1));
    let mut compared = 0;
    for seed in first..first + count {
        for kind in 0..3 {
            let random = &mut Random::new(seed);
            let width = random.pick(&[8, 16, 32]);
            let mut case = case(random, width, Vec::new());
            case.body = match kind {
                0 => branches(random, width),
                1 => walks(random, width, &mut case.constants),
                _ => predicated(random, width),
            };
            leave_out(&mut case);
            let code = code(&case).unwrap();
            let translator = Translator { host: case.host, rounds: case.rounds, ..Translator::default() };
            let [Ok(own), Ok(expected)] =
                [Some(&Arc::new(translator)), None].map(|translator| counts(&case, &code, translator))
            else {
                continue;
            };
            assert_eq!(own, expected, "seed {seed}\n{}", listing(&case));
            compared += 1;
        }
    }
    assert!(compared >= count, "only {compared} kernels");
}

/// Every operation with every type, modifier, region form and width; `GENCL_AGREE_SINGLES` instructions.
#[test]
fn single_instructions() {
    let [count, seed] = [("SINGLES", 1200), ("SEED", 1)]
        .map(|(name, otherwise)| setting(&format!("GENCL_AGREE_{name}"), otherwise));
    let tally = singles::compare(count as usize, seed);
    println!("{} instructions in {} kernels", tally.samples, tally.kernels);
    for (operation, counts) in &tally.operations {
        let singles::Counts { points, samples, interpreted } = counts;
        println!("{operation}: {points} points, {samples} instructions, {interpreted} interpreted");
    }
    for (reason, count) in &tally.reasons {
        println!("{count} {reason}");
    }
    let texts: Vec<_> = tally
        .differing
        .iter()
        .map(|(operation, (count, texts))| format!("{operation}: {count} differ\n{}", texts.join("\n")))
        .collect();
    assert!(texts.is_empty(), "{}", texts.join("\n"));
}
