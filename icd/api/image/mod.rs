//! Images.

pub mod create;
mod descriptor;
pub mod formats;
pub mod info;
pub mod requirements;
