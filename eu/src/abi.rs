//! What translated code and the simulator have agreed on.
//!
//! Translated code is host machine code that executes the threads of a work-group. The translator makes it
//! for a kernel and a [`Variant`]; it is a relocatable ELF object with the functions [`GROUP`] or [`THREAD`],
//! which reach everything through a [`Frame`]. Both sides of the pipe carry [`VERSION`].

use serde::{Deserialize, Serialize};

/// The version of everything in this file.
pub const VERSION: u32 = 5;

/// `fn(*mut Frame) -> u32`: executes all threads of the work-group. Kernels whose threads never stop before
/// they end have it. Returns 0, or [`FAULT`].
pub const GROUP: &str = "gencl_group";

/// `fn(*mut Frame, thread: u32, resume: u32) -> u32`: executes a thread from its beginning (`resume` 0), or
/// from where it has stopped. Kernels whose threads stop have it. Returns 0 when the thread has ended,
/// [`FAULT`], or where it stops: the number of a `wait`, counted in the order of their addresses from 1 on,
/// or a number with the bit [`TURN`].
pub const THREAD: &str = "gencl_thread";

/// The bit of what [`THREAD`] returns when the thread could go on at once: it may be that it waits in a loop
/// for another one of its work-group, which is to have its turn.
pub const TURN: u32 = 1 << 31;

/// What a function returns when a callback has failed, or when it has seen that the launch is cancelled.
pub const FAULT: u32 = u32::MAX;

/// A buffer that an instruction has accessed. Addresses `start..start + size` are at `host`; a `size` of 0
/// has none.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// First GPU address, canonical.
    pub start: u64,
    /// Bytes, at most [`Window::MAX_SIZE`]: offsets are numbers of 32 bits. Of a larger buffer it is a part.
    pub size: u64,
    /// The host's address of `start`.
    pub host: *mut u8,
}

impl Window {
    /// Most bytes of a window.
    pub const MAX_SIZE: u64 = 1 << 31;
}

/// The surroundings of a work-group's threads.
///
/// Translated code reads all of it, writes [`Frame::arrived`] and the register files, and changes memory
/// through the windows and [`Frame::local`].
#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    /// Work-group id.
    pub group: [u32; 3],
    /// Threads of the work-group.
    pub threads: u32,
    /// `g0` of each thread, [`Frame::header_step`] bytes apart.
    pub headers: *const u8,
    /// 32; 0 when all threads share one, because they have one thread slot.
    pub header_step: u64,
    /// Constants of all threads.
    pub cross_thread: *const u8,
    /// Constants of each thread, one after the other.
    pub per_thread: *const u8,
    /// Dispatch mask of each thread.
    pub masks: *const u32,
    /// Shared local memory.
    pub local: *mut u8,
    /// Bytes of it.
    pub local_size: u64,
    /// General State Base Address, to which scratch memory is relative.
    pub general: u64,
    /// As many as [`Translation::windows`] says, each of one message or of several; those of size 0 are to be
    /// found.
    pub windows: *mut Window,
    /// The register file of each thread (`eu::file`), where values are while a thread has stopped and for
    /// [`Frame::execute`]. Kernels whose threads never stop have one for all of them. `cr0` has its initial
    /// value.
    pub files: *const *mut u8,
    /// What threads keep beside their register files while they have stopped: [`Translation::kept`] bytes of
    /// each, one after the other.
    pub kept: *mut u8,
    /// Not 0: the launch is cancelled. Read on every way back.
    pub cancel: *const u8,
    /// How many threads have sent the barrier message.
    pub arrived: u32,
    /// General registers of which [`Frame::execute`] is to know that they have not been written: a bit for
    /// each, 0 but for that call.
    pub unwritten: [u64; 2],
    /// Makes the window the buffer that has an address, and with it those that are still to be found. Returns
    /// 0 when there is none; this is no fault yet.
    pub find: unsafe extern "C" fn(*mut Frame, window: u32, address: u64) -> u32,
    /// Executes one instruction (by its index in the kernel) of a thread by interpretation, with the register
    /// file of the thread and these channels active. Returns 0, or 1 when it has failed: then the fault is in
    /// the frame's owner.
    pub execute: unsafe extern "C" fn(*mut Frame, thread: u32, instruction: u32, active: u32) -> u32,
}

/// How the elements of eight channels follow each other in a half register of constants that each thread has
/// for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pattern {
    /// In no way that holds for all threads.
    #[default]
    Any,
    /// Words that are all equal.
    Uniform,
    /// Words, each one more than the one before.
    Consecutive,
    /// [`Pattern::Uniform`], with the same word as the half register before.
    Repeats,
    /// [`Pattern::Consecutive`], and the first word is one more than the last of the half register before.
    Continues,
}

/// What code is made for beside the kernel: it holds only for launches of which all this is true.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Variant {
    /// Lanes of a thread: 8, 16 or 32.
    pub simd_width: u32,
    /// All lanes of all threads run.
    pub full: bool,
    /// Bytes of the constants of all threads.
    pub cross_thread: u32,
    /// Of each half register of a thread's own constants, 16 bytes, how words follow each other.
    pub per_thread: Vec<Pattern>,
    /// In the registers, a thread's own constants come before those of all threads.
    pub indirect_data: bool,
    /// `cr0.0` at the beginning.
    pub control: u32,
    /// The launch has shared local memory.
    pub local: bool,
    /// Bytes of scratch memory of each thread.
    pub scratch: u32,
    /// The surfaces that the kernel's messages use as buffers are the whole address space, of at most 31
    /// bits.
    pub flat: bool,
    /// The launch may use the barrier.
    pub barrier: bool,
    /// It may, and work-groups have one thread, which never waits there.
    pub alone: bool,
    /// Threads have been seen to wait for each other in loops: in all of them others are to have their turn.
    pub spins: bool,
    /// Refuse what the hardware leaves undefined.
    pub strict: bool,
}

/// A kernel to be translated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// [`VERSION`]
    pub version: u32,
    /// The device, by its short name.
    pub device: String,
    /// Machine code from the kernel's first instruction on.
    pub code: Vec<u8>,
    /// What the code is for.
    pub variant: Variant,
}

/// A kernel as host code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// A relocatable ELF object; no symbol of it is undefined but those of [`IMPORTS`].
    pub object: Vec<u8>,
    /// Windows that it uses.
    pub windows: u32,
    /// Bytes of [`Frame::kept`] that it uses for each thread.
    pub kept: u32,
    /// Threads stop before they end: the object has [`THREAD`], else [`GROUP`].
    pub stops: bool,
    /// Instructions that [`Frame::execute`] executes whenever they come, ascending.
    pub interpreted: Vec<Interpreted>,
}

/// An instruction that is left to the interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreted {
    /// Its index in the kernel.
    pub instruction: u32,
    /// Why, in a few words that are the same for all instructions of the kind.
    pub reason: String,
}

/// What the object may call of the host's libraries.
pub const IMPORTS: [&str; 5] = ["memcpy", "memmove", "memset", "fma", "fmaf"];

/// The answer: a translation, or why there is none.
pub type Answer = Result<Translation, String>;

/// What is called with the answer to a request.
pub type Done = Box<dyn FnOnce(Answer) + Send>;

/// What has kernels translated: a process that has the compiler in it.
pub trait TranslationSource: Send + Sync {
    /// Asks for a translation and returns at once. `done` is called when there is an answer, on any thread; a
    /// request that cannot be answered is one with a reason. Dropping `done` says the same without a reason.
    fn request(&self, request: Request, done: Done);
}
