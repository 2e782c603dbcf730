//! Every query of OpenCL 3.1: its type, its size, and what becomes of wrong sizes, null and names that there
//! are not.

mod ask;
mod extensions;
mod limits;
pub mod objects;
mod versions;

pub(crate) use ask::queries;
pub use ask::{Ask, HANDLE, Query, SIZE, Shape, UINT, ULONG, answer, check_all, expect, number, text};
pub(crate) use objects::ask;

use gencl_utest::{Case, Need};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("information_platform", objects::platform),
        Case::new("information_device", objects::device),
        Case::new("information_context", objects::context),
        Case::new("information_queue", objects::queue),
        Case::new("information_memory", objects::memory),
        Case::new("information_program", objects::program),
        Case::new("information_kernel", objects::kernel),
        Case::new("information_sub_groups", objects::sub_groups).needing(Need::SubGroups),
        Case::new("information_event", objects::event),
        Case::new("information_limits", limits::limits),
        Case::new("information_extensions", limits::extensions),
        Case::of_gencl("others have other extensions", "extensions_whole", extensions::whole),
        Case::of_gencl("others have other extensions", "extensions_macros", extensions::macros),
        Case::of_gencl("its binaries", "extensions_spills", extensions::spills),
        Case::of_gencl("others have other versions", "versions_api", versions::of_api),
        Case::of_gencl("others have other versions", "versions_language", versions::of_language),
        Case::of_gencl("others have other features", "versions_features", versions::features),
        Case::new("information_arguments", limits::argument_information),
    ]
}
