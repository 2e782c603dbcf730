//! Machine code of Intel's own compiler, which this crate must read as Intel's disassembler does,
//! write back, and find legal. Needs `ocloc` (Debian package `intel-opencl-icd`) and `iga64`.

use std::path::{Path, PathBuf};
use std::process::Command;

use gencl_isa::{
    Extra, Generation, Opcode, Send, decode, decode_first, encode, parse, print, validate, witness,
};

/// The kernels' machine code for a device; `None` where the compiler is not installed.
fn compile(device: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("intel-{device}"));
    std::fs::create_dir_all(&folder).expect("a folder for the results");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/mixed.cl");
    let run = |arguments: &[&str]| {
        Command::new("ocloc").args(arguments).args(["-device", device]).current_dir(&folder).output().ok()
    };
    let file = source.to_str().expect("a path in UTF-8");
    let compiled = run(&["compile", "-file", file, "-output", "mixed", "-output_no_suffix"])?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stdout));
    run(&["disasm", "-file", "mixed", "-dump", "parts"])?;
    let mut result = Vec::new();
    for entry in std::fs::read_dir(folder.join("parts")).expect("the parts of the program") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if let Some(kernel) = name.strip_suffix("_KernelHeap.dat") {
            result.push((kernel.to_owned(), std::fs::read(&path).expect("a readable file")));
        }
    }
    result.sort();
    Some(result)
}

/// Bytes up to and with the last message that ends the thread; padding follows.
fn program_size(generation: Generation, code: &[u8]) -> usize {
    let mut offset = 0;
    let mut end = 0;
    while let Some((size, instruction)) =
        code.get(offset..).and_then(|rest| decode_first(generation, rest).ok())
    {
        offset += size;
        if matches!(instruction.extra, Extra::Send(Send { end_of_thread: true, .. })) {
            end = offset;
        } else if instruction.opcode == Opcode::Illegal {
            break;
        }
    }
    end
}

fn check(generation: Generation, device: &str) {
    let Some(kernels) = compile(device) else {
        println!("ocloc is not installed: skipped");
        return;
    };
    assert!(kernels.len() >= 6, "{} kernels", kernels.len());
    for (name, code) in kernels {
        let code = &code[..program_size(generation, &code)];
        let stream = gencl_isa::decode_stream(generation, code).expect("decodable code");
        let compacted = stream.iter().filter(|(_, size, _)| *size == 8).count();
        println!("{device} {name}: {} instructions, {compacted} compacted", stream.len());
        for (offset, _, instruction) in &stream {
            let text = print(generation, instruction);
            assert_eq!(parse(generation, &text).as_ref(), Ok(instruction), "{name} {offset:#x}: {text}");
            let bytes = encode(generation, instruction).expect("encodable");
            assert_eq!(decode(generation, &bytes).as_ref(), Ok(instruction), "{name} {offset:#x}: {text}");
            let violations = validate(generation, instruction);
            assert!(violations.is_empty(), "{name} {offset:#x}: {text}: {}", violations[0]);
        }
        match witness::compare(generation, code) {
            Ok(differences) => {
                for d in &differences {
                    println!("{:#x}: {}\n  {}\n  {}", d.offset, d.what, d.ours, d.theirs);
                }
                assert!(differences.is_empty(), "{name}: {} differences", differences.len());
            }
            Err(witness::WitnessError::Missing) => println!("iga64 is not installed"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn skylake() {
    check(Generation::Gen9, "skl");
}

#[test]
fn broadwell() {
    check(Generation::Gen8, "bdw");
}
