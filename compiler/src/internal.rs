//! Faults of the compiler itself, as users see them.

use gencl_program::debug::{self, Debug};

/// The lines of a build log about a fault of the compiler itself: what it means and what to do. Its internal text,
/// `detail`, follows with `GENCL_DEBUG=validate` only. `kernel` is empty when it is not known.
pub fn message(kernel: &str, detail: &str, debug: &Debug) -> String {
    let kernel = if kernel.is_empty() { String::new() } else { format!(" kernel {kernel}:") };
    let mut text = format!(
        "error:{kernel} internal error of the compiler, which is not the program's fault; please report it with the \
         source, the build options and the build log with GENCL_DEBUG={}\n",
        debug::VALIDATE
    );
    if debug.is_set(debug::VALIDATE) {
        detail.lines().for_each(|line| text += &format!("    {line}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_text_is_for_those_who_ask() {
        let detail = "input broke kernel k: source %0 is a Byte";
        let shown = message("k", detail, &Debug::default());
        assert!(shown.starts_with("error: kernel k: internal error of the compiler"), "{shown}");
        assert!(!shown.contains("%0"), "{shown}");
        let shown = message("", detail, &Debug::parse("validate").0);
        assert!(shown.starts_with("error: internal error"), "{shown}");
        assert!(shown.ends_with("\n    input broke kernel k: source %0 is a Byte\n"), "{shown}");
    }
}
