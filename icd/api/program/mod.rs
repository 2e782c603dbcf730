//! Programs.

pub mod binary;
pub mod build;
pub mod build_info;
pub mod compile;
pub mod il;
pub mod info;
pub mod link;
pub mod other;
pub mod references;
pub mod source;

use std::sync::Arc;

use gencl_runtime::Code;

use crate::abi::{ObjectNotify, UserData};
use crate::handle::Handle;
use crate::object::Program;
use crate::{CLResult, refuse_if};

/// CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL.
fn check_notify(notify: ObjectNotify, user: UserData) -> CLResult<()> {
    refuse_if(notify.is_null() && !user.is_null(), Code::InvalidValue, "user data without a callback")
}

/// The callback of a build, which gets the program.
fn notify_with(
    program: &Arc<Handle<Program>>,
    notify: ObjectNotify,
    user: UserData,
) -> Option<Box<dyn FnOnce() + Send>> {
    let notify = notify.bind(user)?;
    let program = program.clone();
    Some(Box::new(move || notify(program.raw())))
}
