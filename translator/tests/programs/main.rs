//! Random programs of the middle IR: the interpreter gives the same before and after passes, and so does the code of each host that this machine can execute.
//!
//! `GENCL_AGREE_PROGRAMS` programs instead of a few, from the seed `GENCL_AGREE_SEED` on, for all hosts or for `GENCL_AGREE_HOST`.

mod accesses;
mod execute;
mod generate;
#[path = "../ir/interpret.rs"]
mod interpret;
#[path = "../ir/parse.rs"]
mod parse;
mod shrink;
mod statements;
#[path = "../ir/verify.rs"]
mod verify;

use std::panic::{AssertUnwindSafe, catch_unwind};

use execute::{Ended, State, executed, interpreted};
use gencl_eu::abi::Tier;
use gencl_testing::Random;
use gencl_translator::host::Host;
use gencl_translator::middle::function::Function;
use gencl_translator::middle::op::{Binary, Convert, Op, Unary};
use gencl_translator::passes::{self, PASSES};
use generate::{Program, program};
use parse::parse;
use shrink::shrunk;
use verify::verify;

/// How a function is executed, to be compared with how the interpreter executes it before passes.
#[derive(Clone, Debug)]
struct Way {
    /// The passes that are run before, in any order; `None`: all of the tier, as kernels have them.
    passes: Option<Vec<usize>>,
    /// The host and the tier of its code, or the interpreter.
    host: Option<(&'static Host, Tier)>,
}

impl Way {
    fn applied(&self, function: &Function) -> Function {
        match &self.passes {
            None => passes::all(function, self.host.map(|(_, tier)| tier).unwrap_or_default()),
            Some(list) => list.iter().fold(function.clone(), |function, number| PASSES[*number].1(&function)),
        }
    }

    fn text(&self) -> String {
        let passes = match &self.passes {
            None => "all".to_owned(),
            Some(list) => list.iter().map(|number| PASSES[*number].0).collect::<Vec<_>>().join(", "),
        };
        match self.host {
            None => format!("interpreted after the passes {passes}"),
            Some((host, tier)) => format!("{tier:?} code for {host:?} after the passes {passes}"),
        }
    }

    /// What is otherwise than expected.
    fn fault(
        &self,
        program: &Program,
        function: &Function,
        state: &State,
        expected: &Ended,
    ) -> Option<String> {
        let compared = || {
            let own = self.applied(function);
            if let Err(why) = verify(&own) {
                return Some(why);
            }
            let ended = match self.host {
                None => interpreted(&own, state, None),
                Some((host, tier)) => match executed(program, &own, host, tier, state) {
                    Ok(ended) => ended,
                    Err(why) => return Some(why),
                },
            };
            expected.difference(&ended, program)
        };
        catch_unwind(AssertUnwindSafe(compared)).unwrap_or_else(|_| Some("a panic".to_owned()))
    }
}

/// What a function leaves behind, if all of that is defined.
fn defined(program: &Program, function: &Function, state: &State) -> Option<Ended> {
    let [one, other] = [1, 2].map(|seed| interpreted(function, state, Some(seed)));
    one.difference(&other, program).is_none().then(|| interpreted(function, state, None))
}

/// The ways to be tried for a seed.
fn ways(random: &mut Random, program: &Program) -> Vec<Way> {
    let sequence = (0..6).map(|_| random.below(PASSES.len())).collect();
    let mut ways: Vec<Way> = (0..PASSES.len())
        .map(|pass| vec![pass])
        .chain([sequence])
        .map(|passes| Way { passes: Some(passes), host: None })
        .collect();
    ways.push(Way { passes: None, host: None });
    let hosts: Vec<_> =
        hosts().into_iter().filter(|host| host.converts_halves || !program.converts_halves).collect();
    let tiers = [Tier::Baseline, Tier::Optimised];
    let codes = hosts.iter().flat_map(|host| tiers.map(|tier| (*host, tier)));
    ways.extend(codes.map(|code| Way { passes: None, host: Some(code) }));
    if !hosts.is_empty() {
        let code = (random.pick(&hosts), random.pick(&tiers));
        ways.push(Way { passes: Some(Vec::new()), host: Some(code) });
    }
    ways
}

/// The levels of x86-64 for which this machine can execute code, and its own processor; or the level `GENCL_AGREE_HOST` alone.
fn hosts() -> Vec<&'static Host> {
    match std::env::var("GENCL_AGREE_HOST") {
        Ok(name) => vec![Host::named(&name).unwrap_or_else(|| panic!("there is no level {name}"))],
        Err(_) => {
            let levels = ["v2", "v3", "v4"].into_iter().filter_map(Host::named).filter(|host| host.is_here());
            [Host::own()].into_iter().chain(levels).collect()
        }
    }
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What is wrong with the program of a seed; `Ok(false)`: it leaves behind what nothing defines.
fn check(seed: u64) -> Result<bool, String> {
    let program = program(seed);
    let function = &program.function;
    verify(function).map_err(|why| format!("seed {seed}: {why}\n{function}"))?;
    let text = function.to_string();
    parse(&text).and_then(|again| verify(&again)).map_err(|why| format!("seed {seed}: {why}\n{function}"))?;
    let mut random = Random::new(!seed);
    let threads = 1 + random.below(2_usize);
    let state = State::new(&mut random, threads);
    let Some(expected) = defined(&program, function, &state) else { return Ok(false) };
    for way in ways(&mut random, &program) {
        if way.fault(&program, function, &state, &expected).is_none() {
            continue;
        }
        let fails = |smaller: &Function| {
            // Without the beginning of an array, say, it is a fault, which code need not find.
            let alike = |own: &Ended| own.fault == expected.fault;
            defined(&program, smaller, &state)
                .filter(alike)
                .is_some_and(|expected| way.fault(&program, smaller, &state, &expected).is_some())
        };
        let function = shrunk(function, fails);
        let expected = interpreted(&function, &state, None);
        let fault = way.fault(&program, &function, &state, &expected).unwrap_or_default();
        return Err(format!("seed {seed}, {}: {fault}\n{function}", way.text()));
    }
    Ok(true)
}

#[test]
fn programs_agree() {
    let (count, first) = (setting("GENCL_AGREE_PROGRAMS", 16), setting("GENCL_AGREE_SEED", 1));
    let (mut failures, mut undefined) = (Vec::new(), 0);
    for seed in first..first + count {
        match check(seed) {
            Ok(true) => {}
            Ok(false) => undefined += 1,
            Err(failure) => {
                eprintln!("{failure}");
                failures.push(failure);
            }
        }
        if failures.len() == 5 {
            break;
        }
    }
    assert!(failures.is_empty(), "{} programs disagree", failures.len());
    assert!(undefined <= count / 10, "{undefined} of {count} programs are not defined");
}

/// `statements.rs` makes all of these.
#[test]
fn programs_have_all_operations() {
    let mut missing: Vec<Op> = Binary::ALL.iter().copied().map(Op::Binary).collect();
    missing.extend(Unary::ALL.iter().copied().map(Op::Unary));
    missing.extend(Convert::ALL.iter().copied().map(Op::Convert));
    for seed in 1..=200 {
        let function = program(seed).function;
        missing.retain(|op| function.instructions.values().all(|instruction| instruction.op != *op));
    }
    assert!(missing.is_empty(), "no program has {missing:?}");
}
