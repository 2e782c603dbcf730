//! `gencl-objdump`: the machine code of a profile as `objdump -d` prints it, for KCachegrind, which calls the program that
//! the variable `OBJDUMP` names (its `libviews/instrview.cpp` reads the output).

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;
use gencl_commands::objdump::Arguments;
use gencl_profile::callgrind::kernel_address;
use gencl_simulator::statistics::Report;

/// The bytes of an instruction, from the digits of a kernel's code.
fn bytes(code: &str, begin: usize, end: usize) -> String {
    let digits = code.get(2 * begin..2 * end).unwrap_or_default().as_bytes();
    digits.chunks(2).map(|byte| format!("{} ", String::from_utf8_lossy(byte))).collect()
}

fn text(report: &Report, arguments: &Arguments) -> String {
    let mut text = format!("\n{}:     file format gencl-profile\n\n", arguments.file.display());
    for (number, kernel) in report.kernels.iter().enumerate() {
        let base = kernel_address(number);
        for (index, instruction) in kernel.instructions.iter().enumerate() {
            let at = base + u64::from(instruction.offset);
            if !(arguments.start_address..arguments.stop_address).contains(&at) {
                continue;
            }
            if index == 0 {
                let _ = writeln!(text, "{at:016x} <{}>:", kernel.name);
            }
            let end = kernel.instructions.get(index + 1).map_or(kernel.code_bytes, |next| next.offset.into());
            let bytes = bytes(&kernel.code, instruction.offset as usize, end as usize);
            // The mnemonic, and its operands after a tab.
            let code = instruction.text.trim();
            let (mnemonic, operands) = code.split_once(' ').unwrap_or((code, ""));
            let _ = writeln!(text, "{at:8x}:\t{bytes}\t{mnemonic}\t{}", operands.trim());
        }
    }
    text
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match Report::read(&arguments.file) {
        Ok(report) => {
            // If it is closed, nobody reads it.
            let _ = std::io::stdout().write_all(text(&report, &arguments).as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("gencl-objdump: {error}");
            ExitCode::FAILURE
        }
    }
}
