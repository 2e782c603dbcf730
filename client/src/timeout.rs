//! The time limit of builds.

use std::time::Duration;

use gencl_program::{report, variables};

/// Time limit of a build unless `GENCL_BUILD_TIMEOUT` sets one.
const DEFAULT: Duration = Duration::from_secs(300);

/// How long a build may take.
pub fn timeout() -> Duration {
    report::seconds(&variables::BUILD_TIMEOUT, DEFAULT)
}
