//! What a program and its debugger tell each other over a socket: lines of JSON.
//!
//! The program sends [`Reply::Launch`] when a launch begins, and then one reply to each request until
//! [`Request::Release`].

use serde::{Deserialize, Serialize};

use super::launch::Position;
use super::stops::{Reason, Stops};

/// The name of the debugger's socket in its folder.
pub const SOCKET: &str = "socket";

/// What a debugger wants.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// To go to a time. The reply is [`Reply::Stopped`].
    Go(u64),
    /// To run forwards. The reply is [`Reply::Stopped`].
    Run(Stops),
    /// To go back to where it would have stopped last. The reply is [`Reply::Stopped`].
    Back(Stops),
    /// The contents of memory. The reply is [`Reply::Bytes`].
    Read(Vec<Place>),
    /// The threads of the work-group. The reply is [`Reply::Threads`].
    Threads,
    /// The registers of a thread of the work-group. The reply is [`Reply::Registers`].
    Registers(u32),
    /// The instructions at these byte offsets as text. The reply is [`Reply::Text`].
    Text(Vec<u32>),
    /// The launch runs to its end. There is no reply.
    Release,
    /// What runs since an earlier request stops. There is no reply but to that one.
    Interrupt,
}

/// Bytes in memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Place {
    /// In the work-group's shared local memory, otherwise in the global address space.
    pub local: bool,
    /// Address or offset of the first.
    pub address: u64,
    /// How many.
    pub bytes: u32,
}

/// What a program tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// A launch has begun.
    Launch(Box<LaunchFacts>),
    /// It has stopped.
    Stopped {
        /// The time.
        time: u64,
        /// Why.
        reason: Reason,
        /// The thread that executes the next instruction; none at the end.
        position: Option<Position>,
    },
    /// Of each place; none where there is no memory.
    Bytes(Vec<Option<Vec<u8>>>),
    /// In the order of their numbers.
    Threads(Vec<ThreadFacts>),
    /// General registers, one after the other, and the flag registers.
    Registers {
        /// 128 registers of 32 bytes.
        general: Vec<u8>,
        /// `f0.0` in the lowest bits, then `f0.1`, `f1.0` and `f1.1`.
        flags: u64,
    },
    /// Of each offset; empty where no instruction begins.
    Text(Vec<String>),
}

/// A launch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LaunchFacts {
    /// The process.
    pub process: u32,
    /// Number of the kernel in the process, from 1.
    pub kernel: u32,
    /// Number of the launch in the process, from 1.
    pub launch: u32,
    /// Lanes of a thread.
    pub lanes: u32,
    /// The first work-group of each dimension.
    pub first_group: [u32; 3],
    /// The end of the work-groups of each dimension.
    pub end_group: [u32; 3],
    /// The launch's ND-range, of which this may be a part.
    pub range: Range,
    /// Constants of all threads.
    pub constants: Vec<u8>,
}

/// An ND-range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Offset of the global ids.
    pub offset: [u64; 3],
    /// Global size.
    pub global: [u64; 3],
    /// Local size, of which the last work-group of a dimension may have less.
    pub local: [u32; 3],
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadFacts {
    /// Where it is.
    pub position: Position,
    /// Whether it is at its end.
    pub ended: bool,
    /// Whether it waits at a barrier.
    pub waits: bool,
    /// The byte offset of the instruction at which each lane goes on; none for those that do not exist or have ended.
    pub lanes: Vec<Option<u32>>,
    /// The address of its scratch memory; 0 if it has none.
    pub scratch: u64,
    /// The number of the hardware thread.
    pub hardware: u32,
}
