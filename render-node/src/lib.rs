//! A preload library that provides a simulated Intel render node to any program.
//!
//! It interposes functions of the C library ([`interpose`], [`interpose_paths`]). Paths below `/dev/dri` and
//! the parts of `/sys` that drivers read are redirected ([`paths`]) to a folder of files and links that
//! `gencl-sim` has made. Opening the node returns a real descriptor ([`files`]), which is entered in a table
//! ([`descriptors`]). Requests on it are decoded ([`requests`]) and executed by a
//! [`gencl_simulator::Simulator`] for each open file. Sync objects and sync files, which belong to the DRM
//! core and not to i915, are in [`syncobj`] and [`sync_file`].
//!
//! The caller's memory is only accessed by [`caller`], where an invalid address is `EFAULT`, not a crash.
//!
//! `gencl-sim` passes options in environment variables ([`options`]).

mod caller;
mod contexts;
mod denied;
mod descriptors;
mod driver;
mod engines;
mod exec_fences;
mod files;
mod interpose;
mod interpose_paths;
mod memory;
mod open_file;
mod options;
mod paths;
mod prime;
mod real;
mod requests;
mod submissions;
mod submit;
mod sync_file;
mod syncobj;
