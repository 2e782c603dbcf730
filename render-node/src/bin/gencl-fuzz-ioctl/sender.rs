//! A thread's objects, and how it makes requests.

use bytemuck::Pod;
use gencl_i915::uapi::ioctl;
use gencl_testing::{Journal, Random};

use crate::arena::{Arena, Lent};
use crate::layout::{self, Layout};
use crate::mutation::{self, SIZE};
use crate::pools::{Buffer, Pool};

/// The bit of a request for copying the argument to the caller (`_IOC_READ`).
const OUT: u32 = 2 << 30;

/// Requests that may fail with `EFAULT` as this or another thread has unmapped userptr memory.
const OF_HANDED_OVER: [u32; 3] = [ioctl::GEM_USERPTR, ioctl::GEM_SET_DOMAIN, ioctl::GEM_EXECBUFFER2_WR];

/// Opens the node.
pub fn open_node() -> i32 {
    // SAFETY: the path is a C string.
    let fd = unsafe { libc::open(c"/dev/dri/renderD128".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    assert!(fd >= 0, "no render node; run it by gencl-sim");
    fd
}

/// `errno` of this thread.
pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Mode of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Random requests, some of them invalid.
    Random,
    /// Valid requests only.
    Right,
    /// A valid sequence in which one request is mutated, after a number of others; arrays are mutated now and
    /// then.
    Mutated(u64),
}

/// A thread and its objects.
pub struct Sender<'a> {
    /// Random generator.
    pub random: Random,
    journal: &'a Journal,
    thread: usize,
    /// The open file that all threads use.
    pub node: i32,
    /// An open file of this thread, for valid requests only.
    pub own: i32,
    /// Number of successive valid sequences with a stopped batch.
    pub stopped: u32,
    /// Current mode.
    pub mode: Mode,
    /// Whether the current sequence is mutated.
    pub is_odd: bool,
    arguments: Arena,
    /// For arrays that arguments point to.
    pub lists: [Arena; 4],
    /// Buffers of the shared open file.
    pub buffers: Vec<Buffer>,
    /// Memory for userptr buffers.
    pub lent: Vec<Lent>,
    /// Contexts.
    pub contexts: Pool,
    /// Address spaces.
    pub spaces: Pool,
    /// Sync objects.
    pub sync_objects: Pool,
    /// Descriptors of fences, buffers, sync objects.
    pub descriptors: Pool,
    /// GPU address of the next buffer.
    pub next_address: u64,
}

impl<'a> Sender<'a> {
    /// A thread's sender, for the open file that all threads use; it opens one of its own.
    pub fn new(seed: u64, journal: &'a Journal, thread: usize, node: i32) -> Sender<'a> {
        Sender {
            random: Random::new(seed),
            journal,
            thread,
            node,
            own: open_node(),
            stopped: 0,
            mode: Mode::Random,
            is_odd: false,
            arguments: Arena::new(),
            lists: [(); 4].map(|()| Arena::new()),
            buffers: Vec::new(),
            lent: (1..4).map(Lent::new).collect(),
            contexts: Pool::default(),
            spaces: Pool::default(),
            sync_objects: Pool::default(),
            descriptors: Pool::default(),
            next_address: (thread as u64 + 1) << 24,
        }
    }

    /// A pointer to an array, mutated according to the mode.
    pub fn list<T: Pod>(&mut self, arena: usize, layout: &'static Layout, values: &[T]) -> u64 {
        let mut bytes = bytemuck::cast_slice(values).to_vec();
        if matches!(self.mode, Mode::Mutated(_)) && self.random.one_in(12) {
            let bad = self.bad_pointers();
            mutation::change_list(&mut self.random, &mut bytes, layout, &bad);
        }
        let address = self.lists[arena].put(&bytes, layout);
        if self.mode == Mode::Random && self.random.one_in(40) { self.bad_pointer() } else { address }
    }

    /// Addresses that are never mapped.
    fn bad_pointers(&self) -> [u64; 6] {
        [0, 8, 0xffff_8000_0000_0000, u64::MAX - 7, 1 << 47, self.arguments.behind()]
    }

    fn bad_pointer(&mut self) -> u64 {
        self.is_odd = true;
        let bad = self.bad_pointers();
        self.random.pick(&bad)
    }

    /// Makes a request on the shared open file, perhaps with another size or address. Returns 0 or the error
    /// number.
    pub fn send<T: Pod>(&mut self, name: &str, request: u32, argument: &mut T) -> i32 {
        let mut request = request;
        if self.random.one_in(50) {
            let size = (self.random.below(140) as u32) << 16;
            request = request & !SIZE | size;
            self.is_odd = true;
        }
        if self.random.one_in(100) {
            request ^= 1 << (30 + self.random.below(2));
            self.is_odd = true;
        }
        let bad = if self.random.one_in(100) { Some(self.bad_pointer()) } else { None };
        self.send_exactly(self.node, name, request, argument, bad)
    }

    /// Makes a request of a sequence, mutated according to the mode. Returns 0 or the error number.
    pub fn send_in_sequence<T: Pod>(&mut self, fd: i32, name: &str, request: u32, argument: &mut T) -> i32 {
        let mut request = request;
        if let Mode::Mutated(left) = &mut self.mode {
            let is_due = *left == 0;
            *left = left.wrapping_sub(1);
            if is_due {
                let bad = self.bad_pointers();
                let bytes = bytemuck::bytes_of_mut(argument);
                request = mutation::change(&mut self.random, request, bytes, &bad);
            }
        }
        self.send_exactly(fd, name, request, argument, None)
    }

    /// Makes a request without mutation.
    pub fn send_exactly<T: Pod>(
        &mut self,
        fd: i32,
        name: &str,
        request: u32,
        argument: &mut T,
        address: Option<u64>,
    ) -> i32 {
        let size = ((request & SIZE) >> 16) as usize;
        let mut bytes = bytemuck::bytes_of(argument).to_vec();
        bytes.resize(size, 0xee);
        let layout = if request & OUT != 0 { &layout::RESULT } else { &layout::BYTES };
        let right = self.arguments.put(&bytes, layout);
        let words: &[u8] = bytemuck::bytes_of(argument);
        let shown: String = words.iter().take(40).map(|byte| format!("{byte:02x}")).collect();
        self.journal.write(self.thread, &format!("{name} fd {fd} 0x{request:08x} {shown}"));
        // SAFETY: what the argument points to may be anything, which the node has to stand.
        let result = unsafe { libc::ioctl(fd, u64::from(request), address.unwrap_or(right)) };
        let error = if result == 0 { 0 } else { errno() };
        assert!(
            result == 0 || (result == -1 && (1..=524).contains(&error)),
            "{name}: {result}, errno {error}"
        );
        assert!(
            error != libc::EFAULT || self.is_odd || OF_HANDED_OVER.contains(&request),
            "{name}: something beyond what was given was looked at"
        );
        assert!(self.arguments.is_whole(), "{name}: memory before the argument was written");
        assert!(self.arguments.is_as_given(), "{name}: an argument that only goes in was written");
        for list in &self.lists {
            assert!(list.is_whole(), "{name}: memory before an array was written");
            assert!(list.is_as_given(), "{name}: what only goes in was written in an array");
        }
        let length = size.min(size_of::<T>());
        let after = self.arguments.take();
        bytemuck::bytes_of_mut(argument)[..length].copy_from_slice(&after[..length]);
        error
    }

    /// Adds an action other than a request to the journal.
    pub fn note(&self, text: &str) {
        self.journal.write(self.thread, text);
    }
}
