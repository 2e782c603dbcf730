//! EU instructions, independent of the encoding of a generation.

/// A generation of the instruction set. Differences are data in the tables of this crate; code uses the
/// tables and never compares generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generation {
    /// Ivy Bridge, Bay Trail.
    Gen7,
    /// Haswell.
    Gen75,
    /// Broadwell, Cherryview.
    Gen8,
    /// Skylake, Kaby Lake, Coffee Lake, Apollo Lake, Gemini Lake.
    Gen9,
}

/// An operation. The variants are named by the manual's mnemonics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
#[allow(missing_docs, reason = "each variant is the manual's mnemonic")]
pub enum Opcode {
    Illegal,
    Mov, Sel, Movi, Not, And, Or, Xor, Shr, Shl, Smov, Asr, Cmp, Cmpn, Csel,
    F32To16, F16To32, Bfrev, Bfe, Bfi1, Bfi2, Dim,
    Jmpi, Brd, If, Brc, Else, Endif, While, Break, Cont, Halt, Calla, Call, Ret, Goto, Join,
    Wait, Send, Sendc, Sends, Sendsc, Math,
    Add, Mul, Avg, Frc, Rndu, Rndd, Rnde, Rndz, Mac, Mach, Lzd, Fbh, Fbl, Cbit, Addc, Subb,
    Sad2, Sada2, Dp4, Dph, Dp3, Dp2, Line, Pln, Mad, Lrp, Madm,
    Nop,
}

/// The type of an operand's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the manual's type names")]
pub enum Type {
    UB,
    B,
    UW,
    W,
    UD,
    D,
    UQ,
    Q,
    HF,
    F,
    DF,
    /// Immediate only: eight signed 4-bit integers, each extended to a word.
    V,
    /// Immediate only: eight unsigned 4-bit integers, each extended to a word.
    UV,
    /// Immediate only: four 8-bit restricted floats.
    VF,
}

/// The architecture registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arf {
    /// `null`
    Null,
    /// `a0`: address register, 16 words (8 before Gen8).
    Address,
    /// `acc0`, `acc1` (and `mme` forms on Gen8+): accumulators.
    Accumulator(u8),
    /// `f0`, `f1`: 32 flag bits each.
    Flag(u8),
    /// `ce`: channel enable.
    ChannelEnable,
    /// `msg`-stack and other debug registers: stack pointer `sp`.
    StackPointer,
    /// `sr0`: state.
    State(u8),
    /// `cr0`: control (rounding mode, denormal mode, ...).
    Control(u8),
    /// `n0`-`n2`: notification counters.
    Notification(u8),
    /// `ip`: instruction pointer.
    Ip,
    /// `tdr0`: thread dependency.
    ThreadDependency,
    /// `tm0`: time stamp.
    Timestamp,
    /// `fc0`..: flow control.
    FlowControl(u8),
}

/// A register, either general (`g0`-`g127`) or architectural.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// `g0`-`g127`: 32 bytes each.
    Grf(u8),
    /// An architecture register.
    Arf(Arf),
}

impl Register {
    /// The null register.
    pub const NULL: Register = Register::Arf(Arf::Null);
}

/// How the elements of a source are laid out: `<vstride;width,hstride>`, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// 0, 1, 2, 4, 8, 16 or 32; [`Region::VXH`] for the indirect `VxH`/`Vx1` forms.
    pub vstride: u8,
    /// 1, 2, 4, 8 or 16.
    pub width: u8,
    /// 0, 1, 2 or 4.
    pub hstride: u8,
}

impl Region {
    /// The vertical stride that represents `VxH` (one address register per row).
    pub const VXH: u8 = 0xff;
    /// One element for all channels: `<0;1,0>`.
    pub const SCALAR: Region = Region { vstride: 0, width: 1, hstride: 0 };
    /// A region of three numbers.
    pub const fn new(vstride: u8, width: u8, hstride: u8) -> Region {
        Region { vstride, width, hstride }
    }
}

/// Register-indirect addressing: the byte address is `a0.subregister + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indirect {
    /// Which word of `a0`.
    pub subregister: u8,
    /// Signed byte offset, -512 to 511.
    pub offset: i16,
}

/// A destination operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Destination {
    /// Register; ignored where `indirect` is given.
    pub register: Register,
    /// First byte within the register, 0-31.
    pub subregister: u8,
    /// Horizontal stride in elements: 1, 2 or 4.
    pub hstride: u8,
    /// Element type.
    pub ty: Type,
    /// Register-indirect addressing.
    pub indirect: Option<Indirect>,
    /// Align16: which of x, y, z, w are written (bits 0 to 3). 0xf in align1.
    pub writemask: u8,
}

/// A register source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// Register; ignored where `indirect` is given.
    pub register: Register,
    /// First byte within the register, 0-31.
    pub subregister: u8,
    /// Layout. In align16 the vertical stride only (width 4, hstride 1), with `swizzle`.
    pub region: Region,
    /// Element type.
    pub ty: Type,
    /// Arithmetic negation; bitwise complement on logic instructions of Gen8+.
    pub negate: bool,
    /// Absolute value, taken before `negate`.
    pub abs: bool,
    /// Register-indirect addressing.
    pub indirect: Option<Indirect>,
    /// Align16 channel swizzle, two bits each for x, y, z, w from bit 0; 0xe4 is `.xyzw`.
    pub swizzle: u8,
    /// 3-source align16 only: replicate control (`<0,1,0>`, one element for all channels).
    pub replicate: bool,
}

impl Source {
    /// The identity swizzle `.xyzw`.
    pub const XYZW: u8 = 0xe4;
    /// A plain source: no modifier, direct.
    pub const fn new(register: Register, subregister: u8, region: Region, ty: Type) -> Source {
        Source {
            register,
            subregister,
            region,
            ty,
            negate: false,
            abs: false,
            indirect: None,
            swizzle: Source::XYZW,
            replicate: false,
        }
    }
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The instruction has no such operand.
    None,
    /// A register region.
    Register(Source),
    /// An immediate: the bits as encoded (sub-dword types replicated by the encoder, so that this
    /// holds the value once in its low bits), and its type.
    Immediate {
        /// The value's bits.
        bits: u64,
        /// The value's type.
        ty: Type,
    },
}

impl Operand {
    /// The element type; `None` for an absent operand.
    pub fn ty(&self) -> Option<Type> {
        match self {
            Operand::None => None,
            Operand::Register(s) => Some(s.ty),
            Operand::Immediate { ty, .. } => Some(*ty),
        }
    }
}

/// Predicate control: the flag bits that enable a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the manual's names")]
pub enum PredicateControl {
    Normal,
    /// Align1: `anyv`/`allv` combine f0 and f1.
    AnyV,
    AllV,
    Any2H,
    All2H,
    Any4H,
    All4H,
    Any8H,
    All8H,
    Any16H,
    All16H,
    Any32H,
    All32H,
    /// Align16 replicate forms.
    ReplicateX,
    ReplicateY,
    ReplicateZ,
    ReplicateW,
    /// Align16 horizontal forms.
    Align16Any4H,
    Align16All4H,
}

/// Predication of an instruction by its flag register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// How flag bits are combined.
    pub control: PredicateControl,
    /// Invert the result.
    pub inverse: bool,
}

/// The flag register of an instruction, for predication and conditional modifier alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flag {
    /// 0 or 1: `f0`, `f1`.
    pub register: u8,
    /// 0 or 1: the 16-bit half.
    pub subregister: u8,
}

/// Conditional modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// `.z`/`.e`: equal, zero
    Equal,
    /// `.nz`/`.ne`
    NotEqual,
    /// `.g`
    Greater,
    /// `.ge`
    GreaterEqual,
    /// `.l`
    Less,
    /// `.le`
    LessEqual,
    /// `.o`: overflow
    Overflow,
    /// `.u`: unordered
    Unordered,
}

/// Thread control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ThreadControl {
    /// Nothing special.
    #[default]
    Normal,
    /// No thread switch after this instruction.
    Atomic,
    /// Switch after this instruction.
    Switch,
}

/// The function of a `math` instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the manual's names")]
pub enum MathFunction {
    Inv,
    Log,
    Exp,
    Sqrt,
    Rsq,
    Sin,
    Cos,
    Fdiv,
    Pow,
    /// Quotient and remainder, in two consecutive destination registers.
    IntDivQuotientRemainder,
    IntDivQuotient,
    IntDivRemainder,
    /// Gen8+: `invm`, `rsqrtm` (macro forms).
    Invm,
    Rsqrtm,
}

impl MathFunction {
    /// Number of sources that it reads.
    pub const fn arguments(self) -> usize {
        match self {
            MathFunction::Inv
            | MathFunction::Log
            | MathFunction::Exp
            | MathFunction::Sqrt
            | MathFunction::Rsq
            | MathFunction::Sin
            | MathFunction::Cos
            | MathFunction::Rsqrtm => 1,
            MathFunction::Fdiv
            | MathFunction::Pow
            | MathFunction::IntDivQuotientRemainder
            | MathFunction::IntDivQuotient
            | MathFunction::IntDivRemainder
            | MathFunction::Invm => 2,
        }
    }
}

/// Shared functions, the targets of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the manual's names")]
pub enum SharedFunction {
    Null,
    Sampler,
    Gateway,
    /// Data port, sampler/read-only cache.
    SamplerCache,
    RenderCache,
    Urb,
    ThreadSpawner,
    VideoMotionEstimation,
    /// Data port, constant cache.
    ConstantCache,
    /// Data cache data port 0.
    DataCache,
    PixelInterpolator,
    /// Data cache data port 1 (Gen7.5+).
    DataCache1,
    CheckAndRefinement,
}

/// A message descriptor: an immediate of 32 bits, or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Descriptor {
    /// An immediate.
    Immediate(u32),
    /// In `a0.0` (extended descriptor: `a0.n`, `n` a dword index).
    Register(u8),
}

/// The parts of a `send`, `sendc`, `sends` or `sendsc` other than its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Send {
    /// Shared function.
    pub target: SharedFunction,
    /// Message descriptor: function control, header present, lengths.
    pub descriptor: Descriptor,
    /// Extended descriptor, bits above those of the shared function and end of thread.
    pub extended: Descriptor,
    /// The thread ends with this message.
    pub end_of_thread: bool,
}

impl Send {
    /// Converts the descriptors of a split send to those of a `send` with a single payload: bits 28:25 of the
    /// descriptor ("Message Length") count both payloads. A descriptor in a register is unchanged.
    #[must_use]
    pub fn joined(self) -> Send {
        match (self.descriptor, self.extended) {
            (Descriptor::Immediate(descriptor), Descriptor::Immediate(extended)) => {
                let second = extended >> 6 & 0xf;
                Send {
                    descriptor: Descriptor::Immediate(descriptor + (second << 25)),
                    extended: Descriptor::Immediate(extended & !(0xf << 6)),
                    ..self
                }
            }
            _ => self,
        }
    }
}

/// Branch offsets in bytes, relative to the branch instruction itself (`jmpi`: to the next
/// instruction), whatever unit the encoding has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Branch {
    /// Jump instruction pointer.
    pub jip: i32,
    /// Update instruction pointer, for the instructions that have one.
    pub uip: i32,
    /// `BranchCtrl`, Gen8+ (`if`, `else`, `goto`).
    pub control: bool,
}

/// Parts of an instruction that only some opcodes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Extra {
    /// Nothing.
    #[default]
    None,
    /// `math`.
    Math(MathFunction),
    /// Messages.
    Send(Send),
    /// Branches with immediate offsets.
    Branch(Branch),
}

/// Operand access mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AccessMode {
    /// Structure of arrays: regions.
    #[default]
    Align1,
    /// Array of structures: swizzles and write masks. 3-source instructions before Gen10.
    Align16,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Operation.
    pub opcode: Opcode,
    /// Align1 or align16.
    pub access_mode: AccessMode,
    /// Channels: 1, 2, 4, 8, 16 or 32.
    pub exec_size: u8,
    /// First channel (quarter and nibble control): 0, 4, ... 28.
    pub channel_offset: u8,
    /// `WE_all`: executes for all channels, regardless of the execution mask.
    pub no_mask: bool,
    /// Predication.
    pub predicate: Option<Predicate>,
    /// Flag register for predication and conditional modifier.
    pub flag: Flag,
    /// Conditional modifier. On `math`/`send` always `None`.
    pub condition: Option<Condition>,
    /// Saturate the result.
    pub saturate: bool,
    /// Update the accumulator implicitly.
    pub accumulator_write: bool,
    /// Dependency control: do not clear, do not check the destination's dependency.
    pub no_dd_clear: bool,
    /// See `no_dd_clear`.
    pub no_dd_check: bool,
    /// Thread control.
    pub thread_control: ThreadControl,
    /// The debug (breakpoint) bit.
    pub debug: bool,
    /// Destination; `null` where an instruction has none.
    pub destination: Destination,
    /// Sources 0, 1 and 2. A message's payload is source 0, of split sends also source 1.
    pub sources: [Operand; 3],
    /// Parts that only some opcodes have.
    pub extra: Extra,
}

impl Destination {
    /// A plain destination with stride 1.
    pub const fn new(register: Register, subregister: u8, ty: Type) -> Destination {
        Destination { register, subregister, hstride: 1, ty, indirect: None, writemask: 0xf }
    }
    /// `null` of a type.
    pub const fn null(ty: Type) -> Destination {
        Destination::new(Register::NULL, 0, ty)
    }
}

impl Instruction {
    /// An instruction without operands, modifiers or predication.
    pub const fn new(opcode: Opcode, exec_size: u8) -> Instruction {
        Instruction {
            opcode,
            access_mode: AccessMode::Align1,
            exec_size,
            channel_offset: 0,
            no_mask: false,
            predicate: None,
            flag: Flag { register: 0, subregister: 0 },
            condition: None,
            saturate: false,
            accumulator_write: false,
            no_dd_clear: false,
            no_dd_check: false,
            thread_control: ThreadControl::Normal,
            debug: false,
            destination: Destination::null(Type::UD),
            sources: [Operand::None; 3],
            extra: Extra::None,
        }
    }
}

impl Type {
    /// Size of an element in bytes; of vector immediates, that of the expanded elements.
    pub const fn size(self) -> u32 {
        match self {
            Type::UB | Type::B => 1,
            Type::UW | Type::W | Type::HF | Type::V | Type::UV => 2,
            Type::UD | Type::D | Type::F | Type::VF => 4,
            Type::UQ | Type::Q | Type::DF => 8,
        }
    }
    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::HF | Type::F | Type::DF | Type::VF)
    }
    /// Whether it is a signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Type::B | Type::W | Type::D | Type::Q | Type::V)
    }
}
