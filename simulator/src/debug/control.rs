//! Debuggers, as the simulator sees them.

use std::fmt;
use std::sync::Arc;

use super::launch::DebuggedLaunch;

/// What controls launches.
pub trait Control: Send + Sync {
    /// A launch is about to begin. When this returns, it is executed to its end.
    fn debug(&self, launch: &mut DebuggedLaunch<'_>);
}

/// A debugger, as an option of a simulator.
#[derive(Clone)]
pub struct Debugger(pub Arc<dyn Control>);

impl fmt::Debug for Debugger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Debugger")
    }
}

impl PartialEq for Debugger {
    fn eq(&self, other: &Debugger) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Debugger {}
