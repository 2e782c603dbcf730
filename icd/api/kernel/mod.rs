//! Kernels.

pub mod argument;
pub mod argument_info;
pub mod create;
pub mod info;
pub mod references;
pub mod sub_group_info;
pub mod work_group_info;
