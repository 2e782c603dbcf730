//! Runs the scripts of `eu/tests`.

use super::script::Script;

#[test]
fn scripts() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let mut count = 0;
    let mut failures = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "asm")) {
        let text = std::fs::read_to_string(path).unwrap();
        for script in Script::parse(&text) {
            count += 1;
            if let Err(error) = script.run() {
                failures.push(format!("{}:\n{}\n{error}", path.display(), script.code.trim()));
            }
        }
    }
    assert!(count > 0, "no scripts in {folder}");
    assert!(failures.is_empty(), "{} of {count} fail\n\n{}", failures.len(), failures.join("\n\n"));
}
