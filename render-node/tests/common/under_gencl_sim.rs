//! Tests that use the node directly, run by `gencl-sim`.

use std::path::Path;
use std::process::Command;

/// `gencl-sim` with the library that was built for the tests.
pub fn gencl_sim() -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_gencl-sim"));
    let mut command = Command::new(program);
    command.env("GENCL_RENDER_NODE_LIBRARY", program.with_file_name("deps/libgencl_render_node.so"));
    command
}

/// Runs `body` in a process under `gencl-sim`, which is the test of this name, started again, with options of
/// `gencl-sim` and environment variables.
pub fn run_with(test: &str, options: &[&str], variables: &[(&str, &str)], body: impl FnOnce()) {
    if std::env::var_os("GENCL_RENDER_NODE_ROOT").is_some() {
        return body();
    }
    let program = std::env::current_exe().expect("the test's own path");
    let mut command = gencl_sim();
    command.args(options).arg("--").arg(program).args(["--exact", test, "--nocapture"]);
    command.envs(variables.iter().copied());
    let out = command.output().expect("gencl-sim starts");
    let text = [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(out.status.success() && text[0].contains("1 passed"), "{}\n{}", text[0], text[1]);
    println!("{}", text[0]);
}
