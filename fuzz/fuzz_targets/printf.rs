//! [`gencl_fuzz::printf`] for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gencl_fuzz::printf(data));
