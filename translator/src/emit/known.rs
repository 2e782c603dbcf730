//! Windows of messages whose addresses begin with a pointer that all threads have: what is asked of pointer and window is asked once for a
//! work-group, not for each message of each thread.
//!
//! It is in variables of the function around that of a thread, so that LLVM has values of it in the loop over threads.

use std::mem::offset_of;

use gencl_eu::abi::{Frame, Window};

use super::{Emitter, FILE};
use crate::ir::{I32, I64, Label, POINTER, Ty, Value};
use crate::split::Base;

/// The argument that says where all of that is.
pub(super) const KNOWN: &str = "%known";

/// Bytes that are known of one.
const SIZE: usize = 16;

/// Where the offset of the pointer in its window is, of 32 bits.
const OFFSET: usize = 0;
/// Where the window's size is, of 32 bits: 0 when the pointer is so far away that offsets of 32 bits would not tell, or not as aligned as messages want.
const LIMIT: usize = 4;
/// Where its place in the host's memory is.
const HOST: usize = 8;

/// Most bytes behind the pointer at which sums may begin: with offsets of 31 bits in front of them, no sum comes to 2^32.
pub(super) const MOST_BEHIND: i64 = 1 << 16;

/// A window of which that is known.
#[derive(Clone, Copy)]
pub(super) struct KnownWindow {
    window: u32,
    /// The pointer.
    base: Base,
    /// Which of them it is.
    number: usize,
    /// What the pointer has to be a multiple of, for all that begin with it.
    alignment: usize,
}

/// What is known, as a thread has it.
pub(super) struct OfPointer {
    /// The pointer's offset in the window.
    pub(super) offset: Value,
    /// Bytes of the window, or 0.
    pub(super) limit: Value,
    /// Where it is.
    pub(super) host: Value,
}

impl Emitter<'_> {
    /// The window of a pointer that all threads have, if it is one.
    pub(super) fn know(&mut self, window: u32, base: Base) {
        if self.is_same_for_all(base) {
            let (number, alignment) = (self.known.len(), self.alignment_of(base));
            self.known.insert(window, KnownWindow { window, base, number, alignment });
        }
    }

    /// The largest alignment that messages want whose addresses begin with a scalar.
    fn alignment_of(&self, base: Base) -> usize {
        let messages =
            (0..self.plan.ops.len()).filter_map(|index| Some((index, self.message_of_lanes(index)?)));
        let own = messages.filter(|(index, _)| self.base_of(*index) == Some(base));
        own.map(|(_, message)| message.alignment).max().unwrap_or(1)
    }

    /// Is a scalar of 64 bits a constant of all threads?
    pub(super) fn is_same_for_all(&self, (variable, byte): Base) -> bool {
        let Some(variables) = &self.variables else { return false };
        let bytes = byte..byte + 8;
        !variables.definitions.iter().flatten().any(|defined| *defined == variable)
            && bytes.clone().all(|byte| self.is_cross_thread(byte))
            && variables.all[variable].start <= bytes.start
            && bytes.end <= variables.all[variable].end
    }

    fn field(&mut self, known: KnownWindow, field: usize) -> Value {
        self.f.at(&self.known_place.clone(), known.number * SIZE + field)
    }

    /// What is known of a window's pointer.
    pub(super) fn of_pointer(&mut self, window: u32) -> Option<OfPointer> {
        let known = *self.known.get(&window)?;
        let mut load = |ty: Ty, field| {
            let at = self.field(known, field);
            self.f.load(ty, &at, FILE)
        };
        let [offset, limit] = [OFFSET, LIMIT].map(|field| load(I32, field));
        let host = load(POINTER, HOST);
        // So that LLVM sees that it is, and lanes' are as aligned as what is added to it.
        let multiples = Value::int(I32, !(known.alignment as u64 - 1));
        let offset = self.f.binary("and", &offset, &multiples);
        Some(OfPointer { offset, limit, host })
    }

    /// Looks at a window that may be another now.
    pub(super) fn look_again(&mut self, window: u32) {
        if let Some(known) = self.known.get(&window) {
            self.look_at(*known);
        }
    }

    fn look_at(&mut self, known: KnownWindow) {
        let source = self.payload_source(known.base.1);
        let pointer = self.f.load(I64, &source, "align 1, !tbaa !2, !invariant.load !5");
        let reach = self.reach_of(known.window);
        let offset = self.f.binary("sub", &pointer, &reach.start);
        let most = Value::int(I64, Window::MAX_SIZE - MOST_BEHIND as u64);
        let inside = self.f.compare("icmp ult", &offset, &most);
        let aligned = self.aligned(&offset, known.alignment);
        let holds = self.both(&inside, aligned.as_ref());
        let limit = self.f.resize(&reach.size, 32, false);
        let limit = self.f.select(&holds, &limit, &Value::int(I32, 0));
        let offset = self.f.resize(&offset, 32, false);
        for (field, value) in [(OFFSET, offset), (LIMIT, limit), (HOST, reach.host)] {
            let at = self.field(known, field);
            self.f.store(&value, &at, FILE);
        }
    }

    /// Writes the function around that of a thread, when that is written: it begins with what is known, and has the loop over the threads of a
    /// work-group where they never stop.
    pub(super) fn around(&mut self, thread: &str, header: &str) {
        let entry = self.begin_knowing();
        if self.stops {
            let number = self.thread.clone();
            let ended = self.call_thread(thread, &number, "%resume");
            self.f.ret(&ended);
        } else {
            self.all_threads(thread);
        }
        self.end_knowing(header, entry);
    }

    /// Writes the function that executes a thread from its beginning on, and finds out itself what is known.
    pub(super) fn anew(&mut self, thread: &str, header: &str) {
        let entry = self.begin_knowing();
        let number = self.thread.clone();
        let ended = self.call_thread(thread, &number, "0");
        self.f.ret(&ended);
        self.end_knowing(header, entry);
    }

    /// Begins a function that has what is known in a variable of its own.
    fn begin_knowing(&mut self) -> Label {
        self.known_place = self.f.variable((self.known.len() * SIZE).max(1));
        let entry = self.f.label();
        self.f.begin(entry);
        self.look_at_all();
        entry
    }

    fn end_knowing(&mut self, header: &str, entry: Label) {
        self.known_place = Value::named(POINTER, KNOWN);
        self.module.add(std::mem::take(&mut self.f), header, entry);
    }

    /// Looks at all windows, which may be others now.
    pub(super) fn look_at_all(&mut self) {
        let all: Vec<KnownWindow> = self.known.values().copied().collect();
        all.into_iter().for_each(|known| self.look_at(known));
    }

    fn call_thread(&mut self, name: &str, number: &Value, resume: &str) -> Value {
        let (frame, known) = (self.frame.typed(), self.known_place.typed());
        self.f.value(I32, &format!("call i32 @{name}({frame}, {}, i32 {resume}, {known})", number.typed()))
    }

    /// Ends the function with the loop over all threads.
    fn all_threads(&mut self, thread: &str) {
        let number = self.f.variable(4);
        self.f.store(&Value::int(I32, 0), &number, FILE);
        let count = self.constant(I32, offset_of!(Frame, threads));
        let [next, more, end] = [(); 3].map(|()| self.f.label());
        self.f.begin(next);
        let own = self.dword(&number);
        let ended = self.call_thread(thread, &own, "0");
        let fault = self.f.compare("icmp ne", &ended, &Value::int(I32, 0));
        self.f.branch(&fault, end, more);
        self.f.begin(more);
        let after = self.f.binary("add nuw", &own, &Value::int(I32, 1));
        self.f.store(&after, &number, FILE);
        let last = self.f.compare("icmp eq", &after, &count);
        self.f.branch(&last, end, next);
        self.f.begin(end);
        self.f.ret(&ended);
    }
}
