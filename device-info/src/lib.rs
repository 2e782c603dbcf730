//! What is known of each supported GPU: the one description from which the compiler's code generation, the features
//! that programs may use and the runtime's properties of devices follow.
//!
//! A [`Family`] is what `genclc --target` and `GENCL_DEVICE=sim:` name. Its [`DeviceInfo`] has all that its devices
//! share; a [`Model`] adds the number of units, and PCI ids name the models. The simulated devices
//! (`gencl_eu::device`) and the command streamer have tables of their own, written from the manuals, as the code that
//! these descriptions lead to is tested on them; tests compare both.

mod families;
mod family;
mod generations;
mod info;
mod models;
mod pci_ids;

pub use family::Family;
pub use info::{
    AddressModel, AddressSpaceKind, DeviceInfo, Execution, IpVersion, Messages, Payload, SINGLE_DENORMALS,
    Threads,
};
pub use models::Model;
pub use pci_ids::by_pci_id;
