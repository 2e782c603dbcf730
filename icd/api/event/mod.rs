//! Events.

pub mod callback;
pub mod info;
pub mod references;
pub mod user;
pub mod wait;
