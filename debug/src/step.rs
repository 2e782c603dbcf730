//! Steps: the code that they stay in.

use std::ops::Range;

use crate::info::{KernelInfo, Place, Scope};

/// How far to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To another line, in functions that are called, too.
    Into,
    /// To another line of the function, or of that which has called it.
    Over,
    /// To the function that has called it.
    Out,
    /// An instruction.
    Instruction,
}

impl KernelInfo {
    /// The code that a step from an offset stays in: `depth` is the number of calls at its beginning.
    #[must_use]
    pub fn staying(&self, step: Step, offset: u32, depth: usize) -> Vec<Range<u32>> {
        if step == Step::Instruction {
            return Vec::new();
        }
        let path = |offset: u32| -> Vec<(*const Scope, Option<Place>)> {
            let functions = self.scopes(offset).into_iter().filter(|scope| scope.function.is_some());
            let places = self.frames(offset);
            functions.map(std::ptr::from_ref).zip(places.iter().rev().map(|frame| frame.place)).collect()
        };
        let line = |place: &Option<Place>| place.map(|place| (place.file, place.line));
        let own = path(offset);
        self.ranges(|other| {
            let other = path(other);
            let same = |count: usize| {
                own.iter()
                    .take(count)
                    .map(|(scope, _)| scope)
                    .eq(other.iter().take(count).map(|(scope, _)| scope))
            };
            let at = |path: &[(_, Option<Place>)]| {
                depth.checked_sub(1).and_then(|last| path.get(last)).map(|p| line(&p.1))
            };
            match step {
                Step::Into => own.len() == other.len() && same(own.len()) && at_last(&own) == at_last(&other),
                Step::Over => other.len() >= depth && same(depth) && at(&own) == at(&other),
                Step::Out => other.len() >= depth && same(depth),
                Step::Instruction => false,
            }
        })
    }
}

/// File and line of the innermost call.
fn at_last<T>(path: &[(T, Option<Place>)]) -> Option<(usize, u32)> {
    path.last().and_then(|(_, place)| place.map(|place| (place.file, place.line)))
}
