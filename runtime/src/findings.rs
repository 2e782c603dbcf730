//! What is found in kernels and in calls of the API (`GENCL_DEBUG=check`): printed, or written for `gencl-check`.
//!
//! With `check-output=FOLDER`, a process appends a line of JSON, a [`Told`], to `FOLDER/PID.jsonl` for each site whose
//! check failed in a launch, when that has ended, and for each fault in a call: a process that is killed leaves what was
//! found.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gencl_program::debug::{self, Debug};
use gencl_program::finding::{Finding, Place};
use gencl_program::found::{Found, Told};
use gencl_program::misuse::{Misuse, MisuseKind, OtherCall};
use gencl_program::report;

use crate::calls::Call;
use crate::json_lines::{About, JsonLines};
use crate::sync::Mutex;

/// Of some hundred megabytes at most.
const ABOUT: About = About {
    subject: "check",
    what: "the file of findings",
    lacks: "counts lack later launches",
    most: 200_000,
};

/// Where findings go.
enum Output {
    /// Each place once: by kernel or function, kind, text of faults in calls, and place.
    Terminal(BTreeSet<(String, &'static str, String, Vec<Place>)>),
    /// The file.
    File(JsonLines),
    /// It cannot be written.
    Nowhere,
}

impl Output {
    fn new() -> Self {
        let (debug, _) = Debug::from_environment();
        let Some(folder) = debug.value(debug::CHECK_OUTPUT) else { return Self::Terminal(BTreeSet::new()) };
        let path = PathBuf::from(folder).join(format!("{}.jsonl", std::process::id()));
        match Self::open(&path) {
            Ok(file) => Self::File(file),
            Err(error) => {
                report::once("check", &format!("no findings are written: {}: {error}", path.display()));
                Self::Nowhere
            }
        }
    }

    fn open(path: &Path) -> std::io::Result<JsonLines> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        JsonLines::open(path, ABOUT)
    }

    /// The output of the process.
    fn get() -> &'static Mutex<Self> {
        static OUTPUT: OnceLock<Mutex<Output>> = OnceLock::new();
        OUTPUT.get_or_init(|| Mutex::new(Self::new()))
    }

    fn put(&mut self, found: &Found) {
        match self {
            Self::Terminal(known) => {
                let text = if let Found::Calls(misuse) = found { misuse.text.clone() } else { String::new() };
                if known.insert((found.subject().to_owned(), found.kind(), text, found.places().to_vec())) {
                    // One write, so that findings of several threads do not mix. Errors cannot be reported.
                    let _ = std::io::stderr().write_all(format!("gencl: {found}\n").as_bytes());
                }
            }
            Self::File(file) => file.append(&Told::from(found)),
            Self::Nowhere => {}
        }
    }
}

/// Reports what a launch has found.
pub(crate) fn report(findings: Vec<Finding>) {
    if !findings.is_empty() {
        let mut output = Output::get().lock();
        findings.into_iter().for_each(|finding| output.put(&Found::Kernel(finding)));
    }
}

/// A fault in a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// What it is.
    pub kind: MisuseKind,
    /// The text, one line.
    pub text: String,
    /// The call.
    pub call: Call,
    /// Another one that belongs to it, and what it did.
    pub other: Option<(String, Call)>,
}

impl Fault {
    /// As it is reported.
    fn found(&self, count: u64) -> Found {
        let other = |(text, call): &(String, Call)| OtherCall { text: text.clone(), places: call.places() };
        Found::Calls(Misuse {
            misuse: self.kind,
            call: self.call.function.to_owned(),
            text: self.text.clone(),
            places: self.call.places(),
            other: self.other.as_ref().map(other),
            count,
        })
    }
}

/// Faults that were reported, with how often they have happened since.
static REPEATED: Mutex<Option<HashMap<Fault, u64>>> = Mutex::new(None);

/// Reports a fault in calls the first time that it happens.
pub fn fault(fault: Fault) {
    let mut repeated = REPEATED.lock();
    if let Some(count) = repeated.get_or_insert_default().get_mut(&fault) {
        *count += 1;
        return;
    }
    let found = fault.found(1);
    repeated.get_or_insert_default().insert(fault, 0);
    drop(repeated);
    Output::get().lock().put(&found);
}

/// Reports how often faults in calls have happened since the first time, when the process ends.
pub fn finish() {
    let repeated = REPEATED.lock().take().unwrap_or_default();
    let mut output = Output::get().lock();
    for (fault, count) in repeated.iter().filter(|(_, count)| **count > 0) {
        output.put(&fault.found(*count));
    }
}
