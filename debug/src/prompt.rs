//! The prompt: commands as gdb has them, and those that a GPU needs beside them.

use std::io::{BufRead, Write};

use crate::breakpoint::{Breakpoint, Spot};
use crate::info::Place;
use crate::launch::Launch;
use crate::session::{Session, Stop};
use crate::step::Step;
use crate::work_item::{self, Lane};

/// A command.
struct Command {
    /// Its name, and shorter ones.
    names: &'static [&'static str],
    /// What it takes.
    takes: &'static str,
    /// What it does.
    help: &'static str,
    run: fn(&mut Prompt, &str) -> Outcome,
}

type Outcome = Result<(), String>;

const fn command(
    names: &'static [&'static str],
    takes: &'static str,
    help: &'static str,
    run: fn(&mut Prompt, &str) -> Outcome,
) -> Command {
    Command { names, takes, help, run }
}

const COMMANDS: &[Command] = &[
    command(
        &["break", "b"],
        "[KERNEL:|FILE:]LINE, KERNEL or KERNEL:*OFFSET, [work-item X[,Y[,Z]]] [if CONDITION]",
        "stops at a line, the beginning of a kernel, or an instruction",
        Prompt::set_breakpoint,
    ),
    command(&["watch"], "EXPRESSION", "stops when its bytes have been written", Prompt::watch),
    command(&["catch"], "", "stops where a check fails, in kernels that have some (--check)", |prompt, _| {
        prompt.add(Spot::Check, None, None)
    }),
    command(&["delete", "d"], "[NUMBER]", "deletes a breakpoint, or all", Prompt::delete),
    command(&["breakpoints"], "", "lists breakpoints", |prompt, _| prompt.list_breakpoints()),
    command(&["continue", "c"], "", "runs to the next breakpoint, or until Ctrl-C", |prompt, _| {
        prompt.run_on()
    }),
    command(&["step", "s"], "", "to another line, also of a function that is called", |p, _| {
        p.step(Step::Into)
    }),
    command(&["next", "n"], "", "to another line of this function", |p, _| p.step(Step::Over)),
    command(&["finish"], "", "to the function that has called this one", |p, _| p.step(Step::Out)),
    command(&["stepi", "si"], "", "executes an instruction", |p, _| p.step(Step::Instruction)),
    command(&["end"], "", "runs to the end of the launch, past breakpoints", |p, _| p.go(u64::MAX)),
    command(
        &["reverse-continue", "rc"],
        "",
        "back to the last breakpoint, or the launch's beginning",
        |p, _| {
            let stop = p.session.resume(true)?;
            p.tell(&stop)
        },
    ),
    command(&["reverse-step", "rs"], "", "back to the line before", |p, _| p.step_back(Step::Into)),
    command(&["reverse-next", "rn"], "", "back to the line before of this function", |p, _| {
        p.step_back(Step::Over)
    }),
    command(&["reverse-finish", "rf"], "", "back to the call of this function", |p, _| {
        p.step_back(Step::Out)
    }),
    command(&["reverse-stepi", "rsi"], "", "back by an instruction", |p, _| p.step_back(Step::Instruction)),
    command(&["last-write", "lw"], "EXPRESSION", "back to where its bytes were written last", |p, text| {
        let stop = p.session.last_write(text)?;
        p.tell(&stop)
    }),
    command(&["time"], "[NUMBER]", "tells the time in instructions, or goes to one", |p, text| {
        if text.is_empty() {
            let time = p.session.launch()?.time;
            return p.print(format_args!("{time}\n"));
        }
        let time = text.parse().map_err(|_| format!("{text} is no time"))?;
        p.go(time)
    }),
    command(&["print", "p"], "EXPRESSION", "prints a value", |prompt, text| {
        let value = prompt.session.print(text)?;
        prompt.print(format_args!("{text} = {value}\n"))
    }),
    command(&["locals", "l"], "", "prints the variables of the frame", |prompt, _| prompt.locals()),
    command(&["backtrace", "bt"], "", "lists the calls that are being executed", |prompt, _| {
        prompt.backtrace()
    }),
    command(&["frame", "f"], "NUMBER", "looks at another of these calls", Prompt::frame),
    command(&["list"], "[LINE]", "prints lines of the source", Prompt::list),
    command(&["work-item", "w"], "X[,Y[,Z]]", "looks at another work-item of the work-group", |p, text| {
        let lane = work_item::find(&p.session.launch()?.facts, ids(text)?)?;
        p.select(lane)
    }),
    command(&["lane"], "NUMBER", "looks at another lane of the thread", |prompt, text| {
        let lane = prompt.session.launch()?.lane;
        prompt.select(Lane { lane: number(text)?, ..lane })
    }),
    command(&["thread", "t"], "NUMBER", "looks at another thread of the work-group", |prompt, text| {
        let lane = prompt.session.launch()?.lane;
        prompt.select(Lane { thread: number(text)?, lane: 0, ..lane })
    }),
    command(&["threads"], "", "lists the threads of the work-group, with their enabled lanes", |p, _| {
        p.threads()
    }),
    command(&["lanes"], "", "lists the lanes of the thread, and where each is", |prompt, _| prompt.lanes()),
    command(&["launch"], "", "describes the launch", |prompt, _| prompt.launch()),
    command(&["registers"], "", "prints the registers of the thread", |prompt, _| prompt.registers()),
    command(&["disassemble", "x"], "", "prints the next instructions", |prompt, _| prompt.disassemble()),
    command(&["help", "h"], "", "lists the commands", |prompt, _| {
        for Command { names, takes, help, .. } in COMMANDS {
            prompt.print(format_args!("{} {takes}\n    {help}\n", names.join(", ")))?;
        }
        Ok(())
    }),
    command(&["quit", "q"], "", "ends the program", |prompt, _| {
        prompt.is_over = true;
        Ok(())
    }),
];

/// Lines before and after the current one that are listed.
const LISTED: u32 = 5;

/// Instructions that are listed.
const DISASSEMBLED: usize = 8;

/// A prompt.
pub struct Prompt {
    session: Session,
    out: Box<dyn Write>,
    is_over: bool,
    /// Whether the program has ended by itself.
    has_ended: bool,
    /// Number of the next breakpoint.
    next_number: u32,
}

impl Prompt {
    /// A prompt that prints to `out`.
    pub fn new(session: Session, out: Box<dyn Write>) -> Prompt {
        Prompt { session, out, is_over: false, has_ended: false, next_number: 1 }
    }

    /// Executes commands of lines until the program or the debugger ends. `ask` is printed before each, if given.
    ///
    /// # Errors
    /// Input or output that fails.
    pub fn run(&mut self, lines: &mut dyn BufRead, ask: Option<&str>) -> Outcome {
        let mut last = String::new();
        while !self.is_over {
            if let Some(ask) = ask {
                self.print(format_args!("{ask}"))?;
            }
            let mut line = String::new();
            if lines.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                return Ok(());
            }
            // An empty line repeats the last one, as in gdb, for a person.
            let line = line.trim();
            if !line.is_empty() {
                line.clone_into(&mut last);
            } else if ask.is_none() {
                continue;
            }
            self.execute(&last.clone())?;
        }
        Ok(())
    }

    /// Executes a command; what is wrong with it is printed.
    ///
    /// # Errors
    /// Output that fails.
    pub fn execute(&mut self, line: &str) -> Outcome {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || self.is_over {
            return Ok(());
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let Some(command) = COMMANDS.iter().find(|command| command.names.contains(&name)) else {
            return self.print(format_args!("there is no command {name}; help lists them\n"));
        };
        let _busy = self.session.interrupter.begin();
        match (command.run)(self, rest.trim()) {
            Ok(()) => Ok(()),
            Err(error) => self.print(format_args!("{error}\n")),
        }
    }

    /// The exit status of the program, if it has ended; 0 if the debugger ends it.
    #[must_use]
    pub fn finish(mut self) -> u8 {
        let program = self.session.program();
        if !self.has_ended {
            program.kill();
            return 0;
        }
        program.wait().map_or(0, gencl_commands::child::exit_code)
    }

    fn print(&mut self, text: std::fmt::Arguments<'_>) -> Outcome {
        self.out.write_fmt(text).and_then(|()| self.out.flush()).map_err(|error| error.to_string())
    }

    fn set_breakpoint(&mut self, text: &str) -> Outcome {
        let (text, condition) = match text.split_once(" if ") {
            Some((text, condition)) => (text, Some(condition.trim().to_owned())),
            None => (text, None),
        };
        let (place, work_item) = match text.split_once(" work-item ") {
            Some((place, id)) => (place.trim(), Some(ids(id)?)),
            None => (text.trim(), None),
        };
        let spot = match place.rsplit_once(':') {
            Some((kernel, offset)) if offset.starts_with('*') => {
                let digits = offset.trim_start_matches('*').trim_start_matches("0x");
                let offset = u32::from_str_radix(digits, 16).map_err(|_| format!("{offset} is no offset"))?;
                Spot::Instruction { kernel: kernel.to_owned(), offset }
            }
            Some((before, line)) => {
                let line = number(line)?;
                let is_file = before.contains(['.', '/', '<']);
                let (kernel, file) = if is_file { (None, Some(before)) } else { (Some(before), None) };
                Spot::Line { kernel: kernel.map(Into::into), file: file.map(Into::into), line }
            }
            None if place.starts_with(|c: char| c.is_ascii_digit()) => {
                Spot::Line { kernel: None, file: None, line: number(place)? }
            }
            None if place.is_empty() => return Err("a line or a kernel is missing".into()),
            None => Spot::Kernel(place.to_owned()),
        };
        self.add(spot, work_item, condition)
    }

    fn watch(&mut self, text: &str) -> Outcome {
        let value = self.session.evaluate(text)?;
        let bytes = self.session.watch_of(&value)?;
        let launch = self.session.launch()?.facts.launch;
        self.add(Spot::Watch { text: text.to_owned(), launch, bytes }, None, None)
    }

    fn add(&mut self, spot: Spot, work_item: Option<[u64; 3]>, condition: Option<String>) -> Outcome {
        let breakpoint = Breakpoint { work_item, condition, ..Breakpoint::new(self.next_number, spot) };
        if let Ok(launch) = self.session.launch()
            && breakpoint.points(launch)?.is_empty()
            && breakpoint.watches(launch).is_empty()
        {
            let kernel = launch.kernel().kernel.name.clone();
            self.print(format_args!(
                "there is no such place in kernel {kernel}; other kernels may have it\n"
            ))?;
        }
        self.next_number += 1;
        let text = describe(&breakpoint);
        self.session.breakpoints.push(breakpoint);
        self.print(format_args!("{text}\n"))
    }

    fn delete(&mut self, text: &str) -> Outcome {
        if text.is_empty() {
            self.session.breakpoints.clear();
            return Ok(());
        }
        let number: u32 = number(text)?;
        let before = self.session.breakpoints.len();
        self.session.breakpoints.retain(|breakpoint| breakpoint.number != number);
        if self.session.breakpoints.len() == before {
            return Err(format!("there is no breakpoint {number}"));
        }
        Ok(())
    }

    fn list_breakpoints(&mut self) -> Outcome {
        let texts: Vec<_> = self.session.breakpoints.iter().map(describe).collect();
        texts.iter().try_for_each(|text| self.print(format_args!("{text}\n")))
    }

    /// Runs to a breakpoint of this launch or of a later one.
    fn run_on(&mut self) -> Outcome {
        let stop = self.session.run_on()?;
        (self.is_over, self.has_ended) = (stop == Stop::Exit, stop == Stop::Exit);
        self.tell(&stop)
    }

    /// Goes to a time, without a look at breakpoints.
    fn go(&mut self, time: u64) -> Outcome {
        let stop = self.session.go(time)?;
        self.tell(&stop)
    }

    fn step(&mut self, step: Step) -> Outcome {
        let stop = self.session.step(step)?;
        self.tell(&stop)
    }

    fn step_back(&mut self, step: Step) -> Outcome {
        let stop = self.session.step_back(step)?;
        self.tell(&stop)
    }

    fn select(&mut self, lane: Lane) -> Outcome {
        if lane.lane >= self.session.launch()?.facts.lanes {
            return Err(format!("there is no lane {}", lane.lane));
        }
        self.session.select(lane)?;
        self.tell(&Stop::Step)
    }

    /// Tells why the launch has stopped, and where.
    fn tell(&mut self, stop: &Stop) -> Outcome {
        let why = match stop {
            Stop::Breakpoint(number) => format!("breakpoint {number}, "),
            Stop::Watch(number) => {
                let found = self.session.breakpoints.iter().find(|one| one.number == *number);
                let text = match found.map(|one| &one.spot) {
                    Some(Spot::Watch { text, .. }) => text.clone(),
                    _ => String::new(),
                };
                let value = self.session.print(&text).unwrap_or_else(|error| format!("<{error}>"));
                format!("watchpoint {number}: {text} = {value}\n")
            }
            Stop::Check(finding) => format!("{finding}\n"),
            Stop::Step => String::new(),
            Stop::Begin => "at the beginning: nothing was executed before\n".into(),
            Stop::End => "at the end of the launch\n".into(),
            Stop::EndOfWorkItem => "the work-item has ended\n".into(),
            Stop::Fault(text) => format!("fault: {text}\n"),
            Stop::Interrupted => "interrupted\n".into(),
            Stop::Exit => return self.print(format_args!("the program has ended\n")),
        };
        let launch = self.session.launch()?;
        let place = match stop {
            Stop::End => String::new(),
            _ => place(launch),
        };
        self.print(format_args!("{why}{place}"))
    }

    fn locals(&mut self) -> Outcome {
        let launch = self.session.launch()?;
        let mut lines = String::new();
        for variable in launch.variables(launch.frame) {
            let value = self.session.print(&variable.name).unwrap_or_else(|error| format!("<{error}>"));
            lines += &format!("{} = {value}\n", variable.name);
        }
        if lines.is_empty() {
            // Without variables there are still the values of arguments.
            for (number, argument) in (0..).zip(&launch.kernel().kernel.arguments) {
                let value = launch.argument(number).map_or("<not here>".into(), |bits| format!("{bits:#x}"));
                lines += &format!("{} = {value}\n", argument.name);
            }
        }
        self.print(format_args!("{lines}"))
    }

    fn backtrace(&mut self) -> Outcome {
        let launch = self.session.launch()?;
        let mut lines = String::new();
        for (number, frame) in launch.frames()?.iter().enumerate() {
            let mark = if number == launch.frame { "*" } else { " " };
            lines += &format!("{mark}#{number} {} {}\n", frame.function, place_text(launch, frame.place));
        }
        self.print(format_args!("{lines}"))
    }

    fn frame(&mut self, text: &str) -> Outcome {
        let wanted: usize = number(text)?;
        let launch = self.session.launch_mut()?;
        if wanted >= launch.frames()?.len() {
            return Err(format!("there is no frame {wanted}"));
        }
        launch.frame = wanted;
        self.backtrace()
    }

    fn list(&mut self, text: &str) -> Outcome {
        let launch = self.session.launch()?;
        let place = launch.frames()?.get(launch.frame).and_then(|frame| frame.place);
        let place = place.ok_or("the instruction belongs to no line")?;
        let middle = if text.is_empty() { place.line } else { number(text)? };
        let lines: String = (middle.saturating_sub(LISTED).max(1)..=middle + LISTED)
            .filter_map(|line| {
                let text = source_line(launch, place.file, line)?;
                let mark = if line == place.line { ">" } else { " " };
                Some(format!("{line:5}{mark} {text}\n"))
            })
            .collect();
        self.print(format_args!("{lines}"))
    }

    fn threads(&mut self) -> Outcome {
        let launch = self.session.launch()?;
        let mut lines = String::new();
        for thread in &launch.threads {
            let number = thread.position.thread;
            let first = Lane { group: thread.position.group, thread: number, lane: 0 };
            let mark = if launch.lane.thread == number { "*" } else { " " };
            let what = match () {
                () if thread.ended => "has ended".to_owned(),
                () => {
                    let frames = launch.kernel().frames(thread.position.offset);
                    let waits = if thread.waits { ", waits at a barrier" } else { "" };
                    let enabled = enabled_lanes(launch, thread.position.enabled);
                    let place = place_text(launch, frames.first().and_then(|frame| frame.place));
                    format!("{place}, {enabled}{waits}")
                }
            };
            let id = work_item::text(work_item::global_id(&launch.facts, first));
            lines += &format!("{mark} thread {number}, work-items from {id}: {what}\n");
        }
        self.print(format_args!("{lines}"))
    }

    fn lanes(&mut self) -> Outcome {
        let launch = self.session.launch()?;
        let thread = launch.thread(launch.lane).ok_or("the work-group is not being executed")?;
        let mut lines = String::new();
        for (lane, place) in (0..).zip(&thread.lanes) {
            let at = Lane { lane, ..launch.lane };
            let mark = if lane == launch.lane.lane { "*" } else { " " };
            let enabled = if thread.position.enabled >> lane & 1 != 0 { "enabled" } else { "disabled" };
            let what = match place {
                Some(offset) => {
                    let place = launch.kernel().frames(*offset).first().and_then(|frame| frame.place);
                    format!("{enabled}, {}", place_text(launch, place))
                }
                None => "at its end, or not there".into(),
            };
            let id = work_item::text(work_item::global_id(&launch.facts, at));
            lines += &format!("{mark} lane {lane}, work-item {id}: {what}\n");
        }
        self.print(format_args!("{lines}"))
    }

    fn launch(&mut self) -> Outcome {
        let Launch { facts, time, .. } = self.session.launch()?;
        let (name, range) = (&self.session.launch()?.kernel().kernel.name, &facts.range);
        let text = format!(
            "launch {} of kernel {name}: {} work-items in work-groups of {}, {} lanes a thread; time {time}\n",
            facts.launch,
            work_item::text(range.global),
            work_item::text(range.local),
            facts.lanes,
        );
        self.print(format_args!("{text}"))
    }

    fn registers(&mut self) -> Outcome {
        let (general, flags) = self.session.registers()?;
        let mut lines = String::new();
        for (number, register) in general.chunks(32).enumerate() {
            let dwords = register.chunks(4).map(|dword| {
                let dword: [u8; 4] = dword.try_into().unwrap_or_default();
                format!("{:08x}", u32::from_le_bytes(dword))
            });
            lines += &format!("g{number:<3} {}\n", dwords.collect::<Vec<_>>().join(" "));
        }
        self.print(format_args!("{lines}f0   {:08x}\nf1   {:08x}\n", flags as u32, (flags >> 32) as u32))
    }

    fn disassemble(&mut self) -> Outcome {
        let launch = self.session.launch()?;
        let here = launch.offset(launch.lane).ok_or("the work-item is at its end")?;
        let end = launch.kernel().kernel.code.len() as u32;
        let offsets: Vec<u32> = (here..end).step_by(8).take(2 * DISASSEMBLED).collect();
        let texts = self.session.instructions(offsets.clone())?;
        let found = offsets.iter().zip(texts).filter(|(_, text)| !text.is_empty()).take(DISASSEMBLED);
        let lines: String = found.map(|(offset, text)| format!("{offset:#6x}  {text}\n")).collect();
        self.print(format_args!("{lines}"))
    }
}

fn describe(breakpoint: &Breakpoint) -> String {
    let place = match &breakpoint.spot {
        Spot::Line { kernel, file, line } => {
            let before = kernel.as_ref().or(file.as_ref()).map(|name| format!("{name}:"));
            format!("breakpoint {} at {}{line}", breakpoint.number, before.unwrap_or_default())
        }
        Spot::Instruction { kernel, offset } => {
            format!("breakpoint {} at {kernel}:*{offset:#x}", breakpoint.number)
        }
        Spot::Kernel(name) => format!("breakpoint {} at {name}", breakpoint.number),
        Spot::Watch { text, .. } => format!("watchpoint {}: {text}", breakpoint.number),
        Spot::Check => format!("breakpoint {} where checks fail", breakpoint.number),
    };
    let work_item = breakpoint.work_item.map(|id| format!(", work-item {}", work_item::text(id)));
    let condition = breakpoint.condition.as_ref().map(|condition| format!(", if {condition}"));
    place + &work_item.unwrap_or_default() + &condition.unwrap_or_default()
}

/// Where the work-item is that the user looks at, with the source line.
fn place(launch: &Launch) -> String {
    let id = work_item::text(work_item::global_id(&launch.facts, launch.lane));
    let frames = match launch.frames() {
        Ok(frames) => frames,
        Err(error) => return format!("work-item {id}: {error}\n"),
    };
    let Some(frame) = frames.get(launch.frame) else { return String::new() };
    let enabled = launch.thread(launch.lane).map_or(0, |thread| thread.position.enabled);
    let lanes = enabled_lanes(launch, enabled);
    let mut text =
        format!("{} {}, work-item {id}, {lanes}\n", frame.function, place_text(launch, frame.place));
    if let Some(place) = frame.place
        && let Some(line) = source_line(launch, place.file, place.line)
    {
        text += &format!("{:5}  {line}\n", place.line);
    }
    text
}

fn place_text(launch: &Launch, place: Option<Place>) -> String {
    match place.and_then(|place| Some((launch.info.files.get(place.file)?, place))) {
        Some((file, place)) => format!("({}:{}:{})", file.name, place.line, place.column),
        None => "(no line)".into(),
    }
}

fn source_line(launch: &Launch, file: usize, line: u32) -> Option<&str> {
    launch.info.files.get(file)?.text.as_ref()?.lines().nth(line.checked_sub(1)? as usize)
}

/// Which lanes are enabled, with a letter for each: `-` is one that is not.
fn enabled_lanes(launch: &Launch, enabled: u32) -> String {
    let lanes = (0..launch.facts.lanes).map(|lane| if enabled >> lane & 1 != 0 { '+' } else { '-' });
    format!("lanes {}", lanes.collect::<String>())
}

/// Reads a number.
fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is no number"))
}

/// Reads the id of a work-item, with up to three dimensions.
fn ids(text: &str) -> Result<[u64; 3], String> {
    let mut ids = [0; 3];
    let parts: Vec<_> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!("{text} has more than three dimensions"));
    }
    for (id, part) in ids.iter_mut().zip(parts) {
        *id = number(part)?;
    }
    Ok(ids)
}
