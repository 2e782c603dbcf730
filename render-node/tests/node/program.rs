//! Unmodified programs, run by `gencl-sim`.

use std::process::Output;

use crate::support::gencl_sim;

fn run(arguments: &[&str]) -> Output {
    gencl_sim().args(arguments).output().expect("gencl-sim starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_node_is_listed_and_is_a_character_device() {
    let out = run(&["--", "stat", "-L", "-c", "%F %t:%T", "/dev/dri/by-path/pci-0000:00:02.0-render"]);
    assert_eq!(text(&out.stdout), "character special file e2:80\n", "{}", text(&out.stderr));
}

#[test]
fn drivers_find_the_device_in_sysfs() {
    for (path, expected) in [
        ("/sys/dev/char/226:128/device/vendor", "0x8086\n"),
        ("/sys/bus/pci/devices/0000:00:02.0/device", "0x1912\n"),
        ("/sys/class/drm/renderD128/device/revision", "0x06\n"),
        ("/sys/class/drm/renderD128/device/drm/card0/error", "No error state collected\n"),
    ] {
        let out = run(&["--", "cat", path]);
        assert_eq!(text(&out.stdout), expected, "{path}: {}", text(&out.stderr));
    }
}

#[test]
fn the_exit_code_is_the_programs() {
    assert_eq!(run(&["--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(run(&["--", "sh", "-c", "kill -9 $$"]).status.code(), Some(128 + 9));
    assert_eq!(run(&["--", "/nonexistent"]).status.code(), Some(127));
    assert_eq!(run(&["--device", "voodoo", "--", "true"]).status.code(), Some(2));
}
