//! Calls of the API, as checks report them (`GENCL_DEBUG=check`): the function, and where the application has called it.

use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use gencl_program::debug::Debug;
use gencl_program::finding::Place;
use gencl_program::tools::Tools;

/// Functions of a call stack that are kept: the innermost ones of the application.
const DEPTH: usize = 6;

/// The beginning of the names of ICD loaders' files, which are between the application and this library.
const LOADER: &str = "libOpenCL";

/// The outermost function of a program.
const OUTERMOST: &str = "main";

/// What is checked.
pub fn tools() -> Tools {
    static TOOLS: LazyLock<Tools> = LazyLock::new(|| Tools::of(&Debug::from_environment().0));
    *TOOLS
}

/// Whether calls are looked at.
pub fn are_checked() -> bool {
    let tools = tools();
    tools.api || tools.order
}

thread_local! {
    static CURRENT: Cell<&'static str> = const { Cell::new("") };
}

/// Calls a function of the API, of which [`current`] is the name meanwhile.
pub fn within<R>(name: &'static str, function: impl FnOnce() -> R) -> R {
    let outer = CURRENT.replace(name);
    let result = function();
    CURRENT.set(outer);
    result
}

/// The function of the API that this thread is in.
pub fn current() -> &'static str {
    CURRENT.get()
}

/// A call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Call {
    /// The function of the API; empty for none.
    pub function: &'static str,
    stack: Stack,
}

impl Call {
    /// The one that this thread is in.
    pub fn here() -> Self {
        Self { function: current(), stack: Stack::here() }
    }

    /// Where it was called.
    pub(crate) fn places(&self) -> Vec<Place> {
        self.stack.places()
    }
}

/// Return addresses in the application, the innermost first; 0 where there are no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Stack([usize; DEPTH]);

impl Stack {
    fn here() -> Self {
        let mut stack = Self::default();
        let mut rest = stack.0.iter_mut();
        backtrace::trace(|frame| {
            let address = frame.ip() as usize;
            if Module::driver().iter().any(|module| module.range.contains(&address)) {
                return true;
            }
            rest.next().map(|place| *place = address).is_some()
        });
        stack
    }

    fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for &address in self.0.iter().take_while(|&&address| address != 0) {
            places.extend(resolve(address));
            if let Some(index) = places.iter().position(|place| place.function == OUTERMOST) {
                places.truncate(index + 1);
                break;
            }
        }
        places
    }
}

/// The function with an address, behind those that are inlined there. Without debug information, its file is the module, with the
/// offset there.
fn resolve(address: usize) -> Vec<Place> {
    let mut places = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        places.push(Place {
            function: symbol.name().map(|name| format!("{name:#}")).unwrap_or_default(),
            file: symbol.filename().map(|file| file.display().to_string()).unwrap_or_default(),
            line: symbol.lineno().unwrap_or(0),
            column: symbol.colno().unwrap_or(0),
        });
    });
    if places.is_empty() {
        places.push(Place { function: "?".into(), file: String::new(), line: 0, column: 0 });
    }
    if places.iter().any(|place| place.file.is_empty()) {
        let module = Module::all().into_iter().find(|module| module.range.contains(&address));
        let position = module.map(|module| format!("{}+{:#x}", module.file, address - module.base));
        let unknown = places.iter_mut().filter(|place| place.file.is_empty());
        unknown.for_each(|place| place.file = position.clone().unwrap_or_default());
    }
    places
}

/// Executable memory of a file.
struct Module {
    range: Range<usize>,
    /// Where the file's first byte is.
    base: usize,
    file: String,
}

impl Module {
    /// Those of this process.
    fn all() -> Vec<Self> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        maps.lines().filter_map(Self::parse).collect()
    }

    /// A line of `/proc/PID/maps`: `BEGIN-END PERMISSIONS OFFSET DEVICE INODE FILE`.
    fn parse(line: &str) -> Option<Self> {
        let number = |text| usize::from_str_radix(text, 16).ok();
        let mut words = line.split_ascii_whitespace();
        let (begin, end) = words.next()?.split_once('-')?;
        let range = number(begin)?..number(end)?;
        words.next().filter(|permissions| permissions.contains('x'))?;
        let offset = number(words.next()?)?;
        let file = words.nth(2).filter(|file| file.starts_with('/'))?;
        Some(Self { base: range.start.wrapping_sub(offset), range, file: file.to_owned() })
    }

    /// This library and the ICD loader.
    fn driver() -> &'static [Self] {
        static DRIVER: LazyLock<Vec<Module>> = LazyLock::new(|| {
            let here: fn(&str) -> Option<Module> = Module::parse;
            let mut all = Module::all();
            let own = all.iter().find(|module| module.range.contains(&(here as usize)));
            let own = own.map(|module| module.file.clone());
            let is_loader = |file: &str| {
                let name = Path::new(file).file_name().unwrap_or_default();
                name.to_string_lossy().starts_with(LOADER)
            };
            all.retain(|module| Some(&module.file) == own.as_ref() || is_loader(&module.file));
            all
        });
        &DRIVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_function_is_known() {
        let outer = within("clFinish", || (current(), within("clFlush", current), current()));
        assert_eq!((outer, current()), (("clFinish", "clFlush", "clFinish"), ""));
    }

    #[test]
    fn lines_of_maps_are_parsed() {
        let module = Module::parse("7f10-7f20 r-xp 00000010 08:01 12   /usr/lib/libOpenCL.so.1.0.0").unwrap();
        assert_eq!((module.range, module.base), (0x7f10..0x7f20, 0x7f00));
        assert_eq!(module.file, "/usr/lib/libOpenCL.so.1.0.0");
        assert!(Module::parse("7f10-7f20 r--p 00000010 08:01 12   /usr/lib/libc.so.6").is_none());
        assert!(Module::parse("7f10-7f20 r-xp 00000000 00:00 0    [vdso]").is_none());
    }

    #[test]
    fn addresses_have_functions_and_files() {
        let here: fn(usize) -> Vec<Place> = resolve;
        // The return address of a call is behind it.
        let places = resolve(here as usize + 1);
        assert!(places.last().unwrap().function.ends_with("resolve"), "{places:?}");
        assert!(!places[0].file.is_empty());
        assert!(resolve(8)[0].file.is_empty());
        // The driver is all of this program.
        assert!(!Stack::here().places().iter().any(|place| place.function.contains("calls::")));
    }
}
