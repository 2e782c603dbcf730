//! Line tables, read with another DWARF library than the one that writes them.
#![cfg(feature = "llvm")]

use std::path::Path;

use addr2line::Context;
use gencl_compiler::driver::{Build, Driver, Listener};
use gencl_program::debug::Debug;
use gencl_program::{Program, code_addresses};
use gimli::{Dwarf, EndianSlice, LittleEndian};

type Reader<'a> = EndianSlice<'a, LittleEndian>;

struct Quiet;

impl Listener for Quiet {
    fn progress(&mut self, _: &str, _: &str) {}
    fn print(&mut self, _: &str, _: &str) {}
}

fn try_compile(source: &[u8], options: &str, target: &str) -> Option<Program> {
    let debug = Debug::default();
    let build = Build { source, name: "<source>", options, target, ..Build::default() };
    Driver::new(&debug, &mut Quiet).build(&build).program
}

fn compile(source: &str, options: &str) -> Program {
    try_compile(source.as_bytes(), options, "skl").expect("the source compiles")
}

fn dwarf(program: &Program) -> Dwarf<Reader<'_>> {
    let section = |id: gimli::SectionId| {
        let section = program.debug.iter().find(|section| section.name == id.name());
        let bytes = section.map_or(&[][..], |section| &section.bytes);
        Ok::<_, gimli::Error>(EndianSlice::new(bytes, LittleEndian))
    };
    Dwarf::load(section).unwrap()
}

/// A function and its line and column.
type Frame = (String, String, u32, u32);

/// The frames of an address, the innermost first.
fn frames(context: &Context<Reader<'_>>, address: u64) -> Vec<Frame> {
    let mut frames = context.find_frames(address).skip_all_loads().unwrap();
    let mut found = Vec::new();
    while let Some(frame) = frames.next().unwrap() {
        let function = frame.function.map(|function| function.raw_name().unwrap().into_owned());
        let place = frame.location.map(|place| {
            let file = place.file.unwrap_or_default().to_owned();
            (file, place.line.unwrap_or_default(), place.column.unwrap_or_default())
        });
        let (file, line, column) = place.unwrap_or_default();
        found.push((function.unwrap_or_default(), file, line, column));
    }
    found
}

/// The frames of each 8 bytes of a kernel's code.
fn all_frames(program: &Program, kernel: usize) -> Vec<Vec<Frame>> {
    let context = Context::from_dwarf(dwarf(program)).unwrap();
    let base = code_addresses(&program.kernels).nth(kernel).unwrap();
    let size = program.kernels[kernel].code.len() as u64;
    (base..base + size).step_by(8).map(|address| frames(&context, address)).collect()
}

const CALLS: &str = "float square(float x) {
  return x * x;
}
float norm(float a, float b) {
  return square(a) + square(b);
}
kernel void first(global float *out) {
  *out = 1;
}
kernel void second(global float *out, float a, float b) {
  int i = get_global_id(0);
  out[i] = norm(out[i], out[i + 1]);
}
";

#[test]
fn inlined_calls_are_frames() {
    let program = compile(CALLS, "-g");
    let frame = |function: &str, line, column| (function.to_owned(), "<source>".to_owned(), line, column);
    let call = |column| vec![frame("square", 2, 12), frame("norm", 5, column), frame("second", 12, 12)];
    let found = all_frames(&program, 1);
    assert!(found.contains(&call(10)), "{found:?}");
    assert!(found.iter().any(|frames| frames.last() == Some(&frame("second", 12, 10))), "{found:?}");
    assert!(found.iter().all(|frames| frames.last().is_some_and(|frame| frame.0 == "second")), "{found:?}");
    let other = all_frames(&program, 0);
    assert!(other.iter().all(|frames| frames.len() == 1 && frames[0].0 == "first"), "{other:?}");
}

#[test]
fn only_requested_lines_are_written() {
    assert_eq!(compile(CALLS, "").debug, []);
    let sections: Vec<_> = compile(CALLS, "-g").debug.into_iter().map(|section| section.name).collect();
    assert!(sections.contains(&".debug_line".to_owned()), "{sections:?}");
}

/// Names and texts of the files.
fn files(program: &Program) -> Vec<(String, Option<String>)> {
    let dwarf = dwarf(program);
    let header = dwarf.units().next().unwrap().unwrap();
    let unit = dwarf.unit(header).unwrap();
    let header = unit.line_program.clone().unwrap().header().clone();
    let text = |value| dwarf.attr_string(&unit, value).unwrap().to_string_lossy().into_owned();
    let files = header.file_names().iter().map(|file| {
        let source = file.source().map(text).filter(|source| !source.is_empty());
        (text(file.path_name()), source)
    });
    files.collect()
}

#[test]
fn texts_are_embedded() {
    let found = files(&compile(CALLS, "-g"));
    assert!(found.iter().all(|file| *file == ("<source>".into(), Some(CALLS.into()))), "{found:?}");
}

fn module(name: &str) -> Vec<u8> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/spirv");
    std::fs::read(corpus.join(name)).unwrap()
}

#[test]
fn modules_of_spirv_name_lines() {
    let source = module("spirv_lines.spv");
    let program = try_compile(&source, "-g", "skl").expect("it compiles");
    let frame = |function: &str, line, column| (function.to_owned(), "lines.cl".to_owned(), line, column);
    let found = all_frames(&program, 0);
    assert!(found.contains(&vec![frame("square", 1, 32), frame("lines", 3, 26)]), "{found:?}");
    assert!(found.contains(&vec![frame("lines", 3, 23)]), "{found:?}");
    let text = files(&program).into_iter().find_map(|(name, text)| text.filter(|_| name == "lines.cl"));
    assert!(text.is_some_and(|text| text.ends_with("^= square(p[get_global_id(0)]);\n}\n")));
    let plain = try_compile(&source, "", "skl").expect("it compiles");
    assert!(plain.debug.is_empty() && plain.kernels[0].code == program.kernels[0].code);
}

#[test]
fn calls_that_producers_of_spirv_inlined_are_frames() {
    let frame = |function: &str, line, column| (function.to_owned(), "lines.cl".to_owned(), line, column);
    for name in ["spirv_inlined.spv", "spirv_inlined_shader.spv"] {
        let program = try_compile(&module(name), "-g", "skl").expect("it compiles");
        let found = all_frames(&program, 0);
        let inlined = vec![frame("square", 1, 32), frame("norm", 2, 0), frame("lines", 4, 0)];
        assert!(found.contains(&inlined), "{name}: {found:?}");
        assert!(found.contains(&vec![frame("lines", 4, 23)]), "{name}: {found:?}");
        let is_in_kernel = |frames: &Vec<Frame>| frames.last().is_some_and(|frame| frame.0 == "lines");
        assert!(found.iter().all(is_in_kernel), "{name}: {found:?}");
    }
}

#[test]
fn line_directives_name_files_without_text() {
    let source = "kernel void k(global int *out) {\n#line 100 \"x.cl\"\n  *out = 3;\n}\n";
    let program = compile(source, "-g");
    let found = files(&program);
    assert!(found.contains(&("x.cl".into(), None)), "{found:?}");
    let frames = all_frames(&program, 0);
    assert!(frames.iter().flatten().any(|frame| frame.1 == "x.cl" && frame.2 == 100), "{frames:?}");
}

#[test]
fn strange_names_and_texts_do_no_harm() {
    for source in
        ["#line 7 \"\"\nkernel void k(global int *out) { *out = 3; }", "kernel void k() {} // \0 zero"]
    {
        assert!(!compile(source, "-g").debug.is_empty());
    }
}

/// All kernels of the test suite: the code is the same with line tables, and each instruction has a line.
#[test]
fn code_does_not_depend_on_lines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../utest/kernels");
    let folders = [folder.clone(), folder.join("bench")];
    let entries =
        folders.iter().flat_map(|folder| folder.read_dir().unwrap().map(|entry| entry.unwrap().path()));
    let mut compared = 0;
    for file in entries.filter(|path| path.is_file()) {
        let source = std::fs::read(&file).unwrap();
        for target in ["skl", "ivb"] {
            let Some(plain) = try_compile(&source, "-cl-std=CL3.0", target) else { continue };
            let lines = try_compile(&source, "-cl-std=CL3.0 -g", target).unwrap();
            for (number, (plain, kernel)) in plain.kernels.iter().zip(&lines.kernels).enumerate() {
                assert!(plain.code == kernel.code, "{}: {} on {target}", file.display(), kernel.name);
                let without = all_frames(&lines, number).iter().position(|frames| frames.is_empty());
                assert_eq!(without, None, "{}: {} on {target}", file.display(), kernel.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared} kernels");
}
