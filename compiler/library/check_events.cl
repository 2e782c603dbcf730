// Checks of events of copies between global and local memory.

#include "gencl.h"

// 0 for the null event.
uint CONST __gencl_event_number(event_t event);

// Whether any of these events is none that a copy gave.
uint __gencl_check_no_event(int count, private event_t *events) {
    uint any = 0;
    for (int i = 0; i < count; i++)
        any |= __gencl_event_number(events[i]) == 0;
    return any;
}
