//! Reads what the processes of a program have written, and joins it to one report: the simulator's counts, and the
//! source locations in the programs' ELF files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gencl_program::{GEN_IR, Program, elf};
use gencl_simulator::statistics::report::{Frame, Kernel, LineInformation, Source, VERSION};
use gencl_simulator::statistics::{Report, live};
use sha2::{Digest, Sha256};

use crate::dwarf::{LineTable, Location};
use crate::names;
use crate::source::without_comments;
use crate::trace::{self, Trace};

/// The counts of a process.
pub const COUNTS: &str = "counts.json";
/// The folder with the programs that a process has built: `1.elf`, `2.elf` and so on.
const PROGRAMS: &str = "programs";
/// How DWARF names a source that has no file.
const UNNAMED_SOURCE: &str = "<source>";
/// Why a kernel has no lines: its binary is from a run without the profiler.
const WITHOUT_LINES: &str = "built without lines; if the program keeps binaries, clear its cache";

/// The entries of a folder in the order of the numbers in their names; none when the folder does not exist.
fn numbered(folder: &Path, number: impl Fn(&str) -> Option<u32>) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> =
        entries.filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path()))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// What the processes of a program have written.
pub struct Collected {
    /// The counts of all, with source locations; or why there are none.
    pub report: Result<Report, String>,
    /// The trace of each that has one.
    pub traces: Vec<Trace>,
    /// The kernels of all programs.
    pub kernels: Vec<gencl_program::Kernel>,
    /// There were simulated devices: without counts, there are no times of a GPU either.
    pub simulated: bool,
}

/// The counts of a process.
struct Counts {
    process: u32,
    report: Report,
}

/// The counts that processes have written to a folder: [`COUNTS`], with the process id behind it if it is not the first; or what a
/// process that did not exit by itself has left, which adds a sentence to `notes`.
fn counts(folder: &Path, notes: &mut Vec<String>) -> Result<(Vec<Counts>, bool), String> {
    let mut found = Vec::new();
    for file in numbered(folder, |name| match name.strip_prefix(COUNTS)? {
        "" => Some(0),
        pid => pid.strip_prefix('.')?.parse().ok(),
    }) {
        let report = Report::read(&file)?;
        found.push(Counts { process: report.launches.first().map_or(0, |launch| launch.process), report });
    }
    let left = live::left_behind(&folder.join(COUNTS));
    let simulated = !found.is_empty() || !left.is_empty();
    for (left, process) in left {
        let read = live::read(&left).map_err(|error| format!("{}: {error}", left.display()))?;
        notes.push(format!(
            "process {process} did not exit by itself: the counts are those of the launches that had ended"
        ));
        found.extend(read.map(|report| Counts { process, report }));
    }
    Ok((found, simulated))
}

/// Joins what a program's processes have written to a folder: each a folder with its process id as name, and the render
/// node files with counts.
///
/// # Errors
/// Files that cannot be read.
pub fn collect(folder: &Path) -> Result<Collected, String> {
    let (mut joined, mut traces, mut kernels) = (Joined::default(), Vec::new(), Vec::new());
    let (mut through_node, mut simulated) = counts(folder, &mut joined.report.notes)?;
    for process in numbered(folder, |name| name.parse().ok()) {
        let id = process.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or(0);
        traces.extend(Trace::read(&process, id)?);
        // A process without launches writes none, nor does one whose launches the render node counts.
        let (mut own, is_simulated) = counts(&process, &mut joined.report.notes)?;
        simulated |= is_simulated;
        for file in numbered(&process.join(PROGRAMS), |name| name.strip_suffix(".elf")?.parse().ok()) {
            let error = |why: String| format!("{}: {why}", file.display());
            let bytes = fs::read(&file).map_err(|why| error(why.to_string()))?;
            let first = file.file_stem().and_then(|name| name.to_str()?.parse().ok()).unwrap_or(0);
            for counts in through_node.iter_mut().chain(&mut own).filter(|counts| counts.process == id) {
                joined.locate(&bytes, first, &mut counts.report).map_err(error)?;
            }
            kernels.extend(elf::read(&bytes).map_err(|why| error(why.to_string()))?.kernels);
        }
        own.into_iter().for_each(|counts| joined.add(counts.report));
    }
    through_node.into_iter().for_each(|counts| joined.add(counts.report));
    let mut report = joined.finish();
    if let Ok(report) = &mut report {
        let missing = trace::join(&mut traces, report);
        report.notes.extend(missing);
        number_processes(report);
    }
    Ok(Collected { report, traces, kernels, simulated })
}

/// Numbers the processes of launches from 1, as profiles of the same program are to be the same.
fn number_processes(report: &mut Report) {
    let mut known = Vec::new();
    for launch in &mut report.launches {
        let index = known.iter().position(|process| *process == launch.process);
        let index = index.unwrap_or_else(|| {
            known.push(launch.process);
            known.len() - 1
        });
        launch.process = index as u32 + 1;
    }
}

/// The report of all processes.
#[derive(Default)]
struct Joined {
    report: Report,
    /// Index of each frame in the report.
    frames: BTreeMap<Frame, usize>,
    /// Index of each source in the report.
    sources: BTreeMap<Source, usize>,
    /// The name of each program, `N-HASH`, by its source without comments, its options and its first kernel.
    programs: BTreeMap<[String; 3], String>,
}

/// The first hexadecimal digits of a hash.
fn hash(bytes: &[u8], digits: usize) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>()[..digits].to_owned()
}

/// The text of a kernel's Gen IR, if the program has it.
fn gen_ir(program: &Program, kernel: &str) -> String {
    let section = program.debug.iter().find(|section| section.name == GEN_IR);
    let text = section.map_or(Cow::Borrowed(""), |section| String::from_utf8_lossy(&section.bytes));
    let head = format!("kernel {} ", serde_json::Value::from(kernel));
    let begin = text.find(&head).map_or("", |at| &text[at..]);
    begin.split_once("\nend\n").map_or("", |(text, _)| text).to_owned()
}

impl Joined {
    /// Adds names and source locations to the kernels of a report that are in a program, whose first kernel has a number in the
    /// process.
    fn locate(&mut self, elf: &[u8], first: u32, report: &mut Report) -> Result<(), String> {
        let program = elf::read(elf).map_err(|error| error.to_string())?;
        let lines = LineTable::read(elf)?;
        let text = lines.as_ref().and_then(|lines| lines.text(UNNAMED_SOURCE)).unwrap_or_default();
        let program_name = self.program_name(text, &program);
        for (number, compiled) in (first..).zip(&program.kernels) {
            let code = hash(&compiled.code, 16);
            // Launches without numbers are known by their code; the same code in two kernels counts for the first one.
            let same = |kernel: &&mut Kernel| {
                kernel.hash == code && kernel.name.is_empty() && [0, number].contains(&kernel.id)
            };
            for kernel in report.kernels.iter_mut().filter(same) {
                kernel.name.clone_from(&compiled.name);
                kernel.program.clone_from(&program_name);
                kernel.options.clone_from(&program.options);
                kernel.registers = compiled.statistics.registers;
                kernel.spill_bytes = compiled.spill_size;
                kernel.private_bytes = compiled.private_size;
                kernel.local_bytes = compiled.local_size;
                kernel.gen_ir = gen_ir(&program, &compiled.name);
                let Some(lines) = &lines else {
                    kernel.line_information = LineInformation::Missing(WITHOUT_LINES.to_owned());
                    continue;
                };
                kernel.line_information = LineInformation::Present;
                for instruction in &mut kernel.instructions {
                    let locations = lines.locations(&compiled.name, instruction.offset);
                    let frames = locations.into_iter().map(|at| self.frame(at, &program_name, lines));
                    instruction.frames = frames.collect();
                }
            }
        }
        Ok(())
    }

    /// The name of a program; of those with equal sources in several processes, that of the first.
    fn program_name(&mut self, text: &str, program: &Program) -> String {
        let code = without_comments(text);
        let hash = hash(code.as_bytes(), 8);
        let first = program.kernels.first().map_or("", |kernel| &kernel.name);
        let number = self.programs.len() + 1;
        let key = [code, program.options.clone(), first.to_owned()];
        self.programs.entry(key).or_insert_with(|| format!("{number}-{hash}")).clone()
    }

    /// The index of a location in the report's table.
    fn frame(&mut self, at: Location, program: &str, lines: &LineTable<'_>) -> usize {
        let text = lines.text(&at.file).map(str::to_owned);
        let unnamed = at.file == UNNAMED_SOURCE || at.file.ends_with(&format!("/{UNNAMED_SOURCE}"));
        let name = if unnamed { format!("{program}.cl") } else { at.file };
        let source = index(&mut self.sources, &mut self.report.sources, Source { name, text });
        let frame = Frame { function: at.function, source, line: at.line, column: at.column };
        index(&mut self.frames, &mut self.report.frames, frame)
    }

    /// Adds the report of a process.
    fn add(&mut self, mut report: Report) {
        if self.report.kernels.is_empty() {
            self.report.device = std::mem::take(&mut report.device);
            self.report.program = std::mem::take(&mut report.program);
            self.report.fast = report.fast;
        }
        let mut numbers = Vec::new();
        for kernel in report.kernels {
            let key = |of: &Kernel| (of.hash.clone(), of.simd_width, of.name.clone(), of.program.clone());
            let same = |known: &Kernel| key(known) == key(&kernel);
            let known = self.report.kernels.iter().position(same);
            numbers.push(known.unwrap_or(self.report.kernels.len()));
            match known {
                Some(index) => self.report.kernels[index].add(&kernel),
                None => self.report.kernels.push(kernel),
            }
        }
        for mut launch in report.launches {
            launch.kernel = numbers[launch.kernel];
            self.report.launches.push(launch);
        }
    }

    fn finish(mut self) -> Result<Report, String> {
        if self.report.launches.is_empty() {
            let notes = self.report.notes.join("; ");
            let none = "no launch of a kernel ended on a simulated device";
            return Err(if notes.is_empty() { none.to_owned() } else { format!("{none}; {notes}") });
        }
        self.report.version = VERSION;
        for kernel in &mut self.report.kernels {
            if kernel.line_information == LineInformation::Unknown {
                kernel.line_information =
                    LineInformation::Missing("of another driver, or of no program that was built".to_owned());
            }
        }
        names::name(&mut self.report);
        Ok(self.report)
    }
}

/// The index of an element in a list, at whose end it is added if it is new.
fn index<T: Ord + Clone>(known: &mut BTreeMap<T, usize>, list: &mut Vec<T>, element: T) -> usize {
    *known.entry(element).or_insert_with_key(|element| {
        list.push(element.clone());
        list.len() - 1
    })
}
