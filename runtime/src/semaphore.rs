//! Binary semaphores (`cl_khr_semaphore`).

use std::sync::Arc;

use parking_lot::Mutex;

use crate::event::EventStatus;
use crate::{Code, Context, Device, Error, Event, Result};

/// A binary semaphore of one device of a context.
///
/// Signals and waits are paired when they are enqueued: a wait depends on the signal before it, or on the next one. So
/// either may follow as soon as the other is enqueued, in any queue, and both commands do nothing but end.
pub struct Semaphore {
    context: Arc<Context>,
    device: Arc<Device>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: Next,
    /// Signals of waits that had not ended when last looked at, each with its wait.
    taken: Vec<(Arc<Event>, Arc<Event>)>,
}

/// What is enqueued without its counterpart.
#[derive(Default)]
enum Next {
    #[default]
    Nothing,
    /// A signal, with its event. A second one replaces it.
    Signal(Arc<Event>),
    /// Waits, for a user event that ends with the next signal.
    Waits(Arc<Event>),
}

impl Semaphore {
    /// A semaphore that is not signaled. `INVALID_PROPERTY` for no device where the context has several,
    /// `INVALID_DEVICE` for one of another context.
    pub fn new(context: &Arc<Context>, device: Option<&Arc<Device>>) -> Result<Arc<Self>> {
        let device = match device {
            Some(device) => context.on(device)?.device().clone(),
            None => {
                let mut devices = context.devices();
                devices.next().filter(|_| devices.len() == 0).cloned().ok_or_else(|| {
                    Error::new(Code::InvalidProperty, "a context of several devices, and no device")
                })?
            }
        };
        Ok(Arc::new(Self { context: context.clone(), device, state: Mutex::default() }))
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whether a signal has completed whose wait has not ended.
    pub fn is_signaled(&self) -> bool {
        let mut state = self.state.lock();
        state.forget_ended();
        let next = match &state.next {
            Next::Signal(signal) => Some(signal.clone()),
            Next::Nothing | Next::Waits(_) => None,
        };
        let signals: Vec<_> = state.taken.iter().map(|(signal, _)| signal.clone()).chain(next).collect();
        drop(state);
        signals.iter().any(|signal| signal.status() == EventStatus::Complete)
    }

    /// The event that the next wait depends on.
    pub(crate) fn take_signal(&self) -> Arc<Event> {
        let next = &mut self.state.lock().next;
        match std::mem::take(next) {
            Next::Signal(signal) => signal,
            Next::Waits(signal) => {
                *next = Next::Waits(signal.clone());
                signal
            }
            Next::Nothing => {
                let signal = Event::user(&self.context);
                *next = Next::Waits(signal.clone());
                signal
            }
        }
    }

    /// Records a wait for a signal of [`Self::take_signal`].
    pub(crate) fn add_wait(&self, signal: Arc<Event>, wait: &Arc<Event>) {
        let mut state = self.state.lock();
        state.forget_ended();
        state.taken.push((signal, wait.clone()));
    }

    /// Records a signal.
    pub(crate) fn add_signal(&self, signal: &Arc<Event>) {
        let mut state = self.state.lock();
        state.forget_ended();
        match std::mem::take(&mut state.next) {
            Next::Waits(waited) => {
                drop(state);
                waited.end_with(signal);
            }
            Next::Nothing | Next::Signal(_) => state.next = Next::Signal(signal.clone()),
        }
    }
}

impl State {
    fn forget_ended(&mut self) {
        self.taken.retain(|(_, wait)| !wait.ended());
    }
}

impl Drop for Semaphore {
    /// Commands must not wait forever for a signal that nobody can enqueue.
    fn drop(&mut self) {
        if let Next::Waits(signal) = &self.state.get_mut().next {
            signal.fail(Error::new(Code::InvalidSemaphore, "the semaphore was released before a signal"));
        }
    }
}
