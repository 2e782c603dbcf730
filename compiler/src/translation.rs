//! Requests of the compile server for translations to host code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use gencl_eu::abi::{Answer, Request, VERSION};
use gencl_program::debug::{self, Debug};
use gencl_program::report;
use gencl_translator::host::Host;
use gencl_translator::{Choices, Context, to_ir, translate};

/// Answers a request; both are in `postcard` encoding. Errors are answers as well.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let answer: Answer = match postcard::from_bytes::<Request>(request) {
        Ok(Request { version, .. }) if version != VERSION => Err(format!(
            "the driver has version {version} of the translation ABI, the translator version {VERSION}"
        )),
        Ok(request) => catch_unwind(AssertUnwindSafe(|| {
            let (debug, _) = Debug::from_environment();
            let choices = Choices { host: host(&debug), ..Choices::default() };
            if let Some(folder) = debug.value(debug::TRANSLATIONS) {
                show(&request, &choices, Path::new(folder));
            }
            translate(&request, &choices)
        }))
        .unwrap_or_else(|panic| Err(format!("the translator failed: {}", message(&*panic)))),
        Err(error) => Err(format!("malformed request for a translation: {error}")),
    };
    // Numbers, texts and bytes can be written.
    postcard::to_stdvec(&answer).unwrap_or_default()
}

/// Lowers the priority of this process, and initialises LLVM.
///
/// The application is not to wait for the processor because of a translation; it interprets meanwhile. The priority is not the lowest: a translation that
/// never gets the processor on a busy machine would leave a long launch interpreted.
pub fn warm_up() {
    // SAFETY: it only changes the priority. If it fails, the priority stays.
    unsafe { libc::nice(NICE) };
    // An error is that of the first translation, too.
    let _ = catch_unwind(gencl_translator::warm_up);
}

/// How much nicer the process is than the application: it gets a third of a processor that both want.
const NICE: i32 = 5;

/// The host processor of translations: this machine's, unless a debug option sets another.
pub fn host(debug: &Debug) -> &'static Host {
    debug.value(debug::HOST).and_then(Host::named).unwrap_or_else(Host::own)
}

/// Writes the translation of a kernel for debugging: `PROCESS-NUMBER-TIER.mir`, the middle IR after all passes, and the same with `.ll` and `.s`.
fn show(request: &Request, choices: &Choices, folder: &Path) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let context = Context::create();
    let Ok(written) = to_ir(&context, request, choices) else { return };
    let tier = format!("{:?}", request.tier).to_lowercase();
    let name = format!("{}-{}-{tier}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let write = |ending: &str, text: &str| {
        let path = folder.join(&name).with_extension(ending);
        if let Err(error) = std::fs::write(&path, text) {
            let path = path.display();
            report::once("translations", &format!("a translation is not written: {path}: {error}"));
        }
    };
    write("mir", &written.middle.to_string());
    // The IR is written first, in case LLVM does not terminate.
    write("ll", &written.module.print_to_string().to_string());
    write("s", &choices.host.assembly(&written.module, request.tier).unwrap_or_else(|error| error));
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gencl_eu::abi::Tier;

    #[test]
    fn all_hosts_of_the_table_are_known() {
        let option = debug::OPTIONS.iter().find(|option| option.name == debug::HOST).unwrap();
        assert!(option.value.split('|').all(|name| Host::named(name).is_some()));
        let (named, complaints) = Debug::parse("host=v2");
        assert_eq!((host(&named).vectors.bytes, complaints.len()), (16, 0));
        assert!(std::ptr::eq(host(&Debug::default()), Host::own()));
    }

    #[test]
    fn nonsense_is_answered() {
        let answered =
            |request: &[u8]| postcard::from_bytes::<Answer>(&answer(request)).unwrap().unwrap_err();
        assert!(answered(&[]).contains("malformed"));
        let variant = gencl_eu::abi::Variant {
            simd_width: 8,
            full: true,
            cross_thread: 0,
            per_thread: Vec::new(),
            indirect_data: false,
            control: 0,
            local: false,
            scratch: 0,
            flat: false,
            images: Vec::new(),
            barrier: false,
            single_thread: false,
            spins: false,
            strict: true,
            counted: false,
        };
        let request = Request {
            version: VERSION + 1,
            device: "skl".into(),
            code: Vec::new(),
            variant,
            tier: Tier::Optimised,
        };
        assert!(answered(&postcard::to_stdvec(&request).unwrap()).contains("version"));
        let request = Request { version: VERSION, ..request };
        answered(&postcard::to_stdvec(&request).unwrap());
    }
}
