//! The golden files: lines of a generation, an instruction's bytes, and its text.

use std::path::{Path, PathBuf};

use gencl_isa::{Generation, Instruction, parse};

/// A golden line's parts.
pub struct Golden<'a> {
    pub generation: Generation,
    /// Hexadecimal, or `-` in a new line.
    pub bytes: &'a str,
    pub text: &'a str,
}

impl<'a> Golden<'a> {
    /// `None` for comments and empty lines.
    pub fn parse(line: &'a str) -> Option<Golden<'a>> {
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let mut parts = line.splitn(3, ' ');
        let generation = parts.next().and_then(Generation::from_name).expect("a generation");
        let bytes = parts.next().expect("bytes");
        Some(Golden { generation, bytes, text: parts.next().expect("text") })
    }

    /// What the text says; `at` is told when it cannot be parsed.
    pub fn instruction(&self, at: &str) -> Instruction {
        parse(self.generation, self.text).unwrap_or_else(|error| panic!("{at}: {error}"))
    }
}

/// An instruction's bytes from hexadecimal digits; spaces do not matter.
pub fn bytes_of(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.split_whitespace().collect();
    let bytes: Option<Vec<u8>> =
        (0..digits.len()).step_by(2).map(|n| u8::from_str_radix(digits.get(n..n + 2)?, 16).ok()).collect();
    bytes?.try_into().ok()
}

/// Those of what a compiler emits, in the folder `compiled`, are named like their generation.
pub const COMPILED: &str = "compiled";

/// A golden file.
pub struct File {
    pub path: PathBuf,
    pub text: String,
}

impl File {
    /// Its golden lines, each with its place.
    pub fn lines(&self) -> impl Iterator<Item = (String, Golden<'_>)> {
        self.text.lines().enumerate().filter_map(|(number, line)| {
            Some((format!("{}:{}: {line}", self.path.display(), number + 1), Golden::parse(line)?))
        })
    }
}

/// All golden files, in a fixed order.
pub fn files() -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths = Vec::new();
    for folder in [folder.join(COMPILED), folder] {
        let entries = std::fs::read_dir(folder).expect("the folder of golden files");
        paths.extend(entries.map(|entry| entry.expect("a readable folder").path()));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    let read = |path: PathBuf| File { text: std::fs::read_to_string(&path).expect("readable"), path };
    paths.into_iter().map(read).collect()
}
