//! Translations of kernels, for the simulator.
//!
//! Worker threads answer requests, those for baseline code first: from the cache, or by a server that only translates. They are
//! started on demand, each with a server of its own; the first one with the first build of a program, so that
//! its server has started when the first request comes.

use std::collections::VecDeque;
use std::time::Duration;

use gencl_eu::abi::{Answer, Done, Request, Tier, TranslationSource};
use gencl_program::protocol::{BuildResult, Status};
use gencl_sync::{Condvar, Mutex, MutexGuard};

use crate::cache::Cache;
use crate::server::{Failure, Purpose, Server};
use crate::timeout::timeout;
use crate::{host, locate, server, start};

/// The translation service of this process.
pub struct Translations;

/// Maximum number of worker threads, and so of servers: the application needs processors as well.
const MAX_THREADS: usize = 2;

/// Time limit of a translation, after which there is none: large ones take seconds, and LLVM may rewrite a pair of instructions endlessly.
fn longest(tier: Tier) -> Duration {
    Duration::from_secs(match tier {
        Tier::Baseline => 20,
        Tier::Optimised => 60,
    })
}

/// Requests that have not begun, and the worker threads.
struct Queue {
    waiting: VecDeque<(Request, Done)>,
    threads: usize,
    /// Number of threads that have no request.
    idle: usize,
    /// Whether there may be requests: kernels that are built may be translated.
    expected: bool,
    /// Id of the process that owns the queue. After a `fork`, the parent's threads do not exist.
    process: u32,
}

impl Queue {
    const fn new(process: u32) -> Queue {
        Queue { waiting: VecDeque::new(), threads: 0, idle: 0, expected: false, process }
    }

    /// The queue of this process.
    fn lock() -> MutexGuard<'static, Queue> {
        let mut queue = QUEUE.lock();
        if queue.process != std::process::id() {
            *queue = Queue { expected: queue.expected, ..Queue::new(std::process::id()) };
        }
        queue
    }

    /// Starts a thread, with its server at once, or when a request is not answered by the cache.
    fn add_thread(&mut self, with_server: bool) {
        let thread =
            std::thread::Builder::new().name("gencl-translate".into()).spawn(move || work(with_server));
        self.threads += usize::from(thread.is_ok());
        self.idle += usize::from(thread.is_ok());
    }
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue::new(0));

/// Notified when there is a request.
static ASKED: Condvar = Condvar::new();

impl TranslationSource for Translations {
    fn expect(&self) {
        Queue::lock().expected = true;
    }

    fn is_idle(&self) -> bool {
        // Hardware threads may share a core: half of the processors work as fast as all.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        2 * server::working() < processors
    }

    fn request(&self, request: Request, done: Done) {
        let mut queue = Queue::lock();
        queue.waiting.push_back((request, done));
        if queue.idle < queue.waiting.len() && queue.threads < MAX_THREADS {
            queue.add_thread(false);
        }
        if queue.threads == 0 {
            // There is no thread to answer: dropping `done` reports that.
            let unanswered = std::mem::take(&mut queue.waiting);
            drop(queue);
            drop(unanswered);
            return;
        }
        ASKED.notify_one();
    }
}

/// Starts a worker thread and its server, if there may be requests and there is none yet. Called when a
/// program will be built: that leaves other cores idle, and its kernels have no translations in the cache.
pub fn warm_up() {
    let mut queue = Queue::lock();
    if queue.expected && queue.threads == 0 {
        queue.add_thread(true);
    }
}

/// The main loop of a worker thread.
fn work(with_server: bool) {
    let mut translator = Translator::new(|| start(Purpose::Translations));
    if with_server {
        translator.warm_up();
    }
    loop {
        let mut queue = QUEUE.lock();
        let (request, done) = loop {
            // A kernel without code waits more urgently than one that has some.
            let urgent = queue.waiting.iter().position(|(request, _)| request.tier == Tier::Baseline);
            match queue.waiting.remove(urgent.unwrap_or(0)) {
                Some(next) => break next,
                None => ASKED.wait(&mut queue),
            }
        };
        queue.idle -= 1;
        drop(queue);
        done(translator.answer(&request));
        QUEUE.lock().idle += 1;
    }
}

/// The state of a worker thread.
struct Translator<S> {
    start: S,
    server: Option<Server>,
}

impl<S: Fn() -> Result<Server, Failure>> Translator<S> {
    fn new(start: S) -> Self {
        Self { start, server: None }
    }

    /// Starts a server. If that fails, the next request says why.
    fn warm_up(&mut self) {
        self.server = (self.start)().ok();
    }

    fn answer(&mut self, request: &Request) -> Answer {
        let encode = |request: &Request| postcard::to_stdvec(request).map_err(|error| error.to_string());
        let bytes = encode(request)?;
        let compiler = locate::compiler().ok().and_then(|path| locate::identity(&path));
        let key = |bytes: &[u8]| Some(Cache::translation_key(bytes, compiler.as_deref()?, host::processor()));
        let cache = Cache::from_environment();
        let load = |bytes: &[u8]| decode(&cache.as_ref()?.load(&key(bytes)?)?.binary).ok();
        // Optimised code is as good a start if there is some.
        let better = match request.tier {
            Tier::Baseline => load(&encode(&Request { tier: Tier::Optimised, ..request.clone() })?),
            Tier::Optimised => None,
        };
        if let Some(answer) = better.filter(Result::is_ok).or_else(|| load(&bytes)) {
            return answer;
        }
        let answer = self.ask(&bytes, longest(request.tier))?;
        let decoded = decode(&answer)?;
        if let Some((cache, key)) = cache.zip(key(&bytes)) {
            let (log, files) = (String::new(), Vec::new());
            cache.store(&key, &BuildResult { status: Status::Success, log, binary: answer, files });
        }
        decoded
    }

    /// Sends a request to the server of the last one, or to a new server.
    fn ask(&mut self, request: &[u8], limit: Duration) -> Result<Vec<u8>, String> {
        let limit = timeout().min(limit);
        let waiting = self.server.take_if(Server::alive);
        let (answer, server) =
            server::ask(waiting, &self.start, |server| server.translate(request.to_vec(), limit))
                .map_err(|failure| failure.to_string())?;
        self.server = Some(server);
        Ok(answer)
    }
}

fn decode(answer: &[u8]) -> Result<Answer, String> {
    postcard::from_bytes(answer).map_err(|error| format!("the translator's answer is invalid: {error}"))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use gencl_program::protocol::{FromServer, write_message};

    use super::*;
    use crate::Unavailable;
    use crate::server::tests::Script;

    const LONG: Duration = Duration::from_secs(60);

    /// A translator with servers that are shell scripts, one after the other; counts them.
    fn scripted<'a>(
        scripts: &'a [Script],
        started: &'a Cell<usize>,
    ) -> Translator<impl Fn() -> Result<Server, Failure> + use<'a>> {
        Translator::new(|| {
            let script = &scripts[started.replace(started.get() + 1)];
            script.start()
        })
    }

    /// What a script says to answer.
    fn answers(script: &Script) {
        let mut bytes = Vec::new();
        write_message(&mut bytes, &FromServer::Translated(vec![7])).unwrap();
        script.write("answer", &bytes);
    }

    #[test]
    fn a_crash_is_a_reason_and_the_next_request_gets_a_new_server() {
        let crash = "cat greeting; head -c 8 >/dev/null; cat progress; echo broken >&2; cat crashed";
        // It reads the client's greeting and each request by their lengths: 4 bytes before 2, 4 before 3.
        let good = "cat greeting; head -c 6 >/dev/null; while head -c 1 | grep -q .; do head -c 6 >/dev/null; cat answer; done";
        let new = |name, body| Script::new(name, body);
        let scripts =
            [new("translator-crash-1", crash), new("translator-crash-2", crash), new("translator", good)];
        answers(&scripts[2]);
        let started = Cell::new(0);
        let mut translator = scripted(&scripts, &started);
        let reason = translator.ask(&[1], LONG).unwrap_err();
        assert!(reason.contains("crashed (signal 11)") && reason.contains("broken"), "{reason}");
        assert_eq!(translator.ask(&[1], LONG), Ok(vec![7]));
        assert_eq!(translator.ask(&[1], LONG), Ok(vec![7]));
        assert_eq!(started.get(), 3, "the one that answers is kept");
    }

    #[test]
    fn a_server_that_was_started_before_answers() {
        let scripts =
            [Script::new("translator-before", "cat greeting; head -c 13 >/dev/null; cat answer; cat left")];
        answers(&scripts[0]);
        let started = Cell::new(0);
        let mut translator = scripted(&scripts, &started);
        translator.warm_up();
        assert_eq!(started.get(), 1);
        assert_eq!(translator.ask(&[1], LONG), Ok(vec![7]));
        assert_eq!(started.get(), 1);
    }

    #[test]
    fn one_that_has_left_is_replaced() {
        let once = "cat greeting; head -c 13 >/dev/null; cat answer; cat left";
        let scripts = [Script::new("translator-1", once), Script::new("translator-2", once)];
        scripts.iter().for_each(answers);
        let started = Cell::new(0);
        let mut translator = scripted(&scripts, &started);
        assert_eq!(translator.ask(&[1], LONG), Ok(vec![7]));
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(translator.ask(&[1], LONG), Ok(vec![7]));
        assert_eq!(started.get(), 2);
    }

    #[test]
    fn without_compiler_there_is_a_reason() {
        let mut translator = Translator::new(|| Err(Unavailable("not there".into()).into()));
        assert_eq!(translator.ask(&[1], LONG), Err("not there".into()));
    }

    #[test]
    fn nonsense_is_no_answer() {
        assert!(decode(&[]).is_err() && decode(&[9, 9, 9]).is_err());
        let answer: Answer = Err("too difficult".into());
        assert_eq!(decode(&postcard::to_stdvec(&answer).unwrap()), Ok(answer));
    }
}
