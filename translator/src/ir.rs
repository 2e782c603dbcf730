//! LLVM IR as text: values with their types, and instructions appended to a function.
//!
//! Text can be read, compared and tested without LLVM, and LLVM parses it in a fraction of the time that its passes take.

mod operations;

use std::fmt::Write;
use std::rc::Rc;

/// The type of an element. Of those of floats, the larger is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    /// An integer of so many bits.
    Int(u32),
    /// `half`
    Half,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `ptr`
    Pointer,
}

impl Scalar {
    /// Bits; of a pointer 64.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Int(bits) => bits,
            Scalar::Half => 16,
            Scalar::Float => 32,
            Scalar::Double | Scalar::Pointer => 64,
        }
    }

    fn text(self) -> String {
        match self {
            Scalar::Int(bits) => format!("i{bits}"),
            Scalar::Half => "half".into(),
            Scalar::Float => "float".into(),
            Scalar::Double => "double".into(),
            Scalar::Pointer => "ptr".into(),
        }
    }

    /// As it stands in the names of intrinsics.
    fn mangled(self) -> String {
        match self {
            Scalar::Int(bits) => format!("i{bits}"),
            Scalar::Pointer => "p0".into(),
            float => format!("f{}", float.bits()),
        }
    }
}

/// A type: an element, or a vector of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ty {
    /// Element.
    pub scalar: Scalar,
    /// Elements; 1 is no vector.
    pub lanes: u32,
}

impl Ty {
    /// Integers.
    pub const fn int(bits: u32, lanes: u32) -> Ty {
        Ty { scalar: Scalar::Int(bits), lanes }
    }

    /// The same number of other elements.
    pub fn of(self, scalar: Scalar) -> Ty {
        Ty { scalar, ..self }
    }

    /// Integers of the same size.
    pub fn as_int(self) -> Ty {
        self.of(Scalar::Int(self.scalar.bits()))
    }

    /// As it stands in IR.
    pub fn text(self) -> String {
        let scalar = self.scalar.text();
        if self.lanes == 1 { scalar } else { format!("<{} x {scalar}>", self.lanes) }
    }

    /// As it stands in the names of intrinsics.
    pub fn mangled(self) -> String {
        let scalar = self.scalar.mangled();
        if self.lanes == 1 { scalar } else { format!("v{}{scalar}", self.lanes) }
    }
}

/// An operand.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub ty: Ty,
    text: Rc<str>,
}

impl Value {
    /// A named value.
    pub fn named(ty: Ty, name: &str) -> Value {
        Value { ty, text: name.into() }
    }

    /// All elements the same integer.
    pub fn int(ty: Ty, value: u64) -> Value {
        Value::ints(ty, |_| value)
    }

    /// All elements the same integer, of any number of bits.
    pub fn signed(ty: Ty, value: i128) -> Value {
        Value { ty, text: constant(ty, &[value.to_string()]).into() }
    }

    /// Integers by lane.
    pub fn ints(ty: Ty, value: impl Fn(u32) -> u64) -> Value {
        let bits = ty.scalar.bits();
        let one = |lane| {
            let value = value(lane) & (u64::MAX >> (64 - bits));
            if bits == 1 { (value != 0).to_string() } else { value.to_string() }
        };
        let all: Vec<String> = (0..ty.lanes).map(one).collect();
        Value { ty, text: constant(ty, &all).into() }
    }

    /// All elements the same float, which has to be one of `float`'s.
    pub fn float(ty: Ty, value: f64) -> Value {
        let one = format!("0x{:016X}", value.to_bits());
        Value { ty, text: constant(ty, &[one]).into() }
    }

    /// Integers of more than 64 bits by lane.
    pub fn wide(ty: Ty, lanes: &[u128]) -> Value {
        let all: Vec<String> = lanes.iter().map(|lane| (*lane as i128).to_string()).collect();
        Value { ty, text: constant(ty, &all).into() }
    }

    /// Floats by lane, of the bits of their own type.
    pub fn floats(ty: Ty, bits: impl Fn(u32) -> u64) -> Value {
        let one = |lane| match ty.scalar {
            Scalar::Half => format!("0xH{:04X}", bits(lane)),
            // LLVM writes those of 32 bits as doubles.
            Scalar::Float => format!("0x{:016X}", f64::from(f32::from_bits(bits(lane) as u32)).to_bits()),
            _ => format!("0x{:016X}", bits(lane)),
        };
        let all: Vec<String> = (0..ty.lanes).map(one).collect();
        Value { ty, text: constant(ty, &all).into() }
    }

    /// Any bits: what is read of it does not matter.
    pub fn poison(ty: Ty) -> Value {
        Value { ty, text: "poison".into() }
    }

    /// A constant integer of up to 64 bits that is no vector and not negative.
    fn as_int(&self) -> Option<u64> {
        let is_small = self.ty.lanes == 1 && matches!(self.ty.scalar, Scalar::Int(2..=64));
        self.text.parse().ok().filter(|_| is_small)
    }

    /// Whether it is 0 in all lanes.
    fn is_zero(&self) -> bool {
        matches!(self.ty.scalar, Scalar::Int(2..)) && self.text == Value::int(self.ty, 0).text
    }

    /// Without its type.
    pub fn name(&self) -> &str {
        &self.text
    }

    /// With its type.
    pub fn typed(&self) -> String {
        format!("{} {}", self.ty.text(), self.text)
    }
}

/// A constant of elements; one stands for all.
fn constant(ty: Ty, elements: &[String]) -> String {
    let first = &elements[0];
    let element = ty.scalar.text();
    if ty.lanes == 1 {
        first.clone()
    } else if elements.iter().all(|other| other == first) {
        format!("splat ({element} {first})")
    } else {
        let list: Vec<String> = elements.iter().map(|one| format!("{element} {one}")).collect();
        format!("<{}>", list.join(", "))
    }
}

fn phi(ty: Ty, incoming: &[(Value, Label)]) -> String {
    let pairs = incoming.iter().map(|(value, from)| format!("[ {}, {} ]", value.name(), from.operand()));
    format!("phi {} {}", ty.text(), pairs.collect::<Vec<_>>().join(", "))
}

/// A basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label(u32);

impl Label {
    /// As an operand of a branch.
    pub fn text(self) -> String {
        format!("label {}", self.operand())
    }

    /// As a `phi` names it.
    pub fn operand(self) -> String {
        format!("%b{}", self.0)
    }
}

/// A function that is being written.
#[derive(Default)]
pub struct Function {
    /// The variables, which come first.
    variables: String,
    body: String,
    values: u32,
    labels: u32,
    declarations: std::collections::BTreeSet<String>,
    current: Option<Label>,
    terminated: bool,
    /// Places in the body, ascending, with the text that is put there in the end.
    holes: Vec<(usize, String)>,
}

impl Function {
    /// A new block, to be begun later.
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    /// What follows belongs to a block. The one before goes on there if it has no end.
    pub fn begin(&mut self, label: Label) {
        if !self.body.is_empty() && !self.terminated {
            self.jump(label);
        }
        let _ = writeln!(self.body, "b{}:", label.0);
        self.current = Some(label);
        self.terminated = false;
    }

    /// A place here for text that is not known yet.
    pub fn hole(&mut self) -> usize {
        self.holes.push((self.body.len(), String::new()));
        self.holes.len() - 1
    }

    /// Puts text where a place was kept for it.
    pub fn fill(&mut self, hole: usize, text: String) {
        self.holes[hole].1 = text;
    }

    /// The block that is being written.
    pub fn current(&self) -> Label {
        self.current.unwrap_or(Label(0))
    }

    /// `phi`
    pub fn phi(&mut self, incoming: &[(Value, Label)]) -> Value {
        let ty = incoming[0].0.ty;
        self.value(ty, &phi(ty, incoming))
    }

    /// The same, with a name.
    pub fn phi_named(&mut self, name: &Value, incoming: &[(Value, Label)]) {
        self.line(&format!("{} = {}", name.name(), phi(name.ty, incoming)));
    }

    /// An instruction without result.
    pub fn line(&mut self, text: &str) {
        debug_assert!(!self.terminated, "behind the end of a block: {text}");
        let _ = writeln!(self.body, "  {text}");
    }

    /// An instruction with a result.
    pub fn value(&mut self, ty: Ty, text: &str) -> Value {
        self.values += 1;
        let name = format!("%v{}", self.values);
        self.line(&format!("{name} = {text}"));
        Value::named(ty, &name)
    }

    /// Asks for memory that will be read, wherever that is.
    pub fn prefetch(&mut self, at: &Value) {
        let [read, keep, data] = [0, 3, 1].map(|value| Value::int(I32, value));
        self.intrinsic_line("prefetch", ".p0", &[at, &read, &keep, &data]);
    }

    /// An integer of which LLVM does not know where it is from.
    pub fn opaque(&mut self, a: &Value) -> Value {
        self.value(
            a.ty,
            &format!(
                "call {} asm \"\", \"=r,0\"({}) memory(none) nounwind willreturn",
                a.ty.text(),
                a.typed()
            ),
        )
    }

    /// A variable on the stack, in the function's first block.
    pub fn variable(&mut self, bytes: usize) -> Value {
        self.values += 1;
        let name = format!("%m{}", self.values);
        self.variable_named(&name, bytes);
        Value::named(POINTER, &name)
    }

    /// The same, with a name.
    pub fn variable_named(&mut self, name: &str, bytes: usize) {
        let _ = writeln!(self.variables, "  {name} = alloca [{bytes} x i8], align 64");
    }

    /// A value that is computed in the first block, where no other has its name.
    pub fn first(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.variables, "  {name} = {text}");
    }

    fn end(&mut self, text: &str) {
        self.line(text);
        self.terminated = true;
    }

    /// `br`
    pub fn jump(&mut self, to: Label) {
        self.end(&format!("br {}", to.text()));
    }

    /// `br` by a condition.
    pub fn branch(&mut self, condition: &Value, yes: Label, no: Label) {
        self.end(&format!("br {}, {}, {}", condition.typed(), yes.text(), no.text()));
    }

    /// `br` by a condition that nearly always holds.
    pub fn branch_likely(&mut self, condition: &Value, yes: Label, no: Label) {
        self.end(&format!("br {}, {}, {}, !prof !1", condition.typed(), yes.text(), no.text()));
    }

    /// `switch` over `0..targets.len()`; other numbers do not occur.
    pub fn switch(&mut self, number: &Value, targets: &[Label]) {
        let Some((last, others)) = targets.split_last() else { return };
        let cases: Vec<String> = others
            .iter()
            .enumerate()
            .map(|(n, target)| format!("{} {n}, {}", number.ty.text(), target.text()))
            .collect();
        self.end(&format!("switch {}, {} [ {} ]", number.typed(), last.text(), cases.join(" ")));
    }

    /// `ret`
    pub fn ret(&mut self, value: &Value) {
        self.end(&format!("ret {}", value.typed()));
    }

    /// Returns nothing.
    pub fn ret_nothing(&mut self) {
        self.end("ret void");
    }

    /// Calls an intrinsic; `suffix` is what its name has behind `llvm.NAME`.
    pub fn intrinsic(&mut self, name: &str, suffix: &str, ty: Ty, arguments: &[&Value]) -> Value {
        let call = self.intrinsic_call(name, suffix, &ty.text(), arguments);
        self.value(ty, &call)
    }

    /// As [`Function::intrinsic`], without result.
    pub fn intrinsic_line(&mut self, name: &str, suffix: &str, arguments: &[&Value]) {
        let call = self.intrinsic_call(name, suffix, "void", arguments);
        self.line(&call);
    }

    fn intrinsic_call(&mut self, name: &str, suffix: &str, result: &str, arguments: &[&Value]) -> String {
        let types: Vec<String> = arguments.iter().map(|a| a.ty.text()).collect();
        let values: Vec<String> = arguments.iter().map(|a| a.typed()).collect();
        let name = format!("@llvm.{name}{suffix}");
        self.declarations.insert(format!("declare {result} {name}({})", types.join(", ")));
        format!("call {result} {name}({})", values.join(", "))
    }

    /// Calls a function whose result depends on its arguments alone, and that does nothing else.
    pub fn pure(&mut self, name: &str, ty: Ty, arguments: &[&Value]) -> Value {
        let types: Vec<String> = arguments.iter().map(|a| a.ty.text()).collect();
        let values: Vec<String> = arguments.iter().map(|a| a.typed()).collect();
        let what = "nounwind willreturn memory(none)";
        self.declarations.insert(format!("declare {} @{name}({}) {what}", ty.text(), types.join(", ")));
        self.value(ty, &format!("call {} @{name}({})", ty.text(), values.join(", ")))
    }

    /// The function's text, and what it uses. Its first block contains the variables and goes on with `entry`.
    fn finish(self, header: &str, entry: Label) -> (String, std::collections::BTreeSet<String>) {
        let (variables, mut body) = (self.variables, String::with_capacity(self.body.len()));
        let mut done = 0;
        for (place, text) in &self.holes {
            body.push_str(&self.body[done..*place]);
            body.push_str(text);
            done = *place;
        }
        body.push_str(&self.body[done..]);
        let text = format!("{header} {{\nstart:\n{variables}  br {}\n{body}}}\n\n", entry.text());
        (text, self.declarations)
    }
}

/// Functions that are written.
#[derive(Default)]
pub struct Module {
    text: String,
    declarations: std::collections::BTreeSet<String>,
}

impl Module {
    /// Adds a function that begins with a block.
    pub fn add(&mut self, function: Function, header: &str, entry: Label) {
        let (text, declarations) = function.finish(header, entry);
        self.text.push_str(&text);
        self.declarations.extend(declarations);
    }

    /// Adds the declaration of a function that is elsewhere.
    pub fn declare(&mut self, declaration: &str) {
        self.declarations.insert(format!("declare {declaration}"));
    }

    /// Bytes of the functions.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// All of it, with what it refers to.
    pub fn finish(mut self, footer: &str) -> String {
        for declaration in self.declarations {
            self.text.push_str(&declaration);
            self.text.push('\n');
        }
        self.text + footer
    }
}

/// `ptr`
pub const POINTER: Ty = Ty { scalar: Scalar::Pointer, lanes: 1 };
/// `i1`
pub const BIT: Ty = Ty::int(1, 1);
/// `i32`
pub const I32: Ty = Ty::int(32, 1);
/// `i64`
pub const I64: Ty = Ty::int(64, 1);
