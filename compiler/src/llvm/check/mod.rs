//! Checks of what kernels do, for `GENCL_DEBUG=check`.
//!
//! Each place that is checked gets a call of the library (`library/check.cl`), which leaves a record in a buffer of the
//! launch ([`gencl_program::finding`]) when the check fails. Checks are ordinary code, so that both engines of the
//! simulator and a GPU execute them. They stand in front of what they check, before any pass of LLVM's uses that this
//! would be undefined.
//!
//! - [`arithmetic`] checks operations of the source, before the library's functions are linked;
//! - [`access`] checks accesses to memory when all calls are inlined, since it knows objects by following pointers back
//!   to them ([`pointer`]), and whether they race with others ([`race`]).

mod access;
mod arithmetic;
mod pointer;
mod race;
mod site;

pub use access::accesses;
pub use arithmetic::arithmetic;

use gencl_program::finding::{Check, Object, Site};

use super::build::Builder;
use super::view::Value;

/// The library's function that leaves a record if a check has failed.
const CHECK: &str = "__gencl_check";

/// Adds checks to a module.
struct Checker<'c, 'm> {
    builder: &'c Builder<'m>,
    sites: &'c mut Vec<Site>,
}

impl<'m> Checker<'_, 'm> {
    /// Checks in front of an instruction, where the builder is, that `failed` is false. The numbers are those of
    /// [`gencl_program::finding::Record`]: address, offset and size, integers of at most 64 bits. The offset is signed.
    fn check(
        &mut self,
        instruction: Value<'m>,
        (check, object): (Check, Option<Object>),
        failed: Value<'m>,
        [address, offset, size]: [Value<'m>; 3],
    ) {
        if failed.integer() == Some(0) {
            return;
        }
        let site = self.site(Site { check, object, places: site::places(instruction) });
        let b = self.builder;
        let long = b.int(64);
        let arguments = [
            b.resize(failed, b.int(32), false),
            b.number(32, site),
            b.resize(address, long, false),
            b.resize(offset, long, true),
            b.resize(size, long, false),
        ];
        b.call(CHECK, b.void(), &arguments);
    }

    /// The number of a site.
    fn site(&mut self, site: Site) -> u64 {
        let known = self.sites.iter().position(|known| *known == site);
        let index = known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        index as u64
    }
}
