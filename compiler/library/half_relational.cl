// Relations, selection and permutation of half floats (cl_khr_fp16): one for true of scalars, all ones of
// vectors.

#include "gencl.h"

#define RELATION(NAME, CONDITION) \
    int OVERLOAD NAME(half x, half y) { return CONDITION; } \
    short2 OVERLOAD NAME(half2 x, half2 y) { return CONDITION; } \
    short3 OVERLOAD NAME(half3 x, half3 y) { return CONDITION; } \
    short4 OVERLOAD NAME(half4 x, half4 y) { return CONDITION; } \
    short8 OVERLOAD NAME(half8 x, half8 y) { return CONDITION; } \
    short16 OVERLOAD NAME(half16 x, half16 y) { return CONDITION; }

RELATION(isequal, x == y)
RELATION(isnotequal, x != y)
RELATION(isgreater, x > y)
RELATION(isgreaterequal, x >= y)
RELATION(isless, x < y)
RELATION(islessequal, x <= y)
RELATION(islessgreater, (x < y) | (x > y))
RELATION(isordered, (x == x) & (y == y))
RELATION(isunordered, (x != x) | (y != y))

// Bits without the sign: infinity is 0x7c00, the smallest normal number 0x0400.
#define CLASS(NAME, CONDITION) \
    int OVERLOAD NAME(half number) { \
        ushort x = as_ushort(number); \
        return CONDITION; \
    } \
    CLASS_OF_VECTOR(NAME, CONDITION, 2) \
    CLASS_OF_VECTOR(NAME, CONDITION, 3) \
    CLASS_OF_VECTOR(NAME, CONDITION, 4) \
    CLASS_OF_VECTOR(NAME, CONDITION, 8) \
    CLASS_OF_VECTOR(NAME, CONDITION, 16)
#define CLASS_OF_VECTOR(NAME, CONDITION, N) \
    short##N OVERLOAD NAME(half##N number) { \
        ushort##N x = as_ushort##N(number); \
        return CONDITION; \
    }
#define SIZE (x & (ushort)0x7fff)

CLASS(isfinite, SIZE < (ushort)0x7c00)
CLASS(isinf, SIZE == (ushort)0x7c00)
CLASS(isnan, SIZE > (ushort)0x7c00)
CLASS(isnormal, (SIZE >= (ushort)0x0400) & (SIZE < (ushort)0x7c00))
CLASS(signbit, x >= (ushort)0x8000)

#define SELECTION(N) \
    ushort##N OVERLOAD bitselect(ushort##N x, ushort##N y, ushort##N mask); \
    short##N OVERLOAD select(short##N x, short##N y, short##N condition); \
    short##N OVERLOAD select(short##N x, short##N y, ushort##N condition); \
    half##N OVERLOAD bitselect(half##N x, half##N y, half##N mask) { \
        return as_half##N(bitselect(as_ushort##N(x), as_ushort##N(y), as_ushort##N(mask))); \
    } \
    half##N OVERLOAD select(half##N x, half##N y, short##N condition) { \
        return as_half##N(select(as_short##N(x), as_short##N(y), condition)); \
    } \
    half##N OVERLOAD select(half##N x, half##N y, ushort##N condition) { \
        return as_half##N(select(as_short##N(x), as_short##N(y), condition)); \
    }
SELECTION()
SELECTION(2)
SELECTION(3)
SELECTION(4)
SELECTION(8)
SELECTION(16)

#define SHUFFLE(FROM, TO) \
    ushort##TO OVERLOAD shuffle(ushort##FROM x, ushort##TO mask); \
    ushort##TO OVERLOAD shuffle2(ushort##FROM x, ushort##FROM y, ushort##TO mask); \
    half##TO OVERLOAD shuffle(half##FROM x, ushort##TO mask) { \
        return as_half##TO(shuffle(as_ushort##FROM(x), mask)); \
    } \
    half##TO OVERLOAD shuffle2(half##FROM x, half##FROM y, ushort##TO mask) { \
        return as_half##TO(shuffle2(as_ushort##FROM(x), as_ushort##FROM(y), mask)); \
    }
#define SHUFFLES(FROM) SHUFFLE(FROM, 2) SHUFFLE(FROM, 4) SHUFFLE(FROM, 8) SHUFFLE(FROM, 16)
SHUFFLES(2)
SHUFFLES(4)
SHUFFLES(8)
SHUFFLES(16)
