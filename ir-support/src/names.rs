//! Names of the text form.

/// Gives enumerations names: the printer, the parser and messages read them there.
///
/// `names! { Type { Case = "name", ... } ... }` gives each type `ALL`, `name`, `from_name` and `Display`.
#[macro_export]
macro_rules! names {
    ($($type:ident { $($case:ident = $name:literal),* $(,)? })*) => {$(
        impl $type {
            /// All values.
            pub const ALL: &'static [$type] = &[$($type::$case),*];

            /// Its name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($type::$case => $name),* }
            }

            /// The value of a name.
            pub fn from_name(name: &str) -> Option<$type> {
                match name { $($name => Some($type::$case),)* _ => None }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Color {
        Red,
        Blue,
    }

    names! { Color { Red = "red", Blue = "blue" } }

    #[test]
    fn names_are_read_back() {
        assert_eq!(Color::ALL, [Color::Red, Color::Blue]);
        assert!(Color::ALL.iter().all(|color| Color::from_name(&color.to_string()) == Some(*color)));
        assert_eq!(Color::from_name("green"), None);
    }
}
