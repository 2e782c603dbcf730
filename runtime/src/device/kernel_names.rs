//! The names of the kernels that are loaded on a device, for messages that only have an address.

use std::any::Any;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// Kernels by the addresses of their first instructions.
#[derive(Default)]
pub(crate) struct KernelNames(Mutex<Vec<Loaded>>);

/// The kernels whose code is in a buffer.
struct Loaded {
    /// Alive as long as the code is.
    code: Weak<dyn Any + Send + Sync>,
    kernels: Vec<(u64, String)>,
}

impl KernelNames {
    /// Adds kernels, until the buffer of their code is released.
    pub(crate) fn add(
        &self,
        code: &Arc<impl Any + Send + Sync>,
        kernels: impl Iterator<Item = (u64, String)>,
    ) {
        let code: Arc<dyn Any + Send + Sync> = code.clone();
        let mut all = self.0.lock();
        all.retain(|loaded| loaded.code.strong_count() > 0);
        all.push(Loaded { code: Arc::downgrade(&code), kernels: kernels.collect() });
    }

    /// The name of the kernel at an address: `None` if there is none, or kernels of several contexts with
    /// different names are.
    pub(crate) fn find(&self, address: u64) -> Option<String> {
        let all = self.0.lock();
        let alive = all.iter().filter(|loaded| loaded.code.strong_count() > 0);
        let mut names = alive.flat_map(|loaded| &loaded.kernels).filter(|(at, _)| *at == address);
        let (_, first) = names.next()?;
        names.all(|(_, other)| other == first).then(|| first.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_loaded_kernels() {
        let names = KernelNames::default();
        let codes = [(), (), ()].map(Arc::new);
        let kernel = |address: u64, name: &str| [(address, name.to_owned())].into_iter();
        names.add(&codes[0], kernel(0x40, "a"));
        names.add(&codes[1], kernel(0x40, "b").chain(kernel(0x80, "c")));
        names.add(&codes[2], kernel(0x80, "c"));
        assert_eq!((names.find(0x40), names.find(0x80)), (None, Some("c".into())));
        let [_first, second, _third] = codes;
        drop(second);
        assert_eq!((names.find(0x40), names.find(0xc0)), (Some("a".into()), None));
    }
}
