//! File tests of the front ends: `tests/source/*.cl`, `tests/source/*.spvasm`.
//!
//! Comments at the head of a file are directives; see [`Test`]. The expected output is at the end of the
//! file, after `// expect`. With `BLESS=1` in the environment the tests write it instead of comparing.
//!
//! SPIR-V's comments begin with `;`. What is compiled is the module of the same name in `fuzz/corpus/spirv`,
//! as this repository has no assembler; `spirv/tests/witness.rs` makes it with Khronos', and compares both.
#![cfg(feature = "llvm")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use gencl_compiler::driver::{Build, Driver, Listener};
use gencl_compiler::ir::Unit;
use gencl_compiler::ir::interpret::{Image, Launch, Memory, Value, run};
use gencl_compiler::ir::passes::{ControlFlow, Unobserved, standard};
use gencl_compiler::ir::text::print;
use gencl_program::debug::Debug;

/// What begins a comment in a file.
fn comment_of(path: &Path) -> &'static str {
    if path.extension().is_some_and(|extension| extension == "spvasm") { ";" } else { "//" }
}

/// What is compiled: the text, or the module that it is the assembly of.
fn source_of(path: &Path, text: &str) -> Vec<u8> {
    match comment_of(path) {
        ";" => {
            let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/spirv");
            let module = corpus.join(path.file_stem().unwrap()).with_extension("spv");
            std::fs::read(&module).unwrap_or_else(|e| panic!("{}: {e}", module.display()))
        }
        _ => text.as_bytes().to_vec(),
    }
}

/// Directives, one a line:
///
/// - `// options OPTION...`: build options;
/// - `// target NAME`: the target, else `skl`;
/// - `// ir`: expect Gen IR as translated, without the arguments' metadata;
/// - `// fails`: expect the build log of an error;
/// - `// log`: expect the build log of a successful build;
/// - `// run GLOBAL LOCAL`: run the first kernel, as translated and lowered at 8, 16 and 32 lanes, expect all
///   buffers;
/// - `// buffer TYPE NUMBER...` an argument: numbers of type `int`, `uint`, `ulong` or `float`, or `iota N`
///   or `zero N`;
/// - `// value TYPE NUMBER...` an argument of the run, by value;
/// - `// local BYTES` an argument of the run;
/// - `// image TYPE WIDTH HEIGHT DEPTH NUMBER...` an argument of the run: four channels for each texel. With
///   `array` for TYPE's second word the last size that is not 1 counts layers. It is printed after the buffers;
/// - `// sampler NUMBER` an argument of the run.
#[derive(Default)]
struct Test {
    options: String,
    target: Option<String>,
    ir: bool,
    fails: bool,
    log: bool,
    run: Option<(u32, u32)>,
    arguments: Vec<Argument>,
}

enum Argument {
    Buffer(Type, Vec<u8>),
    Value(Vec<u8>),
    Local(u32),
    Image(Type, Image),
    Sampler(u32),
}

#[derive(Clone, Copy)]
enum Type {
    Int,
    Uint,
    Ulong,
    Float,
}

impl Type {
    fn parse(word: &str) -> Type {
        match word {
            "int" => Type::Int,
            "uint" => Type::Uint,
            "ulong" => Type::Ulong,
            "float" => Type::Float,
            _ => panic!("type {word}"),
        }
    }

    fn bytes(self, word: &str) -> Vec<u8> {
        let hex = |word: &str| word.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16).unwrap());
        match self {
            Type::Int => word.parse::<i32>().unwrap().to_le_bytes().to_vec(),
            Type::Uint => {
                let value = hex(word).unwrap_or_else(|| word.parse().unwrap());
                (value as u32).to_le_bytes().to_vec()
            }
            Type::Ulong => hex(word).unwrap_or_else(|| word.parse().unwrap()).to_le_bytes().to_vec(),
            Type::Float => word.parse::<f32>().unwrap().to_le_bytes().to_vec(),
        }
    }

    fn all(self, words: &[&str]) -> Vec<u8> {
        match words {
            ["iota", count] => {
                (0..count.parse().unwrap()).flat_map(|i: u32| self.bytes(&i.to_string())).collect()
            }
            ["zero", count] => (0..count.parse().unwrap()).flat_map(|_: u32| self.bytes("0")).collect(),
            _ => words.iter().flat_map(|word| self.bytes(word)).collect(),
        }
    }

    fn print(self, bytes: &[u8]) -> String {
        let four = |chunk: &[u8]| <[u8; 4]>::try_from(chunk).unwrap();
        match self {
            Type::Int => join(bytes.chunks(4).map(|c| i32::from_le_bytes(four(c)).to_string())),
            Type::Uint => join(bytes.chunks(4).map(|c| format!("{:#x}", u32::from_le_bytes(four(c))))),
            Type::Ulong => {
                join(bytes.chunks(8).map(|c| format!("{:#x}", u64::from_le_bytes(c.try_into().unwrap()))))
            }
            Type::Float => join(bytes.chunks(4).map(|c| f32::from_le_bytes(four(c)).to_string())),
        }
    }
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

fn directives(text: &str, comment: &str) -> Test {
    let mut test = Test::default();
    for line in text.lines().map_while(|line| line.strip_prefix(comment)) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["options", options @ ..] => test.options = options.join(" "),
            ["target", name] => test.target = Some((*name).to_owned()),
            ["ir"] => test.ir = true,
            ["fails"] => test.fails = true,
            ["log"] => test.log = true,
            ["run", global, local] => test.run = Some((global.parse().unwrap(), local.parse().unwrap())),
            ["buffer", ty, words @ ..] => {
                let ty = Type::parse(ty);
                test.arguments.push(Argument::Buffer(ty, ty.all(words)));
            }
            ["value", ty, words @ ..] => test.arguments.push(Argument::Value(Type::parse(ty).all(words))),
            ["image", ty, "array", sizes @ ..] => test.arguments.push(image(Type::parse(ty), true, sizes)),
            ["image", ty, sizes @ ..] => test.arguments.push(image(Type::parse(ty), false, sizes)),
            ["sampler", number] => test.arguments.push(Argument::Sampler(number.parse().unwrap())),
            ["local", bytes] => test.arguments.push(Argument::Local(bytes.parse().unwrap())),
            _ => {}
        }
    }
    test
}

/// An image of the sizes and channels that a directive gives.
fn image(ty: Type, array: bool, words: &[&str]) -> Argument {
    let (size, channels) = words.split_at(3);
    let channels = ty.all(channels);
    let channel = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let texel = |bytes: &[u8]| [0, 4, 8, 12].map(|at| channel(&bytes[at..at + 4]));
    let size = [0, 1, 2].map(|axis| size[axis].parse().unwrap());
    Argument::Image(ty, Image { size, array, texels: channels.chunks(16).map(texel).collect() })
}

struct Silent;

impl Listener for Silent {
    fn progress(&mut self, _: &str, _: &str) {}
    fn print(&mut self, _: &str, _: &str) {}
}

/// Runs the first kernel and returns its buffers as text.
fn buffers_after_run(unit: &Unit, test: &Test, width: u32) -> String {
    let (global, local) = test.run.unwrap();
    let mut memory = Memory::default();
    let mut launch = Launch::linear(width, global, local);
    let (mut buffers, mut images) = (Vec::new(), Vec::new());
    for argument in &test.arguments {
        launch.arguments.push(match argument {
            Argument::Buffer(ty, bytes) => {
                let address = memory.add(bytes.clone());
                buffers.push((*ty, address));
                Value::Address(address)
            }
            Argument::Value(bytes) => Value::Bytes(bytes.clone()),
            Argument::Local(bytes) => Value::Local(*bytes),
            Argument::Image(ty, image) => {
                let number = memory.add_image(image.clone());
                images.push((*ty, number));
                Value::Image(number)
            }
            Argument::Sampler(number) => Value::Sampler(*number),
        });
    }
    if let Err(trap) = run(&unit.functions[0], &unit.data, &launch, &mut memory) {
        return format!("// trap: {trap}\n");
    }
    let mut text = String::new();
    for (ty, address) in buffers {
        let _ = writeln!(text, "// {}", ty.print(memory.buffer(address).expect("still there")));
    }
    for (ty, number) in images {
        let texels = &memory.image(number).expect("still there").texels;
        let bytes: Vec<u8> = texels.iter().flatten().flat_map(|channel| channel.to_le_bytes()).collect();
        let _ = writeln!(text, "// {}", ty.print(&bytes));
    }
    text
}

/// The output of a test, to compare with the text after `// expect`.
fn result(path: &Path, source: &str, test: &Test) -> String {
    let debug = Debug::default();
    let name = path.file_name().unwrap().to_string_lossy();
    let target = test.target.as_deref().unwrap_or("skl");
    let source = source_of(path, source);
    let build = Build { source: &source, name: &name, options: &test.options, target, ..Build::default() };
    let comment = |text: &str| text.lines().map(|line| format!("// {line}\n")).collect::<String>();
    if test.log {
        let outcome = Driver::new(&debug, &mut Silent).build(&build);
        assert!(outcome.program.is_some(), "{}: {}", path.display(), outcome.log);
        return comment(&outcome.log);
    }
    let unit = match Driver::new(&debug, &mut Silent).translate(&build) {
        Err(log) => {
            assert!(test.fails, "{}: {log}", path.display());
            return comment(&log);
        }
        Ok(unit) => unit,
    };
    assert!(!test.fails, "{} compiles", path.display());
    let mut text = String::new();
    if test.ir {
        let described = |line: &&str| !line.trim_start().starts_with("meta ");
        text += &comment(&print(&unit).lines().filter(described).collect::<Vec<_>>().join("\n"));
    }
    if test.run.is_some() {
        let buffers = buffers_after_run(&unit, test, 8);
        for &(name, strategy) in ControlFlow::NAMES {
            let mut lowered = unit.clone();
            standard(&mut lowered, strategy, &mut Unobserved)
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            for width in [8, 16, 32] {
                let after = buffers_after_run(&lowered, test, width);
                assert_eq!(buffers, after, "{}: {name} at {width} lanes", path.display());
            }
        }
        text += &buffers;
    }
    text
}

#[test]
fn sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/source");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut failures = String::new();
    for path in paths.iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let text = std::fs::read_to_string(path).unwrap();
        let comment = comment_of(path);
        let expect = format!("\n{comment} expect\n");
        let (source, expected) = text.split_once(&expect).unwrap_or((text.trim_end(), ""));
        let found = result(path, source, &directives(source, comment));
        let found: String = found.lines().map(|line| format!("{comment}{}\n", &line[2..])).collect();
        assert!(!found.is_empty(), "{}: nothing to expect", path.display());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, format!("{source}{expect}{found}")).unwrap();
        } else if found != expected {
            let _ = writeln!(failures, "{}: expected\n{expected}found\n{found}", path.display());
        }
    }
    assert!(failures.is_empty(), "{failures}BLESS=1 writes what was found into the files");
}
