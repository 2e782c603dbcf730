//! Tests of the EUs: text files with assembly and expected registers and memory, fast paths against the
//! general path, divergent control flow against one lane at a time.

mod files;
mod flow;
mod functions;
mod images;
mod paths;
pub mod script;
mod state;
