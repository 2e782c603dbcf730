//! The log on standard error (`GENCL_DEBUG=log=LEVEL`).

use std::io::Write;

use gencl_program::debug::{self, Debug};
use gencl_program::{report, variables};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Reads `GENCL_DEBUG`, and reports variables that do not exist.
pub fn start() {
    let (debug, complaints) = Debug::from_environment();
    for complaint in complaints.into_iter().chain(variables::misspelt()) {
        report::once(&complaint, &complaint);
    }
    let Some(level) = debug.value(debug::LOG) else {
        return;
    };
    if let Ok(level) = level.parse() {
        // Fails when there is a subscriber already, which is this one.
        drop(tracing::subscriber::set_global_default(Log { level }));
    }
}

/// Prints one line for each event up to a level; spans are not used.
struct Log {
    level: Level,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("gencl {}: ", event.metadata().level().as_str().to_ascii_lowercase()));
        event.record(&mut line);
        line.0.push('\n');
        // One write, so that lines of several threads do not mix. Errors cannot be reported.
        let _ = std::io::stderr().write_all(line.0.as_bytes());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        use std::fmt::Write;
        let result = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
        result.expect("a String takes all text");
    }
}
