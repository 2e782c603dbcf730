//! Names and strings of LLVM IR, which may have any characters.

use std::fmt::Write;

/// What stands between the quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        match byte {
            b'"' | b'\\' | 0..=0x1f | 0x7f.. => {
                let _ = write!(all, "\\{byte:02x}");
            }
            byte => all.push(byte.into()),
        }
        all
    })
}

/// The name of a function or variable.
pub(crate) fn quoted(name: &str) -> String {
    format!("@\"{}\"", escaped(name))
}
