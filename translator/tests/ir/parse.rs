//! Reads the text form of the middle IR.

use rustc_hash::FxHashMap;

use gencl_eu::message::{AtomicOperation, Elements};

use gencl_translator::middle::function::{
    Block, Constant, Definition, End, Function, InstructionData, Target, Value, ValueData,
};
use gencl_translator::middle::op::{
    Access, Addressing, Binary, Convert, FloatRelation, Input, Inside, Op, Registers, Relation, Space, Unary,
    Window,
};
use gencl_translator::middle::types::{Scalar, Type};

/// All atomic operations.
const ATOMICS: [AtomicOperation; 18] = {
    use AtomicOperation as A;
    [
        A::And,
        A::Or,
        A::Xor,
        A::Move,
        A::Increment,
        A::Decrement,
        A::Add,
        A::Subtract,
        A::ReverseSubtract,
        A::SignedMaximum,
        A::SignedMinimum,
        A::UnsignedMaximum,
        A::UnsignedMinimum,
        A::CompareWrite,
        A::PreDecrement,
        A::FloatMaximum,
        A::FloatMinimum,
        A::FloatCompareWrite,
    ]
};

/// Reads a function.
///
/// # Errors
/// The line, and what is wrong with it.
pub fn parse(text: &str) -> Result<Function, String> {
    let mut parser = Parser::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.split(';').next().unwrap_or_default();
        if !line.trim().is_empty() {
            parser.line(line).map_err(|why| format!("line {}: {why}", number + 1))?;
        }
    }
    if parser.function.blocks.is_empty() {
        return Err("there is no block".into());
    }
    match parser.values.values().find(|(_, is_defined)| !is_defined) {
        Some(_) => Err("a value is used that is nowhere computed".into()),
        None => Ok(parser.function),
    }
}

/// A function as far as it has been read.
#[derive(Default)]
struct Parser {
    function: Function,
    /// By number in the text: the value, and whether its definition has been read.
    values: FxHashMap<u32, (Value, bool)>,
}

/// What is left of a line.
struct Tokens<'a> {
    all: Vec<&'a str>,
    next: usize,
}

impl<'a> Tokens<'a> {
    fn new(line: &'a str) -> Tokens<'a> {
        let is_mark = |c: char| "(),:=[]".contains(c);
        let mut all = Vec::new();
        for word in line.split_whitespace() {
            let mut rest = word;
            while let Some(at) = rest.find(is_mark) {
                all.extend([&rest[..at], &rest[at..=at]].into_iter().filter(|token| !token.is_empty()));
                rest = &rest[at + 1..];
            }
            all.extend(Some(rest).filter(|token| !token.is_empty()));
        }
        Tokens { all, next: 0 }
    }

    fn peek(&self) -> &'a str {
        self.all.get(self.next).copied().unwrap_or("")
    }

    fn take(&mut self) -> &'a str {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn accept(&mut self, token: &str) -> bool {
        let is_there = self.peek() == token;
        self.next += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.accept(token) { Ok(()) } else { Err(format!("{token:?} is expected, not {:?}", self.peek())) }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, String> {
        let token = self.take();
        token.parse().map_err(|_| format!("no number: {token:?}"))
    }

    /// `[1 2 3]`
    fn list<T: std::str::FromStr>(&mut self) -> Result<Vec<T>, String> {
        self.expect("[")?;
        let mut all = Vec::new();
        while !self.accept("]") {
            all.push(self.number()?);
            self.accept(",");
        }
        Ok(all)
    }

    fn named<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> Result<T, String> {
        let token = self.take();
        find(token).ok_or_else(|| format!("nothing is called {token:?}"))
    }
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut tokens = Tokens::new(line);
        let first = tokens.peek();
        if !line.starts_with(' ') && first.starts_with('b') {
            return self.header(&mut tokens);
        }
        let Some(block) = self.function.blocks.len().checked_sub(1).map(|n| Block(n as u32)) else {
            return Err("it is in no block".into());
        };
        match first {
            "jump" | "branch" | "return" | "fault" | "wait" | "yield" => {
                let end = self.end(&mut tokens)?;
                self.function.block_mut(block).end = end;
            }
            _ => self.instruction(&mut tokens, block)?,
        }
        if tokens.peek().is_empty() { Ok(()) } else { Err(format!("{:?} is too much", tokens.peek())) }
    }

    fn header(&mut self, tokens: &mut Tokens<'_>) -> Result<(), String> {
        let block = self.block(tokens)?;
        if self.function.add_block() != block {
            return Err("blocks are not in their order".into());
        }
        tokens.expect("(")?;
        while !tokens.accept(")") {
            let value = self.definition(tokens, Definition::Parameter(block))?;
            self.function.block_mut(block).parameters.push(value);
            tokens.accept(",");
        }
        if tokens.accept("resumed") {
            self.function.resumed.push(block);
        }
        tokens.expect(":")
    }

    fn block(&mut self, tokens: &mut Tokens<'_>) -> Result<Block, String> {
        let token = tokens.take();
        let number = token.strip_prefix('b').and_then(|number| number.parse().ok());
        number.map(Block).ok_or_else(|| format!("no block: {token:?}"))
    }

    fn value(&mut self, number: u32) -> &mut (Value, bool) {
        let function = &mut self.function;
        self.values.entry(number).or_insert_with(|| {
            let unknown = Definition::Constant(Constant::All(0));
            (function.values.push(ValueData { ty: Type::mask(1), definition: unknown }), false)
        })
    }

    fn value_number(tokens: &mut Tokens<'_>) -> Result<u32, String> {
        let token = tokens.take();
        token.strip_prefix('%').and_then(|n| n.parse().ok()).ok_or_else(|| format!("no value: {token:?}"))
    }

    /// `%7: i32x8`
    fn definition(&mut self, tokens: &mut Tokens<'_>, definition: Definition) -> Result<Value, String> {
        let number = Parser::value_number(tokens)?;
        tokens.expect(":")?;
        let ty = parse_type(tokens.take())?;
        let (value, is_defined) = self.value(number);
        let value = *value;
        if std::mem::replace(is_defined, true) {
            return Err(format!("%{number} is computed twice"));
        }
        self.function.values[value] = ValueData { ty, definition };
        Ok(value)
    }

    fn operand(&mut self, tokens: &mut Tokens<'_>) -> Result<Value, String> {
        if tokens.peek().starts_with('%') {
            let number = Parser::value_number(tokens)?;
            return Ok(self.value(number).0);
        }
        let ty = parse_type(tokens.take())?;
        let constant = if tokens.peek() == "[" {
            let lanes = tokens.list::<u128>()?;
            if lanes.len() != usize::from(ty.lanes) {
                return Err(format!("{} elements for {ty}", lanes.len()));
            }
            Constant::Each(lanes.into())
        } else {
            let token = tokens.take();
            let bits = match token.strip_prefix("0x") {
                Some(digits) => u128::from_str_radix(digits, 16),
                None => token.parse(),
            };
            Constant::All(bits.map_err(|_| format!("no number: {token:?}"))?)
        };
        Ok(self.function.constant(ty, constant))
    }

    fn operands(&mut self, tokens: &mut Tokens<'_>, until: &str) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        while tokens.peek() != until && !tokens.peek().starts_with('@') {
            all.push(self.operand(tokens)?);
            tokens.accept(",");
        }
        Ok(all)
    }

    fn target(&mut self, tokens: &mut Tokens<'_>) -> Result<Target, String> {
        let block = self.block(tokens)?;
        tokens.expect("(")?;
        let arguments = self.operands(tokens, ")")?;
        tokens.expect(")")?;
        tokens.accept(",");
        Ok(Target { block, arguments })
    }

    fn end(&mut self, tokens: &mut Tokens<'_>) -> Result<End, String> {
        Ok(match tokens.take() {
            "jump" => End::Jump(self.target(tokens)?),
            "branch" => {
                let condition = self.operand(tokens)?;
                tokens.expect(",")?;
                End::Branch { condition, yes: self.target(tokens)?, no: self.target(tokens)? }
            }
            "return" => End::Return,
            "fault" => End::Fault,
            end => End::Suspend { resume: self.target(tokens)?, yields: end == "yield" },
        })
    }

    fn instruction(&mut self, tokens: &mut Tokens<'_>, block: Block) -> Result<(), String> {
        let instruction = self.function.instructions.next_key();
        let mut results = Vec::new();
        if tokens.peek().starts_with('%') {
            while !tokens.accept("=") {
                let number = results.len() as u8;
                results.push(self.definition(tokens, Definition::Result(instruction, number))?);
                tokens.accept(",");
            }
        }
        let op = op(tokens)?;
        let operands = self.operands(tokens, "")?;
        let origin = match tokens.peek().strip_prefix('@') {
            Some(number) => number.parse().map_err(|_| format!("no instruction: {number:?}"))?,
            None => 0,
        };
        tokens.next += usize::from(tokens.peek().starts_with('@'));
        self.function.instructions.push(InstructionData { op, operands, results, origin });
        self.function.block_mut(block).instructions.push(instruction);
        Ok(())
    }
}

fn access(tokens: &mut Tokens<'_>) -> Result<Box<Access>, String> {
    let (space, size) = (tokens.named(Space::from_name)?, tokens.number()?);
    tokens.expect("align")?;
    let alignment = tokens.number()?;
    tokens.expect("at")?;
    let offsets: Vec<u8> = tokens.list()?;
    let present = offsets.iter().fold(0, |set, offset| set | 1_u8 << (offset / size));
    let elements = Elements { size, present, alignment };
    let addressing = match tokens.peek() {
        "stride" => {
            tokens.take();
            Addressing::Affine(tokens.number()?)
        }
        "interleaved" => {
            tokens.take();
            Addressing::Interleaved(tokens.number()?)
        }
        _ if tokens.accept("offsets") => Addressing::Offsets,
        _ => Addressing::Varying,
    };
    let window = window(tokens)?;
    Ok(Box::new(Access { space, elements, addressing, window, is_guarded: tokens.accept("guarded") }))
}

fn window(tokens: &mut Tokens<'_>) -> Result<Option<Window>, String> {
    if !tokens.accept("window") {
        return Ok(None);
    }
    if tokens.accept("image") {
        return Ok(Some(Window::Image(tokens.number()?)));
    }
    let is_pointer = tokens.accept("cross-thread");
    let number = tokens.number()?;
    Ok(Some(if is_pointer { Window::Pointer(number) } else { Window::Shared(number) }))
}

fn inside(tokens: &mut Tokens<'_>) -> Result<Inside, String> {
    let (space, alignment) = block_access(tokens)?;
    tokens.expect("at")?;
    let first = tokens.number()?;
    tokens.expect("bytes")?;
    Ok(Inside { space, alignment, first, bytes: tokens.number()?, window: window(tokens)? })
}

fn registers(tokens: &mut Tokens<'_>) -> Result<Box<Registers>, String> {
    let operands = tokens.list()?;
    tokens.expect("to")?;
    Ok(Box::new(Registers { operands, results: tokens.list()? }))
}

fn block_access(tokens: &mut Tokens<'_>) -> Result<(Space, u8), String> {
    let space = tokens.named(Space::from_name)?;
    tokens.expect("align")?;
    Ok((space, tokens.number()?))
}

fn op(tokens: &mut Tokens<'_>) -> Result<Op, String> {
    let name = tokens.take();
    let simple = [
        ("fma", Op::Fma),
        ("select", Op::Select),
        ("fence", Op::Fence),
        ("splat", Op::Splat),
        ("bits", Op::Bits),
        ("mask", Op::Mask),
        ("memory-fence", Op::MemoryFence),
        ("arrive", Op::Arrive),
        ("executed", Op::Executed),
        ("gather", Op::Gather),
        ("scatter", Op::Scatter),
        ("cancelled", Op::Cancelled),
    ];
    if let Some((_, op)) = simple.into_iter().find(|(own, _)| *own == name) {
        return Ok(op);
    }
    let arithmetic = Binary::from_name(name)
        .map(Op::Binary)
        .or_else(|| Unary::from_name(name).map(Op::Unary))
        .or_else(|| Convert::from_name(name).map(Op::Convert));
    if let Some(op) = arithmetic {
        return Ok(op);
    }
    Ok(match name {
        "icmp" => Op::ICmp(tokens.named(Relation::from_name)?),
        "fcmp" => Op::FCmp(tokens.named(FloatRelation::from_name)?),
        "shuffle" => Op::Shuffle(tokens.list()?.into()),
        "input" => Op::Input(match tokens.take() {
            "header" => Input::Header(tokens.number()?),
            "cross-thread" => Input::CrossThread(tokens.number()?),
            "per-thread" => Input::PerThread(tokens.number()?),
            "mask" => Input::Mask,
            "image" => Input::Image(tokens.number()?, tokens.number()?),
            other => return Err(format!("no input: {other:?}")),
        }),
        "load" => Op::Load(access(tokens)?),
        "store" => Op::Store(access(tokens)?),
        "inside" => Op::Inside(inside(tokens)?),
        "load-block" => {
            let (space, alignment) = block_access(tokens)?;
            Op::LoadBlock(space, alignment)
        }
        "store-block" => {
            let (space, alignment) = block_access(tokens)?;
            Op::StoreBlock(space, alignment)
        }
        "atomic" => {
            let operation =
                tokens.named(|name| ATOMICS.into_iter().find(|own| format!("{own:?}") == name))?;
            Op::Atomic(operation, tokens.named(Space::from_name)?, tokens.number()?)
        }
        "image" => Op::Image(registers(tokens)?),
        "interpret" => Op::Interpret(registers(tokens)?),
        "unwritten" => Op::Unwritten(registers(tokens)?),
        "count" => Op::Count(tokens.number()?),
        "set-array" => Op::SetArray(tokens.number()?),
        "get-array" => Op::GetArray(tokens.number()?),
        "set-element" => Op::SetElement(tokens.number()?),
        "get-element" => Op::GetElement(tokens.number()?),
        "get" => Op::Get(tokens.number()?),
        "put" => Op::Put(tokens.number()?),
        _ => return Err(format!("no operation: {name:?}")),
    })
}

/// Reads a type: `i32`, `f16x8`, `m16`.
fn parse_type(text: &str) -> Result<Type, String> {
    let wrong = || format!("no type {text:?}");
    let number = |digits: &str| digits.parse::<u16>().ok().filter(|n| *n > 0).ok_or_else(wrong);
    if let Some(lanes) = text.strip_prefix('m') {
        return Ok(Type { scalar: Scalar::Mask, lanes: number(lanes)? });
    }
    let (scalar, lanes) = text.split_once('x').unwrap_or((text, "1"));
    let bits = scalar.get(1..).ok_or_else(wrong).and_then(number)?;
    let scalar = match (&scalar[..1], bits) {
        ("i", 1..=128) => Scalar::Int(bits as u8),
        ("f", 16) => Scalar::Half,
        ("f", 32) => Scalar::Float,
        ("f", 64) => Scalar::Double,
        _ => return Err(wrong()),
    };
    Ok(Type { scalar, lanes: number(lanes)? })
}
