//! A short run of the fuzzer (`make fuzz-ioctl MINUTES=30`).

use crate::support::gencl_sim;

/// A seed and a number of requests that take some seconds.
const ARGUMENTS: &[&str] = &["--seed", "1", "--seconds", "2", "--processes", "2", "--threads", "2"];

#[test]
fn no_request_does_harm() {
    for device in ["skl", "bdw"] {
        let out = gencl_sim()
            .args(["--device", device, "--", env!("CARGO_BIN_EXE_gencl-fuzz-ioctl")])
            .args(ARGUMENTS)
            .output()
            .expect("gencl-sim starts");
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{device}: {text}\n{}", String::from_utf8_lossy(&out.stderr));
        assert!(text.contains("no fault"), "{device}: {text}");
    }
}
