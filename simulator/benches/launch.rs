//! Measures the overhead of batches and launches: `cargo bench -p gencl-simulator --bench launch`.

#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../tests/node/translated/fake.rs"]
mod fake;
#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../tests/node/setup.rs"]
mod setup;

use std::time::{Duration, Instant};

use gencl_eu::abi::{Frame, Translation};
use gencl_i915::RenderNode;
use gencl_simulator::translated::source::{EngineChoice, Source};
use gencl_simulator::{Settings, Simulator};

use fake::Translator;
use setup::{CONTEXT, Launch, Machine, exec};

/// Repeats `body` for about half a second, and returns the time of one repetition.
fn time(mut body: impl FnMut()) -> Duration {
    body();
    let (begin, mut count) = (Instant::now(), 0);
    while begin.elapsed() < Duration::from_millis(500) {
        body();
        count += 1;
    }
    begin.elapsed() / count
}

/// A translated kernel that does nothing.
unsafe extern "C" fn nothing(_: *mut Frame) -> u32 {
    0
}

fn measure(settings: Settings) {
    println!("{} host threads, {:?}", settings.workers, settings.engine);
    let machine = Machine::new(Simulator::with_settings("skl", settings).unwrap());
    let run = || {
        exec(&machine.node, CONTEXT, &mut machine.objects()).unwrap();
        machine.node.gem_wait(machine.batch.handle, -1).unwrap();
    };
    machine.run(&[]).unwrap();
    println!("  empty batch, queued and waited for: {:?}", time(run));
    machine.run_kernel(&Launch::default()).unwrap();
    println!("  launch of an empty kernel, one work-group: {:?}", time(run));
    for threads in [2, 16] {
        let groups = 100_000;
        machine.run_kernel(&Launch { groups, threads, ..Launch::default() }).unwrap();
        println!("  work-group of {threads} threads that do nothing: {:?}", time(run) / groups);
    }
    assert_eq!(machine.error(), None);
}

fn main() {
    let all = Settings::default().workers;
    for workers in if all > 1 { vec![1, all] } else { vec![1] } {
        for engine in [EngineChoice::Interpret, EngineChoice::Translate] {
            let code = Translation { interpreted: Vec::new(), ..fake::group(nothing) };
            let translator = Translator::new(Ok(code), Duration::ZERO);
            let translations = Some(Source(translator));
            measure(Settings { workers, engine, translations, ..Settings::default() });
        }
    }
}
