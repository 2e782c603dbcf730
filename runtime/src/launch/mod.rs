//! Launches: from a kernel with arguments and an index space to a submitted batch.
//!
//! Successive launches share a batch. One buffer, the slot, holds everything that is written for them:
//! commands, timestamps, interface descriptors, the constants of each walker, argument blocks. The buffers
//! that these refer to (code, scratch, the arguments' buffers) are the batch's validation list.

mod argument_text;
mod assemble;
mod batch;
mod check_buffer;
mod checked;
mod clock;
mod command_sets;
mod commands;
mod constant_sizes;
mod constants;
#[cfg(test)]
mod described;
mod dump;
mod enqueued;
mod expected;
mod failure;
mod field;
mod gen7;
mod gen8;
mod gen9;
mod hardware;
mod images;
mod kept;
mod local_size;
mod marks;
#[cfg(test)]
mod moving;
mod prepared;
mod race_buffer;
mod races;
mod relocate;
mod shadows;
mod slot;
mod source_line;
mod submit;
mod surfaces;
mod walk;

pub(crate) use assemble::{Batch, MAX_LAUNCHES};
pub(crate) use command_sets::command_set;
pub(crate) use commands::CommandSet;
pub(crate) use constant_sizes::{check, max_threads};
pub(crate) use enqueued::EnqueuedLaunch;
pub(crate) use expected::expect;
pub(crate) use hardware::Hardware;
pub(crate) use local_size::{Limits, check_range, local_size};
pub(crate) use prepared::Launch;
pub(crate) use race_buffer::RacePool;
pub(crate) use slot::SlotPool;
pub(crate) use submit::{Assembled, InFlight, Progress, Submitted};
