//! Data races of a launch: what the simulator has to know to look for them, and what it has found.

use std::sync::LazyLock;

use gencl_eu::message::{COPY, Found, GROUPS, RUN, RaceLaunch};
use gencl_program::PushSource;
use gencl_program::debug::{self, Debug};
use gencl_program::finding::{Finding, Other, Record};
use gencl_program::report;

use super::race_buffer::RaceBuffer;
use super::{EnqueuedLaunch, Launch};
use crate::Result;
use crate::context::DeviceContext;

/// A buffer for a launch, if its kernel is checked for races. Errors as [`RacePool::take`](super::RacePool::take).
pub(super) fn buffer(context: &DeviceContext, launch: &EnqueuedLaunch) -> Result<Option<RaceBuffer>> {
    if !launch.kernel().pushes.iter().any(|push| push.source == PushSource::RaceTable) {
        return Ok(None);
    }
    let groups = launch.space.groups.iter().map(|&count| u64::from(count)).product();
    let launch = RaceLaunch {
        sites: launch.executable().sites().len() as u32,
        groups,
        local_memory: launch.arguments.local_memory() as u32,
        global_memory: launch.arguments.memory().iter().map(|(_, memory)| memory.range().2).sum(),
        skipped: skipped(groups, groups_asked()),
    };
    context.races().take(context.space(), &launch).map(Some)
}

/// What was found, by site.
pub(super) fn findings(buffer: &RaceBuffer, launch: &Launch, is_simulated: bool) -> Vec<Finding> {
    if buffer.table().used == 0 && !is_simulated {
        report::once("data races", "data races are looked for by the simulator only");
    }
    let found = buffer.found();
    let counts = buffer.counts().into_iter().enumerate();
    counts.filter_map(|(site, count)| race(launch, &found, site, count)).collect()
}

/// What was found at a site: of several, the first work-item in the order of ids, so that the report does not depend on
/// threads.
fn race(launch: &Launch, records: &[Found], site: usize, count: u32) -> Option<Finding> {
    // Copies are made by the work-group.
    let ids = |found: &Found| {
        work_item(launch, found.group, if found.item < COPY { found.item } else { 0 }).unwrap_or_default()
    };
    let of_site = records.iter().filter(|found| found.site as usize == site);
    let first = of_site.min_by_key(|found| ids(found).into_iter().rev().collect::<Vec<_>>())?;
    let sites = launch.executable().sites();
    let [x, y, z] = launch.space.groups.map(u64::from);
    let item = first.other.item().filter(|_| x * y * z <= GROUPS.into());
    let other = sites.get(first.other_site as usize).map(|site| Other {
        site: site.clone(),
        work_item: item.and_then(|item| work_item(launch, first.other.group(), item)),
    });
    let record = Record {
        site: first.site,
        work_item: ids(first).map(|id| id as u32),
        address: first.address,
        offset: 0,
        size: 0,
    };
    let site = &sites[site];
    let finding = Finding::new(launch.name(), site, &record, site.object.clone());
    Some(Finding { other, count: count.into(), ..finding })
}

/// The global id of a work-item, by its number in a group.
fn work_item(launch: &Launch, group: u32, item: u32) -> Option<[u64; 3]> {
    let [x, y, _] = launch.space.groups;
    launch.space.work_item([group % x, group / x % y, group / x / y], item)
}

/// How many work-groups of a launch are looked at; `None` for all.
fn groups_asked() -> Option<u64> {
    static GROUPS: LazyLock<Option<u64>> = LazyLock::new(|| {
        let (debug, _) = Debug::from_environment();
        debug.value(debug::CHECK_GROUPS).and_then(|groups| groups.parse().ok())
    });
    *GROUPS
}

/// How many runs of work-groups are skipped behind each that is looked at, if so many of all groups are asked for.
fn skipped(groups: u64, asked: Option<u64>) -> u32 {
    let Some(asked) = asked.filter(|asked| *asked < groups) else { return 0 };
    let runs = asked.div_ceil(RUN.into()).max(1);
    (groups.div_ceil(RUN.into()).div_ceil(runs) - 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_groups_are_skipped() {
        assert_eq!([skipped(100, None), skipped(100, Some(100)), skipped(100, Some(1000))], [0; 3]);
        // Of 25 runs, each 13th: 8 groups.
        assert_eq!(skipped(100, Some(8)), 12);
        assert_eq!(skipped(100, Some(1)), 24);
        assert_eq!(skipped(5, Some(4)), 1);
    }
}
