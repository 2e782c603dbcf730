//! Random kernels that are defined for all inputs, to compare drivers with: all integer types, vectors,
//! private arrays, control flow, shared memory with barriers and atomic operations.

mod expression;
mod statement;
mod types;

use crate::Random;
use std::fmt::Write;
use types::{SCALARS, Type};

/// Bytes of the input.
pub const INPUT_BYTES: u32 = 256;
/// Dwords of output of each work-item.
pub const ITEM_DWORDS: u32 = 16;
/// Dwords of them that are stored to as integers of one size.
const STORE_DWORDS: u32 = 4;
/// Most work-items of a group.
pub const GROUP: u32 = 64;
/// Statements of a kernel. Small ones are compiled faster, which is most of what comparing drivers takes.
const BUDGETS: [u32; 8] = [3, 5, 8, 8, 12, 12, 20, 40];
/// Elements of the private array.
const PRIVATE_ELEMENTS: u32 = 8;

/// The kernel of a seed, named `k` and the seed: `(global uint *output, global const uint *input, uint
/// argument)`. Of 8 to [`GROUP`] work-items in a group, each writes [`ITEM_DWORDS`] dwords.
pub fn source(seed: u64) -> String {
    Generator::new(seed).kernel(seed)
}

/// What kernels have in common, once in front of them.
pub fn prelude() -> String {
    let mut text = String::from(
        "#define gid_as(T) ((T)gid)\n#define lid_as(T) ((T)lid)\n#define argument_as(T) ((T)argument)\n",
    );
    for ty in SCALARS {
        let n = ty.name();
        let odd = if ty.signed { format!("b == 0 || b == ({n})-1") } else { "b == 0".into() };
        for (name, op) in [("div", "/"), ("mod", "%")] {
            let _ = writeln!(text, "{n} {name}_{n}({n} a, {n} b) {{ return {odd} ? a : ({n})(a {op} b); }}");
        }
    }
    text
}

struct Generator {
    random: Random,
    text: String,
    indent: usize,
    variables: Vec<Type>,
    counters: u32,
    labels: u32,
    /// The label that `goto` may name.
    label: Option<u32>,
    has_array: bool,
    may_read_local: bool,
    may_return: bool,
    /// Statements that may still be made.
    budget: u32,
}

impl Generator {
    fn new(seed: u64) -> Generator {
        let mut generator = Generator {
            random: Random::new(seed.wrapping_add(1)),
            text: String::new(),
            indent: 1,
            variables: Vec::new(),
            counters: 0,
            labels: 0,
            label: None,
            has_array: false,
            may_read_local: false,
            may_return: false,
            budget: 0,
        };
        generator.budget = generator.pick(&BUDGETS);
        generator.has_array = generator.chance(50);
        for _ in 0..4 + generator.below(5) {
            let count = *generator.choose(&[1, 1, 1, 2, 4]);
            let ty = Type { count, ..generator.pick(&SCALARS) };
            generator.variables.push(ty);
        }
        generator
    }

    fn kernel(mut self, seed: u64) -> String {
        let variables = self.variables.clone();
        // The array is filled after them.
        let has_array = std::mem::take(&mut self.has_array);
        for number in 0..variables.len() {
            let ty = variables[number];
            // Those declared so far.
            self.variables.truncate(number);
            let value =
                if number == 0 { format!("({})({})", ty.name(), "gid") } else { self.expression(ty, 2) };
            self.variables = variables.clone();
            self.line(&format!("{} v{number} = {value};", ty.name()));
        }
        self.variables = variables;
        self.has_array = has_array;
        if self.has_array {
            self.line(&format!("for (uint i = 0; i < {PRIVATE_ELEMENTS}; ++i) array[i] = input[i] + gid;"));
        }
        self.statements(3, false);
        for _ in 0..self.below(3) {
            if self.chance(30) {
                let counter = self.new_counter();
                self.line(&format!("for ({counter} = 0; {counter} < (argument & 3); ++{counter}) {{"));
                self.indent += 1;
                self.phase();
                self.indent -= 1;
                self.line("}");
            } else {
                self.phase();
            }
        }
        self.may_return = true;
        self.statements(3, false);
        self.results();
        let mut head = format!(
            "kernel WIDTH void k{seed}(global uint *output, global const uint *input, uint argument) {{\n\
             \x20   const uint gid = get_global_id(0), lid = get_local_id(0), ls = get_local_size(0);\n\
             \x20   local uint shared[{GROUP}], counts[8];\n    uint fuel = 16;\n"
        );
        if self.has_array {
            let _ = writeln!(head, "    {} array[{PRIVATE_ELEMENTS}];", self.pick(&SCALARS).name());
        }
        for counter in 0..self.counters {
            let _ = writeln!(head, "    uint c{counter};");
        }
        head + &self.text + "}\n"
    }

    /// All variables go into the output.
    fn results(&mut self) {
        self.line("uint hash = fuel;");
        for (number, ty) in self.variables.clone().into_iter().enumerate() {
            for element in 0..ty.count {
                let name = if ty.count > 1 { format!("v{number}.s{element}") } else { format!("v{number}") };
                self.line(&format!("hash = hash * 31 + (uint){name};"));
                if ty.bits == 64 {
                    self.line(&format!("hash = hash * 31 + (uint)((ulong){name} >> 32);"));
                }
            }
        }
        if self.has_array {
            self.line(&format!(
                "for (uint i = 0; i < {PRIVATE_ELEMENTS}; ++i) hash = hash * 31 + (uint)array[i];"
            ));
        }
        self.line(&format!("output[gid * {ITEM_DWORDS}u + {}] ^= hash;", 2 * STORE_DWORDS));
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.indent));
    }

    fn new_counter(&mut self) -> String {
        self.counters += 1;
        format!("c{}", self.counters - 1)
    }

    fn new_label(&mut self) -> u32 {
        self.labels += 1;
        self.labels - 1
    }

    fn some_variable(&mut self) -> (String, Type) {
        let number = self.below(self.variables.len() as u32) as usize;
        (format!("v{number}"), self.variables[number])
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.random.next_u32() % limit
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    fn choose<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u32) as usize]
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        *self.choose(list)
    }
}
