//! Parsing of `iga64`'s output.

/// The parts of a line.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    /// The instruction's offset.
    pub(super) offset: usize,
    /// The text after the offset.
    pub(super) text: &'a str,
    /// `W&~f0.0.any4h`, without the parentheses.
    pub(super) predicate: Option<&'a str>,
    pub(super) mnemonic: &'a str,
    /// `16|M0`, without the parentheses.
    pub(super) size: Option<&'a str>,
    /// `(le)f0.0`
    pub(super) condition: Option<&'a str>,
    pub(super) operands: Vec<&'a str>,
    /// The options between the braces.
    pub(super) options: Vec<&'a str>,
}

/// The texts of conditional modifiers, with this crate's names.
pub(super) const CONDITIONS: [(&str, &str); 8] = [
    ("z", "eq"),
    ("nz", "ne"),
    ("g", "gt"),
    ("ge", "ge"),
    ("l", "lt"),
    ("le", "le"),
    ("o", "ov"),
    ("u", "un"),
];

impl<'a> Line<'a> {
    /// Parses a line; `None` if it is no instruction.
    pub(super) fn parse(line: &'a str) -> Option<Line<'a>> {
        let rest = line.strip_prefix("/* [")?;
        let (offset, rest) = rest.split_once(']')?;
        let offset = usize::from_str_radix(offset, 16).ok()?;
        let text = rest.trim_start().strip_prefix("*/")?.trim();
        let without_comment = text.split("//").next().unwrap_or(text);
        let (body, options) = match without_comment.split_once('{') {
            Some((body, options)) => (body, options.split('}').next().unwrap_or("")),
            None => (without_comment, ""),
        };
        let mut words = body.split_whitespace().peekable();
        let predicate = words.next_if(|word| word.starts_with('(')).map(inside);
        let mnemonic = words.next()?;
        let size = words.next_if(|word| word.starts_with('(') && word.contains('|')).map(inside);
        let condition = words.next_if(|word| is_condition(word));
        Some(Line {
            offset,
            text,
            predicate,
            mnemonic,
            size,
            condition,
            operands: words.collect(),
            options: options.split([',', ' ']).filter(|word| !word.is_empty()).collect(),
        })
    }
}

/// `(le)f0.0`; `(eo)` is the early-out flag of macros.
fn is_condition(word: &str) -> bool {
    let names = CONDITIONS.iter().map(|(_, name)| *name).chain(["eo"]);
    names.into_iter().any(|name| word.starts_with(&format!("({name})f")))
}

/// Strips the parentheses around a text.
fn inside(word: &str) -> &str {
    word.trim_start_matches('(').trim_end_matches(')')
}

/// An operand in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OperandParts {
    /// The modifiers `(sat)`, `-`, `~`, `(abs)`.
    pub(super) modifiers: String,
    /// Register with subregister, or number.
    pub(super) base: String,
    /// Between `<` and `>`.
    pub(super) region: Option<String>,
    /// After the colon.
    pub(super) ty: Option<String>,
}

impl OperandParts {
    /// Parses an operand.
    pub(super) fn parse(text: &str) -> OperandParts {
        let (rest, ty) = match text.split_once(':') {
            Some((rest, ty)) => (rest, Some(ty.to_owned())),
            None => (text, None),
        };
        let (rest, region) = match rest.split_once('<') {
            Some((rest, region)) => (rest, Some(region.trim_end_matches('>').to_owned())),
            None => (rest, None),
        };
        let mut base = rest;
        let mut modifiers = String::new();
        loop {
            let before = base;
            for modifier in ["(sat)", "(abs)", "-", "~"] {
                // The sign of a number is not a modifier.
                let number = modifier == "-" && base.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
                if let Some(after) = base.strip_prefix(modifier).filter(|_| !number) {
                    modifiers.push_str(modifier);
                    base = after;
                }
            }
            if base == before || base.is_empty() {
                break;
            }
        }
        OperandParts { modifiers, base: base.to_owned(), region, ty }
    }
}
