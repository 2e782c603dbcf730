//! A preload library that shows an Intel render node to any program.
//!
//! The program's calls of the C library that concern the node come here first ([`interpose`]). Paths below
//! `/dev/dri` and the parts of `/sys` that drivers read lead to a folder of real files and links ([`paths`]), which
//! `gencl-sim` has made. Opening the node gives a real descriptor, which is remembered as ours ([`files`]); requests
//! on it are decoded ([`requests`]) and answered by a [`gencl_simulator::Simulator`] of its own.
//!
//! The caller's memory is only touched through [`caller`], where a bad address is `EFAULT` and no crash.
//!
//! Variables that `gencl-sim` sets: see [`options`].

mod caller;
mod contexts;
mod files;
mod interpose;
mod memory;
mod options;
mod paths;
mod real;
mod requests;
mod submit;
