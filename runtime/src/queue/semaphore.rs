//! Commands on semaphores.

use std::sync::Arc;

use super::Queue;
use super::state::Work;
use crate::event::CommandKind;
use crate::{Code, Error, Event, Result, Semaphore};

impl Queue {
    /// Waits until all of the semaphores are signaled, and leaves them unsignaled.
    ///
    /// `INVALID_COMMAND_QUEUE` when a semaphore is of other devices, `INVALID_CONTEXT` when it is of another context,
    /// `EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` when one of `waits` has failed.
    pub fn wait_semaphores(&self, semaphores: &[Arc<Semaphore>], waits: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_semaphores(semaphores, waits)?;
        let signals: Vec<_> = semaphores.iter().map(|semaphore| semaphore.take_signal()).collect();
        let all = [waits, &signals].concat();
        let wait = self.push(CommandKind::SemaphoreWait, &all, Work::Nothing)?;
        for (semaphore, signal) in semaphores.iter().zip(signals) {
            semaphore.add_wait(signal, &wait);
        }
        Ok(wait)
    }

    /// Signals all of the semaphores when `waits` have ended. Errors as [`Queue::wait_semaphores`].
    pub fn signal_semaphores(
        &self,
        semaphores: &[Arc<Semaphore>],
        waits: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_semaphores(semaphores, waits)?;
        let signal = self.push(CommandKind::SemaphoreSignal, waits, Work::Nothing)?;
        semaphores.iter().for_each(|semaphore| semaphore.add_signal(&signal));
        Ok(signal)
    }

    fn check_semaphores(&self, semaphores: &[Arc<Semaphore>], waits: &[Arc<Event>]) -> Result<()> {
        for semaphore in semaphores {
            // The context's device comes before the context.
            let device = |own: &Arc<_>| Arc::ptr_eq(own, self.device());
            if !semaphore.context().devices().any(device) {
                return Err(Error::new(Code::InvalidCommandQueue, "a semaphore of other devices"));
            }
            self.context.check_same(semaphore.context())?;
            if !device(semaphore.device()) {
                return Err(Error::new(Code::InvalidCommandQueue, "a semaphore of another device"));
            }
        }
        for event in waits {
            self.context.check_same(event.context())?;
            event.outcome()?;
        }
        Ok(())
    }
}
