//! The table of environment variables that users set: what each takes.

use crate::debug::Debug;
use crate::{environment, suggest};

/// What a variable takes.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A number, not smaller than `least`.
    Number {
        /// What it counts.
        unit: &'static str,
        /// The smallest one.
        least: f64,
    },
    /// Debug options.
    Debug,
    /// Names of devices or files, which their readers check.
    Names(&'static str),
}

/// A variable.
#[derive(Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub values: Values,
    /// Description.
    pub help: &'static str,
}

macro_rules! variables {
    ($($constant:ident $name:literal $values:expr, $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $constant: Variable = Variable { name: $name, values: $values, help: $help };
        )*

        /// All variables that users set. Those between programs of gencl are with the programs.
        pub const VARIABLES: &[Variable] = &[$($constant),*];
    };
}

variables! {
    DEBUG "GENCL_DEBUG" Values::Debug, "Debug options, separated by commas.";
    DEVICE "GENCL_DEVICE" Values::Names("sim:NAME, the path of a render node, or several of these, separated by commas"),
        "The devices. By default all supported render nodes, or else a simulated GPU.";
    DEVICE_TYPE "GENCL_DEVICE_TYPE" Values::Words(&["cpu", "gpu"]), "The reported device type.";
    ENGINE "GENCL_ENGINE" Values::Words(&["auto", "translate", "interpret"]), "How the simulator executes kernels.";
    HANG_LIMIT "GENCL_HANG_LIMIT" Values::Number { unit: "seconds", least: 0.0 },
        "Time without progress after which the simulator stops a batch.";
    COMPILER "GENCL_COMPILER" Values::Names("the path of genclc"), "The compiler.";
    BUILD_TIMEOUT "GENCL_BUILD_TIMEOUT" Values::Number { unit: "seconds", least: 1.0 }, "Time limit of a build.";
    BUILD_MEMORY "GENCL_BUILD_MEMORY" Values::Number { unit: "MiB", least: 1.0 }, "Memory limit of the compiler.";
    CACHE "GENCL_CACHE" Values::Names("off, or the path of a folder"), "The kernel cache.";
    CACHE_SIZE "GENCL_CACHE_SIZE" Values::Number { unit: "MiB", least: 0.0 }, "Size limit of the kernel cache.";
    RENDER_NODE_LIBRARY "GENCL_RENDER_NODE_LIBRARY" Values::Names("the path of libgencl_render_node.so"),
        "The library that gencl-sim preloads.";
}

/// The beginning of all names.
const PREFIX: &str = "GENCL_";

impl Variable {
    /// What it takes, as a phrase for messages.
    #[must_use]
    pub fn takes(&self) -> String {
        match self.values {
            Values::Words(words) => match words.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                _ => words.concat(),
            },
            Values::Number { unit, least } => format!("a number of {unit}, {least} or more"),
            Values::Debug => "debug options, separated by commas".to_owned(),
            Values::Names(what) => what.to_owned(),
        }
    }

    /// The number that a value is, if it is one that the variable takes.
    #[must_use]
    pub fn number(&self, value: &str) -> Option<f64> {
        let Values::Number { least, .. } = self.values else { return None };
        value.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= least)
    }

    /// Messages about a value: why the variable does not take it, with what it takes. Names are not checked.
    #[must_use]
    pub fn complaints(&self, value: &str) -> Vec<String> {
        let valid = match self.values {
            Values::Words(words) => words.contains(&value),
            Values::Number { .. } => self.number(value).is_some(),
            Values::Debug => return Debug::parse(value).1,
            Values::Names(_) => true,
        };
        if valid { Vec::new() } else { vec![format!("{}={value}: it takes {}", self.name, self.takes())] }
    }
}

/// Messages about variables of the environment that do not exist and are similar to one that does.
#[must_use]
pub fn misspelt() -> Vec<String> {
    let unknown = environment::names()
        .filter(|name| name.starts_with(PREFIX) && VARIABLES.iter().all(|v| v.name != name));
    unknown.filter_map(|name| complaint_about(&name)).collect()
}

fn complaint_about(name: &str) -> Option<String> {
    let nearest = suggest::nearest(name, VARIABLES.iter().map(|variable| variable.name))?;
    Some(format!("{name} is ignored: there is no such variable; did you mean {nearest}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked() {
        let only = |variable: &Variable, value: &str| variable.complaints(value).concat();
        assert_eq!(only(&DEVICE_TYPE, "gpu"), "");
        assert_eq!(only(&DEVICE_TYPE, "tpu"), "GENCL_DEVICE_TYPE=tpu: it takes cpu or gpu");
        assert_eq!(only(&ENGINE, "fast"), "GENCL_ENGINE=fast: it takes auto, translate or interpret");
        assert_eq!(only(&CACHE_SIZE, "0"), "");
        assert_eq!(only(&BUILD_MEMORY, "0"), "GENCL_BUILD_MEMORY=0: it takes a number of MiB, 1 or more");
        for value in ["", "x", "-1", "nan", "inf", "1e999"] {
            assert!(!HANG_LIMIT.complaints(value).is_empty(), "{value:?}");
        }
        assert_eq!(DEBUG.complaints("irr,asm").len(), 1);
    }

    #[test]
    fn misspelt_names_are_found() {
        assert_eq!(
            complaint_about("GENCL_DEVCE").unwrap(),
            "GENCL_DEVCE is ignored: there is no such variable; did you mean GENCL_DEVICE?"
        );
        for name in
            ["GENCL_RENDER_NODE_ROOT", "GENCL_UTEST_CHILD", "GENCL_LIBCLC", "GENCL_RENDER_NODE_DEVICE"]
        {
            assert_eq!(complaint_about(name), None);
        }
    }

    #[test]
    fn the_documents_have_all_variables() {
        let page = include_str!("../../docs/debugging.md");
        for variable in VARIABLES {
            assert!(page.contains(&format!("| `{}` |", variable.name)), "{}", variable.name);
        }
    }
}
