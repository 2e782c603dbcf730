//! What the processes of a program have found.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use gencl_program::found::{Found, FoundKey};

/// Reads the files of a folder, and joins findings of the same place: counts are added. Sorted by place, those in kernels
/// first.
///
/// # Errors
/// A file that cannot be read. A last line that is not complete, of a process that was killed, is left out.
pub fn collect(folder: &Path) -> Result<Vec<Found>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        all.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
    }
    Ok(join(all))
}

/// Joins findings with the same key. The first one's numbers are kept.
fn join(all: Vec<Found>) -> Vec<Found> {
    let mut known: HashMap<FoundKey, usize> = HashMap::new();
    let mut joined: Vec<Found> = Vec::new();
    for found in all {
        match known.entry(found.key()) {
            Entry::Occupied(index) => joined[*index.get()].add(&found),
            Entry::Vacant(place) => {
                place.insert(joined.len());
                joined.push(found);
            }
        }
    }
    joined.sort_by_cached_key(|found| {
        let place = found.places().first();
        let position = place.map(|place| (place.file.clone(), place.line, place.column));
        let check = if let Found::Kernel(finding) = found { Some(finding.site.check) } else { None };
        (check.is_none(), position, check, found.kind(), found.subject().to_owned())
    });
    joined
}

#[cfg(test)]
mod tests {
    use gencl_program::finding::{Check, Finding, Place, Site};
    use gencl_program::misuse::{Misuse, MisuseKind};

    use super::*;

    fn misuse(text: &str) -> Found {
        Found::Calls(Misuse {
            misuse: MisuseKind::ObjectLeak,
            call: "clCreateBuffer".into(),
            text: text.into(),
            places: Vec::new(),
            other: None,
            count: 2,
        })
    }

    fn finding(kernel: &str, line: u32, work_item: u32) -> Found {
        let place = Place { function: kernel.into(), file: "a.cl".into(), line, column: 1 };
        Found::Kernel(Finding {
            kernel: kernel.into(),
            site: Site { check: Check::Division, object: None, places: vec![place] },
            work_item: [work_item, 0, 0],
            address: 0,
            offset: 0,
            size: 0,
            other: None,
            count: 2,
            launches: 1,
        })
    }

    #[test]
    fn equal_places_are_one() {
        let joined = join(vec![
            misuse("x"),
            finding("a", 7, 3),
            finding("a", 2, 0),
            finding("a", 7, 1),
            misuse("y"),
            misuse("x"),
            finding("b", 7, 0),
        ]);
        let said: Vec<_> = joined
            .iter()
            .map(|one| match one {
                Found::Kernel(one) => (one.kernel.as_str(), one.site.places[0].line, one.work_item[0]),
                Found::Calls(one) => (one.text.as_str(), 0, 0),
            })
            .collect();
        assert_eq!(said, [("a", 2, 0), ("a", 7, 3), ("b", 7, 0), ("x", 0, 0), ("y", 0, 0)]);
        let times: Vec<_> = joined.iter().map(Found::times).collect();
        assert_eq!(
            times,
            ["2 times in 1 launch", "4 times in 2 launches", "2 times in 1 launch", "4 times", "2 times"]
        );
    }

    #[test]
    fn a_line_that_is_cut_off_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let line = serde_json::to_string(&finding("a", 1, 0)).unwrap();
        std::fs::write(folder.path().join("1.jsonl"), format!("{line}\n{}", &line[..20])).unwrap();
        std::fs::write(folder.path().join("2.jsonl"), format!("{line}\n")).unwrap();
        let found = collect(folder.path()).unwrap();
        assert_eq!((found.len(), found[0].count()), (1, 4));
        assert!(collect(&folder.path().join("none")).unwrap_err().contains("none"));
    }
}
