//! The operations in the text form: a row for each, which is both how it is printed and how it is parsed.

use crate::ir::names::{property_from_name, property_name};
use crate::ir::{
    AtomicOp, BinaryOp, BlockId, Condition, CrossLane, GroupOp, ImageAccess, ImageOp, Input, Join, Leave, Op,
    Rounding, Space, TernaryOp, Type, UnaryOp, Vote,
};
use gencl_program::{ImageProperty, PushSource, SamplerSource};

/// What was parsed, or what is wrong with it.
pub type Parsed<T> = Result<T, String>;

/// Parses a number.
pub fn integer<T: std::str::FromStr>(text: &str) -> Parsed<T> {
    text.parse().map_err(|_| format!("`{text}` is not a number that fits here"))
}

/// An operation as it is printed.
#[derive(Default)]
pub struct Printed {
    /// The word with everything that is a name.
    pub mnemonic: String,
    /// Numbers, before the source registers.
    pub numbers: Vec<String>,
    /// Blocks, behind them.
    pub blocks: Vec<BlockId>,
}

impl Printed {
    fn part(&mut self, part: &str) {
        if !self.mnemonic.is_empty() {
            self.mnemonic.push('.');
        }
        self.mnemonic.push_str(part);
    }
}

/// What remains to be parsed of an operation.
pub struct Words<'t> {
    /// The parts of the mnemonic between its dots.
    parts: std::iter::Peekable<std::str::Split<'t, char>>,
    numbers: std::vec::IntoIter<&'t str>,
    blocks: std::vec::IntoIter<BlockId>,
}

impl<'t> Words<'t> {
    fn part(&mut self) -> &'t str {
        self.parts.next().unwrap_or_default()
    }

    fn flag(&mut self, name: &str) -> bool {
        self.parts.next_if(|part| *part == name).is_some()
    }

    fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        integer(self.numbers.next().ok_or("a number is missing")?)
    }

    fn block(&mut self) -> Parsed<BlockId> {
        Ok(self.blocks.next().ok_or("a block is missing")?)
    }
}

/// Parses an operation from its mnemonic, numbers and blocks.
pub fn operation(mnemonic: &str, numbers: Vec<&str>, blocks: Vec<BlockId>) -> Parsed<Op> {
    let parts = mnemonic.split('.').peekable();
    let mut words = Words { parts, numbers: numbers.into_iter(), blocks: blocks.into_iter() };
    let op = Op::parse(&mut words)?;
    if let Some(part) = words.parts.next() {
        return Err(format!("`.{part}` does not belong to `{mnemonic}`"));
    }
    if words.numbers.next().is_some() || words.blocks.next().is_some() {
        return Err("too many numbers or blocks".to_owned());
    }
    Ok(op)
}

/// What has a place in the text of an operation.
pub trait Word: Sized {
    /// Appends it.
    fn print(self, out: &mut Printed);
    /// Takes it from what remains.
    fn parse(words: &mut Words) -> Parsed<Self>;
}

/// Types that are one part of a mnemonic, and what messages call them.
macro_rules! named {
    ($($type:ident $what:literal;)*) => {$(
        impl Word for $type {
            fn print(self, out: &mut Printed) {
                out.part(self.name());
            }

            fn parse(words: &mut Words) -> Parsed<Self> {
                let part = words.part();
                $type::from_name(part).ok_or_else(|| format!("`{part}` is not a {}", $what))
            }
        }
    )*};
}

named! {
    Type "type";
    Space "address space";
    Condition "condition";
    AtomicOp "atomic operation";
    GroupOp "group operation";
    Vote "vote";
    Leave "way to leave";
    Join "way to join";
}

impl Word for Rounding {
    fn print(self, out: &mut Printed) {
        if self != Rounding::Default {
            out.part(self.name());
        }
    }

    fn parse(words: &mut Words) -> Parsed<Self> {
        let rounding = words.parts.peek().copied().and_then(Rounding::from_name);
        if rounding.is_some() {
            words.part();
        }
        Ok(rounding.unwrap_or(Rounding::Default))
    }
}

/// An alignment.
impl Word for u32 {
    fn print(self, out: &mut Printed) {
        out.part(&format!("align{self}"));
    }

    fn parse(words: &mut Words) -> Parsed<Self> {
        integer(words.part().strip_prefix("align").ok_or("the alignment is missing")?)
    }
}

/// A number of coordinates.
impl Word for u8 {
    fn print(self, out: &mut Printed) {
        out.part(&format!("{self}d"));
    }

    fn parse(words: &mut Words) -> Parsed<Self> {
        integer(words.part().strip_suffix('d').ok_or("the number of coordinates is missing")?)
    }
}

impl Word for ImageProperty {
    fn print(self, out: &mut Printed) {
        out.part(property_name(self));
    }

    fn parse(words: &mut Words) -> Parsed<Self> {
        let part = words.part();
        property_from_name(part).ok_or_else(|| format!("`{part}` is not a property of images"))
    }
}

/// Whether it is the upper half.
impl Word for bool {
    fn print(self, out: &mut Printed) {
        out.part(if self { "upper" } else { "lower" });
    }

    fn parse(words: &mut Words) -> Parsed<Self> {
        match words.part() {
            "upper" => Ok(true),
            "lower" => Ok(false),
            other => Err(format!("`{other}` is not a half")),
        }
    }
}

/// The words of a type. A row is the first part of the mnemonic, then `.` further parts, `?` parts that stand there
/// when the flag of that name is set, `#` numbers, `@` blocks, and the value that has them.
macro_rules! words {
    ($type:ident {
        $($word:literal $(.$part:ident)* $(?$flag:ident $set:literal)* $(#$number:ident)* $(@$block:ident)*
            => ($($value:tt)+);)*
    }
    print |$out:ident| { $($printed:tt)* }
    parse |$first:ident, $words:ident| { $($parsed:tt)* }) => {
        impl Word for $type {
            fn print(self, $out: &mut Printed) {
                match self {
                    $($($value)+ => {
                        $out.part($word);
                        $($part.print($out);)*
                        $(if $flag { $out.part($set); })*
                        $($out.numbers.push($number.to_string());)*
                        $($out.blocks.push($block);)*
                    })*
                    $($printed)*
                }
            }

            fn parse($words: &mut Words) -> Parsed<Self> {
                let $first = $words.part();
                match $first {
                    $($word => {
                        $(let $part = Word::parse($words)?;)*
                        $(let $flag = $words.flag($set);)*
                        $(let $number = $words.number()?;)*
                        $(let $block = $words.block()?;)*
                        Ok($($value)+)
                    })*
                    _ => { $($parsed)* }
                }
            }
        }
    };
}

words! {
    Op {
        "input".input => (Op::Input(input));
        "undefined" => (Op::Undefined);
        "compare".condition.ty => (Op::Compare(condition, ty));
        "select".ty => (Op::Select(ty));
        "convert".to.from.rounding ?saturate "sat" => (Op::Convert { to, from, rounding, saturate });
        "pair" => (Op::Pair);
        "half".upper => (Op::Half { upper });
        "load".space.ty.align => (Op::Load { space, ty, align });
        "store".space.ty.align => (Op::Store { space, ty, align });
        "atomic".op.space.ty => (Op::Atomic { op, space, ty });
        "image".access => (Op::Image(access));
        "shuffle".ty => (Op::CrossLane(CrossLane::Shuffle(ty)));
        "ballot" => (Op::CrossLane(CrossLane::Ballot));
        "reduce".op.ty => (Op::CrossLane(CrossLane::Reduce(op, ty)));
        "scan".op.ty => (Op::CrossLane(CrossLane::Scan { op, ty, exclusive: false }));
        "exclusive_scan".op.ty => (Op::CrossLane(CrossLane::Scan { op, ty, exclusive: true }));
        "barrier" ?local "local" ?global "global" => (Op::Barrier { local, global });
        "barrier_arrive" ?local "local" ?global "global" => (Op::BarrierArrive { local, global });
        "barrier_wait" => (Op::BarrierWait);
        "clock" => (Op::Clock);
        "race_check" #site #granules #control => (Op::RaceCheck { site, granules, control });
        "subgroup_barrier" ?local "local" ?global "global" => (Op::SubgroupBarrier { local, global });
        "fence" ?local "local" ?global "global" => (Op::Fence { local, global });
        "jump" @target => (Op::Jump(target));
        "branch" @then @otherwise => (Op::Branch { then, otherwise });
        "vote".vote @target @next => (Op::Vote { vote, target, next });
        "leave".by @target @next @empty => (Op::Leave { by, target, next, empty });
        "join".by @next @empty => (Op::Join { by, next, empty });
        "return" => (Op::Return);
    }
    print |out| {
        Op::Immediate { ty, bits } => {
            out.part("immediate");
            ty.print(out);
            out.numbers.push(number(ty, bits));
        }
        Op::Unary(op, ty) => {
            out.part(op.name());
            ty.print(out);
        }
        Op::Binary(op, ty) => {
            out.part(op.name());
            ty.print(out);
        }
        Op::Ternary(op, ty) => {
            out.part(op.name());
            ty.print(out);
        }
    }
    parse |word, words| {
        if word == "immediate" {
            let ty = Type::parse(words)?;
            Ok(Op::Immediate { ty, bits: bits(ty, words.numbers.next().ok_or("a number is missing")?)? })
        } else if let Some(op) = UnaryOp::from_name(word) {
            Ok(Op::Unary(op, Type::parse(words)?))
        } else if let Some(op) = BinaryOp::from_name(word) {
            Ok(Op::Binary(op, Type::parse(words)?))
        } else if let Some(op) = TernaryOp::from_name(word) {
            Ok(Op::Ternary(op, Type::parse(words)?))
        } else {
            Err(format!("`{word}` is not an operation"))
        }
    }
}

words! {
    ImageAccess {
        "sample_argument".coordinates.ty #image #sampler => (
            ImageAccess { op: ImageOp::Sample(SamplerSource::Argument(sampler)), image, ty, coordinates });
        "sample_constant".coordinates.ty #image #sampler => (
            ImageAccess { op: ImageOp::Sample(SamplerSource::Constant(sampler)), image, ty, coordinates });
        "load".coordinates.ty #image => (ImageAccess { op: ImageOp::Load, image, ty, coordinates });
        "write".coordinates.ty #image => (ImageAccess { op: ImageOp::Write, image, ty, coordinates });
    }
    print |out| {}
    parse |word, words| { Err(format!("`{word}` is not an access to an image")) }
}

words! {
    Input {
        "local_id" #dimension => (Input::LocalId(dimension));
        "group_id" #dimension => (Input::GroupId(dimension));
        "lane_id" => (Input::LaneId);
        "subgroup_id" => (Input::SubgroupId);
        "simd_width" => (Input::SimdWidth);
        "push".source => (Input::Push(source));
    }
    print |out| {}
    parse |word, words| { Err(format!("`{word}` is not an input")) }
}

words! {
    PushSource {
        "value" #argument #offset => (PushSource::Value { argument, offset });
        "pointer" #argument => (PushSource::Pointer { argument });
        "local_offset" #argument => (PushSource::LocalOffset { argument });
        "image".property #argument => (PushSource::Image { argument, property });
        "global_offset" #dimension => (PushSource::GlobalOffset(dimension));
        "global_size" #dimension => (PushSource::GlobalSize(dimension));
        "local_size" #dimension => (PushSource::LocalSize(dimension));
        "enqueued_local_size" #dimension => (PushSource::EnqueuedLocalSize(dimension));
        "num_groups" #dimension => (PushSource::NumGroups(dimension));
        "work_dim" => (PushSource::WorkDim);
        "argument_block" => (PushSource::ArgumentBlock);
        "constant_base" => (PushSource::ConstantBase);
        "variable_base" => (PushSource::VariableBase);
        "printf_buffer" => (PushSource::PrintfBuffer);
        "check_buffer" => (PushSource::CheckBuffer);
        "race_table" => (PushSource::RaceTable);
        "shadow" #argument => (PushSource::Shadow { argument });
        "local_shadow" => (PushSource::LocalShadow);
        "stack_base" => (PushSource::StackBase);
    }
    print |out| {}
    parse |word, words| { Err(format!("`{word}` is not a push")) }
}

/// A constant: integers as numbers of their type, all else as bits.
fn number(ty: Type, bits: u64) -> String {
    if ty.is_float() || bits & !ty.mask() != 0 {
        format!("{bits:#x}")
    } else if ty.is_signed() {
        let shift = 64 - ty.bits();
        ((bits << shift) as i64 >> shift).to_string()
    } else {
        bits.to_string()
    }
}

/// The bits of a constant; see [`number`].
fn bits(ty: Type, word: &str) -> Parsed<u64> {
    if let Some(digits) = word.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).map_err(|_| format!("`{word}` is not a number of 64 bits"));
    }
    let value: i128 = integer(word)?;
    let (low, high) = if ty.is_signed() {
        (-(1i128 << (ty.bits() - 1)), (1i128 << (ty.bits() - 1)) - 1)
    } else {
        (0, i128::from(ty.mask()))
    };
    if value < low || value > high {
        return Err(format!("{value} does not fit {}", ty.name()));
    }
    Ok(value as u64 & ty.mask())
}
