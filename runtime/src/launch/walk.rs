//! Splitting an index space into GPGPU_WALKER commands.

use smallvec::SmallVec;

use crate::{Code, Error, NdRange, Result};

/// One GPGPU_WALKER: a range of work-groups of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    /// Work-items of a group per dimension.
    pub(crate) local: [u32; 3],
    /// First group in each dimension.
    pub(crate) first: [u32; 3],
    /// One past the last group.
    pub(crate) end: [u32; 3],
}

impl Walk {
    /// Work-items of a group.
    pub(crate) fn group_size(&self) -> u32 {
        self.local.iter().product()
    }
}

/// An index space divided into work-groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) dimensions: u32,
    pub(crate) offset: [u64; 3],
    pub(crate) global: [u64; 3],
    /// Size of whole groups.
    pub(crate) local: [u32; 3],
    /// Number of groups, partial ones included.
    pub(crate) groups: [u32; 3],
}

impl Space {
    /// Divides `range` into groups of `local` work-items. If a global size is no multiple, the last group of
    /// the dimension is partial; `INVALID_WORK_GROUP_SIZE` unless `uneven` allows that.
    /// `INVALID_GLOBAL_WORK_SIZE` for more groups than 32 bits can count.
    pub(crate) fn new(range: &NdRange, local: [u32; 3], uneven: bool) -> Result<Self> {
        let mut groups = [0; 3];
        for dimension in 0..3 {
            let (global, local) = (range.global[dimension], u64::from(local[dimension]));
            if global % local != 0 && !uneven {
                let reason = format!(
                    "global size {global} is no multiple of local size {local} in dimension {dimension}; \
                     uneven work-groups take -cl-std=CL2.0 or later"
                );
                return Err(Error::new(Code::InvalidWorkGroupSize, reason));
            }
            groups[dimension] = u32::try_from(global.div_ceil(local)).map_err(|_| {
                Error::new(Code::InvalidGlobalWorkSize, format!("{global} work-items in groups of {local}"))
            })?;
        }
        let NdRange { dimensions, offset, global, .. } = *range;
        Ok(Self { dimensions, offset, global, local, groups })
    }

    /// Whether all groups have the same size.
    pub(crate) fn is_uniform(&self) -> bool {
        self.global.iter().zip(self.local).all(|(global, local)| global.is_multiple_of(u64::from(local)))
    }

    /// The global id of a work-item, by its group and its number there. `None` if there is no such group.
    pub(crate) fn work_item(&self, group: [u32; 3], number: u32) -> Option<[u64; 3]> {
        let is_in = |walk: &&Walk| (0..3).all(|d| (walk.first[d]..walk.end[d]).contains(&group[d]));
        let [x, y, _] = self.walks().iter().find(is_in)?.local;
        let local = [number % x, number / x % y, number / x / y];
        let id =
            |d: usize| self.offset[d] + u64::from(group[d]) * u64::from(self.local[d]) + u64::from(local[d]);
        Some([id(0), id(1), id(2)])
    }

    /// The walkers: one for whole groups, and one for each combination of dimensions with partial groups.
    pub(crate) fn walks(&self) -> SmallVec<[Walk; 1]> {
        let mut walks = SmallVec::new();
        for (z, first_z, end_z) in self.parts(2) {
            for (y, first_y, end_y) in self.parts(1) {
                for (x, first_x, end_x) in self.parts(0) {
                    walks.push(Walk {
                        local: [x, y, z],
                        first: [first_x, first_y, first_z],
                        end: [end_x, end_y, end_z],
                    });
                }
            }
        }
        walks
    }

    /// Ranges of groups of the same size in one dimension: size, first group, one past the last.
    fn parts(&self, dimension: usize) -> impl Iterator<Item = (u32, u32, u32)> {
        let (global, local, groups) = (self.global[dimension], self.local[dimension], self.groups[dimension]);
        let beyond = u64::from(groups) * u64::from(local) - global;
        let whole = groups - u32::from(beyond > 0);
        // Less than the size of a group.
        let rest = local - beyond as u32;
        [(local, 0, whole), (rest, whole, groups)].into_iter().filter(|&(_, first, end)| end > first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(global: [u64; 3], local: [u32; 3]) -> Space {
        Space::new(&NdRange { dimensions: 3, offset: [0; 3], global, local: Some(local) }, local, true)
            .unwrap()
    }

    #[test]
    fn even_spaces_take_one_walker() {
        let walks = space([64, 4, 2], [16, 2, 1]).walks();
        assert_eq!(walks[..], [Walk { local: [16, 2, 1], first: [0; 3], end: [4, 2, 2] }]);
    }

    #[test]
    fn every_work_item_is_walked_once() {
        let (global, local) = ([37, 10, 5], [16, 4, 2]);
        let walks = space(global, local).walks();
        assert_eq!(walks.len(), 8);
        let mut seen = vec![0; 37 * 10 * 5];
        for walk in walks {
            let range = |d: usize| {
                (walk.first[d]..walk.end[d])
                    .flat_map(move |group| (0..walk.local[d]).map(move |id| group * local[d] + id))
                    .collect::<Vec<_>>()
            };
            for z in range(2) {
                for y in range(1) {
                    for x in range(0) {
                        seen[((z * 10 + y) * 37 + x) as usize] += 1;
                    }
                }
            }
        }
        assert!(seen.iter().all(|&count| count == 1));
    }

    #[test]
    fn a_group_larger_than_the_space() {
        assert_eq!(
            space([5, 1, 1], [16, 1, 1]).walks()[..],
            [Walk { local: [5, 1, 1], first: [0; 3], end: [1; 3] }]
        );
    }

    #[test]
    fn an_empty_space_takes_none() {
        assert!(space([0, 4, 1], [16, 1, 1]).walks().is_empty());
    }

    #[test]
    fn as_many_groups_as_the_hardware_counts() {
        let most = u32::MAX;
        let walk = Walk { local: [1; 3], first: [0; 3], end: [most, 1, 1] };
        assert_eq!(space([most.into(), 1, 1], [1; 3]).walks()[..], [walk]);
    }

    #[test]
    fn uneven_spaces_have_to_be_allowed() {
        let range = NdRange { dimensions: 1, offset: [0; 3], global: [5, 1, 1], local: None };
        assert_eq!(Space::new(&range, [4, 1, 1], false).unwrap_err().code, Code::InvalidWorkGroupSize);
        let range = NdRange { global: [u64::MAX, 1, 1], ..range };
        assert_eq!(Space::new(&range, [1, 1, 1], true).unwrap_err().code, Code::InvalidGlobalWorkSize);
    }
}
