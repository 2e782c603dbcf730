//! Several processes and threads under one `gencl-sim`: forks with and without `exec`, shared objects.

use std::process::{Child, Command, Stdio};

use crate::support::{ask, create, open, read, send, store};
use gencl_i915::uapi::{GemCreate, PrimeHandle, SyncobjCreate, SyncobjHandle, ioctl};

/// Variables for a process that a test starts: its role, and an inherited descriptor.
const ROLE: &str = "GENCL_TEST_ROLE";
const DESCRIPTOR: &str = "GENCL_TEST_DESCRIPTOR";

/// Starts this program again, as a process with a role.
fn start(role: &str, descriptor: i32) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("the test's own path"));
    command
        .args(["--ignored", "--exact", "processes::role", "--nocapture"])
        .stdout(Stdio::piped())
        .env(ROLE, role)
        .env(DESCRIPTOR, descriptor.to_string());
    command.spawn().expect("a process")
}

/// Waits for the end of a process, which has to succeed.
fn finish(process: Child) {
    let out = process.wait_with_output().expect("its end");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && text.contains("1 passed"), "{text}");
}

/// The roles of processes that tests start.
#[test]
#[ignore = "a process of other tests"]
fn role() {
    let role = std::env::var(ROLE).expect("started by a test");
    let descriptor = std::env::var(DESCRIPTOR).ok().and_then(|fd| fd.parse().ok()).unwrap_or(-1);
    match role.as_str() {
        "client" => client(std::process::id()),
        "writer" => write_imported(open(), descriptor, 3),
        "heir" => {
            // A node that was open before `exec` behaves as newly opened.
            let handle = create(descriptor, 4096);
            assert_eq!(handle, 1);
            store(descriptor, handle, 0, 5);
            assert_eq!(read(descriptor, handle, 0), 5);
        }
        other => panic!("no role is called {other}"),
    }
}

/// Batches of several threads, with one open file and with one for each.
fn client(seed: u32) {
    let shared = open();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            scope.spawn(move || {
                let own = open();
                for round in 0..20 {
                    let value = seed.wrapping_mul(31) + thread * 1000 + round;
                    let handle = create(own, 4096);
                    store(own, handle, 64, value);
                    assert_eq!(read(own, handle, 64), value);
                    // Another thread's buffer may be bound at the same address, and has to be evicted.
                    let handle = create(shared, 4096);
                    store(shared, handle, 64, value);
                    assert_eq!(read(shared, handle, 64), value);
                }
                // SAFETY: the descriptor is this thread's.
                unsafe { libc::close(own) };
            });
        }
    });
}

fn several_clients() {
    let clients: Vec<Child> = (0..4).map(|_| start("client", -1)).collect();
    client(7);
    clients.into_iter().for_each(finish);
}

/// A descriptor of a buffer, which `exec` leaves open.
fn export(fd: i32, handle: u32) -> i32 {
    let flags = libc::O_RDWR as u32;
    ask(fd, ioctl::PRIME_HANDLE_TO_FD, PrimeHandle { handle, flags, fd: -1 }).fd
}

/// Submits a batch that writes to a buffer of another process.
fn write_imported(fd: i32, descriptor: i32, value: u32) {
    let handle =
        ask(fd, ioctl::PRIME_FD_TO_HANDLE, PrimeHandle { handle: 0, flags: 0, fd: descriptor }).handle;
    store(fd, handle, 4, value);
}

fn buffers_of_two_programs() {
    let fd = open();
    let handle = create(fd, 4096);
    store(fd, handle, 0, 1);
    finish(start("writer", export(fd, handle)));
    assert_eq!((read(fd, handle, 0), read(fd, handle, 4)), (1, 3));
}

fn the_node_over_exec() {
    let fd = open();
    // SAFETY: no pointers.
    assert_eq!(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }, 0);
    let handle = create(fd, 4096);
    finish(start("heir", fd));
    store(fd, handle, 0, 9);
    assert_eq!(read(fd, handle, 0), 9);
}

/// Runs a function in a child by `fork`, and waits for its end.
fn in_fork(act: impl FnOnce()) {
    // SAFETY: of the parent's threads none holds a lock that the child needs: the test is alone in its
    // process.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
        // SAFETY: the child ends without the parent's exit handlers.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    let mut status = 0;
    // SAFETY: the result goes to a variable of our own.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child");
}

fn a_fork() {
    let fd = open();
    let handle = create(fd, 4096);
    store(fd, handle, 0, 1);
    let descriptor = export(fd, handle);
    in_fork(|| {
        // The parent's open file is dead in the child, as its threads do not exist there; a new one is not.
        assert_eq!(
            send(fd, ioctl::GEM_CREATE, &mut GemCreate { size: 4096, ..Default::default() }),
            libc::EIO
        );
        let own = open();
        write_imported(own, descriptor, 2);
        // SAFETY: the descriptor is the child's duplicate.
        assert_eq!(unsafe { libc::close(fd) }, 0);
        // The same for the child's children, while its threads are idle.
        for _ in 0..8 {
            in_fork(|| {
                let own = open();
                (0..8).for_each(|_| write_imported(own, descriptor, 3));
            });
        }
        let handle = create(own, 4096);
        store(own, handle, 0, 6);
        assert_eq!(read(own, handle, 0), 6);
    });
    assert_eq!((read(fd, handle, 0), read(fd, handle, 4)), (1, 3));
    store(fd, handle, 0, 4);
    assert_eq!(read(fd, handle, 0), 4);
}

/// Sends a descriptor through a socket.
fn pass(socket: i32, descriptor: i32) {
    let mut control = [0u64; 3];
    with_message(&mut control, |message| {
        // SAFETY: the message has room for one header and one descriptor.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(4) as usize;
            libc::CMSG_DATA(header).cast::<i32>().write(descriptor);
            assert_eq!(libc::sendmsg(socket, message, 0), 1);
        }
    });
}

/// Receives a descriptor.
fn receive(socket: i32) -> i32 {
    let (mut control, mut descriptor) = ([0u64; 3], -1);
    with_message(&mut control, |message| {
        // SAFETY: the message has room for one header and one descriptor, which the kernel fills in.
        unsafe {
            assert_eq!(libc::recvmsg(socket, message, 0), 1);
            descriptor = libc::CMSG_DATA(libc::CMSG_FIRSTHDR(message)).cast::<i32>().read();
        }
    });
    descriptor
}

fn with_message(control: &mut [u64; 3], act: impl FnOnce(&mut libc::msghdr)) {
    let mut byte = 0u8;
    let mut vector = libc::iovec { iov_base: std::ptr::from_mut(&mut byte).cast(), iov_len: 1 };
    // SAFETY: zeros are a message without anything.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&mut vector, 1);
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(control));
    act(&mut message);
}

fn descriptors_through_a_socket() {
    let mut sockets = [-1; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, sockets.as_mut_ptr()) }, 0);
    let [ours, theirs] = sockets;
    // SAFETY: the test is alone in its process.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let made = std::panic::catch_unwind(|| {
            let fd = open();
            let handle = create(fd, 4096);
            store(fd, handle, 0, 11);
            pass(theirs, export(fd, handle));
            let flags = 1;
            let object = ask(fd, ioctl::SYNCOBJ_CREATE, SyncobjCreate { handle: 0, flags }).handle;
            let fence = SyncobjHandle { handle: object, flags, fd: -1, pad: 0 };
            pass(theirs, ask(fd, ioctl::SYNCOBJ_HANDLE_TO_FD, fence).fd);
        });
        // SAFETY: the child ends without the parent's exit handlers.
        unsafe { libc::_exit(i32::from(made.is_err())) };
    }
    let (buffer, fence) = (receive(ours), receive(ours));
    let mut status = 0;
    // SAFETY: the result goes to a variable of our own.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child");
    // Its creator has ended; the memory still exists, and the fence is signaled.
    let fd = open();
    let imported = PrimeHandle { handle: 0, flags: 0, fd: buffer };
    let handle = ask(fd, ioctl::PRIME_FD_TO_HANDLE, imported).handle;
    assert_eq!(read(fd, handle, 0), 11);
    let object = ask(fd, ioctl::SYNCOBJ_CREATE, SyncobjCreate::default()).handle;
    ask(fd, ioctl::SYNCOBJ_FD_TO_HANDLE, SyncobjHandle { handle: object, flags: 1, fd: fence, pad: 0 });
    let mut poll = libc::pollfd { fd: fence, events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure of our own.
    assert_eq!(unsafe { libc::poll(&mut poll, 1, 10_000) }, 1);
}

crate::support::under_gencl_sim! {
    several_clients_run_at_once: several_clients;
    two_programs_share_a_buffer: buffers_of_two_programs;
    an_open_node_is_inherited_over_exec: the_node_over_exec;
    a_forked_child_opens_the_node_itself: a_fork;
    buffers_and_fences_are_passed_to_another_process: descriptors_through_a_socket;
}
