//! The path of the compiler.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gencl_program::{environment, variables};

static LIBRARY: OnceLock<PathBuf> = OnceLock::new();

/// Sets the path of the driver's library, whose folder may have the compiler. Later calls have no effect.
pub fn set_library_path(path: &Path) {
    // The path does not change while the library is loaded.
    let _ = LIBRARY.set(path.to_owned());
}

/// The compiler's path: `GENCL_COMPILER`, or else the first candidate that exists. The error lists the
/// candidates.
pub(super) fn compiler() -> Result<PathBuf, String> {
    let wish = environment::trusted_value(variables::COMPILER.name);
    let search = environment::trusted_value("PATH");
    let wish = wish.map(PathBuf::from);
    let places = places(wish.clone(), LIBRARY.get().map(PathBuf::as_path), search.as_deref());
    match (places.iter().find(|place| place.is_file()), wish) {
        (Some(place), _) => Ok(place.clone()),
        (None, Some(wish)) => {
            Err(format!("{}={}: there is no such file", variables::COMPILER.name, wish.display()))
        }
        (None, None) => {
            let tried: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
            let variable = variables::COMPILER.name;
            Err(format!("the compiler genclc is not in {}; {variable} names its path", tried.join(", ")))
        }
    }
}

/// Identifies the compiler at a path by version, size and modification time, for cache keys.
pub(super) fn identity(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let about = std::fs::metadata(path).ok()?;
    Some(format!("{} {} {}.{}", env!("CARGO_PKG_VERSION"), about.size(), about.mtime(), about.mtime_nsec()))
}

/// Candidate paths of the compiler, in order of preference. A `wish` is the only candidate.
fn places(wish: Option<PathBuf>, library: Option<&Path>, search: Option<&std::ffi::OsStr>) -> Vec<PathBuf> {
    if let Some(wish) = wish {
        return vec![wish];
    }
    let mut places = Vec::new();
    let folders = library.into_iter().filter_map(|library| library.parent());
    for folder in folders {
        // In the library's folder in a build tree, in gencl/ of an installed library's folder (for programs
        // that users do not call), in bin of a prefix.
        places.push(folder.join("genclc"));
        places.push(folder.join("gencl/genclc"));
        // Distributions install the library in lib or in a folder of that.
        places.extend(folder.ancestors().skip(1).take(2).map(|prefix| prefix.join("bin/genclc")));
    }
    // Empty and relative parts of PATH depend on the working directory.
    let folders = search.into_iter().flat_map(std::env::split_paths).filter(|folder| folder.is_absolute());
    places.extend(folders.map(|folder| folder.join("genclc")));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_places() {
        let library = Path::new("/opt/x/lib/libgencl.so.1");
        let expected = [
            "/opt/x/lib/genclc",
            "/opt/x/lib/gencl/genclc",
            "/opt/x/bin/genclc",
            "/opt/bin/genclc",
            "/bin/genclc",
        ];
        assert_eq!(places(None, Some(library), Some(":./x:/bin:".as_ref())), expected.map(PathBuf::from));
        assert_eq!(places(Some("/a".into()), Some(library), None), [PathBuf::from("/a")]);
    }
}
