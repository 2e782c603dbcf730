//! `gencl-objdump`.

use std::path::PathBuf;

use clap::Parser;

/// Prints the machine code in a profile in the format of objdump.
#[derive(Parser)]
#[command(name = "gencl-objdump", version)]
pub struct Arguments {
    /// Accepted as objdump does: names are shown as they are.
    #[arg(short = 'C', long)]
    pub demangle: bool,
    /// Accepted as objdump does: machine code is what is printed.
    #[arg(short = 'd', long)]
    pub disassemble: bool,
    /// The first address.
    #[arg(long, value_name = "ADDRESS", value_parser = address, default_value = "0")]
    pub start_address: u64,
    /// The address after the last one.
    #[arg(long, value_name = "ADDRESS", value_parser = address, default_value = "0xffffffffffffffff")]
    pub stop_address: u64,
    /// The file profile.json.
    pub file: PathBuf,
}

/// `0x1000` or `4096`.
fn address(text: &str) -> Result<u64, String> {
    let number =
        text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
    number.map_err(|_| "it must be an address, as 0x1000".to_owned())
}
