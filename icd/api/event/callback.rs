//! `clSetEventCallback`

use gencl_icd_macros::cl_entrypoint;
use gencl_runtime::{Code, Error};
use opencl_sys::{CL_COMPLETE, CL_RUNNING, CL_SUBMITTED, cl_event, cl_int};

use crate::abi::{EventNotify, UserData};
use crate::handle::Handle;
use crate::object::Event;
use crate::{CLResult, refuse_if};

#[cl_entrypoint(clSetEventCallback)]
fn set_event_callback(
    event: cl_event,
    callback_type: cl_int,
    notify: EventNotify,
    user: UserData,
) -> CLResult<()> {
    let event = Handle::<Event>::get(event)?;
    // CL_INVALID_VALUE if pfn_event_notify is NULL or if command_exec_callback_type is not CL_SUBMITTED,
    // CL_RUNNING, or CL_COMPLETE.
    let known = [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE].contains(&callback_type);
    refuse_if(!known, Code::InvalidValue, "not a status for callbacks")?;
    let notify = notify.bind(user).ok_or_else(|| Error::new(Code::InvalidValue, "no callback"))?;
    event.note_use();
    // The callback is called with a valid event, even if the application has released it meanwhile.
    let kept = event.clone();
    event.runtime.on_status(callback_type, Box::new(move |status| notify(kept.raw(), status.value())));
    Ok(())
}
