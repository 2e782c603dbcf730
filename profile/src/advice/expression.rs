//! The names in a source that advice is about.

/// The expression of an array access at the begin of a text: `tile[y][x]` of `tile[y][x] = 1;`.
pub fn array_access(text: &str) -> Option<&str> {
    let name = text.find(|c: char| !is_word(c)).filter(|length| *length > 0)?;
    let (mut end, mut depth) = (name, 0);
    for (at, letter) in text.char_indices().skip_while(|(at, _)| *at < name) {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if depth == 0 => break,
            _ => {}
        }
        if depth == 0 {
            end = at + letter.len_utf8();
        }
    }
    (end > name).then(|| &text[..end])
}

/// The name of the array that is accessed at the begin of a text.
pub fn array_name(text: &str) -> Option<&str> {
    array_access(text)?.split('[').next()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::{array_access, array_name};

    #[test]
    fn accesses_end_with_their_last_bracket() {
        assert_eq!(array_access("tile[y][x + n[2]] = in[0];"), Some("tile[y][x + n[2]]"));
        assert_eq!(array_access("sum + tile[0]"), None);
        assert_eq!(array_access("[0]"), None);
        assert_eq!(array_access("open[1"), None);
        assert_eq!(array_name("a[i] * b[j]"), Some("a"));
    }
}
