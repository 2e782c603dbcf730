//! Interruptions of a launch that runs, from other threads than the one that waits for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gencl_simulator::debug::protocol::Request;

use crate::link::Requests;

/// What interrupts launches.
#[derive(Clone, Default)]
pub struct Interrupter(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The process whose launches are debugged.
    process: Option<Requests>,
    /// Whether a command is executed that may have launches run.
    is_busy: bool,
    /// Whether it has been interrupted.
    is_wanted: bool,
}

/// What an interruption does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Nothing: no command is executed.
    Idle,
    /// The launch stops, or the next one at its beginning.
    Stop,
    /// It was wanted before, and has not happened: the program runs no kernel.
    Again,
}

/// A command is executed while it exists.
pub struct Busy(Interrupter);

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.state();
        (state.is_busy, state.is_wanted) = (false, false);
    }
}

impl Interrupter {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Launches come from this process now.
    pub fn connect(&self, process: &Requests) {
        self.state().process = Some(process.clone());
    }

    /// A command begins.
    #[must_use]
    pub fn begin(&self) -> Busy {
        self.state().is_busy = true;
        Busy(self.clone())
    }

    /// Interrupts the command that is executed.
    pub fn interrupt(&self) -> Interruption {
        let mut state = self.state();
        if !state.is_busy {
            return Interruption::Idle;
        }
        if std::mem::replace(&mut state.is_wanted, true) {
            return Interruption::Again;
        }
        if let Some(process) = &state.process {
            // If it has gone, that is noticed where something is expected from it.
            let _ = process.send(&Request::Interrupt);
        }
        Interruption::Stop
    }

    /// Whether the command has been interrupted since it was asked last.
    #[must_use]
    pub fn take(&self) -> bool {
        std::mem::take(&mut self.state().is_wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_are_interrupted() {
        let interrupter = Interrupter::default();
        assert_eq!(interrupter.interrupt(), Interruption::Idle);
        let busy = interrupter.begin();
        assert_eq!(interrupter.interrupt(), Interruption::Stop);
        assert_eq!(interrupter.interrupt(), Interruption::Again);
        assert!(interrupter.take() && !interrupter.take());
        assert_eq!(interrupter.interrupt(), Interruption::Stop);
        drop(busy);
        assert!(!interrupter.take());
        assert_eq!(interrupter.interrupt(), Interruption::Idle);
    }
}
