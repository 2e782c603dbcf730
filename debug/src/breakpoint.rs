//! Breakpoints and watchpoints.

use gencl_simulator::debug::stops::{Point, Watch};

use crate::checks;
use crate::info::{Info, KernelInfo};
use crate::launch::Launch;
use crate::work_item::{self, Lane};

/// A breakpoint or watchpoint.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number, from 1.
    pub number: u32,
    /// Where it stops.
    pub spot: Spot,
    /// Only the work-item with this global id.
    pub work_item: Option<[u64; 3]>,
    /// An expression that has to be true.
    pub condition: Option<String>,
    /// Whether it stops.
    pub is_enabled: bool,
}

/// Where a breakpoint stops.
#[derive(Clone, Debug)]
pub enum Spot {
    /// At a line.
    Line {
        /// Only in this kernel.
        kernel: Option<String>,
        /// Only in this file.
        file: Option<String>,
        /// From 1.
        line: u32,
    },
    /// At an instruction.
    Instruction {
        /// The kernel.
        kernel: String,
        /// Bytes from its first instruction.
        offset: u32,
    },
    /// At the beginning of a kernel.
    Kernel(String),
    /// When bytes are written.
    Watch {
        /// The expression.
        text: String,
        /// The launch in which it is in these bytes, by its number.
        launch: u32,
        /// The bytes.
        bytes: Vec<Watch>,
    },
    /// Where a check fails.
    Check,
}

impl Breakpoint {
    /// One for all work-items, without a condition.
    #[must_use]
    pub fn new(number: u32, spot: Spot) -> Breakpoint {
        Breakpoint { number, spot, work_item: None, condition: None, is_enabled: true }
    }

    /// Its places in the code of a launch.
    ///
    /// # Errors
    /// Its work-item is in no work-group of the launch.
    pub fn points(&self, launch: &Launch) -> Result<Vec<Point>, String> {
        let kernel = launch.kernel();
        let offsets = match &self.spot {
            Spot::Line { kernel: only, file, line } => {
                if only.as_ref().is_some_and(|only| *only != kernel.kernel.name) {
                    return Ok(Vec::new());
                }
                lines(&launch.info, kernel, file.as_deref(), *line)
            }
            Spot::Instruction { kernel: name, offset } if *name == kernel.kernel.name => vec![*offset],
            Spot::Kernel(name) if *name == kernel.kernel.name => vec![kernel.begin()],
            _ => return Ok(Vec::new()),
        };
        let lane = match self.lane(launch) {
            Ok(lane) => lane,
            // Other launches may have it.
            Err(_) => return Ok(Vec::new()),
        };
        let points = offsets.into_iter().map(|offset| Point {
            code: std::iter::once(offset..offset + 1).collect(),
            outside: false,
            group: lane.map(|lane| lane.group),
            thread: lane.map(|lane| lane.thread),
            lane: lane.map(|lane| lane.lane),
        });
        Ok(points.collect())
    }

    /// The lane of its work-item in a launch, if it is for one only.
    ///
    /// # Errors
    /// There is no such work-item.
    pub fn lane(&self, launch: &Launch) -> Result<Option<Lane>, String> {
        self.work_item.map(|global| work_item::find(&launch.facts, global)).transpose()
    }

    /// What it watches in a launch.
    #[must_use]
    pub fn watches(&self, launch: &Launch) -> Vec<Watch> {
        match &self.spot {
            Spot::Watch { launch: number, bytes, .. } if *number == launch.facts.launch => bytes.clone(),
            Spot::Check => checks::counter(launch).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// The offsets of a line in a kernel.
fn lines(info: &Info, kernel: &KernelInfo, file: Option<&str>, line: u32) -> Vec<u32> {
    let files = info.files.iter().enumerate().filter(|(_, known)| file.is_none_or(|file| known.is(file)));
    let mut offsets: Vec<_> = files.flat_map(|(index, _)| kernel.offsets_of(index, line)).collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

impl Lane {
    /// The lane outside of some code.
    #[must_use]
    pub fn outside(self, code: Vec<std::ops::Range<u32>>) -> Point {
        let Lane { group, thread, lane } = self;
        Point { code, outside: true, group: Some(group), thread: Some(thread), lane: Some(lane) }
    }
}

impl KernelInfo {
    /// The offset of the first instruction that belongs to a statement: what is before prepares the thread.
    fn begin(&self) -> u32 {
        let first = self.rows.first();
        let after = self.rows.iter().find(|row| first.is_none_or(|first| row.place.line != first.place.line));
        after.map_or(0, |row| row.offset)
    }
}
