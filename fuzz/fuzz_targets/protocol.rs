//! [`gencl_fuzz::protocol`] for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gencl_fuzz::protocol(data));
