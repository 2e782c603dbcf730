//! The connection with the program that is debugged.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use gencl_simulator::debug::protocol::{LaunchFacts, Reply, Request};

/// A connection.
pub struct Link {
    from: RefCell<BufReader<UnixStream>>,
    to: Requests,
}

/// The end of a connection that requests go to, also from other threads.
#[derive(Clone)]
pub struct Requests(Arc<Mutex<UnixStream>>);

impl Requests {
    /// Sends one.
    ///
    /// # Errors
    /// The program has ended.
    pub fn send(&self, request: &Request) -> Result<(), String> {
        let mut line = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let mut to = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        to.write_all(&line).map_err(|error| format!("the program has gone: {error}"))
    }
}

impl Link {
    /// From a socket on which a program has connected.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(to: UnixStream) -> std::io::Result<Link> {
        let from = RefCell::new(BufReader::new(to.try_clone()?));
        Ok(Link { from, to: Requests(Arc::new(Mutex::new(to))) })
    }

    /// Where requests go to.
    #[must_use]
    pub fn requests(&self) -> &Requests {
        &self.to
    }

    /// Waits for the next launch; none when the program has ended.
    ///
    /// # Errors
    /// What the program tells is not understood.
    pub fn launch(&self) -> Result<Option<LaunchFacts>, String> {
        match self.receive() {
            Ok(Reply::Launch(facts)) => Ok(Some(*facts)),
            Ok(other) => Err(format!("no launch, but {other:?}")),
            Err(None) => Ok(None),
            Err(Some(error)) => Err(error),
        }
    }

    /// Asks, and waits for the reply.
    ///
    /// # Errors
    /// The program has ended.
    pub fn ask(&self, request: &Request) -> Result<Reply, String> {
        self.to.send(request)?;
        self.receive().map_err(|error| error.unwrap_or_else(|| "the program has ended".into()))
    }

    /// The next reply; no error text at the end of the connection.
    fn receive(&self) -> Result<Reply, Option<String>> {
        let mut line = String::new();
        match self.from.borrow_mut().read_line(&mut line) {
            // A program that is killed resets the connection.
            Ok(0) | Err(_) => Err(None),
            Ok(_) => serde_json::from_str(&line).map_err(|error| Some(error.to_string())),
        }
    }
}
