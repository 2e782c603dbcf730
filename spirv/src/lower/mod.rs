//! From the instructions of a function to LLVM's.

mod arithmetic;
mod bits;
mod composite;
mod control;
mod convert;
mod dot;
mod extended;
mod float_atomics;
mod group;
mod image;
mod intel;
mod loops;
mod memory;
mod sync;

use std::fmt::Write;

use rspirv::spirv::{BuiltIn, Decoration, FunctionControl, FunctionParameterAttribute, LinkageType, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Result;
use crate::kernel;
use crate::lines::Subprogram;
use crate::mangle::{Parameter, mangle};
use crate::module::{Block, Function, Place};
use crate::order;
use crate::scopes::Scope;
use crate::types::{Image, Type, address_space};
use crate::walk::{Id, Instruction};
use crate::writer::{Value, Writer};

/// How built-in functions see integers, which SPIR-V's types do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Signed,
    Unsigned,
}

/// A function that is written.
pub(crate) struct FunctionWriter<'w, 'm> {
    w: &'w mut Writer<'m>,
    declared: &'m Function<'m>,
    /// What is written as its body: its own, or that of the function that it only calls.
    own: &'m Function<'m>,
    body: String,
    /// Parameters and results of instructions.
    values: FxHashMap<Id, Value>,
    /// Image and sampler of OpSampledImage.
    sampled: FxHashMap<Id, (Id, Id)>,
    /// The factors of products.
    products: FxHashMap<Id, (Id, Id)>,
    /// How often the function's instructions have an id among their operands; literals count as well.
    uses: FxHashMap<Id, u32>,
    /// The types of what OpSwitch selects by, which blocks' order depends on.
    selectors: FxHashMap<Id, Id>,
    /// Pointers to elements of built-in variables.
    elements: FxHashMap<Id, (Id, u64)>,
    /// The block that is written.
    label: Id,
    /// Metadata of loops, by the labels of their headers.
    loops: FxHashMap<Id, usize>,
    /// Vectors that are built-in variables with a value for each dimension.
    loaded: FxHashMap<Id, BuiltIn>,
    /// Labels of the blocks that are written.
    written: FxHashSet<Id>,
    /// `phi`s, whose operands are known in the end: instruction, and where its text goes.
    phis: Vec<(Instruction<'m>, usize)>,
    temporaries: usize,
    /// The function's debug information.
    subprogram: Option<Subprogram>,
    /// The scope and the place in the source of the instructions that follow.
    scope: Option<Scope>,
    place: Option<Place>,
    /// What attaches its place in the source to an instruction.
    location: String,
}

impl<'w, 'm> FunctionWriter<'w, 'm> {
    pub(crate) fn new(w: &'w mut Writer<'m>, declared: &'m Function<'m>) -> FunctionWriter<'w, 'm> {
        let own = w.module.called_only(declared).unwrap_or(declared);
        let module = w.module;
        let instructions = || {
            let all = own.blocks.iter().flat_map(|block| &block.instructions);
            all.filter(|own| !module.is_debug(own))
        };
        let mut uses = FxHashMap::default();
        for operand in instructions().flat_map(|own| own.operands) {
            *uses.entry(*operand).or_insert(0) += 1;
        }
        let switches = instructions().filter(|own| own.op == Op::Switch);
        let selected: FxHashSet<Id> = switches.filter_map(|own| own.operands.first().copied()).collect();
        let defined = instructions().chain(&own.parameters).filter(|own| selected.contains(&own.result));
        let selectors = defined.map(|own| (own.result, own.ty)).collect();
        FunctionWriter {
            w,
            declared,
            own,
            body: String::new(),
            values: FxHashMap::default(),
            sampled: FxHashMap::default(),
            products: FxHashMap::default(),
            uses,
            selectors,
            elements: FxHashMap::default(),
            label: 0,
            loops: FxHashMap::default(),
            loaded: FxHashMap::default(),
            written: FxHashSet::default(),
            phis: Vec::new(),
            temporaries: 0,
            subprogram: None,
            scope: None,
            place: None,
            location: String::new(),
        }
    }

    /// The function's text.
    pub(crate) fn write(mut self) -> Result<String> {
        let (own, module) = (self.own, self.w.module);
        let id = self.declared.own.result;
        let parameters = self.parameters()?;
        let name = self.w.value(&self.declared.own, id)?.text;
        let result = self.w.types.text(own.own.ty).to_owned();
        if own.blocks.is_empty() {
            return Ok(format!("declare spir_func {result} {name}({parameters}) #0\n"));
        }
        let entry = module.entry_points.iter().find(|entry| entry.function == id);
        let called = module.names.get(&id).or_else(|| module.names.get(&own.own.result));
        let called = entry.map(|entry| &entry.name).or(called).map_or("", String::as_str);
        self.subprogram = self.w.subprogram(own, called);
        for block in order::blocks(own, |selector| self.literal_words(selector))? {
            self.write_block(block)?;
        }
        let body = self.with_phis()?;
        let linkage = match module.linkage(id) {
            _ if entry.is_some() => "",
            Some((name, _)) if module.entry_points.iter().any(|entry| entry.name == name) => "internal ",
            // Another module may import it: `linkonce_odr` would go where nothing in this module uses it.
            Some((_, LinkageType::LinkOnceODR)) => "weak_odr ",
            Some(_) => "",
            None => "internal ",
        };
        let convention = if entry.is_some() { "spir_kernel" } else { "spir_func" };
        let control = FunctionControl::from_bits_truncate(own.own.operand(0)?);
        let inline = if control.contains(FunctionControl::INLINE) { " inlinehint" } else { "" };
        let mut text = format!("\ndefine {linkage}{convention} {result} {name}({parameters}) #0{inline}");
        if let Some(entry) = entry {
            for (kind, node) in kernel::metadata(module, &self.w.types, &entry.name, self.declared) {
                let _ = write!(text, " !{kind} !{}", self.w.metadata.add(&node));
            }
        }
        if let Some(subprogram) = self.subprogram {
            let _ = write!(text, " !dbg !{}", subprogram.node);
        }
        let _ = write!(text, " {{\n{body}}}\n");
        Ok(text)
    }

    /// Words of a literal of a value's type.
    fn literal_words(&self, value: Id) -> usize {
        let ty =
            self.selectors.get(&value).copied().or_else(|| self.w.values.get(&value).map(|value| value.ty));
        match ty.and_then(|ty| self.w.types.get(ty)) {
            Some(Type::Int(33..)) => 2,
            _ => 1,
        }
    }

    /// The list of parameters, which become values.
    fn parameters(&mut self) -> Result<String> {
        let mut list = Vec::new();
        for parameter in &self.own.parameters {
            let name = format!("%v{}", parameter.result);
            let attributes = self.attributes(parameter);
            list.push(format!("{}{attributes} {name}", self.w.types.text(parameter.ty)));
            self.values.insert(parameter.result, Value { ty: parameter.ty, text: name });
        }
        Ok(list.join(", "))
    }

    fn attributes(&self, parameter: &Instruction<'_>) -> String {
        let Some(Type::Pointer(_, pointee)) = self.w.types.get(parameter.ty) else { return String::new() };
        let module = self.w.module;
        let mut text = String::new();
        for row in module.decorations_of(parameter.result, Decoration::FuncParamAttr) {
            match row.first().and_then(|number| FunctionParameterAttribute::from_u32(*number)) {
                Some(FunctionParameterAttribute::ByVal) => {
                    let _ = write!(text, " byval({})", self.w.types.text(*pointee));
                }
                Some(FunctionParameterAttribute::Sret) => {
                    let _ = write!(text, " sret({})", self.w.types.text(*pointee));
                }
                Some(FunctionParameterAttribute::NoAlias) => text.push_str(" noalias"),
                Some(FunctionParameterAttribute::NoCapture) => text.push_str(" nocapture"),
                Some(FunctionParameterAttribute::NoWrite) => text.push_str(" readonly"),
                Some(FunctionParameterAttribute::NoReadWrite) => text.push_str(" readnone"),
                _ => {}
            }
        }
        if let Some(bytes) = module.alignment(parameter.result) {
            let _ = write!(text, " align {bytes}");
        }
        text
    }

    fn write_block(&mut self, block: &Block<'m>) -> Result<()> {
        let _ = writeln!(self.body, "b{}:", block.label);
        self.label = block.label;
        self.written.insert(block.label);
        (self.scope, self.place) = (None, None);
        self.locate();
        if self.written.len() == 1 {
            self.samplers();
        }
        block.instructions.iter().try_for_each(|own| self.instruction(own))
    }

    /// The body with the operands of its `phi`s.
    fn with_phis(&mut self) -> Result<String> {
        let body = std::mem::take(&mut self.body);
        let mut text = String::with_capacity(body.len());
        let mut done = 0;
        for (own, at) in std::mem::take(&mut self.phis) {
            text.push_str(&body[done..at]);
            done = at;
            let mut incoming = Vec::new();
            for pair in own.operands.chunks(2) {
                let [value, from] = *pair else { return Err(own.error("it has too few operands")) };
                // Control does not come from a block that it does not reach.
                if !self.written.contains(&from) {
                    continue;
                }
                let value = self.value(&own, value)?;
                incoming.push(format!("[ {}, %b{from} ]", value.text));
            }
            text.push_str(&incoming.join(", "));
        }
        text.push_str(&body[done..]);
        Ok(text)
    }

    /// Makes what attaches the current place.
    fn locate(&mut self) {
        if let Some(subprogram) = self.subprogram {
            self.location = format!(", !dbg !{}", self.w.location(subprogram, self.scope, self.place));
        }
    }

    fn instruction(&mut self, own: &Instruction<'m>) -> Result<()> {
        if self.w.module.is_debug(own) {
            if let Some(place) = self.w.module.place(own) {
                self.place = place;
            }
            if let Some(scope) = self.w.module.scope(own) {
                self.scope = scope;
            }
            self.locate();
            return Ok(());
        }
        let done = self.control(own)?
            || self.arithmetic(own)?
            || self.bits(own)?
            || self.dot(own)?
            || self.convert(own)?
            || self.memory(own)?
            || self.composite(own)?
            || self.sync(own)?
            || self.float_atomics(own)?
            || self.group(own)?
            || self.intel(own)?
            || self.image(own)?
            || self.extended(own)?;
        if done { Ok(()) } else { Err(own.error("it is not supported")) }
    }

    /// A value of the function or of the module.
    fn value(&self, own: &Instruction<'_>, id: Id) -> Result<Value> {
        match self.values.get(&id) {
            Some(value) => Ok(value.clone()),
            None => self.w.value(own, id),
        }
    }

    /// The value of an operand.
    fn operand(&self, own: &Instruction<'_>, number: usize) -> Result<Value> {
        self.value(own, own.operand(number)?)
    }

    /// An operand with its type.
    fn typed(&self, own: &Instruction<'_>, number: usize) -> Result<String> {
        Ok(self.w.typed(&self.operand(own, number)?))
    }

    fn argument(&self, value: &Value) -> Argument {
        (self.type_of(value).to_owned(), value.text.clone())
    }

    fn type_of(&self, value: &Value) -> &str {
        self.w.types.text(value.ty)
    }

    /// A constant integer.
    fn constant(&self, id: Id) -> Option<u64> {
        self.w.constants.get(&id)?.integer()
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "  {text}{}", self.location);
    }

    /// A value that SPIR-V does not name.
    fn temporary(&mut self, text: &str) -> String {
        self.temporaries += 1;
        let name = format!("%t{}", self.temporaries);
        self.line(&format!("{name} = {text}"));
        name
    }

    /// The result of an instruction.
    fn result(&mut self, own: &Instruction<'_>, text: &str) {
        let name = format!("%v{}", own.result);
        self.line(&format!("{name} = {text}"));
        self.is(own, name);
    }

    /// The result of an instruction is another value.
    fn is(&mut self, own: &Instruction<'_>, text: String) {
        self.values.insert(own.result, Value { ty: own.ty, text });
    }

    /// Calls a function; its result, if it has one.
    fn call(&mut self, name: &str, result: &str, arguments: &[Argument]) -> String {
        let name = self.w.declare(name, result, &types(arguments));
        let text = format!("call spir_func {result} {name}({}) #0", typed(arguments));
        if result == "void" {
            self.line(&text);
            return String::new();
        }
        self.temporary(&text)
    }

    /// Calls a built-in function with values, whose integers have a sign.
    fn call_built_in(&mut self, name: &str, result: &str, arguments: &[(Value, Sign)]) -> Result<String> {
        let parameters: Vec<Parameter> =
            arguments.iter().map(|(value, sign)| self.parameter(value.ty, *sign)).collect();
        let list: Vec<Argument> = arguments.iter().map(|(value, _)| self.argument(value)).collect();
        Ok(self.call(&mangle(name, &parameters), result, &list))
    }

    /// Calls one of LLVM's intrinsics.
    fn intrinsic(&mut self, name: &str, result: &str, arguments: &[Argument]) -> String {
        self.w.declare_intrinsic(name, result, &types(arguments));
        let text = format!("call {result} @{name}({})", typed(arguments));
        if result == "void" {
            self.line(&text);
            return String::new();
        }
        self.temporary(&text)
    }

    /// A parameter of a built-in function.
    fn parameter(&self, ty: Id, sign: Sign) -> Parameter {
        let types = &self.w.types;
        let code = |signed: &str, unsigned: &str| {
            Parameter::Named(if sign == Sign::Signed { signed } else { unsigned }.into())
        };
        match types.get(ty) {
            Some(Type::Bool) => Parameter::Named("b".into()),
            Some(Type::Int(8)) => code("c", "h"),
            Some(Type::Int(16)) => code("s", "t"),
            Some(Type::Int(64)) => code("l", "m"),
            Some(Type::Int(_)) => code("i", "j"),
            Some(Type::Float(16)) => Parameter::Named("Dh".into()),
            Some(Type::Float(32)) => Parameter::Named("f".into()),
            Some(Type::Float(_)) => Parameter::Named("d".into()),
            Some(Type::Vector(element, count)) => match self.parameter(*element, sign) {
                Parameter::Named(scalar) => Parameter::Vector(*count, scalar),
                other => other,
            },
            Some(Type::Pointer(class, pointee)) => {
                let pointee = match types.get(*pointee) {
                    // No built-in function has a pointer to pointers, and a pointer can point to its own type.
                    Some(Type::Pointer(..)) => Parameter::Named("v".into()),
                    _ => self.parameter(*pointee, sign),
                };
                Parameter::Pointer(address_space(*class).unwrap_or(0), "", Box::new(pointee))
            }
            Some(Type::Image(image)) => Parameter::Named(image_code(image)),
            Some(Type::Sampler) => Parameter::Named("11ocl_sampler".into()),
            Some(Type::Event) => Parameter::Named("9ocl_event".into()),
            _ => Parameter::Named("v".into()),
        }
    }

    /// `size_t`: its code and LLVM's name.
    fn size_type(&self) -> (&'static str, &'static str) {
        if self.w.environment.pointer_bits == 64 { ("m", "i64") } else { ("j", "i32") }
    }
}

/// Clang's name of an image type in mangled names: `14ocl_image2d_ro`.
fn image_code(image: &Image) -> String {
    let name = kernel::image_name(image);
    let access = ["ro", "wo", "rw"][image.access.min(2) as usize];
    let name = format!("ocl_{}_{access}", name.trim_end_matches("_t"));
    format!("{}{name}", name.len())
}

/// An argument of a call: LLVM's type, and the operand.
type Argument = (String, String);

fn types(arguments: &[Argument]) -> String {
    arguments.iter().map(|(ty, _)| ty.as_str()).collect::<Vec<_>>().join(", ")
}

fn typed(arguments: &[Argument]) -> String {
    arguments.iter().map(|(ty, text)| format!("{ty} {text}")).collect::<Vec<_>>().join(", ")
}

/// Whether an operation has no meaning of its own here.
fn is_ignored(op: Op) -> bool {
    matches!(op, Op::SelectionMerge | Op::LifetimeStart | Op::LifetimeStop | Op::AssumeTrueKHR)
}
