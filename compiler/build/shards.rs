//! Splits the library into shards.
//!
//! Reading the symbol table of the whole library takes some 20 ms, that of a shard with a hundred functions a
//! negligible time. All overloads of a function are in one shard; an index has the shard of each function.
//! Functions of other shards are declared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::llvm::{Llvm, out_dir};

/// Minimum number of functions per shard, except the last.
const SHARD: usize = 100;

/// Prefix of the functions that `src/llvm/library.rs` links late. They have shards of their own, as the linker copies
/// all functions of a shard that the module declares.
const LATE: &str = "__gencl_late_";

/// A function or variable in text form.
struct Definition<'t> {
    text: &'t str,
    /// Functions and variables that it references.
    references: BTreeSet<&'t str>,
}

/// The parsed library.
#[derive(Default)]
struct Library<'t> {
    functions: BTreeMap<&'t str, Definition<'t>>,
    variables: BTreeMap<&'t str, Definition<'t>>,
    /// Declared functions: the compiler's and LLVM's intrinsics.
    declarations: BTreeMap<&'t str, &'t str>,
    /// The text that every shard repeats: target, attributes, metadata.
    common: String,
}

/// Writes the shards as bitcode, and `library64.rs` or `library32.rs` with the index, to `OUT_DIR`.
pub fn write(llvm: &Llvm, text: &str, bits: u32) {
    let library = parse(text);
    let mut shards: Vec<Vec<&str>> = vec![Vec::new()];
    let mut names: Vec<_> =
        library.functions.keys().map(|name| (name.starts_with(LATE), plain(name), *name)).collect();
    names.sort_unstable();
    assert!(names.last().is_some_and(|name| name.0), "no function is called {LATE}...");
    for (index, &(late, base, name)) in names.iter().enumerate() {
        let full = shards.last().is_some_and(|shard| shard.len() >= SHARD);
        let before = index.checked_sub(1).map(|before| names[before]);
        if before.is_some_and(|before| before.0 != late || full && before.1 != base) {
            shards.push(Vec::new());
        }
        shards.last_mut().expect("at least one").push(name);
    }

    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files = String::new();
    for (number, shard) in shards.iter().enumerate() {
        index.extend(shard.iter().map(|name| (*name, number)));
        let source = out_dir().join(format!("shard{bits}_{number}.ll"));
        std::fs::write(&source, library.shard(shard)).expect("OUT_DIR can be written");
        let bitcode = source.with_extension("bc");
        llvm.run("llvm-as", |command| command.arg(&source).arg("-o").arg(&bitcode));
        compress(&bitcode, &bitcode.with_extension("z")).expect("OUT_DIR can be read and written");
        let _ = writeln!(
            files,
            "    Shard::new(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/shard{bits}_{number}.z\"))),"
        );
    }
    let rows: String = index
        .iter()
        .fold(String::new(), |rows, (name, shard)| rows + &format!("    (\"{name}\", {shard}),\n"));
    let table = format!(
        "{{\nstatic SHARDS: [Shard; {}] = [\n{files}];\nLibrary {{\nshards: &SHARDS,\nindex: &[\n{rows}],\n}}\n}}\n",
        shards.len()
    );
    std::fs::write(out_dir().join(format!("library{bits}.rs")), table).expect("OUT_DIR can be written");
}

/// Writes a file compressed, in the format of zlib.
fn compress(from: &Path, to: &Path) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(File::create(to)?, Compression::best());
    encoder.write_all(&std::fs::read(from)?)?;
    encoder.finish().map(drop)
}

impl Library<'_> {
    /// The text of a module with these functions.
    fn shard(&self, names: &[&str]) -> String {
        let own: BTreeSet<&str> = names.iter().copied().collect();
        // Otherwise the bitcode has the path of the text.
        let mut text = format!("source_filename = \"library\"\n{}", self.common);
        let mut references = BTreeSet::new();
        for name in names {
            let function = &self.functions[name];
            text += function.text;
            references.extend(function.references.iter().copied());
        }
        for name in references.difference(&own) {
            if let Some(variable) = self.variables.get(name) {
                // A copy in each shard that needs it: the linker keeps one.
                text += variable.text;
                assert!(variable.references.is_empty(), "{name} refers to something");
            } else if let Some(function) = self.functions.get(name) {
                text += &declaration(function.text);
            } else {
                text += self.declarations[name];
            }
        }
        text
    }
}

/// Parses a module's text.
fn parse(text: &str) -> Library<'_> {
    let mut library = Library::default();
    let mut rest = text;
    while !rest.is_empty() {
        let line = &rest[..rest.find('\n').map_or(rest.len(), |end| end + 1)];
        let mut taken = line;
        if line.starts_with("define ") {
            let end = rest.find("\n}\n").expect("a function ends") + 3;
            taken = &rest[..end];
            let name = first_name(line);
            let references = names(taken).filter(|other| *other != name).collect();
            library.functions.insert(name, Definition { text: taken, references });
        } else if line.starts_with('@') {
            let name = first_name(line);
            let references = names(line).filter(|other| *other != name).collect();
            library.variables.insert(name, Definition { text: line, references });
        } else if line.starts_with("declare ") {
            library.declarations.insert(first_name(line), line);
        } else {
            library.common += line;
        }
        rest = &rest[taken.len()..];
    }
    library
}

/// A definition's first line as declaration.
fn declaration(definition: &str) -> String {
    let line = definition.lines().next().expect("a function has a line");
    let line = line.trim_end_matches('{').replacen("define linkonce_odr ", "declare ", 1);
    format!("{line}\n")
}

fn first_name(line: &str) -> &str {
    names(line).next().unwrap_or_else(|| panic!("no name in {line}"))
}

/// The symbols that a text references with `@`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('@').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_.$".contains(c));
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// The name in a mangled name: overloads of a function are in the same shard.
fn plain(name: &str) -> &str {
    let parse = || {
        let rest = name.strip_prefix("_Z")?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest[..digits].parse().ok()?;
        rest.get(digits..digits + length)
    };
    parse().unwrap_or(name)
}
