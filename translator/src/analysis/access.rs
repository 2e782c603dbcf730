//! What instructions read and write of the general registers.

use gencl_eu::file::{ADDRESS, FLAG, GRF_BYTES, NULL};
use gencl_eu::op::Op;
use gencl_eu::operand::{Dst, SourceLocation, Src, Target};

/// Elements in the general registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// First byte of each element.
    pub at: Vec<u16>,
    /// Bytes of an element.
    pub size: u16,
    /// Element `n` belongs to channel `first + n` and to no other: it is read and written for that channel only, when it is enabled.
    pub owner: Option<u8>,
}

impl Access {
    /// Bytes that belong to no channel.
    pub fn run(start: usize, bytes: usize) -> Access {
        Access { at: vec![start as u16], size: bytes as u16, owner: None }
    }

    /// Whole registers, as runs.
    pub fn registers(mut set: u128) -> Vec<Access> {
        let mut runs = Vec::new();
        while set != 0 {
            let first = set.trailing_zeros();
            let count = (!(set >> first)).trailing_zeros().min(128 - first);
            runs.push(Access::run(first as usize * 32, count as usize * 32));
            set &= !(u128::MAX >> (128 - count) << first);
        }
        runs
    }

    /// A source of an instruction; `None` when it is not in the general registers.
    pub fn of_source(op: &Op, src: &Src) -> Option<Access> {
        let (lanes, size) = (usize::from(op.lanes), src.ty.size() as usize);
        let at: Vec<u16> = match &src.location {
            SourceLocation::Packed(at) => (0..lanes).map(|n| (at + n * size) as u16).collect(),
            SourceLocation::Scalar(at) => vec![*at as u16],
            SourceLocation::Scattered(offsets) => offsets[..lanes].to_vec(),
            SourceLocation::Constant(_)
            | SourceLocation::Constants(_)
            | SourceLocation::Indirect { .. }
            | SourceLocation::None => return None,
        };
        if usize::from(at[0]) >= GRF_BYTES {
            return None;
        }
        let own = at.len() == lanes && at.windows(2).all(|w| w[0] < w[1]);
        let owner = (own && !op.no_mask).then_some(op.channel);
        Some(Access { at, size: size as u16, owner })
    }

    /// A destination; `None` when it is not in the general registers.
    pub fn of_destination(op: &Op, dst: &Dst) -> Option<Access> {
        let Target::Direct { offset, stride } = dst.target else { return None };
        if offset >= GRF_BYTES {
            return None;
        }
        let at = (0..usize::from(op.lanes)).map(|n| (offset + n * stride) as u16).collect();
        let owner = (!op.no_mask).then_some(op.channel);
        Some(Access { at, size: dst.ty.size() as u16, owner })
    }

    /// Its bytes.
    pub fn bytes(&self) -> impl Iterator<Item = usize> {
        self.at.iter().flat_map(|at| usize::from(*at)..usize::from(*at) + usize::from(self.size))
    }

    /// Its bytes with the channels that they belong to.
    pub fn owned_bytes(&self) -> impl Iterator<Item = (usize, Option<usize>)> {
        self.at.iter().enumerate().flat_map(|(n, at)| {
            let owner = self.owner.map(|first| usize::from(first) + n);
            (usize::from(*at)..usize::from(*at) + usize::from(self.size)).map(move |byte| (byte, owner))
        })
    }

    /// First byte and the one behind the last.
    pub fn extent(&self) -> (usize, usize) {
        let first = self.at.iter().min().map_or(0, |at| usize::from(*at));
        let last = self.at.iter().max().map_or(0, |at| usize::from(*at) + usize::from(self.size));
        (first, last)
    }
}

/// A write.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Where.
    pub access: Access,
    /// Not all enabled channels write: there is a predicate, or nobody knows.
    pub partial: bool,
}

/// What an instruction reads and writes of the general registers, in the order in which its translation asks for them.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Reads. Sources that are not in the general registers have none.
    pub uses: Vec<Option<Access>>,
    /// Writes.
    pub definitions: Vec<Definition>,
}

/// Whether a byte of the register file is in the address register, which always stays in the thread's register file.
pub fn is_address(at: usize) -> bool {
    (ADDRESS..ADDRESS + 32).contains(&at)
}

/// Whether a byte of the register file is in the flag registers.
pub fn is_flag(at: usize) -> bool {
    (FLAG..FLAG + 8).contains(&at)
}

/// Whether an instruction writes flag registers as its destination.
pub fn writes_flags(op: &Op) -> bool {
    matches!(op.dst.target, Target::Direct { offset, .. } if is_flag(offset))
}

/// Where an operand that is in no general register may be in host code: flags and `null`.
pub fn is_plain(at: usize) -> bool {
    at < GRF_BYTES || is_flag(at) || at == NULL
}
