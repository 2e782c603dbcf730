//! Encodings and rules of commands and structures that differ between generations.

use gencl_isa::Generation;

use super::field::COLUMNS;

/// The properties of a generation's fixed functions.
#[derive(Debug)]
pub struct Traits {
    /// "Shared Local Memory Size" of interface descriptors: codes and their sizes in KiB.
    pub slm_sizes: &'static [(u32, u32)],
    /// Encoding of MEDIA_VFE_STATE's "Per Thread Scratch Space".
    pub scratch: ScratchCode,
    /// Offset of the register whose bit 0, SLM Enable, allocates a part of the L3 cache to shared local
    /// memory: L3CNTLREG2 until Gen7.5, then L3CNTLREG.
    pub slm_enable: u32,
    /// STATE_BASE_ADDRESS limits regions by upper bounds instead of sizes.
    pub upper_bounds: bool,
    /// Launches need URB entries. Mesa allocates none before Gen8 (`crocus_upload_compute_state`).
    pub needs_urb_entries: bool,
}

/// The encoding of "Per Thread Scratch Space".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScratchCode {
    /// `code + 1` KiB.
    Linear,
    /// This many KiB times `2^code`.
    Doubled(u32),
}

/// Powers of two of 4 KiB blocks (Volume 2d, INTERFACE_DESCRIPTOR_DATA; Mesa's `encode_slm_size`).
const BLOCKS_OF_4K: &[(u32, u32)] = &[(0, 0), (1, 4), (2, 8), (4, 16), (8, 32), (16, 64)];

/// Exponents from 1 KiB on (the same sources).
const EXPONENTS: &[(u32, u32)] = &[(0, 0), (1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 64)];

const GEN75: Traits = Traits {
    slm_sizes: BLOCKS_OF_4K,
    scratch: ScratchCode::Doubled(2),
    slm_enable: 0xb020,
    upper_bounds: true,
    needs_urb_entries: false,
};

const GEN8: Traits = Traits {
    slm_sizes: BLOCKS_OF_4K,
    scratch: ScratchCode::Doubled(1),
    slm_enable: 0x7034,
    upper_bounds: false,
    needs_urb_entries: true,
};

/// One row per generation. Scratch codes: MEDIA_VFE_STATE of the manuals' Volume 2a, and what Mesa's
/// `iris_state.c` and `crocus_state.c` write (`iris_upload_compute_walker`, `crocus_upload_compute_state`).
static TRAITS: [Traits; COLUMNS] =
    [Traits { scratch: ScratchCode::Linear, ..GEN75 }, GEN75, GEN8, Traits { slm_sizes: EXPONENTS, ..GEN8 }];

/// The row of a generation.
pub fn of(generation: Generation) -> &'static Traits {
    &TRAITS[generation.column()]
}

impl Traits {
    /// Bytes of shared local memory for a code.
    pub fn slm_size(&self, code: u32) -> Option<u32> {
        self.slm_sizes.iter().find(|(c, _)| *c == code).map(|(_, kib)| kib << 10)
    }

    /// Bytes of scratch space per thread for a code.
    pub fn scratch_size(&self, code: u32) -> u32 {
        match self.scratch {
            ScratchCode::Linear => (code + 1) << 10,
            ScratchCode::Doubled(kib) => (kib << 10) << code,
        }
    }
}
