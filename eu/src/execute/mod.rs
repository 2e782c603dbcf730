//! The interpreter: executes the instructions of threads, and the threads of work-groups.

mod flow;
pub mod probe;
pub mod run;
mod step;
mod stepped;
mod watch;

pub use run::{Worker, barrier_deadlock, run_group, run_group_with};
pub use step::{locate_fault, run_one, send_one};
pub use stepped::{SteppedGroup, Surroundings};
pub use watch::Cycle;
