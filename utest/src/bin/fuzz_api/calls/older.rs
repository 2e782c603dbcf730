//! Calls of older versions of OpenCL that newer ones replace, and looking functions up.

use std::ptr::null_mut;

use super::{Caller, NAMES};
use crate::handles::Kind;

impl Caller {
    pub fn older_synchronization(&mut self) {
        let (queue, waits, api) = (self.pick(Kind::Queue), self.waits(), self.shared.api);
        let (which, mut event, mut before) = (self.random.below(4), null_mut(), 0);
        let (bits, enable) = (self.random.next_u64() % 5, self.random.below(2) as u32);
        self.note(format_args!("older synchronization {which} {queue:?} {bits} {:?}", waits.0));
        // SAFETY: a list of its length, and room for an event and the properties.
        unsafe {
            match which {
                0 => (api.clEnqueueMarker)(queue, &mut event),
                1 => (api.clEnqueueBarrier)(queue),
                2 => (api.clEnqueueWaitForEvents)(queue, waits.length(), waits.pointer()),
                _ => (api.clSetCommandQueueProperty)(queue, bits, enable, &mut before),
            }
        };
        self.keep(Kind::Event, event);
    }

    pub fn unload_or_look_up(&mut self) {
        let (api, device) = (self.shared.api, self.device());
        let name = self.random.pick(&[c"clIcdGetPlatformIDsKHR", c"clMemFreeINTEL", c"", NAMES[0]]).as_ptr();
        let platform = if self.random.one_in(10) { device } else { self.shared.platform as _ };
        // Unloading the compiler makes builds slow, so it is seldom.
        let calls = if self.random.one_in(20) { 8 } else { 6 };
        let which = self.random.below(calls);
        self.note(format_args!("unload or look up {which} {device:?}"));
        // SAFETY: the name has its end, and gencl checks the handles.
        unsafe {
            match which {
                0 => _ = (api.clGetExtensionFunctionAddress)(name),
                1 => _ = (api.clGetExtensionFunctionAddressForPlatform)(platform, name),
                2 => _ = (api.clRetainDevice)(device),
                3 => _ = (api.clReleaseDevice)(device),
                4 => _ = (api.clRetainDeviceEXT)(device),
                5 => _ = (api.clReleaseDeviceEXT)(device),
                6 => _ = (api.clUnloadCompiler)(),
                _ => _ = (api.clUnloadPlatformCompiler)(platform),
            }
        }
    }
}
