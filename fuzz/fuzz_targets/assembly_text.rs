//! [`gencl_fuzz::assembly_text`] for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gencl_fuzz::assembly_text(data));
