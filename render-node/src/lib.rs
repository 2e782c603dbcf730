//! A preload library that shows an Intel render node to any program.
//!
//! The program's calls of the C library that concern the node come here first ([`interpose`],
//! [`interpose_paths`]). Paths below `/dev/dri` and the parts of `/sys` that drivers read lead to a folder of
//! real files and links ([`paths`]), which `gencl-sim` has made. Opening the node gives a real descriptor
//! ([`files`]), which is remembered as ours ([`descriptors`]); requests on it are decoded ([`requests`]) and
//! answered by a [`gencl_simulator::Simulator`] of its own. Sync objects and sync files, which are the DRM
//! core's and not i915's, are in [`syncobj`] and [`sync_file`].
//!
//! The caller's memory is only touched through [`caller`], where a bad address is `EFAULT` and no crash.
//!
//! Variables that `gencl-sim` sets: see [`options`].

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
mod options;
mod paths;
mod prime;
mod real;
mod requests;
mod submissions;
mod submit;
mod sync_file;
mod syncobj;
