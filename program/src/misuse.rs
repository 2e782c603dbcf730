//! Faults in how a program calls the API (`GENCL_DEBUG=check`).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::finding::Place;

/// What is wrong. The name stays the same from version to version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MisuseKind {
    /// An object is never released.
    ObjectLeak,
    /// A handle is used after the object was released.
    ReleasedHandle,
    /// A handle is of another type, or was never one.
    InvalidHandle,
    /// A command was refused, and the program went on.
    IgnoredError,
    /// A kernel is launched without all of its arguments.
    ArgumentNotSet,
    /// An argument has another size, or is of another kind, than the kernel declares.
    ArgumentMismatch,
    /// A memory object is released, or the program ends, while it is mapped.
    StillMapped,
    /// Two commands use the same memory in no order.
    CommandRace,
}

impl MisuseKind {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ObjectLeak => "object-leak",
            Self::ReleasedHandle => "released-handle",
            Self::InvalidHandle => "invalid-handle",
            Self::IgnoredError => "ignored-error",
            Self::ArgumentNotSet => "argument-not-set",
            Self::ArgumentMismatch => "argument-mismatch",
            Self::StillMapped => "still-mapped",
            Self::CommandRace => "command-race",
        }
    }
}

/// What was found, once for all calls from the same place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Misuse {
    /// What it is.
    pub misuse: MisuseKind,
    /// The function of the API that was called.
    pub call: String,
    /// The text, one line.
    pub text: String,
    /// Where in the program it was called, the innermost function first; empty if that is not known.
    pub places: Vec<Place>,
    /// Another call that belongs to it: what it did, and where it was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherCall>,
    /// How often.
    pub count: u64,
}

/// Another call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherCall {
    /// What it did, one line.
    pub text: String,
    /// Where it was called.
    pub places: Vec<Place>,
}

impl fmt::Display for Misuse {
    /// Several lines, without one at the end: what, where, and the other call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text)?;
        write_places(f, &self.places)?;
        if let Some(OtherCall { text, places }) = &self.other {
            write!(f, "\n    {text}")?;
            write_places(f, places)?;
        }
        Ok(())
    }
}

fn write_places(f: &mut fmt::Formatter<'_>, places: &[Place]) -> fmt::Result {
    places.iter().enumerate().try_for_each(|(index, place)| {
        write!(f, "\n    {} {place}", if index == 0 { "at" } else { "called from" })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_calls_are_told() {
        let place =
            |function: &str, line| Place { function: function.into(), file: "a.c".into(), line, column: 0 };
        let misuse = Misuse {
            misuse: MisuseKind::ReleasedHandle,
            call: "clFinish".into(),
            text: "clFinish gets a queue that was released".into(),
            places: vec![place("end", 3), place("main", 9)],
            other: Some(OtherCall {
                text: "it was released by clReleaseCommandQueue".into(),
                places: vec![place("main", 8)],
            }),
            count: 1,
        };
        assert_eq!(
            misuse.to_string(),
            "clFinish gets a queue that was released\n    at end (a.c:3)\n    called from main (a.c:9)\n    \
             it was released by clReleaseCommandQueue\n    at main (a.c:8)"
        );
        let name = serde_json::to_value(misuse.misuse).unwrap();
        assert_eq!(name, misuse.misuse.name());
    }
}
