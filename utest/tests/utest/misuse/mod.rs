//! Misuse by applications, or calls at unusual times: the result is an error code or correct, and nothing
//! crashes or waits for ever.

mod callbacks;
mod empty;
mod handles;
mod processes;
mod random;
mod refusals;
mod threads;
mod values;
mod world;

use gencl_utest::{Case, Need};

pub use processes::run_as_child;
use world::World;

/// Why other drivers are skipped: the specification does not define the behaviour.
const UNDEFINED: &str = "OpenCL does not define it";

pub fn cases() -> Vec<Case> {
    let undefined = |name, run: fn() -> gencl_utest::Outcome| Case::of_gencl(UNDEFINED, name, run);
    vec![
        undefined("misuse_null_handles", handles::null),
        undefined("misuse_handles_of_the_wrong_kind", handles::wrong_kind),
        undefined("misuse_released_handles", handles::released),
        undefined("misuse_released_too_often", handles::released_too_often),
        Case::new("misuse_released_in_use", handles::released_in_use),
        undefined("misuse_argument_released_before_launch", handles::argument_released),
        undefined("misuse_handles_in_lists", handles::in_lists),
        undefined("misuse_other_context", handles::other_context),
        Case::of_gencl("others accept some", "misuse_refused_calls", refusals::all),
        Case::of_gencl("others accept some", "misuse_overflowing_ranges", values::ranges),
        Case::new("misuse_empty_transfers", empty::transfers),
        Case::of_gencl("others accept some", "misuse_empty_transfers_refused", empty::refused),
        undefined("misuse_overflowing_rectangles", values::rectangles),
        undefined("misuse_overflowing_index_spaces", values::index_spaces),
        undefined("misuse_overflowing_sub_group_counts", values::sub_group_counts),
        undefined("misuse_unaligned_pointers", values::unaligned),
        undefined("misuse_null_pointers", values::null_pointers),
        undefined("misuse_unmap", values::unmap),
        Case::new("misuse_event_listed_twice", values::event_twice),
        undefined("misuse_release_in_event_callback", callbacks::release),
        undefined("misuse_release_in_destructor", callbacks::release_in_destructor),
        undefined("misuse_finish_in_event_callback", callbacks::finish),
        undefined("misuse_blocking_read_in_event_callback", callbacks::read),
        undefined("misuse_finish_in_free_callback", callbacks::finish_in_free).needing(Need::SharedMemory),
        undefined("misuse_finish_in_context_callback", callbacks::finish_in_notify),
        undefined("misuse_release_in_build_callback", callbacks::release_in_build),
        undefined("misuse_callbacks_that_end_events", callbacks::chain),
        undefined("misuse_user_event_dropped", callbacks::dropped_user_event),
        undefined("misuse_thousands_of_contexts", threads::contexts),
        Case::new("misuse_many_threads_one_queue", threads::one_queue),
        undefined("misuse_threads_retain_and_release", threads::references),
        undefined("misuse_threads_release_while_others_use", threads::release_while_used),
        undefined("misuse_kernel_of_many_threads", threads::one_kernel),
        undefined("misuse_exit_without_release", || processes::child("exit_without_release")),
        undefined("misuse_exit_in_callback", || processes::child("exit_in_callback")),
        undefined("misuse_exit_with_blocked_commands", || processes::child("exit_blocked")),
        undefined("misuse_release_at_exit", || processes::child("release_at_exit")),
        undefined("misuse_fork_before_use", || processes::child("fork_before_use")),
        undefined("misuse_fork_after_use", || processes::child("fork_after_use")),
        undefined("misuse_fork_while_in_use", || processes::child("fork_while_in_use")),
        undefined("misuse_dlclose", || processes::child("dlclose")),
        undefined("misuse_thread_that_ends", || processes::child("thread_that_ends")),
        undefined("misuse_random_calls", random::calls),
        Case::of_gencl(
            "it is about our functions",
            "misuse_random_calls_of_every_function",
            random::every_function,
        ),
    ]
}
