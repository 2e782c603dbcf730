//! The event graph under a model checker with random schedules (shuttle).
//!
//! The source file of the graph is compiled here with shuttle's locks in place of the real ones.

#[path = "../src/event/node.rs"]
mod node;

/// Shuttle's locks with the interface of the runtime's.
mod sync {
    use std::ops::{Deref, DerefMut};

    pub(crate) use shuttle::sync::atomic::{AtomicUsize, Ordering};

    pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

    /// Empty only while a [`Condvar`] waits.
    pub(crate) struct Guard<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(shuttle::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> Guard<'_, T> {
            Guard(Some(self.0.lock().unwrap()))
        }
    }

    impl<T> Deref for Guard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.0.as_ref().unwrap()
        }
    }

    impl<T> DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().unwrap()
        }
    }

    pub(crate) struct Condvar(shuttle::sync::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Self {
            Self(shuttle::sync::Condvar::new())
        }

        pub(crate) fn wait<T>(&self, guard: &mut Guard<'_, T>) {
            guard.0 = Some(self.0.wait(guard.0.take().unwrap()).unwrap());
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

use std::sync::Arc;

use node::{EventStatus, Gate, Node};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

type Event = Node<&'static str>;

const SCHEDULES: usize = 2000;

fn event() -> Arc<Event> {
    Arc::new(Node::new(EventStatus::Queued))
}

/// Ends an event and calls the callbacks that are due. Was the event not ended before?
fn end(event: &Event, status: EventStatus) -> bool {
    let due = event.advance(status, matches!(status, EventStatus::Failed(_)).then_some("why"));
    let first = due.is_some();
    due.into_iter().filter(|due| !due.is_empty()).for_each(|due| due.call());
    first
}

#[test]
fn a_callback_is_called_once_whenever_it_comes() {
    shuttle::check_random(
        || {
            let (event, calls) = (event(), Arc::new(AtomicUsize::new(0)));
            let ending = {
                let event = event.clone();
                thread::spawn(move || {
                    end(&event, EventStatus::Running);
                    end(&event, EventStatus::Complete);
                })
            };
            let registering: Vec<_> = (0..2)
                .map(|at| {
                    let (event, calls) = (event.clone(), calls.clone());
                    thread::spawn(move || {
                        let count = move |status: EventStatus| {
                            assert_eq!(status.value(), at);
                            calls.fetch_add(1, Ordering::SeqCst);
                        };
                        if let Some(due) = event.on_status(at, Box::new(count)) {
                            due.call();
                        }
                    })
                })
                .collect();
            ending.join().unwrap();
            registering.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(calls.load(Ordering::SeqCst), 2);
        },
        SCHEDULES,
    );
}

#[test]
fn waiting_threads_are_woken() {
    shuttle::check_random(
        || {
            let event = event();
            let waiting: Vec<_> = (0..2)
                .map(|_| {
                    let event = event.clone();
                    thread::spawn(move || {
                        event.wait();
                        assert!(event.status().ended());
                    })
                })
                .collect();
            end(&event, EventStatus::Running);
            end(&event, EventStatus::Complete);
            waiting.into_iter().for_each(|thread| thread.join().unwrap());
        },
        SCHEDULES,
    );
}

#[test]
fn an_event_ends_once_when_several_want_to_end_it() {
    shuttle::check_random(
        || {
            let event = event();
            let ending: Vec<_> = [EventStatus::Complete, EventStatus::Failed(-7), EventStatus::Failed(-1)]
                .into_iter()
                .map(|status| {
                    let event = event.clone();
                    thread::spawn(move || end(&event, status).then_some(status))
                })
                .collect();
            let ended: Vec<_> = ending.into_iter().filter_map(|thread| thread.join().unwrap()).collect();
            assert_eq!(ended, [event.status()]);
            assert_eq!(event.reason().is_some(), event.status() != EventStatus::Complete);
        },
        SCHEDULES,
    );
}

/// A command waits for two events, of which one ends and the other, a user event, is given up, while its gate
/// is being built.
#[test]
fn a_gate_opens_once_and_not_early() {
    shuttle::check_random(
        || {
            let (events, opened) = ([event(), event()], Arc::new(AtomicUsize::new(0)));
            let ending: Vec<_> = events
                .iter()
                .zip([EventStatus::Complete, EventStatus::Failed(-58)])
                .map(|(event, status)| {
                    let event = event.clone();
                    thread::spawn(move || end(&event, status))
                })
                .collect();
            let gate = {
                let (events, opened) = (events.clone(), opened.clone());
                Gate::new(Box::new(move || {
                    assert!(events.iter().all(|event| event.status().ended()), "early");
                    opened.fetch_add(1, Ordering::SeqCst);
                }))
            };
            events.iter().for_each(|event| event.hold(&gate));
            gate.pass();
            ending.into_iter().for_each(|thread| {
                thread.join().unwrap();
            });
            assert!(gate.is_open());
            assert_eq!(opened.load(Ordering::SeqCst), 1);
        },
        SCHEDULES,
    );
}

/// Gates in a row: the end of the first event ends the others, on the threads on which the gates open.
#[test]
fn ends_pass_along_a_chain() {
    shuttle::check_random(
        || {
            let events = [event(), event(), event()];
            let building = {
                let events = events.clone();
                thread::spawn(move || {
                    for pair in events.windows(2) {
                        let next = pair[1].clone();
                        let gate = Gate::new(Box::new(move || {
                            end(&next, EventStatus::Complete);
                        }));
                        pair[0].hold(&gate);
                        gate.pass();
                    }
                })
            };
            end(&events[0], EventStatus::Complete);
            building.join().unwrap();
            events[2].wait();
        },
        SCHEDULES,
    );
}
