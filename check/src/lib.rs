//! `gencl-check`: runs a program whose kernels are built with checks and whose calls are checked, and reports what is found.
//!
//! The driver writes findings to a folder (`GENCL_DEBUG=check,check-output=FOLDER`). [`collect`] joins those of all
//! processes and launches, [`suppress`] drops those that the user knows, [`output`] writes the others.

pub mod collect;
pub mod output;
pub mod suppress;
