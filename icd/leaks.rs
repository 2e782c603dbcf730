//! Objects and allocations that the application has not released when the process ends, for `GENCL_DEBUG=check`.

use std::sync::LazyLock;

use gencl_program::misuse::MisuseKind;
use gencl_runtime::calls::Call;
use gencl_runtime::findings::{self, Fault};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::{fork, handle, misuse};

/// Allocations of shared virtual memory, by address.
static ALLOCATIONS: LazyLock<Mutex<FxHashMap<usize, Call>>> = LazyLock::new(Mutex::default);

/// The application has allocated shared virtual memory.
pub fn allocated(address: usize) {
    if misuse::is_on() {
        ALLOCATIONS.lock().insert(address, Call::here());
    }
}

/// The application frees what is at an address, which may be null.
pub fn freed(address: usize) {
    if misuse::is_on() && address != 0 && ALLOCATIONS.lock().remove(&address).is_none() {
        misuse::report(MisuseKind::InvalidHandle, || {
            format!(
                "{} gets a pointer to no allocation, or to one that was freed",
                gencl_runtime::calls::current()
            )
        });
    }
}

/// Called after all functions of `atexit` and destructors of the program: objects of C++ that are static may have handles.
extern "C" fn at_exit() {
    if !misuse::is_on() || fork::in_child() {
        return;
    }
    let leak = |text: String, call: Call| {
        let text = format!("{text}, made by {}, is never released", call.function);
        findings::fault(Fault { kind: MisuseKind::ObjectLeak, text, call, other: None });
    };
    if !misuse::has_given_up() {
        handle::each_owned(leak);
        ALLOCATIONS.lock().values().for_each(|call| leak("an allocation".to_owned(), *call));
    }
    findings::finish();
}

// The dynamic linker calls what is in this section, before it would unload the library.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;
