//! Serves a debugger.

use std::io::{BufRead, BufReader, ErrorKind, Result, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use gencl_eu::file::GRF_BYTES;
use gencl_eu::thread::Status;
use gencl_sync::Mutex;

use super::control::Control;
use super::launch::DebuggedLaunch;
use super::protocol::{LaunchFacts, Place, Range, Reply, Request, SOCKET, ThreadFacts};
use super::stops::Reason;

/// The connection of a process with its debugger.
pub struct Server {
    connection: Mutex<Connection>,
    /// The ND-range of a launch, by its number.
    range: fn(u32) -> Range,
}

struct Connection {
    from: BufReader<UnixStream>,
    to: UnixStream,
}

impl Server {
    /// Connects with the debugger that listens in a folder. `range` tells the ND-range of a launch by its number.
    ///
    /// # Errors
    /// Nothing listens there.
    pub fn connect(folder: &Path, range: fn(u32) -> Range) -> Result<Server> {
        let to = UnixStream::connect(folder.join(SOCKET))?;
        let from = BufReader::new(to.try_clone()?);
        Ok(Server { connection: Mutex::new(Connection { from, to }), range })
    }
}

impl Connection {
    fn send(&mut self, reply: &Reply) -> Result<()> {
        let mut line = serde_json::to_vec(reply)?;
        line.push(b'\n');
        self.to.write_all(&line)
    }

    /// The next request; none when the debugger has gone.
    fn receive(&mut self) -> Result<Option<Request>> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&line)?))
    }

    fn serve(&mut self, facts: LaunchFacts, launch: &mut DebuggedLaunch<'_>) -> Result<()> {
        self.send(&Reply::Launch(Box::new(facts)))?;
        while let Some(request) = self.receive()? {
            let reply = match request {
                Request::Go(time) => {
                    let reason = launch.go(time, &mut || has_input(&mut self.from));
                    stopped(launch, reason)
                }
                Request::Run(stops) => {
                    let reason = launch.run(&stops, &mut || has_input(&mut self.from));
                    stopped(launch, reason)
                }
                Request::Back(stops) => {
                    let reason = launch.run_back(&stops, &mut || has_input(&mut self.from));
                    stopped(launch, reason)
                }
                Request::Read(places) => {
                    Reply::Bytes(places.iter().map(|place| read(launch, place)).collect())
                }
                Request::Threads => Reply::Threads(threads(launch)),
                Request::Registers(thread) => {
                    let thread = launch.group().threads.get(thread as usize);
                    let general = thread.map(|thread| thread.file[..GRF_BYTES].to_vec()).unwrap_or_default();
                    Reply::Registers { general, flags: thread.map_or(0, |thread| thread.flags()) }
                }
                Request::Text(offsets) => {
                    let text = |offset: &u32| launch.text(*offset).unwrap_or_default();
                    Reply::Text(offsets.iter().map(text).collect())
                }
                Request::Release => break,
                // What ran has stopped: at the latest for this request.
                Request::Interrupt => continue,
            };
            self.send(&reply)?;
        }
        Ok(())
    }
}

impl Control for Server {
    fn debug(&self, launch: &mut DebuggedLaunch<'_>) {
        let own = launch.launch();
        let facts = LaunchFacts {
            process: std::process::id(),
            kernel: own.mark.kernel,
            launch: own.mark.launch,
            lanes: own.simd_width,
            first_group: own.first_group,
            end_group: own.end_group,
            range: (self.range)(own.mark.launch),
            constants: if own.cross_thread.is_empty() {
                // Ivy Bridge has them in front of what each thread has for itself.
                own.per_thread.get(..own.per_thread_size).unwrap_or_default().to_vec()
            } else {
                own.cross_thread.clone()
            },
        };
        // Without its debugger the program goes on.
        let _ = self.connection.lock().serve(facts, launch);
    }
}

/// Whether the debugger has sent something, which only an interruption can be while a launch runs, or has gone.
fn has_input(from: &mut BufReader<UnixStream>) -> bool {
    if !from.buffer().is_empty() || from.get_ref().set_nonblocking(true).is_err() {
        return true;
    }
    let is_none = from.fill_buf().is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    from.get_ref().set_nonblocking(false).is_err() || !is_none
}

fn stopped(launch: &DebuggedLaunch<'_>, reason: Reason) -> Reply {
    Reply::Stopped { time: launch.time(), reason, position: launch.position() }
}

fn read(launch: &DebuggedLaunch<'_>, place: &Place) -> Option<Vec<u8>> {
    let bytes = place.bytes as usize;
    if !place.local {
        return launch.read(place.address, bytes);
    }
    let begin = usize::try_from(place.address).ok()?;
    launch.group().local.get(begin..begin.checked_add(bytes)?).map(<[u8]>::to_vec)
}

fn threads(launch: &DebuggedLaunch<'_>) -> Vec<ThreadFacts> {
    let facts = launch.group().threads.iter().map(|thread| {
        let (scratch, hardware) = launch.scratch(thread);
        ThreadFacts {
            position: launch.position_of(thread),
            ended: thread.status == Status::Ended,
            waits: thread.status == Status::Waiting,
            lanes: launch.places(thread),
            scratch,
            hardware,
        }
    });
    facts.collect()
}
