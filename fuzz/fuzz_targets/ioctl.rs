//! [`gencl_fuzz::ioctl`] for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gencl_fuzz::ioctl(data));
