typedef struct {
    float value;
    int count;
} Part;

float add(float a, float b)
{
    float sum = a + b;
    return sum;
}

/* The sum of 16 numbers for each work-group, and how many there were. */
kernel void sum(global const float *in, global Part *sums, int n)
{
    local Part parts[16];
    int id = get_global_id(0);
    int l = get_local_id(0);
    Part own = {0, 0};
    if (id < n) {
        own.value = in[id];
        own.count = 1;
    }
    parts[l] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 8; step > 1; step /= 2) {
        if (l < step) {
            parts[l].value = add(parts[l].value, parts[l + step].value);
            parts[l].count += parts[l + step].count;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        sums[get_group_id(0)] = parts[0];
}
