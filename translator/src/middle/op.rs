//! The operations.

use std::fmt;

use gencl_eu::message::{AtomicOperation, Elements};
use gencl_ir_support::names;

use super::types::Type;

/// An operation on two operands of the result's type, lane by lane. Those of integers wrap around; shift counts are below the number of bits, else the result is any bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Binary {
    Add,
    /// A sum that fits, of unsigned integers.
    AddNuw,
    Sub,
    Mul,
    /// Also of masks, as are the next two.
    And,
    Or,
    Xor,
    Shl,
    /// Shifts zeros in.
    LShr,
    /// Shifts the sign in.
    AShr,
    /// The divisor is not 0, and the quotient fits.
    SDiv,
    SRem,
    SMin,
    SMax,
    UMin,
    UMax,
    FAdd,
    FSub,
    FMul,
    FDiv,
}

/// An operation on one operand of the result's type, lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unary {
    FNeg,
    FAbs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest integer, to the even one of two.
    RoundEven,
    /// Leading zeros; all bits for 0.
    Ctlz,
    /// Trailing zeros; all bits for 0.
    Cttz,
    Ctpop,
    BitReverse,
}

/// A conversion, lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Convert {
    Trunc,
    ZExt,
    SExt,
    FPExt,
    /// Rounds to nearest even.
    FPTrunc,
    SIToFP,
    UIToFP,
    /// Towards zero. What does not fit is any integer.
    FPToSI,
    FPToUI,
    /// The same bits as elements of another size: the bits of all lanes are as many. Not of masks.
    Bitcast,
}

/// A relation of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Relation {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

impl Relation {
    /// That of the operands in the other order.
    pub fn swapped(self) -> Relation {
        match self {
            Relation::Ult => Relation::Ugt,
            Relation::Ule => Relation::Uge,
            Relation::Ugt => Relation::Ult,
            Relation::Uge => Relation::Ule,
            Relation::Slt => Relation::Sgt,
            Relation::Sle => Relation::Sge,
            Relation::Sgt => Relation::Slt,
            Relation::Sge => Relation::Sle,
            Relation::Eq | Relation::Ne => self,
        }
    }

    /// What holds where it does not.
    pub fn negated(self) -> Relation {
        match self {
            Relation::Eq => Relation::Ne,
            Relation::Ne => Relation::Eq,
            Relation::Ult => Relation::Uge,
            Relation::Ule => Relation::Ugt,
            Relation::Ugt => Relation::Ule,
            Relation::Uge => Relation::Ult,
            Relation::Slt => Relation::Sge,
            Relation::Sle => Relation::Sgt,
            Relation::Sgt => Relation::Sle,
            Relation::Sge => Relation::Slt,
        }
    }
}

/// A relation of floats: ordered but for `Une` and `Uno`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FloatRelation {
    Oeq,
    One,
    Olt,
    Ole,
    Ogt,
    Oge,
    Ord,
    Uno,
    Une,
}

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// 64-bit addresses of the GPU.
    Global,
    /// Offsets in shared local memory, of which 28 bits count.
    Local,
    /// Addresses of 32 bits: offsets in a surface that is the whole address space.
    Flat,
    /// 64-bit addresses of the thread's scratch memory.
    Scratch,
    /// Offsets of 32 bits in the image that is the access's window. All that enabled lanes access is inside.
    Image,
}

impl Space {
    /// Bytes of an address in a message with one for each lane.
    pub fn address_size(self) -> usize {
        if self == Space::Global { 8 } else { 4 }
    }
}

/// The bits of an offset in shared local memory that count.
pub const LOCAL_OFFSET: u64 = 0x0fff_ffff;

/// The form of the addresses of an access. Each but the first has two operands more, after the addresses, which are equivalent to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// Nothing.
    Varying,
    /// A stride in bytes: the first lane's address, and whether (a mask of one lane) the stride holds.
    Affine(i32),
    /// They are the sum of a scalar and an offset of each lane: the scalar, and the offsets, signed, of 32 bits.
    Offsets,
    /// They are the sum of a scalar, a stride in bytes times the lane, and an offset of each lane: the scalar, and the offsets, unsigned, of 32 bits.
    /// Memory of the lanes' own is laid out so.
    Interleaved(u16),
}

/// A window that several accesses have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Window {
    /// Of a pointer, which is among the constants of all threads from this byte on: where it is inside is known before threads begin. Nothing is inside of the window
    /// if the pointer is not.
    Pointer(u16),
    /// Any other.
    Shared(u16),
    /// The image of this number, of the launch's.
    Image(u8),
}

/// An access to memory with an address for each lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Which memory.
    pub space: Space,
    /// What is accessed at each address.
    pub elements: Elements,
    /// What is known of the addresses.
    pub addressing: Addressing,
    /// The window that the access has in common with others, whose addresses are most likely in the same buffer.
    pub window: Option<Window>,
    /// A guard before it has found that the stride holds, and that all lanes are inside ([`Op::Inside`]).
    pub is_guarded: bool,
}

impl Access {
    /// One of which nothing is known but what its message says.
    pub fn new(space: Space, elements: Elements) -> Access {
        Access { space, elements, addressing: Addressing::Varying, window: None, is_guarded: false }
    }

    /// The stride of its addresses, if they are affine.
    pub fn stride(&self) -> Option<i32> {
        match self.addressing {
            Addressing::Affine(stride) => Some(stride),
            Addressing::Varying | Addressing::Offsets | Addressing::Interleaved(_) => None,
        }
    }

    /// The bytes of an access with a stride, of a number of lanes.
    pub fn extent(&self, lanes: usize, stride: i32) -> Inside {
        let distance = (lanes as i64 - 1) * i64::from(stride);
        Inside {
            space: self.space,
            window: self.window,
            first: distance.min(0) as i32,
            bytes: distance.unsigned_abs() as u32 + self.elements.span() as u32,
            alignment: self.elements.alignment,
        }
    }

    /// The number of the first operand that is written.
    pub fn first_datum(&self) -> usize {
        if self.addressing == Addressing::Varying { 2 } else { 4 }
    }
}

/// Bytes that are to be inside of one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inside {
    /// Which memory.
    pub space: Space,
    /// The window where it is looked for.
    pub window: Option<Window>,
    /// Where they begin, from an address on.
    pub first: i32,
    /// How many there are.
    pub bytes: u32,
    /// What the address must be a multiple of.
    pub alignment: u8,
}

/// Something that a thread begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// `g0` of the thread, from a byte on.
    Header(u16),
    /// The constants of all threads, from a byte on.
    CrossThread(u16),
    /// The thread's own constants, from a byte on.
    PerThread(u16),
    /// The dispatch mask.
    Mask,
    /// The numbers of an image of the launch, from a byte on (`abi::ImageNumbers`).
    Image(u8, u16),
}

/// Bytes of the thread's register file, by their offset (`eu::file`).
pub type Place = u16;

/// Values with blanks between.
pub(super) fn list<T: fmt::Display>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// The operations, what they have, and their text. `lane`: pure, and each lane of the result is computed of that lane of the operands; `pure`: pure,
/// where lanes meet; `effect`: not pure.
macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $kind:ident $name:ident $(($($field:ident: $ty:ty),+))? = $text:literal $(, $argument:expr)?;
    )*) => {
        /// An operation.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $($(#[$doc])* $name $(($($ty),+))?,)*
        }

        impl Op {
            /// Whether it does nothing but compute its results of its operands, or of what does not change while the thread runs.
            pub fn is_pure(&self) -> bool {
                match self {
                    $(Op::$name { .. } => operations!(@is_pure $kind),)*
                }
            }

            /// Whether each lane of a result of the type `to` is computed of that lane of the operands, of which the first has the type `from`.
            pub fn is_by_lane(&self, from: Type, to: Type) -> bool {
                let may_differ = !matches!(self, Op::Convert(Convert::Bitcast) | Op::Select);
                (may_differ || from.lanes == to.lanes)
                    && match self {
                        $(Op::$name { .. } => operations!(@is_lane $kind),)*
                    }
            }
        }

        impl fmt::Display for Op {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Op::$name $(($($field),+))? => write!(f, $text $(, $argument)?),)*
                }
            }
        }
    };
    (@is_pure effect) => { false };
    (@is_pure $pure:ident) => { true };
    (@is_lane lane) => { true };
    (@is_lane $other:ident) => { false };
}

operations! {
    /// Two operands.
    lane Binary(binary: Binary) = "{binary}";
    /// One operand.
    lane Unary(unary: Unary) = "{unary}";
    /// A conversion.
    lane Convert(convert: Convert) = "{convert}";
    /// `a * b + c`, rounded once.
    lane Fma = "fma";
    /// Integers that are compared; a mask.
    lane ICmp(relation: Relation) = "icmp {relation}";
    /// Floats that are compared; a mask.
    lane FCmp(relation: FloatRelation) = "fcmp {relation}";
    /// By a mask of as many lanes, or of one, the second operand or the third.
    lane Select = "select";
    /// The value itself, of which passes that know what it is computed from must not make use (LLVM's `arithmetic.fence`).
    lane Fence = "fence";
    /// A scalar in all lanes.
    pure Splat = "splat";
    /// Lanes of one operand, or of two concatenated ones.
    pure Shuffle(order: Box<[u16]>) = "shuffle [{}]", list(order);
    /// A mask as an integer of as many bits, the first lane the lowest.
    pure Bits = "bits";
    /// An integer as a mask of as many lanes.
    pure Mask = "mask";
    /// Something that the thread begins with.
    pure Input(input: Input) = "input {input}";
    /// Reads memory for the lanes of a mask: mask, addresses. A result for each component; disabled lanes have any bits.
    effect Load(access: Box<Access>) = "load {access}";
    /// Writes memory for the lanes of a mask, one after the other: mask, addresses, then a value for each component.
    effect Store(access: Box<Access>) = "store {access}";
    /// Whether bytes at an address are all inside of a window, and aligned: a mask of one lane. That they are not says nothing.
    effect Inside(inside: Inside) = "inside {inside}";
    /// Reads bytes at one address: mask, address. It is read for no lane, too.
    effect LoadBlock(space: Space, alignment: u8) = "load-block {space} align {alignment}";
    /// Writes bytes at one address: mask, address, bytes.
    effect StoreBlock(space: Space, alignment: u8) = "store-block {space} align {alignment}";
    /// Replaces a value in memory for the lanes of a mask, one after the other: mask, addresses, operands. Of the result, which exists if it is used,
    /// disabled lanes have any bits. The number is the bytes of a value.
    effect Atomic(operation: AtomicOperation, space: Space, size: u8) = "atomic {operation:?} {space} {size}";
    /// A message to an image: mask, then the operands at these places of the register file; results at others.
    effect Image(registers: Box<Registers>) = "image {registers}";
    /// An instruction that the interpreter executes: active channels, then its operands at these places of the register file; results at others.
    effect Interpret(registers: Box<Registers>) = "interpret {registers}";
    /// Checks an instruction that reads registers which may not have been written: those registers (a bit for each, 128 bits), active channels, and its
    /// operands at these places of the register file. The interpreter says which.
    effect Unwritten(registers: Box<Registers>) = "unwritten {registers}";
    /// What was written before is seen by others before what is written later.
    effect MemoryFence = "memory-fence";
    /// The thread has sent its barrier message.
    effect Arrive = "arrive";
    /// The Gen instruction is executed for the lanes of a mask. [`crate::passes::counters`] puts counters there.
    effect Executed = "executed";
    /// Adds a number of 64 bits to a counter.
    effect Count(number: u32) = "count {number}";
    /// Reads the register file at a place.
    effect Get(place: Place) = "get {place}";
    /// Writes the register file at a place.
    effect Put(place: Place) = "put {place}";
    /// Reads an element of each lane at offsets in the register file: offsets of 32 bits.
    effect Gather = "gather";
    /// Writes an element of each lane of a mask at offsets in the register file: mask, offsets, elements.
    effect Scatter = "scatter";
    /// The launch is cancelled.
    effect Cancelled = "cancelled";
    /// Writes all elements of an array of the thread's: a vector.
    effect SetArray(number: u16) = "set-array {number}";
    /// Reads all elements of an array.
    effect GetArray(number: u16) = "get-array {number}";
    /// Writes an element of an array: its number, of 32 bits, and the element.
    effect SetElement(number: u16) = "set-element {number}";
    /// Reads an element of an array: its number.
    effect GetElement(number: u16) = "get-element {number}";
}

/// Where operands and results of an instruction are in the register file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    /// Of each operand.
    pub operands: Vec<Place>,
    /// Of each result.
    pub results: Vec<Place>,
}

names! {
    Binary {
        Add = "add", AddNuw = "add-nuw", Sub = "sub", Mul = "mul", And = "and", Or = "or", Xor = "xor", Shl = "shl", LShr = "lshr", AShr = "ashr",
        SDiv = "sdiv", SRem = "srem", SMin = "smin", SMax = "smax", UMin = "umin", UMax = "umax",
        FAdd = "fadd", FSub = "fsub", FMul = "fmul", FDiv = "fdiv",
    }
    Unary {
        FNeg = "fneg", FAbs = "fabs", Sqrt = "sqrt", Floor = "floor", Ceil = "ceil", Trunc = "ftrunc", RoundEven = "roundeven",
        Ctlz = "ctlz", Cttz = "cttz", Ctpop = "ctpop", BitReverse = "bitreverse",
    }
    Convert {
        Trunc = "trunc", ZExt = "zext", SExt = "sext", FPExt = "fpext", FPTrunc = "fptrunc", SIToFP = "sitofp", UIToFP = "uitofp",
        FPToSI = "fptosi", FPToUI = "fptoui", Bitcast = "bitcast",
    }
    Relation {
        Eq = "eq", Ne = "ne", Ult = "ult", Ule = "ule", Ugt = "ugt", Uge = "uge", Slt = "slt", Sle = "sle", Sgt = "sgt", Sge = "sge",
    }
    FloatRelation {
        Oeq = "oeq", One = "one", Olt = "olt", Ole = "ole", Ogt = "ogt", Oge = "oge", Ord = "ord", Uno = "uno", Une = "une",
    }
    Space {
        Global = "global", Local = "local", Flat = "flat", Scratch = "scratch", Image = "image",
    }
}
