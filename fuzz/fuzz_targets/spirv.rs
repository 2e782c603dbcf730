//! [`gencl_fuzz::spirv`] for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gencl_fuzz::spirv(data));
