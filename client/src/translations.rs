//! Translations of kernels, for the simulator.
//!
//! A thread of its own answers one request after the other: from the cache, or by a server that only translates. It starts with the
//! first request.

use std::sync::mpsc::{self, Sender};

use gencl_program::protocol::{BuildResult, Status};
use gencl_simulator::sync::Mutex;
use gencl_simulator::translated::abi::{Answer, Request};
use gencl_simulator::translated::source::{Done, TranslationSource};

use crate::cache::Cache;
use crate::server::{Failure, Purpose, Server};
use crate::{builds, host, locate, start};

/// The translator of this process.
pub struct Translations;

/// The thread that answers.
struct Worker {
    /// After a `fork`, the parent's thread is not there.
    process: u32,
    requests: Sender<(Request, Done)>,
}

static WORKER: Mutex<Option<Worker>> = Mutex::new(None);

impl TranslationSource for Translations {
    fn request(&self, request: Request, done: Done) {
        let mut worker = WORKER.lock();
        if worker.as_ref().is_none_or(|worker| worker.process != std::process::id()) {
            *worker = start_worker();
        }
        // Without a thread nobody answers, which `done` tells when it is dropped.
        if let Some(worker) = &*worker {
            let _ = worker.requests.send((request, done));
        }
    }
}

fn start_worker() -> Option<Worker> {
    let (requests, received) = mpsc::channel::<(Request, Done)>();
    let work = move || {
        let mut translator = Translator::default();
        for (request, done) in received {
            done(translator.answer(&request));
        }
    };
    let thread = std::thread::Builder::new().name("gencl-translate".into()).spawn(work);
    thread.is_ok().then(|| Worker { process: std::process::id(), requests })
}

/// What the thread keeps.
#[derive(Default)]
struct Translator {
    server: Option<Server>,
}

impl Translator {
    fn answer(&mut self, request: &Request) -> Answer {
        let bytes = postcard::to_stdvec(request).map_err(|error| error.to_string())?;
        let compiler = locate::compiler().ok().and_then(|path| locate::identity(&path));
        let key = compiler.map(|compiler| Cache::translation_key(&bytes, &compiler, host::processor()));
        let place = Cache::from_environment().zip(key);
        let stored = place.as_ref().and_then(|(cache, key)| cache.load(key));
        if let Some(answer) = stored.and_then(|stored| decode(&stored.binary).ok()) {
            return answer;
        }
        let answer = self.ask(bytes)?;
        let decoded = decode(&answer)?;
        if let Some((cache, key)) = place {
            let (log, files) = (String::new(), Vec::new());
            cache.store(&key, &BuildResult { status: Status::Success, log, binary: answer, files });
        }
        decoded
    }

    /// Has a server answer, a new one if the one that was there has left.
    fn ask(&mut self, request: Vec<u8>) -> Result<Vec<u8>, String> {
        let timeout = builds::timeout();
        if let Some(mut server) = self.server.take_if(Server::alive) {
            match server.translate(request.clone(), timeout) {
                Ok(answer) => {
                    self.server = Some(server);
                    return Ok(answer);
                }
                Err(Failure::Gone) => {}
                Err(failure) => return Err(failure.to_string()),
            }
        }
        let mut server = start(Purpose::Translations).map_err(|unavailable| unavailable.to_string())?;
        let answer = server.translate(request, timeout).map_err(|failure| failure.to_string())?;
        self.server = Some(server);
        Ok(answer)
    }
}

fn decode(answer: &[u8]) -> Result<Answer, String> {
    postcard::from_bytes(answer).map_err(|error| format!("the translator's answer makes no sense: {error}"))
}
