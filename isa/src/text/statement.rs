//! Statements: a text without comments, cut at semicolons.

/// A statement: the labels before it, its text, and where that starts.
#[derive(Debug)]
pub(super) struct Statement<'a> {
    pub(super) labels: Vec<&'a str>,
    pub(super) text: &'a str,
    pub(super) start: usize,
}

/// Splits a text without comments into statements; labels are taken off.
pub(super) fn statements(text: &str) -> Vec<Statement<'_>> {
    let mut result = Vec::new();
    let mut labels = Vec::new();
    let mut start = 0;
    loop {
        let rest = text[start..].trim_start();
        start = text.len() - rest.len();
        if rest.is_empty() {
            break;
        }
        let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if word > 0 && rest[word..].starts_with(':') {
            labels.push(&rest[..word]);
            start += word + 1;
            continue;
        }
        let Some(end) = rest.find(';').and_then(|first| statement_end(rest, first)) else {
            // A last statement needs no semicolon.
            result.push(Statement { labels: std::mem::take(&mut labels), text: rest, start });
            break;
        };
        if end > 0 {
            result.push(Statement { labels: std::mem::take(&mut labels), text: &rest[..end], start });
        }
        start += end + 1;
    }
    if !labels.is_empty() {
        result.push(Statement { labels, text: "", start: text.len() });
    }
    result
}

/// The semicolon that ends a statement: regions (`<8;8,1>`) have one too.
fn statement_end(text: &str, first: usize) -> Option<usize> {
    let mut position = first;
    loop {
        let inside = text[..position].rfind('<').is_some_and(|open| !text[open..position].contains('>'));
        if !inside {
            return Some(position);
        }
        position += 1 + text[position + 1..].find(';')?;
    }
}

/// The text with comments replaced by as many spaces, so that positions stay.
pub(super) fn without_comments(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        let (before, comment) = rest.split_at(start);
        let end = if comment.starts_with("//") {
            comment.find('\n').unwrap_or(comment.len())
        } else {
            comment.find("*/").map_or(comment.len(), |end| end + 2)
        };
        result.push_str(before);
        // Line ends stay, for error messages; one space per byte keeps columns.
        result.extend(comment[..end].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
        rest = &comment[end..];
    }
    result.push_str(rest);
    result
}
