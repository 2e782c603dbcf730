//! Formatting of kernels' printf.

use gencl_program::printf::PrintfFormat;

/// Arbitrary formats of a program binary, and arbitrary records of a kernel.
pub fn printf(data: &[u8]) {
    let parts = crate::split(data);
    let [formats, records, ..] = parts.as_slice() else { return };
    let Ok(formats) = serde_json::from_slice::<Vec<PrintfFormat>>(formats) else { return };
    if formats.iter().all(PrintfFormat::is_sound) {
        let string = |address| (address & 1 == 0).then(|| b"string".to_vec());
        gencl_printf::format(&formats, records, &string, &mut Vec::new());
    }
}
