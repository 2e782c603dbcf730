//! Faults of a queue: why what depends on them fails, and what `clFinish` says.

use crate::{Code, Error, Result};

/// The faults that a queue has had. Until [`Faults::tell`] has told of one, everything that comes behind it
/// in order fails.
#[derive(Default)]
pub(super) struct Faults {
    count: u64,
    told: u64,
    /// The first that was not told when it came.
    error: Option<Error>,
}

impl Faults {
    /// There was one. To be called before the event of its command ends, so that who waits for that sees it.
    pub(super) fn add(&mut self, error: &Error) {
        if self.count == self.told {
            // What `clFinish` and commands behind a fault may give, whatever the command itself has.
            self.error = Some(Error { code: Code::OutOfResources, ..error.clone() });
        }
        self.count += 1;
    }

    /// The one that the application has not been told of.
    pub(super) fn untold(&self) -> Option<&Error> {
        self.error.as_ref().filter(|_| self.count > self.told)
    }

    /// How many the application has been told of.
    pub(super) fn told(&self) -> u64 {
        self.told
    }

    /// Tells of those that nobody had been told of when `told` were: also when somebody else has been
    /// meanwhile.
    pub(super) fn tell(&mut self, told: u64) -> Result<()> {
        self.told = self.count;
        self.error.as_ref().filter(|_| self.count > told).map_or(Ok(()), |error| Err(error.clone()))
    }
}

/// The error of a command that is behind one with a fault.
pub(super) fn behind(fault: &Error) -> Error {
    const BEHIND: &str = "behind a command that failed: ";
    let reason = fault.reason.strip_prefix(BEHIND).unwrap_or(&fault.reason);
    Error { reason: format!("{BEHIND}{reason}").into(), ..fault.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(reason: &'static str) -> Error {
        Error::new(Code::OutOfResources, reason).of_fault()
    }

    #[test]
    fn everybody_who_waited_is_told_and_nobody_later() {
        let mut faults = Faults::default();
        assert!(faults.untold().is_none());
        let (one, other) = (faults.told(), faults.told());
        faults.add(&fault("first"));
        faults.add(&fault("second"));
        assert_eq!(faults.untold(), Some(&fault("first")));
        assert_eq!(faults.tell(one), Err(fault("first")));
        assert!(faults.untold().is_none());
        assert_eq!(faults.tell(other), Err(fault("first")));
        assert_eq!(faults.tell(faults.told()), Ok(()));
        faults.add(&fault("third"));
        assert_eq!(faults.tell(faults.told()), Err(fault("third")));
    }

    #[test]
    fn behind_is_said_once() {
        let error = behind(&behind(&fault("why")));
        assert_eq!(error, Error { reason: "behind a command that failed: why".into(), ..fault("") });
    }
}
