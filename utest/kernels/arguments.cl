struct pair { char tag; int values[3]; short tail; };
struct table { int x[16]; };

/* Direct loads: everything can be pushed into registers. */
__kernel void argument_direct(__global int *dst, char c, short s, struct pair p, int4 v, long l, float f, uchar2 u)
{
    dst[get_global_id(0)] = c + s * 2 + p.tag * 3 + p.values[0] + p.values[2] * 5 + p.tail * 7
        + v.x * 11 + v.w * 13 + (int)(l >> 32) * 17 + (int)(f * 4.0f) + u.y * 19;
}

/* Indirect loads: the argument must be in memory. */
__kernel void argument_indirect(__global int *dst, struct table t)
{
    dst[get_global_id(0)] = t.x[get_local_id(0) & 15];
}

/* Written by the kernel: each work-item has its own copy. */
__kernel void argument_written(__global int *dst, struct table t)
{
    int i = get_global_id(0);
    t.x[0] = i * 100;
    t.x[(i + 3) & 15] += 1000;
    dst[i] = t.x[i & 15] + t.x[0];
}
