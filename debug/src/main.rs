//! Debugs the kernels of a program.

use std::io::{BufReader, IsTerminal};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Parser;
use gencl_commands::child::{self, NotRun};
use gencl_commands::debug::Arguments;
use gencl_debug::breakpoint::{Breakpoint, Spot};
use gencl_debug::dap::Adapter;
use gencl_debug::gdb::{Gdb, symbols};
use gencl_debug::interrupt::Interruption;
use gencl_debug::program::Program;
use gencl_debug::prompt::Prompt;
use gencl_debug::session::Session;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Time between looks whether gdb has connected, or has ended.
const POLL: Duration = Duration::from_millis(5);

/// Has something happen at each Ctrl-C.
fn on_interrupt(act: impl Fn() + Send + 'static) -> Result<(), String> {
    let mut signals = Signals::new([SIGINT]).map_err(|error| format!("SIGINT: {error}"))?;
    thread::spawn(move || signals.forever().for_each(|_| act()));
    Ok(())
}

/// Has gdb debug the program.
fn gdb(arguments: &Arguments) -> Result<u8, NotRun> {
    let check = arguments.check.as_deref();
    let program = Program::start(&arguments.program, arguments.device.as_deref(), check, true)?;
    let mut session = Session::new(program);
    if check.is_some() {
        session.breakpoints.push(Breakpoint::new(0, Spot::Check));
    }
    // Then gdb has the terminal.
    let is_gdb_there = Arc::new(AtomicBool::new(false));
    let is_there = Arc::clone(&is_gdb_there);
    on_interrupt(move || {
        if !is_there.load(Ordering::Relaxed) {
            child::send(SIGTERM)
        }
    })?;
    if !session.next_launch()? {
        return Err("the program has launched no kernel".to_owned().into());
    }
    let failed = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
    let own = &session.launch()?.file;
    let bytes = std::fs::read(own).map_err(|error| failed(own, error))?;
    let folder = session.program().folder();
    let [file, socket] = ["kernels.elf", "gdb"].map(|name| folder.join(name));
    std::fs::write(&file, symbols(bytes)).map_err(|error| failed(&file, error))?;
    // gdb does not read texts from debug information.
    for source in &session.launch()?.info.files {
        let path = folder.join(source.name.rsplit('/').next().unwrap_or(&source.name));
        let text = source.text.as_deref().unwrap_or_default();
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    let listener = UnixListener::bind(&socket).map_err(|error| failed(&socket, error))?;
    listener.set_nonblocking(true).map_err(|error| failed(&socket, error))?;
    let mut command = Command::new("gdb");
    command
        .arg("-q")
        .arg("-d")
        .arg(&folder)
        .arg(&file)
        .arg("-ex")
        .arg(format!("target remote {}", socket.display()));
    if let Some(script) = &arguments.command {
        command.arg("-x").arg(script);
    }
    command.args(arguments.eval.iter().flat_map(|line| ["-ex", line]));
    is_gdb_there.store(true, Ordering::Relaxed);
    let mut gdb = command.spawn().map_err(|error| NotRun::of(&command, &error))?;
    let stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break Some(stream),
            Err(_) if gdb.try_wait().is_ok_and(|status| status.is_none()) => std::thread::sleep(POLL),
            Err(_) => break None,
        }
    };
    if let Some(stream) = stream {
        stream.set_nonblocking(false).map_err(|error| failed(&socket, error))?;
        // gdb tells what goes wrong between them.
        Gdb::new(session).run(stream)?;
    }
    let status = gdb.wait().map_err(|error| failed(Path::new("gdb"), error))?;
    Ok(child::exit_code(status))
}

fn run(arguments: &Arguments) -> Result<u8, NotRun> {
    if arguments.dap {
        let mut out = std::io::stdout();
        Adapter::new(&mut out).run(BufReader::new(std::io::stdin()))?;
        return Ok(0);
    }
    if arguments.gdb {
        return gdb(arguments);
    }
    // What is wrong with the arguments is told before the program runs.
    let script = match &arguments.command {
        Some(file) => {
            std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?
        }
        None => String::new(),
    };
    let check = arguments.check.as_deref();
    let program = Program::start(&arguments.program, arguments.device.as_deref(), check, false)?;
    let session = Session::new(program);
    let interrupter = session.interrupter.clone();
    on_interrupt(move || {
        if interrupter.interrupt() == Interruption::Again {
            child::send(SIGTERM);
        }
    })?;
    let mut prompt = Prompt::new(session, Box::new(std::io::stdout()));
    if check.is_some() {
        prompt.execute("catch")?;
    }
    for line in script.lines().chain(arguments.eval.iter().map(String::as_str)) {
        prompt.execute(line)?;
    }
    let is_terminal = std::io::stdin().is_terminal();
    prompt.run(&mut BufReader::new(std::io::stdin()), is_terminal.then_some("(gencl) "))?;
    Ok(prompt.finish())
}

fn main() -> ExitCode {
    let status = run(&Arguments::parse()).unwrap_or_else(|NotRun { reason, status }| {
        eprintln!("gencl-debug: {reason}");
        status
    });
    ExitCode::from(status)
}
