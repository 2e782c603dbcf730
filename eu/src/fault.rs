//! Faults: why a batch was stopped, and where.

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};

use gencl_i915::FaultPlace;

use crate::memory::PageFault;

/// The reason why a batch was stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A memory access outside of the batch's buffers.
    #[error(transparent)]
    Page(#[from] PageFault),
    /// Something that the hardware leaves undefined or forbids; the text names the rule.
    #[error("{0}")]
    Illegal(String),
    /// A feature of the hardware that is not simulated; the text names it.
    #[error("not simulated: {0}")]
    Unsupported(String),
    /// The batch ran longer than it may, or the device is being closed.
    #[error("stopped after running too long (GENCL_HANG_LIMIT sets the limit in seconds)")]
    Cancelled,
    /// A thread can never end; the text says how that is known.
    #[error("never ends: {0}")]
    Endless(&'static str),
}

/// A reason, with as much as is known about where it happened (the fields of [`Details`]). Callers add what
/// they know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Box<Details>);

/// The contents of a [`Fault`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// The reason.
    pub reason: Reason,
    /// Byte offset of the instruction from the kernel's first one.
    pub kernel_offset: Option<u32>,
    /// The instruction as text.
    pub instruction: Option<String>,
    /// Lane of the thread.
    pub lane: Option<u32>,
    /// Thread within its work-group.
    pub thread: Option<u32>,
    /// Work-group id.
    pub group: Option<[u32; 3]>,
    /// Name of the command.
    pub command: Option<&'static str>,
    /// GPU address of the command.
    pub batch_address: Option<u64>,
    /// Byte offset of the command in its batch buffer.
    pub batch_offset: Option<u64>,
}

impl Fault {
    /// A fault without location.
    pub fn new(reason: Reason) -> Fault {
        Fault(Box::new(Details {
            reason,
            kernel_offset: None,
            instruction: None,
            lane: None,
            thread: None,
            group: None,
            command: None,
            batch_address: None,
            batch_offset: None,
        }))
    }

    /// Something undefined or forbidden.
    pub fn illegal(text: impl Into<String>) -> Fault {
        Fault::new(Reason::Illegal(text.into()))
    }

    /// Something that is not simulated.
    pub fn unsupported(text: impl Into<String>) -> Fault {
        Fault::new(Reason::Unsupported(text.into()))
    }

    /// A panic of the simulator itself, from what `catch_unwind` caught.
    pub fn internal(panic: &(dyn Any + Send)) -> Fault {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Fault::unsupported(format!("internal error of the simulator: {text}"))
    }

    /// Where it happened.
    pub fn place(&self) -> FaultPlace {
        let address = match self.reason {
            Reason::Page(fault) => Some(fault.address),
            Reason::Illegal(_) | Reason::Unsupported(_) | Reason::Cancelled | Reason::Endless(_) => None,
        };
        FaultPlace {
            address,
            group: self.group,
            thread: self.thread,
            lane: self.lane,
            kernel_offset: self.kernel_offset,
        }
    }

    /// Adds the lane.
    pub fn in_lane(mut self, lane: u32) -> Fault {
        self.lane = Some(lane);
        self
    }
}

impl Deref for Fault {
    type Target = Details;
    fn deref(&self) -> &Details {
        &self.0
    }
}

impl DerefMut for Fault {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

impl From<PageFault> for Fault {
    fn from(fault: PageFault) -> Fault {
        Fault::new(fault.into())
    }
}

/// The reason on the first line; where it happened, in the machine's terms, on the second.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = [
            self.kernel_offset.map(|offset| format!("kernel offset 0x{offset:x}")),
            self.instruction.clone(),
            self.lane.map(|lane| format!("lane {lane}")),
            self.thread.map(|thread| format!("thread {thread}")),
            self.group.map(|[x, y, z]| format!("work-group ({x}, {y}, {z})")),
            self.command.map(|command| format!("command {command}")),
            self.batch_offset.map(|offset| format!("batch offset 0x{offset:x}")),
            self.batch_address.map(|address| format!("address 0x{address:x}")),
        ];
        let place: Vec<_> = place.into_iter().flatten().collect();
        write!(f, "{}{}{}", self.reason, if place.is_empty() { "" } else { "\n" }, place.join("; "))
    }
}

impl std::error::Error for Fault {}
