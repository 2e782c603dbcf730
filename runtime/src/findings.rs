//! What kernels' checks find (`GENCL_DEBUG=check`): printed, or written for `gencl-check`.
//!
//! With `check-output=FOLDER`, a process appends a line of JSON, a [`Told`], to `FOLDER/PID.jsonl` for each site whose
//! check failed in a launch, when that has ended: a process that is killed leaves what was found.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gencl_program::debug::{self, Debug};
use gencl_program::finding::{Finding, Place, Told};
use gencl_program::report;

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
    /// Each place once.
    Terminal(BTreeSet<(String, &'static str, Vec<Place>)>),
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

    fn put(&mut self, finding: &Finding) {
        match self {
            Self::Terminal(known) => {
                let key = (finding.kernel.clone(), finding.site.check.name(), finding.site.places.clone());
                if known.insert(key) {
                    // One write, so that findings of several threads do not mix. Errors cannot be reported.
                    let _ = std::io::stderr().write_all(format!("gencl: {finding}\n").as_bytes());
                }
            }
            Self::File(file) => file.append(&Told::from(finding)),
            Self::Nowhere => {}
        }
    }
}

/// Reports what a launch has found.
pub(crate) fn report(findings: &[Finding]) {
    static OUTPUT: OnceLock<Mutex<Output>> = OnceLock::new();
    if !findings.is_empty() {
        let mut output = OUTPUT.get_or_init(|| Mutex::new(Output::new())).lock();
        findings.iter().for_each(|finding| output.put(finding));
    }
}
