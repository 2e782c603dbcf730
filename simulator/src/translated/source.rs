//! The settings that concern translation.

use std::fmt;
use std::sync::Arc;

use gencl_eu::abi::TranslationSource;

/// A [`TranslationSource`] as a setting.
#[derive(Clone)]
pub struct Source(pub Arc<dyn TranslationSource>);

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Source {}

/// How kernels are executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// Interpreted first; kernels that take long enough are translated meanwhile.
    #[default]
    Auto,
    /// Translated before they are executed, where that is possible.
    Translate,
    /// Interpreted.
    Interpret,
}

/// The environment variable that selects an [`EngineChoice`].
pub const ENGINE: &str = "GENCL_ENGINE";

impl EngineChoice {
    /// Parses a value of [`ENGINE`]; empty is `auto`.
    ///
    /// # Errors
    /// A message for the user.
    pub fn named(name: &str) -> Result<EngineChoice, String> {
        match name {
            "" | "auto" => Ok(EngineChoice::Auto),
            "translate" => Ok(EngineChoice::Translate),
            "interpret" => Ok(EngineChoice::Interpret),
            other => Err(format!("{ENGINE}={other}: it may be auto, translate or interpret")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EngineChoice;

    #[test]
    fn choices_have_names() {
        let named = |name| EngineChoice::named(name);
        assert_eq!(named(""), Ok(EngineChoice::Auto));
        assert_eq!(named("translate"), Ok(EngineChoice::Translate));
        assert_eq!(named("interpret"), Ok(EngineChoice::Interpret));
        assert!(named("fast").is_err());
    }
}
