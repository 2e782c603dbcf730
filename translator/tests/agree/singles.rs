//! Single instructions, many in a kernel, on both engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use gencl_eu::abi::Tier;
use gencl_isa::{Extra, Type, print};
use gencl_testing::Random;

use crate::harness::{
    BEFORE, CONSTANTS, Case, DATA_SIZE, GENERATION, Outcome, Translator, code, hosts, run, tier,
};
use crate::points::{Operation, operations, points};
use crate::sample::{Owned, SLOTS, Sample, constants};

/// Between the points of samples that follow each other: a prime, so that a few samples are some of everything.
const STRIDE: usize = 1_000_003;

/// Most differences that are told of an operation.
const TOLD: usize = 3;

/// Samples with the slots of their kernel.
type Placed = Vec<(Sample, u8)>;

/// What was compared, and what differs.
#[derive(Default)]
pub struct Tally {
    /// Instructions.
    pub samples: usize,
    /// Kernels.
    pub kernels: usize,
    /// Of each operation, by its name.
    pub operations: BTreeMap<String, Counts>,
    /// How many were interpreted for what reason.
    pub reasons: BTreeMap<String, usize>,
    /// How often operations differ, and how.
    pub differing: BTreeMap<String, (usize, Vec<String>)>,
}

/// What there is of an operation.
#[derive(Default)]
pub struct Counts {
    /// Points that were looked at.
    pub points: usize,
    /// Those that an instruction was found for.
    pub samples: usize,
    /// Those of them that translated code has interpreted.
    pub interpreted: usize,
}

/// What an operation is called.
fn name(operation: Operation) -> String {
    match operation.function {
        Some(function) => format!("math {function:?}"),
        None => operation.opcode.info().mnemonic.to_owned(),
    }
}

/// A kernel that is being filled.
#[derive(Default)]
struct Filling {
    placed: Placed,
    slots: u8,
}

/// Compares so many instructions, of the points from that of a seed on: those of the next seed go on where they end, or nearly. Most
/// are executed by baseline code.
pub fn compare(count: usize, seed: u64) -> Tally {
    let points = points(&operations(GENERATION));
    let mut tally = Tally::default();
    // Of each width of a thread, with and without addresses of registers, with and without accumulators that are host code.
    let mut filling: [Filling; 12] = Default::default();
    // Three of five points have an instruction.
    for number in (seed as usize - 1) * count / 3 * 5.. {
        if tally.samples >= count {
            break;
        }
        let point = points[number % points.len() * STRIDE % points.len()];
        let mut random = Random::new(number as u64);
        let sample = Sample::new(&mut random, &point);
        let counts = tally.operations.entry(name(point.operation)).or_default();
        counts.points += 1;
        counts.samples += usize::from(sample.is_some());
        let Some(sample) = sample else { continue };
        let kinds = [sample.is_indirect(), sample.accumulates_natively()].map(usize::from);
        let kind = sample.width.ilog2() as usize - 3 + kinds[0] * 3 + kinds[1] * 6;
        if filling[kind].slots + sample.slots() > SLOTS {
            flush(&mut filling[kind], &mut random, &mut tally);
        }
        tally.samples += 1;
        let Filling { placed, slots } = &mut filling[kind];
        placed.push((sample, *slots));
        *slots += sample.slots();
    }
    for filled in &mut filling {
        flush(filled, &mut Random::new(seed), &mut tally);
    }
    tally
}

/// Runs a kernel and begins a new one.
fn flush(filling: &mut Filling, random: &mut Random, tally: &mut Tally) {
    let placed = std::mem::take(&mut filling.placed);
    filling.slots = 0;
    if placed.is_empty() {
        return;
    }
    let case = case(random, &placed);
    tally.kernels += 1;
    // What is tested is what is written for LLVM, which takes most of the time.
    let tier = tier().unwrap_or(if random.one_in(3) { Tier::Optimised } else { Tier::Baseline });
    let translator = Arc::new(Translator { host: case.host, tier, ..Translator::default() });
    let Some((interpreted, translated)) = both(&case, &placed, &translator, tally) else { return };
    count_interpreted(&placed, &translator, tally);
    if interpreted == translated {
        return;
    }
    // Flags are what instructions before have left: the first difference is the cause of others.
    let differs = |(sample, slot): &(Sample, u8)| difference(sample, *slot, &interpreted, &translated);
    match placed.iter().find_map(|at| Some((at.0, differs(at)?))) {
        Some((sample, text)) => tell(tally, &sample, &case, &text),
        None if different_elsewhere(&placed, &interpreted, &translated) => {
            tell(tally, &placed[0].0, &case, "registers that no instruction writes");
        }
        None => {}
    }
}

fn case(random: &mut Random, placed: &Placed) -> Case {
    let width = placed[0].0.width;
    let full = u32::MAX >> (32 - u32::from(width));
    Case {
        body: placed.iter().flat_map(|(sample, slot)| sample.placed(*slot)).collect(),
        width: u32::from(width),
        threads: 1,
        mask: if random.one_in(2) { full } else { random.next_u32() & full | 1 },
        constants: constants(random, CONSTANTS),
        data: vec![0; DATA_SIZE as usize],
        host: hosts()[0],
        rounds: None,
        strict: false,
        control: random.pick(&[0x4c0, 0x4c0, 0x4c0, 0, 0x4d0, 0x4e0, 0x4f0]),
    }
}

/// Counts the samples that translated code leaves to the interpreter.
fn count_interpreted(placed: &Placed, translator: &Translator, tally: &mut Tally) {
    let left = translator.interpreted.lock().unwrap();
    let mut first = BEFORE;
    for (sample, slot) in placed {
        let own = (first + sample.before()) as u32;
        first += sample.placed(*slot).len();
        let Some(found) = left.iter().find(|left| left.instruction == own) else { continue };
        tally.operations.entry(operation(sample)).or_default().interpreted += 1;
        *tally.reasons.entry(found.reason.clone()).or_default() += 1;
    }
}

/// What a sample computes.
fn operation(sample: &Sample) -> String {
    let function = match sample.instruction.extra {
        Extra::Math(function) => Some(function),
        _ => None,
    };
    name(Operation { opcode: sample.instruction.opcode, function })
}

/// What both engines leave; instructions that fault are told.
fn both(
    case: &Case,
    placed: &Placed,
    translator: &Arc<Translator>,
    tally: &mut Tally,
) -> Option<(Outcome, Outcome)> {
    let Some(code) = code(case) else {
        tell(tally, &placed[0].0, case, "cannot be encoded");
        return None;
    };
    match [None, Some(translator)].map(|translator| run(case, &code, translator)) {
        [Ok(a), Ok(b)] => Some((a, b)),
        [a, b] => {
            let text = format!("interpreted {:?}, translated {:?}", a.err(), b.err());
            tell(tally, &placed[0].0, case, &text);
            None
        }
    }
}

fn tell(tally: &mut Tally, sample: &Sample, case: &Case, text: &str) {
    let (count, texts) = tally.differing.entry(operation(sample)).or_default();
    *count += 1;
    if texts.len() < TOLD {
        let [mask, control] = [case.mask, case.control];
        let head = format!("SIMD{}, mask {mask:#x}, cr0 {control:#x}", sample.width);
        let lines: Vec<_> = sample.placed(0).iter().map(|i| print(GENERATION, i)).collect();
        let text = format!("{head}: {text}\n    {}", lines.join("\n    "));
        // At once, as the rest may take long.
        println!("{text}");
        texts.push(text);
    }
}

/// The first difference of what a sample writes.
fn difference(sample: &Sample, slot: u8, a: &Outcome, b: &Outcome) -> Option<String> {
    for Owned { what, bytes, float } in sample.owned(slot) {
        let step = float.map_or(4, |ty| ty.size() as usize);
        for at in bytes.clone().step_by(step) {
            let [a, b] = [&a.registers[at..at + step], &b.registers[at..at + step]];
            if a != b && !float.is_some_and(|ty| is_nan(a, ty) && is_nan(b, ty)) {
                let place = at - bytes.start;
                return Some(format!("{what}, byte {place}: interpreted {a:02x?}, translated {b:02x?}"));
            }
        }
    }
    None
}

fn is_nan(bytes: &[u8], ty: Type) -> bool {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    match ty {
        Type::HF => bits & 0x7fff > 0x7c00,
        Type::F => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits).is_nan(),
    }
}

/// Whether registers differ that belong to no sample.
fn different_elsewhere(placed: &Placed, a: &Outcome, b: &Outcome) -> bool {
    let owned: Vec<_> = placed.iter().flat_map(|(sample, slot)| sample.owned(*slot)).collect();
    let inside = |at: &usize| owned.iter().any(|owned| owned.bytes.contains(at));
    (0..a.registers.len()).filter(|at| a.registers[*at] != b.registers[*at]).any(|at| !inside(&at))
}
