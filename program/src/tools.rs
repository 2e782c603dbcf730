//! Which checks a program gets (`GENCL_DEBUG=check`).

use crate::debug::{self, Debug};

/// What is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    /// Accesses are within their objects.
    pub memory: bool,
    /// Operations have defined results.
    pub arithmetic: bool,
    /// Accesses do not race with each other.
    pub race: bool,
    /// All work-items come to barriers.
    pub sync: bool,
    /// Undefined values decide nothing.
    pub undefined: bool,
    /// Calls of the API are right.
    pub api: bool,
    /// Commands that use the same memory are ordered.
    pub order: bool,
    /// Integers are shifted by less than their width.
    pub shift: bool,
    /// Signed integers do not overflow.
    pub overflow: bool,
}

impl Tools {
    /// The names of the tools.
    pub const NAMES: [&str; 9] =
        ["memory", "arithmetic", "race", "sync", "undefined", "api", "order", "shift", "overflow"];

    /// How many of them are used if none is named. What the others find is a fault in some programs only.
    const DEFAULTS: usize = 7;

    /// Those that are code of kernels, and leave nothing elsewhere as they run.
    pub const OF_CODE: [&str; 6] = ["memory", "arithmetic", "sync", "undefined", "shift", "overflow"];

    /// How many of these are used if none is named.
    const CODE_DEFAULTS: usize = 4;

    /// Those of [`Tools::OF_CODE`] that are meant by no names, as debug options have them.
    #[must_use]
    pub fn default_code() -> String {
        Self::OF_CODE[..Self::CODE_DEFAULTS].join("+")
    }

    /// Names that stand for several: those that are used if none is named, and all.
    pub const SETS: [&str; 2] = ["default", "all"];

    /// Those that debug options ask for: with [`debug::CHECK`] those of [`debug::CHECK_TOOLS`].
    #[must_use]
    pub fn of(debug: &Debug) -> Self {
        let [default, all] = Self::SETS;
        let names = debug.value(debug::CHECK_TOOLS).unwrap_or(default);
        let is_asked = |index: usize| {
            let is_meant =
                |name| name == Self::NAMES[index] || name == all || name == default && index < Self::DEFAULTS;
            debug.is_set(debug::CHECK) && names.split('+').any(is_meant)
        };
        let [memory, arithmetic, race, sync, undefined, api, order, shift, overflow] =
            std::array::from_fn(is_asked);
        Self { memory, arithmetic, race, sync, undefined, api, order, shift, overflow }
    }

    /// Whether anything is checked in kernels.
    #[must_use]
    pub fn any(self) -> bool {
        Self { api: false, ..self } != Self::default()
    }

    /// Whether operations of the source are checked, which need no memory.
    #[must_use]
    pub fn any_of_operations(self) -> bool {
        self.arithmetic || self.shift || self.overflow
    }

    /// Whether anything else is.
    #[must_use]
    pub fn any_of_accesses(self) -> bool {
        Self { arithmetic: false, shift: false, overflow: false, ..self }.any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_tools_are_used_or_those_that_are_named() {
        let tools = |text| Tools::of(&Debug::parse(text).0);
        assert!(!tools("check-tools=race").any());
        let usual = Tools {
            memory: true,
            arithmetic: true,
            race: true,
            sync: true,
            undefined: true,
            api: true,
            order: true,
            shift: false,
            overflow: false,
        };
        assert_eq!(tools("check"), usual);
        assert_eq!(
            tools("check,check-tools=race+memory"),
            Tools { memory: true, race: true, ..Tools::default() }
        );
        assert_eq!(tools("check,check-tools=default+shift"), Tools { shift: true, ..usual });
        assert_eq!(tools("check,check-tools=all"), Tools { shift: true, overflow: true, ..usual });
        assert!(tools("check,check-tools=order").any() && !tools("check,check-tools=api").any());
        let overflow = tools("check,check-tools=overflow");
        assert!(overflow.any_of_operations() && !overflow.any_of_accesses());
    }
}
