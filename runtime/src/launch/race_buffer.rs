//! The buffer with the table by which a simulator finds data races of a launch (`gencl_eu::message::RaceTable`).

use std::sync::Arc;

use bytemuck::Zeroable;
use gencl_eu::message::{Found, RECORD_SIZE, RaceLaunch, RaceTable};
use parking_lot::Mutex;

use crate::Result;
use crate::memory::{AddressSpace, Storage, Zone};

/// The buffer of a launch.
pub(crate) struct RaceBuffer {
    storage: Arc<Storage>,
}

/// Buffers that no launch uses: clearing pages of a new one takes longer than most launches.
#[derive(Default)]
pub(crate) struct RacePool {
    idle: Mutex<Vec<RaceBuffer>>,
}

/// The most idle buffers. What a launch touches of one is up to 14 times the memory that it accesses.
const MAX_IDLE: usize = 2;

impl RacePool {
    /// A buffer for a launch. Errors as [`Storage::new`].
    pub(super) fn take(&self, space: &Arc<AddressSpace>, launch: &RaceLaunch) -> Result<RaceBuffer> {
        let new = RaceTable::new(launch);
        if let Some((buffer, table)) = self.take_idle(&new) {
            buffer.storage.memory().write(0, bytemuck::bytes_of(&table));
            let counters = table.counters();
            buffer.storage.memory().write(counters.start, &vec![0; counters.len()]);
            return Ok(buffer);
        }
        let storage = Storage::new(space, Zone::Buffers, new.size().into())?;
        storage.memory().write(0, bytemuck::bytes_of(&new));
        Ok(RaceBuffer { storage: Arc::new(storage) })
    }

    /// An idle buffer that serves a launch with the table `new`, and its header for that.
    fn take_idle(&self, new: &RaceTable) -> Option<(RaceBuffer, RaceTable)> {
        let mut idle = self.idle.lock();
        let (index, table) =
            idle.iter().enumerate().find_map(|(index, buffer)| Some((index, buffer.table().again(new)?)))?;
        Some((idle.swap_remove(index), table))
    }

    /// Keeps the buffer of a launch that has ended for another one, in place of the one that was kept first.
    pub(super) fn give(&self, buffer: RaceBuffer) {
        let mut idle = self.idle.lock();
        if idle.len() == MAX_IDLE {
            idle.remove(0);
        }
        idle.push(buffer);
    }
}

impl RaceBuffer {
    pub(super) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// The table's header.
    pub(super) fn table(&self) -> RaceTable {
        let mut table = RaceTable::zeroed();
        self.storage.memory().read(0, bytemuck::bytes_of_mut(&mut table));
        table
    }

    /// How many races each site has found.
    pub(super) fn counts(&self) -> Vec<u32> {
        let counters = self.table().counters();
        let mut counts = vec![0; counters.len() / size_of::<u32>()];
        self.storage.memory().read(counters.start, bytemuck::cast_slice_mut(&mut counts));
        counts
    }

    /// The races that are recorded.
    pub(super) fn found(&self) -> Vec<Found> {
        let table = self.table();
        let mut bytes = vec![0; (table.recorded() * RECORD_SIZE) as usize];
        self.storage.memory().read(table.records(), &mut bytes);
        bytes.as_chunks().0.iter().map(Found::read).collect()
    }
}
