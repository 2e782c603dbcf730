//! The ICD loader, and the drivers that it finds.

use std::path::{Path, PathBuf};

use dlopen2::raw::Library;
use gencl_program::environment;
use serde::Serialize;

use super::child;
use super::driver::{self, LIBRARY};

/// Where loaders look for `.icd` files by default.
const VENDORS: &str = "/etc/OpenCL/vendors";

/// Variables that name other places: of Khronos' loader and ocl-icd, and of ocl-icd alone.
const VARIABLES: [&str; 2] = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"];

/// The loader that programs are linked to, unless the variable has the path of another: the wheel for pip sets it to that
/// of pyopencl.
const LOADER: &str = "libOpenCL.so.1";
const LOADER_VARIABLE: &str = "GENCL_ICD_LOADER";

/// The loader and what it finds.
#[derive(Debug, Default, Serialize)]
pub(crate) struct LoaderState {
    /// The folder or file where drivers are named.
    pub place: String,
    /// The variable that names it, if one does.
    pub variable: Option<&'static str>,
    /// The loader's library.
    pub library: String,
    /// All `.icd` files.
    pub drivers: Vec<Icd>,
    /// The names of the loader's platforms, or why there are none.
    pub platforms: Loaded,
}

/// An `.icd` file.
#[derive(Debug, Serialize)]
pub(crate) struct Icd {
    /// Its path.
    pub file: PathBuf,
    /// The library that it names.
    pub library: String,
    /// Names of the library's platforms, or why it cannot be loaded.
    pub loaded: Loaded,
}

/// What was loaded: names of platforms, or a reason.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Loaded {
    /// Names of platforms.
    Platforms(Vec<String>),
    /// Why it cannot be loaded.
    Problem(String),
}

impl Default for Loaded {
    fn default() -> Self {
        Self::Platforms(Vec::new())
    }
}

impl LoaderState {
    /// Asks the loader, and each driver.
    pub(crate) fn collect() -> Self {
        let set = VARIABLES.into_iter().find_map(|name| Some((name, environment::trusted_value(name)?)));
        let place = set.as_ref().map_or_else(|| VENDORS.into(), |(_, value)| PathBuf::from(value));
        let drivers = files(&place).into_iter().map(|file| {
            let library = std::fs::read_to_string(&file).unwrap_or_default().trim().to_owned();
            let loaded = try_to_load(&library);
            Icd { file, library, loaded }
        });
        let library = loader();
        Self {
            platforms: try_to_load(&library),
            library,
            drivers: drivers.collect(),
            place: place.display().to_string(),
            variable: set.map(|(name, _)| name),
        }
    }

    /// The library of gencl that an `.icd` file names.
    pub(crate) fn own_library(&self) -> Option<&Path> {
        let mut own = self.drivers.iter().filter(|icd| icd.is_own()).map(|icd| Path::new(&icd.library));
        own.rfind(|library| library.is_file())
    }

    /// What is broken.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let own: Vec<_> = self.drivers.iter().filter(|icd| icd.is_own()).collect();
        for icd in &own {
            if let Loaded::Problem(reason) = &icd.loaded {
                problems.push(format!("{} names {}: {reason}", icd.file.display(), icd.library));
            }
        }
        if own.is_empty() {
            let place = &self.place;
            problems.push(format!(
                "no .icd file in {place} names {LIBRARY}, so programs do not find gencl: install it, or set OCL_ICD_VENDORS to a folder with such a file"
            ));
        }
        match &self.platforms {
            Loaded::Problem(reason) => {
                problems.push(format!(
                    "the ICD loader {}: {reason}; Debian's package is ocl-icd-libopencl1",
                    self.library
                ));
            }
            Loaded::Platforms(names) if problems.is_empty() && !names.iter().any(|name| name == "gencl") => {
                problems.push(format!(
                    "the ICD loader {} does not find gencl, although an .icd file names it",
                    self.library
                ));
            }
            Loaded::Platforms(_) => {}
        }
        problems
    }
}

/// The library of the ICD loader.
fn loader() -> String {
    let other = environment::trusted_value(LOADER_VARIABLE);
    other.map_or_else(|| LOADER.to_owned(), |path| path.to_string_lossy().into_owned())
}

impl Icd {
    fn is_own(&self) -> bool {
        Path::new(&self.library).file_name().is_some_and(|name| name.to_string_lossy().starts_with(LIBRARY))
    }
}

/// The `.icd` files of a folder, or the file itself.
fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let entries = place.read_dir().into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> =
        entries.filter(|file| file.extension().is_some_and(|ending| ending == "icd")).collect();
    files.sort();
    files
}

/// Loads a library in a process of its own, as drivers may crash.
fn try_to_load(library: &str) -> Loaded {
    if library.contains('/') && !Path::new(library).exists() {
        return Loaded::Problem("there is no such file".to_owned());
    }
    match child::run("--load", library.as_ref()) {
        Ok(names) => Loaded::Platforms(names.lines().map(str::to_owned).collect()),
        Err(reason) => Loaded::Problem(reason),
    }
}

/// Loads a driver or a loader and prints the names of its platforms, or the reason why that fails. Returns whether it has worked.
#[must_use]
pub fn load(library: &str) -> bool {
    let platforms = || {
        // Kept until the process ends.
        let loaded: &'static Library = Box::leak(Box::new(driver::open(Path::new(library))?));
        if library == loader() { driver::platforms_of_loader(loaded) } else { driver::platforms(loaded) }
    };
    match platforms() {
        Ok(platforms) => {
            platforms.into_iter().for_each(|platform| println!("{}", driver::platform_name(platform)));
            true
        }
        Err(reason) => {
            println!("{reason}");
            false
        }
    }
}
