//! The compile server as a client sees it.
#![cfg(feature = "llvm")]

use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use gencl_compiler::server::{self, Service};
use gencl_program::debug::Debug;
use gencl_program::protocol::{
    BuildResult, CompileRequest, FromServer, Header, LinkRequest, Status, ToServer, VERSION, read_message,
    write_message,
};
use gencl_program::{ProgramKind, elf};

struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_genclc"))
            .arg("--serve")
            .env_remove("GENCL_DEBUG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        write_message(&mut input, &ToServer::Hello { version: VERSION }).unwrap();
        match read_message(&mut output).unwrap() {
            Some(FromServer::Hello { version, compiler }) => {
                assert_eq!(version, VERSION);
                assert!(compiler.contains("clang version "), "{compiler}");
            }
            other => panic!("{other:?}"),
        }
        Self { process, input, output }
    }

    fn send(&mut self, source: &str, options: &str, headers: &[(&str, &str)]) {
        let header = |(name, text): &(&str, &str)| Header { name: (*name).into(), source: (*text).into() };
        let request = CompileRequest {
            source: source.into(),
            options: options.into(),
            headers: headers.iter().map(header).collect(),
            target: "skl".into(),
            ..CompileRequest::default()
        };
        write_message(&mut self.input, &ToServer::Compile(request)).unwrap();
    }

    /// Receives the result, and the progress messages before it.
    fn receive(&mut self) -> (BuildResult, Vec<(String, String)>) {
        let mut passes = Vec::new();
        loop {
            match read_message(&mut self.output).unwrap().expect("the server lives") {
                FromServer::Progress { kernel, pass } => passes.push((kernel, pass)),
                FromServer::Result(result) => return (result, passes),
                other => panic!("{other:?}"),
            }
        }
    }

    fn build(&mut self, source: &str, options: &str) -> BuildResult {
        self.send(source, options, &[]);
        self.receive().0
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const GOOD: &str = "kernel void k(global float *x) { x[get_global_id(0)] = sin(x[0]); }";

#[test]
fn builds_follow_each_other() {
    let mut client = Client::start();
    client.send(GOOD, "", &[]);
    let (result, passes) = client.receive();
    assert_eq!((result.status, result.log.as_str()), (Status::Success, ""));
    assert_eq!(elf::read(&result.binary).unwrap().kernels[0].name, "k");
    assert!(passes.contains(&(String::new(), "clang".into())), "{passes:?}");
    assert!(passes.contains(&("k".into(), "codegen".into())), "{passes:?}");

    let again = client.build(GOOD, "");
    assert_eq!(again, result, "the same source gives the same bytes");

    let bad = client.build("kernel void k() {\n  oops;\n}", "");
    assert_eq!(bad.status, Status::Failure);
    assert!(bad.log.contains("<source>:2:3: error: use of undeclared identifier 'oops'"), "{}", bad.log);
    assert!(bad.binary.is_empty());

    let options = client.build(GOOD, "-cl-nonsense");
    assert_eq!(options.status, Status::InvalidOptions);
    assert!(options.log.contains("-cl-nonsense"), "{}", options.log);

    assert_eq!(client.build(GOOD, "-w").status, Status::Success);
}

#[test]
fn headers_come_with_the_request() {
    let mut client = Client::start();
    let source = "#include \"some/where.h\"\nkernel void k(global int *x) { x[0] = VALUE; }";
    client.send(
        source,
        "",
        &[("some/where.h", "#include \"some/other.h\"\n"), ("some/other.h", "#define VALUE 3\n")],
    );
    let (result, _) = client.receive();
    assert_eq!(result.status, Status::Success, "{}", result.log);
    let result = client.build(source, "");
    assert!(result.log.contains("'some/where.h' file not found"), "{}", result.log);
}

#[test]
fn invalid_sources_are_rejected_with_a_reason() {
    let mut client = Client::start();
    let bytes = |client: &mut Client, source: &[u8]| {
        let (source, target) = (source.to_vec(), "skl".into());
        let request = CompileRequest { source, target, ..CompileRequest::default() };
        write_message(&mut client.input, &ToServer::Compile(request)).unwrap();
        client.receive().0
    };
    let invalid = bytes(&mut client, b"kernel void k() { int \xff\xfe = 1; }");
    assert_eq!(invalid.status, Status::Failure);
    assert!(invalid.log.contains("<source>:1:"), "{}", invalid.log);
    let comment = bytes(&mut client, b"// \xff\xfe\nkernel void k() {}");
    assert_eq!(comment.status, Status::Success, "{}", comment.log);

    // Each includes itself twice.
    client.send("#include \"bomb.h\"", "", &[("bomb.h", "#include \"bomb.h\"\n#include \"bomb.h\"\n")]);
    let (bomb, _) = client.receive();
    assert_eq!(bomb.status, Status::Failure);
    assert!(bomb.log.contains("nested too deeply"), "{}", bomb.log);

    let line = "// a comment of a program that is far too long\n";
    let long = line.repeat((10 << 20) / line.len()) + GOOD;
    assert_eq!(client.build(&long, "").status, Status::Success);
    let wrong = client.build(&(long + "oops"), "");
    assert_eq!(wrong.status, Status::Failure);
    assert!(wrong.log.contains("oops"), "{}", wrong.log);
    assert_eq!(client.build(GOOD, "").status, Status::Success);
}

#[test]
fn objects_are_linked() {
    let mut client = Client::start();
    let mut object = |source: &str| {
        let request = CompileRequest {
            source: source.into(),
            target: "skl".into(),
            object: true,
            ..CompileRequest::default()
        };
        write_message(&mut client.input, &ToServer::Compile(request)).unwrap();
        let result = client.receive().0;
        assert_eq!(result.status, Status::Success, "{}", result.log);
        assert_eq!(elf::read(&result.binary).unwrap().kind, ProgramKind::Object);
        result.binary
    };
    let uses = object("int twice(int x); kernel void k(global int *p) { p[0] = twice(p[1]); }");
    let defines = object("int twice(int x) { return 2 * x; }");
    let mut link = |inputs: &[&Vec<u8>], options: &str| {
        let inputs = inputs.iter().map(|&input| input.clone()).collect();
        let request = LinkRequest { inputs, options: options.into(), target: "skl".into() };
        write_message(&mut client.input, &ToServer::Link(request)).unwrap();
        client.receive().0
    };
    let linked = link(&[&uses, &defines], "");
    assert_eq!(linked.status, Status::Success, "{}", linked.log);
    assert_eq!(elf::read(&linked.binary).unwrap().kernels[0].name, "k");
    let library = link(&[&defines], "-create-library");
    assert_eq!(elf::read(&library.binary).unwrap().kind, ProgramKind::Library);
    assert_eq!(link(&[&library.binary, &uses], "").status, Status::Success);

    let missing = link(&[&uses], "");
    assert_eq!(missing.status, Status::Failure);
    assert!(missing.log.contains("kernel k: twice is not defined"), "{}", missing.log);
    let twice = link(&[&defines, &defines], "");
    assert!(twice.log.contains("twice") && twice.log.contains("multiply defined"), "{}", twice.log);
    assert_eq!(link(&[&uses, &defines], "-nonsense").status, Status::InvalidOptions);
    assert!(link(&[&linked.binary], "").log.contains("is an executable"));
    assert!(link(&[&vec![0; 100]], "").log.contains("input 1: not an ELF file"));
}

#[test]
fn it_ends_with_its_input() {
    let mut client = Client::start();
    assert_eq!(client.build(GOOD, "").status, Status::Success);
    let Client { process, input, .. } = &mut client;
    input.flush().unwrap();
    // Dropping its end of the pipe is the same as the application's end.
    let (read, write) = std::io::pipe().unwrap();
    drop(read);
    drop(std::mem::replace(input, ChildStdin::from(std::os::fd::OwnedFd::from(write))));
    let begin = Instant::now();
    while process.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(10), "the server outlives its client");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(process.wait().unwrap().success());
}

fn service(debug: &Debug) -> Service<'_> {
    Service { debug, idle_timeout: server::IDLE_TIMEOUT, warm_up: server::warm_up, translate: <[u8]>::to_vec }
}

#[test]
fn translations_are_answered_between_builds() {
    let mut client = Client::start();
    assert_eq!(client.build(GOOD, "").status, Status::Success);
    write_message(&mut client.input, &ToServer::Translate(vec![1, 2, 3])).unwrap();
    loop {
        match read_message(&mut client.output).unwrap() {
            Some(FromServer::Progress { pass, .. }) => assert_eq!(pass, "translate"),
            Some(FromServer::Translated(answer)) => break assert!(!answer.is_empty()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(client.build(GOOD, "").status, Status::Success);
}

#[test]
fn it_ends_without_work() {
    let (read, write) = std::io::pipe().unwrap();
    let begin = Instant::now();
    let debug = Debug::default();
    let service = Service { idle_timeout: Duration::from_millis(100), ..service(&debug) };
    server::serve(read, &mut std::io::sink(), service).unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(100));
    drop(write);
}

#[test]
fn malformed_messages_end_it_with_an_error() {
    let garbage: &[u8] = &[0xff; 64];
    let error = server::serve(garbage, &mut std::io::sink(), service(&Debug::default())).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
}

#[test]
fn it_stays_small() {
    let mut client = Client::start();
    for _ in 0..20 {
        assert_eq!(client.build(GOOD, "-cl-fast-relaxed-math").status, Status::Success);
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.process.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    println!("peak memory {kilobytes} kB");
    assert!(kilobytes < 300 << 10, "{kilobytes} kB");
}
