//! Suggestions for misspelt words.

/// The candidate that differs from a word by few insertions, deletions, replacements and transpositions: one, and one more for
/// every five characters.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + word.len() / 5;
    let distances = candidates.into_iter().map(|other| (strsim::damerau_levenshtein(word, other), other));
    // A word of three characters has nothing in common with one that differs in two.
    distances
        .filter(|&(distance, _)| distance <= limit && 2 * distance < word.len())
        .min()
        .map(|(_, other)| other)
}

/// The end of a message about an unknown word: `; did you mean X?`, or nothing.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |other| format!("; did you mean {other}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_are_mistakes() {
        let words = ["GENCL_CACHE", "GENCL_CACHE_SIZE", "GENCL_DEVICE", "GENCL_DEVICE_TYPE"];
        assert_eq!(nearest("GENCL_DEVCE", words), Some("GENCL_DEVICE"));
        assert_eq!(nearest("GENCL_CACHESIZE", words), Some("GENCL_CACHE_SIZE"));
        assert_eq!(nearest("GENCL_LIBCLC_FOLDER", words), None);
        assert_eq!(nearest("ab", ["cd", "a"]), None);
        assert_eq!(did_you_mean("irr", ["ir", "asm"]), "; did you mean ir?");
    }
}
