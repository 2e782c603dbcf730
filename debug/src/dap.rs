//! The Debug Adapter Protocol on standard input and output, for editors such as VS Code.
//!
//! Its threads are the work-items of the work-group that is being executed. A kernel whose source has no file is found by
//! its text, or sent to the editor.

use std::ffi::OsString;
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use gencl_commands::child;
use serde_json::{Value as Json, json};
use signal_hook::consts::SIGKILL;

use crate::breakpoint::{Breakpoint, Spot};
use crate::info::{Place, SourceFile};
use crate::interrupt::Interrupter;
use crate::program::Program;
use crate::session::{Session, Stop};
use crate::step::Step;
use crate::value::Value;
use crate::work_item::{self, Lane};

/// The functions of the language that tell ids and sizes.
const FUNCTIONS: &[&str] =
    &["get_global_id", "get_local_id", "get_group_id", "get_global_size", "get_local_size", "get_num_groups"];

/// The filter of exceptions for checks.
const CHECK: &str = "check";

/// Frames of a work-item, at most.
const FRAMES: u64 = 1 << 10;

/// What a reference of the protocol stands for, until the launch goes on.
enum Reference {
    /// The variables of a frame of a work-item.
    Frame(Lane, usize),
    /// Program-scope variables, for a work-item.
    Program(Lane),
    /// The ids of a work-item.
    Ids(Lane),
    /// The parts of a value, for a work-item.
    Parts(Lane, Value),
}

/// An adapter.
pub struct Adapter<'a> {
    out: &'a mut dyn Write,
    /// Number of the next message.
    sequence: u64,
    session: Option<Session>,
    interrupter: Interrupter,
    /// Those of sources before there is a program.
    breakpoints: Vec<Breakpoint>,
    next_number: u32,
    references: Vec<Reference>,
    /// Files of the editor that have breakpoints, with their texts.
    files: Vec<(String, String)>,
}

/// What a request has as its result, and what happens afterwards.
struct Answer {
    body: Json,
    then: Then,
}

/// What has a launch go on.
type Run = Box<dyn FnOnce(&mut Session) -> Result<Stop, String>>;

/// What happens after a request has been answered.
enum Then {
    Nothing,
    /// The editor may set breakpoints.
    Initialized,
    /// The launch goes on, until it stops.
    Go(Run),
    /// The program has ended.
    Ended,
    /// The adapter ends.
    Leave,
}

impl From<Json> for Answer {
    fn from(body: Json) -> Answer {
        Answer { body, then: Then::Nothing }
    }
}

impl<'a> Adapter<'a> {
    /// An adapter that writes to `out`.
    pub fn new(out: &'a mut dyn Write) -> Adapter<'a> {
        Adapter {
            out,
            sequence: 1,
            session: None,
            interrupter: Interrupter::default(),
            breakpoints: Vec::new(),
            next_number: 1,
            references: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Serves an editor until it disconnects.
    ///
    /// # Errors
    /// Input or output that fails, or is not of the protocol.
    pub fn run(&mut self, input: impl BufRead + Send + 'static) -> Result<(), String> {
        let messages = listen(input, self.interrupter.clone());
        while let Some(message) = messages.recv().unwrap_or(Ok(None))? {
            if message["type"] != "request" {
                continue;
            }
            let command = message["command"].as_str().unwrap_or_default().to_owned();
            let answer = self.answer(&command, &message["arguments"]);
            let (body, error, then) = match answer {
                Ok(Answer { body, then }) => (body, None, then),
                Err(error) => (Json::Null, Some(error), Then::Nothing),
            };
            let mut response = json!({
                "type": "response", "request_seq": message["seq"], "command": command,
                "success": error.is_none(), "body": body,
            });
            if let Some(error) = error {
                response["message"] = json!(error);
            }
            // The editor may interrupt what it knows of.
            let busy = matches!(then, Then::Go(_)).then(|| self.interrupter.begin());
            self.send(response)?;
            match then {
                Then::Nothing => {}
                Then::Initialized => self.event("initialized", json!({}))?,
                Then::Go(run) => {
                    let stop = run(self.session()?);
                    drop(busy);
                    self.told_stop(stop)?;
                }
                Then::Ended => self.event("terminated", json!({}))?,
                Then::Leave => return Ok(()),
            }
        }
        Ok(())
    }

    fn send(&mut self, mut message: Json) -> Result<(), String> {
        message["seq"] = json!(self.sequence);
        self.sequence += 1;
        let text = message.to_string();
        let sent = write!(self.out, "Content-Length: {}\r\n\r\n{text}", text.len());
        sent.and_then(|()| self.out.flush()).map_err(|error| error.to_string())
    }

    fn event(&mut self, name: &str, body: Json) -> Result<(), String> {
        self.send(json!({"type": "event", "event": name, "body": body}))
    }

    fn session(&mut self) -> Result<&mut Session, String> {
        self.session.as_mut().ok_or_else(|| "no program is running".into())
    }

    fn answer(&mut self, command: &str, arguments: &Json) -> Result<Answer, String> {
        Ok(match command {
            "initialize" => {
                let body = json!({
                    "supportsConfigurationDoneRequest": true,
                    "supportsConditionalBreakpoints": true,
                    "supportsFunctionBreakpoints": true,
                    "supportsEvaluateForHovers": true,
                    "supportsSteppingGranularity": true,
                    "supportsStepBack": true,
                    "supportsTerminateRequest": true,
                    "exceptionBreakpointFilters": [{"filter": CHECK, "label": "Failed checks", "default": true}],
                });
                Answer { body, then: Then::Initialized }
            }
            "launch" => self.launch(arguments)?.into(),
            "setBreakpoints" => self.set_breakpoints(arguments)?.into(),
            "setFunctionBreakpoints" => self.set_function_breakpoints(arguments)?.into(),
            "setExceptionBreakpoints" => {
                let filters = arguments["filters"].as_array().into_iter().flatten();
                let new = filters.filter(|filter| *filter == CHECK).map(|filter| (Spot::Check, filter));
                let new = new.collect();
                self.replace(|spot| matches!(spot, Spot::Check), new).into()
            }
            "configurationDone" => self.go(Session::run_on)?,
            "continue" => {
                let answer = self.go(Session::run_on)?;
                Answer { body: json!({"allThreadsContinued": true}), ..answer }
            }
            "reverseContinue" => self.go(|session| session.resume(true))?,
            "next" => self.step(arguments, Step::Over, false)?,
            "stepIn" => self.step(arguments, Step::Into, false)?,
            "stepOut" => self.step(arguments, Step::Out, false)?,
            "stepBack" => self.step(arguments, Step::Over, true)?,
            // What runs has been interrupted when this came.
            "pause" => Json::Null.into(),
            "threads" => self.threads()?.into(),
            "stackTrace" => self.stack_trace(arguments)?.into(),
            "scopes" => self.scopes(arguments)?.into(),
            "variables" => self.variables(arguments)?.into(),
            "evaluate" => self.evaluate(arguments)?.into(),
            "source" => self.source(arguments)?.into(),
            "disconnect" | "terminate" => {
                if let Some(mut session) = self.session.take() {
                    session.program().kill();
                }
                let then = if command == "disconnect" { Then::Leave } else { Then::Ended };
                Answer { body: Json::Null, then }
            }
            _ => return Err(format!("{command} is not supported")),
        })
    }

    fn launch(&mut self, arguments: &Json) -> Result<Json, String> {
        let program = arguments["program"].as_str().ok_or("the launch has no program")?;
        let rest = arguments["args"].as_array().into_iter().flatten().filter_map(Json::as_str);
        let words: Vec<OsString> = [program].into_iter().chain(rest).map(OsString::from).collect();
        // Tools by their names, or all.
        let check: Option<Vec<_>> = match &arguments["check"] {
            Json::String(tools) => Some(tools.split(',').map(str::to_owned).collect()),
            other => (*other == true).then(Vec::new),
        };
        let program = Program::start(&words, arguments["device"].as_str(), check.as_deref(), true);
        let mut session = Session::new(program.map_err(|error| error.reason)?);
        session.breakpoints.append(&mut self.breakpoints);
        session.interrupter = self.interrupter.clone();
        self.session = Some(session);
        Ok(Json::Null)
    }

    /// Those that are set now.
    fn all_breakpoints(&mut self) -> &mut Vec<Breakpoint> {
        match &mut self.session {
            Some(session) => &mut session.breakpoints,
            None => &mut self.breakpoints,
        }
    }

    /// Replaces breakpoints.
    fn replace(&mut self, is_old: impl Fn(&Spot) -> bool, new: Vec<(Spot, &Json)>) -> Json {
        self.all_breakpoints().retain(|breakpoint| !is_old(&breakpoint.spot));
        let mut told = Vec::new();
        for (spot, wanted) in new {
            let number = self.next_number;
            self.next_number += 1;
            let condition = wanted["condition"].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            told.push(json!({"id": number, "verified": true, "line": wanted["line"]}));
            self.all_breakpoints().push(Breakpoint { condition, ..Breakpoint::new(number, spot) });
        }
        json!({"breakpoints": told})
    }

    fn set_breakpoints(&mut self, arguments: &Json) -> Result<Json, String> {
        let source = &arguments["source"];
        let name = source["path"].as_str().or(source["name"].as_str()).ok_or("the source has no name")?;
        if let Ok(text) = std::fs::read_to_string(name) {
            self.files.retain(|(file, _)| file != name);
            self.files.push((name.to_owned(), text));
        }
        let is_old = |spot: &Spot| matches!(spot, Spot::Line { file: Some(file), .. } if file == name);
        let wanted = arguments["breakpoints"].as_array().into_iter().flatten();
        let new = wanted.map(|wanted| {
            let line = wanted["line"].as_u64().unwrap_or(0) as u32;
            (Spot::Line { kernel: None, file: Some(name.to_owned()), line }, wanted)
        });
        let new = new.collect();
        Ok(self.replace(is_old, new))
    }

    fn set_function_breakpoints(&mut self, arguments: &Json) -> Result<Json, String> {
        let wanted = arguments["breakpoints"].as_array().into_iter().flatten();
        let new = wanted
            .map(|wanted| (Spot::Kernel(wanted["name"].as_str().unwrap_or_default().to_owned()), wanted));
        let new = new.collect();
        Ok(self.replace(|spot| matches!(spot, Spot::Kernel(_)), new))
    }

    /// Has the launch go somewhere else.
    fn go(
        &mut self,
        run: impl FnOnce(&mut Session) -> Result<Stop, String> + 'static,
    ) -> Result<Answer, String> {
        self.session()?;
        self.references.clear();
        Ok(Answer { body: Json::Null, then: Then::Go(Box::new(run)) })
    }

    fn step(&mut self, arguments: &Json, step: Step, back: bool) -> Result<Answer, String> {
        self.look_at(arguments["threadId"].as_u64())?;
        let step = if arguments["granularity"] == "instruction" { Step::Instruction } else { step };
        self.go(move |session| if back { session.step_back(step) } else { session.step(step) })
    }

    /// Tells the editor why the launch does not go on.
    fn told_stop(&mut self, stop: Result<Stop, String>) -> Result<(), String> {
        match stop {
            Ok(stop) => self.stopped(&stop),
            Err(error) => {
                self.event("output", json!({"category": "console", "output": error + "\n"}))?;
                // It is where it was.
                if self.session()?.launch().is_ok() { self.stopped(&Stop::Step) } else { Ok(()) }
            }
        }
    }

    /// Tells the editor that the launch has stopped.
    fn stopped(&mut self, stop: &Stop) -> Result<(), String> {
        let (reason, text) = match stop {
            Stop::Breakpoint(_) => ("breakpoint", String::new()),
            Stop::Watch(_) => ("data breakpoint", String::new()),
            Stop::Step => ("step", String::new()),
            Stop::Begin => ("entry", "nothing was executed before".into()),
            Stop::EndOfWorkItem => ("step", "the work-item has ended".into()),
            Stop::End => ("step", "the launch has ended".into()),
            Stop::Fault(text) | Stop::Check(text) => ("exception", text.clone()),
            Stop::Interrupted => ("pause", String::new()),
            Stop::Exit => {
                let status = self.session()?.program().wait()?;
                let code = child::exit_code(status);
                self.event("exited", json!({"exitCode": code}))?;
                return self.event("terminated", json!({}));
            }
        };
        let launch = self.session()?.launch()?;
        let thread = number_of(launch.lane, launch.facts.lanes);
        let body = json!({"reason": reason, "text": text, "threadId": thread, "allThreadsStopped": true});
        self.event("stopped", body)
    }

    /// Looks at the work-item of a thread of the protocol, if one is given.
    fn look_at(&mut self, thread: Option<u64>) -> Result<Lane, String> {
        let session = self.session()?;
        let launch = session.launch()?;
        let (lanes, before) = (launch.facts.lanes, launch.lane);
        let Some(number) = thread.and_then(|thread| thread.checked_sub(1)) else { return Ok(before) };
        let lane = lane_of(number as u32, lanes, before.group);
        session.select(lane)?;
        Ok(lane)
    }

    fn threads(&mut self) -> Result<Json, String> {
        let Ok(launch) = self.session()?.launch() else { return Ok(json!({"threads": []})) };
        let mut threads = Vec::new();
        for thread in &launch.threads {
            for (lane, _) in (0..).zip(&thread.lanes).filter(|(_, place)| place.is_some()) {
                let lane = Lane { group: thread.position.group, thread: thread.position.thread, lane };
                let id = work_item::text(work_item::global_id(&launch.facts, lane));
                let number = number_of(lane, launch.facts.lanes);
                threads.push(json!({"id": number, "name": format!("work-item {id}")}));
            }
        }
        Ok(json!({"threads": threads}))
    }

    fn stack_trace(&mut self, arguments: &Json) -> Result<Json, String> {
        let thread = arguments["threadId"].as_u64().ok_or("threadId is missing")?;
        self.look_at(Some(thread))?;
        let files = self.files.clone();
        let launch = self.session()?.launch()?;
        let frames: Vec<_> = launch
            .frames()?
            .iter()
            .enumerate()
            .map(|(index, frame)| {
                let place = frame.place.unwrap_or_default();
                json!({
                    "id": thread * FRAMES + index as u64, "name": frame.function,
                    "line": place.line, "column": place.column,
                    "source": source_of(&launch.info.files, place, &files),
                })
            })
            .collect();
        Ok(json!({"totalFrames": frames.len(), "stackFrames": frames}))
    }

    /// Looks at a frame of the protocol.
    fn look_at_frame(&mut self, frame: &Json) -> Result<(Lane, usize), String> {
        let Some(frame) = frame.as_u64() else {
            let launch = self.session()?.launch()?;
            return Ok((launch.lane, launch.frame));
        };
        let lane = self.look_at(Some(frame / FRAMES))?;
        let frame = (frame % FRAMES) as usize;
        self.session()?.launch_mut()?.frame = frame;
        Ok((lane, frame))
    }

    fn reference(&mut self, reference: Reference) -> usize {
        self.references.push(reference);
        self.references.len()
    }

    fn scopes(&mut self, arguments: &Json) -> Result<Json, String> {
        let (lane, frame) = self.look_at_frame(&arguments["frameId"])?;
        let all = [
            ("Variables", Reference::Frame(lane, frame)),
            ("Program", Reference::Program(lane)),
            ("Work-item", Reference::Ids(lane)),
        ];
        let scopes: Vec<_> = all
            .into_iter()
            .map(|(name, reference)| {
                json!({"name": name, "variablesReference": self.reference(reference), "expensive": false})
            })
            .collect();
        Ok(json!({"scopes": scopes}))
    }

    fn variables(&mut self, arguments: &Json) -> Result<Json, String> {
        let number = arguments["variablesReference"].as_u64().unwrap_or(0) as usize;
        let reference = number.checked_sub(1).and_then(|index| self.references.get(index));
        let (lane, frame) = match reference.ok_or("the reference is not valid any more")? {
            Reference::Frame(lane, frame) => (*lane, Some(*frame)),
            Reference::Program(lane) | Reference::Ids(lane) | Reference::Parts(lane, _) => (*lane, None),
        };
        let wanted = &self.references[number - 1];
        let session = self.session.as_mut().ok_or("no program is running")?;
        session.select(lane)?;
        session.launch_mut()?.frame = frame.unwrap_or(0);
        let named: Vec<(String, Result<Value, String>)> = match wanted {
            Reference::Frame(_, frame) => {
                let names =
                    session.launch()?.variables(*frame).into_iter().map(|variable| variable.name.clone());
                names
                    .map(|name| {
                        let value = session.evaluate(&name);
                        (name, value)
                    })
                    .collect()
            }
            Reference::Program(_) => {
                let names = session.launch()?.info.variables.iter().map(|variable| variable.name.clone());
                names
                    .map(|name| {
                        let value = session.evaluate(&name);
                        (name, value)
                    })
                    .collect()
            }
            Reference::Ids(_) => {
                let calls = FUNCTIONS.iter().flat_map(|name| (0..3).map(move |d| format!("{name}({d})")));
                calls
                    .map(|call| {
                        let value = session.evaluate(&call);
                        (call, value)
                    })
                    .collect()
            }
            Reference::Parts(_, value) => {
                let parts = value.parts(&session.launch()?.info);
                parts.into_iter().map(|(name, value)| (name, Ok(value))).collect()
            }
        };
        let told = named.into_iter().map(|(name, value)| self.told(lane, name, value));
        let told: Result<Vec<_>, String> = told.collect();
        Ok(json!({"variables": told?}))
    }

    /// A value as the protocol has it.
    fn told(&mut self, lane: Lane, name: String, value: Result<Value, String>) -> Result<Json, String> {
        let session = self.session()?;
        let info = std::rc::Rc::clone(&session.launch()?.info);
        let (text, ty, parts) = match value {
            Ok(value) => {
                let has_parts = !value.parts(&info).is_empty();
                (value.text(&info, session), value.type_name(&info), has_parts.then_some(value))
            }
            Err(error) => (format!("<{error}>"), String::new(), None),
        };
        let reference = parts.map_or(0, |value| self.reference(Reference::Parts(lane, value)));
        Ok(json!({"name": name, "value": text, "type": ty, "variablesReference": reference}))
    }

    fn evaluate(&mut self, arguments: &Json) -> Result<Json, String> {
        let (lane, _) = self.look_at_frame(&arguments["frameId"])?;
        let text = arguments["expression"].as_str().ok_or("expression is missing")?;
        let value = self.session()?.evaluate(text)?;
        let mut told = self.told(lane, text.to_owned(), Ok(value))?;
        told["result"] = told["value"].take();
        Ok(told)
    }

    fn source(&mut self, arguments: &Json) -> Result<Json, String> {
        let number = arguments["sourceReference"].as_u64().unwrap_or(0) as usize;
        let info = &self.session()?.launch()?.info;
        let text = number.checked_sub(1).and_then(|index| info.files.get(index)?.text.as_ref());
        Ok(json!({"content": text.ok_or("the source is not known")?}))
    }
}

/// The number of a work-item as a thread of the protocol.
fn number_of(lane: Lane, lanes: u32) -> u32 {
    lane.thread * lanes + lane.lane + 1
}

/// The reverse, from 0, in a work-group.
fn lane_of(number: u32, lanes: u32, group: [u32; 3]) -> Lane {
    Lane { group, thread: number / lanes, lane: number % lanes }
}

/// A source for the editor: its own file with the same text, or a text that it can ask for.
fn source_of(all: &[SourceFile], place: Place, own: &[(String, String)]) -> Json {
    let Some(file) = all.get(place.file) else { return Json::Null };
    let same = own.iter().find(|(_, text)| file.text.as_ref() == Some(text));
    match same {
        Some((path, _)) => json!({"name": file.name, "path": path}),
        None if file.text.is_some() => json!({"name": file.name, "sourceReference": place.file + 1}),
        None => json!({"name": file.name, "path": file.name}),
    }
}

/// The editor's messages, at last that there are no more. Another thread reads them, so that it can stop what runs.
fn listen(
    mut input: impl BufRead + Send + 'static,
    interrupter: Interrupter,
) -> Receiver<Result<Option<Json>, String>> {
    let (to, messages) = mpsc::channel();
    thread::spawn(move || {
        loop {
            let message = receive(&mut input);
            let command = message.as_ref().ok().and_then(Option::as_ref).map(|message| &message["command"]);
            match command.map(|command| command.as_str().unwrap_or_default()) {
                Some("pause") => {
                    interrupter.interrupt();
                }
                Some("disconnect" | "terminate") | None => child::send(SIGKILL),
                Some(_) => {}
            }
            let is_last = command.is_none();
            if to.send(message).is_err() || is_last {
                return;
            }
        }
    });
    messages
}

/// The next message; none at the end of the input.
fn receive(input: &mut dyn BufRead) -> Result<Option<Json>, String> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
            return Ok(None);
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.ok_or("a message without Content-Length")?;
    let mut text = Vec::new();
    input.take(length).read_to_end(&mut text).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map(Some).map_err(|error| error.to_string())
}
