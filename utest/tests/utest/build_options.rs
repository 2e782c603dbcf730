//! Options of builds, compilations and links: which there are, and when they are refused.

use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use gencl_utest::raw::api;
use gencl_utest::{Case, Gpu, Launch, Outcome};
use opencl_sys::{
    CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS, CL_INVALID_LINKER_OPTIONS, CL_SUCCESS, cl_int,
    cl_program,
};
use opencl3::program::{CL_PROGRAM_BUILD_LOG, Program, get_program_build_info};

use crate::memory::same;

pub fn cases() -> Vec<Case> {
    let own =
        |name: &'static str, run: fn() -> Outcome| Case::of_gencl("others know other options", name, run);
    vec![
        Case::of_gencl("others report it later", "options_refused_at_once", refused_at_once),
        own("options_of_other_drivers", of_other_drivers),
        own("options_unknown", unknown),
        own("options_macros", macros),
        Case::of_gencl(
            "Intel's compiler takes `-x spir` only, and ends the process",
            "options_language",
            language,
        ),
        own("options_warnings", warnings),
    ]
}

const SOURCE: &CStr = c"kernel void k(global int *p) { p[get_global_id(0)] = 42; }";

/// The same for calls that take text.
const TEXT: &str = "kernel void k(global int *p) { p[get_global_id(0)] = 42; }";

/// Options that no driver has.
const WRONG: &CStr = c"-no-such-option";

/// For so long nothing takes.
const LONG: Duration = Duration::from_secs(60);

/// Sends what the user data names.
unsafe extern "C" fn told(_: cl_program, sender: *mut c_void) {
    // SAFETY: the tests give a sender that lives until they have heard of it, or for ever.
    let sender = unsafe { &*sender.cast::<Sender<()>>() };
    // If the receiver is gone, the test has timed out.
    let _ = sender.send(());
}

/// What a callback tells: user data, which is never freed as the callback may come late, and the other end.
fn callback() -> (*mut c_void, Receiver<()>) {
    let (sender, receiver) = channel();
    (std::ptr::from_mut(Box::leak(Box::new(sender))).cast(), receiver)
}

/// A program of the test's, perhaps none.
struct Made(cl_program);

impl Made {
    fn from_source() -> Result<Self, String> {
        let (api, mut code) = (api()?, 0);
        // SAFETY: one string, which has its end.
        let program = unsafe {
            let mut text = SOURCE.as_ptr();
            (api.clCreateProgramWithSource)(Gpu::get()?.context.get(), 1, &mut text, null(), &mut code)
        };
        if program.is_null() { Err(format!("clCreateProgramWithSource: {code}")) } else { Ok(Self(program)) }
    }

    fn log(&self) -> Result<String, String> {
        let device = Gpu::get()?.device.id();
        let log = get_program_build_info(self.0, device, CL_PROGRAM_BUILD_LOG);
        let log = String::from(log.map_err(|code| format!("the log: {code}"))?);
        Ok(log.trim_end_matches('\0').to_owned())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let (Ok(api), false) = (api(), self.0.is_null()) {
            // SAFETY: the program is ours.
            unsafe { (api.clReleaseProgram)(self.0) };
        }
    }
}

/// The three calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Build,
    Compile,
    Link,
}

impl Call {
    /// Makes the call with options, and with [`told`] as its callback if there is user data. Returns the code
    /// and the program.
    fn make(self, options: &CStr, user: *mut c_void) -> Result<(cl_int, Made), String> {
        let (api, gpu) = (api()?, Gpu::get()?);
        let (device, context) = (gpu.device.id(), gpu.context.get());
        let options = options.as_ptr();
        let notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)> = match user.is_null() {
            true => None,
            false => Some(told),
        };
        let program = Made::from_source()?;
        let compile = |options, notify, user| {
            // SAFETY: handles are alive, there is one device and no header, user data is that of the
            // callback.
            unsafe {
                let (headers, names) = (null(), null_mut());
                (api.clCompileProgram)(program.0, 1, &device, options, 0, headers, names, notify, user)
            }
        };
        match self {
            Self::Build => {
                // SAFETY: handles are alive, there is one device, user data is that of the callback.
                let code = unsafe { (api.clBuildProgram)(program.0, 1, &device, options, notify, user) };
                Ok((code, program))
            }
            Self::Compile => Ok((compile(options, notify, user), program)),
            Self::Link => {
                let compiled = compile(null(), None, null_mut());
                if compiled != CL_SUCCESS {
                    return Err(format!("clCompileProgram: {compiled}"));
                }
                let mut code = cl_int::MAX;
                // SAFETY: handles are alive, there is one device and one input, user data is that of the
                // callback.
                let linked = unsafe {
                    (api.clLinkProgram)(context, 1, &device, options, 1, &program.0, notify, user, &mut code)
                };
                Ok((code, Made(linked)))
            }
        }
    }
}

/// A build that cannot begin fails immediately, also with a callback, which is not called; a link then
/// returns no program. What can begin calls it.
fn refused_at_once() -> Outcome {
    for (call, expected) in [
        (Call::Build, CL_INVALID_BUILD_OPTIONS),
        (Call::Compile, CL_INVALID_COMPILER_OPTIONS),
        (Call::Link, CL_INVALID_LINKER_OPTIONS),
    ] {
        let (user, receiver) = callback();
        for user in [null_mut(), user] {
            let (code, program) = call.make(WRONG, user)?;
            let made = !program.0.is_null();
            if code != expected || made != (call != Call::Link) {
                return Err(format!("{call:?}, callback {}: {code}, program {made}", !user.is_null()));
            }
            if made && !program.log()?.contains("-no-such-option") {
                return Err(format!("{call:?}: the log is {:?}", program.log()?));
            }
        }
        let (code, program) = call.make(c"", user)?;
        if code != CL_SUCCESS || program.0.is_null() {
            return Err(format!("{call:?} without options: {code}"));
        }
        receiver.recv_timeout(LONG).map_err(|_| format!("{call:?}: the callback was not called"))?;
        if receiver.try_recv().is_ok() {
            return Err(format!("{call:?}: the callback was called for what did not begin"));
        }
    }
    built_from_binary()
}

/// Options of a build that takes no compiler are looked at, too.
fn built_from_binary() -> Outcome {
    let gpu = Gpu::get()?;
    let binary =
        gpu.build_unchecked(TEXT, "")?.program().get_binaries().map_err(|error| error.to_string())?;
    let devices = [gpu.device.id()];
    // SAFETY: the binary is what the driver gave.
    let again = unsafe { Program::create_from_binary(&gpu.context, &devices, &[binary[0].as_slice()]) };
    let mut again = again.map_err(|error| error.to_string())?;
    match again.build(&devices, "-no-such-option") {
        Err(error) if error.0 == CL_INVALID_BUILD_OPTIONS => {}
        other => return Err(format!("a binary with wrong options: {other:?}")),
    }
    again.build(&devices, "-O2").map_err(|error| format!("a binary with -O2: {error}"))
}

/// Builds, runs and returns the log.
fn log_of(source: &str, options: &str, expected: i32) -> Result<String, String> {
    let gpu = Gpu::get()?;
    let program = gpu.build_unchecked(source, options)?;
    let out = gpu.buffer(&[0i32; 8])?;
    program.run("k", &[out.arg()], &Launch::linear(8, 8))?;
    same(&out.read()?, &[expected; 8]).map_err(|error| format!("{options}: {error}"))?;
    let log = program.program().get_build_log(gpu.device.id()).map_err(|error| error.to_string())?;
    Ok(log.trim_end_matches('\0').to_owned())
}

/// Options that tune other drivers change nothing; the log has a line for each.
fn of_other_drivers() -> Outcome {
    let line = |option: &str| format!("warning: option {option} has no effect\n");
    for option in [
        "-O0",
        "-O1",
        "-O2",
        "-O3",
        "-cl-intel-greater-than-4GB-buffer-required",
        "-cl-intel-reqd-eu-thread-count=4",
        "-cl-nv-verbose",
        "-cl-amd-media-ops",
        "-cl-arm-x",
        "-cl-qcom-x",
        "-cl-pocl-x",
    ] {
        let found = log_of(TEXT, option, 42)?;
        if found != line(option) {
            return Err(format!("{option}: the log is {found:?}"));
        }
        let options = CString::new(option).map_err(|error| error.to_string())?;
        let (code, linked) = Call::Link.make(&options, null_mut())?;
        if code != CL_SUCCESS || linked.log()? != line(option) {
            return Err(format!("a link with {option}: {code}, the log is {:?}", linked.log()?));
        }
    }
    // Neither errors nor values are made of them.
    let several = "-O3 -cl-nv-maxrregcount 32 -Werror -D ANSWER=7";
    let found = log_of("kernel void k(global int *p) { p[get_global_id(0)] = ANSWER; }", several, 7)?;
    if found != line("-O3") + &line("-cl-nv-maxrregcount") {
        return Err(format!("{several}: the log is {found:?}"));
    }
    match log_of(TEXT, "-w -O3", 42)?.as_str() {
        "" => Ok(()),
        found => Err(format!("-w -O3: the log is {found:?}")),
    }
}

/// Unknown options are errors.
fn unknown() -> Outcome {
    for option in [
        "-O4",
        "-Ofast",
        "-cl-nv",
        "-cl-no-such",
        "-x spir",
        "-x c++",
        "-Wl,-x",
        "-U",
        "file.cl",
        "-emit-llvm",
    ] {
        match Gpu::get()?.build_unchecked(TEXT, option) {
            Err(text)
                if text.contains("CL_INVALID_BUILD_OPTIONS") && text.contains("option")
                    || text.contains("language") => {}
            Err(text) => return Err(format!("{option}: {text}")),
            Ok(_) => return Err(format!("{option} was accepted")),
        }
    }
    Ok(())
}

/// Macros come and go in the order of the options.
fn macros() -> Outcome {
    let source = "#ifdef A\n#define VALUE A\n#else\n#define VALUE 5\n#endif
        kernel void k(global int *p) { p[get_global_id(0)] = VALUE; }";
    for (options, expected) in
        [("-DA=1", 1), ("-D A=1 -U A", 5), ("-D A=1 -UA", 5), ("-UA -DA=3", 3), ("-D A=1 -U B", 1)]
    {
        log_of(source, options, expected)?;
    }
    Ok(())
}

fn language() -> Outcome {
    ["-x cl", "-x clc", "-x cl -cl-std=CL1.2"]
        .iter()
        .try_for_each(|options| log_of(TEXT, options, 42).map(drop))
}

/// Clang's warnings can be enabled, disabled, and made errors.
fn warnings() -> Outcome {
    let source = "kernel void k(global int *p) { int unused; p[get_global_id(0)] = 42; }";
    let says = |options: &str, expected: bool| -> Outcome {
        let log = log_of(source, options, 42)?;
        let found = log.contains("unused variable");
        if found == expected { Ok(()) } else { Err(format!("{options}: the log is {log:?}")) }
    };
    says("-Wall", true)?;
    says("-Wunused-variable", true)?;
    says("-Wall -Wno-unused-variable", false)?;
    says("-Wall -Werror -Wno-error=unused-variable", true)?;
    says("-Wall -w", false)?;
    match Gpu::get()?.build_unchecked(source, "-Wall -Werror") {
        Err(text) if text.contains("CL_BUILD_PROGRAM_FAILURE") => Ok(()),
        Err(text) => Err(text),
        Ok(_) => Err("a warning was no error".into()),
    }
}
