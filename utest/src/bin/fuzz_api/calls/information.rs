//! Queries.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use gencl_utest::raw::Api;
use opencl_sys::{cl_image_format, cl_int, cl_uint};

use super::Caller;
use crate::handles::Kind;
use crate::sizes;

type Simple = unsafe extern "C" fn(*mut c_void, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;
type OfDevice =
    unsafe extern "C" fn(*mut c_void, *mut c_void, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;
type OfArgument =
    unsafe extern "C" fn(*mut c_void, cl_uint, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;
type OfSubGroups = unsafe extern "C" fn(
    *mut c_void,
    *mut c_void,
    cl_uint,
    usize,
    *const c_void,
    usize,
    *mut c_void,
    *mut usize,
) -> cl_int;

/// A query's function, by what it takes beside the object and the name.
enum Query {
    Simple(fn(&Api) -> Simple),
    OfDevice(fn(&Api) -> OfDevice),
    OfArgument(fn(&Api) -> OfArgument),
    OfSubGroups(fn(&Api) -> OfSubGroups),
}

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Platform,
    Device,
    Object(Kind),
}

/// What is asked, how, and for which names: the first, and how many follow it.
const QUERIES: &[(Subject, Query, u32, usize)] = &[
    (Subject::Platform, Query::Simple(|api| api.clGetPlatformInfo), 0x0900, 8),
    (Subject::Device, Query::Simple(|api| api.clGetDeviceInfo), 0x1000, 128),
    (Subject::Device, Query::Simple(|api| api.clGetDeviceInfo), 0x4100, 16),
    (Subject::Device, Query::Simple(|api| api.clGetDeviceInfo), 0x4190, 8),
    (Subject::Object(Kind::Context), Query::Simple(|api| api.clGetContextInfo), 0x1080, 6),
    (Subject::Object(Kind::Queue), Query::Simple(|api| api.clGetCommandQueueInfo), 0x1090, 10),
    (Subject::Object(Kind::Memory), Query::Simple(|api| api.clGetMemObjectInfo), 0x1100, 12),
    (Subject::Object(Kind::Image), Query::Simple(|api| api.clGetMemObjectInfo), 0x1100, 12),
    (Subject::Object(Kind::Image), Query::Simple(|api| api.clGetImageInfo), 0x1110, 12),
    (Subject::Object(Kind::Memory), Query::Simple(|api| api.clGetPipeInfo), 0x1120, 4),
    (Subject::Object(Kind::Memory), Query::Simple(|api| api.clGetGLTextureInfo), 0x2004, 4),
    (Subject::Object(Kind::Sampler), Query::Simple(|api| api.clGetSamplerInfo), 0x1150, 10),
    (Subject::Object(Kind::Program), Query::Simple(|api| api.clGetProgramInfo), 0x1160, 14),
    (Subject::Object(Kind::Program), Query::OfDevice(|api| api.clGetProgramBuildInfo), 0x1180, 7),
    (Subject::Object(Kind::Kernel), Query::Simple(|api| api.clGetKernelInfo), 0x1190, 8),
    (Subject::Object(Kind::Kernel), Query::OfArgument(|api| api.clGetKernelArgInfo), 0x1196, 6),
    (Subject::Object(Kind::Kernel), Query::OfDevice(|api| api.clGetKernelWorkGroupInfo), 0x11B0, 8),
    (Subject::Object(Kind::Kernel), Query::OfDevice(|api| api.clGetKernelWorkGroupInfo), 0x4109, 2),
    (Subject::Object(Kind::Kernel), Query::OfSubGroups(|api| api.clGetKernelSubGroupInfo), 0x2033, 2),
    (Subject::Object(Kind::Kernel), Query::OfSubGroups(|api| api.clGetKernelSubGroupInfoKHR), 0x11B8, 4),
    (Subject::Object(Kind::Event), Query::Simple(|api| api.clGetEventInfo), 0x11D0, 6),
    (Subject::Object(Kind::Event), Query::Simple(|api| api.clGetEventProfilingInfo), 0x1280, 6),
];

/// Bytes for an answer, and what they have before it.
const ROOM: usize = 2048;
const BEFORE: u8 = 0xA5;

impl Caller {
    pub fn information(&mut self) {
        let (subject, query, first, names) = &QUERIES[self.random.below(QUERIES.len())];
        let handle = match subject {
            Subject::Platform if !self.random.one_in(20) => self.shared.platform as *mut c_void,
            Subject::Platform | Subject::Device => self.device(),
            Subject::Object(kind) => self.pick(*kind),
        };
        let name = first + self.random.below(*names) as u32;
        // Binaries are written where the answer's pointers point, so that there is never room for a pointer.
        let program = *subject == Subject::Object(Kind::Program);
        let size = if program { self.random.below(8) } else { self.random.below(ROOM + 1) };
        let (api, device, index) = (self.shared.api, self.device(), self.random.below(5) as u32);
        self.note(format_args!("information {handle:?} {name:#x} {size}"));
        let (mut room, mut needed) = ([BEFORE; ROOM], 0usize);
        let to = if self.random.one_in(5) { null_mut() } else { room.as_mut_ptr().cast() };
        let ret = if self.random.one_in(5) { null_mut() } else { &raw mut needed };
        let sizes = [0; 3].map(|_: usize| sizes::size(&mut self.random, 64));
        let given = self.random.below(4) * size_of::<usize>();
        let given_at = if self.random.one_in(20) { null() } else { sizes.as_ptr().cast() };
        // SAFETY: there is room for as many bytes, and at most three sizes are given.
        let error = unsafe {
            match query {
                Query::Simple(of) => of(api)(handle, name, size, to, ret),
                Query::OfDevice(of) => of(api)(handle, device, name, size, to, ret),
                Query::OfArgument(of) => of(api)(handle, index, name, size, to, ret),
                Query::OfSubGroups(of) => of(api)(handle, device, name, given, given_at, size, to, ret),
            }
        };
        let begin = if error == 0 { size } else { 0 };
        if room[begin..].iter().any(|byte| *byte != BEFORE) {
            self.fault(format_args!(
                "query {name:#x} with room for {size} bytes wrote more, and gave {error}"
            ));
        }
    }

    /// Formats, clocks and platforms.
    pub fn other_information(&mut self) {
        const ENTRIES: usize = 8;
        let (api, context, device) = (self.shared.api, self.pick(Kind::Context), self.device());
        let nothing = cl_image_format { image_channel_order: 0, image_channel_data_type: 0 };
        let (mut formats, mut count, mut times) = ([nothing; ENTRIES], 0, [0u64; 2]);
        let (flags, ty) = (self.random.next_u64() % 9, 0x10F0 + self.random.below(9) as u32);
        let entries = self.random.below(ENTRIES + 1) as u32;
        let which = self.random.below(5);
        self.note(format_args!("other information {which} {context:?} {device:?} {flags} {ty:x} {entries}"));
        let mut handles = [null_mut(); ENTRIES];
        // SAFETY: there is room for as many formats, times and handles.
        unsafe {
            match which {
                0 => {
                    let list = if self.random.one_in(5) { null_mut() } else { formats.as_mut_ptr() };
                    (api.clGetSupportedImageFormats)(context, flags, ty, entries, list, &mut count)
                }
                1 => (api.clGetDeviceAndHostTimer)(device, &mut times[0], &mut times[1]),
                2 => (api.clGetHostTimer)(device, &mut times[0]),
                3 => (api.clGetPlatformIDs)(entries, handles.as_mut_ptr(), &mut count),
                _ => {
                    let platform = self.shared.platform as *mut c_void;
                    (api.clGetDeviceIDs)(platform, 1 << flags, entries, handles.as_mut_ptr(), &mut count)
                }
            }
        };
    }
}
