/* A step of PageRank: what the pages that link to a page hand on. */
__kernel void pagerank(__global float *next, __global const float *shares, __global const uint *starts,
                       __global const uint *links, float damping, int pages)
{
    int page = get_global_id(0);
    float sum = 0;
    for (uint link = starts[page]; link < starts[page + 1]; link++)
        sum += shares[links[link]];
    next[page] = (1 - damping) / pages + damping * sum;
}
