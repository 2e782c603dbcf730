//! What `GENCL_DEBUG=check` finds: faults in kernels, and in calls of the API.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Place, Site};
use crate::misuse::{Misuse, MisuseKind, OtherCall};

/// A fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Found {
    /// In a kernel.
    Kernel(Finding),
    /// In calls of the API.
    Calls(Misuse),
}

/// Faults with the same key are one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FoundKey {
    /// Kernel and place.
    Kernel(String, Site),
    /// What, and where.
    Calls(MisuseKind, String, Vec<Place>, Option<OtherCall>),
}

impl Found {
    /// The kind: a name that stays the same from version to version.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Kernel(finding) => finding.kind(),
            Self::Calls(misuse) => misuse.misuse.name(),
        }
    }

    /// The kernel, or the function of the API.
    #[must_use]
    pub fn subject(&self) -> &str {
        match self {
            Self::Kernel(finding) => &finding.kernel,
            Self::Calls(misuse) => &misuse.call,
        }
    }

    /// Where it is, the innermost function first.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        match self {
            Self::Kernel(finding) => &finding.site.places,
            Self::Calls(misuse) => &misuse.places,
        }
    }

    /// How often it happened.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Kernel(finding) => finding.count,
            Self::Calls(misuse) => misuse.count,
        }
    }

    /// What distinguishes it from others.
    #[must_use]
    pub fn key(&self) -> FoundKey {
        match self {
            Self::Kernel(finding) => FoundKey::Kernel(finding.kernel.clone(), finding.site.clone()),
            Self::Calls(Misuse { misuse, text, places, other, .. }) => {
                FoundKey::Calls(*misuse, text.clone(), places.clone(), other.clone())
            }
        }
    }

    /// Adds how often another one with the same key has happened.
    pub fn add(&mut self, other: &Self) {
        match (self, other) {
            (Self::Kernel(own), Self::Kernel(other)) => {
                own.count += other.count;
                own.launches += other.launches;
            }
            (Self::Calls(own), Self::Calls(other)) => own.count += other.count,
            (Self::Kernel(_), Self::Calls(_)) | (Self::Calls(_), Self::Kernel(_)) => {}
        }
    }

    /// How often: `3 times in 2 launches`.
    #[must_use]
    pub fn times(&self) -> String {
        let counted = |count: u64, one: &str, many: &str| {
            if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
        };
        let times = counted(self.count(), "time", "times");
        match self {
            Self::Kernel(finding) => {
                format!("{times} in {}", counted(finding.launches, "launch", "launches"))
            }
            Self::Calls(_) => times,
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(finding) => finding.fmt(f),
            Self::Calls(misuse) => misuse.fmt(f),
        }
    }
}

/// A fault for other programs: with its kind and its text.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Told<'a> {
    /// What it is: a name that stays the same from version to version.
    kind: &'static str,
    /// All that is known of it, in several lines.
    message: String,
    #[serde(flatten)]
    found: &'a Found,
}

impl<'a> From<&'a Found> for Told<'a> {
    fn from(found: &'a Found) -> Self {
        Self { kind: found.kind(), message: found.to_string(), found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_read_again() {
        let misuse = Misuse {
            misuse: MisuseKind::ObjectLeak,
            call: "clCreateBuffer".into(),
            text: "2 buffers".into(),
            places: Vec::new(),
            other: None,
            count: 2,
        };
        let found = Found::Calls(misuse);
        let text = serde_json::to_string(&Told::from(&found)).unwrap();
        assert!(
            text.starts_with(r#"{"kind":"object-leak","message":"2 buffers","misuse":"object-leak""#),
            "{text}"
        );
        let mut again: Found = serde_json::from_str(&text).unwrap();
        assert_eq!((&again, again.key(), again.times()), (&found, found.key(), "2 times".into()));
        again.add(&found);
        assert_eq!(again.count(), 4);
    }
}
