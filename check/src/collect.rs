//! What the processes of a program have found.

use std::collections::HashMap;
use std::path::Path;

use gencl_program::finding::{Finding, Site};

/// Reads the files of a folder, and joins findings of the same kernel and place: counts are added. Sorted by place.
///
/// # Errors
/// A file that cannot be read. A last line that is not complete, of a process that was killed, is left out.
pub fn collect(folder: &Path) -> Result<Vec<Finding>, String> {
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

/// Joins findings of the same kernel and site. The first one's numbers are kept.
fn join(all: Vec<Finding>) -> Vec<Finding> {
    let mut known: HashMap<(String, Site), usize> = HashMap::new();
    let mut joined: Vec<Finding> = Vec::new();
    for finding in all {
        let key = (finding.kernel.clone(), finding.site.clone());
        match known.get(&key) {
            Some(&index) => {
                joined[index].count += finding.count;
                joined[index].launches += finding.launches;
            }
            None => {
                known.insert(key, joined.len());
                joined.push(finding);
            }
        }
    }
    joined.sort_by(|a, b| {
        let key = |finding: &Finding| {
            let place = finding.site.places.first();
            (place.map(|place| (place.file.clone(), place.line, place.column)), finding.site.check)
        };
        (key(a), &a.kernel).cmp(&(key(b), &b.kernel))
    });
    joined
}

#[cfg(test)]
mod tests {
    use gencl_program::finding::{Check, Place};

    use super::*;

    fn finding(kernel: &str, line: u32, work_item: u32) -> Finding {
        let place = Place { function: kernel.into(), file: "a.cl".into(), line, column: 1 };
        Finding {
            kernel: kernel.into(),
            site: Site { check: Check::Division, object: None, places: vec![place] },
            work_item: [work_item, 0, 0],
            address: 0,
            offset: 0,
            size: 0,
            other: None,
            count: 2,
            launches: 1,
        }
    }

    #[test]
    fn equal_places_are_one() {
        let joined =
            join(vec![finding("a", 7, 3), finding("a", 2, 0), finding("a", 7, 1), finding("b", 7, 0)]);
        let said: Vec<_> = joined
            .iter()
            .map(|one| {
                (one.kernel.as_str(), one.site.places[0].line, one.work_item[0], one.count, one.launches)
            })
            .collect();
        assert_eq!(said, [("a", 2, 0, 2, 1), ("a", 7, 3, 4, 2), ("b", 7, 0, 2, 1)]);
    }

    #[test]
    fn a_line_that_is_cut_off_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let line = serde_json::to_string(&finding("a", 1, 0)).unwrap();
        std::fs::write(folder.path().join("1.jsonl"), format!("{line}\n{}", &line[..20])).unwrap();
        std::fs::write(folder.path().join("2.jsonl"), format!("{line}\n")).unwrap();
        let found = collect(folder.path()).unwrap();
        assert_eq!((found.len(), found[0].count), (1, 4));
        assert!(collect(&folder.path().join("none")).unwrap_err().contains("none"));
    }
}
