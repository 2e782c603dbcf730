//! `gencl-debug --dap`, as an editor uses it.

mod shared;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use gencl_testing::harness::{self, Outcome};
use serde_json::{Value, json};
use shared::{ENDLESS, OUT_OF_BOUNDS, changed_kernel, debugger, example, kernel, missing};

/// An editor.
struct Editor {
    adapter: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    sequence: u64,
}

impl Editor {
    fn new() -> Result<Editor, String> {
        let mut adapter = debugger()
            .arg("--dap")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let (to, from) = adapter.stdin.take().zip(adapter.stdout.take()).ok_or("no pipes")?;
        Ok(Editor { adapter, to, from: BufReader::new(from), sequence: 0 })
    }

    fn receive(&mut self) -> Result<Value, String> {
        let mut header = String::new();
        while !header.ends_with("\r\n\r\n") {
            if self.from.read_line(&mut header).map_err(|error| error.to_string())? == 0 {
                return Err("the adapter has ended".into());
            }
        }
        let length = header.trim().strip_prefix("Content-Length: ").and_then(|text| text.parse().ok());
        let mut text = vec![0; length.ok_or(header)?];
        self.from.read_exact(&mut text).map_err(|error| error.to_string())?;
        serde_json::from_slice(&text).map_err(|error| error.to_string())
    }

    /// Sends a request and returns its result; the error is the adapter's message.
    fn ask(&mut self, command: &str, arguments: Value) -> Result<Value, String> {
        self.tell(command, arguments)?;
        self.response(command)
    }

    /// Sends a request.
    fn tell(&mut self, command: &str, arguments: Value) -> Outcome {
        self.sequence += 1;
        let request =
            json!({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments});
        let text = request.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).map_err(|error| error.to_string())
    }

    /// The response to the last request.
    fn response(&mut self, command: &str) -> Result<Value, String> {
        let response = self.receive()?;
        if response["request_seq"] != self.sequence {
            return Err(format!("{command}: {response}"));
        }
        match response["success"].as_bool() {
            Some(true) => Ok(response["body"].clone()),
            _ => Err(response["message"].as_str().unwrap_or_default().to_owned()),
        }
    }

    /// Waits for an event.
    fn event(&mut self, name: &str) -> Result<Value, String> {
        let event = self.receive()?;
        if event["event"] == name {
            Ok(event["body"].clone())
        } else {
            Err(format!("no {name}, but {event}"))
        }
    }

    /// Has the launch go on; returns the thread that has stopped.
    fn go(&mut self, command: &str, thread: &Value) -> Result<Value, String> {
        self.ask(command, json!({"threadId": thread}))?;
        Ok(self.event("stopped")?["threadId"].clone())
    }

    /// The innermost frame of a thread: name, line and id.
    fn frame(&mut self, thread: &Value) -> Result<(String, u64, Value), String> {
        let trace = self.ask("stackTrace", json!({"threadId": thread}))?;
        let frame = &trace["stackFrames"][0];
        let name = frame["name"].as_str().unwrap_or_default().to_owned();
        Ok((name, frame["line"].as_u64().unwrap_or(0), frame["id"].clone()))
    }

    fn evaluate(&mut self, frame: &Value, expression: &str) -> Result<String, String> {
        let told = self.ask("evaluate", json!({"frameId": frame, "expression": expression}))?;
        Ok(told["result"].as_str().unwrap_or_default().to_owned())
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{found:?}, not {expected:?}")) }
}

/// From a breakpoint in the editor's own file forwards, and back.
fn an_editor_debugs_a_wrong_sum() -> Outcome {
    let program = example()?;
    let mut editor = Editor::new()?;
    let capabilities = editor.ask("initialize", json!({"adapterID": "gencl"}))?;
    equal(&capabilities["supportsStepBack"], &json!(true))?;
    editor.event("initialized")?;
    let arguments = json!({
        "program": program.program(), "args": [kernel()], "device": "skl",
    });
    editor.ask("launch", arguments)?;
    let breakpoints = json!({
        "source": {"path": kernel()},
        "breakpoints": [{"line": 27, "condition": "get_global_id(0) == 17"}],
    });
    let set = editor.ask("setBreakpoints", breakpoints)?;
    equal(&set["breakpoints"][0]["verified"], &json!(true))?;
    editor.ask("configurationDone", json!({}))?;
    let stopped = editor.event("stopped")?;
    equal(&stopped["reason"], &json!("breakpoint"))?;
    let thread = stopped["threadId"].clone();
    let threads = editor.ask("threads", json!({}))?;
    let threads = threads["threads"].as_array().cloned().unwrap_or_default();
    equal(threads.len(), 16)?;
    let own = threads.iter().find(|one| one["id"] == thread).ok_or("the thread is not listed")?;
    equal(&own["name"], &json!("work-item (17, 0, 0)"))?;

    // The file is the editor's, as the text is the same.
    let trace = editor.ask("stackTrace", json!({"threadId": thread}))?;
    equal(&trace["stackFrames"][0]["source"]["path"], &json!(kernel()))?;
    let (name, line, frame) = editor.frame(&thread)?;
    equal((name.as_str(), line), ("sum", 27))?;
    let scopes = editor.ask("scopes", json!({"frameId": frame}))?;
    let locals = &scopes["scopes"][0]["variablesReference"];
    let variables = editor.ask("variables", json!({"variablesReference": locals}))?;
    let variables = variables["variables"].as_array().cloned().unwrap_or_default();
    let find = |name: &str| variables.iter().find(|one| one["name"] == name).ok_or(format!("no {name}"));
    equal(&find("id")?["value"], &json!("17"))?;
    equal(&find("own")?["type"], &json!("Part"))?;
    let parts = editor.ask("variables", json!({"variablesReference": find("own")?["variablesReference"]}))?;
    equal(&parts["variables"][0]["value"], &json!("18.0"))?;
    equal(editor.evaluate(&frame, "parts[l + step].value")?, "26.0".into())?;
    let unknown = editor.evaluate(&frame, "nothing").err().unwrap_or_default();
    equal(unknown.contains("there is no nothing here"), true)?;

    // Into the function, out of it, over lines, and back.
    let thread = editor.go("stepIn", &thread)?;
    let (name, line, frame) = editor.frame(&thread)?;
    equal((name.as_str(), line), ("add", 8))?;
    equal(editor.evaluate(&frame, "a + b")?, "44.0".into())?;
    let thread = editor.go("stepOut", &thread)?;
    equal(editor.frame(&thread)?.0, "sum".into())?;
    let thread = editor.go("next", &thread)?;
    equal(editor.frame(&thread)?.1, 28)?;
    let thread = editor.go("stepBack", &thread)?;
    let (_, line, frame) = editor.frame(&thread)?;
    equal(line, 27)?;
    equal(editor.evaluate(&frame, "parts[l].value")?, "18.0".into())?;
    editor.ask("reverseContinue", json!({"threadId": thread}))?;
    equal(&editor.event("stopped")?["reason"], &json!("entry"))?;

    // To the end of the program, whose sums are wrong.
    let none = json!({"source": {"path": kernel()}, "breakpoints": []});
    editor.ask("setBreakpoints", none)?;
    editor.ask("continue", json!({"threadId": thread}))?;
    equal(&editor.event("exited")?["exitCode"], &json!(1))?;
    editor.event("terminated")?;
    editor.ask("disconnect", json!({}))?;
    let status = editor.adapter.wait().map_err(|error| error.to_string())?;
    equal(status.success(), true)
}

/// While a kernel runs.
fn an_editor_interrupts_a_kernel() -> Outcome {
    let program = example()?;
    let mut editor = Editor::new()?;
    editor.ask("initialize", json!({"adapterID": "gencl"}))?;
    editor.event("initialized")?;
    let kernel = changed_kernel(&program, ENDLESS)?;
    editor.ask("launch", json!({"program": program.program(), "args": [kernel], "device": "skl"}))?;
    editor.ask("configurationDone", json!({}))?;
    editor.tell("pause", json!({"threadId": 1}))?;
    let stopped = editor.event("stopped")?;
    equal(&stopped["reason"], &json!("pause"))?;
    editor.response("pause")?;
    let (name, _, _) = editor.frame(&stopped["threadId"])?;
    equal(name, "sum".into())?;
    // It does not end by itself, but with the editor.
    editor.ask("continue", json!({"threadId": stopped["threadId"]}))?;
    editor.tell("disconnect", json!({}))?;
    let status = editor.adapter.wait().map_err(|error| error.to_string())?;
    equal(status.success(), true)
}

/// Of kernels with checks.
fn an_editor_is_told_of_failed_checks() -> Outcome {
    let program = example()?;
    let mut editor = Editor::new()?;
    let capabilities = editor.ask("initialize", json!({"adapterID": "gencl"}))?;
    let filter = &capabilities["exceptionBreakpointFilters"][0]["filter"];
    editor.event("initialized")?;
    let kernel = changed_kernel(&program, OUT_OF_BOUNDS)?;
    let arguments =
        json!({"program": program.program(), "args": [kernel], "device": "skl", "check": "memory,sync"});
    editor.ask("launch", arguments)?;
    editor.ask("setExceptionBreakpoints", json!({"filters": [filter]}))?;
    editor.ask("configurationDone", json!({}))?;
    let stopped = editor.event("stopped")?;
    equal(&stopped["reason"], &json!("exception"))?;
    let text = stopped["text"].as_str().unwrap_or_default();
    equal(text.starts_with("out-of-bounds write of 8 bytes in kernel sum\n"), true)?;
    let (name, line, frame) = editor.frame(&stopped["threadId"])?;
    equal((name.as_str(), line), ("sum", 33))?;
    equal(editor.evaluate(&frame, "get_global_id(0)")?, "48".into())
}

fn main() {
    let test = |name, run: fn() -> Outcome| harness::test_unless(missing(), name, run);
    harness::run(vec![
        test("an_editor_debugs_a_wrong_sum", an_editor_debugs_a_wrong_sum),
        test("an_editor_interrupts_a_kernel", an_editor_interrupts_a_kernel),
        test("an_editor_is_told_of_failed_checks", an_editor_is_told_of_failed_checks),
    ]);
}
