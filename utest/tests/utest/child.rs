//! Cases that run this program again, with another environment.

use std::process::{Command, Output};

/// Set in the processes that cases run in, to what they are to do.
pub const CHILD: &str = "GENCL_UTEST_CHILD";

/// Runs a case in a process of its own, in which [`act`] is `act`, with some variables set and `GENCL_DEBUG`
/// as they say.
pub fn run(name: &str, act: &str, variables: &[(&str, &str)]) -> Result<Output, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["--exact", name]).env(CHILD, act).env_remove("GENCL_DEBUG");
    command.envs(variables.iter().copied()).output().map_err(|error| error.to_string())
}

/// What this process is to do for the case that started it; `None` where the case itself runs.
pub fn act() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// Whether this process was started by a case.
pub fn is_child() -> bool {
    act().is_some()
}
