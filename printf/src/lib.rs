//! Formats and prints the records of kernels' `printf` ([`gencl_program::printf`]).
//!
//! C's library formats numbers and writes the output, so that the format is C's and the output is in order
//! with the application's. As that needs `unsafe` code, it is a crate of its own.

mod conversion;
mod output;

use conversion::Conversion;
use gencl_program::printf::{PrintfFormat, places};

/// Formats records and writes them to the standard output. `string` reads a string from the device's memory.
pub fn print(formats: &[PrintfFormat], records: &[u8], string: &dyn Fn(u64) -> Option<Vec<u8>>) {
    output::write(|out| format(formats, records, string, out));
}

/// Appends formatted records to `out`. `formats` are those of a program that
/// [`Program::check`](gencl_program::Program::check) has accepted; `records` may be any bytes.
pub fn format(
    formats: &[PrintfFormat],
    records: &[u8],
    string: &dyn Fn(u64) -> Option<Vec<u8>>,
    out: &mut Vec<u8>,
) {
    let mut rest = records;
    while let Some((number, _)) = rest.split_first_chunk::<4>() {
        // 0 marks the end. Any other invalid number was written by a faulty kernel.
        let index = (u32::from_le_bytes(*number) as usize).wrapping_sub(1);
        let Some(format) = formats.get(index) else { return };
        let (offsets, size) = places(&format.arguments);
        let Some((record, after)) = rest.split_at_checked(size as usize) else { return };
        print_record(format, &offsets, record, string, out);
        rest = after;
    }
}

fn print_record(
    format: &PrintfFormat,
    offsets: &[u32],
    record: &[u8],
    string: &dyn Fn(u64) -> Option<Vec<u8>>,
    out: &mut Vec<u8>,
) {
    // Each character of the format is a byte.
    let text: Vec<u8> = format.text.chars().map(|character| character as u8).collect();
    let mut arguments = format.arguments.iter().zip(offsets);
    let mut rest = text.as_slice();
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(b"%") {
            out.push(b'%');
            rest = after;
            continue;
        }
        // Anything that is no valid specification, or has no argument, is printed unchanged.
        let parsed = Conversion::parse(rest);
        let Some(((conversion, after), (argument, &offset))) =
            parsed.and_then(|parsed| Some((parsed, arguments.next()?)))
        else {
            out.push(b'%');
            continue;
        };
        rest = after;
        for element in 0..argument.count.min(conversion.vector.unwrap_or(1)) {
            if element > 0 {
                out.push(b',');
            }
            let begin = (offset + element * argument.size) as usize;
            let mut bytes = [0; 8];
            let size = argument.size as usize;
            bytes[..size].copy_from_slice(&record[begin..begin + size]);
            print_element(&conversion, u64::from_le_bytes(bytes), argument.size, string, out);
        }
    }
    out.extend_from_slice(rest);
}

fn print_element(
    conversion: &Conversion<'_>,
    bits: u64,
    size: u32,
    string: &dyn Fn(u64) -> Option<Vec<u8>>,
    out: &mut Vec<u8>,
) {
    match conversion.letter {
        b'c' => conversion.character(bits as u8, out),
        b's' => match (bits, string(bits)) {
            (0, _) => conversion.string(b"(null)", out),
            (_, Some(text)) => conversion.string(&text, out),
            (_, None) => conversion.string(b"(not in constant memory)", out),
        },
        b'p' => conversion.pointer(bits, out),
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => conversion.integer(bits, size, out),
        _ => {
            let value = match size {
                2 => half::f16::from_bits(bits as u16).to_f64(),
                4 => f32::from_bits(bits as u32).into(),
                _ => f64::from_bits(bits),
            };
            conversion.float(value, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use gencl_program::printf::PrintfArgument;

    use super::*;

    fn format(text: &str, arguments: &[(u32, u32)]) -> PrintfFormat {
        let arguments = arguments.iter().map(|&(size, count)| PrintfArgument { size, count }).collect();
        PrintfFormat { text: text.into(), arguments }
    }

    fn printed(formats: &[PrintfFormat], records: &[u8]) -> String {
        let mut out = Vec::new();
        let string = |address| (address == 0x1000).then(|| b"text".to_vec());
        super::format(formats, records, &string, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn records_come_in_order_until_the_first_that_is_missing() {
        let formats = [format("a%d\n", &[(4, 1)]), format("b 100%%\n", &[])];
        let dwords: [u32; 8] = [2, 1, 7, 2, 0, 1, 8, 0];
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        assert_eq!(printed(&formats, &bytes), "b 100%\na7\nb 100%\n");
        assert_eq!(printed(&formats, &9u32.to_le_bytes()), "");
        assert_eq!(printed(&formats, &1u32.to_le_bytes()), "", "a record that is cut");
    }

    #[test]
    fn vectors_and_strings() {
        let formats = [format("%v3hhd|%s|%v2hlf|%y%d", &[(1, 3), (8, 1), (4, 2)])];
        let mut bytes = vec![1, 0, 0, 0, 1, 0xff, 3, 0];
        bytes.extend(0x1000u64.to_le_bytes());
        bytes.extend(1.5f32.to_le_bytes());
        bytes.extend((-2f32).to_le_bytes());
        assert_eq!(printed(&formats, &bytes), "1,-1,3|text|1.500000,-2.000000|%y%d");
    }
}
