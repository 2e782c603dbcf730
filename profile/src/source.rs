//! Source texts by what the compiler sees of them.

/// A source without its comments, line by line as it was, and without white space at the ends of lines. Programs add comments with
/// random names to their sources, as pyopencl does, which make no other program.
pub fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('/', Some('/')) => {
                let mut last = '/';
                // A line that ends with a backslash continues in the next one.
                while let Some(next) = rest.next_if(|next| *next != '\n' || last == '\\') {
                    last = next;
                    if next == '\n' {
                        code.push('\n');
                    }
                }
            }
            ('/', Some('*')) => {
                rest.next();
                let mut last = ' ';
                for next in rest.by_ref() {
                    if next == '\n' {
                        code.push('\n');
                    }
                    if (last, next) == ('*', '/') {
                        break;
                    }
                    last = next;
                }
                code.push(' ');
            }
            ('"' | '\'', _) => {
                code.push(c);
                while let Some(next) = rest.next_if(|next| *next != '\n') {
                    code.push(next);
                    if next == '\\' {
                        code.extend(rest.next());
                    } else if next == c {
                        break;
                    }
                }
            }
            _ => code.push(c),
        }
    }
    let lines: Vec<&str> = code.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_are_removed_and_lines_stay() {
        for (text, code) in [
            ("int a; // b\nint c;\n// \u{fc}1a2b\n", "int a;\nint c;"),
            ("int a /* b\nc */ = 1;\n", "int a\n  = 1;"),
            ("a // b \\\nc\nd", "a\n\nd"),
            ("printf(\"// %d \\\" /* */\", 'x', '\\''); // e", "printf(\"// %d \\\" /* */\", 'x', '\\'');"),
            ("a / b /**/ c", "a / b   c"),
            ("/* not ended\n", ""),
        ] {
            assert_eq!(without_comments(text), code, "{text}");
        }
    }
}
