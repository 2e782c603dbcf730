//! The time limit of builds.

use std::time::Duration;

use gencl_program::{report, variables};

/// Time limit of a build in seconds unless `GENCL_BUILD_TIMEOUT` sets one.
const DEFAULT: f64 = 300.0;

/// Upper bound of that variable: a day.
const LONGEST: f64 = 24.0 * 60.0 * 60.0;

/// How long a build may take.
pub fn timeout() -> Duration {
    limit(report::number(&variables::BUILD_TIMEOUT, DEFAULT))
}

/// The limit for a number of seconds, which is positive.
fn limit(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        assert_eq!(limit(7.0), Duration::from_secs(7));
        assert_eq!(limit(f64::MAX), Duration::from_secs(86400));
    }
}
