//! Images.

pub mod create;
mod descriptor;
pub mod formats;
pub mod info;
