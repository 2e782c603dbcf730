//! Choices of bits under masks: `vpternlog`'s immediates.

use std::collections::HashMap;

use gencl_eu::abi::Tier;
use inkwell::context::Context;
use inkwell::targets::FileType;

use gencl_translator::host::Host;
use gencl_translator::host::codegen::parsed;

/// What is computed, as a bit for each case: of two numbers and of a constant.
const X: u8 = 0b1111_0000;
const Y: u8 = 0b1100_1100;
const SET: u8 = 0b1010_1010;

/// Lanes, and bits of each.
const VECTORS: [(u32, u32); 6] = [(4, 32), (8, 32), (16, 32), (2, 64), (4, 64), (8, 64)];

/// How one function chooses under a mask.
struct Form {
    lanes: u32,
    bits: u32,
    /// Where `y` is: in a register, in memory, or there once for all lanes.
    place: usize,
    /// The constant has all bits but the sign.
    inverse: bool,
    /// What is of `y` comes first.
    swapped: bool,
    /// Where the mask has no lane there is `y`.
    keeps_y: bool,
    /// The mask says where the numbers are not combined.
    negated: bool,
    /// Floats, by `copysign`.
    floats: bool,
}

fn forms() -> Vec<Form> {
    let mut all = Vec::new();
    for (lanes, bits) in VECTORS {
        for choice in 0..3 * 32 {
            let [inverse, swapped, keeps_y, negated, floats] =
                [0, 1, 2, 3, 4].map(|bit| (choice / 3) >> bit & 1 != 0);
            let place = choice % 3;
            all.push(Form { lanes, bits, place, inverse, swapped, keeps_y, negated, floats });
        }
    }
    all
}

impl Form {
    /// The bits of `x`.
    fn set(&self) -> u64 {
        let sign = 1 << (self.bits - 1);
        if self.inverse && !self.floats { sign - 1 } else { sign }
    }

    fn text(&self, name: usize) -> String {
        let Form { lanes, bits, .. } = self;
        let ty = format!("<{lanes} x i{bits}>");
        let float = format!("<{lanes} x {}>", if *bits == 32 { "float" } else { "double" });
        let y = match self.place {
            0 => format!("%y = add {ty} %r, zeroinitializer"),
            1 => format!("%y = load {ty}, ptr %p"),
            _ => format!(
                "%s = load i{bits}, ptr %p
                     %i = insertelement {ty} poison, i{bits} %s, i64 0
                     %y = shufflevector {ty} %i, {ty} poison, <{lanes} x i32> zeroinitializer"
            ),
        };
        let set = self.set();
        let others = !set & (u64::MAX >> (64 - bits));
        let chosen = if self.floats {
            format!(
                "%xf = bitcast {ty} %x to {float}
                     %yf = bitcast {ty} %y to {float}
                     %cf = call {float} @llvm.copysign.v{lanes}f{bits}({float} %yf, {float} %xf)
                     %c = bitcast {float} %cf to {ty}"
            )
        } else {
            let parts = if self.swapped { "%b, %a" } else { "%a, %b" };
            format!(
                "%a = and {ty} %x, splat (i{bits} {set})
                     %b = and {ty} %y, splat (i{bits} {others})
                     %c = or {ty} {parts}"
            )
        };
        let kept = if self.keeps_y { "%y" } else { "%x" };
        let arms = if self.negated { [kept, "%c"] } else { ["%c", kept] };
        format!(
            "define {ty} @f{name}(i32 %m, {ty} %x, {ty} %r, ptr %p) {{
                   %n = trunc i32 %m to i{lanes}
                   %k = bitcast i{lanes} %n to <{lanes} x i1>
                   {y}
                   {chosen}
                   %all = select <{lanes} x i1> %k, {ty} {}, {ty} {}
                   ret {ty} %all
                 }}
",
            arms[0], arms[1]
        )
    }

    /// What lanes have that are in the mask, and that are not.
    fn expected(&self) -> [u8; 2] {
        let chosen = SET & X | !SET & Y;
        let kept = if self.keeps_y { Y } else { X };
        if self.negated { [kept, chosen] } else { [chosen, kept] }
    }
}

/// What a function's assembly returns, in lanes that are in the mask and in others.
fn returned<'a>(code: &'a str, constants: &HashMap<&str, u64>, form: &Form) -> [u8; 2] {
    let mut registers = HashMap::from([("0".to_owned(), [X; 2]), ("1".to_owned(), [Y; 2])]);
    // Whether the mask is the complement now. All general-purpose registers count as one.
    let mut masks = HashMap::from([("", false)]);
    for line in code.lines().map(str::trim) {
        let line = line.split(" #").next().unwrap_or_default().trim();
        let Some((name, operands)) = line.split_once(char::is_whitespace) else { continue };
        let operands: Vec<&str> = operands.trim().split(", ").collect();
        let vector = |operand: &str| operand.get(1..4).is_some_and(|o| ["xmm", "ymm", "zmm"].contains(&o));
        let number = |operand: &str| operand[4..].split(' ').next().unwrap_or_default().to_owned();
        let (to, from) = operands.split_last().unwrap();
        if name.starts_with('.') || line.ends_with(':') || line.starts_with('#') {
            continue;
        }
        if !vector(to) {
            let mask = |operand: &&'a str| if operand.starts_with("%k") { *operand } else { "" };
            let source = masks[mask(from.last().unwrap_or(to))];
            masks.insert(mask(to), source ^ name.contains("not"));
            continue;
        }
        let value = |operand: &str| match operand {
            register if vector(register) => registers[&number(register)],
            constant if constant.starts_with(".LCPI") => {
                let bits = constants[constant.split('(').next().unwrap()];
                [if bits == form.set() { SET } else { !SET }; 2]
            }
            memory => {
                assert!(memory.starts_with("(%rsi)"), "{line}");
                [Y; 2]
            }
        };
        let values: Vec<_> = from.iter().filter(|o| !o.starts_with('$')).map(|o| value(o)).collect();
        let old = registers.get(&number(to)).copied().unwrap_or_default();
        let is = |names: &[&str]| names.iter().any(|own| name.starts_with(own));
        let new = [0, 1].map(|lane| {
            let at = |index: usize| values[index][lane];
            match name {
                // The first operand is the highest bit of the number of a bit of the immediate.
                _ if is(&["vpternlog"]) => {
                    let table: u64 = from[0][1..].parse().unwrap();
                    let bit = |case: u8| {
                        let number = [old[lane], at(1), at(0)].map(|value| u64::from(value >> case & 1));
                        (table >> (number[0] << 2 | number[1] << 1 | number[2]) & 1) as u8
                    };
                    (0..8).map(|case| bit(case) << case).sum()
                }
                _ if is(&["vmov", "vpbroadcast", "vbroadcast"]) => at(0),
                _ if is(&["vpandn", "vandn"]) => at(0) & !at(1),
                _ if is(&["vpand", "vand"]) => at(0) & at(1),
                _ if is(&["vpor", "vor"]) => at(0) | at(1),
                _ if is(&["vpxor", "vxor"]) => at(0) ^ at(1),
                _ if is(&["vpblendm", "vblendm"]) => at(0),
                _ => panic!("what is {line}?"),
            }
        });
        let result = match to.split_once('{') {
            Some((_, mask)) => {
                // Lanes of the mask have what is new.
                let inverse = masks[mask.split('}').next().unwrap()];
                let others = if is(&["vpblendm", "vblendm"]) { values[1] } else { old };
                if inverse { [others[0], new[1]] } else { [new[0], others[1]] }
            }
            None => new,
        };
        registers.insert(number(to), result);
    }
    registers["0"]
}

/// A function of each form.
fn module(forms: &[Form]) -> String {
    let functions = forms.iter().enumerate().map(|(name, form)| form.text(name));
    let copies = VECTORS.map(|(lanes, bits)| {
        let ty = format!("<{lanes} x {}>", if bits == 32 { "float" } else { "double" });
        format!("declare {ty} @llvm.copysign.v{lanes}f{bits}({ty}, {ty})\n")
    });
    functions.chain(copies).collect()
}

/// The functions that compute something else in a module's assembly.
fn wrong(forms: &[Form], assembly: &str) -> Vec<String> {
    assert!(assembly.matches("vpternlog").count() >= forms.len() / 2, "{assembly}");
    let mut constants = HashMap::new();
    let mut lines = assembly.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_suffix(':').filter(|name| name.starts_with(".LCPI")) {
            let number = lines.next().and_then(|line| line.split_whitespace().nth(1)?.parse::<i128>().ok());
            constants.insert(name, number.unwrap() as u64);
        }
    }
    let is_wrong = |(name, form): (usize, &Form)| {
        let (_, code) = assembly.split_once(&format!("\nf{name}:"))?;
        let (code, _) = code.split_once("retq")?;
        (returned(code, &constants, form) != form.expected()).then(|| format!("{}{code}", form.text(name)))
    };
    forms.iter().enumerate().filter_map(is_wrong).collect()
}

/// `vpternlog` computes what was written, whatever is in memory and whatever order its operands have.
#[test]
fn immediates_are_right() {
    let forms = forms();
    let context = Context::create();
    let module = parsed(&context, &module(&forms)).unwrap();
    let assembly = Host::named("v4").unwrap().assembly(&module, Tier::Optimised).unwrap();
    let wrong = wrong(&forms, &assembly);
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), forms.len(), wrong.join("\n"));
}

/// When this fails, LLVM has been mended, and this file can go but for its other test.
#[test]
fn llvm_gets_it_wrong_otherwise() {
    let (forms, context) = (forms(), Context::create());
    let machine = Host::named("v4").unwrap().machine(Tier::Optimised).unwrap();
    let module = parsed(&context, &module(&forms)).unwrap();
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let assembly = machine.write_to_memory_buffer(&module, FileType::Assembly).unwrap();
    assert!(!wrong(&forms, &String::from_utf8_lossy(assembly.as_slice())).is_empty());
}
