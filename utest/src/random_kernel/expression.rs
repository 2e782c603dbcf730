//! Random expressions, defined for all values.
//!
//! Signed sums and products are those of unsigned numbers, shifts are by less than the width, quotients come
//! from functions that look at the divisor, indices are masked.

use super::types::{SCALARS, Type};
use super::{Generator, INPUT_BYTES, PRIVATE_ELEMENTS};

/// Functions of two arguments that give their type.
const TWO: &[&str] = &["min", "max", "add_sat", "sub_sat", "hadd", "rhadd", "mul_hi", "rotate"];
/// Functions of one.
const ONE: &[&str] = &["clz", "popcount"];
/// Operators on bits.
const BITS: &[&str] = &["&", "|", "^"];
/// Operators on numbers.
const SUMS: &[&str] = &["+", "-", "*"];
/// Comparisons.
const COMPARISONS: &[&str] = &["==", "!=", "<", "<=", ">", ">="];

impl Generator {
    /// An expression of a type, at most so deep.
    pub fn expression(&mut self, ty: Type, depth: u32) -> String {
        if depth == 0 || self.chance(15) {
            return self.leaf(ty);
        }
        let n = ty.name();
        let next = depth - 1;
        match self.below(14) {
            0..=3 => self.arithmetic(ty, next),
            4 => {
                let op = self.pick(BITS);
                format!("(({n})({} {op} {}))", self.expression(ty, next), self.expression(ty, next))
            }
            5 => self.shift(ty, next),
            6 => {
                let name = self.pick(TWO);
                format!("{name}({}, {})", self.expression(ty, next), self.expression(ty, next))
            }
            7 => {
                let name = self.pick(ONE);
                format!("{name}({})", self.expression(ty, next))
            }
            8 => self.comparison(ty, next),
            9 if ty.count == 1 => {
                let name = if self.chance(50) { "div" } else { "mod" };
                format!("{name}_{n}({}, {})", self.expression(ty, next), self.expression(ty, next))
            }
            9 | 10 => {
                let choice = self.condition(next);
                format!("(({n})({choice} ? {} : {}))", self.expression(ty, next), self.expression(ty, next))
            }
            11 => {
                let from = Type { count: ty.count, ..self.pick(&SCALARS) };
                let saturate = if self.chance(50) { "_sat" } else { "" };
                format!("convert_{n}{saturate}({})", self.expression(from, next))
            }
            12 => {
                let (low, high) = (self.leaf(ty), self.leaf(ty));
                format!("clamp({}, min({low}, {high}), max({low}, {high}))", self.expression(ty, next))
            }
            _ => {
                let [a, b, c] = [0; 3].map(|_| self.expression(ty, next));
                format!("bitselect({a}, {b}, {c})")
            }
        }
    }

    /// A scalar that is a truth value.
    pub fn condition(&mut self, depth: u32) -> String {
        let ty = self.pick(&SCALARS);
        match self.below(4) {
            0 if depth > 0 => {
                let op = if self.chance(50) { "&&" } else { "||" };
                format!("({} {op} {})", self.condition(depth - 1), self.condition(depth - 1))
            }
            1 => format!("(({} & ({})1) != 0)", self.expression(ty, depth), ty.name()),
            _ => {
                let op = self.pick(COMPARISONS);
                format!("({} {op} {})", self.expression(ty, depth), self.expression(ty, depth))
            }
        }
    }

    /// An index below a power of two.
    pub fn index(&mut self, limit: u32, depth: u32) -> String {
        let ty = self.pick(&SCALARS);
        format!("((uint){} & {}u)", self.expression(ty, depth), limit - 1)
    }

    fn arithmetic(&mut self, ty: Type, depth: u32) -> String {
        let op = self.pick(SUMS);
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        let n = ty.name();
        if ty.count > 1 {
            let u = ty.unsigned().name();
            return format!("as_{n}(as_{u}({a}) {op} as_{u}({b}))");
        }
        let wide = if ty.bits == 64 { "ulong" } else { "uint" };
        format!("({n})(({wide}){a} {op} ({wide}){b})")
    }

    fn shift(&mut self, ty: Type, depth: u32) -> String {
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        let (n, u, most) = (ty.name(), ty.unsigned().name(), ty.bits - 1);
        match (ty.count > 1, self.chance(50)) {
            (true, true) => format!("as_{n}(as_{u}({a}) << (as_{u}({b}) & ({u})({most})))"),
            (true, false) => format!("({a} >> as_{n}(as_{u}({b}) & ({u})({most})))"),
            (false, true) => {
                let wide = if ty.bits == 64 { "ulong" } else { "uint" };
                format!("({n})(({wide}){a} << ((uint){b} & {most}u))")
            }
            (false, false) => format!("({n})({a} >> ((uint){b} & {most}u))"),
        }
    }

    fn comparison(&mut self, ty: Type, depth: u32) -> String {
        let op = self.pick(COMPARISONS);
        let n = ty.name();
        if ty.count > 1 {
            return format!("as_{n}({} {op} {})", self.expression(ty, depth), self.expression(ty, depth));
        }
        let of = self.pick(&SCALARS);
        format!("({n})({} {op} {})", self.expression(of, depth), self.expression(of, depth))
    }

    fn leaf(&mut self, ty: Type) -> String {
        let n = ty.name();
        match self.below(8) {
            0 => self.constant(ty),
            1 => self.input(ty),
            2 if self.has_array => format!("(({n})(array[{}]))", self.index(PRIVATE_ELEMENTS, 0)),
            3 if self.may_read_local => format!("(({n})(shared[(lid + {}) % ls]))", self.index(64, 0)),
            4 if ty.count == 1 => self.pick(&["gid", "lid", "argument"]).to_owned() + "_as(" + &n + ")",
            _ => self.variable(ty),
        }
    }

    fn constant(&mut self, ty: Type) -> String {
        let n = ty.name();
        let values =
            ["0", "1", "2", "3", "7", "13", "127", "255", "-1", "-128", "32767", "65535", "2147483647"];
        let value = self.pick(&values);
        format!("(({n})({value}))")
    }

    fn input(&mut self, ty: Type) -> String {
        let (n, element) = (ty.name(), ty.element().name());
        let index = self.index(INPUT_BYTES / ty.bytes(), 0);
        if ty.count == 1 {
            format!("((global const {n} *)input)[{index}]")
        } else {
            format!("vload{}({index}, (global const {element} *)input)", ty.count)
        }
    }

    /// A variable, converted when there is none of the type.
    fn variable(&mut self, ty: Type) -> String {
        let n = ty.name();
        let (name, own) = self.some_variable();
        match (own == ty, own.count == ty.count, own.count) {
            (true, ..) => name,
            (_, true, _) => format!("convert_{n}({name})"),
            (_, _, 1) => format!("(({n})(({}){name}))", ty.element().name()),
            _ => {
                let element = self.below(own.count);
                format!("(({n})(({}){name}.s{element}))", ty.element().name())
            }
        }
    }
}
