//! Findings that the user does not want to see.
//!
//! A file has a line for each kind: `KIND KERNEL FILE[:LINE]`, three words, each of which may be `*`. For faults in calls,
//! the second is the function of the API. What follows `#` is a comment. The file is the one of the innermost place,
//! without its folder.

use gencl_program::found::Found;

/// What is suppressed.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    kind: String,
    kernel: String,
    file: String,
    line: Option<u32>,
}

impl Suppressions {
    /// Parses a file.
    ///
    /// # Errors
    /// The first line that is none, with its number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rules = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<_> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [kind, kernel, place] => rules.push(rule(kind, kernel, place)),
                _ => {
                    return Err(format!(
                        "line {number}: it must be KIND KERNEL FILE[:LINE], each of which may be *"
                    ));
                }
            }
        }
        Ok(Self { rules })
    }

    /// Whether a finding is suppressed.
    #[must_use]
    pub fn has(&self, found: &Found) -> bool {
        let place = found.places().first();
        let (file, line) = place.map_or(("", 0), |place| (file_name(&place.file), place.line));
        let is = |pattern: &str, text| pattern == "*" || pattern == text;
        self.rules.iter().any(|rule| {
            is(&rule.kind, found.kind())
                && is(&rule.kernel, found.subject())
                && is(&rule.file, file)
                && rule.line.is_none_or(|own| own == line)
        })
    }
}

fn rule(kind: &str, kernel: &str, place: &str) -> Rule {
    let with_line = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line) = with_line.map_or((place, None), |(file, line)| (file, Some(line)));
    Rule { kind: kind.into(), kernel: kernel.into(), file: file.into(), line }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use gencl_program::finding::{Check, Finding, Place, Site};

    use super::*;

    #[test]
    fn rules_have_three_words() {
        let place = Place { function: "k".into(), file: "dir/a.cl".into(), line: 7, column: 1 };
        let finding = Found::Kernel(Finding {
            kernel: "k".into(),
            site: Site { check: Check::Read(4), object: None, places: vec![place] },
            work_item: [0; 3],
            address: 0,
            offset: 0,
            size: 0,
            other: None,
            count: 1,
            launches: 1,
        });
        let has = |text: &str| Suppressions::parse(text).unwrap().has(&finding);
        assert!(has("out-of-bounds-read k a.cl:7") && has("# all\n* * *  # of them\n") && has("* k a.cl"));
        assert!(!has("") && !has("* k a.cl:8") && !has("division-by-zero * *") && !has("* other *"));
        assert!(Suppressions::parse("* *").unwrap_err().starts_with("line 1: "));
    }
}
