//! Commands as [`Conflicts`] knows them.

use std::sync::Arc;

use super::Queue;
use super::core::Order;
use super::state::Work;
use crate::conflicts::{Command, Conflicts, Part, Place};
use crate::event::CommandKind;
use crate::{Event, QueueFlags};

impl Queue {
    /// Adds a command that is being enqueued. Returns its number. Launches of it whose accesses have to be told know that
    /// afterwards.
    pub(super) fn add_to_conflicts(
        &self,
        conflicts: &Conflicts,
        waits: &[Arc<Event>],
        work: &mut Work,
        order: Order,
    ) -> u64 {
        let number = |event: &Arc<Event>| match event.kind() {
            CommandKind::User if !event.ended() => Some(0),
            _ => Some(event.command_number()).filter(|number| *number > 0),
        };
        let in_order = !self.flags.contains(QueueFlags::OUT_OF_ORDER);
        let place = Place {
            queue: self.number,
            waits: &waits.iter().filter_map(number).collect::<Vec<_>>(),
            after_all: in_order || order.after_all,
            before_all: in_order || order.before_all,
        };
        let command = Command::new(self.number, parts(work));
        let (number, launches) = conflicts.add(&place, &command);
        let mut launches = launches.into_iter().peekable();
        for (index, work) in list_mut(work).iter_mut().enumerate() {
            if let Some(part) = launches.next_if(|part| part.index == index)
                && let Work::Launch(launch) = work
            {
                launch.part = Some(part);
            }
        }
        number
    }
}

/// The parts of a command, in the order of [`list_mut`].
fn parts(work: &Work) -> Vec<Part> {
    let part = |work: &Work| match work {
        Work::Host(transfer, _) => Part::of(transfer.accesses()),
        Work::Launch(launch) => launch.part_of_command(),
        Work::Nothing | Work::Application(_) | Work::List(_) => Part::of(Vec::new()),
    };
    match work {
        Work::List(list) => list.iter().map(part).collect(),
        one => vec![part(one)],
    }
}

/// The commands of a list, or the only one.
fn list_mut(work: &mut Work) -> &mut [Work] {
    match work {
        Work::List(list) => list,
        one => std::slice::from_mut(one),
    }
}
