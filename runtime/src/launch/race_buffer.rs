//! The buffer with the table by which a simulator finds data races of a launch (`gencl_eu::message::RaceTable`).

use std::sync::Arc;

use gencl_eu::message::{Found, HEADER_SIZE, RECORD_SIZE, RaceLaunch, RaceTable};

use crate::Result;
use crate::memory::{AddressSpace, Storage, Zone};

/// The buffer of a launch.
pub(super) struct RaceBuffer {
    storage: Arc<Storage>,
    sites: usize,
}

impl RaceBuffer {
    /// Errors as [`Storage::new`].
    pub(super) fn new(space: &Arc<AddressSpace>, launch: &RaceLaunch) -> Result<Self> {
        let table = RaceTable::new(launch);
        let storage = Storage::new(space, Zone::Buffers, table.size().into())?;
        storage.memory().write(0, &table.bytes());
        Ok(Self { storage: Arc::new(storage), sites: launch.sites as usize })
    }

    pub(super) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// The table's header.
    pub(super) fn table(&self) -> RaceTable {
        let mut header = [0; HEADER_SIZE as usize];
        self.storage.memory().read(0, &mut header);
        RaceTable::read(&header)
    }

    /// How many races each site has found.
    pub(super) fn counts(&self) -> Vec<u32> {
        let mut bytes = vec![0; 4 * self.sites];
        self.storage.memory().read(self.table().counters() as usize, &mut bytes);
        bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }

    /// The races that are recorded.
    pub(super) fn found(&self) -> Vec<Found> {
        let table = self.table();
        let mut bytes = vec![0; (table.recorded() * RECORD_SIZE) as usize];
        self.storage.memory().read(table.records() as usize, &mut bytes);
        bytes.as_chunks().0.iter().map(Found::read).collect()
    }
}
