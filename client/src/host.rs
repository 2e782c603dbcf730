//! The processor that translations are made for.

use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;

/// The properties that determine its instruction set.
const FIELDS: [&str; 5] = ["vendor_id", "cpu family", "model", "stepping", "flags"];

/// Bytes in which the first processor is described. The kernel takes its time to describe all of a large
/// machine.
const BEGINNING: u64 = 8 << 10;

/// Identifies the processor, for cache keys of translations. Empty where the system does not describe it.
pub(super) fn processor() -> &'static str {
    static PROCESSOR: OnceLock<String> = OnceLock::new();
    PROCESSOR.get_or_init(|| {
        let mut text = Vec::new();
        // What could not be read is missing, as where there is no such file.
        let _ = File::open("/proc/cpuinfo").and_then(|file| file.take(BEGINNING).read_to_end(&mut text));
        describe(&String::from_utf8_lossy(&text))
    })
}

fn describe(text: &str) -> String {
    let first = text.split("\n\n").next().unwrap_or_default();
    let field = |line: &&str| line.split(':').next().is_some_and(|name| FIELDS.contains(&name.trim()));
    first.lines().filter(field).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn what_changes_from_minute_to_minute_does_not_count() {
        let text = "processor\t: 0\nvendor_id\t: X\nmodel\t\t: 1\nmodel name\t: Y\ncpu MHz\t: 5\nflags\t: a b\n\nprocessor\t: 1\nmodel\t: 2\n";
        assert_eq!(describe(text), "vendor_id\t: X\nmodel\t\t: 1\nflags\t: a b");
        assert_eq!(describe(""), "");
    }
}
