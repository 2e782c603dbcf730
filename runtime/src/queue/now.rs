//! Commands that are executed by the call that enqueues them, where nothing is before them.

use crate::Event;

use super::core::Core;

impl Core {
    /// Executes commands of the host until `event`, the last one's, has ended, or one before it is a launch or waits
    /// for another queue or the application.
    pub(super) fn run_now(&self, event: &Event) {
        let mut state = self.state.lock();
        while !event.ended() {
            if state.leader.is_none() && state.has_host_step() {
                self.lead(&mut state, false);
            } else if state.leader.is_some() && state.pending.is_empty() {
                // The leader executes it.
                self.wait_for_change(&mut state, 0);
            } else {
                break;
            }
        }
        self.leave(&state);
    }
}
