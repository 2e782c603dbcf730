//! The families by name.

/// Declares the families: the name that tools take, and the code name.
macro_rules! families {
    ($($family:ident $name:literal $codename:literal;)*) => {
        /// Devices that share a description, oldest first; named as in Mesa.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Family {
            $(#[doc = $codename] $family,)*
        }

        impl Family {
            /// All families, oldest first.
            pub const ALL: &'static [Family] = &[$(Family::$family),*];

            /// The name that `genclc --target` takes: `skl`.
            pub const fn name(self) -> &'static str {
                match self { $(Family::$family => $name,)* }
            }

            /// The name for people: `Skylake`.
            pub const fn codename(self) -> &'static str {
                match self { $(Family::$family => $codename,)* }
            }

            /// The family with a name, if there is one.
            pub fn from_name(name: &str) -> Option<Family> {
                match name { $($name => Some(Family::$family),)* _ => None }
            }
        }
    };
}

families! {
    Ivb "ivb" "Ivy Bridge";
    Byt "byt" "Bay Trail";
    Hsw "hsw" "Haswell";
    Bdw "bdw" "Broadwell";
    Chv "chv" "Cherryview";
    Skl "skl" "Skylake";
    Bxt "bxt" "Apollo Lake";
    Kbl "kbl" "Kaby Lake";
    Glk "glk" "Gemini Lake";
    Cfl "cfl" "Coffee Lake";
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_families() {
        assert!(Family::ALL.iter().all(|family| Family::from_name(family.name()) == Some(*family)));
        assert_eq!(Family::from_name("none"), None);
    }
}
