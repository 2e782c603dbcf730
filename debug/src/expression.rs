//! Expressions over the variables of a work-item, as C writes them, without assignments and casts.

use std::iter::Peekable;
use std::str::Chars;

use crate::info::Info;
use crate::value::{Memory, Scalar, Value};

/// What names in expressions stand for.
pub trait Names {
    /// A variable.
    ///
    /// # Errors
    /// There is none, or it has no place here.
    fn variable(&self, name: &str) -> Result<Value, String>;

    /// A call of a function of the language, such as `get_global_id`, with a number.
    ///
    /// # Errors
    /// It cannot be called.
    fn call(&self, function: &str, argument: i128) -> Result<Value, String>;
}

/// A part of the text.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Integer(i128),
    Float(f64),
    Name(String),
    Sign(&'static str),
}

/// Longer signs before those that they begin with.
const SIGNS: &[&str] = &[
    "->", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^",
    "~", "!", "(", ")", "[", "]", ".",
];

/// Binary operators by precedence, the lowest first.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |of: fn(char) -> bool| rest.find(|c: char| !of(c)).unwrap_or(rest.len());
        let length = if first.is_ascii_digit() {
            let length = number_length(rest.chars().peekable());
            tokens.push(number(&rest[..length])?);
            length
        } else if first.is_alphabetic() || first == '_' || first == '$' {
            let length = word(|c| c.is_alphanumeric() || c == '_' || c == '$');
            tokens.push(Token::Name(rest[..length].to_owned()));
            length
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("{first} in an expression"))?;
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn number_length(mut chars: Peekable<Chars<'_>>) -> usize {
    let (mut length, mut last) = (0, ' ');
    while let Some(c) =
        chars.next_if(|c| c.is_alphanumeric() || *c == '.' || "+-".contains(*c) && last == 'e')
    {
        length += c.len_utf8();
        last = c;
    }
    length
}

fn number(text: &str) -> Result<Token, String> {
    let bad = || format!("{text} is no number");
    if let Some(digits) = text.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).map(Token::Integer).map_err(|_| bad());
    }
    if text.contains(['.', 'e']) {
        return text.trim_end_matches('f').parse().map(Token::Float).map_err(|_| bad());
    }
    text.trim_end_matches(['u', 'l', 'U', 'L']).parse().map(Token::Integer).map_err(|_| bad())
}

/// The value of an expression.
///
/// # Errors
/// It has no value here.
pub fn evaluate(text: &str, info: &Info, names: &dyn Names, memory: &dyn Memory) -> Result<Value, String> {
    let tokens = tokens(text)?;
    let mut evaluation = Evaluation { tokens: &tokens, info, names, memory };
    let value = evaluation.level(0)?;
    match evaluation.tokens.first() {
        None => Ok(value),
        Some(token) => Err(format!("{token:?} after the expression")),
    }
}

struct Evaluation<'a> {
    /// What is left.
    tokens: &'a [Token],
    info: &'a Info,
    names: &'a dyn Names,
    memory: &'a dyn Memory,
}

impl Evaluation<'_> {
    fn take(&mut self, sign: &str) -> bool {
        let is_there = matches!(self.tokens.first(), Some(Token::Sign(next)) if *next == sign);
        if is_there {
            self.tokens = &self.tokens[1..];
        }
        is_there
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) { Ok(()) } else { Err(format!("{sign} is missing")) }
    }

    fn scalar(&self, value: &Value) -> Result<Scalar, String> {
        value.scalar(self.info, self.memory)
    }

    fn level(&mut self, level: usize) -> Result<Value, String> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut value = self.level(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.take(sign)) {
            let right = self.level(level + 1)?;
            value = self.binary(sign, &value, &right)?;
        }
        Ok(value)
    }

    fn binary(&self, sign: &str, left: &Value, right: &Value) -> Result<Value, String> {
        let (a, b) = (self.scalar(left)?, self.scalar(right)?);
        // A pointer and an integer.
        if let (Scalar::Integer(_), Scalar::Integer(steps), "+" | "-") = (a, b, sign)
            && let Ok(Value::Variable { ty, address }) =
                left.target(self.info, self.memory, if sign == "-" { -steps } else { steps })
        {
            return Ok(Value::Pointer { to: ty, address });
        }
        let truth = |holds: bool| Value::Integer(holds.into());
        Ok(match (a, b) {
            (Scalar::Integer(a), Scalar::Integer(b)) => match sign {
                "||" => truth(a != 0 || b != 0),
                "&&" => truth(a != 0 && b != 0),
                "|" => Value::Integer(a | b),
                "^" => Value::Integer(a ^ b),
                "&" => Value::Integer(a & b),
                "==" => truth(a == b),
                "!=" => truth(a != b),
                "<" => truth(a < b),
                ">" => truth(a > b),
                "<=" => truth(a <= b),
                ">=" => truth(a >= b),
                "<<" => Value::Integer(a << (b & 63)),
                ">>" => Value::Integer(a >> (b & 63)),
                "+" => Value::Integer(a.wrapping_add(b)),
                "-" => Value::Integer(a.wrapping_sub(b)),
                "*" => Value::Integer(a.wrapping_mul(b)),
                "/" => Value::Integer(a.checked_div(b).ok_or("a division by zero")?),
                _ => Value::Integer(a.checked_rem(b).ok_or("a division by zero")?),
            },
            _ => {
                let (left, right) = (a.float(), b.float());
                match sign {
                    "||" => truth(a.is_true() || b.is_true()),
                    "&&" => truth(a.is_true() && b.is_true()),
                    "==" => truth(left == right),
                    "!=" => truth(left != right),
                    "<" => truth(left < right),
                    ">" => truth(left > right),
                    "<=" => truth(left <= right),
                    ">=" => truth(left >= right),
                    "+" => Value::Float(left + right),
                    "-" => Value::Float(left - right),
                    "*" => Value::Float(left * right),
                    "/" => Value::Float(left / right),
                    _ => return Err(format!("{sign} takes integers")),
                }
            }
        })
    }

    fn unary(&mut self) -> Result<Value, String> {
        for sign in ["-", "!", "~", "*", "&"] {
            if !self.take(sign) {
                continue;
            }
            let value = self.unary()?;
            return match sign {
                "*" => value.target(self.info, self.memory, 0),
                "&" => {
                    let Value::Variable { ty, address } = value else {
                        return Err("the value has no address".into());
                    };
                    Ok(Value::Pointer { to: ty, address })
                }
                _ => match (sign, self.scalar(&value)?) {
                    ("!", scalar) => Ok(Value::Integer((!scalar.is_true()).into())),
                    ("-", Scalar::Integer(number)) => Ok(Value::Integer(-number)),
                    ("-", Scalar::Float(number)) => Ok(Value::Float(-number)),
                    (_, Scalar::Integer(number)) => Ok(Value::Integer(!number)),
                    _ => Err("~ takes an integer".into()),
                },
            };
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Value, String> {
        let mut value = self.primary()?;
        loop {
            if self.take("[") {
                let index = self.level(0)?;
                self.expect("]")?;
                let Scalar::Integer(index) = self.scalar(&index)? else {
                    return Err("an index is an integer".into());
                };
                value = value.target(self.info, self.memory, index)?;
            } else if self.take(".") {
                value = value.member(self.info, &self.name()?)?;
            } else if self.take("->") {
                value = value.target(self.info, self.memory, 0)?.member(self.info, &self.name()?)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.tokens.split_first() {
            Some((Token::Name(name), rest)) => {
                self.tokens = rest;
                Ok(name.clone())
            }
            _ => Err("a name is missing".into()),
        }
    }

    fn primary(&mut self) -> Result<Value, String> {
        if self.take("(") {
            let value = self.level(0)?;
            self.expect(")")?;
            return Ok(value);
        }
        match self.tokens.split_first() {
            Some((Token::Integer(number), rest)) => {
                self.tokens = rest;
                Ok(Value::Integer(*number))
            }
            Some((Token::Float(number), rest)) => {
                self.tokens = rest;
                Ok(Value::Float(*number))
            }
            Some((Token::Name(_), _)) => {
                let name = self.name()?;
                if !self.take("(") {
                    return self.names.variable(&name);
                }
                let argument = if self.take(")") {
                    Scalar::Integer(0)
                } else {
                    let argument = self.level(0)?;
                    self.expect(")")?;
                    self.scalar(&argument)?
                };
                match argument {
                    Scalar::Integer(argument) => self.names.call(&name, argument),
                    Scalar::Float(_) => Err(format!("{name} takes an integer")),
                }
            }
            _ => Err("the expression is not complete".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No variables, and one function.
    struct Nothing;

    impl Names for Nothing {
        fn variable(&self, name: &str) -> Result<Value, String> {
            Err(format!("no {name}"))
        }

        fn call(&self, _: &str, argument: i128) -> Result<Value, String> {
            Ok(Value::Integer(argument + 40))
        }
    }

    impl Memory for Nothing {
        fn read(&self, _: u64, _: usize) -> Result<Vec<u8>, String> {
            Err("no memory".into())
        }
    }

    fn value(text: &str) -> Result<Value, String> {
        evaluate(text, &Info::default(), &Nothing, &Nothing)
    }

    #[test]
    fn operators_have_their_precedence() {
        let rows = [
            ("1 + 2 * 3 == 7 && !0", 1),
            ("0x10 >> 2 | 3 & 6", 6),
            ("-7 % 4", -3),
            ("(1 + 2) * 3 - 1", 8),
            ("1 < 2 == 1", 1),
            ("~0 ^ 5", -6),
            ("get_global_id(1 + 1)", 42),
            ("get_work_dim()", 40),
            ("1 || 0 && 0", 1),
        ];
        for (text, expected) in rows {
            assert_eq!(value(text), Ok(Value::Integer(expected)), "{text}");
        }
        assert_eq!(value("1.5f * 2 + 1e1"), Ok(Value::Float(13.0)));
        assert_eq!(value("2.5 > 2"), Ok(Value::Integer(1)));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, part) in [
            ("1 / 0", "division by zero"),
            ("(1", ") is missing"),
            ("1 2", "after the expression"),
            ("1 +", "not complete"),
            ("x", "no x"),
            ("*1", "no pointer"),
            ("&1", "no address"),
            ("1.5 & 1", "& takes integers"),
            ("1 @ 2", "@ in an expression"),
            ("0xg", "no number"),
        ] {
            let error = value(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
