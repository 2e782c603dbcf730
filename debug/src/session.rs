//! A debugging session: the launches of a program, one after the other, and where the user looks.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use gencl_program::debug_address::{self, Space};
use gencl_simulator::debug::protocol::{LaunchFacts, Place as MemoryPlace, Reply, Request};
use gencl_simulator::debug::stops::{Reason, Stops, Watch};

use crate::breakpoint::{Breakpoint, Spot};
use crate::checks;
use crate::expression::{self, Names};
use crate::info::{self, Info};
use crate::interrupt::Interrupter;
use crate::launch::Launch;
use crate::link::Link;
use crate::program::Program;
use crate::step::Step;
use crate::value::{Memory, Value};
use crate::work_item::{self, Lane};

/// A session.
pub struct Session {
    program: Program,
    /// The process whose launches are debugged.
    link: Option<Link>,
    /// Kernels, by process and number of the first one.
    programs: HashMap<(u32, u32), Rc<Info>>,
    /// The launch that is stopped.
    launch: Option<Launch>,
    /// Breakpoints and watchpoints, which stay from launch to launch.
    pub breakpoints: Vec<Breakpoint>,
    /// Interrupts what runs.
    pub interrupter: Interrupter,
}

/// Why a launch has stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// At a breakpoint, by its number.
    Breakpoint(u32),
    /// A watched variable has been written, by the breakpoint's number; backwards: is about to be.
    Watch(u32),
    /// A check fails: its finding.
    Check(String),
    /// After a step.
    Step,
    /// At the beginning of the launch.
    Begin,
    /// At the end of the launch.
    End,
    /// The work-item has ended.
    EndOfWorkItem,
    /// An instruction fails.
    Fault(String),
    /// It was interrupted.
    Interrupted,
    /// The program has ended.
    Exit,
}

impl Session {
    /// A session with a program that has been started.
    #[must_use]
    pub fn new(program: Program) -> Session {
        let (programs, launch, breakpoints) = (HashMap::new(), None, Vec::new());
        Session { program, link: None, programs, launch, breakpoints, interrupter: Interrupter::default() }
    }

    /// The program.
    pub fn program(&mut self) -> &mut Program {
        &mut self.program
    }

    fn link(&self) -> Result<&Link, String> {
        self.link.as_ref().ok_or_else(|| "no kernel is running".into())
    }

    /// The launch that is stopped.
    ///
    /// # Errors
    /// There is none.
    pub fn launch(&self) -> Result<&Launch, String> {
        self.launch.as_ref().ok_or_else(|| "no kernel is running".into())
    }

    /// As [`Session::launch`].
    ///
    /// # Errors
    /// There is none.
    pub fn launch_mut(&mut self) -> Result<&mut Launch, String> {
        self.launch.as_mut().ok_or_else(|| "no kernel is running".into())
    }

    /// Lets a launch run to its end, and waits for the next one. Returns whether there is one.
    ///
    /// # Errors
    /// The program cannot be understood.
    pub fn next_launch(&mut self) -> Result<bool, String> {
        if self.launch.take().is_some() {
            self.link()?.requests().send(&Request::Release)?;
        }
        let facts = loop {
            if let Some(link) = &self.link
                && let Some(facts) = link.launch()?
            {
                break facts;
            }
            // The first process, or the next one when this one has ended.
            self.link = self.program.connect()?;
            let Some(link) = &self.link else { return Ok(false) };
            self.interrupter.connect(link.requests());
        };
        let (file, info, kernel) = self.kernel(&facts)?;
        self.launch = Some(Launch {
            facts,
            file,
            info,
            kernel,
            time: 0,
            position: None,
            threads: Vec::new(),
            lane: Lane::default(),
            frame: 0,
            known: RefCell::default(),
        });
        self.ask(&Request::Go(0))?;
        Ok(true)
    }

    /// The program of a launch, its file, and the index of the kernel in it.
    fn kernel(&mut self, facts: &LaunchFacts) -> Result<(PathBuf, Rc<Info>, usize), String> {
        let folder = self.program.folder().join(facts.process.to_string()).join("programs");
        let files = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let numbers = files.filter_map(|file| file.ok()?.path().file_stem()?.to_str()?.parse::<u32>().ok());
        let first = numbers.filter(|first| *first <= facts.kernel).max();
        let first = first.ok_or_else(|| format!("kernel {} is not known", facts.kernel))?;
        let file = folder.join(format!("{first}.elf"));
        let info = match self.programs.get(&(facts.process, first)) {
            Some(info) => Rc::clone(info),
            None => {
                let failed = |error: String| format!("{}: {error}", file.display());
                let bytes = std::fs::read(&file).map_err(|error| failed(error.to_string()))?;
                let info = Rc::new(info::read(&bytes).map_err(failed)?);
                self.programs.insert((facts.process, first), Rc::clone(&info));
                info
            }
        };
        let kernel = (facts.kernel - first) as usize;
        if kernel >= info.kernels.len() {
            return Err(format!("kernel {} is not known", facts.kernel));
        }
        Ok((file, info, kernel))
    }

    /// Has the launch stop somewhere else; the threads are those of there.
    fn ask(&mut self, request: &Request) -> Result<Reason, String> {
        let Reply::Stopped { time, reason, position } = self.link()?.ask(request)? else {
            return Err("the program does not tell where it has stopped".into());
        };
        let Reply::Threads(threads) = self.link()?.ask(&Request::Threads)? else {
            return Err("the program does not tell its threads".into());
        };
        let launch = self.launch_mut()?;
        (launch.time, launch.position, launch.threads, launch.frame) = (time, position, threads, 0);
        launch.known.borrow_mut().clear();
        // At the end, the last work-group's memory is still there.
        if let Some(position) = position.or(launch.threads.first().map(|thread| thread.position)) {
            launch.look_at(position);
        }
        Ok(reason)
    }

    /// Goes to a time of the launch.
    ///
    /// # Errors
    /// The program has ended.
    pub fn go(&mut self, time: u64) -> Result<Stop, String> {
        let reason = self.ask(&Request::Go(time))?;
        Ok(match reason {
            Reason::Time => Stop::Step,
            other => self.stop(other, &[]),
        })
    }

    /// Runs to the next breakpoint, or the end of the launch, or backwards to the one before, or the beginning.
    ///
    /// # Errors
    /// A breakpoint that cannot be evaluated; the program has ended.
    pub fn resume(&mut self, back: bool) -> Result<Stop, String> {
        self.run(back, Stops::default())
    }

    /// Runs to a breakpoint of this launch or of a later one, or until the program ends.
    ///
    /// # Errors
    /// As [`Session::resume`].
    pub fn run_on(&mut self) -> Result<Stop, String> {
        loop {
            if self.launch.is_some() {
                match self.resume(false)? {
                    Stop::End => {}
                    other => return Ok(other),
                }
            }
            if !self.next_launch()? {
                return Ok(Stop::Exit);
            }
            if self.interrupter.take() {
                return Ok(Stop::Interrupted);
            }
        }
    }

    /// Runs to a stop of these or at a breakpoint, whose condition holds.
    fn run(&mut self, back: bool, own: Stops) -> Result<Stop, String> {
        let launch = self.launch()?;
        let mut stops = own;
        let own_points = stops.points.len();
        let mut numbers = vec![None; own_points];
        let mut watches = Vec::new();
        for (index, breakpoint) in self.breakpoints.iter().enumerate().filter(|(_, one)| one.is_enabled) {
            for point in breakpoint.points(launch)? {
                stops.points.push(point);
                numbers.push(Some(index));
            }
            for watch in breakpoint.watches(launch) {
                stops.watches.push(watch);
                watches.push(index);
            }
        }
        loop {
            let stops = stops.clone();
            let request = if back { Request::Back(stops) } else { Request::Run(stops) };
            let reason = self.ask(&request)?;
            let index = match reason {
                Reason::Point(point) => numbers[point],
                Reason::Watch(watch) => Some(watches[watch]),
                _ => None,
            };
            if let Some(index) = index {
                if let Spot::Check = self.breakpoints[index].spot {
                    if let Some(finding) = self.finding(back)? {
                        return Ok(Stop::Check(finding));
                    }
                } else if self.holds(index)? {
                    let breakpoint = &self.breakpoints[index];
                    let is_watch = matches!(reason, Reason::Watch(_));
                    return Ok(if is_watch {
                        Stop::Watch(breakpoint.number)
                    } else {
                        Stop::Breakpoint(breakpoint.number)
                    });
                }
                if self.interrupter.take() {
                    return Ok(Stop::Interrupted);
                }
                continue;
            }
            return Ok(self.stop(reason, &numbers));
        }
    }

    /// What the check finds whose record begins with the last instruction, or with the next one if `back`; none if it is no
    /// fault. The first work-item that it concerns is looked at.
    fn finding(&mut self, back: bool) -> Result<Option<String>, String> {
        let now = self.launch()?.time;
        let before = if back { now } else { now.saturating_sub(1) };
        self.ask(&Request::Go(before))?;
        let begin = checks::next_record(self.launch()?, self)?;
        self.ask(&Request::Go(before + 1))?;
        let records = begin..checks::next_record(self.launch()?, self)?;
        self.ask(&Request::Run(Stops { watches: vec![checks::completion(&records)], ..Stops::default() }))?;
        let finding = checks::finding(self.launch()?, self, &records)?;
        self.ask(&Request::Go(now))?;
        let Some(finding) = finding else { return Ok(None) };
        let launch = self.launch_mut()?;
        launch.lane = work_item::find(&launch.facts, finding.work_item.map(u64::from))?;
        Ok(Some(finding.to_string()))
    }

    /// Whether a breakpoint's condition holds for a lane that is there; the first one is looked at then.
    fn holds(&mut self, index: usize) -> Result<bool, String> {
        let breakpoint = &self.breakpoints[index];
        let launch = self.launch()?;
        let Some(position) = launch.position else { return Ok(true) };
        let only = breakpoint.lane(launch)?;
        let Some(condition) = breakpoint.condition.clone() else {
            if let Some(lane) = only {
                self.launch_mut()?.lane = lane;
            }
            return Ok(true);
        };
        let before = launch.lane;
        let lanes = (0..launch.facts.lanes).filter(|lane| position.enabled >> lane & 1 != 0);
        let lanes = lanes.map(|lane| Lane { group: position.group, thread: position.thread, lane });
        for lane in lanes.filter(|lane| only.is_none_or(|only| only == *lane)).collect::<Vec<_>>() {
            self.launch_mut()?.lane = lane;
            let value = self.evaluate(&condition)?;
            let launch = self.launch()?;
            if value.scalar(&launch.info, self)?.is_true() {
                return Ok(true);
            }
        }
        self.launch_mut()?.lane = before;
        Ok(false)
    }

    fn stop(&self, reason: Reason, numbers: &[Option<usize>]) -> Stop {
        match reason {
            Reason::Begin => Stop::Begin,
            Reason::End => Stop::End,
            Reason::EndOfThread => Stop::EndOfWorkItem,
            Reason::Fault(text) => Stop::Fault(text),
            Reason::Interrupted => {
                // It has happened.
                let _ = self.interrupter.take();
                Stop::Interrupted
            }
            Reason::Cancelled => Stop::Fault("the launch is given up".into()),
            Reason::Point(point) => match numbers.get(point).copied().flatten() {
                Some(index) => Stop::Breakpoint(self.breakpoints[index].number),
                None => Stop::Step,
            },
            Reason::Watch(_) | Reason::Time => Stop::Step,
        }
    }

    /// Steps the work-item that the user looks at.
    ///
    /// # Errors
    /// It has ended; the program has.
    pub fn step(&mut self, step: Step) -> Result<Stop, String> {
        let launch = self.launch()?;
        let offset = launch.offset(launch.lane).ok_or("the work-item is at its end")?;
        let depth = launch.kernel().frames(offset).len();
        let code = launch.kernel().staying(step, offset, depth);
        self.leave(code)
    }

    /// Runs until the work-item that the user looks at is outside of some code.
    ///
    /// # Errors
    /// The program has ended.
    pub fn leave(&mut self, code: Vec<Range<u32>>) -> Result<Stop, String> {
        let lane = self.launch()?.lane;
        let point = lane.outside(code);
        let end_of = Some((lane.group, lane.thread));
        let stop = self.run(false, Stops { points: vec![point], end_of, ..Stops::default() })?;
        if stop == Stop::Step {
            self.launch_mut()?.lane = lane;
        }
        Ok(stop)
    }

    /// Steps the work-item that the user looks at backwards: to the beginning of the line before.
    ///
    /// # Errors
    /// It has ended; the program has.
    pub fn step_back(&mut self, step: Step) -> Result<Stop, String> {
        let launch = self.launch()?;
        let (lane, now) = (launch.lane, launch.time);
        let depth = launch.offset(lane).map_or(1, |offset| launch.kernel().frames(offset).len());
        let back = |code, outside| {
            let mut point = lane.outside(code);
            point.outside = outside;
            Stops { points: vec![point], ..Stops::default() }
        };
        if self.ask(&Request::Back(back(Vec::new(), true)))? == Reason::Begin {
            self.go(now)?;
            self.launch_mut()?.lane = lane;
            return Ok(Stop::Begin);
        }
        self.launch_mut()?.lane = lane;
        if step == Step::Instruction {
            return Ok(Stop::Step);
        }
        if step == Step::Out {
            // The caller, at the call.
            let launch = self.launch()?;
            let offset = launch.offset(lane).ok_or("the work-item is at its end")?;
            let code = launch.kernel().staying(Step::Out, offset, depth);
            if self.ask(&Request::Back(back(code, true)))? == Reason::Begin {
                return Ok(Stop::Begin);
            }
        }
        let launch = self.launch()?;
        let offset = launch.position.map_or(0, |position| position.offset);
        let frames = launch.kernel().frames(offset).len();
        let depth = if step == Step::Over { depth.min(frames) } else { frames };
        let step = if step == Step::Into { Step::Into } else { Step::Over };
        let code = launch.kernel().staying(step, offset, depth);
        let before = self.launch()?.time;
        self.ask(&Request::Back(back(code.clone(), true)))?;
        self.ask(&Request::Run(Stops { until: Some(before), ..back(code, false) }))?;
        self.launch_mut()?.lane = lane;
        Ok(Stop::Step)
    }

    /// Goes back to the last write of an expression's value, before it is written.
    ///
    /// # Errors
    /// The expression is not in memory; it was not written before.
    pub fn last_write(&mut self, text: &str) -> Result<Stop, String> {
        let value = self.evaluate(text)?;
        let watch = self.watch_of(&value)?;
        let (lane, now) = (self.launch()?.lane, self.launch()?.time);
        match self.ask(&Request::Back(Stops { watches: watch, ..Stops::default() }))? {
            Reason::Watch(_) => Ok(Stop::Step),
            Reason::Begin => {
                self.go(now)?;
                self.launch_mut()?.lane = lane;
                Err(format!("the launch has not written {text} before"))
            }
            other => Ok(self.stop(other, &[])),
        }
    }

    /// The memory of a value, to watch it.
    ///
    /// # Errors
    /// It is not in memory.
    pub fn watch_of(&self, value: &Value) -> Result<Vec<Watch>, String> {
        self.watch(value.address()?, value.size(&self.launch()?.info) as usize)
    }

    /// The memory of bytes at an address, to watch it.
    ///
    /// # Errors
    /// There is none.
    pub fn watch(&self, address: u64, bytes: usize) -> Result<Vec<Watch>, String> {
        let launch = self.launch()?;
        let local = (debug_address::split(address).0 == Space::Local).then_some(launch.lane.group);
        let places = launch.places(address, bytes)?.into_iter();
        Ok(places
            .map(|place| Watch { local, bytes: place.address..place.address + u64::from(place.bytes) })
            .collect())
    }

    /// Looks at another work-item.
    ///
    /// # Errors
    /// There is none; it is in another work-group, which is not being executed.
    pub fn select(&mut self, lane: Lane) -> Result<(), String> {
        let launch = self.launch_mut()?;
        if launch.thread(lane).is_none() {
            let groups = "work-groups are executed one after the other: a breakpoint can stop in it";
            return Err(format!(
                "work-group {} is not being executed; {groups}",
                work_item::text(lane.group)
            ));
        }
        (launch.lane, launch.frame) = (lane, 0);
        Ok(())
    }

    /// The value of an expression, for the work-item and in the frame that the user looks at.
    ///
    /// # Errors
    /// It has no value there.
    pub fn evaluate(&self, text: &str) -> Result<Value, String> {
        expression::evaluate(text, &self.launch()?.info, self, self)
    }

    /// Its text.
    ///
    /// # Errors
    /// It has no value there.
    pub fn print(&self, text: &str) -> Result<String, String> {
        let value = self.evaluate(text)?;
        Ok(value.text(&self.launch()?.info, self))
    }

    /// General and flag registers of the thread that the user looks at.
    ///
    /// # Errors
    /// The program has ended.
    pub fn registers(&self) -> Result<(Vec<u8>, u64), String> {
        match self.link()?.ask(&Request::Registers(self.launch()?.lane.thread))? {
            Reply::Registers { general, flags } => Ok((general, flags)),
            _ => Err("the program does not tell its registers".into()),
        }
    }

    /// The text of instructions at offsets.
    ///
    /// # Errors
    /// The program has ended.
    pub fn instructions(&self, offsets: Vec<u32>) -> Result<Vec<String>, String> {
        match self.link()?.ask(&Request::Text(offsets))? {
            Reply::Text(texts) => Ok(texts),
            _ => Err("the program does not tell its instructions".into()),
        }
    }
}

impl Memory for Session {
    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, String> {
        let launch = self.launch()?;
        let places = launch.places(address, bytes)?;
        let known = |place: &MemoryPlace| (place.local, place.address, place.bytes);
        let missing: Vec<_> = {
            let cache = launch.known.borrow();
            places.iter().filter(|place| !cache.contains_key(&known(place))).copied().collect()
        };
        if !missing.is_empty() {
            let Reply::Bytes(all) = self.link()?.ask(&Request::Read(missing.clone()))? else {
                return Err("the program does not tell its memory".into());
            };
            let mut cache = launch.known.borrow_mut();
            for (place, bytes) in missing.iter().zip(all) {
                let bytes = bytes.ok_or_else(|| format!("there is no memory at {address:#x}"))?;
                cache.insert(known(place), bytes);
            }
        }
        let cache = launch.known.borrow();
        Ok(places.iter().filter_map(|place| cache.get(&known(place))).flatten().copied().collect())
    }
}

impl Names for Session {
    fn variable(&self, name: &str) -> Result<Value, String> {
        let launch = self.launch()?;
        let own = launch.variables(launch.frame);
        let mut all = own.into_iter().chain(&launch.info.variables);
        if let Some(variable) = all.find(|variable| variable.name == name) {
            return match (variable.address, variable.ty) {
                (Some(address), Some(ty)) => Ok(Value::Variable { ty, address }),
                _ => Err(format!("{name} has no place here")),
            };
        }
        let kernel = &launch.kernel().kernel;
        let argument = kernel.arguments.iter().position(|argument| argument.name == name);
        let argument = argument.and_then(|argument| launch.argument(argument as u32));
        argument
            .map(Value::Integer)
            .ok_or_else(|| format!("there is no {name} here, or it was optimised away"))
    }

    fn call(&self, function: &str, argument: i128) -> Result<Value, String> {
        let launch = self.launch()?;
        let dimension = usize::try_from(argument).map_err(|_| "a dimension is 0, 1 or 2")?;
        let value = work_item::function(&launch.facts, launch.lane, function, dimension);
        value.map(|value| Value::Integer(value.into())).ok_or_else(|| format!("{function} cannot be called"))
    }
}
