//! Conversion specifications of `printf` (OpenCL C 1.2, 6.12.13): parsing, and formatting by C's library.

use std::ffi::{CString, c_char, c_double, c_int, c_longlong};

/// A conversion specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Conversion<'f> {
    /// Any of `-+ #0`.
    pub(super) flags: &'f [u8],
    /// Minimum number of characters.
    pub(super) width: Option<u32>,
    /// The number after the period.
    pub(super) precision: Option<u32>,
    /// Number of elements of a vector: `v2`, `v3`, ...
    pub(super) vector: Option<u32>,
    /// Bytes by the length modifier: 1 (`hh`), 2 (`h`), 4 (`hl`) or 8 (`l`, `z`, `t`); `None` without one.
    pub(super) length: Option<u32>,
    /// The conversion specifier.
    pub(super) letter: u8,
}

/// Limit of width and precision, so that a short format does not produce gigabytes. It is the number of
/// characters that a conversion has to be able to produce (C11, 7.21.6.1, "Environmental limits").
const LARGEST: u32 = 4095;

impl<'f> Conversion<'f> {
    /// Parses a specification after its per cent sign. Returns also the rest of the text. `None` when it is
    /// no specification of OpenCL C.
    pub(super) fn parse(text: &'f [u8]) -> Option<(Self, &'f [u8])> {
        let end = |from: usize, wanted: fn(&u8) -> bool| {
            from + text[from..].iter().take_while(|byte| wanted(byte)).count()
        };
        let flags = end(0, |byte| b"-+ #0".contains(byte));
        let mut at = end(flags, u8::is_ascii_digit);
        let (flags, width) = (&text[..flags], &text[flags..at]);
        let width = (!width.is_empty()).then(|| number(width));
        let mut precision = None;
        if text.get(at) == Some(&b'.') {
            let begin = at + 1;
            at = end(begin, u8::is_ascii_digit);
            precision = Some(number(&text[begin..at]));
        }
        let mut vector = None;
        if text.get(at) == Some(&b'v') {
            let begin = at + 1;
            at = end(begin, u8::is_ascii_digit);
            let count = number(&text[begin..at]);
            vector = [2, 3, 4, 8, 16].contains(&count).then_some(count);
            vector?;
        }
        // An argument of `z` and `t` is narrower where addresses are.
        const LENGTHS: [(&[u8], u32); 6] =
            [(b"hh", 1), (b"hl", 4), (b"h", 2), (b"l", 8), (b"z", 8), (b"t", 8)];
        let length = LENGTHS.iter().find(|(word, _)| text[at..].starts_with(word));
        at += length.map_or(0, |(word, _)| word.len());
        let letter = *text.get(at).filter(|letter| b"diouxXfFeEgGaAcsp".contains(letter))?;
        let length = length.map(|(_, bytes)| *bytes);
        Some((Self { flags, width, precision, vector, length, letter }, &text[at + 1..]))
    }

    /// Appends an integer, given by its `size` bytes in the record.
    pub(super) fn integer(&self, value: u64, size: u32, out: &mut Vec<u8>) {
        // Scalars are promoted to int or long; the length modifier has the original type.
        let bytes = if self.vector.is_some() { size } else { self.length.unwrap_or(4).min(size) };
        let spare = 64 - 8 * bytes.clamp(1, 8);
        let value = match self.letter {
            b'd' | b'i' => ((value << spare) as i64) >> spare,
            _ => ((value << spare) >> spare) as i64,
        };
        let specification = self.specification("ll");
        // SAFETY: the specification takes one `long long`.
        print(out, |to, room| unsafe {
            libc::snprintf(to, room, specification.as_ptr(), value as c_longlong)
        });
    }

    /// Appends a character.
    pub(super) fn character(&self, value: u8, out: &mut Vec<u8>) {
        if value == 0 {
            // It would end the string for C's library.
            out.push(0);
            return;
        }
        let specification = self.specification("");
        // SAFETY: the specification takes one `int`.
        print(out, |to, room| unsafe {
            libc::snprintf(to, room, specification.as_ptr(), c_int::from(value))
        });
    }

    /// Appends a floating-point number.
    pub(super) fn float(&self, value: f64, out: &mut Vec<u8>) {
        let specification = self.specification("");
        // SAFETY: the specification takes one `double`.
        print(out, |to, room| unsafe { libc::snprintf(to, room, specification.as_ptr(), value as c_double) });
    }

    /// Appends an address.
    pub(super) fn pointer(&self, value: u64, out: &mut Vec<u8>) {
        let specification = self.specification("");
        let pointer = std::ptr::without_provenance::<u8>(value as usize);
        // SAFETY: the specification takes one pointer, which it only prints.
        print(out, |to, room| unsafe { libc::snprintf(to, room, specification.as_ptr(), pointer) });
    }

    /// Appends a string, given without the terminating zero.
    pub(super) fn string(&self, value: &[u8], out: &mut Vec<u8>) {
        let value = &value[..self.precision.map_or(value.len(), |most| value.len().min(most as usize))];
        let Ok(value) = CString::new(value) else { return };
        let specification = self.specification("");
        // SAFETY: the specification takes one string.
        print(out, |to, room| unsafe { libc::snprintf(to, room, specification.as_ptr(), value.as_ptr()) });
    }

    /// The specification for C's library, with the length modifier of the argument there.
    fn specification(&self, length: &str) -> CString {
        let mut bytes = [b"%", self.flags].concat();
        bytes.extend(self.width.map(|width| width.to_string()).unwrap_or_default().bytes());
        bytes.extend(self.precision.map(|precision| format!(".{precision}")).unwrap_or_default().bytes());
        bytes.extend([length.as_bytes(), &[self.letter]].concat());
        CString::new(bytes).expect("no zero among flags, digits and letters")
    }
}

/// The number that digits represent, at most [`LARGEST`]; 0 without digits.
fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |number, digit| (10 * number + u32::from(digit - b'0')).min(LARGEST))
}

/// Appends the output of `call`, an `snprintf`, which is repeated when it needs more space.
fn print(out: &mut Vec<u8>, call: impl Fn(*mut c_char, usize) -> c_int) {
    let mut room = 128;
    loop {
        let mut text = vec![0u8; room];
        let Ok(length) = usize::try_from(call(text.as_mut_ptr().cast(), room)) else { return };
        if length < room {
            out.extend_from_slice(&text[..length]);
            return;
        }
        room = length + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Conversion<'_> {
        let (conversion, rest) = Conversion::parse(text.as_bytes()).unwrap();
        assert!(rest.is_empty());
        conversion
    }

    #[test]
    fn specifications() {
        let expected = Conversion {
            flags: b"-+0",
            width: Some(8),
            precision: Some(3),
            vector: Some(16),
            length: Some(4),
            letter: b'f',
        };
        assert_eq!(parse("-+08.3v16hlf"), expected);
        assert_eq!(parse("hhd").length, Some(1));
        for long in ["lx", "zu", "td"] {
            assert_eq!(parse(long).length, Some(8));
        }
        for wrong in ["", "v5d", "*d", "n", "lld", "."] {
            assert_eq!(Conversion::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    fn text(conversion: &str, act: impl Fn(&Conversion<'_>, &mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        act(&parse(conversion), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_are_narrowed_by_their_length() {
        assert_eq!(text("hhd", |c, out| c.integer(0x1ff, 4, out)), "-1");
        assert_eq!(text("hu", |c, out| c.integer(0xffff_fffe, 4, out)), "65534");
        assert_eq!(text("d", |c, out| c.integer(0xffff_fffe, 4, out)), "-2");
        assert_eq!(text("#lx", |c, out| c.integer(u64::MAX, 8, out)), "0xffffffffffffffff");
        assert_eq!(text("zu", |c, out| c.integer(u64::MAX, 8, out)), "18446744073709551615");
        assert_eq!(text("td", |c, out| c.integer(0xffff_fffe, 4, out)), "-2");
        assert_eq!(text("v4hhx", |c, out| c.integer(0xff, 1, out)), "ff");
    }

    #[test]
    fn the_rest() {
        assert_eq!(text("8.2f", |c, out| c.float(-1.256, out)), "   -1.26");
        assert_eq!(text("a", |c, out| c.float(1.5, out)), "0x1.8p+0");
        assert_eq!(text("-4c", |c, out| c.character(b'x', out)), "x   ");
        assert_eq!(text("5.2s", |c, out| c.string(b"abc", out)), "   ab");
        assert_eq!(text("p", |c, out| c.pointer(0x1234, out)), "0x1234");
        assert_eq!(text("300d", |c, out| c.integer(7, 4, out)).len(), 300);
        assert_eq!(text(".s", |c, out| c.string(b"abc", out)), "");
    }

    #[test]
    fn width_and_precision_are_limited() {
        for width in ["4095", "4096", "2000000000", "99999999999"] {
            assert_eq!(text(&format!("{width}d"), |c, out| c.integer(7, 4, out)).len(), 4095);
            assert_eq!(text(&format!(".{width}f"), |c, out| c.float(1.0, out)).len(), 2 + 4095);
        }
    }
}
