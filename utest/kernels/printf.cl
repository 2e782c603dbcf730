// One work-item: every kind of conversion. Lines begin with |, so that the test finds them.
__kernel void conversions(int i, float f, long l) {
    printf("|%d %i %u %o %x %X\n", i, -i, i, i, i, -1);
    printf("|%5d|%-5d|%+d|% d|%05d|%.3d|%#x|%#o\n", i, i, i, i, i, 7, i, i);
    printf("|%hhd %hhu %hd %hu\n", (char)-3, (uchar)253, (short)-4, (ushort)65532);
    printf("|%ld %lu %lx\n", l, (ulong)l, -1L);
    printf("|%f %.2f %10.3f %-10.1f| %e %.3E %g %G\n", f, f, f, f, f, f, f, 1e-10f);
    printf("|%a %A %.1a\n", 1.5f, -0.75f, 1.0f);
    printf("|%c%c %5c %-3c|\n", 'o', 'k', 'r', 'l');
    printf("|%s %10s %-6s| %.2s\n", "text", "right", "left", "cut");
    printf("|100%% %%d\n");
    printf("|\x41 \"quoted\" \\\n");
    int zero = printf("|");
    printf("%d\n", zero);
}

__kernel void vectors(int i, float f) {
    printf("|%v4hld %v2hlu %v3hlx\n", (int4)(i, -1, 2, 3), (uint2)(4, 5), (int3)(0x10, 0x20, 0x30));
    printf("|%v4hhd %v16hhx\n", (char4)(-1, 2, -3, 4), (uchar16)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xff));
    printf("|%v8hd %v2hu\n", (short8)(1, -2, 3, -4, 5, -6, 7, -8), (ushort2)(65535, 0));
    printf("|%v2ld %v3lx\n", (long2)(-1, 1), (ulong3)(0x123456789abcUL, 1, 2));
    printf("|%v4hlf %v2hle\n", (float4)(f, 1.0f, -2.5f, 0.0f), (float2)(1.0f, 2.0f));
    printf("|%6.2v4hlf|\n", (float4)(f, 1.0f, -2.5f, 0.0f));
    printf("|%d %v2hld %d\n", 1, (int2)(2, 3), 4);
}

// The lines of each work-item stand in order, whatever comes between them.
__kernel void divergent(void) {
    int id = (int)get_global_id(0);
    for (int i = 0; i < id % 4; i++)
        printf("|%d.%d\n", id, i);
    if (id % 3 == 0)
        printf("|%d three\n", id);
}

void say(__constant char *format, int number) { printf(format, number); }

// Formats handed to functions, one chosen at run time; a string chosen at run time; the number of the call that fails.
__kernel void flows(int i) {
    say("|first %d\n", i);
    say("|second %d\n", i + 1);
    say(i > 3 ? "|great %d\n" : "|small %d\n", i);
    printf("|%s\n", i > 3 ? "more" : "less");
    if (i > 3)
        printf("|same %d\n", i);
    else
        printf("|other %d\n", i);
}

__kernel void address(__global int *p, __global ulong *out) {
    *out = (ulong)p;
    printf("|%p\n", p);
}

// More than any buffer holds.
__kernel void flood(__global uint *failed) {
    ulong16 wide = get_global_id(0);
    for (uint i = 0; i < 256; i++)
        if (printf("|%v16lx\n", wide) != 0)
            atomic_inc(failed);
}

// Lengths of OpenCL C 3.1.
__kernel void sizes(int i) {
    printf("|%zu %zd %zx %5zi|\n", (size_t)i, (size_t)i, (size_t)i, (size_t)-i);
    printf("|%td %ti %tu\n", (ptrdiff_t)-i, (ptrdiff_t)i, (ptrdiff_t)i);
    printf("|%d\n", (size_t)-1 == (ulong)-1);
    printf("|%zx\n", (size_t)-1);
}
