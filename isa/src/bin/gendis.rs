//! `gendis`: disassembles and assembles instructions.

use std::io::{Read, Write};
use std::process::ExitCode;

use gencl_isa::{Generation, decode_stream, encode, parse_program, print_program, validate};

const USAGE: &str = "\
usage: gendis [-g GENERATION] [-a | -x] [FILE]

Disassembles instructions (compacted ones too), or assembles them.
  -g GENERATION  gen7, gen7.5, ... (gen9)
  -x             the input is hexadecimal bytes, not binary
  -a             assembles text into bytes, written as hexadecimal lines
  -b             with -a: writes binary
FILE is read from standard input where it is missing or `-`.";

struct Arguments {
    generation: Generation,
    assemble: bool,
    hexadecimal: bool,
    binary: bool,
    file: Option<String>,
}

fn arguments() -> Result<Arguments, String> {
    let mut result = Arguments {
        generation: Generation::Gen9,
        assemble: false,
        hexadecimal: false,
        binary: false,
        file: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-a" => result.assemble = true,
            "-x" => result.hexadecimal = true,
            "-b" => result.binary = true,
            "-g" => {
                let name = words.next().ok_or("-g needs a generation")?;
                result.generation =
                    Generation::from_name(&name).ok_or(format!("there is no generation {name}"))?;
            }
            "-h" | "--help" => return Err(USAGE.to_owned()),
            "-" => result.file = None,
            option if option.starts_with('-') => return Err(format!("unknown option {option}\n{USAGE}")),
            file => result.file = Some(file.to_owned()),
        }
    }
    Ok(result)
}

fn input(file: Option<&str>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    match file {
        Some(path) => bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?,
        None => {
            std::io::stdin().read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        }
    }
    Ok(bytes)
}

/// Converts hexadecimal digits, grouped or not, to bytes.
fn from_hexadecimal(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = bytes.iter().copied().filter(|b| !b.is_ascii_whitespace() && *b != b',').collect();
    digits
        .chunks(2)
        .map(|pair| {
            let text = std::str::from_utf8(pair).map_err(|error| error.to_string())?;
            u8::from_str_radix(text, 16).map_err(|_| format!("{text} is no hexadecimal byte"))
        })
        .collect()
}

fn assemble(arguments: &Arguments, bytes: &[u8], out: &mut impl Write) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let program = parse_program(arguments.generation, text).map_err(|error| error.to_string())?;
    for instruction in program {
        for violation in validate(arguments.generation, &instruction) {
            eprintln!("gendis: warning: {}: {violation}", instruction.display(arguments.generation));
        }
        let code = encode(arguments.generation, &instruction)
            .map_err(|error| format!("{}: {error}", instruction.display(arguments.generation)))?;
        let written = if arguments.binary {
            out.write_all(&code)
        } else {
            let words: Vec<String> = code.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(out, "{}", words.join(" "))
        };
        written.map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn disassemble(arguments: &Arguments, bytes: &[u8], out: &mut impl Write) -> Result<(), String> {
    let bytes = if arguments.hexadecimal { from_hexadecimal(bytes)? } else { bytes.to_vec() };
    let stream = decode_stream(arguments.generation, &bytes)
        .map_err(|(offset, error)| format!("byte {offset:#x}: {error}"))?;
    // Labels assume instructions of 16 bytes: with compacted ones, offsets are printed as numbers.
    let text = if stream.iter().all(|(_, size, _)| *size == 16) {
        let program: Vec<_> = stream.into_iter().map(|(_, _, instruction)| instruction).collect();
        print_program(arguments.generation, &program)
    } else {
        let lines = stream.iter().map(|(offset, _, instruction)| {
            format!("{} // {offset:#x}\n", instruction.display(arguments.generation))
        });
        lines.collect()
    };
    out.write_all(text.as_bytes()).map_err(|error| error.to_string())
}

fn run() -> Result<(), String> {
    let arguments = arguments()?;
    let bytes = input(arguments.file.as_deref())?;
    let mut out = std::io::stdout().lock();
    if arguments.assemble {
        assemble(&arguments, &bytes, &mut out)
    } else {
        disassemble(&arguments, &bytes, &mut out)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("gendis: {message}");
            ExitCode::FAILURE
        }
    }
}
