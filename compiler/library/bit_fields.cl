// Extended bit operations: OpenCL C 3.1, 6.15.4.1, and the instructions of SPV_KHR_bit_instructions. Offset and count
// are scalars, so their part is computed once for all elements of a vector.

#include "gencl.h"

// A field is shifted to the highest bits, and from there to the lowest. A shift takes its distance modulo the
// element's size, so a field without bits needs the choice.
#define EXTRACT(NAME, TYPE, RESULT, ELEMENT, BITS) \
    RESULT OVERLOAD NAME(TYPE base, uint offset, uint count) { \
        RESULT high = as_##RESULT(base) << (RESULT)(ELEMENT)(BITS - count - offset); \
        RESULT low = high >> (RESULT)(ELEMENT)(BITS - count); \
        return count == 0 ? (RESULT)0 : low; \
    }
#define INSERT(TYPE, UNSIGNED, ELEMENT, BITS) \
    TYPE OVERLOAD bitfield_insert(TYPE base, TYPE insert, uint offset, uint count) { \
        ELEMENT mask = count == 0 ? (ELEMENT)0 : (ELEMENT)((ELEMENT)((ELEMENT)~(ELEMENT)0 >> (BITS - count)) << offset); \
        UNSIGNED old = as_##UNSIGNED(base), moved = as_##UNSIGNED(insert) << (UNSIGNED)(ELEMENT)offset; \
        return as_##TYPE((UNSIGNED)(old ^ ((old ^ moved) & (UNSIGNED)mask))); \
    }
#define OF(TYPE, SIGNED, UNSIGNED, COUNT, BITS) \
    EXTRACT(bitfield_extract_signed, TYPE##COUNT, SIGNED##COUNT, SIGNED, BITS) \
    EXTRACT(bitfield_extract_unsigned, TYPE##COUNT, UNSIGNED##COUNT, UNSIGNED, BITS) \
    INSERT(TYPE##COUNT, UNSIGNED##COUNT, UNSIGNED, BITS)
#define REVERSE(VECTOR) \
    VECTOR OVERLOAD bit_reverse(VECTOR x) { return __builtin_elementwise_bitreverse(x); }
#define SIZES(TYPE, SIGNED, UNSIGNED, BITS) \
    OF(TYPE, SIGNED, UNSIGNED, , BITS) OF(TYPE, SIGNED, UNSIGNED, 2, BITS) OF(TYPE, SIGNED, UNSIGNED, 3, BITS) \
    OF(TYPE, SIGNED, UNSIGNED, 4, BITS) OF(TYPE, SIGNED, UNSIGNED, 8, BITS) OF(TYPE, SIGNED, UNSIGNED, 16, BITS) \
    REVERSE(TYPE##2) REVERSE(TYPE##3) REVERSE(TYPE##4) REVERSE(TYPE##8) REVERSE(TYPE##16) \
    /* Clang would promote small scalars to int. */ \
    TYPE OVERLOAD bit_reverse(TYPE x) { return bit_reverse((TYPE##2)(x, x)).s0; }
#define SIGNS(SIGNED, UNSIGNED, BITS) \
    SIZES(SIGNED, SIGNED, UNSIGNED, BITS) SIZES(UNSIGNED, SIGNED, UNSIGNED, BITS)

SIGNS(char, uchar, 8)
SIGNS(short, ushort, 16)
SIGNS(int, uint, 32)
SIGNS(long, ulong, 64)
