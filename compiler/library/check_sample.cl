// Which work-groups are looked at for data races, if not all are (program/src/finding.rs describes the buffer).

#include "gencl.h"

// In dwords from the beginning of the buffer.
#define SKIPPED 14

// Neighbouring work-groups that are looked at together: groups race with their neighbours most of all.
#define RUN 4

// Whether the group with this number is one of them: each run of groups is followed by so many that are left out.
uint __gencl_check_sampled(uint group) {
    uint skipped = __gencl_check_buffer()[SKIPPED];
    return !skipped || group / RUN % (skipped + 1) == 0;
}
