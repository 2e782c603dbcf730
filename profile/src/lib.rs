//! Profiles of OpenCL programs on a simulated Gen GPU, by kernel, source line and machine instruction.
//!
//! The simulator counts what each instruction does and how long it waits (`docs/statistics.md`); the compiler writes
//! source locations into the programs' ELF files. [`collect`] joins both to one report, [`analysis`] sums it up, and all
//! other modules write it in one format each. `docs/profiling.md` is the user's page.

pub mod advice;
pub mod analysis;
mod barriers;
pub mod callgrind;
mod code;
pub mod collect;
mod columns;
pub mod compare;
pub mod devices;
mod dwarf;
mod faults;
pub mod flame;
pub mod html;
mod launches;
mod limit;
pub mod lines;
mod names;
pub mod output;
mod perfetto;
pub mod pprof;
mod reasons;
pub mod run;
mod source;
pub mod table;
pub mod timings;
pub mod trace;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
