//! A cursor for parsing text.

/// A position in a text.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, position: 0 }
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    /// The next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    /// Whether only spaces are left.
    pub(super) fn at_end(&mut self) -> bool {
        self.skip_spaces();
        self.rest().is_empty()
    }

    /// Reads the token if the text continues with it, without skipping spaces.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.position += token.len();
        }
        found
    }

    /// Reads the longest run of characters of a kind; may be empty.
    pub(super) fn run(&mut self, kind: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !kind(c)).unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    /// A word of letters, digits and underscores.
    pub(super) fn word(&mut self) -> &'a str {
        self.run(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// A decimal or (`0x`, lower case) hexadecimal number.
    pub(super) fn number(&mut self) -> Option<u64> {
        let start = self.position;
        let value = if self.eat("0x") {
            u64::from_str_radix(self.run(|c| matches!(c, '0'..='9' | 'a'..='f')), 16).ok()
        } else {
            self.run(|c| c.is_ascii_digit()).parse().ok()
        };
        if value.is_none() {
            self.position = start;
        }
        value
    }

    /// A number with an optional sign before it.
    pub(super) fn signed(&mut self) -> Option<i64> {
        let start = self.position;
        let negative = self.eat("-");
        let value = self.number().and_then(|value| {
            let value = i64::try_from(value).ok()?;
            Some(if negative { -value } else { value })
        });
        if value.is_none() {
            self.position = start;
        }
        value
    }
}
