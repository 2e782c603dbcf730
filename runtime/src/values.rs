//! Enumerations of the C API.

/// Defines an enumeration with the values of the C API.
macro_rules! values {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $value:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        #[allow(missing_docs, reason = "named as in cl.h")]
        pub enum $name {
            $($variant = $value,)*
        }

        impl $name {
            /// The variant with a value of the C API.
            pub fn from_value(value: u32) -> Option<Self> {
                match value {
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use values;
