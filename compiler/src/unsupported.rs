//! Features of OpenCL C that no device has, for messages that say so instead of what clang makes of their names.

/// A feature: what is said of it, the variable or function names of sources that need it, and those that clang's code
/// begins with.
const FEATURES: &[(&str, &[&str])] = &[
    (
        "device-side enqueue is not supported",
        &[
            "queue_t",
            "clk_event_t",
            "ndrange_t",
            "ndrange_1D",
            "ndrange_2D",
            "ndrange_3D",
            "enqueue_kernel",
            "enqueue_marker",
            "get_default_queue",
            "get_kernel_work_group_size",
            "get_kernel_preferred_work_group_size_multiple",
            "get_kernel_sub_group_count_for_ndrange",
            "get_kernel_max_sub_group_size_for_ndrange",
            "create_user_event",
            "set_user_event_status",
            "capture_event_profiling_info",
        ],
    ),
    (
        "pipes are not supported",
        &[
            "pipe",
            "read_pipe",
            "write_pipe",
            "reserve_read_pipe",
            "reserve_write_pipe",
            "commit_read_pipe",
            "commit_write_pipe",
            "reserve_id_t",
            "get_pipe_num_packets",
            "get_pipe_max_packets",
            "work_group_reserve_read_pipe",
            "work_group_reserve_write_pipe",
        ],
    ),
];

/// What is said of a function that a kernel calls and nobody defines, if a feature has it: `get_default_queue`, and
/// `__read_pipe_2`, which clang calls for `read_pipe`.
pub fn function(name: &str) -> Option<&'static str> {
    let name = name.trim_start_matches('_');
    let has = |names: &[&str]| names.iter().any(|own| name.starts_with(own));
    FEATURES.iter().find(|(_, names)| has(names)).map(|(what, _)| *what)
}

/// Notes on the errors in clang's log, one for each feature that is named in one, with its place.
pub fn notes(log: &str) -> String {
    let mut notes = String::new();
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((place, message)) = line.split_once(" error: ") else { continue };
        // OpenCL C 1.2 does not know the word: an argument `pipe int x` has no type there.
        let excerpt = lines.peek().filter(|_| message.starts_with("type specifier missing"));
        let words = excerpt.into_iter().flat_map(|line| line.split([' ', ',', '(']));
        let named: Vec<&str> = message.split('\'').skip(1).step_by(2).chain(words).collect();
        for (what, names) in FEATURES {
            let name = names.iter().find(|name| named.contains(name));
            if let Some(name) = name.filter(|_| !notes.contains(what)) {
                notes += &format!("{place} note: {what} ({name})\n");
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_belong_to_features() {
        let (enqueue, pipes) = (FEATURES[0].0, FEATURES[1].0);
        assert_eq!(function("get_default_queue"), Some(enqueue));
        assert_eq!(function("__enqueue_kernel_basic"), Some(enqueue));
        assert_eq!(function("__read_pipe_2"), Some(pipes));
        assert_eq!(function("frobnicate"), None);
    }

    #[test]
    fn each_feature_is_noted_once_at_its_place() {
        let log = "a.cl:2:3: error: use of undeclared identifier 'queue_t'\n    2 |   queue_t q;\n\
                   a.cl:4:3: error: use of undeclared identifier 'enqueue_kernel'\n\
                   a.cl:5:1: error: type specifier missing, defaults to 'int'\n    5 | kernel void k(pipe int q) {\n";
        let expected = "a.cl:2:3: note: device-side enqueue is not supported (queue_t)\n\
                        a.cl:5:1: note: pipes are not supported (pipe)\n";
        assert_eq!(notes(log), expected);
        assert_eq!(notes("a.cl:1:1: error: use of undeclared identifier 'pipes'\n  1 | pipe pipes;\n"), "");
    }
}
