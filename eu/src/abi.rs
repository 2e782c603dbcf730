//! The ABI of translated code, and the interface of the translator.
//!
//! Translated code is host machine code that executes the threads of a work-group. The translator generates
//! it for a kernel and a [`Variant`]: a relocatable ELF object with the function [`ENTRY`], which accesses all
//! state through a [`Frame`]. Requests to the translator carry [`VERSION`].

use serde::{Deserialize, Serialize};

pub use crate::message::{ImageFacts, ImageNumbers};

/// The version of this file's ABI and message formats.
pub const VERSION: u32 = 10;

/// Name of `fn(*mut Frame, first: u32, end: u32, resume: u32) -> u32`, which executes the threads from `first`
/// to the one before `end`, one after the other, each from its beginning (`resume` 0), or from where all of
/// them have yielded ([`Frame::resume`]), until it yields or ends. Where these are all threads of the
/// work-group, all yield at the same `wait`, and all have sent the barrier message, they are resumed. Returns 0, or
/// [`FAULT`] when a callback has failed, or the launch is cancelled.
pub const ENTRY: &str = "gencl_threads";

/// See [`ENTRY`].
pub const FAULT: u32 = u32::MAX;

/// A bit of [`Frame::resume`]: the thread is not at a `wait` and can be resumed at any time. It yields
/// because it may be spinning on memory that another thread of its work-group is to write.
pub const YIELD: u32 = 1 << 31;

/// [`Frame::resume`] of a thread that has ended.
pub const ENDED: u32 = u32::MAX;

/// A range of GPU addresses, within one buffer, and its host address: a lookup cache of message instructions.
/// `size` 0 marks one that is empty.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// First GPU address, canonical.
    pub start: u64,
    /// Bytes, at most [`Window::MAX_SIZE`], as offsets have 32 bits. For a larger buffer it is a part of it.
    pub size: u64,
    /// The host address of `start`.
    pub host: *mut u8,
}

impl Window {
    /// Maximum size of a window in bytes.
    pub const MAX_SIZE: u64 = 1 << 31;
}

/// An image, as code accesses it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The host address of the first texel.
    pub host: *mut u8,
    /// Numbers.
    pub numbers: ImageNumbers,
}

/// The state that a work-group's threads access.
///
/// Translated code writes [`Frame::arrived`], [`Frame::resume`], [`Frame::unwritten`], [`Frame::counters`], the register files and
/// [`Frame::saved`], and memory through the windows and [`Frame::local`]. It only reads the rest.
#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    /// Work-group id.
    pub group: [u32; 3],
    /// Number of threads of the work-group.
    pub threads: u32,
    /// `g0` of each thread, [`Frame::header_step`] bytes apart.
    pub headers: *const u8,
    /// 32; 0 when all threads share one header, because they run in one thread slot.
    pub header_step: u64,
    /// Cross-thread constants.
    pub cross_thread: *const u8,
    /// Per-thread constants of each thread, one after the other.
    pub per_thread: *const u8,
    /// Dispatch mask of each thread.
    pub masks: *const u32,
    /// Shared local memory.
    pub local: *mut u8,
    /// Bytes of shared local memory.
    pub local_size: u64,
    /// General State Base Address, to which scratch memory is relative.
    pub general: u64,
    /// [`Translation::windows`] windows, each used by one message or by several. An empty one has to be
    /// filled with [`Frame::find_window`].
    pub windows: *mut Window,
    /// The images of the kernel's uses ([`crate::message::ImageUse::all`]). Code accesses those of which its variant has
    /// facts.
    pub images: *const Image,
    /// The register file of each thread (`eu::file`), to which registers are spilled while the thread is
    /// suspended and for [`Frame::interpret`] and [`Frame::send`]. Threads that never yield share one. `cr0` has its initial
    /// value.
    pub files: *const *mut u8,
    /// State of suspended threads beyond their register files: [`Translation::saved`] bytes for each, one
    /// after the other.
    pub saved: *mut u8,
    /// Where each thread is to be resumed, if [threads yield](Translation::yields): the number of a `wait`, counted by
    /// address from 1 on, a value with the bit [`YIELD`], or [`ENDED`].
    pub resume: *mut u32,
    /// Not 0 when [`Frame::look`] is to be called. Read at every backward branch.
    pub cancel: *const u8,
    /// Number of threads that have sent the barrier message.
    pub arrived: u32,
    /// [`Translation::counters`] sums, to which code for a variant with [`Variant::counted`] adds.
    pub counters: *mut u64,
    /// Bit set of general registers that have not been written, as an argument of [`Frame::interpret`]; 0
    /// otherwise.
    pub unwritten: [u64; 2],
    /// Fills a window, and all empty ones, with the buffer that contains an address. Returns 0, which is no
    /// fault yet, when there is none, else 1.
    pub find_window: unsafe extern "C" fn(*mut Frame, window: u32, address: u64) -> u32,
    /// Interprets one instruction, given by its index in the kernel, for a thread with the execution mask
    /// `active`, on the thread's register file. Returns 0, or 1 when it has failed: the owner of the frame
    /// then has the fault.
    pub interpret: unsafe extern "C" fn(*mut Frame, thread: u32, instruction: u32, active: u32) -> u32,
    /// Performs the message of a `send`, given by its index in the kernel, for the channels in `mask` (bit 0 is the
    /// instruction's first one), with payload and response in the thread's register file. Returns 0, or 1 when it
    /// has failed, as [`Frame::interpret`].
    pub send: unsafe extern "C" fn(*mut Frame, thread: u32, instruction: u32, mask: u32) -> u32,
    /// A thread is at an instruction, given by its index in the kernel, and [`Frame::cancel`] is not 0. Returns 0 if it goes
    /// on; 1 when the launch is cancelled, or the thread could never end: the owner of the frame then has the fault.
    pub look: unsafe extern "C" fn(*mut Frame, thread: u32, instruction: u32) -> u32,
}

/// A property that a half register (16 bytes, eight words) of the per-thread constants has in all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pattern {
    /// None.
    #[default]
    Any,
    /// All words are equal.
    Uniform,
    /// Each word is one more than the one before.
    Consecutive,
    /// [`Pattern::Uniform`], with the same word as the preceding half register.
    Repeats,
    /// [`Pattern::Consecutive`], and the first word is one more than the last of the preceding half register.
    Continues,
}

/// The properties of launches that code is specialised for: it is valid only for launches that have all of
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Variant {
    /// Lanes of a thread: 8, 16 or 32.
    pub simd_width: u32,
    /// The dispatch masks of all threads are full.
    pub full: bool,
    /// Bytes of cross-thread constants.
    pub cross_thread: u32,
    /// The pattern of each half register of the per-thread constants.
    pub per_thread: Vec<Pattern>,
    /// In the registers, per-thread constants come before cross-thread ones
    /// ([`crate::dispatch::Launch::indirect_data`]).
    pub indirect_data: bool,
    /// Initial `cr0.0`.
    pub control: u32,
    /// The launch has shared local memory.
    pub local: bool,
    /// Bytes of scratch memory per thread.
    pub scratch: u32,
    /// The surfaces that the kernel's messages use as buffers are the whole address space, of at most 31
    /// bits, so that offsets in them are addresses.
    pub flat: bool,
    /// Facts of the image of each of the kernel's uses ([`crate::message::ImageUse::all`]), where there are any.
    pub images: Vec<Option<ImageFacts>>,
    /// The launch may use the barrier.
    pub barrier: bool,
    /// The launch may use the barrier, but work-groups have one thread, which therefore never waits there.
    pub single_thread: bool,
    /// Threads have been observed to spin on memory that others write: threads yield in every loop.
    pub spins: bool,
    /// Strict mode: refuse what the hardware leaves undefined.
    pub strict: bool,
    /// Executions and enabled lanes of each instruction are counted.
    pub counted: bool,
}

/// How much is done for a translation. The code of both gives the same results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tier {
    /// Little: it is there soon, and takes some twice the time.
    Baseline,
    /// All that makes code fast.
    #[default]
    Optimised,
}

/// A request to translate a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// [`VERSION`]
    pub version: u32,
    /// The device, by its short name.
    pub device: String,
    /// Machine code from the kernel's first instruction on.
    pub code: Vec<u8>,
    /// The properties of launches to specialise for.
    pub variant: Variant,
    /// The least tier that is wanted.
    pub tier: Tier,
}

/// A kernel translated to host code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// The tier that it is of.
    pub tier: Tier,
    /// A relocatable ELF object, whose only undefined symbols are those of [`IMPORTS`].
    pub object: Vec<u8>,
    /// Number of windows that it uses.
    pub windows: u32,
    /// Bytes of [`Frame::saved`] that it uses per thread.
    pub saved: u32,
    /// Whether threads yield, at barriers or for others to have their turn.
    pub yields: bool,
    /// Instructions that always go through [`Frame::interpret`], ascending.
    pub interpreted: Vec<Interpreted>,
    /// Number of sums in [`Frame::counters`].
    pub counters: u32,
    /// What they count; an instruction may be there several times.
    pub counted: Vec<Counted>,
}

/// The sums of [`Frame::counters`] that count an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Its index in the kernel.
    pub instruction: u32,
    /// The sum of its executions.
    pub executions: u32,
    /// The sum that, multiplied with `factor`, is the sum of its enabled lanes.
    pub lanes: u32,
    /// See `lanes`.
    pub factor: u32,
}

/// An instruction that is left to the interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreted {
    /// Its index in the kernel.
    pub instruction: u32,
    /// Why, in a few words that are the same for all instructions of a kind.
    pub reason: String,
}

/// The functions of the host's C library that the object may call.
pub const IMPORTS: [&str; 5] = ["memcpy", "memmove", "memset", "fma", "fmaf"];

/// The answer to a request: a translation, or why there is none.
pub type Answer = Result<Translation, String>;

/// Called with the answer to a request.
pub type Done = Box<dyn FnOnce(Answer) + Send>;

/// Translates kernels, in another process.
pub trait TranslationSource: Send + Sync {
    /// A hint that there may be requests later: there is a device whose kernels are translated.
    fn expect(&self) {}
    /// Whether there is a processor for requests that nobody waits for yet.
    fn is_idle(&self) -> bool {
        true
    }
    /// Requests a translation and returns immediately. `done` is called with the answer later, on any thread,
    /// or dropped, which means that there is no translation.
    fn request(&self, request: Request, done: Done);
}
